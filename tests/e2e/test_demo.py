"""`vedette demo`: the story passes, and fails where a step is not observed; nothing is left behind."""

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg2
import pytest

from conftest import call, clean_environment, fast_directory, wait_until


@contextlib.contextmanager
def a_directory():
    path = Path(tempfile.mkdtemp(prefix="vedette-e2e-demo-", dir=fast_directory()))
    path.chmod(0o755)  # PostgreSQL's user has to pass
    yield path / "var"
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def directory():
    with a_directory() as path:
        yield path


@pytest.fixture(scope="module")
def told(binary):
    """The whole story, told once: its output, and the directory that it left."""
    with a_directory() as path:
        yield run(binary, path), path


@pytest.fixture
def lived_in(told, directory):
    """A copy of what the whole story left, for what is asked of a second start."""
    done, left = told
    assert done.returncode == 0, done.stdout + done.stderr
    subprocess.run(["cp", "-a", left, directory], check=True)
    return directory


def arguments(binary, directory, *more):
    return [binary, "demo", "--dir", directory, "--api-port", "0", "--admin-port", "0", *more]


def run(binary, directory, *more, environment=None):
    return subprocess.run(arguments(binary, directory, "--once", *more), capture_output=True, text=True,
                          timeout=150, env=clean_environment(environment))


def processes_of(directory):
    """Those that work in the demo's cluster."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd").startswith(str(directory)):
                found.append(entry.name)
        except OSError:
            pass
    return found


LINK = re.compile(r"  dashboard +http://localhost:\d+/dashboard#/invitation/(\w+)\n")


def start(binary, directory, *more):
    process = subprocess.Popen(arguments(binary, directory, *more), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, env=clean_environment(),
                               start_new_session=True)
    announced = directory / "demo.json"

    def ready():
        assert process.poll() is None, process.stdout.read()
        return announced.exists()

    wait_until("the demo to be ready", ready, 120)
    return process, json.loads(announced.read_text())


def stop(process):
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    return output


def shapes(text):
    """The lines of a story, without what differs from run to run: ids, figures, and that a slow machine waits."""
    story = text[re.search(r"^1/\d+ ", text, re.MULTILINE).start():text.index("Every step was observed.")]
    lines = []
    for line in filter(None, map(str.strip, story.splitlines())):
        line = re.sub(r"[0-9a-f]{8}(-[0-9a-f-]*)?", "ID", line)
        line = re.sub(r"\d+(\.\d+)?", "N", line).replace("credits", "credit")
        # The line of a page made by scripts says what this machine can do.
        if not line.startswith("waiting for ") and "page made by scripts" not in line:
            lines.append(line)
    return lines


def the_readme_shows(out):
    """Its sample is what the demo prints, line by line; what ends in dots is cut."""
    shown = shapes((Path(__file__).resolve().parents[2] / "README.md").read_text())
    printed = shapes(out)
    cut = [line[:len(sample) - 3] + "..." if sample.endswith("...") else line for sample, line in zip(shown, printed)]
    assert cut + printed[len(shown):] == shown


def test_once_passes_and_leaves_nothing_running(told):
    done, directory = told
    assert done.returncode == 0, done.stdout + done.stderr
    out = done.stdout
    assert re.search(r"changed from \S+ to \S+", out)
    assert re.search(r"source http://127\.0\.0\.1:\d+/companies/", out)
    assert "signature verified" in out
    assert re.search(r"balance before [\d.]+ credits, now [\d.]+ credits: [\d.]+ credits? charged", out)
    assert "answered 409" in out and "answered 202" in out
    assert out.count("monitor.field.changed arrived, its signature verified") == 2
    assert "a monitor of 3 rows, made by the run" in out
    assert re.search(r"Subject: Companies at nine: .+ changed", out) and re.search(r"employees: \d+ → \d+", out)
    assert "a page made by scripts" in out
    told = re.findall(r"^(\d+)/(\d+) .+$", out, re.MULTILINE)
    assert told == [(str(step), str(len(told))) for step in range(1, len(told) + 1)]
    the_readme_shows(out)
    assert "\x1b" not in out, "in a pipe the lines are plain"
    assert "Every step was observed." in out
    assert not processes_of(directory)
    assert not (directory / "demo.json").exists()
    assert stat.S_IMODE((directory / "state.json").stat().st_mode) == 0o600


def test_only_tells_a_chapter_and_those_that_it_goes_on_from(binary, directory):
    done = run(binary, directory, "--only", "webhook")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^(\d+)/\d+ ", done.stdout, re.MULTILINE) == ["1", "2", "3", "4"]
    assert "signature verified" in done.stdout and "Every step was observed." in done.stdout


def test_a_chapter_that_is_not_there_is_refused_with_those_that_are(binary, directory):
    done = run(binary, directory, "--only", "nonsense")
    assert done.returncode == 2
    assert all(name in done.stderr for name in ("monitor", "webhook", "addresses", "person", "workflow", "search", "mail"))
    assert not directory.exists()


def test_a_refusing_receiver_fails_the_step_by_name(binary, directory):
    done = run(binary, directory, "--receiver", "refuse", "--only", "webhook")
    assert done.returncode == 1
    assert "Step 4/12 (The receiver is told) failed" in done.stdout
    assert "refused" in done.stdout
    assert not processes_of(directory)


def test_a_wrong_signature_key_fails_the_step_by_name(binary, directory):
    done = run(binary, directory, "--receiver", "wrong-key", "--only", "webhook")
    assert done.returncode == 1
    assert "Step 4/12 (The receiver is told) failed" in done.stdout
    assert "signature" in done.stdout
    assert not processes_of(directory)


def test_stays_up_until_ctrl_c_and_the_next_start_continues(binary, directory):
    process, first = start(binary, directory)
    assert set(first) >= {"api", "admin", "admin_token", "api_key", "org_id", "monitor_id",
                          "signing_secret", "database_url"}
    assert stat.S_IMODE((directory / "demo.json").stat().st_mode) == 0o600
    rows = call("GET", f"{first['api']}/monitors/{first['monitor_id']}/rows", headers={"x-api-key": first["api_key"]})
    assert rows.status == 200 and len(rows.json["rows"]) == 3
    org = call("GET", f"{first['admin']}/admin/v1/orgs/{first['org_id']}",
               headers={"Authorization": "Bearer " + first["admin_token"]})
    assert org.status == 200
    psycopg2.connect(first["database_url"]).close()
    assert processes_of(directory)

    out = stop(process)
    assert process.returncode == 0, out
    assert first["api"] in out and "curl -H 'x-api-key: " in out and str(directory) in out
    assert not processes_of(directory)
    assert not (directory / "demo.json").exists()

    assert LINK.search(out), out

    process, second = start(binary, directory, "--only", "monitor")
    said = ""
    while not (link := LINK.search(said)):
        line = process.stdout.readline()
        assert line, said
        said += line
    invited = call("POST", f"{second['api']}/dashboard/invitation", {"token": link[1]})
    assert invited.status == 200 and invited.json["email"] == "visitor@demo.example", invited
    out = said + stop(process)
    assert process.returncode == 0, out
    for kept in ("org_id", "api_key", "monitor_id", "signing_secret", "admin_token"):
        assert second[kept] == first[kept]
    assert "continuing with the organisation and monitor of the last run" in out


class Visitor:
    """Somebody who looks around in a running demo, with the addresses and keys of its demo.json."""

    def __init__(self, announced):
        self.announced = announced
        self.org = f"/admin/v1/orgs/{announced['org_id']}"
        self.monitor = f"/monitors/{announced['monitor_id']}"

    def post(self, path, body):
        answer = call("POST", self.announced["api"] + path, body, {"x-api-key": self.announced["api_key"]})
        assert answer.status == 200, answer
        return answer.json

    def operate(self, method, path, body=None):
        answer = call(method, self.announced["admin"] + path, body,
                      {"Authorization": "Bearer " + self.announced["admin_token"]})
        assert answer.status in (200, 201), answer
        return answer.json

    def money(self):
        return self.operate("GET", self.org)

    def add_a_monitor(self, url):
        return self.post("/monitors", {"name": "the visitor's", "key_columns": ["company"], "frequency": "1s",
                                       "rows": [{"company": f"c{i}", "url": url} for i in range(20)],
                                       "struct": {"title": "css:h1"}})


@pytest.fixture
def silent_url():
    """The URL of a site that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


def spend_everything(visitor, silent_url):
    """All credits are gone or reserved for checks that hang, and the story's monitor is paused by the operator."""
    visitor.operate("POST", visitor.org + "/credits", {"amount": 100 - visitor.money()["balance"], "reason": "spent"})
    visitor.operate("POST", "/admin/v1" + visitor.monitor + "/pause", {"reason": "the visitor's own"})
    visitor.add_a_monitor(silent_url)
    wait_until("credits to be reserved", lambda: visitor.money()["reserved"] >= 20)


def change_the_monitor(visitor, _):
    """It is cancelled, another is made, and the secret that the receiver knows is rotated away."""
    visitor.post(visitor.monitor + "/cancel", {})
    visitor.add_a_monitor("http://127.0.0.1:9/")
    visitor.operate("POST", visitor.org + "/signing-secrets/rotate", {"overlap_hours": 0})


def lock_the_organisation(visitor, _):
    visitor.operate("PATCH", visitor.org, {"locked": True, "reason": "the visitor's own"})


@pytest.mark.parametrize("disturb, chapters", [(spend_everything, []), (change_the_monitor, ["--only", "webhook"]),
                                               (lock_the_organisation, ["--only", "checks"])])
def test_it_starts_again_after_whatever_a_visitor_did(binary, lived_in, silent_url, disturb, chapters):
    process, announced = start(binary, lived_in, "--only", "monitor")
    disturb(Visitor(announced), silent_url)
    stop(process)
    again = run(binary, lived_in, *chapters)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "Every step was observed." in again.stdout


def test_a_chapter_that_fails_leaves_the_service_up_and_says_what_to_do(binary, directory):
    process, announced = start(binary, directory, "--receiver", "refuse", "--only", "webhook")
    visitor = Visitor(announced)
    assert call("GET", announced["api"] + visitor.monitor, headers={"x-api-key": announced["api_key"]}).status == 200
    assert visitor.money()["id"] == announced["org_id"]
    out = stop(process)
    assert process.returncode == 1
    assert "Step 4/12 (The receiver is told) failed" in out and f"rm -r {directory}" in out
    assert f"{directory}/demo.json" in out and "curl -H 'x-api-key: " in out
    assert not processes_of(directory)


def test_killed_it_leaves_no_server_and_starts_again(binary, lived_in):
    process, first = start(binary, lived_in, "--only", "monitor")
    process.kill()
    process.communicate()
    wait_until("the server to end", lambda: not processes_of(lived_in))
    assert (lived_in / "demo.json").exists(), "a kill leaves it"
    done = run(binary, lived_in)
    assert done.returncode == 0, done.stdout + done.stderr
    assert first["monitor_id"] in json.loads((lived_in / "state.json").read_text())["monitor_id"]


def test_ctrl_c_in_the_story_ends_cleanly(binary, directory):
    process = subprocess.Popen(arguments(binary, directory), stdout=subprocess.PIPE, text=True,
                               env=clean_environment(), start_new_session=True)
    for line in process.stdout:
        if line.startswith("1/12"):
            break
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert not processes_of(directory)


def test_a_taken_port_is_named(binary, lived_in, receiver):
    taken = receiver.server.server_address[1]
    done = run(binary, lived_in, "--api-port", str(taken))
    assert done.returncode == 1
    assert f"127.0.0.1:{taken}" in done.stdout and "--api-port" in done.stdout
    assert not processes_of(lived_in)


def test_the_environment_is_honoured(binary, lived_in, receiver):
    taken = receiver.server.server_address[1]
    command = [binary, "demo", "--once", "--dir", lived_in, "--admin-port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                          env=clean_environment({"VEDETTE_API_LISTEN": f"127.0.0.1:{taken}"}))
    assert done.returncode == 1
    assert f"127.0.0.1:{taken}" in done.stdout


def test_a_second_demo_in_the_same_directory_is_refused_and_leaves_the_first_alone(binary, lived_in):
    process, _ = start(binary, lived_in, "--only", "monitor")
    before = (Path(lived_in) / "demo.json").read_text()
    done = run(binary, lived_in)
    assert done.returncode == 1
    assert f"in use by process {process.pid}" in done.stdout
    assert (Path(lived_in) / "demo.json").read_text() == before
    stop(process)
    assert process.returncode == 0


def test_on_a_terminal_it_has_colour(binary, directory):
    master, slave = pty.openpty()
    process = subprocess.Popen(arguments(binary, directory), stdout=slave, stderr=slave,
                               env=clean_environment({"TERM": "xterm"}), start_new_session=True)
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + 30
    while b"1/12" not in seen and time.monotonic() < deadline:
        if select.select([master], [], [], 0.5)[0]:
            seen += os.read(master, 4096)
    process.send_signal(signal.SIGTERM)
    while True:  # so that it never waits for its terminal
        try:
            if not os.read(master, 4096):
                break
        except OSError:
            break
    assert process.wait(60) == 0
    os.close(master)
    assert b"\x1b[" in seen
