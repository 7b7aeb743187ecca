"""What stands between vedette and its database: the settings of a server and a role, and poolers of connections."""

import concurrent.futures
import contextlib
import datetime
import os
import signal
import subprocess
import time
from pathlib import Path

import psycopg2
import pytest

from conftest import Database, Postgres, Vedette, call, free_port, wait_until
from pooler import Pooler

# A role that was set up for something else. With the first two, a session that says nothing compiles every statement, as
# Debian's server compiles those that it thinks dear.
OF_THE_ROLE = {"jit": "on", "jit_above_cost": "0", "default_transaction_isolation": "serializable",
               "standard_conforming_strings": "off", "extra_float_digits": "-15", "datestyle": "'German'",
               "timezone": "'Asia/Kathmandu'", "bytea_output": "'escape'"}


@pytest.fixture
def counting():
    """A database on a server as Debian ships it that counts what it compiles, of a role with settings of its own."""
    postgres = Postgres(settings={"shared_preload_libraries": "pg_stat_statements"})
    postgres.start()
    postgres.create("counting")
    database = Database(postgres, "counting")
    database.rows("create extension pg_stat_statements")
    database.rows("create role fleet superuser login")
    for name, value in OF_THE_ROLE.items():
        database.rows(f"alter role fleet set {name} = {value}")
    database.url = database.url.replace("vedette@", "fleet@")
    yield database
    postgres.close()


OF_THE_FLEET = " from pg_stat_statements where userid = 'fleet'::regrole"


def test_nothing_is_compiled_in_sessions_whatever_the_role_is_set_to(binary, counting, tmp_path, nginx):
    with counting.postgres.connect("counting", role="fleet") as session, session.cursor() as cursor:
        cursor.execute("select count(*) from pg_class")
    assert counting.value("select sum(jit_functions)" + OF_THE_FLEET) > 0, "a session that says nothing compiles"
    nginx.write("page.html", "<html><body><h1>1.5</h1></body></html>")
    service = Vedette(binary, counting.url, tmp_path).migrate().start()
    tenant = service.organisation()
    monitors = [tenant.post("/monitors", {
        "name": f"m{i}", "key_columns": ["company"], "rows": [{"company": "a", "url": nginx.url + "/page.html"}],
        "struct": {"title": "css:h1"}, "frequency": "1h"})["id"] for i in range(7)]
    for monitor in monitors:
        wait_until("its check", lambda: tenant.finished_ticks(monitor))
        tenant.post(f"/monitors/{monitor}/update", {"is_active": False})
    counting.rows("select pg_stat_statements_reset()")
    of_gauges = OF_THE_FLEET + " and query like '%receivers_failing%'"
    wait_until("the gauges to be read a few times", lambda: counting.value("select coalesce(sum(calls), 0)" + of_gauges) >= 3)
    compiled = counting.rows("select query, jit_functions" + OF_THE_FLEET + " and jit_functions > 0")
    assert service.stop() == 0
    assert not compiled


@pytest.fixture
def pooled(postgres, database):
    made = []

    def pooler(mode, **more):
        made.append(Pooler(postgres, database.name, mode, **more))
        return made[-1]

    yield pooler
    for one in made:
        one.close()


def test_before_its_database_a_process_tells_strangers_that_it_starts_and_not_why(binary, tmp_path):
    service = Vedette(binary, f"postgresql://vedette@127.0.0.1:{free_port()}/vedette", tmp_path)
    service.start(ready=False)

    def of(url, headers=None):
        with contextlib.suppress(OSError):
            return call("GET", url, headers=headers)

    wait_until("the reason for the operator", lambda: (a := of(service.admin + "/readyz")) and "127.0.0.1" in str(a.json["reasons"]))
    answer = wait_until("its port", lambda: of(service.api + "/monitors", {"X-Request-Id": "mine"}), 20)
    assert answer.status == 503 and answer.headers["Retry-After"] == "5"
    assert answer.headers["X-Request-Id"] == "mine" and answer.headers["Content-Type"] == "application/json"
    assert answer.json == {"error": "unavailable", "message": "the service is starting: send the request again"}
    assert service.stop() == 0


@pytest.fixture
def own_server():
    """A server that a test may have hang, with a database."""
    postgres = Postgres()
    postgres.start()
    postgres.create("own")
    yield postgres
    postgres.close()


@contextlib.contextmanager
def hanging(postgres):
    """The server and all its sessions stand still, while the system takes connections for it."""
    server = postgres.server.pid
    processes = [server, *map(int, Path(f"/proc/{server}/task/{server}/children").read_text().split())]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def test_while_the_database_hangs_a_process_says_that_it_is_not_ready_G12(binary, own_server, tmp_path):
    service = Vedette(binary, own_server.url("own"), tmp_path).migrate().start()
    with hanging(own_server):
        answer = wait_until("it to say so", lambda: (a := call("GET", service.admin + "/readyz")).status == 503 and a, 25)
        assert answer.json["reasons"] == ["the database has not answered for 10 s"]
    wait_until("it to be ready again", service.is_ready)
    assert service.stop() == 0


def test_while_the_database_hangs_a_process_that_is_told_to_ends_in_its_time_G12(binary, own_server, tmp_path):
    service = Vedette(binary, own_server.url("own"), tmp_path, {"VEDETTE_WORKER_DRAIN_TIMEOUT_MS": "500"}).migrate().start()
    with hanging(own_server):
        time.sleep(2)  # its parts ask the database for something meanwhile
        began = time.monotonic()
        assert service.stop() == 0
        # Requests 5 s, checks 0.5 s, deliveries 11 s, and the database 2 s after each of the last two.
        assert time.monotonic() - began < 20.5 + 2
    log = service.log()
    assert "draining goes on without what waits for the database" in log
    assert "stopped without the threads that wait for the database" in log


WHAT_TO_DO = ["transaction pooler", "pool_mode", "[database] url", "PostgreSQL itself", "[database] pooled_url"]


def test_a_transaction_pooler_is_refused_at_the_start_with_what_to_do(binary, pooled, tmp_path):
    service = Vedette(binary, pooled("transaction").url, tmp_path)
    service.start(ready=False)
    assert service.process.wait(120) == 1
    assert all(words in service.log() for words in WHAT_TO_DO), service.log()


@pytest.mark.empty_database
def test_migrate_refuses_a_transaction_pooler_and_does_nothing(binary, pooled, database, tmp_path):
    service = Vedette(binary, pooled("transaction").url, tmp_path)
    done = subprocess.run([binary, "migrate"], env=service.environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert all(words in done.stderr for words in WHAT_TO_DO), done.stderr
    assert database.value("select to_regclass('schema_migration')") is None


def test_a_pooler_that_keeps_sessions_is_as_good_as_none(binary, pooled, tmp_path):
    service = Vedette(binary, pooled("session").url, tmp_path).migrate().start()
    assert service.organisation().get("/monitors")["monitors"] == []
    assert service.stop() == 0


def test_the_api_and_the_operator_go_through_a_transaction_pooler_that_has_its_own_url(binary, pooled, database, nginx, tmp_path):
    """Two sessions serve twelve connections, and none has settings of its own but for one transaction: the role's would make
    other answers."""
    for name, value in OF_THE_ROLE.items():
        database.rows(f"alter role vedette in database {database.name} set {name} = {value}")
    pooler = pooled("transaction", sessions=2)
    nginx.write("page.html", "<html><body><h1>1.5</h1></body></html>")
    service = Vedette(binary, database.url, tmp_path, {"VEDETTE_DATABASE_POOLED_URL": pooler.url}).start()
    tenant = service.organisation()
    monitor = tenant.post("/monitors", {
        "name": "m", "key_columns": ["company"], "rows": [{"company": "a", "url": nginx.url + "/page.html"}],
        "struct": {"title": "css:h1"}, "frequency": "1h"})["id"]
    wait_until("its check", lambda: tenant.finished_ticks(monitor))
    with concurrent.futures.ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda n: tenant.get(f"/monitors/{monitor}/rows?limit={n % 9 + 1}"), range(200)))
    assert len(answers) == 200 and len({answer["rows"][0]["id"] for answer in answers}) == 1
    assert service.as_operator("GET", "/admin/v1/overview").status == 200
    started = tenant.finished_ticks(monitor)[0]["started_at"]
    assert started.endswith("Z") and abs(time.time() - datetime.datetime.fromisoformat(started).timestamp()) < 600, started
    clients, servers = pooler.show("CLIENTS"), pooler.show("SERVERS")
    assert len([c for c in clients if c["database"] == database.name]) > 2 >= len(servers) > 0, (clients, servers)
    assert service.stop() == 0
    with contextlib.closing(psycopg2.connect(pooler.url)) as client, client.cursor() as cursor:
        # The pooler itself keeps these two for each of its clients.
        cursor.execute("select name, setting from pg_settings where source = 'session' and "
                       "name not in ('DateStyle', 'client_encoding')")
        assert cursor.fetchall() == [], "a setting outlives its transaction"


def test_while_the_pooler_hangs_or_is_away_a_process_says_that_it_is_not_ready(binary, pooled, database, tmp_path):
    pooler = pooled("transaction")
    service = Vedette(binary, database.url, tmp_path, {"VEDETTE_DATABASE_POOLED_URL": pooler.url}).migrate().start()

    def not_ready():
        answer = call("GET", service.admin + "/readyz")
        return answer.status == 503 and answer.json["reasons"]

    pooler.process.send_signal(signal.SIGSTOP)
    assert wait_until("it to say so", not_ready, 25) == ["[database] pooled_url has not answered for 10 s"]
    pooler.process.send_signal(signal.SIGCONT)
    wait_until("it to be ready again", lambda: not not_ready())
    pooler.process.kill()
    [reason] = wait_until("it to say so", not_ready)
    assert reason.startswith("[database] pooled_url: "), reason
    assert service.stop() == 0


def test_a_pooler_of_another_database_is_refused_at_the_start(binary, pooled, database, postgres, tmp_path):
    service = Vedette(binary, database.url, tmp_path, {"VEDETTE_DATABASE_POOLED_URL": postgres.url("postgres")})
    service.start(ready=False)
    assert service.process.wait(120) == 1
    assert "[database] pooled_url leads to another database than [database] url" in service.log()


@pytest.mark.parametrize("end", ["?", "?sslmode=prefer", "?sslmode=prefer&"])
def test_a_url_may_bring_parameters_or_none(binary, database, tmp_path, end):
    Vedette(binary, database.postgres.tcp_url(database.name) + end, tmp_path).migrate()


@pytest.mark.empty_database
def test_a_database_of_a_version_that_was_never_released_is_refused_with_what_to_do(binary, database, tmp_path):
    database.rows("create table schema_migration (version int primary key, name text not null, "
                  "applied_at timestamptz not null default now())")
    database.rows("insert into schema_migration (version, name) values (1, '0001_initial.sql'), (2, '0002_monitor_shown.sql'), "
                  "(42, '0042_xhigh_and_exclusions.sql')")
    service = Vedette(binary, database.url, tmp_path)
    done = subprocess.run([binary, "migrate"], env=service.environment, capture_output=True, text=True, timeout=120)
    service.start(ready=False)
    assert (done.returncode, service.process.wait(120)) == (1, 1)
    for said in (done.stderr, service.log()):
        assert "a version before 1.0.0" in said and "make a new, empty database" in said, said
    assert database.value("select to_regclass('organisation')") is None
