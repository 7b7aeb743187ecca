"""Lookups of people as a client sees them: real processes, and docs/examples/lookup_service.py as the operator's service."""

import pytest

from conftest import Vedette, wait_until
from test_lookups import ended, money_adds_up, service  # noqa: F401


@pytest.fixture
def people(binary, database, tmp_path, service):  # noqa: F811
    vedette = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROVIDERS_HTTP_SAMPLE_URL": service, "VEDETTE_LOOKUPS_REVERSE_EMAIL": "sample",
        "VEDETTE_LOOKUPS_VERIFY_AGE": "sample"}).migrate().start()
    vedette.database = database
    yield vedette
    assert vedette.stop() == 0, vedette.log()


def test_a_client_that_waits_learns_who_is_behind_an_address(people):
    tenant = people.organisation(100)
    answer = tenant.call("POST", "/reverse-email", {"lead": {"email": "Ada.Lovelace@engines.example", "crm_id": 7}})
    assert answer.status == 200, answer
    person = answer.json
    assert person["email"] == "Ada.Lovelace@engines.example" and person["name"] == "Ada Lovelace"
    assert person["domain"] == "engines.example" and person["confidence"] == 8 and person["error"] is None
    assert [(t["provider"], t["outcome"]) for t in person["details"]["tries"]] == [("sample", "found")]
    assert float(tenant.money()["balance"]) == 95
    assert money_adds_up(people.database)


def test_a_batch_never_makes_a_person_of_a_role_and_charges_only_people(people):
    tenant = people.organisation(100)
    emails = ["ada.lovelace@engines.example", "info@engines.example", "nonsense", "a.b@mailinator.com", "x@engines.example"]
    leads = [{"email": email} for email in [*emails, emails[0]]]
    started = tenant.post("/reverse-email-bulk-async", {"leads": leads})
    done = ended(tenant, started["task_id"])
    assert done["status"] == "completed" and done["task_type"] == "reverse_email_bulk", done
    rows = done["result"]["results"]
    assert [row["name"] for row in rows] == ["Ada Lovelace", None, None, None, None, "Ada Lovelace"]
    assert [row["error"] for row in rows] == [None, None, "invalid_email", None, None, None]
    assert [row["details"]["tries"] for row in rows[1:4]] == [[], [], []]
    assert rows[1]["domain"] == "engines.example" and rows[3]["domain"] is None
    assert rows[5]["details"]["duplicate_of"] == 0
    assert done["charge_amount"] == 5 and float(tenant.money()["balance"]) == 95
    assert money_adds_up(people.database)


def test_an_age_is_verified_with_its_quote_and_shown_by_its_own_route(people):
    tenant = people.organisation(100)
    started = tenant.post("/verify-age", {"subject": {"name": "Ada Lovelace", "company": "engines.example"}})
    assert started["status"] == "RUNNING" and started["estimated_cost_cents"] == 20
    path = f"/verify-age/{started['task_id']}"
    shown = wait_until("the end", lambda: (s := tenant.get(path))["status"] != "running" and s)
    assert shown["status"] == "completed", shown
    result = shown["result"]
    assert {k: result["date_of_birth"][k] for k in ("day", "month", "year")} == {"day": 6, "month": 5, "year": 1980}
    assert "born on 6 May 1980" in result["evidence"] and result["sources"] == ["https://example.com/lookup"]
    assert float(tenant.money()["balance"]) == 80
    # Its route shows no other kind of task.
    other = tenant.post("/reverse-email-async", {"lead": {"email": "info@engines.example"}})
    assert tenant.call("GET", f"/verify-age/{other['task_id']}").status == 404
    assert "Lovelace" not in people.log()


def test_whom_nobody_looks_up_causes_no_question_and_looks_like_nothing_found(people):
    tenant = people.organisation(100)
    for who in ({"email": "ada.lovelace@engines.example"}, {"name": "Grace Hopper", "domain": "engines.example"}):
        assert people.as_operator("POST", "/admin/v1/suppressions", {**who, "reason": "asked"}).status == 200
    person = tenant.call("POST", "/reverse-email", {"lead": {"email": "Ada.Lovelace@engines.example"}}).json
    stranger = tenant.call("POST", "/reverse-email", {"lead": {"email": "nobody@engines.example"}}).json
    assert [(t["provider"], t["outcome"]) for t in person["details"]["tries"]] == [("sample", "nothing")], person
    for answer in (person, stranger):
        answer["email"], answer["details"]["task_id"], answer["details"]["tries"][0]["elapsed_ms"] = "", "", 0
    assert person == stranger and person["name"] is None and person["error"] is None
    started = tenant.post("/verify-age", {"subject": {"name": "Grace Hopper", "company": "engines.example"}})
    done = ended(tenant, started["task_id"])
    assert done["status"] == "completed" and done["result"]["date_of_birth"]["year"] is None, done
    assert float(tenant.money()["balance"]) == 100


def test_no_request_reaches_a_provider_that_invents_and_no_refusal_names_it(people):
    tenant = people.organisation(100)
    lead = {"name": "Ada Lovelace", "email": "ada@engines.example"}
    for path, body in (("/find-email", {"lead": lead}), ("/find-email-async", {"lead": lead}),
                       ("/find-email-bulk", {"leads": [lead]}), ("/find-email-bulk-async", {"leads": [lead]}),
                       ("/reverse-email", {"lead": lead}), ("/reverse-email-async", {"lead": lead}),
                       ("/reverse-email-bulk", {"leads": [lead]}), ("/reverse-email-bulk-async", {"leads": [lead]}),
                       ("/verify-age", {"subject": lead})):
        refused = tenant.call("POST", path, body | {"providers": ["null"]})
        assert (refused.status, refused.json["error"]) == (400, "unknown_provider"), (path, refused)
        assert "null" not in refused.json["message"].split(" are: ", 1)[1], refused
    assert float(tenant.money()["balance"]) == 100


def test_find_email_tells_a_source_of_people_from_an_unknown_provider(people):
    tenant = people.organisation(100)
    lead = {"name": "Ada Lovelace", "domain": "engines.example"}
    for source in ("wkd", "pages", "wikidata", "local_part"):
        refused = tenant.call("POST", "/find-email", {"lead": lead, "providers": [source]})
        assert (refused.status, refused.json["error"]) == (400, "provider_not_for_this"), (source, refused)


def test_faults_of_a_request_are_told_in_their_order(people):
    tenant = people.organisation(100)

    def fault(path, body):
        answer = tenant.call("POST", path, body)
        return answer.status, answer.json.get("error")

    assert fault("/verify-age", {}) == (400, "empty_subject")
    assert fault("/verify-age", {"subject": {"own": 1}}) == (400, "empty_subject")
    assert fault("/verify-age", {"subject": {"name": "A"}, "input": {"name": "A"}}) == (400, "ambiguous_subject")
    assert fault("/verify-age", {"subject": {"name": 5}})[0] == 422
    assert fault("/verify-age", {"subject": {"name": "A"}, "providers": ["local_part"]}) == (400, "provider_not_for_this")
    assert fault("/verify-age", {"subject": {"name": "A"}, "providers": ["nobody"]}) == (400, "unknown_provider")
    assert fault("/reverse-email", {"lead": {"name": "Ada"}}) == (400, "invalid_email")
    assert fault("/reverse-email", {"lead": {"email": "a@b"}, "providers": ["nobody"]}) == (400, "invalid_email")
    assert fault("/reverse-email", {"lead": {}}) == (400, "empty_lead")
    assert fault("/reverse-email-bulk", {"leads": []}) == (400, "no_leads")
    assert fault("/reverse-email", {"lead": {"email": "a@b.example"}, "mode": "PERSONAL"})[0] == 422
    assert float(tenant.money()["balance"]) == 100


def test_a_name_that_is_read_out_of_the_address_is_a_candidate_and_no_answer(people):
    tenant = people.organisation(100)
    body = {"lead": {"email": "ada.lovelace@engines.example"}, "providers": ["local_part"]}
    person = tenant.call("POST", "/reverse-email", body).json
    assert person["name"] is None and person["confidence"] == 0
    assert [c["name"] for c in person["candidates"]] == ["Ada Lovelace"]
    assert float(tenant.money()["balance"]) == 100


def test_where_every_source_fails_the_job_fails_and_costs_nothing(binary, database, tmp_path):
    vedette = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROVIDERS_HTTP_NOBODY_URL": "http://127.0.0.1:9/", "VEDETTE_LOOKUPS_VERIFY_AGE": "nobody"}).migrate().start()
    try:
        tenant = vedette.organisation(100)
        task = tenant.post("/verify-age", {"input": {"name": "Ada Lovelace"}})["task_id"]
        done = ended(tenant, task)
        assert done["status"] == "failed" and done["result"] is None, done
        assert float(tenant.money()["balance"]) == 100
    finally:
        assert vedette.stop() == 0, vedette.log()
