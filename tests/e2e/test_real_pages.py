"""Real input: pages that nobody here wrote, through a real web server; exactly the right events come out.

The expected values come from lxml and cssselect, which share no code with the web probe's selectors.
"""

import collections
import json
import subprocess
from pathlib import Path

import lxml.html
import pytest
from lxml.cssselect import CSSSelector

from conftest import ROOT, clean_environment, openssl_accepts, wait_until

PAGES = ["sql-vacuum", "sql-select", "ddl-partitioning", "wal-configuration", "app-psql"]
FIELDS = {
    "title": "css:title",
    "heading": "css:h2.title, span.refentrytitle",
    "manual": "xpath://a[@accesskey='h']/@title",
    "next page": "css:link[rel=next] @href",
    "purpose": "xpath://div[@class='refnamediv']/p",
    "first program listing": "css:pre.programlisting",
}


@pytest.fixture(scope="module")
def manual():
    for path in (Path("/usr/share/doc/postgresql-doc-15/html"), ROOT / "build/postgresql-doc/html"):
        if path.is_dir():
            return path
    pytest.fail("the manual pages of postgresql-doc-15 are missing; ./test provides them")


def expected(page):
    """Field to value, of what is there; the first match in document order, white space folded."""
    tree = lxml.html.document_fromstring(page)
    found = {}
    for field, description in FIELDS.items():
        language, selector = description.split(":", 1)
        attribute = None
        if language == "css":
            if " @" in selector:
                selector, attribute = selector.rsplit(" @", 1)
            matches = CSSSelector(selector)(tree)
        else:
            matches = tree.xpath(selector)
        if matches:
            match = matches[0]
            text = match if isinstance(match, str) else match.get(attribute) if attribute else match.text_content()
            found[field] = " ".join(text.split())
    return found


def folded(values):
    return {field: " ".join(str(value).split()) for field, value in values.items()}


def wait_for_ticks(tenant, monitor_id, count):
    return wait_until(f"{count} finished ticks", lambda: len(tenant.finished_ticks(monitor_id)) >= count)


def test_exactly_what_changed_is_reported(vedette, nginx, receiver, manual):
    pages = {name: (manual / f"{name}.html").read_bytes() for name in PAGES}
    for name, page in pages.items():
        nginx.write(f"{name}.html", page)
    tenant = vedette.organisation()
    made = tenant.post("/monitors", {
        "name": "The manual",
        "key_columns": ["page"],
        "rows": [{"page": name, "url": f"{nginx.url}/{name}.html"} for name in PAGES],
        "struct": FIELDS,
        "frequency": "1h",
        "webhook_url": receiver.url,
        "metadata": {"from": "the tests", "n": 1},
    })
    monitor = made["id"]
    ids = dict(zip(PAGES, (row["id"] for row in made["rows"])))
    wait_for_ticks(tenant, monitor, 1)

    # The first observations are what an independent reader of the same pages sees.
    rows = {row["subject"]["page"]: row for row in tenant.rows(monitor)}
    for name, page in pages.items():
        assert folded(rows[name]["baseline"]) == expected(page), name
        assert tenant.events(monitor, ids[name]) == [], "a first observation is no change"

    # A new version of two pages: one changed in three fields, one in a part that nobody watches.
    vacuum = pages["sql-vacuum"]
    changed = (vacuum.replace(b"<title>VACUUM</title>", "<title>VACUUM \u2013 reworked &amp; renamed</title>".encode())
               .replace(b'<link rel="next" href="sql-values.html"', b'<link rel="next" href="sql-walrus.html"')
               .replace(b"Documentation", b"Manual"))
    assert sum(expected(changed)[f] != expected(vacuum)[f] for f in expected(vacuum)) == 3
    nginx.write("sql-vacuum.html", changed)
    psql = pages["app-psql"].replace(b"</body>", b"<p>A remark at the end.</p></body>")
    assert expected(psql) == expected(pages["app-psql"]) and psql != pages["app-psql"]
    nginx.write("app-psql.html", psql)
    tick = tenant.post(f"/monitors/{monitor}/trigger", {})
    assert tick["joined"] is False and tick["rows"] == len(PAGES)
    wait_for_ticks(tenant, monitor, 2)

    events = tenant.events(monitor, ids["sql-vacuum"])
    before, after = expected(vacuum), expected(changed)
    assert {e["field"]: (e["previous_value"], e["current_value"]) for e in events} == {
        field: (before[field], after[field]) for field in FIELDS
        if field in before and before[field] != after[field]}
    assert len(events) == 3
    assert {e["event_type"] for e in events} == {"change"}
    assert all(e["sources"] == [f"{nginx.url}/sql-vacuum.html"] for e in events)
    for name in PAGES:
        if name != "sql-vacuum":
            assert tenant.events(monitor, ids[name]) == [], name
    last = tenant.finished_ticks(monitor)[0]
    assert {k: n for k, n in last["outcomes"].items() if n} == {"changed": 1, "unchanged": len(PAGES) - 1}

    # One notification a row and check, and no other; each verified by openssl.
    wait_until("the notifications", lambda: len(receiver.requests) >= 2 * len(PAGES))
    types = collections.Counter(kind for kind, _ in receiver.pairs())
    assert types == {"monitor.execution.completed": 2 * len(PAGES) - 1, "monitor.field.changed": 1}
    for request in receiver.requests:
        assert openssl_accepts(tenant.signing_secret, request)
    told = next(r for r in receiver.requests if r["headers"]["Service-Event-Type"] == "monitor.field.changed")
    body = json.loads(told["body"])
    assert body["monitor_id"] == ids["sql-vacuum"], "the row's id, as the interface says"
    assert body["event_group_id"] == events[0]["event_group_id"] == told["headers"]["Service-Event-Id"]
    assert body["metadata"] == {"from": "the tests", "n": 1}
    group = tenant.events(monitor, ids["sql-vacuum"], event_group_id=body["event_group_id"])
    assert {e["id"] for e in group} == {e["id"] for e in events}

    # Each check was charged once, and nothing else was.
    money = tenant.money()
    assert money["charged"] == 2 * len(PAGES) and money["reserved"] == 0
    assert money["balance"] + money["charged"] == 100_000


def test_vedette_verify_and_openssl_agree(binary, vedette, nginx, receiver, manual):
    nginx.write("page.html", (manual / "sql-vacuum.html").read_bytes())
    tenant = vedette.organisation()
    tenant.post("/monitors", {"name": "One", "key_columns": ["url"], "rows": [{"url": f"{nginx.url}/page.html"}],
                              "struct": {"title": "css:title"}, "frequency": "1h", "webhook_url": receiver.url})
    request = wait_until("a notification", lambda: receiver.requests)[0]

    def verify(secret, body):
        return subprocess.run(
            [binary, "verify", "--secret", secret, "--header", request["headers"]["Service-Signature"]],
            input=body, capture_output=True, env=clean_environment()).returncode

    assert openssl_accepts(tenant.signing_secret, request)
    assert verify(tenant.signing_secret, request["body"]) == 0
    other = "sk_whsec_" + "0" * 64
    assert not openssl_accepts(other, request)
    assert verify(other, request["body"]) == 1
    assert verify(tenant.signing_secret, request["body"] + b" ") == 1
