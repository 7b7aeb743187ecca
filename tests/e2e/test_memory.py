"""G11: what a process holds for others is bounded in sum. Each attack is made on processes as the chart starts them, and
the most that they ever held resident stays below the chart's limits (helm/vedette/values.yaml): 512 MiB for the API,
1 GiB for a worker. While an attack lasts, a neighbour is served."""

import asyncio
import concurrent.futures
import gzip
import http.client
import json
import selectors
import socket
import time

import pytest

from attack import (Fleet, Site, closing, connect, fresh_database, json_bytes, metric, monitor, page, post,
                    raw_request, response)
from conftest import wait_until
from testbed import PeakMemory

API_MIB_MAX = 512
WORKER_MIB_MAX = 1024
RESEARCH_MIB_MAX = 400
RESEARCH_ROWS = 2500  # of each of four: those that are answered until the limit has grown, and 4,000
BODY_BYTES_MAX = 16 << 20
STRUCT_BYTES = 250_000  # below limits.struct_bytes_max, which is 256 KiB
HELD_S = 4


def struct_of(total_bytes, fields=64):
    """Descriptions of characters that take four bytes, as their number of characters is limited, too."""
    return {f"field_{n}": "\U0001f600" * (total_bytes // fields // 4 - 10) for n in range(fields)}


def rows(count, word="company", columns=1):
    more = {f"c{i}": "1" for i in range(columns)}
    return [{"domain": f"{word}{n:07}.example", "price": str(n % 100), **more} for n in range(count)]


@pytest.fixture(scope="module")
def home(binary, postgres, tmp_path_factory):
    with fresh_database(postgres) as database:
        fleet = Fleet(binary, database, tmp_path_factory.mktemp("memory"))
        fleet.api.start(roles="api,admin")
        yield fleet.api
        fleet.end()


@pytest.fixture
def api(home):
    """A process of the test's own, so that no other test's memory is counted, over the shared database."""
    home.kill()
    return home.start(roles="api,admin")


class Watched:
    """The peak of a process during a block, which must stay below a limit, with a neighbour who is served in it."""

    def __init__(self, service, limit_mib):
        self.service, self.limit_mib = service, limit_mib
        self.neighbour = service.organisation()
        self.neighbour.get("/monitors")
        self.memory = PeakMemory(service.process)

    def is_served(self):
        answer = self.neighbour.call("POST", "/monitors", {
            "name": "N", "key_columns": ["domain"], "rows": rows(10), "struct": {"t": "css:title"}, "frequency": "30d"})
        assert answer.status == 200, answer
        return True

    def hold(self, seconds=HELD_S):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.within()
            self.is_served()
            time.sleep(0.2)

    def within(self):
        assert self.service.process.poll() is None, self.service.log()[-1000:]
        peak = self.memory.mib()
        assert peak < self.limit_mib, f"held {peak:.0f} MiB, over {self.limit_mib}"
        return peak

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            print(f"peak {self.within():.0f} MiB of {self.limit_mib}")


def send_what_is_taken(connections, data, limit_s=8):
    """Sends each connection as much of `data` as the server takes, until nothing has moved for a second."""
    left = {c: memoryview(data) for c in connections}
    moved = began = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for c in connections:
            c.setblocking(False)
            selector.register(c, selectors.EVENT_WRITE)
        while selector.get_map() and time.monotonic() < min(moved + 1, began + limit_s):
            for key, _ in selector.select(0.1):
                c = key.fileobj
                try:
                    sent = c.send(left[c][:1 << 18])
                except BlockingIOError:
                    continue
                except OSError:
                    sent = len(left[c])  # the server refused it
                left[c] = left[c][sent:]
                moved = time.monotonic()
                if not left[c]:
                    selector.unregister(c)


@pytest.mark.parametrize("who", ["nobody", "an unknown key", "a key"])
def test_bodies_that_never_end_are_not_gathered_without_bound(api, who):
    key = {"nobody": None, "an unknown key": "vd_live_" + "a" * 43, "a key": api.organisation().api_key}[who]
    whole = raw_request("POST", "/monitors", key, b"[" + b" " * (BODY_BYTES_MAX - 2) + b"]")
    with Watched(api, API_MIB_MAX) as watched:
        connections = [connect(api) for _ in range(40)]
        try:
            send_what_is_taken(connections, whole[:15 << 20])
            watched.hold()
        finally:
            for connection in connections:
                connection.close()


def readers(service, tenant, path, count):
    """Clients that ask and do not read."""
    found = []
    for _ in range(count):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", service.api_port))
        s.sendall(raw_request("GET", path, tenant.api_key))
        found.append(s)
    return found


def read_whole(service, tenant, path, mark):
    """Reads an answer as it comes, keeping nothing; its bytes, and how many times `mark` is in it."""
    connection = http.client.HTTPConnection("127.0.0.1", service.api_port, timeout=60)
    connection.request("GET", path, headers={"x-api-key": tenant.api_key})
    answer = connection.getresponse()
    assert answer.status == 200
    size, seen, tail = 0, 0, b""
    while piece := answer.read(1 << 20):
        size += len(piece)
        tail += piece
        seen += tail.count(mark)
        tail = tail[-(len(mark) - 1):]
    connection.close()
    assert tail.endswith((b"}", b"]")), tail
    return size, seen


@pytest.fixture(scope="module")
def large(home):
    """An organisation with a monitor of 1,000 rows and 150 of one row, each with a large struct."""
    tenant = home.organisation()
    struct = struct_of(STRUCT_BYTES)
    body = {"name": "Large", "key_columns": ["domain"], "struct": struct, "frequency": "30d", "run_id": "run"}
    wide = post(tenant, "/monitors", {**body, "rows": rows(1000)})["id"]
    for n in range(150):
        post(tenant, "/monitors", {**body, "rows": rows(1, f"c{n}")})
    return tenant, f"/monitors/{wide}/rows?limit=1000"


@pytest.mark.parametrize("what, count", [("rows", 3), ("/monitors?limit=1000", 8), ("/monitors/for-run/run", 8)])
def test_answers_that_nobody_reads_are_not_made_at_once(large, api, what, count):
    tenant, rows_path = large
    path = rows_path if what == "rows" else what
    with Watched(api, API_MIB_MAX) as watched:
        waiting = readers(api, tenant, path, count)
        try:
            watched.hold()
        finally:
            for s in waiting:
                s.close()
        mark, items = (b'"subject":', 1000) if what == "rows" else (b'"struct":', 151)
        size, seen = read_whole(api, tenant, path, mark)  # it is whole for who reads it
        assert seen == items and size > items * STRUCT_BYTES * 0.9


@pytest.mark.parametrize("shape", ["an array", "rows of a create"])
def test_a_body_of_brackets_costs_what_its_bytes_cost(api, shape):
    count = (BODY_BYTES_MAX - 200) // 3
    brackets = b"[" + b"[]," * (count - 1) + b"[]]"
    if shape != "an array":
        brackets = b'{"name":"M","key_columns":["k"],"struct":{"f":"css:a"},"rows":' + brackets + b"}"
    tenant = api.organisation()
    with Watched(api, API_MIB_MAX) as watched, concurrent.futures.ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(tenant.call, "POST", "/monitors", raw=brackets) for _ in range(3)]
        while not all(a.done() for a in asked):
            watched.within()
            watched.is_served()
        assert {a.result().status for a in asked} <= {400, 413, 422, 503}


def test_large_creates_at_once_take_turns(api):
    tenants = [api.organisation() for _ in range(3)]
    body = json_bytes({"name": "Large", "key_columns": ["domain"], "rows": rows(100_000, columns=10),
                       "struct": {"price": "css:p"}, "frequency": "30d"})
    assert 13 << 20 < len(body) < BODY_BYTES_MAX

    def create(tenant):
        """Does as clients do: a 503 is asked again."""
        return wait_until("room", lambda: (a := tenant.call("POST", "/monitors", raw=body)).status != 503 and a, 120)

    with Watched(api, API_MIB_MAX) as watched, concurrent.futures.ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(create, t) for t in tenants]
        while not all(a.done() for a in asked):
            watched.within()
            watched.is_served()
        for a in asked:
            assert a.result().status == 200 and len(a.result().json["rows"]) == 100_000, a.result()


COLUMNS = 1024


def workflow(tenant, **specs):
    """A workflow of a source alone: a run of it is complete with its start."""
    return post(tenant, "/workflows/create_workflow", {"workflow_name": "W", "workflow_definition": {
        "blocks": [{"sequence_number": 1, "block_id": "1", "block_name": "webhook",
                    "specs": {"dataframe_type": "LEAD", **specs}}], "edges": []}})["id"]


def sparse(count):
    """Records that take few bytes to say, and would take five for each column of each of them to keep."""
    return [{f"c{n}": 1 for n in range(COLUMNS)}] + [{f"c{COLUMNS - 1}": 1}] * (count - 1)


def test_a_small_payload_makes_no_large_rows(api):
    tenant = api.organisation()
    given, stored = workflow(tenant), workflow(tenant, webhook_input=json.dumps(sparse(1_950), separators=(",", ":")))
    payload = json_bytes({"webhook_payload": sparse(100_000)})
    with Watched(api, API_MIB_MAX) as watched, concurrent.futures.ThreadPoolExecutor(12) as pool:
        refused = [pool.submit(tenant.call, "POST", f"/workflows/run?workflow_id={given}", raw=payload) for _ in range(4)]
        started = [pool.submit(tenant.call, "POST", f"/workflows/run?workflow_id={stored}") for _ in range(8)]
        while not all(a.done() for a in refused + started):
            watched.within()
            watched.is_served()
        assert {a.result().status for a in refused} <= {422, 503}
        assert {a.result().status for a in started} <= {200, 503}


def test_files_that_nobody_reads_are_not_made_at_once(api):
    """The names of the columns, 800 kB, stand in each of 99 lines, and the link needs no key."""
    tenant = api.organisation()
    names = ["\U0001f600" * 190 + f"{n:010}" for n in range(COLUMNS)]
    records = [dict.fromkeys(names[at:at + 64], 1) for at in range(0, COLUMNS, 64)] + [{names[-1]: 1}] * 83
    run = post(tenant, f"/workflows/run?workflow_id={workflow(tenant)}", {"webhook_payload": records})["job_id"]
    url = tenant.get(f"/workflows/runs/{run}/results/download-links?format=ndjson")[0]["download_url"]
    path = url[url.index("/storage"):]
    with Watched(api, API_MIB_MAX) as watched:
        waiting = readers(api, tenant, path, 40)
        try:
            watched.hold()
        finally:
            for s in waiting:
                s.close()
        whole = wait_until("a place", lambda: (a := tenant.call("GET", path)).status == 200 and a, 60)
        assert len(whole.body) > 99 * COLUMNS * 770


# ---- a worker ----


@pytest.fixture
def fleet(binary, database, tmp_path):
    started = []

    def start(api=None, work=None):
        started.append(Fleet(binary, database, tmp_path, api, work))
        return started[0].start()

    yield start
    for it in started:
        it.end()


def hosts(site, count):
    """URLs of the site under `count` addresses, as that many hosts have them."""
    return [f"http://127.0.{1 + n // 200}.{1 + n % 200}:{site.port}/" for n in range(count)]


def within(fleet, memory, limit_mib):
    fleet.lives()
    assert memory.mib() < limit_mib, f"the worker held {memory.mib():.0f} MiB, over {limit_mib}"
    return True


def finish_within(fleet, tenant, monitor_id, memory, limit_mib, limit_s=120):
    """The monitor's first tick closes, and the worker stays below the limit all along; the tick's outcomes."""
    tick = wait_until("the tick", lambda: within(fleet, memory, limit_mib) and tenant.finished_ticks(monitor_id),
                      limit_s)[0]
    print(f"peak {memory.mib():.0f} MiB of {limit_mib}")
    return {name: n for name, n in tick["outcomes"].items() if n}


def test_a_workers_structs_are_bounded_in_sum(fleet):
    """110 checks of as many monitors with a struct of 2.5 MB, where an operator allows that, all under way."""
    async def answer(_path, _body):
        await asyncio.sleep(3600)

    with closing(Site(answer)) as research:
        limit = {"VEDETTE_LIMITS_STRUCT_BYTES_MAX": str(4 << 20)}
        it = fleet(api=limit, work={**limit, "VEDETTE_PROBES_HIGH_KIND": "http", "VEDETTE_PROBES_HIGH_URL": research.url})
        tenant, neighbour = it.api.organisation(), it.api.organisation()
        memory = PeakMemory(it.work.process)

        struct = struct_of(2_500_000)
        for n in range(110):
            monitor(tenant, [f"http://a.example/{n}"], struct, tier="high")
            within(it, memory, WORKER_MIB_MAX)
        wait_until("the first checks to be asked for", lambda: within(it, memory, WORKER_MIB_MAX) and research.asked)
        until = time.monotonic() + HELD_S
        while time.monotonic() < until:
            within(it, memory, WORKER_MIB_MAX)
            time.sleep(0.1)
        with closing(Site(small_page)) as site:
            ours = monitor(neighbour, [site.url])
            assert finish_within(it, neighbour, ours, memory, WORKER_MIB_MAX) == {"unchanged": 1}


async def small_page(_path, _body):
    return page("A page")


@pytest.mark.alone
def test_decoded_pages_are_bounded_in_sum(fleet):
    """200 pages of 10 KB that become 10 MiB each, of as many hosts: twice what a worker may hold. On a slow machine a page
    waits for memory longer than one attempt may, and is tried again."""
    paragraph = b"<p>" + b" " * 9_997  # one text of 10 MB is more than libxml2 takes
    zipped = gzip.compress(b"<title>Large</title>" + paragraph * 1_040, 9)
    whole = response(zipped, headers=["Content-Type: text/html", "Content-Encoding: gzip"])

    async def answer(_path, _body):
        return whole

    with closing(Site(answer, address="0.0.0.0")) as site:
        it = fleet(work={"VEDETTE_PROBES_LOW_TIMEOUT_MS": "60000", "VEDETTE_PROBES_LOW_ATTEMPTS_MAX": "10",
                         "VEDETTE_PROBES_LOW_DEADLINE_MS": "600000"})
        memory = PeakMemory(it.work.process)
        tenant = it.api.organisation()
        made = monitor(tenant, hosts(site, 200))
        assert finish_within(it, tenant, made, memory, WORKER_MIB_MAX, 600) == {"unchanged": 200}


@pytest.mark.alone
def test_pages_that_are_announced_and_never_come_hold_nobody_up(fleet):
    """Pages of 10 MiB, as many as a worker may have connections for, announced at once, of which a part comes."""
    async def announce(_path, _body):
        return (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10485760\r\n\r\n<title>Never</title>"
                + b" " * 600_000)

    class Silent(Site):
        async def _serve(self, reader, writer):
            try:
                await reader.readuntil(b"\r\n\r\n")
                self.asked.append(("", time.monotonic()))
                writer.write(await announce("", b""))
                await asyncio.sleep(3600)
            except (OSError, asyncio.IncompleteReadError):
                pass

    with closing(Silent(None, address="0.0.0.0")) as site, closing(Site(small_page)) as small:
        it = fleet(work={"VEDETTE_WORKER_CHECKS_IN_FLIGHT_MAX": "4096", "VEDETTE_PROBES_LOW_TIMEOUT_MS": "8000",
                         "VEDETTE_PROBES_LOW_ATTEMPTS_MAX": "1"})
        memory = PeakMemory(it.work.process)
        tenants = [it.api.organisation() for _ in range(2)]
        neighbour = it.api.organisation()
        made = [monitor(t, hosts(site, 2048)) for t in tenants]
        wait_until("announced pages", lambda: len(site.asked) > 200)
        ours = monitor(neighbour, [f"{small.url}{n}" for n in range(20)])
        assert finish_within(it, neighbour, ours, memory, WORKER_MIB_MAX) == {"unchanged": 20}
        wait_until("more announced pages", lambda: it.lives() and len(site.asked) > 1000)
        for t, m in zip(tenants, made):
            assert t.call("POST", f"/monitors/{m}/cancel", {}).status == 200


def test_answers_of_receivers_that_never_end_take_no_memory(fleet):
    """Hundreds of receivers that answer a notification with bytes for ever."""
    class Endless(Site):
        async def _serve(self, reader, writer):
            try:
                await reader.readuntil(b"\r\n\r\n")
                self.asked.append(("", time.monotonic()))
                writer.write(b"HTTP/1.1 500 Long\r\nTransfer-Encoding: chunked\r\n\r\n")
                while True:
                    writer.write(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
                    await writer.drain()
            except (OSError, asyncio.IncompleteReadError):
                pass

    with closing(Endless(None, address="0.0.0.0")) as endless, closing(Site(small_page)) as site:
        it = fleet()
        tenant = it.api.organisation()
        assert finish_within(it, tenant, monitor(tenant, [site.url]), PeakMemory(it.work.process), WORKER_MIB_MAX)
        before = PeakMemory(it.work.process).mib()
        memory = PeakMemory(it.work.process)
        for url in hosts(endless, 200):
            monitor(tenant, [site.url], webhook_url=url)
        wait_until("an attempt at each", lambda: within(it, memory, before + 128) and it.database.value(
            "SELECT count(DISTINCT monitor_id) FROM delivery_attempt") >= 200)


@pytest.mark.alone
def test_checks_that_wait_for_a_research_service_are_small(fleet):
    """4,000 checks under way at a service that is slow, and as many asked of it as it has shown to carry before."""
    release, carries = asyncio.Event(), True

    async def answer(_path, body):
        await (asyncio.sleep(0.3) if carries else release.wait())
        fields = json.loads(body)["struct"] if b'"struct"' in body else {"city": ""}
        return response(json_bytes({"values": {name: {"value": "Oslo"} for name in fields}}),
                        headers=["Content-Type: application/json"])

    with closing(Site(answer)) as research:
        it = fleet(work={"VEDETTE_PROBES_HIGH_KIND": "http", "VEDETTE_PROBES_HIGH_URL": research.url,
                         "VEDETTE_PROBES_HIGH_TIMEOUT_MS": "110000", "VEDETTE_WORKER_CHECKS_IN_FLIGHT_MAX": "5000"})
        memory = PeakMemory(it.work.process)
        tenants = [it.api.organisation(100_000) for _ in range(4)]
        made = [monitor(t, [f"http://a{n}.example/" for n in range(RESEARCH_ROWS)], {"city": "where it sits"}, tier="high")
                for t in tenants]
        wait_until("the limit to grow", lambda: it.lives() and metric(it.work, "vedette_service_requests_max") >= 1024)
        carries, asked = False, len(research.asked)
        wait_until("every connection to the service", lambda: it.lives() and len(research.asked) >= asked + 1000)
        wait_until("the checks to be under way", lambda: it.lives() and
                   metric(it.work, "vedette_checks_in_flight") >= 4000)
        research.loop.call_soon_threadsafe(release.set)
        for t, m in zip(tenants, made):
            assert finish_within(it, t, m, memory, RESEARCH_MIB_MAX) == {"unchanged": RESEARCH_ROWS}
