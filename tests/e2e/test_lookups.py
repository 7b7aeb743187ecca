"""Lookups of addresses as a client sees them: real processes, and examples/lookup_service.py as the operator's service."""

import json
import subprocess
import sys
import threading

import pytest

from conftest import ROOT, Vedette, call, free_port, wait_until

LEAD = {"name": "Ada Lovelace", "domain": "engines.example", "crm_id": 7}


@pytest.fixture
def service():
    """The sample service in a process of its own."""
    port = free_port()
    process = subprocess.Popen([sys.executable, ROOT / "examples" / "lookup_service.py", "--port", str(port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers():
        try:
            call("GET", f"http://127.0.0.1:{port}/")
            return True
        except OSError:
            return False

    wait_until("the sample service", answers)
    yield f"http://127.0.0.1:{port}/"
    process.terminate()
    process.wait(10)


@pytest.fixture
def lookups(binary, database, tmp_path, service):
    it = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROVIDERS_HTTP_SAMPLE_URL": service, "VEDETTE_LOOKUPS_FIND_EMAIL": "sample"}).migrate().start()
    it.database = database
    yield it
    assert it.stop() == 0, it.log()


def status(tenant, task_id):
    return tenant.get(f"/job-status/{task_id}")


def ended(tenant, task_id):
    wait_until("the job to end", lambda: status(tenant, task_id)["status"] != "running")
    return status(tenant, task_id)


def money_adds_up(database):
    return database.value("""
        select (select sum(balance_mc) from account) + (select coalesce(sum(reserved_mc), 0) from chunk)
             + (select coalesce(sum(reserved_mc), 0) from job) = (select sum(amount_mc) from credit_entry)""")


def test_a_client_that_waits_gets_the_address_with_the_lead_around_it(lookups):
    tenant = lookups.organisation(100)
    answer = tenant.call("POST", "/find-email", {"lead": LEAD})
    assert answer.status == 200, answer
    assert answer.json["crm_id"] == 7 and answer.json["error"] is None
    assert answer.json["email"] == [["ada.lovelace@engines.example", "UNKNOWN", "COMPANY"]]
    assert answer.json["details"]["task_id"] == answer.headers["Service-Task-Id"]
    assert status(tenant, answer.json["details"]["task_id"])["status"] == "completed"
    # One that somebody stated and nobody could verify is charged by the default rule: 5 credits.
    assert float(tenant.money()["balance"]) == 95
    assert money_adds_up(lookups.database)


def test_a_batch_is_answered_in_order_and_an_unpaid_one_makes_nothing(lookups):
    tenant = lookups.organisation(50)
    leads = [{"name": f"Person Number{chr(97 + n)}", "domain": "batch.example"} for n in range(10)]
    started = tenant.post("/find-email-bulk-async", {"leads": leads})
    refused = tenant.call("POST", "/find-email-bulk-async", {"leads": leads})
    assert refused.status == 402 and refused.json["error"] == "insufficient_credits", refused
    done = ended(tenant, started["task_id"])
    assert done["status"] == "completed" and done["progress"] == {"done": 10, "total": 10}
    found = [row["email"][0][0] for row in done["result"]["results"]]
    assert found == [f"person.number{chr(97 + n)}@batch.example" for n in range(10)]
    assert lookups.database.value("select count(*) from job") == 1
    assert float(tenant.money()["balance"]) == 0 and money_adds_up(lookups.database)


def test_a_cancelled_job_gives_its_money_back_and_stays_cancelled(binary, database, tmp_path):
    slow = Vedette(binary, database.url, tmp_path, {"VEDETTE_PROVIDERS_HTTP_NOBODY_URL": "http://127.0.0.1:9/",
                                                    "VEDETTE_LOOKUPS_FIND_EMAIL": "nobody"}).migrate()
    slow.start(roles="api,admin")
    try:
        tenant = slow.organisation(5)
        task = tenant.post("/find-email-async", {"lead": LEAD})["task_id"]
        assert float(tenant.money()["balance"]) == 0
        cancelled = tenant.post(f"/job-status/{task}/cancel", {})
        assert cancelled["status"] == "cancelled" == status(tenant, task)["status"]
        assert float(tenant.money()["balance"]) == 5
        # Nobody serves the lane of a lookup here, so a client that would wait is told at once.
        refused = tenant.call("POST", "/find-email", {"lead": LEAD})
        assert refused.status == 503 and refused.json["error"] == "no_worker", refused
    finally:
        assert slow.stop() == 0, slow.log()


def test_g1_rows_of_a_killed_worker_are_done_once_and_paid_once(lookups, binary, tmp_path):
    tenant = lookups.organisation(10_000)
    tasks, leads = [], 40
    for batch in range(5):
        body = {"leads": [{"name": f"Kill Me{chr(97 + n % 26)}{chr(97 + n // 26)}", "domain": f"b{batch}.example"}
                          for n in range(leads)]}
        tasks.append(tenant.post("/find-email-bulk-async", body)["task_id"])
    lookups.kill()
    lookups.start()
    for batch, task in enumerate(tasks):
        done = ended(tenant, task)
        assert done["status"] == "completed", done
        rows = done["result"]["results"]
        assert len(rows) == leads
        unanswered = [r["details"] for r in rows if r["error"] or not r["email"][0][0].endswith(f"@b{batch}.example")]
        assert unanswered == []
    assert float(tenant.money()["balance"]) == 10_000 - 5 * leads * 5
    assert lookups.database.value("select count(*) from job where reserved_mc <> 0") == 0
    assert lookups.database.value("select count(*) from job_chunk") == 0
    assert money_adds_up(lookups.database)


def test_callers_that_wait_together_are_all_answered(lookups):
    tenant = lookups.organisation(10_000)
    answers = []

    def ask(n):
        answers.append(tenant.call("POST", "/find-email", {"lead": {"name": f"Wait N{chr(97 + n % 26)}{n // 26 * 'x'}",
                                                                    "domain": "wait.example"}}).status)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert answers == [200] * 60
    assert "Lovelace" not in lookups.log() and json.dumps(LEAD)[1:20] not in lookups.log()
