"""E-mail of channels in a load: a relay that refuses some and loses answers, recipients who confirm, who never do and who leave.
Its checker: nothing that is recorded is lost to whoever confirmed, nobody else is told, and a message comes twice only
where the relay's answer was lost."""

import collections
import re
import threading
import time
import urllib.parse
import urllib.request

from channels import CHANGED, COMPLETED, FAILED, TENANTS
from cluster import wait_until
from mail_relay import MailRelay

PUBLIC_URL, FROM = "https://fleet.example", "alerts@fleet.example"
CHANNELS = [("now", "none"), ("digest", "hourly")]
EVENTS = [CHANGED, FAILED]
# By number; a digest is stored as a failure, of the digest in the place of a check.
TOLD = {0: CHANGED, 1: COMPLETED, 2: FAILED}
STAYING = ["ann@people.example", "bob@people.example"]
LEAVING = "eve@people.example"   # confirmed, and unsubscribes after a while by one click
SILENT = "carl@people.example"   # never follows the link
REFUSING = "dora@people.example"  # wants never to be asked again
LEAVES_AFTER = 20
# An attempt reads its recipient at most so long before the relay has the mail: a change in between comes too late.
ON_ITS_WAY_S = 2.0


def links(message):
    return re.findall(re.escape(PUBLIC_URL) + r"/mail-addresses/\S+", message.get_body(("plain",)).get_content())


class Mailboxes:
    """All recipients' mailboxes, and the relay, which accepts most of the mail."""

    def __init__(self, ledger, chance, seed):
        self.ledger, self.chance, self.seed = ledger, chance, seed
        self.refuses = True
        self.tries = collections.Counter()
        self.questions, self.received, self.leaves_by = {}, collections.Counter(), None
        self.relay = MailRelay(rcpt=self._rcpt, data=self._data)
        self.settings = {"VEDETTE_MAIL_RELAY": f"smtp://127.0.0.1:{self.relay.port}", "VEDETTE_MAIL_FROM": FROM,
                         "VEDETTE_API_PUBLIC_URL": PUBLIC_URL}
        self.close = self.relay.close

    def _draw(self, what, *parts):
        self.tries[what, *parts] += 1
        return self.chance(self.seed, what, *parts, self.tries[what, *parts]) if self.refuses else 1

    def _rcpt(self, address):
        return "450 4.2.0 come again" if self._draw("rcpt", address) < 0.02 else ""

    def _data(self, message):
        to, one_click = message["To"], message["List-Unsubscribe"]
        draw = self._draw("data", message["Message-ID"])
        result = "refused" if draw < 0.03 else "lost" if draw < 0.06 else "taken"
        proper = (not message.defects and message["From"] == FROM and
                  (one_click is None or message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"))
        self.ledger.add("mail", id=re.search("<(.+)@", message["Message-ID"]).group(1), to=to, proper=proper,
                        question=one_click is None, result=result)
        if result != "refused":
            self.received[to] += 1
            if one_click is None:
                self.questions[to] = links(message)
            elif to == LEAVING and self.received[to] > LEAVES_AFTER:
                self.leaves_by = self.leaves_by or one_click.strip("<>")
        return {"taken": "250 2.0.0 taken", "refused": "451 4.3.0 come again", "lost": ""}[result]


class Recipients:
    """The owners of the addresses: what they do with the links of their mail."""

    def __init__(self, operator, mailboxes, ledger):
        self.operator, self.mailboxes, self.ledger = operator, mailboxes, ledger
        self.has_left = threading.Event()

    def channels_of(self, name, key):
        """Makes a tenant's channels of e-mail, whose owners have answered then; their ids."""
        ids = []
        for kind, digest in CHANNELS if name in TENANTS else []:
            status, made = self.operator.api(key, "POST", "/channels", {
                "name": f"mail {kind}", "kind": "email", "events": EVENTS, "digest": digest,
                "target": {"addresses": [*STAYING, LEAVING, SILENT, REFUSING]}})
            if status != 200:
                return []  # a process of a version without them, or without a relay
            ids.append(made["id"])
            self.ledger.add("mail_channel", id=made["id"], tenant=name, digest=digest)
        for address in [*STAYING, LEAVING, REFUSING] if ids else []:
            wait_until(f"the question to {address}", lambda: address in self.mailboxes.questions)
            confirm, refuse = self.mailboxes.questions[address]
            self._follow(refuse if address == REFUSING else confirm, "POST" if address == REFUSING else "GET")
        return ids

    def _follow(self, link, method):
        parts = urllib.parse.urlsplit(link)
        wait_until(f"the answer to a link of {parts.path}", lambda: self._try(f"{parts.path}?{parts.query}", method))

    def _try(self, path, method):
        body = b"List-Unsubscribe=One-Click" if method == "POST" else None
        for front in self.operator.fronts:
            request = urllib.request.Request(front.api + path, data=body, method=method)
            try:
                with urllib.request.urlopen(request, timeout=5) as answer:
                    return answer.status == 200
            except OSError:  # a fault: it is tried again
                pass
        return False

    def look(self):
        """One leaves, when it is time."""
        link = self.mailboxes.leaves_by
        if link and not self.has_left.is_set():
            parts = urllib.parse.urlsplit(link)
            if self._try(f"{parts.path}?{parts.query}", "POST"):
                self.has_left.set()
                self.ledger.add("left", to=LEAVING)


class MailChecker:
    """`channels` knows what is recorded (ChannelChecker)."""

    def __init__(self, channels, cluster, ledger):
        self.channels, self.checker, self.cluster, self.fail = channels, channels.checker, cluster, channels.fail
        self.mail, self.left = ledger.of("mail"), ledger.of("left")
        self.mail_channels = ledger.of("mail_channel")

    def run(self):
        if not self.mail_channels:
            return
        self.nobody_else_is_told()
        self.twice_only_where_the_answer_was_lost()
        self.whoever_confirmed_is_told()
        counts = collections.Counter(e["result"] for e in self.mail)
        self.checker.notes.append("e-mail: " + ", ".join(f"{what} {n}" for what, n in sorted(counts.items())) +
                                  f", arrived more than once {self.twice}; one left {len(self.left)}")

    def nobody_else_is_told(self):
        for e in self.mail:
            if not e["proper"]:
                self.fail(f"G3 a message is not what it should be: {e}")
            if not e["question"] and e["to"] not in (*STAYING, LEAVING):
                self.fail(f"a message to somebody who has not confirmed: {e}")
            for left in self.left:
                late = e["t"] - left["t"]
                if e["to"] == left["to"] and late > ON_ITS_WAY_S and not self.checker.explained(e["t"], e["t"]):
                    self.fail(f"a message {late:.1f} s after its recipient had left: {e}")
        asked = collections.Counter(e["to"] for e in {e["id"]: e for e in self.mail if e["question"]}.values())
        for address, n in asked.items():
            if n > 1:
                self.fail(f"{address} was asked {n} times")

    def twice_only_where_the_answer_was_lost(self):
        self.twice = 0
        of = collections.defaultdict(list)
        for e in self.mail:
            if e["result"] != "refused":
                of[e["id"]].append(e)
        for message, entries in of.items():
            for before, after in zip(entries, entries[1:]):
                self.twice += 1
                if before["result"] != "lost" and not self.checker.explained(before["t"], after["t"]):
                    self.fail(f"G3 the message {message} came at {before['t']} and again at {after['t']}, and its answer was "
                              "not lost")

    def whoever_confirmed_is_told(self):
        query = self.cluster.execute
        addresses = dict(query("select id, address from recipient"))
        came = {e["id"] for e in self.mail if e["result"] != "refused"}
        told = collections.defaultdict(collections.Counter)  # channel and address -> what was told
        for delivery, channel, recipient, kind, group in query(
                "select distinct delivery_id, channel_id, recipient_id, type, event_group_id from delivery_attempt "
                "where recipient_id is not null and delivered"):
            if delivery not in came:
                self.fail(f"G2 the message {delivery} is on record as sent, and never came")
            if kind in TOLD:
                told[channel, addresses[recipient]][TOLD[kind], group] += 1
        gathered = collections.defaultdict(collections.Counter)  # digest -> checks
        for digest, group in query("select digest_id, event_group_id from digest_event"):
            gathered[digest][group] += 1
        for channel in self.mail_channels:
            expected = {pair for pair in self.channels.recorded(channel["tenant"]) if pair[0] in EVENTS}
            for address in STAYING:
                found = told[channel["id"], address]
                for pair in [pair for pair, n in found.items() if n > 1][:5]:
                    self.fail(f"G3 {address} has several messages of {pair}")
                if channel["digest"] == "none":
                    self.channels.same(channel, expected, set(found))
                else:
                    checks = sum((gathered[digest] for _, digest in found), collections.Counter())
                    if checks != collections.Counter(check for _, check in expected):
                        self.fail(f"G2 the digests of {address} do not tell what is recorded: "
                                  f"{(collections.Counter(check for _, check in expected) - checks)} "
                                  f"{(checks - collections.Counter(check for _, check in expected))}")
        dead = query("select r.address, d.last_error from delivery d join recipient r on r.id = d.recipient_id "
                     "where d.state = 4 and d.type = any (%s)", (list(TOLD),))  # a question may be answered before its relay's word comes
        for address, error in dead:
            if address != LEAVING or not error.startswith("recipient"):
                self.fail(f"G2 a message to {address} is dead: {error}")
