"""Rows are looked at before a monitor is made of them: as a check would, for nothing, and leaving nothing behind."""

import concurrent.futures
import socket

from conftest import Vedette, call

BODY = {"key_columns": ["sku"], "struct": {"price": "css:.price | number", "gone": "css:.gone", "typo": "css:a["}}


def preview(tenant, rows, **more):
    return tenant.post("/monitors/preview", {**BODY, "rows": rows, **more})


def test_a_preview_shows_what_a_check_would_see_and_writes_nothing(vedette, nginx, database):
    tenant = vedette.organisation()
    nginx.write("a.html", "<html lang=de><table><tr><td>Mug</td><td class=price>1.299 EUR</td></tr></table>")
    tables = [name for name, in database.rows("select relname from pg_stat_user_tables")]

    def counts():
        return {name: database.value(f"select count(*) from {name}") for name in tables if name != "member"}

    before = counts()
    balance = tenant.get("/credits")
    seen = preview(tenant, [{"sku": "a", "url": f"{nginx.url}/a.html"}, {"sku": "b", "url": f"{nginx.url}/none.html"},
                            {"sku": "c"}])
    a, b, c = seen["rows"]
    assert a["subject"] == {"sku": "a"} and a["error"] is None
    assert a["observed"]["price"] == {"value": 1299, "evidence": "Mug 1.299 EUR", "sources": [f"{nginx.url}/a.html"],
                                      "confidence": None}
    assert a["observed"]["gone"]["value"] is None
    assert a["unread"]["typo"].startswith("bad_selector: ")
    assert b["error"].startswith("http_status: ") and c["error"].startswith("no_address: ")
    assert any("struct." in warning for warning in seen["warnings"])
    assert any("rows[2]" in warning for warning in seen["warnings"])
    assert counts() == before
    assert tenant.get("/credits") == balance and tenant.get("/monitors") == {"monitors": []}


def test_a_preview_looks_at_the_first_five_rows(vedette, nginx):
    nginx.write("a.html", "<p class=price>1</p>")
    tenant = vedette.organisation()
    rows = [{"sku": str(n), "url": f"{nginx.url}/a.html"} for n in range(7)]
    assert [row["subject"]["sku"] for row in preview(tenant, rows)["rows"]] == list("01234")


def test_a_preview_is_checked_as_a_monitor_is(vedette):
    tenant = vedette.organisation()

    def refused(body):
        return call("POST", vedette.api + "/monitors/preview", body, {"x-api-key": tenant.api_key})

    assert refused({**BODY, "rows": [{"sku": ""}]}).json["error"] == "missing_key_value"
    assert refused({**BODY, "rows": [{"sku": "a"}], "tier": "huge"}).status == 400
    assert refused({**BODY, "rows": [{"sku": "a"}], "tier": "high"}).status in (200, 403)
    assert refused({**BODY, "rows": [{"sku": "a"}], "nonsense": 1}).status == 422
    assert refused({**BODY, "resource_handle_id": "x"}).status == 422
    assert refused(BODY).status == 422


def test_previews_are_bounded_and_end_in_their_time_G10(binary, database, tmp_path):
    """Pages that never come: a preview is answered all the same, and while it waits the next one of the organisation is
    refused, but not a neighbour's."""
    service = Vedette(binary, database.url, tmp_path).migrate().start(roles="api,admin")
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        tenant, neighbour = service.organisation(), service.organisation()

        def ask(who):
            body = {**BODY, "rows": [{"sku": str(n), "url": f"{url}/{n}"} for n in range(5)]}
            return call("POST", service.api + "/monitors/preview", body, {"x-api-key": who.api_key})

        previews = 8  # 40 rows, where 32 of all organisations may be looked at
        with concurrent.futures.ThreadPoolExecutor(previews + 1) as pool:
            *ours, beside = pool.map(ask, [tenant] * previews + [neighbour])
        answered = [answer for answer in ours if answer.status == 200]
        refused = [answer for answer in ours if answer.status == 429]
        assert answered and refused and len(answered) + len(refused) == previews, ours
        assert all(answer.headers["Retry-After"] == "1" for answer in refused) and beside.status == 200, beside
        rows = [row for answer in [*answered, beside] for row in answer.json["rows"]]
        assert len(rows) == 5 * (len(answered) + 1) and all(row["error"].startswith("timeout: ") for row in rows), rows
    assert service.stop() == 0


def test_a_preview_has_no_way_inside_G9(binary, database, tmp_path, nginx):
    nginx.write("a.html", "<p class=price>1</p>")
    service = Vedette(binary, database.url, tmp_path, {"VEDETTE_NET_ALLOW": ""}).migrate().start(roles="api,admin")
    tenant = service.organisation()
    rows = [{"sku": "a", "url": f"{nginx.url}/a.html"}, {"sku": "b", "url": "http://169.254.169.254/latest"},
            {"sku": "c", "url": "http://[::1]/"}]
    for row in preview(tenant, rows)["rows"]:
        assert row["error"].startswith("refused_address: "), row
    assert nginx.requests("a.html") == 0
    assert service.stop() == 0
