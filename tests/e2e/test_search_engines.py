"""Filters and counts, decided by others than the code that is tested: a strict _search of our own, with its faults; the
types of the published clients of OpenSearch and Elasticsearch; and the library mingo, which reads filters of documents."""

import json
import os
import subprocess
import uuid
from pathlib import Path

import pytest
from conftest import ROOT, Database, Vedette, call
from search_engine import FAULTS, ORG_FIELD, Index, SearchEngine
from testbed import npm_tools

PATH = "/search/filter-field-values"
# An OpenSearch or an Elasticsearch of a test's own, if somebody has one: http://127.0.0.1:9200.
REAL_ENGINE = "VEDETTE_TEST_OPENSEARCH_URL"
# Bodies whose parts are type-checked, and those of them that are type-checked whole.
BODIES = 10_000
WHOLE_BODIES = 200
# Batches of sixty filters, of which mingo can evaluate some.
SIMPLE_GROUPS = 320


@pytest.fixture(scope="module")
def cases(request):
    """cases(grammar, groups, each): the fields, and groups of documents with cases about them."""
    tool = Path(request.config.getoption("--build")) / "tests" / "support" / "search_cases"
    assert tool.exists(), f"{tool} is not built"

    def read(grammar, groups, each, seed=11):
        done = subprocess.run([tool, grammar, str(seed), str(groups), str(each)], capture_output=True, text=True, check=True)
        first, *rest = (json.loads(line) for line in done.stdout.strip().split("\n"))
        return first, rest
    return read


@pytest.fixture(scope="module")
def tools():
    """The folder with the npm tools' node_modules."""
    return npm_tools()


def text_of(bucket):
    """A bucket's key as answers list values."""
    key = bucket.get("key_as_string", bucket["key"])
    return key if isinstance(key, str) else str(int(key)) if key == int(key) else json.dumps(key)


@pytest.mark.parametrize("grammar", ["dsl", "simple"])
def test_a_body_counts_what_its_filter_means(cases, grammar):
    first, groups = cases(grammar, 20, 50)
    for group in groups:
        index = Index(first["fields"], group["documents"])
        for case in group["cases"]:
            answer = index.search(case["body"])
            aggregations = answer["aggregations"]
            values = aggregations.get("objects", aggregations)["values"]
            assert answer["hits"]["total"]["value"] == case["total"], case
            assert aggregations["missing"]["doc_count"] == case["missing"], case
            listed = {text_of(b): b.get("documents", b)["doc_count"] for b in values["buckets"]}
            assert listed.items() <= case["values"].items(), case
            assert len(listed) == min(case["values_max"], len(case["values"])), case
            left_out = [count for value, count in case["values"].items() if value not in listed]
            assert max(left_out, default=0) <= min(listed.values(), default=0), case


def names_under(filters, inside=False):
    """The operators of a simple filter, each with whether it is said of a field of the objects of a list."""
    for key, value in filters.items():
        nested = inside or key.startswith("jobs.")
        if key.startswith("$"):
            yield key, inside
        if value is None:
            yield "null", nested
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from names_under(part, nested)


def is_said_by_both(case):
    """Words are not among mingo's operators; and of the objects in a list it says that a field is missing where it is
    missing in one of them, while here it is missing where it is in none."""
    said = list(names_under(case["filter"]))
    words = {"$match", "$phrase", "$search"}
    return not any(name in words or nested and name in ("null", "$exists") for name, nested in said)


def test_mingo_and_the_evaluator_agree_on_simple_filters(cases, tools):
    _, groups = cases("simple", SIMPLE_GROUPS, 60)
    compared = 0
    for group in groups:
        group["cases"] = [case for case in group["cases"] if is_said_by_both(case)]
        compared += len(group["cases"])
    assert compared >= 10_000
    done = subprocess.run([f"{tools}/node_modules/.bin/node", ROOT / "tests/e2e/mingo_answers.mjs", tools], text=True,
                          input="".join(json.dumps(group) + "\n" for group in groups), capture_output=True)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(groups)
    wrong = [(case["filter"], case["matched"], matched) for group, answer in zip(groups, answers)
             for case, matched in zip(group["cases"], answer) if case["matched"] != matched]
    assert not wrong, f"{len(wrong)} of {compared}; the first: {wrong[0]}"


def without_field(value):
    """The body without the `field` of terms aggregations, which the types of OpenSearch's client 3.9 do not know."""
    body = json.loads(json.dumps(value))
    aggregations = body["aggs"]
    for holder in (aggregations, aggregations.get("objects", {}).get("aggs", {})):
        if "values" in holder:
            assert isinstance(holder["values"]["terms"].pop("field"), str)
    return body


CLIENTS = {
    "elasticsearch": ("SearchRequest", "@elastic/elasticsearch/lib/api/types", lambda body: body),
    "opensearch": ("Search_RequestBody", "@opensearch-project/opensearch/api/_core/search", without_field),
}
ANY_CLAUSE = {"match_all": {}}
CLAUSES = {"bool", "nested", "term", "terms", "range", "exists", "prefix", "match", "match_phrase"}


def of_its_type(value):
    """The same with one constant of each type; an operator is a word that the type names, and stays."""
    if isinstance(value, dict):
        return {key: inner if key == "operator" else of_its_type(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(of_its_type(inner)): of_its_type(inner) for inner in value}.values(), key=str)
    return True if isinstance(value, bool) else "a" if isinstance(value, str) else 1


def clauses_in(clause):
    """The clause and those within it, each alone: with any clause in the place of each that it holds, its field called f,
    and its constants replaced by others of their types."""
    [(kind, said)] = clause.items()
    if kind == "bool":
        inner = [one for part in said.values() if isinstance(part, list) for one in part]
        yield {kind: {name: [ANY_CLAUSE] if isinstance(part, list) else 1 for name, part in said.items()}}
    elif kind == "nested":
        inner = [said["query"]]
        yield {kind: {key: ANY_CLAUSE if key == "query" else of_its_type(part) for key, part in said.items()}}
    else:
        inner = []
        yield {kind: of_its_type(said) if kind == "exists" else {"f": of_its_type(what) for what in said.values()}}
    for one in inner:
        yield from clauses_in(one)


def aggregation_alone(aggregation, clauses):
    """The aggregation with any clause in the place of those that it filters by, which are added to `clauses`."""
    alone = {}
    for kind, said in aggregation.items():
        if kind == "aggs":
            alone[kind] = {name: aggregation_alone(inner, clauses) for name, inner in said.items()}
        elif kind == "filter":
            clauses.append(said)
            alone[kind] = ANY_CLAUSE
        else:
            alone[kind] = {key: inner if key == "order" else of_its_type(inner) for key, inner in said.items()}
    return alone


def parts_of(bodies):
    """Bodies that have all parts of these, each once. In the clients' types a clause has one type wherever it stands; so a
    body is of its type if it is with any clause in the place of its own, and if each of its clauses is, alone."""
    parts = {}
    for body in bodies:
        clauses = [body["query"]]
        alone = body | {"query": ANY_CLAUSE,
                        "aggs": {name: aggregation_alone(one, clauses) for name, one in body["aggs"].items()}}
        shapes = [alone] + [alone | {"query": part} for clause in clauses for part in clauses_in(clause)]
        parts |= {json.dumps(shape): shape for shape in shapes}
    return list(parts.values())


@pytest.fixture(scope="module")
def bodies(cases):
    _, groups = cases("dsl", 40, BODIES // 40)
    made = [case["body"] for group in groups for case in group["cases"]]
    assert len(made) == BODIES
    return made


@pytest.mark.parametrize("client", CLIENTS)
def test_bodies_are_of_the_types_of_the_published_clients(bodies, tools, tmp_path, client):
    """The compiler would take minutes for 10,000 bodies: it is given some of them whole, and the parts of all."""
    name, module, change = CLIENTS[client]
    parts = parts_of(bodies)
    assert {kind for part in parts for kind in part["query"]} >= CLAUSES
    assert len(parts) < BODIES // 10, "parts are to be few"
    (tmp_path / "node_modules").symlink_to(tools / "node_modules")
    # An unknown key of an object literal is an error; the last lines show that it is, also deep inside.
    lines = [f"import type {{ {name} as Body }} from '{module}';"]
    lines += [f"export const body{i}: Body = {json.dumps(change(body))};"
              for i, body in enumerate(bodies[:WHOLE_BODIES] + parts)]
    deep = {"nested": {"path": "p", "query": {"bool": {"filter": [{"bool": {"filters": []}}]}}}}
    for i, wrong in enumerate([{"sizes": 0}, {"query": {"bool": {"filters": []}}}, {"query": {"term": {"a": {"valeu": 1}}}},
                               {"query": {"bool": {"must_not": [deep]}}}]):
        lines += ["// @ts-expect-error", f"export const wrong{i}: Body = {json.dumps(wrong)};"]
    (tmp_path / "bodies.ts").write_text("\n".join(lines) + "\n")
    # The list of types is empty, so that those of other packages stay out; the command line takes no empty list.
    (tmp_path / "tsconfig.json").write_text(json.dumps({"files": ["bodies.ts"], "compilerOptions": {
        "noEmit": True, "strict": True, "skipLibCheck": True, "target": "es2022", "module": "commonjs",
        "moduleResolution": "node10", "types": []}}))
    done = subprocess.run([
        f"{tools}/node_modules/.bin/node", f"{tools}/node_modules/typescript/bin/tsc", "-p", "."],
        cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[:4000] + done.stderr[:4000]


class Counting:
    """A service that counts in a strict engine, and a tenant of it."""

    def __init__(self, binary, database, directory, cases):
        self.first, groups = cases("dsl", 1, 60)
        self.group = groups[0]
        fields = directory / "fields.json"
        fields.write_text(json.dumps({"people": {}, "company": self.first["fields"]}))
        self.service = Vedette(binary, database.url, directory, {
            "VEDETTE_SEARCH_BACKEND": "opensearch", "VEDETTE_SEARCH_FIELDS_FILE": str(fields),
            **self.begin(directory)}).migrate().start()
        self.tenant = self.service.organisation()
        self.fill(json.loads(json.dumps(self.group["documents"]).replace(self.first["org_id"], self.tenant.org_id)))

    def begin(self, directory):
        """The settings that name the engine."""
        self.engine = SearchEngine({}, "vedette", "a:password")
        (directory / "password").write_text("a:password\n")
        return {"VEDETTE_SEARCH_URL": self.engine.url + "/", "VEDETTE_SEARCH_USER": "vedette",
                "VEDETTE_SEARCH_PASSWORD_FILE": str(directory / "password")}

    def fill(self, documents):
        self.engine.indices["company"] = Index(self.first["fields"], documents)

    def ask(self, **body):
        return self.tenant.call("POST", PATH, body)

    def close(self):
        self.engine.close()
        assert self.service.stop() == 0, self.service.log()


class RealCounting(Counting):
    """The same in a real OpenSearch or Elasticsearch, which somebody runs without a password: an index of the test's own."""

    def begin(self, directory):
        self.url, self.index = os.environ[REAL_ENGINE].rstrip("/"), f"vedette-test-{uuid.uuid4().hex}"
        return {"VEDETTE_SEARCH_URL": self.url + "/", "VEDETTE_SEARCH_INDEX_COMPANY": self.index}

    def send(self, method, path, body, kind="application/json"):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        answer = call(method, f"{self.url}/{self.index}{path}", headers={"Content-Type": kind}, raw=data)
        assert answer.status in (200, 201), answer
        return answer.json

    def fill(self, documents):
        properties = {"org_id": {"type": "keyword"}}
        for name, field in self.first["fields"].items():
            path = field["nested_path"] or name.rpartition(".")[0]
            holder = properties
            if path:
                holder = properties.setdefault(path, {"properties": {}} | ({"type": "nested"} if field["nested_path"] else {}))
                holder = holder["properties"]
            said = {"type": "keyword" if field["type"] == "date" else field["type"]}
            if said["type"] == "text":
                said |= {"analyzer": "words", "fields": {"keyword": {"type": "keyword"}}}
            holder[name.removeprefix(path + ".")] = said
        # Words as docs/search.md has them.
        analysis = {"tokenizer": {"words": {"type": "pattern", "pattern": r"[^0-9A-Za-z\x{80}-\x{10ffff}]+"}},
                    "analyzer": {"words": {"type": "custom", "tokenizer": "words", "filter": ["lowercase"]}}}
        self.send("PUT", "", {"settings": {"number_of_shards": 1, "analysis": analysis},
                              "mappings": {"dynamic": False, "properties": properties}})
        lines = [line for document in documents for line in ({"index": {"_id": document["id"]}}, document)]
        done = self.send("POST", "/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines),
                         "application/x-ndjson")
        assert not done["errors"], done

    def close(self):
        self.send("DELETE", "", {})
        assert self.service.stop() == 0, self.service.log()


@pytest.fixture(scope="module")
def counting(binary, postgres, tmp_path_factory, cases):
    name = postgres.new_name()
    postgres.create(name)
    it = Counting(binary, Database(postgres, name), tmp_path_factory.mktemp("counting"), cases)
    yield it
    it.close()
    postgres.drop(name)


def check_counts(counting):
    for case in counting.group["cases"]:
        answer = counting.ask(field=case["field"], filters=case["filter"], top_k=case["values_max"])
        assert answer.status == 200, (answer, case)
        said = answer.json
        assert (said["total_scoped_documents"], said["missing_count"]) == (case["total"], case["missing"]), case
        listed = {value["value"]: value["count"] for value in said["values"]}
        assert listed.items() <= case["values"].items(), (said, case)
        assert len(listed) == min(case["values_max"], len(case["values"])), (said, case)
        assert [*listed.values()] == sorted(listed.values(), reverse=True)
        if not said["nested_path"]:
            assert said["other_count"] == sum(case["values"].values()) - sum(listed.values()), (said, case)
        assert said["approximate"] == bool(said["nested_path"] and said["other_count"]), said


def check_snippets(counting):
    for field in ("tag", "size", "open", "since", "jobs.grade", "jobs.months", "title"):
        for value in counting.ask(field=field, top_k=4).json["values"]:
            again = counting.ask(field="tag", filters=value["filter_snippet"]).json
            assert again["total_scoped_documents"] == value["count"], (field, value)


def test_g8_counts_come_from_the_engine_and_from_no_other_organisations_documents(counting):
    check_counts(counting)
    assert not counting.engine.refusals


def test_every_snippet_selects_what_was_counted(counting):
    check_snippets(counting)
    assert not counting.engine.refusals


def test_documents_are_left_out_and_a_text_of_words_alone_is_told(counting):
    whole = counting.ask(field="tag").json["total_scoped_documents"]
    shared = [one["id"] for one in counting.engine.indices["company"].documents if ORG_FIELD not in one][:3]
    assert shared
    made = counting.tenant.call("POST", "/search/exclusion-lists", {"name": "seen", "entity_type": "company"}).json
    path = f"/search/exclusion-lists/{made['id']}"
    assert counting.tenant.call("POST", path + "/entities", {"entity_ids": shared[1:]}).status == 200
    assert counting.tenant.call("POST", path + "/ready", {}).json["state"] == "ready"
    less = counting.ask(field="tag", exclude_entity_ids=shared[:1], exclusion_list_ids=[made["id"]]).json
    assert less["total_scoped_documents"] == whole - len(shared)
    told = counting.ask(field="note").json
    assert (told["supports_top_values"], told["values"], told["total_scoped_documents"]) == (False, [], whole), told
    assert not counting.engine.refusals


@pytest.mark.skipif(REAL_ENGINE not in os.environ, reason=f"{REAL_ENGINE} names no OpenSearch or Elasticsearch")
def test_a_real_engine_counts_the_same(binary, database, tmp_path, cases):
    real = RealCounting(binary, database, tmp_path, cases)
    try:
        check_counts(real)
        check_snippets(real)
    finally:
        real.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_engine_is_a_503_by_name_and_passes(counting, fault):
    engine = counting.engine
    before = engine.requests
    engine.fault = fault
    answer = counting.ask(field="tag")
    engine.fault = None
    code = "search_timeout" if fault in ("slow", "timed_out") else "search_upstream_error"
    assert (answer.status, answer.json["error"]) == (503, code), answer
    assert answer.headers["Retry-After"] == "5"
    # A connection that was kept and is reset may only have been too old: then curl asks once more on a new one.
    assert engine.requests - before <= (2 if fault == "reset" else 1), "nothing is repeated or redirected"
    assert "a:password" not in counting.service.log()
    assert counting.ask(field="tag").status == 200


def test_the_engine_is_among_the_series_of_providers(counting):
    counting.ask(field="tag")
    text = call("GET", counting.service.admin + "/metrics").body.decode()
    lines = [line for line in text.splitlines() if 'provider="search_engine"' in line and 'outcome="found"' in line]
    assert len(lines) == 1 and 'lookup="field_values"' in lines[0], text[-2000:]
    assert float(lines[0].split()[-1]) >= 1
