"""A generated client, from the document as a live service serves it: openapi-typescript with its default flags makes the types,
the TypeScript compiler judges a client over them strictly, and the client talks to the service.

There is no such test in Python: neither Debian 12 nor npm has a generator of Python clients that works without fetching more
from elsewhere (docs/decisions/0035-one-product.md)."""

import json
import subprocess

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


def test_a_typescript_client_compiles_and_makes_a_round_trip(vedette, workshop):
    document = call("GET", vedette.api + "/openapi.json")
    assert document.status == 200
    (workshop / "openapi.json").write_bytes(document.body)
    run(workshop, "node_modules/.bin/openapi-typescript", "openapi.json", "-o", "schema.ts")
    run(workshop, "node_modules/.bin/tsc", "-p", ".")
    tenant = vedette.organisation(50)
    seen = json.loads(run(workshop, "client.ts", vedette.api, tenant.api_key).splitlines()[-1])
    assert seen["rows"] == [{"sku": "a"}, {"sku": "b"}, {"sku": "c"}]
    assert tenant.get(f"/monitors/{seen['id']}")["name"] == seen["name"] == "Pages, renamed"
    assert 0 < seen["credits"] <= 50
    assert seen["status"] == 404 and set(seen["error"]) >= {"error", "message"}
