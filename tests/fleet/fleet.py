"""The processes of the fleet, each with a proxy of its own to the database, and the operator's and tenants' calls."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

from cluster import free_port, wait_until
from proxy import Proxy

ADMIN_TOKEN = "an-admin-token-of-the-fleet"
LEASE_MS = 2000
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"

SETTINGS = {
    "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN,
    "VEDETTE_SECURITY_ENCRYPTION_KEY": "5e" * 32,
    "VEDETTE_NET_ALLOW": "127.0.0.0/8",
    "VEDETTE_LIMITS_FREQUENCY_MIN": "1s",
    "VEDETTE_LIMITS_REQUESTS_PER_MINUTE": "0",
    # What a dead process held is soon taken over, and a frozen one's locks are soon gone.
    "VEDETTE_WORKER_LEASE_MS": str(LEASE_MS),
    "VEDETTE_DELIVERY_LEASE_MS": str(LEASE_MS),
    "VEDETTE_DATABASE_STATEMENT_TIMEOUT_MS": "9000",
    "VEDETTE_DATABASE_API_CONNECTIONS": "2",
    # Many chunks, many records, portions of big monitors, parts of jobs that are recorded in pieces, and a breaker that
    # does not hide for long that receivers refuse at random.
    "VEDETTE_TESTING_SMALL_STEPS": "true",
    "VEDETTE_WORKER_CHECKS_IN_FLIGHT_MAX": "64",
    "VEDETTE_DELIVERY_BACKOFF_FIRST_MS": "200",
    "VEDETTE_DELIVERY_BACKOFF_MAX_MS": "1000",
    # A refusal of the lookup service is a row's alone.
    "VEDETTE_LOOKUPS_FIND_EMAIL": "fleet",
    "VEDETTE_PROVIDERS_BREAKER_FAILURES": "1000000",
}


CALL_MAX_S = 5


def call(method, url, body=None, headers=None, timeout_s=CALL_MAX_S):
    """(status, JSON), or (None, the reason) where there was no answer: then it happened or not."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method,
                                     headers={"Content-Type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")
    except (OSError, ValueError) as error:
        return None, str(error)


class Member:
    """One `vedette serve`. Whoever kills or freezes it writes that into `incidents`."""

    def __init__(self, binary, name, roles, directory, loop, cluster, world, extra=None):
        self.binary, self.name, self.roles, self.world = binary, name, roles, world
        self.database = cluster.database
        self.log_path = directory / f"{name}.log"
        self.proxy = Proxy(loop, cluster.address)
        self.api_port, self.admin_port = free_port(), free_port()
        self.api, self.admin = (f"http://127.0.0.1:{p}" for p in (self.api_port, self.admin_port))
        self.health_port = None  # of a process whose metrics are asked for
        self.extra = dict(extra or {})
        self.points, self.seed, self.skew_s, self.prices = [], 0, 0, {}
        self.unknown = set()  # settings that a binary of another version does not know
        self.process = None
        self.frozen_since = None

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("VEDETTE_", "PG"))}
        kept |= SETTINGS
        kept |= {
            "VEDETTE_DATABASE_URL": f"postgresql://fleet@127.0.0.1:{self.proxy.port}/{self.database}",
            "VEDETTE_API_LISTEN": f"127.0.0.1:{self.api_port}",
            "VEDETTE_ADMIN_LISTEN": f"127.0.0.1:{self.admin_port}",
        }
        for tier in ("micro", "low", "medium", "high"):
            at = f"VEDETTE_PROBES_{tier.upper()}_"
            kept |= {at + "KIND": "http", at + "URL": self.world.research.url(self.name), at + "TIMEOUT_MS": "20000",
                     at + "DEADLINE_MS": "60000"}
        kept["VEDETTE_PROVIDERS_HTTP_FLEET_URL"] = self.world.lookups.url(self.name)
        kept["VEDETTE_NET_CA_FILE"] = str(self.world.ca_file)
        if self.world.mail:
            kept |= self.world.mail.settings
        kept |= {f"VEDETTE_PRICES_{tier.upper()}": str(price) for tier, price in self.prices.items()}
        if self.health_port:
            kept["VEDETTE_HEALTH_LISTEN"] = f"127.0.0.1:{self.health_port}"
        if self.points:
            kept["VEDETTE_TESTING_FAULT_POINTS"] = ",".join(self.points)
            kept["VEDETTE_TESTING_FAULT_SEED"] = str(self.seed)
        if self.skew_s:
            kept |= {"LD_PRELOAD": FAKETIME, "FAKETIME": f"{self.skew_s:+d}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                     "FAKETIME_DONT_RESET": "1", "FAKETIME_NO_CACHE": "1"}
        return {name: value for name, value in (kept | self.extra).items() if name not in self.unknown}

    def _migrate(self):
        return subprocess.run([self.binary, "migrate"], env=self.environment(), capture_output=True, text=True)

    def migrate(self):
        done = self._migrate()
        assert done.returncode == 0, done.stderr

    def migrate_by_another_version(self):
        """It refuses settings that it does not know, one after the other; they are left out from then on."""
        while refused := re.search(r"unknown variable (VEDETTE_\w+)", (done := self._migrate()).stderr):
            assert refused[1] not in self.unknown, done.stderr
            self.unknown.add(refused[1])
        assert done.returncode == 0, done.stderr

    def start(self):
        self.frozen_since = None
        with open(self.log_path, "ab") as log:
            self.log_from = log.tell()
            self.process = subprocess.Popen([self.binary, "serve", "--roles", self.roles], env=self.environment(),
                                            stdout=log, stderr=log, start_new_session=True)

    def wait_ready(self):
        wait_until(f"{self.name} to be ready", lambda: " ready\n" in self.log()[self.log_from:])

    def state(self):
        """The state as the kernel has it: R, S, T (stopped), Z (dead) ..."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0]
        except OSError:  # it died this moment
            return ""

    def send(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait(20)

    def stop(self):
        """SIGTERM, and its exit status."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        return self.process.wait(60)

    def log(self):
        return self.log_path.read_bytes().decode("latin-1") if self.log_path.exists() else ""

    def metric(self, name):
        """The sum of a metric's series."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/metrics", timeout=CALL_MAX_S) as answer:
            series = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", answer.read().decode(), re.MULTILINE)
        return sum(map(float, series))

    def errors(self):
        """Lines that it logged as errors."""
        return re.findall(r"^\S+ error .*$", self.log(), re.MULTILINE)


class Operator:
    """Calls on the admin port and the API, through whichever of several members answers. It waits for `patience_s` where it is
    not told otherwise, and asks again for `away_s` what did nothing because the database was away."""

    def __init__(self, fronts):
        self.fronts, self.patience_s, self.away_s = fronts, CALL_MAX_S, 0

    def _try(self, *call):
        until = time.monotonic() + self.away_s
        while True:
            status, answer = self._try_once(*call)
            if status != 503 or "nothing was changed" not in str(answer) or time.monotonic() >= until:
                return status, answer
            time.sleep(0.2)

    def _try_once(self, method, path, body, headers, port, timeout_s=None):
        status, answer = None, "nobody answers"
        for front in self.fronts:
            status, answer = call(method, getattr(front, port) + path, body, headers, timeout_s or self.patience_s)
            # Asked again only where nothing can have happened.
            if status is not None or "refused" not in str(answer):
                break
        return status, answer

    def admin(self, method, path, body=None):
        return self._try(method, path, body, {"Authorization": f"Bearer {ADMIN_TOKEN}"}, "admin")

    def api(self, key, method, path, body=None, headers=None, timeout_s=None):
        return self._try(method, path, body, {"x-api-key": key, **(headers or {})}, "api", timeout_s)

    def must(self, answer):
        status, body = answer
        assert status is not None and 200 <= status < 300, answer
        return body
