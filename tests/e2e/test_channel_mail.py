"""Channels of kind email, from a live check to the relay: who is asked, who is told, who leaves and whom the relay refuses.
Messages are read by Python's library for mail."""

import mailbox
import os
import re
import shutil
import tempfile
import urllib.parse
from pathlib import Path

import mail_servers
import pytest
from certificates import Authority
from conftest import Vedette, call, wait_until
from mail_relay import MailRelay
from testbed import ROOT, free_port

FROM = "alerts@vedette.example"
ANN, BOB, EVE = "ann@acme.example", "bob@acme.example", "eve@acme.example"


class Fleet:
    """A service with a relay, and a tenant with a monitor of one page."""

    def __init__(self, binary, database, tmp_path, nginx, relay, **more):
        self.database, self.nginx = database, nginx
        self.service = Vedette(binary, database.url, tmp_path, {
            "VEDETTE_MAIL_RELAY": relay, "VEDETTE_MAIL_FROM": FROM, "VEDETTE_API_PUBLIC_URL": "https://vedette.example",
            **more}).migrate().start()
        self.tenant = self.service.organisation()
        nginx.write("page.html", "<title>old</title>")

    def channel(self, *addresses):
        return self.tenant.post("/channels", {
            "name": "Preise für Ann", "kind": "email", "target": {"addresses": list(addresses)},
            "events": ["monitor.field.changed"]})

    def shown(self, channel):
        shown = self.tenant.get(f"/channels/{channel['id']}")
        return shown["status"], {r["address"]: r["status"] for r in shown["recipients"]}

    def follow(self, url, method="GET", **more):
        """A link of a message, at the port that the service listens on."""
        parts = urllib.parse.urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}" == "https://vedette.example", url
        return call(method, f"{self.service.api}{parts.path}?{parts.query}", **more)

    def confirm(self, relay, *addresses):
        for address in addresses:
            question = wait_until(f"the question to {address}", lambda: relay.to(address))[0]
            assert self.follow(links(question)[0]).status == 200

    def watch(self, channel):
        self.monitor = self.tenant.post("/monitors", {
            "name": "Titles", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{self.nginx.url}/page.html"}],
            "struct": {"title": "css:title"}, "frequency": "30d", "channel_ids": [channel["id"]]})["id"]
        wait_until("the first check", lambda: self.tenant.finished_ticks(self.monitor))

    def change(self, title):
        self.nginx.write("page.html", f"<title>{title}</title>")
        self.tenant.post(f"/monitors/{self.monitor}/trigger", {})

    def deliveries(self):
        return self.tenant.get(f"/monitors/{self.monitor}/deliveries")["deliveries"]


def links(message):
    return re.findall(r"https://vedette\.example/mail-addresses/\S+", message.get_body(("plain",)).get_content())


@pytest.fixture
def fleet(binary, database, tmp_path, nginx):
    made = []

    def make(relay, **more):
        made.append(Fleet(binary, database, tmp_path, nginx, relay, **more))
        return made[-1]

    yield make
    for one in made:
        assert one.service.stop() == 0
        for address in (ANN, BOB, EVE):
            assert address not in one.service.log(), "the log names a recipient"


def test_whoever_confirmed_is_told_what_changed_as_text_and_as_html(fleet):
    relay = MailRelay()
    f = fleet(f"smtp://127.0.0.1:{relay.port}", VEDETTE_DASHBOARD_ENABLED="true")
    channel = f.channel(ANN, BOB)
    assert channel["target"] == {"addresses": [ANN, BOB]} and channel["status"] == "unconfirmed"
    f.confirm(relay, ANN)
    assert f.shown(channel) == ("active", {ANN: "confirmed", BOB: "unconfirmed"})
    f.watch(channel)
    f.change("&lt;b&gt;new&lt;/b&gt;")
    wait_until("the news", lambda: len(relay.to(ANN)) == 2)
    message = relay.to(ANN)[1]
    assert message.defects == [] and message["To"] == ANN and message["From"] == FROM
    assert message["Subject"].startswith("Titles: ") and message["Subject"].endswith(" changed")
    text, html = (message.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert "title: old → <b>new</b>" in text and "Preise für Ann" in text
    assert "old → &lt;b&gt;new&lt;/b&gt;" in html and "<b>new</b>" not in html
    assert f"https://vedette.example/dashboard#/monitors/{f.monitor}/rows/" in text

    def arrived():
        listed = f.tenant.get(f"/channels/{channel['id']}/deliveries")["deliveries"]
        return listed if [d["state"] for d in listed] == ["delivered"] * 3 else None

    delivered, *questions = wait_until("all to be recorded", arrived)
    assert message["Message-ID"] == f"<{delivered['id']}@vedette.example>"
    assert (delivered["recipient"], delivered["event_type"]) == (ANN, "monitor.field.changed")
    assert {q["recipient"] for q in questions} == {ANN, BOB}
    assert len(relay.to(BOB)) == 1, "nothing but the question"
    f.channel(BOB)
    assert f.tenant.post(f"/channels/{channel['id']}/test", {})["status_code"] == 250
    assert len(relay.to(BOB)) == 1, "nobody is asked twice a day"
    relay.close()


def test_one_click_unsubscribes_and_whoever_left_stays_so(fleet):
    relay = MailRelay()
    f = fleet(f"smtp://127.0.0.1:{relay.port}")
    channel = f.channel(ANN, BOB)
    f.confirm(relay, ANN, BOB)
    f.watch(channel)
    f.change("new")
    wait_until("the news", lambda: len(relay.to(ANN)) == 2 and len(relay.to(BOB)) == 2)
    message = relay.to(ANN)[1]
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    url = message["List-Unsubscribe"].strip("<>")
    assert "<button>" in f.follow(url).body.decode()
    assert f.shown(channel)[1][ANN] == "confirmed", "to look at the page is no click"
    forged = url[:-1] + ("A" if url[-1] != "A" else "B")
    assert f.follow(forged, "POST").status == 404
    cut = f.follow(url[:-30])
    assert cut.status == 404 and "<h1>This link does not work</h1>" in cut.body.decode(), "a person reads it"
    assert f.follow(url, "POST", raw=b"List-Unsubscribe=One-Click").status == 200
    assert f.shown(channel) == ("active", {ANN: "unsubscribed", BOB: "confirmed"})
    f.change("newer")
    wait_until("the next news", lambda: len(relay.to(BOB)) == 3)
    assert f.follow(links(relay.to(ANN)[0])[0]).status == 200, "the former question"
    f.tenant.call("DELETE", f"/channels/{channel['id']}")
    again = f.channel(ANN)
    assert again["status"] == "suspended" and "unsubscribed" in again["status_reason"]
    assert len(relay.to(ANN)) == 2
    relay.close()


def test_a_hard_bounce_suspends_the_address_and_says_so_and_a_refused_sender_does_not(fleet):
    refuse = {}
    relay = MailRelay(rcpt=lambda address: refuse.get(address))
    f = fleet(f"smtp://127.0.0.1:{relay.port}")
    channel = f.channel(ANN, BOB)
    f.confirm(relay, ANN, BOB)
    f.watch(channel)
    refuse.update({ANN: "550 5.1.1 <ann@acme.example>: no such user", BOB: "554 5.7.1 relay access denied"})
    f.change("new")
    wait_until("both answers", lambda: len([d for d in f.deliveries() if d["attempts"]]) == 2)
    assert f.shown(channel) == ("active", {ANN: "suspended", BOB: "confirmed"})
    shown = f.tenant.get(f"/channels/{channel['id']}")
    assert shown["recipients"][0]["status_reason"] == "hard_bounce: the relay refuses the address for good (550 5.1.1)"
    assert "refused by the relay" in shown["status_reason"]
    states = {d["state"]: d["last_error"] for d in f.deliveries()}
    assert states["dead"].startswith("hard_bounce") and states["pending"].startswith("relay"), states
    series = call("GET", f.service.admin + "/metrics").body.decode()
    counted = dict(re.findall(r'^vedette_mails_total\{outcome="(\w+)"\} (\d+)$', series, re.MULTILINE))
    assert counted["sent"] == "2" and counted["bounced"] == "1" and int(counted["refused"]) >= 1, counted
    relay.close()


def test_a_lost_answer_repeats_one_recipients_message_with_its_id_and_nobody_elses(fleet):
    lost = {}

    def data(message):
        lose = message["To"] == ANN and "Confirm" not in message["Subject"] and not lost.setdefault("once", False)
        lost["once"] = lost.get("once") or lose
        return "" if lose else "250 2.0.0 taken"

    relay = MailRelay(data=data)
    f = fleet(f"smtp://127.0.0.1:{relay.port}", VEDETTE_DELIVERY_BACKOFF_FIRST_MS="100")
    channel = f.channel(ANN, BOB)
    f.confirm(relay, ANN, BOB)
    f.watch(channel)
    f.change("new")
    wait_until("the second try", lambda: len(relay.to(ANN)) == 3)
    wait_until("the end", lambda: not f.deliveries())
    assert relay.to(ANN)[1]["Message-ID"] == relay.to(ANN)[2]["Message-ID"]
    assert len(relay.to(BOB)) == 2
    relay.fall_silent()
    assert f.service.stop() == 0, "it waits for no answer to its good-bye"
    f.service.start()
    relay.close()


def test_the_relays_certificate_is_verified_and_the_password_is_told_to_it_alone(fleet, tmp_path):
    authority = Authority(tmp_path, "ours")
    relay = MailRelay(tls=authority.server("DNS:localhost"), login=("me@corp.example", "hunter2"))
    secret = tmp_path / "password"
    secret.write_text("hunter2\n")
    settings = {"VEDETTE_MAIL_PASSWORD_FILE": str(secret)}
    f = fleet(f"smtps://me@corp.example@localhost:{relay.port}", VEDETTE_NET_CA_FILE=str(authority.certificate), **settings)
    channel = f.channel(ANN)
    f.confirm(relay, ANN)
    assert "hunter2" not in f.service.log()
    f.service.stop()
    stranger = Authority(tmp_path, "strangers")
    f.service.environment["VEDETTE_NET_CA_FILE"] = str(stranger.certificate)
    f.service.start()
    outcome = f.tenant.post(f"/channels/{channel['id']}/test", {})
    assert outcome["delivered"] is False and outcome["error"].startswith("tls: "), outcome
    assert len(relay.to(ANN)) == 1
    relay.close()


def test_without_a_relay_email_is_refused_with_that_reason(vedette):
    tenant = vedette.organisation()
    answer = tenant.call("POST", "/channels", {"name": "n", "kind": "email", "target": {"addresses": [ANN]}})
    assert answer.status == 422 and "relay" in answer.json["detail"][0]["msg"], answer


def test_an_erased_recipient_is_nowhere_and_is_not_told_again(fleet):
    relay = MailRelay()
    f = fleet(f"smtp://127.0.0.1:{relay.port}")
    channel = f.channel(ANN, BOB)
    f.confirm(relay, ANN, BOB)
    erased = f.service.as_operator("POST", "/admin/v1/erase", {"email": ANN, "reason": "asked us"})
    assert erased.json["recipients"] == 1, erased
    assert f.shown(channel) == ("active", {BOB: "confirmed"})
    assert f.database.value("select count(*) from recipient r where r::text like '%%ann@%%'") == 0
    f.watch(channel)
    f.change("new")
    wait_until("the news", lambda: len(relay.to(BOB)) == 2)
    assert len(relay.to(ANN)) == 1
    relay.close()


@pytest.mark.skipif(os.getuid() != 0, reason="Postfix changes to users of its own, which root may")
def test_postfix_takes_the_mail_and_refuses_whom_it_does_not_know(fleet):
    # Not below pytest's folder, which Postfix's users may not enter.
    work = Path(tempfile.mkdtemp(prefix="vedette-postfix-"))
    work.chmod(0o755)
    boxes = work / "boxes"
    port = free_port()
    packages = mail_servers.download(ROOT / "build" / "mail_packages")
    server = mail_servers.postfix(packages, work / "postfix", "127.0.0.1", port, mailboxes=boxes)
    try:
        f = fleet(f"smtp://127.0.0.1:{port}")
        channel = f.channel("ann@postfix.test", "nobody@postfix.test")

        def inbox():
            return [m for m in mailbox.Maildir(boxes / "ann", create=False)] if (boxes / "ann/new").exists() else []

        wait_until("the bounce", lambda: f.shown(channel)[1]["nobody@postfix.test"] == "suspended")
        question, = wait_until("the question", inbox)
        text = question.get_payload()[0].get_payload(decode=True).decode()
        assert f.follow(re.search(r"https://vedette\.example/mail-addresses/\S+", text).group(0)).status == 200
        f.watch(channel)
        f.change("new")
        wait_until("the news", lambda: len(inbox()) == 2)
        news, = [m for m in inbox() if m["List-Unsubscribe"]]
        assert [p.get_content_type() for p in news.walk()] == ["multipart/alternative", "text/plain", "text/html"]
        assert "title: old → new" in news.get_payload()[0].get_payload(decode=True).decode()
    finally:
        server.close()
        shutil.rmtree(work, ignore_errors=True)
