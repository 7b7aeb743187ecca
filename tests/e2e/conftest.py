"""What the end-to-end tests share: a private PostgreSQL, the vedette binary, a receiver, an nginx.

Run by ctest, or by hand: python3 -m pytest tests/e2e --build build/release
"""

import contextlib
import fcntl
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from servers import QuietHandler, start_nginx  # noqa: E402
from testbed import ROOT, Postgres, clean_environment, fast_directory, free_port, npm_tools, wait_until  # noqa: E402

ENCRYPTION_KEY = "5e" * 32
ADMIN_TOKEN = "an-admin-token-of-the-tests"


def pytest_addoption(parser):
    parser.addoption("--build", default=str(ROOT / "build" / "release"), help="the build directory")


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: within times that hold on a machine of its own; ctest runs nothing beside it")
    config.addinivalue_line("markers", "nightly: takes long, or what a machine may not have; ctest runs it in a nightly run")
    config.addinivalue_line("markers", "empty_database: the fixture `database` is not migrated")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"


def call(method, url, body=None, headers=None, raw=None):
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=dict(headers or {}))
    if data is not None and not request.has_header("Content-type"):
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return Answer(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers, error.read())


@pytest.fixture(scope="session")
def binary(request):
    path = Path(request.config.getoption("--build")) / "vedette"
    assert path.exists(), f"{path} is not built"
    return path


MIGRATED = "migrated"


@pytest.fixture(scope="session")
def cluster(binary, tmp_path_factory):
    """The directory of a cluster with a database that the binary has migrated. The first file of tests after a build makes it,
    and the others copy it: to make one takes a second of CPU, and there are sixty files."""
    kept = binary.parent / "tests" / "cluster"
    kept.mkdir(parents=True, exist_ok=True)
    server = Postgres(under=fast_directory())
    made_by = f"{server.made_by()} {binary.stat().st_mtime_ns} {binary.stat().st_size}"
    with open(kept / "lock", "a") as lock, contextlib.closing(server):
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = kept / "made_by"
        if not said.exists() or said.read_text() != made_by:
            said.unlink(missing_ok=True)
            shutil.rmtree(kept / "data", ignore_errors=True)
            server.start().create(MIGRATED)
            Vedette(binary, server.url(MIGRATED), tmp_path_factory.mktemp(MIGRATED)).migrate()
            server.stop()
            subprocess.run(["cp", "-a", server.data, kept / "data"], check=True)
            said.write_text(made_by)
    return kept / "data"


@pytest.fixture(scope="session")
def postgres(cluster):
    """A server of the file's own; its database MIGRATED is to be copied."""
    server = Postgres(under=fast_directory()).copy_from(cluster).keep_connections()
    server.start()
    yield server
    server.close()


class Database:
    def __init__(self, postgres, name):
        self.postgres, self.name = postgres, name
        self.url = postgres.url(name)

    def rows(self, statement, parameters=None):
        return self.postgres.execute(self.name, statement, parameters)

    def value(self, statement, parameters=None):
        return self.rows(statement, parameters)[0][0]


@pytest.fixture
def database(request, postgres):
    """A database of the test's own: migrated, or empty where the test is about migrating."""
    name = postgres.new_name()
    empty = request.node.get_closest_marker("empty_database")
    postgres.create(name, None if empty else MIGRATED)
    yield Database(postgres, name)
    postgres.drop(name)


# Family names of the people whom tests look up, and who are nothing else.
LOOKED_UP = ("lovelace", "babbage", "zyxwvut", "zyaaa")


class Vedette:
    """A `vedette serve` with all roles, on ports of its own; started, killed and started again at will."""

    def __init__(self, binary, database_url, directory, extra=None):
        self.binary = binary
        self.log_path = Path(directory) / f"vedette-{free_port()}.log"
        self.api_port, self.admin_port = free_port(), free_port()
        self.api, self.admin = (f"http://127.0.0.1:{p}" for p in (self.api_port, self.admin_port))
        self.environment = clean_environment({
            "VEDETTE_DATABASE_URL": database_url,
            "VEDETTE_API_LISTEN": f"127.0.0.1:{self.api_port}",
            "VEDETTE_ADMIN_LISTEN": f"127.0.0.1:{self.admin_port}",
            "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN,
            "VEDETTE_SECURITY_ENCRYPTION_KEY": ENCRYPTION_KEY,
            "VEDETTE_NET_ALLOW": "127.0.0.0/8",
            "VEDETTE_LIMITS_FREQUENCY_MIN": "1s",
            "VEDETTE_LIMITS_REQUESTS_PER_MINUTE": "0",
            **(extra or {}),
        })
        self.process = None

    def migrate(self):
        done = subprocess.run([self.binary, "migrate"], env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return self

    def start(self, ready=True, roles=None):
        command = [self.binary, "serve"] + (["--roles", roles] if roles else [])
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, env=self.environment, stdout=log,
                                            stderr=log, start_new_session=True)
        if ready:
            wait_until("vedette to be ready", self.is_ready)
        return self

    def is_ready(self):
        assert self.process.poll() is None, f"vedette ended: {self.log()}"
        try:
            return call("GET", self.admin + "/readyz").status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def stop(self):
        """SIGTERM, and its exit status. Whatever the test looked up, the log names nobody."""
        self.process.terminate()
        status = self.process.wait(60)
        log = self.log().lower()
        assert not [name for name in LOOKED_UP if name in log], "the log names a person who was looked up"
        return status

    def kill(self):
        self.process.kill()
        self.process.wait(10)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def as_operator(self, method, path, body=None):
        return call(method, self.admin + path, body, {"Authorization": f"Bearer {ADMIN_TOKEN}"})

    def organisation(self, credits=100_000, name="Tests"):
        """A new tenant, able to do everything."""
        org = self.as_operator("POST", "/admin/v1/orgs", {
            "name": name, "features": ["monitors", "testing_monitors", "high_tier"]})
        assert org.status == 201, org
        path = f"/admin/v1/orgs/{org.json['id']}"
        assert self.as_operator("POST", path + "/credits", {"amount": credits, "reason": "tests"}).status == 200
        key = self.as_operator("POST", path + "/api-keys", {"name": "tests"})
        assert key.status == 201, key
        secret = self.as_operator("POST", path + "/signing-secrets/rotate", {"overlap_hours": 0})
        assert secret.status == 200, secret
        return Tenant(self, org.json["id"], key.json["key"], secret.json["secret"])


class Tenant:
    def __init__(self, vedette, org_id, api_key, signing_secret):
        self.vedette, self.org_id = vedette, org_id
        self.api_key, self.signing_secret = api_key, signing_secret

    def call(self, method, path, body=None, **more):
        return call(method, self.vedette.api + path, body, {"x-api-key": self.api_key}, **more)

    def get(self, path):
        answer = self.call("GET", path)
        assert answer.status == 200, answer
        return answer.json

    def post(self, path, body):
        answer = self.call("POST", path, body)
        assert 200 <= answer.status < 300, answer
        return answer.json

    def rows(self, monitor_id):
        found, cursor = [], ""
        while True:
            page = self.get(f"/monitors/{monitor_id}/rows?limit=1000{cursor}")
            found += page["rows"]
            if not page.get("next_cursor"):
                return found
            cursor = "&cursor=" + page["next_cursor"]

    def events(self, monitor_id, row_id, **query):
        text = "&".join(f"{k}={v}" for k, v in {"limit": 500, **query}.items())
        return self.get(f"/monitors/{monitor_id}/rows/{row_id}/events?{text}")

    def money(self):
        org = self.vedette.as_operator("GET", f"/admin/v1/orgs/{self.org_id}")
        assert org.status == 200, org
        return org.json

    def finished_ticks(self, monitor_id):
        ticks = self.get(f"/monitors/{monitor_id}/ticks?limit=100")["ticks"]
        return [tick for tick in ticks if tick["finished_at"]]


@pytest.fixture
def vedette(binary, database, tmp_path):
    """A migrated, ready service; stopped afterwards, and a stop must be clean."""
    service = Vedette(binary, database.url, tmp_path).migrate().start()
    yield service
    if service.process.poll() is None:
        status = service.stop()
        assert status == 0, f"SIGTERM ended with {status}: {service.log()}"


class Receiver:
    """Keeps every webhook: its headers and its raw body. Answers as `answer(request)` says."""

    def __init__(self, answer=None):
        self.requests = []
        receiver = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                request = {"path": self.path, "headers": dict(self.headers.items()), "body": body}
                receiver.requests.append(request)
                self.send_response(answer(request) if answer else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/webhooks"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def pairs(self):
        """The deduplication pair of each request, in order of arrival."""
        return [(r["headers"]["Service-Event-Type"], r["headers"]["Service-Event-Id"]) for r in self.requests]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="session")
def modules():
    """The node_modules of the tools of tests/npm."""
    return f"{npm_tools()}/node_modules"


@pytest.fixture
def receiver():
    it = Receiver()
    yield it
    it.close()


class Nginx:
    """A real web server over `root`, a directory to be filled."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="vedette-e2e-nginx-", dir="/tmp"))
        self.root = self.dir / "root"
        self.root.mkdir()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = start_nginx(self.dir, self.port, f"""
            types {{ text/html html; application/json json; }}
            access_log {self.dir}/access.log;
            server {{ listen 127.0.0.1:{self.port}; root {self.root}; }}""")

    def write(self, name, content):
        """Swapped in whole, as a deployment does."""
        unfinished = self.root / (name + ".new")
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode())
        unfinished.rename(self.root / name)

    def requests(self, name):
        return sum(f"GET /{name} " in line for line in (self.dir / "access.log").read_text().splitlines())

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        shutil.rmtree(self.dir, ignore_errors=True)


@pytest.fixture
def nginx():
    it = Nginx()
    yield it
    it.close()


def screenshots_folder():
    """The folder of the pictures of pages that people look at, where VEDETTE_TEST_SCREENSHOTS asks for them; else None.

    No test looks at them, and to take them costs a core half a minute."""
    if not os.environ.get("VEDETTE_TEST_SCREENSHOTS"):
        return None
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def openssl_accepts(secret, request, now=None):
    """Verifies a webhook with openssl on the command line, as docs/webhooks.md says, and with none of our code."""
    header = request["headers"]["Service-Signature"]
    segments = [segment.split("=", 1) for segment in header.split(",")]
    t = next(value for key, value in segments if key == "t")
    assert abs((now or time.time()) - int(t)) <= 300
    done = subprocess.run(
        ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:" + secret.encode().hex()],
        input=t.encode() + b"." + request["body"], capture_output=True, check=True)
    expected = done.stdout.decode().split("= ")[1].strip()
    return expected in [value for key, value in segments if key == "v1"]
