"""docs/webhooks.md: its samples, as they stand there, verify the bytes of a live delivery, also during rotation."""

import base64
import functools
import hashlib
import hmac
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT, call, clean_environment, free_port, wait_until
from testbed import npm_tools

DOCUMENT = (ROOT / "docs/webhooks.md").read_text()


def sample(language):
    found = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(found) == 1, language
    return found[0]


def node():
    return f"{npm_tools()}/node_modules/.bin/node"


def python_verifies(secret, header, body):
    names = {}
    exec(sample("python"), names)  # the sample as it stands
    return names["verify"](secret, header, body)


def node_verifies(secret, header, body):
    given = json.dumps([secret, header, base64.b64encode(body).decode()])
    program = sample("javascript") + (
        f"\nconst [secret, header, body] = {given};"
        "\nconsole.log(verify(secret, header, Buffer.from(body, 'base64')));")
    done = subprocess.run([node(), "-e", program], capture_output=True, text=True, check=True)
    return done.stdout.strip() == "true"


def bash_verifies(secret, header, body):
    done = subprocess.run(["bash", "-c", f"{sample('bash')}\nverify {shlex.quote(secret)} {shlex.quote(header)}"],
                          input=body, capture_output=True)
    assert done.stderr == b"", done.stderr
    return done.returncode == 0


GO_MAIN = """package main

import ("io"; "os"; "time"; "webhook")

func main() {
	body, _ := io.ReadAll(os.Stdin)
	if !webhook.Verify(os.Args[1], os.Args[2], body, time.Now()) {
		os.Exit(1)
	}
}
"""


@functools.lru_cache
def go_program():
    """The sample with a main around it: a package of its own, as a receiver would have it."""
    compiler = shutil.which("gccgo") or shutil.which("gccgo-12")
    if not compiler:
        pytest.skip("the Go sample of docs/webhooks.md was NOT run: there is no gccgo")
    kept = tempfile.TemporaryDirectory(prefix="vedette-go-")  # until the process ends
    directory = Path(kept.name)
    (directory / "webhook.go").write_text(sample("go"))
    (directory / "main.go").write_text(GO_MAIN)
    for step in (["-c", "-fgo-pkgpath=webhook", "webhook.go"], ["-c", "-I.", "main.go"],
                 ["-o", "verify", "main.o", "webhook.o"]):
        subprocess.run([compiler, *step], cwd=directory, check=True)
    return kept


def go_verifies(secret, header, body):
    done = subprocess.run([f"{go_program().name}/verify", secret, header], input=body, capture_output=True)
    assert done.stderr == b"", done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("verifies", [python_verifies, node_verifies, bash_verifies, go_verifies])
def test_the_samples_verify_a_live_delivery(vedette, database, nginx, receiver, verifies):
    nginx.write("page.html", "<title>A page</title>")
    tenant = vedette.organisation()
    rotated = vedette.as_operator(
        "POST", f"/admin/v1/orgs/{tenant.org_id}/signing-secrets/rotate", {"overlap_hours": 1}).json["secret"]
    tenant.post("/monitors", {
        "name": "One", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{nginx.url}/page.html"}],
        "struct": {"title": "css:title"}, "frequency": "30d", "webhook_url": receiver.url,
        "metadata": {"text": "\u00fc %s $(x) `y` \\"}})
    request = wait_until("the delivery", lambda: receiver.requests)[0]
    header, body = request["headers"]["Service-Signature"], request["body"]
    assert header.count("v1=") == 2
    for secret in (tenant.signing_secret, rotated):
        assert verifies(secret, header, body)
        assert not verifies(secret, header, body + b"\n")
        assert not verifies(secret[:-1] + ("0" if secret[-1] != "0" else "1"), header, body)
    t = int(re.search(r"t=(\d+)", header).group(1))
    assert not verifies(rotated, header.replace(f"t={t}", f"t={t + 1}"), body)
    for broken in ("", "v1=" + header.split("v1=")[1], f"t={t}", "nonsense", f"t={t},v1=", f"t={t},v1=zz"):
        assert not verifies(rotated, broken, body), broken


def flask_receiver(directory, port):
    (directory / "verify.py").write_text(sample("python"))
    (directory / "receiver.py").write_text(sample("python flask"))
    return [sys.executable, "-m", "flask", "--app", "receiver", "run", "--port", str(port)], {}


def express_receiver(directory, port):
    (directory / "verify.js").write_text(sample("javascript") + "module.exports = { verify };\n")
    (directory / "receiver.js").write_text(sample("javascript express"))
    modules = Path(node()).parent.parent
    return [node(), "receiver.js"], {"PORT": str(port), "NODE_PATH": str(modules)}


class Told:
    """A receiver of the document at work."""

    def __init__(self, url, said):
        self.url, self.said = url, said

    def lines(self):
        """The events that it said. What else a framework says on its standard output is none."""
        return [line for line in self.said.read_text().splitlines() if line.startswith(("monitor.", "outgoing_webhook."))]


@pytest.fixture(params=[flask_receiver, express_receiver])
def listening(request, tmp_path):
    """listening(secret): the receiver, which verifies with that secret."""
    started = []

    def start(secret):
        port, directory = free_port(), tmp_path / "receiver"
        directory.mkdir()
        command, environment = request.param(directory, port)
        told = Told(f"http://127.0.0.1:{port}/hooks/vedette", directory / "said")
        with open(told.said, "w") as out, open(directory / "log", "w") as log:
            process = subprocess.Popen(command, cwd=directory, stdout=out, stderr=log,
                                       env=clean_environment({"SIGNING_SECRET": secret, **environment}))
        started.append(process)

        def listens():
            assert process.poll() is None, (directory / "log").read_text()
            try:
                return call("POST", told.url, {}).status == 400  # it is not signed
            except OSError:
                return False

        wait_until("the receiver to listen", listens)
        return told

    yield start
    for process in started:
        process.terminate()
        process.wait(30)


def signed_with(secret, event_group_id):
    """The body and the headers of a notification, signed."""
    body = json.dumps({"type": "monitor.execution.failed", "monitor_id": "r", "event_group_id": event_group_id}).encode()
    t = int(time.time())
    signature = hmac.new(secret.encode(), f"{t}.".encode() + body, hashlib.sha256).hexdigest()
    return body, {"Service-Signature": f"t={t},v1={signature}", "Service-Event-Type": "monitor.execution.failed",
                  "Service-Event-Id": event_group_id, "Service-Monitor-Id": event_group_id}


def test_the_whole_receivers_take_a_live_delivery_once_and_refuse_a_forged_one(vedette, nginx, listening):
    nginx.write("page.html", "<title>A page</title>")
    tenant = vedette.organisation()
    told = listening(tenant.signing_secret)
    monitor = tenant.post("/monitors", {
        "name": "One", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{nginx.url}/page.html"}],
        "struct": {"title": "css:title"}, "frequency": "30d", "webhook_url": told.url, "metadata": {"text": "\u00fc "}})
    ids = f"{monitor['id']} {monitor['rows'][0]['id']}"
    wait_until("the notification", lambda: told.lines() == [f"monitor.execution.completed {ids}"])
    body, headers = signed_with(tenant.signing_secret, "m")
    assert [call("POST", told.url, raw=body, headers=headers).status for _ in range(2)] == [204, 204]
    assert call("POST", told.url, raw=body + b" ", headers=headers).status == 400
    wait_until("the second event", lambda: len(told.lines()) >= 2)
    assert told.lines()[1:] == ["monitor.execution.failed m r"], "a repetition counts once"


def test_the_whole_receivers_say_every_event_of_those_that_come_at_once(listening):
    told = listening("sk_whsec_of_this_test")

    def posts(event_group_id):
        body, headers = signed_with("sk_whsec_of_this_test", event_group_id)
        return call("POST", told.url, raw=body, headers=headers).status

    events = [f"e{number}" for number in range(120)]
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(posts, events)) == {204}
    wait_until("every event", lambda: len(told.lines()) >= len(events))
    assert sorted(told.lines()) == sorted(f"monitor.execution.failed {event} r" for event in events)


def test_the_whole_receivers_take_the_callback_of_every_run(vedette, listening):
    tenant = vedette.organisation()
    told = listening(tenant.signing_secret)
    workflow = tenant.post("/workflows/create_workflow", {"workflow_name": "Told", "workflow_definition": {
        "blocks": [{"sequence_number": 1, "block_id": "in", "block_name": "webhook", "specs": {"dataframe_type": "LEAD"}},
                   {"sequence_number": 2, "block_id": "out", "block_name": "outgoing_webhook", "specs": {"url": told.url}}],
        "edges": [{"from_block_id": "in", "to_block_id": "out"}]}})["id"]
    runs = [tenant.post(f"/workflows/run?workflow_id={workflow}", {"webhook_payload": [{"n": n}]})["job_id"] for n in range(3)]
    wait_until("the three callbacks", lambda: sorted(told.lines()) == sorted(
        f"outgoing_webhook.completed - {run}" for run in runs))


def test_the_document_names_what_is_sent(vedette, nginx, receiver):
    nginx.write("page.html", "<title>A page</title>")
    tenant = vedette.organisation()
    monitor = tenant.post("/monitors", {
        "name": "One", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{nginx.url}/page.html"}],
        "struct": {"title": "css:title"}, "frequency": "30d", "webhook_url": receiver.url})["id"]
    request = wait_until("the delivery", lambda: receiver.requests)[0]
    for name in request["headers"]:
        if name not in ("Host", "Accept", "Accept-Encoding", "Content-Length"):
            assert f"\n{name}: " in DOCUMENT, name
    for field in json.loads(request["body"]):
        assert f"| `{field}` |" in DOCUMENT, field
    # The test notification is of the monitor, one attempt, answered with its outcome.
    outcome = tenant.post(f"/monitors/{monitor}/webhook/test", {})
    assert outcome["delivered"] and outcome["status_code"] == 200 and outcome["error"] is None
    test = json.loads(receiver.requests[-1]["body"])
    assert test["type"] == "monitor.webhook.test" and test["monitor_id"] == monitor
    assert call("GET", vedette.admin + "/readyz").status == 200
