"""A user mends a monitor and finds what it observed, with real checks of real pages."""

import urllib.parse

from conftest import call, wait_until
from receivers import Scripted, answers, reply


def test_a_monitor_is_mended_and_its_present_values_are_found(vedette, nginx, database):
    tenant = vedette.organisation()
    nginx.write("a.html", "<html lang=de><p class=price>1.299</p><h1>A</h1></html>")
    made = tenant.post("/monitors", {
        "name": "shop", "key_columns": ["sku"], "frequency": "1h", "missing_confirmations": 1,
        "rows": [{"sku": "a", "url": f"{nginx.url}/a.html"}, {"sku": "b"}],
        "struct": {"price": "css:.prize|number", "title": "css:h1"}})
    assert "rows[1]" in made["warnings"][0]
    monitor, (a, b) = f"/monitors/{made['id']}", [row["id"] for row in made["rows"]]

    def checked(ticks):
        return lambda: len([t for t in tenant.get(monitor + "/ticks")["ticks"] if t["finished_at"]]) >= ticks

    wait_until("the first tick", checked(1))
    row = tenant.get(f"{monitor}/rows/{a}")
    assert row["never_observed"] == ["price"] and row["current"]["title"]["value"] == "A"
    assert row["current"]["title"]["since"] == row["last_run_at"] and row["current"]["title"]["sources"]
    [failing] = tenant.get(monitor + "/rows?failing=true")["rows"]
    assert failing["id"] == b and failing["failure"]["message"].startswith("no_address")

    mended = tenant.post(monitor + "/update", {"struct": {"price": "css:.price|number", "title": "css:h1"}})
    assert mended["forgotten"] == ["price"]
    tenant.post(f"{monitor}/rows/{b}/update", {"columns": {"url": f"{nginx.url}/none.html"}})
    tenant.post(monitor + "/trigger", {})
    wait_until("the second tick", checked(2))
    row = tenant.get(f"{monitor}/rows?{urllib.parse.quote('key[sku]')}=a")["rows"][0]
    assert row["current"]["price"]["value"] == 1299 and row["never_observed"] == []
    failure = tenant.get(f"{monitor}/rows/{b}")["failure"]["message"]
    assert failure.startswith("http_status") and "/none.html" in failure

    events = tenant.get("/events?limit=1")
    assert events["events"][0]["event_type"] == "error" and events["events"][0]["row_id"] == b
    more = tenant.get(f"/events?cursor={urllib.parse.quote(events['next_cursor'])}")["events"]
    assert [e["event_type"] for e in more] == ["error"]
    assert tenant.get(monitor + "/events?event_type=change") == {"events": []}

    tenant.post(f"{monitor}/rows/{b}/remove", {})
    assert tenant.get(monitor)["row_count"] == 1 and len(tenant.get(monitor)["rows"]) == 1
    tenant.post(monitor + "/archive", {})
    assert tenant.get("/monitors") == {"monitors": []}
    assert len(tenant.get("/monitors?archived=true")["monitors"]) == 1
    assert database.value("select count(*) from event where event_type = 0") == 0


def test_headers_of_a_monitor_reach_its_own_host_alone(vedette, database):
    """The row's page redirects to itself, then to another host; what is secret stays with the first."""
    tenant = vedette.organisation()
    other = Scripted(answers(200, ["Content-Type: text/html"], b"<h1>x</h1>"))

    def redirects(receiver, connection, request):
        to = "/next" if request["line"].startswith("GET / ") else f"http://127.0.0.1:{other.port}/elsewhere"
        connection.sendall(reply(302, [f"Location: {to}"], b""))

    own = Scripted(redirects)
    body = {"name": "headers", "key_columns": ["sku"], "frequency": "30d", "struct": {"title": "css:h1"},
            "rows": [{"sku": "a", "url": f"http://127.0.0.1:{own.port}/"}],
            "request_headers": {"Cookie": "session=hidden-cookie", "X-Token": "hidden-token"}}
    try:
        seen = tenant.post("/monitors/preview", body)
        assert seen["rows"][0]["observed"]["title"]["value"] == "x", seen
        monitor = "/monitors/" + tenant.post("/monitors", body)["id"]
        wait_until("the first tick", lambda: [t for t in tenant.get(monitor + "/ticks")["ticks"] if t["finished_at"]])
        [row] = tenant.get(monitor + "/rows")["rows"]
        assert row["current"]["title"]["value"] == "x"
    finally:
        own.close()
        other.close()
    assert len(own.requests) == 4 and len(other.requests) == 2
    for request in own.requests:
        assert request["headers"]["Cookie"] == "session=hidden-cookie" and request["headers"]["X-Token"] == "hidden-token"
    assert all("hidden" not in str(request) for request in other.requests)
    shown = call("GET", vedette.api + monitor, None, {"x-api-key": tenant.api_key})
    assert shown.json["request_header_names"] == ["Cookie", "X-Token"] and b"hidden" not in shown.body
    assert "hidden" not in vedette.log()
    assert database.value("select count(*) from monitor where request_headers is not null "
                          "and position('hidden'::bytea in request_headers) = 0") == 1
