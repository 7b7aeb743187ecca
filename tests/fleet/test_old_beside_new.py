"""An earlier version goes on beside this one while a fleet is replaced. Of the version before jobs, the statements are
valid, and what its processes do with them takes nothing of jobs and leaves the books whole; its binary is not run here.
A binary of a version with jobs is run where VEDETTE_OLD_BINARY names one (CONTRIBUTING.md)."""

import os
import re
import subprocess
import uuid
from pathlib import Path

import psycopg2
import pytest
from cluster import wait_until
from scenario import ROWS

OLD_BINARY = os.environ.get("VEDETTE_OLD_BINARY")
PRICE_MC = 1000
LEASE_MS = 30_000


def old_statements():
    text = (Path(__file__).resolve().parent / "statements_before_jobs.sql").read_text()
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def literal(value):
    """For EXECUTE, which takes no parameters of the protocol: every value is a text that the parameter's type reads."""
    if value is None:
        return "NULL"
    if isinstance(value, list):
        value = "{" + ",".join("NULL" if one is None else f'"{one}"' for one in value) + "}"
    return "'" + str(value).replace("'", "''") + "'"


class OldProcess:
    """A connection of a process of the version before."""

    def __init__(self, scenario):
        self.statements = old_statements()
        self.connection = scenario.cluster.primary.connect(scenario.cluster.database, "fleet")
        self.prepared = set()

    def prepare(self, name):
        if name not in self.prepared:
            self.connection.cursor().execute(f"PREPARE {name} AS {self.statements[name]}")
            self.prepared.add(name)

    def execute(self, name, *values):
        self.prepare(name)
        cursor = self.connection.cursor()
        arguments = f" ({', '.join(map(literal, values))})" if values else ""
        cursor.execute(f"EXECUTE {name}{arguments}")
        return cursor.fetchall() if cursor.description else []


def test_every_statement_of_the_version_before_is_valid(scenario):
    old = OldProcess(scenario())
    refused = {}
    for name in old.statements:
        try:
            old.prepare(name)
        except psycopg2.Error as error:
            refused[name] = str(error)
    assert refused == {} and len(old.statements) > 100


def record_a_tick(old, monitor, org):
    """As a worker of the version before: it walks, claims, reserves, and records every check as unchanged. Returns how
    many chunks it came upon."""
    token = str(uuid.uuid4())
    due = [of_org for of_org, *_ in old.execute("chunk_walk", uuid.UUID(int=0), 200)]
    chunks = old.execute("chunk_claim", due, [16] * len(due), [1000] * len(due), token, LEASE_MS)
    for chunk, of_org, team, tier, *_, month, monitors, ticks, firsts, ends, now in chunks:
        assert (of_org, firsts, ends) == (org, [0], [ROWS])
        open_tick, due_at, started_at, slots, trigger = old.execute("monitor_specs", [monitor])[0][16:21]
        assert ticks == [open_tick]
        old.execute("accounts_lock", [org])
        old.execute("accounts_reserve", [org], [ROWS * PRICE_MC])
        old.execute("chunk_reserve", [chunk], [ROWS * PRICE_MC], [PRICE_MC], [month])
        assert len(old.execute("record_lock_chunks", [chunk], [token])) == 1
        outcomes = r"\\x" + "02" * ROWS
        assert old.execute("record_row_states", [monitor], [open_tick], [0], [outcomes], [now]) == [(ROWS,)]
        old.execute("record_ticks", [monitor], [open_tick], [org], [trigger], [due_at], [started_at], [slots], [outcomes])
        old.execute("record_close_ticks", [monitor], [open_tick], [10])
        old.execute("record_charges", [org], [team], [ROWS * PRICE_MC], [ROWS], [tier], [chunk])
        old.execute("record_delete_chunks", [chunk])
    return len(chunks)


def test_a_worker_of_the_version_before_takes_nothing_of_jobs(scenario):
    s = scenario()
    old, org = OldProcess(s), s.tenant.id
    jobs = [s.bulk(), s.bulk(), s.bulk(key="again")]
    wait_until("the tick to be cut", lambda: s.value("SELECT count(*) FROM chunk") == 1)
    assert record_a_tick(old, s.monitor.id, org) == 1
    assert record_a_tick(old, s.monitor.id, org) == 0
    assert s.over() and s.value("SELECT count(*) FROM job_chunk WHERE claims = 0 AND lease_token IS NULL") == len(jobs)
    assert s.value("SELECT balance_mc FROM account") == 1_000_000_000 - ROWS * (PRICE_MC + len(jobs) * 5000)
    assert s.money_failures() == []
    s.jobs.cancel(s.tenant, jobs[1])
    s.work1.start()
    wait_until("every job to end", s.jobs_over)
    assert s.job_failures() == []
    assert s.value("SELECT array_agg(status ORDER BY id) FROM job") == [2, 4, 2]


def test_a_deliverer_and_the_maintenance_of_the_version_before_leave_callbacks_be(scenario):
    """It knows no deliveries without a monitor, and no endpoints that open jobs use."""
    s = scenario()
    old = OldProcess(s)
    s.first_tick(s.work1)
    s.work1.kill()
    s.bulk(hook=True)
    endpoint = s.value("SELECT endpoint_id FROM job")
    old.execute("endpoint_forget", [endpoint])
    assert s.value("SELECT count(*) FROM endpoint WHERE id = %s", endpoint) == 0
    s.work1.start()
    wait_until("the job to end", s.jobs_over)
    before = s.cluster.execute("SELECT * FROM delivery")
    assert len(before) == 1
    assert [row[:2] for row in old.execute("delivery_walk", uuid.UUID(int=0), 200)] == [(endpoint, True)]
    assert old.execute("delivery_claim", [endpoint], [100], uuid.uuid4(), LEASE_MS) == []
    assert s.cluster.execute("SELECT * FROM delivery") == before
    s.add("send1", "delivery").start()
    wait_until("the callback to arrive", lambda: s.ledger.of("callback"))
    wait_until("the callback to be settled", lambda: s.value("SELECT count(*) FROM delivery") == 0)
    assert s.job_failures() == []


@pytest.mark.skipif(not OLD_BINARY, reason="VEDETTE_OLD_BINARY names no binary")
def test_a_binary_of_the_version_before_and_this_one_work_on_the_same_jobs_runs_and_monitors(request):
    """Half a fleet of the old binary has checks, lookups and runs under way when the schema is migrated and the other half
    comes, of this version. Both work, the old processes die and are replaced; every ledger agrees with the database."""
    torture = Path(__file__).resolve().parent / "torture"
    done = subprocess.run(
        [torture, "--minutes", "0.5", "--faults", "", "--before", OLD_BINARY, "--build", request.config.getoption("--build")],
        capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
