"""Workflows as a client sees them: real processes, files that Python's csv reads back, receivers that are told of the end."""

import csv
import hashlib
import hmac
import io
import json
import random
import re
import urllib.request

import pytest

from conftest import Vedette, call, wait_until

ENDS = {"completed", "failed", "cancelled"}


@pytest.fixture
def flows(binary, database, tmp_path):
    vedette = Vedette(binary, database.url, tmp_path, {"VEDETTE_PROBES_LOW_KIND": "null"})
    vedette.environment["VEDETTE_API_PUBLIC_URL"] = vedette.api
    vedette.migrate().start()
    vedette.database = database
    yield vedette
    assert vedette.stop() == 0, vedette.log()


def chain(*blocks):
    return {"blocks": [{"sequence_number": n, "block_id": str(n), "block_name": name, "specs": specs}
                       for n, (name, specs) in enumerate(blocks, 1)],
            "edges": [{"from_block_id": str(n), "to_block_id": str(n + 1)} for n in range(1, len(blocks))]}


def create(tenant, *blocks, name="flow"):
    return tenant.post("/workflows/create_workflow", {"workflow_name": name, "workflow_definition": chain(*blocks)})["id"]


def run(tenant, workflow, body):
    return tenant.post(f"/workflows/run?workflow_id={workflow}", body)["job_id"]


def ended(tenant, run_id):
    path = f"/workflows/runs/{run_id}/live_status"
    return wait_until("the run's end", lambda: (s := tenant.get(path))["overall_status"] in ENDS and s)


def upload(tenant, text):
    answer = call("POST", tenant.vedette.api + "/storage/csv/upload", headers={"x-api-key": tenant.api_key,
                  "Content-Type": "text/csv"}, raw=text.encode())
    assert answer.status == 200, answer
    return answer.json["handle_id"]


def download(tenant, run_id, query=""):
    links = tenant.get(f"/workflows/runs/{run_id}/results/download-links{query}")
    assert len(links) == 1, links
    with urllib.request.urlopen(links[0]["download_url"], timeout=60) as answer:  # without a credential
        return answer.read().decode()


def read(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def test_every_number_and_phone_comes_back(flows):
    tenant = flows.organisation()
    cells = ["+4930123456", "-12", "-0.5", "+1", "1e-7", "0049", "007", "say \"hi\"", "a,b", "two\nlines", "cr\rlf\r\n",
             " spaces ", "ünïcødé", "__proto__", "x" * 20_000]
    harmed = ["=1+1", "@SUM(A1)", "+49 30 12", "-1-2", "\t=1", "=cmd|' /C calc'!A0", " =1+1", "\n=1", "\u00a0=1", "\uff1d1"]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["n", "cell"]] + [[n, cell] for n, cell in enumerate(cells + harmed)])
    workflow = create(tenant, ("read_csv", {}), ("dedupe", {}))
    done = run(tenant, workflow, {"specs_override": {"resource_handle_id": upload(tenant, out.getvalue())}})
    assert ended(tenant, done)["overall_status"] == "completed"
    rows = read(download(tenant, done))
    assert rows[0] == ["n", "cell"]
    assert [row[1] for row in rows[1:]] == cells + ["'" + cell for cell in harmed]
    lines = download(tenant, done, "?format=ndjson").splitlines()
    assert [json.loads(line)["cell"] for line in lines] == cells + harmed


def as_written(cell):
    """What a file of results has of a cell of a file: a blank one is no value, and no cell begins a formula."""
    if not cell.strip(" \t\n\r\f\v"):
        return ""
    seen = cell.lstrip(" \t\n\r\f\v")
    number = re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", seen)
    return "'" + cell if cell[0] in "\t\r\n" or seen[0] in "=+-@" and not number else cell


def test_pythons_reader_reads_back_whatever_was_in_the_file(flows):
    tenant = flows.organisation()
    chance = random.Random(20)
    alphabet = "ab,\"\r\n=+-@\t' 1.e0;\\{[nullü\U0001d11e"
    cells = [["".join(chance.choices(alphabet, k=chance.randrange(9))) for _ in range(3)] for _ in range(3_000)]
    cells += [["=" * 60_000, "", ""], ["", '"' * 20_000, "\r\n" * 5_000]]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["n", "__proto__", "a,b", "=x"]] + [[str(n), *row] for n, row in enumerate(cells)])
    workflow = create(tenant, ("read_csv", {}), ("filter", {"conditions": [{"column": "n", "op": "is_not_empty"}]}))
    handle = upload(tenant, "\ufeff" + out.getvalue())
    done = run(tenant, workflow, {"specs_override": {"resource_handle_id": handle}})
    assert ended(tenant, done)["overall_status"] == "completed"
    rows = read(download(tenant, done))
    assert rows[0] == ["n", "__proto__", "a,b", "'=x"]
    assert rows[1:] == [[str(n), *map(as_written, row)] for n, row in enumerate(cells)]
    objects = [json.loads(line) for line in download(tenant, done, "?format=ndjson").splitlines()]
    assert [list(it.values())[1:] for it in objects] == [[cell if as_written(cell) else None for cell in row] for row in cells]


def test_a_file_goes_through_a_graph_in_order_and_its_receiver_is_told_once(flows, receiver):
    tenant = flows.organisation(100_000)
    rows = 30_000
    text = "n,domain\n" + "".join(f"{n},company{n % 20_000}.example\n" for n in range(rows))
    workflow = create(tenant, ("read_csv", {"dataframe_type": "COMPANY"}), ("dedupe", {"columns": ["domain"]}),
                      ("filter", {"conditions": [{"column": "n", "op": "lt", "value": 5_000}]}),
                      ("enrich_company", {"struct": {"size": "how many work there"}}),
                      ("outgoing_webhook", {"url": receiver.url + "/ends"}))
    done = run(tenant, workflow, {"specs_override": {"resource_handle_id": upload(tenant, text)}})
    status = ended(tenant, done)
    assert status["overall_status"] == "completed", status
    assert [block["metrics"]["row_count"] for block in status["blocks"]] == [rows, 20_000, 5_000, 5_000, 5_000]
    found = read(download(tenant, done))
    assert found[0] == ["n", "domain", "size", "enrich_sources", "enrich_confidence", "enrich_error"]
    assert [row[:2] for row in found[1:]] == [[str(n), f"company{n}.example"] for n in range(5_000)]
    assert float(tenant.money()["balance"]) == 95_000
    wait_until("the callback", lambda: receiver.requests)
    told = receiver.requests[0]
    body = json.loads(told["body"])
    assert told["headers"]["Service-Event-Type"] == "outgoing_webhook.completed" == body["type"]
    assert told["headers"]["Service-Event-Id"] == body["event_id"]
    parts = dict(part.split("=", 1) for part in told["headers"]["Service-Signature"].split(","))
    expected = hmac.new(tenant.signing_secret.encode(), f"{parts['t']}.".encode() + told["body"], hashlib.sha256).hexdigest()
    assert parts["v1"] == expected
    assert (body["run_id"], body["row_count"], body["results"], body["results_truncated"]) == (done, 5_000, None, True)
    with urllib.request.urlopen(body["results_download_url"], timeout=60) as answer:
        assert read(answer.read().decode()) == found
    assert flows.database.value("SELECT count(*) FROM job_chunk") == 0
    assert "company" not in flows.log()


def test_a_small_run_brings_its_rows_to_the_receiver(flows, receiver):
    tenant = flows.organisation()
    workflow = create(tenant, ("webhook", {"dataframe_type": "LEAD"}), ("select_columns", {"columns": [{"name": "a", "as": "b"}]}),
                      ("outgoing_webhook", {"url": receiver.url + "/ends"}))
    payload = [{"a": 1.50, "x": None}, {"a": {"deep": [1]}}]
    done = run(tenant, workflow, {"webhook_payload": payload})
    ended(tenant, done)
    wait_until("the callback", lambda: receiver.requests)
    body = json.loads(receiver.requests[0]["body"])
    assert body["results"] == [{"b": 1.5}, {"b": {"deep": [1]}}] and not body["results_truncated"]
    assert body["status"] == "completed" and body["workflow_name"] == "flow"


def test_runs_go_on_through_deaths_of_the_process(flows):
    tenant = flows.organisation()
    rows = 20_000
    text = "n,key\n" + "".join(f"{n},{n % 15_000}\n" for n in range(rows))
    workflow = create(tenant, ("read_csv", {}), ("dedupe", {"columns": ["key"]}),
                      ("filter", {"conditions": [{"column": "n", "op": "not_contains", "value": "3"}]}))
    done = run(tenant, workflow, {"specs_override": {"resource_handle_id": upload(tenant, text)}})
    for _ in range(4):
        made = flows.database.value("SELECT count(*) FROM job_part")
        wait_until("more parts", lambda: flows.database.value(
            "SELECT count(*) > %s OR EXISTS (SELECT FROM job WHERE finished_at IS NOT NULL) FROM job_part", (made + 5,)))
        flows.kill()
        flows.database.rows("UPDATE job_chunk SET available_at = now() WHERE lease_token IS NOT NULL RETURNING 1")
        flows.start()
    assert ended(tenant, done)["overall_status"] == "completed"
    expected = [[str(n), str(n)] for n in range(15_000) if "3" not in str(n)]
    assert read(download(tenant, done))[1:] == expected


def test_a_monitor_of_a_run_has_each_row_once_over_deaths_of_the_process(flows):
    tenant = flows.organisation()
    rows = 2_000
    text = "n,domain\n" + "".join(f"{n},company{n}.example\n" for n in range(rows))
    workflow = create(tenant, ("read_csv", {"dataframe_type": "COMPANY"}), ("monitor", {
        "name": "All of them", "key_columns": ["domain"], "struct": {"size": "how many work there"}, "frequency": "30d"}))
    done = run(tenant, workflow, {"specs_override": {"resource_handle_id": upload(tenant, text)}})
    for _ in range(3):
        made = flows.database.value("SELECT count(*) FROM job_part")
        wait_until("more parts", lambda: flows.database.value(
            "SELECT count(*) > %s OR EXISTS (SELECT FROM job WHERE finished_at IS NOT NULL) FROM job_part", (made + 1,)))
        flows.kill()
        flows.database.rows("UPDATE job_chunk SET available_at = now() WHERE lease_token IS NOT NULL RETURNING 1")
        flows.start()
    assert ended(tenant, done)["overall_status"] == "completed"
    [monitor] = tenant.get(f"/monitors/for-run/{done}")
    assert (monitor["name"], monitor["status"], monitor["row_count"]) == ("All of them", "active", rows), monitor
    assert flows.database.value("SELECT count(DISTINCT key_hash) FROM monitor_row") == rows
    found = read(download(tenant, done))
    assert found[0] == ["n", "domain", "monitor_row_id", "monitor_error"]
    assert [row[:2] for row in found[1:]] == [[str(n), f"company{n}.example"] for n in range(rows)]
    ids = {str(row[0]) for row in flows.database.rows("SELECT id FROM monitor_row")}
    assert {row[2] for row in found[1:]} == ids
    wait_until("its first tick", lambda: tenant.get(f"/monitors/{monitor['id']}/ticks")["ticks"])
