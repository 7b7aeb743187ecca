"""A strict _search, as OpenSearch and Elasticsearch have it: takes exactly the bodies that docs/search.md describes, and
refuses anything else with a 400. It evaluates them over documents in memory, with a rule of its own; and it has faults."""

import base64
import http.server
import json
import re
import socket
import struct
import threading
from urllib.parse import parse_qs, urlsplit

from servers import QuietHandler

ORG_FIELD = "org_id"
ANSWER_BYTES = 64 << 20  # of the answer that is too long


class Refused(Exception):
    """What a real one answers with a 400."""


def only(given, required, optional=()):
    if not isinstance(given, dict) or not set(required) <= set(given) <= {*required, *optional}:
        raise Refused(f"expected {sorted(required)}, got {json.dumps(given)[:200]}")
    return given


def one(given):
    if not isinstance(given, dict) or len(given) != 1:
        raise Refused(f"expected one member, got {json.dumps(given)[:200]}")
    return next(iter(given.items()))


def lower(text):
    return "".join(c.lower() if c.isascii() else c for c in text)


def words(text):
    return re.findall("[0-9a-z\u0080-\U0010ffff]+", lower(text))


def items(value):
    return value if isinstance(value, list) else [value]


def is_of(type_name, value):
    if type_name in ("long", "double"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, bool if type_name == "boolean" else str)


class Index:
    """Documents under a mapping: {name: {type, nested_path, aggregation_field}}."""

    def __init__(self, fields, documents):
        self.documents = documents
        self.fields = {name: {"name": name, **field} for name, field in fields.items()}
        self.fields[ORG_FIELD] = {"name": ORG_FIELD, "type": "keyword", "nested_path": "", "aggregation_field": ORG_FIELD}
        self.exact = {f["aggregation_field"]: f for f in self.fields.values() if f["aggregation_field"]}

    def field(self, table, name, path):
        field = table.get(name)
        if field is None or field["nested_path"] != path:
            raise Refused(f"no field {name} in {path or 'the document'}")
        return field

    def values(self, field, scope):
        """The field's values in a document, or in an object of its nested path."""
        found = [scope]
        path = field["nested_path"]
        for key in (field["name"][len(path) + 1:] if path else field["name"]).split("."):
            found = [v[key] for at in found for v in items(at) if isinstance(v, dict) and key in v]
        return [v for value in found for v in items(value) if is_of(field["type"], v)]

    def objects(self, path, document):
        return [o for o in items(document.get(path, [])) if isinstance(o, dict)]

    def any(self, table, name, path, holds):
        field = self.field(table, name, path)
        return lambda scope: any(holds(v) for v in self.values(field, scope))

    def clause(self, given, path=""):
        """A condition of a document, or of an object at the path."""
        kind, body = one(given)
        read = getattr(self, f"clause_{kind}", None)
        if read is None:
            raise Refused(f"unknown query [{kind}]")
        return read(body, path)

    def clause_match_all(self, body, path):
        only(body, ())
        return lambda scope: True

    def clause_bool(self, body, path):
        only(body, (), ("filter", "should", "must_not", "minimum_should_match"))
        if ("should" in body) != ("minimum_should_match" in body) or body.get("minimum_should_match", 1) != 1:
            raise Refused("should and minimum_should_match go together")
        if not body or not all(isinstance(body.get(key, []), list) for key in ("filter", "should", "must_not")):
            raise Refused("a bool has lists")
        every, some, none = ([self.clause(c, path) for c in body.get(key, [])] for key in ("filter", "should", "must_not"))
        return lambda scope: (all(c(scope) for c in every) and not any(c(scope) for c in none)
                              and ("should" not in body or any(c(scope) for c in some)))

    def clause_ids(self, body, path):
        values = only(body, ("values",))["values"]
        if path or not isinstance(values, list):
            raise Refused("ids are a list, of documents")
        return lambda document: document["id"] in values

    def clause_nested(self, body, path):
        only(body, ("path", "query"))
        if path:
            raise Refused("nested in nested")
        inner = self.clause(body["query"], body["path"])
        return lambda scope: any(inner(o) for o in self.objects(body["path"], scope))

    def clause_term(self, body, path):
        name, said = one(body)
        value = only(said, ("value",))["value"]
        return self.any(self.exact, name, path, lambda v: type(v) is type(value) and v == value
                        or not isinstance(v, (str, bool)) and not isinstance(value, (str, bool)) and v == value)

    def clause_terms(self, body, path):
        name, values = one(body)
        if not isinstance(values, list):
            raise Refused("terms is a list")
        return self.any(self.exact, name, path, lambda v: v in values)

    def clause_range(self, body, path):
        name, bounds = one(body)
        only(bounds, (), ("gt", "gte", "lt", "lte"))
        return self.any(self.exact, name, path, lambda v: (
            ("gt" not in bounds or v > bounds["gt"]) and ("gte" not in bounds or v >= bounds["gte"])
            and ("lt" not in bounds or v < bounds["lt"]) and ("lte" not in bounds or v <= bounds["lte"])))

    def clause_exists(self, body, path):
        return self.any(self.fields, only(body, ("field",))["field"], path, lambda v: True)

    def clause_prefix(self, body, path):
        name, said = one(body)
        text = only(said, ("value",))["value"]
        return self.any(self.exact, name, path, lambda v: v.startswith(text))

    def clause_match(self, body, path):
        name, said = one(body)
        if only(said, ("query", "operator"))["operator"] != "or" or not words(said["query"]):
            raise Refused("match is about one of some words")
        return self.any(self.fields, name, path, lambda v: not set(words(v)).isdisjoint(words(said["query"])))

    def clause_match_phrase(self, body, path):
        name, said = one(body)
        phrase = words(only(said, ("query",))["query"])
        return self.any(self.fields, name, path, lambda v: any(
            words(v)[i:i + len(phrase)] == phrase for i in range(len(words(v)))))

    def terms(self, given, path, documents):
        """The answer to a terms aggregation; of a nested field each bucket has its documents beside its objects."""
        only(given, ("terms", "aggs") if path else ("terms",))
        if path and given["aggs"] != {"documents": {"reverse_nested": {}}}:
            raise Refused("documents are counted by reverse_nested")
        asked = only(given["terms"], ("field", "size", "order"))
        if asked["order"] != [{"documents" if path else "_count": "desc"}, {"_key": "asc"}]:
            raise Refused("another order")
        field = self.field(self.exact, asked["field"], path)
        counts = {}
        for document in documents:
            seen = set()
            for scope in self.objects(path, document) if path else [document]:
                for value in set(self.values(field, scope)):
                    count = counts.setdefault(value, [0, 0])
                    count[0] += 1
                    count[1] += value not in seen
                    seen.add(value)
        ordered = sorted(counts.items(), key=lambda item: (-item[1][1], item[0]))
        return {"doc_count_error_upper_bound": 0,
                "sum_other_doc_count": sum(count[0] for _, count in ordered[asked["size"]:]),
                "buckets": [self.bucket(field, value, count, path) for value, count in ordered[:asked["size"]]]}

    def bucket(self, field, value, count, path):
        bucket = {"key": value, "doc_count": count[0]}
        if field["type"] in ("boolean", "date"):
            bucket |= {"key": 1 if value is True else 0, "key_as_string": str(value).lower() if value in (True, False) else value}
        if field["type"] == "double":
            bucket["key"] = float(value)
        if path:
            bucket["documents"] = {"doc_count": count[1]}
        return bucket

    def search(self, body):
        only(body, ("size", "track_total_hits", "query", "aggs"))
        if body["size"] != 0 or body["track_total_hits"] is not True:
            raise Refused("documents are counted, and not listed")
        holds = self.clause(body["query"])
        found = [d for d in self.documents if holds(d)]
        aggs = only(body["aggs"], ("missing",), ("values", "objects"))
        missing = self.clause(only(aggs["missing"], ("filter",))["filter"])
        answers = {"missing": {"doc_count": sum(missing(d) for d in found)}}
        if "objects" in aggs:
            path = only(only(aggs["objects"], ("nested", "aggs"))["nested"], ("path",))["path"]
            inner = only(aggs["objects"]["aggs"], ("values",))["values"]
            answers["objects"] = {"doc_count": sum(len(self.objects(path, d)) for d in found),
                                  "values": self.terms(inner, path, found)}
        elif "values" in aggs:
            answers["values"] = self.terms(aggs["values"], "", found)
        return {"took": 1, "timed_out": False, "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
                "hits": {"total": {"value": len(found), "relation": "eq"}, "max_score": None, "hits": []},
                "aggregations": answers}


def spoil(fault, answer):
    """The bytes of a 200 that no counts can be taken from."""
    text = json.dumps(answer).encode()
    if fault == "timed_out":
        answer["timed_out"] = True
    elif fault == "shards_failed":
        answer["_shards"] |= {"successful": 1, "failed": 1}
    elif fault == "lower_bound":
        answer["hits"]["total"]["relation"] = "gte"
    elif fault == "no_aggregations":
        del answer["aggregations"]
    elif fault == "negative":
        answer["aggregations"]["missing"]["doc_count"] = -1
    elif fault == "too_many_buckets":
        answer["aggregations"]["values"]["buckets"] = [{"key": str(i), "doc_count": 1} for i in range(101)]
    else:
        return {"no_json": b"<html>busy</html>", "cut_json": text[:-20], "deep": b"[" * 100_000, "empty": b"",
                "no_utf8": text.replace(b'"took"', b'"\xff"')}[fault]
    return json.dumps(answer).encode()


SPOILT = ["timed_out", "shards_failed", "lower_bound", "no_aggregations", "negative", "too_many_buckets", "no_json",
          "cut_json", "deep", "empty", "no_utf8"]
STATUSES = {"redirect": 302, "unauthorized": 401, "too_many_requests": 429, "internal": 500, "unavailable": 503}
BROKEN = ["reset", "truncated", "huge", "slow"]
FAULTS = SPOILT + list(STATUSES) + BROKEN


class SearchEngine:
    """`indices`: by name. `fault`: what happens to every request while it is set."""

    def __init__(self, indices, user, password):
        self.indices, self.fault = indices, None
        self.requests, self.refusals = 0, []
        self.go_on = threading.Event()  # ends what is slow
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        engine = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                engine.requests += 1
                body = self.rfile.read(int(self.headers["Content-Length"]))
                fault = engine.fault
                if fault in STATUSES:
                    return self.answer(STATUSES[fault], b'{"error": {"type": "a_fault"}}', **{
                        "Location": engine.url + "/company/_search", "Retry-After": "1"})
                try:
                    answer = self.answer_to(body)
                except Refused as why:
                    engine.refusals.append(str(why))
                    return self.answer(400, json.dumps({"error": {"reason": str(why)}, "status": 400}).encode())
                if fault in BROKEN:
                    return getattr(self, fault)(json.dumps(answer).encode())
                self.answer(200, spoil(fault, answer) if fault else json.dumps(answer).encode())

            do_GET = do_POST  # of a redirect that is followed, with its method changed

            def answer_to(self, body):
                url = urlsplit(self.path)
                index, _, route = url.path.strip("/").partition("/")
                if route != "_search" or index not in engine.indices or self.command != "POST":
                    raise Refused(f"{self.command} {self.path}")
                if set(parse_qs(url.query)) != {"timeout"} or not re.fullmatch(r"timeout=[1-9]\d*ms", url.query):
                    raise Refused(f"parameters {url.query}")
                if self.headers["Authorization"] != f"Basic {token}" or self.headers["Content-Type"] != "application/json":
                    raise Refused("headers")
                return engine.indices[index].search(json.loads(body))

            def answer(self, status, body, **headers):
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": len(body), **headers}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(body)

            def reset(self, _):
                self.close_connection = True
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()

            def truncated(self, text):
                self.close_connection = True
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text[:len(text) // 2])

            def huge(self, text):
                self.close_connection = True
                self.send_response(200)
                self.send_header("Content-Length", str(ANSWER_BYTES + len(text)))
                self.end_headers()
                try:
                    for _ in range(ANSWER_BYTES >> 16):
                        self.wfile.write(b" " * (1 << 16))
                    self.wfile.write(text)
                except OSError:
                    pass  # nobody reads on

            def slow(self, text):
                engine.go_on.wait(60)
                try:
                    self.answer(200, text)
                except OSError:
                    self.close_connection = True

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a connection that was reset on purpose

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.go_on.set()
        self.server.shutdown()
        self.server.server_close()
