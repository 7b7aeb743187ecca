"""Generated clients, from the document as a live service serves it, which talk to the service. TypeScript: openapi-typescript,
hey-api and orval with their default settings, each under a client that the TypeScript compiler checks strictly. Python: OpenAPI
Generator makes a package, and every file of it compiles (docs/decisions/0037-a-generated-client-for-python.md)."""

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT, call
from testbed import npm_tools

CLIENTS = ROOT / "tests/e2e/generated_clients"
STRICT = {"strict": True, "target": "es2022", "skipLibCheck": True, "types": [], "lib": ["es2022", "dom", "dom.iterable"]}
# What Node.js runs as TypeScript, and what a compiler makes JavaScript of generated files that name each other without an ending.
AS_IT_IS = {**STRICT, "noEmit": True, "module": "nodenext", "moduleResolution": "nodenext", "allowImportingTsExtensions": True}
COMPILED = {**STRICT, "outDir": "out", "module": "commonjs", "moduleResolution": "node10"}


@pytest.fixture
def workshop(tmp_path):
    """A package of a customer's, in which the tools are installed."""
    (tmp_path / "node_modules").symlink_to(npm_tools() / "node_modules")
    return tmp_path


def write_client(workshop, client, kind, options):
    (workshop / "package.json").write_text(json.dumps({"name": "customer", "private": True, "type": kind}))
    (workshop / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["client.ts"]}))
    (workshop / "client.ts").write_text((CLIENTS / client).read_text())


def run(workshop, *command):
    tools = workshop / "node_modules/.bin"
    done = subprocess.run([tools / "node", *command], capture_output=True, text=True, timeout=120, cwd=workshop)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def tool(workshop, name, *arguments):
    return run(workshop, f"node_modules/.bin/{name}", *arguments)


def serve_document(vedette, workshop):
    document = call("GET", vedette.api + "/openapi.json")
    assert document.status == 200
    (workshop / "openapi.json").write_bytes(document.body)
    return json.loads(document.body)


def makes_a_round_trip(tenant, seen):
    assert seen["rows"] == [{"sku": "a"}, {"sku": "b"}, {"sku": "c"}]
    assert tenant.get(f"/monitors/{seen['id']}")["name"] == seen["name"] == "Pages, renamed"
    assert 0 < seen["credits"] <= 50
    assert seen["status"] == 404 and set(seen["error"]) >= {"error", "message"}


def watches_and_runs(tenant, seen):
    makes_a_round_trip(tenant, seen)
    assert seen["team"] == "sales", "an open object is more than an empty one"
    assert seen["events"] == ["error"] * 3, "the rows name no page"
    assert (seen["run"], seen["files"]) == ("completed", [1])


def test_a_client_of_openapi_typescript_compiles_watches_and_runs(vedette, workshop):
    serve_document(vedette, workshop)
    write_client(workshop, "openapi_typescript.ts", "module", AS_IT_IS)
    tool(workshop, "openapi-typescript", "openapi.json", "-o", "schema.ts")
    # What takes nothing is the body of operations that have none, and what the document has none of.
    assert [line for line in (workshop / "schema.ts").read_text().splitlines() if line.endswith("Record<string, never>;")
            and not line.strip().startswith(("export type ", '"application/json": '))] == []
    tool(workshop, "tsc", "-p", ".")
    tenant = vedette.organisation(50)
    watches_and_runs(tenant, json.loads(run(workshop, "client.ts", vedette.api, tenant.api_key).splitlines()[-1]))


def test_a_client_of_hey_api_that_is_given_one_key_compiles_watches_and_runs(vedette, workshop):
    serve_document(vedette, workshop)
    write_client(workshop, "hey_api.ts", "commonjs", COMPILED)
    tool(workshop, "openapi-ts", "-i", "openapi.json", "-o", "hey", "-c", "@hey-api/client-fetch", "--no-log-file")
    tool(workshop, "tsc", "-p", ".")
    tenant = vedette.organisation(50)
    watches_and_runs(tenant, json.loads(run(workshop, "out/client.js", vedette.api, tenant.api_key).splitlines()[-1]))


def test_a_client_of_orval_compiles_watches_and_runs(vedette, workshop):
    serve_document(vedette, workshop)
    write_client(workshop, "orval.ts", "commonjs", COMPILED)
    (workshop / "orval.config.json").write_text(json.dumps({"vedette": {
        "input": {"target": "./openapi.json"},
        "output": {"target": "./orval/client.ts", "client": "fetch", "baseUrl": vedette.api}}}))
    tool(workshop, "orval", "--config", "orval.config.json")
    tool(workshop, "tsc", "-p", ".")
    tenant = vedette.organisation(50)
    watches_and_runs(tenant, json.loads(run(workshop, "out/client.js", tenant.api_key).splitlines()[-1]))


def of_version_30(node):
    """The same in the words of OpenAPI 3.0, which know neither several types, nor null, nor constants."""
    if isinstance(node, list):
        return [of_version_30(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: of_version_30(value) for key, value in node.items() if key not in ("if", "then", "else", "contentMediaType", "propertyNames")}
    types = node.get("type")
    if isinstance(types, list) or types == "null":
        rest = [one for one in ([types] if types == "null" else types) if one != "null"]
        del node["type"]
        node |= ({"type": rest[0]} if len(rest) == 1 else {}) | ({"nullable": True} if "null" in types else {})
    for choice in ("oneOf", "anyOf"):
        if {"nullable": True} in node.get(choice, []):
            node |= {choice: [one for one in node[choice] if one != {"nullable": True}], "nullable": True}
    if "const" in node:
        value = node.pop("const")
        node |= {"type": {bool: "boolean", str: "string", int: "integer"}[type(value)], "enum": [value]}
    if isinstance(node.get("enum"), list):
        node["enum"] = [value for value in node["enum"] if value is not None]
    if isinstance(node.get("exclusiveMinimum"), int):
        node |= {"minimum": node["exclusiveMinimum"], "exclusiveMinimum": True}
    return node


def test_a_python_client_compiles_and_makes_a_round_trip(vedette, workshop):
    document = of_version_30(serve_document(vedette, workshop))
    document |= {"openapi": "3.0.3", "info": {name: document["info"][name] for name in ("title", "version", "description")}}
    (workshop / "openapi30.json").write_text(json.dumps(document))
    jar = "node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar"

    def outside(*command, **environment):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=workshop, env=os.environ | environment)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    outside("java", "-jar", jar, "generate", "-g", "python", "-i", "openapi30.json", "-o", "python", "--package-name",
            "vedette_client")
    outside(sys.executable, "-W", "error", "-m", "compileall", "-q", "python/vedette_client")
    tenant = vedette.organisation(50)
    said = outside(sys.executable, CLIENTS / "python.py", vedette.api, tenant.api_key, PYTHONPATH="python")
    makes_a_round_trip(tenant, json.loads(said.splitlines()[-1]))
