"""Whole finds by real processes: a lead goes in, a mail server of the test and a site of the test are asked, an address
comes out. Nothing leaves the machine."""

import hashlib
import http.server
import itertools
import json
import os
import string
import subprocess
import threading
import urllib.error
import urllib.request

import pytest
from certificates import Authority
from dns_server import DnsServer
from smtp_server import SmtpServer

from conftest import ADMIN_TOKEN, Vedette, call, clean_environment, wait_until
from servers import QuietHandler
from test_lookups import ended, money_adds_up

LETTERS = string.ascii_lowercase


def names(count, begin=0):
    """Different family names that are nothing but letters."""
    made = ("zy" + a + b + c for a, b, c in itertools.product(LETTERS, LETTERS, LETTERS))
    return list(itertools.islice(made, begin, begin + count))


def leads(count, domain, begin=0):
    return [{"name": f"Ann {name.capitalize()}", "domain": domain} for name in names(count, begin)]


class World:
    """A DNS, a mail server and vedette. Every domain's mail goes to the one server, which knows first.last@ of everybody
    at `*.test`, and everybody at `all.test`."""

    def __init__(self, binary, database, tmp_path, extra=None, delay_s=0.0):
        self.database = database
        self.mail = SmtpServer(lambda local, domain: local.startswith("ann.zy") or domain == "all.test",
                               delay_s=delay_s)
        self.dns = DnsServer()
        self.dns.names["mx.test"] = [["127.0.0.1"]]
        self.vedette = Vedette(binary, database.url, tmp_path, {
            "VEDETTE_NET_DNS_SERVERS": self.dns.address,
            "VEDETTE_LOOKUPS_FIND_EMAIL": "store,pattern",
            "VEDETTE_EMAIL_SMTP_HELLO_NAME": "verify.example.org",
            "VEDETTE_EMAIL_SMTP_PORT": str(self.mail.port),
            "VEDETTE_EMAIL_SMTP_DOCTOR_DOMAINS": "", "VEDETTE_EMAIL_SMTP_DOCTOR_LISTS": "",
            "VEDETTE_EMAIL_SMTP_PER_DOMAIN_HOUR": "10000", "VEDETTE_EMAIL_SMTP_PER_CLASS_MINUTE": "10000",
            **(extra or {})}).migrate()
        self.serve("acme.test", "all.test")

    def serve(self, *domains):
        for domain in domains:
            self.dns.mx[domain] = [(10, "mx.test")]

    def start(self):
        self.vedette.start()
        # A lookup that is verified goes to a member that serves the lane.
        wait_until("a member with the lane smtp", lambda: self.database.value(
            "select count(*) from member where 'smtp' = any(lanes) and heartbeat_at > now() - interval '30 seconds'"))
        return self

    def close(self):
        if self.vedette.process and self.vedette.process.poll() is None:
            assert self.vedette.stop() == 0, self.vedette.log()
        self.mail.close()
        self.dns.close()


@pytest.fixture
def make_world(binary, database, tmp_path):
    made = []

    def make(**more):
        made.append(World(binary, database, tmp_path, **more))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(make_world):
    return make_world().start()


def ask(tenant, path, body, timeout_s=120):
    """The status and the JSON of a call that may wait longer than others."""
    request = urllib.request.Request(tenant.vedette.api + path, data=json.dumps(body).encode(), method="POST",
                                     headers={"x-api-key": tenant.api_key, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_a_lead_is_found_and_verified_while_its_client_waits(world):
    tenant = world.vedette.organisation(100)
    status, answer = ask(tenant, "/find-email", {"lead": leads(1, "acme.test")[0]})
    assert status == 200, answer
    assert answer["email"] == [["ann.zyaaa@acme.test", "OK", "COMPANY"]]
    found = answer["details"]["addresses"][0]
    assert (found["stated"], found["provider"], found["confidence"]) == (False, "pattern", 8)
    assert answer["details"]["pattern"] == "first.last" and answer["details"]["charged"] is True
    assert float(tenant.money()["balance"]) == 95
    # The organisation knows it now: nobody is asked, and nothing is charged.
    wait_until("what was learned", lambda: world.database.value(
        "select count(*) from email_fact where address = 'ann.zyaaa@acme.test'") == 1)
    before = len(world.mail.recipients())
    status, again = ask(tenant, "/find-email", {"lead": leads(1, "acme.test")[0]})
    assert again["email"] == answer["email"] and again["details"]["charged"] is False
    assert len(world.mail.recipients()) == before and float(tenant.money()["balance"]) == 95
    # Another organisation does not.
    other = world.vedette.organisation(100)
    assert ask(other, "/find-email", {"lead": leads(1, "acme.test")[0]})[1]["details"]["charged"] is True
    assert money_adds_up(world.database)


def test_a_found_address_is_not_forgotten_when_another_name_comes_with_it(world):
    tenant = world.vedette.organisation(100)
    named = {"name": "Ann Zyaaa", "domain": "acme.test"}
    assert ask(tenant, "/find-email", {"lead": named})[1]["email"] == [["ann.zyaaa@acme.test", "OK", "COMPANY"]]
    learned = "select count(*) from email_owner where address = 'ann.zyaaa@acme.test'"
    wait_until("what was learned", lambda: world.database.value(learned) == 1)
    short = ask(tenant, "/find-email", {"lead": {"name": "Annie", "email": "ann.zyaaa@acme.test"}})[1]
    assert short["email"] == [["ann.zyaaa@acme.test", "OK", "COMPANY"]]
    wait_until("what was learned of the other name", lambda: world.database.value(learned) == 2)
    before = len(world.mail.recipients())
    again = ask(tenant, "/find-email", {"lead": named})[1]
    assert again["email"] == [["ann.zyaaa@acme.test", "OK", "COMPANY"]], again
    assert (again["details"]["addresses"][0]["provider"], again["details"]["charged"]) == ("store", False), again
    assert len(world.mail.recipients()) == before


@pytest.mark.parametrize("waits", [True, False])
def test_a_batch_is_answered_in_order_with_every_kind_of_verdict(world, waits):
    tenant = world.vedette.organisation(1000)
    body = {"leads": [*leads(3, "acme.test"), {"name": "Bob Nobody", "domain": "acme.test"},
                      {"name": "Ann Zyaaa", "domain": "all.test"}, {"name": "Ann Zyaaa", "domain": "nowhere.test"},
                      {"name": "Ann Zyaaa"}, {"email": "ann.zyaab@acme.test"}, {"email": "gone@acme.test"},
                      leads(1, "acme.test")[0]]}
    if waits:
        status, answer = ask(tenant, "/find-email-bulk", body, 300)
        assert status == 200, answer
        results = answer["results"]
    else:
        done = ended(tenant, tenant.post("/find-email-bulk-async", body)["task_id"])
        assert done["status"] == "completed", done
        results = done["result"]["results"]
    assert [row["email"][0] for row in results] == [
        ["ann.zyaaa@acme.test", "OK", "COMPANY"], ["ann.zyaab@acme.test", "OK", "COMPANY"],
        ["ann.zyaac@acme.test", "OK", "COMPANY"], ["", "NOT_FOUND", "COMPANY"],
        ["ann.zyaaa@all.test", "UNKNOWN", "COMPANY"], ["", "NOT_FOUND", "COMPANY"], ["", "NOT_FOUND", "COMPANY"],
        ["ann.zyaab@acme.test", "OK", "COMPANY"], ["gone@acme.test", "NOT_FOUND", "COMPANY"],
        ["ann.zyaaa@acme.test", "OK", "COMPANY"]]
    assert [row["details"]["reason"] for row in results][3:9] == [
        results[3]["details"]["reason"], "catch_all", "unknown_domain", "no_domain", None, "refused"]
    assert [row["details"]["charged"] for row in results] == [
        True, True, True, False, False, False, False, True, True, False]
    assert results[9]["details"]["duplicate_of"] == 0 and not any(row["error"] for row in results)
    # Three found at 5 credits, two addresses that were there at 1.
    assert float(tenant.money()["balance"]) == 1000 - 3 * 5 - 2
    assert money_adds_up(world.database)
    assert "zyaa" not in world.vedette.log().lower()


def test_200_callers_that_wait_at_once_are_all_answered(make_world):
    domains = [f"d{n}.test" for n in range(20)]
    world = make_world()
    world.serve(*domains)
    world.start()
    tenant = world.vedette.organisation(10_000)
    answers = []

    def one(n):
        lead = leads(1, domains[n % 20], n)[0]
        status, answer = ask(tenant, "/find-email", {"lead": lead}, 120)
        answers.append((status, answer.get("email"), lead["name"]))

    threads = [threading.Thread(target=one, args=(n,)) for n in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [a for a in answers if a[0] != 200 or a[1][0][1] != "OK"] == [] and len(answers) == 200
    assert float(tenant.money()["balance"]) == 10_000 - 200 * 5
    assert money_adds_up(world.database)


def test_a_hundred_leads_of_one_domain_with_a_known_pattern_need_at_most_120_recipients(world):
    tenant = world.vedette.organisation(10_000)
    taught = ended(tenant, tenant.post("/find-email-bulk-async", {"leads": leads(2, "acme.test")})["task_id"])
    assert [row["email"][0][1] for row in taught["result"]["results"]] == ["OK", "OK"]
    wait_until("the pattern to be learned", lambda: world.database.value(
        "select coalesce(sum(hits), 0) from domain_pattern") >= 2)
    before, connections = len(world.mail.recipients()), world.mail.connections
    done = ended(tenant, tenant.post("/find-email-bulk-async", {"leads": leads(100, "acme.test", 10)})["task_id"])
    assert {row["email"][0][1] for row in done["result"]["results"]} == {"OK"}
    assert len(world.mail.recipients()) - before <= 120
    assert world.mail.connections - connections <= 10


def test_never_more_than_the_hourly_cap_is_asked(make_world):
    world = make_world(extra={"VEDETTE_EMAIL_SMTP_PER_DOMAIN_HOUR": "20"}).start()
    tenant = world.vedette.organisation(10_000)
    status, answer = ask(tenant, "/find-email-bulk", {"leads": leads(60, "acme.test")}, 300)
    assert status == 200 and len(answer["results"]) == 60
    assert len(world.mail.recipients("@acme.test")) <= 20
    outcomes = {(row["email"][0][1], row["details"]["reason"]) for row in answer["results"]}
    assert ("UNKNOWN", "rate") in outcomes and not any(status == "NOT_FOUND" for status, _ in outcomes)


def test_a_bulk_that_waits_for_the_mail_budget_says_so_and_until_when(make_world):
    world = make_world(extra={"VEDETTE_EMAIL_SMTP_PER_DOMAIN_HOUR": "20"}).start()
    tenant = world.vedette.organisation(10_000)
    task = tenant.post("/find-email-bulk-async", {"leads": leads(60, "acme.test")})["task_id"]
    shown = {}

    def waits():
        shown.update(tenant.get(f"/job-status/{task}"))
        return shown["status_reason"] == "waiting_for_mail_budget"

    wait_until("the budget to be used up", waits, 60, 0.2)
    assert shown["status"] == "running" and shown["error"] is None
    assert shown["created_at"] < shown["waiting_until"] < shown["deadline_at"]
    assert 0 < shown["progress"]["done"] < 60, "those that had permits have ended"
    assert len(world.mail.recipients("@acme.test")) <= 20
    assert world.vedette.as_operator("GET", f"/admin/v1/jobs/{task}").json["waiting_until"] == shown["waiting_until"]
    assert tenant.post(f"/job-status/{task}/cancel", {})["status_reason"] == "cancelled_by_client"
    assert tenant.get(f"/job-status/{task}")["waiting_until"] is None


HOSTILE = ["a\r\nDATA", "a>\r\nRCPT TO:<b", "a\nQUIT", "a\0b", "<script>", "a b", "\"a\\\"\r\nVRFY x\"", "a@b", "a\u2028b",
           "../..", "%0d%0aDATA", "a;b", "a\\", "\u202eevil", "х\r\nEXPN", "ａ\r", "'; drop table job; --", "{key}", "\x7f"]


def test_no_name_address_or_domain_says_a_command(world):
    tenant = world.vedette.organisation(10_000)
    batch = []
    for text in HOSTILE:
        batch += [{"name": f"Ann {text}", "domain": "acme.test"}, {"name": text, "domain": "acme.test"},
                  {"first_name": text, "last_name": "Zyaaa", "domain": "acme.test"},
                  {"name": "Ann Zyaaa", "domain": f"acme.test{text}"}, {"email": f"{text}@acme.test"}]
    # A NUL is malformed JSON text for us, and refused as a whole.
    clean = [lead for lead in batch if not any("\0" in value for value in lead.values())]
    for part in (clean[:60], clean[60:]):
        status, answer = ask(tenant, "/find-email-bulk", {"leads": part}, 300)
        assert status == 200, answer
        assert len(answer["results"]) == len(part) and not any(row["error"] for row in answer["results"])
    assert ask(tenant, "/find-email", {"lead": {"name": "Ann \0", "domain": "acme.test"}})[0] == 400
    assert world.mail.recipients() and world.mail.foreign_lines() == []


def test_no_mx_leads_to_an_address_that_is_not_public(make_world):
    world = make_world(extra={"VEDETTE_NET_ALLOW": "127.0.0.9/32"})
    for n, address in enumerate(["127.0.0.1", "10.0.0.1", "169.254.169.254", "168.63.129.16", "192.168.1.1", "0.0.0.0"]):
        world.dns.names[f"mx{n}.test"] = [[address]]
        world.dns.mx[f"inside{n}.test"] = [(10, f"mx{n}.test")]
    world.dns.mx["literal.test"] = [(10, "127.0.0.1")]
    # Public to the one who checks the name, private to the one who connects.
    world.dns.names["rebinds.test"] = [["192.0.2.1"], ["127.0.0.1"]]
    world.dns.mx["rebind.test"] = [(10, "rebinds.test")]
    world.start()
    tenant = world.vedette.organisation(1000)
    domains = [f"inside{n}.test" for n in range(6)] + ["literal.test"]
    status, answer = ask(tenant, "/find-email-bulk", {"leads": [{"email": f"ann@{d}"} for d in domains]}, 120)
    assert status == 200, answer
    assert {(row["email"][0][1], row["details"]["reason"]) for row in answer["results"]} <= {
        ("UNKNOWN", "not_public"), ("UNKNOWN", "dns")}
    assert world.mail.connections == 0


def test_a_closed_port_is_unknown_and_never_not_found(make_world):
    world = make_world()
    world.dns.names["dark.test"] = [["127.0.0.99"]]
    world.dns.mx["closed.test"] = [(10, "dark.test")]
    world.start()
    tenant = world.vedette.organisation(100)
    status, answer = ask(tenant, "/find-email", {"lead": {"email": "ann@closed.test"}})
    assert answer["email"] == [["ann@closed.test", "UNKNOWN", "COMPANY"]]
    assert answer["details"]["reason"] == "connect" and answer["details"]["charged"] is False


def test_a_process_that_asks_mail_servers_shows_whether_they_will_talk_to_it(make_world):
    """Issue 18: port 25 and the rest are examined where mail servers are asked, and the operator sees what is wrong."""
    world = make_world(extra={"VEDETTE_EMAIL_SMTP_DOCTOR_DOMAINS": "acme.test"}).start()
    service, port = world.vedette, f"port_{world.mail.port} acme.test"
    answers = f'vedette_email_doctor{{check="{port}"}} 1'
    wait_until("the banner of the mail server is seen",
               lambda: answers in call("GET", service.admin + "/metrics").body.decode())
    assert 'vedette_email_doctor{check="hello_name"} 0' in call("GET", service.admin + "/metrics").body.decode()

    def checks():
        members = service.as_operator("GET", "/admin/v1/overview").json["members"]
        return {check["check"]: check for check in members[0]["mail_check"] or []}

    wait_until("the heartbeat carries it", checks)
    assert checks()[port]["status"] == "ok"
    assert checks()["hello_name"]["status"] == "fail" and "A record" in checks()["hello_name"]["message"]
    assert world.mail.recipients() == [], "nobody is named for it"


def test_verify_emails_false_asks_the_dns_alone(world):
    tenant = world.vedette.organisation(100)
    body = {"verify_emails": False, "leads": [leads(1, "acme.test")[0], leads(1, "nowhere.test")[0]]}
    status, answer = ask(tenant, "/find-email-bulk", body)
    assert status == 200, answer
    first, second = answer["results"]
    assert first["email"] == [["ann.zyaaa@acme.test", "UNKNOWN", "COMPANY"]]
    assert first["details"]["reason"] == "not_verified"
    assert second["email"] == [["", "NOT_FOUND", "COMPANY"]] and second["details"]["reason"] == "unknown_domain"
    assert world.mail.connections == 0


class Site(http.server.ThreadingHTTPServer):
    """https://site.test/, on the port that https has."""

    daemon_threads = True

    def __init__(self, tls, pages):
        self.asked = []
        site = self

        class Handler(QuietHandler):
            def do_GET(self):
                site.asked.append(self.path)
                page = pages.get(self.path, b"")
                data = page if isinstance(page, bytes) else page.encode()
                self.send_response(200 if data else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        super().__init__(("127.0.0.21", 443), Handler)
        self.socket = tls.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


@pytest.mark.skipif(os.getuid() != 0, reason="the port of https is root's")
def test_the_companys_own_site_states_an_address_and_its_server_confirms_it(make_world, tmp_path):
    authority = Authority(tmp_path, "site")
    site = Site(authority.server("DNS:site.test"), {
        "/": '<a href="/team">Our team</a>',
        "/team": '<p>Ann Zyaaa, sales: <a href="mailto:ann.zyaaa@site.test">mail</a></p>'
                 '<p>Bob Other: <a href="mailto:info@site.test">mail</a></p>'})
    try:
        world = make_world(extra={"VEDETTE_LOOKUPS_FIND_EMAIL": "website,pattern",
                                  "VEDETTE_NET_CA_FILE": str(authority.certificate)})
        world.serve("site.test")
        world.dns.names["site.test"] = [["127.0.0.21"]]
        world.start()
        tenant = world.vedette.organisation(100)
        status, answer = ask(tenant, "/find-email", {"lead": {"name": "Ann Zyaaa", "domain": "site.test"}})
        assert answer["email"] == [["ann.zyaaa@site.test", "OK", "COMPANY"]], answer
        found = answer["details"]["addresses"][0]
        assert (found["stated"], found["provider"], found["confidence"]) == (True, "website", 10)
        assert found["sources"] == ["https://site.test/team"]
        assert "/robots.txt" in site.asked and "/team" in site.asked
    finally:
        site.close()


def key_url(address, advanced):
    """The place of an address's key in a web key directory (draft-koch-openpgp-webkey-service)."""
    local, domain = address.split("@")
    bits = "".join(f"{byte:08b}" for byte in hashlib.sha1(local.lower().encode()).digest())
    name = "".join("ybndrfg8ejkmcpqxot1uwisza345h769"[int(bits[i:i + 5], 2)] for i in range(0, len(bits), 5))
    return f"/.well-known/openpgpkey/{domain + '/' if advanced else ''}hu/{name}?l={local}"


def user_id(text):
    """An OpenPGP packet of the old format with a user id."""
    return b"\xb4" + bytes([len(text)]) + text.encode()


@pytest.mark.skipif(os.getuid() != 0, reason="the port of https is root's")
def test_a_web_key_directory_is_asked_by_https_and_believed_with_a_good_certificate_alone(make_world, tmp_path):
    keys = {key_url("ada@keys.test", True): user_id("Ada Lovelace <ada@keys.test>"),
            key_url("kj@keys.test", False): user_id("Katherine Johnson <kj@keys.test>"),
            key_url("grace@keys.test", True): user_id("Grace Hopper <grace@keys.test>")}
    names = "DNS:keys.test,DNS:openpgpkey.keys.test"
    authority = Authority(tmp_path, "good")
    world = make_world(extra={"VEDETTE_LOOKUPS_REVERSE_EMAIL": "wkd", "VEDETTE_NET_CA_FILE": str(authority.certificate)})
    for name in ("keys.test", "openpgpkey.keys.test"):
        world.dns.names[name] = [["127.0.0.21"]]
    world.start()
    tenant = world.vedette.organisation(100)
    site = Site(authority.server(names), keys)
    try:
        for address, name in (("ada@keys.test", "Ada Lovelace"), ("kj@keys.test", "Katherine Johnson")):
            person = ask(tenant, "/reverse-email", {"lead": {"email": address}})[1]
            assert (person["name"], person["confidence"]) == (name, 8), person
            assert person["sources"][0].startswith("https://") and "/.well-known/openpgpkey/" in person["sources"][0]
    finally:
        site.close()
    stranger = Site(Authority(tmp_path, "stranger").server(names), keys)
    try:
        person = ask(tenant, "/reverse-email", {"lead": {"email": "grace@keys.test"}})[1]
        assert person["name"] is None and stranger.asked == [], person
    finally:
        stranger.close()


def test_who_is_erased_is_in_no_table_and_is_not_looked_up_again(world):
    tenant = world.vedette.organisation(100)
    body = {"leads": [{"email": "ann.zyaaa@acme.test"}, *leads(2, "acme.test")]}
    done = ended(tenant, tenant.post("/find-email-bulk-async", body)["task_id"])
    assert [row["email"][0][1] for row in done["result"]["results"]] == ["OK"] * 3
    # Both leads with a name have taught their pattern, and once they were recorded what is known of them.
    wait_until("what was learned", lambda: world.database.value(
        "select max(hits) from domain_pattern where domain = 'acme.test'") == 2 and world.database.value(
        "select count(distinct person_key) from email_owner") == 2)
    environment = {**world.vedette.environment, "VEDETTE_ADMIN_URL": world.vedette.admin,
                   "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN}

    def ctl(*arguments):
        return subprocess.run([world.vedette.binary, "ctl", "--json", *arguments], env=environment, check=True,
                              capture_output=True, text=True).stdout

    dry = json.loads(ctl("erase", "--email", "Ann.Zyaaa@acme.test", "--dry-run"))
    erased = json.loads(ctl("erase", "--email", "Ann.Zyaaa@acme.test", "--reason", "asked us"))
    assert erased == dry and (erased["jobs"], erased["rows"], erased["findings"]) == (1, 2, 0)
    assert erased["facts"] >= 1, erased
    dump = subprocess.run(["pg_dump", "--data-only", world.database.url], capture_output=True, check=True).stdout
    assert not [own for own in (b"ann.zyaaa", b"ann zyaaa") if own in dump.lower()] and b"ann.zyaab" in dump.lower()
    # Guesses from the name that were refused are facts about nobody, and go with the lead that had the name.
    assert world.database.value("select count(*) from email_fact where address like '%zyaaa%'") == 0
    shown = tenant.get(f"/job-status/{done['task_id']}")["result"]["results"]
    assert shown[0] is None and shown[1] is None and shown[2] == done["result"]["results"][2]
    before = len(world.mail.recipients())
    status, again = ask(tenant, "/find-email", {"lead": {"name": "Ann Zyaaa", "domain": "acme.test"}})
    assert again["email"] == [["", "NOT_FOUND", "COMPANY"]] and again["details"]["addresses"] == []
    listed = json.loads(ctl("suppressions"))["items"]
    assert [(one["kind"], one["reason"]) for one in listed] == [("address", "asked us")]
    # Its pattern is guessed no more, and the address is not asked about.
    assert "ann.zyaaa@acme.test" not in world.mail.recipients()[before:]


def test_a_mail_server_that_refuses_us_is_left_alone_until_the_operator_says_so(make_world):
    world = make_world()
    world.mail.rcpt = lambda local, domain: "550 5.7.1 you are listed" if domain.startswith("no") else None
    world.serve("no1.test", "no2.test", "no3.test", "no4.test")
    world.start()
    tenant = world.vedette.organisation(100)
    reasons = [ask(tenant, "/find-email", {"lead": {"email": f"ann@no{n}.test"}})[1]["details"]["reason"]
               for n in (1, 2, 3, 4)]
    assert reasons == ["policy"] * 3 + ["blocked"]
    hosts = world.vedette.as_operator("GET", "/admin/v1/email/hosts").json["items"]
    assert [(h["reason"], h["last_reply"]) for h in hosts] == [("policy", "550 5.7.1 you are listed")]
    world.mail.rcpt = None
    environment = {**world.vedette.environment, "VEDETTE_ADMIN_URL": world.vedette.admin,
                   "VEDETTE_ADMIN_TOKEN": ADMIN_TOKEN}
    subprocess.run([world.vedette.binary, "ctl", "email", "unblock", hosts[0]["key"], "--reason", "delisted"],
                   env=environment, check=True, capture_output=True)
    answer = ask(tenant, "/find-email", {"lead": {"email": "ann.zyaaa@no1.test"}})[1]
    assert answer["email"] == [["ann.zyaaa@no1.test", "OK", "COMPANY"]]


def test_a_greylisted_address_is_unknown_while_its_client_waits_and_ok_in_the_second_round_otherwise(make_world):
    world = make_world(extra={"VEDETTE_TESTING_MAIL_WINDOW_MS": "1000"})
    asked = set()

    def greylist(local, domain):
        """Each recipient is sent away once, those that should not exist too."""
        if (local, domain) in asked:
            return None
        asked.add((local, domain))
        return "451 4.7.1 come again later"

    world.mail.rcpt = greylist
    world.serve("grey.test")
    world.start()
    tenant = world.vedette.organisation(100)
    status, answer = ask(tenant, "/find-email", {"lead": {"email": "ann.zyaaa@grey.test"}})
    assert status == 200 and answer["email"] == [["ann.zyaaa@grey.test", "UNKNOWN", "COMPANY"]], answer
    assert answer["details"]["reason"] == "greylisted" and answer["details"]["charged"] is False
    done = ended(tenant, tenant.post("/find-email-async", {"lead": {"email": "ann.zyaab@grey.test"}})["task_id"])
    assert done["status"] == "completed", done
    assert done["result"]["email"] == [["ann.zyaab@grey.test", "OK", "COMPANY"]]
    assert done["charge_amount"] == 1 and float(tenant.money()["balance"]) == 99
    assert world.mail.recipients().count("ann.zyaab@grey.test") == 2


OUR_ADDRESS, BACKWARDS = "93.184.216.34", "34.216.184.93"  # nothing is sent there: a DNS of the test speaks of it


@pytest.fixture
def clinic(binary):
    """A machine of which the DNS of the test says what it should, and the doctor who examines it."""
    mail, dns = SmtpServer(lambda local, domain: local == "ann"), DnsServer()
    dns.names.update({"verify.example.org": [[OUR_ADDRESS]], "mx.test": [["127.0.0.1"]]})
    dns.mx.update({"verify.example.org": [(10, "mx.test")], "acme.test": [(10, "mx.test")]})
    dns.ptr[BACKWARDS + ".in-addr.arpa"] = "verify.example.org"
    dns.txt["verify.example.org"] = "v=spf1 a -all"
    environment = clean_environment({
        "VEDETTE_NET_DNS_SERVERS": dns.address, "VEDETTE_NET_ALLOW": "127.0.0.0/8",
        "VEDETTE_EMAIL_SMTP_HELLO_NAME": "verify.example.org", "VEDETTE_EMAIL_SMTP_PORT": str(mail.port),
        "VEDETTE_EMAIL_SMTP_PUBLIC_ADDRESS": OUR_ADDRESS, "VEDETTE_EMAIL_SMTP_DOCTOR_DOMAINS": "acme.test",
        "VEDETTE_EMAIL_SMTP_DOCTOR_LISTS": "list.test"})

    def examine(*arguments):
        done = subprocess.run([binary, "ctl", "email", "doctor", "--json", *arguments], env=environment,
                              capture_output=True, text=True, timeout=120)
        assert done.stdout, done.stderr
        said = json.loads(done.stdout)
        return done.returncode, {c["check"].split(" ")[0]: (c["status"], c["message"]) for c in said["checks"]}, said

    yield dns, examine
    mail.close()
    dns.close()


def test_the_doctor_says_of_each_check_what_is_wrong_and_what_to_do(clinic):
    dns, examine = clinic
    status, checks, said = examine("--to", "ann@acme.test", "--to", "bob@acme.test")
    assert status == 0 and {state for state, _ in checks.values()} == {"ok"}, checks
    assert len(checks) == 6, checks
    ann, bob = said["verified"]
    assert (ann["status"], ann["reply"]["code"], ann["control"]["code"], ann["mx"]) == ("OK", 250, 550, "mx.test")
    assert (bob["status"], bob["reason"], bob["reply"]["enhanced"]) == ("NOT_FOUND", "refused", "5.1.1")

    listed = BACKWARDS + ".list.test"
    dns.names[listed] = [["127.255.255.254"]]
    del dns.txt["verify.example.org"]
    dns.ptr[BACKWARDS + ".in-addr.arpa"] = "mail.example.org"
    dns.names["mail.example.org"] = [[OUR_ADDRESS]]
    status, checks, _ = examine()
    assert status == 0, "warnings are no failure"
    for check, hint in {"list": "refuses this resolver", "mail_from": "SPF", "reverse_name": "hello_name"}.items():
        assert checks[check][0] == "warn" and hint in checks[check][1], checks

    dns.names[listed] = [["127.0.0.2"]]
    dns.ptr.clear()
    del dns.names["verify.example.org"], dns.mx["verify.example.org"]
    status, checks, _ = examine()
    assert status == 1
    for check, hint in {"list": "is listed", "mail_from": "no MX record", "reverse_name": "no reverse name",
                        "hello_name": "does not resolve"}.items():
        assert checks[check][0] == "fail" and hint in checks[check][1], checks
