"""Clients of the API over connections that they keep: some that ask as fast as they are answered, some at a given rate."""

import http.client
import itertools
import json
import queue
import re
import selectors
import socket
import threading
import time
import urllib.request

from machine import ADMIN_TOKEN

LENGTH = re.compile(rb"\r\nContent-Length: (\d+)", re.IGNORECASE)


class Connection:
    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path, key, body):
        self.http.request("POST", path, json.dumps(body), {"x-api-key": key, "Content-Type": "application/json"})
        answer = self.http.getresponse()
        text = answer.read()
        assert answer.status == 200, f"{path}: {answer.status} {text[:300]!r}"
        return text


def operate(service, path, body):
    """Asks the operator's port of a process."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{service.admin_port}{path}", data=json.dumps(body).encode(), method="POST",
        headers={"Authorization": f"Bearer {ADMIN_TOKEN}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def organisation(service, name, credits=1_000_000_000):
    """A new organisation with as many credits; a key of it."""
    org = operate(service, "/admin/v1/orgs", {"name": name, "features": ["monitors"]})["id"]
    operate(service, f"/admin/v1/orgs/{org}/credits", {"amount": credits, "reason": "bench"})
    return operate(service, f"/admin/v1/orgs/{org}/api-keys", {"name": "bench"})["key"]


def run_all(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Exchange:
    """A connection over which one request after the other is sent and answered, by who watches it: a thread and a client library
    a connection would take from the processors what is to be measured."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.answer = b""

    @staticmethod
    def text_of(path, key, body):
        text = json.dumps(body).encode()
        head = (f"POST {path} HTTP/1.1\r\nHost: bench\r\nx-api-key: {key}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(text)}\r\n\r\n")
        return head.encode() + text

    def send(self, text):
        self.answer = b""
        self.socket.sendall(text)

    def read(self):
        """What has come; whether the answer is whole. Fails where it is not a 200."""
        more = self.socket.recv(1 << 16)
        assert more, "the connection was closed"
        self.answer += more
        head, end, body = self.answer.partition(b"\r\n\r\n")
        if not end:
            return False
        assert head.startswith(b"HTTP/1.1 200 "), self.answer[:300]
        length = LENGTH.search(head)
        assert length, head
        return len(body) >= int(length[1])


def as_fast_as_answered(port, connections, requests):
    """Posts each (path, key, body) once. Fails where one is not answered by a 200."""
    left = iter([Exchange.text_of(*request) for request in requests])
    with selectors.DefaultSelector() as selector:
        under_way = 0
        for text in itertools.islice(left, connections):
            exchange = Exchange(port)
            exchange.send(text)
            selector.register(exchange.socket, selectors.EVENT_READ, exchange)
            under_way += 1
        while under_way:
            ready = selector.select(60)
            assert ready, "nothing was answered for a minute"
            for key, _ in ready:
                exchange = key.data
                if not exchange.read():
                    continue
                text = next(left, None)
                if text is None:
                    selector.unregister(exchange.socket)
                    exchange.socket.close()
                    under_way -= 1
                else:
                    exchange.send(text)


def at_a_rate(port, connections, requests, per_s, answered=None):
    """Posts each at its time, and returns how many ms each took from that time on: a late start counts. `answered` is told
    of each when it was due, by the wall clock, and what the answer was."""
    due, took, faults = queue.Queue(), [], []
    begin = time.monotonic() + 0.2
    for n, request in enumerate(requests):
        due.put((begin + n / per_s, request))

    def work():
        connection = Connection(port)
        try:
            while True:
                at, request = due.get_nowait()
                time.sleep(max(0.0, at - time.monotonic()))
                text = connection.post(*request)
                took.append((time.monotonic() - at) * 1000)
                if answered:
                    answered(time.time() - (time.monotonic() - at), text)
        except queue.Empty:
            return
        except Exception as fault:  # noqa: BLE001: told by the caller's thread
            faults.append(fault)

    run_all([threading.Thread(target=work) for _ in range(connections)])
    if faults:
        raise faults[0]
    return took
