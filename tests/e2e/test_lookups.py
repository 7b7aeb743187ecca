"""Lookups of addresses as a client sees them: real processes, and docs/examples/lookup_service.py as the operator's service."""

import asyncio
import http.server
import json
import subprocess
import sys
import threading
from pathlib import Path

import jsonschema
import pytest

from attack import Site, closing, metric, response
from conftest import ROOT, Vedette, call, free_port, wait_until

LEAD = {"name": "Ada Lovelace", "domain": "engines.example", "crm_id": 7}


@pytest.fixture
def service():
    """The sample service in a process of its own."""
    port = free_port()
    process = subprocess.Popen([sys.executable, ROOT / "docs" / "examples" / "lookup_service.py", "--port", str(port)],
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


class Recording(http.server.ThreadingHTTPServer):
    """A service of all five lookups that keeps what it is asked and what it answers; what comes to /slow waits for its end."""

    daemon_threads = True
    ANSWERS = {
        "find_email": {"candidates": [{"email": "ada@engines.example", "confidence": 9}]},
        "verify_email": {"status": "UNKNOWN", "reason": "catch_all"},
        "reverse_email": {"person": {"name": "Ada Lovelace", "confidence": 9}},
        "verify_age": {"claims": [{"year": 1980, "url": "https://engines.example/ada", "quote": "born in 1980"}]},
        "company_domain": {"domain": "engines.example"},
    }

    def __init__(self):
        self.asked, self.ends = [], threading.Event()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/slow":
                    return server.ends.wait(60)
                answer = server.ANSWERS[question["lookup"]]
                server.asked.append((question, answer))
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.ends.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def recording():
    it = Recording()
    yield it
    it.close()


def test_what_was_found_before_a_wait_was_over_is_its_result(binary, database, tmp_path, recording):
    it = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROVIDERS_HTTP_ONE_URL": recording.url, "VEDETTE_PROVIDERS_HTTP_TWO_URL": recording.url + "/slow",
        "VEDETTE_LOOKUPS_FIND_EMAIL": "one,two"}).migrate().start()
    tenant = it.organisation(100)

    def ask(path, body, wait_s):
        headers = {"x-api-key": tenant.api_key, "Prefer": f"wait={wait_s}"}
        answer = call("POST", it.api + path, body, headers)
        assert answer.status == 200, answer
        return answer.json

    found = [["ada@engines.example", "UNKNOWN", "COMPANY"]]
    for n in range(4):
        single = ask("/find-email", {"lead": {**LEAD, "n": n}}, 2)
        assert (single["error"], single["email"]) == (None, found), single
        assert [one["provider"] for one in single["details"]["tries"]] == ["one", "two"], single
    bulk = ask("/find-email-bulk", {"leads": [LEAD, {**LEAD, "name": "Zoe Zyx"}]}, 3)
    assert [row["email"] for row in bulk["results"]] == [found] * 2, bulk
    assert float(tenant.money()["balance"]) == 100 - 6 * 5
    assert it.stop() == 0, it.log()


def test_what_a_service_is_asked_and_answers_is_what_the_schema_says(binary, database, tmp_path, recording):
    schema = json.loads((ROOT / "docs" / "lookup.schema.json").read_text())

    def judge(part):
        return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]})

    it = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROVIDERS_HTTP_SAMPLE_URL": recording.url,
        **{f"VEDETTE_LOOKUPS_{name}": "sample" for name in
           ("FIND_EMAIL", "COMPANY_DOMAIN", "VERIFIER", "REVERSE_EMAIL", "VERIFY_AGE")}}).migrate().start()
    tenant = it.organisation(100)
    assert tenant.post("/find-email", {"lead": {"name": "Ada Lovelace", "company": "Analytical Engines"}})["email"]
    assert tenant.post("/reverse-email", {"lead": {"email": "ada@engines.example"}})["name"] == "Ada Lovelace"
    subject = {"name": "Ada Lovelace", "company": "engines.example", "url": "https://engines.example/ada"}
    assert ended(tenant, tenant.post("/verify-age", {"subject": subject})["task_id"])["status"] == "completed"
    assert it.stop() == 0, it.log()
    assert {question["lookup"] for question, _ in recording.asked} == set(recording.ANSWERS)
    for question, answer in recording.asked:
        judge("lookup").validate(question)
        judge("answer").validate(answer)
        assert set(answer) <= set(schema["$defs"]["answer"]["properties"])
        for name in question.keys() & {"person", "address"}:  # what its lookup is about
            without = {key: value for key, value in question.items() if key != name}
            assert not judge("lookup").is_valid(without), (question["lookup"], name)


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


def test_a_process_that_is_ready_is_known_to_serve_its_lanes(lookups):
    """A waited call right after the start is not refused for want of a worker."""
    assert "lookup" in lookups.database.value("select lanes from member")


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


WAITERS = 1000
WAITING_ORGANISATIONS = 8
# One organisation may have a quarter of the places while the rest is free, and less the more are taken.
PLACES = 2 * WAITERS


# A thousand requests in one moment may find the threads' queue full and are told to come again, as any client is.
ASKS_MAX, ASK_AGAIN_S = 50, 0.2


async def ask_and_wait(port, tenant, n):
    """One caller on connections of its own; the status of the answer that it waits for."""
    body = json.dumps({"lead": {"name": f"Caller N{n}", "domain": "wait.example"}}).encode()
    for _ in range(ASKS_MAX):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"POST /find-email HTTP/1.1\r\nHost: localhost\r\nx-api-key: {tenant.api_key}\r\n"
                     f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        status = int((await reader.readline()).split()[1])
        writer.close()
        if status != 503:
            break
        await asyncio.sleep(ASK_AGAIN_S)
    return status


def threads_of(service):
    fields = Path(f"/proc/{service.process.pid}/status").read_text()
    return int(fields.partition("Threads:")[2].split()[0])


def busy_connections(database):
    """Those of vedette that have a statement or a transaction under way."""
    return database.value("select count(*) from pg_stat_activity where datname = %s and state <> 'idle' "
                          "and application_name like 'vedette%%'", (database.name,))


def checked_beside(tenant):
    """A monitor's checks begin and end; the monitor's id."""
    monitor = tenant.post("/monitors", {"name": "M", "key_columns": ["k"], "rows": [{"k": str(n)} for n in range(20)],
                                        "struct": {"f": "x"}, "frequency": "30d"})["id"]
    wait_until("the checks to end", lambda: tenant.finished_ticks(monitor))
    return monitor


def test_a_thousand_callers_wait_and_hold_no_thread_connection_or_slot_of_a_check(binary, database, tmp_path):
    """Others are answered and checked meanwhile, and all of the thousand are answered in the end."""
    gate = {}

    async def answer(_path, _body):
        await gate.setdefault("open", asyncio.Event()).wait()
        return response('{"candidates": []}', headers=["Content-Type: application/json"])

    with closing(Site(answer)) as site:
        it = Vedette(binary, database.url, tmp_path, {
            "VEDETTE_PROBES_LOW_KIND": "null", "VEDETTE_WORKER_CHECKS_IN_FLIGHT_MAX": "8",
            "VEDETTE_PROVIDERS_HTTP_SLOW_URL": site.url, "VEDETTE_LOOKUPS_FIND_EMAIL": "slow",
            "VEDETTE_PROVIDERS_HTTP_SLOW_IN_FLIGHT_MAX": str(WAITERS), "VEDETTE_PROVIDERS_HTTP_SLOW_TIMEOUT_MS": "60000",
            "VEDETTE_API_WAITS_MAX": str(PLACES), "VEDETTE_API_CONNECTIONS_MAX": str(2 * PLACES),
        }).migrate().start()
        try:
            tenants = [it.organisation(100_000) for _ in range(WAITING_ORGANISATIONS)]
            checked_beside(tenants[1])
            before = threads_of(it)

            async def all_ask():
                return await asyncio.gather(*(ask_and_wait(it.api_port, tenants[n % WAITING_ORGANISATIONS], n)
                                              for n in range(WAITERS)))

            waiting = threading.Thread(target=lambda: gate.update(statuses=asyncio.run(all_ask())))
            waiting.start()
            wait_until("all to wait", lambda: metric(it, "vedette_waits") == WAITERS)
            assert threads_of(it) == before
            wait_until("every connection to the database to be idle", lambda: busy_connections(database) == 0)
            assert tenants[0].get("/monitors?limit=1")["monitors"] == []
            checked = checked_beside(tenants[0])
            assert [row for row in tenants[0].rows(checked) if not row["last_run_at"]] == []
            assert metric(it, "vedette_waits") == WAITERS, "they did not wait to the end of the checks"
            wait_until("the first to be asked about", lambda: "open" in gate)
            site.loop.call_soon_threadsafe(gate["open"].set)
            waiting.join(120)
            assert gate["statuses"] == [200] * WAITERS
            assert metric(it, "vedette_waits") == 0
        finally:
            it.stop()
