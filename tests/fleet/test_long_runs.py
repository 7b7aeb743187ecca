"""What an hour of the torture rests on: a ledger that holds nobody up, last questions that outlast a change of the primary, and
ends that count from when they could be seen."""

import gc

import psycopg2
import pytest

import fleet
import job_load
import ledger
from asked_rows import AskedRows
from checker import Checker
from job_load import JobLoad
from patroni_cluster import Patroni


@pytest.fixture
def seen(tmp_path):
    it = ledger.Ledger(tmp_path / "ledger.jsonl")
    yield it
    it.close()
    gc.unfreeze()


def test_what_the_ledger_has_is_not_looked_through_again(seen):
    before = len(gc.get_objects())
    for n in range(3 * ledger.FROZEN_EVERY):
        seen.add("start", call=n, results=[{"row": n}])
    assert len(seen.of("start")) == 3 * ledger.FROZEN_EVERY
    assert len(gc.get_objects()) < before + ledger.FROZEN_EVERY


class Api:
    """Answers with one after the other, and with the last one from then on."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def api(self, key, method, path):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Load:
    key = "of a tenant"


def views(seen, *answers):
    jobs = JobLoad(Api(*answers), None, seen, None, 1)
    jobs.started = [(Load, "job")]
    return jobs.look_at_all()


SHOWN = (200, {"status": "completed"})
AWAY = (503, {"error": "unavailable"})


def test_a_job_is_looked_at_again_while_the_database_is_away(seen):
    assert views(seen, AWAY, (None, "timed out"), AWAY, SHOWN) == {"job": SHOWN[1]}
    assert len(seen.of("view")) == 1


def test_a_database_that_stays_away_fails_the_look(seen, monkeypatch):
    monkeypatch.setattr(job_load, "AWAY_MAX_S", 0.5)
    with pytest.raises(AssertionError, match="is shown as 503"):
        views(seen, AWAY)


def test_another_refusal_fails_the_look_at_once(seen):
    with pytest.raises(AssertionError, match="is shown as 404"):
        views(seen, (404, {"error": "not_found"}), SHOWN)


@pytest.mark.parametrize("away_s, message, expected", [
    (10, "the database cannot be reached; nothing was changed or charged", 200), (10, "it may have happened", 503),
    (0, "the database cannot be reached; nothing was changed or charged", 503)])
def test_an_operator_asks_again_only_what_did_nothing(monkeypatch, away_s, message, expected):
    answers = [(503, {"message": message}), (200, {})]
    monkeypatch.setattr(fleet, "call", lambda *arguments: answers.pop(0))
    operator = fleet.Operator([type("Front", (), {"api": "http://front"})])
    operator.away_s = away_s
    assert operator.api("key", "POST", "/monitors", {})[0] == expected


class Nodes(Patroni):
    """Without a primary for so many statements."""

    def __init__(self, patience_s, away):
        self.patience_s, self.away = patience_s, away

    def _execute(self, statement, parameters):
        self.away -= 1
        if self.away >= 0:
            raise psycopg2.OperationalError("the database system is shutting down")
        return [(statement,)]


def test_a_patient_cluster_waits_for_another_primary():
    assert Nodes(10, away=2).execute("SELECT 1") == [("SELECT 1",)]


@pytest.mark.parametrize("patience_s", [0, 0.3])
def test_a_cluster_is_as_patient_as_it_is_told_to_be(patience_s):
    with pytest.raises(psycopg2.OperationalError):
        Nodes(patience_s, away=1000).execute("SELECT 1")


def asked_after_an_end(seen, stalls, asked_at):
    """What is found where a row is asked about at that time, its job having ended at 100."""
    checker = Checker.__new__(Checker)
    checker.failures, checker.load = [], type("Load", (), {"tenants": []})
    checker.faults = [{"name": "stall", "what": "the database", "t0": t0, "t": t} for t0, t in stalls]
    checker.ours = lambda moment: moment
    seen.add("lookup", row="row", member="work1", t=asked_at)
    AskedRows(checker, seen, "lookup", "looked_up").ends_and_locks_hold(lambda row: ("a job", "org", 100.0))
    return checker.failures


def test_an_end_whose_commit_waits_for_the_next_primary_counts_from_when_that_answers(seen):
    assert not asked_after_an_end(seen, [(104.2, 106.0), (100.2, 104.0)], 110.9)


def test_who_is_asked_about_long_after_the_next_primary_answers_is_found(seen):
    assert "5.10 s after its end" in str(asked_after_an_end(seen, [(100.2, 104.0), (104.2, 106.0)], 111.1))


def test_a_later_loss_of_the_database_excuses_nothing(seen):
    assert "5.90 s after its end" in str(asked_after_an_end(seen, [(103.0, 106.0)], 105.9))
