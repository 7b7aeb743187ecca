"""The console in a real browser: an operator logs in, sees the fleet, pauses, resumes and replays; what strangers
wrote stays text; every page passes axe-core, in both colour schemes, on a desk and on a phone. With
VEDETTE_TEST_SCREENSHOTS=1 pictures of them are kept for people under build/screenshots."""

import json
import socket
import subprocess
import threading

import pytest

from conftest import ADMIN_TOKEN, MIGRATED, ROOT, Database, Receiver, Vedette, call, screenshots_folder, wait_until
from test_identity_provider import Provider, new_key

# It ends what hangs, before ctest does; the whole console is used for one to two minutes, on a busy machine for many.
BROWSER_S_MAX = 700

HOSTILE = "<script>window.hacked = 1</script><img src=x onerror=\"alert('hacked')\">"


def monitor(tenant, name, url, **more):
    return tenant.post("/monitors", {
        "name": name, "key_columns": ["name"], "struct": {f"headline {HOSTILE}": "css:h1"}, "frequency": "1s",
        "rows": [{"name": f"{HOSTILE} row", **({"url": url} if url else {})}], **more})


def run_of(tenant, name, *blocks):
    """Runs a chain of blocks behind a webhook over four rows."""
    chain = [("webhook", {"dataframe_type": "LEAD"}), *blocks]
    flow = tenant.post("/workflows/create_workflow", {"workflow_name": name, "workflow_definition": {
        "blocks": [{"sequence_number": n, "block_id": str(n), "block_name": block, "specs": specs}
                   for n, (block, specs) in enumerate(chain)],
        "edges": [{"from_block_id": str(n), "to_block_id": str(n + 1)} for n in range(len(blocks))]}})["id"]
    return tenant.post(f"/workflows/run?workflow_id={flow}", {"webhook_payload": [{"n": n} for n in range(4)]})["job_id"]


def keeps(column, least):
    return "filter", {"conditions": [{"column": column, "op": "gte", "value": least}]}


def without_a_browser(modules, script, subject):
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / script, ROOT / "web" / subject],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_rates_are_reckoned_from_heartbeats(modules):
    without_a_browser(modules, "console_rates.mjs", "console/rates.js")


def test_a_long_text_differs_by_lines(modules):
    without_a_browser(modules, "console_diff.mjs", "shared/diff.js")


def test_the_dashboards_own_files_defuse_formulas_as_the_servers_do(modules):
    without_a_browser(modules, "dashboard_csv.mjs", "dashboard/csv.js")


def test_without_the_registry_the_build_has_no_charts_and_says_so(tmp_path):
    script = tmp_path / "build.cmake"
    script.write_text(f'''
        cmake_minimum_required(VERSION 3.25)
        include({ROOT}/cmake/Uplot.cmake)
        set(CMAKE_SOURCE_DIR {tmp_path})
        set(UPLOT_URL http://127.0.0.1:1/uplot.tgz)
        vedette_uplot(files)
        message(STATUS "${{files}}")''')
    done = subprocess.run(["cmake", "-P", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "the console will show no charts" in " ".join(done.stderr.split()), done.stderr
    assert (tmp_path / "generated/uplot/uplot.js").read_text() == "export default null;\n"
    assert (tmp_path / "generated/uplot/uplot.css").read_text() == ""


@pytest.fixture
def silent_provider():
    """A service that takes every question and answers none before the test ends."""
    ended = threading.Event()
    service = Receiver(lambda request: ended.wait(600) and 503)
    yield service
    ended.set()
    service.close()


@pytest.fixture
def vedette(binary, database, tmp_path, silent_provider):
    longer_than_the_test = "600000"
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROVIDERS_HTTP_SILENT_URL": silent_provider.url, "VEDETTE_LOOKUPS_FIND_EMAIL": "silent",
        "VEDETTE_PROVIDERS_HTTP_SILENT_TIMEOUT_MS": longer_than_the_test,
        "VEDETTE_LOOKUPS_ROW_TIMEOUT_MS": longer_than_the_test,
        "VEDETTE_WORKER_LANES": "checks,transform,lookup"})  # a block that researches waits
    service.environment["VEDETTE_API_PUBLIC_URL"] = service.api
    yield service.migrate().start()
    assert service.stop() == 0, service.log()


def test_the_console_in_a_browser(vedette, database, nginx, modules, tmp_path):

    tenant = vedette.organisation()
    assert vedette.as_operator("POST", f"/admin/v1/orgs/{tenant.org_id}/teams",
                               {"name": f"Team {HOSTILE}", "spend_limit": 50}).status == 201
    database.rows("insert into mail_host values ('verify.example google', 2, now() + interval '1 hour', 16, %s, now())",
                  [f"550 5.7.1 {HOSTILE}"])
    database.rows("insert into mail_budget values ('hello verify.example', now(), 10000)")
    answers = iter([410])
    receiver = Receiver(lambda request: next(answers, 200))
    try:
        nginx.write("a.html", f"<h1>It was {HOSTILE.replace('<', '&lt;')} employees</h1>")
        neighbour = monitor(tenant, "neighbour", f"{nginx.url}/a.html")
        watched = monitor(tenant, f"find me {HOSTILE}", f"{nginx.url}/a.html")
        row = watched["rows"][0]["id"]
        monitor(tenant, "tells once", f"{nginx.url}/a.html", frequency="1h", webhook_url=receiver.url)
        failing = monitor(tenant, "cannot work", None)
        wait_until("a failure", lambda: tenant.finished_ticks(failing["id"]))
        wait_until("a first look", lambda: tenant.finished_ticks(watched["id"]))
        nginx.write("a.html", f"<h1>It is {HOSTILE.replace('<', '&lt;')} employees</h1>")
        wait_until("a change", lambda: [e for e in tenant.events(watched["id"], row)
                                        if e["event_type"] == "change"])
        wait_until("a dead delivery", lambda: vedette.as_operator(
            "GET", "/admin/v1/deliveries?state=dead").json["items"])
        asked = {"lead": {"name": "Ada Lovelace", "domain": "engines.example"}}
        job = tenant.post("/find-email-async", asked)["task_id"]
        wait_until("the job to be worked on",
                   lambda: vedette.as_operator("GET", f"/admin/v1/jobs/{job}").json["status"] == "running")
        run = run_of(tenant, f"flow {HOSTILE}", keeps("n", 2), ("enrich_lead", {"struct": {"job": "title"}}))
        failed_run = run_of(tenant, "fails", keeps(f"nowhere {HOSTILE}", 2))
        wait_until("the run's filter to be done", lambda: vedette.as_operator(
            "GET", f"/admin/v1/runs/{run}").json["blocks"][1]["status"] == "completed")
        given = {"run": run, "failedRun": failed_run, "url": vedette.admin, "token": ADMIN_TOKEN, "api": vedette.api, "failing": failing,
                 "modules": modules, "chromium": "/usr/bin/chromium",
                 "profile": str(tmp_path / "profile"), "screenshots": screenshots_folder(), "job": job,
                 "monitor": {"id": watched["id"], "name": f"find me {HOSTILE}"}, "neighbour": neighbour, "row": row,
                 "page": f"{nginx.url}/a.html", "receiver": receiver.url, "hostile": HOSTILE, "difference": "is", "organisation": "Tests"}
        done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "console_browser.js"],
                              input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
        assert done.returncode == 0, done.stderr[-4000:]
        assert json.loads(done.stdout.splitlines()[-1]) == {"done": True}
        pauses = [a for a in vedette.as_operator("GET", "/admin/v1/audit").json["items"]
                  if a["action"] == "monitor.pause"]
        assert [(a["actor"], a["reason"], a["target"]) for a in pauses] == \
            [("default", "the site asked us <b>not</b> to", watched["id"])]
        made = [a["actor"] for a in vedette.as_operator("GET", "/admin/v1/audit").json["items"]
                if a["action"] in ("monitor.create", "monitor.update") and a["actor"].startswith("operator ")]
        assert made == ["operator default"] * 3  # one made, changed twice
    finally:
        receiver.close()


def test_what_a_fleet_cannot_do_stands_above_its_figures(binary, database, modules, tmp_path):
    service = Vedette(binary, database.url, tmp_path).start(roles="api,admin")
    given = {"steps": ["logIn", "seeWhatIsMissing"], "url": service.admin, "token": ADMIN_TOKEN, "modules": modules,
             "chromium": "/usr/bin/chromium", "profile": str(tmp_path / "profile"), "screenshots": screenshots_folder()}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "console_browser.js"],
                          input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
    assert done.returncode == 0, done.stderr[-4000:]
    assert service.stop() == 0


def test_a_form_changes_what_was_touched(binary, database, modules, tmp_path):
    service = Vedette(binary, database.url, tmp_path).start(roles="api,admin")
    tenant = service.organisation()
    struct = {"a=b": "css:h1", "x": "css:p[x=y]", '"q"': 'say "it"', "long": "What the page says\nof the price"}
    watched = tenant.post("/monitors", {"name": "odd names", "key_columns": ["n"], "rows": [{"n": "a", "url": "https://a.example/"}],
                                        "frequency": "1h", "struct": struct})
    flow = tenant.post("/workflows/create_workflow", {"workflow_name": "odd numbers", "workflow_definition": {
        "blocks": [{"sequence_number": 1, "block_id": "in", "block_name": "webhook", "specs": {"dataframe_type": "LEAD"}}],
        "edges": []}})["id"]
    schedule = tenant.post(f"/workflows/{flow}/schedules", {
        "name": "nightly", "cron": "0 3 * * *", "time_zone": "Europe/Berlin", "webhook_payload": [{"n": 12345678901234567890123}]})
    given = {"steps": ["logIn", "changeANameAlone", "tellWhatFails"], "url": service.admin, "token": ADMIN_TOKEN, "modules": modules,
             "chromium": "/usr/bin/chromium", "profile": str(tmp_path / "profile"), "screenshots": screenshots_folder(), "organisationId": tenant.org_id,
             "monitor": {"id": watched["id"]}, "schedule": schedule["id"]}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "console_browser.js"],
                          input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
    assert done.returncode == 0, done.stderr[-4000:]
    assert tenant.get(f"/monitors/{watched['id']}")["watched"] == struct | {"more": "css:b"}
    [(payload, name)] = database.rows("select webhook_payload::text, name from workflow_schedule")
    assert (payload, name) == ('[{"n":12345678901234567890123}]', "another name")
    changed = [a["detail"] for a in service.as_operator("GET", "/admin/v1/audit").json["items"] if a["action"] == "monitor.update"]
    assert len(changed) == 2, "what nobody changed was sent"
    assert service.stop() == 0


def test_each_role_is_offered_what_it_may_do(binary, database, modules, tmp_path):
    roles = {"viewer": "viola's token", "operator": "olli's token", "admin": ADMIN_TOKEN}
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_ADMIN_TOKENS_OLLI": roles["operator"], "VEDETTE_ADMIN_ROLES_OLLI": "operator",
        "VEDETTE_ADMIN_TOKENS_VIOLA": roles["viewer"], "VEDETTE_ADMIN_ROLES_VIOLA": "viewer"}).start(roles="api,admin")
    tenant = service.organisation()
    watched = monitor(tenant, "prices", None, frequency="1h")
    given = {"steps": ["seeWhatEachRoleIsOffered"], "url": service.admin, "token": ADMIN_TOKEN, "roles": roles, "modules": modules,
             "chromium": "/usr/bin/chromium", "profile": str(tmp_path / "profile"), "screenshots": screenshots_folder(),
             "monitor": {"id": watched["id"]}, "organisationId": tenant.org_id}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "console_browser.js"],
                          input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
    assert done.returncode == 0, done.stderr[-4000:]
    assert service.stop() == 0


@pytest.fixture
def signing_in(binary, database, tmp_path):
    """A console at which people sign in by a provider, and the provider."""
    service = Vedette(binary, database.url, tmp_path)
    url = f"http://localhost:{service.admin_port}"
    provider = Provider(tmp_path, "tenant-7", console=f"{url}/console/callback")
    provider.publish(new_key("k1", "ES256")[1])
    service.environment |= {
        "VEDETTE_ADMIN_OIDC_ISSUER": provider.issuer, "VEDETTE_ADMIN_OIDC_CLIENT_ID": "console",
        "VEDETTE_ADMIN_OIDC_CLIENT_SECRET": "the-secret-of-the-console", "VEDETTE_ADMIN_OIDC_PUBLIC_URL": url,
        "VEDETTE_ADMIN_OIDC_SCOPE": "openid email groups", "VEDETTE_ADMIN_OIDC_ROLE_CLAIM": "groups",
        "VEDETTE_ADMIN_OIDC_VIEWERS": "staff", "VEDETTE_ADMIN_OIDC_OPERATORS": "on-call",
        "VEDETTE_ADMIN_OIDC_ADMINS": "owners,root"}
    provider.start()
    service.start(roles="api,admin")
    yield service, url, provider
    assert service.stop() == 0
    provider.stop()


def test_operators_sign_in_by_the_provider_with_a_claim_for_the_role(signing_in, database, modules, tmp_path):
    service, url, provider = signing_in
    tenant = service.organisation()
    watched = monitor(tenant, "prices", None, frequency="1h")
    given = {"steps": ["signInAsEachRole"], "url": url, "token": ADMIN_TOKEN, "modules": modules, "chromium": "/usr/bin/chromium",
             "profile": str(tmp_path / "profile"), "screenshots": screenshots_folder(), "provider": f"127.0.0.1:{provider.port}",
             "monitor": {"id": watched["id"]}, "organisationId": tenant.org_id}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "console_browser.js"],
                          input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
    assert done.returncode == 0, done.stderr[-4000:]
    entries = service.as_operator("GET", "/admin/v1/audit").json["items"]
    assert [(a["action"], a["actor"], a["reason"]) for a in reversed(entries) if "@" in a["actor"]] == [
        ("console.sign_in", "viola+staff@example.com", None), ("console.sign_out", "viola+staff@example.com", None),
        ("console.sign_in", "olli+staff+on-call@example.com", None),
        ("monitor.pause", "olli+staff+on-call@example.com", "the site asked"),
        ("console.sign_out", "olli+staff+on-call@example.com", None),
        ("console.sign_in", "ada+root+staff@example.com", None)]
    assert "example.com" not in service.log(), "the log names nobody"
    paused = tenant.get(f"/monitors/{watched['id']}")["disabled_reason"]
    assert paused == "the site asked (by the operator)", "its owner does not learn who"
    left = service.as_operator("GET", "/admin/v1/console/sessions").json["items"]
    assert [one["role"] for one in left] == ["admin"]


def test_one_console_shows_all_cells_and_finds_an_organisation_at_any(binary, postgres, modules, tmp_path):
    """By whom may only read. Of three cells the third takes a connection and says nothing."""
    listed, of_cells = tmp_path / "cells", tmp_path / "token-of-cells"
    of_cells.write_text("what the cells ask each other with\n")
    databases = [Database(postgres, postgres.new_name()) for _ in range(2)]
    services = []
    for database, cell in zip(databases, ("", "c2")):
        postgres.create(database.name, MIGRATED)
        services.append(Vedette(binary, database.url, tmp_path, {
            "VEDETTE_CELL_ID": cell, "VEDETTE_CELLS_FILE": str(listed),
            "VEDETTE_ADMIN_TOKENS_CELLS": of_cells.read_text().strip(), "VEDETTE_ADMIN_ROLES_CELLS": "viewer",
            "VEDETTE_ADMIN_TOKENS_VIOLA": "viola's token", "VEDETTE_ADMIN_ROLES_VIOLA": "viewer"}))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        listed.write_text(f'"" {services[0].admin}\nc2 {services[1].admin} {of_cells}\n'
                          f"c3 http://127.0.0.1:{silent.getsockname()[1]} {of_cells}\n")
        for service in services:
            service.start(roles="api,admin")
        made = services[1].as_operator("POST", "/admin/v1/orgs", {"name": f"There {HOSTILE}", "features": ["monitors"]})
        services[0].organisation()
        given = {"steps": ["logIn", "seeTheCells"], "url": services[0].admin, "token": "viola's token", "modules": modules,
                 "chromium": "/usr/bin/chromium", "profile": str(tmp_path / "profile"), "screenshots": screenshots_folder(),
                 "other": services[1].admin, "silent": "c3", "there": {"id": made.json["id"], "name": f"There {HOSTILE}"}}
        done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "console_browser.js"],
                              input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
        assert done.returncode == 0, done.stderr[-4000:]
    assert [service.stop() for service in services] == [0, 0]
    for database in databases:
        postgres.drop(database.name)


def test_the_console_sends_its_policy_with_every_file(vedette):
    for path in ("/", "/console/app.js", "/console/uplot.js", "/console/uplot.css"):
        answer = call("GET", vedette.admin + path)
        assert answer.status == 200, path
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
