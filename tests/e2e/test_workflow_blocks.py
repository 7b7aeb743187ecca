"""The blocks of workflows that ask others, by real processes: a mail server of the test, and docs/examples/lookup_service.py as
the operator's service. Phones are compared with another port of libphonenumber."""

import importlib.machinery
import importlib.util
import json
import random
import urllib.request

import pytest

from conftest import ROOT, Vedette
from test_find_email import make_world, world  # noqa: F401
from test_lookups import money_adds_up, service  # noqa: F401
from test_workflows import create, ended, run

DOCUMENT = ROOT / "docs" / "blocks.md"


@pytest.fixture
def people(binary, database, tmp_path, service):  # noqa: F811
    vedette = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROVIDERS_HTTP_SAMPLE_URL": service, "VEDETTE_LOOKUPS_FIND_EMAIL": "sample",
        "VEDETTE_LOOKUPS_REVERSE_EMAIL": "sample", "VEDETTE_LOOKUPS_VERIFY_AGE": "sample"}).migrate().start()
    vedette.database = database
    yield vedette
    assert vedette.stop() == 0, vedette.log()


LEADS = ("webhook", {"dataframe_type": "LEAD"})


def rows_of(tenant, *blocks, rows):
    """The rows that a run of these blocks gives."""
    done = run(tenant, create(tenant, LEADS, *blocks), {"webhook_payload": rows})
    status = ended(tenant, done)
    assert status["overall_status"] == "completed", status
    links = tenant.get(f"/workflows/runs/{done}/results/download-links?format=ndjson")
    url = links[0]["download_url"]
    address = tenant.vedette.api + url[url.index("/storage/"):]
    with urllib.request.urlopen(address, timeout=60) as answer:
        return [json.loads(line) for line in answer.read().decode().splitlines()]


def balance(tenant):
    return float(tenant.money()["balance"])


def test_addresses_are_found_and_verified_and_charged_by_their_rules(world):  # noqa: F811
    tenant = world.vedette.organisation(100)
    found = rows_of(tenant, ("find_email", {"columns": {"name": "who"}}), rows=[
        {"who": "Ann Zyaaa", "domain": "acme.test"}, {"who": "Bob Qwert", "domain": "acme.test"}, {"who": None, "domain": ""}])
    assert [list(row) for row in found] == [
        ["who", "domain", "email", "email_status", "email_type", "personal_email", "email_error"]] * 3
    assert [(r["email"], r["email_status"], r["email_type"]) for r in found] == [
        ("ann.zyaaa@acme.test", "OK", "COMPANY"), (None, "NOT_FOUND", None), (None, None, None)]
    assert [(r["email_error"] or "").split(":")[0] for r in found] == ["", "", "empty_row"]
    assert balance(tenant) == 95  # what was not found is free
    verified = rows_of(tenant, ("verify_email", {"email_column": "mail"}), rows=[
        {"mail": "ann.zyaab@acme.test"}, {"mail": "nobody@acme.test"}, {"mail": "nonsense"}, {"mail": " "},
        {"mail": "ann.zyaaa@acme.test"}])
    assert [(r["email_status"], r["email_reason"]) for r in verified] == [
        ("OK", None), ("NOT_FOUND", "refused"), ("NOT_FOUND", "invalid_address"), (None, None), ("OK", None)]
    assert verified[3]["email_error"].startswith("empty_row")
    # The first two cost a credit each; what is no address asked nobody, and the last one was known.
    assert balance(tenant) == 93
    assert money_adds_up(world.database)
    # A run that cannot be paid for is refused whole: its estimate is each row at the price of its mode.
    poor = world.vedette.organisation(9)
    workflow = create(poor, LEADS, ("find_email", {}))
    refused = poor.call("POST", f"/workflows/run?workflow_id={workflow}",
                        {"webhook_payload": [{"name": "Ann Zyaaa", "domain": "acme.test"}] * 2})
    assert refused.status == 402 and refused.json["error"] == "insufficient_credits", refused
    assert refused.json["estimated_cost_cents"] == 10
    assert "zyaaa" not in world.vedette.log().lower()


def test_people_are_found_behind_addresses_and_their_age_beside_them(people):
    tenant = people.organisation(100)
    rows = rows_of(tenant, ("reverse_email", {}), ("verify_age", {}), rows=[
        {"email": "ada.lovelace@engines.example", "title": "Countess"}, {"email": "info@engines.example"},
        {"email": "nonsense"}])
    assert list(rows[0]) == [
        "email", "title", "name", "company", "location", "linkedin", "reverse_error", "date_of_birth", "dob_confidence", "age",
        "age_as_of", "age_confidence", "age_sources", "age_error"]
    assert rows[0]["name"] == "Ada Lovelace" and rows[0]["title"] == "Countess", rows[0]
    assert rows[0]["date_of_birth"] == "1980-05-06" and rows[0]["age"] >= 46 and rows[0]["age_confidence"] > 0, rows[0]
    assert rows[0]["age_sources"] == ["https://example.com/lookup"] and rows[0]["age_error"] is None
    assert (rows[1]["name"], rows[1]["reverse_error"], rows[1]["date_of_birth"], rows[1]["dob_confidence"]) == (None,) * 4
    assert rows[2]["reverse_error"].startswith("invalid_email")
    assert balance(tenant) == 75  # 5 for a name, 20 for an age
    assert money_adds_up(people.database)
    assert "Lovelace" not in people.log()


def test_the_document_of_blocks_is_what_is_served(people):
    served = people.organisation().get("/workflows/blocks")
    if not any(block["block_name"] == "verify_phone" for block in served):
        pytest.skip("built without libphonenumber")
    loader = importlib.machinery.SourceFileLoader("blocks_document", str(ROOT / "scripts" / "blocks_document"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("blocks_document", loader))
    loader.exec_module(module)
    assert DOCUMENT.read_text() == module.document(served), "run scripts/blocks_document"


def written(phonenumbers, dice):
    """A number as people write it: real ones, and some that are too long, too short or made up."""
    region = dice.choice(sorted(phonenumbers.SUPPORTED_REGIONS))
    kinds = [phonenumbers.PhoneNumberType.FIXED_LINE, phonenumbers.PhoneNumberType.MOBILE,
             phonenumbers.PhoneNumberType.TOLL_FREE, phonenumbers.PhoneNumberType.VOIP]
    number = phonenumbers.example_number_for_type(region, dice.choice(kinds)) or phonenumbers.example_number(region)
    if dice.random() < 0.1 or number is None:
        return "+" + "".join(dice.choice("0123456789") for _ in range(dice.randint(3, 17)))
    national = list(str(number.national_number))
    for _ in range(dice.choice([0, 0, 1, 2])):
        national[dice.randrange(len(national))] = dice.choice("0123456789")
    if dice.random() < 0.15:
        national = national[:-dice.randint(1, 3)] or national
    number.national_number = int("".join(national) or "1")
    forms = [phonenumbers.PhoneNumberFormat.E164, phonenumbers.PhoneNumberFormat.INTERNATIONAL,
             phonenumbers.PhoneNumberFormat.NATIONAL]
    return phonenumbers.format_number(number, dice.choice(forms))


def expected(phonenumbers, text, region):
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None, False, False, None, None
    if not phonenumbers.is_possible_number(number):
        return None, False, False, None, None
    names = {getattr(phonenumbers.PhoneNumberType, name): name for name in (
        "FIXED_LINE", "MOBILE", "FIXED_LINE_OR_MOBILE", "TOLL_FREE", "PREMIUM_RATE", "SHARED_COST", "VOIP", "PERSONAL_NUMBER",
        "PAGER", "UAN", "VOICEMAIL")}
    return (phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), phonenumbers.is_valid_number(number), True,
            names.get(phonenumbers.number_type(number)), phonenumbers.region_code_for_number(number))


@pytest.mark.parametrize("region", [None, "DE", "US"])
def test_another_port_of_the_library_says_the_same_of_a_thousand_phones(people, region):
    phonenumbers = pytest.importorskip("phonenumbers")
    tenant = people.organisation()
    if not any(block["block_name"] == "verify_phone" for block in tenant.get("/workflows/blocks")):
        pytest.skip("built without libphonenumber")
    dice = random.Random(f"phones {region}")
    texts = [written(phonenumbers, dice) for _ in range(1_000)]
    rows = rows_of(tenant, ("verify_phone", {"phone_column": "phone", "default_region": region}),
                   rows=[{"phone": text} for text in texts])
    fields = ("phone_e164", "phone_valid", "phone_possible", "phone_type", "phone_region")
    differ = [(text, row, wanted) for text, row in zip(texts, rows, strict=True)
              if tuple(row[field] for field in fields) != (wanted := expected(phonenumbers, text, region))]
    assert not differ, differ[:5]
    assert sum(row["phone_valid"] for row in rows) > 200, "most are real numbers, or the comparison says little"
    assert all((row["phone_errors"] is None) == row["phone_possible"] for row in rows)
