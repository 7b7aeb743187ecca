"""`vedette ctl org-move` to a cell under Patroni and back from it, while that cell's primary is replaced: as rows are copied, and
under the lock. The command is run again, as docs/operations.md says, and nothing is lost, checked, charged or booked twice."""

import collections
import http.server
import os
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from cluster import wait_until
from patroni_cluster import Patroni, missing_programs
from servers import QuietHandler
from services import Loop
from test_cells import ENDS_WITH_US, Cell, call
from testbed import clean_environment

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(bool(missing_programs()), reason=f"needs {missing_programs()}")]

PRICE_MC = 1000
LARGE_ROWS, BUSY_ROWS = 20_000, 40
# A command that a failover has ended is run again, once for each failover and a little.
RUNS_MAX = 6
SETTINGS = {"VEDETTE_TESTING_NULL_CHANGE_SHARE": "0.2", "VEDETTE_LIMITS_FREQUENCY_MIN": "1s", "VEDETTE_NET_ALLOW": "127.0.0.0/8"}


class Receiver:
    """Takes every notification and remembers its pair."""

    def __init__(self):
        pairs = self.pairs = []

        class Handler(QuietHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                pairs.append((self.headers["Service-Event-Type"], self.headers["Service-Event-Id"]))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class UnderPatroni(Cell):
    """A cell whose PostgreSQL is that of three nodes, reached by HAProxy."""

    def __init__(self, binary, cell, directory, cluster):
        super().__init__(binary, cell, directory)
        self.cluster = cluster
        host, port = cluster.address()
        self.environment["VEDETTE_DATABASE_URL"] = f"postgresql://fleet@{host}:{port}/{cluster.database}"

    def prepare(self):
        done = subprocess.run([self.binary, "migrate"], env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def sql(self, statement):
        return self.cluster.execute(statement)


@pytest.fixture
def cells(request, tmp_path):
    """(plain, under Patroni), both at work."""
    path = Path(request.config.getoption("--build"))
    binary = path / "vedette" if path.is_dir() else path
    # Not below pytest's own directory, which every other pytest that starts closes to PostgreSQL's user.
    directory = Path(tempfile.mkdtemp(prefix="vedette-fleet-", dir="/tmp"))
    directory.chmod(0o755)
    loop = Loop()
    (tmp_path / "cells").write_text('"" http://127.0.0.1:1\n')
    cluster = Patroni(directory, loop)
    made = []
    try:
        made = [Cell(binary, "", tmp_path), UnderPatroni(binary, "c2", tmp_path, cluster)]
        for cell in made:
            cell.environment |= SETTINGS
            cell.prepare()
            cell.serve()
        for cell in made:
            wait_until(f"{cell.name} to be ready", cell.ready)
        yield made
    finally:
        for cell in made:
            cell.close()
        cluster.close()
        loop.close()
        cluster.remove()


class Tenant:
    def __init__(self, cell, receiver):
        self.cell = cell
        self.org, self.key = cell.organisation()
        cell.operate(f"/orgs/{self.org}/credits", {"amount": 1_000_000, "reason": "test"})
        self.large = self.monitor("large", LARGE_ROWS, "1d")
        self.busy = self.monitor("busy", BUSY_ROWS, "1s", webhook_url=receiver.url, webhook_event_types=["monitor.field.changed"])

    def ask(self, path, body=None):
        status, answer, _ = call(self.cell.api + path, {"x-api-key": self.key}, body, timeout_s=120)
        assert status < 300, answer
        return answer

    def monitor(self, name, rows, frequency, **more):
        return self.ask("/monitors", {"name": name, "key_columns": ["domain"], "struct": {"price": "css:.price"}, "frequency": frequency,
                                      "rows": [{"domain": f"{n}.example"} for n in range(rows)], **more})["id"]

    def ticks(self):
        return self.cell.sql(f"SELECT count(*) FROM tick WHERE monitor_id = '{self.busy}'")[0][0]

    def goes_on(self):
        before = self.ticks()
        wait_until(f"checks at {self.cell.name}", lambda: self.ticks() >= before + 3)


def configuration(cell, directory):
    """The file of a cell, as the other one's `--to-config` has it."""
    path = directory / f"{cell.name}.toml"
    path.write_text(f'[cell]\nid = "{cell.id}"\n[database]\nurl = "{cell.environment["VEDETTE_DATABASE_URL"]}"\n'
                    f'[security]\nencryption_key = "{cell.environment["VEDETTE_SECURITY_ENCRYPTION_KEY"]}"\n')
    return path


class Move:
    """Runs the command until it has ended well, with a switchover at the first of its sentences that has each of `words`."""

    def __init__(self, binary, tenant, to, cluster, directory):
        self.command = [binary, "ctl", "org-move", tenant.org, "--to", to.id, "--config", configuration(tenant.cell, directory),
                        "--to-config", configuration(to, directory)]
        self.cluster, self.tenant, self.to, self.said = cluster, tenant, to, []

    def run(self, words):
        words, runs = list(words), 0
        while self._once(words) != 0:
            runs += 1
            assert runs < RUNS_MAX, "".join(self.said[-20:])
            wait_until("three whole nodes", self.cluster.is_whole)
        assert words == [], f"it never said {words}: {''.join(self.said)}"
        self.tenant.cell = self.to

    def _once(self, words):
        process = subprocess.Popen([*ENDS_WITH_US, *map(str, self.command)], env=clean_environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        for line in process.stdout:
            self.said.append(line)
            if words and words[0] in line:
                wait_until("three whole nodes", self.cluster.is_whole)
                os.kill(process.pid, 19)  # it stands where it is while its database changes
                former = self.cluster.primary
                status, answer = self.cluster.switch_over()
                assert status == 200, answer
                wait_until("another primary", lambda: self.cluster.leader(but=former))
                os.kill(process.pid, 18)
                del words[0]
        return process.wait(120)

    def remove(self):
        done = subprocess.run([*map(str, self.command), "--remove", "--grace-h", "0"], env=clean_environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def left_at(cell):
    return {table: cell.sql(f"SELECT count(*) FROM {table}")[0][0] for table in ("chunk", "delivery", "monitor_sched", "account", "job")}


def test_a_switchover_on_either_side_of_a_move_loses_and_doubles_nothing(cells, tmp_path):
    plain, patroni = cells
    cluster, receiver = patroni.cluster, Receiver()
    try:
        tenant = Tenant(plain, receiver)
        tenant.goes_on()
        for source, target in ((plain, patroni), (patroni, plain)):
            move = Move(plain.binary, tenant, target, cluster, tmp_path)
            move.run(["copying", "locked for writing"])
            assert set(left_at(source).values()) == {0}, left_at(source)
            tenant.goes_on()
            move.remove()
        cell = tenant.cell
        tenant.ask(f"/monitors/{tenant.busy}/cancel", {})
        wait_until("what is under way to end", lambda: cell.sql("SELECT count(*) FROM chunk") == [(0,)])
        wait_until("every notification", lambda: cell.sql("SELECT count(*) FROM delivery") == [(0,)])
        # Nothing is charged twice, and no check that was made was not.
        [(balance, reserved, entries)] = cell.sql(
            "SELECT (SELECT balance_mc FROM account), (SELECT coalesce(sum(reserved_mc), 0) FROM chunk), "
            "(SELECT sum(amount_mc) FROM credit_entry)")
        assert balance + reserved == entries and reserved == 0
        [(charged, checks)] = cell.sql("SELECT -sum(amount_mc), sum(checks) FROM credit_entry WHERE checks IS NOT NULL")
        assert charged == checks * PRICE_MC
        assert cell.sql("SELECT monitor_id::text, count(*)::int, count(DISTINCT key_hash)::int FROM monitor_row GROUP BY 1 ORDER BY 2") == [
            (tenant.busy, BUSY_ROWS, BUSY_ROWS), (tenant.large, LARGE_ROWS, LARGE_ROWS)]
        # Every change was told, under its own id. One whose recorded end was lost with a session is told again under the same.
        groups = {str(group) for group, in cell.sql(f"SELECT DISTINCT event_group_id FROM event WHERE monitor_id = '{tenant.busy}' AND event_type = 0")}
        told = collections.Counter(receiver.pairs)
        assert set(told) == {("monitor.field.changed", group) for group in groups}
        print(f"{checks} checks, {len(groups)} changes, {sum(told.values()) - len(told)} told again")
    finally:
        receiver.close()
