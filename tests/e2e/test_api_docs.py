"""/docs of the API: it stands alone, is read on a phone, finds what is looked for, and its samples run as they stand."""

import gzip
import html
import json
import re
import subprocess

import pytest

from conftest import ROOT, Vedette, call, clean_environment, screenshots_folder
from testbed import npm_tools

# Those of the samples that need nothing but what the ones before them have made.
SAMPLES = ["createMonitor", "listMonitors", "getMonitor", "listRows", "triggerMonitor", "listTicks", "listBlocks", "getCredits"]


@pytest.fixture
def service(binary, database, tmp_path):
    """Without workers: nobody looks at the pages that the samples name."""
    it = Vedette(binary, database.url, tmp_path).migrate().start(roles="api,admin")
    yield it
    assert it.stop() == 0, it.log()


def test_the_samples_run_as_they_stand(service):
    tenant = service.organisation()
    page = call("GET", service.api + "/docs").body.decode()
    samples = {name: html.unescape(text) for name, text in
               re.findall(r'<section id="(\w+)">.*?<pre class="curl">(.*?)</pre>', page, re.DOTALL)}
    operations = [operation["operationId"] for item in call("GET", service.api + "/openapi.json").json["paths"].values()
                  for method, operation in item.items() if method != "parameters"]
    assert set(samples) == set(operations), "every operation has its sample"
    variables = {"API_URL": service.api, "API_KEY": tenant.api_key}
    for name in SAMPLES:
        # The one address of the samples that is validated when it is given.
        text = samples[name].replace("https://hooks.example.com/vedette", "http://127.0.0.1:1/")
        done = subprocess.run(["bash", "-euc", text], capture_output=True, text=True, timeout=60,
                              env=clean_environment(variables))
        assert done.returncode == 0, (name, done.stderr)
        answer = json.loads(done.stdout)
        assert "error" not in answer and "detail" not in answer, (name, answer)
        if name == "createMonitor":
            variables["MONITOR_ID"] = answer["id"]


def test_the_samples_of_other_documents_run_as_they_stand(service):
    tenant = service.organisation()
    variables = {"API_URL": service.api, "API_KEY": tenant.api_key}

    def answer_of(document, name):
        [text] = re.findall(rf"^```sh {name}\n(.*?)^```$", (ROOT / "docs" / document).read_text(), re.MULTILINE | re.DOTALL)
        # The one page that is looked at when it is named.
        text = text.replace("https://example.com/", "http://127.0.0.1:1/")
        done = subprocess.run(["bash", "-euc", text], capture_output=True, text=True, timeout=60,
                              env=clean_environment(variables))
        assert done.returncode == 0, (name, done.stderr)
        return json.loads(done.stdout)

    assert answer_of("authentication.md", "key")["credits"] > 0
    preview = answer_of("probes.md", "preview")
    assert set(preview) == {"rows", "warnings"} and preview["rows"][0]["error"], preview
    for document, name, kind in (("lookups.md", "find", "find_email"), ("email.md", "verify", "find_email"),
                                 ("people.md", "reverse", "reverse_email"), ("people.md", "age", "verify_age")):
        variables["TASK_ID"] = answer_of(document, name)["task_id"]
        job = answer_of("people.md", "status")
        assert (job["task_type"], job["status"]) == (kind, "running"), job
    variables["WORKFLOW_ID"] = answer_of("workflows.md", "create")["id"]
    variables["JOB_ID"] = answer_of("workflows.md", "run")["job_id"]
    assert answer_of("workflows.md", "status")["overall_status"] == "queued"
    assert isinstance(answer_of("workflows.md", "links"), list)
    variables["MONITOR_ID"] = tenant.post("/monitors", {
        "name": "Told", "key_columns": ["n"], "rows": [{"n": 1}], "struct": {"title": "css:title"},
        "webhook_url": "http://127.0.0.1:1/"})["id"]
    tested = answer_of("webhooks.md", "test")
    assert tested["delivered"] is False and tested["error"].startswith("connect"), tested
    counted = answer_of("search.md", "count")
    assert counted["values"] == [] and counted["field"] == "industry", counted
    variables["ID"] = answer_of("investigations.md", "start")["investigation_id"]
    page = answer_of("investigations.md", "findings")
    assert page["items"] == [] and page["complete"] is False, page


def test_it_is_read_on_a_phone_without_asking_anybody_else(service, tmp_path):
    modules = f"{npm_tools()}/node_modules"
    given = {"url": service.api, "modules": modules, "chromium": "/usr/bin/chromium", "profile": str(tmp_path / "profile"),
             "screenshots": screenshots_folder()}
    done = subprocess.run([f"{modules}/.bin/node", ROOT / "tests/e2e/docs_browser.js"], input=json.dumps(given),
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"done": True}


@pytest.mark.parametrize("path", ["/openapi.json", "/docs"])
def test_what_is_served_is_compressed_for_those_who_take_it(service, path):
    plain = call("GET", service.api + path, headers={"Accept-Encoding": "identity"})
    packed = call("GET", service.api + path, headers={"Accept-Encoding": "gzip, deflate, br"})
    assert "Content-Encoding" not in plain.headers and packed.headers["Content-Encoding"] == "gzip"
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    assert plain.headers["Content-Type"] == packed.headers["Content-Type"]
    assert gzip.decompress(packed.body) == plain.body and len(packed.body) * 4 < len(plain.body)
    assert max(map(len, plain.body.splitlines())) < 20000, "it can be read line by line"


def test_its_policy_lets_its_own_script_run_alone(service):
    policy = call("GET", service.api + "/docs").headers["Content-Security-Policy"]
    assert re.fullmatch(r"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[A-Za-z0-9+/]{43}='", policy)
