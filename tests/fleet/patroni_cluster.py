"""Three nodes of PostgreSQL under Patroni, each with an etcd, and HAProxy before them, as deploy/patroni has them.

Every process is of an unprivileged user of this machine, on free ports and in one folder."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import psycopg2
import yaml

from cluster import SETTINGS, wait_until
from proxy import Proxy
from testbed import FLEETING, ROOT, Postgres, free_port

DEPLOYED = ROOT / "deploy" / "patroni"
NAMES = ("db1", "db2", "db3")
SMALL_DISK_MIB = 600
# Those of deploy/patroni, shorter: a node that is gone is replaced after `ttl`.
PACE = {"ttl": 8, "loop_wait": 1, "retry_timeout": 3, "primary_start_timeout": 3}
# Patroni sets the rest itself, and pg_rewind wants whole pages.
KEPT_BY_PATRONI = {"max_connections", "max_wal_senders", "hot_standby", "wal_keep_size", "full_page_writes"}
PROGRAMS = ("/usr/bin/patroni", "/usr/bin/etcd", "/usr/sbin/haproxy")
# A test that is killed takes what it has started with it.
ENDS_WITH_US = ("/usr/bin/setpriv", "--pdeathsig", "KILL")


def missing_programs():
    return [program for program in PROGRAMS if not Path(program).exists()]


class Node(Postgres):
    """A machine: its etcd, Patroni, and the PostgreSQL that Patroni runs. It reaches the etcd through a proxy, which can be
    silent."""

    def __init__(self, directory, name, loop, mount):
        super().__init__(directory)
        self.name = name
        self.mount = None
        self.mount_error = self._mount() if mount else "not asked for"
        self.data = (self.mount or self.dir) / "data"
        self.rest_port, self.etcd_port, self.peer_port = free_port(), free_port(), free_port()
        self.way_to_etcd = Proxy(loop, lambda: ("127.0.0.1", self.etcd_port))
        self.processes = {}

    def _mount(self):
        """A small file system for the data; otherwise why there is none."""
        target = self.dir / "small"
        target.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_MIB}m", "tmpfs", target],
                              capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip() or "mount failed"
        self.mount = target
        if self.user:
            os.chown(target, self.user["user"], self.user["group"])
        return None

    def configuration(self):
        """What deploy/patroni says, with this node's addresses, paths and pace, and without passwords."""
        c = yaml.safe_load((DEPLOYED / "patroni.yml").read_text())
        c["name"] = self.name
        for section, port in (("restapi", self.rest_port), ("postgresql", self.port)):
            c[section] |= {"listen": f"127.0.0.1:{port}", "connect_address": f"127.0.0.1:{port}"}
        # Otherwise it would learn of the etcds' own addresses, and go past the proxy.
        c["etcd"] = {"hosts": [f"127.0.0.1:{self.way_to_etcd.port}"], "use_proxies": True}
        dcs = c["bootstrap"]["dcs"]
        dcs.update(PACE)
        # Each failover begins a file of the log: what stays of them would fill a small disk by itself.
        dcs["postgresql"]["parameters"] |= {"max_connections": int(SETTINGS["max_connections"]), "wal_keep_size": "16MB"}
        c["bootstrap"]["initdb"].append("no-sync")
        p = c["postgresql"]
        p |= {"data_dir": str(self.data), "bin_dir": str(self.bin), "pgpass": str(self.dir / "pgpass"),
              "authentication": {role: {"username": "vedette"} for role in ("superuser", "replication", "rewind")},
              "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]}
        p["parameters"] |= {k: v for k, v in (SETTINGS | FLEETING).items() if k not in KEPT_BY_PATRONI}
        p["parameters"]["unix_socket_directories"] = str(self.dir)
        return c

    def _spawn(self, what, *command, **environment):
        self.processes[what] = subprocess.Popen(
            [*ENDS_WITH_US, *map(str, command)], stdout=self.log, stderr=self.log, cwd="/", start_new_session=True,
            env={**self.ENVIRONMENT, **environment}, **self.user)

    def start_etcd(self, peers):
        """`peers`: the first machine's name and addresses become this one's, those of the cluster are replaced."""
        lines = [line for line in (DEPLOYED / "etcd.env").read_text().splitlines() if not line.startswith("#")]
        settings = dict(line.split("=", 1) for line in lines)
        settings = {key: value.replace("10.0.0.11:2379", f"127.0.0.1:{self.etcd_port}")
                    .replace("10.0.0.11:2380", f"127.0.0.1:{self.peer_port}") for key, value in settings.items()}
        settings |= {"ETCD_NAME": self.name, "ETCD_DATA_DIR": str(self.dir / "etcd"), "ETCD_INITIAL_CLUSTER": peers,
                     "ETCD_LOG_LEVEL": "error"}
        self._spawn("etcd", "/usr/bin/etcd", **settings)

    def start_patroni(self):
        path = self.dir / "patroni.yml"
        path.write_text(yaml.safe_dump(self.configuration()))
        self._spawn("patroni", "/usr/bin/patroni", path)

    def start(self, peers):
        self.start_etcd(peers)
        self.start_patroni()

    def rest(self, path, method="GET", body=None, timeout_s=2):
        """(status, JSON) of Patroni's own API; (None, None): it does not answer."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest_port}{path}", method=method,
                                         data=body and json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                text, status = answer.read(), answer.status
        except urllib.error.HTTPError as error:
            text, status = error.read(), error.code
        except OSError:
            return None, None
        try:
            return status, json.loads(text or b"null")
        except ValueError:
            return status, text.decode("latin-1")

    def is_primary(self):
        return self.rest("/primary")[0] == 200

    def postmaster(self):
        """Its process id, or None."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split("\n")[0])
            return pid if Path(os.readlink(f"/proc/{pid}/cwd")) == self.data else None
        except (OSError, ValueError):
            return None

    def _postgres(self):
        """All processes of the PostgreSQL."""
        first = self.postmaster()
        if not first:
            return []
        found = [first]
        for task in Path(f"/proc/{first}/task").glob("*/children"):
            try:
                found += map(int, task.read_text().split())
            except OSError:
                pass
        return found

    def _signal_all(self, number):
        own = [p.pid for p in self.processes.values() if p.poll() is None]
        for pid in own + self._postgres():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def freeze(self):
        self._signal_all(signal.SIGSTOP)

    def thaw(self):
        self._signal_all(signal.SIGCONT)

    def kill(self):
        """All of the machine at once. Patroni first, which would start the PostgreSQL again."""
        self._signal_all(signal.SIGKILL)
        for process in self.processes.values():
            process.wait(20)
        wait_until(f"{self.name} to be dead", lambda: not self.postmaster())

    def crash(self):
        """Its PostgreSQL alone."""
        pid = self.postmaster()
        if pid:
            os.kill(pid, signal.SIGQUIT)

    def close(self):
        self.thaw()
        self.kill()
        self.log.close()
        if self.mount:
            subprocess.run(["umount", "--lazy", self.mount], check=False)


class Patroni:
    """Stands where a Cluster of one primary does."""

    def __init__(self, directory, loop, mount=False):
        self.dir = Path(directory)
        self.patience_s = 0  # for which a statement is tried again while there is no primary
        self.nodes = [Node(self.dir / name, name, loop, mount) for name in NAMES]
        self.mount_error = next((n.mount_error for n in self.nodes if n.mount_error), None)
        self.mount = not self.mount_error
        self.haproxy, self.log = None, open(self.dir / "haproxy.log", "ab")
        self.peers = ",".join(f"{n.name}=http://127.0.0.1:{n.peer_port}" for n in self.nodes)
        try:
            for node in self.nodes:
                node.start_etcd(self.peers)
            for node in self.nodes:
                node.start_patroni()
            self._start_haproxy()
            wait_until("three nodes, one of them a synchronous standby", self.is_whole)
            self.primary.execute("postgres", "CREATE ROLE fleet LOGIN")
            self.new_database("fleet")
        except BaseException:
            self.close()
            raise

    def _start_haproxy(self):
        self.port = free_port()
        text = (DEPLOYED / "haproxy.cfg").read_text()
        text = text.replace("127.0.0.1:5432", f"127.0.0.1:{self.port}")
        for i, node in enumerate(self.nodes, 1):
            text = text.replace(f"10.0.0.1{i}:5432 check port 8008",
                                f"127.0.0.1:{node.port} check port {node.rest_port}")
        assert "10.0.0." not in text
        path = self.dir / "haproxy.cfg"
        path.write_text(text)
        self.haproxy = subprocess.Popen([*ENDS_WITH_US, "/usr/sbin/haproxy", "-db", "-f", path], stdout=self.log, stderr=self.log,
                                        start_new_session=True, cwd="/", **self.nodes[0].user)

    def new_database(self, name):
        self.database = name
        self.primary.execute("postgres", f"CREATE DATABASE {name} OWNER fleet")

    def address(self):
        return "127.0.0.1", self.port

    def url_of_hosts(self):
        """The way without HAProxy: libpq looks for the primary among all nodes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgresql://fleet@{hosts}/{self.database}?target_session_attrs=read-write"

    def execute(self, statement, parameters=None):
        until = time.monotonic() + self.patience_s
        while True:
            try:
                return self._execute(statement, parameters)
            except psycopg2.OperationalError:
                if time.monotonic() >= until:
                    raise
            time.sleep(0.2)

    def _execute(self, statement, parameters):
        connection = psycopg2.connect(host="127.0.0.1", port=self.port, dbname=self.database, user="vedette",
                                      connect_timeout=5)
        connection.autocommit = True
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, parameters)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def leader(self, but=None):
        """The node that is the primary, or None; `but` is not asked."""
        return next((node for node in self.nodes if node is not but and node.is_primary()), None)

    @property
    def primary(self):
        return wait_until("a primary", self.leader)

    def members(self):
        """What Patroni says of each, by the name."""
        for node in self.nodes:
            status, answer = node.rest("/cluster")
            if status == 200:
                return {member["name"]: member for member in answer["members"]}
        return {}

    def is_whole(self):
        """All follow one primary, and one of them synchronously."""
        members = self.members().values()
        return (sorted(m["role"] for m in members) == ["leader", "replica", "sync_standby"]
                and all(m["state"] == "running" for m in members) and len({m.get("timeline") for m in members}) == 1
                and self.synchronous())

    def synchronous(self):
        leader = self.leader()
        try:
            return leader and leader.execute("postgres", "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
        except psycopg2.Error:
            return None

    def synchronous_standby(self):
        name = next(m["name"] for m in self.members().values() if m["role"] == "sync_standby")
        return next(node for node in self.nodes if node.name == name)

    def switch_over(self):
        """To the synchronous standby; as Patroni answers."""
        former, to = self.primary, self.synchronous_standby()
        return former.rest("/switchover", "POST", {"leader": former.name, "candidate": to.name}, timeout_s=60)

    def close(self):
        for node in self.nodes:
            node.close()
        if self.haproxy:
            self.haproxy.kill()
            self.haproxy.wait(20)
        self.log.close()

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
