"""Nothing that a tenant's hosts do ends a process: hosts that drop packets, receivers and services that close, and
redirects that come when the time is up. One process with all roles, as `vedette serve` has them."""

import asyncio
import time

import pytest

from attack import DeadHost, Site, closing, monitor, page, response
from conftest import Vedette, wait_until

# The binary that had the defects ended after 4 to 11 s of each of these.
WATCHED_S = 15
DEAD = 10


async def closes(_path, _body):
    return None


async def pages(_path, _body):
    return page("A page")


@pytest.fixture
def service(binary, database, tmp_path):
    started = []

    def start(**extra):
        started.append(Vedette(binary, database.url, tmp_path, {
            "VEDETTE_DELIVERY_BACKOFF_FIRST_MS": "500",
            "VEDETTE_DELIVERY_BACKOFF_MAX_MS": "500", "VEDETTE_DELIVERY_BREAKER_FAILURES": "1000000", **extra}))
        return started[0].migrate().start()

    yield start
    for it in started:
        if it.process.poll() is None:
            it.kill()


def watch(service, tenant, monitor_id, seconds=WATCHED_S):
    """The process lives that long, and the checks of the monitor go on to the end of it."""
    def ticks():
        assert service.process.poll() is None, f"ended with {service.process.returncode}: {service.log()[-1500:]}"
        return len(tenant.finished_ticks(monitor_id))

    until = time.monotonic() + seconds
    wait_until("the first tick", lambda: ticks() > 0)
    while time.monotonic() < until:
        ticks()
        time.sleep(0.2)
    seen = tenant.finished_ticks(monitor_id)[0]["tick_id"]  # the newest of at most 100
    wait_until("a further tick", lambda: ticks() and tenant.finished_ticks(monitor_id)[0]["tick_id"] != seen)
    assert service.stop() == 0, service.log()[-1500:]


def dead_hosts():
    return [DeadHost(f"127.0.0.{n + 10}") for n in range(DEAD)]


def test_hosts_that_drop_packets_beside_receivers_that_close(service):
    it = service()
    dead = dead_hosts()
    with closing(Site(pages), Site(closes), *dead) as (site, receiver, *_):
        a, b = it.organisation(), it.organisation()
        monitor(a, [host.url for host in dead], frequency="1s")
        ours = monitor(b, [f"{site.url}{n}" for n in range(100)], frequency="1s", webhook_url=receiver.url)
        watch(it, b, ours)
        assert receiver.asked, "the receivers that close were never asked"


def test_receivers_that_drop_packets_beside_a_research_service_that_closes(service):
    dead = dead_hosts()
    with closing(Site(pages), Site(closes), *dead) as (site, research, *_):
        it = service(VEDETTE_PROBES_HIGH_KIND="http", VEDETTE_PROBES_HIGH_URL=research.url,
                     VEDETTE_PROBES_HIGH_ATTEMPTS_MAX="1")
        a, b = it.organisation(), it.organisation()
        for host in dead:
            monitor(a, [f"{site.url}{n}" for n in range(10)], frequency="1s", webhook_url=host.url)
        asked = monitor(b, [f"http://a.example/{n}" for n in range(100)], {"city": "where it sits"}, frequency="1s",
                        tier="high")
        watch(it, b, asked)
        assert research.asked, "the service that closes was never asked"


def test_redirects_that_come_when_the_time_is_up(service):
    """A redirect to another host some milliseconds before the probe's timeout begins a connection that the deadline
    meets at once."""
    timeout_s = 0.3
    rows = 200

    async def redirects(path, _body):
        await asyncio.sleep(timeout_s - 0.04 + 0.05 * (int(path) % 100) / 100)  # from 40 ms before to 10 ms after
        return response(status=302, headers=[f"Location: http://127.0.0.{30 + int(path) % 50}:{site.port}/{path}"])

    with closing(Site(redirects, address="127.0.0.2")) as late, closing(Site(pages, address="0.0.0.0")) as site:
        it = service(VEDETTE_PROBES_LOW_TIMEOUT_MS=str(int(timeout_s * 1000)), VEDETTE_PROBES_LOW_ATTEMPTS_MAX="1",
                     VEDETTE_WORKER_PER_HOST_MAX=str(rows))
        a, b = it.organisation(), it.organisation()
        for n in range(0, rows, 50):
            monitor(a, [f"{late.url}{n + i}" for i in range(50)], frequency="1s")
        ours = monitor(b, [f"{site.url.replace('0.0.0.0', '127.0.0.3')}{n}" for n in range(10)], frequency="1s")
        watch(it, b, ours, seconds=20)
        assert len(late.asked) > 2 * rows
