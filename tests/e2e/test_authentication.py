"""docs/authentication.md: its samples, copied and run against a real process, with libraries that nobody here wrote."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import uuid

import jwt
import pytest

from conftest import ROOT, Vedette, call
from testbed import npm_tools

DOCUMENT = (ROOT / "docs" / "authentication.md").read_text()
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def sample(language):
    blocks = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.S)
    assert len(blocks) == 1, language
    return blocks[0]


@pytest.fixture
def service(binary, database, tmp_path):
    it = Vedette(binary, database.url, tmp_path, {"VEDETTE_LIMITS_REQUESTS_PER_MINUTE": "100000"})
    it.migrate().start()
    yield it
    it.stop()


@pytest.fixture
def client(service, tmp_path):
    """A client of an organisation with 42 credits, whose pair was made as the document says."""
    tenant = service.organisation(credits=42)
    subprocess.run(["bash", "-ec", sample("bash")], cwd=tmp_path, check=True, capture_output=True)
    made = tenant.post("/oauth/clients", {"name": "billing"})
    tenant.post(f"/oauth/clients/{made['client_id']}/keys",
                {"public_key_pem": (tmp_path / "client.pub.pem").read_text()})
    return made["client_id"], tenant


def run(command, text, name, service, client_id, directory):
    (directory / name).write_text(text)
    done = subprocess.run([*command, name], cwd=directory, capture_output=True, text=True, timeout=60, env={
        **os.environ, "API_URL": service.api, "CLIENT_ID": client_id, "AUTHLIB_INSECURE_TRANSPORT": "1"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_sample_for_python_gets_a_token_and_uses_it(service, client, tmp_path):
    printed = run([sys.executable], sample("python"), "sample.py", service, client[0], tmp_path)
    assert "'credits': 42" in printed, printed


def test_the_sample_for_node_gets_a_token_and_uses_it(service, client, tmp_path):
    node = shutil.which("node")
    assert node, "node is not installed"
    printed = run([node], sample("javascript"), "sample.mjs", service, client[0], tmp_path)
    assert json.loads(printed)["credits"] == 42


def test_the_sample_for_ruby_gets_a_token_and_uses_it(service, client, tmp_path):
    ruby = shutil.which("ruby")
    assert ruby, "ruby is not installed"
    printed = run([ruby], sample("ruby"), "sample.rb", service, client[0], tmp_path)
    assert json.loads(printed)["credits"] == 42


@pytest.mark.parametrize("made, signs, algorithm", [
    (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], {"name": "ECDSA", "namedCurve": "P-256"}, "ES256"),
    (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], {"name": "RSASSA-PKCS1-v1_5", "hash": "SHA-256"},
     "RS256"),
    (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], {"name": "RSA-PSS", "hash": "SHA-256"}, "PS256"),
    (["-algorithm", "ED25519"], {"name": "Ed25519"}, "EdDSA"),
], ids=["ES256", "RS256", "PS256", "EdDSA"])
def test_openid_client_reads_the_metadata_and_authenticates_at_every_route(service, tmp_path, made, signs, algorithm):
    tools = npm_tools()
    subprocess.run(["openssl", "genpkey", *made, "-out", "key.pem"], cwd=tmp_path, check=True, capture_output=True)
    public = subprocess.run(["openssl", "pkey", "-in", "key.pem", "-pubout"], cwd=tmp_path, check=True,
                            capture_output=True, text=True).stdout
    tenant = service.organisation(credits=42)
    client_id = tenant.post("/oauth/clients", {"name": "billing"})["client_id"]
    tenant.post(f"/oauth/clients/{client_id}/keys", {"public_key_pem": public, "algorithm": algorithm})
    done = subprocess.run([f"{tools}/node_modules/.bin/node", ROOT / "tests/e2e/openid_client.mjs", tools, service.api,
                           client_id, "key.pem", json.dumps(signs)], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    saw = json.loads(done.stdout)
    assert saw["issuer"] == service.api and saw["expiresIn"] == 3600
    assert saw["used"]["credits"] == 42 and saw["active"] is True
    assert saw["refused"] == "invalid_token", "it was revoked, and the challenge says so"


def test_the_sample_for_curl_gets_a_token(service, client, tmp_path):
    (tmp_path / "vedette").symlink_to(service.binary.resolve())
    done = subprocess.run(["bash", "-ec", sample("sh")], cwd=tmp_path, capture_output=True, text=True, timeout=60, env={
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "API_URL": service.api, "CLIENT_ID": client[0]})
    assert json.loads(done.stdout)["token_type"] == "Bearer", done.stdout + done.stderr


def ask_token(service, assertion):
    form = (f"grant_type=client_credentials&client_assertion_type={ASSERTION_TYPE.replace(':', '%3A')}"
            f"&client_assertion={assertion}")
    return call("POST", service.api + "/oauth/token", raw=form.encode(),
                headers={"Content-Type": "application/x-www-form-urlencoded"})


def test_what_pyjwt_signs_is_taken_once_and_its_token_ends_with_its_client(service, client, tmp_path):
    client_id, tenant = client
    claims = {"iss": client_id, "sub": client_id, "aud": service.api, "exp": int(time.time()) + 60,
              "jti": str(uuid.uuid4())}
    assertion = jwt.encode(claims, (tmp_path / "client.pem").read_text(), algorithm="ES256")
    token = ask_token(service, assertion)
    assert token.status == 200, token
    assert ask_token(service, assertion).json["error"] == "invalid_client"
    bearer = {"Authorization": f"Bearer {token.json['access_token']}"}
    assert call("GET", service.api + "/monitors", headers=bearer).status == 200
    assert tenant.call("DELETE", f"/oauth/clients/{client_id}").status == 200
    assert call("GET", service.api + "/monitors", headers=bearer).json["error"] == "invalid_token"
    assert token.json["access_token"] not in service.log() and assertion not in service.log()
