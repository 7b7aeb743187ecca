"""A small fleet for scripts of which no part is left to chance."""

import asyncio
import random
import signal
import time

from checker import Checker, MoneyWatch
from cluster import wait_until
from fleet import Member, Operator
from ledger import Ledger
from load import Load
from services import Loop, Receiver, Research

ROWS = 8
# A script that a missing safety keeps from its end is given up after so long.
END_MAX_S = 12


class Scenario:
    """A front, a scheduler and two workers that do not run yet; one monitor of one tenant, its next slot far away."""

    def __init__(self, binary, cluster, directory, disabled=None, settings=None):
        self.cluster = cluster
        cluster.new_database(f"fleet_{time.monotonic_ns()}")
        self.ledger, self.loop = Ledger(directory / "ledger.jsonl"), Loop()
        self.research, self.receiver = Research(self.loop, self.ledger, 1), Receiver(self.loop, self.ledger, 1)
        self.research.refuses = self.receiver.refuses = False
        self.research.moves, self.research.delay_max = 1, 0
        extra = dict(settings or {}) | ({"VEDETTE_TESTING_DISABLE": disabled} if disabled else {})
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
