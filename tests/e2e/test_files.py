"""Monitors from an uploaded file: the fleet adds the rows, then the first tick is due at once."""

import http.client
import json
import socket
import subprocess
import time

import psycopg2
import pytest

from conftest import Vedette, wait_until

ROWS = 5000
GIB = 1 << 30


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


def test_a_killed_importer_goes_on_and_adds_no_row_twice(binary, database, tmp_path):
    """Killed among the writes of a part, twice; another process ends what it began."""
    rows = 60_000
    service = Vedette(binary, database.url, tmp_path).migrate().start(roles="api,admin,scheduler")
    tenant = service.organisation()
    file = tmp_path / "rows.csv"
    file.write_text("n,price\n" + "".join(f"{n},{n % 10}\n" for n in range(rows)))
    created = tenant.post("/monitors", {
        "name": "Killed", "key_columns": ["n"], "struct": {"price": "css:.price"}, "frequency": "30d",
        "resource_handle_id": upload(service, tenant, file)})
    assert created["status"] == "starting" and created["rows"] == []

    done = 0
    for _ in range(2):
        wait_until("rows to be added", lambda: database.value("select row_count from monitor_sched") > done)
        holder = psycopg2.connect(database.url)
        # A part's rows are written, its states not yet.
        holder.cursor().execute("lock table state_block in exclusive mode")
        wait_until("the importer to wait", lambda: database.value(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%%state_block%%'"))
        service.kill()
        done = database.value("select row_count from monitor_sched")
        assert 0 < done < rows, done
        assert monitor_status(database) == 0, "still starting"
        holder.rollback()
        holder.close()
        service = Vedette(binary, database.url, tmp_path).start(roles="api,admin,scheduler")
    wait_until("the monitor to be active", lambda: monitor_status(database) == 2)
    assert database.rows("select count(*), count(distinct position), min(position), max(position), "
                         "count(distinct subject ->> 'n') from monitor_row") == [(rows, rows, 0, rows - 1, rows)]
    assert database.value("select bool_and((subject ->> 'n')::int = position) from monitor_row")
    assert database.value("select count(*) from row_state") == rows
    assert database.rows("select row_count, active_row_count, live from monitor_sched") == [(rows, rows, True)]
    assert database.value("select count(*) from monitor_import") == 0
    assert service.stop() == 0


def monitor_status(database):
    return database.value("select status from monitor")


def test_a_file_over_two_gib_is_refused_at_once(vedette):
    """By what its header says: nothing of it has to be sent."""
    tenant = vedette.organisation()
    for size, status in [(2 * GIB + 1, 413), (1 << 62, 413)]:
        with socket.create_connection(("127.0.0.1", vedette.api_port), timeout=30) as connection:
            connection.sendall((
                f"POST /storage/csv/upload HTTP/1.1\r\nHost: x\r\nx-api-key: {tenant.api_key}\r\n"
                f"Content-Type: text/csv\r\nContent-Length: {size}\r\n\r\na\n1\n").encode())
            assert connection.recv(65536).startswith(f"HTTP/1.1 {status} ".encode())


def revoke(vedette, tenant):
    keys = f"/admin/v1/orgs/{tenant.org_id}/api-keys"
    [key] = vedette.as_operator("GET", keys).json["items"]
    assert vedette.as_operator("DELETE", f"{keys}/{key['id']}").status in (200, 204)


def lock(vedette, tenant):
    assert vedette.as_operator("PATCH", f"/admin/v1/orgs/{tenant.org_id}", {"locked": True}).status == 200


@pytest.mark.parametrize("end, status, error", [(None, 200, None), (revoke, 401, "unauthorized"), (lock, 403, "organisation_locked")])
def test_a_revoked_key_or_a_lock_ends_a_file_that_is_still_coming(vedette, database, end, status, error):
    tenant = vedette.organisation()
    with socket.create_connection(("127.0.0.1", vedette.api_port), timeout=30) as connection:
        connection.sendall((
            f"POST /storage/csv/upload HTTP/1.1\r\nHost: x\r\nx-api-key: {tenant.api_key}\r\nContent-Type: text/csv\r\n"
            "Transfer-Encoding: chunked\r\n\r\n4\r\nn\n1\n\r\n").encode())
        wait_until("the file to begin", lambda: database.value("select count(*) from upload") == 1)
        if end:
            end(vedette, tenant)
        time.sleep(2.5)  # what was looked at is looked at again every two seconds
        connection.sendall(b"2\r\n2\n\r\n0\r\n\r\n")
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        told = json.loads(answer.read())
    assert (answer.status, told.get("error")) == (status, error), told
    assert database.value("select count(*) from upload") == (0 if end else 1)


def test_a_file_over_five_million_rows_is_refused(vedette, database):
    tenant = vedette.organisation()
    done = subprocess.run(
        ["curl", "-sS", "-w", "\n%{http_code}", "-H", f"x-api-key: {tenant.api_key}", "-H", "Content-Type: text/csv",
         "--data-binary", "@-", f"{vedette.api}/storage/csv/upload"],
        input=b"n\n" + b"1\n" * 5_000_001, capture_output=True, check=True)
    body, status = done.stdout.rsplit(b"\n", 1)
    assert status == b"413" and "5000000" in json.loads(body)["message"], done
    assert database.value("select count(*) from upload") == 0


@pytest.mark.parametrize("curl", [["--data-binary", "@{}"], ["-F", "file=@{};type=text/csv"], ["-X", "POST", "-T", "{}"]])
def test_curl_sends_a_file_whole_in_a_form_and_in_chunks(vedette, tmp_path, curl):
    tenant = vedette.organisation()
    file = tmp_path / "rows.csv"
    file.write_bytes(b"\xef\xbb\xbfname,note\r\n\"a, b\",\"two\r\nlines\"\r\nc,\r\n")
    headers = [] if "-F" in curl else ["-H", "Content-Type: text/csv"]
    if "-T" in curl:
        headers += ["-H", "Transfer-Encoding: chunked"]
    done = subprocess.run(
        ["curl", "-sS", "-H", f"x-api-key: {tenant.api_key}", *headers, *[c.format(file) for c in curl],
         f"{vedette.api}/storage/csv/upload"], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert answer["row_count"] == 2 and answer["columns"] == ["name", "note"], answer
