"""Which slots a monitor may have, given its ticks and what was done to it: worked out here apart from the code that
does it. Times are datetimes of the database's clock."""

import datetime

# The ledger's clock and the database's.
APART = datetime.timedelta(seconds=0.1)


def first_after(anchor, period, now):
    return anchor if now < anchor else anchor + ((now - anchor) // period + 1) * period


# A slot of every minute of the clock, in any zone.
MINUTES = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


class Schedule:
    """Holds every state that the monitor may be in: how many changes of its frequency have come, and its next slot.
    `changes`: (period, by_clock, from, to), each made at one moment between two; the first is its creation. `stops`: spans in
    which it may have been stopped. `first` is its first slot, which its anchor comes shortly before."""

    def __init__(self, anchor, first, changes, stops):
        self.since = first
        self.changes = [(period, lo - APART, hi + APART) for period, _, lo, hi in changes]
        self.anchors = [MINUTES if by_clock else anchor for _, by_clock, _, _ in changes]
        self.stops = [(lo - APART, hi + APART) for lo, hi in stops]
        self.states = {(0, first): 0}  # and how many slots passed in a stop before it

    def tick(self, due, slots, started):
        """What is wrong with the next tick, or None."""
        self._advance(started)
        fitting = {state: passed for state, passed in self.states.items() if state[1] == due}
        if not fitting:
            expected = sorted({(slot, self.changes[n][0].total_seconds()) for n, slot in self.states})
            return f"a tick is due at {due}, and could be at " + ", ".join(f"{s} (every {p:.0f} s)" for s, p in expected)
        self.states = {}
        for (n, _), passed in fitting.items():
            period = self.changes[n][0]
            following, then = self._after(n, due), self._after(n, started)
            if slots == (then - following) // period + 1:
                self._may_be(n, then, passed)
        self.since = started
        return None if self.states else f"the tick due at {due}, started at {started}, stands for {slots} slots"

    def end(self, period, next_slot, now):
        self._advance(now)
        if (len(self.changes) - 1, next_slot) not in self.states or period != self.changes[-1][0]:
            return f"its next slot is {next_slot}, every {period}, and could be {self.states}"
        return None

    def passed(self):
        return min(self.states.values(), default=0)

    def _after(self, n, now):
        return first_after(self.anchors[n], self.changes[n][0], now)

    def _may_be(self, n, slot, passed):
        self.states[n, slot] = min(passed, self.states.get((n, slot), passed))

    def _advance(self, until):
        """To the states there may be at `until`, without a tick since the last one."""
        self._pass_stopped(until)
        for n, (period, lo, hi) in enumerate(self.changes[1:]):
            if lo > until:
                break
            for (before, slot), passed in list(self.states.items()):
                if before != n:
                    continue
                if slot <= hi:  # due when the change came: it stays so
                    self._may_be(n + 1, slot, passed)
                moment = max(lo, self.since)
                while moment <= min(hi, slot, until + APART):
                    to = self._after(n + 1, moment)
                    self._may_be(n + 1, to, passed)
                    moment = to
                if hi < until:
                    del self.states[before, slot]
            self._pass_stopped(until)

    def _pass_stopped(self, until):
        for (n, slot), passed in list(self.states.items()):
            while slot <= until + APART and any(lo <= slot <= hi for lo, hi in self.stops):
                slot, passed = self._after(n, slot), passed + 1
                self._may_be(n, slot, passed)
