"""A row that ends the process that works on it: it alone fails, and its neighbours are done and paid for once."""

import asyncio
import signal
import time

from cluster import wait_until
from scenario import ROWS

POISON = 5
INNOCENT = 200


def deaths_until(s, over):
    """Starts the worker again whenever it dies, until all is over. The moments at which it died."""
    deaths = []

    def looks_over():
        if s.work1.process.poll() is not None:
            assert s.work1.process.returncode == -signal.SIGKILL
            deaths.append(time.monotonic())
            s.ledger.add("fault", name="death", t0=deaths[-1] - 1, what="work1")
            s.work1.start()
        return over()

    wait_until("the work to end", looks_over, 60)
    return deaths


def test_a_row_that_kills_is_isolated_to_itself(scenario):
    s = scenario(settings={"VEDETTE_WORKER_CLAIMS_MAX": "1"})
    s.first_tick(s.work1)
    poison = s.row(POISON)

    async def behave(member, request, times):
        if request["row_id"] == poison:
            s.work1.send(signal.SIGKILL)

    s.research.behave = behave
    s.trigger()
    deaths = deaths_until(s, s.over)
    assert s.end() == []
    # Halved until it is alone: once in the whole chunk, in a half, a quarter, an eighth; then its last try.
    assert len(deaths) == 5
    outcomes = s.cluster.execute("SELECT position, outcome FROM row_state ORDER BY position")
    assert outcomes == [(n, 3 if n == POISON else 1) for n in range(ROWS)]
    message = s.value("SELECT message FROM event WHERE event_type = 1")
    assert message.startswith("probe_crashed")


def test_a_row_of_a_job_that_kills_is_isolated_from_its_job_and_from_checks(scenario):
    """Its worker has 200 checks under way each time that it dies."""
    s = scenario(settings={"VEDETTE_WORKER_CLAIMS_MAX": "1", "VEDETTE_WORKER_CHECKS_IN_FLIGHT_MAX": "256"},
                 rows=INNOCENT)
    s.first_tick(s.work1)

    async def slow(member, request, times):
        await asyncio.sleep(0.5)

    async def behave(member, question, times):
        if question["person"]["name"].endswith(f"Row{POISON}"):
            s.work1.send(signal.SIGKILL)

    s.research.behave, s.lookups.behave = slow, behave
    asks = len(s.ledger.of("ask"))
    s.trigger()
    wait_until("the checks to be under way", lambda: len(s.ledger.of("ask")) > asks)
    job = s.bulk()
    deaths = deaths_until(s, lambda: s.over() and s.jobs_over())
    assert s.end() == []
    # Beside the others; then on its last try.
    assert 2 <= len(deaths) <= 4
    assert s.cluster.execute("SELECT outcome, count(*) FROM row_state GROUP BY 1") == [(1, INNOCENT)]
    assert s.value("SELECT count(*) FROM event WHERE event_type = 1") == 0
    cells = [row[0] for row in s.value("SELECT rows FROM job_part WHERE job_id = %s", job)]
    assert [cell["error"] for cell in cells] == [None] * POISON + ["row_crashed"] + [None] * (ROWS - POISON - 1)
