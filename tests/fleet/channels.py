"""Channels in a load: some monitors tell one at once and one by digests, which are cut every few seconds. The checker of it:
nothing of what is recorded is lost, and no digest tells it twice."""

import collections
import time

CHANGED, COMPLETED, FAILED = "monitor.field.changed", "monitor.execution.completed", "monitor.execution.failed"

TENANTS = ["team"]
# What a channel is told: (the end of its tag, digest, events).
CHANNELS = [("now", "none", [CHANGED, COMPLETED, FAILED]), ("digest", "hourly", [CHANGED, FAILED])]
DIGEST = "channel.digest"
CUT_EVERY_S = 4
EVENTS_SHOWN_MAX = 500
WAITING, DEAD = 3, 4  # states of a channel's delivery


def channels_of(operator, receiver, ledger, name, key, secret):
    """Makes a tenant's channels; their ids."""
    ids = []
    for kind, digest, events in CHANNELS if name in TENANTS else []:
        tag = f"{name}-{kind}"
        status, made = operator.api(key, "POST", "/channels", {
            "name": tag, "kind": "webhook", "target": {"url": receiver.url(tag)}, "events": events, "digest": digest})
        if status == 404:
            return []  # a process of a version without them
        assert status == 200, made
        receiver.secrets[tag], receiver.leaving[tag] = secret, 0
        ids.append(made["id"])
        ledger.add("channel", id=made["id"], tenant=name, digest=digest, events=events)
    return ids


def told(headers, payload, group):
    """What a channel's webhook says, for the ledger; whether it is what it says."""
    events = payload.get("events") or []
    proper = payload["channel_id"] == headers["service-channel-id"] and (
        "monitor_id" not in payload and payload["notifications"] > 0 if payload["type"] == DIGEST
        else all(event["event_group_id"] == group for event in events))
    return proper, {"channel": payload["channel_id"], "notifications": payload.get("notifications"), "events": len(events),
                    "groups": sorted({event["event_group_id"] for event in events})}


class DigestCutter:
    """An hour is a few seconds."""

    def __init__(self, cluster):
        self.cluster, self.next_cut = cluster, 0

    def cut(self):
        if time.monotonic() < self.next_cut:
            return
        self.next_cut = time.monotonic() + CUT_EVERY_S
        try:
            self.cut_now()
        except Exception:  # the database is being broken at the moment
            pass

    def cut_now(self):
        self.cluster.execute("UPDATE channel SET digest_at = now() WHERE digest <> 'none' RETURNING id")

    def all_is_told(self):
        """Whether nothing is gathered any more, and everything has arrived; else it is cut."""
        if self.cluster.execute("SELECT channel_id FROM digest_event WHERE digest_id IS NULL LIMIT 1"):
            self.cut()
            return False
        return not self.cluster.execute("SELECT id FROM delivery WHERE state = %s", (WAITING,))


class ChannelChecker:
    """`checker` has what is recorded, the faults and the list of failures."""

    def __init__(self, checker, cluster, ledger, notified):
        self.checker, self.cluster, self.fail, self.notified = checker, cluster, checker.fail, notified
        self.channels = ledger.of("channel")
        self.arrived = collections.defaultdict(lambda: collections.defaultdict(list))  # channel -> (type, group) -> entries
        for e in ledger.of("told"):
            if not e["proper"]:
                self.fail(f"G3 a channel is told what is not what it says: {e}")
            if e["result"] == "taken":
                self.arrived[e["channel"]][e["type"], e["group"]].append(e)

    def run(self):
        dead = self.cluster.execute("select id, last_error from delivery where state = %s and recipient_id is null", (DEAD,))
        if dead:
            self.fail(f"G2 channels' deliveries are dead: {dead[:3]}")
        counts = collections.Counter()
        for channel in self.channels:
            arrived = self.arrived[channel["id"]]
            for pair, entries in arrived.items():
                counts["arrived more than once"] += len(entries) - 1
                for before, after in zip(entries, entries[1:]):
                    if not self.checker.explained(before["t"], after["t"]):
                        self.fail(f"G3 the channel {channel['id']} was told {pair} at {before['t']} and again at {after['t']}, "
                                  "and nothing was broken")
            expected = {(kind, check) for kind, check in self.recorded(channel["tenant"]) if kind in channel["events"]}
            if channel["digest"] == "none":
                self.same(channel, expected, set(arrived))
                counts["told at once"] += len(arrived)
            else:
                self.digests(channel, {check for _, check in expected}, arrived)
                counts["digests"] += len(arrived)
                counts["gathered"] += len(expected)
        history = self.cluster.execute("select delivery_id from delivery_attempt where delivered and channel_id is not null "
                                       "and recipient_id is null group by 1 having count(*) > 1")
        if len(history) > counts["arrived more than once"]:
            self.fail(f"G3 {len(history)} deliveries to channels are on record as delivered twice, "
                      f"{counts['arrived more than once']} were")
        self.checker.notes.append("channels: " + ", ".join(f"{what} {n}" for what, n in sorted(counts.items())))

    def recorded(self, tenant):
        """What the tenant's checks are to tell: (type, check)."""
        for check, (monitor, _, _, outcome) in self.checker.outcome.items():
            if self.checker.monitors[monitor].tenant.name == tenant and outcome in self.notified:
                yield self.notified[outcome], check

    def same(self, channel, expected, found):
        for pair in list(expected - found)[:5]:
            self.fail(f"G2 the channel {channel['id']} was never told {pair}")
        for pair in list(found - expected)[:5]:
            self.fail(f"G3 nobody expects that the channel {channel['id']} is told {pair}")

    def digests(self, channel, expected, arrived):
        found, whole = collections.Counter(), True
        for (kind, digest), entries in arrived.items():
            first = entries[0]
            if kind != DIGEST or any(e["groups"] != first["groups"] for e in entries):
                self.fail(f"G3 the digest {digest} of the channel {channel['id']} is not the same each time")
            whole = whole and first["events"] < EVENTS_SHOWN_MAX
            if whole and first["notifications"] != len(first["groups"]):
                self.fail(f"G2 the digest {digest} counts {first['notifications']}, and tells {len(first['groups'])}")
            found.update(first["groups"])
        for check in [check for check, times in found.items() if times > 1][:5]:
            self.fail(f"G3 the check {check} is in {found[check]} digests of the channel {channel['id']}")
        if whole:
            self.same(channel, expected, set(found))
        counted = sum(entries[0]["notifications"] for entries in arrived.values())
        if counted != len(expected):
            self.fail(f"G2 the digests of the channel {channel['id']} count {counted} of {len(expected)}")
