"""Generated clients, from the document as a live service serves it, which talk to the service. TypeScript: openapi-typescript with
its default flags makes the types, and the TypeScript compiler judges a client over them strictly. Python: OpenAPI Generator makes
a package, and every file of it compiles (docs/decisions/0037-a-generated-client-for-python.md)."""

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT, call

SETTINGS = {
    "compilerOptions": {"strict": True, "noEmit": True, "target": "es2022", "module": "nodenext",
                        "moduleResolution": "nodenext", "allowImportingTsExtensions": True, "skipLibCheck": True,
                        "types": [], "lib": ["es2022", "dom", "dom.iterable"]},
    "files": ["client.ts"],
}


@pytest.fixture
def workshop(tmp_path):
    """A package of a customer's, in which the tools are installed."""
    done = subprocess.run([ROOT / "scripts/npm_tools", "tests/npm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (tmp_path / "node_modules").symlink_to(f"{done.stdout.splitlines()[-1]}/node_modules")
    (tmp_path / "package.json").write_text(json.dumps({"name": "customer", "private": True, "type": "module"}))
    (tmp_path / "tsconfig.json").write_text(json.dumps(SETTINGS))
    (tmp_path / "client.ts").write_text((ROOT / "tests/e2e/openapi_client.ts").read_text())
    return tmp_path


def run(workshop, *command):
    tools = workshop / "node_modules/.bin"
    done = subprocess.run([tools / "node", *command], capture_output=True, text=True, timeout=120, cwd=workshop)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


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


def test_a_typescript_client_compiles_and_makes_a_round_trip(vedette, workshop):
    serve_document(vedette, workshop)
    run(workshop, "node_modules/.bin/openapi-typescript", "openapi.json", "-o", "schema.ts")
    run(workshop, "node_modules/.bin/tsc", "-p", ".")
    tenant = vedette.organisation(50)
    makes_a_round_trip(tenant, json.loads(run(workshop, "client.ts", vedette.api, tenant.api_key).splitlines()[-1]))


def of_version_30(node):
    """The same in the words of OpenAPI 3.0, which know neither several types, nor null, nor constants."""
    if isinstance(node, list):
        return [of_version_30(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: of_version_30(value) for key, value in node.items() if key not in ("if", "then", "else", "contentMediaType")}
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
    said = outside(sys.executable, ROOT / "tests/e2e/openapi_client.py", vedette.api, tenant.api_key, PYTHONPATH="python")
    makes_a_round_trip(tenant, json.loads(said.splitlines()[-1]))
