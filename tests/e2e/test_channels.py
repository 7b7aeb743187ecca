"""Channels, from a live check to the receivers: a webhook of one's own with what changed, signed, and chats in their own
forms. What is not published as a schema is checked against the limits that the chats document."""

import json
import subprocess

import pytest

from conftest import ROOT, Receiver, Tenant, call, openssl_accepts, wait_until
from testbed import npm_tools

MARKUP = "<!channel> <@U1> @everyone **b** [x](https://evil.example) <at>all</at>"


class Watched:
    """A tenant whose monitor of one page names channels; `change` makes its next check see another title."""

    def __init__(self, service, database, nginx):
        self.service, self.database, self.nginx = service, database, nginx
        self.tenant = service.organisation()
        nginx.write("page.html", "<title>old</title>")

    def channel(self, kind, receiver, **more):
        target = {"url": f"{receiver.url}/secret1234", **more.pop("target", {})}
        return self.tenant.post("/channels", {"name": kind, "kind": kind, "target": target, **more})

    def watch(self, *channels, **more):
        self.monitor = self.tenant.post("/monitors", {
            "name": "Titles", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{self.nginx.url}/page.html"}],
            "struct": {"title": "css:title", **more}, "frequency": "30d", "channel_ids": [c["id"] for c in channels]})["id"]
        wait_until("the first check", lambda: self.tenant.finished_ticks(self.monitor))

    def listed(self, channel):
        return self.tenant.get(f"/channels/{channel['id']}/deliveries")["deliveries"]

    def set_active(self, channel, is_active):
        self.tenant.post(f"/channels/{channel['id']}/update", {"is_active": is_active})

    def replay(self, channel):
        dead, = self.listed(channel)
        assert self.service.as_operator("POST", f"/admin/v1/deliveries/{dead['id']}/replay", {}).status == 200

    def change(self, title):
        self.nginx.write("page.html", f"<title>{title}</title>")
        self.tenant.post(f"/monitors/{self.monitor}/trigger", {})


@pytest.fixture
def watched(vedette, database, nginx):
    return Watched(vedette, database, nginx)


def told(receiver, n=1):
    wait_until(f"{n} notifications", lambda: len(receiver.requests) >= n)
    return receiver.requests[n - 1]


def test_a_webhook_of_ones_own_tells_what_changed_signed(watched, receiver):
    other = Receiver()
    first = watched.channel("webhook", receiver, events=["monitor.field.changed"])
    second = watched.channel("webhook", other, events=["monitor.field.changed"], include_values=False)
    watched.watch(first, second)
    watched.change("new")
    request = told(receiver)
    body, headers = json.loads(request["body"]), request["headers"]
    assert body["type"] == headers["Service-Event-Type"] == "monitor.field.changed"
    assert body["channel_id"] == headers["Service-Channel-Id"] == first["id"]
    assert headers["Service-Monitor-Id"] == watched.monitor and body["monitor_name"] == "Titles"
    event, = body["events"]
    assert (event["field"], event["previous_value"], event["current_value"]) == ("title", "old", "new")
    assert event["event_group_id"] == body["event_group_id"] == headers["Service-Event-Id"] == headers["webhook-id"]
    assert openssl_accepts(watched.tenant.signing_secret, request)
    without = json.loads(told(other)["body"])
    assert "events" not in without and without["event_group_id"] == body["event_group_id"]
    other.close()


def test_a_receiver_that_fails_is_told_again_and_listed_meanwhile(watched):
    answers = iter([500])
    receiver = Receiver(lambda request: next(answers, 204))
    channel = watched.channel("webhook", receiver, events=["monitor.field.changed"])
    watched.watch(channel)
    watched.change("new")
    told(receiver)
    path = f"/monitors/{watched.monitor}/deliveries"
    waiting = wait_until("the retry", lambda: [d for d in watched.tenant.get(path)["deliveries"] if d["attempts"]])[0]
    assert (waiting["state"], waiting["channel_id"]) == ("pending", channel["id"])
    assert waiting["last_error"].startswith("http_status")
    # Processes that do not know channels look for the states 0 and 1.
    assert watched.database.value("select state from delivery where channel_id is not null") == 3
    watched.database.rows("update delivery set available_at = now() where lease_token is null")
    again = told(receiver, 2)
    assert again["headers"]["Service-Delivery-Attempt"] == "2"
    assert again["headers"]["Service-Event-Id"] == receiver.requests[0]["headers"]["Service-Event-Id"]
    receiver.close()


def test_chats_are_told_in_their_own_forms_and_nothing_of_a_page_is_markup(watched):
    kinds = ("slack", "teams", "discord", "apprise")
    receivers = {kind: Receiver() for kind in kinds}
    channels = [watched.channel(kind, receivers[kind], events=["monitor.field.changed"],
                                target={"tag": "sales"} if kind == "apprise" else {}) for kind in kinds]
    assert all(c["target"]["url"].endswith("/...1234") for c in channels)
    watched.watch(*channels)
    watched.change(MARKUP.replace("<", "&lt;").replace(">", "&gt;"))
    bodies = {kind: json.loads(told(receivers[kind])["body"]) for kind in kinds}
    for kind in kinds:
        assert not [name for name in told(receivers[kind])["headers"] if name.startswith(("Service-", "webhook-"))]

    slack = bodies["slack"]
    assert len(slack["blocks"]) <= 50
    texts = [block["text"] for block in slack["blocks"] if block["text"]["type"] == "plain_text"]
    assert any("&lt;!channel&gt; &lt;@U1&gt;" in text["text"] for text in texts)
    assert all("<" not in text["text"] and len(text["text"]) <= 3000 for text in texts) and "<" not in slack["text"]

    card = bodies["teams"]["attachments"][0]
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert {element["type"] for element in card["content"]["body"]} == {"RichTextBlock"}
    assert_an_adaptive_card(card["content"])

    discord = bodies["discord"]
    assert discord["allowed_mentions"] == {"parse": []}
    value = discord["embeds"][0]["fields"][0]["value"]
    assert r"\@everyone \*\*b\*\* \[x\]\(https\:" in value and len(value) <= 1024

    apprise = bodies["apprise"]
    assert apprise["tag"] == "sales" and apprise["type"] == "info" and MARKUP in apprise["body"]
    for receiver in receivers.values():
        receiver.close()


def assert_an_adaptive_card(card):
    """npm's adaptivecards parses it without a complaint."""
    tools = npm_tools()
    done = subprocess.run([f"{tools}/node_modules/.bin/node", ROOT / "tests/e2e/adaptive_card_verify.mjs", tools],
                          input=json.dumps(card), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "valid", done.stdout


def test_a_test_of_a_channel_answers_what_came_back(watched, receiver):
    channel = watched.channel("webhook", receiver)
    outcome = watched.tenant.post(f"/channels/{channel['id']}/test", {})
    assert outcome["delivered"] is True, outcome
    assert receiver.requests[0]["headers"]["Service-Event-Type"] == "monitor.webhook.test"
    discord = Receiver(lambda request: 404)
    chat = watched.channel("discord", discord)
    refused = watched.tenant.post(f"/channels/{chat['id']}/test", {})
    assert (refused["delivered"], refused["status_code"]) == (False, 404)
    assert json.loads(discord.requests[0]["body"])["embeds"][0]["description"].startswith("**This is a test")
    discord.close()


def test_a_paused_channel_is_told_nothing_and_an_organisation_is_told_of_itself(watched, receiver):
    channel = watched.channel("webhook", receiver, events=["monitor.field.changed"])
    path = f"/channels/{channel['id']}"
    watched.watch(channel)
    assert watched.tenant.post(f"{path}/update", {"is_active": False})["status_reason"] == "paused"
    watched.change("new")
    wait_until("the change", lambda: watched.tenant.get(f"/monitors/{watched.monitor}/events")["events"])
    assert watched.tenant.get(f"{path}/deliveries")["deliveries"] == []
    watched.tenant.post(f"{path}/update", {"is_active": True})
    watched.tenant.post("/account/channels", {"channel_ids": [channel["id"]]})
    watched.database.rows("update account set balance_mc = 0")
    request = told(receiver)
    body = json.loads(request["body"])
    assert (body["type"], body["notice"], body["about"]) == ("account.notice", "balance", watched.tenant.org_id)
    assert request["headers"]["Service-Event-Type"] == "account.notice"
    assert openssl_accepts(watched.tenant.signing_secret, request)
    delivered, = wait_until("its end", lambda: [
        d for d in watched.tenant.get(f"{path}/deliveries")["deliveries"] if d["state"] == "delivered"])
    assert delivered["event_type"] == "account.notice"
    watched.database.rows(
        "insert into delivery (id, org_id, monitor_id, row_id, channel_id, event_group_id, type, state, available_at, attempts,"
        " endpoint_id) select gen_random_uuid(), a.org_id, a.monitor_id, a.row_id, a.channel_id, gen_random_uuid(), a.type, 4, now(), 12,"
        " c.endpoint_id from delivery_attempt a join channel c on c.id = a.channel_id where a.delivered returning id")
    given_up, = watched.tenant.get("/account/deliveries")["deliveries"]
    assert (given_up["event_type"], given_up["channel_id"], given_up["monitor_id"], given_up["row_id"]) == (
        "account.notice", channel["id"], None, None)


def test_what_waits_for_a_channel_that_is_paused_is_given_up_and_can_be_replayed(watched):
    answers = iter([500])
    receivers = [Receiver(lambda request: next(answers, 204)), Receiver()]
    channels = [watched.channel("webhook", receiver, events=["monitor.field.changed"], digest=digest)
                for receiver, digest in zip(receivers, ("none", "weekly"))]
    watched.watch(*channels)
    watched.change("new")
    wait_until("the retry", lambda: [d for d in watched.listed(channels[0]) if d["attempts"] and d["next_attempt_at"]])
    for channel in channels:
        watched.set_active(channel, False)
        given_up, = watched.listed(channel)
        assert given_up["state"] == "dead" and given_up["last_error"].startswith("channel_paused"), given_up
        watched.set_active(channel, True)
    watched.database.rows("update channel set digest_at = now() where digest <> 'none'")
    wait_until("the cut", lambda: watched.database.value("select digest_at > now() from channel where digest <> 'none'"))
    for channel in channels:
        assert [d["state"] for d in watched.listed(channel)] == ["dead"]
        watched.replay(channel)
    told(receivers[0], 2)
    body = json.loads(told(receivers[1])["body"])
    assert (body["type"], body["notifications"]) == ("channel.digest", 1) and len(body["events"]) == 1
    for receiver in receivers:
        receiver.close()


def test_a_digest_whose_events_are_not_kept_any_more_is_not_sent(watched, receiver):
    channel = watched.channel("webhook", receiver, events=["monitor.field.changed"], digest="weekly")
    watched.watch(channel)
    watched.change("new")
    wait_until("the change", lambda: watched.database.value("select count(*) from digest_event"))
    watched.set_active(channel, False)
    watched.set_active(channel, True)
    watched.database.rows("delete from digest_event")
    watched.replay(channel)
    wait_until("its end", lambda: watched.listed(channel)[0]["last_error"].startswith("digest_gone"))
    assert receiver.requests == []


def test_what_waits_for_a_channel_that_is_deleted_is_given_up(watched):
    receiver = Receiver(lambda request: 500)
    channel = watched.channel("webhook", receiver, events=["monitor.field.changed"])
    watched.watch(channel)
    watched.change("new")
    told(receiver)
    assert watched.tenant.call("DELETE", f"/channels/{channel['id']}").status == 200

    def dead():
        watched.database.rows("update delivery set available_at = now() where lease_token is null and state = 3")
        return [d for d in watched.tenant.get(f"/monitors/{watched.monitor}/deliveries")["deliveries"]
                if d["state"] == "dead"]
    assert wait_until("its end", dead)[0]["last_error"].startswith("channel_deleted")
    receiver.close()


def test_a_channel_of_a_team_is_neither_seen_nor_changed_nor_named_by_another(watched, vedette, nginx):
    """G8: a channel shows, or leads elsewhere, what the monitors that name it see."""
    whole, path = watched.tenant, f"/admin/v1/orgs/{watched.tenant.org_id}"

    def of_team(name):
        team = vedette.as_operator("POST", path + "/teams", {"name": name}).json["id"]
        key = vedette.as_operator("POST", path + "/api-keys", {"name": name, "team_id": team}).json["key"]
        return team, Tenant(vedette, whole.org_id, key, whole.signing_secret)

    (team, own), (_, other) = of_team("Sales"), of_team("Research")
    ours = own.post("/channels", {"name": "Ours", "kind": "feed"})
    everybodys = whole.post("/channels", {"name": "Everybody's", "kind": "feed"})
    assert (ours["team_id"], everybodys["team_id"]) == (team, None)
    assert own.get(f"/channels/{ours['id']}") == ours
    assert [[c["name"] for c in key.get("/channels")["channels"]] for key in (whole, own, other)] == [
        ["Everybody's", "Ours"], ["Ours"], []]
    for key, channel in ((other, ours), (other, everybodys), (own, everybodys)):
        for method, at, body in (("GET", "", None), ("GET", "/deliveries", None), ("POST", "/update", {"name": "Theirs"}),
                                 ("POST", "/test", {}), ("DELETE", "", None)):
            assert key.call(method, f"/channels/{channel['id']}{at}", body).status == 404, (method, at)
    monitor = {"name": "M", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{nginx.url}/page.html"}],
               "struct": {"title": "css:title"}, "frequency": "30d"}
    assert other.call("POST", "/monitors", {**monitor, "channel_ids": [ours["id"]]}).status == 404
    own.post("/monitors", {**monitor, "channel_ids": [ours["id"], everybodys["id"]]})


def test_a_feed_of_an_organisation_that_is_locked_is_not_read(watched, vedette):
    channel = watched.tenant.post("/channels", {"name": "Feed", "kind": "feed"})
    url = vedette.api + channel["target"]["url"].removeprefix(vedette.api)
    assert call("GET", url).status == 200
    for locked, status in ((True, 404), (False, 200)):
        vedette.as_operator("PATCH", f"/admin/v1/orgs/{watched.tenant.org_id}", {"locked": locked})
        assert call("GET", url).status == status


def test_a_feed_is_read_with_its_token_alone_and_says_when_it_is_unchanged(watched, vedette):
    channel = watched.tenant.post("/channels", {"name": "Feed & <more>", "kind": "feed"})
    watched.watch(channel)
    watched.change(MARKUP.replace("<", "&lt;").replace(">", "&gt;"))
    wait_until("the change", lambda: watched.tenant.get(f"/monitors/{watched.monitor}/events")["events"])
    url = vedette.api + channel["target"]["url"].removeprefix(vedette.api)
    answer = call("GET", url)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/atom+xml; charset=utf-8"), answer
    tools = npm_tools()
    program = """const Parser = require(process.argv[1] + '/node_modules/rss-parser');
        new Parser().parseString(require('node:fs').readFileSync(0, 'utf8')).then(f => console.log(JSON.stringify(f)));"""
    done = subprocess.run([f"{tools}/node_modules/.bin/node", "-e", program, tools], input=answer.body,
                          capture_output=True, check=True)
    feed = json.loads(done.stdout)
    item, = feed["items"]
    assert (feed["title"], item["title"]) == ("Feed & <more>", "Titles: title changed")
    assert item["content"] == f"old \u2192 {MARKUP}" and item["id"].startswith("urn:uuid:")
    again = call("GET", url, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    for other in (url[:-1] + ("A" if url[-1] != "A" else "B"), url.split("?")[0]):
        assert call("GET", other).status == 404
    assert watched.database.value("select count(*) from delivery") == 0
    assert watched.tenant.call("DELETE", f"/channels/{channel['id']}").status == 200
    assert call("GET", url).status == 404


def test_a_feed_has_no_entry_of_a_check_that_completed(watched, vedette):
    """One that completes has an error, too, where a field could not be read."""
    channel = watched.tenant.post("/channels", {"name": "Feed", "kind": "feed"})
    watched.watch(channel, broken="css:<<<")
    watched.change("new")
    wait_until("the change", lambda: len(watched.tenant.finished_ticks(watched.monitor)) == 2)
    watched.change("new")
    wait_until("no change", lambda: len(watched.tenant.finished_ticks(watched.monitor)) == 3)
    assert watched.database.value("select count(*) from event where event_type = 1") == 3

    def titles():
        text = call("GET", vedette.api + channel["target"]["url"].removeprefix(vedette.api)).body.decode()
        return [entry.split("<title>")[1].split("</title>")[0] for entry in text.split("<entry>")[1:]]
    assert titles() == ["Titles: title changed"]
    (watched.nginx.root / "page.html").unlink()
    watched.tenant.post(f"/monitors/{watched.monitor}/trigger", {})
    wait_until("the failure", lambda: len(watched.tenant.finished_ticks(watched.monitor)) == 4)
    assert titles() == ["Titles: a row could not be checked", "Titles: title changed"]
