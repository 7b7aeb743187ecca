"""Two API processes behind one database are one API: one rate limit, one idempotency key, one state."""

import concurrent.futures

import pytest

from conftest import Vedette, call, wait_until

LIMIT = 30
BODY = {"name": "M", "key_columns": ["k"], "rows": [{"k": n} for n in range(500)], "struct": {"f": "css:h1"},
        "frequency": "30d"}


@pytest.fixture
def two(binary, database, tmp_path):
    services = []

    def start(**extra):
        for _ in range(2):
            service = Vedette(binary, database.url, tmp_path, extra)
            services.append(service if services else service.migrate())
            services[-1].start(roles="api,admin")
        return services

    yield start
    for service in services:
        assert service.stop() == 0, service.log()


def test_they_share_one_rate_limit(two):
    first, second = two(VEDETTE_LIMITS_REQUESTS_PER_MINUTE=str(LIMIT))

    def spend():
        """LIMIT + 10 requests by turns with a new key; nothing if a minute ended meanwhile."""
        tenant = first.organisation()
        answers = []
        for n in range(LIMIT + 10):
            service = (first, second)[n % 2]
            answers.append(call("GET", service.api + "/monitors", headers={"x-api-key": tenant.api_key}))
        resets = {answer.headers["X-RateLimit-Reset"] for answer in answers}
        return answers if len(resets) == 1 else None

    answers = wait_until("a minute that does not end meanwhile", spend)
    assert [a.status for a in answers] == [200] * LIMIT + [429] * 10
    assert [int(a.headers["X-RateLimit-Remaining"]) for a in answers] == [*range(LIMIT - 1, -1, -1)] + [0] * 10
    for answer in answers[LIMIT:]:
        assert answer.json["error"] == "rate_limited" and 1 <= int(answer.headers["Retry-After"]) <= 60
    assert {a.headers["X-RateLimit-Limit"] for a in answers} == {str(LIMIT)}


def test_a_hundred_creates_with_one_key_make_one_monitor(two, database):
    services = two()
    tenant = services[0].organisation()

    def create(n, body=None):
        return call("POST", services[n % 2].api + "/monitors", body or BODY,
                    {"x-api-key": tenant.api_key, "Idempotency-Key": "one"})

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(create, range(100)))
    assert {a.status for a in answers} <= {200, 409}
    made = {a.body for a in answers if a.status == 200}
    assert len(made) == 1
    assert all(a.json["error"] == "idempotency_key_in_use" for a in answers if a.status == 409)
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        again = list(pool.map(create, range(20)))
    assert {a.status for a in again} == {200} and {a.body for a in again} == made
    assert create(1, {**BODY, "name": "Other"}).status == 422
    assert database.value("select count(*) from monitor") == 1
    assert database.value("select count(*) from monitor_row") == 500


def test_what_one_writes_the_other_shows_at_once(two):
    first, second = two()
    tenant = first.organisation()
    key = {"x-api-key": tenant.api_key}
    for _ in range(20):
        made = call("POST", first.api + "/monitors", BODY, key).json
        path = f"/monitors/{made['id']}"
        assert call("GET", second.api + path + "/rows?limit=1000", headers=key).json["rows"][499]["id"] == \
            made["rows"][499]["id"]
        assert call("POST", second.api + path + "/update", {"is_active": False}, key).json["status"] == "paused"
        assert call("POST", first.api + path + "/trigger", {}, key).status == 409
    org = f"/admin/v1/orgs/{tenant.org_id}"
    assert first.as_operator("PATCH", org, {"locked": True}).status == 200
    assert call("GET", second.api + "/monitors", headers=key).status == 403
    assert first.as_operator("PATCH", org, {"locked": False}).status == 200
    key_id = first.as_operator("GET", org + "/api-keys").json["items"][0]["id"]
    assert first.as_operator("DELETE", f"{org}/api-keys/{key_id}").status == 204
    assert call("GET", second.api + "/monitors", headers=key).status == 401
