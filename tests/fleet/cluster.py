"""A PostgreSQL primary, with a synchronous standby if wanted, both private and on free ports."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import psycopg2

OPTIONS = {
    "fsync": "off", "full_page_writes": "off", "max_connections": "90", "superuser_reserved_connections": "6",
    "max_wal_size": "64MB", "min_wal_size": "32MB", "wal_keep_size": "0", "shared_buffers": "64MB",
    "listen_addresses": "127.0.0.1", "max_wal_senders": "4", "hot_standby": "on",
    "wal_receiver_timeout": "5s", "wal_sender_timeout": "5s", "log_min_messages": "warning",
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(what, observe, limit_s=60, every_s=0.05):
    """Returns observe()'s first true value; fails, saying the last one, after limit_s."""
    deadline = time.monotonic() + limit_s
    while True:
        seen = observe()
        if seen:
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {limit_s} s for {what}; last seen: {seen!r}")
        time.sleep(every_s)


class Server:
    """One cluster directory and its postmaster."""

    bin = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))[0].parent

    def __init__(self, directory):
        self.dir = Path(directory)
        self.data = self.dir / "data"
        self.port = free_port()
        self.postmaster = None
        self.user = {}
        if os.geteuid() == 0:
            entry = pwd.getpwnam("postgres")
            self.user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        self.dir.mkdir(parents=True, exist_ok=True)
        if self.user:
            os.chown(self.dir, self.user["user"], self.user["group"])
        self.log = open(self.dir / "log", "ab")

    def run(self, *command, check=True):
        return subprocess.run([self.bin / command[0], *map(str, command[1:])], check=check, stdout=self.log,
                              stderr=self.log, cwd="/", env={"PATH": "/usr/bin", "LC_ALL": "C.UTF-8"}, **self.user)

    def initialise(self):
        self.run("initdb", "-D", self.data, "-U", "vedette", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                 "--no-sync")
        with open(self.data / "pg_hba.conf", "a") as hba:
            hba.write("host replication all 127.0.0.1/32 trust\n")

    def copy_of(self, primary):
        self.run("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync", "-d",
                 f"host=127.0.0.1 port={primary.port} user=vedette application_name=standby")

    def start(self):
        options = [part for key, value in OPTIONS.items() for part in ("-c", f"{key}={value}")]
        self.postmaster = subprocess.Popen(
            [self.bin / "postgres", "-D", self.data, "-k", self.dir, "-p", str(self.port), *options],
            stdout=self.log, stderr=self.log, cwd="/", start_new_session=True,
            env={"PATH": "/usr/bin", "LC_ALL": "C.UTF-8"}, **self.user)
        wait_until("PostgreSQL", self._answers)

    def _answers(self):
        assert self.postmaster.poll() is None, (self.dir / "log").read_text(errors="replace")[-3000:]
        try:
            self.execute("postgres", "SELECT 1")
            return True
        except psycopg2.OperationalError:
            return False

    def stop(self, how=signal.SIGQUIT):
        if self.postmaster and self.postmaster.poll() is None:
            self.postmaster.send_signal(how)
            self.postmaster.wait(60)
        self.postmaster = None

    def connect(self, database, role="vedette", **more):
        connection = psycopg2.connect(host="127.0.0.1", port=self.port, dbname=database, user=role,
                                      connect_timeout=5, **more)
        connection.autocommit = True
        return connection

    def execute(self, database, statement, parameters=None):
        connection = self.connect(database)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, parameters)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()


class Cluster:
    def __init__(self, directory, standby=False):
        self.dir = Path(directory)
        self.made = 0
        self.mount = None
        self.primary = self._new()
        self.standby = None
        self.primary.initialise()
        self.primary.start()
        # Not a superuser, whose connections are never exhausted.
        self.primary.execute("postgres", "CREATE ROLE fleet LOGIN")
        self.new_database("fleet")
        if standby:
            self.add_standby()

    def _new(self):
        self.made += 1
        return Server(self.dir / f"pg{self.made}")

    def new_database(self, name):
        """The one that is used from now on."""
        self.database = name
        self.primary.execute("postgres", f"CREATE DATABASE {name} OWNER fleet")

    def address(self):
        return "127.0.0.1", self.primary.port

    def execute(self, statement, parameters=None):
        return self.primary.execute(self.database, statement, parameters)

    def add_standby(self):
        self.standby = self._new()
        self.standby.copy_of(self.primary)
        self.standby.start()
        self.primary.execute("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        self.primary.execute("postgres", "SELECT pg_reload_conf()")
        wait_until("a synchronous standby", self.synchronous)

    def synchronous(self):
        return self.primary.execute("postgres", "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")

    def fail_over(self):
        """The primary dies; its synchronous standby takes its place. There is no new standby yet."""
        former, self.primary, self.standby = self.primary, self.standby, None
        former.stop(signal.SIGQUIT)
        self.primary.run("pg_ctl", "promote", "-w", "-D", self.primary.data)
        self.primary.execute("postgres", "ALTER SYSTEM RESET synchronous_standby_names")
        self.primary.execute("postgres", "SELECT pg_reload_conf()")

    def restart(self):
        """As pg_ctl restart -m immediate: every session dies, recovery runs."""
        self.primary.stop(signal.SIGQUIT)
        self.primary.start()

    # A file system of its own under the primary, to be filled. Needs the right to mount.

    def put_on_small_disk(self, mebibytes):
        self.primary.stop(signal.SIGINT)
        target = self.primary.dir.with_name(self.primary.dir.name + "-small")
        target.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", target],
                              capture_output=True, text=True)
        if done.returncode == 0:
            self.mount = target
            entry = os.stat(self.primary.data)
            os.chown(target, entry.st_uid, entry.st_gid)
            subprocess.run(["cp", "-a", self.primary.data, target / "data"], check=True)
            self.primary.data = target / "data"
        self.primary.start()
        return done.stderr.strip() if done.returncode else None

    def fill_disk(self):
        with open(self.mount / "filler", "wb") as filler:
            try:
                while True:
                    filler.write(b"\0" * (1 << 20))
                    filler.flush()
            except OSError:
                pass

    def free_disk(self):
        (self.mount / "filler").unlink(missing_ok=True)
        if self.primary.postmaster.poll() is not None:  # a full disk ended it
            self.primary.start()

    def close(self):
        for server in (self.primary, self.standby):
            if server:
                server.stop()
                server.log.close()
        if self.mount:
            subprocess.run(["umount", self.mount], check=False)

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
