"""A million findings of one investigation, written by many while one reader pages through them."""

import http.client
import json
import re
import threading
import time
import urllib.parse

from clients import Connection, organisation
from figures import percentile
from machine import ROOT

WRITERS = 8
# Findings of a record, and of a page.
BATCH, PAGE = 100, 50
# How long a reader that has come to the present end waits before it asks again.
AGAIN_S = 0.005
SUBJECTS = 1_000


def statements():
    """Those of investigations, by name, with their parameters as psycopg2 has them: %(seq)s for @seq."""
    text = (ROOT / "store" / "queries" / "investigations.sql").read_text()
    found = {}
    for part in text.split("-- name: ")[1:]:
        name, _, statement = part.partition("\n")
        found[name.strip()] = re.sub(r"@(\w+)", r"%(\1)s", statement)
    return found


# What a record inserts, of about as many bytes as an answer of a name server makes. The number is its value, too, so that a
# reader sees by what it is given whether anything is missing.
INSERT = """
insert into finding (investigation_id, org_id, seq, id, kind, subject, predicate, object, confidence, evidence, sources,
                     provider, derived_from, block, part)
select i.id, i.org_id, seq, md5(i.id::text || seq)::uuid, 1,
  json_build_object('type', 'domain', 'value', 'host' || seq %% %(subjects)s || '.example'), 'dns_text',
  json_build_object('type', 'text', 'value', seq::text), null, 'TXT ' || repeat('x', 80) || seq,
  '["https://host.example/"]', 'dns', '{}', 0, %(writer)s
from investigation i, generate_series(%(first)s::bigint, %(last)s::bigint) seq where i.id = %(investigation)s
"""


class Writer(threading.Thread):
    """Takes the investigation's lock, numbers a batch, commits; until there are so many."""

    def __init__(self, connection, investigation, number, total, batch):
        super().__init__()
        connection.autocommit = False
        self.connection, self.investigation, self.number = connection, investigation, number
        self.total, self.batch, self.fault = total, batch, None

    def run(self):
        try:
            known, cursor = statements(), self.connection.cursor()
            while self._record(known, cursor):
                self.connection.commit()
            self.connection.rollback()
        except Exception as fault:  # noqa: BLE001: told by the caller's thread
            self.fault = fault
        finally:
            self.connection.close()

    def _record(self, known, cursor):
        cursor.execute(known["investigation_lock"], {"id": self.investigation})
        subjects, next_seq = cursor.fetchone()[4:6]
        last = min(self.total, next_seq + self.batch - 1)
        if last < next_seq:
            return False
        cursor.execute(INSERT, {"first": next_seq, "last": last, "investigation": self.investigation, "writer": self.number,
                                "subjects": SUBJECTS})
        cursor.execute(known["investigation_save"], {"job_id": self.investigation, "subjects": subjects, "next_seq": last + 1,
                                                    "budget_reached": False})
        return True


class Reader:
    """Pages from the beginning to `total`. Fails where a finding is skipped, repeated or out of order."""

    def __init__(self, service, key, investigation, total):
        self.service, self.key, self.total = service, key, total
        self.path = f"/v1/atlas/investigations/{investigation}/findings?limit={PAGE}"

    def read(self, writers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.service.api_port, timeout=60)
        seen, cursor, took, begin = 0, None, [], time.monotonic()
        while seen < self.total:
            at = time.monotonic()
            path = self.path + (f"&cursor={urllib.parse.quote(cursor)}" if cursor else "")
            connection.request("GET", path, headers={"x-api-key": self.key})
            answer = connection.getresponse()
            text = answer.read()
            spent = (time.monotonic() - at) * 1000
            assert answer.status == 200, f"{answer.status} {text[:300]!r}"
            page = json.loads(text)
            for item in page["items"]:
                seen += 1
                assert item["object"]["value"] == str(seen), f"{item['object']['value']} stands where {seen} was due"
            if page["items"]:
                took.append(spent)
            if page["next_cursor"] is None and seen < self.total:
                for writer in writers:
                    if writer.fault:
                        raise writer.fault
                time.sleep(AGAIN_S)
            cursor = page["resume_cursor"]
        spent = time.monotonic() - begin
        connection.close()
        few = max(1, len(took) // 100)
        return {"pages": len(took), "pages_per_s": len(took) / spent, "p50_ms": percentile(took, 0.5),
                "p99_ms": percentile(took, 0.99), "first_p50_ms": percentile(took[:few], 0.5),
                "last_p50_ms": percentile(took[-few:], 0.5), "last_p99_ms": percentile(took[-few:], 0.99)}


def measure(postgres, database, service, total):
    """Figures of the writing, of a reader beside it, and of one afterwards. No worker runs, so that the investigation is only
    what is written here."""
    key = organisation(service, "Bench")
    body = {"seeds": [{"type": "domain", "value": "host.example"}]}
    investigation = json.loads(Connection(service.api_port).post("/v1/atlas/investigations", key, body))["investigation_id"]
    writers = [Writer(postgres.connect(database), investigation, n, total, BATCH) for n in range(WRITERS)]
    reader, begin, written = Reader(service, key, investigation, total), time.monotonic(), []

    def all_written():
        for writer in writers:
            writer.join()
        written.append(time.monotonic() - begin)

    for writer in writers:
        writer.start()
    waiting = threading.Thread(target=all_written)
    waiting.start()
    beside = reader.read(writers)
    waiting.join()
    postgres.execute(database, "vacuum analyze finding")
    return {"findings": total, "writers": WRITERS, "written_s": written[0], "written_per_s": total / written[0],
            "beside": beside, "alone": reader.read()}
