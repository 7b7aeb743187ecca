"""A mail server on loopback that says what a test wants, and remembers every line that it was told. It takes no mail."""

import asyncio
import re
import threading

OURS = re.compile(r"(EHLO|HELO) [A-Za-z0-9.-]+|MAIL FROM:<[^<>\r\n]*>( SMTPUTF8)?|RCPT TO:<[^<>\r\n]+>|RSET|QUIT")


class SmtpServer:
    """`knows(local, domain)` tells whether a mailbox exists; `rcpt(local, domain)` may give a whole reply instead, or
    None. Every reply waits `delay_s`."""

    def __init__(self, knows, rcpt=None, delay_s=0.0, address="127.0.0.1", port=0):
        self.knows, self.rcpt, self.delay_s = knows, rcpt, delay_s
        self.lines, self.connections = [], 0
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self._talk, address, port, backlog=1024))
        self.port = self.server.sockets[0].getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    async def _talk(self, reader, writer):
        self.connections += 1
        try:
            writer.write(b"220 mx.test ready\r\n")
            while line := await reader.readline():
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                self.lines.append(text)
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                writer.write(self._reply(text).encode() + b"\r\n")
                if text.upper() == "QUIT":
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _reply(self, line):
        verb = line[:4].upper()
        if verb == "EHLO":
            return "250-mx.test\r\n250-ENHANCEDSTATUSCODES\r\n250 SIZE 1000000"
        if verb == "RCPT":
            local, domain = re.search(r"<(.*)@([^@]*)>", line).groups()
            reply = self.rcpt(local, domain) if self.rcpt else None
            if reply:
                return reply
            return "250 2.1.5 ok" if local == "postmaster" or self.knows(local, domain) else "550 5.1.1 unknown"
        return "221 2.0.0 bye" if verb == "QUIT" else "250 2.0.0 ok"

    def recipients(self, domain=""):
        """The addresses that it was asked about, in order."""
        found = [re.search(r"<(.*)>", line) for line in list(self.lines) if line.startswith("RCPT")]
        return [one.group(1) for one in found if one.group(1).endswith(domain)]

    def foreign_lines(self):
        """Those that no dialogue of ours has."""
        return [line for line in list(self.lines) if not OURS.fullmatch(line)]

    def close(self):
        """Ends what is open. A loop that is left open closes itself at Python's exit, when its sockets are gone."""
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    async def _end(self):
        self.server.close()
        talks = asyncio.all_tasks() - {asyncio.current_task()}
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await asyncio.sleep(0)  # for what the connections leave to the loop when they are closed
