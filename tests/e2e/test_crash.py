"""kill -9 in the middle of a tick: every check is recorded once (G1), none is lost (G2), notifications
arrive at least once under one pair (G3), money adds up (G4) and the tick's outcomes add up (G7)."""

import collections

from conftest import Vedette, wait_until

ROWS = 3000
PRICE_MC = 1000
BUSY = {
    # Slow and in small steps, so that there is a middle to be killed in; soon taken over.
    "VEDETTE_WORKER_PER_HOST_MAX": "2",
    "VEDETTE_TESTING_SMALL_STEPS": "true",
    "VEDETTE_WORKER_LEASE_MS": "3000",
    "VEDETTE_DELIVERY_LEASE_MS": "3000",
    # The receiver's breaker is not the subject.
    "VEDETTE_DELIVERY_BREAKER_FAILURES": "1000000",
}


def page(title):
    return f"<html><head><title>{title}</title></head><body><h1>A page</h1></body></html>"


def recorded(database, tick):
    return database.value("SELECT count(*) FROM row_state WHERE last_tick_id = %s", (tick,))


def kill_in_the_middle(service, database, tick, after):
    """Kills when some more checks than `after` are recorded; says how many were."""
    wait_until("checks to be recorded", lambda: recorded(database, tick) > after)
    service.kill()
    count = recorded(database, tick)
    assert count < ROWS, "the tick was over before the kill: nothing was shown"
    return count


def open_tick(database):
    return wait_until("an open tick", lambda: database.value("SELECT max(tick_id) FROM open_tick"))


def check_books(database, tick, completed):
    """What must hold of a finished tick, asked of the database itself."""
    assert recorded(database, tick) == ROWS
    logged = collections.Counter()
    for block, first, outcomes in database.rows(
            "SELECT block, first, outcomes FROM check_log WHERE tick_id = %s", (tick,)):
        for offset, outcome in enumerate(bytes(outcomes)):
            if outcome:
                logged[block * 256 + first + offset] += 1
    assert logged == {position: 1 for position in range(ROWS)}, "each check is logged once"
    balance, reserved, entries = database.rows(
        "SELECT (SELECT balance_mc FROM account), (SELECT coalesce(sum(reserved_mc), 0) FROM chunk), "
        "(SELECT sum(amount_mc) FROM credit_entry)")[0]
    assert balance + reserved == entries and reserved == 0
    charged, checks = database.rows(
        "SELECT -sum(amount_mc), sum(checks) FROM credit_entry WHERE checks IS NOT NULL")[0]
    assert checks == completed and charged == completed * PRICE_MC
    assert database.value("SELECT count(*) FROM chunk") == 0


def test_every_check_is_recorded_once(binary, database, tmp_path, nginx, receiver):
    nginx.write("page.html", page("first"))
    service = Vedette(binary, database.url, tmp_path, BUSY).migrate().start()
    tenant = service.organisation()
    monitor = tenant.post("/monitors", {
        "name": "Many", "key_columns": ["n"],
        "rows": [{"n": n, "url": f"{nginx.url}/page.html?n={n}"} for n in range(ROWS)],
        "struct": {"title": "css:title"}, "frequency": "30d",
        "webhook_url": receiver.url, "webhook_event_types": ["monitor.field.changed"]})["id"]

    # The first tick dies twice.
    tick = open_tick(database)
    done = 0
    for _ in range(2):
        done = kill_in_the_middle(service, database, tick, done + 100)
        service.start()
    wait_until("the tick to finish", lambda: tenant.finished_ticks(monitor), 120)
    check_books(database, tick, ROWS)
    first = tenant.finished_ticks(monitor)[0]
    assert first["rows"] == ROWS and first["outcomes"]["unchanged"] == ROWS and first["slots"] == 1
    assert database.value("SELECT count(*) FROM event") == 0

    # The second finds a change in every row, and dies among events and deliveries.
    nginx.write("page.html", page("second"))
    tenant.post(f"/monitors/{monitor}/trigger", {})
    tick = open_tick(database)
    kill_in_the_middle(service, database, tick, 300)
    service.start()
    wait_until("the tick to finish", lambda: len(tenant.finished_ticks(monitor)) == 2, 120)
    check_books(database, tick, 2 * ROWS)
    assert tenant.finished_ticks(monitor)[0]["outcomes"]["changed"] == ROWS
    assert database.rows(
        "SELECT count(*), count(DISTINCT row_id), count(DISTINCT event_group_id) FROM event") == [(ROWS, ROWS, ROWS)]

    wait_until("every delivery", lambda: database.value("SELECT count(*) FROM delivery") == 0, 120)
    groups = {str(g) for (g,) in database.rows("SELECT event_group_id FROM event")}
    pairs = receiver.pairs()
    assert set(pairs) == {("monitor.field.changed", g) for g in groups}
    # A duplicate only where the process died between sending and recording.
    assert len(pairs) - ROWS <= 512, "more duplicates than were in flight"
    assert database.rows("SELECT count(*), count(DISTINCT event_group_id) FROM delivery_attempt WHERE delivered") == [
        (ROWS, ROWS)]
    assert service.stop() == 0
