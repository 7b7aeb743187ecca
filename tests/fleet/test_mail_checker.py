"""What the torture holds e-mail to: each rule of mail.py notices what breaks it, and a run without fault passes."""

import pytest

from mail import LEAVING, SILENT, STAYING, MailChecker


class Channels:
    """One channel of a tenant with one changed check, and nothing was broken but what is said."""

    def __init__(self):
        self.failures, self.checker, self.notes, self.broken = [], self, [], False
        self.fail = self.failures.append

    def explained(self, start, end):
        return self.broken

    def recorded(self, tenant):
        return [("monitor.field.changed", "check")]

    def same(self, channel, expected, found):
        if expected != found:
            self.fail(f"G2 {expected} {found}")


class Ledger:
    def __init__(self, mail, left=()):
        self.entries = {"mail": mail, "left": list(left), "mail_channel": [{"id": "c", "tenant": "team", "digest": "none"}]}

    def of(self, kind):
        return self.entries.get(kind, [])


class Cluster:
    """The database of it: a delivered message each of those who stay."""

    def execute(self, statement, parameters=None):
        if "from recipient" in statement:
            return [("r0", STAYING[0]), ("r1", STAYING[1])]
        if "from delivery_attempt" in statement:
            return [(f"d{n}", "c", f"r{n}", 0, "check") for n in range(2)]
        return []


def message(n, to, t=10.0, **more):
    return {"t": t, "id": f"d{n}", "to": to, "proper": True, "question": False, "result": "taken", **more}


WHOLE = [message(0, STAYING[0]), message(1, STAYING[1])]


@pytest.mark.parametrize("mail, left, expected", [
    (WHOLE, [], None),
    ([*WHOLE[:1], message(0, STAYING[0], 11.0), *WHOLE[1:]], [], "and its answer was not lost"),
    ([message(0, STAYING[0], result="lost"), message(0, STAYING[0], 11.0), *WHOLE[1:]], [], None),
    ([*WHOLE[:1], message(1, STAYING[1], result="refused")], [], "never came"),
    ([*WHOLE, message(7, SILENT)], [], "has not confirmed"),
    ([*WHOLE, message(7, LEAVING, 20.0)], [{"t": 10.0, "to": LEAVING}], "after its recipient had left"),
    ([*WHOLE, message(7, LEAVING, 11.0)], [{"t": 10.0, "to": LEAVING}], None),
    ([*WHOLE, message(7, SILENT, question=True), message(8, SILENT, question=True)], [], "was asked 2 times"),
    ([*WHOLE, message(7, SILENT, question=True), message(7, SILENT, 11.0, question=True)], [], "and its answer was not lost"),
    ([{**WHOLE[0], "proper": False}, WHOLE[1]], [], "not what it should be"),
])
def test_what_breaks_a_rule_is_noticed(mail, left, expected):
    channels = Channels()
    MailChecker(channels, Cluster(), Ledger(mail, left)).run()
    if expected:
        assert len(channels.failures) == 1 and expected in channels.failures[0], channels.failures
    else:
        assert channels.failures == []


def test_a_fault_excuses_a_repetition_and_nothing_else():
    channels = Channels()
    channels.broken = True
    MailChecker(channels, Cluster(), Ledger([*WHOLE, message(0, STAYING[0], 11.0), message(7, SILENT)])).run()
    assert len(channels.failures) == 1 and "has not confirmed" in channels.failures[0], channels.failures
