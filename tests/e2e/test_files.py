"""Monitors from an uploaded file: the fleet adds the rows, then the first tick is due at once."""

import json
import subprocess

from conftest import wait_until

ROWS = 5000


def upload(vedette, tenant, path):
    """With curl, as a client would."""
    done = subprocess.run(
        ["curl", "-sS", "-H", f"x-api-key: {tenant.api_key}", "-H", "Content-Type: text/csv",
         "--data-binary", f"@{path}", f"{vedette.api}/storage/csv/upload"],
        capture_output=True, text=True, check=True)
    assert "handle_id" in done.stdout, done.stdout
    return json.loads(done.stdout)["handle_id"]


def test_a_file_becomes_rows_that_are_checked(vedette, tmp_path, nginx):
    nginx.write("page.html", "<html><head><title>t</title></head><body></body></html>")
    tenant = vedette.organisation()
    file = tmp_path / "rows.csv"
    file.write_text("n,url\r\n" + "".join(f"{n},{nginx.url}/page.html?{n}\r\n" for n in range(ROWS)))
    created = tenant.post("/monitors", {
        "name": "From a file", "key_columns": ["n"], "struct": {"title": "css:title"},
        "resource_handle_id": upload(vedette, tenant, file), "frequency": "30d"})
    monitor = created["id"]
    wait_until("the rows to be added",
               lambda: tenant.get(f"/monitors/{monitor}/rows?limit=1") and
               tenant.get("/monitors?limit=1")["monitors"][0]["status"] == "active")
    assert tenant.get("/monitors?limit=1")["monitors"][0]["row_count"] == ROWS
    tick = wait_until("the first tick to finish", lambda: tenant.finished_ticks(monitor), 120)[0]
    assert tick["outcomes"] == {"unchanged": ROWS}


def test_a_bad_line_fails_the_monitor_and_is_named(vedette, tmp_path):
    tenant = vedette.organisation()
    file = tmp_path / "rows.csv"
    file.write_text("domain\r\na.example\r\nb.example\r\na.example\r\n")
    created = tenant.post("/monitors", {
        "name": "Twice", "key_columns": ["domain"], "struct": {"title": "css:title"},
        "resource_handle_id": upload(vedette, tenant, file)})

    def failed():
        shown = tenant.get("/monitors?limit=1")["monitors"][0]
        return shown if shown["status"] == "failed" else None

    shown = wait_until("the monitor to fail", failed)
    assert shown["id"] == created["id"] and "line 4" in shown["disabled_reason"], shown
