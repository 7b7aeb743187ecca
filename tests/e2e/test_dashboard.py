"""The dashboard in a real browser: an invitation lets an owner in, who walks every page; a viewer is offered only what he
may do. Every page passes axe-core in both colour schemes, on a desk and on a phone."""

import json
import subprocess

import pytest

from conftest import ADMIN_TOKEN, ROOT, Vedette, call, free_port, screenshots_folder, wait_until
from test_identity_provider import AUDIENCE, Provider, new_key

BROWSER_S_MAX = 600
HOSTILE = "<script>window.hacked = 1</script><img src=x onerror=\"alert('hacked')\">"
PAGES = ["", "monitors", "monitors/new", "runs", "schedules", "lookups", "channels", "deliveries", "usage", "usage?group_by=kind",
         "keys", "signing", "members", "audit", "ways", "sessions"]


@pytest.fixture
def service(binary, database, tmp_path):
    # A browser takes a cookie that is Secure from localhost, and from no address.
    made = Vedette(binary, database.url, tmp_path, {"VEDETTE_DASHBOARD_ENABLED": "true"})
    made.start()
    yield made
    assert made.stop() == 0


def invitation(service, tenant, role, email=None, team_id=None):
    answer = service.as_operator("POST", f"/admin/v1/orgs/{tenant.org_id}/invitations",
                                 {"email": email or f"{role}@example.com", "role": role, "team_id": team_id})
    assert answer.status == 201, answer
    return answer.json["link"].split("#")[1]


def another_owner(service, tenant):
    """One who is not the last may go."""
    token = invitation(service, tenant, "owner", "ada@example.com").split("/")[-1]
    taken = call("POST", service.api + "/dashboard/invitation/take", {"token": token, "password": "correct horse battery"})
    assert taken.status == 200, taken


def deduping(tenant, name, source):
    """A workflow of two blocks, one of which drops rows that are there twice."""
    return tenant.post("/workflows/create_workflow", {"workflow_name": name, "workflow_definition": {
        "blocks": [{"sequence_number": 1, "block_id": "in", "block_name": source, "specs": {"dataframe_type": "LEAD"}},
                   {"sequence_number": 2, "block_id": "once", "block_name": "dedupe", "specs": {"columns": ["n"]}}],
        "edges": [{"from_block_id": "in", "to_block_id": "once"}]}})["id"]


def ended_run(tenant):
    flow = deduping(tenant, f"clean {HOSTILE}", "webhook")
    tenant.post(f"/workflows/{flow}/schedules", {"name": f"nightly {HOSTILE}", "cron": "0 3 * * *", "webhook_payload": [{"n": 1}]})
    run = tenant.post(f"/workflows/run?workflow_id={flow}", {"webhook_payload": [{"n": 1}, {"n": 2}, {"n": 1}]})["job_id"]
    wait_until("the run's end", lambda: tenant.get(f"/workflows/runs/{run}/live_status")["overall_status"] == "completed")
    return run


def test_members_walk_the_pages_of_their_role(service, database, nginx, modules, tmp_path):
    tenant = service.organisation()
    database.rows("delete from signing_secret returning id")  # the owner makes one by the page
    nginx.write("a.html", "<h1>one</h1><b class=price>41</b>")
    monitor = tenant.post("/monitors", {
        "name": f"find me {HOSTILE}", "key_columns": ["name"], "struct": {f"headline {HOSTILE}": "css:h1", "price": "css:.price | number"},
        "frequency": "1s", "tags": [HOSTILE[:50]], "rows": [{"name": HOSTILE, "url": f"{nginx.url}/a.html"}]})
    wait_until("a first look", lambda: tenant.finished_ticks(monitor["id"]))
    for price in (38, 45, 44):  # a history to draw
        seen = len(tenant.get(f"/monitors/{monitor['id']}/events")["events"])
        nginx.write("a.html", f"<h1>one at {price}</h1><b class=price>{price}</b>")
        wait_until("a change", lambda: len(tenant.get(f"/monitors/{monitor['id']}/events")["events"]) > seen)
    deduping(tenant, "of a file", "read_csv")
    tenant.post("/channels", {"name": f"told {HOSTILE}", "kind": "feed"})
    run = ended_run(tenant)
    flow = tenant.get("/workflows")[0]["id"]
    team = service.as_operator("POST", f"/admin/v1/orgs/{tenant.org_id}/teams", {"name": "Field sales"}).json["id"]
    invitations = {role: invitation(service, tenant, role) for role in ("owner", "member", "viewer")}
    given = {"url": service.api.replace("127.0.0.1", "localhost"), "modules": modules, "chromium": "/usr/bin/chromium",
             "profile": str(tmp_path / "profile"), "screenshots": screenshots_folder(), "pages": PAGES,
             "monitor": monitor["id"], "row": monitor["rows"][0]["id"], "run": run, "flow": flow, "page": f"{nginx.url}/a.html",
             "invitations": invitations | {
                 "team": invitation(service, tenant, "member", "team@example.com", team),
                 "other": invitation(service, service.organisation(name="Others"), "owner")},
             "hostile": HOSTILE, "marks": ["window.hacked", "find me", "by keyboard", "of a file", "Field sales",
                                           "team@example.com", "viewer@example.com", tenant.api_key[:14]]}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "dashboard_browser.js"],
                          input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
    assert done.returncode == 0, done.stderr[-4000:]


def test_pages_follow_their_session_and_change_what_was_touched(service, modules, tmp_path, receiver):
    tenant = service.organisation(name="A name that is wider than a telephone " + "x" * 150)
    hook = tenant.post("/channels", {"name": "by hook", "kind": "webhook", "target": {"url": receiver.url}})
    tenant.post("/channels", {"name": "a feed", "kind": "feed"})
    monitor = tenant.post("/monitors", {
        "name": "odd names", "key_columns": ["n"], "rows": [{"n": "a"}], "frequency": "1h", "tags": ["one, two", '"quoted"'],
        "struct": {"a=b": "css:h1", "x": "css:p[x=y]", '"q"': 'say "it"', "long": "What the page says\nof the price"},
        "channel_ids": [hook["id"]]})
    blank = tenant.post("/monitors", {"name": " ", "key_columns": ["n"], "rows": [{"n": "a"}], "frequency": "1h", "struct": {"a": "css:p"}})
    flow = deduping(tenant, "of a file", "webhook")
    tenant.post(f"/workflows/{flow}/schedules", {"name": "twice", "cron": ["0 9 * * *", "0 18 * * *"], "webhook_payload": [{"n": 1}]})
    another_owner(service, tenant)
    others = service.organisation(name="Others")
    path = f"/admin/v1/orgs/{others.org_id}"
    assert service.as_operator("PATCH", path, {"features": []}).status == 200
    given = {"url": service.api.replace("127.0.0.1", "localhost"), "modules": modules, "chromium": "/usr/bin/chromium",
             "profile": str(tmp_path / "profile"), "screenshots": screenshots_folder(), "monitor": monitor["id"], "blank": blank["id"], "flow": flow,
             "admin": service.admin, "token": ADMIN_TOKEN, "org": tenant.org_id,
             "invitations": {"owner": invitation(service, tenant, "owner"),
                             "other": invitation(service, others, "owner")}}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "dashboard_changes_browser.js"],
                          input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
    assert done.returncode == 0, done.stderr[-4000:]


def dead_delivery(tenant, nginx, database):
    """A webhook that nobody listened for, given up before its time."""
    nginx.write("b.html", "<b class=price>1</b>")
    monitor = tenant.post("/monitors", {
        "name": "told in vain", "key_columns": ["name"], "struct": {"price": "css:.price | number"}, "frequency": "1s",
        "webhook_url": f"http://127.0.0.1:{free_port()}/hook", "rows": [{"name": "b", "url": f"{nginx.url}/b.html"}]})
    wait_until("a first look", lambda: tenant.finished_ticks(monitor["id"]))
    nginx.write("b.html", "<b class=price>2</b>")
    wait_until("an attempt", lambda: database.value("select count(*) from delivery_attempt") > 0)
    wait_until("its end", lambda: database.rows("update delivery set state = 1 where lease_token is null returning id"))


@pytest.fixture
def signing_in(binary, database, tmp_path):
    """A service whose members may sign in by a provider, and the provider."""
    service = Vedette(binary, database.url, tmp_path)
    url = f"http://localhost:{service.api_port}"
    provider = Provider(tmp_path, "tenant-7", f"{url}/dashboard/provider/callback")
    provider.publish(new_key("k1", "ES256")[1])
    service.environment |= {
        "VEDETTE_DASHBOARD_ENABLED": "true", "VEDETTE_API_PUBLIC_URL": url, "VEDETTE_OIDC_ISSUER": provider.issuer,
        "VEDETTE_OIDC_AUDIENCE": AUDIENCE, "VEDETTE_OIDC_ORG_CLAIM": "/org/id", "VEDETTE_OIDC_CLIENT_ID": "dashboard",
        "VEDETTE_OIDC_CLIENT_SECRET": "the-secret-of-the-dashboard"}
    provider.start()
    service.start()
    yield service, url, provider
    assert service.stop() == 0
    provider.stop()


def test_members_sign_in_by_passkeys_by_the_provider_and_by_links(signing_in, database, tmp_path, nginx, modules):
    service, url, provider = signing_in
    tenant = service.organisation()
    team = service.as_operator("POST", f"/admin/v1/orgs/{tenant.org_id}/teams", {"name": "Field sales"})
    assert team.status == 201, team
    dead_delivery(tenant, nginx, database)
    given = {"url": url, "modules": modules, "chromium": "/usr/bin/chromium", "profile": str(tmp_path / "profile"),
             "screenshots": screenshots_folder(), "provider": f"127.0.0.1:{provider.port}", "team": "Field sales",
             "invitations": {role: invitation(service, tenant, role).removeprefix("/") for role in ("owner", "viewer")} | {
                 "other": invitation(service, service.organisation(name="Others"), "owner").removeprefix("/")}}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "sign_in_browser.js"],
                          input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
    assert done.returncode == 0, done.stderr[-4000:]


def test_every_file_has_the_policy_and_nobody_may_frame_it(service):
    for path in ("/dashboard", "/dashboard/assets/app.js", "/dashboard/assets/dashboard.css"):
        answer = call("GET", service.api + path)
        assert answer.status == 200, path
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
