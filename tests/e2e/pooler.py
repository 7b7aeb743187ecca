"""Debian's pgbouncer before the test's PostgreSQL."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg2

from testbed import free_port, wait_until


class Pooler:
    """`sessions` are the server's: all that its clients share by turns. As the user of the cluster, as it refuses root."""

    def __init__(self, postgres, database, mode, sessions=20, user="vedette"):
        self.dir = Path(tempfile.mkdtemp(prefix="vedette-pooler-", dir="/tmp"))
        self.port = free_port()
        (self.dir / "users").write_text(f'"{user}" ""\n')
        (self.dir / "pgbouncer.ini").write_text(f"""
[databases]
{database} = host={postgres.dir} port={postgres.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = trust
auth_file = {self.dir}/users
stats_users = {user}
pool_mode = {mode}
default_pool_size = {sessions}
max_client_conn = 200
query_wait_timeout = 5
""")
        self.dir.chmod(0o755)
        self.log = open(self.dir / "log", "ab")
        self.process = subprocess.Popen(["/usr/sbin/pgbouncer", self.dir / "pgbouncer.ini"], stdout=self.log, stderr=self.log,
                                        cwd="/", start_new_session=True, **postgres.user)
        self.url = f"postgresql://{user}@127.0.0.1:{self.port}/{database}"
        self.user = user
        wait_until("pgbouncer", self._answers)

    def _answers(self):
        assert self.process.poll() is None, (self.dir / "log").read_text()
        try:
            self.show("VERSION")
            return True
        except psycopg2.OperationalError:
            return False

    def show(self, what):
        """Rows of one of its own tables, as dictionaries."""
        connection = psycopg2.connect(host="127.0.0.1", port=self.port, dbname="pgbouncer", user=self.user)
        connection.autocommit = True  # its console knows no transactions
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"SHOW {what}")
                names = [column.name for column in cursor.description]
                return [dict(zip(names, row)) for row in cursor.fetchall()]
        finally:
            connection.close()

    def close(self):
        self.process.kill()
        self.process.wait(10)
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)
