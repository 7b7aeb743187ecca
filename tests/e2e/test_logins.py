"""Pages behind a login: a form with a token that has to agree with a cookie, and a session's cookie. A real browser makes the steps."""

import http.server
import json
import threading
import urllib.parse

import pytest

from conftest import Vedette, wait_until
from servers import QuietHandler
from test_rendered_pages import SANDBOX
from test_tasks import Page

USER, PASSWORD = "ann@acme.example", "correct horse"
FORM = """<form method=post action=/login><input type=hidden name=token value=t0ken><input type=hidden name=next value="{}">
<input id=user name=user><input id=password type=password name=password><button>Log in</button></form>"""


class Shop:
    """Its prices are for who is logged in. A session ends with `log_out`."""

    def __init__(self):
        shop = self
        self.logins, self.refused, self.session, self.prices = 0, 0, 0, {"/partners/prices": 49, "/resellers/prices": 39}

        class Handler(QuietHandler):
            def do_GET(self):
                cookies = self.headers.get("Cookie", "")
                path = urllib.parse.urlsplit(self.path)
                if path.path == "/robots.txt":
                    return self.reply(200, "User-agent: *\nDisallow: /private", {"Content-Type": "text/plain"})
                if path.path == "/login":
                    return self.reply(200, FORM.format(path.query), {"Set-Cookie": "csrf=t0ken; Path=/"})
                if shop.session == 0 or f"sid=ann-session-{shop.session}." not in cookies:
                    return self.reply(302, "", {"Location": f"/login?{path.path}"})
                price = shop.prices.get(path.path, 0)
                return self.reply(200, f"<p class=account>{USER}</p><p class=price></p><script>"
                                       f"document.querySelector('.price').textContent = '{price} EUR'</script>")

            def do_POST(self):
                said = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
                if ("csrf=t0ken" not in self.headers.get("Cookie", "") or said.get("token") != "t0ken"
                        or (said.get("user"), said.get("password")) != (USER, PASSWORD)):
                    shop.refused += 1
                    return self.reply(403, "<p>Wrong name or password.</p>")
                shop.logins += 1
                shop.session = shop.session or 1
                return self.reply(302, "", {"Location": said["next"], "Set-Cookie": f"sid=ann-session-{shop.session}.; Path=/; HttpOnly"})

            def reply(self, status, body, headers=None):
                self.send_response(status)
                for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body.encode())), **(headers or {})}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def log_out(self):
        self.session += 1


@pytest.fixture
def shop():
    shop = Shop()
    yield shop
    shop.server.shutdown()


@pytest.fixture
def service(binary, database, tmp_path):
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROBES_LOW_RENDER": "always", "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower(), "VEDETTE_LOG_LEVEL": "trace",
        "VEDETTE_WORKER_OBEY_ROBOTS": "true",
    }).migrate().start()
    yield service
    assert service.stop() == 0


def test_an_address_of_a_step_is_asked_for_like_the_pages_own(service, shop):
    tenant = service.organisation()

    def preview(address):
        body = {"key_columns": ["url"], "rows": [{"url": f"{shop.url}/login"}], "struct": {"name": "css:#user @name"},
                "probe": {"render": "always", "steps": [{"goto": address}]}}
        return tenant.call("POST", "/monitors/preview", body)

    assert preview("/login?again").json["rows"][0]["observed"]["name"]["value"] == "user"
    assert preview("/private/login").json["rows"][0]["error"].startswith("robots: ")
    refused = preview("http://10.0.0.1/")
    assert refused.status == 400 and refused.json["error"] == "invalid_steps", refused


def test_a_monitor_behind_a_login_logs_in_once_and_its_secrets_stay_secret(service, database, shop, tmp_path):
    """The page docs/tasks/watch-behind-a-login.md, followed to its end."""
    tenant = service.organisation()
    page = Page("watch-behind-a-login.md", tmp_path, {
        "https://api.example.com": service.api, "vd_live_...": tenant.api_key, "https://www.example.com": shop.url})
    (row,) = json.loads(page.run("begin", "preview"))["rows"]
    assert row["error"] is None and row["observed"]["price"]["value"] == 49, row
    assert shop.logins == 1 and database.value("SELECT count(*) FROM monitor_login") == 0, "a preview keeps nothing"
    monitor = json.loads(page.run("begin", "create"))["id"]

    def prices():
        rows = json.loads(page.run("begin", "rows", monitor=monitor))["rows"]
        return [row["current"].get("price", {}).get("value") for row in rows]

    def check(ticks):
        tenant.post(f"/monitors/{monitor}/trigger", {})
        wait_until("the check", lambda: len(tenant.finished_ticks(monitor)) == ticks, 90)

    wait_until("both prices", lambda: prices() == [49, 39], 90, every_s=0.5)
    wait_until("the first check", lambda: tenant.finished_ticks(monitor), 90)
    assert shop.logins == 2, "of two rows one logs in"
    shop.prices["/partners/prices"] = 59
    check(2)
    assert prices() == [59, 39] and shop.logins == 2, "the session is kept"

    # The probe logs in again where the site has ended the session, and where the steps change.
    shop.log_out()
    check(3)
    assert shop.logins in (3, 4), "each page that was under way by then"
    logins = shop.logins
    shown = json.loads(page.run("begin", "change", monitor=monitor))
    assert shown["probe"]["secrets"] == {"password": None}
    check(4)
    assert shop.logins == logins + 1 and shop.refused == 0, "with the secret that was kept"
    assert prices() == [59, 39]
    assert page.samples() == {"begin", "preview", "create", "rows", "change"}

    # A login that the site refuses is a failure of each row, and is tried once.
    probe = shown["probe"] | {"secrets": {"password": "wrong pony"}}
    tenant.post(f"/monitors/{monitor}/update", {"probe": probe})
    check(5)
    assert tenant.finished_ticks(monitor)[0]["outcomes"]["failed"] == 2 and shop.refused == 1
    events = tenant.get(f"/monitors/{monitor}/events?event_type=error")
    said = json.dumps(events)
    assert "step_failed" in said and 'probe.steps[3] (wait_for' in said, said
    pages = {row["id"]: row["context"]["url"] for row in tenant.get(f"/monitors/{monitor}/rows")["rows"]}
    for event in events["events"]:
        assert event["message"].endswith(f"It was asked for {pages[event['row_id']]}."), event
    pictured = [event["snapshot_id"] for event in events["events"] if "snapshot_id" in event]
    assert len(pictured) == 1, "the row that tried to log in shows what was there"
    picture = tenant.call("GET", f"/snapshots/{pictured[0]}/screenshot")
    assert picture.status == 200 and picture.body[8:12] == b"WEBP", picture
    assert tenant.call("GET", f"/snapshots/{pictured[0]}/text").status == 404
    assert service.organisation().call("GET", f"/snapshots/{pictured[0]}/screenshot").status == 404, "nobody else's"

    tables = [name for (name,) in database.rows(
        "SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")]
    dump = "\n".join(str(database.value(f"SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM {t} t")) for t in tables)
    audit = service.as_operator("GET", "/admin/v1/audit").body.decode()
    for secret in (PASSWORD, "wrong pony", "ann-session"):
        for place in (service.log(), said, dump, audit, json.dumps(tenant.get(f"/monitors/{monitor}"))):
            assert secret not in place and secret.encode().hex() not in place, secret
    tenant.call("DELETE", f"/monitors/{monitor}")
    assert database.value("SELECT count(*) FROM monitor_login") == 0
