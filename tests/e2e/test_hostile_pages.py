"""G11: pages and selectors made to hurt. Each check ends with what is said here, the honest ones beside them are served
meanwhile, and memory stays within a limit that follows from the configuration."""

import gzip
import http.server
import threading

import pytest

from conftest import Vedette, wait_until
from servers import QuietHandler
from testbed import rss_max_bytes

BODY_MAX = 2_000_000
TIMEOUT_S = 8
# What a check may hold of a page: its bytes, their text and its tree (a node is 120 bytes; few pages are all nodes).
PAGES_AT_ONCE, PAGE_FACTOR = 8, 12

DEEP = "<div>" * 100_000 + "<p>x</p>"
LAUGHS = "".join(f"<!ENTITY l{i} \"{f'&l{i - 1};' * 10}\">" for i in range(1, 12))
DTD = f'<!DOCTYPE html [<!ENTITY l0 "haha">{LAUGHS}]>'
HTML, JSON = "text/html", "application/json"


def chunks(first, rest, count=None):
    yield first
    n = 0
    while count is None or n < count:
        yield rest
        n += 1


BOMB = gzip.compress(b" " * 100_000_000, 1)  # a thousand times smaller than what it becomes

# path: (content type, headers, the body whole or in pieces, the class of the failure or None)
PAGES = {
    "honest": (HTML, {}, "<p>x</p>", None),
    "large": (HTML, {"Content-Length": "100000008"}, lambda: chunks(b"<p>x</p>", b"y" * 100_000, 1000),
              "body_too_large"),
    "endless": (HTML, {}, lambda: chunks(b"<p>x</p>", b"<b>" * 10_000), "body_too_large"),
    "dripping": (HTML, {}, "drip", "timeout"),
    "bomb": (HTML, {"Content-Encoding": "gzip"}, BOMB, "body_too_large"),
    "deep": (HTML, {}, DEEP, "bad_content"),
    "deep-svg": (HTML, {}, "<p>x</p><svg>" + "<g>" * 100_000, "bad_content"),
    "laughs": (HTML, {}, DTD + "<html><body><p>x</p><i>&l11;</i></body></html>", None),
    "laughs-xhtml": ("application/xhtml+xml", {}, f'<?xml version="1.0"?>{DTD}<html><p>x</p><i>&l11;</i></html>', None),
    "laughs-svg": (HTML, {}, f"<p>x</p><svg>{DTD}<text>&l11;</text></svg>", None),
    "not-utf8": ("text/html; charset=utf-8", {}, b"<p>x</p>\xff\xfe\xc0\xaf\xed\xa0\x80" * 1000, None),
    "utf16-bare": (HTML, {}, "<p>x</p>".encode("utf-16-le"), None),
    "utf16-lie": ("text/html; charset=utf-16", {}, b"<p>x</p>" * 1001 + b"z", None),  # bare text is a paragraph
    "utf7": ("text/html; charset=utf-7", {}, b"<p>x</p>", None),
    "surrogates": (HTML, {}, "<p>x</p>" + "&#xD800;&#xDFFF;&#x110000;" * 10_000, None),
    "redirects": ("", {"Location": "redirects"}, "", "http_status"),
    "zigzag": ("", {"Location": "redirects"}, "", "http_status"),
    "header": (HTML, {"X-Much": "y" * 20_000_000}, "<p>x</p>", "protocol"),
    "attributes": (HTML, {}, "<p>x</p><a " + " ".join(f"a{i}=1" for i in range(50_000)) + ">", "bad_content"),
    "metas": (HTML, {}, "<p>x</p>" + "<meta a>" * 100_000, None),
    "json": (JSON, {}, "[" * 100_000, "bad_content"),
    "binary": ("image/png", {}, b"\x89PNG" * 1000, "bad_content"),
}

FLAT = "<p>x</p>" + "<a>bbbbbbbbb</a>" * 25_000
CHAIN = " ".join(["a"] * 200)
# description, page: as seen() has it; "any": a sane parser may take it or leave it
SELECTORS = [
    (f"css:{CHAIN}", ("text/html", FLAT), "absent"),
    ("css:" + ":not(" * 12 + "a" + ")" * 12, (HTML, FLAT), None),
    ("css::has(a ~ a ~ a ~ a)", (HTML, FLAT), "bad_content"),
    ("xpath://*//*//*//*", (HTML, FLAT), "absent"),
    ("xpath:count(//a/following::*/following::*)", (HTML, FLAT), "bad_content"),
    ("xpath:count(//a | //a)", (HTML, FLAT), "bad_content"),
    ("xpath://a[contains(/, 'zz')]", (HTML, FLAT), "bad_content"),
    ("xpath://a[. = //a]", (HTML, FLAT), "bad_selector"),
    ("regex:(a|aa)+(b+)+$$", (HTML, FLAT), "absent"),
    ("regex:(.*.*.*.*.*.*x){20}y", (HTML, "a" * 1_900_000), "absent"),
    ("json:$..a", (JSON, "[" * 100_000 + "]" * 100_000), "bad_content"),
    ("json:$..a", (JSON, '{"a":' * 100_000), "bad_content"),
    ("json:$.a", (JSON, '{"a":' + "9" * 1_000_000 + "}"), "any"),
    ("json:$.a", (JSON, '{"a":1e999999999}'), "any"),
    ("json:$.b", (JSON, '{"a":"\\ud800","b":2}'), "any"),
    ("meta:description", (HTML, "<meta name=x content=y>" * 20_000), "absent"),
    ("text", (HTML, "<b>" * 2_000 + "word " * 350_000), "bad_content"),
]


class Site(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self):
        self.asked, self.closing = [], threading.Event()
        site = self

        class Handler(QuietHandler):
            def do_GET(self):
                name = self.path.strip("/")
                site.asked.append(name)
                if name.startswith("selector"):
                    content_type, body = SELECTORS[int(name[8:])][1]
                    headers = {}
                else:
                    content_type, headers, body, _ = PAGES[name.partition("?")[0]]
                try:
                    self.send(content_type, headers, body)
                except OSError:
                    pass

            def send(self, content_type, headers, body):
                if "Location" in headers:
                    headers = {"Location": f"/redirects?{len(site.asked)}", "Content-Length": "0"}
                self.send_response(302 if "Location" in headers else 200)
                for name, value in {"Content-Type": content_type, "Connection": "close", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if body == "drip":
                    while not site.closing.wait(0.5):
                        self.wfile.write(b"<")
                        self.wfile.flush()
                elif callable(body):
                    for piece in body():
                        self.wfile.write(piece)
                else:
                    self.wfile.write(body if isinstance(body, bytes) else body.encode())

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


@pytest.fixture
def site():
    server = Site()
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()


def seen(tenant, monitor):
    """What became of every row: its failure's class, "absent" or None for a value."""
    out = {}
    for row in tenant.rows(monitor):
        name = row["subject"]["url"].rpartition("/")[2]
        errors = [e for e in tenant.events(monitor, row["id"]) if e["event_type"] == "error"]
        if errors:
            out[name] = errors[-1]["message"].partition(":")[0]
        else:
            out[name] = None if row["baseline"].get("p") is not None else "absent"
    return out


def test_g11_hostile_pages_and_selectors_are_bounded(binary, database, tmp_path, site):
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROBES_LOW_TIMEOUT_MS": str(TIMEOUT_S * 1000), "VEDETTE_PROBES_LOW_ATTEMPTS_MAX": "1",
        "VEDETTE_PROBES_LOW_BODY_BYTES_MAX": str(BODY_MAX), "VEDETTE_WORKER_PER_HOST_MAX": str(PAGES_AT_ONCE),
    }).migrate().start()
    try:
        before_kb = rss_max_bytes(service.process.pid) // 1024
        tenant = service.organisation()

        def monitor(names, description):
            return tenant.post("/monitors", {
                "name": "Hostile", "key_columns": ["url"], "rows": [{"url": site.url(name)} for name in names],
                "struct": {"p": description}, "frequency": "1d"})

        pages = monitor(PAGES, "css:p")["id"]
        wait_until("the dripping page to be asked for", lambda: "dripping" in site.asked)
        honest = monitor(["honest?again"], "css:p")["id"]
        wait_until("the honest page's check", lambda: tenant.finished_ticks(honest))
        assert seen(tenant, honest) == {"honest?again": None}
        wait_until("every page's check to end", lambda: tenant.finished_ticks(pages), limit_s=150)
        found = seen(tenant, pages)
        assert found == {name: said for name, (_, _, _, said) in PAGES.items()}
        # One after the other: each may hold a thread for as long as the limit lets it.
        for i, (description, _, said) in enumerate(SELECTORS):
            made = monitor([f"selector{i}"], description)
            assert ("warnings" in made) == (said == "bad_selector"), (description, made)
            wait_until("the check to end", lambda m=made["id"]: tenant.finished_ticks(m))
            found = seen(tenant, made["id"])[f"selector{i}"]
            assert found == said or said == "any", (description[:60], found)
        grown_kb = rss_max_bytes(service.process.pid) // 1024 - before_kb
        limit_kb = PAGES_AT_ONCE * PAGE_FACTOR * BODY_MAX // 1000
        assert grown_kb < limit_kb, f"hostile pages took {grown_kb} kB"
    finally:
        assert service.stop() == 0
