"""Secrets that stayed secret, and must go on to: with the log at its finest, through good and bad requests of every kind,
none of the secrets stands in the log, the metrics, the audit, an answer, the process's arguments or a notification. An
answer that gives a secret out once (a new key, a rotated signing secret) is the only place."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from attack import Site, closing, exchange, fresh_database, monitor, response, slow_site
from conftest import ADMIN_TOKEN, ENCRYPTION_KEY, Receiver, Vedette, call, clean_environment, free_port, wait_until

PROBE_KEY, PROBE_SECRET = "research-bearer-" + "q" * 20, "sk_whsec_" + "d" * 64
OTHER_TOKEN, OLD_KEY, PASSWORD = "ops-token-" + "w" * 24, "ab" * 32, "pg-password-" + "z" * 12
ANSWERED = "what-a-receiver-answers-" + "v" * 12
WEBHOOK_SECRET = "webhook-path-token-" + "u" * 12


async def answers_privately(_path, _body):
    return response(ANSWERED, status=500)


async def researched(_path, body):
    found = {name: {"value": "Oslo"} for name in json.loads(body)["struct"]} if b'"struct"' in body else {}
    return response(json.dumps({"values": found}), headers=["Content-Type: application/json"])


@pytest.fixture(scope="module")
def world(binary, postgres, tmp_path_factory):
    """A service that has lived: every kind of request, good and bad, and what it said to each."""
    with fresh_database(postgres) as database, closing(Site(answers_privately)) as failing, \
            closing(Site(researched)) as research, closing(slow_site(0)) as site:
        url = database.url + f"&password={PASSWORD}"
        it = Vedette(binary, url, tmp_path_factory.mktemp("secrets"), {
            "VEDETTE_LOG_LEVEL": "trace", "VEDETTE_PROBES_HIGH_KIND": "http", "VEDETTE_PROBES_HIGH_URL": research.url,
            "VEDETTE_PROBES_HIGH_API_KEY": PROBE_KEY, "VEDETTE_PROBES_HIGH_SIGNING_SECRET": PROBE_SECRET,
            "VEDETTE_ADMIN_TOKENS_OPS": OTHER_TOKEN, "VEDETTE_SECURITY_ENCRYPTION_KEYS_OLD": OLD_KEY,
        }).migrate().start()
        try:
            yield lived(it, database, failing, research, site)
        finally:
            it.stop()


def lived(it, database, failing, research, site):
    receiver = Receiver()
    tenant, said = it.organisation(), []
    path = f"/admin/v1/orgs/{tenant.org_id}"
    rotated = it.as_operator("POST", path + "/signing-secrets/rotate", {"overlap_hours": 1}).json["secret"]
    spare = it.as_operator("POST", path + "/api-keys", {"name": "spare"}).json
    hook = failing.url + WEBHOOK_SECRET
    failed = monitor(tenant, [site.url], webhook_url=hook)
    monitor(tenant, [site.url + "2"], webhook_url=receiver.url)
    monitor(tenant, ["http://a.example/"], {"city": "where it sits"}, tier="high")
    wait_until("both notifications and the research", lambda: failing.asked and receiver.requests and research.asked)
    said.append(tenant.call("POST", f"/monitors/{failed}/webhook/test", {}))
    wait_until("the attempt's record", lambda: database.value("SELECT count(*) FROM delivery_attempt") >= 2)
    secrets = {"the key": tenant.api_key, "another key": spare["key"], "the signing secret": tenant.signing_secret,
               "the new signing secret": rotated, "the admin token": ADMIN_TOKEN, "another token": OTHER_TOKEN,
               "the encryption key": ENCRYPTION_KEY, "an old encryption key": OLD_KEY, "the probe's key": PROBE_KEY,
               "the probe's secret": PROBE_SECRET, "the database's password": PASSWORD}
    said += bad_requests(it, tenant, spare["key"])
    said += views(it, tenant, failed)
    assert it.as_operator("DELETE", f"{path}/api-keys/{spare['id']}").status == 204
    wait_until("the key's end", lambda: call("GET", it.api + "/monitors", headers={"x-api-key": spare["key"]}).status == 401)
    receiver.close()
    return it, database, secrets, said, receiver


def bad_requests(it, tenant, key):
    """Secrets where they do not belong, so that an error might repeat them."""
    said = []
    for text in (key, tenant.signing_secret, ADMIN_TOKEN):
        good = {"x-api-key": tenant.api_key}
        said += [call("GET", f"{it.api}/monitors?api_key={text}"), call("GET", f"{it.api}/{text}"),
                 call("GET", f"{it.api}/monitors", headers={"x-api-key": text + "x"}),
                 call("GET", f"{it.api}/monitors", headers={"Authorization": f"Bearer {text}"}),
                 call("GET", f"{it.admin}/admin/v1/orgs", headers={"Authorization": f"Bearer {text}x"}),
                 call("GET", f"{it.admin}/admin/v1/{text}", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}),
                 call("POST", f"{it.api}/monitors", raw=b"{", headers=good)]
        said.append(exchange(it, f"GET / HTTP/1.1\r\nHost: x\r\nx-api-key: {text}\r\nBad Header\r\n\r\n".encode()))
    return said


def views(it, tenant, failed):
    """Everything that shows something, to the tenant and to the operator."""
    org = f"/admin/v1/orgs/{tenant.org_id}"
    row = tenant.rows(failed)[0]["id"]
    said = [tenant.call("GET", p) for p in (
        "/monitors", f"/monitors/{failed}", f"/monitors/{failed}/rows", f"/monitors/{failed}/ticks",
        f"/monitors/{failed}/rows/{row}/events?include_completions=true", "/openapi.json", "/docs")]
    said += [it.as_operator("GET", p) for p in (
        "/admin/v1/overview", "/admin/v1/audit", "/admin/v1/monitors", f"/admin/v1/monitors/{failed}", "/admin/v1/orgs",
        org, org + "/api-keys", "/", "/healthz", "/readyz", "/metrics")]
    assert all(answer.status == 200 for answer in said), said
    return said


def bodies(said):
    return [a if isinstance(a, bytes) else a.body + str(a.headers).encode() for a in said]


def test_no_secret_is_in_the_log(world):
    it, _, secrets, _, _ = world
    log = it.log()
    assert len(log) > 500
    assert [name for name, text in secrets.items() if text in log] == []


def test_no_secret_is_in_an_answer_a_metric_or_the_audit(world):
    _, _, secrets, said, _ = world
    assert len(said) > 35
    # What a client sends as part of a path may come back in the sentence that says so; what it authenticates with not.
    for body in bodies(said):
        for name, text in secrets.items():
            assert text.encode() not in body or b"not found" in body.lower() or b'"not_found"' in body, (name, body[:300])


def test_a_receivers_answer_and_address_are_the_operators_alone(world):
    it, _, _, said, _ = world
    for answer in said:
        if isinstance(answer, bytes) or answer.headers.get("X-RateLimit-Limit") is None:
            continue
        assert ANSWERED.encode() not in answer.body, answer
    metrics = call("GET", it.admin + "/metrics").body
    assert ANSWERED.encode() not in metrics and WEBHOOK_SECRET.encode() not in metrics
    assert ANSWERED not in it.log()


def test_no_secret_is_stored_in_the_clear(world):
    """Keys are stored as a hash, signing secrets as a ciphertext; the operator's secrets not at all."""
    _, database, secrets, _, _ = world
    tables = [name for (name,) in database.rows(
        "SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")]
    dump = "\n".join(str(database.value(f"SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM {t} t")) for t in tables)
    hashed = hashlib.sha256(secrets["the key"].encode()).hexdigest()
    assert hashed in dump, "this looks at the wrong place"
    for name, text in secrets.items():
        assert text not in dump and text.encode().hex() not in dump, name


def test_no_secret_is_in_the_arguments_or_in_a_notification(world):
    it, _, secrets, _, receiver = world
    arguments = Path(f"/proc/{it.process.pid}/cmdline").read_text()
    request = receiver.requests[0]
    sent = request["body"].decode() + str(request["headers"])
    for name, text in secrets.items():
        assert text not in arguments and text not in sent, name
    assert re.fullmatch(r"t=\d+(,v1=[0-9a-f]{64}){1,5}", request["headers"]["Service-Signature"])


NOBODY = 65534


@pytest.fixture
def binary_of_everybody(binary):
    """One that a user without rights may start; the owner of a process's files tells whether its memory may be seen."""
    directory = Path(tempfile.mkdtemp(prefix="vedette-e2e-secrets-", dir="/tmp"))
    directory.chmod(0o755)
    shutil.copy(binary, directory / "vedette")
    yield directory / "vedette"
    shutil.rmtree(directory, ignore_errors=True)


@pytest.mark.parametrize("more, seen", [([], False), (["--debuggable"], True)])
def test_neither_a_core_dump_nor_another_process_sees_the_memory_unless_asked(binary_of_everybody, more, seen):
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    environment = clean_environment({
        "VEDETTE_DATABASE_URL": "postgresql://127.0.0.1:1/none", "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN,
        "VEDETTE_SECURITY_ENCRYPTION_KEY": ENCRYPTION_KEY, "VEDETTE_API_LISTEN": f"127.0.0.1:{free_port()}",
        "VEDETTE_ADMIN_LISTEN": f"127.0.0.1:{free_port()}"})
    with subprocess.Popen([binary_of_everybody, "serve", *more], env=environment, cwd="/", stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE, text=True, user=user, extra_groups=[] if user == NOBODY else None) as process:
        try:
            assert any(" started " in line for line in process.stdout), "it ended"
            assert os.stat(f"/proc/{process.pid}/mem").st_uid == (user if seen else 0)
        finally:
            process.terminate()
            process.communicate()
