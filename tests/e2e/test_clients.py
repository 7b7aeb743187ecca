"""Slow, broken and hostile clients of the public API, and what the others notice of them: nothing."""

import json
import resource
import socket
import subprocess
import threading

import psycopg2
import pytest

from conftest import Vedette, call, wait_until

HALF_OPEN = 1000
BODY = {"name": "M", "key_columns": ["k"], "rows": [{"k": "1"}], "struct": {"f": "css:h1"}, "frequency": "30d"}


def connect(service):
    return socket.create_connection(("127.0.0.1", service.api_port), timeout=30)


def read_to_end(connection):
    """What comes until the server closes; a reset ends it too."""
    text = b""
    try:
        while piece := connection.recv(65536):
            text += piece
    except ConnectionResetError:
        pass
    return text


def test_a_thousand_half_open_connections_leave_others_served(binary, database, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * HALF_OPEN)), hard))
    service = Vedette(binary, database.url, tmp_path).migrate().start()
    tenant = service.organisation()
    half_open = []
    try:
        for n in range(HALF_OPEN):
            half_open.append(connect(service))
            # Nothing at all, half a header, half a body.
            half_open[-1].sendall([b"", b"GET /monitors HTTP/1.1\r\nHost: x\r\nx-api", (
                f"POST /monitors HTTP/1.1\r\nHost: x\r\nx-api-key: {tenant.api_key}\r\n"
                "Content-Length: 1000\r\n\r\n{").encode()][n % 3])
        for _ in range(100):
            assert tenant.call("GET", "/monitors").status == 200
        made = tenant.post("/monitors", BODY)
        assert tenant.get(f"/monitors/{made['id']}")["row_count"] == 1
        # Half a header is ended by its time limit, whatever the others do.
        half_open[1].settimeout(60)
        assert read_to_end(half_open[1]).startswith(b"HTTP/1.1 408")
    finally:
        for connection in half_open:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert service.stop() == 0


@pytest.mark.parametrize("path, content_type, key, status", [
    ("/storage/csv/upload", "text/csv", "vd_live_" + "a" * 43, 401),
    ("/storage/csv/upload", "application/json", None, 415),
    ("/monitors", "application/json", "vd_live_" + "a" * 43, 401),
    ("/monitors", "application/json", None, 413),
])
def test_curl_reads_a_refusal_while_it_still_sends(vedette, tmp_path, path, content_type, key, status):
    file = tmp_path / "large"
    file.write_bytes(b"x" * (40 << 20))
    done = subprocess.run(
        ["curl", "-sS", "-o", tmp_path / "answer", "-w", "%{http_code}", "-H", "Expect:", "-H",
         f"x-api-key: {key or vedette.organisation().api_key}", "-H", f"Content-Type: {content_type}",
         "--data-binary", f"@{file}", vedette.api + path], capture_output=True, text=True)
    assert done.stdout == str(status), done
    assert {"error", "message"} <= set(json.loads((tmp_path / "answer").read_text()))


INNER = "POST /monitors/{monitor}/cancel HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize("framing", [
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: 5, 6",
    "Content-Length: +5",
    "Content-Length: 0x5",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding: chunked, identity",
])
def test_a_smuggled_request_is_not_executed(vedette, framing):
    tenant = vedette.organisation()
    monitor = tenant.post("/monitors", BODY)["id"]
    with connect(vedette) as connection:
        connection.sendall((
            f"POST /monitors HTTP/1.1\r\nHost: x\r\nx-api-key: {tenant.api_key}\r\n{framing}\r\n\r\n0\r\n\r\n"
            + INNER.format(monitor=monitor, key=tenant.api_key)).encode())
        answer = read_to_end(connection)
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501")), answer
    assert answer.count(b"HTTP/1.1 ") == 1, answer
    assert tenant.get(f"/monitors/{monitor}")["status"] == "active"


def waiting_create(service, tenant, headers=None):
    """A create that waits for a lock of the returned connection, on a thread; its answer in the list."""
    holder = psycopg2.connect(service.database_url)
    holder.cursor().execute("select from organisation for update")
    answers = []

    def create():
        try:
            answers.append(call("POST", service.api + "/monitors", BODY,
                                {"x-api-key": tenant.api_key, **(headers or {})}))
        except OSError as error:
            answers.append(error)

    thread = threading.Thread(target=create)
    thread.start()
    # Not `with observer`: that is one transaction, which sees one state of the sessions all along.
    observer = psycopg2.connect(service.database_url)
    observer.autocommit = True

    def waits():
        with observer.cursor() as cursor:
            cursor.execute("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                           "and datname = current_database()")
            return cursor.fetchone()[0]

    wait_until("the create to wait", waits)
    observer.close()
    return holder, thread, answers


def test_sigterm_lets_a_request_in_flight_finish(vedette, database):
    tenant = vedette.organisation()
    vedette.database_url = database.url
    holder, thread, answers = waiting_create(vedette, tenant)
    vedette.process.terminate()

    def refuses():
        try:
            connect(vedette).close()
            return False
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            return False  # it was in the queue of the socket that is being closed

    wait_until("new connections to be refused", refuses)
    assert not answers
    holder.rollback()
    thread.join(120)
    assert answers[0].status == 200, answers
    assert vedette.process.wait(30) == 0
    assert database.value("select count(*) from monitor") == 1


def test_a_crash_in_the_middle_of_a_create_frees_its_idempotency_key(vedette, database):
    tenant = vedette.organisation()
    vedette.database_url = database.url
    key = {"Idempotency-Key": "k"}
    holder, thread, answers = waiting_create(vedette, tenant, key)
    headers = {"x-api-key": tenant.api_key, **key}
    assert call("POST", vedette.api + "/monitors", BODY, headers).status == 409
    vedette.kill()
    thread.join(120)
    assert isinstance(answers[0], OSError), answers
    holder.rollback()
    vedette.start()
    # Its transaction ends once its lock is granted: as long as it is there, the key is held.
    made = wait_until("the key to be free", lambda: (
        answer := call("POST", vedette.api + "/monitors", BODY, headers)).status == 200 and answer)
    assert database.value("select count(*) from monitor") == 1
    assert call("POST", vedette.api + "/monitors", BODY, headers).body == made.body
