"""What a benchmark runs on: a private PostgreSQL with fsync on, vedette processes, and what each of them used."""

import contextlib
import http.client
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

try:
    import psycopg2  # noqa: F401
except ImportError:
    sys.exit("bench: python3-psycopg2 is not installed. Run: sudo apt-get install python3-psycopg2\n"
             "(scripts/packages lists what benchmarks need under [bench])")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
import testbed  # noqa: E402
from testbed import ROOT, clean_environment, free_port, rss_max_bytes  # noqa: E402,F401

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
ADMIN_TOKEN = "bench"

# Durable, and the same for vedette and its peers; connections cost nothing here before they are used.
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "max_connections": "200"}
# The servers that figures are of: what a newcomer has who installed Debian's package, and one sized for its machine.
SERVERS = {
    "debian": {},
    "tuned": {
        "shared_buffers": "2GB",
        "max_wal_size": "8GB",
        "checkpoint_timeout": "15min",
        "autovacuum_naptime": "10s",
        "jit": "off",
    },
}


def add_server_option(parser):
    parser.add_argument("--server", choices=[*SERVERS, "both"], default="debian",
                        help="PostgreSQL as Debian ships it (the default), one tuned for its machine, or one after the other")


def chosen_server(options):
    """The server of this run, said on standard error. Both are a run of this program each, which end here; of
    `--json FILE` each writes FILE with its name in it."""
    if options.server != "both":
        print(f"PostgreSQL: {options.server} {SERVERS[options.server] or '(every default)'}", file=sys.stderr, flush=True)
        return options.server
    statuses = []
    for server in SERVERS:
        command = [sys.executable, *sys.argv, "--server", server]
        if options.json:
            path = Path(options.json)
            command += ["--json", path.with_name(f"{path.stem}.{server}{path.suffix}")]
        statuses.append(subprocess.run(command).returncode)
    sys.exit(max(statuses))


def wait_until(what, observe, limit_s=600):
    return testbed.wait_until(what, observe, limit_s, look_max_s=0)  # what is waited for is timed


def stop_process(process):
    """Ends a peer, by force where it does not end by itself in half a minute."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(30)


def cpu_s(pid):
    """User and system seconds of a process, its ended and waited-for children included. Threads count nanoseconds; the
    process as a whole, with the threads that ended, hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    own, waited_for = ((int(fields[i]) + int(fields[i + 1])) / TICKS_PER_SECOND for i in (11, 13))
    threads = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            threads += int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0])
        except FileNotFoundError:
            pass  # it ended
    return max(own, threads / 1e9) + waited_for


def tree(pid):
    """The process and everything below it, whichever of its threads has started that."""
    found = [pid]
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                found += tree(int(child))
        except OSError:
            pass  # it ended
    return found


def tree_cpu_s(pid):
    """The CPU of a process and of all below it. One that ends is its parent's from then on: where one did while they were
    read, they are read again, or what it used would be nobody's."""
    while True:
        before = tree(pid)
        try:
            total = sum(cpu_s(one) for one in before)
        except OSError:
            continue
        if tree(pid) == before:
            return total


class Postgres(testbed.Postgres):
    """A durable cluster that runs from the start on; on a disk, not in /tmp, which may be memory."""

    def __init__(self, server="debian", directory=None, settings=None):
        super().__init__(settings={**DURABLE, **SERVERS[server], **(settings or {})}, under=directory or "/var/tmp")
        self.start()


def environment(database_url, extra=None):
    return {**clean_environment(), "VEDETTE_DATABASE_URL": database_url, "VEDETTE_SECURITY_ENCRYPTION_KEY": "5e" * 32,
            "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN, "VEDETTE_LIMITS_FREQUENCY_MIN": "1s",
            "VEDETTE_LIMITS_REQUESTS_PER_MINUTE": "0", "VEDETTE_NET_ALLOW": "127.0.0.0/8", **(extra or {})}


class Vedette:
    """A `vedette serve` of the roles given."""

    def __init__(self, binary, database_url, roles, extra=None):
        self.admin_port, self.api_port = free_port(), free_port()
        self.log = tempfile.NamedTemporaryFile(prefix="vedette-bench-", suffix=".log", delete=False)
        self.process = subprocess.Popen(
            [binary, "serve", "--roles", roles],
            env=environment(database_url, {"VEDETTE_ADMIN_LISTEN": f"127.0.0.1:{self.admin_port}",
                                           "VEDETTE_API_LISTEN": f"127.0.0.1:{self.api_port}", **(extra or {})}),
            stdout=self.log, stderr=self.log)
        if "admin" in roles:
            wait_until("vedette to be ready", self._ready, 60)

    def _ready(self):
        if self.process.poll() is not None:
            sys.exit("bench: vedette ended:\n" + Path(self.log.name).read_text()[-2000:])
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/metrics", timeout=30) as answer:
            return answer.read().decode()

    @contextlib.contextmanager
    def operator(self):
        """Calls of the operator's over one connection: ask(method, path) gives the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=30)

        def ask(method, path):
            connection.request(method, path, headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})
            return connection.getresponse().read()

        try:
            yield ask
        finally:
            connection.close()

    @property
    def pid(self):
        return self.process.pid

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()
        os.unlink(self.log.name)


def migrate(binary, database_url):
    subprocess.run([binary, "migrate"], check=True, env=environment(database_url), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Meter:
    """What passes between its start and its end: seconds, CPU by part, WAL, transactions, rows written."""

    def __init__(self, postgres, connection, pids):
        self.postgres, self.cursor, self.pids = postgres, connection.cursor(), pids
        self.begin = self._read()

    def _one(self, statement):
        self.cursor.execute(statement)
        return self.cursor.fetchone()

    def _read(self):
        lsn = self._one("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8")[0]
        wal_fpi = self._one("select wal_fpi, wal_records from pg_stat_wal")
        stats = self._one("select xact_commit from pg_stat_database where datname = current_database()")
        return {"at": time.monotonic(), "wal": lsn, "fpi": wal_fpi[0], "xacts": stats[0],
                "postgres_cpu": tree_cpu_s(self.postgres.pid),
                "process_cpu": sum(tree_cpu_s(pid) for pid in self.pids)}

    def end(self):
        end = self._read()
        return {key: end[key] - self.begin[key] for key in end}
