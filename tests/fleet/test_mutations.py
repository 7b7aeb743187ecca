"""The torture's checker is honest: with a safety switched off, the fault that the safety is there for is noticed. Each
script is run with it on, too, when all must be well."""

import signal
import time

import pytest
from cluster import wait_until
from scenario import LEASE_MS, ROWS


def both(safety):
    return pytest.mark.parametrize("disabled", [None, safety], ids=["on", "off"])


def verdict(disabled, failures, signs):
    """All is well, or what was to be noticed was."""
    if not disabled:
        assert failures == []
    else:
        assert any(sign in failure for failure in failures for sign in signs), failures or "nothing was noticed"


@both("row_fence")
def test_a_commit_without_an_answer_is_recorded_once(scenario, disabled):
    """The row fence: half a chunk is recorded, the answer of its COMMIT is lost, and the record is repeated."""
    s = scenario(disabled)
    s.first_tick(s.work1)
    s.hold(["work1"], range(ROWS // 2, ROWS))
    s.work1.proxy.cut_commit_of("states_lock_unfenced" if disabled else "states_lock")
    t0 = time.monotonic()
    s.trigger()
    wait_until("the cut", lambda: s.work1.proxy.cut_done == 1)
    s.ledger.add("fault", name="cut_commit", t0=t0, what="work1")
    # Another record of it, with or without effect, before the rest comes.
    wait_until("the repeated record", lambda: s.work1.proxy.repeated > 0)
    s.release()
    verdict(disabled, s.end(), ["two change events", "differ"])


@both("lease_fence")
def test_who_lost_its_lease_records_nothing(scenario, disabled):
    """The lease fence: a worker is frozen before it records, another one is half through the same chunk."""
    s = scenario(disabled)
    s.first_tick(s.work2)
    s.work2.kill()
    s.hold(["work2"], range(ROWS // 2, ROWS))
    s.work1.points = ["after_probe:stop:1"]
    s.work1.start()
    s.trigger()
    t0 = time.monotonic()
    wait_until("the freeze", lambda: s.work1.state() == "T")
    s.work2.start()
    wait_until("the heir to be half through", lambda: s.recorded() == ROWS // 2 and len(s.asked(s.work2)) >= 2 * ROWS)
    # It freezes at every record that it begins; the one with its old lease must have been made.
    deadline = time.monotonic() + 6
    while time.monotonic() < deadline and not s.work1.errors() and not (
            "a lease was lost" in s.work1.log() and time.monotonic() > deadline - 3):
        if s.work1.state() == "T":
            s.work1.send(signal.SIGCONT)
        time.sleep(0.05)
    s.ledger.add("fault", name="freeze", t0=t0, what="work1")
    s.release()
    s.work1.kill()
    verdict(disabled, s.end(), ["recorded already"])


@both("reservation")
def test_what_is_charged_was_reserved(scenario, disabled):
    s = scenario(disabled)
    s.first_tick(s.work1)
    verdict(disabled, s.end(), ["G4 organisation"])


@both("lease_renewal")
def test_who_works_longer_than_its_lease_keeps_it(scenario, disabled):
    """Lease renewal: checks take longer than a lease, nothing is broken, and nobody else may ask about them."""
    s = scenario(disabled)
    s.first_tick(s.work1)
    s.work2.start()
    s.work2.wait_ready()
    s.hold(["work1", "work2"], range(ROWS))
    s.trigger()
    asks = len(s.ledger.of("ask"))
    wait_until("the checks to be asked about", lambda: len(s.ledger.of("ask")) >= asks + ROWS)
    time.sleep(2.5 * LEASE_MS / 1000)  # the point: longer than a lease
    s.release()
    verdict(disabled, s.end(), ["nothing was broken"])
