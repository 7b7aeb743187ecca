"""`vedette serve` and `vedette migrate` in bad circumstances, and what the API answers to bad requests."""

import contextlib
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error

import pytest

from conftest import ADMIN_TOKEN, Vedette, call, wait_until


def serve_to_its_end(service, limit_s=120):
    service.start(ready=False)
    status = service.process.wait(limit_s)
    return status, service.log()


# ---- configuration


@pytest.mark.parametrize("variable, value, words", [
    ("VEDETTE_LIMITS_NONSENSE", "1", ["VEDETTE_LIMITS_NONSENSE"]),
    ("VEDETTE_WORKER_LEASE_MS", "soon", ["VEDETTE_WORKER_LEASE_MS", "soon"]),
    ("VEDETTE_LOG_LEVEL", "loud", ["VEDETTE_LOG_LEVEL", "loud", "debug"]),
    ("VEDETTE_NET_ALLOW", "10.0.0.0/33", ["VEDETTE_NET_ALLOW", "10.0.0.0/33"]),
    ("VEDETTE_SECURITY_ENCRYPTION_KEY", "abc", ["VEDETTE_SECURITY_ENCRYPTION_KEY", "64"]),
])
def test_a_bad_variable_is_named(binary, tmp_path, variable, value, words):
    status, log = serve_to_its_end(Vedette(binary, "postgresql:///", tmp_path, {variable: value}))
    assert status == 2
    for word in words:
        assert word in log
    if "KEY" in variable:
        assert value not in log.replace(variable, ""), "a secret is not repeated"


@pytest.mark.parametrize("text, words", [
    ("[worker]\nlease = 5\n", ["lease", "worker"]),
    ("[worker]\nlease_ms = \"long\"\n", ["lease_ms", "worker", "long"]),
    ("[wroker]\nlease_ms = 5\n", ["wroker"]),
    ("[worker\n", ["vedette.toml:1:"]),
])
def test_a_bad_file_is_told_by_key(binary, tmp_path, text, words):
    path = tmp_path / "vedette.toml"
    path.write_text(text)
    service = Vedette(binary, "postgresql:///", tmp_path)
    done = subprocess.run([binary, "serve", "--config", path], env=service.environment, capture_output=True,
                          text=True, timeout=30)
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr


def test_a_missing_file_is_named(binary, tmp_path):
    service = Vedette(binary, "postgresql:///", tmp_path)
    done = subprocess.run([binary, "serve", "--config", tmp_path / "none.toml"], env=service.environment,
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and "none.toml" in done.stderr


def test_an_unknown_role_is_named(binary, tmp_path):
    service = Vedette(binary, "postgresql:///", tmp_path)
    done = subprocess.run([binary, "serve", "--roles", "api,cook"], env=service.environment, capture_output=True,
                          text=True, timeout=30)
    assert done.returncode == 2 and "cook" in done.stderr and "scheduler" in done.stderr


@pytest.mark.parametrize("variable", ["VEDETTE_SECURITY_ENCRYPTION_KEY", "VEDETTE_ADMIN_TOKEN"])
def test_what_is_missing_is_named(binary, database, tmp_path, variable):
    service = Vedette(binary, database.url, tmp_path).migrate()
    del service.environment[variable]
    status, log = serve_to_its_end(service)
    assert status != 0
    assert {"VEDETTE_SECURITY_ENCRYPTION_KEY": "encryption_key", "VEDETTE_ADMIN_TOKEN": "token"}[variable] in log


# ---- the database


def test_waits_for_a_database_and_says_so(binary, postgres, database, tmp_path):
    service = Vedette(binary, database.url, tmp_path).migrate()
    postgres.stop()
    try:
        service.start(ready=False)
        wait_until("the admin port", lambda: health(service) == 200)
        ready = call("GET", service.admin + "/readyz")
        assert ready.status == 503
        answer = call("GET", service.api + "/monitors", headers={"x-api-key": "vd_live_" + "a" * 43})
        assert answer.status == 503 and answer.headers["Retry-After"] == "5"
        assert service.process.poll() is None
        wait_until("a word in the log", lambda: "database" in service.log().lower())
        # What the alert of the database goes by.
        wait_until("failed connections to count", lambda: re.search(
            r'vedette_db_errors_total\{query="connect"\} [1-9]', call("GET", service.admin + "/metrics").body.decode()))
    finally:
        postgres.start()
    wait_until("readiness", service.is_ready)
    assert service.stop() == 0


def health(service):
    try:
        return call("GET", service.admin + "/healthz").status
    except (urllib.error.URLError, ConnectionError):
        return 0


@pytest.mark.empty_database
def test_waits_for_the_schema(binary, database, tmp_path):
    service = Vedette(binary, database.url, tmp_path).start(ready=False)
    wait_until("the admin port", lambda: health(service) == 200)
    assert call("GET", service.admin + "/readyz").status == 503
    wait_until("a word in the log", lambda: "vedette migrate" in service.log())
    refused = service.as_operator("GET", "/admin/v1/orgs")
    assert refused.status == 503 and "vedette migrate" in refused.json["message"], refused
    service.migrate()
    wait_until("readiness", service.is_ready)
    assert service.stop() == 0


def test_refuses_a_newer_schema(binary, database, tmp_path):
    service = Vedette(binary, database.url, tmp_path).migrate()
    table = database.value(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'version' AND "
        "table_schema = 'public' AND table_name <> 'member'")
    database.rows(f"INSERT INTO {table} (version, name) VALUES (9999, '9999_from_the_future')")
    status, log = serve_to_its_end(service)
    assert status == 1 and "newer" in log
    done = subprocess.run([binary, "migrate"], env=service.environment, capture_output=True, text=True)
    assert done.returncode == 1 and "newer" in done.stderr


def readiness(service):
    return call("GET", service.admin + "/readyz")


@contextlib.contextmanager
def refusing_connections(database):
    """The database takes no connection, and has ended those that there were."""
    database.postgres.execute("postgres", f"alter database {database.name} with allow_connections false")
    end_sessions(database)
    try:
        yield
    finally:
        database.postgres.execute("postgres", f"alter database {database.name} with allow_connections true")


def end_sessions(database):
    database.postgres.execute("postgres", "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [database.name])


def test_what_runs_goes_on_under_a_newer_schema(vedette, database):
    database.rows("insert into schema_migration (version, name) values (9999, '9999_from_the_future')")
    beat = database.value("select heartbeat_at from member")
    wait_until("the next heartbeat", lambda: database.value("select heartbeat_at from member") > beat, 15)
    with refusing_connections(database):
        wait_until("it to say so", lambda: readiness(vedette).status == 503)
    wait_until("it to be ready again", vedette.is_ready)


def test_a_database_that_takes_no_changes_is_said_all_the_time(vedette, database):
    database.rows(f"alter database {database.name} set default_transaction_read_only = on")
    end_sessions(database)
    wait_until("it to say so", lambda: "(a standby, or read-only)" in str(readiness(vedette).json["reasons"]))
    looks = []
    for _ in range(30):  # three looks at the database
        looks.append(readiness(vedette).status)
        time.sleep(0.1)
    assert set(looks) == {503}
    database.postgres.execute("postgres", f"alter database {database.name} reset default_transaction_read_only")
    wait_until("it to be ready again", vedette.is_ready)


@pytest.mark.empty_database
def test_migrate_is_safe_to_repeat(binary, database, tmp_path):
    service = Vedette(binary, database.url, tmp_path)
    first = subprocess.run([binary, "migrate"], env=service.environment, capture_output=True, text=True)
    again = subprocess.run([binary, "migrate"], env=service.environment, capture_output=True, text=True)
    assert first.returncode == again.returncode == 0
    assert "applied" in first.stdout and "current" in again.stdout


def test_migrate_without_a_database_says_so(binary, tmp_path):
    service = Vedette(binary, "postgresql:///none?host=/nonexistent", tmp_path)
    done = subprocess.run([binary, "migrate"], env=service.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.startswith("vedette: ")
    service = Vedette(binary, "", tmp_path, {"PGHOST": "/nonexistent"})
    done = subprocess.run([binary, "migrate"], env=service.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "[database] url is not set" in done.stderr, "as serve does, whatever libpq would find"


@pytest.mark.empty_database
def test_migrate_says_what_to_do_where_the_database_refuses(binary, database, tmp_path):
    def refused(url):
        service = Vedette(binary, url, tmp_path)
        done = subprocess.run([binary, "migrate"], env=service.environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr

    said = refused(database.url + ("&" if "?" in database.url else "?") + "options=-cdefault_transaction_read_only%3Don")
    assert "takes no changes" in said and "the primary" in said and "run `vedette migrate` again" in said, said
    database.rows("create role stranger login")
    try:
        said = refused(database.url.replace("vedette@", "stranger@").replace("user=vedette", "user=stranger"))
        assert "as the owner of the database and its tables (" in said and "permission denied" in said, said
    finally:
        database.rows("drop role stranger")


# ---- ports and signals


@pytest.mark.parametrize("role", ["api", "admin"])
def test_a_taken_port_is_named(binary, database, tmp_path, receiver, role):
    taken = receiver.server.server_address[1]
    service = Vedette(binary, database.url, tmp_path,
                      {f"VEDETTE_{role.upper()}_LISTEN": f"127.0.0.1:{taken}"}).migrate()
    status, log = serve_to_its_end(service)
    assert status == 1 and f"127.0.0.1:{taken}" in log


def test_sigterm_gives_unfinished_work_back_at_once(binary, database, tmp_path):
    """A check that cannot finish within the drain limit is available again when the process has ended."""
    stalled = StalledServer()
    try:
        service = Vedette(binary, database.url, tmp_path, {"VEDETTE_WORKER_DRAIN_TIMEOUT_MS": "500"}).migrate().start()
        tenant = service.organisation()
        tenant.post("/monitors", {"name": "Stalled", "key_columns": ["url"], "rows": [{"url": stalled.url}],
                                  "struct": {"title": "css:title"}, "frequency": "1h"})
        wait_until("the probe", lambda: stalled.connections > 0)
        assert service.stop() == 0
        assert database.value("SELECT count(*) FROM chunk WHERE available_at <= now()") == 1
        assert database.value("SELECT count(*) FROM chunk WHERE lease_token IS NOT NULL AND available_at > now()") == 0
    finally:
        stalled.close()


def test_a_second_signal_ends_at_once(binary, database, tmp_path):
    stalled = StalledServer()
    try:
        service = Vedette(binary, database.url, tmp_path, {"VEDETTE_WORKER_DRAIN_TIMEOUT_MS": "60000"}).migrate().start()
        tenant = service.organisation()
        tenant.post("/monitors", {"name": "Stalled", "key_columns": ["url"], "rows": [{"url": stalled.url}],
                                  "struct": {"title": "css:title"}, "frequency": "1h"})
        wait_until("the probe", lambda: stalled.connections > 0)
        service.process.terminate()
        wait_until("the drain", lambda: "draining" in service.log())
        assert service.process.poll() is None, "it drains"
        service.process.terminate()
        assert service.process.wait(5) == 128 + signal.SIGTERM
    finally:
        stalled.close()


class StalledServer:
    """Accepts, and never answers."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/"
        self.kept = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        try:
            while True:
                self.kept.append(self.socket.accept())
        except OSError:
            pass

    @property
    def connections(self):
        return len(self.kept)

    def close(self):
        self.socket.close()
        for connection, _ in self.kept:
            connection.close()


# ---- bad requests


def test_unknown_routes_and_wrong_methods(vedette):
    tenant = vedette.organisation()
    for method, path in [("GET", "/nothing"), ("POST", "/monitors/x/y/z"), ("GET", "/monitor")]:
        answer = tenant.call(method, path)
        assert answer.status == 404 and answer.json["error"] and answer.json["message"], (path, answer)
    answer = tenant.call("DELETE", "/monitors")
    assert answer.status == 405
    assert set(answer.headers["Allow"].replace(" ", "").split(",")) >= {"GET", "POST"}
    # The route is decided before the key (docs/authentication.md).
    assert call("GET", vedette.api + "/nothing").status == 404
    assert call("DELETE", vedette.api + "/monitors").status == 405


def test_bodies_that_are_no_monitor(vedette):
    tenant = vedette.organisation()

    def post(raw, **headers):
        return call("POST", vedette.api + "/monitors", raw=raw,
                    headers={"x-api-key": tenant.api_key, "Content-Type": "application/json", **headers})

    for raw in [b"", b"{", b"[]", b"\"text\"", b"{\"name\": \"\xff\"}", b"{} {}", b"[" * 100_000]:
        answer = post(raw)
        assert answer.status == 400, (raw[:20], answer)
        assert answer.json["error"] and answer.json["message"]
    assert post(b"{}", **{"Content-Type": "text/plain"}).status == 415
    missing = post(b"{}")
    assert missing.status == 422
    assert all({"loc", "msg", "type", "input", "ctx"} <= set(item) for item in missing.json["detail"])


def test_the_validation_rules_of_a_create(vedette):
    tenant = vedette.organisation()
    good = {"name": "M", "key_columns": ["k"], "rows": [{"k": "1"}, {"k": "2"}], "struct": {"f": "css:h1"}}
    bad = [
        {"frequency": "0s"}, {"frequency": "31d"}, {"frequency": "soon"},
        {"tier": "gigantic"}, {"subject_type": "planet"}, {"struct": {}},
        {"struct": {"k": "css:h1"}}, {"rows": [{"k": " "}]}, {"rows": [{"k": "1"}, {"k": 1}]},
        {"webhook_url": "ftp://example.com/"}, {"webhook_url": "http://10.0.0.1/"}, {"webhook_url": "nonsense"},
    ]
    for change in bad:
        answer = tenant.call("POST", "/monitors", {**good, **change})
        assert answer.status == 400, (change, answer)
        assert answer.json["message"]
    assert tenant.get("/monitors")["monitors"] == [], "nothing of it was made"
    assert tenant.call("POST", "/monitors", good).status == 200


def test_keys_and_tokens(vedette):
    tenant = vedette.organisation()
    other = vedette.organisation()
    made = tenant.post("/monitors", {"name": "M", "key_columns": ["k"], "rows": [{"k": "1"}], "struct": {"f": "css:h1"}})
    assert call("GET", vedette.api + "/monitors").status == 401
    assert call("GET", vedette.api + "/monitors", headers={"x-api-key": "vd_live_" + "a" * 43}).status == 401
    assert other.call("GET", f"/monitors/{made['id']}").status == 404, "G8: foreign is missing"
    assert call("GET", vedette.admin + "/admin/v1/orgs").status == 401
    assert call("GET", vedette.admin + "/admin/v1/orgs",
                headers={"Authorization": f"Bearer {ADMIN_TOKEN}x"}).status == 401
