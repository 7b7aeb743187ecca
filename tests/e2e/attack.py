"""What the tests of attacks share: a service of several processes, hosts that accept nobody, sites that are slow or
large, floods of requests, and the peak of a process's memory."""

import asyncio
import concurrent.futures
import contextlib
import errno
import json
import re
import socket
import threading
import time

from conftest import MIGRATED, Database, Vedette, call, wait_until

WORKING_ROLES = "scheduler,worker,delivery"


@contextlib.contextmanager
def fresh_database(postgres):
    """A database for a service that the tests of a file share."""
    name = postgres.new_name()
    postgres.create(name, MIGRATED)
    try:
        yield Database(postgres, name)
    finally:
        postgres.drop(name)


class Fleet:
    """An API process and a process that checks and delivers; `kill` ends what runs."""

    def __init__(self, binary, database, directory, api=None, work=None):
        self.database = database
        self.api = Vedette(binary, database.url, directory, api).migrate()
        self.work = Vedette(binary, database.url, directory, work)
        # The admin port's place is free in a process without that role: the health port takes it.
        self.work.environment["VEDETTE_HEALTH_LISTEN"] = self.work.environment["VEDETTE_ADMIN_LISTEN"]

    def start(self):
        self.api.start(roles="api,admin")
        self.work.start(roles=WORKING_ROLES)
        return self

    def lives(self):
        """Both processes run; a process that ended is told with the end of its log."""
        for name, process in (("the API", self.api), ("the worker", self.work)):
            assert process.process.poll() is None, \
                f"{name} ended with {process.process.returncode}: {process.log()[-2000:]}"
        return True

    def end(self):
        for process in (self.work, self.api):
            if process.process and process.process.poll() is None:
                process.kill()


class DeadHost:
    """A host that drops packets: a listener whose queue is full, so that the kernel answers no further SYN."""

    def __init__(self, address):
        self.listener = socket.socket()
        self.listener.bind((address, 0))
        self.listener.listen(0)
        self.url = "http://{}:{}/".format(*self.listener.getsockname())
        self.waiting = []
        for _ in range(4):
            s = socket.socket()
            s.setblocking(False)
            assert s.connect_ex(self.listener.getsockname()) in (0, errno.EINPROGRESS)
            self.waiting.append(s)
        with socket.socket() as probe:
            probe.settimeout(0.3)
            with contextlib.suppress(TimeoutError):
                probe.connect(self.listener.getsockname())
                raise AssertionError("the dead host takes a connection")

    def close(self):
        for s in [*self.waiting, self.listener]:
            s.close()


def response(body=b"", status=200, headers=()):
    body = body if isinstance(body, bytes) else body.encode()
    head = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def page(title):
    return response(f"<title>{title}</title>", headers=["Content-Type: text/html"])


class Site:
    """An HTTP/1.1 server in one thread that serves thousands of connections, one request on each. `answer(path,
    body)` is a coroutine that returns the bytes to send; None closes without an answer. `asked` has (path, time of
    arrival)."""

    def __init__(self, answer, address="127.0.0.1"):
        self.answer, self.asked = answer, []
        self.open = self.open_max = 0
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self._serve, address, 0, backlog=4096))
        host, self.port = self.server.sockets[0].getsockname()
        self.url = f"http://{host}:{self.port}/"
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    async def _serve(self, reader, writer):
        self.open += 1
        self.open_max = max(self.open_max, self.open)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1].lstrip("/")
            length = re.search(r"(?i)\r\ncontent-length: (\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            self.asked.append((path, time.monotonic()))
            data = await self.answer(path, body)
            if data is not None:
                writer.write(data)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client left
        finally:
            self.open -= 1
            writer.close()

    def paths(self):
        return [path for path, _ in self.asked]

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.server.close()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()


def slow_site(seconds, title="A page", **more):
    async def answer(_path, _body):
        await asyncio.sleep(seconds)
        return page(title)
    return Site(answer, **more)


@contextlib.contextmanager
def closing(*things):
    try:
        yield things[0] if len(things) == 1 else things
    finally:
        for thing in things:
            thing.close()


def monitor(tenant, urls, struct=None, **more):
    """A monitor with a row for each URL; its id."""
    return post(tenant, "/monitors", {
        "name": "Pages", "key_columns": ["url"], "rows": [{"url": url} for url in urls],
        "struct": struct or {"title": "css:title"}, "frequency": "30d", **more})["id"]


def post(tenant, path, body):
    """The same as Tenant.post, in UTF-8 without escapes."""
    answer = tenant.call("POST", path, raw=json_bytes(body))
    assert 200 <= answer.status < 300, answer
    return answer.json


def metric(service, name):
    """The sum of a metric's series."""
    text = call("GET", service.admin + "/metrics").body.decode()
    return sum(float(v) for v in re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE))


def open_ticks(database, *monitors):
    return database.value("SELECT count(*) FROM open_tick WHERE monitor_id = ANY(%s::uuid[])", (list(monitors),))


class Flood:
    """`clients` threads that repeat act(n) until the block ends; what act raises ends its thread alone. Counts
    the calls that returned."""

    def __init__(self, clients, act):
        self.stop, self.done = threading.Event(), 0
        self.pool = concurrent.futures.ThreadPoolExecutor(clients)
        self.clients, self.act = clients, act

    def __enter__(self):
        for n in range(self.clients):
            self.pool.submit(self._repeat, n)
        return self

    def _repeat(self, n):
        while not self.stop.is_set():
            self.act(n)
            self.done += 1

    def __exit__(self, *_):
        self.stop.set()
        self.pool.shutdown(cancel_futures=True)


def raw_request(method, path, api_key=None, body=b"", headers=()):
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}",
             "Content-Type: application/json", *headers]
    if api_key:
        lines.append(f"x-api-key: {api_key}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def connect(service):
    return socket.create_connection(("127.0.0.1", service.api_port), timeout=30)


def exchange(service, request, limit_s=20):
    """What the server answers to these bytes, until it closes or is silent for a second after an answer."""
    with connect(service) as s:
        s.settimeout(limit_s)
        with contextlib.suppress(OSError):
            s.sendall(request)
        data = b""
        with contextlib.suppress(OSError):
            while piece := s.recv(65536):
                data += piece
                s.settimeout(1)
        return data


def status_of(answer):
    """The status of the first answer in these bytes; 0 where there is none."""
    found = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
    return int(found[1]) if found else 0


def timed(act):
    began = time.monotonic()
    act()
    return time.monotonic() - began


def json_bytes(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


