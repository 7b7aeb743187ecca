"""G9, no way inside: webhooks and web probe of a running service, whose names come from a DNS server of the test's
own. 127.0.0.2 stands for the public internet (the allow list names it), 127.0.0.1 and ::1 for the inside: listeners
there, on the same port, must not accept a single connection."""

import itertools
import socket

import pytest
from conftest import Vedette, call, wait_until
from dns_server import DnsServer
from receivers import Scripted, reply

OUTSIDE, INSIDE, INSIDE6 = "127.0.0.2", "127.0.0.1", "::1"
PAGE = b"<title>A page</title>"


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind((INSIDE6, 0))
            return True
    except OSError:
        return False


class World:
    """The outside, the inside, and the names."""

    def __init__(self):
        self.redirects = {}  # path -> location
        leak = lambda receiver, connection, _: connection.sendall(reply(200, body=b"<title>secret</title>"))
        self._listen(leak)
        self.proxy = Scripted(leak)  # what the environment names
        self.dns = DnsServer()

    def _listen(self, leak, tries=20):
        """One port outside and inside; what is free outside may be taken inside."""
        self.outside, self.inside = Scripted(self._outside, address=OUTSIDE), []
        self.port = self.outside.port
        try:
            for address in [INSIDE, INSIDE6] if has_ipv6() else [INSIDE]:
                self.inside.append(Scripted(leak, address=address, port=self.port))
        except OSError:
            for listener in [self.outside, *self.inside]:
                listener.close()
            if tries == 1:
                raise
            self._listen(leak, tries - 1)

    def _outside(self, _, connection, request):
        path = request["line"].split()[1]
        if path in self.redirects:
            connection.sendall(reply(302, [f"Location: {self.redirects[path]}"]))
        else:
            connection.sendall(reply(200, ["Content-Type: text/html"], PAGE))

    def url(self, host, path="/x"):
        return f"http://{host}:{self.port}{path}"

    def entered(self):
        return sum(listener.accepted for listener in [*self.inside, self.proxy])

    def close(self):
        for listener in [self.outside, *self.inside, self.proxy, self.dns]:
            listener.close()


@pytest.fixture
def world():
    it = World()
    yield it
    it.close()


@pytest.fixture
def service(binary, database, tmp_path, world):
    proxy = f"http://127.0.0.1:{world.proxy.port}"
    it = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_NET_ALLOW": OUTSIDE + "/32", "VEDETTE_NET_DNS_SERVERS": world.dns.address,
        "VEDETTE_PROBES_LOW_ATTEMPTS_MAX": "1",
        **{name: proxy for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY",
                                    "ALL_PROXY")}, "no_proxy": ""})
    it.migrate().start()
    yield it
    assert it.stop() == 0, it.log()


def v4_spellings(address):
    """An IPv4 address in the ways inet_aton and its kin read it."""
    a, b, c, d = (int(part) for part in address.split("."))
    number = (a << 24) | (b << 16) | (c << 8) | d
    whole = [str(number), hex(number), "0" + oct(number)[2:], hex(number).upper().replace("0X", "0x")]
    two = [((a,), number & 0xffffff), ((a, b), number & 0xffff), ((a, b, c), d)]
    forms = [str, hex, lambda n: "0" + oct(n)[2:], lambda n: f"0x{n:08x}"]
    parts = [".".join([*(form(p) for p in head), last(tail)])
             for head, tail in two for form, last in itertools.product(forms, forms)]
    return sorted({address, *whole, *parts} | {s + "." for s in [address, *whole, *parts]})


def literals():
    """Hosts that are all one or another way inside."""
    v4 = [s for address in (INSIDE, "169.254.169.254", "10.0.0.1")
          for s in v4_spellings(address)] + ["192.168.1.1", "0.0.0.0", "0", "100.64.0.1"]
    v6 = ["::1", "::", "::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:0001", "::127.0.0.1",
          "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:7f00:0001::1",
          "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1",
          "2001:db8::1", "::ffff:0:127.0.0.1", "::ffff:169.254.169.254", "100::1", "3fff::1", "5f00::1"]
    odd = ["localhost", "LOCALHOST", "localhost.", "x.localhost", "\uff11\uff12\uff17.0.0.1", "\u2460\u2461\u2466.0.0.1",
           "127\u30020\u30020\u30021", "%31%32%37.0.0.1", "127.0.0.1%00.example", "127.0.0.1%2f.example", "0x7f.0x1",
           "127.0.0.1.0", "127.256", "0x100000000", "1.2.3.4.5", "127..1", ".127.0.0.1", "[127.0.0.1]", "[::1%25lo]",
           "[fe80::1%25eth0]", "[0x7f.1]", "[::1", "::1"]
    return v4 + [f"[{address}]" for address in v6] + odd


def tricks(world):
    """URLs whose readers disagree on the host; one that has the allowed host is none for us."""
    at, good = f"{INSIDE}:{world.port}", f"{OUTSIDE}:{world.port}"
    return [f"http://{good}@{at}/", f"http://user:pw@{good}/", f"http://user@{good}/", f"http://@{good}/",
            f"http://{at}\\@{good}/", f"http://{good}\\@{at}/", f"http://{good}#@{at}/", f"http://{good}/#x",
            f"http://{good} @{at}/", f"http://{good}\r\nHost: {at}/", f"http://{good}/\r\nX-Injected: 1",
            f"http://{good}/%0d%0a\r\n", f"http://{good}/\tx", f"http://{good}/\x00", f"\nhttp://{good}/",
            f"http:/{at}", f"http:{at}", f"//{at}/", at, f"file:///etc/passwd", f"gopher://{at}/_x", f"ftp://{at}/",
            f"dict://{at}/", f"ldap://{at}/", f"jar:http://{at}!/", f"http://{at}:80@{good}/", f"http://[{at}]/",
            f"http://{OUTSIDE}:99999/", f"http://{OUTSIDE}:-1/", f"http://{OUTSIDE}:0/", f"http://{OUTSIDE}:8x/"]


def monitor_of(tenant, rows, webhook_url=None, events=None):
    body = {"name": "One", "key_columns": ["n"], "struct": {"title": "css:title"}, "frequency": "30d",
            "rows": [{"n": n, "url": url} for n, url in enumerate(rows)]}
    if webhook_url:
        body |= {"webhook_url": webhook_url, "webhook_event_types": events or [
            "monitor.field.changed", "monitor.execution.completed", "monitor.execution.failed"]}
    return tenant.post("/monitors", body)["id"]


def test_no_spelling_of_a_literal_gets_in(service, database, world):
    tenant = service.organisation()
    monitor = monitor_of(tenant, [world.url(OUTSIDE)], world.url(OUTSIDE), ["monitor.field.changed"])
    urls = [world.url(host) for host in literals()] + tricks(world)
    assert len(urls) > 300
    # Refused when asked for, but harmless: what follows the # is never sent nor looked at.
    good = f"http://{OUTSIDE}:{world.port}"
    open_ones = {f"{good}/#x", f"{good}#@{INSIDE}:{world.port}/"}
    for url in urls:
        # Asked for, it is refused; and where it stands in the database all the same, it is not connected to.
        if "\x00" not in url:
            answer = tenant.call("POST", f"/monitors/{monitor}/update", {"webhook_url": url})
            assert answer.status == 400, (url, answer)
            database.rows("UPDATE monitor SET webhook_url = %s WHERE id = %s", (url, monitor))
            outcome = tenant.post(f"/monitors/{monitor}/webhook/test", {})
            if url not in open_ones:
                assert not outcome["delivered"] and outcome["status_code"] is None, (url, outcome)
                assert outcome["error"].startswith("refused_address: ") and len(outcome["error"]) > 30, (url, outcome)
    assert world.entered() == 0
    for request in world.outside.requests:
        assert "X-Injected" not in request["headers"]

    # White space around a page's address is cut off; what is left of these is the outside.
    pages = [url for url in urls if "\x00" not in url and url not in open_ones and url == url.strip()]
    probed = monitor_of(tenant, pages)
    tick = wait_until("the tick", lambda: tenant.finished_ticks(probed))[0]
    assert tick["outcomes"]["failed"] == len(pages), tick
    messages = [m for (m,) in database.rows("SELECT DISTINCT message FROM event WHERE monitor_id = %s", (probed,))]
    assert len(messages) > 20 and not any("secret" in m for m in messages)
    assert world.entered() == 0


def refusals(database, monitor):
    return [e for (e,) in database.rows("SELECT last_error FROM delivery WHERE monitor_id = %s", (monitor,)) if e]


def failures(database, monitor):
    return [m for (m,) in database.rows("SELECT message FROM event WHERE monitor_id = %s AND event_type = 1",
                                        (monitor,))]


@pytest.mark.parametrize("address", [
    INSIDE, INSIDE6, "::ffff:127.0.0.1", "0.0.0.0", "10.1.2.3", "169.254.169.254", "192.168.0.1", "100.64.0.1",
    "64:ff9b::7f00:1", "2002:7f00:1::1", "2001:0:7f00:1::1", "fd00:ec2::254", "fe80::1"])
def test_a_name_that_is_inside_is_refused_by_address(service, database, world, address):
    """The sentence names both, in the attempt's record and in the check's error event."""
    world.dns.names["name.example"] = [[address]]
    tenant = service.organisation()
    monitor = monitor_of(tenant, [world.url("name.example")], world.url("name.example"))
    error = wait_until("the attempt", lambda: refusals(database, monitor))[0]
    assert error.startswith("refused_address: the name name.example resolves to "), error
    assert error.endswith("which is not a public address"), error
    detail = service.as_operator("GET", f"/admin/v1/deliveries?monitor_id={monitor}").json["items"][0]
    shown = service.as_operator("GET", f"/admin/v1/deliveries/{detail['id']}").json["history"][0]
    assert shown["error_class"] == "refused_address" and shown["error"] == error
    assert "name.example" in failures(database, monitor)[0]
    assert world.entered() == 0


def test_of_mixed_answers_only_the_public_ones_are_used(service, database, world):
    world.dns.names["mixed.example"] = [[INSIDE, OUTSIDE, "10.0.0.1", INSIDE6], [INSIDE6, "192.168.0.1", OUTSIDE]]
    tenant = service.organisation()
    monitor = monitor_of(tenant, [world.url("mixed.example", f"/{n}") for n in range(50)],
                         world.url("mixed.example"))
    wait_until("every delivery", lambda: database.value(
        "SELECT count(*) FROM delivery_attempt WHERE monitor_id = %s AND delivered", (monitor,)) == 50)
    assert tenant.finished_ticks(monitor)[0]["outcomes"]["unchanged"] == 50
    assert world.entered() == 0


def test_rebinding_between_check_and_connection_does_not_get_in(service, database, world):
    """Every other answer of the name server is an address inside. An answer that is remembered was checked, and a new one is
    checked again, on kept connections too."""
    # An odd number: the checks and the deliveries ask by turns, and either would get the same half of an even one.
    world.dns.names["rebind.example"] = [[OUTSIDE], [INSIDE], [OUTSIDE, INSIDE], [INSIDE, INSIDE6], [OUTSIDE]]
    tenant = service.organisation()
    monitor = monitor_of(tenant, [world.url("rebind.example", f"/{n}") for n in range(20)],
                         world.url("rebind.example"))
    def both_ways():
        database.rows("UPDATE endpoint SET available_at = '-infinity', failures = 0")
        database.rows("UPDATE delivery SET available_at = now() WHERE id IN (SELECT id FROM delivery WHERE lease_token"
                      " IS NULL FOR UPDATE SKIP LOCKED)")
        tenant.call("POST", f"/monitors/{monitor}/trigger", {})
        errors = database.value("SELECT count(*) FROM delivery_attempt WHERE error LIKE 'refused_address: %%'")
        delivered = database.value("SELECT count(*) FROM delivery_attempt WHERE delivered")
        return errors >= 20 and delivered >= 20 and failures(database, monitor)
    wait_until("answers of both kinds", both_ways)
    assert world.entered() == 0
    assert world.dns.queries >= 8


def test_redirects_do_not_lead_inside(service, database, world):
    world.dns.names["in.example"] = [[INSIDE]]
    targets = [world.url(INSIDE), world.url("in.example"), world.url("[::1]"), world.url("0x7f.1"),
               f"//{INSIDE}:{world.port}/", "file:///etc/passwd", "gopher://127.0.0.1:1/", "http://user@" + INSIDE,
               service.admin + "/metrics", service.api + "/healthz"]
    world.redirects = {f"/r{n}": target for n, target in enumerate(targets)}
    tenant = service.organisation()
    monitor = monitor_of(tenant, [world.url(OUTSIDE, path) for path in world.redirects],
                         world.url(OUTSIDE, "/r0"))
    wait_until("every attempt", lambda: len(refusals(database, monitor)) == len(targets))
    assert all(e.startswith("redirect: ") for e in refusals(database, monitor)), refusals(database, monitor)
    assert len(failures(database, monitor)) == len(targets)
    assert world.entered() == 0


def test_our_own_listeners_are_inside(service, database, world):
    world.dns.names["own.example"] = [[INSIDE]]
    tenant = service.organisation()
    monitor = monitor_of(tenant, [f"http://own.example:{p}/metrics" for p in (service.api_port, service.admin_port)],
                         f"http://own.example:{service.admin_port}/admin/v1/drain")
    errors = wait_until("every attempt", lambda: (found := refusals(database, monitor)) and len(found) == 2 and found)
    assert all("which is not a public address" in e for e in errors)
    wait_until("both checks", lambda: len(failures(database, monitor)) == 2)
    # The drain that the webhook asks for was not heard, and nobody read the metrics but us, just now.
    assert call("GET", service.admin + "/readyz").status == 200
    metrics = call("GET", service.admin + "/metrics").body.decode()
    assert "route=\"admin /metrics\"" not in metrics and "drain" not in metrics
