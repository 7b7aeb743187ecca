"""The dashboard in a real browser: an invitation lets an owner in, who walks every page; a viewer is offered only what he
may do. Every page passes axe-core in both colour schemes, on a desk and on a phone."""

import json
import subprocess

import pytest

from conftest import ROOT, Vedette, call, wait_until

BROWSER_S_MAX = 300
HOSTILE = "<script>window.hacked = 1</script><img src=x onerror=\"alert('hacked')\">"
PAGES = ["", "monitors", "monitors/new", "runs", "deliveries", "usage", "keys", "signing", "members", "audit"]


@pytest.fixture(scope="module")
def modules():
    tools = subprocess.run([ROOT / "scripts" / "npm_tools", "tests/npm"], capture_output=True, text=True)
    assert tools.returncode == 0, tools.stderr
    return f"{tools.stdout.strip()}/node_modules"


@pytest.fixture
def service(binary, database, tmp_path):
    # A browser takes a cookie that is Secure from localhost, and from no address.
    made = Vedette(binary, database.url, tmp_path, {"VEDETTE_DASHBOARD_ENABLED": "true"})
    made.start()
    yield made
    assert made.stop() == 0


def invitation(service, tenant, role):
    answer = service.as_operator("POST", f"/admin/v1/orgs/{tenant.org_id}/invitations",
                                 {"email": f"{role}@example.com", "role": role})
    assert answer.status == 201, answer
    return answer.json["link"].split("#")[1]


def test_members_walk_the_pages_of_their_role(service, nginx, modules, tmp_path):
    screenshots = ROOT / "build" / "screenshots"
    screenshots.mkdir(parents=True, exist_ok=True)
    tenant = service.organisation()
    nginx.write("a.html", "<h1>one</h1>")
    monitor = tenant.post("/monitors", {
        "name": f"find me {HOSTILE}", "key_columns": ["name"], "struct": {f"headline {HOSTILE}": "css:h1"},
        "frequency": "1s", "tags": [HOSTILE[:50]], "rows": [{"name": HOSTILE, "url": f"{nginx.url}/a.html"}]})
    wait_until("a first look", lambda: tenant.finished_ticks(monitor["id"]))
    given = {"url": service.api.replace("127.0.0.1", "localhost"), "modules": modules, "chromium": "/usr/bin/chromium",
             "profile": str(tmp_path / "profile"), "screenshots": str(screenshots), "pages": PAGES,
             "monitor": monitor["id"], "page": f"{nginx.url}/a.html",
             "invitations": {role: invitation(service, tenant, role) for role in ("owner", "viewer")}}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests" / "e2e" / "dashboard_browser.js"],
                          input=json.dumps(given), capture_output=True, text=True, timeout=BROWSER_S_MAX)
    assert done.returncode == 0, done.stderr[-4000:]


def test_every_file_has_the_policy_and_nobody_may_frame_it(service):
    for path in ("/dashboard", "/dashboard/assets/app.js", "/dashboard/assets/dashboard.css"):
        answer = call("GET", service.api + path)
        assert answer.status == 200, path
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
