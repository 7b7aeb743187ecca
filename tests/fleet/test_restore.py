"""A base backup is taken and the write-ahead log archived while a fleet works; then the server is lost, and restored to a
point in time. What docs/operations.md says of a restore is so: what came before that point is whole and happens once, what came after it
did not happen, and what may be repeated is repeated under the ids by which it is known."""

import asyncio
import os
import random
import shutil
import signal
import time

import pytest
from checker import CHANGED, NOTIFIED, TYPES, Checker, MoneyWatch
from cluster import SETTINGS, Cluster, Server, wait_until
from fleet import Member, Operator
from ledger import Ledger
from load import Load
from services import Loop, World

# How many ticks of each kind of moment are waited for; a nightly run has more load.
TICKS = int(os.environ.get("VEDETTE_TEST_RESTORE_TICKS", "6"))
PLAN = [
    {"name": "busy", "monitors": [(6, 2, TYPES, "low")] * 3},
    {"name": "away", "monitors": [(3, 86400, [NOTIFIED[CHANGED]], "low")]},  # its receiver is
    {"name": "slow", "monitors": [(4, 86400, [NOTIFIED[CHANGED]], "low")]},  # the service is, for its rows
]


class Archived(Cluster):
    """Its server archives its log, and can be lost and restored."""

    def _new(self):
        server = super()._new()
        self.archive = self.dir / "archive"
        self.archive.mkdir(exist_ok=True)
        if server.user:
            os.chown(self.archive, server.user["user"], server.user["group"])
        to = f"{self.archive}/%f"
        server.settings |= {"archive_mode": "on", "archive_command": f"cp %p {to}.part && mv {to}.part {to}"}
        return server

    def back_up(self):
        self.base = self.primary.dir / "base"
        self.primary.run("pg_basebackup", "-D", self.base, "-X", "none", "--checkpoint=fast", "--no-sync", "-d",
                         f"host=127.0.0.1 port={self.primary.port} user=vedette")

    def lose(self):
        """All but the backup and the archive."""
        last = self.execute("SELECT pg_walfile_name(pg_switch_wal())")[0][0]
        wait_until("the log to be archived", (self.archive / last).exists)
        self.primary.stop(signal.SIGQUIT)
        shutil.rmtree(self.primary.data)

    def restore(self, at):
        former, self.primary = self.primary, self._new()
        shutil.move(self.base, self.primary.data)
        (self.primary.data / "recovery.signal").touch()
        with open(self.primary.data / "postgresql.auto.conf", "a") as settings:
            settings.write(f"restore_command = 'cp {self.archive}/%f %p'\nrecovery_target_time = '{at.isoformat()}'\n"
                           "recovery_target_action = 'promote'\n")
        # What it archives from here on is another history's.
        self.primary.settings = SETTINGS | {"fsync": "off", "full_page_writes": "on"}
        self.primary.start()
        wait_until("the end of the recovery", lambda: not self.primary.execute("postgres", "SELECT pg_is_in_recovery()")[0][0])
        former.log.close()


class Site:
    def __init__(self, binary, directory, archived):
        self.cluster = archived
        self.ledger, self.loop = Ledger(directory / "ledger.jsonl"), Loop()
        self.world = World(self.loop, self.ledger, 1, directory)
        self.world.calm()
        self.members = [Member(binary, name, roles, directory, self.loop, archived, self.world)
                        for name, roles in (("front", "api,admin"), ("work", "scheduler,worker,delivery"))]
        self.start()
        self.load = Load(Operator(self.members[:1]), self.world.research, self.world.receiver, self.ledger, random.Random(1),
                         plan=PLAN)
        self.busy, self.away, self.slow = (self.load.tenant(name) for name in ("busy", "away", "slow"))

    def start(self):
        self.members[0].migrate()
        for member in self.members:
            member.start()
        for member in self.members:
            member.wait_ready()

    def value(self, statement, *parameters):
        return self.cluster.execute(statement, parameters)[0][0]

    def ticks(self, tenant):
        return self.value("SELECT count(*) FROM tick t JOIN monitor m ON m.id = t.monitor_id "
                          "WHERE m.org_id = %s AND t.finished_at IS NOT NULL", tenant.id)

    def wait_for_ticks(self, tenant, more):
        begun = self.ticks(tenant)
        wait_until(f"{more} ticks of {tenant.name}", lambda: self.ticks(tenant) >= begun + more)

    def checks(self):
        """Those of all ticks that there are."""
        checker = Checker(self.cluster, self.ledger, self.load)
        checker.read()
        checker.ticks_add_up()
        return set(checker.outcome)

    def asked(self, tenant, since=0):
        return [e["check"] for e in self.ledger.of("ask") if e["monitor"] == tenant.monitors[0].id and e["t"] >= since]

    def taken(self, tag, since=0):
        return [e["check"] for e in self.ledger.of("webhook") if e["tag"] == tag and e["result"] == "taken" and e["t"] >= since]

    def hold(self, tenant):
        """Holds back the service's answers about this tenant's rows; calling what is returned lets them go."""
        released = asyncio.Event()

        async def behave(member, request, times):
            if request["monitor_id"] == tenant.monitors[0].id:
                await released.wait()

        self.world.research.behave = behave
        return lambda: self.loop.call(released.set)

    def stand_still(self):
        self.load.everything_stops()
        wait_until("the last ticks", lambda: not self.cluster.execute(
            "SELECT monitor_id FROM open_tick UNION ALL SELECT id FROM chunk"))
        wait_until("the last notifications", lambda: not self.cluster.execute("SELECT id FROM delivery WHERE state = 0"))

    def close(self):
        for member in self.members:
            if member.process:
                member.kill()
        self.loop.close()
        self.ledger.close()


@pytest.fixture
def site(request, tmp_path, cluster):
    path = request.config.getoption("--build")
    archived = Archived(cluster.dir / "restored")
    it = None
    try:
        it = Site(os.path.join(path, "vedette") if os.path.isdir(path) else path, tmp_path, archived)
        yield it
    finally:
        if it:
            it.close()
        archived.close()


def test_a_restore_to_a_point_in_time_keeps_what_came_before_it_and_repeats_under_known_ids(site):
    for tenant in (site.busy, site.away, site.slow):
        wait_until("the first tick", lambda: site.ticks(tenant))  # pylint: disable=cell-var-from-loop
    site.cluster.back_up()
    site.wait_for_ticks(site.busy, TICKS)

    # At the point: a notification that its receiver has refused so far, and checks that are on their way.
    site.world.receiver.down = {"away"}
    site.load.insist(site.load.trigger, site.away.monitors[0])
    wait_until("an attempt in vain", lambda: site.value("SELECT count(*) FROM delivery WHERE org_id = %s AND attempts > 0",
                                                        site.away.id) == 3)
    answer = site.hold(site.slow)
    before = set(site.asked(site.slow))
    site.load.insist(site.load.trigger, site.slow.monitors[0])
    wait_until("checks on their way", lambda: len(set(site.asked(site.slow)) - before) == 4)
    under_way = set(site.asked(site.slow)) - before
    site.load.insist(site.load.top_up, site.busy, 10)
    point, at = site.value("SELECT clock_timestamp()"), time.monotonic()

    # After it: all of that comes to its end, the busy ones go on, and money is booked.
    answer()
    site.world.receiver.down = set()
    wait_until("the notifications", lambda: len(set(site.taken("away"))) == 3 and len(set(site.taken("slow"))) == 4)
    site.wait_for_ticks(site.busy, TICKS)
    site.load.insist(site.load.top_up, site.busy, 1000)
    for member in site.members:
        assert member.stop() == 0
    known_then = site.checks()
    site.cluster.lose()

    site.cluster.restore(point)
    again = time.monotonic()
    site.ledger.add("fault", name="restart", t0=at, what="the point in time, until the restore")
    site.start()
    site.wait_for_ticks(site.busy, TICKS)
    site.stand_still()
    known = site.checks()

    # Each thing that was under way is known by its id: asked about again, sent again, and now on record.
    assert under_way <= set(site.asked(site.slow, since=again)) and under_way <= known
    assert set(site.taken("away")) == set(site.taken("away", since=again)), "sent again under the same pairs"
    # Nothing is known of what began after the point, and its ids are not used again.
    lost = known_then - known
    assert lost and not lost & {e["check"] for e in site.ledger.of("ask", "webhook") if e["t"] >= again}
    assert lost & set(site.taken("busy")), "receivers keep notifications that nobody knows of"
    booked = {reason for reason, in site.cluster.execute("SELECT reason FROM credit_entry WHERE reason LIKE 'top-up%%'")}
    assert booked == {"top-up 1"}

    # The rest is as if the lost time had not been.
    site.ledger.entries = [e for e in site.ledger.entries if e.get("check") not in lost and e.get("number") != 2]
    watch, checker = MoneyWatch(site.cluster), Checker(site.cluster, site.ledger, site.load)
    watch.look()
    checker.run()
    for member in site.members:
        checker.log_errors(member)
    assert watch.looks == 1 and watch.failures + checker.failures == []
    print(f"{len(known)} checks are known, {len(lost)} are lost; {len(under_way)} of them and 3 notifications are repeated")
