"""The document and the server hold each other, by tools that nobody here wrote: redocly lints what api/openapi/ renders to;
prism stands between a client that walks every route and a live server, and refuses what the document does not say."""

import base64
import concurrent.futures
import hashlib
import hmac
import json
import subprocess
import urllib.parse
import uuid
import zlib

import jsonschema
import psycopg2
import pytest

from conftest import ENCRYPTION_KEY, MIGRATED, ROOT, call, wait_until
from contract import BODY_BYTES_MAX, DOCUMENT, inlined, npm_tool, operations, prism, strict


def test_the_document_passes_redocly(npm_tool):
    done = subprocess.run(
        npm_tool("redocly", "lint", DOCUMENT, "--config", ROOT / "api" / "redocly.yaml", "--max-problems", 1000),
        capture_output=True, text=True, timeout=100, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr + done.stdout, done.stdout + done.stderr


def test_no_body_that_a_client_sends_has_defaults():
    """Generators of clients make a property with a default one that always has to be given."""
    document = json.loads(DOCUMENT.read_text())

    def defaults(node, path):
        if isinstance(node, dict):
            if "default" in node and not isinstance(node["default"], dict):
                yield path
            for name, child in node.items():
                yield from defaults(child, f"{path}/{name}")
        elif isinstance(node, list):
            for i, child in enumerate(node):
                yield from defaults(child, f"{path}/{i}")

    assert list(defaults(document["components"]["schemas"], "schemas")) == []


def test_what_generators_of_clients_make_of_it_is_what_is_meant():
    document = json.loads(DOCUMENT.read_text())
    # They send what they are given in every scheme that is named, and two credentials are refused.
    assert document["security"] == [{"apiKey": []}] and list(document["components"]["securitySchemes"]) == ["apiKey"]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            assert operation.get("security", []) == [], f"{method} {path}"
            assert operation.get("description", "").strip(), f"{method} {path} has no description"
            assert all(status.isdigit() for status in operation["responses"]), f"{method} {path}"

    def closed(node, path):
        """Objects of which nothing is said: generators take them for empty ones."""
        if isinstance(node, dict):
            kind = node.get("type")
            if "object" in (kind if isinstance(kind, list) else [kind]) and not {"properties", "additionalProperties",
                                                                                 "maxProperties"} & set(node):
                yield path
            for name, child in node.items():
                if name not in ("example", "examples"):
                    yield from closed(child, f"{path}/{name}")
        elif isinstance(node, list):
            for i, child in enumerate(node):
                yield from closed(child, f"{path}/{i}")

    assert list(closed(document, "")) == []


def test_what_stands_inline_gets_a_name_that_is_free_from_generators():
    schemas = json.loads(DOCUMENT.read_text())["components"]["schemas"]
    found = [one for name, schema in schemas.items() for one in inlined(schema, name)]
    names = [*schemas, *(name for name, _ in found)]
    assert {name for name in names if names.count(name) > 1} == set(), "a component, or something else, has the name"
    assert [name for name, is_alternative in found if is_alternative] == [], "make it a component"


def test_every_object_that_a_client_sends_says_whether_it_may_have_more():
    document = json.loads(DOCUMENT.read_text())
    schemas = document["components"]["schemas"]

    def silent(node, path):
        if "$ref" in node:
            path = node["$ref"].rsplit("/", 1)[-1]
            node = schemas[path]
        if "properties" in node and "additionalProperties" not in node:
            yield path
        for key in ("items", "additionalProperties"):
            if isinstance(node.get(key), dict):
                yield from silent(node[key], f"{path}/{key}")
        for child in [*node.get("properties", {}).items(), *(one for key in ("allOf", "anyOf", "oneOf")
                                                             for one in enumerate(node.get(key, [])))]:
            yield from silent(child[1], f"{path}/{child[0]}")

    bodies = {f"{method} {path}": operation["requestBody"] for path, item in document["paths"].items()
              for method, operation in item.items() if "requestBody" in operation}
    assert [one for name, body in bodies.items() for one in silent(
        body.get("content", {}).get("application/json", {}).get("schema", {}), name)] == []
    assert set(schemas["CreateMonitor"]["properties"]) - set(schemas["PreviewMonitor"]["properties"]) == set()


def test_it_tells_of_the_whole_product():
    info = json.loads(DOCUMENT.read_text())["info"]
    assert info["title"] == "vedette API"
    for told in ("Monitors", "Email discovery", "Reverse email", "Age verification", "Workflows", "Search values",
                 "Investigations", "## Keys", "## A first request", "## Errors", "missing or unknown field"):
        assert told in info["description"], told


@pytest.mark.parametrize("schema, change, is_taken", [
    ("CreateMonitor", {}, True),
    ("CreateMonitor", {"struct": {"n" * 200: "d" * 10000}}, True),
    ("CreateMonitor", {"struct": {"n" * 201: "d"}}, False),
    ("CreateMonitor", {"struct": {"": "d"}}, False),
    ("CreateMonitor", {"struct": {"n": "d" * 10001}}, False),
    ("CreateMonitor", {"struct": {"n": ""}}, False),
    ("CreateMonitor", {"struct": {f"n{i}": "d" for i in range(65)}}, False),
    ("CreateMonitor", {"rows": [{"c" * 201: 1}]}, False),
    ("CreateMonitor", {"key_columns": ["domain", "domain"]}, False),
    ("CreateMonitor", {"channel_ids": ["no-id"]}, False),
    ("SwitchRow", {"is_active": True, "columns": None}, True),
    ("SwitchRow", {"columns": {"": 1}}, False),
    ("ChannelUpdate", {"target": None}, True),
    ("AccountChannels", {"channel_ids": None}, False),
    ("NewWorkflowSchedule", {"name": "n", "cron": None, "frequency": "1d"}, True),
    ("WorkflowScheduleUpdate", {"cron": None}, True),
])
def test_it_is_as_strict_as_the_server(schema, change, is_taken):
    components = json.loads(DOCUMENT.read_text())["components"]
    validator = jsonschema.Draft202012Validator({"$ref": f"#/components/schemas/{schema}", "components": components},
                                            format_checker=jsonschema.FormatChecker())
    assert validator.is_valid({**GOOD, **change} if schema == "CreateMonitor" else change) == is_taken


GOOD = {
    "name": "Pages", "key_columns": ["domain"], "frequency": "1d",
    "rows": [{"domain": "a.example", "price": "49", "note": "n"}, {"domain": "b.example"}, {"domain": 3}],
    "struct": {"price": "css:.price", "ceo": "who leads the company"},
    "metadata": {"a": [1, None, "x"]}, "research_plan": "look", "run_id": "run-42",
}
PREVIEW = {"key_columns": ["sku"], "rows": [{"sku": "a"}], "struct": {"price": "css:.price"}}
# Leads that cost nothing.
ONE = {"lead": {"personal_email": "ada@home.example", "own": [1, None]}, "mode": "PERSONAL"}
MANY = {"leads": [{"personal_email": "ada@home.example"}], "mode": "PERSONAL", "webhook_url": None}
# The address of a role is nobody's, and costs nothing.
ROLE = {"lead": {"email": "info@a.example"}}
ROLES = {"leads": [{"email": "info@a.example"}, {"email": "nonsense"}]}
AGE = {"subject": {"name": "Ada Lovelace", "url": "https://a.example/ada"}}
FINDS = {"findEmail": ONE, "findEmailAsync": ONE, "findEmailBulk": MANY, "findEmailBulkAsync": MANY,
         "reverseEmail": ROLE, "reverseEmailAsync": ROLE, "reverseEmailBulk": ROLES, "reverseEmailBulkAsync": ROLES,
         "verifyAge": AGE}
COSTLY = {"reverseEmail": {"lead": {"email": "ada@a.example"}}, "reverseEmailBulk": {"leads": [{"email": "ada@a.example"}]}}
LEADS_BYTES_MAX = 1 << 20  # and of filters
INVESTIGATION = {"name": "Example", "seeds": [{"type": "domain", "value": "a.example"}], "depth": 2, "findings_max": 10}
VALUES = {"field": "industry", "mode": "company", "top_k": 5, "filters": {"query": {"term": {"employee_count": 5}}},
          "simple_filters": {"$or": [{"name": {"$match": "acme"}}, {"locations.country": {"$ne": "DE"}}]}}
EXCLUSIONS = {"name": "Customers", "entity_type": "company"}
CHANNEL = {"name": "Prices", "kind": "webhook", "target": {"url": "http://127.0.0.1:9/hook"}}
FLOW = {"workflow_name": "Flow", "workflow_definition": {
    "blocks": [{"sequence_number": 1, "block_id": "in", "block_name": "webhook", "block_type": "source",
                "specs": {"dataframe_type": "COMPANY", "input_schema": {"domain": {"required": True}}}},
               {"sequence_number": 2, "block_id": "once", "block_name": "dedupe", "specs": {"columns": ["domain"]}}],
    "edges": [{"from_block_id": "in", "to_block_id": "once", "condition": None}]}}
RUN = {"webhook_payload": [{"domain": "a.example", "own": [1, None]}, {"domain": "a.example"}]}
SCHEDULE = {"name": "Nightly", "cron": "0 3 * * *", "time_zone": "Europe/Berlin", "webhook_payload": RUN["webhook_payload"]}
# The operations that are told in the query what they are about.
NEW_KEY = {"name": "nightly", "scopes": ["read"], "expires_at": "2126-01-01T00:00:00Z"}
INVITED = {"email": "eve@example.com", "role": "viewer"}

QUERIES = {"/workflows/update_workflow": "?workflow_id={workflow_id}", "/workflows/delete_workflow": "?workflow_id={workflow_id}",
           "/workflows/run": "?workflow_id={workflow_id}", "/workflows/runs": "?workflow_id={workflow_id}",
           "/workflows/cancel": "?job_id={run_id}"}
# The key of RFC 7515, appendix A.3.
PUBLIC_PEM = ("-----BEGIN PUBLIC KEY-----\n"
              "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
              "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
              "-----END PUBLIC KEY-----\n")
KEY = {"public_key_pem": PUBLIC_PEM, "kid": "k1"}
CSV = b"\xef\xbb\xbfdomain,price\r\na.example,\"4\r\n9\"\r\n"


def walk(proxy, service, tenant):
    """Every operation once or more with success; yields (operationId, answer)."""
    key = {"x-api-key": tenant.api_key}

    def ask(method, path, body=None, headers=None, raw=None):
        return proxy.call(method, path, body, {**key, **(headers or {})}, raw)

    for path in ("/openapi.json", "/docs"):
        assert call("GET", proxy.url + path).status == 200
    yield from walk_monitors(ask, service, tenant)
    yield from walk_lookups(ask, service)
    yield from walk_credits(ask, service)
    yield from walk_investigations(ask, service)
    yield from walk_search(ask, service)
    yield from walk_channels(ask, service)
    yield from walk_workflows(ask)
    yield from walk_clients(ask)
    yield from walk_account(ask, service, tenant)


def walk_monitors(ask, service, tenant):
    seen = ask("POST", "/monitors/preview", PREVIEW)
    assert [row["error"] is None for row in seen.json["rows"]] == [False], seen  # it has no page
    yield "previewMonitor", seen
    yield "previewMonitor", ask("POST", "/monitors/preview", PREVIEW | {"screenshot": True})
    yield "previewSchedule", ask("POST", "/schedules/preview", {
        "cron": ["30 2 * * *", "@weekly"], "time_zone": "Europe/Berlin", "from": "2026-03-28T00:00:00Z", "count": 3})
    created = ask("POST", "/monitors", GOOD, {"Idempotency-Key": "k"})
    yield "createMonitor", created
    yield "createMonitor", ask("POST", "/monitors", GOOD, {"Idempotency-Key": "k"})
    monitor = f"/monitors/{created.json['id']}"
    row = f"{monitor}/rows/{created.json['rows'][0]['id']}"
    yield "uploadCsv", ask("POST", "/storage/csv/upload", raw=CSV, headers={"Content-Type": "text/csv"})
    form = b"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n" \
        + CSV + b"\r\n--B--\r\n"
    uploaded = ask("POST", "/storage/csv/upload", raw=form,
                   headers={"Content-Type": "multipart/form-data; boundary=B"})
    yield "uploadCsv", uploaded
    from_file = {**GOOD, "resource_handle_id": uploaded.json["handle_id"]}
    del from_file["rows"]
    yield "createMonitor", ask("POST", "/monitors", from_file)
    # Its first tick, so that there are ticks, events and times; neither row can be served: errors.
    wait_until("the first tick", lambda: [
        t for t in tenant.get(monitor + "/ticks")["ticks"] if t["finished_at"]])
    service.sql("insert into event (id, event_type, event_group_id, monitor_id, row_id, tick_id, org_id, field, previous_value, current_value, "
                "evidence, sources, confidence) select gen_random_uuid(), 0, gen_random_uuid(), monitor_id, id, extract(epoch from now())::bigint "
                "* 1000000, org_id, 'price', '\"49\"', '59', 'e', '[\"https://a.example/\"]', 7.5 from monitor_row where id = %s", [row.rsplit("/", 1)[1]])
    events = ask("GET", row + "/events?include_completions=true&limit=500")
    assert {e["event_type"] for e in events.json} == {"change", "error"}, events
    yield "listEvents", events
    yield "listEvents", ask("GET", f"{row}/events?event_group_id={uuid.uuid4()}")
    yield "listMonitors", ask("GET", "/monitors?status=active&status=starting&limit=1")
    page = ask("GET", "/monitors?limit=1")
    cursor = urllib.parse.quote(page.json["next_cursor"])
    yield "listMonitors", ask("GET", f"/monitors?limit=1&cursor={cursor}")
    yield "listMonitorsForRun", ask("GET", "/monitors/for-run/run-42?status=active")
    yield "getMonitor", ask("GET", monitor)
    yield "updateMonitor", ask("POST", monitor + "/update", {
        "name": "New", "webhook_url": "http://127.0.0.1:1/", "metadata": None, "research_plan": None,
        "frequency": "2h", "confirm_after": 2, "missing_confirmations": 3,
        "rules": {"price": {"only_if": {"below": 100}, "threshold": {"percent": 1.5}, "ignore": ["[0-9]+ left"]}},
        "request_headers": {"Cookie": "a=b"}})
    yield "updateMonitor", ask("POST", monitor + "/update", {
        "schedule": {"cron": "0 9 * * 1-5", "time_zone": "Europe/Berlin", "spread_s": 60}})
    yield "getMonitor", ask("GET", monitor)
    yield "testWebhook", ask("POST", monitor + "/webhook/test")
    yield "testWebhook", ask("POST", monitor + "/webhook/test", {})
    page = ask("GET", monitor + "/rows?limit=2")
    yield "listRows", page
    yield "listRows", ask("GET", f"{monitor}/rows?cursor={urllib.parse.quote(page.json['next_cursor'])}")
    yield "listRows", ask("GET", monitor + "/rows?stale=true")
    yield "getRow", ask("GET", row)
    yield "listRows", ask("GET", monitor + "/rows?failing=true")
    found = ask("GET", monitor + "/rows?key%5Bdomain%5D=b.example")
    assert len(found.json["rows"]) == 1, found
    yield "listRows", found
    for name, path in (("listMonitorEvents", monitor + "/events"), ("listAllEvents", "/events")):
        newest = ask("GET", path + "?limit=1&event_type=change&event_type=error")
        yield name, newest
        yield name, ask("GET", f"{path}?cursor={urllib.parse.quote(newest.json['next_cursor'])}")
    yield "listDeliveries", ask("GET", monitor + "/deliveries?state=dead")
    snapshot = add_snapshots(service, row.rsplit("/", 1)[1])
    page = ask("GET", row + "/snapshots?limit=1")
    yield "listSnapshots", page
    yield "listSnapshots", ask("GET", f"{row}/snapshots?cursor={urllib.parse.quote(page.json['next_cursor'])}")
    yield "showSnapshotText", ask("GET", f"/snapshots/{snapshot}/text")
    yield "showSnapshotScreenshot", ask("GET", f"/snapshots/{snapshot}/screenshot")
    yield "addRows", ask("POST", monitor + "/rows", {"rows": [{"domain": True, "price": None}, {"domain": 1.5}]})
    yield "switchRow", ask("POST", row + "/update", {"is_active": False, "disabled_reason": "gone"})
    yield "switchRow", ask("POST", row + "/update", {"columns": {"url": "https://a.example/"}})
    yield "removeRow", ask("POST", row + "/remove")
    yield "triggerMonitor", ask("POST", monitor + "/trigger")
    yield "listTicks", ask("GET", monitor + "/ticks?limit=1")
    yield "updateMonitor", ask("POST", monitor + "/update", {"is_active": False})
    yield "updateMonitor", ask("POST", monitor + "/update", {"is_active": True})
    yield "cancelMonitor", ask("POST", monitor + "/cancel")
    yield "getMonitor", ask("GET", monitor)
    yield "updateMonitor", ask("POST", monitor + "/update", {"struct": {"price": "css:.p", "ceo": "who"}, "tier": "low",
                                                             "subject_type": "lead"})
    yield "exportMonitor", ask("GET", monitor + "/export.csv")
    yield "archiveMonitor", ask("POST", monitor + "/archive")
    yield "listMonitors", ask("GET", "/monitors?archived=true")
    yield "deleteMonitor", ask("DELETE", monitor)


def walk_lookups(ask, service):
    yield "findEmail", ask("POST", "/find-email", ONE)
    yield "findEmailAsync", ask("POST", "/find-email-async", ONE, {"Idempotency-Key": "job"})
    started = ask("POST", "/find-email-async", ONE, {"Idempotency-Key": "job"})
    yield "findEmailAsync", started
    yield "findEmailBulkAsync", ask("POST", "/find-email-bulk-async", MANY)
    serve_lookups(service)
    yield "findEmailBulk", ask("POST", "/find-email-bulk", MANY, {"Prefer": "wait=1"})
    yield "reverseEmail", ask("POST", "/reverse-email", ROLE, {"Prefer": "wait=1"})
    yield "reverseEmailAsync", ask("POST", "/reverse-email-async", ROLE)
    yield "reverseEmailBulk", ask("POST", "/reverse-email-bulk", ROLES, {"Prefer": "wait=1"})
    yield "reverseEmailBulkAsync", ask("POST", "/reverse-email-bulk-async", ROLES)
    service.sql("update account set balance_mc = greatest(balance_mc, 100000)")
    aged = ask("POST", "/verify-age", AGE)
    yield "verifyAge", aged
    yield "getAgeStatus", ask("GET", f"/verify-age/{aged.json['task_id']}")
    yield "getJobStatus", ask("GET", f"/job-status/{started.json['task_id']}?wait_s=1")
    yield "cancelJob", ask("POST", f"/job-status/{started.json['task_id']}/cancel", {})
    yield "getJobStatus", ask("GET", f"/job-status/{started.json['task_id']}")


def walk_credits(ask, service):
    yield "getCredits", ask("GET", "/credits")
    yield "listReservations", ask("GET", "/credits/reservations")
    service.sql("update credit_entry set created_at = created_at - interval '1 hour'")
    page = ask("GET", "/credits/ledger?limit=1")
    assert len(page.json["lines"]) == 1, page
    yield "listLedger", page
    yield "listLedger", ask("GET", "/credits/ledger?month=2026-11&by=day")
    yield "listLedger", ask("GET", "/credits/ledger?format=csv")


def walk_investigations(ask, service):
    investigation = ask("POST", "/v1/atlas/investigations", INVESTIGATION)
    yield "startInvestigation", investigation
    path = f"/v1/atlas/investigations/{investigation.json['investigation_id']}"
    find_something(service, investigation.json["investigation_id"])
    yield "getInvestigation", ask("GET", path)
    findings = ask("GET", path + "/findings?limit=1")
    assert findings.json["items"] and findings.json["next_cursor"], findings
    yield "listFindings", findings
    yield "listFindings", ask("GET", f"{path}/findings?cursor={urllib.parse.quote(findings.json['next_cursor'])}")
    yield "getJobStatus", ask("GET", f"/job-status/{investigation.json['task_id']}")
    yield "cancelJob", ask("POST", f"/job-status/{investigation.json['task_id']}/cancel", {})


def walk_search(ask, service):
    import_companies(service)
    listed = ask("POST", "/search/filter-field-values", {"field": "locations.country"})
    assert listed.json["values"][0]["filter_snippet"]["nested"]["path"] == "locations", listed
    yield "listFieldValues", listed
    yield "listFieldValues", ask("POST", "/search/filter-field-values", VALUES)
    yield "listFieldValues", ask("POST", "/search/filter-field-values", {"field": "name", "mode": None, "filters": None})
    yield "getFilterCapabilities", ask("GET", "/search/filter-capabilities?mode=people&refresh=true")
    made = ask("POST", "/search/exclusion-lists", EXCLUSIONS)
    yield "createExclusionList", made
    path = f"/search/exclusion-lists/{made.json['id']}"
    yield "fillExclusionList", ask("POST", path + "/entities", {"entity_ids": ["1", "2"]})
    yield "finishExclusionList", ask("POST", path + "/ready", {})
    yield "getExclusionList", ask("GET", path)
    yield "listExclusionLists", ask("GET", "/search/exclusion-lists")
    without = {"field": "name", "exclusion_list_ids": [made.json["id"]], "exclude_entity_ids": ["7"], "exclude_public_ids": None}
    counted = ask("POST", "/search/filter-field-values", without)
    assert counted.json["total_scoped_documents"] == 1, counted
    yield "listFieldValues", counted
    yield "deleteExclusionList", ask("DELETE", path)


def unsubscribe_link(service):
    """The link of a recipient of e-mail, as docs/channels.md has it in its messages: there is no relay here to send one."""
    recipient = str(uuid.uuid4())
    service.sql("insert into recipient (id, org_id, digest) select %s, id, %s from organisation limit 1",
                [recipient, recipient.replace("-", "").encode()])
    mac = hmac.new(bytes.fromhex(ENCRYPTION_KEY), b"channel_mail_unsubscribe " + recipient.encode(), "sha256").digest()
    return f"/mail-addresses/{recipient}?token={base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


def walk_channels(ask, service):
    made = ask("POST", "/channels", CHANNEL)
    yield "createChannel", made
    path = f"/channels/{made.json['id']}"
    yield "getChannel", ask("GET", path)
    yield "updateChannel", ask("POST", path + "/update", {"name": "Other", "include_values": False})
    ask("POST", "/channels", CHANNEL)
    page = ask("GET", "/channels?limit=1")
    assert page.json["next_cursor"], page
    yield "listChannels", page
    yield "listChannels", ask("GET", f"/channels?cursor={urllib.parse.quote(page.json['next_cursor'])}")
    yield "testChannel", ask("POST", path + "/test", {})
    yield "setAccountChannels", ask("POST", "/account/channels", {"channel_ids": [made.json["id"]]})
    yield "getAccountChannels", ask("GET", "/account/channels")
    yield "listChannelDeliveries", ask("GET", path + "/deliveries")
    yield "deleteChannel", ask("DELETE", path)
    feed = ask("POST", "/channels", {"name": "Feed", "kind": "feed"})
    yield "createChannel", feed
    # Links that were given out, which need no key.
    link = unsubscribe_link(service)
    for answer in (ask("GET", feed.json["target"]["url"]), ask("GET", link), ask("POST", link)):
        assert answer.status == 200, answer


def walk_workflows(ask):
    yield "listBlocks", ask("GET", "/workflows/blocks")
    made = ask("POST", "/workflows/create_workflow", FLOW, {"Idempotency-Key": "flow"})
    yield "createWorkflow", made
    yield "createWorkflow", ask("POST", "/workflows/create_workflow", FLOW, {"Idempotency-Key": "flow"})
    page = ask("GET", "/templates?limit=1")
    assert page.json["templates"][0]["scope"] == "global", page
    yield "listTemplates", page
    yield "listTemplates", ask("GET", f"/templates?cursor={urllib.parse.quote(page.json['next_cursor'])}&tag=csv")
    yield "getTemplate", ask("GET", "/templates/leads-webhook-to-crm")
    begun = {"workflow_name": "CRM", "template_key": "leads-webhook-to-crm"}
    yield "createWorkflow", ask("POST", "/workflows/create_workflow", begun)
    workflow = made.json["id"]
    yield "getWorkflow", ask("GET", f"/workflows/{workflow}")
    change = {"workflow_name": "New", "workflow_description": "d", "workflow_definition": FLOW["workflow_definition"]}
    yield "updateWorkflow", ask("POST", f"/workflows/update_workflow?workflow_id={workflow}", change)
    started = ask("POST", f"/workflows/run?workflow_id={workflow}&save_json=true&result_formats=csv", RUN, {"Idempotency-Key": "run"})
    yield "runWorkflow", started
    yield "runWorkflow", ask("POST", f"/workflows/run?workflow_id={workflow}&save_json=true&result_formats=csv", RUN,
                             {"Idempotency-Key": "run"})
    run = f"/workflows/runs/{started.json['job_id']}"
    yield "getLiveStatus", ask("GET", run + "/live_status")
    wait_until("the run's end", lambda: ask("GET", run + "/live_status").json["overall_status"] == "completed")
    yield "getLiveStatus", ask("GET", run + "/live_status")
    links = ask("GET", run + "/results/download-links")
    assert len(links.json) == 1, links
    yield "listDownloadLinks", links
    yield "listDownloadLinks", ask("GET", run + "/results/download-links?format=ndjson&blocks=all")
    yield "cancelRun", ask("POST", f"/workflows/cancel?job_id={started.json['job_id']}", {})
    yield "listWorkflows", ask("GET", "/workflows")
    yield "listWorkflows", ask("GET", "/workflows?limit=1")
    yield "listRuns", ask("GET", f"/workflows/runs?status=completed&workflow_id={workflow}&limit=1")
    yield from walk_schedules(ask, f"/workflows/{workflow}/schedules")
    yield "deleteWorkflow", ask("POST", f"/workflows/delete_workflow?workflow_id={workflow}")
    yield "listRuns", ask("GET", "/workflows/runs")


def add_members(service, tenant):
    service.sql("insert into org_user (org_id, user_id, role) values (%s, 'ada@example.com', 2), (%s, 'bob@example.com', 2) "
                "on conflict do nothing", [tenant.org_id, tenant.org_id])


def add_snapshots(service, row_id):
    """Two of a row, with pictures; gives the id of the newer one."""
    service.sql("with contents as (insert into snapshot_content (org_id, hash, body) select r.org_id, c.hash, c.body from monitor_row r, "
                "(values ('\\x01'::bytea, %s::bytea), ('\\x02', 'RIFF')) c(hash, body) where r.id = %s) "
                "insert into snapshot (id, org_id, monitor_id, row_id, tick_id, previous_id, url, is_rendered, text_hash, text_bytes, "
                "picture_hash) select gen_random_uuid(), org_id, monitor_id, id, n, case when n = 2 then gen_random_uuid() end, "
                "'https://a.example/', true, '\\x01', 5, '\\x02' from monitor_row, generate_series(1, 2) n where id = %s",
                [zlib.compress(b"# Tea"), row_id, row_id])
    return service.sql("select id::text from snapshot where row_id = %s and tick_id = 2", [row_id])[0][0]


def add_delivery(service, tenant):
    """One that was given up, of a monitor with a receiver."""
    monitor = tenant.post("/monitors", {**GOOD, "frequency": "30d", "webhook_url": "http://127.0.0.1:1/"})
    service.sql("insert into delivery (id, org_id, monitor_id, row_id, event_group_id, type, state, available_at, attempts, endpoint_id) "
                "select gen_random_uuid(), m.org_id, m.id, r.id, gen_random_uuid(), 0, 1, now(), 12, m.endpoint_id "
                "from monitor m join monitor_row r on r.monitor_id = m.id where m.id = %s limit 1", [monitor["id"]])
    return tenant.get("/account/deliveries?state=dead&limit=1")["deliveries"][0]["id"]


def walk_account(ask, service, tenant):
    made = ask("POST", "/account/api-keys", NEW_KEY)
    yield "createApiKey", made
    page = ask("GET", "/account/api-keys?limit=1")
    yield "listApiKeys", page
    yield "listApiKeys", ask("GET", f"/account/api-keys?cursor={urllib.parse.quote(page.json['next_cursor'])}")
    yield "revokeApiKey", ask("POST", f"/account/api-keys/{made.json['id']}/revoke", {})
    secrets = ask("GET", "/account/signing-secrets")
    yield "listSigningSecrets", secrets
    yield "rollSigningSecret", ask("POST", "/account/signing-secrets/roll", {"overlap_hours": 1})
    old = secrets.json["signing_secrets"][0]["id"]
    yield "revokeSigningSecret", ask("POST", f"/account/signing-secrets/{old}/revoke", {})
    service.sql("delete from signing_secret")
    yield "createSigningSecret", ask("POST", "/account/signing-secrets", {})
    delivery = add_delivery(service, tenant)
    yield "listAccountDeliveries", ask("GET", "/account/deliveries?state=dead")
    yield "listDeliveryAttempts", ask("GET", f"/account/deliveries/{delivery}/attempts")
    yield "resendDelivery", ask("POST", f"/account/deliveries/{delivery}/resend", {})
    yield "replayDeliveries", ask("POST", "/account/deliveries/replay", {"state": "dead", "max": 10})
    page = ask("GET", "/account/audit?limit=1")
    yield "listAccountAudit", page
    yield "listAccountAudit", ask("GET", f"/account/audit?cursor={urllib.parse.quote(page.json['next_cursor'])}")
    yield "showUsage", ask("GET", "/account/usage?group_by=day,kind,monitor,key")
    yield "showUsage", ask("GET", "/account/usage?format=csv")
    yield from walk_members(ask, service, tenant)


def walk_members(ask, service, tenant):
    add_members(service, tenant)
    made = ask("POST", "/account/invitations", INVITED)
    yield "createInvitation", made
    yield "listInvitations", ask("GET", "/account/invitations")
    yield "withdrawInvitation", ask("DELETE", f"/account/invitations/{made.json['id']}")
    yield "listMembers", ask("GET", "/account/members")
    yield "changeMember", ask("POST", "/account/members/ada%40example.com/update", {"role": "member"})
    yield "removeMember", ask("DELETE", "/account/members/ada%40example.com")
    # Nobody who is a member elsewhere, too.
    service.sql("insert into org_user (org_id, user_id, role) values (%s, %s, 0)", [tenant.org_id, f"{tenant.org_id}@example.com"])
    yield "createReset", ask("POST", f"/account/members/{tenant.org_id}%40example.com/reset", {})


def walk_schedules(ask, path):
    made = ask("POST", path, SCHEDULE)
    yield "createWorkflowSchedule", made
    one = f"{path}/{made.json['id']}"
    yield "createWorkflowSchedule", ask("POST", path, {"name": "Often", "frequency": "6h", "overlap": "queue_one", "catch_up_s": 60,
                                                       "webhook_payload": RUN["webhook_payload"][0], "is_active": False})
    yield "updateWorkflowSchedule", ask("POST", one + "/update", {"frequency": "1d", "overlap": "allow", "is_active": True})
    started = ask("POST", one + "/trigger", {})
    yield "triggerWorkflowSchedule", started
    yield "getLiveStatus", ask("GET", f"/workflows/runs/{started.json['job_id']}/live_status")
    yield "getWorkflowSchedule", ask("GET", one)
    yield "listWorkflowSchedules", ask("GET", path)
    yield "deleteWorkflowSchedule", ask("DELETE", one)


def walk_clients(ask):
    made = ask("POST", "/oauth/clients", {"name": "billing", "access_token_ttl_seconds": 600})
    yield "createOauthClient", made
    client = f"/oauth/clients/{made.json['client_id']}"
    yield "addOauthClientKey", ask("POST", client + "/keys", KEY)
    yield "listOauthClients", ask("GET", "/oauth/clients")
    yield "getOauthClient", ask("GET", client)
    yield "changeOauthClient", ask("PATCH", client, {"name": "new", "status": "disabled"})
    yield "listOauthClientKeys", ask("GET", client + "/keys")
    yield "revokeOauthClientKey", ask("DELETE", client + "/keys/k1")
    yield "revokeOauthClientTokens", ask("POST", client + "/revoke-tokens", {})
    yield "deleteOauthClient", ask("DELETE", client)
    made = ask("POST", "/oauth/clients", {"name": "published", "jwks_uri": "https://127.0.0.1:1/jwks"})
    yield "createOauthClient", made
    yield "validateOauthClientJwks", ask("POST", f"/oauth/clients/{made.json['client_id']}/validate-jwks", {})


def find_something(service, investigation):
    service.sql("insert into finding (investigation_id, seq, id, org_id, kind, subject, predicate, object, confidence, evidence, "
                "sources, provider, derived_from, block, part) select i.id, n, gen_random_uuid(), i.org_id, 1, "
                "'{\"type\": \"domain\", \"value\": \"a.example\"}', 'dns_text', '{\"type\": \"text\", \"value\": \"x\"}', 10, 'TXT x', "
                "'[\"https://a.example/\"]', 'dns', array[gen_random_uuid()], 0, 0 from investigation i, generate_series(1, 2) n "
                "where i.id = %s", [investigation])
    service.sql("update investigation set next_seq = 3 where id = %s", [investigation])


def import_companies(service):
    lines = [json.dumps({"id": str(n), "name": f"n{n}", "locations": [{"country": "DE"}]}) for n in range(3)]
    answer = service.as_operator("POST", "/admin/v1/search/import", {
        "import_id": str(uuid.uuid4()), "mode": "company", "first_line": 0, "lines": lines, "last": True})
    assert answer.json["state"] == "current", answer


def serve_lookups(service):
    """A member that serves lookups, as far as the database knows."""
    service.sql("insert into member (id, roles, version, host, pid, lanes, heartbeat_at) values "
                "(gen_random_uuid(), '{worker}', 'v', 'h', 1, '{lookup}', now() + interval '1 hour')")


def test_prism_finds_no_violation_on_any_route(strict, prism):
    """Requests and answers both, on success."""
    tenant = strict.organisation()
    seen = set()
    for operation, answer in walk(prism(strict), strict, tenant):
        assert 200 <= answer.status < 300, (operation, answer)
        for header in ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"):
            assert answer.headers.get(header), (operation, header)
        seen.add((operation, answer.status))
    documented = {(name, int(status)) for name, (_, _, operation) in operations().items()
                  for status in operation["responses"] if status.startswith("2")}
    assert seen == documented


def priced_definition():
    definition = json.loads(json.dumps(FLOW["workflow_definition"]))
    definition["blocks"][1] = {"sequence_number": 2, "block_id": "once", "block_name": "enrich_company",
                               "specs": {"struct": {"ceo": "who leads the company"}}}
    return definition


class Errors:
    """Makes every documented error answer of every operation happen."""

    def __init__(self, service, proxy):
        self.service, self.proxy = service, proxy
        self.tenant = service.organisation()
        active = self.tenant.post("/monitors", {**GOOD, "frequency": "30d"})
        self.paused = self.tenant.post("/monitors", {**GOOD, "frequency": "30d"})
        assert self.tenant.post(f"/monitors/{self.paused['id']}/cancel", {})["status"] == "cancelled"
        job = self.tenant.post("/find-email-async", ONE)
        flow = self.tenant.post("/workflows/create_workflow", {**FLOW, "workflow_definition": priced_definition()})["id"]
        self.service.sql("update account set balance_mc = greatest(balance_mc, 100000)")
        run = self.tenant.post(f"/workflows/run?workflow_id={flow}", RUN)["job_id"]
        schedule = self.tenant.post(f"/workflows/{flow}/schedules", SCHEDULE)["id"]
        self.ids = {"schedule_id": schedule, "monitor_id": active["id"], "row_id": active["rows"][0]["id"],
                    "snapshot_id": add_snapshots(service, active["rows"][0]["id"]), "workflow_id": flow, "run_id": run,
                    "task_id": job["task_id"], "kid": "k1", "investigation_id": self.investigation()["investigation_id"],
                    "client_id": self.tenant.post("/oauth/clients", {"name": "c"})["client_id"],
                    "list_id": self.tenant.post("/search/exclusion-lists", EXCLUSIONS)["id"],
                    "channel_id": self.tenant.post("/channels", CHANNEL)["id"],
                    "template_key": str(uuid.uuid4()), **self.account()}

    def account(self):
        add_members(self.service, self.tenant)
        return {"key_id": self.tenant.post("/account/api-keys", NEW_KEY)["id"], "email": "ada%40example.com",
                "secret_id": self.tenant.get("/account/signing-secrets")["signing_secrets"][0]["id"],
                "delivery_id": add_delivery(self.service, self.tenant),
                "invitation_id": self.tenant.post("/account/invitations", INVITED)["id"]}

    def investigation(self):
        self.service.sql("update account set balance_mc = greatest(balance_mc, 100000)")
        return self.tenant.post("/v1/atlas/investigations", INVESTIGATION)

    def ask(self, method, pattern, ids=None, key=None, query="", body=None, content_type="application/json",
            headers=None):
        query = "&".join(part.removeprefix("?") for part in (QUERIES.get(pattern), query) if part)
        path = (pattern + (query and "?" + query)).format(**{**self.ids, **(ids or {})})
        sent = {"x-api-key": key or self.tenant.api_key, **(headers or {})}
        if method in ("POST", "PATCH"):
            body = b"{}" if body is None else body
            sent["Content-Type"] = content_type
        else:
            body = None
        return self.proxy.call(method, path, raw=body, headers=sent)

    def good_body(self, operation):
        return json.dumps({"createMonitor": GOOD, "previewMonitor": PREVIEW,
                           "previewSchedule": {"cron": "@daily"}, "updateMonitor": {"name": "n"},
                           "addRows": {"rows": [{"domain": "z"}]}, "switchRow": {"is_active": True},
                           "createOauthClient": {"name": "c"}, "addOauthClientKey": KEY, "listFieldValues": VALUES,
                           "startInvestigation": INVESTIGATION, "createWorkflow": FLOW, "runWorkflow": RUN,
                           "updateWorkflow": {"workflow_name": "n"}, "createExclusionList": EXCLUSIONS,
                           "createChannel": CHANNEL, "updateChannel": {"name": "n"}, "setAccountChannels": {"channel_ids": []},
                           "createApiKey": NEW_KEY, "changeMember": {"role": "viewer"}, "createInvitation": INVITED,
                           "createWorkflowSchedule": SCHEDULE, "updateWorkflowSchedule": {"name": "n"},
                           "fillExclusionList": {"entity_ids": ["c-1"]}, **FINDS}.get(
                               operation, {})).encode()

    # One function a status: (operationId, method, path) -> answer.

    def s400(self, operation, method, path):
        if operation == "uploadCsv":
            return self.ask(method, path, body=b"a,b\n1\n", content_type="text/csv")
        both = self.ask(method, path, body=self.good_body(operation), headers={"Authorization": "Bearer x"})
        assert both.status == 400 and both.json["error"] == "ambiguous_credentials", (operation, both)
        parameters = operations()[operation][2].get("parameters", [])
        if {"$ref": "#/components/parameters/Cursor"} in parameters:
            return self.ask(method, path, query="?cursor=bad")
        if "requestBody" not in operations()[operation][2]:
            return both
        return self.ask(method, path, body=b"[]")  # prism never answers what is no JSON at all

    def s401(self, operation, method, path):
        return self.ask(method, path, key="vd_live_" + "a" * 43)

    def s402(self, operation, method, path):
        costly = {"leads": [{"name": "Ada", "domain": "a.example"}]} if "Bulk" in operation else {
            "lead": {"name": "Ada", "domain": "a.example"}}
        if operation == "startInvestigation":
            COSTLY[operation] = INVESTIGATION
        if operation == "runWorkflow":
            COSTLY[operation] = RUN
        if operation == "triggerWorkflowSchedule":
            COSTLY[operation] = {}
        costly = AGE if operation == "verifyAge" else COSTLY.get(operation.removesuffix("Async"), costly)
        serve_lookups(self.service)
        self.service.sql("update account set balance_mc = 0")
        return self.ask(method, path, body=json.dumps(costly).encode())

    def s403(self, operation, method, path):
        org = f"/admin/v1/orgs/{self.tenant.org_id}"
        assert self.service.as_operator("PATCH", org, {"locked": True}).status == 200
        answer = self.ask(method, path, body=self.good_body(operation))
        assert self.service.as_operator("PATCH", org, {"locked": False}).status == 200
        return answer

    def s404(self, operation, method, path):
        if operation == "createMonitor":
            return self.ask(method, path, body=json.dumps({**GOOD, "team_id": str(uuid.uuid4())}).encode())
        if operation == "createOauthClient":
            return self.ask(method, path, body=json.dumps({"name": "c", "team_id": str(uuid.uuid4())}).encode())
        if operation == "createWorkflow":
            return self.ask(method, path, body=json.dumps({"workflow_name": "w", "template_key": "none"}).encode())
        if operation == "setAccountChannels":
            return self.ask(method, path, body=json.dumps({"channel_ids": [str(uuid.uuid4())]}).encode())
        if operation == "createApiKey":
            return self.ask(method, path, body=json.dumps({**NEW_KEY, "team_id": str(uuid.uuid4())}).encode())
        if operation == "createInvitation":
            return self.ask(method, path, body=json.dumps({**INVITED, "team_id": str(uuid.uuid4())}).encode())
        if operation == "listMonitorsForRun":  # of what no run_id can be
            return self.ask(method, path, {"run_id": "%FF"})
        if operation == "listFieldValues":
            return self.ask(method, path, body=json.dumps({**VALUES, "exclusion_list_ids": [str(uuid.uuid4())]}).encode())
        return self.ask(method, path, {name: str(uuid.uuid4()) for name in (
            "monitor_id", "task_id", "client_id", "list_id", "channel_id", "address_id", "investigation_id", "workflow_id",
            "run_id", "key_id", "secret_id", "delivery_id", "invitation_id", "snapshot_id", "email")}, body=self.good_body(operation))

    def s409(self, operation, method, path):
        if operation == "createMonitor":
            return self.idempotency_key_in_use()
        if operation == "previewMonitor":  # of a tier that a research service serves
            return self.ask(method, path, body=json.dumps({**PREVIEW, "tier": "medium"}).encode())
        if operation == "createWorkflow":  # of an id that is taken
            return self.ask(method, path, body=json.dumps({**FLOW, "id": self.ids["workflow_id"]}).encode())
        if operation in FINDS or operation in ("startInvestigation", "runWorkflow", "triggerWorkflowSchedule"):
            return self.job_key_in_use(operation, method, path)
        if operation == "uploadCsv":
            return self.too_many_unused_files(method, path)
        if operation == "fillExclusionList":
            return self.of_a_list_that_is_ready(operation, method, path)
        if operation in ("createOauthClient", "addOauthClientKey", "createExclusionList", "createChannel", "createWorkflowSchedule"):
            return self.until_refused(operation, method, path)
        if operation == "testChannel":  # of one that is paused
            self.service.sql("update channel set status = 2 where id = %s", [self.ids["channel_id"]])
            answer = self.ask(method, path)
            self.service.sql("update channel set status = 0 where id = %s", [self.ids["channel_id"]])
            return answer
        if operation == "createReset":  # for who is a member of another organisation, too
            self.service.organisation()
            self.service.sql("insert into org_user (org_id, user_id, role) select id, 'ada@example.com', 2 from organisation "
                             "on conflict do nothing")
            answer = self.ask(method, path)
            self.service.sql("delete from org_user where user_id = 'ada@example.com' and org_id <> %s", [self.tenant.org_id])
            return answer
        if operation == "updateWorkflowSchedule":
            return self.of_a_workflow_that_was_deleted(operation, method, path)
        if operation == "rollSigningSecret":
            return None  # without [security] encryption_key, which this service has
        if operation in ("createApiKey", "createInvitation"):
            return self.with_as_many_as_there_may_be(operation, method, path)
        if operation in ("changeMember", "removeMember"):  # of the last owner
            self.service.sql("update org_user set role = 0 where user_id = 'bob@example.com'")
            answer = self.ask(method, path, body=self.good_body(operation))
            self.service.sql("update org_user set role = 2")
            return answer
        if operation == "resendDelivery":  # while an attempt is under way
            self.service.sql("update delivery set state = 0, available_at = now() + interval '1 hour', lease_token = gen_random_uuid()")
            return self.ask(method, path)
        cancelled = {"monitor_id": self.paused["id"], "row_id": self.paused["rows"][0]["id"]}
        body = b'{"is_active": false}' if operation == "updateMonitor" else self.good_body(operation)
        if operation in ("archiveMonitor", "removeRow", "deleteMonitor"):  # of one that is being made
            self.service.sql("update monitor set status = 0 where id = %s", [self.paused["id"]])
        if operation in ("cancelMonitor", "addRows", "switchRow"):  # of a monitor that failed to start
            self.service.sql("update monitor set status = 1 where id = %s", [self.paused["id"]])
        answer = self.ask(method, path, cancelled, body=body)
        self.service.sql("update monitor set status = 4 where id = %s", [self.paused["id"]])
        return answer

    def with_as_many_as_there_may_be(self, operation, method, path):
        org = [self.tenant.org_id]
        self.service.sql("insert into api_key (id, org_id, name, prefix, key_sha256) select gen_random_uuid(), %s, 'filler', 'vd_live_', "
                         "sha256(n::text::bytea) from generate_series(1, 1000) n", org)
        self.service.sql("insert into invitation (id, org_id, email, role, token_sha256, invited_by, expires_at) select gen_random_uuid(), "
                         "%s, 'filler', 0, sha256(n::text::bytea), 'b', now() + interval '1 day' from generate_series(1, 100) n", org)
        answer = self.ask(method, path, body=self.good_body(operation))
        self.service.sql("delete from api_key where name = 'filler'")
        self.service.sql("delete from invitation where email = 'filler'")
        return answer

    def until_refused(self, operation, method, path):
        """Makes as many clients or lists as an organisation may have, or a second key of one id."""
        for _ in range(101):
            answer = self.ask(method, path, body=self.good_body(operation))
            if answer.status != 200:
                break
        self.service.sql("update oauth_client set deleted_at = now() where id <> %s", [self.ids["client_id"]])
        self.service.sql("delete from search_exclusion where id <> %s", [self.ids["list_id"]])
        self.service.sql("delete from channel where id <> %s", [self.ids["channel_id"]])
        self.service.sql("delete from workflow_schedule where id <> %s", [self.ids["schedule_id"]])
        return answer

    def of_a_workflow_that_was_deleted(self, operation, method, path):
        self.service.sql("update workflow set deleted_at = now() where id = %s", [self.ids["workflow_id"]])
        answer = self.ask(method, path, body=self.good_body(operation))
        self.service.sql("update workflow set deleted_at = null where id = %s", [self.ids["workflow_id"]])
        return answer

    def of_a_list_that_is_ready(self, operation, method, path):
        self.service.sql("update search_exclusion set state = 1")
        answer = self.ask(method, path, body=self.good_body(operation))
        self.service.sql("update search_exclusion set state = 0")
        return answer

    def too_many_unused_files(self, method, path):
        for _ in range(200):
            answer = self.ask(method, path, body=b"a\n1\n", content_type="text/csv")
            if answer.status != 200:
                break
        self.service.sql("update upload set used_at = now()")
        return answer

    def idempotency_key_in_use(self):
        def create():
            return self.ask("POST", "/monitors", body=self.good_body("createMonitor"),
                            headers={"Idempotency-Key": "in use"})

        holder = psycopg2.connect(self.service.postgres.url(MIGRATED))
        try:
            holder.cursor().execute("select from organisation for update")  # which a create waits for
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                first = pool.submit(create)
                wait_until("the first create to wait", lambda: self.service.sql(
                    "select 1 from pg_stat_activity where wait_event_type = 'Lock'"))
                second = create()
                holder.rollback()
                assert first.result().status == 200, first.result()
        finally:
            holder.close()
        return second

    def job_key_in_use(self, operation, method, path):
        """While somebody holds the lock of the key (store/idempotency.cc)."""
        key = uuid.UUID(self.tenant.org_id).bytes + b"job in use"
        number = int.from_bytes(hashlib.sha256(key).digest()[:8], "little", signed=True)
        holder = psycopg2.connect(self.service.postgres.url(MIGRATED))
        try:
            holder.cursor().execute("select pg_advisory_xact_lock(%s)", [number])
            return self.ask(method, path, body=self.good_body(operation), headers={"Idempotency-Key": "job in use"})
        finally:
            holder.close()

    def s413(self, operation, method, path):
        if operation == "uploadCsv":
            return None  # 2 GiB; in test_uploads.py
        size = LEADS_BYTES_MAX if operation in [*FINDS, "listFieldValues", "startInvestigation", "fillExclusionList"] else BODY_BYTES_MAX
        return self.ask(method, path, body=b'{"a":"' + b"x" * size + b'"}')

    def s415(self, operation, method, path):
        return self.ask(method, path, body=b"{}", content_type="image/png")

    def s422(self, operation, method, path):
        if operation == "uploadCsv":
            return self.ask(method, path, body=b"a\n" + b"x" * 70_000 + b"\n", content_type="text/csv")
        if "requestBody" not in operations()[operation][2]:
            return self.ask(method, path, query="?limit=0&status=none&wait_s=61&mode=none&format=none")
        return self.ask(method, path, body=b'{"nonsense": 1}')

    def s429(self, operation, method, path):
        if operation == "downloadResult":
            return None  # it counts against no rate; too many files at once are in tests/store/api/run_memory_test.cc
        self.service.sql("insert into rate_window (api_key_id, minute_at, requests) "
                         "select id, m, 1000000 from api_key, "
                         "generate_series(date_trunc('minute', now()), now() + '10 minutes', '1 minute') m "
                         "on conflict (api_key_id, minute_at) do update set requests = 1000000")
        answer = self.ask(method, path)
        self.service.sql("delete from rate_window")
        assert int(answer.headers["Retry-After"]) in range(1, 61), answer
        assert answer.headers["X-RateLimit-Remaining"] == "0"
        return answer

    def s500(self, operation, method, path):
        # These ask the database for nothing but who calls.
        if operation in ("previewMonitor", "previewSchedule", "listBlocks", "getFilterCapabilities", "listApiKeys"):
            return None
        tables = ["monitor", "upload", "monitor_sched", "job", "oauth_client", "search_import", "search_exclusion", "channel",
                  "workflow", "workflow_schedule", "workflow_template", "audit", "invitation", "access_token", "signing_secret",
                  "delivery", "credit_entry"]
        for table in tables:  # what no request expects
            self.service.sql(f"alter table {table} rename to {table}_away")
        views = ["monitor_shown", "job_shown"]
        for view in views:
            self.service.sql(f"alter view {view} rename to {view}_away")
        content_type = "text/csv" if operation == "uploadCsv" else "application/json"
        body = b"a\n1\n" if operation == "uploadCsv" else self.good_body(operation)
        if operation == "findEmail":  # which needs a job where its receiver is to be told of the end
            body = json.dumps({**ONE, "webhook_url": "https://hooks.example.com/"}).encode()
        answer = self.ask(method, path, body=body, content_type=content_type)
        for table in tables:
            self.service.sql(f"alter table {table}_away rename to {table}")
        for view in views:
            self.service.sql(f"alter view {view}_away rename to {view}")
        return answer

    def s503(self, operation, method, path):
        answer = self.ask(method, path, body=self.good_body(operation))
        assert answer.headers["Retry-After"] == "5", answer
        return answer


def test_prism_finds_no_violation_in_any_error(strict, prism):
    """Every documented error answer of every operation. Prism lets the bad requests through and checks the answers."""
    errors = Errors(strict, prism(strict, "--validate-request", "false"))
    last = []
    for name, (method, path, operation) in operations().items():
        for status in sorted(s for s in operation["responses"] if not s.startswith("2")):
            if status == "503":
                last.append((name, method, path))
                continue
            answer = getattr(errors, "s" + status)(name, method, path)
            assert answer is None or answer.status == int(status), (name, status, answer)
    strict.postgres.stop()
    for name, method, path in last:
        answer = errors.s503(name, method, path)
        assert answer.status == 503, (name, answer)
    assert len(last) == len(operations())
