"""Pages made by scripts, in a real browser: what a tier with `render` observes of pages that frameworks of npm make."""

import base64
import json
import os
import pathlib
import signal
import subprocess

import pytest

from conftest import Vedette, wait_until
from scripted_pages import (APP, BARE, EXPORTED, FRAMEWORKS, WAITS, Handler, Site, expected, exported,
                            files_of)

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
# A browser's sandbox is made of namespaces, which in many containers no user may make who is not root.
SANDBOX = subprocess.run(["unshare", "--user", "--net", "true"], capture_output=True, check=False,
                         **({"user": "nobody"} if os.geteuid() == 0 else {})).returncode == 0
# The first time its script is asked for, it does not come until the browser that asks is gone.
SLOW_PAGE = APP + "<script src=/slow.js></script>"
# One page; poppler finds its objects without a table of them.
PDF = b"""%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >> endobj
4 0 obj << /Length 73 >> stream
BT /F 12 Tf 72 700 Td (Price list) Tj 0 -40 Td (Tea 12.50 a pound) Tj ET
endstream endobj
5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
trailer << /Root 1 0 R >>
"""


class PRICE:
    now = 41  # what /price shows, made by a script, and /plain-price without


class SLOW:
    asked = 0  # the page, its script, and again


@pytest.fixture(scope="module")
def pages():
    assert os.path.exists(CHROMIUM), "apt install chromium"

    class SomeSlow(Handler):
        more = {"/burn": ["<script>for (;;) {}</script>"], "/list.pdf": [PDF, "application/pdf"]}

        def do_GET(self):
            if self.path == "/plain-price":
                return self.answer(f"<h1>Tea</h1><ul><li>green<li>black</ul><p class=price>{PRICE.now}</p>"
                                   "<script>no()</script>")
            if self.path == "/price":
                return self.answer(APP + f"<script>app.innerHTML = '<h1>Tea</h1><p class=price>{PRICE.now}</p>"
                                         "<div style=height:3000px>'</script>")
            if not self.path.startswith("/slow"):
                return super().do_GET()
            SLOW.asked += 1
            if self.path == "/slow.js" and SLOW.asked <= 3:
                return self.rfile.read()
            if self.path == "/slow.js":
                return self.answer("app.innerHTML = '<h1>made by slow</h1>'", "text/javascript")
            return self.answer(SLOW_PAGE)

    served = Site(SomeSlow)
    yield served
    served.close()


@pytest.fixture(scope="module")
def site(pages):
    return pages.url


def probe(binary, url, render, **settings):
    environment = {"PATH": "/usr/bin:/bin", "VEDETTE_NET_ALLOW": "127.0.0.1/32", "VEDETTE_PROBES_DEFAULT_RENDER": render,
                   "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower(), **settings}
    done = subprocess.run([binary, "probe", "--url", url, "--watch", "title=css:h1", "--watch", "items=css:li | all"],
                          capture_output=True, text=True, env=environment, timeout=120)
    return {name: one["value"] for name, one in json.loads(done.stdout or "{}").get("values", {}).items()}, done.stderr


def known(tenant, monitor):
    """By address."""
    return {row["subject"]["url"]: {name: one["value"] for name, one in row["current"].items()}
            for row in tenant.rows(monitor)}


def test_pages_of_frameworks_are_read_as_their_scripts_make_them(binary, database, tmp_path, pages):
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROBES_LOW_RENDER": "always", "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower(),
        "VEDETTE_NET_ALLOW": "127.0.0.0/8"}).migrate().start()
    tenant = service.organisation()

    def watch(names, **probe):
        urls = {pages.own(number, name): name for number, name in enumerate(names, 1)}
        return urls, tenant.post("/monitors", {
            "name": "Pages", "key_columns": ["url"], "frequency": "1d", "rows": [{"url": url} for url in urls],
            "struct": {"title": "css:h1", "items": "css:li | all"}, "probe": probe})["id"]

    try:
        watched = [watch([*FRAMEWORKS, *BARE], render="auto")]
        watched += [watch([name], render="always", wait_for=selector) for name, (selector, _) in WAITS.items()]
        closed, members = watch(["members"], render="auto")
        for _, monitor in [*watched, (closed, members)]:
            wait_until("its pages", lambda: tenant.finished_ticks(monitor), 240)
        wrong = {}
        for urls, monitor in watched:
            seen = known(tenant, monitor)
            wrong |= {name: seen.get(url) for url, name in urls.items() if seen.get(url) != expected(name)}
        assert not wrong, json.dumps(wrong)
        row, = tenant.rows(members)
        error, = [event for event in tenant.events(members, row["id"]) if event["event_type"] == "error"]
        assert "login_required" in json.dumps(error)
    finally:
        assert service.stop() == 0


def test_a_probe_renders_where_it_is_asked_to_and_says_so(binary, site):
    """Without a tier that renders."""
    def asked(path, *more, **settings):
        done = subprocess.run([binary, "probe", "--url", f"{site}/{path}", "--watch", "title=css:h1", *more],
                              capture_output=True, text=True, timeout=120,
                              env={"PATH": "/usr/bin:/bin", "VEDETTE_NET_ALLOW": "127.0.0.1/32",
                                   "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower(), **settings})
        return done, json.loads(done.stdout or "{}")

    done, said = asked("vue", "--render", "auto", "--wait-for", "h1")
    assert said["rendered"] is True and said["values"]["title"]["value"] == "made by vue", done.stderr
    _, said = asked("fragment", "--render", "auto")
    assert said["values"]["title"]["value"] == "made by htmx" and "rendered" not in said, "nothing asks for a browser"
    done, said = asked("vue", "--render", "always", VEDETTE_BROWSER_EXECUTABLE="/nonexistent/chromium")
    assert done.returncode != 0 and not said and "--render" in done.stderr and "/nonexistent/chromium" in done.stderr
    done, _ = asked("vue", "--render", "always", VEDETTE_PROBES_DEFAULT_KIND="http",
                    VEDETTE_PROBES_DEFAULT_URL="http://127.0.0.1:1/")
    assert done.returncode != 0 and "kind web" in done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("name", EXPORTED)
def test_a_site_that_a_framework_exports_is_read_once_its_scripts_have_run(binary, pages, name):
    """Its heading is in what is sent, its list is not."""
    site = pages.on("127.0.0.1", files_of(exported(name)))
    assert probe(binary, site, "never")[0]["title"] == f"made by {name}"
    assert probe(binary, site, "always")[0] == expected(name)


@pytest.mark.parametrize("render", ["never", "always"])
def test_a_pdf_is_read_whether_pages_are_rendered_or_not(binary, site, render):
    """What a browser would download is fetched as it is sent."""
    done = subprocess.run([binary, "probe", "--url", f"{site}/list.pdf", "--watch", "tea=regex:Tea ([0-9.]+)", "--watch", "all=text | lines",
                           "--watch", "title=css:h1"], capture_output=True, text=True, timeout=120,
                          env={"PATH": "/usr/bin:/bin", "VEDETTE_NET_ALLOW": "127.0.0.1/32", "VEDETTE_PROBES_DEFAULT_RENDER": render,
                               "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower()})
    said = json.loads(done.stdout or "{}")
    assert {name: one["value"] for name, one in said.get("values", {}).items()} == {
        "tea": "12.50", "all": "Price list\nTea 12.50 a pound"}, done.stderr
    assert "use text or regex:" in done.stdout and "rendered" not in said


def test_what_is_no_html_is_read_alike_whether_pages_are_rendered_or_not(binary, pages):
    """What a browser would download, what it has nothing to show of, and feeds, which it shows as text."""
    class Files(Handler):
        more = {"/csv": ["title\nTea\n", "text/csv"], "/octets": ["Tea", "application/octet-stream"], "/none": ["", "text/plain", 204],
                "/feed": ["<rss version='2.0'><channel><h1>Tea</h1></channel></rss>", "application/rss+xml"],
                "/json": ['{"a": "Tea"}', "application/json"]}

        def do_GET(self):
            if self.path == "/attached":
                return self.answer("<h1>Tea</h1>", **{"Content-Disposition": "attachment; filename=tea.html"})
            if self.path.startswith("/leads/"):
                return self.answer("", status=302, Location=f"/leads/{int(self.path[7:]) - 1}" if self.path[7:] != "1" else "/csv")
            return super().do_GET()

    site = pages.on("127.0.0.1", Files)

    def read(path, render):
        done = subprocess.run([binary, "probe", "--url", site + path, "--watch", "all=text", "--watch", "title=css:h1"], capture_output=True,
                              text=True, timeout=120, env={"PATH": "/usr/bin:/bin", "VEDETTE_NET_ALLOW": "127.0.0.1/32",
                              "VEDETTE_PROBES_DEFAULT_RENDER": render, "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower()})
        said = json.loads(done.stdout or "{}")
        return {name: one["value"] for name, one in said.get("values", {}).items()}, said.get("unread"), done.returncode, done.stderr

    for path in (*Files.more, "/attached", "/leads/5"):
        sent, rendered = (read(path, render) for render in ("never", "always"))
        assert sent[:3] == rendered[:3], (path, sent, rendered)
    assert read("/feed", "always")[0] == {"all": "Tea", "title": "Tea"}
    for render in ("never", "always"):
        assert "more than 5 times" in read("/leads/6", render)[3]


def test_without_rendering_such_a_page_says_that_its_scripts_make_it(binary, site):
    said, log = probe(binary, f"{site}/vue", "never")
    assert not said and "(made_by_scripts)" in log


def test_where_there_is_no_browser_pages_are_read_as_sent_and_the_log_says_why(binary, site):
    said, log = probe(binary, f"{site}/vue", "always", VEDETTE_BROWSER_EXECUTABLE="/nonexistent/chromium")
    assert not said and "(made_by_scripts)" in log and "/nonexistent/chromium" in log


def test_a_check_of_the_configuration_says_whether_pages_are_rendered(binary):
    def said(**settings):
        environment = {"PATH": "/usr/bin:/bin", "VEDETTE_DATABASE_URL": "postgresql://a@127.0.0.1:1/a", **settings}
        done = subprocess.run([binary, "config", "--check"], capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    assert "`render`" in said()
    renders = {"VEDETTE_PROBES_DEFAULT_RENDER": "auto"}
    assert "not rendered" in (missing := said(**renders, VEDETTE_BROWSER_EXECUTABLE="/nonexistent/chromium"))
    assert "/nonexistent/chromium" in missing
    assert said(**renders, VEDETTE_BROWSER_EXECUTABLE="/bin/true") == "Pages made by scripts: rendered by /bin/true."


def test_a_start_that_insists_on_a_browser_fails_without(binary, site):
    environment = {"PATH": "/usr/bin:/bin", "VEDETTE_BROWSER_ENABLED": "true", "VEDETTE_NET_ALLOW": "127.0.0.1/32",
                   "VEDETTE_BROWSER_EXECUTABLE": "/nonexistent/chromium"}
    done = subprocess.run([binary, "probe", "--url", f"{site}/vue", "--watch", "a=css:h1"], capture_output=True,
                          text=True, env=environment, timeout=60)
    assert done.returncode != 0 and "[browser] enabled" in done.stderr


def test_a_browser_without_its_sandbox_is_a_warning(binary, site):
    said, log = probe(binary, f"{site}/vue", "always", VEDETTE_BROWSER_SANDBOX="false", VEDETTE_BROWSER_PAGES_MAX="1",
                      VEDETTE_BROWSER_MEMORY_BYTES_MAX="2147483648")
    assert said["title"] == "made by vue"
    assert "sandbox is false" in log


def test_a_page_that_burns_its_time_is_a_timeout(binary, site):
    _, log = probe(binary, f"{site}/burn", "always", VEDETTE_BROWSER_RENDER_TIMEOUT_MS="3000")
    assert "(timeout)" in log


def browsers_of(service):
    """The browsers of a process: each leads a session of its own."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == service.process.pid and b"chromium" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (OSError, IndexError):
            pass
    return found


def test_a_served_monitor_pays_for_what_was_rendered_and_outlives_its_browser(binary, database, tmp_path, site):
    """Pages that need no browser start none and cost no more; a browser that is killed amid a page costs it one attempt."""
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROBES_LOW_RENDER": "auto", "VEDETTE_PRICES_RENDER": "0.5",
        "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower(),
    }).migrate().start()

    def watch(tenant, *pages, **more):
        return tenant.post("/monitors", {"name": "Pages", "key_columns": ["url"], "frequency": "1d",
                                         "rows": [{"url": f"{site}/{page}"} for page in pages],
                                         "struct": {"title": "css:h1"}, **more})["id"]

    def titles(tenant, monitor):
        return [row.get("title") for row in known(tenant, monitor).values()]

    try:
        tenant = service.organisation(credits=100)
        assert service.as_operator("GET", "/readyz").json["rendering"]["available"] is True
        plain = watch(tenant, "fragment")
        wait_until("the plain page", lambda: tenant.finished_ticks(plain))
        assert titles(tenant, plain) == ["made by htmx"]
        refused = watch(tenant, "vue", probe={"render": "never"})
        wait_until("the page that may not be rendered", lambda: tenant.finished_ticks(refused))
        assert tenant.finished_ticks(refused)[0]["outcomes"]["failed"] == 1
        assert browsers_of(service) == [], "nothing has asked for a browser"
        assert tenant.money()["balance"] == 99

        rendered = watch(tenant, "vue", "mithril", "fragment")
        wait_until("the rendered pages", lambda: tenant.finished_ticks(rendered), 90)
        assert sorted(titles(tenant, rendered)) == ["made by htmx", "made by mithril", "made by vue"]
        assert tenant.money()["balance"] == 95, "two of three needed a browser, and the third is of their host"

        slow = watch(tenant, "slow")
        before = wait_until("a browser", lambda: browsers_of(service))
        wait_until("the slow page to load", lambda: SLOW.asked >= 2, 60)
        for pid in browsers_of(service):
            os.kill(pid, signal.SIGKILL)
        wait_until("the slow page", lambda: tenant.finished_ticks(slow), 90)
        assert titles(tenant, slow) == ["made by slow"], "its second attempt"
        assert not set(before) & set(browsers_of(service)), "another browser"
    finally:
        left = browsers_of(service)
        assert service.stop() == 0
    wait_until("its browsers to be gone", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in left))


def picture_size(picture):
    """The width and height of a file in WebP (lossy)."""
    assert picture[:4] == b"RIFF" and picture[8:15] == b"WEBPVP8", picture[:30]
    if picture[15:16] == b"X":
        return tuple(int.from_bytes(picture[at:at + 3], "little") + 1 for at in (24, 27))
    return tuple(int.from_bytes(picture[at:at + 2], "little") & 0x3FFF for at in (26, 28))


def test_what_a_page_was_like_is_kept_where_it_changed(binary, database, tmp_path, pages):
    """Pages that are fetched leave their text, those that are rendered a picture, too."""
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROBES_LOW_RENDER": "auto", "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower()}).migrate().start()

    def ask(tenant, path):
        answer = tenant.call("GET", path)
        return answer.headers["Content-Type"], answer.body

    def events(tenant, monitor):
        return tenant.get(f"/monitors/{monitor}/events?event_type=change")["events"]

    try:
        tenant, stranger = service.organisation(credits=1000), service.organisation()
        made = {page: tenant.post("/monitors", {
            "name": page, "key_columns": ["url"], "frequency": "1d", "rows": [{"url": f"{pages.url}/{page}"}],
            "struct": {"price": "css:.price | number"}}) for page in ("plain-price", "price")}
        # The text of a page is watched by its lines, without what does not count.
        texts = {part: tenant.post("/monitors", {
            "name": part, "key_columns": ["url"], "frequency": "1d", "rows": [{"url": f"{pages.url}/plain-price"}],
            "struct": {"page": "text"}, "probe": {"ignore": ignore}})
            for part, ignore in {"numbers": ["numbers"], "heading": [{"selector": "h1"}]}.items()}
        made.update(texts)
        for page in made.values():
            wait_until("a first check", lambda: tenant.finished_ticks(page["id"]), 60)
        for price in (41, 39):  # the same, and another one
            PRICE.now = price
            for page in made.values():
                ticks = len(tenant.finished_ticks(page["id"]))
                tenant.post(f"/monitors/{page['id']}/trigger", {})
                wait_until("a check", lambda: len(tenant.finished_ticks(page["id"])) > ticks, 60)
        assert events(tenant, texts["numbers"]["id"]) == [], "nothing else than numbers has changed"
        (change,) = events(tenant, texts["heading"]["id"])
        assert (change["added"], change["removed"]) == (["39"], ["41"]) and "Tea" not in change["current_value"], change
        refused = tenant.call("POST", f"/monitors/{texts['heading']['id']}/update", {"probe": {"ignore": [{"selector": "p >> a"}]}})
        assert refused.status == 400 and refused.json["error"] == "invalid_ignore", refused

        # What one picks in a preview is found by its selector.
        look = {"key_columns": ["url"], "rows": [{"url": f"{pages.url}/plain-price"}], "struct": {"title": "css:h1"}}
        shown = tenant.post("/monitors/preview", look | {"screenshot": True})["screenshot"]
        picture_size(base64.b64decode(shown["image"]))
        picked = {f"e{n}": element for n, element in enumerate(shown["elements"]) if element["selector"] != "body"}
        assert {"Tea", "green", "39"} <= {element["text"] for element in picked.values()}
        (found,) = tenant.post("/monitors/preview", look | {
            "struct": {name: f"css:{element['selector']} | count" for name, element in picked.items()}})["rows"]
        assert {seen["value"] for seen in found["observed"].values()} == {1} and not found["unread"], found
        assert "screenshot" not in tenant.post("/monitors/preview", look)

        for name, page in made.items():
            if name in texts:
                continue
            path = f"/monitors/{page['id']}/rows/{page['rows'][0]['id']}"
            kept = tenant.get(f"{path}/snapshots")["snapshots"]
            (change,) = events(tenant, page["id"])
            assert [change["snapshot_id"], change["previous_snapshot_id"]] == [one["id"] for one in kept], "two of three checks"
            assert change["event_group_id"] == change["snapshot_id"]
            said = [ask(tenant, f"/snapshots/{one['id']}/text") for one in kept]
            lists = "- green\n- black\n" if name == "plain-price" else ""
            assert said == [("text/plain; charset=utf-8", f"# Tea\n{lists}{price}".encode()) for price in (39, 41)]
            rendered = name == "price"
            assert [one["rendered"] for one in kept] == [one["has_screenshot"] for one in kept] == [rendered] * 2
            for one in kept:
                for part in ("text", "screenshot"):
                    assert stranger.call("GET", f"/snapshots/{one['id']}/{part}").status == 404
            if not rendered:
                assert tenant.call("GET", f"/snapshots/{kept[0]['id']}/screenshot").status == 404
                continue
            pictures = [ask(tenant, f"/snapshots/{one['id']}/screenshot") for one in kept]
            assert {kind for kind, _ in pictures} == {"image/webp"} and pictures[0][1] != pictures[1][1]
            width, height = picture_size(pictures[0][1])
            assert 1200 < width <= 1280 and 3000 < height < 3500, "the whole page"
            tenant.post(f"{path}/remove", {})
            assert tenant.call("GET", f"/snapshots/{kept[0]['id']}/text").status == 404, "gone with its row"
    finally:
        assert service.stop() == 0
