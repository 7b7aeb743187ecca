"""The probes that ask somebody: the example research service with thousands of checks in flight, and a model.

The research service is docs/examples/research_service.py itself; the model is a stub that speaks the protocol.
"""

import argparse
import http.server
import json
import subprocess
import sys
import threading

import jsonschema
import pytest

from conftest import ROOT, Vedette, clean_environment, wait_until
from servers import QuietHandler

sys.path.insert(0, str(ROOT / "docs" / "examples"))
sys.dont_write_bytecode = True
import research_service  # noqa: E402

SCHEMA = json.loads((ROOT / "docs" / "research.schema.json").read_text())
SECRET, TOKEN = "sk_whsec_" + "7" * 64, "a-token-of-the-tests"
ROWS = 3000
# The service takes three minutes for an answer and wants to be asked once a minute. Here a minute is 4 s: the waits
# are shortened fifteen times, and everything happens as often as it would in those minutes.
MINUTE_S, MINUTES, CONNECTIONS = 4, 3, 64


def validator(part):
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{part}", "$defs": SCHEMA["$defs"]})


class Research:
    """The example service, with answers after minutes (shortened), and none before `release` is set.

    What passes through is held against the schema; connections and requests in flight are counted.
    """

    def __init__(self):
        self.release = threading.Event()
        self.faults, self.posted, self.answered = [], set(), set()
        self.open = self.open_max = self.in_flight = self.in_flight_max = self.polls = 0
        self.lock = threading.Lock()
        options = argparse.Namespace(host="127.0.0.1", port=0, token=TOKEN, signing_secret=SECRET,
                                     delay=MINUTES * MINUTE_S, change_every=0, quiet=True)
        check, answer = validator("check"), validator("answer")
        research = self

        class Handler(research_service.ResearchService):
            def handle(self):
                with research.lock:
                    research.open += 1
                    research.open_max = max(research.open_max, research.open)
                super().handle()
                with research.lock:
                    research.open -= 1

            def parse_request(self):
                with research.lock:
                    research.in_flight += 1
                    research.in_flight_max = max(research.in_flight_max, research.in_flight)
                return super().parse_request()

            def answer_found(self, check_id, found):
                wait, value = found
                minute = MINUTE_S - 0.5  # is rounded up
                super().answer_found(check_id, (min(wait, minute) if research.release.is_set() else minute, value))

            def answer(self, status, value, headers=None):
                with research.lock:
                    research.in_flight -= 1  # before the answer, which may be followed by the next request
                    research.polls += self.command == "GET"
                    if status == 200:
                        research.faults += [str(e) for e in answer.iter_errors(value)]
                    elif status != 202:
                        research.faults.append(f"{self.command} {status} {value}")
                super().answer(status, value, headers)

            def read_body(self):
                body = super().read_body()
                with research.lock:
                    sent = json.loads(body)
                    research.faults += [str(e) for e in check.iter_errors(sent)]
                    research.posted.add(sent["check_id"])
                return body

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 4096
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.options = options
        self.server.answers = research_service.Answers(options.delay)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def resident_kb(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@pytest.fixture
def research():
    service = Research()
    yield service
    service.close()


def test_thousands_of_checks_wait_for_answers_in_bounded_memory(binary, database, tmp_path, research):
    """Every check is posted, waits for minutes (shortened: see MINUTE_S) and is answered once all were in flight."""
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROBES_HIGH_KIND": "http", "VEDETTE_PROBES_HIGH_URL": research.url,
        "VEDETTE_PROBES_HIGH_API_KEY": TOKEN, "VEDETTE_PROBES_HIGH_SIGNING_SECRET": SECRET,
        "VEDETTE_PROBES_HIGH_TIMEOUT_MS": "110000",
        # One organisation that is alone leaves a tenth free for others.
        "VEDETTE_WORKER_CHECKS_IN_FLIGHT_MAX": str(ROWS * 10 // 9 + 1),
        "VEDETTE_NET_CONNECTIONS_MAX": str(CONNECTIONS),
    }).migrate().start()
    try:
        before_kb = resident_kb(service.process)
        tenant = service.organisation(credits=100_000)
        made = tenant.post("/monitors", {
            "name": "Soak", "key_columns": ["domain"], "rows": [{"domain": f"c{i}.example"} for i in range(ROWS)],
            "struct": {"headcount": "number of employees", "city": "where it sits"}, "tier": "high", "frequency": "1h"})
        wait_until("every check to be with the service", lambda: len(research.posted) >= ROWS)
        assert not tenant.finished_ticks(made["id"])
        grown_kb = resident_kb(service.process) - before_kb
        research.release.set()
        tick = wait_until("the tick to finish", lambda: tenant.finished_ticks(made["id"]), limit_s=100)[0]
        assert {k: n for k, n in tick["outcomes"].items() if n} == {"unchanged": ROWS}
        assert research.faults == []
        assert len(research.posted) == ROWS
        assert research.polls >= ROWS, "a check that waits is polled"
        # However much the operator's own service carries: it is asked at once what connections_max says, and no more.
        assert 1 < research.open_max <= CONNECTIONS, "connections_max holds however many checks wait"
        assert research.in_flight_max <= CONNECTIONS
        assert grown_kb < 200_000, f"{ROWS} checks in flight took {grown_kb} kB"
        assert tenant.money()["charged"] == 20 * ROWS
        assert tenant.rows(made["id"])[0]["baseline"].keys() == {"headcount", "city"}
    finally:
        assert service.stop() == 0


def test_vedette_probe_tries_a_research_service(binary, research):
    research.server.options.delay = 0
    research.release.set()
    done = subprocess.run(
        [binary, "probe", "--tier", "high", "--subject", "domain=a.example", "--watch", "city=where it sits", "--known",
         "city=Oslo"], capture_output=True, env=clean_environment({
             "VEDETTE_PROBES_HIGH_KIND": "http", "VEDETTE_PROBES_HIGH_URL": research.url,
             "VEDETTE_PROBES_HIGH_API_KEY": TOKEN, "VEDETTE_PROBES_HIGH_SIGNING_SECRET": SECRET}))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    city = said["values"]["city"]
    assert said["probe"] == "http" and city.keys() == {"value", "evidence", "sources", "confidence"}
    assert said["compared"] == {"city": {"previous": "Oslo", "current": city["value"], "changed": True}}
    assert research.faults == [] and len(research.posted) == 1


# ---- a model

class Model(http.server.ThreadingHTTPServer):
    """A stub of an OpenAI-compatible server: it reads the schema it is given and fills it with `says`."""

    def __init__(self, says):
        self.says, self.requests = says, []
        model = self

        class Handler(QuietHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.requests.append((self.path, dict(self.headers.items()), request))
                fields = request["response_format"]["json_schema"]["schema"]["properties"]["values"]["properties"]
                content = json.dumps({"values": {name: model.says(name) for name in fields}})
                jsonschema.validate(json.loads(content), request["response_format"]["json_schema"]["schema"])
                body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": {
                    "role": "assistant", "content": content}}], "usage": {"prompt_tokens": 50, "completion_tokens": 9}})
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()


def entry(value, changed):
    return {"value": value, "changed": changed, "evidence": "It says so.", "sources": ["https://example.com/about"],
            "confidence": 8}


@pytest.fixture
def model():
    server = Model(lambda field: entry("Ann", True))
    yield server
    server.shutdown()
    server.server_close()


def test_a_change_needs_the_models_word_and_another_value(binary, database, tmp_path, nginx, model):
    """Kind web with a model: prose goes to it with the page, selectors stay; G3's pair and money as for any check."""
    nginx.write("about.html", "<title>Example</title><p>Ann leads us.</p>")
    service = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_PROBES_LOW_URL": model.url, "VEDETTE_PROBES_LOW_MODEL": "stub-1",
        "VEDETTE_PROBES_LOW_API_KEY": "key-of-the-tests"}).migrate().start()
    try:
        tenant = service.organisation()
        made = tenant.post("/monitors", {
            "name": "Led", "key_columns": ["url"], "rows": [{"url": f"{nginx.url}/about.html"}],
            "struct": {"ceo": "who leads the company", "title": "css:title"}, "frequency": "1h"})
        assert not made.get("warnings"), "prose can be served"
        monitor, row = made["id"], made["rows"][0]["id"]

        def check(says, ticks):
            model.says = lambda field: says
            tenant.post(f"/monitors/{monitor}/trigger", {})
            wait_until(f"{ticks} ticks", lambda: len(tenant.finished_ticks(monitor)) >= ticks)
            return tenant.events(monitor, row)

        wait_until("the first tick", lambda: tenant.finished_ticks(monitor))
        assert tenant.rows(monitor)[0]["baseline"] == {"ceo": "Ann", "title": "Example"}
        assert check(entry("Bob", False), 2) == [], "another value, but the model does not call it changed"
        assert check(entry("  Ann ", True), 3) == [], "called changed, but the same after normalisation"
        assert check(None, 4) == [], "not observed"
        events = check(entry("Bob", True), 5)
        assert [(e["field"], e["previous_value"], e["current_value"]) for e in events] == [("ceo", "Ann", "Bob")]
        assert events[0]["sources"] == [f"{nginx.url}/about.html", "https://example.com/about"]
        assert events[0]["evidence"] == "It says so." and events[0]["confidence"] == 8
        path, headers, request = model.requests[-1]
        assert path == "/v1/chat/completions" and headers["Authorization"] == "Bearer key-of-the-tests"
        assert json.loads(request["messages"][1]["content"])["page_text"] == "Ann leads us."
        assert json.loads(request["messages"][2]["content"])["known"] == {"ceo": "Ann"}
        metrics = service.as_operator("GET", "/metrics").body.decode()
        assert 'vedette_llm_tokens_total{kind="prompt",tier="low"} 250' in metrics
    finally:
        assert service.stop() == 0


def test_vedette_probe_tries_a_model(binary, model):
    done = subprocess.run(
        [binary, "probe", "--tier", "high", "--subject", "name=Example", "--watch", "ceo=who leads it", "--known",
         "ceo=Eve"], capture_output=True, env=clean_environment({
             "VEDETTE_PROBES_HIGH_KIND": "llm", "VEDETTE_PROBES_HIGH_URL": model.url,
             "VEDETTE_PROBES_HIGH_MODEL": "stub-1"}))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["probe"] == "llm" and said["values"]["ceo"]["value"] == "Ann"
    assert said["values"]["ceo"] == {k: v for k, v in entry("Ann", True).items() if k != "changed"}
    assert said["duration_ms"] > 0
    assert said["compared"] == {"ceo": {"previous": "Eve", "current": "Ann", "changed": True}}
