"""Workflows on a schedule in a load: some schedules, what their clients do to them, and what is seen of their slots. The
checker of all this: every slot starts one run or is skipped for a reason that holds, and none is lost."""

import collections
import datetime
import threading
import time
import uuid

# Tenant, workflow, overlap, the distance of slots in s, catch_up_s. What asks the research service takes a while.
SCHEDULES = [("seeker", "lead", "skip", 4, 3600), ("seeker", "lead", "queue_one", 6, 3600), ("seeker", "computed", "allow", 7, 3600),
             ("seeker", "computed", "skip", 5, 4), ("locked", "computed", "skip", 5, 3600)]
ROWS = 6
# A look at a schedule that was under way when its process froze goes on when it thaws.
THAW_S = 15.0
# So late a slot was not missed, whatever its schedule says.
PUNCTUAL_S = 60
STARTED, SKIPPED, WAITING = 0, 1, 2


class RunSchedules:
    """`make_payload(call, rows)` names the call that a run comes from; of a schedule's runs it is the schedule's."""

    def __init__(self, operator, ledger, load, workflows, make_payload, schedules=SCHEDULES):
        self.operator, self.ledger = operator, ledger
        self.lock = threading.Lock()  # one call at a time: their order is known
        self.made, self.paused = [], []  # (tenant, path, id)
        for n, (name, flow, overlap, period_s, catch_up_s) in enumerate(schedules):
            tenant, call = load.tenant(name), f"schedule {n}"
            path = f"/workflows/{workflows[name, flow]}/schedules"
            status, made = operator.api(tenant.key, "POST", path, {
                "name": call, "frequency": f"{period_s}s", "overlap": overlap, "catch_up_s": catch_up_s,
                "webhook_payload": make_payload(call, ROWS)})
            if status == 404:
                return  # a process of a version without them
            assert status == 200, made
            self.made.append((tenant, f"{path}/{made['id']}", made["id"]))
            ledger.add("schedule", id=made["id"], call=call, rows=ROWS, tenant=tenant.id, overlap=overlap, period_s=period_s,
                       catch_up_s=catch_up_s)

    def step(self, dice):
        if not self.made:
            return
        with self.lock:
            if self.paused and dice.random() < 0.7:
                self.set_active(*self.paused.pop(), True)
                return
            chosen = dice.choice(self.made)
            if dice.random() < 0.5:
                self.paused.append(chosen)
                self.set_active(*chosen, False)
            else:
                self.trigger(*chosen)

    def set_active(self, tenant, path, schedule, is_active):
        sent = time.monotonic()
        status, answer = self.operator.api(tenant.key, "POST", f"{path}/update", {"is_active": is_active})
        self.ledger.add("control", what="resume" if is_active else "pause", target=schedule, sent=round(sent, 4), status=status)
        return status, answer

    def trigger(self, tenant, path, schedule):
        status, answer = self.operator.api(tenant.key, "POST", f"{path}/trigger", {})
        self.ledger.add("run_trigger", schedule=schedule, status=status, run=answer["job_id"] if status == 200 else None)

    def all_are(self, load, is_active):
        for tenant, path, schedule in self.made:
            load.insist(self.set_active, tenant, path, schedule, is_active)


class SlotWatch:
    """Keeps what became of slots, of which the database has each schedule's newest alone."""

    def __init__(self, cluster):
        self.cluster, self.slots, self.next_look = cluster, {}, 0

    def look(self):
        if time.monotonic() < self.next_look:
            return
        self.next_look = time.monotonic() + 5
        try:
            self.read()
        except Exception:  # the database is being broken at the moment
            pass

    def read(self):
        for schedule, slot, *rest in self.cluster.execute(
                "select schedule_id, slot, state, reason, slots, run_id, decided_at from workflow_slot"):
            self.slots[schedule, slot] = rest


def run_id(schedule, slot):
    """A function of both, which begins with the slot's milliseconds."""
    micros = (slot - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)
    name = bytearray(uuid.uuid5(uuid.UUID(schedule), str(micros)).bytes)
    name[:6] = (micros // 1000).to_bytes(6, "big")
    name[6] = 0x70 | name[6] & 0x0F
    return str(uuid.UUID(bytes=bytes(name)))


class SlotChecker:
    """`checker` has the faults, the clocks and the list of failures."""

    def __init__(self, checker, cluster, ledger, watch):
        self.checker, self.cluster, self.fail = checker, cluster, checker.fail
        self.made = {e["id"]: e for e in ledger.of("schedule")}
        self.triggers = ledger.of("run_trigger")
        watch.read()
        self.slots = collections.defaultdict(list)
        for (schedule, slot), rest in sorted(watch.slots.items()):
            self.slots[schedule].append((slot, *rest))
        self.told = collections.Counter()

    def run(self):
        query = self.cluster.execute
        self.runs = collections.defaultdict(list)  # schedule -> its runs
        for schedule, *run in query("select schedule_id, scheduled_at, id, created_at, finished_at from job "
                                    "where schedule_id is not null order by created_at"):
            self.runs[schedule].append(run)
        for schedule, anchor, next_at, waits in query("select id, anchor_at, next_at, waiting_slot from workflow_schedule"):
            self.each_slot_is_told_once(schedule, anchor, next_at)
            self.each_slot_starts_one_run(schedule)
            self.reasons_hold(schedule)
            self.stops_hold(schedule)
            if waits:
                self.fail(f"G2 a slot of schedule {schedule} waits still: {waits}")
        self.triggers_made_one_run_each()
        self.checker.notes.append(f"slots of {len(self.made)} schedules of workflows: " + ", ".join(
            f"{what} {n}" for what, n in sorted(self.told.items())))

    def each_slot_is_told_once(self, schedule, anchor, next_at):
        period = datetime.timedelta(seconds=self.made[schedule]["period_s"])
        expected = anchor + period
        for slot, state, reason, slots, *_ in self.slots[schedule]:
            self.told[reason or ["started", "", "waiting"][state]] += slots
            if slot != expected:
                self.fail(f"G7 schedule {schedule}: the slot {slot} is told of, and the next one is {expected}")
            if slots != 1 and reason != "late":
                self.fail(f"G7 schedule {schedule}: {slots} slots from {slot} on are told together, {reason}")
            expected = slot + slots * period
        if next_at != expected:
            self.fail(f"G7 schedule {schedule} goes on at {next_at}, and its next slot is {expected}")

    def each_slot_starts_one_run(self, schedule):
        period = datetime.timedelta(seconds=self.made[schedule]["period_s"])
        anchor = self.slots[schedule][0][0] if self.slots[schedule] else None
        started = {slot: run for slot, state, _, _, run, _ in self.slots[schedule] if state == STARTED}
        made = collections.defaultdict(list)
        for at, run, *_ in self.runs[schedule]:
            if at is not None:
                made[anchor + (at - anchor) // period * period if anchor else at].append((at, run))
        for slot, runs in made.items():
            if len(runs) > 1:
                self.fail(f"G1 the slot {slot} of schedule {schedule} started {len(runs)} runs: {runs}")
            for at, run in runs:
                if run != run_id(schedule, at):
                    self.fail(f"G1 the run {run} has not the id of its slot {at} of schedule {schedule}")
                if started.get(at) != run:
                    self.fail(f"G1 the run {run} of schedule {schedule} is of the slot {at}, which has {started.get(at)}")
        for slot in started.keys() - {at for at, *_ in self.runs[schedule]}:
            self.fail(f"G2 the slot {slot} of schedule {schedule} started {started[slot]}, which is not there")

    def reasons_hold(self, schedule):
        made, runs = self.made[schedule], self.runs[schedule]
        stops = [(self.checker.theirs(lo), self.checker.theirs(hi)) for lo, hi in self.checker.stops_of(schedule, made["tenant"])]
        for slot, state, reason, _, _, decided in self.slots[schedule]:
            where = f"the slot {slot} of schedule {schedule} (decided {decided})"
            felt = THAW_S if self.checker.explained(self.checker.ours(decided) - THAW_S, self.checker.ours(decided)) else 1
            before = decided - datetime.timedelta(seconds=felt)
            if state == WAITING:
                self.fail(f"G2 {where} waits still")
            elif reason == "overlap":
                open_then = any(made_at <= decided and (end is None or end >= before) for _, _, made_at, end in runs)
                if made["overlap"] == "allow" or not open_then:
                    self.fail(f"G7 {where} is skipped for an overlap, and no run went on")
            elif reason == "paused":
                if not any(lo <= decided and before <= hi for lo, hi in stops):
                    self.fail(f"G5 {where} is skipped as paused, and nobody paused it")
            elif reason == "late":
                if decided - slot < datetime.timedelta(seconds=max(made["catch_up_s"], PUNCTUAL_S)):
                    self.fail(f"G7 {where} is skipped as late, and was not")
            elif state == SKIPPED and reason != "too_many_runs":
                self.fail(f"G7 {where} is skipped: {reason}")

    def stops_hold(self, schedule):
        made, scheduled = self.made[schedule], [run for run in self.runs[schedule] if run[0] is not None]
        if made["overlap"] != "allow":
            for (_, first, _, ended), (_, second, made_at, _) in zip(scheduled, scheduled[1:]):
                if ended is None or ended > made_at:
                    self.fail(f"G7 schedule {schedule}: the run {second} began at {made_at}, when {first} went on to {ended}")
        stops = [(since, until, 0.1) for since, until in self.checker.strict_stops_of(schedule)]
        # A lock is read before a run is planned.
        stops += [(since, until, THAW_S) for since, until in self.checker.strict_stops_of(made["tenant"], ["lock"], "unlock")]
        for since, until, felt in stops:
            for _, run, made_at, _ in scheduled:
                if since + felt < self.checker.ours(made_at) < until - 0.1:
                    self.fail(f"G5 the run {run} of schedule {schedule} began {self.checker.ours(made_at) - since:.2f} s after "
                              "its stop")

    def triggers_made_one_run_each(self):
        for schedule, runs in self.runs.items():
            mine = [t for t in self.triggers if t["schedule"] == schedule]
            answered = {t["run"] for t in mine if t["run"]}
            found = {run for at, run, *_ in runs if at is None}
            if answered - found:
                self.fail(f"G2 triggers of schedule {schedule} were answered with {answered - found}, which are not there")
            if len(found) > sum(1 for t in mine if t["status"] is None or t["status"] == 200 or t["status"] >= 500):
                self.fail(f"G12 {len(mine)} triggers of schedule {schedule} made {len(found)} runs")
