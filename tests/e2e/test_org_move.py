"""`vedette ctl org-move` between two fleets, while checks, changes and webhooks go on: nothing is checked, charged or
delivered twice, and nothing is lost, also where the command is killed on its way."""

import collections
import contextlib
import datetime
import json
import os
import random
import subprocess
import threading
import time

import psycopg2
import pytest
from conftest import ENCRYPTION_KEY, MIGRATED, Database, Tenant, Vedette, call, clean_environment, wait_until

ROWS = 40
# Those of the organisation that is moved at length: VEDETTE_TEST_MOVE_ROWS=1000000 in a nightly run.
LARGE_ROWS = int(os.environ.get("VEDETTE_TEST_MOVE_ROWS", "20000"))
# How long a step over so many rows may take, on a machine that does other things too.
LARGE_MAX_S = 1800
PRICE_MC = 1000
CHANGED, UNCHANGED, PAUSED, OVERLAP = 1, 2, 6, 7  # domain/monitor/enums.h
OTHER_KEY = "5a" * 32
# For the large monitor, which asks nobody: what its checks cost, and the share of them that see something new.
NULL_TIER = {"VEDETTE_DASHBOARD_ENABLED": "true", "VEDETTE_PROBES_HIGH_KIND": "null", "VEDETTE_PRICES_HIGH": "1", "VEDETTE_TESTING_NULL_CHANGE_SHARE": "0.001"}

DASHBOARD = {"VEDETTE_DASHBOARD_ENABLED": "true"}


@pytest.fixture
def cells(binary, postgres, tmp_path):
    """The two fleets, each with its database; the second has another encryption key."""
    services, databases = [], []
    for extra in ({}, {"VEDETTE_SECURITY_ENCRYPTION_KEY": OTHER_KEY, "VEDETTE_CELL_ID": "c3"}):
        database = Database(postgres, postgres.new_name())
        postgres.create(database.name, MIGRATED)
        databases.append(database)
        services.append(Vedette(binary, database.url, tmp_path, NULL_TIER | DASHBOARD | extra).start())
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


def command(binary, old, new_database, tmp_path, org_id, *more, to="c3", key=OTHER_KEY):
    path = tmp_path / "to.toml"
    path.write_text(f'[cell]\nid = "{to}"\n[database]\nurl = "{new_database.url}"\n[security]\nencryption_key = "{key}"\n')
    return subprocess.Popen(
        [binary, "ctl", "org-move", org_id, "--to", to, "--to-config", path, *more],
        env=clean_environment(old.environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process, limit_s=120):
    said, _ = process.communicate(timeout=limit_s)
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


def test_an_organisation_may_be_named_as_elsewhere(binary, cells, tmp_path):
    (old, _), (_, new_database) = cells
    org = old.organisation(name="Acme").org_id
    old.organisation(name="Acme Two")
    assert "api_key: 1 rows" in finish(command(binary, old, new_database, tmp_path, "Acme", "--dry-run"))
    twin = old.organisation(name="Acme").org_id
    for name, why in (("Acme", 'several organisations are named "Acme", give the id of one'), ("Nobody", 'no organisation is named "Nobody"')):
        refused = command(binary, old, new_database, tmp_path, name, "--dry-run")
        said, _ = refused.communicate(timeout=60)
        assert refused.returncode == 1 and why in said and (name == "Nobody" or (org in said and twin in said)), said


def test_a_name_is_good_until_nothing_is_left(binary, cells, tmp_path):
    (old, old_database), (_, new_database) = cells
    old.organisation(name="Acme")
    for more in ((), (), ("--remove", "--grace-h", "0")):
        finish(command(binary, old, new_database, tmp_path, "Acme", *more))
    assert old_database.value("SELECT count(*) FROM organisation") == 0


def test_without_the_other_cell_a_move_is_taken_back_by_halves(binary, cells, tmp_path):
    (old, old_database), (_, new_database) = cells
    tenant = old.organisation()
    kill_at(command(binary, old, new_database, tmp_path, tenant.org_id), "locked for writing")
    said = refused(command(binary, old, Database(new_database.postgres, "gone"), tmp_path, tenant.org_id, "--abort"))
    assert "the organisation goes on at the first cell, but cell c3 cannot be reached" in said, said
    assert old_database.rows("SELECT locked, moving_until FROM organisation") == [(False, None)]
    finish(command(binary, old, new_database, tmp_path, tenant.org_id, "--abort"))
    assert new_database.value("SELECT count(*) FROM organisation") == 0


def test_another_organisations_move_holds_no_lock_up(binary, cells, tmp_path):
    (old, old_database), (_, new_database) = cells
    tenant = old.organisation()
    with contextlib.closing(psycopg2.connect(old_database.url, application_name="vedette move")) as other:
        other.cursor().execute("SELECT count(*) FROM event")  # a copy of hours, of the whole of it
        finish(command(binary, old, new_database, tmp_path, tenant.org_id))


def test_an_operators_lock_stands_under_the_moves_and_goes_along(binary, cells, tmp_path):
    (old, _), (new, new_database) = cells
    tenant = old.organisation()
    path = f"/admin/v1/orgs/{tenant.org_id}"
    assert old.as_operator("PATCH", path, {"locked": True}).status == 200
    kill_at(command(binary, old, new_database, tmp_path, tenant.org_id), "locked for writing")
    unlocking = old.as_operator("PATCH", path, {"locked": False})
    assert (unlocking.status, unlocking.json["error"]) == (409, "organisation_moving"), unlocking
    wait_until("its clients to be refused", lambda: tenant.call("GET", "/monitors").json.get("error") == "organisation_locked")
    finish(command(binary, old, new_database, tmp_path, tenant.org_id))
    moved = Tenant(new, tenant.org_id, tenant.api_key, tenant.signing_secret)
    assert moved.call("GET", "/monitors").json["error"] == "organisation_locked"
    assert new.as_operator("PATCH", path, {"locked": False}).status == 200
    wait_until("its clients to be let in", lambda: moved.call("GET", "/monitors").status == 200)


def refused(process):
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1, said
    return said


def test_one_command_at_a_time_moves_an_organisation(binary, cells, tmp_path):
    (old, old_database), (new, new_database) = cells
    tenant = old.organisation()
    monitor = tenant.post("/monitors", {"name": "Moves", "key_columns": ["n"], "rows": [{"n": 1}], "struct": {"title": "css:title"},
                                        "frequency": "1h", "tier": "high"})["id"]
    with contextlib.closing(psycopg2.connect(old_database.url)) as holds:  # the lock waits, with everything parked
        holds.cursor().execute("SELECT FROM organisation WHERE id = %s FOR SHARE", (tenant.org_id,))
        first = command(binary, old, new_database, tmp_path, tenant.org_id)
        wait_until("the first to drain", lambda: old_database.value("SELECT count(*) FROM org_move WHERE state = 1") == 1)
        others = [command(binary, old, new_database, tmp_path, tenant.org_id, *more) for more in ((), ("--abort",), ("--remove",))]
        for other in others:
            assert "another org-move of the organisation is running" in refused(other)
    assert "it works at" in finish(first)
    assert new_database.rows("SELECT locked, moving_until, lives_at FROM organisation") == [(False, None, None)]
    assert new_database.rows("SELECT live FROM monitor_sched WHERE monitor_id = %s", (monitor,)) == [(True,)]
    assert new_database.value("SELECT count(*) FROM account") == 1
    assert Tenant(new, tenant.org_id, tenant.api_key, tenant.signing_secret).get("/monitors?limit=10")["monitors"]


def ask(service, path, body):
    return call("POST", f"{service.api}/dashboard/{path}", body, {"Origin": f"http://localhost:{service.api_port}"})


def join(service, tenant, email, password):
    made = service.as_operator("POST", f"/admin/v1/orgs/{tenant.org_id}/invitations", {"email": email, "role": "owner"})
    assert made.status == 201, made
    return ask(service, "invitation/take", {"token": made.json["link"].split("#/invitation/")[1], "password": password}).status


def signs_in(service, email, password, tenant):
    answer = ask(service, "sign-in", {"email": email, "password": password, "org_id": tenant.org_id})
    assert answer.status in (200, 401), answer
    return answer.status == 200


ADA, HERS, STRANGE, NEW = "ada@example.com", "the password of ada", "somebody else's password", "another one of ada's"


def test_who_has_an_address_at_one_cell_does_not_get_into_what_it_has_at_the_other(binary, cells, tmp_path):
    (old, old_database), (new, new_database) = cells
    acme, theirs = old.organisation(name="Acme"), new.organisation(name="Theirs")
    assert join(old, acme, ADA, HERS) == 200
    assert join(new, theirs, ADA, STRANGE) == 200
    there = lambda *more: command(binary, old, new_database, tmp_path, acme.org_id, *more)  # noqa: E731
    back = lambda *more: command(binary, new, old_database, tmp_path, theirs.org_id, *more, to="", key=ENCRYPTION_KEY)  # noqa: E731
    for process in (there("--dry-run"), there()):
        said = refused(process)
        assert ADA in said and "--reset-sign-in" in said and "password-reset" in said, said
    assert old_database.rows("SELECT locked FROM organisation") == [(False,)]
    # The other way round, to where she has another way than a password.
    old_database.rows("WITH made AS (INSERT INTO passkey (id, email, credential_id, public_key, algorithm, sign_count, name) "
                      "VALUES (gen_random_uuid(), %s, '\\x01', '\\x02', 7, 0, 'phone') RETURNING 1), "
                      "gone AS (DELETE FROM member_password RETURNING password) SELECT password FROM gone", (ADA,))
    assert ADA in refused(back())

    assert f"vedette ctl password-reset {acme.org_id} --email {ADA}" in finish(there("--reset-sign-in"))
    assert not any(signs_in(new, ADA, password, of) for password in (HERS, STRANGE) for of in (acme, theirs))
    assert join(new, theirs, ADA, STRANGE) == 401, "who invites her does not choose her password"
    link = new.as_operator("POST", f"/admin/v1/orgs/{acme.org_id}/resets", {"email": ADA}).json["link"]
    assert ask(new, "reset/take", {"token": link.split("#/reset/")[1], "password": NEW}).status == 200
    assert signs_in(new, ADA, NEW, acme)


def test_members_go_there_and_back_with_their_passwords(binary, cells, tmp_path):
    (old, old_database), (new, new_database) = cells
    acme, others = old.organisation(name="Acme"), old.organisation(name="Others")
    assert join(old, acme, ADA, HERS) == join(old, others, ADA, HERS) == join(old, acme, "bob@example.com", HERS) == 200
    finish(command(binary, old, new_database, tmp_path, acme.org_id))
    assert signs_in(new, ADA, HERS, acme) and signs_in(old, ADA, HERS, others)
    finish(command(binary, old, new_database, tmp_path, acme.org_id, "--remove", "--grace-h", "0"))
    # Nobody knows him at the old cell any more.
    link = new.as_operator("POST", f"/admin/v1/orgs/{acme.org_id}/resets", {"email": "bob@example.com"}).json["link"]
    assert ask(new, "reset/take", {"token": link.split("#/reset/")[1], "password": NEW}).status == 200
    finish(command(binary, new, old_database, tmp_path, acme.org_id, to="", key=ENCRYPTION_KEY))
    assert signs_in(old, ADA, HERS, acme) and signs_in(old, "bob@example.com", NEW, acme)


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


def operators_changes(key, client):
    """What an operator may change of an organisation that has this key and this OAuth client: (method, path, body)."""
    return [("PATCH", "", {"locked": False}), ("PATCH", "", {"external_id": "late"}), ("POST", "/credits", {"amount": 5, "reason": "late"}),
            ("POST", "/teams", {"name": "late"}), ("POST", "/api-keys", {"name": "late"}), ("DELETE", f"/api-keys/{key}", None),
            ("POST", "/oauth-clients", {"name": "late"}), ("POST", f"/oauth-clients/{client}/revoke-tokens", {}),
            ("DELETE", f"/oauth-clients/{client}", None), ("POST", "/sessions", {"user_id": "late"}),
            ("POST", "/invitations", {"email": "late@example.com", "role": "member"}),
            ("POST", "/signing-secrets/rotate", {"overlap_hours": 0})]


def test_an_operators_change_is_refused_where_it_would_do_nothing(binary, cells, tmp_path):
    (old, old_database), (new, new_database) = cells
    tenant = old.organisation()
    path = f"/admin/v1/orgs/{tenant.org_id}"
    key = old.as_operator("GET", path + "/api-keys").json["items"][0]["id"]
    client = old.as_operator("POST", path + "/oauth-clients", {"name": "robot"}).json["client_id"]
    changes = operators_changes(key, client)

    kill_at(command(binary, old, new_database, tmp_path, tenant.org_id), "locked for writing")
    for method, more, body in changes:
        refused = old.as_operator(method, path + more, body)
        assert (refused.status, refused.json["error"]) == (409, "organisation_moving"), (method, more, refused)
        assert new.as_operator(method, path + more, body).json["cell"] == "", "what was copied is not there yet"
    finish(command(binary, old, new_database, tmp_path, tenant.org_id, "--abort"))
    assert old.as_operator("POST", path + "/api-keys", {"name": "after"}).status == 201

    finish(command(binary, old, new_database, tmp_path, tenant.org_id))
    for method, more, body in changes:
        refused = old.as_operator(method, path + more, body)
        assert (refused.status, refused.json["error"], refused.json["cell"]) == (409, "organisation_elsewhere", "c3"), (method, more, refused)
        assert "lives at cell c3: ask there" in refused.json["message"]
    # Whatever the body names.
    person = {"email": "ann.lovey@acme.invalid", "reason": "gdpr", "org_id": tenant.org_id}
    for body in (person, person | {"dry_run": True}):
        refused = old.as_operator("POST", "/admin/v1/erase", body)
        assert (refused.status, refused.json["cell"]) == (409, "c3"), refused
    assert old_database.value("SELECT count(*) FROM suppression") == 0
    assert new.as_operator("POST", "/admin/v1/erase", person).status == 200
    assert old.as_operator("GET", path + "/api-keys").status == 200
    for unseen in ("", "/ledger", "/reservations", "/signing-secrets"):
        refused = old.as_operator("GET", path + unseen)
        assert (refused.status, refused.json["error"], refused.json["cell"]) == (409, "organisation_elsewhere", "c3"), (unseen, refused)
    moved = Tenant(new, tenant.org_id, tenant.api_key, tenant.signing_secret)
    assert moved.call("GET", "/credits").status == 200
    assert new.as_operator("DELETE", f"{path}/api-keys/{key}").status == 204
    assert moved.call("GET", "/credits").status == 401, "a key that was revoked here, wherever it was made"
    finish(command(binary, old, new_database, tmp_path, tenant.org_id, "--remove", "--grace-h", "0"))
    assert old_database.value("SELECT count(*) FROM organisation") == 0


def test_a_member_signs_in_where_his_organisation_lives(binary, cells, tmp_path):
    (old, _), (new, new_database) = cells
    tenant, stays = old.organisation(name="Goes"), old.organisation(name="Stays")

    def ask(service, path, **body):
        return call("POST", f"{service.api}/dashboard/{path}", body)

    def told_where(path, **body):
        answer = ask(old, path, **body)
        assert (answer.status, answer.json["error"], answer.json["cell"]) == (421, "wrong_cell", "c3"), (path, answer)

    def link(org_id, kind, **body):
        made = old.as_operator("POST", f"/admin/v1/orgs/{org_id}/{kind}", body)
        assert made.status == 201, made
        return made.json["link"].rsplit("/", 1)[1]

    invite = lambda org_id, email: link(org_id, "invitations", email=email, role="owner")  # noqa: E731
    own = {"password": "a long enough password"}
    for org_id, email in ((tenant.org_id, "ada@example.com"), (tenant.org_id, "carol@example.com"), (stays.org_id, "carol@example.com")):
        assert ask(old, "invitation/take", token=invite(org_id, email), **own).status == 200
    late = invite(tenant.org_id, "late@example.com")

    kill_at(command(binary, old, new_database, tmp_path, tenant.org_id), "locked for writing")
    for path, body in (("sign-in", {"email": "ada@example.com"}), ("invitation/take", {"token": late})):
        refused = ask(old, path, **body, **own)
        assert (refused.status, refused.json["error"]) == (503, "organisation_moving"), refused
    finish(command(binary, old, new_database, tmp_path, tenant.org_id, "--abort"))
    forgotten = link(tenant.org_id, "resets", email="ada@example.com")
    finish(command(binary, old, new_database, tmp_path, tenant.org_id))

    told_where("invitation", token=late)
    told_where("invitation/take", token=late, **own)
    told_where("reset", token=forgotten)
    told_where("reset/take", token=forgotten, password="another long password")
    told_where("sign-in", email="ada@example.com", **own)
    assert ask(old, "sign-in", email="ada@example.com", password="not hers at all").status == 401, "who is nobody is told nothing"
    offered = ask(old, "sign-in", email="carol@example.com", **own).json["choose"]
    assert {one["organisation"]: one["cell"] for one in offered} == {"Goes": "c3", "Stays": None}
    told_where("sign-in", email="carol@example.com", org_id=tenant.org_id, **own)
    entered = ask(old, "sign-in", email="carol@example.com", org_id=stays.org_id, **own)
    assert entered.status == 200, entered

    assert ask(new, "sign-in", email="ada@example.com", **own).status == 200
    assert ask(new, "reset/take", token=forgotten, password="another long password").status == 200
    assert ask(new, "invitation/take", token=late, **own).status == 200
    assert ask(new, "invitation/take", token=late, **own).status != 200, "an invitation lets in once"
    finish(command(binary, old, new_database, tmp_path, tenant.org_id, "--remove", "--grace-h", "0"))


class Writer:
    """A client that gives a monitor another name all the time, and goes where a 421 sends it."""

    def __init__(self, tenants, monitor):
        self.tenants, self.monitor = tenants, monitor  # by the cell
        self.at, self.number, self.confirmed = "", 0, None
        self.taken, self.refused, self.wrong = [], 0, []  # (when a name was taken, where); answers that nobody should get
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.write)
        self.thread.start()

    def write(self):
        while not self.ended.wait(0.05):
            self.number += 1
            name = f"Name {self.number}"
            answer = self.tenants[self.at].call("POST", f"/monitors/{self.monitor}/update", {"name": name})
            if answer.status == 200:
                self.confirmed = name
                self.taken.append((time.monotonic(), self.at))
            elif answer.status == 421:
                self.at = answer.json["cell"]
            elif answer.status == 503 and answer.json["error"] == "organisation_moving":
                self.refused += 1
            else:
                self.wrong.append(answer)

    def pause_s(self, since, cell):
        """The longest time between two names that were taken, until this cell takes them."""
        wait_until("a name to be taken where it lives now", lambda: self.taken[-1][1] == cell)
        times = [at for at, _ in self.taken if at >= since]
        return max(after - before for before, after in zip(times, times[1:]))

    def end(self):
        self.ended.set()
        self.thread.join()


def large_monitor(service, tenant, receiver, tmp_path):
    """Its rows come from a file. Its checks ask nobody, and see something new now and then."""
    path = tmp_path / "rows.csv"
    with open(path, "w") as out:
        out.write("domain,price\n")
        for n in range(LARGE_ROWS):
            out.write(f"company{n:07}.example,{n % 100}\n")
    done = subprocess.run(
        ["curl", "-sS", "-H", f"x-api-key: {tenant.api_key}", "-H", "Content-Type: text/csv", "-T", path, "-X", "POST",
         f"{service.api}/storage/csv/upload"], capture_output=True, text=True, check=True)
    monitor = tenant.post("/monitors", {
        "name": "Large", "key_columns": ["domain"], "struct": {"price": "css:.price"}, "frequency": "30d", "tier": "high",
        "resource_handle_id": json.loads(done.stdout)["handle_id"], "webhook_url": receiver.url,
        "webhook_event_types": ["monitor.field.changed"]})["id"]

    def added():
        shown = next(m for m in tenant.get("/monitors?limit=10")["monitors"] if m["id"] == monitor)
        return shown["status"] == "active" and shown["row_count"] == LARGE_ROWS

    wait_until("the rows to be added", added, LARGE_MAX_S, 0.2)
    return monitor


def logged_once(database, monitor):
    """Each row of each of its ticks has one outcome, in the log or, of a small tick, inside it. How many were completed."""
    made = 0
    ticks = database.rows("SELECT tick_id, row_count, outcomes, counts FROM tick WHERE monitor_id = %s "
                          "AND finished_at IS NOT NULL ORDER BY tick_id", (monitor,))
    for tick, rows, outcomes, counts in ticks:
        parts = [(0, 0, outcomes)] if outcomes is not None else database.rows(
            "SELECT block, first, outcomes FROM check_log WHERE monitor_id = %s AND tick_id = %s", (monitor, tick))
        seen = bytearray(rows)
        for block, first, part in parts:
            for place, outcome in enumerate(bytes(part), block * 256 + first):
                if outcome:
                    assert not seen[place], f"row {place} of tick {tick} is logged twice"
                    seen[place] = outcome
        told = collections.Counter(seen) if parts else collections.Counter({n: count for n, count in enumerate(counts) if count})
        assert counts is None or all(told[n] == count for n, count in enumerate(counts)), (tick, told, counts)
        if set(told) == {OVERLAP}:  # it came due beside another one, and was closed at once
            continue
        cut_short = {PAUSED} if tick == ticks[-1][0] else set()  # by the cancel at the end
        assert set(told) <= {CHANGED, UNCHANGED} | cut_short, (tick, told)
        made += told[CHANGED] + told[UNCHANGED]
    return made


def slots_are_whole(database, monitor):
    """Each tick by the schedule begins where the one before it has ended. The first one's slot is that of the creation, and not
    of the anchor."""
    ticks = database.rows("SELECT due_at, slots FROM tick WHERE monitor_id = %s AND trigger = 0 ORDER BY due_at", (monitor,))[1:]
    for (due, slots), (following, _) in zip(ticks, ticks[1:]):
        assert following == due + datetime.timedelta(seconds=slots), f"after {due}, for {slots} slots, comes {following}"


def books(database, elsewhere, monitors, receiver):
    """(checks, changes), of which each was charged, or delivered, once; and nobody would work elsewhere."""
    for table in ("chunk", "delivery", "monitor_sched", "account"):
        assert elsewhere.value(f"SELECT count(*) FROM {table}") == 0, table
    checks = sum(logged_once(database, monitor) for monitor in monitors)
    balance, reserved, entries = database.rows(
        "SELECT (SELECT balance_mc FROM account), (SELECT coalesce(sum(reserved_mc), 0) FROM chunk), "
        "(SELECT sum(amount_mc) FROM credit_entry)")[0]
    assert (balance, reserved) == (entries, 0)
    charged = database.rows("SELECT -sum(amount_mc), sum(checks) FROM credit_entry WHERE checks IS NOT NULL")[0]
    assert charged == (checks * PRICE_MC, checks)
    changes = {str(group) for group, in database.rows("SELECT DISTINCT event_group_id FROM event")}
    pairs = collections.Counter(receiver.pairs())
    assert set(pairs) == {("monitor.field.changed", group) for group in changes}
    assert set(pairs.values()) == {1}, "something was delivered twice"
    return checks, len(pairs)


# What the command says when it is killed, in the order in which it says it, or at most so many seconds later where there are a
# million rows.
KILLS = [("copying rows", 3), ("  monitor_row: ", 0), ("copying states", 3), ("copying ticks", 0), ("letting what is under way", 0),
         ("locked for writing", 0), ("nothing moves", 0), ("nothing moves", 3), ("lives at cell c3", 0)]


def kill_at_first(process, kills, dice):
    """Kills the command at the first of these, and returns those that are left: it may have gone on before its end came."""
    for line in process.stdout:
        for n, (word, later_s) in enumerate(kills):
            if word in line:
                time.sleep(dice.uniform(0, later_s) * LARGE_ROWS / 1_000_000)
                process.kill()
                process.communicate()
                return kills[n + 1:]
    assert process.wait(60) == 0
    return []


@pytest.mark.nightly
def test_a_large_organisation_moves_under_load_with_kills_at_every_step_and_back(binary, cells, tmp_path, nginx, receiver, capsys):
    (old, old_database), (new, new_database) = cells
    seed = int(os.environ.get("VEDETTE_TEST_SEED", random.randrange(1_000_000)))
    dice, notes = random.Random(seed), [f"seed {seed}, {LARGE_ROWS} rows"]
    nginx.write("page.html", "<html><head><title>0</title></head><body></body></html>")
    tenant = old.organisation(credits=1_000_000_000)
    moved = Tenant(new, tenant.org_id, tenant.api_key, tenant.signing_secret)
    small = tenant.post("/monitors", {
        "name": "Moves", "key_columns": ["n"],
        "rows": [{"n": n, "url": f"{nginx.url}/page.html?n={n}"} for n in range(ROWS)],
        "struct": {"title": "css:title"}, "frequency": "1s",
        "webhook_url": receiver.url, "webhook_event_types": ["monitor.field.changed"]})["id"]
    large = large_monitor(old, tenant, receiver, tmp_path)
    pages, writer = Pages(nginx), Writer({"": tenant, "c3": moved}, small)
    there = lambda *more: command(binary, old, new_database, tmp_path, tenant.org_id, *more)  # noqa: E731
    back = lambda *more: command(binary, new, old_database, tmp_path, tenant.org_id, *more, to="", key=ENCRYPTION_KEY)  # noqa: E731
    opened = "SELECT count(*) FROM org_move WHERE state >= 4 AND side = 1"
    try:
        wait_until("some ticks", lambda: len(tenant.finished_ticks(small)) >= 3)
        began = time.monotonic()
        left, kills = KILLS, 0
        while left:
            if left[0][0] == "letting what is under way":
                tenant.call("POST", f"/monitors/{large}/trigger", {})  # a tick of every row is under way
            process = there()
            left = kill_at_first(process, left, dice)
            kills += process.returncode < 0
        finish(there(), LARGE_MAX_S)
        assert new_database.value(opened) == 1
        notes.append(f"there, with {kills} kills: {time.monotonic() - began:.1f} s; names were not taken for "
                     f"{writer.pause_s(began, 'c3'):.1f} s, with {writer.refused} refused")
        kill_at_first(there("--remove", "--grace-h", "0"), [(" rows", 3)], dice)
        finish(there("--remove", "--grace-h", "0"), LARGE_MAX_S)
        assert old_database.value("SELECT count(*) FROM monitor_row") == 0

        moved.post(f"/monitors/{large}/trigger", {})
        began, refused = time.monotonic(), writer.refused
        said = finish(back(), LARGE_MAX_S)
        notes.append(f"back: {time.monotonic() - began:.1f} s; names were not taken for {writer.pause_s(began, ''):.1f} s, with "
                     f"{writer.refused - refused} refused\n{said}")
    finally:
        pages.end()
        writer.end()
    assert not writer.wrong, writer.wrong[:3]
    assert tenant.get(f"/monitors/{small}")["name"] == writer.confirmed, "what was confirmed is there"
    wait_until("the ticks of every row to end", lambda: old_database.value(
        "SELECT count(*) FROM monitor_sched WHERE monitor_id = %s AND open_tick_id IS NOT NULL", (large,)) == 0, LARGE_MAX_S)
    for monitor in (small, large):
        tenant.post(f"/monitors/{monitor}/cancel", {})
    wait_until("what is under way to end", lambda: old_database.value("SELECT count(*) FROM chunk") == 0, LARGE_MAX_S)
    wait_until("every delivery", lambda: old_database.value("SELECT count(*) FROM delivery") == 0, LARGE_MAX_S)

    checks, pairs = books(old_database, new_database, [small, large], receiver)
    slots_are_whole(old_database, small)
    notes.append(f"{checks} checks, charged once each; {pairs} changes, delivered once each; {len(writer.taken)} names")
    with capsys.disabled():
        print("\n" + "\n".join(notes))
