"""Answers every request after a while, on as many connections as come; a process of its own.

    slow_service.py PORT DELAY_S BODY_FILE CONTENT_TYPE
"""

import asyncio
import resource
import sys
from pathlib import Path


class Answering(asyncio.Protocol):
    """One connection. The next request is looked at when the one before it has been answered."""

    delay_s, answer = 0.0, b""

    def connection_made(self, transport):
        self.transport, self.received, self.waiting = transport, b"", False

    def data_received(self, data):
        self.received += data
        self._look()

    def _look(self):
        head, end, body = self.received.partition(b"\r\n\r\n")
        if self.waiting or not end:
            return
        at = head.lower().find(b"content-length:")
        length = int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(body) < length:
            return
        self.received, self.waiting = body[length:], True
        asyncio.get_running_loop().call_later(self.delay_s, self._answer)

    def _answer(self):
        self.waiting = False
        if not self.transport.is_closing():
            self.transport.write(self.answer)
            self._look()


async def main():
    port, delay_s, body_file, content_type = sys.argv[1:]
    body = Path(body_file).read_bytes()
    Answering.delay_s = float(delay_s)
    Answering.answer = (f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n").encode() + body
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", int(port), backlog=8192)
    await server.serve_forever()


_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
asyncio.run(main())
