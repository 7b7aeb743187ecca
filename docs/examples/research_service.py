#!/usr/bin/env python3
"""A research service for vedette's http probe, in Python's standard library alone.

It speaks the whole protocol (docs/probes.md): it checks the bearer token and the signature where it was
given them, answers a repeated Idempotency-Key with the same answer, and can answer 202 and be polled.
Its "research" is made up: values that depend on the row, the field and the time alone, so that a demo
shows changes and a test can predict them. Replace `research` by your own.

    python3 research_service.py --port 8090 [--token-file F] [--signing-secret-file F]
                                [--change-every SECONDS] [--delay SECONDS]
"""
import argparse
import hashlib
import hmac
import json
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 1 << 20
ANSWERS_KEPT_MAX = 10_000
SIGNATURE_TOLERANCE_SECONDS = 300


def research(check, change_every, now):
    """The values of the watched fields: {field: {value, evidence, sources, confidence}}.

    A field may be left out (not looked for) or have the value None (looked for, and not there).
    """
    period = int(now // change_every) if change_every else 0
    values = {}
    for field in check["watched"]:
        seed = json.dumps([check["subject"], field, period], sort_keys=True)
        number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") % 1000
        values[field] = {
            "value": f"{field} {number}",
            "evidence": f"Made up for period {period}.",
            "sources": ["https://example.com/research"],
            "confidence": 5,
        }
    return values


def signature_is_valid(secret, header, body, now):
    """Service-Signature: t=<unix>,v1=<hex>[,v1=<hex>], HMAC-SHA256 over "<t>." and the body."""
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    if len(times) != 1 or not times[0].isdigit():
        return False
    if abs(now - int(times[0])) > SIGNATURE_TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), times[0].encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(expected, value) for name, _, value in parts if name == "v1")


class Answers:
    """Answers by the id of their question, the oldest forgotten. Any thread."""

    def __init__(self, delay):
        self.delay = delay
        self.lock = threading.Lock()
        self.kept = OrderedDict()  # id -> (ready at, answer)

    def begin(self, question_id, make_answer):
        now = time.time()
        with self.lock:
            if question_id not in self.kept:
                self.kept[question_id] = (now + self.delay, make_answer(now))
                if len(self.kept) > ANSWERS_KEPT_MAX:
                    self.kept.popitem(last=False)
        return self.get(question_id)

    def get(self, question_id):
        """(seconds to wait, answer), or None for what nobody asked."""
        with self.lock:
            if question_id not in self.kept:
                return None
            ready_at, answer = self.kept[question_id]
            return max(0.0, ready_at - time.time()), answer


class Service(BaseHTTPRequestHandler):
    """The protocol of a service that is asked by POST: token, signature, Idempotency-Key, 202 and polling.

    A service of its own says what a question is called (`what`), which member of it is its id
    (`id_member`), which other members it needs and of which types (`members`), and its answer (`answer_to`).
    """

    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        body = self.read_body()
        if body is None or not self.authorised(body):
            return
        try:
            question = json.loads(body)
            members = {self.id_member: str, **self.members}
            well_formed = all(isinstance(question[name], kind) for name, kind in members.items())
        except (ValueError, KeyError, TypeError, RecursionError):
            well_formed = False
        if not well_formed:
            return self.answer(400, {"error": f"the body is not a {self.what}"})
        question_id = question[self.id_member]
        if self.headers.get("Idempotency-Key", question_id) != question_id:
            return self.answer(400, {"error": f"the Idempotency-Key is not the {self.id_member}"})
        found = self.server.answers.begin(question_id, lambda now: self.answer_to(question, now))
        self.answer_found(question_id, found)

    def do_GET(self):
        if not self.authorised(b""):
            return
        question_id = self.path.removeprefix(f"/{self.what}s/")
        found = self.server.answers.get(question_id)
        if found is None:
            return self.answer(404, {"error": f"no such {self.what}"})
        self.answer_found(question_id, found)

    def answer_found(self, question_id, found):
        wait, answer = found
        if wait > 0:
            headers = {"Location": f"/{self.what}s/{question_id}", "Retry-After": str(int(wait) + 1)}
            return self.answer(202, {"status": "running"}, headers)
        self.answer(200, answer)

    def read_body(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            self.close_connection = True
            self.answer(413 if length.isdigit() else 411, {"error": "no or too large a body"})
            return None
        return self.rfile.read(int(length))

    def authorised(self, body):
        options = self.server.options
        if options.token:
            given = self.headers.get("Authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {options.token}".encode()):
                self.answer(401, {"error": "a wrong or no bearer token"})
                return False
        if options.signing_secret:
            header = self.headers.get("Service-Signature", "")
            if not signature_is_valid(options.signing_secret, header, body, time.time()):
                self.answer(401, {"error": "a wrong or no Service-Signature"})
                return False
        return True

    def answer(self, status, value, headers=None):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):  # the signature is the base class's
        if not self.server.options.quiet:
            super().log_message(format, *args)


class ResearchService(Service):
    what = "check"
    id_member = "check_id"
    members = {"watched": dict, "subject": dict}

    def answer_to(self, question, now):
        return {"values": research(question, self.server.options.change_every, now)}


def read_secret(path):
    if not path:
        return ""
    with open(path, encoding="utf-8") as f:
        return f.read().strip()


class Server(ThreadingHTTPServer):
    # Connections that wait to be accepted. The default of 5 drops some of those that a worker opens at once.
    request_queue_size = 1024


def make_server(options, service=ResearchService):
    server = Server((options.host, options.port), service)
    server.options = options
    server.answers = Answers(options.delay)
    return server


def make_parser(description, port):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=port, help="0 picks a free one")
    parser.add_argument("--token-file", help="the bearer token to demand (api_key in vedette's configuration)")
    parser.add_argument("--signing-secret-file", help="the secret to verify Service-Signature with")
    parser.add_argument("--delay", type=float, default=0, metavar="SECONDS",
                        help="answer 202 until so much later")
    parser.add_argument("--quiet", action="store_true", help="no line for each request")
    return parser


def serve(parser, name, service):
    options = parser.parse_args()
    options.token = read_secret(options.token_file)
    options.signing_secret = read_secret(options.signing_secret_file)
    server = make_server(options, service)
    print(f"{name} on http://{options.host}:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


def main():
    parser = make_parser("A research service with made-up answers.", port=8090)
    parser.add_argument("--change-every", type=float, default=0, metavar="SECONDS",
                        help="values change with every period; 0: never")
    serve(parser, "research service", ResearchService)


if __name__ == "__main__":
    main()
