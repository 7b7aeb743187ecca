"""Runs of several blocks go on through a kill at each fault point of jobs in turn: every run ends, its files have each row
once, and what it is charged is what its rows cost. Once each point in CI; VEDETTE_TEST_RUN_KILLS=200 for more."""

import csv
import io
import os
import signal
import time
import urllib.request
import uuid

from cluster import wait_until
from run_load import tree

ROWS = 48
KEYS = 36
# The process, the point at which it dies, and how likely each time that it comes there. A worker's end of a run comes once
# a run; what comes often is to be met early and late.
DEATHS = [
    ("work1", "after_job_claim", 0.2),
    ("work1", "after_row", 0.1),
    ("work1", "before_job_record_commit", 0.1),
    ("work1", "after_job_record_commit", 0.1),
    ("front", "before_job_end_commit", 1),
    ("work1", "before_job_end_commit", 1),
    ("work1", "after_job_end_commit", 1),
    ("sched", "before_job_end_commit", 1),
    ("front", "after_job_start", 1),
    ("front", "after_job_end_commit", 1),
    ("sched", "after_job_end_commit", 1),
]
KILLS = int(os.environ.get("VEDETTE_TEST_RUN_KILLS", len(DEATHS)))
# A machine that does other things, too, may be slow.
DEATH_MAX_S = 90
ENDS_MAX_S = 120
COMPLETED, CANCELLED, TIMED_OUT = 2, 4, 6
SETTINGS = {
    # A part that was in many deaths is not to be blamed for them: they came from outside.
    "VEDETTE_WORKER_CLAIMS_MAX": "100",
}
DEFINITION = tree(
    ("webhook", {"dataframe_type": "LEAD"}, None),
    ("select_columns", {"columns": [{"name": "n", "as": "number"}]}, 0),
    ("filter", {"conditions": [{"column": "n", "op": "not_contains", "value": "7"}]}, 0),
    ("dedupe", {"columns": ["key"]}, 2),
    ("enrich_lead", {"struct": {"price": "the price", "state": "the state"}}, 3),
    ("monitor", {"name": "of a run", "key_columns": ["n"], "struct": {"price": "the price"}, "frequency": "30d"}, 0))
SELECTED, ENRICHED, WATCHED = 1, 4, 5
PAYLOAD = [{"n": str(n), "key": n % KEYS} for n in range(ROWS)]
ALL = [row["n"] for row in PAYLOAD]


def kept():
    """What the filter and dedupe leave, in order."""
    seen = set()
    return [row["n"] for row in PAYLOAD
            if "7" not in row["n"] and not (row["key"] in seen or seen.add(row["key"]))]


class KilledRuns:
    def __init__(self, s):
        self.s = s
        self.operator, self.tenant = s.load.operator, s.tenant
        self.failures = []
        self.runs = []  # in the order of their starts
        self.stopped = {}  # run -> the status that it was ended with from outside
        self.workflow = self.operator.must(self.operator.api(
            self.tenant.key, "POST", "/workflows/create_workflow",
            {"workflow_name": "killed", "workflow_definition": DEFINITION}))["id"]

    # What a client does.

    def ask(self, key):
        return self.operator.api(self.tenant.key, "POST", f"/workflows/run?workflow_id={self.workflow}",
                                 {"webhook_payload": PAYLOAD}, {"Idempotency-Key": key})

    def begin(self):
        self.runs.append(self.operator.must(self.ask(str(uuid.uuid4())))["job_id"])
        return self.runs[-1]

    def open_run(self):
        """One that goes on, begun if there is none."""
        found = self.s.cluster.execute("SELECT id FROM job WHERE finished_at IS NULL LIMIT 1")
        return found[0][0] if found else self.begin()

    def cancel(self, run):
        return self.operator.api(self.tenant.key, "POST", f"/workflows/cancel?job_id={run}", {})

    # Deaths.

    def kill(self, number):
        name, point, chance = DEATHS[number % len(DEATHS)]
        member = getattr(self.s, name)
        if member.process and member.process.poll() is None:
            assert member.stop() == 0, member.log()[-1500:]
        member.points, member.seed = [f"{point}:kill:{chance}"], number
        {"work1": self.kill_worker, "front": self.kill_front, "sched": self.kill_scheduler}[name](member, point)

    def arm(self, member):
        member.start()
        member.wait_ready()

    def died(self, member, meanwhile=lambda: None):
        def dead():
            meanwhile()
            return member.process.poll() is not None

        wait_until(f"{member.name} to die {member.points}", dead, DEATH_MAX_S)
        assert member.process.returncode == -signal.SIGKILL, member.log()[-1500:]
        member.points = []

    def kill_worker(self, member, _point):
        self.open_run()
        member.start()
        self.died(member, self.open_run)

    def kill_front(self, member, point):
        if point == "after_job_start":
            self.arm(member)
            key = str(uuid.uuid4())
            before = self.s.value("SELECT count(*) FROM job")
            status, answer = self.ask(key)
            assert status is None, (status, answer)
            self.died(member)
            self.arm(member)
            again = self.operator.must(self.ask(key))
            assert again["already_started"], again
            assert self.s.value("SELECT count(*) FROM job") == before + 1
            self.runs.append(again["job_id"])
            return
        self.arm(member)
        run = self.open_run()
        status, answer = self.cancel(run)
        assert status is None, (status, answer)
        self.died(member)
        ended = self.s.value("SELECT status FROM job WHERE id = %s", run)
        assert (ended == CANCELLED) == (point == "after_job_end_commit"), ended
        self.arm(member)
        assert self.operator.must(self.cancel(run))["status"] == "cancelled"
        self.stopped[run] = CANCELLED

    def kill_scheduler(self, member, _point):
        run = self.open_run()
        member.start()
        self.s.cluster.execute("UPDATE job SET deadline_at = clock_timestamp() WHERE id = %s", (run,))
        self.died(member)
        self.arm(member)
        wait_until("the run to end by its deadline", lambda: self.s.value(
            "SELECT status FROM job WHERE id = %s", run) == TIMED_OUT)
        self.stopped[run] = TIMED_OUT

    def finish(self):
        """Nobody dies any more."""
        self.arm(self.s.work1)  # every run may have ended already: SIGTERM is obeyed once it is ready
        wait_until("every run to end", self.s.jobs_over, ENDS_MAX_S)
        assert self.s.work1.stop() == 0, self.s.work1.log()[-1500:]

    # What is there in the end.

    def check(self):
        for run in self.runs:
            status, reason, reserved, charged, estimate = self.s.cluster.execute(
                "SELECT status, status_reason, reserved_mc, charged_mc, estimate_mc FROM job WHERE id = %s", (run,))[0]
            where = f"run {run} ({status}, {reason})"
            self.expect(status == self.stopped.get(run, COMPLETED), f"G7 {where} has no reason to end so")
            self.expect(reserved == 0 and charged <= estimate, f"G4 {where} holds {reserved}, charged {charged}")
            self.files(where, run, status)
            self.charges(where, run, charged)
        self.nothing_is_left()
        self.calls_carry_one_key()
        self.failures += self.s.money_failures()
        for member in self.s.members:
            self.failures += [f"{member.name} logged: {line[:300]}" for line in member.errors()]
        return self.failures

    def expect(self, holds, text):
        if not holds:
            self.failures.append(text)

    def table(self, run, query=""):
        """The files of the run by the number of their block, as Python reads them."""
        found = {}
        for link in self.operator.must(self.operator.api(
                self.tenant.key, "GET", f"/workflows/runs/{run}/results/download-links{query}")):
            with urllib.request.urlopen(link["download_url"], timeout=30) as answer:
                rows = list(csv.reader(io.StringIO(answer.read().decode(), newline="")))
            self.expect(link["row_count"] == len(rows) - 1, f"G1 {run}: {link} has {len(rows) - 1} rows")
            found[link["block_number"]] = rows[1:]
        return found

    def files(self, where, run, status):
        found = self.table(run)
        if status != COMPLETED:  # what was recorded is there once, in the order of the rows
            for block, rows in found.items():
                numbers = [int(row[0]) for row in rows]
                self.expect(numbers == sorted(set(numbers)) and set(numbers) <= set(range(ROWS)),
                            f"G1 {where}: the file of block {block} has the rows {numbers}")
            return
        self.expect(sorted(found) == [SELECTED, ENRICHED, WATCHED], f"G1 {where} has files of {sorted(found)}")
        if sorted(found) != [SELECTED, ENRICHED, WATCHED]:
            return
        self.same(where, SELECTED, [row[0] for row in found[SELECTED]], ALL)
        self.same(where, ENRICHED, [row[0] for row in found[ENRICHED]], kept())
        self.same(where, WATCHED, [row[0] for row in found[WATCHED]], ALL)
        answered = [[row[2], row[3], row[6]] for row in found[ENRICHED]]
        self.same(where, ENRICHED, answered, [["1", "s0", ""]] * len(kept()))
        watched = {row[2] for row in found[WATCHED]}
        rows = [row for row, in self.s.cluster.execute(
            "SELECT r.id::text FROM monitor_row r JOIN monitor m ON m.id = r.monitor_id WHERE m.run_id = %s", (run,))]
        self.same(where, WATCHED, sorted(rows), sorted(watched))

    def same(self, where, block, found, expected):
        self.expect(found == expected, f"G1 {where}: the file of block {block} has {found}, not {expected}")

    def charges(self, where, run, charged):
        rows, price = self.s.cluster.execute(
            "SELECT rows_charged, price_mc FROM job_block WHERE job_id = %s AND block = %s", (run, ENRICHED))[0]
        # A row without an answer is null in a run that was ended.
        recorded = self.s.value("SELECT count(*) FROM job_part p, json_array_elements(p.rows) r WHERE p.job_id = %s "
                                "AND p.block = %s AND json_typeof(r) <> 'null'", run, ENRICHED)
        booked, counted = self.s.cluster.execute(
            "SELECT coalesce(-sum(amount_mc), 0), coalesce(sum(checks), 0) FROM credit_entry WHERE job_id = %s", (run,))[0]
        found, cost = (rows, counted, booked, charged), recorded * price
        self.expect(found == (recorded, recorded, cost, cost), f"G4 {where}: rows charged, booked, their sum and the "
                    f"charge are {found}, {recorded} rows at {price} are recorded")

    def nothing_is_left(self):
        value = self.s.value
        self.expect(value("SELECT count(*) FROM job") == len(self.runs), "G12 there are runs that nobody began")
        self.expect(value("SELECT count(*) FROM job_chunk") == 0, "G5 chunks are left of runs that have ended")
        self.expect(value("SELECT count(*) FROM monitor WHERE status = 0") == 0, "a monitor of a run is left starting")

    def calls_carry_one_key(self):
        keys = {}
        for e in self.s.ledger.of("enrich"):
            keys.setdefault((e["run"], e["subject"]["n"]), set()).add((e["row"], e["key"]))
        for row, seen in keys.items():
            self.expect(len(seen) == 1 and all(row == key for row, key in seen),
                        f"G1 calls for the row {row} carry {seen}")


def test_kills_at_every_fault_point_lose_and_double_no_row(scenario):
    s = scenario(settings=SETTINGS, rows=1)
    killed = KilledRuns(s)
    started = time.monotonic()
    for number in range(KILLS):
        killed.kill(number)
    killed.finish()
    assert killed.check() == []
    completed = len(killed.runs) - len(killed.stopped)
    print(f"{KILLS} kills, {len(killed.runs)} runs, {completed} completed, {time.monotonic() - started:.0f} s")
    assert completed > 0
