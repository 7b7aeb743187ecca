"""A TCP proxy between a process and PostgreSQL: cuts, swallows the answer of a COMMIT, goes silent."""

import asyncio


class Proxy:
    """`upstream()` says where the primary is now. Loop thread, but for what says otherwise."""

    def __init__(self, loop, upstream):
        self.loop, self.upstream = loop, upstream
        self.pairs = set()  # (client's writer, server's writer)
        self.silent = False
        self.awaited = None  # a statement's name: the COMMIT of the next transaction that runs it is cut
        self.cut_done = 0
        self.cut_statement = None  # the one whose COMMIT was cut
        self.repeated = 0  # transactions that ran it again, and that their client has ended
        self.before = False  # cut before the COMMIT is passed on, not after
        self.server = loop.run(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=200))
        self.port = self.server.sockets[0].getsockname()[1]

    # Any thread:

    def cut_commit_of(self, statement, before=False):
        """The next COMMIT after `statement` is passed on (unless `before`), and its answer is not."""
        self.before, self.awaited = before, statement.encode() + b"\0"

    def partition(self):
        self.silent = True

    def heal(self):
        """Connections that were silent end, as they do when a host comes back without its sessions."""
        self.loop.call(self._heal)

    def cut(self):
        self.loop.call(self._cut)

    # Loop thread:

    def _heal(self):
        self.silent = False
        self._cut()

    def _cut(self):
        for pair in list(self.pairs):
            for writer in pair:
                writer.transport.abort()

    async def _serve(self, reader, writer):
        pair = (writer,)
        self.pairs.add(pair)
        try:
            while self.silent:
                await asyncio.sleep(0.05)
            up_reader, up_writer = await asyncio.open_connection(*self.upstream())
            self.pairs.discard(pair)
            pair = (writer, up_writer)
            self.pairs.add(pair)
            state = {"ran": False, "again": False, "swallow": False}
            await asyncio.gather(self._up(reader, up_writer, state, pair), self._down(up_reader, writer, state, pair))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self.pairs.discard(pair)
            for w in pair:
                w.close()

    async def _up(self, reader, writer, state, pair):
        while data := await reader.read(1 << 16):
            while self.silent:
                await asyncio.sleep(0.05)
            if self.awaited and self.awaited in data:
                state["ran"] = True
            elif self.cut_statement and self.cut_statement in data:
                state["again"] = True
            if state["again"] and data[:1] == b"Q" and any(end in data[:40].upper() for end in (b"COMMIT", b"ROLLBACK")):
                state["again"] = False
                self.repeated += 1
            if state["ran"] and data[:1] == b"Q" and b"COMMIT" in data[:40].upper():
                state["ran"] = False
                if self.awaited:
                    self.cut_statement, self.awaited = self.awaited, None
                    self.cut_done += 1
                    if self.before:
                        break
                    state["swallow"] = True
            writer.write(data)
            await writer.drain()
        for w in pair:
            w.transport.abort()

    async def _down(self, reader, writer, state, pair):
        while data := await reader.read(1 << 16):
            while self.silent:
                await asyncio.sleep(0.05)
            if state["swallow"]:
                break  # the answer to the COMMIT
            writer.write(data)
            await writer.drain()
        for w in pair:
            w.transport.abort()
