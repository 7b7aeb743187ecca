"""What the log says of checks, deliveries, requests and secrets: what an operator needs, and nothing of a person."""

import json

from conftest import ENCRYPTION_KEY, Receiver, Vedette, call, wait_until

PERSON = "ada.lovelace"


def lines(service, message):
    found = []
    for line in service.log().splitlines():
        if line.startswith("{"):
            entry = json.loads(line)
            if entry["message"].startswith(message):
                found.append(entry)
    return found


def test_failures_and_recoveries_are_logged_once_and_attempts_at_debug(binary, database, tmp_path, nginx):
    service = Vedette(binary, database.url, tmp_path, {"VEDETTE_LOG_FORMAT": "json", "VEDETTE_LOG_LEVEL": "debug",
                                                       "VEDETTE_DELIVERY_BACKOFF_FIRST_MS": "100",
                                                       "VEDETTE_DELIVERY_BREAKER_FAILURES": "2",
                                                       "VEDETTE_TESTING_SMALL_STEPS": "true"})
    service.migrate().start()
    down = [True]
    receiver = Receiver(lambda request: 500 if down[0] else 200)
    try:
        tenant = service.organisation()
        made = tenant.post("/monitors", {
            "name": "m", "key_columns": ["name"], "frequency": "1s", "struct": {"t": "css:h1"},
            "rows": [{"name": PERSON, "url": f"{nginx.url}/{PERSON}.html?mail={PERSON}"}],
            "webhook_url": f"{receiver.url}?token={PERSON}"})
        wait_until("the monitor to fail", lambda: lines(service, "a monitor fails"))
        wait_until("the breaker to open", lambda: lines(service, "a receiver fails"))
        nginx.write(f"{PERSON}.html", "<h1>x</h1>")
        down[0] = False
        wait_until("it to work again", lambda: lines(service, "a monitor works again"))
        wait_until("the breaker to close", lambda: lines(service, "a receiver works again"))
        for message in ("a monitor fails", "a monitor works again"):
            [line] = lines(service, message)
            assert line["level"] == "info" and line["monitor"] == made["id"] and line["org"] == tenant.org_id
        [fails] = lines(service, "a monitor fails")
        assert fails["class"] == "http_status" and fails["address"] == "http://127.0.0.1", "why, and of which host"
        assert lines(service, "a receiver fails")[0]["class"] == "http_status"
        attempt = lines(service, "an attempt at a check failed")[0]
        assert attempt["level"] == "debug" and attempt["class"] == "http_status" and attempt["row"] == made["rows"][0]["id"]
        assert attempt["address"] == "http://127.0.0.1"
        sent = lines(service, "an attempt at a delivery ended")
        assert {500, 200} <= {line["status"] for line in sent} and sent[0]["address"] == "http://127.0.0.1"
        answer = call("GET", f"{service.api}/monitors/{made['id']}", None, {"x-api-key": tenant.api_key})
        asked = [line for line in lines(service, "answered") if line["request"] == answer.headers["X-Request-Id"]]
        assert [(line["route"], line["status"]) for line in asked] == [("/monitors/{monitor_id}", 200)]
        assert PERSON not in service.log(), "a person is in the log"
        metrics = call("GET", service.admin + "/metrics").body.decode()
        assert "vedette_monitors_failing " in metrics and "vedette_fields_never_observed_total" in metrics
    finally:
        receiver.close()
        assert service.stop() == 0


def test_a_start_without_a_live_secrets_key_says_so_and_a_reseal_mends_it(binary, database, tmp_path):
    new_key = "ab" * 32
    service = Vedette(binary, database.url, tmp_path, {"VEDETTE_LOG_FORMAT": "json"}).migrate().start()
    tenant = service.organisation()
    service.stop()

    def unreadable():
        metrics = call("GET", service.admin + "/metrics").body.decode()
        return [line.split()[1] for line in metrics.splitlines() if line.startswith("vedette_signing_secrets_unreadable ")]

    service.environment["VEDETTE_SECURITY_ENCRYPTION_KEY"] = new_key
    service.start()
    wait_until("the log to say so", lambda: lines(service, "live signing secrets cannot be opened"))
    [said] = lines(service, "live signing secrets cannot be opened")
    assert said["level"] == "error" and said["secrets"] == 1 and len(said["missing_keys"]) == 8
    assert unreadable() == ["1"]
    listed = service.as_operator("GET", f"/admin/v1/orgs/{tenant.org_id}/signing-secrets").json["items"]
    assert [secret["preview"] for secret in listed] == [None]
    service.stop()

    service.environment["VEDETTE_SECURITY_ENCRYPTION_KEYS_OLD"] = ENCRYPTION_KEY
    service.start()
    done = service.as_operator("POST", "/admin/v1/signing-secrets/reseal", {"reason": "rotation"})
    assert done.json == {"resealed": 1, "unreadable": 0, "done": True}, done
    service.stop()

    del service.environment["VEDETTE_SECURITY_ENCRYPTION_KEYS_OLD"]
    service.start()
    [secret] = service.as_operator("GET", f"/admin/v1/orgs/{tenant.org_id}/signing-secrets").json["items"]
    assert secret["preview"] == "sk_whsec_" + 60 * "." + tenant.signing_secret[-4:]
    assert len(lines(service, "live signing secrets cannot be opened")) == 1
    assert service.stop() == 0
