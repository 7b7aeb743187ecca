"""Receivers that misbehave on real sockets, and the certificates for those that speak TLS."""

import socket
import ssl
import struct
import subprocess
import threading
import time


def read_request(connection):
    """One whole request, or None where the peer left before its end."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    while len(body) < int(headers.get("Content-Length", 0)):
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    return {"line": lines[0], "headers": headers, "body": body}


def reply(status, headers=(), body=b"ok"):
    head = [f"HTTP/1.1 {status} Scripted", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


class Scripted:
    """Accepts connections on `address` and lets `script(connection, request)` deal with each, once a whole
    request has come (`eager`: with the first bytes). `accepted` counts connections, `requests` keeps what came."""

    def __init__(self, script, tls=None, address="127.0.0.1", port=0, eager=False):
        self.script, self.tls, self.eager = script, tls, eager
        self.accepted, self.requests = 0, []
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family)
        if family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((address, port))
        self.socket.listen(512)
        self.port = self.socket.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://{address}:{self.port}/hook"
        self.closing = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with connection:
                if self.tls:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                if self.eager:
                    self.script(self, connection, connection.recv(65536))
                    return
                request = read_request(connection)
                if request is not None:
                    self.requests.append(request)
                    self.script(self, connection, request)
        except (OSError, ValueError):
            pass  # the client left, or refused the certificate

    def close(self):
        self.closing.set()
        self.socket.close()


# Scripts ------------------------------------------------------------------------------------------------

def answers(status, headers=(), body=b"ok"):
    return lambda receiver, connection, _: connection.sendall(reply(status, headers, body))


def hangs(receiver, connection, _):
    receiver.closing.wait()


def drips(receiver, connection, _):
    """The whole header, then one byte a second of a body that is promised to be long."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3600\r\n\r\n")
    while not receiver.closing.wait(1):
        connection.sendall(b".")


def endless(status):
    def script(receiver, connection, _):
        connection.sendall(f"HTTP/1.1 {status} Long\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        while not receiver.closing.is_set():
            connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
    return script


def resets(_, connection, __):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def half_closes(receiver, connection, _):
    connection.shutdown(socket.SHUT_WR)
    receiver.closing.wait(10)


def closes_after(data):
    """What has no length ends with the connection."""
    return lambda receiver, connection, _: connection.sendall(data)


# Certificates -------------------------------------------------------------------------------------------

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

    def server(self, names, days=1, version_max=None):
        """A server's TLS, for subjectAltName `names`; days below 0 make it expired."""
        base = self.dir / f"server-{time.monotonic_ns()}"
        key, request, certificate, extension = (f"{base}.{e}" for e in ("key", "csr", "pem", "ext"))
        with open(extension, "w") as file:
            file.write(f"subjectAltName={names}\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                      "-out", request, "-subj", "/CN=receiver")
        self._openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                      "-CAcreateserial", "-days", days, "-extfile", extension, "-out", certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if version_max:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = version_max
        context.load_cert_chain(certificate, key)
        return context
