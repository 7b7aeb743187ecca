#!/usr/bin/python3
"""The example lookup service keeps the protocol of docs/providers.md.

Usage: lookup_service_test.py EXAMPLES_DIR
"""
import argparse
import json
import subprocess
import sys
import time
import unittest
from pathlib import Path

EXAMPLES = sys.argv.pop(1)
sys.path[:0] = [EXAMPLES, str(Path(__file__).resolve().parents[3] / "support")]
sys.dont_write_bytecode = True
import lookup_service  # noqa: E402
import research_service  # noqa: E402
from example_services import ServiceTest  # noqa: E402

SCHEMA = json.loads((Path(EXAMPLES).parent / "lookup.schema.json").read_text())["$defs"]
PERSON = dict.fromkeys(SCHEMA["person"]["properties"])
LOOKUP = {"lookup": "find_email", "row_id": "r-1", "task_id": "t-1", "mode": "PROFESSIONAL",
          "person": {**PERSON, "name": "Ann O'Neil", "domain": "acme.com"}, "verify": True, "timeout_ms": 1000}


class Service(ServiceTest):
    def start(self, **options):
        defaults = {"host": "127.0.0.1", "port": 0, "token": "", "signing_secret": "", "delay": 0, "quiet": True}
        server = research_service.make_server(argparse.Namespace(**{**defaults, **options}),
                                              lookup_service.LookupService)
        self.serve(server)

    def post(self, lookup=LOOKUP, headers=None):
        return self.ask("POST", "/", json.dumps(lookup), headers)

    def test_it_needs_the_standard_library_alone(self):
        done = subprocess.run([sys.executable, "-I", "-S", lookup_service.__file__, "--help"], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_it_is_asked_here_is_what_the_schema_says(self):
        lookup = SCHEMA["lookup"]
        self.assertEqual(set(LOOKUP), {*lookup["required"], *lookup["else"]["required"]})

    def test_a_candidate_has_the_members_of_the_schema_alone(self):
        self.start()
        status, _, answer = self.post(headers={"Idempotency-Key": "r-1"})
        self.assertEqual(status, 200)
        [candidate] = answer["candidates"]
        self.assertEqual(candidate["email"], "ann.o.neil@acme.com")
        self.assertLessEqual(set(candidate), set(SCHEMA["candidate"]["properties"]))

    def test_without_a_name_or_a_domain_it_finds_nothing(self):
        self.start()
        for row_id, person in [("r-2", PERSON), ("r-3", {**PERSON, "name": "Ann"})]:
            self.assertEqual(self.post({**LOOKUP, "row_id": row_id, "person": person})[2], {"candidates": []})

    def test_a_question_that_is_repeated_has_the_answer_of_the_first_time(self):
        self.start()
        first = self.post()
        self.assertEqual(first[2], self.post({**LOOKUP, "person": PERSON})[2])

    def test_a_delayed_answer_is_polled(self):
        self.start(delay=0.2)
        status, headers, _ = self.post()
        self.assertEqual(status, 202)
        deadline = time.monotonic() + 30
        while status == 202 and time.monotonic() < deadline:
            status, _, answer = self.ask("GET", headers["Location"])
        self.assertEqual(status, 200)
        self.assertEqual(len(answer["candidates"]), 1)

    def test_a_token_is_demanded(self):
        self.start(token="t-1")
        self.assertEqual(self.post()[0], 401)
        self.assertEqual(self.post(headers={"Authorization": "Bearer t-1"})[0], 200)

    def test_what_is_no_lookup_is_refused(self):
        self.start()
        for body in ["", "[]", "{}", '{"row_id": 1}', json.dumps({**LOOKUP, "person": []})]:
            self.assertEqual(self.ask("POST", "/", body)[0], 400, body)
        self.assertEqual(self.post(headers={"Idempotency-Key": "other"})[0], 400)


if __name__ == "__main__":
    unittest.main()
