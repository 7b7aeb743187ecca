"""Runs in the checker: every run ends, each part of each block is what its input makes of it, once, and the counters are
those of the parts. Every failure names its guarantee."""

import collections

from run_load import expected_parts

COMPLETED, FAILED, CANCELLED = 2, 3, 4


class RunChecker:
    """`checker` has the faults, the clocks and the list of failures."""

    def __init__(self, checker, cluster, ledger):
        self.checker, self.cluster, self.fail = checker, cluster, checker.fail
        self.starts = {}  # call -> its entries
        for entry in ledger.of("run_start"):
            self.starts.setdefault(entry["call"], []).append(entry)
        self.cancels = ledger.of("run_cancel")

    def run(self):
        self.read()
        self.calls_made_one_run_each()
        for run in self.runs:
            self.ends(run)
            self.parts_are_what_their_inputs_make(run)
        self.checker.notes.append(
            f"{len(self.runs)} runs of {len(self.starts)} calls: "
            + ", ".join(f"{status} {n}" for status, n in sorted(collections.Counter(
                str(run["status"]) for run in self.runs).items())) + " (2 completed, 3 failed, 4 cancelled)")

    def read(self):
        query = self.cluster.execute
        names = ["id", "org", "status", "reason", "reserved", "part_rows", "created", "finished"]
        self.runs = [dict(zip(names, row)) for row in query(
            "select id, org_id, status, status_reason, reserved_mc, part_rows, created_at, finished_at from job "
            "where kind = 5 and workflow_id is not null order by id")]
        self.parts = collections.defaultdict(dict)  # run -> (block, part) -> rows
        for run, block, part, rows in query("select job_id, block, part, rows from job_part where job_id in "
                                            "(select id from job where kind = 5 and workflow_id is not null)"):
            self.parts[run][block, part] = rows
        self.blocks = collections.defaultdict(list)
        for run, *counters in query("select job_id, block, parts_total, parts_done, rows_done, rows_out, row_errors "
                                    "from job_block order by job_id, block"):
            self.blocks[run].append(counters)
        for run in self.runs:  # its rows say which call it comes from
            run["call"] = self.parts[run["id"]][0, 0][0][0]

    # G12

    def calls_made_one_run_each(self):
        made = collections.defaultdict(list)
        for run in self.runs:
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
        if run["call"] not in self.starts:
            return
        expected = expected_parts(run["call"], self.starts[run["call"]][0]["rows"], run["part_rows"])
        made = self.parts[run["id"]]
        for block, part in made:
            if not (block < len(expected) and part < len(expected[block])):
                self.fail(f"G1 {where} has a part {part} of block {block}, which nothing makes")
            elif made[block, part] != expected[block][part]:
                self.fail(f"G1 {where}: part {part} of block {block} is {str(made[block, part])[:200]}, its input "
                          f"makes {str(expected[block][part])[:200]} of it")
        for block, parts_total, parts_done, rows_done, rows_out, errors in self.blocks[run["id"]]:
            mine = [rows for (of, _), rows in made.items() if of == block]
            before = [len(expected[max(block - 1, 0)][part]) for of, part in made if of == block]
            counted = (parts_done, rows_done, rows_out, errors)
            recounted = (len(mine), sum(before), sum(map(len, mine)), 0)
            if counted != recounted:
                self.fail(f"G7 {where}: block {block} counts {counted} parts, rows done, out and errors; there are "
                          f"{recounted}")
            if run["status"] == COMPLETED and parts_done != parts_total:
                self.fail(f"G7 {where} has completed, {parts_done} parts of {parts_total} of block {block} are done")
