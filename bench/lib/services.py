"""What probes are pointed at: a research service that says when it was asked, an nginx, and a service that is slow."""

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import needs
from machine import free_port, wait_until
from servers import accepts, start_nginx

ANSWER = b'{"values": {"employees": {"value": "118"}}}'


class ResearchService:
    """Answers every request alike; `at` is when the last one's first bytes arrived, by the wall clock."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/"
        self.arrived, self.at = threading.Event(), 0.0

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            request = connection.recv(65536)
            self.at = time.time()
            if not request:
                return
            head, _, body = request.partition(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                          if line.lower().startswith(b"content-length:"))
            while len(body) < length:
                body += connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                               % (len(ANSWER), ANSWER))
            self.arrived.set()


class SlowService:
    """Answers every request with `body`, `delay_s` after it came, on thousands of connections."""

    def __init__(self, delay_s, body=ANSWER, content_type="application/json"):
        self.delay_s, self.body, self.content_type = delay_s, body, content_type

    def __enter__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="vedette-bench-slow-"))
        (self.dir / "body").write_bytes(self.body)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/"
        self.process = subprocess.Popen([sys.executable, Path(__file__).with_name("slow_service.py"), str(port),
                                         str(self.delay_s), self.dir / "body", self.content_type])
        wait_until("the slow service", lambda: accepts(port), 30)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.dir, ignore_errors=True)


class Nginx:
    """Answers every request with the same values."""

    def __enter__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="vedette-bench-nginx-"))
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/"
        self.process = start_nginx(self.dir, port, f"""
            access_log off; keepalive_requests 1000000;
            server {{ listen 127.0.0.1:{port} backlog=4096; default_type application/json;
                      location / {{ return 200 '{ANSWER.decode()}'; }} }}""",
                                   program=needs.program("nginx", "nginx-light"), main="worker_processes 1;",
                                   connections=16384)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.dir, ignore_errors=True)
