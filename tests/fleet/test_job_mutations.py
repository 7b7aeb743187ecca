"""The checker is honest about jobs, too: with a safety of jobs switched off, the fault that the safety is there for is
noticed. Each script is run with it on, too, when all must be well."""

import asyncio
import signal
import threading
import time
import uuid

from checker import Checker
from cluster import free_port, wait_until
from run_load import DEFINITIONS, payload
from run_schedules import RunSchedules, SlotChecker, SlotWatch
from scenario import ROWS
from test_mutations import both, verdict

HALF = ROWS // 2


@both("job_progress_fence")
def test_a_commit_of_rows_without_an_answer_is_charged_once(scenario, disabled):
    """The fence of progress: half a part is recorded, the answer of its COMMIT is lost, and the record is repeated."""
    s = scenario(disabled)
    let_through = s.hold_lookups([s.work1])
    s.work1.proxy.cut_commit_of("job_chunk_lock_any_progress" if disabled else "job_chunk_lock")
    s.first_tick(s.work1)
    t0 = time.monotonic()
    s.bulk()
    let_through(range(HALF))
    wait_until("the cut", lambda: s.work1.proxy.cut_done == 1)
    s.ledger.add("fault", name="cut_commit", t0=t0, what="work1")
    # With an effect or without.
    wait_until("the repeated record", lambda: s.work1.proxy.repeated > 0)
    let_through(range(HALF, ROWS))
    verdict(disabled, s.end(), ["rows done, errors, charged", "is block_failed", "has not ended"])


@both("job_lease_fence")
def test_who_lost_its_lease_of_a_part_charges_nothing(scenario, disabled):
    """The fence of leases: a worker is frozen before it records a quarter of a part, and thaws when its heir has asked
    about every row. If that record took effect the heir's first one would pass for it."""
    s = scenario(disabled)
    s.first_tick(s.work2)
    s.work2.kill()
    first, second = s.hold_lookups([s.work1]), None
    s.work1.points = ["after_row:stop:1"]
    s.work1.start()
    s.bulk()
    first(range(2))
    t0 = time.monotonic()
    wait_until("the freeze", lambda: s.work1.state() == "T")
    second = s.hold_lookups([s.work2])
    s.work2.health_port = free_port()
    s.work2.start()
    wait_until("the heir to have asked", lambda: len(s.looked_up(s.work2)) == ROWS)
    # It freezes at every record that it begins; the one with its old lease must have been made.
    deadline = time.monotonic() + 6
    while time.monotonic() < deadline and "not held any more" not in s.work1.log() and not s.value(
            "SELECT sum(progress) FROM job_chunk"):
        if s.work1.state() == "T":
            s.work1.send(signal.SIGCONT)
        time.sleep(0.05)
    s.work1.kill()
    s.ledger.add("fault", name="freeze", t0=t0, what="work1")
    second(range(HALF))
    # The heir's own count: what it thinks that it recorded, whether or not it took effect.
    wait_until("the heir to have recorded half of the part", lambda: s.work2.metric("vedette_job_rows_total") >= HALF)
    second(range(HALF, ROWS))
    verdict(disabled, s.end(), ["rows done, errors, charged"])


@both("job_reservation")
def test_what_a_job_is_charged_was_reserved(scenario, disabled):
    s = scenario(disabled)
    s.first_tick(s.work1)
    s.bulk()
    verdict(disabled, s.end(), ["G4 organisation"])


@both("job_held")
def test_a_lock_stops_the_rows_of_jobs(scenario, disabled):
    """The look whether a part may still be worked on: leases go on through a lock, and rows must not."""
    s = scenario(disabled, {"VEDETTE_JOBS_SLOTS_LOOKUP": "4"})
    s.first_tick(s.work1)

    async def behave(member, question, times):
        await asyncio.sleep(0.4)

    s.lookups.behave = behave
    s.bulk(90)
    wait_until("some rows", lambda: len(s.looked_up(s.work1)) >= 5)
    s.load.insist(s.load.lock, s.tenant, True)
    time.sleep(7)  # the point: longer than the 5 s in which a lock takes hold
    s.load.insist(s.load.lock, s.tenant, False)
    s.lookups.behave = None
    verdict(disabled, s.end(), ["after the lock of its organisation"])


@both("job_end_lock")
def test_a_cancel_that_meets_the_last_record_changes_nothing(scenario, disabled):
    """The lock of an end: a job's last record is about to be committed when the job is cancelled."""
    s = scenario(disabled, {"VEDETTE_DATABASE_STATEMENT_TIMEOUT_MS": "120000",  # 20 s in a transaction
                            "VEDETTE_WORKER_LEASE_MS": "20000"})
    s.first_tick(s.work2)
    s.work2.kill()
    s.work1.points = ["before_job_record_commit:stop:1"]
    s.work1.start()
    job = s.bulk()
    t0 = time.monotonic()
    wait_until("the freeze", lambda: s.work1.state() == "T")
    canceller = threading.Thread(target=s.jobs.cancel, args=(s.tenant, job))
    canceller.start()
    wait_until("the cancel to wait", lambda: s.value(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"), 4)
    s.work1.send(signal.SIGCONT)
    canceller.join(20)
    s.ledger.add("fault", name="freeze", t0=t0, what="work1")
    verdict(disabled, s.end(), ["G4 organisation"])


@both("open_later")
def test_a_part_that_ends_opens_the_next(scenario, disabled):
    """Opening parts as others end: two blocks of which a window of one part is open at a time."""
    s = scenario(disabled)
    s.first_tick(s.work1)
    job = str(uuid.uuid4())
    rows = ", ".join('{"n": 1}' for _ in range(12))
    s.cluster.execute(
        "INSERT INTO job (id, org_id, kind, part_rows, params, caller_kind, caller_id, remote_address, estimate_mc, "
        "reserved_mc, month, deadline_at) VALUES (%s, %s, 5, 4, %s, 0, %s, '', 0, 0, current_date, "
        "now() + interval '1 hour')", (job, s.tenant.id, f'{{"rows": [{rows}]}}', job))
    s.cluster.execute(
        "INSERT INTO job_block (job_id, block, type, specs, input, lane, price_mc, after_drop, columns, rows_total, "
        "parts_total, opened, part_window) VALUES "
        "(%s, 0, 'null', '{}', NULL, 1, 0, false, '{a}', 12, 3, 1, 1), "
        "(%s, 1, 'null', '{}', 0, 1, 0, false, '{a}', NULL, 3, 0, 1)", (job, job))
    s.cluster.execute(
        "INSERT INTO job_chunk (id, org_id, lane, rank, available_at, due_at, job_id, block, part) "
        "VALUES (%s, %s, 1, 1, now(), now(), %s, 0, 0)", (str(uuid.uuid4()), s.tenant.id, job))
    failures = s.end()
    if not disabled:
        assert s.value("SELECT status FROM job") == 2
        assert s.value("SELECT array_agg(rows_out::int ORDER BY block) FROM job_block") == [12, 12]
    verdict(disabled, failures, ["every job to end"])


@both("slot_fence")
def test_who_has_read_a_slot_that_another_started_starts_no_run(scenario, disabled):
    """The fence of slots: a scheduler is frozen when it has read that a slot is due, and thaws when another one has started
    the slot's run."""
    s = scenario(disabled)
    second = s.add("sched2", "scheduler")
    s.sched.kill()
    s.sched.points = ["after_slot_read:stop:1"]
    s.sched.start()
    flow = s.load.operator.must(s.load.operator.api(s.tenant.key, "POST", "/workflows/create_workflow", {
        "workflow_name": "computed", "workflow_definition": DEFINITIONS["computed"]}))["id"]
    schedules = RunSchedules(s.load.operator, s.ledger, s.load, {("one", "computed"): flow}, payload,
                             [("one", "computed", "allow", 3600, 3600)])
    s.cluster.execute("UPDATE workflow_schedule SET next_at = next_at - interval '1 hour', "
                      "anchor_at = anchor_at - interval '1 hour', look_at = now()")
    t0 = time.monotonic()
    wait_until("the freeze", lambda: s.sched.state() == "T")
    second.start()
    wait_until("the slot's run", lambda: s.value("SELECT count(*) FROM job") == 1)
    assert s.sched.state() == "T"
    # It freezes at every look that it begins; the one with what it read before must have been made.
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline and s.value("SELECT count(*) FROM job") == 1:
        if s.sched.state() == "T":
            s.sched.send(signal.SIGCONT)
        time.sleep(0.05)
    s.sched.kill()
    s.ledger.add("fault", name="freeze", t0=t0, what="sched")
    s.work1.start()
    checker = Checker(s.cluster, s.ledger, s.load)
    checker.read()
    SlotChecker(checker, s.cluster, s.ledger, SlotWatch(s.cluster)).run()
    verdict(disabled, s.end() + checker.failures, ["started 2 runs"])
    assert schedules.made
