"""Receivers that misbehave on real sockets."""

import socket
import struct
import threading


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
