"""The templates that ship: each makes a workflow, and a run of it completes with the embedded defaults. Names, mail and
pages are those of the test."""

import csv
import io
import urllib.request

import pytest

from test_find_email import World
from test_workflows import ended, upload

# What each reads; the webhook has a sample of its own.
INPUTS = {
    "verified-emails-from-csv": "name,domain\nAnn Zyaaa,acme.test\nBob Nobody,acme.test\n",
    "enrich-companies-from-csv": "company,domain\nAcme,acme.test\nAcme again,acme.test\n",
    "clean-phone-list": "name,phone\nAda,+49 30 901820\nBob,12\n,+49 30 901821\n",
    "watch-pricing-pages": "company,url\nAcme,http://127.0.0.1:9/pricing\nAcme,http://127.0.0.1:9/other\nBeta,http://127.0.0.1:9/b\n",
    "leads-webhook-to-crm": None,
    "age-check": "name,company\nAnn Zyaaa,Acme\n",
}


@pytest.fixture
def world(binary, database, tmp_path):
    it = World(binary, database, tmp_path, {"VEDETTE_AGE_WIKIDATA": "false"})  # which is not of the test
    it.start()
    yield it
    it.close()


def rows_of(tenant, run):
    links = tenant.get(f"/workflows/runs/{run}/results/download-links")
    assert len(links) == 1, links
    with urllib.request.urlopen(links[0]["download_url"], timeout=60) as answer:
        return list(csv.DictReader(io.StringIO(answer.read().decode(), newline="")))


def test_each_template_that_ships_makes_a_workflow_whose_run_completes(world):
    tenant = world.vedette.organisation()
    offered = {shown["slug"]: shown for shown in tenant.get("/templates")["templates"]}
    assert set(offered) <= set(INPUTS)
    known = {block["block_name"] for block in tenant.get("/workflows/blocks")}
    assert {"watch-pricing-pages", "leads-webhook-to-crm", "enrich-companies-from-csv"} <= set(offered)
    runs = {}
    for slug, shown in offered.items():
        assert set(shown["preview_blocks"]) <= known
        made = tenant.post("/workflows/create_workflow", {"workflow_name": slug, "template_key": slug})
        text = INPUTS[slug]
        body = {} if text is None else {"specs_override": {"resource_handle_id": upload(tenant, text)}}
        runs[slug] = tenant.post(f"/workflows/run?workflow_id={made['id']}", body)["job_id"]
    found = {}
    for slug, run in runs.items():
        status = ended(tenant, run)
        assert status["overall_status"] == "completed", (slug, status)
        found[slug] = rows_of(tenant, run)
    if "verified-emails-from-csv" in found:
        emails = [(row["name"], row["email"], row["email_status"]) for row in found["verified-emails-from-csv"]]
        assert emails == [("Ann Zyaaa", "ann.zyaaa@acme.test", "OK")]
    assert [row["company"] for row in found["enrich-companies-from-csv"]] == ["Acme"]
    assert [row["company"] for row in found["watch-pricing-pages"]] == ["Acme", "Beta"]
    assert all(row["monitor_row_id"] for row in found["watch-pricing-pages"])
    assert found["leads-webhook-to-crm"] == [{"Email": "ada@example.com", "Full Name": "Ada Example", "Account": "Example"}]
    monitors = tenant.get(f"/monitors/for-run/{runs['watch-pricing-pages']}")
    assert [(m["name"], m["status"], m["row_count"]) for m in monitors] == [("Pricing pages", "active", 2)]
