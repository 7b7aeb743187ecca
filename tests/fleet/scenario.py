"""A small fleet for scripts of which no part is left to chance."""

import asyncio
import random
import signal
import time

from checker import Checker, MoneyWatch
from cluster import wait_until
from fleet import Member, Operator
from job_checker import JobChecker
from job_load import JobLoad
from ledger import Ledger
from load import Load
from services import Loop, World

ROWS = 8
# A little longer than the torture's: a script is about what it breaks itself, whatever else the machine does.
LEASE_MS = 3000
# A script that a missing safety keeps from its end is given up after so long.
END_MAX_S = 12


class Scenario:
    """A front, a scheduler and two workers that do not run yet; one monitor of one tenant, its next slot far away, and
    what the tenant's clients ask of jobs."""

    def __init__(self, binary, cluster, directory, disabled=None, settings=None, rows=ROWS):
        self.cluster = cluster
        self.ledger, self.loop = Ledger(directory / "ledger.jsonl"), Loop()
        self.world = World(self.loop, self.ledger, 1, directory)
        self.world.calm()
        self.research, self.lookups, self.receiver = self.world.research, self.world.lookups, self.world.receiver
        leases = {f"VEDETTE_{role}_LEASE_MS": str(LEASE_MS) for role in ("WORKER", "DELIVERY")}
        extra = leases | (settings or {}) | ({"VEDETTE_TESTING_DISABLE": disabled} if disabled else {})
        self.make = lambda name, roles: Member(binary, name, roles, directory, self.loop, cluster, self.world, extra)
        if not cluster.migrated:
            cluster.new_database("migrated")
            self.make("migrates", "api").migrate()
            cluster.migrated = "migrated"
        cluster.new_database(f"fleet_{time.monotonic_ns()}", like=cluster.migrated)
        self.members = []
        self.front, self.sched = self.add("front", "api,admin"), self.add("sched", "scheduler")
        self.work1, self.work2 = self.add("work1", "worker"), self.add("work2", "worker")
        for member in (self.front, self.sched):
            member.start()
        self.front.wait_ready()
        self.load = Load(Operator([self.front]), self.research, self.receiver, self.ledger, random.Random(1),
                         plan=[{"name": "one", "monitors": [(rows, 86400, [], "low")]}])
        self.monitor, self.tenant = self.load.monitors[0], self.load.tenants[0]
        self.jobs = JobLoad(self.load.operator, self.receiver, self.ledger, self.load, 1)
        self.failures = []

    def add(self, name, roles):
        """A member that does not run yet."""
        self.members.append(self.make(name, roles))
        return self.members[-1]

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

    def bulk(self, rows=ROWS, **more):
        """Starts a job of so many rows, and returns its id."""
        status, answer = self.jobs.find(self.tenant, rows, **more)
        assert status == 200, answer
        return answer["task_id"]

    def hold_lookups(self, members):
        """Answers to these processes are withheld, by index of the row, until let_through(indices) names it."""
        through, members = {}, {member.name for member in members}

        def gate(name):
            return through.setdefault(int(name.rpartition("Row")[2]), asyncio.Event())

        async def behave(member, question, times):
            if member in members:
                await gate(question["person"]["name"]).wait()

        def open_gates(indices):
            for index in indices:
                gate(f"Row{index}").set()

        self.lookups.behave = behave
        return lambda indices: self.loop.call(open_gates, indices)

    def looked_up(self, member):
        """Rows that this process asked about."""
        return [e["row"] for e in self.ledger.of("lookup") if e["member"] == member.name]

    def row(self, position):
        return self.value("SELECT id FROM monitor_row WHERE position = %s", position)

    def value(self, statement, *parameters):
        return self.cluster.execute(statement, parameters)[0][0]

    def recorded(self):
        """Rows of the open tick that have an outcome."""
        return self.value("SELECT count(*) FROM row_state s JOIN open_tick t USING (monitor_id) WHERE s.last_tick_id = t.tick_id")

    def asked(self, member):
        return [e["check"] for e in self.ledger.of("ask") if e["member"] == member.name]

    def over(self):
        return self.value("SELECT count(*) FROM open_tick") == 0

    def jobs_over(self):
        return self.value("SELECT count(*) FROM job WHERE finished_at IS NULL") == 0

    def first_tick(self, worker):
        """Which gives every row its baseline: the next check of each is a change."""
        worker.start()
        wait_until("the first tick", lambda: self.value("SELECT count(*) FROM tick WHERE finished_at IS NOT NULL") == 1)

    def trigger(self):
        self.load.insist(self.load.trigger, self.monitor)

    def end(self):
        """Everything that the checker says, with what did not come to its end."""
        try:
            wait_until("the tick to finish", self.over, END_MAX_S)
            wait_until("every job to end", self.jobs_over, END_MAX_S)
        except AssertionError as late:
            self.failures.append(str(late))
        checker = Checker(self.cluster, self.ledger, self.load)
        try:
            checker.run()
        except KeyError as hole:  # a tick that is not there
            checker.fail(f"the books are not whole: {hole!r}")
        self._check_jobs(checker)
        for member in self.members:
            checker.log_errors(member)
        return self.failures + self.money_failures() + checker.failures

    def money_failures(self):
        watch = MoneyWatch(self.cluster)
        watch.look()
        return watch.failures

    def _check_jobs(self, checker):
        JobChecker(checker, self.cluster, self.ledger, self.lookups, self.jobs.look_at_all()).run()

    def close(self):
        for member in self.members:
            if member.process:
                member.send(signal.SIGCONT)
                member.kill()
        self.loop.close()
        self.ledger.close()
