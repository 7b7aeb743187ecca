"""A pooler of PostgreSQL's connections: a client's transactions run in any of a few sessions, or its whole connection in
one, as pgbouncer's pool_mode says. It knows as much of the protocol as that needs."""

import socket
import socketserver
import struct
import threading

AUTHENTICATED = b"R" + struct.pack("!II", 8, 0)
A_KEY_OF_ITS_OWN = b"K" + struct.pack("!III", 12, 1, 1)  # of no server's process, as every pooler gives
READY = b"Z" + struct.pack("!I", 5) + b"I"
SSL_REQUEST, GSS_REQUEST = 80877103, 80877104


def exactly(connection, count):
    read = b""
    while len(read) < count:
        more = connection.recv(count - len(read))
        if not more:
            raise ConnectionError("closed")
        read += more
    return read


def message(connection):
    """One message: its type, and all of its bytes."""
    head = exactly(connection, 5)
    return head[:1], head + exactly(connection, struct.unpack("!I", head[1:])[0] - 4)


class Session:
    """One of the server's."""

    def __init__(self, path, database, user):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        body = struct.pack("!I", 196608) + f"user\0{user}\0database\0{database}\0\0".encode()
        self.socket.sendall(struct.pack("!I", len(body) + 4) + body)
        self.parameters = b""
        kind = b""
        while kind != b"Z":
            kind, raw = message(self.socket)
            assert kind in b"RSKZN", raw
            if kind == b"S":
                self.parameters += raw


class Pooler:
    def __init__(self, postgres, database, mode):
        self.postgres, self.database, self.mode = postgres, database, mode
        self.idle, self.lock = [], threading.Lock()
        pooler = self

        class Client(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    pooler.serve(self.request)
                except (ConnectionError, OSError):
                    pass

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Client)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"postgresql://vedette@127.0.0.1:{self.server.server_address[1]}/{database}"

    def take(self):
        with self.lock:
            if self.idle:
                return self.idle.pop()  # the last that was given back, as pgbouncer does
        return Session(self.postgres.dir / f".s.PGSQL.{self.postgres.port}", self.database, "vedette")

    def give_back(self, session):
        with self.lock:
            self.idle.append(session)

    @staticmethod
    def greet(client):
        while True:
            length, code = struct.unpack("!II", exactly(client, 8))
            exactly(client, length - 8)
            if code not in (SSL_REQUEST, GSS_REQUEST):
                return
            client.sendall(b"N")

    def serve(self, client):
        self.greet(client)
        session = self.take()
        client.sendall(AUTHENTICATED + session.parameters + A_KEY_OF_ITS_OWN + READY)
        while True:
            if self.mode == "transaction":
                self.give_back(session)
                session = None
            idle = False
            while not idle:
                kind, raw = message(client)
                if kind == b"X":
                    return
                session = session or self.take()
                session.socket.sendall(raw)
                if kind in b"QS":  # what the server answers with its state
                    idle = self.answer(session, client)

    @staticmethod
    def answer(session, client):
        """Hands the answers on; whether no transaction is open after them."""
        while True:
            kind, raw = message(session.socket)
            client.sendall(raw)
            if kind == b"Z":
                return raw[5:] == b"I"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        for session in self.idle:
            session.socket.close()
