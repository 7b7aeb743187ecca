"""Scripted receivers on real sockets, each with what is recorded of it and when it is tried again: one table.
The clock is moved in the database; nothing sleeps."""

import datetime
import socket
import ssl
import warnings
from email.utils import format_datetime

import pytest
from conftest import Vedette, wait_until
from certificates import Authority
from receivers import (Scripted, answers, closes_after, drips, endless, half_closes, hangs, reply,
                       resets)

TIMEOUT_MS = 1500
BACKOFF_S = 3600
BACKOFF_MAX_S = 14400
JITTER = 0.2
SETTINGS = {
    "VEDETTE_DELIVERY_TIMEOUT_MS": str(TIMEOUT_MS),  # what ends a hang
    "VEDETTE_DELIVERY_BACKOFF_FIRST_MS": str(BACKOFF_S * 1000),
    "VEDETTE_DELIVERY_BACKOFF_MAX_MS": str(BACKOFF_MAX_S * 1000),
}
LOCAL = "IP:127.0.0.1"


def in_two_hours():
    then = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2)
    return format_datetime(then, usegmt=True)


class Case:
    """`outcome`: delivered, retry or dead. `wait` of a retry: None is the backoff, jitter included; a pair bounds
    it, in seconds. `error`: how the recorded one begins; `says`: what else stands in it."""

    def __init__(self, name, script, outcome, error=None, says="", status=None, wait=None, tls=None, answer=None):
        self.name, self.script, self.outcome = name, script, outcome
        self.error, self.says, self.status, self.wait = error, says, status, wait
        self.tls, self.answer = tls, answer
        self.receiver = None


def status(code, outcome, headers=(), **more):
    kind = "redirect" if code < 400 else "http_status"
    error = None if code < 300 else f"{kind}: the receiver answered {code}"
    return Case(str(code), answers(code, headers), outcome, error, status=code, answer=None if code == 204 else "ok",
                **more)


def cases(ca, stranger):
    after = [f"Retry-After: {2 * BACKOFF_S}"]
    at_least_two_hours = (2 * BACKOFF_S, 2 * BACKOFF_S)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old_tls = ca.server(LOCAL, version_max=ssl.TLSVersion.TLSv1_1)
    named = [
        ("429 with seconds", status(429, "retry", after, wait=at_least_two_hours)),
        ("429 with a date", Case("", lambda r, c, q: c.sendall(reply(429, [f"Retry-After: {in_two_hours()}"])),
                                 "retry", "http_status:", status=429, wait=(2 * BACKOFF_S - 60, 2 * BACKOFF_S + 1))),
        ("429 with a past date", status(429, "retry", ["Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"])),
        ("503 with seconds", status(503, "retry", after, wait=at_least_two_hours)),
        ("503 with more than the longest backoff",
         status(503, "retry", ["Retry-After: 999999999"], wait=(BACKOFF_MAX_S, BACKOFF_MAX_S))),
        ("500 with Retry-After, which is not its", status(500, "retry", after)),
        ("hangs", Case("", hangs, "retry", "timeout:", "did not answer within 1500 ms")),
        ("drips", Case("", drips, "retry", "timeout:", "did not end within 1500 ms")),
        ("200 and an endless body", Case("", endless(200), "delivered", status=200, answer="x" * 4096)),
        ("500 and an endless body", Case("", endless(500), "retry", "http_status:", status=500, answer="x" * 4096)),
        ("resets", Case("", resets, "retry", "protocol:")),
        ("half-closed", Case("", half_closes, "retry", "protocol:", "Empty reply")),
        ("200 that ends with the connection",
         Case("", closes_after(b"HTTP/1.1 200 OK\r\n\r\nbye"), "delivered", status=200, answer="bye")),
        ("200 cut short", Case("", closes_after(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nbye"), "retry",
                               "protocol:")),
        ("no HTTP at all", Case("", closes_after(b"220 mail.example ESMTP\r\n"), "retry", "protocol:")),
        ("TLS", Case("", answers(200), "delivered", status=200, tls=ca.server(LOCAL))),
        ("TLS expired", Case("", answers(200), "retry", "tls:", "expired", tls=ca.server(LOCAL, days=-1))),
        ("TLS for another host", Case("", answers(200), "retry", "tls:", tls=ca.server("DNS:other.example"))),
        ("TLS of an unknown authority", Case("", answers(200), "retry", "tls:", tls=stranger.server(LOCAL))),
        ("TLS 1.1", Case("", answers(200), "retry", "tls:", tls=old_tls)),
        ("plain HTTP where TLS is expected", Case("", answers(400), "retry", "tls:", tls="none")),
    ]
    for name, case in named:
        case.name = name
    return [status(200, "delivered"), status(204, "delivered"), status(299, "delivered"),
            status(301, "retry", ["Location: http://127.0.0.1:9/"], says="redirects are not followed"),
            status(307, "retry", ["Location: http://127.0.0.1:9/"]),
            status(400, "retry"), status(404, "retry"), status(410, "dead"), status(429, "retry"),
            status(500, "retry"), status(503, "retry"), *(case for _, case in named)]


@pytest.fixture
def service(binary, database, tmp_path):
    ca = Authority(tmp_path, "ours")
    it = Vedette(binary, database.url, tmp_path, {**SETTINGS, "VEDETTE_NET_CA_FILE": str(ca.certificate)})
    it.ca = ca
    it.migrate().start()
    yield it
    assert it.stop() == 0, it.log()


def test_a_path_that_fails_delays_no_other_path_of_its_host_G10(service, database, nginx):
    nginx.write("page.html", "<title>A page</title>")
    answer = {"/down": 500, "/gone": 410, "/well": 200}
    gateway = Scripted(lambda r, c, q: c.sendall(reply(answer[q["line"].split()[1]])))
    base = gateway.url.rsplit("/", 1)[0]
    tenant = service.organisation()
    down = new_monitor(tenant, nginx, f"{base}/down")
    for attempt in range(1, 6):  # opens its breaker
        attempted(service, down, attempt)
        if attempt < 5:
            database.rows("UPDATE delivery SET available_at = now()")
    for _ in range(6):
        gone = attempted(service, new_monitor(tenant, nginx, f"{base}/gone"))
        assert gone["state"] == "dead" and gone["last_error"] == "http_status: the receiver answered 410"
        well = attempted(service, new_monitor(tenant, nginx, f"{base}/well"))
        assert well["state"] == "delivered" and len(well["history"]) == 1
    assert database.rows("SELECT failures, available_at > now() FROM endpoint ORDER BY 1") == [
        (0, False), (0, False), (5, True)], "only its own receiver is left alone"
    assert service.log().count("a receiver fails") == 1 and "a receiver works again" not in service.log()
    gateway.close()


def new_monitor(tenant, nginx, url):
    """One row; its only check ends with a notification to `url`."""
    return tenant.post("/monitors", {
        "name": "One", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{nginx.url}/page.html"}],
        "struct": {"title": "css:title"}, "frequency": "30d", "webhook_url": url})["id"]


def attempted(service, monitor, attempts=1):
    """The delivery's detail once so many attempts are recorded."""
    def look():
        for state in ("", "state=delivered&"):
            items = service.as_operator("GET", f"/admin/v1/deliveries?{state}monitor_id={monitor}").json["items"]
            if items and items[0]["attempts"] >= attempts:
                return service.as_operator("GET", f"/admin/v1/deliveries/{items[0]['id']}").json
        return None
    return wait_until(f"attempt {attempts}", look)


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def check(case, delivery):
    state = {"delivered": "delivered", "retry": "pending", "dead": "dead"}[case.outcome]
    assert delivery["state"] == state, delivery
    last = delivery["history"][-1]
    assert last["status_code"] == case.status, last
    assert last["delivered"] == (case.outcome == "delivered")
    assert last["duration_ms"] > 0
    if case.answer is not None:
        assert last["answer"] == case.answer
    if case.error is None:
        assert last["error"] is None and last["error_class"] is None
    else:
        assert last["error"].startswith(case.error) and case.says in last["error"], last
        assert last["error_class"] == case.error.split(":")[0]
        assert delivery["last_error"] == last["error"]
    if case.outcome != "retry":
        assert delivery["next_attempt_at"] is None
        return
    ended = at(last["attempted_at"]) + last["duration_ms"] / 1000
    wait = at(delivery["next_attempt_at"]) - ended
    first, last_s = case.wait or ((1 - JITTER) * BACKOFF_S, (1 + JITTER) * BACKOFF_S)
    assert first - 1 <= wait <= last_s + 30, f"next attempt {wait} s after this one"  # 30: a busy machine settles late


def test_every_receiver_has_its_schedule(service, database, tmp_path, nginx):
    nginx.write("page.html", "<title>A page</title>")
    stranger = Authority(tmp_path, "stranger")
    table = cases(service.ca, stranger)
    refused = socket.socket()  # bound and not listening: nobody else takes the port
    refused.bind(("127.0.0.1", 0))
    tenant = service.organisation()
    monitors = {}
    for case in table:
        plain = case.tls == "none"
        case.receiver = Scripted(case.script, tls=None if plain else case.tls, eager=plain)
        url = case.receiver.url.replace("http:", "https:") if plain else case.receiver.url
        monitors[case.name] = new_monitor(tenant, nginx, url)
    nobody = Case("connection refused", None, "retry", "connect:")
    monitors[nobody.name] = new_monitor(tenant, nginx, f"http://127.0.0.1:{refused.getsockname()[1]}/")
    wrong = []
    for case in [*table, nobody]:
        try:
            check(case, attempted(service, monitors[case.name]))
        except AssertionError as error:
            wrong.append(f"{case.name}: {error}")
    assert not wrong, "\n".join(wrong)
    for case in table:
        if case.tls is not None and case.outcome != "delivered":
            assert case.receiver.requests == [], f"{case.name}: a request went over a connection nobody vouched for"
        else:
            assert len(case.receiver.requests) == 1, case.name
        case.receiver.close()
    refused.close()


def test_the_wait_doubles_up_to_the_longest_and_ends_with_the_window_G2(service, database, nginx):
    nginx.write("page.html", "<title>A page</title>")
    receiver = Scripted(answers(500))
    tenant = service.organisation()
    monitor = new_monitor(tenant, nginx, receiver.url)
    waits = []
    for attempt in range(1, 5):
        delivery = attempted(service, monitor, attempt)
        last = delivery["history"][-1]
        waits.append(at(delivery["next_attempt_at"]) - at(last["attempted_at"]))
        if attempt < 4:  # the next attempt's time comes
            database.rows("UPDATE delivery SET available_at = now()")
    for wait, expected in zip(waits, [BACKOFF_S, 2 * BACKOFF_S, BACKOFF_MAX_S, BACKOFF_MAX_S]):
        assert (1 - JITTER) * expected - 1 <= wait <= (1 + JITTER) * expected + 30
    database.rows("UPDATE delivery SET available_at = now(), created_at = created_at - interval '73 hours'")
    delivery = attempted(service, monitor, 5)
    assert delivery["state"] == "dead" and delivery["next_attempt_at"] is None
    # Replayed it begins anew, under the same pair, and its attempts are counted on.
    receiver.script = answers(200)
    assert service.as_operator("POST", "/admin/v1/deliveries/replay", {"monitor_id": monitor}).json == {"replayed": 1}
    delivery = attempted(service, monitor, 6)
    assert delivery["state"] == "delivered" and len(delivery["history"]) == 6
    assert [r["headers"]["Service-Delivery-Attempt"] for r in receiver.requests] == ["1", "2", "3", "4", "5", "6"]
    assert len({(r["headers"]["Service-Event-Type"], r["headers"]["Service-Event-Id"])
                for r in receiver.requests}) == 1
    receiver.close()


def test_a_dead_receivers_backlog_comes_oldest_first_when_it_returns_G10(service, database, nginx):
    nginx.write("page.html", "<title>A page</title>")
    down = Scripted(answers(500))
    tenant = service.organisation()
    monitor = new_monitor(tenant, nginx, down.url)
    for attempt in range(1, 6):  # opens the breaker
        attempted(service, monitor, attempt)
        if attempt < 5:
            database.rows("UPDATE delivery SET available_at = now()")
    assert database.value("SELECT available_at > now() AND failures >= 5 FROM endpoint")
    # Two days of notifications, none of which is attempted while the breaker is open.
    database.rows(
        "INSERT INTO delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, created_at,"
        " available_at) SELECT gen_random_uuid(), d.org_id, d.endpoint_id, d.monitor_id, d.row_id,"
        " gen_random_uuid(), d.type, t, t FROM delivery d, generate_series(now() - interval '48 hours',"
        " now() - interval '1 hour', interval '1 hour') t")
    backlog = [str(g) for (g,) in database.rows(
        "SELECT event_group_id FROM delivery WHERE attempts = 0 ORDER BY available_at")]
    attempts = len(down.requests)
    down.script = answers(200)
    database.rows("UPDATE endpoint SET available_at = now()")  # the interval has passed
    wait_until("the backlog", lambda: database.value("SELECT count(*) FROM delivery WHERE attempts = 0") == 0)
    came = [r["headers"]["Service-Event-Id"] for r in down.requests[attempts:]]
    assert came[0] == backlog[0], "the one attempt that tries it is the oldest's"
    assert sorted(came) == sorted(backlog), "nothing is skipped, nothing twice"
    # Up to the cap they are on their way together: one may come before as many older ones, and as late as its way takes.
    assert all(i - came.index(g) <= 32 for i, g in enumerate(backlog))
    assert database.rows("SELECT failures, failing_since FROM endpoint") == [(0, None)]
    down.close()
