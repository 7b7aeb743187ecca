"""G10 by resource: beside an attacker who takes all that it can of a thing that organisations share, the slowest of a
neighbour's samples (of so few that is their p99) stays within three times of what it is alone and one service time
of that thing, which the same run measures."""

import asyncio
import contextlib
import threading
import time

import pytest

from attack import Flood, Site, closing, connect, metric, monitor, page, post, response, slow_site, timed
from conftest import Vedette, call, wait_until

SAMPLES = 30
SAMPLED_S = 12
# Machines of tests have pauses of their own, which strike the few samples alone and those beside differently.
PAUSE_S = 1.0


@pytest.fixture
def serve(binary, database, tmp_path):
    started = []

    def start(**extra):
        started.append(Vedette(binary, database.url, tmp_path, extra))
        return started[0].migrate().start()

    yield start
    for it in started:
        assert it.process.poll() is None, it.log()[-1000:]
        it.kill()  # what the attacker still waits for is not waited for


def sampled(act, bound_s=None):
    """How long act() takes, some times over; ends with the first that is over the bound."""
    took, until = [], time.monotonic() + SAMPLED_S
    while len(took) < SAMPLES and time.monotonic() < until:
        took.append(timed(act))
        if bound_s and took[-1] > bound_s:
            break
    return took


class Neighbour:
    """Measures act() alone at once, and beside the attacker when asked."""

    def __init__(self, act):
        self.act = act
        act()  # first contact: connections, plans
        self.alone_s = max(sampled(act))

    def stays_fair(self, what, service_s):
        bound = 3 * self.alone_s + service_s + PAUSE_S
        beside = sampled(self.act, bound)
        print(f"{what}: alone {self.alone_s:.2f} s, service {service_s:.2f} s, beside {max(beside):.2f} s "
              f"({len(beside)} samples)")
        assert max(beside) <= bound, f"{what}: {max(beside):.2f} s, over {bound:.2f} s"


def check_of(tenant, monitor_id):
    """act(): a check of the monitor, from the trigger to the end of its tick, which must not fail."""
    wait_until("the first tick", lambda: tenant.finished_ticks(monitor_id))

    def check():
        tick = post(tenant, f"/monitors/{monitor_id}/trigger", {})["tick_id"]

        def closed():
            newest = tenant.get(f"/monitors/{monitor_id}/ticks?limit=1")["ticks"][0]
            return newest if newest["tick_id"] == tick and newest["finished_at"] else None

        assert not wait_until("the tick", closed)["outcomes"].get("failed")

    return check


def under_many_hosts(site, count):
    return [f"http://127.0.{1 + n // 200}.{1 + n % 200}:{site.port}/{n}" for n in range(count)]


def test_threads_of_the_api_G10(serve):
    """Creates whose selectors take long to validate, from one key, and a neighbour who asks for a list."""
    it = serve()
    attacker, neighbour = it.organisation(), it.organisation()
    heavy = {f"f{n}": "regex:" + "|".join(f"[a-z{n}]{{{i},{i + 30}}}x" for i in range(1, 110))[:1990] for n in range(24)}

    def create(_=0):
        attacker.call("POST", "/monitors", {"name": "M", "key_columns": ["k"], "rows": [{"k": "1"}], "struct": heavy,
                                            "frequency": "30d"})

    ours = Neighbour(lambda: neighbour.get("/monitors?limit=1"))
    service_s = timed(create)
    assert service_s > 4 * ours.alone_s, "the attack is none"
    with Flood(24, create) as flood:
        wait_until("the attack", lambda: flood.done)
        try:
            ours.stays_fair("API threads", service_s)
        finally:
            it.kill()
            it.start()


HEAVY_PAGE = "<title>Heavy</title>" + "<a>b</a>" * 8_000


def test_threads_that_read_pages_G10(serve):
    """Pages whose selector takes a second or two, within every limit."""

    def heavy():
        """Another page each time: the same bytes would not be read again."""
        return response(HEAVY_PAGE + f"<!-- {len(site.asked)} -->", headers=["Content-Type: text/html"])

    async def answer(path, _body):
        return page("Light") if path == "light" else heavy()

    with closing(Site(answer, address="0.0.0.0")) as site:
        it = serve()
        attacker, neighbour = it.organisation(), it.organisation()
        struct = {"n": "xpath:count(//a[count(following-sibling::a) > 5])"}
        ours = Neighbour(check_of(neighbour, monitor(neighbour, [f"http://127.0.0.9:{site.port}/light"])))
        service_s = timed(check_of(attacker, monitor(attacker, under_many_hosts(site, 1), struct)))
        assert service_s > 2 * ours.alone_s, "the attack is none"
        before = len(site.asked)
        monitor(attacker, under_many_hosts(site, 40), struct)
        wait_until("the attack", lambda: len(site.asked) >= before + 20)
        ours.stays_fair("parse threads", service_s)


def test_slots_of_a_worker_G10(serve):
    """Two organisations whose checks take long, of many hosts. What is left to others is free at once."""
    slots, held_s = 128, 8
    with closing(slow_site(held_s, address="0.0.0.0")) as slow, closing(slow_site(0)) as quick:
        it = serve(VEDETTE_WORKER_CHECKS_IN_FLIGHT_MAX=str(slots))
        attackers, neighbour = [it.organisation() for _ in range(2)], it.organisation()
        ours = Neighbour(check_of(neighbour, monitor(neighbour, [quick.url])))
        for tenant in attackers:
            monitor(tenant, under_many_hosts(slow, 600))
        wait_until("the attack", lambda: metric(it, "vedette_checks_in_flight") > 0.85 * slots)
        ours.stays_fair("worker slots", held_s / slots)


def test_connections_to_a_host_G10(serve):
    """One organisation's backlog of a host's slow pages, and another's page there."""
    service_s = 0.5

    async def answer(_path, _body):
        await asyncio.sleep(service_s)
        return page("A page")

    with closing(Site(answer)) as site:
        it = serve()
        attacker, neighbour = it.organisation(), it.organisation()
        ours = Neighbour(check_of(neighbour, monitor(neighbour, [site.url + "ours"])))
        before = len(site.asked)
        monitor(attacker, [f"{site.url}{n}" for n in range(600)])
        wait_until("the attack", lambda: len(site.asked) > before + 8)
        ours.stays_fair("connections to a host", service_s)


def test_a_large_monitor_of_a_slow_host_does_not_fail_by_its_own_queue(serve):
    """Its pages take ten times longer than a page may, and twice as long as a check may, to be all fetched."""
    rows, each_s = 200, 0.4
    with closing(slow_site(each_s)) as site:
        it = serve(VEDETTE_PROBES_LOW_TIMEOUT_MS="2000", VEDETTE_PROBES_LOW_DEADLINE_MS="5000")
        tenant = it.organisation()
        made = monitor(tenant, [f"{site.url}{n}" for n in range(rows)])
        tick = wait_until("the tick", lambda: tenant.finished_ticks(made))[0]
        assert {name: n for name, n in tick["outcomes"].items() if n} == {"unchanged": rows}
        assert sorted(site.paths()) == sorted(str(n) for n in range(rows)), "a page was fetched more than once"
        assert site.open_max <= 8


def notified(tenant, monitor_id, receiver):
    """act(): a check, until its notification has arrived."""
    wait_until("the first notification", lambda: receiver.asked)
    check = check_of(tenant, monitor_id)

    def act():
        before = len(receiver.asked)
        check()
        wait_until("the notification", lambda: len(receiver.asked) > before)

    return act


def test_connections_of_deliveries_beside_tests_of_webhooks_G10(serve):
    """One key holds as many webhook/test open as it can, at a receiver that never answers."""
    with closing(slow_site(3600)) as hanging, closing(slow_site(0)) as site, closing(slow_site(0)) as receiver:
        it = serve(VEDETTE_DELIVERY_IN_FLIGHT_MAX="16", VEDETTE_DELIVERY_TIMEOUT_MS="8000")
        attacker, neighbour = it.organisation(), it.organisation()
        tested = monitor(attacker, [site.url], webhook_url=hanging.url, webhook_event_types=["monitor.field.changed"])
        ours = Neighbour(notified(neighbour, monitor(neighbour, [site.url], webhook_url=receiver.url), receiver))

        def test(_):
            answer = attacker.call("POST", f"/monitors/{tested}/webhook/test", {})
            if answer.status != 200:
                time.sleep(0.2)  # a refusal is an answer; it is not asked for in a tight loop

        with Flood(80, test):
            wait_until("the attack", lambda: hanging.asked)
            try:
                ours.stays_fair("connections of deliveries", 0)
            finally:
                it.kill()
                it.start()


def test_new_receivers_beside_hanging_ones_G10(serve):
    """Hundreds of receivers that never answer have filled the attempts that new receivers share with them."""
    timeout_s, shared = 2, 64
    with closing(slow_site(3600, address="0.0.0.0")) as hanging, closing(slow_site(0)) as site:
        it = serve(VEDETTE_DELIVERY_TIMEOUT_MS=str(timeout_s * 1000), VEDETTE_DELIVERY_IN_FLIGHT_MAX=str(shared))
        attacker, neighbour = it.organisation(), it.organisation()
        made = monitor(neighbour, [site.url])
        with closing(slow_site(0)) as first:
            post(neighbour, f"/monitors/{made}/update", {"webhook_url": first.url})

        def first_contact():
            with closing(slow_site(0)) as receiver:
                fresh = monitor(neighbour, [site.url], webhook_url=receiver.url)
                wait_until("the notification", lambda: receiver.asked)
                post(neighbour, f"/monitors/{fresh}/cancel", {})

        ours = Neighbour(first_contact)
        for url in under_many_hosts(hanging, 320):
            monitor(attacker, [site.url], webhook_url=url)
        wait_until("the attack", lambda: len(hanging.asked) >= shared)
        ours.stays_fair("new receivers", timeout_s)


@contextlib.contextmanager
def dripping_uploads(service, tenant, count):
    """Uploads of one key that send a byte now and then for as long as the block lasts."""
    stop, connections = threading.Event(), []
    head = (f"POST /storage/csv/upload HTTP/1.1\r\nHost: x\r\nx-api-key: {tenant.api_key}\r\nContent-Type: text/csv\r\n"
            "Content-Length: 1000000\r\n\r\ndomain,price\r\n").encode()
    for _ in range(count):
        connections.append(connect(service))
        connections[-1].sendall(head)

    def drip():
        while not stop.wait(0.2):
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.send(b"a")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        for connection in connections:
            connection.close()


def test_uploads_G10(serve):
    """One key drips into more uploads than a process takes at once; another's are taken all the same."""
    it = serve()
    attacker, neighbour = it.organisation(), it.organisation()
    csv = b"domain,price\r\n" + b"".join(b"c%d.example,1\r\n" % n for n in range(1000))

    def upload():
        answer = call("POST", it.api + "/storage/csv/upload", raw=csv,
                      headers={"x-api-key": neighbour.api_key, "Content-Type": "text/csv"})
        assert answer.status == 200 and answer.json["row_count"] == 1000, answer

    ours = Neighbour(upload)
    with dripping_uploads(it, attacker, 48):
        ours.stays_fair("uploads", 0)
