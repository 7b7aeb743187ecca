"""`vedette ctl` as an operator uses it: the binary against a live service, every command, as tables and as JSON."""

import http.server
import json
import re
import subprocess
import threading
import urllib.request

import psycopg2
import pytest

from certificates import Authority
from conftest import ADMIN_TOKEN, Receiver, Tenant, Vedette, call, clean_environment, free_port, wait_until
from servers import QuietHandler


class Ctl:
    def __init__(self, vedette):
        self.vedette = vedette
        self.used = set()

    def run(self, *arguments, stdout=subprocess.PIPE, **environment):
        env = clean_environment({"VEDETTE_ADMIN_URL": self.vedette.admin, "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN,
                                 **environment})
        return subprocess.run([self.vedette.binary, "ctl", *map(str, arguments)], env=env, stdout=stdout,
                              stderr=subprocess.PIPE, text=True, timeout=60)

    def text(self, *arguments):
        self.used.add(arguments[0])
        done = self.run(*arguments)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    def json(self, *arguments):
        """Both forms of the same question, which agree on the status; the JSON one is parsed."""
        self.used.add(arguments[0])
        done = self.run("--json", *arguments)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return json.loads(done.stdout) if done.stdout.strip() else None

    def refused(self, *arguments, status=1):
        done = self.run(*arguments)
        assert done.returncode == status, f"{arguments}: {done.returncode} {done.stdout}{done.stderr}"
        assert done.stderr.startswith("vedette ctl: "), done.stderr
        assert len(done.stderr.splitlines()) == 1, "one sentence"
        return done.stderr

    def commands(self):
        help_text = self.run("--help").stdout
        return set(re.findall(r"^  ([a-z-]+) +[A-Z]", help_text[help_text.index("Subcommands:"):], re.MULTILINE))


@pytest.fixture
def ctl(vedette):
    return Ctl(vedette)


def tidy(text):
    """A table for people: nothing wider than a wide terminal."""
    for line in text.splitlines():
        assert len(line) <= 240, line
    return text


def test_an_operators_day(ctl, vedette, nginx, database, tmp_path):
    assert ctl.text("health") and ctl.text("ready")
    assert "vedette_build_info" in ctl.text("metrics")

    # A customer comes.
    org = ctl.json("org-create", "Acme", "--feature", "monitors", "--reason", "contract 7")["id"]
    assert "monitors" in ctl.text("org", org)
    ctl.text("org-features", org, "--feature", "monitors", "--feature", "testing_monitors", "--reason", "asked for it")
    shown = ctl.json("org-features", org)
    assert shown["features"] == ["monitors", "testing_monitors"], "asking takes nothing away"
    assert ctl.json("credits", org, "1000.5", "--reason", "invoice 1") == {"balance": 1000.5}
    team = ctl.json("team-create", org, "red", "--spend-limit", "100")["id"]
    ctl.text("team-change", org, team, "--name", "blue", "--spend-limit", "none")
    assert [(t["name"], t["spend_limit"]) for t in ctl.json("org", org)["teams"]] == [("blue", None)]
    go_by_names(ctl, org, team)
    secret = ctl.json("secret-rotate", org, "--overlap-hours", "24")["secret"]
    assert secret.startswith("sk_whsec_")
    assert re.search(rf"\.{secret[-4:]} ", ctl.text("secrets", org)), "by its end it is known which one it is"
    key = ctl.json("key-create", org, "laptop")
    assert key["key"].startswith("vd_live_")
    assert "laptop" in tidy(ctl.text("keys", org)) and key["key"] not in ctl.text("keys", org)
    assert org in tidy(ctl.text("orgs", "--query", "acm")) and ctl.json("orgs", "--query", "nobody")["items"] == []

    # It watches a page; its receiver is gone.
    tenant = Tenant(vedette, org, key["key"], secret)
    answers = iter([410])
    receiver = Receiver(lambda request: next(answers, 200))
    try:
        nginx.write("a.html", "<h1>1</h1>")
        made = tenant.post("/monitors", {
            "name": "pages", "key_columns": ["name"], "struct": {"headline": "css:h1"}, "frequency": "1h",
            "rows": [{"name": "a", "url": f"{nginx.url}/a.html"}], "webhook_url": receiver.url})
        monitor, row = made["id"], made["rows"][0]["id"]
        wait_until("a dead delivery", lambda: ctl.json("deliveries", "--state", "dead")["items"])
        assert "pages" in tidy(ctl.text("monitors", "--query", "page", "--status", "active"))
        assert "headline" in ctl.text("monitor", monitor)
        assert ctl.json("monitor", "pages")["id"] == monitor
        assert ctl.json("rows", monitor)["rows"][0]["id"] == row and tidy(ctl.text("rows", monitor))
        assert ctl.json("failures")["items"] == [] and tidy(ctl.text("failures", "--limit", "5"))
        assert ctl.json("rows", monitor, "--failing", "true")["rows"] == []
        nginx.write("a.html", "<h1>another</h1>")  # of another length, for its ETag
        triggered = ctl.json("trigger", monitor, "--reason", "try")
        assert triggered["rows"] == 1
        wait_until("the change", lambda: "headline" in ctl.text("events", monitor, row))
        [event] = [e for e in ctl.json("events", monitor, row) if e["event_type"] == "change"]
        assert (event["previous_value"], event["current_value"]) == ("1", "another")
        assert "another" in tidy(ctl.text("monitor-events", monitor, "--type", "change"))
        assert "another" in tidy(ctl.text("changes", "--type", "change"))
        assert {e["monitor_id"] for e in ctl.json("changes", "--org", org)["items"]} == {monitor}
        shown = ctl.json("row", monitor, row)
        assert shown["id"] == row and "headline" in ctl.text("row", monitor, row)
        assert shown["current"]["headline"]["value"] == "another" and shown["current"]["headline"]["since"]
        assert shown["baseline"] == {"headline": "1"} and shown["never_observed"] == []

        [dead] = ctl.json("deliveries", "--state", "dead", "--org", org)["items"]
        assert "410" in ctl.text("delivery", dead["id"])
        ctl.text("replay", dead["id"], "--reason", "mended")
        wait_until("it to arrive", lambda: ctl.json("delivery", dead["id"])["state"] == "delivered")
        assert "`delivery-send` tries" in ctl.refused("replay", dead["id"])
        ctl.text("delivery-send", dead["id"], "--reason", "the receiver lost it")
        wait_until("it to arrive again", lambda: len(receiver.requests) >= 3)
        assert ctl.json("replay-many", "--org", org) == {"replayed": 0}
    finally:
        receiver.close()

    # It looks up an address.
    task = tenant.post("/find-email-async", {"lead": {"name": "Ada Lovelace", "domain": "gmail.com"}})["task_id"]
    wait_until("the job to end", lambda: ctl.json("job", task)["status"] == "completed")
    shown = tidy(ctl.text("job", task))
    for word in ("find_email", "blocks:", "deadline_at", "lookup"):
        assert word in shown, shown
    assert [j["id"] for j in ctl.json("jobs", "--org", org, "--kind", "find_email")["items"]] == [task]
    assert task in tidy(ctl.text("jobs", "--status", "completed"))
    assert ctl.json("job-terminate", task, "--reason", "too late") == {
        "id": task, "status": "completed", "status_reason": None}
    assert ctl.json("deliveries", "--job", task)["items"] == []
    assert "(status 422)" in ctl.refused("jobs", "--status", "done")

    # It runs a workflow.
    flow = tenant.post("/workflows/create_workflow", {"workflow_name": "kept", "workflow_definition": {
        "blocks": [{"sequence_number": 1, "block_id": "a", "block_name": "webhook", "specs": {"dataframe_type": "LEAD"}},
                   {"sequence_number": 2, "block_id": "b", "block_name": "dedupe", "specs": {}}],
        "edges": [{"from_block_id": "a", "to_block_id": "b"}]}})["id"]
    run = tenant.post(f"/workflows/run?workflow_id={flow}", {"webhook_payload": [{"n": 1}, {"n": 1}]})["job_id"]
    wait_until("the run to end", lambda: ctl.json("run-show", run)["status"] == "completed")
    shown = tidy(ctl.text("run-show", run))
    for word in ("workflow_name", "kept", "blocks:", "dedupe", "progress_percentage", "files:"):
        assert word in shown, shown
    assert ctl.json("audit", "--action", "run.rows")["items"] == []
    assert ctl.json("run-show", run, "--rows")["files"]
    assert [e["target"] for e in ctl.json("audit", "--action", "run.rows")["items"]] == [run]
    assert [(r["id"], r["rows_in"], r["rows_out"]) for r in ctl.json("runs", "--org", org)["items"]] == [(run, 2, 1)]
    assert "kept" in tidy(ctl.text("runs", "--status", "completed"))
    assert ctl.json("run-cancel", run, "--reason", "too late") == {
        "id": run, "status": "completed", "status_reason": None}
    assert "(status 422)" in ctl.refused("runs", "--status", "done")
    keep_a_schedule(ctl, org, flow, tmp_path)

    # Somebody does not want to be looked up.
    assert ctl.json("suppress", "--email", "Ada@engines.example", "--reason", "asked") == {"kind": "address", "added": True}
    assert ctl.json("suppress", "--name", "Ada Lovelace", "--domain", "engines.example", "--org", org,
                    "--reason", "asked") == {"kind": "person", "added": True}
    assert "(status 422)" in ctl.refused("suppress", "--name", "Ada Lovelace", "--reason", "asked")
    task = tenant.post("/find-email-async", {"lead": {"name": "Ada Lovelace", "domain": "engines.example"}})["task_id"]
    wait_until("the job to end", lambda: ctl.json("job", task)["status"] == "completed")
    assert tenant.get(f"/job-status/{task}")["result"]["email"] == [["", "NOT_FOUND", "COMPANY"]]
    assert ctl.json("unsuppress", "--email", "ada@engines.example") == {"kind": "address", "removed": True}
    listed = ctl.json("suppressions", "--kind", "person")["items"]
    assert [(one["org_id"], one["reason"]) for one in listed] == [(org, "asked")]
    assert "engines.example" not in tidy(ctl.text("suppressions"))
    assert "REQUIRED without --dry-run" in ctl.run("erase", "--help").stdout
    assert "reason" in ctl.refused("erase", "--email", "ada@engines.example")
    erased = ctl.json("erase", "--email", "ada@engines.example", "--reason", "asked")
    assert erased["jobs"] == 0, "no job had the address"  # test_find_email.py has one that had
    assert ctl.json("email", "hosts")["items"] == []
    providers = {one["id"]: one for one in ctl.json("providers")["items"]}
    assert (providers["dns"]["state"], providers["dns"]["why"], providers["dns"]["failing"]) == ("on", None, [])
    assert (providers["smtp"]["state"], providers["smtp"]["why"]) == ("off", "[email.smtp] hello_name is empty")
    assert all(one in tidy(ctl.text("providers")) for one in (*providers, "hello_name is empty"))
    assert "ngines.example" not in ctl.text("audit", "--limit", "100")

    database.rows("UPDATE credit_entry SET created_at = created_at - interval '1 hour' RETURNING 1")  # the last minutes are not shown
    see_the_account(ctl, org, secret)
    keep_a_client(ctl, org, tmp_path)
    keep_a_channel(ctl, org, tmp_path)
    keep_a_monitor(ctl, org, nginx, tmp_path)
    companies = tmp_path / "companies.ndjson"
    companies.write_text('{"id": "1", "name": "acme"}\n{"id": "2", "name": "acme"}\n')
    imported = ctl.json("search-import", companies, "--mode", "company")
    assert imported["state"] == "current", imported
    folder = ctl.run("search-import", tmp_path, "--mode", "company")
    assert folder.returncode == 2 and "Is a directory" in folder.stderr, folder
    (tmp_path / "none.ndjson").write_text("\n")
    empty = ctl.run("search-import", tmp_path / "none.ndjson", "--mode", "company")
    assert empty.returncode == 1 and "no documents" in empty.stderr, empty
    found = tenant.post("/search/filter-field-values", {"field": "name"})
    assert [(value["value"], value["count"]) for value in found["values"]] == [("acme", 2)], found
    assert ctl.json("search-import", tmp_path / "none.ndjson", "--mode", "company", "--empty")["state"] == "current"

    # Trouble.
    assert ctl.json("pause", monitor, "--reason", "the site asked")["status"] == "paused"
    assert "(status 409)" in ctl.refused("trigger", monitor)
    assert ctl.json("resume", monitor)["status"] == "active"
    assert ctl.json("cancel", monitor, "--reason", "ends")["status"] == "cancelled"
    ctl.text("org-lock", org, "--reason", "not paid")
    assert tenant.call("GET", "/monitors").status == 403
    ctl.text("org-unlock", org, "--reason", "paid")
    ctl.text("key-revoke", org, key["id"])
    of_key = ctl.json("audit", "--actor", "default", "--target", key["id"])["items"]
    assert [(a["action"], a["detail"]["name"]) for a in of_key] == [
        ("api_key.revoke", "laptop"), ("api_key.create", "laptop")], of_key

    overview = tidy(ctl.text("overview"))
    assert "{" not in overview, "a machine's form"
    assert "members" in overview and "scheduler" in overview
    nowhere = ctl.refused("invite", org, "--email", "grace@engines.example", "--role", "viewer", "--reason", "she asked")
    assert "(status 409)" in nowhere and "[dashboard] enabled is false" in nowhere, nowhere
    assert "(status 409)" in ctl.refused("password-reset", org, "--email", "eve@example.com", "--reason", "she asked")
    assert vedette.stop() == 0
    vedette.environment["VEDETTE_DASHBOARD_ENABLED"] = "true"
    vedette.start()
    invitation = ctl.json("invite", org, "--email", "grace@engines.example", "--role", "viewer", "--reason", "she asked")
    assert "/dashboard#/invitation/" in invitation["link"]
    session = ctl.json("session-create", org, "--user", "ada", "--ttl", "600", "--reason", "she signed in")
    assert [u["user_id"] for u in ctl.json("users", org)["items"]] == ["ada"]
    [shown] = ctl.json("sessions", org, "--user", "ada")["items"]
    assert shown["id"] == session["id"] and session["token"] not in ctl.text("sessions", org), shown
    ctl.text("session-end", org, session["id"], "--reason", "she left")
    assert ctl.json("sessions", org)["items"] == []
    ctl.json("user-remove", org, "ada")
    invited = ctl.json("invite", org, "--email", "ada@example.com", "--role", "owner", "--reason", "she asked")
    assert "/dashboard#/invitation/vd_inv_" in invited["link"]
    database.rows("insert into org_user (org_id, user_id, role) values (%s, 'eve@example.com', 1) returning 1", [org])
    reset = ctl.json("password-reset", org, "--email", "Eve@example.com", "--reason", "she has forgotten it")
    assert "/dashboard#/reset/vd_rst_" in reset["link"]
    ctl.json("user-remove", org, "eve@example.com")
    assert ctl.json("users", org)["items"] == []
    assert "/dashboard#/invitation/" in ctl.json("invite", org, "--email", "ada@acme.example", "--role", "owner")["link"]

    assert set(ctl.json("overview")) >= {"members", "chunks", "deliveries", "monitors", "backlog", "jobs", "waits"}
    assert "jobs.lanes:" in overview and "waits.used" in overview
    assert ctl.json("me") == {"name": "default", "role": "admin"}
    database.rows("insert into console_session values (decode(repeat('5e', 32), 'hex'), gen_random_uuid(), 'https://staff.example', "
                  "'1', 'olli@staff.example', '{}', now(), now() + interval '1 hour') returning 1")
    signed_in = ctl.json("console-sessions")["items"]
    assert [one["name"] for one in signed_in] == ["olli@staff.example"]
    ctl.text("console-session-end", signed_in[0]["id"], "--reason", "left a screen open")
    assert ctl.json("console-sessions")["items"] == []
    assert ctl.json("audit-verify")["entries"] > 0
    audit = tidy(ctl.text("audit", "--limit", "100"))
    for word in ("org.create", "contract 7", "monitor.pause", "the site asked", "org.change", "not paid"):
        assert word in audit, word
    by_operators = [a for a in ctl.json("audit")["items"] if a["principal_kind"] is None]
    assert by_operators and all(a["actor"] == "default" for a in by_operators)

    assert ctl.json("drain", "--reason", "goodbye")["draining"] is True
    assert vedette.process.wait(60) == 0
    # Those are tried in tests/fleet/test_cells.py and test_org_move.py.
    several = {"cells", "cell-map", "org-find", "org-move"}
    assert ctl.commands() - ctl.used == several, "a command that nobody tried"


def go_by_names(ctl, org, team):
    assert ctl.json("org", "Acme")["id"] == org
    key = ctl.json("key-create", "Acme", "of the team", "--team", "blue")["id"]
    assert [(k["team_id"], k["last_used_at"]) for k in ctl.json("keys", "Acme")["items"]] == [(team, None)]
    ctl.json("team-create", "Acme", "green")
    assert "(status 409)" in ctl.refused("team-delete", "Acme", "blue")
    ctl.text("team-delete", "Acme", "green", "--reason", "nobody is left")
    ctl.text("key-revoke", "Acme", key, "--reason", "it was lost")
    assert [t["name"] for t in ctl.json("org", org)["teams"]] == ["blue"]
    assert {a["reason"] for a in ctl.json("audit", "--org", "Acme")["items"]} >= {"nobody is left", "it was lost"}
    twins = [ctl.json("org-create", "Twin")["id"] for _ in range(2)]
    said = ctl.refused("org", "Twin")
    assert "several organisations" in said and all(twin in said for twin in twins), said
    assert 'no organisation is named "win"; there are "Twin", "Twin"' in ctl.refused("org", "win")


def see_the_account(ctl, org, secret):
    [first] = ctl.json("ledger", org, "--limit", "1")["lines"]
    assert first["amount"] == 1000.5 and "invoice 1" in tidy(ctl.text("ledger", org)), first
    assert set(ctl.json("reservations", org)) == {"reserved", "checks", "jobs", "job_count", "jobs_reserved"}
    statement = ctl.text("statement", org, "--by", "entry").splitlines()
    assert "opening" in statement[1] and "closing" in statement[-1], statement
    secrets = ctl.json("secrets", org)["items"]
    assert len(secrets) == 1 and secrets[0]["live"] and secrets[0]["preview"] not in (None, secret), secrets
    [key] = ctl.json("secret-keys")["items"]
    assert (key["place"], key["live_secrets"]) == ("encryption_key", 1), key
    assert ctl.json("secrets-reseal", "--reason", "a new key")["resealed"] == 0
    assert ctl.json("org-external-id", org, "acme-7", "--reason", "sign-on")["external_id"] == "acme-7"
    assert ctl.json("org-external-id", org, "none")["external_id"] is None


def keep_a_client(ctl, org, tmp_path):
    made = ctl.json("client-create", org, "billing", "--token-ttl", "600", "--reason", "contract 7")
    client = made["id"]
    assert "billing" in tidy(ctl.text("clients", org))
    pem = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", tmp_path / "private.pem"],
                   check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", tmp_path / "private.pem", "-pubout", "-out", pem], check=True, capture_output=True)
    assert ctl.json("client-key-add", org, client, "--file", pem, "--kid", "k1")["keys"][0]["kid"] == "k1"
    assert "k1" in tidy(ctl.text("client", org, client))
    assert "uploaded" in ctl.refused("client-validate", org, client)
    # Nobody listens there, which the report says.
    publishing = ctl.json("client-create", org, "publishing", "--jwks-uri", "https://127.0.0.1:1/jwks")["id"]
    report = ctl.json("client-validate", org, publishing, "--reason", "it gets no tokens")
    assert report["valid"] is False and report["error"] and report["keys"] == [], report
    ctl.text("client-delete", org, publishing)
    changed = ctl.json("client-change", org, client, "--status", "disabled", "--token-ttl", "none", "--reason", "not paid")
    assert (changed["status"], changed["access_token_ttl_seconds"]) == ("disabled", None), changed
    assert ctl.run("client-change", org, client).returncode == 2, "nothing to change"
    ctl.text("client-key-revoke", org, client, "k1", "--reason", "it leaked")
    ctl.text("client-revoke-tokens", org, client, "--reason", "it leaked")
    ctl.text("client-delete", org, client, "--reason", "contract 7 ends")
    assert ctl.json("clients", org)["items"] == []
    keep_a_template(ctl, org, tmp_path)


def keep_a_monitor(ctl, org, nginx, tmp_path):
    path = tmp_path / "monitor.json"
    body = {"name": "Prices", "key_columns": ["domain"], "rows": [{"domain": "a.example"}], "struct": {"price": "css:.p"},
            "frequency": "1d"}
    path.write_text(json.dumps(body))
    made = ctl.json("monitor-create", org, "--file", path)
    for file, why in ((tmp_path / "absent", "No such file or directory"), (tmp_path, "Is a directory"), ("/dev/null", "1 to 1048576 bytes")):
        unread = ctl.run("monitor-create", org, "--file", file)
        assert unread.returncode == 2 and f"{file}: " in unread.stderr and why in unread.stderr, unread
    path.write_text(json.dumps({**body, "name": "Others"}) + " " * 1_000_000)
    shown = tidy(ctl.text("monitor-create", org, "--file", path))
    assert any(m["id"] in shown for m in ctl.json("monitors", "--query", "Others")["items"]), shown
    path.write_text(json.dumps({"name": "All prices"}))
    ctl.json("monitor-update", org, made["id"], "--file", path)
    assert ctl.json("monitor", made["id"])["name"] == "All prices"
    path.write_text(json.dumps({"schedule": {"cron": "0 9 * * 1-5", "time_zone": "Europe/Berlin"}}))
    ctl.json("monitor-update", org, made["id"], "--file", path)
    assert ctl.json("monitor", made["id"])["schedule"]["cron"] == "0 9 * * 1-5" and "0 9 * * 1-5" in ctl.text("monitor", made["id"])
    path.write_text(json.dumps({"cron": "30 2 * * *", "time_zone": "Europe/Berlin", "from": "2026-03-28T12:00:00Z", "count": 1}))
    assert ctl.json("schedule-preview", org, "--file", path)["times"] == ["2026-03-29T01:00:00.000000Z"]
    path.write_text(json.dumps({**body, "rows": []}))
    assert "rows" in ctl.refused("monitor-preview", org, "--file", path)
    nginx.write("price.html", "<p class=p>12 EUR</p>")
    path.write_text(json.dumps({"key_columns": ["domain"], "struct": {"price": "css:.p"},
                                "rows": [{"domain": "a.example", "url": f"{nginx.url}/price.html"}]}))
    [row] = ctl.json("monitor-preview", org, "--file", path)["rows"]
    assert row["error"] is None and row["observed"]["price"]["value"] == "12 EUR", row
    shown = tidy(ctl.text("monitor-preview", org, "--file", path))
    assert "a.example" in shown and "12 EUR" in shown, shown


def keep_a_schedule(ctl, org, flow, tmp_path):
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps({"name": "Weekdays at nine", "cron": "0 9 * * 1-5", "time_zone": "Europe/Berlin",
                                "webhook_payload": [{"n": 1}]}))
    schedule = ctl.json("schedule-create", org, flow, "--file", path)["id"]
    shown = tidy(ctl.text("schedule", schedule))
    assert "0 9 * * 1-5" in shown and "next_run_times" in shown and "webhook_payload" not in shown, shown
    assert ctl.json("schedule", schedule, "--rows")["webhook_payload"] == [{"n": 1}]
    path.write_text(json.dumps({"overlap": "allow"}))
    assert ctl.json("schedule-update", org, flow, schedule, "--file", path)["overlap"] == "allow"
    paused = ctl.json("schedule-pause", schedule, "--reason", "too many runs")
    assert (paused["paused_message"], paused["next_run_times"]) == ("too many runs (by the operator)", [])
    assert "Weekdays at nine" in tidy(ctl.text("schedules", "--status", "paused", "--org", org))
    assert ctl.json("schedules", "--workflow", flow, "--status", "active")["items"] == []
    assert ctl.json("schedule-resume", schedule)["is_active"] is True
    run = ctl.json("schedule-trigger", org, flow, schedule)["job_id"]
    assert ctl.json("run-show", run)["schedule_id"] == schedule


def keep_a_channel(ctl, org, tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps({"name": "News", "kind": "webhook", "target": {"url": f"http://127.0.0.1:{free_port()}/"}}))
    channel = ctl.json("channel-create", org, "--file", path)["id"]
    assert "News" in tidy(ctl.text("channels", org)) and channel in tidy(ctl.text("channel", org, channel))
    assert ctl.json("channel-test", org, channel)["delivered"] is False, "nobody listens"
    path.write_text(json.dumps({"name": "Newer"}))
    assert ctl.json("channel-update", org, channel, "--file", path)["name"] == "Newer"
    assert ctl.json("channel-pause", org, channel)["status"] == "suspended"
    assert ctl.json("channel-resume", org, channel)["status"] == "active"
    assert ctl.text("channel-deliveries", org, channel) == "none\n", "a test is none"
    ctl.text("channel-delete", org, channel)
    assert ctl.text("channels", org) == "none\n"


def keep_a_template(ctl, org, tmp_path):
    source = {"sequence_number": 1, "block_name": "read_csv", "block_id": "in", "specs": {}}
    path = tmp_path / "template.json"
    path.write_text(json.dumps({
        "slug": "our-list", "name": "Our list", "description": "d", "category": "own", "difficulty": "easy",
        "estimated_time": "seconds", "use_case": "u", "blocks": [source], "edges": []}))
    made = ctl.json("template-create", org, "--file", path, "--reason", "contract 7")
    assert "slug" in ctl.refused("template-create", org, "--file", path)
    ctl.text("template-delete", org, made["id"], "--reason", "contract 7 has ended")


def test_a_lower_role_is_told_what_it_lacks(binary, database, tmp_path):
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_ADMIN_TOKENS_OLLI": "olli's token", "VEDETTE_ADMIN_ROLES_OLLI": "operator",
        "VEDETTE_ADMIN_TOKENS_VIOLA": "viola's token", "VEDETTE_ADMIN_ROLES_VIOLA": "viewer"}).start(roles="api,admin")
    ctl = Ctl(service)
    for token, role, may in (("viola's token", "viewer", ["overview", "orgs", "audit"]), ("olli's token", "operator", ["orgs"])):
        as_they = {"VEDETTE_ADMIN_TOKEN": token}
        assert f"role  {role}" in ctl.run("me", **as_they).stdout
        for command in may:
            assert ctl.run(command, **as_they).returncode == 0, command
        done = ctl.run("org-create", "Theirs", **as_they)
        assert done.returncode == 1 and "needs the role admin" in done.stderr and f"has the role {role}" in done.stderr, done.stderr
    done = ctl.run("drain", VEDETTE_ADMIN_TOKEN="viola's token")
    assert done.returncode == 1 and "needs the role operator" in done.stderr, done.stderr
    assert ctl.json("orgs")["items"] == []
    assert ctl.run("drain", "--reason", "its day", VEDETTE_ADMIN_TOKEN="olli's token").returncode == 0
    assert service.process.wait(60) == 0
    assert database.rows("select actor, reason from audit") == [("olli", "its day")]
    service.environment["VEDETTE_ADMIN_ROLES_NOBODY"] = "viewer"
    assert service.start(ready=False, roles="admin").process.wait(60) != 0
    assert "there is no token of this name in [admin.tokens]" in service.log()


class OneItem(QuietHandler):
    def do_GET(self):
        body = b'{"items": [{"id": "behind TLS"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_the_admin_port_may_be_behind_a_certificate_of_ones_own_authority(binary, tmp_path):
    authority = Authority(tmp_path, "own")
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OneItem)
    proxy.socket = authority.server("IP:127.0.0.1").wrap_socket(proxy.socket, server_side=True)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()

    def providers(**environment):
        environment = clean_environment({"VEDETTE_ADMIN_URL": f"https://127.0.0.1:{proxy.server_address[1]}", "VEDETTE_ADMIN_TOKEN": "t",
                                         **environment})
        return subprocess.run([binary, "ctl", "providers"], env=environment, capture_output=True, text=True, timeout=60)

    try:
        strange = providers()
        assert strange.returncode != 0 and "certificate" in strange.stderr, strange
        known = providers(VEDETTE_NET_CA_FILE=str(authority.certificate))
        assert known.returncode == 0 and "behind TLS" in known.stdout, known
    finally:
        proxy.shutdown()


def sealed(database):
    return wait_until("the audit to be sealed", lambda: not database.rows("select 1 from audit where seq is null")
                      and database.rows("select seq from audit_chain")[0][0])


def test_the_chain_of_the_audit_shows_what_was_changed_or_is_missing(ctl, vedette, database):
    for n in range(5):
        ctl.text("org-create", f"Acme {n}", "--reason", f"contract {n}")
    assert sealed(database) == 5
    end = ctl.json("audit-verify")
    assert (end["seq"], end["entries"], end["erased"]) == (5, 5, 0) and re.fullmatch("[0-9a-f]{64}", end["hash"]), end
    # A chain that was made again is seen also where nothing was added since.
    assert ctl.json("audit-verify", "--from", 6, "--checkpoint", end["hash"])["entries"] == 0
    assert "the entry 5 of the audit is not the one that its end names" in ctl.refused("audit-verify", "--from", 6, "--checkpoint", "0" * 64)
    ctl.text("org-create", "Later")
    sealed(database)
    later = ctl.json("audit-verify", "--from", end["seq"] + 1, "--checkpoint", end["hash"])
    assert (later["seq"], later["entries"]) == (6, 1)
    assert "the entry 6 of the audit was changed" in ctl.refused("audit-verify", "--from", 6, "--checkpoint", "0" * 64)
    zeroth = ctl.run("audit-verify", "--from", 0)
    assert zeroth.returncode == 2 and "--from: must be the seq of an entry, from 1 on" in zeroth.stderr, zeroth
    wrong = ctl.run("audit-verify", "--checkpoint", "short")
    assert wrong.returncode == 2 and "--checkpoint: must be a hash" in wrong.stderr, wrong
    assert "8 and what followed are missing" in ctl.refused("audit-verify", "--from", 9)

    def changed(statement, undo, said):
        database.rows(statement)
        assert said in ctl.refused("audit-verify")
        database.rows(undo)
        assert ctl.json("audit-verify")["seq"] == 6

    changed("update audit set reason = 'another' where seq = 3 returning 1", "update audit set reason = 'contract 2' where seq = 3 returning 1",
            "the entry 3 of the audit was changed")
    changed("update audit set action = 'org.change' where seq = 2 returning 1",
            "update audit set action = 'org.create' where seq = 2 returning 1", "the entry 2 of the audit was changed")
    changed("update audit set seq = 40 where seq = 4 returning 1", "update audit set seq = 4 where seq = 40 returning 1",
            "the entry 4 of the audit is missing")
    # What may name a person can be taken out, which is seen, and breaks nothing.
    database.rows("update audit set reason = null, detail = null, target = 'erased', remote_address = 'erased', salt = null, "
                  "erased_at = now() where seq = 2 returning 1")
    assert ctl.json("audit-verify")["erased"] == 1
    database.rows("delete from audit where seq = 6 returning 1")
    assert "the entry 6 of the audit is missing" in ctl.refused("audit-verify")


def test_the_audit_is_followed_and_nothing_is_left_out(ctl, vedette, database):
    first = ctl.json("org-create", "First", "--reason", "one")["id"]
    sealed(database)
    stream = urllib.request.urlopen(urllib.request.Request(
        f"{vedette.admin}/admin/v1/audit?follow=true", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}), timeout=30)
    assert stream.headers["Content-Type"] == "application/x-ndjson"

    def entry():
        return json.loads(next(line for line in iter(stream.readline, None) if line != b"\n"))

    seen = entry()
    assert (seen["seq"], seen["target"], seen["reason"]) == (1, first, "one")
    # An entry whose transaction is open while others are sealed comes after them.
    late = psycopg2.connect(database.url)
    late.cursor().execute("insert into audit (id, at, actor, action, target, remote_address) values "
                 "('00000000-0000-7000-8000-000000000001', now() - interval '1 day', 'late', 'org.create', 'late', '::1')")
    ctl.text("org-create", "Second")
    assert entry()["seq"] == 2
    late.commit()
    seen = entry()
    assert (seen["seq"], seen["actor"]) == (3, "late")
    late.close()

    follower = subprocess.Popen([vedette.binary, "ctl", "audit", "--follow", "--after", "2"], stdout=subprocess.PIPE, text=True,
                                env=clean_environment({"VEDETTE_ADMIN_URL": vedette.admin, "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN}))
    try:
        assert json.loads(follower.stdout.readline())["actor"] == "late"
        ctl.text("org-create", "Third")
        assert json.loads(follower.stdout.readline())["seq"] == 4 == entry()["seq"]
        assert ctl.json("audit-verify")["seq"] == 4
        behind = call("GET", f"{vedette.admin}/admin/v1/audit?follow=true&after=9", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})
        assert (behind.status, behind.json["error"]) == (409, "no_such_entry")
        assert "(status 409)" in ctl.refused("audit", "--follow", "--after", 9)
        # A process that ends tells its followers so, in good order; they go on at the next one.
        vedette.process.terminate()
        assert [line for line in stream.readlines() if line != b"\n"] == []
        assert vedette.process.wait(60) == 0
        vedette.start()
        ctl.text("org-create", "Fourth")
        assert json.loads(follower.stdout.readline())["seq"] == 5
    finally:
        follower.kill()


def test_one_fleet_is_the_only_cell(ctl, tmp_path):
    """Several are asked in tests/fleet/test_cells.py."""
    cells = tmp_path / "cells"
    cells.write_text(f'# the first\n"" {ctl.vedette.admin}\n')
    org = ctl.json("org-create", "Acme")["id"]
    for arguments in (("cells",), ("org-find", "acme"), ("--cell", "", "org", org)):
        done = ctl.run("--json", "--cells", cells, *arguments)
        assert done.returncode == 0, done.stderr
    assert tidy(ctl.run("--cells", cells, "cells").stdout).count("\n") >= 2
    assert ctl.run("--cells", cells, "cell-map", "organisations").stdout == f"{org} cell_\n"
    assert ctl.run("--cells", cells, "cell-map", "nonsense").returncode == 2
    made = tmp_path / "made.map"
    for _ in range(2):
        assert ctl.run("--cells", cells, "cell-map", "organisations", "--out", made).returncode == 0
        assert made.read_text() == f"{org} cell_\n"
    for path, why in (("/dev/null", "is not a file"), (tmp_path / "none" / "a.map", "No such file")):
        done = ctl.run("--cells", cells, "cell-map", "cells", "--out", path)
        assert done.returncode == 1 and why in done.stderr, done
    for text, reason in (("X http://x", "lower-case"), ("c2", "cells:1"), ("", "no cell"), ("c2 http://x /none", "/none")):
        cells.write_text(text + "\n")
        done = ctl.run("--cells", cells, "cells")
        assert done.returncode == 2 and reason in done.stderr, done
    cells.write_text("c2 http://127.0.0.1:1\n")
    why = "connect: GET http://127.0.0.1:1/admin/v1/cell failed: 127.0.0.1:1: "
    assert re.search(re.escape(why) + r".*\w$", ctl.run("--cells", cells, "cells").stdout.rstrip()), "it is not cut"
    assert ctl.run("--cells", cells, "cell-map", "organisations", "--out", made).returncode == 3
    assert made.read_text() == f"{org} cell_\n", "a good map stays"
    assert not [one for one in tmp_path.iterdir() if one.name.endswith(".new")]
    # Without a file the admin port is asked, which knows its own cell here; a map wants all of them.
    assert [(one["cell"], one["url"]) for one in ctl.json("cells")["items"]] == [("", None)]
    assert [one["id"] for one in ctl.json("org-find", "acme")["items"]] == [org]
    assert "VEDETTE_CELLS_FILE" in ctl.run("cell-map", "cells").stderr


def test_what_could_not_be_printed_is_not_done(ctl):
    org = ctl.json("org-create", "Acme")["id"]
    for arguments in (("audit",), ("metrics",), ("statement", org), ("key-create", org, "a"), ("--json", "orgs"), ("--help",)):
        with open("/dev/full", "w") as full:
            done = ctl.run(*arguments, stdout=full)
        assert done.returncode == 1, arguments
        assert re.fullmatch("vedette: cannot write to file(: No space left on device)?\n", done.stderr), (arguments, done.stderr)


def test_the_token_can_stand_in_a_file(ctl, tmp_path):
    file = tmp_path / "token"
    file.write_text(ADMIN_TOKEN + "\n")
    assert ctl.run("orgs", VEDETTE_ADMIN_TOKEN="", VEDETTE_ADMIN_TOKEN_FILE=str(file)).returncode == 0
    assert ctl.run("--token-file", file, "orgs", VEDETTE_ADMIN_TOKEN="").returncode == 0
    missing = ctl.run("orgs", VEDETTE_ADMIN_TOKEN="", VEDETTE_ADMIN_TOKEN_FILE=str(tmp_path / "none"))
    assert missing.returncode == 2 and str(tmp_path / "none") in missing.stderr


def test_numbers_go_and_come_as_they_are_written(ctl, vedette, tmp_path):
    tenant = vedette.organisation()
    (tmp_path / "monitor.json").write_text('{"name": "exact", "key_columns": ["n"], "struct": {"a": "css:h1"}, "frequency": "1h",'
                                           ' "rows": [{"n": "a", "url": "https://a.example/", "id": 12345678901234567890123, "p": 1.10}]}')
    made = ctl.json("monitor-create", tenant.org_id, "--file", tmp_path / "monitor.json", "--reason", "asked")
    shown = ctl.run("--json", "rows", made["id"]).stdout
    assert '"id": 12345678901234567890123,\n' in shown and '"p": 1.10\n' in shown, shown


def test_exit_codes_tell_refusals_from_a_port_that_is_not_there(ctl):
    assert "(status 404)" in ctl.refused("org", "00000000-0000-7000-8000-000000000000")
    done = ctl.run("orgs", VEDETTE_ADMIN_TOKEN="wrong")
    assert done.returncode == 1 and "(status 401)" in done.stderr
    address = f"http://127.0.0.1:{free_port()}"
    done = ctl.run("orgs", VEDETTE_ADMIN_URL=address)
    assert done.returncode == 3 and address.removeprefix("http://") in done.stderr, done.stderr
    for wrong in (["pause", "x"], ["nonsense"], ["credits", "x"], ["orgs", "--limti", "3"], ["org"]):
        done = ctl.run(*wrong)
        assert done.returncode == 2 and done.stdout == "" and done.stderr, f"{wrong}: {done}"
