"""Three cells on one machine, each with a PostgreSQL of its own, behind the HAProxy and the maps of deploy/cells: requests come
to the cell that they name, a wrong one says which is right, the directory is everywhere, and the loss of one cell's PostgreSQL is
nothing to the others."""

import base64
import concurrent.futures
import contextlib
import http.server
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from cluster import wait_until
from servers import QuietHandler
from testbed import ROOT, Postgres, clean_environment, free_port

DEPLOYED = ROOT / "deploy" / "cells"
CELLS = ("", "c2", "c3")
ADMIN_TOKEN = "operators-token"
CELLS_TOKEN = "what cells ask each other with"
# How long requests go on before a cell's PostgreSQL is lost, beside it, and after; by hand longer, to measure.
SECONDS = float(os.environ.get("VEDETTE_TEST_CELLS_SECONDS", "3"))
CLIENTS = 2
PACE_S = 0.02  # of each
ENDS_WITH_US = ("/usr/bin/setpriv", "--pdeathsig", "KILL")


def call(url, headers=None, body=None, timeout_s=20):
    """(status, JSON, headers)."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            return answer.status, json.loads(answer.read() or b"null"), answer.headers
    except urllib.error.HTTPError as error:
        text = error.read()
        try:
            return error.code, json.loads(text or b"null"), error.headers
        except ValueError:  # HAProxy's own
            return error.code, text, error.headers


class Cell:
    def __init__(self, binary, cell, directory):
        self.binary, self.id, self.name = binary, cell, cell or "first"
        self.log = open(directory / f"{self.name}.log", "ab")
        self.postgres = Postgres(settings={"wal_level": "logical", "max_connections": "60"})
        self.api_port, self.admin_port = free_port(), free_port()
        self.api, self.admin = (f"http://127.0.0.1:{port}" for port in (self.api_port, self.admin_port))
        self.environment = clean_environment({
            "VEDETTE_DATABASE_URL": self.postgres.tcp_url("cell"), "VEDETTE_CELL_ID": cell,
            "VEDETTE_CELLS_FILE": str(directory / "cells"),
            "VEDETTE_API_LISTEN": f"127.0.0.1:{self.api_port}", "VEDETTE_ADMIN_LISTEN": f"127.0.0.1:{self.admin_port}",
            "VEDETTE_SECURITY_ENCRYPTION_KEY": "5e" * 32, "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN,
            "VEDETTE_ADMIN_TOKENS_CELLS": CELLS_TOKEN, "VEDETTE_ADMIN_ROLES_CELLS": "viewer",
            "VEDETTE_DASHBOARD_ENABLED": "true", "VEDETTE_PROBES_LOW_KIND": "null", "VEDETTE_LIMITS_REQUESTS_PER_MINUTE": "0"})
        self.process = None

    def prepare(self):
        self.postgres.start()
        self.postgres.create("cell")
        done = subprocess.run([self.binary, "migrate"], env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def serve(self):
        """In the main thread: what a thread starts would end with that thread."""
        self.process = subprocess.Popen([*ENDS_WITH_US, self.binary, "serve"], env=self.environment, stdout=self.log,
                                        stderr=self.log, start_new_session=True)

    def ready(self):
        try:
            return call(self.admin + "/readyz")[0] == 200
        except OSError:
            return False

    def begins(self):
        """Ready; it is started again where it ended: a port that was free has been lent to a connection of another test."""
        if self.process.poll() is not None:
            self.serve()
        return self.ready()

    def operate(self, path, body=None):
        status, answer, _ = call(self.admin + "/admin/v1" + path, {"Authorization": f"Bearer {ADMIN_TOKEN}"}, body)
        assert status < 300, answer
        return answer

    def organisation(self):
        """(id, key)."""
        org = self.operate("/orgs", {"name": f"at {self.name}", "features": ["monitors"]})["id"]
        self.operate(f"/orgs/{org}/credits", {"amount": 1000, "reason": "test"})
        return org, self.operate(f"/orgs/{org}/api-keys", {"name": "k"})["key"]

    def sql(self, statement):
        return self.postgres.execute("cell", statement)

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait(60)
        self.postgres.close()
        self.log.close()


class Site:
    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.cells = [Cell(binary, cell, directory) for cell in CELLS]
        self.port, self.haproxy = free_port(), None
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = open(directory / "haproxy.log", "ab")

    def start(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(Cell.prepare, self.cells))
        (self.directory / "token").write_text(CELLS_TOKEN + "\n")
        named = "".join(f"{cell.id or chr(34) * 2} {cell.admin} {self.directory / 'token'}\n" for cell in self.cells)
        (self.directory / "cells").write_text(named)
        for cell in self.cells:
            cell.serve()
        for cell in self.cells:
            wait_until(f"{cell.name} to be ready", cell.begins)
        self.connect()

    def connect(self):
        """The statements of deploy/cells/directory.sql, each where its comment says."""
        text = (DEPLOYED / "directory.sql").read_text()
        for number, cell in enumerate(self.cells, 1):
            text = text.replace(f"host=db.c{number}.internal dbname=vedette user=vedette_cells",
                                f"host=127.0.0.1 port={cell.postgres.port} dbname=cell user=vedette")
        parts = re.split(r"^-- At.*\n", text, flags=re.MULTILINE)[1:]
        everywhere, first, others = (re.findall(r"^create [^;]+;", part, re.MULTILINE) for part in parts)
        for cell in self.cells:
            cell.sql(everywhere[0])
        for statement in first:
            self.cells[0].sql(statement)
        for cell in self.cells[1:]:
            cell.sql(others[0].replace("to_c2", f"to_{cell.id}"))

    def ctl(self, *arguments, token=ADMIN_TOKEN):
        return subprocess.run([self.binary, "ctl", "--cells", self.directory / "cells", *arguments],
                              env=clean_environment({"VEDETTE_ADMIN_TOKEN": token}), capture_output=True, text=True, timeout=60)

    def told(self, *arguments):
        done = self.ctl(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def route(self):
        """Maps as ctl prints them now, and an HAProxy that reads them."""
        maps = self.directory / "maps"
        maps.mkdir(exist_ok=True)
        for name in ("cells", "prefixes", "organisations"):
            (maps / f"{name}.map").write_text(self.told("cell-map", name))
        text = (DEPLOYED / "haproxy.cfg").read_text().replace("/etc/haproxy/cells", str(maps))
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}").replace("inter 1s", "inter 100ms")
        for number, cell in enumerate(self.cells, 1):
            text = text.replace(f"10.0.{number}.11:8080 check port 9464", f"127.0.0.1:{cell.api_port} check port {cell.admin_port}")
        path = self.directory / "haproxy.cfg"
        path.write_text(text)
        if self.haproxy:
            self.haproxy.terminate()
            self.haproxy.wait(20)
        self.haproxy = subprocess.Popen([*ENDS_WITH_US, "/usr/sbin/haproxy", "-db", "-f", path], stdout=self.log, stderr=self.log)
        wait_until("HAProxy", self._routes)

    def _routes(self):
        try:
            return call(self.url + "/openapi.json")[0] == 200
        except OSError:
            return False

    def ask(self, key, path, body=None, **headers):
        return call(self.url + path, {"x-api-key": key, **headers}, body)

    def close(self):
        if self.haproxy:
            self.haproxy.kill()
            self.haproxy.wait(20)
        for cell in self.cells:
            cell.close()
        self.log.close()


@pytest.fixture(scope="module")
def site(request, tmp_path_factory):
    from pathlib import Path
    path = Path(request.config.getoption("--build"))
    it = Site(path / "vedette" if path.is_dir() else path, tmp_path_factory.mktemp("cells"))
    try:
        it.start()
        it.tenants = [cell.organisation() for cell in it.cells]
        it.route()
        yield it
    finally:
        it.close()


class Named(QuietHandler):
    """A cell that says only which it is."""

    def do_GET(self):
        text = json.dumps(self.server.cell).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        with contextlib.suppress(OSError):  # a health check reads no body
            self.wfile.write(text)


@pytest.fixture
def shipped_haproxy(tmp_path):
    """The configuration as it is shipped, with maps as ctl prints them, before servers that say who they are."""
    text = (DEPLOYED / "haproxy.cfg").read_text().replace("/etc/haproxy/cells", str(tmp_path)).replace("inter 1s", "inter 100ms")
    servers = []
    for number, cell in enumerate(CELLS, 1):
        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Named))
        servers[-1].cell = cell
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        port = servers[-1].server_address[1]
        text = text.replace(f"10.0.{number}.11:8080 check port 9464", f"127.0.0.1:{port} check port {port}")
    own = free_port()
    (tmp_path / "haproxy.cfg").write_text(text.replace("127.0.0.1:8080", f"127.0.0.1:{own}"))
    prefixes = "".join(f"{begin}{cell}_ cell_{cell}\n" for cell in CELLS[1:] for begin in ("vd_live_", "vd_at_", "vd_ses_"))
    (tmp_path / "cells.map").write_text("- cell_\nc2 cell_c2\nc3 cell_c3\n")
    (tmp_path / "prefixes.map").write_text(prefixes + "c2. cell_c2\nc3. cell_c3\nvd_live_Ab12cd cell_c3\nvd_live_c2_Yy9999 cell_\n")
    (tmp_path / "organisations.map").write_text("acme cell_c2\nother cell_\n")
    process = subprocess.Popen([*ENDS_WITH_US, "/usr/sbin/haproxy", "-db", "-f", tmp_path / "haproxy.cfg"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(path="/monitors", **headers):
        return call(f"http://127.0.0.1:{own}{path}", {name.replace("_", "-"): text for name, text in headers.items()})[1]

    def answers():
        try:
            return ask() == ""
        except OSError:
            return False

    try:
        wait_until("HAProxy", answers)
        yield ask
    finally:
        process.kill()
        process.wait(20)
        for server in servers:
            server.shutdown()
            server.server_close()


def test_haproxy_as_it_is_shipped_goes_by_what_a_request_shows(shipped_haproxy):
    ask, tail = shipped_haproxy, "a" * 43

    def provider_token(org):
        parts = ({"alg": "ES256"}, {"org": org}, "signature")
        return "Bearer " + ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)

    assert ask(x_api_key="vd_live_" + tail) == "", "what names none is the first cell's"
    assert ask(x_api_key="vd_live_c2_" + tail) == "c2"
    assert ask(x_api_key="vd_live_Ab12cd" + tail[6:]) == "c3", "a moved key goes by its own beginning"
    assert ask(x_api_key="vd_live_c2_Yy9999" + tail[6:]) == "", "which is the longest"
    assert ask(authorization="Bearer vd_at_c3_" + tail) == "c3"
    assert ask(cookie="a=b; __Host-vedette=vd_ses_c2_" + tail) == "c2"
    assert [ask(authorization=provider_token(org)) for org in ("acme", "other", "nobody")] == ["c2", "", ""]
    assert ask("/mail-addresses/1?token=x&cell=c3") == "c3"
    assert ask("/monitors?cursor=c2.AbC") == "c2"
    assert ask("/monitors?cursor=c3.AbC", x_api_key="vd_live_c2_" + tail) == "c2", "the key comes before the cursor"
    assert ask(x_cell="c3", x_api_key="vd_live_c2_" + tail) == "c3", "what a 421 says comes before all else"
    assert ask(x_cell="-", cookie="__Host-vedette=vd_ses_c2_" + tail) == ask("/dashboard/session?cell=-", x_api_key="vd_live_c2_" + tail) == ""
    assert ask(x_cell="nonsense", x_api_key="vd_live_c2_" + tail) == "c2"


def body_of(name):
    return {"name": name, "key_columns": ["domain"], "struct": {"price": "css:.price"}, "frequency": "1d",
            "rows": [{"domain": "a.example", "price": "1"}]}


def test_a_request_comes_to_the_cell_that_it_names_and_a_wrong_one_says_which(site):
    for cell, (_, key) in zip(site.cells, site.tenants):
        assert key.startswith(f"vd_live_{cell.id}_" if cell.id else "vd_live_")
        for name in ("one", "two"):
            assert site.ask(key, "/monitors", body_of(f"{name} {cell.name}"))[0] == 200
        first = site.ask(key, "/monitors?limit=1")[1]
        assert first["monitors"][0]["name"] == f"two {cell.name}"
        second = site.ask(key, f"/monitors?limit=1&cursor={first['next_cursor']}")[1]
        assert second["monitors"][0]["name"] == f"one {cell.name}"
        for other in site.cells:
            if other is cell or not cell.id:
                continue
            status, answer, headers = call(other.api + "/monitors", {"x-api-key": key})
            assert (status, answer["error"], answer["cell"], headers["X-Cell"]) == (421, "wrong_cell", cell.id, cell.id)
    # By the header alone, as the dashboard asks before anybody is signed in: each cell has its own document of OAuth.
    for cell in site.cells[1:]:
        status, answer, _ = call(site.url + "/dashboard/invitation", {"x-cell": cell.id}, {"token": "vd_inv_c9_" + "a" * 43})
        assert (status, answer["cell"]) == (421, "c9"), "an invitation names its cell, too"


def test_the_directory_and_the_operator_know_all_cells(site):
    wanted = {(org, cell.id) for cell, (org, _) in zip(site.cells, site.tenants)}
    for cell in site.cells:
        wait_until("the directory", lambda: set(cell.sql("SELECT org_id::text, cell FROM cell_directory")) == wanted)
    shown = json.loads(site.told("--json", "cells"))["items"]
    assert [(one["cell"], one["reachable"], one["organisations"]) for one in shown] == [(cell, True, 1) for cell in CELLS]
    found = json.loads(site.told("--json", "org-find", "at c3"))["items"]
    assert [(one["cell"], one["id"]) for one in found] == [("c3", site.tenants[2][0])]
    assert json.loads(site.told("--json", "--cell", "c2", "orgs"))["items"][0]["id"] == site.tenants[1][0]
    assert "no cell" in site.ctl("--cell", "c9", "orgs").stderr
    # The console of each knows the same, by the token that the list has, and links to the others'.
    for cell in site.cells:
        items = cell.operate("/cells")["items"]
        assert {one["cell"]: one["url"] for one in items} == {one.id: None if one is cell else one.admin for one in site.cells}
        assert all(one["reachable"] and one["organisations"] == 1 and one["version"] for one in items), items
        found = cell.operate("/directory?q=at%20c3")["items"]
        assert [(one["cell"], one["id"]) for one in found] == [("c3", site.tenants[2][0])]
    asked = json.loads(site.told("--json", "--cell", "c2", "org-find", site.tenants[2][0]))
    assert (asked["lives_at"], asked["items"][0]["url"]) == ("c3", site.cells[2].admin), "a cell is asked that knows the others"
    organisations = site.told("cell-map", "organisations")
    assert set(organisations.splitlines()) == {f"{org} cell_{cell}" for org, cell in wanted}


def test_an_organisation_that_has_moved_is_found_by_its_old_keys(site):
    # What a move does, at its end.
    first, second = site.cells[:2]
    org, key = first.organisation()
    for table, column, columns in (("organisation", "id", "id, name, features"), ("account", "org_id", "org_id, balance_mc"),
                                   ("api_key", "org_id", "id, org_id, name, prefix, key_sha256, scopes")):
        row = first.sql(f"SELECT to_jsonb(t)::text FROM {table} t WHERE {column} = '{org}'")[0][0].replace("'", "''")
        second.sql(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM jsonb_populate_record(null::{table}, '{row}')")
    first.sql(f"UPDATE organisation SET locked = true WHERE id = '{org}'")
    first.sql(f"UPDATE cell_directory SET cell = 'c2', changed_at = now() WHERE org_id = '{org}'")
    wait_until("the directory", lambda: second.sql(f"SELECT cell FROM cell_directory WHERE org_id = '{org}'") == [("c2",)])
    status, answer, _ = site.ask(key, "/monitors")
    assert (status, answer["cell"]) == (421, "c2"), "the router does not know yet"
    assert site.ask(key, "/monitors", **{"x-cell": "c2"})[0] == 200, "the client goes where the answer sends it"
    site.route()
    assert site.ask(key, "/monitors")[0] == 200
    # Until the old cell has forgotten the organisation, and after.
    first.sql(f"DELETE FROM api_key WHERE org_id = '{org}'")
    status, answer, _ = call(first.api + "/monitors", {"x-api-key": key})
    assert (status, answer["cell"]) == (421, "c2")


def test_a_cell_that_is_silent_is_said_to_be_so_and_holds_up_nothing(site):
    first, second, third = site.cells
    third.process.send_signal(signal.SIGSTOP)
    try:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = [pool.submit(second.operate, path) for path in ("/cells", f"/directory?q={site.tenants[2][0]}")]
            assert second.operate("/me")["role"] == "admin"
            known, found = (one.result() for one in asked)
        states = {one["cell"]: (one["reachable"], one.get("error", "").split(":")[0]) for one in known["items"]}
        assert states == {"": (True, ""), "c2": (True, ""), "c3": (False, "timeout")}
        assert (found["items"], found["lives_at"]) == ([], "c3"), "the directory knows where it is"
        assert [one["cell"] for one in found["unreachable"]] == ["c3"]
    finally:
        third.process.send_signal(signal.SIGCONT)
    wait_until("the third to be back", lambda: all(one["reachable"] for one in first.operate("/cells")["items"]))
    wait_until("HAProxy to see it", lambda: site.ask(site.tenants[2][1], "/monitors")[0] == 200)


def p99(latencies):
    return sorted(latencies)[int(len(latencies) * 0.99)]


def ask_for(site, key, seconds, must_be_answered=True):
    """Latencies of requests at a steady pace, which are all answered well."""
    latencies, began = [], time.monotonic()
    while (at := time.monotonic()) < began + seconds:
        with contextlib.nullcontext() if must_be_answered else contextlib.suppress(OSError):
            status, answer, _ = site.ask(key, "/monitors?limit=1")
            assert status == 200 or not must_be_answered, answer
        latencies.append(time.monotonic() - at)
        time.sleep(max(0.0, began + len(latencies) * PACE_S - time.monotonic()))
    return latencies


def load(site):
    """Latencies of the others' requests, while the first cell is asked as often, whatever it answers."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first = [pool.submit(ask_for, site, site.tenants[0][1], SECONDS, False) for _ in range(CLIENTS)]
        others = [pool.submit(ask_for, site, key, SECONDS) for _, key in site.tenants[1:] for _ in range(CLIENTS)]
        for one in first:
            one.result()
        return [latency for one in others for latency in one.result()]


def test_the_loss_of_one_cells_postgresql_is_nothing_to_the_others(site):
    """0 lost at the others: each request is answered and each check that is asked for is made. VEDETTE_TEST_CELLS_SECONDS=60 -s
    measures their latencies: before, beside the cell that is lost, and once it is back."""
    others = site.tenants[1:]
    monitors = [site.ask(key, "/monitors", body_of("checked"))[1]["id"] for _, key in others]
    measured = {"before": load(site)}
    site.cells[0].postgres.stop(9)
    for (_, key), monitor in zip(others, monitors):
        assert site.ask(key, f"/monitors/{monitor}/trigger", {})[0] == 202
    measured["beside"] = load(site)
    for cell, monitor in zip(site.cells[1:], monitors):
        made = f"SELECT count(*) FROM row_state WHERE monitor_id = '{monitor}' AND last_run_at IS NOT NULL"
        wait_until("the checks", lambda: cell.sql(made) == [(1,)])
    assert site.ask(site.tenants[0][1], "/monitors")[0] == 503, "its own organisations are told to come later"
    shown = json.loads(site.told("--json", "cells"))["items"]
    assert [one["reachable"] for one in shown] == [False, True, True]
    # And it comes back by itself.
    site.cells[0].postgres.start()
    wait_until("the first cell to be back", lambda: site.ask(site.tenants[0][1], "/monitors")[0] == 200)
    measured["after"] = load(site)
    for name, latencies in measured.items():
        print(f"p99 {name:6}: {p99(latencies) * 1e3:6.2f} ms, {p99(latencies) / p99(measured['before']):.2f} of that before, "
              f"{len(latencies)} requests, 0 lost")
