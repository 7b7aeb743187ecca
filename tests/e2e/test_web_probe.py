"""The web probe in a running service: politeness as the asked hosts count it, retries, and what is being confirmed."""

import http.server
import threading
import time

import pytest

from conftest import Vedette, wait_until
from servers import QuietHandler

CONTACT = "https://operator.example"
AGENT = f"vedette (+{CONTACT})"
PER_HOST_MAX, GAP_S, QUICK_HOSTS, PAGES = 4, 0.01, 3, 200


class Host(http.server.ThreadingHTTPServer):
    """A site that counts what it is asked for. Until its gate is open it answers nobody, then slowly."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, is_open=True, status=200):
        self.gate, self.lock = threading.Event(), threading.Lock()
        self.in_flight = self.in_flight_max = 0
        self.asked, self.agents = {}, set()  # when each path was asked for
        if is_open:
            self.gate.set()
        host = self

        class Handler(QuietHandler):
            def do_GET(self):
                with host.lock:
                    host.in_flight += 1
                    host.in_flight_max = max(host.in_flight_max, host.in_flight)
                    host.asked.setdefault(self.path, []).append(time.monotonic())
                    host.agents.add(self.headers["User-Agent"])
                host.gate.wait()
                time.sleep(0.01)  # what makes it slow
                body = f"<h1>{self.path}</h1>".encode()
                with host.lock:  # before the answer, which may be followed by the next request
                    host.in_flight -= 1
                self.send_response(status)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def pages(self, count=PAGES):
        return [{"url": f"http://127.0.0.1:{self.server_address[1]}/{i}"} for i in range(count)]

    def requests(self):
        with self.lock:
            return sum(map(len, self.asked.values()))

    def close(self):
        self.gate.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def host():
    made = []

    def make(**how):
        made.append(Host(**how))
        return made[-1]

    yield make
    for it in made:
        it.close()


def watch(tenant, rows, **more):
    return tenant.post("/monitors", {"name": "Pages", "key_columns": ["url"], "rows": rows,
                                     "struct": {"h": "css:h1"}, "frequency": "1d", **more})["id"]


def test_a_host_is_never_asked_more_at_once_than_allowed_while_others_are_served(binary, database, tmp_path, host):
    """One host answers nobody until all pages of the others, which come behind it, were fetched."""
    stuck, quick = host(is_open=False), [host() for _ in range(QUICK_HOSTS)]
    checks = PAGES * (1 + QUICK_HOSTS)
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_WORKER_PER_HOST_MAX": str(PER_HOST_MAX), "VEDETTE_WORKER_PER_HOST_GAP_MS": str(int(GAP_S * 1000)),
        # One organisation that is alone leaves a tenth free for others.
        "VEDETTE_WORKER_CHECKS_IN_FLIGHT_MAX": str(checks * 10 // 9 + 1),
        "VEDETTE_PROBES_LOW_TIMEOUT_MS": "110000", "VEDETTE_NET_CONTACT": CONTACT,
    }).migrate().start()
    try:
        tenant = service.organisation()
        begun = time.monotonic()
        monitor = watch(tenant, stuck.pages() + [page for it in quick for page in it.pages()])
        wait_until("the other hosts' pages", lambda: all(it.requests() == PAGES for it in quick))
        took_s = time.monotonic() - begun
        wait_until("the stuck host to be full", lambda: stuck.in_flight == PER_HOST_MAX)
        assert stuck.requests() == PER_HOST_MAX, "no more was sent to it than it may hold"
        assert not tenant.finished_ticks(monitor)
        stuck.gate.set()
        tick = wait_until("the tick to finish", lambda: tenant.finished_ticks(monitor))[0]
        assert {k: n for k, n in tick["outcomes"].items() if n} == {"unchanged": checks}
        assert stuck.in_flight_max == PER_HOST_MAX
        assert all(it.in_flight_max <= PER_HOST_MAX for it in quick)
        assert all(it.requests() == PAGES for it in [stuck, *quick])
        assert took_s >= (PAGES - 1) * GAP_S, "the gap lies between any two requests to one host"
        assert stuck.agents | quick[0].agents == {AGENT}
    finally:
        assert service.stop() == 0


def test_retries_are_spread_end_with_the_deadline_and_are_counted_by_class(binary, database, tmp_path, host):
    """The waits are 0.5 s, 1 s and 2 s, each longer by up to half: a fourth attempt would come after the deadline."""
    failing, rows = host(status=503), 30
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROBES_LOW_ATTEMPTS_MAX": "10", "VEDETTE_PROBES_LOW_DEADLINE_MS": "3000",
        "VEDETTE_PROBES_LOW_TIMEOUT_MS": "3000", "VEDETTE_WORKER_PER_HOST_MAX": str(rows),
    }).migrate().start()
    try:
        tenant = service.organisation()
        monitor = watch(tenant, failing.pages(rows))
        tick = wait_until("the tick to finish", lambda: tenant.finished_ticks(monitor))[0]
        assert tick["outcomes"]["failed"] == rows
        assert len(failing.asked) == rows and 1 < max(map(len, failing.asked.values())) <= 3
        waits = [times[1] - times[0] for times in failing.asked.values() if len(times) > 1]
        assert min(waits) >= 0.5 and max(waits) - min(waits) > 0.1, sorted(waits)
        metrics = service.as_operator("GET", "/metrics").body.decode()
        counted = dict(line.rsplit(" ", 1) for line in metrics.splitlines()
                       if line.startswith("vedette_probe_failures_total{"))
        assert sum(int(n) for n in counted.values()) >= failing.requests()
        assert int(counted['vedette_probe_failures_total{class="http_status",probe="web"}']) > rows
        assert failing.agents == {"vedette"}
    finally:
        assert service.stop() == 0


def test_what_is_being_confirmed_is_readable_on_the_row(vedette, nginx):
    nginx.write("page.html", "<h1>first</h1><p>here</p>")
    tenant = vedette.organisation()
    made = tenant.post("/monitors", {
        "name": "Confirmed", "key_columns": ["url"], "rows": [{"url": f"{nginx.url}/page.html"}],
        "struct": {"h": "css:h1", "p": "css:p"}, "frequency": "1d", "confirm_after": 3})
    monitor, row = made["id"], made["rows"][0]["id"]
    wait_until("the first check", lambda: tenant.finished_ticks(monitor))

    def check(page):
        nginx.write("page.html", page)
        ticks = len(tenant.finished_ticks(monitor))
        tenant.post(f"/monitors/{monitor}/trigger", {})
        wait_until("the check", lambda: len(tenant.finished_ticks(monitor)) > ticks)
        changes = {e["field"]: e["current_value"] for e in tenant.events(monitor, row)
                   if e["event_type"] == "change"}
        return tenant.rows(monitor)[0]["pending_confirmations"], changes

    gone = "<h1>second</h1>"
    assert check(gone) == ({"h": {"value": "second", "seen": 1}, "p": {"value": None, "seen": 1}}, {})
    # Two misses are enough by default; the value needs a third check.
    assert check(gone + " ") == ({"h": {"value": "second", "seen": 2}}, {"p": None})
    assert check(gone + "  ") == ({}, {"p": None, "h": "second"})
