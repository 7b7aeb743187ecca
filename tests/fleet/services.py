"""The world around the fleet: a research service and webhook receivers that write down what they see. One asyncio
loop on a thread of its own, which the proxies share."""

import asyncio
import hashlib
import hmac
import json
import threading
import time


class Loop:
    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def call(self, function, *arguments):
        self.loop.call_soon_threadsafe(function, *arguments)

    def close(self):
        async def cancel():
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self.run(cancel())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


def chance(*parts):
    """A number in [0, 1) that depends on nothing but its parts."""
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


class HttpServer:
    """As much of HTTP/1.1 as vedette speaks: POST with Content-Length, kept alive."""

    def __init__(self, loop, answer):
        self.answer = answer  # async (path, headers, body) -> (status, body), or None: hang up
        self.server = loop.run(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1000))
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    async def _serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                path = head[0].split(" ")[1]
                headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:]) if k}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                reply = await self.answer(path, headers, body)
                if reply is None:
                    break
                status, text = reply
                writer.write(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                             % (status, len(text), text))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


class Research:
    """Answers each check once and for all: who asks again gets the same values, as an idempotent service does.
    A row's generation moves on with about a third of its checks, so that the changes that must be recorded follow
    from which checks were. Each process asks under a path of its own: the ledger knows who asked."""

    def __init__(self, loop, ledger, seed):
        self.ledger, self.seed = ledger, seed
        self.generation = {}  # row -> its counter
        self.checks = {}      # check -> (status, values)
        self.asked = {}       # check -> how often
        self.moves = 0.35     # the share of checks before which a row's generation moves on
        self.delay_max = 0.05
        self.behave = None    # async (member, request, times asked) -> None; tests hold answers here
        self.refuses = True   # whether some checks fail, at once or at first
        self.server = HttpServer(loop, self._answer)

    def url(self, member):
        return f"{self.server.url}/{member}"

    def values(self, check, row):
        if check not in self.checks:
            n = self.generation.get(row, 0) + (1 if chance(self.seed, "moves", check) < self.moves else 0)
            self.generation[row] = n
            status = 422 if self.refuses and chance(self.seed, "refused", check) < 0.02 else 200
            self.checks[check] = (status, {"price": n, "state": f"s{n // 2}"})
        return self.checks[check]

    async def _answer(self, path, headers, body):
        request = json.loads(body)
        check, member = request["check_id"], path.strip("/")
        status, values = self.values(check, request["row_id"])
        self.ledger.add("ask", member=member, check=check, monitor=request["monitor_id"], row=request["row_id"])
        times = self.asked[check] = self.asked.get(check, 0) + 1
        if self.behave:
            await self.behave(member, request, times)
        elif self.delay_max:
            slow = 60 if chance(self.seed, "slow", check) < 0.02 else 1  # then longer than a lease, in part
            await asyncio.sleep(slow * self.delay_max * chance(self.seed, "delay", check, times))
        if self.refuses and times == 1 and chance(self.seed, "again", check) < 0.02:
            status = 500
        self.ledger.add("answer", member=member, check=check, status=status)
        if status != 200:
            return status, b"{}"
        answer = {"values": {field: {"value": value} for field, value in values.items()}}
        return 200, json.dumps(answer).encode()


class Receiver:
    """Takes webhooks under /<tag>; the tag finds the secret that must have signed. Refuses some, drops some, and
    some for good."""

    def __init__(self, loop, ledger, seed):
        self.ledger, self.seed = ledger, seed
        self.secrets = {}  # tag -> the signing secret
        self.refuses = True
        self.down = set()  # tags that are answered 503
        self.leaving = {}  # tag -> the share of its notifications that are answered 410, whenever they come
        self.server = HttpServer(loop, self._answer)

    def url(self, tag):
        return f"{self.server.url}/{tag}"

    def signed(self, tag, header, body):
        parts = [segment.split("=", 1) for segment in header.split(",")]
        t = next((value for key, value in parts if key == "t"), "0")
        expected = hmac.new(self.secrets[tag].encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest()
        return abs(time.time() - int(t)) <= 300 and ("v1", expected) in [tuple(p) for p in parts]

    async def _answer(self, path, headers, body):
        tag = path.strip("/")
        kind, group = headers["service-event-type"], headers["service-event-id"]
        attempt = headers["service-delivery-attempt"]
        payload = json.loads(body)
        proper = (self.signed(tag, headers.get("service-signature", ""), body) and payload["type"] == kind
                  and payload["event_group_id"] == group)
        draw = chance(self.seed, "receive", kind, group, attempt) if self.refuses else 1
        gone = chance(self.seed, "gone", kind, group) < self.leaving.get(tag, 0)
        result = ("gone" if gone else "down" if tag in self.down else "refused" if draw < 0.04
                  else "dropped" if draw < 0.06 else "taken")
        self.ledger.add("webhook", tag=tag, type=kind, check=group, attempt=int(attempt), result=result,
                        proper=proper, row=payload["monitor_id"])
        if result == "dropped":
            return None
        return {"gone": 410, "down": 503, "refused": 500, "taken": 200}[result], b""
