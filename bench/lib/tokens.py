"""Tokens for benchmarks of the API: of an OAuth client, and of an identity provider that this process plays."""

import base64
import http.server
import json
import subprocess
import threading
import time
import urllib.parse
import urllib.request

from servers import QuietHandler

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *map(str, arguments)], input=data, check=True, capture_output=True).stdout


class RsaKey:
    def __init__(self, directory, name):
        self.file = directory / f"{name}.pem"
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self.file)

    def public_pem(self):
        return openssl("pkey", "-in", self.file, "-pubout").decode()

    def jwk(self, kid):
        modulus = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip().partition("=")[2]
        return {"kty": "RSA", "kid": kid, "alg": "RS256", "use": "sig", "e": "AQAB", "n": base64url(bytes.fromhex(modulus))}

    def sign(self, header, claims):
        text = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        return f"{text}.{base64url(openssl('dgst', '-sha256', '-sign', self.file, data=text.encode()))}"


class Provider:
    """An identity provider: its discovery document, its keys, and a token that lives for an hour."""

    def __init__(self, directory):
        self.key = RsaKey(directory, "provider")
        provider = self

        class Handler(QuietHandler):
            def do_GET(self):
                body = json.dumps({"keys": [provider.key.jwk("k1")]} if self.path == "/jwks" else {
                    "issuer": provider.issuer, "jwks_uri": provider.issuer + "/jwks"}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def token(self, audience):
        return self.key.sign({"alg": "RS256", "kid": "k1", "typ": "at+jwt"},
                             {"iss": self.issuer, "aud": audience, "sub": "bench", "exp": int(time.time()) + 3600,
                              "org": "bench"})

    def close(self):
        self.server.shutdown()


def client_token(binary, api, issuer, ask, directory):
    """Registers an OAuth client with `ask(method, path, body)` and gets a token for its assertion to the issuer."""
    key = RsaKey(directory, "client")
    client = ask("POST", "/oauth/clients", {"name": "bench"})["client_id"]
    ask("POST", f"/oauth/clients/{client}/keys", {"public_key_pem": key.public_pem()})
    assertion = subprocess.run([binary, "assertion", "--client-id", client, "--key", key.file, "--aud", issuer],
                               check=True, capture_output=True, text=True).stdout.strip()
    form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_assertion_type": ASSERTION_TYPE,
                                   "client_assertion": assertion}).encode()
    with urllib.request.urlopen(api + "/oauth/token", form, timeout=60) as answer:
        return json.load(answer)["access_token"]
