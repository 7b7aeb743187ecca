"""Runs in the checker: every run ends, each part of each block is what its input makes of it, once, and the counters
are those of the parts. Rows that a service is asked about are what it answered, and are paid for once. Every failure
names its guarantee."""

import collections
import uuid

from asked_rows import AskedRows
from run_load import ENRICHES, expected_parts

PART_ROWS_MAX = 256
COMPLETED, FAILED, CANCELLED = 2, 3, 4


class RunChecker:
    """`checker` has the faults, the clocks and the list of failures."""

    def __init__(self, checker, cluster, ledger):
        self.checker, self.cluster, self.fail = checker, cluster, checker.fail
        self.starts = {}  # call -> its entries
        for entry in ledger.of("run_start"):
            self.starts.setdefault(entry["call"], []).append(entry)
        self.given = {call: entries[0]["rows"] for call, entries in self.starts.items()}  # call -> rows
        self.given |= {entry["call"]: entry["rows"] for entry in ledger.of("schedule")}
        self.cancels = ledger.of("run_cancel")
        self.asked = AskedRows(checker, ledger, "enrich", "enriched")
        self.rows = {}  # row -> (run, what it is about)
        self.paid = 0

    def run(self):
        self.read()
        self.calls_made_one_run_each()
        for run in self.runs:
            self.ends(run)
            self.parts_are_what_their_inputs_make(run)
            self.enriched_rows_are_what_was_answered(run)
        self.calls_carry_the_key_of_their_row()
        self.asked.ends_and_locks_hold(self.owner_of)
        self.checker.notes.append(
            f"{len(self.runs)} runs of {len(self.starts)} calls: "
            + ", ".join(f"{status} {n}" for status, n in sorted(collections.Counter(
                str(run["status"]) for run in self.runs).items())) + f" (2 completed, 3 failed, 4 cancelled); {self.paid} rows "
            f"enriched and paid, {self.asked.twice} asked about once more because of a fault, calls on their way in a frozen "
            f"process: {self.asked.thawed}")

    def read(self):
        query = self.cluster.execute
        names = ["id", "org", "status", "reason", "reserved", "charged", "part_rows", "created", "finished",
                 "schedule"]
        self.runs = [dict(zip(names, row)) for row in query(
            "select id, org_id, status, status_reason, reserved_mc, charged_mc, part_rows, created_at, finished_at, "
            "schedule_id from job "
            "where kind = 5 and workflow_id is not null order by id")]
        self.parts = collections.defaultdict(dict)  # run -> (block, part) -> rows
        for run, block, part, rows in query("select job_id, block, part, rows from job_part where job_id in "
                                            "(select id from job where kind = 5 and workflow_id is not null)"):
            self.parts[run][block, part] = rows
        self.blocks, self.enriching = collections.defaultdict(list), {}
        for run, block, price, charged, *counters in query(
                "select job_id, block, price_mc, rows_charged, parts_total, parts_done, rows_done, rows_out, row_errors "
                "from job_block order by job_id, block"):
            if block == ENRICHES:
                self.enriching[run] = (price, charged, *counters)
            else:
                self.blocks[run].append((block, *counters))
        self.booked = {run: (amount, rows) for run, amount, rows in query(
            "select job_id, -sum(amount_mc), sum(checks) from credit_entry where job_id is not null group by 1")}
        told = {entry["run"]: call for call, entries in self.starts.items() for entry in entries if entry["run"]}
        for run in self.runs:  # its rows say which call it comes from; of a cancelled one those of the source are dropped
            source = self.parts[run["id"]].get((0, 0))
            if source is None and run["status"] != CANCELLED:
                self.fail(f"G1 run {run['id']} has no rows of its source")
            run["call"] = source[0][0] if source else told.get(run["id"])

    def sizes(self, run):
        """The sizes of its source's parts, which grow while it goes on; None where that cannot be told any more."""
        rows, part_rows = self.given[run["call"]], run["part_rows"]
        made = sorted((part, len(rows)) for (block, part), rows in self.parts[run["id"]].items() if block == 0)
        if made:
            sizes = [size for _, size in made]
            if sum(sizes) != rows:
                self.fail(f"G1 run {run['id']} was given {rows} rows, its source has {sum(sizes)}")
            return sizes
        uniform = [min(part_rows, rows - at) for at in range(0, rows, part_rows)]
        parts_total = next(total for block, total, *_ in self.blocks[run["id"]] if block == 0)
        return uniform if len(uniform) == parts_total else None

    # G12

    def calls_made_one_run_each(self):
        made = collections.defaultdict(list)
        for run in self.runs:
            if run["schedule"] is None:  # else run_schedules.py
                made[run["call"]].append(run["id"])
        for call, entries in self.starts.items():
            runs = made.pop(call, [])
            told = {e["run"] for e in entries if e["run"]}
            statuses = [e["status"] for e in entries]
            if len(runs) > 1:
                self.fail(f"G12 the call {call} made {len(runs)} runs: {statuses}")
            if told - set(runs):
                self.fail(f"G2 the call {call} was answered with {told}, and there is {runs}")
            if runs and not told and not any(s is None or s in (409, 503) or s >= 500 for s in statuses):
                self.fail(f"G12 the call {call} was refused with {statuses}, and there is {runs}")
            if any(s not in (None, 200, 403, 409, 503) for s in statuses):
                self.fail(f"G12 the call {call} was answered {statuses}")
        for call in made:
            self.fail(f"G2 nobody made the call {call} of a run")

    # G2, G4, G7

    def ends(self, run):
        where = f"run {run['id']} (call {run['call']}, status {run['status']}, {run['reason']})"
        if run["finished"] is None:
            return self.fail(f"G2 {where} has not ended")
        if run["reserved"]:
            self.fail(f"G4 {where} has ended and holds {run['reserved']}")
        ours = self.checker.ours
        if run["status"] == CANCELLED:
            fine = any(c["run"] == run["id"] and c["status"] in (None, 200, 503) for c in self.cancels)
        elif run["status"] == FAILED:  # its workers died at one part, again and again
            fine = run["reason"] == "part_crashed" and self.checker.explained(ours(run["created"]), ours(run["finished"]))
        else:
            fine = run["status"] == COMPLETED
        if not fine:
            self.fail(f"G7 {where} has no reason to end so")
        told = {c["shown"] for c in self.cancels if c["run"] == run["id"] and c["shown"]}
        if told - {{COMPLETED: "completed", FAILED: "failed", CANCELLED: "cancelled"}.get(run["status"])}:
            self.fail(f"G6 {where} was answered to be {told}")

    # G1

    def parts_are_what_their_inputs_make(self, run):
        where = f"run {run['id']} (call {run['call']})"
        if run["call"] not in self.given:
            return
        sizes, made = self.sizes(run), self.parts[run["id"]]
        if sizes is None:
            return
        expected = expected_parts(run["call"], sizes)
        for block, part in made:
            if block == ENRICHES and part < len(expected[0]):
                continue  # enriched_rows_are_what_was_answered
            if not (block < len(expected) and part < len(expected[block])):
                self.fail(f"G1 {where} has a part {part} of block {block}, which nothing makes")
            elif made[block, part] != expected[block][part]:
                self.fail(f"G1 {where}: part {part} of block {block} is {str(made[block, part])[:200]}, its input "
                          f"makes {str(expected[block][part])[:200]} of it")
        for block, parts_total, parts_done, rows_done, rows_out, errors in self.blocks[run["id"]]:
            if block == 0 and run["status"] == CANCELLED:
                continue  # its rows are dropped
            mine = [rows for (of, _), rows in made.items() if of == block]
            before = [len(expected[max(block - 1, 0)][part]) for of, part in made if of == block]
            counted = (parts_done, rows_done, rows_out, errors)
            recounted = (len(mine), sum(before), sum(map(len, mine)), 0)
            if counted != recounted:
                self.fail(f"G7 {where}: block {block} counts {counted} parts, rows done, out and errors; there are "
                          f"{recounted}")
            if run["status"] == COMPLETED and parts_done != parts_total:
                self.fail(f"G7 {where} has completed, {parts_done} parts of {parts_total} of block {block} are done")

    # Rows that a service is asked about: G1, G4

    def enriched_rows_are_what_was_answered(self, run):
        if run["call"] not in self.given or run["id"] not in self.enriching:
            return
        where = f"run {run['id']} (call {run['call']}, status {run['status']})"
        sizes = self.sizes(run)
        if sizes is None:
            return
        inputs = expected_parts(run["call"], sizes)[-1]
        recorded = errors = 0
        for part, given in enumerate(inputs):
            made = self.parts[run["id"]].get((ENRICHES, part))
            for index, row in enumerate(given):
                row_id = str(uuid.uuid5(uuid.UUID(run["id"]), f"{ENRICHES}/{part * PART_ROWS_MAX + index}"))
                self.rows[row_id] = (run, row)
                self.asked.asked_again(f"{where}: the row {row_id}", row_id)
                cells = made[index] if made and index < len(made) else None
                if cells is not None:
                    recorded += 1
                    errors += self.has_error(f"{where}: row {index} of part {part}", run, row_id, row, cells)
                elif run["status"] == COMPLETED:
                    self.fail(f"G7 {where} has completed without row {index} of part {part}")
            if made and len(made) != len(given):
                self.fail(f"G1 {where}: part {part} has {len(made)} rows of {len(given)}")
        self.paid += recorded - errors
        self.counted(where, run, recorded, errors)

    def has_error(self, where, run, row_id, given, cells):
        """Whether the row failed; it has what was answered, else a reason."""
        price, state, sources, confidence, error = cells[len(given):]
        statuses = {a["status"] for a in self.asked.answers[row_id]}
        _, values = self.checker.load.research_checks.get(row_id, (None, {}))
        if error is None:
            if cells[:len(given)] != given or 200 not in statuses or {"price": price, "state": state} != values:
                self.fail(f"G1 {where} is recorded {cells}, of {given} the service answered {statuses} {values}")
            return False
        ours = self.checker.ours
        known = error.startswith("row_crashed") or 422 in statuses or self.checker.explained(
            ours(run["created"]), ours(run["finished"] or self.checker.now))
        if not known or cells[:len(given)] != given or (price, state, sources, confidence) != (None,) * 4:
            self.fail(f"G1 {where} is recorded {cells}, of {given} the service answered {statuses}")
        return True

    def counted(self, where, run, recorded, errors):
        price, charged, parts_total, parts_done, rows_done, rows_out, row_errors = self.enriching[run["id"]]
        paid = recorded - errors
        found = (rows_done, rows_out, row_errors, charged, run["charged"], *self.booked.get(run["id"], (0, 0)))
        expected = (recorded, recorded, errors, paid, paid * price, paid * price, paid)
        if found != expected:
            self.fail(f"G4 {where}: rows done, out, errors, charged, the charge, what is booked and for how many are "
                      f"{found}, its rows say {expected}")
        if run["status"] == COMPLETED and parts_done != parts_total:
            self.fail(f"G7 {where} has completed, {parts_done} parts of {parts_total} of block {ENRICHES} are done")

    def calls_carry_the_key_of_their_row(self):
        for row, asks in self.asked.asks.items():
            run, given = self.rows.get(row, ({"id": None}, None))
            subject = given and dict(zip(["n", "key", "call"], given))
            for ask in asks:
                if ask["key"] != row or ask["run"] != run["id"] or ask["subject"] != subject:
                    self.fail(f"G1 a call does not carry the key and the values of its row {given}: {ask}")

    def owner_of(self, row):
        run, _ = self.rows.get(row, (None, None))
        return run and (f"the run {run['id']}", run["org"], run["finished"])
