"""A fleet is upgraded under load: the schema is migrated beside it, and every process of every role is replaced, one by
one, by SIGTERM and one of the release after it. No check is lost or doubled (G1, G2, G7), money adds up (G4), every
notification arrives (G3), no request is refused."""

import collections
import http.client
import threading
import time
import urllib.error

import pytest

from conftest import Receiver, Vedette, call, free_port, wait_until

MONITORS = 8
ROWS = 40
DRAIN_DELAY_MS = 2000
LOOK_MS = 100  # how often the balancer asks /readyz,
TRUST_MS = 1000  # and how long it trusts the answer


class Member(Vedette):
    """One process of one role, its health on a port of its own."""

    def __init__(self, binary, url, directory, roles):
        health = free_port()
        super().__init__(binary, url, directory, {
            "VEDETTE_HEALTH_LISTEN": f"127.0.0.1:{health}",
            "VEDETTE_HEALTH_DRAIN_DELAY_MS": str(DRAIN_DELAY_MS if "api" in roles else 0)})
        self.roles = roles
        self.health = f"http://127.0.0.1:{health}"

    def is_ready(self):
        assert self.process.poll() is None, f"vedette ended: {self.log()}"
        try:
            return call("GET", self.health + "/readyz").status == 200
        except OSError:
            return False

    def launch(self):
        self.start(roles=self.roles)
        return self


class Balancer:
    """Sends requests to the API processes that /readyz says are ready, as a load balancer does: it looks now and then, and
    trusts what it saw last, for a while."""

    def __init__(self, api_key):
        self.api_key, self.targets, self.ready, self.looked_at = api_key, [], [], 0
        self.refused, self.answers, self.ended = [], collections.Counter(), False
        self.threads = [threading.Thread(target=self.look)] + [threading.Thread(target=self.ask) for _ in range(2)]

    def look(self):
        while not self.ended:
            ready, began = [], time.monotonic()
            for member in list(self.targets):
                try:
                    if call("GET", member.health + "/readyz").status == 200:
                        ready.append(member)
                except OSError:
                    pass
            self.ready, self.looked_at = ready, began
            time.sleep(LOOK_MS / 1000)

    def ask(self):
        n = 0
        while not self.ended:
            ready = self.ready
            if not ready or time.monotonic() - self.looked_at > TRUST_MS / 1000:
                time.sleep(0.01)
                continue
            member = ready[n % len(ready)]
            n += 1
            try:
                answer = call("GET", f"{member.api}/monitors?limit=5", headers={"x-api-key": self.api_key})
                self.answers[answer.status] += 1
                if answer.status != 200:
                    self.refused.append(f"{answer}")
            except (OSError, urllib.error.URLError, http.client.HTTPException) as error:
                self.refused.append(f"{member.api}: {error!r}")

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.ended = True
        for thread in self.threads:
            thread.join(60)


def replace(fleet, old, binary, url, directory, balancer):
    new = Member(binary, url, directory, old.roles).launch()
    fleet.append(new)
    if "api" in old.roles:
        balancer.targets.append(new)
        wait_until("the balancer to know the new one", lambda: new in balancer.ready)
    assert old.stop() == 0, old.log()
    fleet.remove(old)
    if old in balancer.targets:
        balancer.targets.remove(old)
    return new


@pytest.fixture
def later(binary):
    """The release after this one, which knows one migration more (tests/fleet/9999_next.sql)."""
    return binary.parent / "vedette-next"


@pytest.fixture
def fleet(binary, database, tmp_path):
    members = []
    Member(binary, database.url, tmp_path, "api").migrate()
    for roles in ("api,admin", "api,admin", "scheduler", "scheduler", "worker,delivery", "worker", "delivery"):
        members.append(Member(binary, database.url, tmp_path, roles).launch())
    yield members
    for member in members:
        if member.process.poll() is None:
            member.process.kill()
            member.process.wait(10)


def test_no_check_is_lost_or_doubled_and_no_request_refused_while_the_fleet_is_replaced(
        fleet, binary, later, database, tmp_path, nginx):
    receiver = Receiver()
    nginx.write("page.html", "<h1>1</h1>")
    tenant = fleet[0].organisation(credits=1_000_000)
    balancer = Balancer(tenant.api_key)
    balancer.targets = [m for m in fleet if "api" in m.roles]
    made = [tenant.post("/monitors", {
        "name": f"monitor {i}", "key_columns": ["name"], "struct": {"headline": "css:h1"}, "frequency": "1s",
        "rows": [{"name": f"row {r}", "url": f"{nginx.url}/page.html"} for r in range(ROWS)],
        "webhook_url": receiver.url})["id"] for i in range(MONITORS)]
    balancer.start()
    try:
        wait_until("checks", lambda: database.value("select count(*) from tick where finished_at is not null") > 10)
        finished = database.value("select count(*) from tick where finished_at is not null")
        Member(later, database.url, tmp_path, "api").migrate()
        wait_until("the old fleet to go on under the new schema", lambda: database.value(
            "select count(*) from tick where finished_at is not null") > finished + MONITORS)
        stale = Member(binary, database.url, tmp_path, "api")
        stale.start(ready=False)
        assert stale.process.wait(60) == 1 and "newer than this binary" in stale.log()
        changes = 1
        for old in list(fleet):
            changes += 1
            nginx.write("page.html", f"<h1>{changes}</h1>")
            finished = database.value("select count(*) from tick where finished_at is not null")
            replace(fleet, old, later, database.url, tmp_path, balancer)
            wait_until("work to go on", lambda: database.value(
                "select count(*) from tick where finished_at is not null") > finished)
        balancer.stop()
        assert balancer.refused == []
        assert balancer.answers[200] > 100, "there was load"

        # The new fleet stops the monitors and finishes what is open.
        front = next(m for m in fleet if "admin" in m.roles)
        tenant.vedette = front
        for monitor in made:
            tenant.post(f"/monitors/{monitor}/cancel", {})
        wait_until("every tick to finish (G7)", lambda: database.value(
            "select count(*) from open_tick") == 0)
        wait_until("every notification (G3)", lambda: database.value("select count(*) from delivery") == 0)
        check(database, tenant, made, receiver)
    finally:
        balancer.stop()
        receiver.close()


def check(database, tenant, made, receiver):
    completed = 0
    for monitor in made:
        rows = tenant.rows(monitor)
        ticks = [t for t in ticks_of(tenant, monitor)]
        slots, done = 0, 0
        for tick in ticks:
            assert tick["finished_at"] and sum(tick["outcomes"].values()) == tick["rows"] == ROWS, f"G7: {tick}"
            slots += tick["slots"]
            done += tick["outcomes"].get("changed", 0) + tick["outcomes"].get("unchanged", 0)
            assert set(tick["outcomes"]) <= {"changed", "unchanged", "skipped_overlap", "skipped_paused"}, tick
        # Every second between the first slot and the last is in some tick.
        dues = sorted(t["due_at"] for t in ticks)
        span = database.value("select extract(epoch from %s::timestamptz - %s::timestamptz)", (dues[-1], dues[0]))
        assert slots >= round(float(span)), f"G7: {slots} slots in {span} s"
        completed += done
        # One value after another, nothing twice: G1.
        for row in rows[:5]:
            values = [e["current_value"] for e in reversed(tenant.events(monitor, row["id"]))
                      if e["event_type"] == "change"]
            assert values == sorted(set(values), key=int), values
    money = tenant.money()
    assert money["reserved"] == 0 and money["balance"] + money["charged"] == 1_000_000, f"G4: {money}"
    charged = database.value("select coalesce(-sum(amount_mc), 0) from credit_entry where checks is not null")
    assert charged == completed * 1000 == money["charged"] * 1000, f"G1: {charged} mc for {completed} checks"
    # Each completed check was told; a process that drains settles what it sent, so none twice.
    pairs = collections.Counter(receiver.pairs())
    assert len(pairs) == completed, f"G3: {len(pairs)} notifications of {completed} checks"
    assert max(pairs.values()) == 1, "a drained process left an attempt unsettled"


def ticks_of(tenant, monitor):
    cursor = ""
    while True:
        page = tenant.get(f"/monitors/{monitor}/ticks?limit=100{cursor}")
        yield from page["ticks"]
        if not page.get("next_cursor"):
            return
        cursor = "&cursor=" + page["next_cursor"]
