"""Compares what the outside world saw with what the database says. Every failure names its guarantee."""

import bisect
import collections
import datetime
import time
import uuid

from asked_rows import times_asked_again
from load import UNANSWERED_S
from schedule import APART, Schedule

PRICES_MC = {1: {1000, 2000}, 2: {5000}, 3: {20000}}  # by tier; "low" changes in the configuration meanwhile
TIERS = {"micro": 0, "low": 1, "medium": 2, "high": 3}
NAMES = {1: "changed", 2: "unchanged", 3: "failed", 4: "skipped_balance", 5: "skipped_spend_limit",
         6: "skipped_paused", 7: "skipped_overlap", 8: "inactive"}
CHANGED, UNCHANGED, FAILED, NO_BALANCE, NO_LIMIT, PAUSED, OVERLAP = range(1, 8)
TYPES = ["monitor.field.changed", "monitor.execution.completed", "monitor.execution.failed"]  # by number
NOTIFIED = dict(zip((CHANGED, UNCHANGED, FAILED), TYPES))
BLOCK = 256
# A check that had begun when its process was frozen arrives when it thaws, if at all.
THAW_S = 1.0
# What a fault does is felt a little longer than it lasts: connections are made anew, leases end.
FELT_S = 12.0
# Two stalls of the database that are no further apart are one: it answered nobody else between them.
STALLS_APART_S = 0.5
STOPS = ["pause", "cancel"]
CLOCKS_APART_S = APART.total_seconds()
# Faults that every process feels.
EVERYBODY = {"terminate", "restart", "exhaust", "disk", "failover", "calm", "stall", "switchover", "node", "etcd", "frozen",
             "standby", "crash"}


class MoneyWatch:
    """Looks at the books while everything is in motion: they balance at every moment, not only in the end."""

    def __init__(self, cluster):
        self.cluster, self.failures, self.looks = cluster, [], 0

    def look(self):
        try:
            rows = self.cluster.execute("""
                select a.org_id, a.balance_mc,
                  (select coalesce(sum(reserved_mc), 0) from chunk c where c.org_id = a.org_id)
                    + (select coalesce(sum(reserved_mc), 0) from job j where j.org_id = a.org_id),
                  (select coalesce(sum(amount_mc), 0) from credit_entry e where e.org_id = a.org_id)
                from account a""")
            over = self.cluster.execute("""
                select s.team_id, s.spent_mc, t.spend_limit_mc from team_spend s join team t on t.id = s.team_id
                where s.spent_mc > t.spend_limit_mc""")
        except Exception:  # the database is being broken at the moment
            return
        self.looks += 1
        for org, balance, reserved, entries in rows:
            if balance + reserved != entries or balance < 0:
                self._fail(f"G4 organisation {org}: balance {balance} + reserved {reserved} is not {entries}")
        for team, spent, limit in over:
            self._fail(f"G4 team {team} spent {spent} of {limit}")

    def _fail(self, text):
        if len(self.failures) < 5:
            self.failures.append(text)


def check_id(row_id, tick_id):
    return str(uuid.uuid5(uuid.UUID(row_id), str(tick_id)))


class Checker:
    def __init__(self, cluster, ledger, load):
        self.cluster, self.load = cluster, load
        self.failures, self.notes = [], []
        self.asks = collections.defaultdict(list)     # check -> entries
        self.answers = collections.defaultdict(list)
        for entry in ledger.of("ask"):
            self.asks[entry["check"]].append(entry)
        for entry in ledger.of("answer"):
            self.answers[entry["check"]].append(entry)
        self.webhooks = ledger.of("webhook")
        self.controls = sorted(ledger.of("control"), key=lambda e: e["sent"])
        self.faults = sorted(ledger.of("fault"), key=lambda e: e["t0"])
        self.monitors = {m.id: m for m in load.monitors}

    def fail(self, text):
        self.failures.append(text)

    def explained(self, start, end, members=()):
        """Whether something was broken between two moments: the database, or one of these processes (of any)."""
        return any(f["t0"] <= end + 1 and f["t"] + FELT_S >= start
                   and (f["name"] in EVERYBODY or not members or (f["what"] or "").split(" ")[0] in members)
                   for f in self.faults)

    def seen_from(self, at):
        """When what the database made at that moment could be seen: a COMMIT that waits for its standby, or for the next
        primary, is seen by nobody before the database answers again."""
        for fault in sorted(self.faults, key=lambda f: f["t0"]):
            if fault["name"] == "stall" and fault["what"] == "the database" and fault["t0"] <= at + STALLS_APART_S:
                at = max(at, fault["t"])
        return at

    def run(self):
        self.read()
        self.ticks_add_up()
        self.slots_are_accounted_for()
        self.checks_are_those_that_were_asked()
        self.changes_follow_from_the_answers()
        self.money_adds_up()
        self.pauses_hold()
        self.notifications_arrive()

    def read(self):
        query = self.cluster.execute
        self.now, self.read_at = self.clocks()
        self.rows = {}
        for monitor, position, row in query("select monitor_id, position, id from monitor_row"):
            self.rows[monitor, position] = row
        self.ticks = query("select monitor_id, tick_id, trigger, due_at, started_at, finished_at, slots, row_count, "
                           "outcomes, counts from tick order by monitor_id, tick_id")
        logs = collections.defaultdict(list)
        for monitor, block, tick, first, outcomes in query(
                "select monitor_id, block, tick_id, first, outcomes from check_log"):
            logs[monitor, tick].append((block * BLOCK + first, bytes(outcomes)))
        self.logs = logs
        self.outcome = {}  # check -> (monitor, row, tick, outcome), of every row of every tick
        self.by_row = collections.defaultdict(list)

    def clocks(self):
        """The same moment by the database's clock and by the ledger's: a machine that is busy may take its time between
        reading one and the other, so that the quickest of several answers counts."""
        took = []
        for _ in range(20):
            before = time.monotonic()
            now = self.cluster.execute("select clock_timestamp()")[0][0]
            after = time.monotonic()
            took.append((after - before, now, (before + after) / 2))
        return min(took)[1:]

    def theirs(self, at):
        """A moment of the ledger by the database's clock."""
        return self.now + datetime.timedelta(seconds=min(at - self.read_at, 1))

    def ours(self, at):
        return self.read_at + (at - self.now).total_seconds()

    # G7

    def ticks_add_up(self):
        open_ticks = self.cluster.execute("select monitor_id from open_tick")
        if open_ticks:
            self.fail(f"G7 {len(open_ticks)} ticks are still open")
        kinds = collections.Counter()
        for monitor, tick, trigger, due, started, finished, slots, count, outcomes, counts in self.ticks:
            where = f"tick {tick} of {self.monitors[monitor].name} ({monitor})"
            if finished is None:
                self.fail(f"G7 {where} never finished")
                continue
            packed = self.packed(where, monitor, tick, count, outcomes, counts)
            kinds.update(packed)
            for position, outcome in enumerate(packed):
                row = self.rows[monitor, position]
                check = check_id(row, tick)
                self.outcome[check] = (monitor, row, tick, outcome)
                self.by_row[row].append((tick, outcome, check))
        self.notes.append(f"{len(self.ticks)} ticks, {len(self.outcome)} checks: " + ", ".join(
            f"{NAMES.get(k, k)} {n}" for k, n in sorted(kinds.items())))
        for check, (monitor, row, tick, outcome) in self.outcome.items():
            if outcome not in NAMES:
                self.fail(f"G7 check {check} (row {row}, tick {tick}) has no outcome")

    def packed(self, where, monitor, tick, count, outcomes, counts):
        """One outcome a row, from wherever it is kept."""
        if outcomes is not None:
            return list(bytes(outcomes))
        if sum(counts) != count:
            self.fail(f"G7 {where}: outcomes {counts} do not add up to {count}")
        log = self.logs.pop((monitor, tick), [])
        for passed in (OVERLAP, PAUSED):  # closed as soon as it was opened: then nothing is logged
            if not log and counts[passed] == count:
                return [passed] * count
        packed = [0] * count
        for first, part in log:
            for position, outcome in enumerate(part, first):
                if packed[position]:
                    self.fail(f"G1 {where}: row {position} is logged twice")
                packed[position] = outcome
        if collections.Counter(packed) != {i: n for i, n in enumerate(counts) if n}:
            self.fail(f"G7 {where}: the log says {collections.Counter(packed)}, the tick {counts}")
        return packed

    def slots_are_accounted_for(self):
        scheduled = collections.defaultdict(list)
        for monitor, tick, trigger, due, started, finished, slots, *_ in self.ticks:
            if trigger == 0:
                scheduled[monitor].append((due, slots, started))
            elif slots != 0:
                self.fail(f"G7 a manual tick of {monitor} stands for {slots} slots")
        theirs, now = self.theirs, self.now
        passed = changed = 0
        # A monitor begins at its creation, one of a file when its rows are there.
        for monitor, anchor, first, next_run, frequency in self.cluster.execute(
                "select monitor_id, anchor_at, greatest(anchor_at, created_at), next_run_at, frequency_s "
                "from monitor_sched join monitor on id = monitor_id"):
            changes = [(datetime.timedelta(seconds=period), by_clock, theirs(sent), theirs(answered))
                       for period, by_clock, sent, answered in self.monitors[monitor].frequencies]
            changed += len(changes) - 1
            lead = min(changes[0][0] / 20, datetime.timedelta(minutes=10))
            if first - anchor > lead:
                self.fail(f"the anchor of {self.monitors[monitor].name} is {first - anchor} before its first slot")
            schedule = Schedule(anchor, first, changes, [(theirs(lo), theirs(hi)) for lo, hi in self.stops(monitor)])
            wrong = [schedule.tick(*tick) for tick in scheduled[monitor]]
            wrong.append(schedule.end(datetime.timedelta(seconds=frequency), next_run, now))
            if any(wrong):
                self.fail(f"G7 {self.monitors[monitor].name} ({monitor}): {next(filter(None, wrong))}")
            passed += schedule.passed()
        self.notes.append(f"slots that passed while their monitor was stopped: {passed}; frequencies changed: "
                          f"{changed}")

    def stops(self, monitor):
        """When the monitor was, or may have been, stopped: [(from, to)], from the first asking of a stop to the
        answer of what lifts it."""
        return self.stops_of(monitor, self.monitors[monitor].tenant.id)

    def stops_of(self, thing, tenant):
        spans = []
        for target, stop, go in ((thing, STOPS, "resume"), (tenant, ["lock"], "unlock")):
            since, late = None, 0
            for e in self.controls:
                if e["target"] != target:
                    continue
                if e["what"] in stop and e["status"] != 409:
                    since = since or e["sent"]
                    if e["status"] is None:
                        late = e["sent"] + UNANSWERED_S
                elif e["what"] == go and since and e["status"] == 200:
                    spans.append((since, e["t"]))
                    since = e["t"] if e["sent"] < late else None
            if since:
                spans.append((since, float("inf")))
        return spans

    # G1, G2

    def checks_are_those_that_were_asked(self):
        failed = dict(self.cluster.execute("select event_group_id, message from event where event_type = 1"))
        asked_in_vain, twice, crashed = 0, 0, 0
        for check, asks in self.asks.items():
            if check not in self.outcome:
                self.fail(f"G2 check {check} of row {asks[0]['row']} was asked and is in no tick")
        for check, (monitor, row, tick, outcome) in self.outcome.items():
            statuses = {a["status"] for a in self.answers.get(check, [])}
            name = f"check {check} of {self.monitors[monitor].name}"
            if outcome in (CHANGED, UNCHANGED) and 200 not in statuses:
                self.fail(f"G1 {name} is recorded {NAMES[outcome]}, the service answered {statuses}")
            if outcome == FAILED and 422 not in statuses:
                message = failed.get(check, "")
                if message.startswith("probe_crashed"):
                    crashed += 1  # its process was killed each time, as far as anybody can tell
                else:
                    self.fail(f"G1 {name} is recorded failed ({message}), the service answered {statuses}")
            if outcome not in (CHANGED, UNCHANGED, FAILED) and check in self.asks:
                # Its process may die before it has the answer.
                first, last = self.asks[check][0]["t"], max(e["t"] for e in self.asks[check] + self.answers.get(check, []))
                asked_in_vain += 1
                if not self.explained(first, last, {ask["member"] for ask in self.asks[check]}):
                    self.fail(f"G1 {name} was asked and is {NAMES[outcome]}, and nothing was broken")
            again = times_asked_again(self, name, self.asks.get(check, []), self.answers[check])
            twice += min(again, 1)
            self.allowed(name, monitor, outcome)
        self.notes.append(f"checks asked for more than once because of a fault: {twice}; asked for and skipped: "
                          f"{asked_in_vain}; ended their process: {crashed}")

    def allowed(self, name, monitor, outcome):
        tenant = self.monitors[monitor].tenant
        if outcome == NO_BALANCE and not tenant.poor:
            self.fail(f"G4 {name} is skipped_balance, and there is money")
        if outcome == NO_LIMIT and not tenant.limit:
            self.fail(f"G4 {name} is skipped_spend_limit, and there is no limit")
        if outcome == PAUSED and not self.stops(monitor):
            self.fail(f"G5 {name} is skipped_paused, and nobody paused it")

    def changes_follow_from_the_answers(self):
        """G1: the change events are exactly those between the answers of consecutive completed checks."""
        expected = {}
        answers = self.load.research_checks
        for row, checks in self.by_row.items():
            known = None
            for tick, outcome, check in checks:
                if outcome not in (CHANGED, UNCHANGED):
                    continue
                values = answers[check][1]
                fields = [f for f in values if known is not None and known[f] != values[f]]
                if outcome != (CHANGED if fields else UNCHANGED):
                    self.fail(f"G1 check {check} of row {row} is {NAMES[outcome]}: known {known}, answered {values}")
                for field in fields:
                    expected[check, field] = (known[field], values[field])
                known = values
        found = collections.Counter()
        for check, field, previous, current in self.cluster.execute(
                "select event_group_id, field, previous_value, current_value from event where event_type = 0"):
            found[check, field] += 1
            if found[check, field] > 1:
                self.fail(f"G1 two change events of check {check}, field {field}")
            elif expected.get((check, field)) != (previous, current):
                self.fail(f"G1 check {check}, field {field}: recorded {previous} to {current}, answered "
                          f"{expected.get((check, field))}")
        for key in expected.keys() - found.keys():
            self.fail(f"G2 the change {key} {expected[key]} is not recorded")
        errors = collections.Counter(c for c, in self.cluster.execute(
            "select event_group_id from event where event_type = 1"))
        failed = [check for check, (*_, outcome) in self.outcome.items() if outcome == FAILED]
        if errors != collections.Counter(failed):
            self.fail(f"G1 error events and failed checks differ: {(errors - collections.Counter(failed))} "
                      f"{(collections.Counter(failed) - errors)}")
        self.notes.append(f"{len(expected)} change events, each as the service's answers make it")

    # G4

    def money_adds_up(self):
        query = self.cluster.execute
        for org, balance, reserved, entries in query("""
                select a.org_id, a.balance_mc, (select coalesce(sum(reserved_mc), 0) from chunk c
                  where c.org_id = a.org_id) + (select coalesce(sum(reserved_mc), 0) from job j
                  where j.org_id = a.org_id), (select sum(amount_mc) from credit_entry e where e.org_id = a.org_id)
                from account a"""):
            if balance < 0 or reserved or balance != entries:
                self.fail(f"G4 organisation {org}: balance {balance}, reserved {reserved}, ledger {entries}")
        completed = collections.Counter()
        for monitor, row, tick, outcome in self.outcome.values():
            if outcome in (CHANGED, UNCHANGED):
                completed[self.monitors[monitor].tenant.id, TIERS[self.monitors[monitor].tier]] += 1
        charged, price_of, team = collections.Counter(), {}, collections.Counter()
        for org, team_id, amount, checks, tier, chunk in query(
                "select org_id, team_id, amount_mc, checks, tier, chunk_id from credit_entry where checks is not null"):
            team[team_id] -= amount
            if tier is None:
                continue  # rows of jobs (job_checker.py)
            charged[org, tier] += checks
            price = -amount / checks
            if price not in PRICES_MC[tier] or price_of.setdefault(chunk, price) != price:
                self.fail(f"G4 chunk {chunk}: {checks} checks of tier {tier} are charged {-amount}")
        if charged != completed:
            self.fail(f"G4 charged checks and completed ones differ: {charged - completed} {completed - charged}")
        for team_id, spent, limit in query("select s.team_id, sum(s.spent_mc), min(t.spend_limit_mc) from team_spend s "
                                           "join team t on t.id = s.team_id group by 1"):
            if spent != team[team_id] or spent > limit:
                self.fail(f"G4 team {team_id}: spent {spent}, charged {team[team_id]}, limit {limit}")
        self.notes.append(f"{sum(charged.values())} checks charged")
        booked = collections.Counter(r for r, in query("select reason from credit_entry where reason like 'top-up%%'"))
        for e in self.controls:
            if e["what"] != "top_up":
                continue
            n = booked[f"top-up {e['number']}"]
            if n > 1 or (e["status"] == 200 and n != 1):
                self.fail(f"G4 top-up {e['number']}, answered {e['status']}, is booked {n} times")

    # G5

    def pauses_hold(self):
        first = collections.defaultdict(list)  # monitor -> [(when a process first asked about a check, process)]
        for asks in self.asks.values():
            seen = set()
            for ask in asks:
                if ask["member"] not in seen:
                    seen.add(ask["member"])
                    first[ask["monitor"]].append((ask["t"], ask["member"]))
        windows, thawed = 0, 0
        ticks = collections.defaultdict(list)
        for monitor, _, _, _, started, *_ in self.ticks:
            ticks[monitor].append(self.ours(started))
        for monitor in self.monitors.values():
            starts = sorted(first[monitor.id])
            for since, until in self.strict_stops(monitor):
                windows += 1
                for at in ticks[monitor.id]:
                    if since + CLOCKS_APART_S < at < until - CLOCKS_APART_S:
                        self.fail(f"G5 a tick of {monitor.name} started {at - since:.2f} s after its stop")
                lo = bisect.bisect_left(starts, (since + 5, ""))
                for at, member in starts[lo:]:
                    if at >= until:
                        break
                    if self.just_thawed(member, since, at):
                        thawed += 1
                        continue
                    self.fail(f"G5 {member} started a check of {monitor.name} {at - since:.2f} s after its stop was "
                              f"answered at {since}")
        self.notes.append(f"{windows} stops held; checks that were on their way in a frozen process: {thawed}")

    def strict_stops(self, monitor):
        """When it was certainly stopped: [(stop answered, next start asked for)]."""
        yield from self.strict_stops_of(monitor.id)
        yield from self.strict_locks(monitor.tenant)

    def strict_locks(self, tenant):
        return self.strict_stops_of(tenant.id, ["lock"], "unlock")

    def strict_stops_of(self, target, stop=STOPS, go="resume"):
        since = None
        for e in self.controls:
            if e["target"] != target:
                continue
            if e["what"] in stop and e["status"] == 200:
                since = since or e["t"]
            elif e["what"] == go:
                if since:
                    yield since, e["sent"]
                since = None
        if since:
            yield since, float("inf")

    def just_thawed(self, member, since, at):
        return any(f["name"] in ("stop", "freeze") and f["what"] == member and f["t0"] <= since + 5
                   and 0 <= at - f["t"] + 0.3 <= THAW_S for f in self.faults)

    # G3

    def notifications_arrive(self):
        expected = set()
        for check, (monitor, row, tick, outcome) in self.outcome.items():
            if NOTIFIED.get(outcome) in self.monitors[monitor].types:
                expected.add((NOTIFIED[outcome], check))
        dead = {(TYPES[t], g): e for t, g, e in self.cluster.execute(
            "select type, event_group_id, last_error from delivery where state = 1 and job_id is null")}
        ended = {"taken": collections.defaultdict(list), "gone": collections.defaultdict(list)}
        for e in self.webhooks:
            if not e["proper"]:
                self.fail(f"G3 a notification is not what it says: {e}")
            if (e["type"], e["check"]) not in expected:
                self.fail(f"G3 nobody expects the notification {e}")
            if e["result"] in ended:
                ended[e["result"]][e["type"], e["check"]].append(e["t"])
        taken, gone = ended["taken"], ended["gone"]
        for pair in list(expected - taken.keys() - gone.keys())[:5]:
            self.fail(f"G2 the notification {pair} never arrived")
        for pair in list(dead.keys() ^ gone.keys())[:5]:
            self.fail(f"G2 the notification {pair} is {'dead: ' + str(dead[pair]) if pair in dead else 'not dead'}, "
                      f"and its receiver answered 410 {len(gone[pair])} times")
        duplicates = 0
        for pair, times in [*taken.items(), *gone.items()]:
            for before, after in zip(times, times[1:]):
                duplicates += 1
                if not self.explained(before, after):
                    self.fail(f"G3 {pair} arrived at {before} and again at {after}, and nothing was broken")
        down = sum(1 for e in self.webhooks if e["result"] == "down")
        self.notes.append(f"{len(taken)} notifications, {duplicates} arrived more than once; {len(gone)} refused for "
                          f"good; {down} attempts at a receiver that was down")
        history = self.cluster.execute(
            "select delivery_id from delivery_attempt where delivered and job_id is null and channel_id is null "
            "group by 1 having count(*) > 1")
        if len(history) > duplicates:
            self.fail(f"G3 {len(history)} deliveries are on record as delivered twice, {duplicates} were")

    # The processes' own word.

    def log_errors(self, member):
        for line in member.errors():
            self.fail(f"{member.name} logged: {line[:300]}")
