"""A large monitor from a file: made, paged and shown in bounded memory; a page costs the same wherever it is.

A million rows, under a minute with the release build; VEDETTE_TEST_SIZE_ROWS for fewer.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import time

import psycopg2
import pytest

from conftest import ROOT, Vedette, wait_until
from testbed import PeakMemory

ROWS = int(os.environ.get("VEDETTE_TEST_SIZE_ROWS", "100000"))
RSS_MIB_MAX = 256
PAGE_ROWS = 1000
PAGE_BYTES_MAX = 1 << 30  # no page is cut for its bytes here: the plan of the longest is measured
STALLED_READERS = 30


@pytest.fixture
def service(binary, database, tmp_path):
    """Without workers: a million checks are not what is looked at."""
    it = Vedette(binary, database.url, tmp_path, {"VEDETTE_LIMITS_REQUESTS_PER_MINUTE": "500"}).migrate()
    it.start(roles="api,admin,scheduler")
    yield it
    it.process.kill()
    it.process.wait(10)


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("size") / "rows.csv"
    with open(path, "w") as out:
        out.write("domain,price,note\n")
        for n in range(ROWS):
            out.write(f'company{n:07}.example,{n % 100},"Company number {n}"\n')
    return path


def copied_per_second(database, file):
    """Rows a second of a plain COPY of the file into a table without indexes."""
    database.rows("create table plain (domain text, price text, note text)")
    connection = psycopg2.connect(database.url)
    began = time.monotonic()
    with connection, connection.cursor() as cursor, open(file, "rb") as source:
        cursor.copy_expert("copy plain from stdin (format csv, header)", source)
    took = time.monotonic() - began
    connection.close()
    database.rows("drop table plain")
    return ROWS / took


NUMBERS = {"outcome_failed": "3", "event_error": "1", "block_rows": "256"}  # of domain/


def statement(name):
    """A statement of ours as it is sent, with the fragments that it is made of."""
    text = "".join((ROOT / "store" / "queries" / of).read_text() for of in ("rows.sql", "states.sql"))
    _, *pieces = re.split(r"^-- (name|fragment): (\w+)\n", text, flags=re.MULTILINE)
    texts = {(kind, of): body for kind, of, body in zip(pieces[::3], pieces[1::3], pieces[2::3])}

    def expand(body):
        body = re.sub(r"^ *--.*\n", "", body, flags=re.MULTILINE)
        return re.sub(r"(?<!:):([a-z]\w*)", lambda at: NUMBERS.get(at[1]) or expand(texts["fragment", at[1]]).strip(), body)

    return expand(texts["name", name]).strip()


def explain(database, name, **parameters):
    """The plan of a statement of ours as it was executed; `parameters`: name = (type, value)."""
    text, order = statement(name), []

    def number(at):
        if at[1] not in order:
            order.append(at[1])
        return f"${order.index(at[1]) + 1}"

    text = re.sub(r"@(\w+)", number, text)
    assert set(order) == set(parameters), f"{name} has the parameters {order}"
    types, values = zip(*(parameters[parameter] for parameter in order))
    connection = psycopg2.connect(database.url)
    with connection, connection.cursor() as cursor:
        cursor.execute(f"prepare asked ({', '.join(types)}) as {text}")
        cursor.execute(f"explain (analyze, buffers, format json) execute asked ({', '.join(['%s'] * len(values))})", values)
        plan = cursor.fetchone()[0][0]["Plan"]
    connection.close()
    return plan


def buffers_of_page(database, monitor, after):
    """Buffers hit or read."""
    plan = explain(database, "row_list", monitor_id=("uuid", monitor), after=("int", after), limit=("int", 101),
                   bytes_max=("bigint", PAGE_BYTES_MAX))
    assert plan["Actual Rows"] >= 100
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def rows_looked_at(plan):
    seen = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Join Filter", 0)
    return seen * plan["Actual Loops"] + sum(rows_looked_at(p) for p in plan.get("Plans", []))


def detail_bytes_and_rows(service, tenant, monitor):
    """Reads the detail view as it comes, keeping nothing."""
    connection = http.client.HTTPConnection("127.0.0.1", service.api_port, timeout=60)
    connection.request("GET", f"/monitors/{monitor}", headers={"x-api-key": tenant.api_key})
    response = connection.getresponse()
    assert response.status == 200
    mark, size, rows, tail = b'"subject":{', 0, 0, b""
    while piece := response.read(1 << 20):
        size += len(piece)
        seen = tail + piece
        rows += seen.count(mark)
        tail = seen[-(len(mark) - 1):]
    connection.close()
    assert tail.endswith(b"}"), tail
    return size, rows


def stall(service, tenant, monitor):
    """A client that asks for the detail view and reads nothing of it."""
    connection = socket.create_connection(("127.0.0.1", service.api_port))
    connection.sendall(f"GET /monitors/{monitor} HTTP/1.1\r\nHost: x\r\nx-api-key: {tenant.api_key}\r\n\r\n".encode())
    return connection


def test_a_large_file_is_made_paged_and_shown_in_bounded_memory(service, database, file, capsys):
    for table in ("monitor_row", "state_block"):  # the worst case: nothing is known of what grew
        database.rows(f"alter table {table} set (autovacuum_enabled = off)")
    tenant = service.organisation()
    memory = PeakMemory(service.process)
    peaks = {}

    def peak_of(what, act):
        memory.reset()
        began = time.monotonic()
        result = act()
        peaks[what] = (memory.mib(), time.monotonic() - began)
        assert peaks[what][0] < RSS_MIB_MAX, peaks
        return result

    def upload():
        done = subprocess.run(
            ["curl", "-sS", "-H", f"x-api-key: {tenant.api_key}", "-H", "Content-Type: text/csv", "-T", file,
             "-X", "POST", f"{service.api}/storage/csv/upload"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    uploaded = peak_of("upload", upload)
    assert uploaded["row_count"] == ROWS

    def create():
        made = tenant.post("/monitors", {
            "name": "Large", "key_columns": ["domain"], "struct": {"price": "css:.price"}, "frequency": "30d",
            "resource_handle_id": uploaded["handle_id"]})

        def status():
            shown = tenant.get("/monitors?limit=1")["monitors"][0]
            assert shown["status"] in ("starting", "active"), shown
            time.sleep(0.2)  # the rate limit
            return shown["status"] == "active" and shown["row_count"] == ROWS

        wait_until("the rows to be added", status, 600)
        return made["id"]

    monitor = peak_of("create", create)

    def check_plans():
        """What a page costs, and that nothing reads on."""
        first, last = buffers_of_page(database, monitor, -1), buffers_of_page(database, monitor, ROWS - 101)
        # A range of rows, and the way down an index a state.
        assert abs(last - first) <= 20 and max(first, last) < 700, (first, last)
        looked_at = {
            "row_list": explain(database, "row_list", monitor_id=("uuid", monitor), after=("int", ROWS // 2), limit=("int", 1000),
                                bytes_max=("bigint", PAGE_BYTES_MAX)),
            "row_list_chosen": explain(database, "row_list_chosen", monitor_id=("uuid", monitor), after=("int", ROWS // 2),
                                       last=("int", ROWS // 2 + 1000), frequency_s=("int", 86400), limit=("int", 100),
                                       bytes_max=("bigint", PAGE_BYTES_MAX), failing=("bool", False)),
            # Whether a part's keys are new.
            "row_find_keys": explain(database, "row_find_keys", monitor_id=("uuid", monitor),
                                     key_hashes=("bytea[]", [os.urandom(16) for _ in range(1000)])),
        }
        looked_at = {name: rows_looked_at(plan) for name, plan in looked_at.items()}
        assert max(looked_at.values()) <= 10 * 1000, looked_at
        return first, last

    check_plans()
    size, rows = peak_of("detail", lambda: detail_bytes_and_rows(service, tenant, monitor))
    assert rows == ROWS
    database.rows("vacuum analyze monitor_row, state_block")
    first, last = check_plans()

    def stalled():
        readers = [stall(service, tenant, monitor) for _ in range(STALLED_READERS)]
        answer = tenant.get(f"/monitors/{monitor}/rows?limit={PAGE_ROWS}")  # others are served
        assert len(answer["rows"]) == PAGE_ROWS
        for reader in readers:
            assert reader.recv(12) == b"HTTP/1.1 200"
            reader.close()

    peak_of("stalled readers", stalled)
    plain = copied_per_second(database, file)
    took = peaks["upload"][1] + peaks["create"][1]
    with capsys.disabled():
        print(f"\n{ROWS} rows from a file: {ROWS / took:.0f} rows/s made (upload {peaks['upload'][1]:.1f} s, "
              f"adding {peaks['create'][1]:.1f} s), plain COPY {plain:.0f} rows/s; detail {size >> 20} MiB in "
              f"{peaks['detail'][1]:.1f} s; a page of 100: {first} buffers at the start, {last} at the end; peaks "
              + ", ".join(f"{what} {mib:.0f} MiB" for what, (mib, _) in peaks.items()))

