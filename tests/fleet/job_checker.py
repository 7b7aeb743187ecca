"""Jobs in the checker: what clients were answered, what the lookup service was asked, what receivers were sent and what
the database says must agree. Every failure names its guarantee."""

import collections
import datetime
import json
import re
import uuid

from asked_rows import AskedRows
from job_load import ENDS
from services import event_of_job

KINDS = ["find_email", "find_email_bulk"]
STATUSES = ["queued", "running", "completed", "failed", "cancelled", "terminated", "timed_out"]
PRICE_MC = 5000
# How long after its deadline a job may end.
LATE_S = 10.0
# The longest wait after a row's first failed attempt, twice that after the second and so on (lease/retries.h), and the time
# that an answer takes to arrive.
RETRY_WAIT_S = 0.75
ANSWER_S = 0.5
# What a callback and /job-status both say of a job that has ended.
CALLBACK_MEMBERS = ["task_id", "task_type", "status", "result", "error", "charge_amount", "created_at", "finished_at"]


class Job:
    def __init__(self, columns):
        (self.id, self.org, self.team, kind, status, self.reason, self.params, self.estimate, self.reserved, self.charged,
         self.created, self.started, self.deadline, self.finished, self.hook, self.waited) = columns
        self.kind, self.status = KINDS[kind], STATUSES[status]
        self.leads = [row[1] if isinstance(row, list) else row for row in self.params["rows"]]
        self.copies = {i: row[0] for i, row in enumerate(self.params["rows"]) if isinstance(row, list)}
        self.call = int(re.match(r"Call(\d+) ", self.leads[0]["name"])[1])
        self.cells = [None] * len(self.leads)  # what is recorded of each row

    def row_id(self, index):
        return str(uuid.uuid5(uuid.UUID(self.id), f"0/{index}"))

    def __str__(self):
        return f"job {self.id} (call {self.call}, {self.kind}, {self.status}, {self.reason})"


class JobChecker:
    """The checks of lookups, one and many at a time. `checker` has the faults, the clocks and the list of failures; `views`
    are the last answers of /job-status."""

    def __init__(self, checker, cluster, ledger, lookups, views):
        self.checker, self.cluster, self.lookups, self.views = checker, cluster, lookups, views
        self.fail = checker.fail
        self.starts = ledger.of("start")
        self.cancels = ledger.of("cancel")
        self.seen = ledger.of("view")
        self.callbacks = ledger.of("callback")
        self.asked = AskedRows(checker, ledger, "lookup", "looked_up")

    def run(self):
        self.read()
        self.jobs_end()
        self.starts_made_one_job_each()
        self.ends_have_a_reason()
        self.ends_are_final()
        self.rows_are_what_was_answered()
        self.calls_carry_the_key_of_their_row()
        self.asked.ends_and_locks_hold(self.owner_of)
        self.charges_are_charged_rows()
        self.callbacks_arrive()
        self.note()

    def read(self):
        query = self.cluster.execute
        self.jobs = {row[0]: Job(row) for row in query(
            "select id, org_id, team_id, kind, status, status_reason, params, estimate_mc, reserved_mc, charged_mc, "
            "created_at, started_at, deadline_at, finished_at, webhook_url, waited from job where kind < 2 order by id")}
        self.rows = {}  # row id -> (job, index)
        for job in self.jobs.values():
            for index in range(len(job.leads)):
                self.rows[job.row_id(index)] = (job, index)
        for job_id, rows in query("select job_id, rows from job_part where block = 0 and part = 0 "
                                  "and job_id in (select id from job where kind < 2)"):
            cells = [row and row[0] for row in rows]
            self.jobs[job_id].cells = cells
            if len(cells) != len(self.jobs[job_id].leads):
                self.fail(f"G1 {self.jobs[job_id]}: {len(cells)} rows are recorded of {len(self.jobs[job_id].leads)}")

    # G2, G6

    def jobs_end(self):
        for job in self.jobs.values():
            if job.finished is None:
                self.fail(f"G2 {job} has not ended")
                continue
            if job.reserved:
                self.fail(f"G4 {job} has ended and holds {job.reserved}")
            if not job.created <= (job.started or job.finished) <= job.finished:
                self.fail(f"G6 {job}: created {job.created}, started {job.started}, finished {job.finished}")
            late = (job.finished - job.deadline).total_seconds()
            ours = self.checker.ours
            if late > LATE_S and not self.checker.explained(ours(job.deadline), ours(job.finished)):
                self.fail(f"G7 {job} ended {late:.1f} s after its deadline, and nothing was broken")
            if job.status == "completed" and None in job.cells:
                self.fail(f"G7 {job} has completed without row {job.cells.index(None)}")
        left = self.cluster.execute("select count(*) from job_chunk c join job j on j.id = c.job_id "
                                    "where j.finished_at is not null")[0][0]
        if left:
            self.fail(f"G5 {left} chunks are left of jobs that have ended")
        for job_id, parts, done, status in self.cluster.execute(
                "select job_id, parts_total, parts_done, status from job_block"):
            if job_id in self.jobs and self.jobs[job_id].status == "completed" and (parts != done or status != 2):
                self.fail(f"G7 {self.jobs[job_id]} has completed, {done} parts of {parts} are done")

    # G12

    def starts_made_one_job_each(self):
        made = collections.defaultdict(list)
        for job in self.jobs.values():
            made[job.call].append(job)
        calls = collections.defaultdict(list)
        for entry in self.starts:
            calls[entry["call"]].append(entry)
        for call, entries in calls.items():
            jobs = made.pop(call, [])
            told = {e["job"] for e in entries if e["job"]}
            if len(jobs) > 1:
                self.fail(f"G12 the call {call} made {len(jobs)} jobs: {[e['status'] for e in entries]}")
            if told - {job.id for job in jobs}:
                self.fail(f"G2 the call {call} was answered with {told}, and there is {[job.id for job in jobs]}")
            # A start that nobody answered, or whose outcome was unknown, may have been made.
            unknown = any(e["status"] is None or e["status"] >= 500 or e["status"] == 409 for e in entries)
            if jobs and not told and not unknown:
                self.fail(f"G12 {jobs[0]} was refused with {[e['status'] for e in entries]}")
            for job in jobs:
                if len(job.leads) != entries[0]["rows"] or job.org != entries[0]["tenant"]:
                    self.fail(f"G1 {job} is not what was asked: {entries[0]}")
            self.refusals(entries)
        for call in made:
            self.fail(f"G2 nobody made the call {call}")

    def refusals(self, entries):
        tenant = next(t for t in self.checker.load.tenants if t.id == entries[0]["tenant"])
        for e in entries:
            if e["error"] == "insufficient_credits" and not tenant.poor:
                self.fail(f"G4 there is money, and {e} is refused")
            if e["error"] == "spend_limit_reached" and not tenant.limit:
                self.fail(f"G4 there is no limit, and {e} is refused")
            if e["status"] not in (None, 200, 402, 403, 409, 503) or (e["status"] == 403 and tenant.name != "locked"):
                self.fail(f"G12 a start was answered {e}")

    def ends_have_a_reason(self):
        cancels = {e["job"] for e in self.cancels if e["status"] in (None, 200, 503)}
        starts = {e["call"]: e for e in self.starts}
        self.ends = collections.Counter()
        for job in self.jobs.values():
            start = starts[job.call]
            self.ends[f"{job.status} {job.reason or ''}".strip()] += 1
            if job.status == "timed_out":
                late = job.kind == "find_email" and job.cells[0] and job.cells[0]["error"] == "timed_out"
                fine = late or start["path"] in ("/find-email", "/find-email-bulk")
            elif job.reason == "cancelled_by_client":
                fine = job.id in cancels
            elif job.reason == "client_gone":
                fine = job.waited and not start["key"]
            elif job.status == "failed":  # the one row of a single lookup
                fine = job.kind == "find_email" and job.cells[0] and job.reason == job.cells[0]["error"]
            else:
                fine = job.status == "completed"
            if not fine and job.finished:
                self.fail(f"G7 {job} has no reason to end so")

    # G6

    def ends_are_final(self):
        told = [(e["t"], e["job"], e["view"]) for e in self.seen + self.cancels if e.get("view")]
        for at, job, view in told:
            if view["status"] in ENDS and view != self.views[job]:
                self.fail(f"G6 job {job} was shown at {at} as {view}, and is {self.views[job]}")
        for e in self.starts:
            if not e["results"] or not e["job"]:
                continue
            view = self.views[e["job"]]
            shown = (view["result"] or {}).get("results") or (view["result"] and [view["result"]])
            if shown is not None and shown != e["results"]:
                self.fail(f"G6 call {e['call']} was answered {e['results']}, and its job's result is {shown}")
            if shown is None and not all(row["error"] for row in e["results"]):
                self.fail(f"G6 call {e['call']} was answered {e['results']}, and its job has no result")

    # G1

    def rows_are_what_was_answered(self):
        self.crashed = 0
        for row, (job, index) in self.rows.items():
            cell, asks = job.cells[index], self.asked.asks.get(row, [])
            where = f"row {index} of {job}"
            if index in job.copies:
                if asks or (cell and cell != {"duplicate_of": job.copies[index]}):
                    self.fail(f"G1 {where} is a copy, and is {cell}, asked about {len(asks)} times")
                continue
            if cell:
                self.recorded(where, job, cell, job.leads[index]["name"], self.asked.answers.get(row, []))
            self.asked.asked_again(where, row)
        for row in self.asked.asks.keys() - self.rows.keys():
            self.fail(f"G1 the service was asked about the row {row}, which no job has: {self.asked.asks[row][0]}")

    def had_no_database(self, job, error):
        """The database was away until the next attempt, which waits for about as long as all before it, had come too late."""
        tried = job.finished - job.created
        return (error == "database" and job.finished + 1.5 * tried + datetime.timedelta(seconds=RETRY_WAIT_S) >= job.deadline
                and self.checker.explained(self.checker.ours(job.created), self.checker.ours(job.finished)))

    def recorded(self, where, job, cell, name, answers):
        statuses = {a["status"] for a in answers}
        candidate = self.lookups.candidate(name)
        if cell["error"]:
            self.crashed += cell["error"] == "row_crashed"
            # A row has no more time than its job.
            late = cell["error"] == "timed_out" and (job.deadline - job.finished).total_seconds() < 1
            known = cell["error"] == "row_crashed" or late or self.had_no_database(job, cell["error"])
            known = known or 422 in statuses or self.was_the_last(job, answers) or (
                answers and self.checker.explained(answers[0]["t"], answers[-1]["t"]))
            if not known:
                self.fail(f"G1 {where} has the error {cell['error']}, the service answered {statuses}")
            if cell["details"]["charged"]:
                self.fail(f"G4 {where} has an error, and is charged")
            return
        if 200 not in statuses:
            self.fail(f"G1 {where} is recorded {cell['email']}, the service answered {statuses}")
        expected = list(candidate) if candidate else ["", "NOT_FOUND"]
        if cell["email"][0][:2] != expected or cell["details"]["charged"] != bool(candidate):
            self.fail(f"G1 {where} is recorded {cell['email']}, charged {cell['details']['charged']}, the service "
                      f"answered {expected}")

    def was_the_last(self, job, answers):
        """A row whose job ends before another attempt could be made ends with the failure of its last one."""
        if not answers or answers[-1]["status"] != 500:
            return False
        left = self.checker.ours(job.deadline) - answers[-1]["t"]
        return left < RETRY_WAIT_S * 2 ** (len(answers) - 1) + ANSWER_S

    def calls_carry_the_key_of_their_row(self):
        for row, asks in self.asked.asks.items():
            for ask in asks:
                job, index = self.rows.get(row, (None, None))
                if ask["key"] != row or (job and (ask["job"] != job.id or ask["name"] != job.leads[index]["name"])):
                    self.fail(f"G1 a call does not carry the key and the lead of its row: {ask}")

    def owner_of(self, row):
        job, _ = self.rows.get(row, (None, None))
        return job and (str(job), job.org, job.finished)

    # G4

    def charges_are_charged_rows(self):
        booked, entries = collections.Counter(), collections.Counter()
        for job, amount, rows in self.cluster.execute("select job_id, amount_mc, checks from credit_entry "
                                                      "where job_id is not null"):
            booked[job] -= amount
            entries[job] += rows
        for job_id, done, errors, charged in self.cluster.execute(
                "select job_id, rows_done, row_errors, rows_charged from job_block "
                "where job_id in (select id from job where kind < 2)"):
            job = self.jobs[job_id]
            cells = [cell for cell in job.cells if cell]
            paid = sum(1 for cell in cells if cell.get("details", {}).get("charged"))
            wrong = sum(1 for cell in cells if cell.get("error"))
            counted = (done, errors, charged, entries[job_id], booked[job_id], job.charged)
            expected = (len(cells), wrong, paid, paid, paid * PRICE_MC, paid * PRICE_MC)
            if counted != expected:
                self.fail(f"G4 {job}: rows done, errors, charged, entries, booked and charge are {counted}, its rows "
                          f"say {expected}")
            if job.estimate != (len(job.leads) - len(job.copies)) * PRICE_MC:
                self.fail(f"G4 {job} was estimated {job.estimate}")

    # G3

    def callbacks_arrive(self):
        expected = {event_of_job(job.id, job.kind): job for job in self.jobs.values() if job.hook}
        dead = {event for event, in self.cluster.execute(
            "select event_group_id from delivery where state = 1 and job_id is not null")}
        arrived, bodies = collections.defaultdict(list), collections.defaultdict(set)
        for e in self.callbacks:
            job = expected.get(e["event"])
            if not e["proper"] or not job or e["job"] != job.id:
                self.fail(f"G3 nobody expects the callback, or it is not what it says: {e}")
                continue
            bodies[e["event"]].add(e["body"])
            if e["result"] == "taken":
                arrived[e["event"]].append(e["t"])
        for event, job in expected.items():
            if not arrived[event]:
                self.fail(f"G3 the callback of {job} never arrived{', and is dead' if event in dead else ''}")
        for event, seen in bodies.items():
            job = expected[event]
            if len(seen) > 1:
                self.fail(f"G3 the callback of {job} had {len(seen)} bodies")
            body, view = json.loads(min(seen)), self.views.get(job.id)
            if view and {k: body[k] for k in CALLBACK_MEMBERS} != {k: view[k] for k in CALLBACK_MEMBERS}:
                self.fail(f"G3 the callback of {job} says {body}, and the job is {view}")
        self.doubles = 0
        for event, times in arrived.items():
            for before, after in zip(times, times[1:]):
                self.doubles += 1
                if not self.checker.explained(before, after):
                    self.fail(f"G3 the callback of {expected[event]} arrived at {before} and again at {after}, and "
                              f"nothing was broken")
        self.arrived = len(arrived)

    def note(self):
        rows = sum(1 for job in self.jobs.values() for cell in job.cells if cell)
        ends = ", ".join(f"{end} {n}" for end, n in sorted(self.ends.items()))
        self.checker.notes.append(
            f"{len(self.jobs)} jobs of {len({e['call'] for e in self.starts})} requests: {ends}; {rows} rows recorded, "
            f"{self.asked.twice} asked about once more because of a fault, {self.crashed} ended their process; "
            f"{self.asked.held} locks held, calls on their way in a frozen process: {self.asked.thawed}; {self.arrived} callbacks, "
            f"{self.doubles} arrived more than once")
