"""Rows that a service is asked about, in the checker, whatever they belong to: they are asked about again only where there
is a reason, and not after their owner's end or its organisation's lock."""

import collections

# How long after the answer to its owner's end, or to its organisation's lock, a row may still start.
STOP_S = 5.0


def times_asked_again(checker, where, asks, answers):
    """The same is asked about again by one process only after a refusal, by another only after a fault. How often it was
    for a fault."""
    again = 0
    for before, after in zip(asks, asks[1:]):
        refused = any(a["status"] == 500 and before["t"] <= a["t"] <= after["t"] for a in answers)
        if refused and before["member"] == after["member"]:
            continue
        again += 1
        if not checker.explained(before["t"], after["t"], {before["member"], after["member"]}):
            checker.fail(f"G1 {where} was asked about by {before['member']} at {before['t']} and by {after['member']} at "
                         f"{after['t']}, and nothing was broken")
    return again


class AskedRows:
    """What `ledger` says of the kinds `ask` and `answer`. `checker` has the faults, the clocks and the list of failures."""

    def __init__(self, checker, ledger, ask, answer):
        self.checker = checker
        self.asks = collections.defaultdict(list)  # row -> entries
        self.answers = collections.defaultdict(list)
        for kind, rows in ((ask, self.asks), (answer, self.answers)):
            for entry in ledger.of(kind):
                rows[entry["row"]].append(entry)
        self.twice = self.held = self.thawed = 0

    def asked_again(self, where, row):
        self.twice += times_asked_again(self.checker, where, self.asks.get(row, []), self.answers.get(row, []))

    # G5

    def ends_and_locks_hold(self, owner_of):
        """`owner_of(row)`: what the row belongs to in words, its organisation, and its end or None; or None."""
        owned = [(asks, owner) for row, asks in self.asks.items() if (owner := owner_of(row))]
        for asks, (where, _, finished) in owned:
            if finished:
                since = self.checker.seen_from(self.checker.ours(finished))
                self.none_after(where, since, float("inf"), asks, "its end")
        for tenant in self.checker.load.tenants:
            for since, until in self.checker.strict_locks(tenant):
                self.held += 1
                for asks, (where, org, _) in owned:
                    if org == tenant.id:
                        self.none_after(where, since, until, asks[:1], "the lock of its organisation")

    def none_after(self, where, since, until, asks, what):
        for ask in asks:
            if not since + STOP_S < ask["t"] < until:
                continue
            if self.checker.just_thawed(ask["member"], since, ask["t"]):
                self.thawed += 1
            else:
                self.checker.fail(f"G5 {ask['member']} asked about a row of {where} {ask['t'] - since:.2f} s after {what}")
