"""Signatures of live deliveries, verified by implementations that are not ours: openssl on the command line, the npm
library `stripe`, whose scheme is the same as that of Service-Signature, and the npm libraries `standardwebhooks` and
`svix`. Also while secrets, and the key they are sealed under, are rotated."""

import base64
import json
import subprocess
import time

import pytest
from conftest import ENCRYPTION_KEY, ROOT, Receiver, Vedette, openssl_accepts, wait_until
from testbed import npm_tools


@pytest.fixture(scope="session")
def stripe():
    """accepts(secret, request, body=None, tolerance=None): what the library says of it."""
    tools = npm_tools()

    def verify(secret, request, body=None, tolerance=None):
        line = json.dumps({"body": base64.b64encode(body or request["body"]).decode(), "secret": secret,
                           "header": request["headers"]["Service-Signature"], "tolerance": tolerance})
        done = subprocess.run([f"{tools}/node_modules/.bin/node", ROOT / "tests/e2e/stripe_verify.mjs", tools],
                              input=line, capture_output=True, text=True, check=True)
        return done.stdout.strip()
    return verify


@pytest.fixture(scope="session")
def standard_webhooks():
    """accepts(secret, request, body=None): what both libraries say with the secret as docs/webhooks.md derives it."""
    tools = npm_tools()

    def ask(secret, request, body, raw):
        line = json.dumps({"body": base64.b64encode(body or request["body"]).decode(), "secret": secret, "raw": raw,
                           "headers": {name: request["headers"][name] for name in request["headers"]
                                       if name.startswith("webhook-")}})
        done = subprocess.run([f"{tools}/node_modules/.bin/node", ROOT / "tests/e2e/standard_webhooks_verify.mjs", tools],
                              input=line, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def verify(secret, request, body=None):
        derived = ask("whsec_" + base64.b64encode(secret.encode()).decode(), request, body, False)
        assert derived == ask(secret, request, body, True), "the secret as it is, in the libraries' raw format"
        return derived
    return verify


class Subject:
    """A service, a tenant, and a monitor whose triggers make one delivery each."""

    def __init__(self, service, nginx, receiver):
        nginx.write("page.html", "<title>A page</title>")
        self.service, self.receiver = service, receiver
        self.tenant = service.organisation()
        self.monitor = self.tenant.post("/monitors", {
            "name": "One", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{nginx.url}/page.html"}],
            "struct": {"title": "css:title"}, "frequency": "30d", "webhook_url": receiver.url,
            "metadata": {"text": "\u00fc \u2713 </script>", "n": 1.50}})["id"]

    def next(self):
        """The next delivery's request."""
        seen = len(self.receiver.requests)
        # Joins the open tick where there is one; then that one's notification is the next.
        self.tenant.post(f"/monitors/{self.monitor}/trigger", {})
        wait_until("a delivery", lambda: len(self.receiver.requests) > seen)
        return self.receiver.requests[-1]

    def next_signed_by(self, n):
        """The first whose header has n signatures: processes keep secrets for a second."""
        def look():
            request = self.next()
            return request if request["headers"]["Service-Signature"].count("v1=") == n else None
        return wait_until(f"{n} signatures", look)

    def rotate(self, overlap_hours):
        made = self.service.as_operator(
            "POST", f"/admin/v1/orgs/{self.tenant.org_id}/signing-secrets/rotate", {"overlap_hours": overlap_hours})
        assert made.status == 200, made
        return made.json["secret"]


def test_openssl_and_stripe_verify_also_while_secrets_rotate(vedette, database, nginx, receiver, stripe):
    subject = Subject(vedette, nginx, receiver)
    first = subject.tenant.signing_secret
    wait_until("the first delivery", lambda: receiver.requests)
    request = receiver.requests[0]
    assert stripe(first, request) == "valid" and openssl_accepts(first, request)
    assert stripe("sk_whsec_" + "0" * 64, request) != "valid"
    assert stripe(first, request, body=request["body"] + b" ") != "valid"
    body = json.loads(request["body"])
    assert set(body) == {"type", "monitor_id", "event_group_id", "metadata", "created_at"}
    row = subject.tenant.rows(subject.monitor)[0]["id"]
    assert body["monitor_id"] == row, "the notification's monitor_id is the row's"
    assert body["metadata"] == {"text": "\u00fc \u2713 </script>", "n": 1.50}
    assert request["headers"]["Service-Event-Type"] == body["type"]
    assert request["headers"]["Service-Event-Id"] == body["event_group_id"]
    assert request["headers"]["Service-Monitor-Id"] == subject.monitor
    assert request["headers"]["Service-Delivery-Attempt"] == "1"
    assert request["headers"]["Content-Type"] == "application/json"

    second = subject.rotate(24)
    request = subject.next_signed_by(2)
    for secret in (first, second):
        assert stripe(secret, request) == "valid" and openssl_accepts(secret, request)
    shown = vedette.as_operator("GET", f"/admin/v1/orgs/{subject.tenant.org_id}")
    assert first not in shown.body.decode() and second not in shown.body.decode(), "shown once"
    assert database.value("SELECT count(*) FROM signing_secret WHERE position('sk_whsec'::bytea IN sealed) > 0") == 0

    database.rows("UPDATE signing_secret SET retires_at = now() WHERE retires_at IS NOT NULL")  # a day later
    request = subject.next_signed_by(1)
    assert stripe(second, request) == "valid" and openssl_accepts(second, request)
    assert stripe(first, request) != "valid" and not openssl_accepts(first, request)


def test_libraries_of_standard_webhooks_verify_also_while_secrets_rotate(vedette, nginx, receiver, standard_webhooks):
    subject = Subject(vedette, nginx, receiver)
    first = subject.tenant.signing_secret
    wait_until("the first delivery", lambda: receiver.requests)
    request = receiver.requests[0]
    headers = request["headers"]
    assert standard_webhooks(first, request) == "valid"
    assert standard_webhooks("sk_whsec_" + "0" * 64, request) != "valid"
    assert standard_webhooks(first, request, body=request["body"] + b" ") != "valid"
    assert headers["webhook-id"] == headers["Service-Event-Id"]
    assert f"t={headers['webhook-timestamp']}," in headers["Service-Signature"]

    second = subject.rotate(24)
    request = subject.next_signed_by(2)
    assert len(request["headers"]["webhook-signature"].split(" ")) == 2
    for secret in (first, second):
        assert standard_webhooks(secret, request) == "valid"


def test_every_attempt_is_signed_anew(vedette, database, nginx, stripe):
    receiver = Receiver(lambda request: 500 if request["headers"]["Service-Delivery-Attempt"] == "1" else 200)
    subject = Subject(vedette, nginx, receiver)
    wait_until("the first attempt", lambda: receiver.requests)
    t = [int(receiver.requests[0]["headers"]["Service-Signature"].split(",")[0][2:])]
    wait_until("the next second", lambda: int(time.time()) > t[0])
    wait_until("the retry's turn", lambda: len(receiver.requests) > 1 or
               database.rows("UPDATE delivery SET available_at = now() WHERE lease_token IS NULL"
                             " RETURNING id") == "never")
    request = receiver.requests[1]
    t.append(int(request["headers"]["Service-Signature"].split(",")[0][2:]))
    assert t[1] > t[0] and request["body"] == receiver.requests[0]["body"]
    assert request["headers"]["Service-Event-Id"] == receiver.requests[0]["headers"]["Service-Event-Id"]
    assert stripe(subject.tenant.signing_secret, request) == "valid"
    receiver.close()


def test_the_encryption_key_rotates_and_a_lost_one_fails_closed(binary, database, tmp_path, nginx, receiver, stripe):
    service = Vedette(binary, database.url, tmp_path).migrate().start()
    subject = Subject(service, nginx, receiver)
    secret = subject.tenant.signing_secret
    wait_until("the first delivery", lambda: receiver.requests)
    assert service.stop() == 0

    service.environment |= {"VEDETTE_SECURITY_ENCRYPTION_KEY": "6f" * 32,
                            "VEDETTE_SECURITY_ENCRYPTION_KEYS_OLD": ENCRYPTION_KEY}
    service.start()
    assert stripe(secret, subject.next()) == "valid"
    newer = subject.rotate(1)  # sealed under the new key, the former beside it under the old one
    request = subject.next_signed_by(2)
    assert stripe(secret, request) == "valid" and stripe(newer, request) == "valid"
    assert database.value("SELECT count(DISTINCT encryption_key_id) FROM signing_secret") == 2
    assert service.stop() == 0

    del service.environment["VEDETTE_SECURITY_ENCRYPTION_KEYS_OLD"]
    service.start()
    seen = len(receiver.requests)
    subject.tenant.post(f"/monitors/{subject.monitor}/trigger", {})
    error = wait_until("the refusal", lambda: next(
        iter(database.rows("SELECT last_error FROM delivery WHERE attempts > 0")), None))[0]
    assert error.startswith("signing: ") and "unsigned" in error
    assert len(receiver.requests) == seen, "nothing went out"
    assert database.value("SELECT max(failures) FROM endpoint") == 0, "which is not the receiver's failure"

    last = subject.rotate(0)  # retires what cannot be read
    def delivered():
        database.rows("UPDATE delivery SET available_at = now() WHERE lease_token IS NULL")
        return receiver.requests[seen:]
    request = wait_until("the delivery", delivered)[0]
    assert stripe(last, request) == "valid"
    assert service.stop() == 0


def test_without_a_secret_nothing_is_signed(vedette, nginx, receiver, database):
    database.rows("DELETE FROM signing_secret")
    nginx.write("page.html", "<title>A page</title>")
    tenant = vedette.organisation()
    database.rows("DELETE FROM signing_secret")
    tenant.post("/monitors", {
        "name": "One", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{nginx.url}/page.html"}],
        "struct": {"title": "css:title"}, "frequency": "30d", "webhook_url": receiver.url})
    wait_until("the delivery", lambda: receiver.requests)
    headers = receiver.requests[0]["headers"]
    assert not [name for name in headers if name == "Service-Signature" or name.startswith("webhook-")]
