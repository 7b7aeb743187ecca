"""What Prometheus makes of it: a real one scrapes two live processes; the rules are checked and tested; every query
of the dashboards and of the rules returns data from the live run; every alert has its entry in the runbook."""

import json
import math
import re
import subprocess
import urllib.parse

import pytest
import yaml
from dns_server import DnsServer

from conftest import ROOT, Receiver, Vedette, call, free_port, wait_until

RULES = ROOT / "helm" / "vedette" / "rules" / "vedette.yaml"
RULE_TESTS = ROOT / "tests" / "e2e" / "alert_rules_test.yaml"
DASHBOARDS = sorted((ROOT / "helm" / "vedette" / "dashboards").glob("*.json"))
RUNBOOK = ROOT / "docs" / "operations.md"

# What only a fault brings: it may be empty, but parse it must.
EMPTY_WITHOUT_A_FAULT = {"VedetteAbsent"}
# A share of nothing is no number: of what a fleet without channels does not send, the part is looked at.
SHARES_OF_NOTHING = {"VedetteMailRelayFailing"}


def rules():
    return [r for g in yaml.safe_load(RULES.read_text())["groups"] for r in g["rules"]]


def alerts():
    return [r for r in rules() if "alert" in r]


def dashboard_queries():
    return [(f"{path.stem}: {panel['title']}", target["expr"])
            for path in DASHBOARDS for panel in json.loads(path.read_text())["panels"]
            for target in panel["targets"]]


def test_every_query_of_the_dashboards_can_be_narrowed_to_a_job_a_cell_and_a_process():
    for path in DASHBOARDS:
        names = [variable["name"] for variable in json.loads(path.read_text())["templating"]["list"]]
        assert names == ["datasource", "job", "cell", "instance"], path
    narrowed = 0
    for name, expression in dashboard_queries():
        for series in re.findall(r"\b(?:vedette_\w+|process_\w+|up)\b(\{[^}]*\})?", expression):
            assert 'job=~"$job", cell=~"$cell"' in series, f"{name}: {expression}"
            narrowed += 'instance=~"$instance"' in series
    assert narrowed > 30, "all but the figures of the fleet, which one process reads for all"


def promtool(*arguments, **more):
    return subprocess.run(["promtool", *arguments], capture_output=True, text=True, **more)


def test_promtool_accepts_the_rules():
    done = promtool("check", "rules", RULES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_fires_when_it_should_and_not_otherwise(tmp_path):
    tests = yaml.safe_load(RULE_TESTS.read_text())
    fires, quiet = set(), set()
    for test in tests["tests"]:
        for case in test["alert_rule_test"]:
            (fires if case["exp_alerts"] else quiet).add(case["alertname"])
    assert fires == quiet == {a["alert"] for a in alerts()}
    tests["rule_files"] = [str(RULES)]
    path = tmp_path / "tests.yaml"
    path.write_text(yaml.safe_dump(tests))
    done = promtool("test", "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_its_entry_in_the_runbook_and_every_entry_its_alert():
    entries = re.findall(r"^### (Vedette\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert sorted(entries) == sorted(a["alert"] for a in alerts())
    for alert in alerts():
        assert alert["annotations"]["runbook_url"] == f"docs/operations.md#{alert['alert'].lower()}"
        assert alert["labels"]["severity"] in ("critical", "warning", "info")


class Prometheus:
    def __init__(self, directory, targets):
        self.port = free_port()
        config = directory / "prometheus.yml"
        config.write_text(yaml.safe_dump({
            "global": {"scrape_interval": "500ms", "evaluation_interval": "500ms"},
            "rule_files": [str(RULES)],
            "scrape_configs": [{"job_name": "vedette", "static_configs": [{"targets": targets}]}]}))
        self.log = directory / "prometheus.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory / 'tsdb'}",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)

    def get(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            answer = call("GET", url)
        except OSError:
            assert self.process.poll() is None, self.log.read_text()
            return None
        if answer.status == 503:  # starting
            return None
        assert answer.status == 200, f"{parameters}: {answer}"
        return answer.json["data"]

    def query(self, expression):
        data = self.get("query", query=expression)
        return data["result"] if data else []

    def has(self, expression):
        """Whether it returns a number: a quantile of a route that nobody asks for lately is none."""
        return any(math.isfinite(float(series["value"][1])) for series in self.query(expression))

    def close(self):
        self.process.terminate()
        self.process.wait(30)


@pytest.fixture
def fleet(binary, database, tmp_path):
    """Two processes: one for requests, one that works and may ask mail servers, of which its DNS knows none; a receiver
    that refuses one notification in three."""
    health, dns = free_port(), DnsServer()
    front = Vedette(binary, database.url, tmp_path, {"VEDETTE_DELIVERY_BACKOFF_FIRST_MS": "200"}).migrate()
    back = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_HEALTH_LISTEN": f"127.0.0.1:{health}", "VEDETTE_DELIVERY_BACKOFF_FIRST_MS": "200",
        "VEDETTE_TESTING_SMALL_STEPS": "true", "VEDETTE_NET_DNS_SERVERS": dns.address,
        "VEDETTE_EMAIL_SMTP_HELLO_NAME": "verify.example.org",
        "VEDETTE_EMAIL_SMTP_DOCTOR_DOMAINS": "acme.test", "VEDETTE_EMAIL_SMTP_DOCTOR_LISTS": ""})
    back.admin = f"http://127.0.0.1:{health}"
    count = iter(range(10**9))
    receiver = Receiver(lambda request: 503 if next(count) % 3 == 0 else 200)
    front.start(roles="api,admin")
    back.start(roles="scheduler,worker,delivery")
    yield front, back, receiver
    for process in (front, back):
        assert process.stop() == 0
    receiver.close()
    dns.close()


def test_prometheus_scrapes_two_processes_and_every_query_returns_data(fleet, nginx, tmp_path):
    front, back, receiver = fleet
    nginx.write("page.html", "<h1>1</h1>")
    tenant = front.organisation()
    made = tenant.post("/monitors", {
        "name": "live", "key_columns": ["name"], "struct": {"headline": "css:h1"}, "frequency": "1s",
        "rows": [{"name": f"row {i}", "url": f"{nginx.url}/page.html"} for i in range(20)],
        "webhook_url": receiver.url})
    for process in (front, back):
        metrics = call("GET", process.admin + "/metrics").body.decode()
        done = promtool("check", "metrics", input=metrics)
        assert done.returncode == 0 and done.stdout + done.stderr == "", done.stdout + done.stderr

    prometheus = Prometheus(tmp_path, [f.admin.removeprefix("http://") for f in (front, back)])
    try:
        wait_until("both to be scraped", lambda: prometheus.query('sum(up{job="vedette"}) == 2'))
        wait_until("checks", lambda: prometheus.has(
            'sum(rate(vedette_checks_total{outcome="unchanged"}[10s])) > 0'))
        wait_until("refused notifications", lambda: prometheus.has(
            'sum(rate(vedette_deliveries_total{outcome="retried"}[10s])) > 0'))

        def ask_api():
            tenant.get(f"/monitors/{made['id']}")
            # A lead that nobody needs to be asked about: a job, its row and its end.
            tenant.post("/find-email-async", {"lead": {"name": "Ada Lovelace", "domain": "gmail.com"}})
            # A provider that asks nobody else.
            tenant.post("/reverse-email-async", {"lead": {"email": "ada.lovelace@a.example"}, "providers": ["local_part"]})
            return True

        for name, expression in dashboard_queries():
            for variable, value in (("$__rate_interval", "10s"), ("$job", "vedette"), ("$cell", ".*"), ("$instance", ".*")):
                expression = expression.replace(variable, value)
            wait_until(f"{name}: {expression}", lambda e=expression: ask_api() and prometheus.has(e), 30)
        for rule in rules():
            expression = rule["expr"]
            if "record" in rule:
                wait_until(f"{rule['record']}", lambda r=rule: ask_api() and prometheus.has(r["record"]), 30)
            elif rule["alert"] not in EMPTY_WITHOUT_A_FAULT:
                # What the alert compares is there, on both sides of `unless`: the part before its threshold.
                for side in re.split(r"\s+unless(?: on \(\w+\))? ", expression):
                    compared = re.split(r" (?:[<>]|==) [\d.]+", side)[0]
                    if rule["alert"] in SHARES_OF_NOTHING:
                        compared = compared.split(" / ")[0]
                    wait_until(f"{rule['alert']}: {compared}",
                               lambda e=compared: ask_api() and prometheus.has(e), 30)
        loaded = [r for g in prometheus.get("rules")["groups"] for r in g["rules"]]
        assert len(loaded) == len(rules())
        assert {r["health"] for r in loaded} == {"ok"}, [r for r in loaded if r["health"] != "ok"]
        firing = {a["labels"]["alertname"] for a in prometheus.get("alerts")["alerts"] if a["state"] == "firing"}
        assert not firing, "a fleet that works raises no alarm"
    finally:
        prometheus.close()
