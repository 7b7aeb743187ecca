"""Hostile texts that held, and must go on to: whatever a tenant calls its things, it comes back as it was given or is
refused with a 4xx; it breaks no answer, no line of the log and no metric, and reaches nobody else."""

import csv
import io
import json
import re
import urllib.parse

import pytest

from attack import closing, fresh_database, monitor, post, slow_site
from conftest import Receiver, Vedette, call, wait_until

TEXTS = [
    "'; DROP TABLE monitor; --", "' OR '1'='1", "\\'; SELECT pg_sleep(60); --", "$1", "%s%n%x", "{0}{}{{",
    "{{7*7}}", "${jndi:ldap://x/a}", "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>",
    "javascript:alert(1)", "../../../../etc/passwd", "..\\..\\windows", "a\r\nX-Injected: 1",
    "a\r\n\r\nHTTP/1.1 200 OK", "a\nlevel=error forged", "tab\there", "\x1b[31mred\x1b[0m", "bell\x07",
    "del\x7f", "c1 \x85 next line", "back\\slash", "quote\"quote", "=cmd|'/C calc'!A0", "+1+1", "-2+3",
    "@SUM(A1)", "comma,comma", "semi;colon", "\u202egnp.exe", "zero\u200bwidth",
    "\u2028line\u2029paragraph", "\ufeffbom", "combining e\u0301", "composed \u00e9", "\u0130stanbul",
    "\u1e9e \u00df", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0010ffff", "\ufffe\uffff", "\ufffd",
    "Z" + "\u0315" * 100, "\u3000ideographic\u3000", "__proto__", "constructor", "null", "undefined",
    "true", "NaN", "1e309", "0x10", "-0", "1.0", "999999999999999999999999", "None", "(", "id", "org_id",
    "select", "\"id\"", "row_state", "pg_catalog.pg_class", "vedette", "*", "%", "_", "\\N", "\\.", "\\x00",
    "{}", "[]", "//", "#", "?a=b&c=d", "a" * 200, "\u00e9" * 200, "\U0001f600" * 200,
]
REFUSED = ["nul\x00here", "\x00", "", "a" * 201, "\u00e9" * 201]


@pytest.fixture(scope="module")
def service(binary, postgres, tmp_path_factory):
    with fresh_database(postgres) as database:
        it = Vedette(binary, database.url, tmp_path_factory.mktemp("names"), {"VEDETTE_LOG_LEVEL": "debug"})
        it.migrate().start()
        yield it
        assert it.stop() == 0, it.log()[-1000:]


@pytest.fixture(scope="module")
def tenant(service):
    return service.organisation()


def test_names_come_back_as_they_were_given(service, tenant):
    assert len(TEXTS) > 70
    for text in TEXTS:
        answer = tenant.call("POST", "/monitors", {
            "name": text, "key_columns": ["k"], "rows": [{"k": "1"}], "struct": {"f": "css:h1"}, "frequency": "30d",
            "run_id": text, "research_plan": text, "metadata": {text: text}})
        assert answer.status == 200, (text, answer)
        shown = tenant.get(f"/monitors/{answer.json['id']}")
        assert (shown["name"], shown["research_plan"], shown["metadata"]) == (text, text, {text: text})
        found = tenant.get("/monitors/for-run/" + urllib.parse.quote(text, safe=""))
        assert [m["name"] for m in found] == [text]
        seen = service.as_operator("GET", f"/admin/v1/monitors/{answer.json['id']}")
        assert seen.status == 200 and json.dumps(text) in json.dumps(seen.json), text
    for text in REFUSED:
        answer = tenant.call("POST", "/monitors", {"name": text, "key_columns": ["k"], "rows": [{"k": "1"}],
                                                   "struct": {"f": "css:h1"}, "frequency": "30d"})
        assert answer.status in (400, 422), (text[:20], answer)


def test_columns_and_values_come_back_as_they_were_given(tenant):
    """Each text as the name of a column, of a watched field and as a value; keys are compared trimmed."""
    rows = [{"k": f"{n} {text}", "note": text, text: "named so"} for n, text in enumerate(TEXTS)]
    struct = {"price": "css:.price"}
    made = tenant.call("POST", "/monitors", {"name": "M", "key_columns": ["k"], "rows": rows, "struct": struct,
                                             "frequency": "30d"})
    assert made.status == 200, made
    shown = tenant.rows(made.json["id"])
    assert [row["subject"]["k"].strip() for row in shown] == [row["k"].strip() for row in rows]
    for text in TEXTS:
        answer = tenant.call("POST", "/monitors", {
            "name": "M", "key_columns": [text], "rows": [{text: text, "x" + text: "base"}],
            "struct": {"x" + text: text}, "frequency": "30d"})
        if answer.status != 200:
            assert answer.status in (400, 422), (text, answer)
            continue
        row = tenant.rows(answer.json["id"])[0]
        assert list(row["subject"]) == [text] and row["subject"][text].strip() == text.strip()
        assert row["struct"] == {"x" + text: text} and row["baseline"] == {"x" + text: "base"}


def upload(service, tenant, data):
    return call("POST", service.api + "/storage/csv/upload", raw=data,
                headers={"x-api-key": tenant.api_key, "Content-Type": "text/csv"})


def test_a_file_of_hostile_values_gives_the_same_rows(service, tenant):
    texts = [t for t in TEXTS if "\ufeff" not in t]
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["k", "price", "=note"])
    writer.writerows([f"{n} {text}", text, text] for n, text in enumerate(texts))
    handle = upload(service, tenant, file.getvalue().encode())
    assert handle.status == 200 and handle.json["row_count"] == len(texts), handle
    made = post(tenant, "/monitors", {"name": "F", "key_columns": ["k"], "struct": {"price": "css:.price"},
                                      "resource_handle_id": handle.json["handle_id"], "frequency": "30d"})["id"]
    wait_until("the rows", lambda: tenant.get(f"/monitors/{made}")["status"] == "active")
    shown = tenant.rows(made)
    assert [row["subject"]["k"].strip() for row in shown] == [f"{n} {t}".strip() for n, t in enumerate(texts)]
    assert [row["baseline"].get("price", "").strip() for row in shown] == [t.strip() for t in texts]


FILES = [
    b"a\x00b,c\n1,2\n", b"\xff\xfe\x00a", b"a,b\n\xc3\x28,1\n", b"a,b\n\"unclosed,1\n", b"a,b\n1\n", b"a,b\n1,2,3\n",
    b"a,a\n1,2\n", b",b\n1,2\n", b"a,b\n\"x\"y,1\n", b"a\n" + b"x" * 70_000 + b"\n", b"a,b", b"\n\n\n", b"\xef\xbb\xbf",
    b",".join(b"c%d" % n for n in range(1025)) + b"\n" + b",".join([b"1"] * 1025), b"x" * 300 + b"\n1\n",
    "a,b\n\ud800,1\n".encode("utf-8", "surrogatepass"), b"PK\x03\x04\x14\x00", b"\x1f\x8b\x08\x00\x00\x00", b"a,b\r1,2\r3,4\r",
]


def test_files_that_are_no_csv_are_refused_with_their_line(service, tenant):
    for data in FILES:
        answer = upload(service, tenant, data)
        assert answer.status in (400, 422), (data[:30], answer)


def test_a_notification_carries_hostile_metadata_and_no_header_of_it(service, tenant):
    receiver = Receiver()
    metadata = {text: text for text in TEXTS}
    with closing(slow_site(0)) as site:
        monitor(tenant, [site.url], metadata=metadata, webhook_url=receiver.url)
        request = wait_until("the notification", lambda: receiver.requests)[0]
    assert json.loads(request["body"])["metadata"] == metadata
    assert "X-Injected" not in request["headers"]
    receiver.close()


def test_no_text_forged_a_line_or_a_metric(service):
    """Every line of the log begins as lines do, without control characters; names are labels of no metric."""
    lines = service.log_path.read_bytes().split(b"\n")
    assert len(lines) > 3
    for line in lines[:-1]:
        assert re.match(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (trace|debug|info|warn|error)", line), line
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", line), line
    metrics = call("GET", service.admin + "/metrics").body.decode()
    assert "DROP TABLE" not in metrics and "alert(1)" not in metrics
    for line in metrics.splitlines():
        assert line.startswith("#") or re.fullmatch(r'[a-z_]+(\{[^\n]*\})? [-+0-9.eInfNa]+', line), line
