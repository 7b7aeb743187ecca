"""Certificates of a test's own, for servers that speak TLS."""

import ssl
import subprocess
import time
from pathlib import Path


class Authority:
    """A certificate authority of the test's own."""

    def __init__(self, directory, name):
        self.dir, self.name = directory / name, name
        self.dir.mkdir()
        self.key, self.certificate = self.dir / "ca.key", self.dir / "ca.pem"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                      "-keyout", self.key, "-out", self.certificate, "-days", "2", "-subj", f"/CN={name}")

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)

    def files(self, names, days=1):
        """A server's certificate and its key, for subjectAltName `names`; days below 0 make it expired."""
        base = self.dir / f"server-{time.monotonic_ns()}"
        key, request, certificate, extension = (f"{base}.{e}" for e in ("key", "csr", "pem", "ext"))
        with open(extension, "w") as file:
            file.write(f"subjectAltName={names}\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                      "-out", request, "-subj", "/CN=receiver")
        self._openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                      "-CAcreateserial", "-days", days, "-extfile", extension, "-out", certificate)
        return Path(certificate), Path(key)

    def server(self, names, days=1, version_max=None):
        """TLS of a server by such files."""
        certificate, key = self.files(names, days)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if version_max:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = version_max
        context.load_cert_chain(certificate, key)
        return context
