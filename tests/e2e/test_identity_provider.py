"""Bearer tokens of a real identity provider, the npm library oidc-provider: taken, rotated under load, and away."""

import base64
import concurrent.futures
import json
import signal
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from conftest import ROOT, Vedette, call, free_port, wait_until
from testbed import npm_tools

AUDIENCE = "https://api.example.com"
RETRY_MS = 1000


def full_length(jwk):
    """The key with numbers of 32 octets, as RFC 7518 wants them: this PyJWT leaves leading zeros out, which
    oidc-provider refuses."""
    numbers = {name: jwt.utils.base64url_decode(value).rjust(32, b"\0")
               for name, value in json.loads(jwk).items() if name in ("x", "y", "d")}
    return json.dumps({**json.loads(jwk), **{name: jwt.utils.base64url_encode(number).decode()
                                             for name, number in numbers.items()}})


def new_key(kid, alg):
    """A private key and its JWK."""
    if alg == "RS256":
        key = rsa.generate_private_key(65537, 2048)
        jwk = jwt.algorithms.RSAAlgorithm.to_jwk(key)
    elif alg == "ES256":
        key = ec.generate_private_key(ec.SECP256R1())
        jwk = full_length(jwt.algorithms.ECAlgorithm.to_jwk(key))
    else:
        key = ed25519.Ed25519PrivateKey.generate()
        jwk = jwt.algorithms.OKPAlgorithm.to_jwk(key)
    jwk = json.loads(jwk)
    jwk.pop("key_ops", None)
    return key, {**jwk, "kid": kid, "alg": alg, "use": "sig"}


class Provider:
    def __init__(self, directory, organisation, redirect=None, console=None):
        self.tools = npm_tools()
        self.keys, self.organisation, self.port = directory / "keys.json", organisation, free_port()
        self.redirect, self.console = redirect, console  # where the dashboard's and the console's people come back to
        self.issuer, self.process, self.clients = f"http://127.0.0.1:{self.port}", None, None

    def publish(self, *jwks):
        """The first one signs."""
        self.keys.write_text(json.dumps({"keys": list(jwks)}))
        if self.process:
            self.process.send_signal(signal.SIGHUP)
            self.wait_for("rotated")

    def assert_with(self, clients):
        """Before the start: clients that authenticate with private_key_jwt, and the public JWK of each."""
        self.clients = self.keys.with_name("clients.json")
        self.clients.write_text(json.dumps(clients))

    def start(self):
        self.process = subprocess.Popen(
            [f"{self.tools}/node_modules/.bin/node", ROOT / "tests/e2e/identity_provider.mjs", self.tools, str(self.port),
             self.keys, AUDIENCE, self.organisation, self.clients or "", self.redirect or "",
             self.console or ""],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.wait_for("ready")
        return self

    def wait_for(self, word):
        """The library warns before, of what is meant for tests alone."""
        lines = []
        while not lines or lines[-1] != word + "\n":
            lines.append(self.process.stdout.readline())
            assert lines[-1], "".join(lines)

    def token(self):
        basic = base64.b64encode(b"billing:the-secret-of-the-test").decode()
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "scope": "full_access"}).encode()
        request = urllib.request.Request(self.issuer + "/token", form, {"Authorization": "Basic " + basic})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["access_token"]

    def fetches(self):
        return call("GET", self.issuer + "/counts").json["keys"]

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait(10)
            self.process.stdout.close()
            self.process = None


@pytest.fixture
def provider(tmp_path):
    it = Provider(tmp_path, "tenant-7")
    yield it
    it.stop()


@pytest.fixture
def service(binary, database, tmp_path, provider):
    it = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_OIDC_ISSUER": provider.issuer, "VEDETTE_OIDC_AUDIENCE": AUDIENCE, "VEDETTE_OIDC_ORG_CLAIM": "/org/id",
        "VEDETTE_OAUTH_JWKS_RETRY_MS": str(RETRY_MS), "VEDETTE_OAUTH_JWKS_FRESH_MS": "600000"})
    it.migrate()
    yield it
    it.stop()


def credits(service, token):
    return call("GET", service.api + "/credits", headers={"Authorization": f"Bearer {token}"})


def named(service):
    """An organisation that the provider calls tenant-7."""
    tenant = service.organisation(credits=42)
    changed = service.as_operator("PATCH", f"/admin/v1/orgs/{tenant.org_id}", {"external_id": "tenant-7"})
    assert changed.status == 200 and changed.json["external_id"] == "tenant-7", changed
    return tenant


@pytest.mark.parametrize("alg", ["RS256", "ES256", "EdDSA"])
def test_a_token_of_the_provider_is_taken_as_it_is(service, provider, alg):
    provider.publish(new_key("k1", alg)[1])
    provider.start()
    service.start()
    tenant = named(service)
    token = provider.token()
    assert jwt.get_unverified_header(token)["alg"] == alg
    assert credits(service, token).json["credits"] == 42
    assert call("GET", service.api + "/oauth/clients",
                headers={"Authorization": f"Bearer {token}"}).json["error"] == "credential_not_allowed"
    service.as_operator("PATCH", f"/admin/v1/orgs/{tenant.org_id}", {"locked": True})
    assert credits(service, token).json["error"] == "organisation_locked"
    assert token not in service.log()


def test_keys_rotate_while_requests_run_and_none_is_refused(service, provider):
    """The document says how: a new key is published before it signs, the old one stays until its tokens have ended."""
    _, old = new_key("old", "RS256")
    _, new = new_key("new", "RS256")
    provider.publish(old)
    provider.start()
    service.start()
    named(service)
    tokens = [provider.token()]
    stop, answers = threading.Event(), []

    def requests():
        while not stop.is_set():
            answers.append(credits(service, tokens[-1]).status)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = [pool.submit(requests) for _ in range(4)]
        try:
            wait_until("requests", lambda: len(answers) > 50)
            provider.publish(old, new)
            published = time.monotonic()
            wait_until("the wait between two fetches to be over", lambda: time.monotonic() - published > RETRY_MS / 1000)
            provider.publish(new, old)
            tokens.append(provider.token())
            assert jwt.get_unverified_header(tokens[-1])["kid"] == "new"
            before = len(answers)
            wait_until("requests with the new key", lambda: len(answers) > before + 50)
        finally:
            stop.set()
            for one in running:
                one.result(30)
    assert set(answers) == {200}
    assert credits(service, tokens[0]).status == 200, "a token of the old key, which is still published"


def test_two_thousand_unknown_keys_cause_two_fetches_at_most(service, provider):
    key, jwk = new_key("k1", "ES256")
    provider.publish(jwk)
    provider.start()
    service.environment["VEDETTE_OAUTH_JWKS_RETRY_MS"] = "60000"
    service.start()
    named(service)
    assert credits(service, provider.token()).status == 200
    before = provider.fetches()
    claims = {"iss": provider.issuer, "aud": AUDIENCE, "sub": "ada", "exp": int(time.time()) + 600,
              "org": {"id": "tenant-7"}}

    def ask(n):
        return credits(service, jwt.encode(claims, key, "ES256", headers={"kid": f"unknown-{n}"})).status

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(2000))) == {401}
    assert provider.fetches() - before <= 2
    assert "no key of the identity provider verifies the signature" in service.log()


def test_without_the_provider_old_keys_serve_and_then_its_tokens_alone_are_503(service, provider):
    provider.publish(new_key("k1", "RS256")[1])
    provider.start()
    service.environment |= {"VEDETTE_OAUTH_JWKS_FRESH_MS": "2000", "VEDETTE_OAUTH_JWKS_STALE_MAX_MS": "6000"}
    service.start()
    tenant = named(service)
    token = provider.token()
    assert credits(service, token).status == 200
    provider.stop()
    stopped, answers = time.monotonic(), []
    wait_until("the keys to be too old", lambda: (
        answers.append((time.monotonic() - stopped, credits(service, token))) or answers[-1][1].status != 200))
    assert answers[-1][1].status == 503 and answers[-1][1].headers["Retry-After"] == "5", answers[-1]
    # They were fetched before the provider stopped, up to FRESH ago.
    assert len(answers) > 10 and answers[-1][0] > 3, answers[-1]
    assert tenant.call("GET", "/credits").status == 200
    assert service.is_ready()
    metrics = call("GET", service.admin + "/metrics").body.decode()
    assert 'vedette_auth_total{credential="external",outcome="unavailable"}' in metrics
    assert 'vedette_jwks_fetches_total{outcome="failed",owner="provider"}' in metrics or \
        'vedette_jwks_fetches_total{owner="provider",outcome="failed"}' in metrics
    provider.start()
    wait_until("the keys to be there again", lambda: credits(service, token).status == 200)


def test_two_thousand_mutated_tokens_of_which_none_is_taken_that_another_library_refuses(service, provider):
    key, jwk = new_key("k1", "ES256")
    provider.publish(jwk)
    provider.start()
    service.start()
    named(service)
    good = jwt.encode({"iss": provider.issuer, "aud": AUDIENCE, "sub": "ada", "exp": int(time.time()) + 600,
                       "org": {"id": "tenant-7"}}, key, "ES256", headers={"kid": "k1"})
    assert credits(service, good).status == 200
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

    def mutated(n):
        at = (n * 7919) % len(good)
        kind = n % 4
        if kind == 0:
            return good[:at] + alphabet[(n * 31) % len(alphabet)] + good[at + 1:]
        if kind == 1:
            return good[:at] + good[at + 1:]
        if kind == 2:
            return good[:at] + alphabet[(n * 17) % len(alphabet)] + good[at:]
        return good[:at]

    def differs(n):
        token = mutated(n)
        status = credits(service, token).status
        if status == 401:
            return None
        try:
            jwt.decode(token, key.public_key(), ["ES256"], audience=AUDIENCE, issuer=provider.issuer)
            return None if status == 200 else (n, status)
        except jwt.PyJWTError as error:
            return n, status, str(error)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert [d for d in pool.map(differs, range(2000)) if d] == []
