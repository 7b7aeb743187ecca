"""Edges of money that held, and must go on to (G4): what an amount may be, balances that end in the middle, and that the
ledger's sum is balance and reservations whenever one looks."""

import pytest

from attack import closing, fresh_database, monitor, post, response, slow_site, Site
from conftest import ADMIN_TOKEN, Vedette, call, wait_until


@pytest.fixture(scope="module")
def service(binary, postgres, tmp_path_factory):
    with fresh_database(postgres) as database:
        it = Vedette(binary, database.url, tmp_path_factory.mktemp("money"), {
            "VEDETTE_PROBES_LOW_ATTEMPTS_MAX": "1", "VEDETTE_PROBES_MICRO_ATTEMPTS_MAX": "1"}).migrate().start()
        it.database = database
        yield it
        assert it.stop() == 0, it.log()[-1000:]


@pytest.fixture(scope="module")
def site():
    with closing(slow_site(0)) as it:
        yield it


def balance(service, org_id):
    money = service.as_operator("GET", f"/admin/v1/orgs/{org_id}").json
    return money["balance"], money["reserved"], money["charged"]


# amount; the status, and what the balance, 100 before, is afterwards.
AMOUNTS = [
    (1, 200, 101), (0.001, 200, 100.001), (-0.001, 200, 99.999), (-100, 200, 0), (0.5, 200, 100.5), (1e3, 200, 1100),
    (-100.001, 409, 100), (-1e12, 409, 100), (1e12, 409, 100), (-1e15, 422, 100), (1e15, 422, 100),
    (0, 422, 100), (0.0001, 422, 100), (1.0005, 422, 100), (1e300, 422, 100), (9223372036854775807, 422, 100),
    (9223372036854775.808, 422, 100), (18446744073709551616, 422, 100), (-9223372036854775808, 422, 100),
    ("1", 422, 100), (True, 422, 100), (None, 422, 100), ([1], 422, 100), ({"a": 1}, 422, 100), ("", 422, 100),
    ("NaN", 422, 100), (b'{"amount":NaN,"reason":"r"}', 400, 100),
]


def test_what_an_amount_may_be(service):
    for amount, status, after in AMOUNTS:
        org = service.organisation(100).org_id
        path = f"/admin/v1/orgs/{org}/credits"
        if isinstance(amount, bytes):
            answer = call("POST", service.admin + path, raw=amount, headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})
        else:
            answer = service.as_operator("POST", path, {"amount": amount, "reason": "r"})
        assert (answer.status, balance(service, org)) == (status, (after, 0, 0)), (amount, answer)


def settled(service, tenant, monitor_id):
    """The first tick's outcomes, once it is closed and nothing is reserved."""
    tick = wait_until("the tick", lambda: tenant.finished_ticks(monitor_id))[0]
    wait_until("nothing reserved", lambda: tenant.money()["reserved"] == 0)
    return {name: n for name, n in tick["outcomes"].items() if n}


# credits, tier, rows; paid rows, what is left.
BALANCES = [
    (3, "low", 3, 3, 0), (3, "low", 4, 3, 0), (2.999, "low", 3, 2, 0.999), (0.999, "low", 2, 0, 0.999),
    (1.5, "micro", 4, 3, 0), (0.499, "micro", 1, 0, 0.499), (20, "high", 2, 1, 0), (19.999, "high", 1, 0, 19.999),
    (1, "medium", 2, 0, 1),
]


def test_a_balance_pays_the_first_rows_to_the_millicredit(service, site):
    for credits, tier, rows, paid, left in BALANCES:
        tenant = service.organisation(credits)
        made = monitor(tenant, [f"{site.url}{n}" for n in range(rows)], tier=tier)
        expected = {"unchanged": paid, "skipped_balance": rows - paid}
        assert settled(service, tenant, made) == {k: n for k, n in expected.items() if n}, (credits, tier)
        shown = tenant.rows(made)
        assert [row["last_run_at"] is not None for row in shown] == [n < paid for n in range(rows)]
        if paid < rows:
            events = tenant.events(made, shown[-1]["id"])
            assert [e["event_type"] for e in events] == ["error"] and "insufficient_balance" in events[0]["message"]
        assert tenant.money()["balance"] == left and tenant.money()["charged"] == pytest.approx(credits - left)


def test_failed_checks_and_cancelled_monitors_cost_nothing(service, site):
    async def missing(_path, _body):
        return response(status=404)

    tenant = service.organisation(10)
    with closing(Site(missing)) as gone:
        assert settled(service, tenant, monitor(tenant, [f"{gone.url}{n}" for n in range(5)])) == {"failed": 5}
        assert tenant.money()["balance"] == 10
    with closing(slow_site(3600)) as hanging:
        made = monitor(tenant, [f"{hanging.url}{n}" for n in range(5)])
        wait_until("the checks to be under way", lambda: len(hanging.asked) == 5 and tenant.money()["reserved"] == 5)
        assert tenant.money()["balance"] == 5
        post(tenant, f"/monitors/{made}/cancel", {})
    settled(service, tenant, made)
    assert tenant.money()["balance"] == 10 and tenant.money()["charged"] == 0


def test_a_teams_spend_limit_holds_beside_the_balance(service, site):
    for limit, rows, paid in [(2, 4, 2), (0, 2, 0), (0.999, 1, 0), (2.999, 4, 2), (None, 3, 3)]:
        tenant = service.organisation(100)
        path = f"/admin/v1/orgs/{tenant.org_id}"
        team = service.as_operator("POST", path + "/teams", {"name": "T", "spend_limit": limit})
        assert team.status == 201, team
        made = monitor(tenant, [f"{site.url}{n}" for n in range(rows)], team_id=team.json["id"])
        expected = {"unchanged": paid, "skipped_spend_limit": rows - paid}
        assert settled(service, tenant, made) == {k: n for k, n in expected.items() if n}, limit
        assert tenant.money()["balance"] == 100 - paid
    for limit in (-1, "1", 0.0001, True):
        answer = service.as_operator("POST", path + "/teams", {"name": "T", "spend_limit": limit})
        assert answer.status == 422, (limit, answer)


def test_the_ledger_adds_up_after_all_of_it(service):
    """Account by account; what a charge is for is written beside it."""
    wrong = service.database.rows(
        "SELECT org_id, balance_mc, reserved, added FROM account "
        "LEFT JOIN LATERAL (SELECT coalesce(sum(reserved_mc), 0) AS reserved FROM chunk c WHERE c.org_id = account.org_id) r "
        "ON true LEFT JOIN LATERAL (SELECT coalesce(sum(amount_mc), 0) AS added FROM credit_entry e WHERE e.org_id = "
        "account.org_id) l ON true WHERE balance_mc + reserved <> added OR balance_mc < 0")
    assert wrong == []
