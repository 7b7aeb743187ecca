"""A row that ends the process of whoever checks it: it alone fails, and its neighbours are checked and paid for once."""

import signal
import time

from cluster import wait_until
from scenario import ROWS

POISON = 5


def test_a_row_that_kills_is_isolated_to_itself(scenario):
    s = scenario(settings={"VEDETTE_WORKER_CLAIMS_MAX": "1"})
    s.first_tick(s.work1)
    poison = s.row(POISON)

    async def behave(member, request, times):
        if request["row_id"] == poison:
            s.work1.send(signal.SIGKILL)

    s.research.behave = behave
    s.trigger()
    deaths = []

    def over():
        if s.work1.process.poll() is not None:
            assert s.work1.process.returncode == -signal.SIGKILL
            deaths.append(time.monotonic())
            s.ledger.add("fault", name="death", t0=deaths[-1] - 1, what="work1")
            s.work1.start()
        return s.over()

    wait_until("the tick to finish", over, 60)
    assert s.end() == []
    # Halved until it is alone: once in the whole chunk, in a half, a quarter, an eighth; then its last try.
    assert len(deaths) == 5
    outcomes = s.cluster.execute("SELECT position, outcome FROM row_state ORDER BY position")
    assert outcomes == [(n, 3 if n == POISON else 1) for n in range(ROWS)]
    message = s.value("SELECT message FROM event WHERE event_type = 1")
    assert message.startswith("probe_crashed")
