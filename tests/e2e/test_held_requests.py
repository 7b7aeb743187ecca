"""Attacks on requests that held, and must go on to: smuggled and malformed ones through a socket, and creates with one
idempotency key at two processes of which one is killed."""

import concurrent.futures
import random
import re
import time

import pytest

from attack import exchange, fresh_database, status_of
from conftest import Vedette, call, wait_until

BODY = {"name": "M", "key_columns": ["k"], "rows": [{"k": n} for n in range(50)], "struct": {"f": "css:h1"},
        "frequency": "30d"}


@pytest.fixture(scope="module")
def service(binary, postgres, tmp_path_factory):
    with fresh_database(postgres) as database:
        it = Vedette(binary, database.url, tmp_path_factory.mktemp("held")).migrate().start(roles="api,admin")
        yield it
        assert it.stop() == 0, it.log()[-1000:]


@pytest.fixture(scope="module")
def tenant(service):
    return service.organisation()


@pytest.fixture(scope="module")
def canary(tenant):
    """A monitor that every smuggled request asks to cancel."""
    return tenant.post("/monitors", BODY)["id"]


POST = "POST /monitors HTTP/1.1\r\nHost: x\r\nx-api-key: KEY\r\n"
GET = "GET /monitors HTTP/1.1\r\nHost: x\r\nx-api-key: KEY\r\n"
CHUNKED = POST + "Transfer-Encoding: chunked\r\n"

# What two readers could read two ways, and what is no HTTP/1.1 at all. KEY becomes a good key.
AMBIGUOUS = [
    POST + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    CHUNKED + "Content-Length: 4\r\n\r\n0\r\n\r\n",
    POST + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n{ }x",
    POST + "Content-Length: 4\r\nContent-Length: 4\r\n\r\n{  }",
    POST + "Content-Length: 4, 4\r\n\r\n{  }",
    POST + "Content-Length: +4\r\n\r\n{  }",
    POST + "Content-Length: 0x4\r\n\r\n{  }",
    POST + "Content-Length: -4\r\n\r\n{  }",
    POST + "Content-Length: 4 4\r\n\r\n{  }",
    POST + "Content-Length:\r\n\r\n{  }",
    POST + "Content-Length: 18446744073709551620\r\n\r\n{  }",
    CHUNKED + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    POST + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    POST + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    POST + "Transfer-Encoding: identity\r\n\r\n",
    POST + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    POST + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    POST + "X: a\r\n Content-Length: 9\r\n\r\n",
    GET.replace("\r\n", "\n") + "\n",
    POST + "X: a\nContent-Length: 9\r\n\r\n",
    POST + "X: a\rContent-Length: 9\r\n\r\n",
    POST + "X: a\x00b\r\n\r\n",
    POST + "X\x00: b\r\n\r\n",
    GET.replace("/monitors", "/moni\x00tors") + "\r\n",
    GET.replace("/monitors", "/moni\x01tors") + "\r\n",
    GET.replace("Host: x\r\n", "") + "\r\n",
    GET + "Host: y\r\n\r\n",
    GET.replace("Host: x", "Host: x/y") + "\r\n",
    GET.replace("Host: x", "Host: u@x") + "\r\n",
    GET.replace(" HTTP/1.1", "") + "\r\n",
    GET.replace("HTTP/1.1", "HTTP/2.0") + "\r\n",
    GET.replace("GET /", "GET  /") + "\r\n",
    GET + ": x\r\n\r\n",
    CHUNKED + "\r\nzz\r\n\r\n",
    CHUNKED + "\r\n10000000000000005\r\nhello\r\n0\r\n\r\n",
    CHUNKED + "\r\n5\nhello\r\n0\r\n\r\n",
    CHUNKED + "\r\n5\r\nhelloX\r\n0\r\n\r\n",
    CHUNKED + "\r\n0\r\nContent-Length: 9\r\n\r\n",
    CHUNKED.replace("HTTP/1.1", "HTTP/1.0") + "\r\n0\r\n\r\n",
]


def test_what_two_readers_read_two_ways_is_refused_and_nothing_after_it_is_done(service, tenant, canary):
    inner = f"POST /monitors/{canary}/cancel HTTP/1.1\r\nHost: x\r\nx-api-key: {tenant.api_key}\r\nContent-Length: 0\r\n\r\n"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        sent = [(text.replace("KEY", tenant.api_key) + inner).encode("latin-1") for text in AMBIGUOUS]
        answers = list(pool.map(lambda data: exchange(service, data), sent))
    for text, answer in zip(AMBIGUOUS, answers):
        assert status_of(answer) in (400, 501, 505), (text, answer)
        assert len(re.findall(rb"HTTP/1\.1 \d", answer)) == 1, (text, answer)
    assert tenant.get(f"/monitors/{canary}")["status"] == "active"


# method, path, headers, body; the statuses that are right.
MALFORMED = [
    ("GET", "/monitors?limit=%zz", {}, None, {400, 422}),
    ("GET", "/monitors?limit=%00", {}, None, {400, 422}),
    ("GET", "/monitors?limit=%ff%fe", {}, None, {400, 422}),
    ("GET", "/monitors?limit=1&limit=2", {}, None, {200, 400, 422}),
    ("GET", "/monitors?limit=99999999999999999999", {}, None, {422}),
    ("GET", "/monitors?limit=-1", {}, None, {422}),
    ("GET", "/monitors?cursor=" + "A" * 3000, {}, None, {400}),
    ("GET", "/monitors?cursor=%27%3Bdrop%20table%20monitor", {}, None, {400}),
    ("GET", "/monitors/..%2f..%2fetc%2fpasswd", {}, None, {404}),
    ("GET", "/monitors/%00", {}, None, {404}),
    ("GET", "/monitors/00000000-0000-0000-0000-000000000000", {}, None, {404}),
    ("GET", "/monitors/for-run/%ff", {}, None, {200, 400, 404, 422}),
    ("GET", "//monitors", {}, None, {404}),
    ("GET", "/monitors/", {}, None, {404}),
    ("GET", "/Monitors", {}, None, {404}),
    ("GET", "/" + "a" * 15_000, {}, None, {404, 414, 431}),
    ("GET", "/monitors", {"X-Much": "y" * 40_000}, None, {431}),
    ("PUT", "/monitors", {}, b"{}", {405}),
    ("POST", "/monitors", {}, b"\xef\xbb\xbf{}", {400, 422}),
    ("POST", "/monitors", {}, b'{"name": NaN}', {400}),
    ("POST", "/monitors", {}, b'{"name": "\\ud800"}', {400, 422}),
    ("POST", "/monitors", {}, b'{"name": "\xed\xa0\x80"}', {400}),
    ("POST", "/monitors", {}, b'{"name": "a\x01"}', {400}),
    ("POST", "/monitors", {}, b'{"name": "x", "name": "y"}', {400, 422}),
    ("POST", "/monitors", {}, b'{"name": 1e999}', {400, 422}),
    ("POST", "/monitors", {}, b"{,}", {400}),
    ("POST", "/monitors", {}, b"{} x", {400}),
    ("POST", "/monitors", {}, b'{"a":' * 65 + b"1" + b"}" * 65, {400}),
    ("POST", "/monitors", {}, b"[" * 1_000_000, {400}),
    ("POST", "/monitors", {}, b"null", {400}),
    ("POST", "/monitors", {"Content-Encoding": "gzip"}, b"\x1f\x8b\x08\x00", {400, 415}),
    ("POST", "/monitors", {"Content-Type": "application/xml"}, b"<a/>", {415}),
    ("POST", "/monitors", {"Content-Type": "application/json; charset=utf-16"}, b"{}", {400, 415, 422}),
    ("POST", "/monitors", {"Idempotency-Key": ""}, b"{}", {422}),
    ("POST", "/monitors", {"Idempotency-Key": "k" * 256}, b"{}", {422}),
    ("POST", "/monitors", {"Idempotency-Key": "\u00e9" * 200}, b"{}", {400, 422}),  # Latin-1
    ("POST", "/monitors", {"Idempotency-Key": "\u00c3\u00a9" * 200}, b"{}", {400, 422}),  # UTF-8
    ("POST", "/storage/csv/upload", {"Content-Type": "multipart/form-data"}, b"--", {400, 415, 422}),
    ("POST", "/storage/csv/upload", {"Content-Type": "multipart/form-data; boundary=" + "b" * 300}, b"x", {400, 415, 422}),
    ("POST", "/storage/csv/upload", {"Content-Type": "text/csv"}, b"\x00\x00\x00", {400, 422}),
    ("POST", "/storage/csv/upload", {"Content-Type": "text/csv"}, b"", {400}),
]


def test_malformed_requests_are_refused_with_a_reason_and_never_a_500(service, tenant):
    for method, path, headers, body, right in MALFORMED:
        answer = call(method, service.api + path, raw=body, headers={"x-api-key": tenant.api_key, **headers})
        assert answer.status in right, (method, path[:80], headers, (body or b"")[:40], answer)
        if answer.status not in (200, 431):
            value = answer.json
            assert {"error", "message"} <= set(value) or value["detail"], answer
    assert service.is_ready()


def test_of_creates_with_one_key_at_two_processes_of_which_one_is_killed_one_takes_effect(binary, postgres, tmp_path):
    rounds, clients, chance = 6, 8, random.Random(13)
    with fresh_database(postgres) as database:
        processes = [Vedette(binary, database.url, tmp_path) for _ in range(2)]
        processes[0].migrate()
        for process in processes:
            process.start(roles="api,admin")
        tenant = processes[0].organisation()

        def create(number, name="M"):
            try:
                answer = call("POST", processes[number % 2].api + "/monitors", {**BODY, "name": name},
                              {"x-api-key": tenant.api_key, "Idempotency-Key": key})
                return answer if answer.status != 503 else None
            except OSError:
                return None  # killed in the middle

        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            for n in range(rounds):
                key = f"key {n}"
                asked = [pool.submit(create, c) for c in range(clients)]
                time.sleep(chance.uniform(0, 0.02))  # anywhere in the middle of it
                processes[n % 2].kill()
                answers = [a.result() for a in asked]
                processes[n % 2].start(roles="api,admin")

                def settled():
                    answer = create(chance.randrange(2))
                    return answer if answer and answer.status == 200 else None

                answers += [wait_until("the key to be free", settled), create(0), create(1)]
                made = {a.body for a in answers if a and a.status == 200}
                assert len(made) == 1, made
                assert {a.status for a in answers if a} <= {200, 409}
                assert create(0, "Other").status == 422
        assert database.value("SELECT count(*) FROM monitor") == rounds
        assert database.value("SELECT count(*) FROM monitor_row") == rounds * len(BODY["rows"])
        for process in processes:
            assert process.stop() == 0
