"""docs/tasks/: each page is followed to its end, by its own samples. Addresses of the internet, ports and keys are the test's."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import ADMIN_TOKEN, ENCRYPTION_KEY, ROOT, Receiver, Vedette, call, clean_environment, free_port, wait_until
from mail_relay import MailRelay
from test_find_email import make_world  # noqa: F401
from testbed import npm_tools


class Page:
    """A page of docs/tasks and a shell beside it. `replaced` says what is the test's."""

    def __init__(self, name, directory, replaced, environment=None):
        self.text = (ROOT / "docs/tasks" / name).read_text()
        self.directory, self.replaced = directory, replaced
        self.environment = clean_environment(environment)

    def sample(self, name):
        """The sample whose fence says `name`, without the list's indentation, with what is the test's in it."""
        found = re.findall(rf"^( *)```\w+ {name}\n(.*?)^\1```$", self.text, re.MULTILINE | re.DOTALL)
        assert len(found) == 1, name
        indent, lines = found[0]
        text = "".join(line.removeprefix(indent) for line in lines.splitlines(keepends=True))
        for old, new in self.replaced.items():
            text = text.replace(old, new)
        return text

    def run(self, *names, **variables):
        """These samples, one after the other in one shell."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", "".join(map(self.sample, names))], cwd=self.directory,
                              capture_output=True, text=True, timeout=180, env={**self.environment, **variables})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def samples(self):
        return set(re.findall(r"^ *```\w+ (\w+)$", self.text, re.MULTILINE))


@pytest.fixture
def on_path(binary, tmp_path):
    """The environment of a shell that finds vedette."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/vedette").symlink_to(binary.resolve())
    return {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}


def test_pricing_pages_are_watched(vedette, nginx, receiver, tmp_path):
    nginx.write("pricing.html", "<h1>Starter</h1><p class=price>49 EUR</p>")
    nginx.write("team.html", "<h1>Team</h1><p class=price>290 EUR</p>")
    tenant = vedette.organisation()
    page = Page("watch-pricing-pages.md", tmp_path, {
        "https://api.example.com": vedette.api, "vd_live_...": tenant.api_key, "https://hooks.example.com/vedette": receiver.url,
        "https://www.example.com/pricing": f"{nginx.url}/pricing.html", "https://www.example.com/team": f"{nginx.url}/team.html"})
    (row,) = json.loads(page.run("begin", "preview"))["rows"]
    assert row["observed"]["price"]["value"] == 49 and row["observed"]["headline"]["value"] == "Starter"
    monitor = json.loads(page.run("begin", "create"))["id"]

    def prices():
        rows = json.loads(page.run("begin", "rows", monitor=monitor))["rows"]
        return [row["current"].get("price", {}).get("value") for row in rows]

    wait_until("both prices", lambda: prices() == [49, 290], every_s=0.5)
    nginx.write("pricing.html", "<h1>Starter</h1><p class=price>59 EUR</p>")
    page.run("begin", "trigger", monitor=monitor)
    told = wait_until("the receiver to be told", lambda: receiver.requests)[0]
    assert told["headers"]["Service-Event-Type"] == "monitor.field.changed"
    assert told["headers"]["Service-Monitor-Id"] == monitor
    (event,) = json.loads(page.run("begin", "changes", monitor=monitor))["events"]
    assert (event["field"], event["previous_value"], event["current_value"]) == ("price", 49, 59)
    assert event["event_group_id"] == told["headers"]["Service-Event-Id"]
    assert page.samples() == {"begin", "preview", "create", "rows", "changes", "trigger"}


def test_a_check_runs_every_weekday_at_nine(vedette, nginx, tmp_path):
    nginx.write("pricing.html", "<p class=price>49 EUR</p>")
    page = Page("check-at-a-time-of-day.md", tmp_path, {
        "https://api.example.com": vedette.api, "vd_live_...": vedette.organisation().api_key,
        "https://www.example.com/pricing": f"{nginx.url}/pricing.html"})
    times = json.loads(page.run("begin", "times"))["times"]
    assert len(times) == 3 and all(re.search(r"T0[78]:00:00\.000000Z$", time) for time in times)
    monitor = json.loads(page.run("begin", "create"))["id"]
    shown = json.loads(page.run("begin", "shown", monitor=monitor))
    assert shown["frequency"] == "1d" and len(shown["next_run_times"]) == 5
    changed = json.loads(page.run("begin", "change", monitor=monitor))
    assert changed["schedule"]["cron"] == ["0 9 * * 1-5", "0 12 L * *"]
    assert page.samples() == {"begin", "times", "create", "shown", "change"}


def test_a_workflow_runs_every_weekday_at_nine(vedette, database, tmp_path):
    tenant = vedette.organisation()
    blocks = [{"sequence_number": 1, "block_id": "in", "block_name": "webhook", "specs": {"dataframe_type": "COMPANY"}},
              {"sequence_number": 2, "block_id": "once", "block_name": "dedupe", "specs": {"columns": ["domain"]}}]
    workflow = tenant.post("/workflows/create_workflow", {"workflow_name": "Each company once", "workflow_definition": {
        "blocks": blocks, "edges": [{"from_block_id": "in", "to_block_id": "once"}]}})["id"]
    page = Page("run-a-workflow-at-nine.md", tmp_path, {"https://api.example.com": vedette.api, "vd_live_...": tenant.api_key})
    made = json.loads(page.run("begin", "create", workflow=workflow))
    assert len(made["next_run_times"]) == 5, made
    ids = {"workflow": workflow, "schedule": made["id"]}

    def history():
        return json.loads(page.run("begin", "history", **ids))["history"]

    # It is nine.
    database.rows("update workflow_schedule set next_at = date_trunc('minute', now()), look_at = now()")
    (slot,) = wait_until("the slot's run", history)
    assert slot["outcome"] == "started", slot
    wait_until("the run's end", lambda: tenant.get(f"/workflows/runs/{slot['run_id']}/live_status")["overall_status"] == "completed")
    (run,) = tenant.get("/workflows/runs")
    assert (run["schedule_id"], run["scheduled_at"]) == (made["id"], slot["scheduled_at"])
    assert json.loads(page.run("begin", "trigger", **ids))["status"] == "queued"
    assert json.loads(page.run("begin", "queue", **ids))["overlap"] == "queue_one"
    assert json.loads(page.run("begin", "pause", **ids))["next_run_times"] == []
    assert page.samples() == {"begin", "create", "trigger", "queue", "history", "pause"}


def test_whoever_wants_to_is_told_by_mail_and_in_a_chat(binary, database, nginx, receiver, tmp_path):
    nginx.write("pricing.html", "<p class=price>49 EUR</p>")
    relay = MailRelay()
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_MAIL_RELAY": f"smtp://127.0.0.1:{relay.port}", "VEDETTE_MAIL_FROM": "alerts@vedette.example",
        "VEDETTE_API_PUBLIC_URL": "https://vedette.example"}).migrate().start()
    try:
        tenant = service.organisation()
        page = Page("be-told.md", tmp_path, {
            "https://api.example.com": service.api, "vd_live_...": tenant.api_key,
            "https://hooks.slack.com/services/T0/B0/secret": f"{receiver.url}/secret",
            "https://www.example.com/pricing": f"{nginx.url}/pricing.html"})
        mail = json.loads(page.run("begin", "mail"))
        assert mail["status"] == "unconfirmed"
        (question,) = wait_until("the question", lambda: relay.to("ann@acme.example"))
        text = question.get_body(("plain",)).get_content()
        link = re.search(r"https://vedette\.example(/mail-addresses/\S+)", text).group(1)
        assert call("GET", service.api + link).status == 200
        chat = json.loads(page.run("begin", "chat"))["id"]
        assert json.loads(page.run("begin", "try", chat=chat))["delivered"] is True
        monitor = json.loads(page.run("begin", "create", mail=mail["id"], chat=chat))["id"]
        wait_until("the first check", lambda: tenant.finished_ticks(monitor))
        nginx.write("pricing.html", "<p class=price>59 EUR</p>")
        tenant.post(f"/monitors/{monitor}/trigger", {})
        wait_until("the chat to be told", lambda: len(receiver.requests) == 2)
        assert len(relay.to("ann@acme.example")) == 1, "it waits for nine"
        database.rows("update channel set digest_at = now() where digest <> 'none'")
        wait_until("the digest", lambda: len(relay.to("ann@acme.example")) == 2)
        digest = relay.to("ann@acme.example")[1]
        assert digest["Subject"] == "Prices by mail: 1 notification"
        assert "Pricing pages, " in digest.get_body(("plain",)).get_content()
        states = {channel["name"]: channel["status"] for channel in json.loads(page.run("begin", "look"))["channels"]}
        assert states == {"Prices by mail": "active", "Prices in the chat": "active"}
        (told,) = json.loads(page.run("begin", "told", chat=chat))["deliveries"]
        assert (told["state"], told["last_error"]) == ("delivered", None)
        assert json.loads(page.run("begin", "account", chat=chat)) == {"channel_ids": [chat]}
        assert page.samples() == {"begin", "mail", "chat", "try", "create", "look", "told", "account"}
        assert service.stop() == 0
    finally:
        if service.process.poll() is None:
            service.kill()
        relay.close()


def test_a_list_of_leads_is_verified(make_world, tmp_path):  # noqa: F811
    world = make_world()
    world.mail.knows = lambda local, domain: domain == "everybody.example" or local in ("ada.lovelace", "grace.hopper")
    world.serve("engines.example", "everybody.example")
    world.start()
    tenant = world.vedette.organisation(100)
    page = Page("verify-leads.md", tmp_path, {"https://api.example.com": world.vedette.api, "vd_live_...": tenant.api_key,
                                              "python3": sys.executable})
    (tmp_path / "leads.csv").write_text(page.sample("leads"))
    (tmp_path / "verify.py").write_text(page.sample("verify"))
    page.run("run")
    assert (tmp_path / "verified.csv").read_text() == page.sample("verified")
    # Blank lines of every kind, and what a spreadsheet puts before the first column: the same answer.
    lines = page.sample("leads").splitlines()
    (tmp_path / "leads.csv").write_text("\ufeff" + "\r\n".join([lines[0], "", lines[1], " ", lines[2], ",", " , ,", *lines[3:], ""]))
    page.run("run")
    assert (tmp_path / "verified.csv").read_text() == page.sample("verified")
    assert page.samples() == {"leads", "verify", "run", "verified"}


def test_a_client_in_typescript_watches_pages_and_runs_a_workflow(vedette, nginx, tmp_path):
    nginx.write("pricing.html", "<h1>Starter</h1><p class=price>49 EUR</p>")
    nginx.write("team.html", "<h1>Team</h1><p class=price>290 EUR</p>")
    modules = f"{npm_tools()}/node_modules"
    tenant = vedette.organisation()
    page = Page("write-a-client.md", tmp_path, {
        "https://api.example.com": vedette.api, "vd_live_...": tenant.api_key, "npx ": "node_modules/.bin/",
        "https://www.example.com/pricing": f"{nginx.url}/pricing.html", "https://www.example.com/team": f"{nginx.url}/team.html"},
        {"PATH": f"{modules}/.bin:{os.environ['PATH']}"})
    # What the sample `install` makes, of the tools that are pinned here: its packages, in these versions.
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text(json.dumps({"name": "client", "version": "1.0.0", "type": "module"}))
    pinned = json.loads((ROOT / "tests/npm/package.json").read_text())["dependencies"]
    asked = dict(re.findall(r"(@?[\w/-]+)@([\d.]+)", page.sample("install")))
    assert asked and all(f"{pinned[name]}.".startswith(f"{version}.") for name, version in asked.items()), asked
    for name, file in (("client", "vedette.ts"), ("watch", "watch.ts"), ("run", "run.ts")):
        (tmp_path / file).write_text(page.sample(name))
    assert page.run("types", "start").splitlines()[-5:] == ["Starter 49", "Team 290", "domain", "a.example", "b.example"]
    # What changes is read by the same program, which goes on with the same monitor.
    (monitor,) = tenant.get("/monitors")["monitors"]
    nginx.write("pricing.html", "<h1>Starter</h1><p class=price>59 EUR</p>")
    tenant.post(f"/monitors/{monitor['id']}/trigger", {})
    wait_until("the change", lambda: tenant.get(f"/monitors/{monitor['id']}/events?event_type=change")["events"])
    said = page.run("types", "start").splitlines()
    assert "Starter 59" in said and "price changed from 49 to 59" in said, said
    assert page.samples() == {"install", "types", "client", "watch", "run", "start"}


def run_beside(page, script, tmp_path):
    """What a script said that leaves processes running, which end with it. To files: they would hold a pipe open."""
    with open(tmp_path / "out", "wb") as out, open(tmp_path / "err", "wb") as err:
        shell = subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=page.environment, stdout=out,
                                 stderr=err, start_new_session=True)
    try:
        status = shell.wait(180)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
    said = (tmp_path / "out").read_text()
    assert status == 0, said + (tmp_path / "err").read_text()[-3000:]
    return said


def test_a_fleet_is_started_looked_at_and_one_of_it_replaced(on_path, database, tmp_path):
    ports = {f"127.0.0.1:{port}": f"127.0.0.1:{free_port()}" for port in (8080, 8081, 8082, 9464, 9465, 9466)}
    page = Page("run-a-fleet.md", tmp_path, {
        "postgresql://vedette@db.internal/vedette": f"'{database.url}'", "$(openssl rand -hex 32)": ENCRYPTION_KEY, **ports}, on_path)
    script = "".join(map(page.sample, ("share", "start", "look", "replace"))) + """
        echo replaced
        until [ "$(vedette ctl --json overview | grep -c '"scheduler"')" -ge 2 ]; do sleep 0.2; done
        vedette ctl --json overview
        kill -TERM $(jobs -pr)
        wait
    """
    said = run_beside(page, script, tmp_path)
    overview = said.split("\nreplaced\n")[1]
    for role in ("api", "admin", "scheduler", "worker", "delivery"):
        assert f'"{role}"' in overview, (role, overview)
    assert page.samples() == {"share", "start", "look", "replace"}


def test_a_second_cell_stands_beside_the_first(vedette, postgres, on_path, tmp_path):
    name, token, maps = postgres.new_name(), tmp_path / "token", tmp_path / "maps"
    postgres.create(name)
    token.write_text(ADMIN_TOKEN + "\n")
    api, admin = free_port(), free_port()
    page = Page("grow-past-one-postgresql.md", tmp_path, {
        "postgresql://vedette@db.c2.internal/vedette": f"'{postgres.tcp_url(name)}'", "10.0.2.11:8080": f"127.0.0.1:{api}",
        "10.0.2.11:9464": f"127.0.0.1:{admin}", "http://10.0.1.11:9464": vedette.admin, "/etc/haproxy/cells": str(maps),
        "/run/secrets/first": str(token), "/run/secrets/c2": str(token)},
        {**on_path, "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN, "VEDETTE_SECURITY_ENCRYPTION_KEY": ENCRYPTION_KEY})
    script = "".join(map(page.sample, ("second", "name", "maps"))) + """
        vedette ctl --cell c2 org-create Acme
        vedette ctl --json org-find acme
        kill -TERM $(jobs -pr)
        wait
        set +e
    """ + page.sample("maps")
    with pytest.raises(AssertionError, match="Failed to connect"):
        run_beside(page, script, tmp_path)
    said = (tmp_path / "out").read_text()
    assert '"cell": "c2"' in said
    # They were made again when the new cell did not answer any more: the good ones stay.
    assert sorted(path.name for path in maps.iterdir()) == ["cells.map", "organisations.map", "prefixes.map"]
    assert (maps / "cells.map").read_text() == "- cell_\nc2 cell_c2\n"
    assert "vd_live_c2_ cell_c2" in (maps / "prefixes.map").read_text()
    assert page.samples() == {"second", "name", "maps"}
    postgres.drop(name)


def test_who_is_paged_finds_what_it_is_and_mends_it(vedette, nginx, on_path, tmp_path):
    mended = []
    receiver = Receiver(lambda request: 200 if mended else 410)
    try:
        nginx.write("page.html", "<h1>A page</h1>")
        tenant = vedette.organisation()
        body = {"key_columns": ["url"], "struct": {"title": "css:h1"}, "frequency": "30d"}
        gone = tenant.post("/monitors", {**body, "name": "Gone", "rows": [{"url": f"{nginx.url}/none.html"}]})["id"]
        tenant.post("/monitors", {**body, "name": "Told", "rows": [{"url": f"{nginx.url}/page.html"}],
                                  "webhook_url": receiver.url})

        def operator(path):
            answer = vedette.as_operator("GET", "/admin/v1" + path)
            assert answer.status == 200, answer
            return answer.json["items"]

        wait_until("a dead delivery", lambda: operator("/deliveries?state=dead"))
        page = Page("be-paged.md", tmp_path, {"http://127.0.0.1:9464": vedette.admin, "VEDETTE_ADMIN_TOKEN=...":
                                              f"VEDETTE_ADMIN_TOKEN={ADMIN_TOKEN}"}, on_path)
        assert "ready" in page.run("begin", "look")
        wait_until("the failing monitor to be listed", lambda: gone in vedette.as_operator(
            "GET", "/admin/v1/monitors?failing=true").body.decode())
        shown = page.run("begin", "failing")
        assert "Gone" in shown and "404" in shown, shown
        assert "410" in page.run("begin", "dead")
        mended.append(True)
        page.run("begin", "dead", "replay")
        wait_until("it to arrive", lambda: operator("/deliveries?state=delivered"))
        page.run("begin", "jobs")
        assert page.samples() == {"begin", "look", "failing", "dead", "replay", "jobs"}
    finally:
        receiver.close()
