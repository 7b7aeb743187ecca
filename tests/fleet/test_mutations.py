"""The torture's checker is honest: with a safety switched off, the fault that the safety is there for is noticed. Each
script is run with it on, too, when all must be well; no part of a script is left to chance."""

import asyncio
import random
import signal
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checker import Checker, MoneyWatch  # noqa: E402
from cluster import Cluster, wait_until  # noqa: E402
from fleet import LEASE_MS, Member, Operator  # noqa: E402
from ledger import Ledger  # noqa: E402
from load import Load  # noqa: E402
from services import Loop, Receiver, Research  # noqa: E402

ROWS = 8
# A script that a missing safety keeps from its end is given up after so long.
END_MAX_S = 12


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    directory = tmp_path_factory.mktemp("pg")
    for parent in (directory, *directory.parents):  # for PostgreSQL's user
        if parent.stat().st_uid == directory.stat().st_uid and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    it = Cluster(directory)
    yield it
    it.close()
    it.remove()


class Scenario:
    """A front, a scheduler and two workers that do not run yet; one monitor of one tenant, its next slot far away."""

    def __init__(self, binary, cluster, directory, disabled):
        self.cluster = cluster
        cluster.new_database(f"fleet_{time.monotonic_ns()}")
        self.ledger, self.loop = Ledger(directory / "ledger.jsonl"), Loop()
        self.research, self.receiver = Research(self.loop, self.ledger, 1), Receiver(self.loop, self.ledger, 1)
        self.research.refuses = self.receiver.refuses = False
        self.research.moves, self.research.delay_max = 1, 0
        extra = {"VEDETTE_TESTING_DISABLE": disabled} if disabled else {}
        self.front, self.sched, self.work1, self.work2 = self.members = [
            Member(binary, name, roles, directory, self.loop, cluster, self.research, extra)
            for name, roles in (("front", "api,admin"), ("sched", "scheduler"), ("work1", "worker"),
                                ("work2", "worker"))]
        self.front.migrate()
        for member in (self.front, self.sched):
            member.start()
        self.front.wait_ready()
        self.load = Load(Operator([self.front]), self.research, self.receiver, self.ledger, random.Random(1),
                         plan=[{"name": "one", "monitors": [(ROWS, 86400, [], "low")]}])
        self.monitor = self.load.monitors[0]
        self.failures = []

    def hold(self, members, positions):
        """Answers about these rows are withheld from these processes until release()."""
        held = {self.row(position) for position in positions}
        released = self.released = asyncio.Event()

        async def behave(member, request, times):
            if member in members and request["row_id"] in held:
                await released.wait()

        self.research.behave = behave

    def release(self):
        self.loop.call(self.released.set)

    def row(self, position):
        return self.value("SELECT id FROM monitor_row WHERE position = %s", position)

    def value(self, statement, *parameters):
        return self.cluster.execute(statement, parameters)[0][0]

    def recorded(self):
        """Rows of the open tick that have an outcome."""
        return self.value("SELECT count(*) FROM row_state s JOIN monitor_sched USING (monitor_id) "
                          "WHERE s.last_tick_id = open_tick_id")

    def asked(self, member):
        return [e["check"] for e in self.ledger.of("ask") if e["member"] == member.name]

    def over(self):
        return self.value("SELECT count(*) FROM monitor_sched WHERE open_tick_id IS NOT NULL") == 0

    def first_tick(self, worker):
        """Which gives every row its baseline: the next check of each is a change."""
        worker.start()
        wait_until("the first tick", lambda: self.value("SELECT count(*) FROM tick") == 1)

    def trigger(self):
        self.load.insist(self.load.trigger, self.monitor)

    def end(self):
        """Everything that the checker says, with what did not come to its end."""
        try:
            wait_until("the tick to finish", self.over, END_MAX_S)
        except AssertionError as late:
            self.failures.append(str(late))
        watch = MoneyWatch(self.cluster)
        watch.look()
        checker = Checker(self.cluster, self.ledger, self.load)
        try:
            checker.run()
        except KeyError as hole:  # a tick that is not there
            checker.fail(f"the books are not whole: {hole!r}")
        for member in self.members:
            checker.log_errors(member)
        return self.failures + watch.failures + checker.failures

    def close(self):
        for member in self.members:
            if member.process:
                member.send(signal.SIGCONT)
                member.kill()
        self.loop.close()
        self.ledger.close()


@pytest.fixture
def scenario(request, cluster, tmp_path):
    path = Path(request.config.getoption("--build"))
    binary = path / "vedette" if path.is_dir() else path
    made = []

    def make(disabled):
        made.append(Scenario(binary, cluster, tmp_path, disabled))
        return made[-1]

    yield make
    for it in made:
        it.close()


def both(safety):
    return pytest.mark.parametrize("disabled", [None, safety], ids=["on", "off"])


def verdict(disabled, failures, signs):
    """All is well, or what was to be noticed was."""
    if not disabled:
        assert failures == []
    else:
        assert any(sign in failure for failure in failures for sign in signs), failures or "nothing was noticed"


@both("row_fence")
def test_a_commit_without_an_answer_is_recorded_once(scenario, disabled):
    """The row fence: half a chunk is recorded, the answer of its COMMIT is lost, and the record is repeated."""
    s = scenario(disabled)
    s.first_tick(s.work1)
    s.hold(["work1"], range(ROWS // 2, ROWS))
    s.work1.proxy.cut_commit_of("record_row_states_unfenced" if disabled else "record_row_states")
    t0 = time.monotonic()
    s.trigger()
    wait_until("the cut", lambda: s.work1.proxy.cut_done == 1)
    s.ledger.add("fault", name="cut_commit", t0=t0, what="work1")
    # Another record of it, with or without effect, before the rest comes.
    wait_until("the repeated record", lambda: "loaded afresh" in s.work1.log() or s.value(
        "SELECT count(*) FROM event") > ROWS // 2)
    s.release()
    verdict(disabled, s.end(), ["two change events", "differ"])


@both("lease_fence")
def test_who_lost_its_lease_records_nothing(scenario, disabled):
    """The lease fence: a worker is frozen before it records, another one is half through the same chunk."""
    s = scenario(disabled)
    s.first_tick(s.work2)
    s.work2.kill()
    s.hold(["work2"], range(ROWS // 2, ROWS))
    s.work1.points = ["after_probe:stop:1"]
    s.work1.start()
    s.trigger()
    t0 = time.monotonic()
    wait_until("the freeze", lambda: s.work1.state() == "T")
    s.work2.start()
    wait_until("the heir to be half through", lambda: s.recorded() == ROWS // 2 and len(s.asked(s.work2)) >= 2 * ROWS)
    # It freezes at every record that it begins; the one with its old lease must have been made.
    deadline = time.monotonic() + 6
    while time.monotonic() < deadline and not s.work1.errors() and not (
            "a lease was lost" in s.work1.log() and time.monotonic() > deadline - 3):
        if s.work1.state() == "T":
            s.work1.send(signal.SIGCONT)
        time.sleep(0.05)
    s.ledger.add("fault", name="freeze", t0=t0, what="work1")
    s.release()
    s.work1.kill()
    verdict(disabled, s.end(), ["recorded already"])


@both("reservation")
def test_what_is_charged_was_reserved(scenario, disabled):
    s = scenario(disabled)
    s.first_tick(s.work1)
    verdict(disabled, s.end(), ["G4 organisation"])


@both("lease_renewal")
def test_who_works_longer_than_its_lease_keeps_it(scenario, disabled):
    """Lease renewal: checks take longer than a lease, nothing is broken, and nobody else may ask about them."""
    s = scenario(disabled)
    s.first_tick(s.work1)
    s.work2.start()
    s.work2.wait_ready()
    s.hold(["work1", "work2"], range(ROWS))
    s.trigger()
    asks = len(s.ledger.of("ask"))
    wait_until("the checks to be asked about", lambda: len(s.ledger.of("ask")) >= asks + ROWS)
    time.sleep(2.5 * LEASE_MS / 1000)  # the point: longer than a lease
    s.release()
    verdict(disabled, s.end(), ["nothing was broken"])
