"""G10: 90 % of the receivers hang or drip, and the healthy ones do not notice. One run, a ratio: the latency of the
healthy ones' notifications (recorded until arrived) with the others present, against without them."""

import asyncio
import datetime
import json
import socket
import threading
import time

from conftest import Receiver, wait_until

HEALTHY, HANGING, DRIPPING = 10, 60, 30
ROWS = 20
ROUNDS = 6
# Shared machines have pauses of their own; what hangs would delay by the attempt's timeout, 10 s, and more.
FLOOR_S = 2.0


class Drips:
    """Receivers that answer one byte a second for ever, and that never answer: one thread for all."""

    def __init__(self, dripping, hanging):
        self.urls, self.sockets = [], []
        for _ in range(hanging):
            s = socket.socket()
            s.bind(("127.0.0.1", 0))
            s.listen(512)  # connections are made by the kernel, and nobody ever takes them
            self.sockets.append(s)
            self.urls.append(f"http://127.0.0.1:{s.getsockname()[1]}/hangs")
        self.loop = asyncio.new_event_loop()
        for _ in range(dripping):
            server = self.loop.run_until_complete(asyncio.start_server(self._drip, "127.0.0.1", 0, backlog=512))
            self.urls.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/drips")
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    async def _drip(self, _, writer):
        try:
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" * 100:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
        except OSError:
            pass

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()
        for s in self.sockets:
            s.close()


def monitor(tenant, nginx, url, name):
    return tenant.post("/monitors", {
        "name": name, "key_columns": ["n"], "rows": [{"n": n, "url": f"{nginx.url}/page.html"} for n in range(ROWS)],
        "struct": {"title": "css:title"}, "frequency": "30d", "webhook_url": url})["id"]


def p99(latencies):
    return sorted(latencies)[int(len(latencies) * 0.99)]


def test_the_healthy_do_not_notice_the_sick_G10(vedette, database, nginx):
    nginx.write("page.html", "<title>A page</title>")
    latencies = []

    def arrived(request):
        made = datetime.datetime.fromisoformat(json.loads(request["body"])["created_at"].replace("Z", "+00:00"))
        latencies.append(time.time() - made.timestamp())
        return 200

    receivers = [Receiver(arrived) for _ in range(HEALTHY)]
    tenant = vedette.organisation()
    monitors = [monitor(tenant, nginx, r.url, f"healthy {n}") for n, r in enumerate(receivers)]

    def rounds(n, first=False, limit_s=0):
        """The latencies of n rounds of checks of every healthy row, and of more until limit_s have passed."""
        seen, until = 0 if first else len(latencies), time.monotonic() + limit_s
        expected = seen
        while n > 0 or time.monotonic() < until:
            expected += HEALTHY * ROWS
            if not first:
                for m in monitors:
                    tenant.post(f"/monitors/{m}/trigger", {})
            n, first = n - 1, False
            wait_until("the healthy ones' notifications", lambda: len(latencies) >= expected)
            wait_until("the ticks to close", lambda: database.value(
                "SELECT count(*) FROM open_tick WHERE monitor_id = ANY(%s::uuid[])",
                (monitors,)) == 0)
        return latencies[seen:]

    cold = p99(rounds(1, first=True))
    alone = p99(rounds(ROUNDS))
    sick = Drips(DRIPPING, HANGING)
    others = vedette.organisation()
    for url in sick.urls:
        monitor(others, nginx, url, url)
    wait_until("the sick ones' backlog", lambda: database.value(
        "SELECT count(*) FROM delivery WHERE attempts = 0") > len(sick.urls) * ROWS / 2)
    beside = p99(rounds(ROUNDS, limit_s=15))  # longer than an attempt, so that sick ones come again
    attempts = database.value("SELECT count(*) FROM delivery_attempt WHERE NOT delivered")
    sick.close()
    print(f"p99 of the healthy: first contact {cold * 1000:.0f} ms, alone {alone * 1000:.0f} ms, beside {len(sick.urls)} sick receivers "
          f"{beside * 1000:.0f} ms; {attempts} attempts at those")
    assert attempts > 0, "the sick ones were not even tried"
    assert beside <= max(2 * alone, FLOOR_S)
    for receiver in receivers:
        receiver.close()
