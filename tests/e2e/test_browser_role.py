"""Processes of the role browser render for those that have no browser, and their deaths, or their browsers', lose no
check and double none."""

import collections
import http.server
import json
import os
import random
import signal
import subprocess
import threading

import pytest

from conftest import Vedette, wait_until
from servers import QuietHandler
from test_rendered_pages import CHROMIUM, SANDBOX, browsers_of

ROWS = 24
PRICE_MC = 1000
KILLS = int(os.environ.get("VEDETTE_TEST_BROWSER_KILLS", 6))
# Its scripts say how often it was loaded: another value at each check.
COUNTED = """<!DOCTYPE html><h1></h1><script>
fetch(location.pathname.replace('page', 'seen')).then(r => r.text()).then(t => document.querySelector('h1').textContent = t)
</script>"""
SLOW = "<!DOCTYPE html><h1></h1><script src=/slow.js></script>"


class Site:
    """Pages that scripts make. The script of /slow does not come, the first time, until who asks for it is gone."""

    def __init__(self):
        self.loads, self.slow_asked = collections.Counter(), 0
        site = self

        class Handler(QuietHandler):
            def do_GET(self):
                kind, body = "text/html", COUNTED
                if self.path.startswith("/seen"):
                    site.loads[self.path] += 1
                    body = str(site.loads[self.path])
                elif self.path == "/still":
                    body = "<!DOCTYPE html><h1>the same</h1>"
                elif self.path == "/slow":
                    body = SLOW
                elif self.path == "/slow.js":
                    site.slow_asked += 1
                    if site.slow_asked == 1:
                        return self.rfile.read()
                    kind, body = "text/javascript", "document.querySelector('h1').textContent = 'made by slow'"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def site():
    assert os.path.exists(CHROMIUM), "apt install chromium"
    site = Site()
    yield site
    site.server.shutdown()


class Fleet:
    """One process that has no browser and does all else, and as many of the role browser as are started."""

    def __init__(self, binary, database, directory):
        self.binary, self.database, self.directory = binary, database, directory
        self.browsers = []
        self.service = Vedette(binary, database.url, directory, {
            "VEDETTE_BROWSER_ENABLED": "false", "VEDETTE_PROBES_LOW_RENDER": "always",
            # What a kill costs is an attempt; that no check runs out of them is not the subject.
            "VEDETTE_PROBES_LOW_ATTEMPTS_MAX": "8", "VEDETTE_PROBES_LOW_DEADLINE_MS": "600000",
        }).migrate().start()

    def start_browser(self):
        browser = Vedette(self.binary, self.database.url, self.directory, {
            "VEDETTE_BROWSER_SANDBOX": str(SANDBOX).lower(), "VEDETTE_BROWSER_PAGES_MAX": "2"})
        browser.environment["VEDETTE_HEALTH_LISTEN"] = f"127.0.0.1:{browser.admin_port}"
        self.browsers.append(browser.start(roles="browser"))
        return browser

    def rendering(self):
        return self.service.as_operator("GET", "/readyz").json["rendering"]

    def stop(self):
        for process in [*self.browsers, self.service]:
            if process.process.poll() is None:
                assert process.stop() == 0, process.log()[-2000:]


@pytest.fixture
def fleet(binary, database, tmp_path):
    fleet = Fleet(binary, database, tmp_path)
    yield fleet
    fleet.stop()


def watch(tenant, rows, **more):
    return tenant.post("/monitors", {"name": "Pages", "key_columns": ["url"], "frequency": "30d",
                                     "rows": [{"url": url} for url in rows], "struct": {"title": "css:h1"}, **more})["id"]


def known(tenant, monitor):
    return sorted((row["current"].get("title") or {}).get("value") or "" for row in tenant.rows(monitor))


def test_a_process_without_a_browser_has_its_pages_rendered_and_a_killed_process_is_replaced(fleet, site, database):
    tenant = fleet.service.organisation()
    said = fleet.rendering()
    assert said["available"] is False and "no process with the role browser is alive" in said["why"]
    first = fleet.start_browser()
    wait_until("rendering to be had", lambda: fleet.rendering()["available"], 30)

    monitor = watch(tenant, [f"{site.url}/page/{n}" for n in range(6)])
    wait_until("the pages", lambda: tenant.finished_ticks(monitor), 120)
    assert known(tenant, monitor) == ["1"] * 6, "each is loaded once"
    assert browsers_of(fleet.service) == [] and len(browsers_of(first)) == 1
    assert first.as_operator("GET", "/readyz").json["rendering"]["available"] is True

    # A picture is taken where a page is kept, with its outlines: as in a process that renders itself.
    tenant.post(f"/monitors/{monitor}/trigger", {})
    wait_until("the next check", lambda: len(tenant.finished_ticks(monitor)) == 2, 120)
    kept = tenant.get(f"/monitors/{monitor}/rows/{tenant.rows(monitor)[0]['id']}/snapshots")["snapshots"]
    assert [one["has_screenshot"] for one in kept] == [True, True], "the first check, and a change"
    pictures = database.value("select count(*) from snapshot_content c join snapshot s on c.hash = s.picture_hash")
    still = watch(tenant, [f"{site.url}/still"])
    wait_until("the page that stays as it is", lambda: tenant.finished_ticks(still), 120)
    tenant.post(f"/monitors/{still}/trigger", {})
    wait_until("its second check", lambda: len(tenant.finished_ticks(still)) == 2, 120)
    assert database.value("select count(*) from snapshot_content c join snapshot s on c.hash = s.picture_hash") == pictures + 1

    slow = watch(tenant, [f"{site.url}/slow"])
    wait_until("the slow page to load", lambda: site.slow_asked == 1, 60)
    left = browsers_of(first)
    second = fleet.start_browser()
    first.kill()
    wait_until("the slow page", lambda: tenant.finished_ticks(slow), 120)
    assert known(tenant, slow) == ["made by slow"] and site.slow_asked == 2, "the other process has loaded it"
    [tick] = tenant.finished_ticks(slow)
    assert tick["outcomes"]["unchanged"] == 1 and sum(tick["outcomes"].values()) == 1
    wait_until("every page to be closed", lambda: database.value("select count(*) from render") == 0, 30)
    assert database.rows("select -sum(amount_mc), sum(checks) from credit_entry where checks is not null") == [
        (15 * PRICE_MC, 15)]
    wait_until("the killed one's browser to be gone", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in left), 60)

    assert second.stop() == 0
    wait_until("nobody to render", lambda: not fleet.rendering()["available"], 30)
    seen = tenant.post("/monitors/preview", {"key_columns": ["url"], "struct": {"title": "css:h1"},
                                             "rows": [{"url": f"{site.url}/page/0"}]})
    assert "no process with the role browser is alive" in json.dumps(seen), seen


def test_a_process_of_the_role_browser_does_not_start_where_it_cannot_render(binary, database, tmp_path):
    for key, value, said in (("EXECUTABLE", "/nonexistent/chromium", "/nonexistent/chromium"), ("ENABLED", "false", "[browser] enabled")):
        browser = Vedette(binary, database.url, tmp_path, {f"VEDETTE_BROWSER_{key}": value})
        done = subprocess.run([binary, "serve", "--roles", "browser"], env=browser.environment, capture_output=True, text=True,
                              timeout=60)
        assert done.returncode != 0 and "role browser" in done.stderr and said in done.stderr, done.stderr


def finished(database, monitor, tick):
    return database.value("select count(*) from tick where monitor_id = %s and tick_id = %s and finished_at is not null",
                          (monitor, tick)) == 1


def check_books(database, monitor, ticks):
    """Each check of these ticks once, whatever it came to; what changed goes on from what was before; and the money."""
    changed = 0
    for tick in ticks:
        logged = collections.Counter()
        # A small tick that was recorded at once has its outcomes inside.
        for block, first, outcomes in database.rows(
                "select block, first, outcomes from check_log where tick_id = %s union all "
                "select 0, 0, outcomes from tick where tick_id = %s and outcomes is not null", (tick, tick)):
            for offset, outcome in enumerate(bytes(outcomes)):
                if outcome:
                    logged[block * 256 + first + offset] += 1
                    changed += outcome == 1
        assert logged == {position: 1 for position in range(ROWS)}, "each check is logged once"
    events = database.rows("select row_id, tick_id, previous_value, current_value, event_group_id from event "
                           "where monitor_id = %s and event_type = 0 order by row_id, tick_id", (monitor,))
    assert len(events) == changed == len({group for *_, group in events})
    last = {}
    for row, _, before, now, _ in events:
        assert last.get(row, before) == before and int(now) > int(before), "a check takes effect once, and none is lost"
        last[row] = now
    balance, reserved, entries = database.rows(
        "select (select sum(balance_mc) from account), (select coalesce(sum(reserved_mc), 0) from chunk), "
        "(select sum(amount_mc) from credit_entry)")[0]
    assert balance == entries and reserved == 0
    charged, checks = database.rows("select -sum(amount_mc), sum(checks) from credit_entry where checks is not null")[0]
    assert charged == checks * PRICE_MC
    return int(checks)


def kill_one(fleet, dice):
    """The browser of one of the processes, or the process, in whose place another one starts. False: there was none."""
    at = dice.randrange(len(fleet.browsers))
    victim = fleet.browsers[at]
    if dice.random() < 0.3:
        victim.kill()
        del fleet.browsers[at]
        fleet.start_browser()
        return True
    pids = browsers_of(victim)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return bool(pids)


def test_g1_g2_kills_of_browsers_and_of_their_processes_lose_no_check_and_double_none(fleet, site, database):
    """VEDETTE_TEST_BROWSER_KILLS=1000 for more."""
    seed = int(os.environ.get("VEDETTE_TEST_SEED", random.randrange(1_000_000)))
    print("seed", seed)
    dice = random.Random(seed)
    tenant = fleet.service.organisation()
    for _ in range(2):
        fleet.start_browser()
    wait_until("rendering to be had", lambda: fleet.rendering()["available"], 30)
    monitor = watch(tenant, [f"{site.url}/page/{n}" for n in range(ROWS)])
    ticks, kills = [], 0
    while True:
        tick = wait_until("an open tick", lambda: database.value(
            "select max(tick_id) from open_tick where monitor_id = %s", (monitor,)), 60)
        ticks.append(tick)
        while kills < KILLS and not finished(database, monitor, tick):
            loads = sum(site.loads.values())
            wait_until("a page to load", lambda: sum(site.loads.values()) > loads  # noqa: B023
                       or finished(database, monitor, tick), 120)  # noqa: B023
            kills += kill_one(fleet, dice)
        wait_until("the tick to finish", lambda: finished(database, monitor, tick), 600)  # noqa: B023
        if kills >= KILLS:
            break
        tenant.post(f"/monitors/{monitor}/trigger", {})
    # The fleet is as it was: nothing fails any more.
    tenant.post(f"/monitors/{monitor}/trigger", {})
    last = wait_until("an open tick", lambda: database.value(
        "select max(tick_id) from open_tick where monitor_id = %s", (monitor,)), 60)
    wait_until("the last tick", lambda: finished(database, monitor, last), 300)
    assert tenant.finished_ticks(monitor)[0]["outcomes"]["changed"] == ROWS
    checks = check_books(database, monitor, [*ticks, last])
    print(f"{kills} kills in {len(ticks)} ticks, {checks} checks completed of {ROWS * (len(ticks) + 1)}, "
          f"{sum(site.loads.values())} pages loaded")
    assert checks >= ROWS * (len(ticks) + 1) * 0.8, "most checks come through"
    wait_until("every page to be closed", lambda: database.value("select count(*) from render") == 0, 30)
