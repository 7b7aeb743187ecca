"""A PostgreSQL primary, with a synchronous standby if wanted, both private and on free ports."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from testbed import Postgres, fast_directory, free_port, wait_until  # noqa: E402, F401

SETTINGS = {
    "max_connections": "90", "superuser_reserved_connections": "6",
    "max_wal_size": "64MB", "min_wal_size": "32MB", "wal_keep_size": "0", "shared_buffers": "64MB",
    "max_wal_senders": "4", "hot_standby": "on",
    "wal_receiver_timeout": "5s", "wal_sender_timeout": "5s", "log_min_messages": "warning",
}
# How long the database may be away where nothing is broken on purpose: a busy machine makes a primary give way by itself.
AWAY_MAX_S = 60


def fill_disk(mount):
    with open(mount / "filler", "wb") as filler:
        try:
            while True:
                filler.write(b"\0" * (1 << 20))
                filler.flush()
        except OSError:
            pass


def free_disk(mount):
    (mount / "filler").unlink(missing_ok=True)


class Server(Postgres):
    """One cluster directory and its postmaster."""

    def __init__(self, directory):
        super().__init__(directory, SETTINGS)

    def copy_of(self, primary):
        """A slot of its own keeps the WAL that the copy has not received yet: without one, a checkpoint while it connects again
        can remove a segment, and then the primary waits for this standby for good."""
        self.run("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-C", "-S", "standby", "--checkpoint=fast", "--no-sync",
                 "-d", f"host=127.0.0.1 port={primary.port} user=vedette application_name=standby")


class Cluster:
    def __init__(self, directory, standby=False):
        self.dir = Path(directory)
        self.made = 0
        self.mount = None
        self.migrated = None  # a database that scripts copy
        self.primary = self._new()
        self.standby = None
        self.primary.start()
        # Not a superuser, whose connections are never exhausted.
        self.primary.execute("postgres", "CREATE ROLE fleet LOGIN")
        self.new_database("fleet")
        if standby:
            self.add_standby()

    def _new(self):
        self.made += 1
        return Server(self.dir / f"pg{self.made}")

    def new_database(self, name, like=None):
        """The one that is used from now on; a copy of another one."""
        self.database = name
        copied = f" TEMPLATE {like} STRATEGY FILE_COPY" if like else ""
        self.primary.execute("postgres", f"CREATE DATABASE {name} OWNER fleet{copied}")

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
        """The same as pg_ctl restart -m immediate: every session dies, recovery runs."""
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
        fill_disk(self.mount)

    def free_disk(self):
        free_disk(self.mount)
        if self.primary.server.poll() is not None:  # a full disk ended it
            self.primary.start()

    def close(self):
        for server in (self.primary, self.standby):
            if server:
                server.stop(signal.SIGQUIT)
                server.log.close()
        if self.mount:
            subprocess.run(["umount", self.mount], check=False)

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
