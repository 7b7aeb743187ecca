"""A relay on loopback that takes mail as a test wants it, and keeps every message."""

import asyncio
import base64
import email
import email.policy
import re
import threading


class MailRelay:
    """`rcpt(address)` may give a reply to RCPT; `data(message)` one to the message, or "" to leave without an answer. With a
    `tls` context it speaks TLS from the first byte; with `login` (user, password) it wants to know who sends."""

    def __init__(self, rcpt=None, data=None, tls=None, login=None):
        self.rcpt, self.data, self.login = rcpt, data, login
        self.messages, self.lines = [], []
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(
            asyncio.start_server(self._talk, "127.0.0.1", 0, ssl=tls, limit=2**22))
        self.port = self.server.sockets[0].getsockname()[1]
        self._run()

    def _run(self):
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def to(self, address):
        return [message for recipient, message in list(self.messages) if recipient == address]

    async def _talk(self, reader, writer):
        recipient, known = None, self.login is None
        try:
            writer.write(b"220 relay.test ready\r\n")
            while line := (await reader.readline()).decode().rstrip("\r\n"):
                self.lines.append(line)
                verb = line[:4].upper()
                if verb == "EHLO":
                    reply = "250-relay.test\r\n250-AUTH PLAIN\r\n250 8BITMIME" if self.login else "250 relay.test"
                elif verb == "AUTH":
                    said = line.split(" ")[2] if line.count(" ") == 2 else None
                    if said is None:
                        writer.write(b"334 \r\n")
                        said = (await reader.readline()).decode().strip()
                    known = base64.b64decode(said).decode().split("\0")[1:] == list(self.login)
                    reply = "235 2.7.0 ok" if known else "535 5.7.8 who are you"
                elif not known and verb == "MAIL":
                    reply = "530 5.7.0 log in"
                elif verb == "RCPT":
                    recipient = re.search(r"<(.*)>", line).group(1)
                    reply = (self.rcpt and self.rcpt(recipient)) or "250 2.1.5 ok"
                elif verb == "DATA":
                    writer.write(b"354 go on\r\n")
                    raw = await reader.readuntil(b"\r\n.\r\n")
                    message = email.message_from_bytes(raw[:-3].replace(b"\r\n..", b"\r\n."), policy=email.policy.default)
                    self.messages.append((recipient, message))
                    reply = "250 2.0.0 taken" if self.data is None else self.data(message)
                    if reply == "":
                        break
                else:
                    reply = "221 2.0.0 bye" if verb == "QUIT" else "250 2.0.0 ok"
                writer.write(reply.encode() + b"\r\n")
                if verb == "QUIT":
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _end(self):
        self.server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close(self):
        if not self.thread.is_alive():
            self._run()
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result(10)
        self.fall_silent()

    def fall_silent(self):
        """Keeps its connections, and answers nothing any more."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
