"""The world around the fleet: a research service, a lookup service and webhook receivers that write down what they see.
One asyncio loop on a thread of its own, which the proxies share."""

import asyncio
import hashlib
import hmac
import json
import threading
import time
import uuid

from certificates import Authority
from channels import told


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
    """What vedette speaks of HTTP/1.1: POST with Content-Length, kept alive. With `tls`, a context, as HTTPS."""

    def __init__(self, loop, answer, tls=None):
        self.answer = answer  # async (path, headers, body) -> (status, body), or None: hang up
        self.server = loop.run(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1000, ssl=tls))
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

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
    from which checks were. Each process asks under a path of its own: the ledger knows who asked. What
    blocks of runs ask is answered alike, and is in the ledger as kind "enrich" and "enriched"."""

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
        of_run = check == request["row_id"]  # a row of a run is its own check, and the monitor is the run
        if of_run:
            self.ledger.add("enrich", member=member, row=check, run=request["monitor_id"], subject=request["subject"],
                            key=headers.get("idempotency-key"))
        else:
            self.ledger.add("ask", member=member, check=check, monitor=request["monitor_id"], row=request["row_id"])
        times = self.asked[check] = self.asked.get(check, 0) + 1
        if self.behave:
            await self.behave(member, request, times)
        elif self.delay_max:
            slow = 60 if chance(self.seed, "slow", check) < 0.02 else 1  # then longer than a lease, in part
            await asyncio.sleep(slow * self.delay_max * chance(self.seed, "delay", check, times))
        if self.refuses and times == 1 and chance(self.seed, "again", check) < 0.02:
            status = 500
        if of_run:
            self.ledger.add("enriched", member=member, row=check, status=status)
        else:
            self.ledger.add("answer", member=member, check=check, status=status)
        if status != 200:
            return status, b"{}"
        answer = {"values": {field: {"value": value} for field, value in values.items()}}
        return 200, json.dumps(answer).encode()


class Lookups:
    """Answers each person once and for all, by the name: found and valid, found, not found, or no answer at all. Each
    process asks under a path of its own."""

    def __init__(self, loop, ledger, seed):
        self.ledger, self.seed = ledger, seed
        self.asked = {}      # row -> how often
        self.delay_max = 0.1
        self.refuses = True  # whether some persons have no answer, at once or at first
        self.unknown = 0.15  # the share of persons of whom nothing is known
        self.behave = None   # async (member, question, times asked) -> None; tests hold answers here
        self.server = HttpServer(loop, self._answer)

    def url(self, member):
        return f"{self.server.url}/{member}"

    def candidate(self, name):
        """What is known of a person: None, or the address and its status."""
        draw = chance(self.seed, "found", name)
        if draw < self.unknown:
            return None
        address = name.lower().replace(" ", ".") + "@people.example"
        return address, "OK" if draw < 0.6 else "UNKNOWN"

    def status(self, name, times):
        if not self.refuses:
            return 200
        if chance(self.seed, "refused", name) < 0.02:
            return 422
        # Those that were slow to refuse would be asked again long after their job's end.
        share = 0.5 if self.slow(name) else 0.03
        return 500 if times == 1 and chance(self.seed, "again", name) < share else 200

    def slow(self, name):
        """Whose answer takes longer than a lease, or than the time in which a stop takes hold, in part."""
        return chance(self.seed, "slow", name) < 0.03

    async def _answer(self, path, headers, body):
        question = json.loads(body)
        member, row, name = path.strip("/"), question["row_id"], question["person"]["name"]
        self.ledger.add("lookup", member=member, row=row, key=headers.get("idempotency-key"), job=question["task_id"],
                        name=name)
        times = self.asked[row] = self.asked.get(row, 0) + 1
        if self.behave:
            await self.behave(member, question, times)
        elif self.delay_max:
            await asyncio.sleep((80 if self.slow(name) else 1) * self.delay_max * chance(self.seed, "delay", row, times))
        status = self.status(name, times)
        self.ledger.add("looked_up", member=member, row=row, name=name, status=status)
        if status != 200:
            return status, b"{}"
        candidate = self.candidate(name)
        found = [{"email": candidate[0], "status": candidate[1]}] if candidate else []
        return 200, json.dumps({"candidates": found}).encode()


def event_of_job(job_id, kind):
    """What the callback of a job's end is known by."""
    return str(uuid.uuid5(uuid.UUID(job_id), kind))


class Receiver:
    """Takes webhooks under /<tag>; the tag finds the secret that must have signed. Refuses some, drops some, and
    some for good. Callbacks of jobs come by HTTPS, as jobs ask for nothing else."""

    def __init__(self, loop, ledger, seed, tls=None):
        self.ledger, self.seed = ledger, seed
        self.secrets = {}  # tag -> the signing secret
        self.refuses = True
        self.down = set()  # tags that are answered 503
        self.leaving = {}  # tag -> the share of its notifications that are answered 410, whenever they come
        self.server = HttpServer(loop, self._answer)
        self.secure = HttpServer(loop, self._answer, tls) if tls else None

    def url(self, tag):
        return f"{self.server.url}/{tag}"

    def callback_url(self, tag):
        return f"{self.secure.url}/{tag}"

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
        signed = self.signed(tag, headers.get("service-signature", ""), body)
        draw = chance(self.seed, "receive", kind, group, attempt) if self.refuses else 1
        gone = chance(self.seed, "gone", kind, group) < self.leaving.get(tag, 0)
        result = ("gone" if gone else "down" if tag in self.down else "refused" if draw < 0.04
                  else "dropped" if draw < 0.06 else "taken")
        seen = {"tag": tag, "type": kind, "attempt": int(attempt), "result": result}
        if "task_id" in payload:
            proper = signed and payload["task_type"] == kind and event_of_job(payload["task_id"], kind) == group
            self.ledger.add("callback", event=group, job=payload["task_id"], proper=proper, body=body.decode(), **seen)
        elif "service-channel-id" in headers:
            proper, said = told(headers, payload, group)
            proper = proper and signed and payload["type"] == kind and payload["event_group_id"] == group
            self.ledger.add("told", group=group, proper=proper, **said, **seen)
        else:
            proper = signed and payload["type"] == kind and payload["event_group_id"] == group
            self.ledger.add("webhook", check=group, proper=proper, row=payload["monitor_id"], **seen)
        if result == "dropped":
            return None
        return {"gone": 410, "down": 503, "refused": 500, "taken": 200}[result], b""


class World:
    """Everything outside that the fleet talks to."""

    def __init__(self, loop, ledger, seed, directory):
        authority = Authority(directory, "authority")
        self.ca_file = authority.certificate
        self.research, self.lookups = Research(loop, ledger, seed), Lookups(loop, ledger, seed)
        self.receiver = Receiver(loop, ledger, seed, authority.server("IP:127.0.0.1"))
        self.mail = None  # a torture's (mail.py)

    def calm(self):
        """Nobody refuses, every person is found, and answers come at once: for scripts."""
        self.research.refuses = self.lookups.refuses = self.receiver.refuses = False
        self.research.moves, self.lookups.unknown = 1, 0
        self.research.delay_max = self.lookups.delay_max = 0
