#!/usr/bin/python3
"""The example research service keeps the protocol of docs/probes.md.

Usage: research_service_test.py EXAMPLES_DIR
"""
import argparse
import hashlib
import hmac
import json
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path[:0] = [sys.argv.pop(1), str(Path(__file__).resolve().parents[3] / "support")]
sys.dont_write_bytecode = True
import research_service  # noqa: E402
from example_services import ServiceTest  # noqa: E402

CHECK = {"check_id": "c-1", "subject": {"domain": "x"}, "watched": {"size": "staff", "city": "seat"}}


class Service(ServiceTest):
    def start(self, **options):
        defaults = {"host": "127.0.0.1", "port": 0, "token": "", "signing_secret": "", "delay": 0,
                    "change_every": 0, "quiet": True}
        server = research_service.make_server(argparse.Namespace(**{**defaults, **options}))
        self.serve(server)

    def post(self, check=None, headers=None):
        return self.ask("POST", "/", json.dumps(CHECK if check is None else check), headers)

    def test_it_needs_the_standard_library_alone(self):
        done = subprocess.run([sys.executable, "-I", "-S", research_service.__file__, "--help"], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_watched_field_has_an_object_with_a_scalar(self):
        self.start()
        status, _, answer = self.post(headers={"Idempotency-Key": "c-1"})
        self.assertEqual(status, 200)
        self.assertEqual(set(answer["values"]), {"size", "city"})
        for entry in answer["values"].values():
            self.assertIsInstance(entry["value"], str)

    def test_answers_are_the_same_for_the_same_key_and_row(self):
        self.start()
        first = self.post()
        self.assertEqual(first[2], self.post()[2])
        self.assertEqual(first[2], self.post({**CHECK, "check_id": "c-2"})[2])
        self.assertNotEqual(first[2], self.post({**CHECK, "check_id": "c-3", "subject": {}})[2])

    def test_a_delayed_answer_is_polled(self):
        self.start(delay=0.2)
        status, headers, _ = self.post()
        self.assertEqual(status, 202)
        self.assertTrue(headers["Retry-After"].isdigit())
        deadline = time.monotonic() + 30
        while status == 202 and time.monotonic() < deadline:
            status, _, answer = self.ask("GET", headers["Location"])
        self.assertEqual(status, 200)
        self.assertIn("size", answer["values"])
        self.assertEqual(self.ask("GET", "/checks/unknown")[0], 404)

    def test_token_and_signature_are_demanded(self):
        self.start(token="t-1", signing_secret="s-1")
        body = json.dumps(CHECK)

        def signed(secret, at):
            v1 = hmac.new(secret, f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
            return {"Authorization": "Bearer t-1", "Service-Signature": f"t={at},v1={v1}"}

        now = int(time.time())
        self.assertEqual(self.ask("POST", "/", body, signed(b"s-1", now))[0], 200)
        self.assertEqual(self.ask("POST", "/", body, signed(b"s-2", now))[0], 401)
        self.assertEqual(self.ask("POST", "/", body, signed(b"s-1", now - 1000))[0], 401)
        wrong = {**signed(b"s-1", now), "Authorization": "Bearer t-2"}
        self.assertEqual(self.ask("POST", "/", body, wrong)[0], 401)
        self.assertEqual(self.ask("POST", "/", body)[0], 401)

    def test_what_is_no_check_is_refused(self):
        self.start()
        for body in ["", "[]", "5", "{}", '{"check_id": 1}', "[" * 100000, "\xff"]:
            self.assertEqual(self.ask("POST", "/", body.encode("latin-1"))[0], 400, body[:20])
        self.assertEqual(self.post(headers={"Idempotency-Key": "other"})[0], 400)


if __name__ == "__main__":
    unittest.main()
