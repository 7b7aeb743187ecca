"""What tests and benchmarks run on: a private PostgreSQL, free ports, waiting, an environment without settings.

tests/e2e, tests/fleet and bench/ use it, so that a server is started, waited for and removed in one way."""

import contextlib
import fcntl
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import psycopg2

ROOT = Path(__file__).resolve().parents[2]
# It ends what hangs; machines are shared, so it is many times what anything takes.
WAIT_MAX_S = 150

# Above the ports that services, and browsers' lists of what they do not ask, have.
FIRST_PORT = 11_000

# Nothing that a test writes outlives it, so it need not reach the disk.
FLEETING = {"fsync": "off", "full_page_writes": "off", "max_connections": "200"}


# A look asks a server most times, so what has taken long already is looked at less often.
LOOK_MAX_S = 0.1


def wait_until(what, observe, limit_s=WAIT_MAX_S, every_s=0.02, look_max_s=LOOK_MAX_S):
    """Returns observe()'s first true value; fails, saying the last one, after limit_s. It looks every_s at first, and every
    tenth of what it has waited later, up to look_max_s."""
    began = time.monotonic()
    while True:
        seen = observe()
        if seen:
            return seen
        waited_s = time.monotonic() - began
        if waited_s > limit_s:
            raise AssertionError(f"waited {limit_s} s for {what}; last seen: {seen!r}")
        time.sleep(max(every_s, min(waited_s / 10, look_max_s)))


def npm_tools(folder="tests/npm"):
    """The folder with the node_modules of the tools of `folder`, which are installed the first time."""
    done = subprocess.run([ROOT / "scripts" / "npm_tools", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1])


def rss_max_bytes(pid):
    """The most that a process held resident since its start, or since PeakMemory's reset."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class PeakMemory:
    """The most that a process held resident since the last reset."""

    def __init__(self, process):
        self.pid = process.pid
        self.reset()

    def reset(self):
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def mib(self):
        return rss_max_bytes(self.pid) / (1 << 20)


def connection_ports_begin():
    """The first of the ports that the kernel gives to connections, and to who asks for any port."""
    return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])


def free_port():
    """A port of 127.0.0.1 that nobody has, below those that the kernel gives away: a process that is stopped and started
    again finds it free, where a connection of another test would have taken it meanwhile."""
    while True:
        port = random.SystemRandom().randrange(FIRST_PORT, connection_ports_begin())
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port


def clean_environment(extra=None):
    """This process's environment without what would configure vedette or libpq."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VEDETTE_", "PG"))}
    return {**kept, **(extra or {})}


def fast_directory():
    """The directory where files are written in memory, if there is room for those of several tests at once."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free >= 6 << 30
    return memory if roomy and "TMPDIR" not in os.environ else Path("/tmp")


def lock(path):
    """An open file with a lock that ends with this process; None: another process holds it."""
    file = open(path, "a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except BlockingIOError:
        file.close()
        return None


def remove_left_behind(parent):
    """Ends the servers of processes that were killed, and removes their directories: each process holds the lock of its
    own for as long as it lives, and takes it before it makes a cluster there."""
    for path in Path(parent).glob("vedette-pg-*/owner.lock"):
        data = path.parent / "data"
        try:
            held = lock(path) if data.exists() else None
        except OSError:  # another user's, or gone meanwhile
            continue
        if held is None:
            continue
        with held:
            wait_until("a server that was left behind to end", lambda: not _quit(data))
            shutil.rmtree(path.parent, ignore_errors=True)


def _quit(data):
    """Tells the server of a cluster to end at once, and whether there is one: the number in its file may be a stranger's."""
    try:
        server = int((data / "postmaster.pid").read_text().split("\n")[0])
        if Path(os.readlink(f"/proc/{server}/cwd")) == data:
            os.kill(server, signal.SIGQUIT)
            return True
    except (OSError, ValueError):
        pass
    return False


class Postgres:
    """A cluster in a directory of its own, of an unprivileged user, on a Unix socket and a free port. A process that is
    killed leaves its cluster behind, and the next one removes it."""

    ENVIRONMENT = {"PATH": "/usr/bin", "LC_ALL": "C.UTF-8"}

    def __init__(self, directory=None, settings=None, under="/tmp"):
        # Those that scripts/on_postgres18 names, or the machine's.
        named = os.environ.get("VEDETTE_TEST_POSTGRES")
        versions = [Path(named) / "postgres"] if named else sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        assert versions, "no PostgreSQL is installed; ./quickstart installs what is needed"
        self.bin = versions[-1].parent
        if directory is None:
            remove_left_behind(under)
        self.dir = Path(directory or tempfile.mkdtemp(prefix="vedette-pg-", dir=under))
        self.dir.mkdir(parents=True, exist_ok=True)
        self.owner = lock(self.dir / "owner.lock")
        self.user = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            entry = pwd.getpwnam("postgres")
            os.chown(self.dir, entry.pw_uid, entry.pw_gid)
            self.user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        self.data, self.port = self.dir / "data", free_port()
        self.settings = {**FLEETING, **(settings or {})}
        self.log = open(self.dir / "log", "ab")
        self.server = None
        self.databases = 0
        # A connection costs more than most statements do. None: each statement has one of its own, as it must where servers are
        # lost or stand still.
        self.kept = None

    def keep_connections(self):
        """One for each thread and database from now on."""
        self.kept = threading.local()
        return self

    def run(self, program, *arguments, check=True):
        """One of PostgreSQL's own programs, as the cluster's user."""
        return subprocess.run([self.bin / program, *map(str, arguments)], check=check, stdout=self.log,
                              stderr=self.log, cwd="/", env=self.ENVIRONMENT, **self.user)

    def initialise(self):
        self.run("initdb", "-D", self.data, "-U", "vedette", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                 "--no-sync")
        with open(self.data / "pg_hba.conf", "a") as hba:
            hba.write("host replication all 127.0.0.1/32 trust\n")

    def copy_from(self, directory):
        """The cluster is a copy of one whose server has ended."""
        subprocess.run(["cp", "-a", directory, self.data], check=True)
        return self

    def made_by(self):
        """What says which server's files these are."""
        server = self.bin / "postgres"
        return f"{server} {server.stat().st_mtime_ns}"

    def start(self):
        if not self.data.exists():
            self.initialise()
        options = [f"-c{key}={value}" for key, value in self.settings.items()]
        self.server = subprocess.Popen(
            [self.bin / "postgres", "-D", self.data, "-k", self.dir, "-p", str(self.port),
             "-clisten_addresses=127.0.0.1", *options],
            stdout=self.log, stderr=self.log, cwd="/", start_new_session=True, env=self.ENVIRONMENT, **self.user)
        wait_until("PostgreSQL", self._answers)
        return self

    def _answers(self):
        assert self.server.poll() is None, (self.dir / "log").read_text(errors="replace")[-3000:]
        try:
            self.connect("postgres").close()
            return True
        except psycopg2.OperationalError:
            return False

    def stop(self, how=signal.SIGINT):
        if self.server and self.server.poll() is None:
            self.server.send_signal(how)
            self.server.wait(60)
        self.server = None

    def close(self):
        self.stop()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)
        if self.owner:
            self.owner.close()

    def assert_runs(self):
        """Fails with the end of the server's log when it has ended by itself."""
        status = self.server.poll() if self.server else "not started"
        assert status is None, (f"PostgreSQL has ended ({status}); {shutil.disk_usage(self.dir).free >> 20} MiB are free; "
                                f"its log ends:\n{(self.dir / 'log').read_text(errors='replace')[-3000:]}")

    @property
    def pid(self):
        return self.server.pid

    def url(self, database):
        return f"postgresql://vedette@/{database}?host={self.dir}&port={self.port}"

    def tcp_url(self, database):
        return f"postgresql://vedette@127.0.0.1:{self.port}/{database}"

    def connect(self, database, role="vedette", **more):
        """By TCP, as processes on other machines do."""
        connection = psycopg2.connect(host="127.0.0.1", port=self.port, dbname=database, user=role,
                                      connect_timeout=5, **more)
        connection.autocommit = True
        return connection

    def execute(self, database, statement, parameters=None):
        if self.kept is None:
            with contextlib.closing(self.connect(database)) as connection:
                return self._ask(connection, statement, parameters)
        kept = vars(self.kept)
        if database in kept:
            try:
                return self._ask(kept[database], statement, parameters)
            except psycopg2.Error:
                if not kept[database].closed:
                    raise
                del kept[database]  # its server ended meanwhile
        kept[database] = self.connect(database)
        return self._ask(kept[database], statement, parameters)

    @staticmethod
    def _ask(connection, statement, parameters):
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def create(self, database, template=None):
        # Without fsync, files are copied faster than pages are logged.
        copied = f" TEMPLATE {template} STRATEGY FILE_COPY" if template else ""
        self.execute("postgres", f"CREATE DATABASE {database}{copied}")

    def drop(self, database):
        if self.kept and database in vars(self.kept):
            vars(self.kept).pop(database).close()
        self.execute("postgres", f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def new_name(self):
        self.databases += 1
        return f"test_{self.databases}"
