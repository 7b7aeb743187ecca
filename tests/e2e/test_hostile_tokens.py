"""The table of hostile assertions, which unit tests validate in memory, at two real servers: ours, whose log has the
true reason of each, and the token endpoint of the npm library oidc-provider, which is asked the same."""

import http.server
import json
import re
import subprocess
import threading
import urllib.parse

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from conftest import Vedette, call, wait_until
from servers import QuietHandler
from test_authentication import ASSERTION_TYPE
from test_identity_provider import AUDIENCE, Provider, new_key

# What oidc-provider lets in and we refuse, and why. It may refuse these, too; it must refuse every other.
WHERE_THEY_DIFFER = {
    "b64": "it ignores b64 where crit does not name it; we refuse a header that says how to read the payload",
    "typ at+jwt": "it does not look at typ; an access token is no assertion (RFC 8725, 3.11)",
    "kid a number": "it ignores a kid that is no text and tries every key; kid is a text (RFC 7515, 4.1.4)",
    "padding": "it takes padded base64url; a JWS has none (RFC 7515, 2)",
    "stray bits": "it drops the bits that are over; one signature then has several spellings",
    "9 KiB": "it takes bodies of 56 KiB; an assertion has at most 8 KiB here",
    "five levels": "it takes claims of any depth; four levels are enough here",
    "a member twice in the header": "it takes the last of two; other readers take the first (RFC 8725, 2.4)",
    "a member twice in the claims": "it takes the last of two; other readers take the first (RFC 8725, 2.4)",
    "two audiences": "it wants one of them to be its own; an assertion for two servers can be replayed at the other",
    "expires too late": "it has no longest life; each assertion is remembered until it expires, an hour at most here",
    "iat ahead": "it looks at iat only where there is no exp",
    "exp 1e400": "JavaScript reads it as infinity, which is later than now; a time is a finite number here",
}


def hostile_tokens(binary, client, other, issuer, endpoint):
    tool = binary.parent / "tests" / "support" / "hostile_tokens"
    assert tool.exists(), f"{tool} is not built"
    table = json.loads(subprocess.run([tool, client, other, issuer, endpoint], check=True, capture_output=True,
                                      text=True).stdout)
    assert len(table["hostile"]) >= 64
    return table


def ask_token(endpoint, assertion, headers=None):
    form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_assertion_type": ASSERTION_TYPE,
                                   "client_assertion": assertion, "scope": "full_access"}).encode()
    return call("POST", endpoint, raw=form,
                headers={"Content-Type": "application/x-www-form-urlencoded", **(headers or {})})


@pytest.fixture
def service(binary, database, tmp_path):
    it = Vedette(binary, database.url, tmp_path, {"VEDETTE_LIMITS_REQUESTS_PER_MINUTE": "100000"})
    it.migrate().start()
    yield it
    assert it.stop() == 0, it.log()


def test_every_hostile_assertion_is_refused_with_its_reason_in_the_log_and_no_distinction_on_the_wire(
        service, binary, database):
    tenant = service.organisation()
    client, other = (tenant.post("/oauth/clients", {"name": name})["client_id"] for name in ("billing", "other"))
    table = hostile_tokens(binary, client, other, service.api, service.api + "/oauth/token")
    tenant.post(f"/oauth/clients/{client}/keys", {"public_key_pem": table["pem"], "kid": "k1"})
    tenant.post(f"/oauth/clients/{other}/keys", {"public_key_pem": table["other_pem"], "kid": "other-k1"})
    assert ask_token(service.api + "/oauth/token", table["good"]).status == 200
    answers = {}
    for n, one in enumerate(table["hostile"]):
        answers[one["name"]] = f"hostile-{n}.", ask_token(service.api + "/oauth/token", one["token"],
                                                          {"X-Request-Id": f"hostile-{n}."})
    log = service.log()
    before_the_signature = set()
    for name, (request_id, answer) in answers.items():
        assert answer.headers["X-Request-Id"] == request_id, name
        body = answer.json
        assert body["error_description"] == body["message"], name
        if answer.status == 400:  # it is no JWT at all, and the answer says so
            assert body["error"] == "invalid_request" and "WWW-Authenticate" not in answer.headers, (name, answer)
            continue
        assert (answer.status, body["error"]) == (401, "invalid_client"), (name, answer)
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="vedette"', name
        lines = [line for line in log.splitlines() if request_id in line and "assertion was refused" in line]
        assert len(lines) == 1, (name, lines)
        reason = re.search(r"reason\W+(.+)", lines[0])
        assert reason and len(reason.group(1)) > 5, (name, lines)
        if "no key of the client verifies" in lines[0]:
            before_the_signature.add(answer.body)
    assert len(before_the_signature) == 1, "one sentence for whatever is wrong before the signature is verified"
    assert database.value("SELECT count(*) FROM access_token") == 1
    assert table["good"] not in log and not any(one["token"] in log for one in table["hostile"] if len(one["token"]) > 40)


def public_jwk(pem, kid):
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(load_pem_public_key(pem.encode())))
    jwk.pop("key_ops", None)
    return {**jwk, "kid": kid, "use": "sig"}


def test_where_another_server_takes_what_we_refuse_the_list_says_why(binary, tmp_path):
    provider = Provider(tmp_path, "tenant-7")
    client, other = "4f1c2b9e-0000-4000-8000-000000000001", "4f1c2b9e-0000-4000-8000-000000000002"
    table = hostile_tokens(binary, client, other, provider.issuer, provider.issuer + "/token")
    provider.publish(new_key("p1", "RS256")[1])
    provider.assert_with({client: public_jwk(table["pem"], "k1"), other: public_jwk(table["other_pem"], "other-k1")})
    provider.start()
    try:
        good = ask_token(provider.issuer + "/token", table["good"])
        assert good.status == 200, good
        assert ask_token(provider.issuer + "/token", table["good"]).status == 401, "it is good once there, too"
        taken = {one["name"] for one in table["hostile"]
                 if ask_token(provider.issuer + "/token", one["token"]).status == 200}
        assert taken <= set(WHERE_THEY_DIFFER), taken - set(WHERE_THEY_DIFFER)
        assert set(WHERE_THEY_DIFFER) <= {one["name"] for one in table["hostile"]}
    finally:
        provider.stop()


@pytest.fixture
def published():
    """An identity provider that does nothing but publish its keys."""
    class Pages(QuietHandler):
        def do_GET(self):
            documents = {"/.well-known/openid-configuration": {"issuer": server.issuer, "jwks_uri": server.issuer + "/keys"},
                         "/keys": {"keys": server.keys}}
            body = json.dumps(documents[self.path]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.issuer, server.keys = f"http://127.0.0.1:{server.server_port}", []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_every_hostile_bearer_token_is_refused_with_its_reason_in_the_log(binary, database, tmp_path, published):
    """The same table, sent as tokens of the identity provider: what it calls a client is the issuer here, and its issuer the
    audience. They name no organisation, which is what a good one is told."""
    table = hostile_tokens(binary, published.issuer, "https://other.example", AUDIENCE, AUDIENCE)
    published.keys = [public_jwk(table["pem"], "k1"), public_jwk(table["other_pem"], "other-k1")]
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_OIDC_ISSUER": published.issuer, "VEDETTE_OIDC_AUDIENCE": AUDIENCE,
        "VEDETTE_OIDC_ORG_CLAIM": "/tenant/id"})
    service.migrate().start()

    def ask(token, request_id):
        return call("GET", service.api + "/credits",
                    headers={"Authorization": f"Bearer {token}", "X-Request-Id": request_id})

    wait_until("the keys to be there", lambda: ask(table["good"], "good").status == 403)
    good_here = {"typ at+jwt", "sub of another", "two audiences", "no jti"}
    # A header takes no NUL, and less than 9 KiB.
    names = [one for one in table["hostile"] if one["name"] not in good_here | {"a NUL", "9 KiB"}]
    tokens = {f"bearer-{n}.": one for n, one in enumerate([*names, {"name": "of ours", "token": "vd_at_" + "a" * 43}])}
    answers = {request_id: ask(one["token"], request_id) for request_id, one in tokens.items()}
    assert service.stop() == 0, service.log()
    log = service.log()
    for request_id, answer in answers.items():
        name = tokens[request_id]["name"]
        assert (answer.status, answer.json["error"]) == (401, "invalid_token"), (name, answer)
        [line] = [line for line in log.splitlines() if request_id in line and "token was refused" in line]
        reason = re.search(r"reason\W+(.+)", line)
        assert reason and len(reason.group(1)) > 5, (name, line)
    assert len({answer.body for answer in answers.values()}) == 1, "one sentence for all of them"
    assert len(answers) >= 40
    assert not any(one["token"] in log for one in tokens.values() if len(one["token"]) > 40)
