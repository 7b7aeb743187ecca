"""What the tests of the contract stand on: the document as the server renders it, prism before a live server, and that server."""

import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import MIGRATED, ROOT, Postgres, Vedette, call, fast_directory, free_port, wait_until
from testbed import npm_tools

RENDERED = tempfile.TemporaryDirectory(prefix="vedette-openapi-")
DOCUMENT = Path(RENDERED.name) / "openapi.json"
subprocess.run([sys.executable, ROOT / "api" / "render_openapi.py", ROOT / "api" / "openapi", DOCUMENT,
                Path(RENDERED.name) / "docs.html"], check=True)
BODY_BYTES_MAX = 65536


@pytest.fixture(scope="session")
def npm_tool():
    """The command line of a tool of tests/npm."""
    tools = npm_tools() / "node_modules" / ".bin"
    return lambda name, *arguments: [f"{tools}/node", f"{tools}/{name}", *map(str, arguments)]


class Prism:
    """A validating proxy before the API. What breaks the document it answers itself, with a problem."""

    def __init__(self, npm_tool, log, upstream, *options):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                npm_tool("prism", "proxy", DOCUMENT, upstream, "--errors", "--port", port, *options),
                stdout=out, stderr=out, start_new_session=True)
        try:
            wait_until("prism", lambda: self._listens(port, log))
        except BaseException:
            self.close()
            raise

    def _listens(self, port, log):
        assert self.process.poll() is None, log.read_text()
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    def call(self, method, path, body=None, headers=None, raw=None):
        answer = call(method, self.url + path, body, headers, raw)
        violations = answer.headers.get("sl-violations")
        problem = "problem+json" in answer.headers.get("Content-Type", "")
        assert not violations and not problem, f"{method} {path}: {violations} {answer.body.decode()}"
        return answer

    def close(self):
        self.process.terminate()
        self.process.wait(10)


@pytest.fixture
def prism(npm_tool, tmp_path):
    started = []

    def start(service, *options):
        started.append(Prism(npm_tool, tmp_path / f"prism{len(started)}.log", service.api, *options))
        return started[-1]

    yield start
    for proxy in started:
        proxy.close()


@pytest.fixture
def strict(binary, cluster, tmp_path):
    """A service with its defaults where they matter here, on a PostgreSQL that the test may stop."""
    postgres = Postgres(under=fast_directory()).copy_from(cluster).keep_connections()
    try:
        postgres.start()
        service = Vedette(binary, postgres.url(MIGRATED), tmp_path, {
            "VEDETTE_LIMITS_REQUESTS_PER_MINUTE": "100000", "VEDETTE_DASHBOARD_ENABLED": "true",
            "VEDETTE_API_BODY_BYTES_MAX": str(BODY_BYTES_MAX),
            "VEDETTE_PROBES_MEDIUM_KIND": "http", "VEDETTE_PROBES_MEDIUM_URL": "http://127.0.0.1:1/",
        }).start()
        service.postgres = postgres
        service.sql = lambda statement, parameters=None: postgres.execute(MIGRATED, statement, parameters)
        yield service
        service.process.kill()
        service.process.wait(10)
    finally:
        postgres.close()


def inlined(schema, name, is_alternative=False):
    """What stands in a schema without a name of its own: the name that generators make of its place, and whether it is, or is in,
    one of several alternatives, which they read twice."""
    is_alternative |= isinstance(schema.get("type"), list)
    places = [(child, name + "".join(word.capitalize() for word in key.split("_")), False)
              for key, child in schema.get("properties", {}).items()]
    places += [(schema[key], name + end, False) for key, end in (("items", "Item"), ("additionalProperties", "AdditionalProperty"))
               if isinstance(schema.get(key), dict)]
    places += [(child, f"{name}Type{n}", True) for key in ("anyOf", "oneOf") for n, child in enumerate(schema.get(key, []))]
    for child, its_name, chosen in places:
        if "$ref" in child:
            continue
        if {"enum", "properties"} & set(child) or isinstance(child.get("additionalProperties"), dict):
            yield its_name, is_alternative or chosen
        yield from inlined(child, its_name, is_alternative or chosen)
    for part in schema.get("allOf", []):
        yield from inlined(part, name, is_alternative)


def operations():
    """{operationId: (METHOD, path, operation)} of those that need a key."""
    document = json.loads(DOCUMENT.read_text())
    return {operation["operationId"]: (method.upper(), path, operation)
            for path, item in document["paths"].items() for method, operation in item.items()
            if method != "parameters" and operation.get("security") != []}
