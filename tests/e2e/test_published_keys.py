"""OAuth clients that publish their keys: with a real TLS server and a library that nobody here wrote; and no way inside
through a jwks_uri (G9), with the addresses and the tricks of the webhooks' tests."""

import itertools
import json
import sys
import time
import uuid

import jwt
import pytest

from conftest import ROOT, Vedette, wait_until
from receivers import Scripted, drips, endless, hangs, reply
from test_authentication import ask_token
from test_g9 import INSIDE, INSIDE6, OUTSIDE, World, literals, tricks
from test_identity_provider import new_key

sys.path.insert(0, str(ROOT / "tests" / "support"))
from certificates import Authority  # noqa: E402


class Publisher:
    """A server outside, with TLS, whose answers a test sets."""

    def __init__(self, authority):
        self.script = None
        self.server = Scripted(lambda *arguments: self.script(*arguments), tls=authority.server(f"IP:{OUTSIDE}"),
                               address=OUTSIDE)
        self.url = f"https://{OUTSIDE}:{self.server.port}/jwks.json"

    def publish(self, *jwks):
        public = [{name: value for name, value in jwk.items() if name not in ("d", "p", "q", "dp", "dq", "qi")}
                  for jwk in jwks]
        self.answer(json.dumps({"keys": public}).encode())

    def answer(self, body, status=200, headers=()):
        self.script = lambda _, connection, __: connection.sendall(reply(status, headers, body))


@pytest.fixture
def world():
    it = World()
    yield it
    it.close()


@pytest.fixture
def publisher(tmp_path):
    it = Publisher(Authority(tmp_path, "ca"))
    yield it
    it.server.close()


@pytest.fixture
def service(binary, database, tmp_path, world, publisher):
    proxy = f"http://127.0.0.1:{world.proxy.port}"
    it = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_NET_ALLOW": OUTSIDE + "/32", "VEDETTE_NET_DNS_SERVERS": world.dns.address,
        "VEDETTE_NET_CA_FILE": str(tmp_path / "ca" / "ca.pem"),
        "VEDETTE_OAUTH_JWKS_RETRY_MS": "500",
        **{name: proxy for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")}, "no_proxy": ""})
    it.migrate().start()
    yield it
    assert it.stop() == 0, it.log()


def register(tenant, url):
    made = tenant.call("POST", "/oauth/clients", {"name": "billing", "jwks_uri": url})
    assert made.status == 200, made
    return made.json["client_id"]


def assertion(service, client_id, key, kid, alg="ES256"):
    return jwt.encode({"iss": client_id, "sub": client_id, "aud": service.api, "exp": int(time.time()) + 60,
                       "jti": str(uuid.uuid4())}, key, alg, headers={"kid": kid})


def test_a_client_signs_with_the_keys_that_it_publishes_and_rotates_them(service, publisher):
    old, old_jwk = new_key("old", "ES256")
    new, new_jwk = new_key("new", "RS256")
    publisher.publish(old_jwk, {"kty": "oct", "k": "AAAA", "kid": "secret"})
    client = register(service.organisation(), publisher.url)
    for _ in range(3):
        assert ask_token(service, assertion(service, client, old, "old")).status == 200
    assert len(publisher.server.requests) == 1
    publisher.publish(old_jwk, new_jwk)
    published = time.monotonic()
    wait_until("the wait between two fetches to be over", lambda: time.monotonic() - published > 0.5)
    assert ask_token(service, assertion(service, client, new, "new", "RS256")).status == 200
    assert ask_token(service, assertion(service, client, old, "old")).status == 200
    assert len(publisher.server.requests) == 2


@pytest.mark.parametrize("script, says", [
    (lambda _, connection, __: connection.sendall(reply(302, [f"Location: https://{OUTSIDE}/"])), "302"),
    (endless(200), "body_too_large"), (drips, "timeout"), (hangs, "timeout"),
    (lambda _, connection, __: connection.sendall(reply(200, [], b"<html>")), "JSON"),
    (lambda _, connection, __: connection.sendall(reply(200, [], b'{"keys": []}' + b" " * 70000)), "body_too_large"),
    (lambda _, connection, __: connection.sendall(reply(404)), "404"),
])
def test_what_is_no_set_of_keys_is_named_and_the_old_keys_stay(service, publisher, script, says):
    key, jwk = new_key("k1", "ES256")
    publisher.publish(jwk)
    tenant = service.organisation()
    client = register(tenant, publisher.url)
    assert ask_token(service, assertion(service, client, key, "k1")).status == 200
    publisher.script = script
    report = tenant.post(f"/oauth/clients/{client}/validate-jwks", {})
    assert not report["valid"] and says in report["error"], report
    assert tenant.get(f"/oauth/clients/{client}")["jwks_last_error"] == report["error"]
    assert ask_token(service, assertion(service, client, key, "k1")).status == 200


def test_g9_no_spelling_of_a_jwks_uri_gets_in(service, database, world, publisher):
    tenant = service.organisation()
    client = register(tenant, publisher.url)
    good = f"http://{OUTSIDE}:{world.port}"
    open_ones = {f"{good}/#x", f"{good}#@{INSIDE}:{world.port}/"}
    urls = [url for url in itertools.chain((world.url(host) for host in literals()), tricks(world))
            if "\x00" not in url and url not in open_ones]
    for url in urls:
        for spelling in {url, url.replace("http:", "https:", 1)}:
            answer = tenant.call("POST", "/oauth/clients", {"name": "x", "jwks_uri": spelling})
            assert answer.status in (400, 422), (spelling, answer)
        database.rows("UPDATE oauth_client SET jwks_uri = %s WHERE id = %s", (url, client))
        report = tenant.post(f"/oauth/clients/{client}/validate-jwks", {})
        assert not report["valid"] and report["error"].startswith("refused_address: "), (url, report)
    assert world.entered() == 0


@pytest.mark.parametrize("address", [INSIDE, INSIDE6, "::ffff:127.0.0.1", "10.1.2.3", "169.254.169.254", "64:ff9b::7f00:1",
                                     "fd00:ec2::254"])
def test_g9_a_name_that_is_inside_is_refused_by_address(service, world, address):
    world.dns.names["name.example"] = [[address]]
    tenant = service.organisation()
    client = register(tenant, f"https://name.example:{world.port}/jwks")
    key, _ = new_key("k1", "ES256")
    answer = ask_token(service, assertion(service, client, key, "k1"))
    assert answer.status == 503 and answer.json["error"] == "temporarily_unavailable", answer
    shown = tenant.get(f"/oauth/clients/{client}")["jwks_last_error"]
    assert shown.startswith("refused_address: the name name.example resolves to "), shown
    assert world.entered() == 0


def test_g9_a_name_that_is_rebound_and_a_redirect_do_not_get_in(service, world, publisher):
    world.dns.names["rebind.example"] = [[OUTSIDE], [INSIDE], [OUTSIDE, INSIDE], [INSIDE, INSIDE6]]
    world.dns.names["in.example"] = [[INSIDE]]
    tenant = service.organisation()
    client = register(tenant, f"https://rebind.example:{world.port}/jwks")
    for _ in range(20):
        assert not tenant.post(f"/oauth/clients/{client}/validate-jwks", {})["valid"]
    redirected = register(tenant, publisher.url)
    for target in (f"https://in.example:{world.port}/", f"https://{INSIDE}:{world.port}/", "file:///etc/passwd"):
        publisher.answer(b"", 302, [f"Location: {target}"])
        report = tenant.post(f"/oauth/clients/{redirected}/validate-jwks", {})
        assert report["error"] == "the answer is a 302, no 200", report
    assert world.entered() == 0


def test_an_endless_stream_of_unknown_key_ids_causes_two_fetches_on_two_processes(service, publisher, binary, database,
                                                                                 tmp_path):
    service.stop()
    more = {name: value for name, value in service.environment.items() if name.startswith("VEDETTE_NET_")}
    processes = [Vedette(binary, database.url, tmp_path, {**more, "VEDETTE_OAUTH_JWKS_RETRY_MS": "60000",
                                                          "VEDETTE_API_PUBLIC_URL": "https://api.example.com"}).start()
                 for _ in range(2)]
    try:
        key, jwk = new_key("k1", "ES256")
        publisher.publish(jwk)
        client = register(processes[0].organisation(), publisher.url)
        for n in range(400):
            one = processes[n % 2]
            token = jwt.encode({"iss": client, "sub": client, "aud": "https://api.example.com",
                                "exp": int(time.time()) + 60, "jti": str(n)}, key, "ES256",
                               headers={"kid": f"unknown-{n}"})
            assert ask_token(one, token).status in (401, 503)
        assert len(publisher.server.requests) <= 2
    finally:
        for one in processes:
            one.stop()
        service.start()
