"""`vedette ctl org-move` between two fleets, while checks, changes and webhooks go on: nothing is checked, charged or
delivered twice, and nothing is lost, also where the command is killed on its way."""

import collections
import subprocess
import threading

import pytest
from conftest import MIGRATED, Database, Tenant, Vedette, clean_environment, wait_until

ROWS = 40
PRICE_MC = 1000
OTHER_KEY = "5a" * 32


@pytest.fixture
def cells(binary, postgres, tmp_path):
    """The two fleets, each with its database; the second has another encryption key."""
    services, databases = [], []
    for extra in ({}, {"VEDETTE_SECURITY_ENCRYPTION_KEY": OTHER_KEY, "VEDETTE_CELL_ID": "c3"}):
        database = Database(postgres, postgres.new_name())
        postgres.create(database.name, MIGRATED)
        databases.append(database)
        services.append(Vedette(binary, database.url, tmp_path, extra).start())
    yield list(zip(services, databases))
    assert [service.stop() for service in services] == [0, 0]
    for database in databases:
        postgres.drop(database.name)


class Pages:
    """A page whose title changes several times a second, until it is told to end."""

    def __init__(self, nginx):
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.change, args=(nginx,))
        self.thread.start()

    def change(self, nginx):
        number = 0
        while not self.ended.wait(0.3):
            number += 1
            nginx.write("page.html", f"<html><head><title>{number}</title></head><body></body></html>")

    def end(self):
        self.ended.set()
        self.thread.join()


def command(binary, old, new_database, tmp_path, org_id, *more):
    path = tmp_path / "c3.toml"
    path.write_text(f'[cell]\nid = "c3"\n[database]\nurl = "{new_database.url}"\n[security]\nencryption_key = "{OTHER_KEY}"\n')
    return subprocess.Popen(
        [binary, "ctl", "org-move", org_id, "--to", "c3", "--to-config", path, *more],
        env=clean_environment(old.environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process):
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return said


def kill_at(process, word):
    """Ends the command as soon as it has said this."""
    said = ""
    for line in process.stdout:
        said += line
        if word in line:
            break
    process.kill()
    process.communicate()
    assert word in said, said


def test_an_organisation_moves_while_its_checks_go_on(binary, cells, tmp_path, nginx, receiver):
    (old, old_database), (new, new_database) = cells
    nginx.write("page.html", "<html><head><title>0</title></head><body></body></html>")
    tenant = old.organisation()
    monitor = tenant.post("/monitors", {
        "name": "Moves", "key_columns": ["n"],
        "rows": [{"n": n, "url": f"{nginx.url}/page.html?n={n}"} for n in range(ROWS)],
        "struct": {"title": "css:title"}, "frequency": "1s",
        "webhook_url": receiver.url, "webhook_event_types": ["monitor.field.changed"]})["id"]
    pages = Pages(nginx)
    try:
        wait_until("some ticks", lambda: len(tenant.finished_ticks(monitor)) >= 3)
        kill_at(command(binary, old, new_database, tmp_path, tenant.org_id), "copying")
        kill_at(command(binary, old, new_database, tmp_path, tenant.org_id), "locked for writing")
        assert tenant.call("POST", f"/monitors/{monitor}/cancel", {}).status == 503
        assert tenant.call("GET", f"/monitors/{monitor}").status == 200
        said = finish(command(binary, old, new_database, tmp_path, tenant.org_id))
        assert "it works at" in said, said
        moved = Tenant(new, tenant.org_id, tenant.api_key, tenant.signing_secret)
        before = len(moved.finished_ticks(monitor))
        assert before >= 3
        wait_until("ticks at the new side", lambda: len(moved.finished_ticks(monitor)) >= before + 3)
    finally:
        pages.end()
    moved.post(f"/monitors/{monitor}/cancel", {})
    wait_until("what is under way to end", lambda: new_database.value("SELECT count(*) FROM chunk") == 0)
    wait_until("every delivery", lambda: new_database.value("SELECT count(*) FROM delivery") == 0)

    # A client that still asks the old cell is told where to ask.
    answer = tenant.call("GET", f"/monitors/{monitor}")
    assert (answer.status, answer.json["cell"]) == (421, "c3")
    for table in ("chunk", "delivery", "monitor_sched", "account"):
        assert old_database.value(f"SELECT count(*) FROM {table}") == 0, table
    balance, reserved, entries = new_database.rows(
        "SELECT (SELECT balance_mc FROM account), (SELECT coalesce(sum(reserved_mc), 0) FROM chunk), "
        "(SELECT sum(amount_mc) FROM credit_entry)")[0]
    assert balance + reserved == entries and reserved == 0
    charged, checks = new_database.rows(
        "SELECT -sum(amount_mc), sum(checks) FROM credit_entry WHERE checks IS NOT NULL")[0]
    assert charged == checks * PRICE_MC
    # Every slot is accounted for, and no tick was given up.
    ticks = moved.finished_ticks(monitor)
    assert all(tick["outcomes"].get("skipped_paused", 0) == 0 for tick in ticks[1:]), ticks
    made = sum(tick["outcomes"].get(outcome, 0) for tick in ticks for outcome in ("unchanged", "changed"))
    assert made == checks, (made, checks)
    changes = {str(group) for group, in new_database.rows("SELECT DISTINCT event_group_id FROM event")}
    pairs = collections.Counter(receiver.pairs())
    assert set(pairs) == {("monitor.field.changed", group) for group in changes}
    assert set(pairs.values()) == {1}, "something was delivered twice"

    finish(command(binary, old, new_database, tmp_path, tenant.org_id, "--remove", "--grace-h", "0"))
    assert old_database.value("SELECT count(*) FROM organisation") == 0
    assert old_database.value("SELECT count(*) FROM monitor_row") == 0
    answer = tenant.call("GET", f"/monitors/{monitor}")
    assert (answer.status, answer.json["cell"]) == (421, "c3")
