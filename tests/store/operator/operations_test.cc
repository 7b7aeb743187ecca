#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/operator/admin.h"
#include "base/version.h"
#include "config/lookup_config.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/row_values.h"
#include "store/fleet/fleet.h"
#include "store/monitors/monitors.h"
#include "tests/store/support/operator_support.h"

// Access, health, audit, monitors and deliveries through the admin port.
namespace vedette::test {
namespace {

using base::Json;

constexpr auto kPending = domain::DeliveryState::kPending;
constexpr auto kDead = domain::DeliveryState::kDead;

std::string Header(const net::ServerResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

class Operations : public AdminTest {
 protected:
  Reply AskWith(const std::string& method, const std::string& path,
                std::vector<std::pair<std::string, std::string>> headers) {
    net::ServerRequest request;
    request.method = method;
    request.target = request.path = path;
    request.headers = std::move(headers);
    return AskRaw(std::move(request));
  }

  std::string NewMonitor(const std::string& org, const std::string& name = "pages") {
    store::NewMonitor monitor;
    monitor.org_id = *base::Uuid::Parse(org);
    monitor.name = name;
    monitor.frequency_text = "1d";
    monitor.frequency = std::chrono::days(1);
    monitor.key_columns = {"url"};
    monitor.struct_json = R"({"title":"css:h1"})";
    const domain::ColumnRoles roles{{"url"}, {"title"}};
    for (const char* url : {"https://a.example/", "https://b.example/"}) {
      Json row = Json::object();
      row["url"] = url;
      monitor.rows.push_back(domain::SplitRow(row, roles));
    }
    store::Session session(config.database, {.name = "test"}, clock, metrics, log);
    return store::CreateMonitor(session, clock, monitor).monitor_id.ToString();
  }

  // A delivery without its monitor: the list does not need it.
  std::string NewDelivery(const std::string& org, domain::DeliveryState delivery_state) {
    const std::string id = base::Uuid::V7(clock).ToString();
    Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
        "state,"
        " attempts, available_at, last_error) values ('" +
        id + "', '" + org +
        "', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0, " +
        std::to_string(static_cast<int>(delivery_state)) +
        ", 3, now() + interval '1 hour', 'status: 500')");
    return id;
  }

  void NewChange(const std::string& org, const std::string& monitor, const std::string& field,
                 const std::string& age, const std::string& row = base::Uuid::V4().ToString()) {
    Sql("insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, "
        "field, previous_value, current_value) values (gen_random_uuid(), '" +
        org + "', '" + monitor + "', '" + row + "', (extract(epoch from now() - interval '" + age +
        "') * 1000000)::bigint, gen_random_uuid(), 0, '" + field + "', '1', '2')");
  }

  // "b a"
  static std::string FieldsOf(const Reply& page) {
    std::string fields;
    for (const Json& event : page.body["items"]) {
      if (!fields.empty()) fields += ' ';
      fields += event["field"].get<std::string>();
    }
    return fields;
  }

  void NewAttempt(const std::string& delivery, const std::string& org, int attempt,
                  const std::string& rest) {
    Sql("insert into delivery_attempt (delivery_id, attempt, org_id, monitor_id, row_id, "
        "event_group_id,"
        " type, created_at, attempted_at, delivered, status_code, error, answer, duration_us) "
        "values ('" +
        delivery + "', " + std::to_string(attempt) + ", '" + org +
        "', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0, now(), now(), " + rest +
        ")");
  }
};

TEST_F(Operations, EventsOfEveryOrganisationComeNewestFirstByPages) {
  const std::string org = NewOrganisation("Acme");
  const std::string other = NewOrganisation("Bolt");
  const std::string monitor = NewMonitor(org);
  NewChange(org, monitor, "a", "3 hours");
  NewChange(other, NewMonitor(other), "b", "2 hours");
  NewChange(org, monitor, "c", "5 seconds");
  NewChange(org, monitor, "old", "20 days");
  const std::string path = "/admin/v1/events";
  EXPECT_EQ(FieldsOf(Ask("GET", path)), "c b a");
  const Reply first = Ask("GET", path + "?limit=2");
  EXPECT_EQ(FieldsOf(first), "c b");
  EXPECT_EQ(first.body["items"][0]["monitor_id"], monitor);
  const std::string cursor = first.body["next_cursor"].get<std::string>();
  const Reply second = Ask("GET", path + "?limit=2&cursor=" + cursor);
  EXPECT_EQ(FieldsOf(second), "a");
  EXPECT_FALSE(second.body.contains("next_cursor"));
  // The audit of one organisation alone, whatever its age; a cursor is one list's.
  EXPECT_EQ(FieldsOf(Ask("GET", path + "?org_id=" + org)), "c a old");
  EXPECT_EQ(Ask("GET", path + "?org_id=" + org + "&cursor=" + cursor).status, 400);
  EXPECT_EQ(FieldsOf(Ask("GET", path + "?event_type=error")), "");
  EXPECT_EQ(Ask("GET", path + "?event_type=completion").status, 422);
}

TEST_F(Operations, EventsOfARowAreFoundAmongThoseOfItsMonitorByPages) {
  const std::string org = NewOrganisation();
  const std::string monitor = NewMonitor(org);
  const std::string row =
      Sql("select id from monitor_row where monitor_id = '" + monitor + "' and position = 0");
  NewChange(org, monitor, "a", "3 hours", row);
  NewChange(org, monitor, "neighbour", "2 hours");
  NewChange(org, monitor, "b", "1 hour", row);
  const std::string path = "/admin/v1/monitors/" + monitor + "/events";
  EXPECT_EQ(FieldsOf(Ask("GET", path)), "b neighbour a");
  const std::string of_row = path + "?event_type=change&limit=1&row_id=" + row;
  const Reply first = Ask("GET", of_row);
  EXPECT_EQ(FieldsOf(first), "b");
  const std::string cursor = first.body["next_cursor"].get<std::string>();
  EXPECT_EQ(FieldsOf(Ask("GET", of_row + "&cursor=" + cursor)), "a");
  EXPECT_EQ(Ask("GET", path + "?cursor=" + cursor).status, 400) << "it is of the row's list";
  EXPECT_EQ(Ask("GET", path + "?row_id=" + base::Uuid::V4().ToString()).status, 404);
}

TEST_F(Operations, TheOverviewNamesTheMonitorsThatFailLongestFirst) {
  const std::string org = NewOrganisation();
  const std::string later = NewMonitor(org, "later");
  const std::string first = NewMonitor(org, "first");
  NewMonitor(org, "works");
  Sql("update monitor_sched set failing_since = now() - interval '1 hour' where monitor_id = '" +
      later + "'");
  Sql("update monitor_sched set failing_since = now() - interval '2 hours' where monitor_id = '" +
      first + "'");
  Json monitors = Ask("GET", "/admin/v1/overview").body["monitors"];
  EXPECT_EQ(monitors["failing"], 2);
  ASSERT_EQ(monitors["failing_longest"].size(), 2U);
  EXPECT_EQ(monitors["failing_longest"][0]["id"], first);
  EXPECT_EQ(monitors["failing_longest"][0]["org_id"], org);
  EXPECT_EQ(monitors["failing_longest"][1]["name"], "later");
}

TEST_F(Operations, AHeartbeatKeepsTheCountersOfTheOneBefore) {
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  store::Member member;
  member.id = state.id;
  for (const char* counters : {R"({"n":[1,2]})", R"({"n":[3,4]})", R"({"n":[5,6]})"}) {
    member.counters = counters;
    store::Heartbeat(session, member);
  }
  Json counters = Ask("GET", "/admin/v1/overview").body["members"][0]["counters"];
  EXPECT_EQ(counters["n"], Json::array({5, 6}));
  EXPECT_EQ(base::DumpJson(counters["before"]), R"({"n":[3,4]})") << "and none before that";
  EXPECT_TRUE(counters["before_at"].is_string());
}

TEST_F(Operations, TheAuditIsFilteredByActorAndTargetAndNamesAKeyThatIsRevoked) {
  const std::string org = NewOrganisation();
  const Reply key = Ask("POST", "/admin/v1/orgs/" + org + "/api-keys", Object({{"name", "shop"}}));
  const std::string id = key.body["id"].get<std::string>();
  EXPECT_EQ(Ask("DELETE", "/admin/v1/orgs/" + org + "/api-keys/" + id).status, 204);
  const Json of_key = Ask("GET", "/admin/v1/audit?target=" + id).body["items"];
  ASSERT_EQ(of_key.size(), 2U);
  EXPECT_EQ(of_key[0]["action"], "api_key.revoke");
  EXPECT_EQ(of_key[0]["detail"]["name"], "shop");
  EXPECT_EQ(of_key[0]["org_id"], org);
  EXPECT_EQ(Ask("GET", "/admin/v1/audit?actor=default&action=").body["items"].size(), 3U);
  EXPECT_EQ(Ask("GET", "/admin/v1/audit?actor=alice").body["items"].size(), 0U);
}

TEST_F(Operations, HealthReadinessMetricsAndTheConsoleNeedNoToken) {
  EXPECT_EQ(AskWith("GET", "/healthz", {}).status, 200);
  EXPECT_EQ(AskWith("GET", "/readyz", {}).status, 200);
  const Reply exposed = AskWith("GET", "/metrics", {});
  EXPECT_EQ(exposed.status, 200);
  EXPECT_TRUE(Header(exposed.raw, "Content-Type").starts_with("text/plain; version=0.0.4"));
  EXPECT_NE(exposed.raw.body.find("vedette_build_info"), std::string::npos);
  const Reply console = AskWith("GET", "/", {});
  EXPECT_EQ(console.status, 200);
  EXPECT_TRUE(Header(console.raw, "Content-Type").starts_with("text/html"));
  const std::string policy = Header(console.raw, "Content-Security-Policy");
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
}

TEST_F(Operations, ReadinessTellsWhyNot) {
  state.ready = false;
  const Reply reply = AskWith("GET", "/readyz", {});
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.body["ready"], false);
  EXPECT_EQ(reply.body["reasons"], Json::array({"the database cannot be reached"}));
  EXPECT_EQ(AskWith("GET", "/healthz", {}).status, 200);
}

TEST_F(Operations, ReadinessTellsWhetherPagesAreRendered) {
  EXPECT_EQ(AskWith("GET", "/readyz", {}).body["rendering"],
            (Json{{"available", true}, {"why", nullptr}}));
  state.lack = "there is no browser";
  const Reply reply = AskWith("GET", "/readyz", {});
  EXPECT_EQ(reply.status, 200) << "a fleet serves without a browser";
  EXPECT_EQ(reply.body["rendering"], (Json{{"available", false}, {"why", "there is no browser"}}));
}

TEST_F(Operations, EverythingElseWantsOneOfTheTokens) {
  const std::string path = "/admin/v1/orgs";
  const std::string good = std::string("Bearer ") + kToken;
  EXPECT_EQ(AskWith("GET", path, {}).status, 401);
  EXPECT_EQ(AskWith("GET", path, {}).body["error"], "unauthorized");
  for (const std::string& header :
       {std::string("Bearer"), std::string("Bearer "), std::string("Bearer wrong"), good + "x",
        std::string("Basic ") + kToken, std::string(kToken), good.substr(0, good.size() - 1)}) {
    EXPECT_EQ(AskWith("GET", path, {{"authorization", header}}).status, 401) << header;
  }
  EXPECT_EQ(AskWith("GET", path, {{"x-api-key", kToken}}).status, 401);
  EXPECT_EQ(AskWith("GET", path, {{"authorization", good}}).status, 200);
  EXPECT_EQ(AskWith("GET", path, {{"authorization", "bearer alice's token"}}).status, 200);
}

TEST_F(Operations, UnknownPathsAndMethodsAreToldApart) {
  EXPECT_EQ(Ask("GET", "/admin/v1/nothing").status, 404);
  const Reply reply = Ask("DELETE", "/admin/v1/orgs");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(Header(reply.raw, "Allow"), "GET, POST");
}

TEST_F(Operations, TheAuditSaysWhoDidWhatWhyAndFromWhere) {
  const std::string org = NewOrganisation();
  net::ServerRequest request;
  request.method = "POST";
  request.target = request.path = "/admin/v1/orgs/" + org + "/credits";
  request.headers = {{"authorization", "Bearer alice's token"},
                     {"content-type", "application/json"},
                     {"x-forwarded-for", "198.51.100.1"},
                     {"x-actor", "mallory"}};
  request.remote_address = "203.0.113.9";
  request.body = R"({"amount":5,"reason":"invoice 7"})";
  EXPECT_EQ(AskRaw(request).status, 200);
  const Reply audit = Ask("GET", "/admin/v1/audit?limit=1");
  Json entry = audit.body["items"][0];
  EXPECT_EQ(entry["actor"], "alice");
  EXPECT_EQ(entry["action"], "org.credits");
  EXPECT_EQ(entry["target"], org);
  EXPECT_EQ(entry["org_id"], org);
  EXPECT_EQ(entry["reason"], "invoice 7");
  EXPECT_EQ(entry["detail"]["amount"], 5);
  EXPECT_EQ(entry["remote_address"], "203.0.113.9");
  const Reply older =
      Ask("GET", "/admin/v1/audit?cursor=" + audit.body["next_cursor"].get<std::string>());
  ASSERT_EQ(older.body["items"].size(), 1U);
  EXPECT_EQ(older.body["items"][0]["action"], "org.create");
  EXPECT_EQ(older.body["items"][0]["actor"], "default");
  EXPECT_FALSE(older.body.contains("next_cursor"));
}

TEST_F(Operations, SecretsAndKeysDoNotReachTheAudit) {
  const std::string org = NewOrganisation();
  const Reply key = Ask("POST", "/admin/v1/orgs/" + org + "/api-keys", Object({{"name", "k"}}));
  const Reply secret = Ask("POST", "/admin/v1/orgs/" + org + "/signing-secrets/rotate",
                           Object({{"overlap_hours", 0}}));
  const std::string audit = Ask("GET", "/admin/v1/audit").raw.body;
  EXPECT_NE(audit.find("api_key.create"), std::string::npos);
  EXPECT_NE(audit.find("signing_secret.rotate"), std::string::npos);
  EXPECT_EQ(audit.find(key.body["key"].get<std::string>()), std::string::npos);
  EXPECT_EQ(audit.find(secret.body["secret"].get<std::string>()), std::string::npos);
}

TEST_F(Operations, DrainEndsTheProcessAndIsAudited) {
  const Reply reply = Ask("POST", "/admin/v1/drain", Object({{"reason", "upgrade"}}));
  EXPECT_EQ(reply.status, 202);
  EXPECT_TRUE(state.drained);
  Json entry = Ask("GET", "/admin/v1/audit").body["items"][0];
  EXPECT_EQ(entry["action"], "member.drain");
  EXPECT_EQ(entry["target"], state.id.ToString());
}

TEST_F(Operations, AMonitorIsPausedResumedAndCancelledWithItsReason) {
  const std::string org = NewOrganisation();
  const std::string id = NewMonitor(org);
  const std::string path = "/admin/v1/monitors/" + id;
  EXPECT_EQ(Ask("POST", path + "/pause", Json::object()).status, 422) << "a reason is required";
  const Reply paused = Ask("POST", path + "/pause", Object({{"reason", "noisy"}}));
  ASSERT_EQ(paused.status, 200) << paused.raw.body;
  EXPECT_EQ(paused.body["id"], id);
  EXPECT_EQ(paused.body["status"], "paused");
  EXPECT_EQ(paused.body["disabled_reason"], "noisy (by the operator)");
  EXPECT_EQ(Ask("POST", path + "/pause", Object({{"reason", "noisy"}})).status, 200);
  EXPECT_EQ(Ask("POST", path + "/trigger").status, 409);
  const Reply shown = Ask("GET", path);
  EXPECT_EQ(shown.body["status"], "paused");
  EXPECT_EQ(shown.body["is_active"], false);

  const Reply resumed = Ask("POST", path + "/resume", Object({{"reason", "fixed"}}));
  EXPECT_EQ(resumed.body["status"], "active");
  EXPECT_EQ(resumed.body["disabled_reason"], nullptr);
  EXPECT_EQ(Ask("POST", path + "/resume").status, 200);

  const Reply cancelled = Ask("POST", path + "/cancel", Object({{"reason", "over"}}));
  EXPECT_EQ(cancelled.body["status"], "cancelled");
  const Reply conflict = Ask("POST", path + "/pause", Object({{"reason", "late"}}));
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(Sql("select string_agg(action || ':' || reason || ':' || (target = '" + id +
                "')::text, ' ' order by at) from audit where org_id = '" + org +
                "' and action like 'monitor.%'"),
            "monitor.pause:noisy:true monitor.resume:fixed:true monitor.cancel:over:true");
}

TEST_F(Operations, ATriggerOpensATickOrJoinsTheOpenOne) {
  const std::string id = NewMonitor(NewOrganisation());
  const std::string path = "/admin/v1/monitors/" + id;
  const Reply first = Ask("POST", path + "/trigger", Object({{"reason", "look now"}}));
  ASSERT_EQ(first.status, 202) << first.raw.body;
  EXPECT_EQ(first.body["monitor_id"], id);
  EXPECT_EQ(first.body["rows"], 2);
  EXPECT_EQ(first.body["joined"], false);
  const Reply second = Ask("POST", path + "/trigger");
  EXPECT_EQ(second.body["joined"], true);
  EXPECT_EQ(second.body["tick_id"], first.body["tick_id"]);
  Json ticks = Ask("GET", path).body["ticks"];
  ASSERT_EQ(ticks.size(), 1U);
  EXPECT_EQ(ticks[0]["tick_id"], first.body["tick_id"]);
  EXPECT_EQ(ticks[0]["trigger"], "manual");
}

TEST_F(Operations, WhatAnOrganisationElsewhereHasIsChangedThereWhateverThePathNames) {
  const std::string org = NewOrganisation();
  const std::string monitor = "/admin/v1/monitors/" + NewMonitor(org);
  const std::string delivered = base::Uuid::V7(clock).ToString();
  NewAttempt(delivered, org, 1, "true, 204, null, null, 2000");
  const Json why{{"reason", "late"}};
  const Json person{{"email", "ann@acme.example"}, {"org_id", org}, {"reason", "late"}};
  Json dry = person;
  dry["dry_run"] = true;
  const std::vector<std::pair<std::string, Json>> changes{
      {monitor + "/pause", why},
      {monitor + "/resume", why},
      {monitor + "/cancel", why},
      {monitor + "/trigger", why},
      {"/admin/v1/deliveries/" + NewDelivery(org, kDead) + "/replay", why},
      {"/admin/v1/deliveries/" + delivered + "/send", why},
      {"/admin/v1/deliveries/replay", {{"org_id", org}}},
      {"/admin/v1/deliveries/replay", {{"monitor_id", monitor.substr(monitor.rfind('/') + 1)}}},
      {"/admin/v1/erase", person},
      {"/admin/v1/erase", dry},
      {"/admin/v1/suppressions", person},
      {"/admin/v1/suppressions/remove", person}};
  for (const auto& [away, error] :
       {std::pair("moving_until = now() + interval '1 minute'", "organisation_moving"),
        std::pair("moving_until = null, lives_at = 'c3'", "organisation_elsewhere")}) {
    Sql("update organisation set locked = true, " + std::string(away));
    for (const auto& [path, body] : changes) {
      const Reply refused = Ask("POST", path, body);
      EXPECT_EQ(refused.status, 409) << path << refused.raw.body;
      EXPECT_EQ(refused.body["error"], error) << path;
    }
  }
  EXPECT_EQ(Sql("select count(*) from audit where reason = 'late'"), "0");
  Sql("delete from monitor_sched");
  for (const std::string& path : {monitor, monitor + "/rows", monitor + "/events"}) {
    EXPECT_EQ(Ask("GET", path).body["error"], "organisation_elsewhere") << path;
  }
  const std::string nobodys = "/admin/v1/monitors/" + base::Uuid::V4().ToString();
  EXPECT_EQ(Ask("GET", nobodys).status, 404);
}

TEST_F(Operations, EveryOrganisationsMonitorsAreListedAndFound) {
  const std::string acme = NewOrganisation("Acme");
  const std::string other = NewOrganisation("Other");
  const std::string a = NewMonitor(acme, "prices");
  const std::string b = NewMonitor(other, "people");
  EXPECT_EQ(Ask("GET", "/admin/v1/monitors").body["items"].size(), 2U);
  const Reply of_acme = Ask("GET", "/admin/v1/monitors?org_id=" + acme);
  ASSERT_EQ(of_acme.body["items"].size(), 1U);
  EXPECT_EQ(of_acme.body["items"][0]["id"], a);
  EXPECT_EQ(Ask("GET", "/admin/v1/monitors?q=PEO").body["items"][0]["id"], b);
  EXPECT_EQ(Ask("GET", "/admin/v1/monitors?status=paused").body["items"].size(), 0U);
  EXPECT_EQ(Ask("GET", "/admin/v1/monitors?status=nonsense").status, 422);
  const Reply page = Ask("GET", "/admin/v1/monitors?limit=1");
  EXPECT_EQ(page.body["items"].size(), 1U);
  const Reply rest = Ask(
      "GET", "/admin/v1/monitors?limit=1&cursor=" + page.body["next_cursor"].get<std::string>());
  EXPECT_EQ(rest.body["items"].size(), 1U);
  EXPECT_FALSE(rest.body.contains("next_cursor"));
}

TEST_F(Operations, RowsAndTheirEventsAreShownAsThePublicOnes) {
  const std::string id = NewMonitor(NewOrganisation());
  const std::string path = "/admin/v1/monitors/" + id + "/rows";
  const Reply page = Ask("GET", path + "?limit=1");
  ASSERT_EQ(page.status, 200) << page.raw.body;
  ASSERT_EQ(page.body["rows"].size(), 1U);
  EXPECT_EQ(page.body["rows"][0]["subject"]["url"], "https://a.example/");
  const Reply rest = Ask("GET", path + "?cursor=" + page.body["next_cursor"].get<std::string>());
  ASSERT_EQ(rest.body["rows"].size(), 1U);
  EXPECT_FALSE(rest.body.contains("next_cursor"));
  const auto row = page.body["rows"][0]["id"].get<std::string>();
  const Reply events = Ask("GET", path + "/" + row + "/events?include_completions=true");
  EXPECT_EQ(events.status, 200);
  EXPECT_EQ(events.body, Json::array());
  EXPECT_EQ(Ask("GET", path + "/" + row + "/events?limit=501").status, 422);
  EXPECT_EQ(Ask("GET", path + "/" + id + "/events").status, 404);
  EXPECT_EQ(Ask("GET", path + "?stale=maybe").status, 422);
  EXPECT_EQ(Ask("GET", path + "?stale=true").body["rows"].size(), 0U);
}

TEST_F(Operations, DeliveriesAreListedByStateNewestFirst) {
  const std::string org = NewOrganisation();
  const std::string other = NewOrganisation();
  const std::string pending = NewDelivery(org, kPending);
  const std::string dead = NewDelivery(org, kDead);
  NewDelivery(other, kDead);
  const std::string delivered = base::Uuid::V7(clock).ToString();
  NewAttempt(delivered, org, 1, "false, 500, 'status: 500', null, 1000");
  NewAttempt(delivered, org, 2, "true, 204, null, null, 2000");

  const Reply listed = Ask("GET", "/admin/v1/deliveries?state=dead&org_id=" + org);
  ASSERT_EQ(listed.body["items"].size(), 1U) << listed.raw.body;
  EXPECT_EQ(listed.body["items"][0]["id"], dead);
  EXPECT_EQ(listed.body["items"][0]["state"], "dead");
  EXPECT_EQ(listed.body["items"][0]["type"], "monitor.field.changed");
  EXPECT_EQ(listed.body["items"][0]["attempts"], 3);
  EXPECT_EQ(listed.body["items"][0]["next_attempt_at"], nullptr);
  EXPECT_EQ(listed.body["items"][0]["last_error"], "status: 500");
  const Reply waiting = Ask("GET", "/admin/v1/deliveries?state=pending");
  ASSERT_EQ(waiting.body["items"].size(), 1U);
  EXPECT_EQ(waiting.body["items"][0]["id"], pending);
  EXPECT_TRUE(waiting.body["items"][0]["next_attempt_at"].is_string());
  EXPECT_EQ(waiting.body["items"][0]["waiting_for"], "retry");
  EXPECT_EQ(listed.body["items"][0]["waiting_for"], nullptr);
  const Reply done = Ask("GET", "/admin/v1/deliveries?state=delivered");
  ASSERT_EQ(done.body["items"].size(), 1U);
  EXPECT_EQ(done.body["items"][0]["id"], delivered);
  EXPECT_EQ(done.body["items"][0]["attempts"], 2);
  EXPECT_EQ(Ask("GET", "/admin/v1/deliveries?state=lost").status, 422);
}

TEST_F(Operations, OneDeliveryIsShownWithItsAttempts) {
  const std::string org = NewOrganisation();
  const std::string id = NewDelivery(org, kDead);
  NewAttempt(id, org, 1, "false, null, 'timeout: no answer', null, 10000000");
  NewAttempt(id, org, 2, "false, 500, 'status: 500', '\\xff3c623e'::bytea, 1500");
  const Reply shown = Ask("GET", "/admin/v1/deliveries/" + id);
  ASSERT_EQ(shown.status, 200);
  ASSERT_EQ(shown.body["history"].size(), 2U);
  EXPECT_EQ(shown.body["history"][0]["status_code"], nullptr);
  EXPECT_EQ(shown.body["history"][0]["error_class"], "timeout");
  EXPECT_EQ(shown.body["history"][0]["duration_ms"], 10000.0);
  EXPECT_EQ(shown.body["history"][1]["attempt"], 2);
  EXPECT_EQ(shown.body["history"][1]["answer"], "\xef\xbf\xbd<b>");
  EXPECT_EQ(Ask("GET", "/admin/v1/deliveries/" + base::Uuid::V4().ToString()).status, 404);
}

TEST_F(Operations, OnlyADeadDeliveryIsReplayed_G2) {
  const std::string org = NewOrganisation();
  const std::string dead = NewDelivery(org, kDead);
  const std::string pending = NewDelivery(org, kPending);
  const std::string delivered = base::Uuid::V7(clock).ToString();
  NewAttempt(delivered, org, 1, "true, 200, null, null, 2000");
  const std::string path = "/admin/v1/deliveries/";
  EXPECT_EQ(Ask("POST", path + pending + "/replay").status, 409);
  EXPECT_EQ(Ask("POST", path + delivered + "/replay").status, 409);
  EXPECT_EQ(Ask("POST", path + base::Uuid::V4().ToString() + "/replay").status, 404);
  const Reply replayed = Ask("POST", path + dead + "/replay", Object({{"reason", "fixed"}}));
  EXPECT_EQ(replayed.status, 200);
  EXPECT_EQ(Sql("select state || ' ' || attempts || ' ' || (available_at <= now())::text || ' ' ||"
                " (replayed_at is not null)::text from delivery where id = '" +
                dead + "'"),
            "0 3 true true");
  EXPECT_EQ(Ask("POST", path + dead + "/replay").status, 409);
  EXPECT_EQ(Sql("select count(*) from audit where action = 'delivery.replay' and org_id = '" + org +
                "' and reason = 'fixed'"),
            "1");
}

TEST_F(Operations, DeadDeliveriesAreReplayedByFilterAndTheDeliverersWoken) {
  const std::string org = NewOrganisation();
  const std::string other = NewOrganisation();
  for (int i = 0; i < 3; ++i) NewDelivery(org, kDead);
  const std::string old = NewDelivery(org, kDead);
  Sql("update delivery set created_at = '2020-01-01' where id = '" + old + "'");
  NewDelivery(other, kDead);
  NewDelivery(org, kPending);
  const Reply replayed =
      Ask("POST", "/admin/v1/deliveries/replay",
          Object({{"org_id", org}, {"since", "2021-01-01T00:00:00Z"}, {"reason", "outage"}}));
  EXPECT_EQ(replayed.status, 200) << replayed.raw.body;
  EXPECT_EQ(base::DumpJson(replayed.body), R"({"replayed":3})");
  EXPECT_EQ(Sql("select count(*) from delivery where state = 1"), "2");
  EXPECT_EQ(Sql("select detail->>'replayed' from audit where action = 'delivery.replay_many'"),
            "3");
  EXPECT_EQ(Ask("POST", "/admin/v1/deliveries/replay", Object({{"until", "2021-01-01T00:00:00Z"}}))
                .body["replayed"],
            1);
  EXPECT_EQ(Ask("POST", "/admin/v1/deliveries/replay", Object({{"since", "yesterday"}})).status,
            422);
  EXPECT_EQ(Ask("POST", "/admin/v1/deliveries/replay", Object({{"state", "dead"}})).status, 422);
}

TEST_F(Operations, ProvidersAreShownWithWhyTheyAreOffAndWhereTheyFail) {
  config.providers.http["mine"].url = "http://127.0.0.1:1/";
  config.lookups.find_email = {"store", "mine"};
  config.smtp.hello_name.clear();
  Sql("insert into member (id, roles, version, host, pid, providers) values (gen_random_uuid(), "
      "'{worker}', '1', 'there', 7, '[{\"id\":\"mine\",\"failures\":5,\"left_out\":true}]'), "
      "(gen_random_uuid(), '{worker}', '1', 'here', 8, '[]')");
  std::map<std::string, Json> of;
  const Json items = Ask("GET", "/admin/v1/providers").body["items"];
  for (const Json& item : items) {
    EXPECT_TRUE(of.emplace(item["id"].get<std::string>(), item).second) << item;
  }
  for (const char* id : {"store", "website", "pattern", "smtp", "dns", "wkd", "gravatar",
                         "local_part", "pages", "wikidata", "mine"}) {
    EXPECT_TRUE(of.contains(id)) << id;
  }
  EXPECT_FALSE(of.contains("null"));
  EXPECT_EQ(of["store"]["state"], "on");
  EXPECT_EQ(of["store"]["kind"], "own");
  EXPECT_TRUE(of["store"]["why"].is_null());
  EXPECT_EQ(of["gravatar"]["state"], "off");
  EXPECT_EQ(of["gravatar"]["why"], "[providers.gravatar] url is empty");
  EXPECT_EQ(of["smtp"]["why"], "[email.smtp] hello_name is empty");
  EXPECT_EQ(of["mine"]["kind"], "service");
  EXPECT_EQ(of["mine"]["orders"], Json::array({"find_email"}));
  ASSERT_EQ(of["mine"]["failing"].size(), 1U);
  EXPECT_EQ(of["mine"]["failing"][0]["host"], "there");
  EXPECT_EQ(of["mine"]["failing"][0]["failures"], 5);
  EXPECT_EQ(of["mine"]["failing"][0]["left_out"], true);
  EXPECT_TRUE(of["store"]["failing"].empty());
}

TEST_F(Operations, TheOverviewShowsTheFleetAndItsQueues) {
  const std::string org = NewOrganisation("Acme");
  const std::string monitor = NewMonitor(org);
  Sql("insert into member (id, roles, version, host, pid) values ('" + state.id.ToString() +
      "', '{api,admin}', '1.2.3', 'here', 42), (gen_random_uuid(), '{worker}', '1.2.2', 'there', "
      "7)");
  Sql("insert into member (id, roles, version, host, pid, heartbeat_at) values (gen_random_uuid(),"
      " '{worker}', '1', 'gone', 7, now() - interval '1 day')");
  Sql("insert into chunk (id, org_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, "
      "due_at,"
      " row_count) values (gen_random_uuid(), '" +
      org +
      "', 1, now() - interval '1 minute', '{}', '{}', '{}', '{}', now() - interval '1 minute', 3)");
  Sql("insert into chunk (id, org_id, tier, available_at, lease_token, monitor_ids, tick_ids, "
      "firsts,"
      " ends, due_at, row_count) values (gen_random_uuid(), '" +
      org +
      "', 1, now() + interval '1 minute', gen_random_uuid(), '{}', '{}', '{}', '{}', now(), 5)");
  Sql("update monitor_sched set next_run_at = now() - interval '1 hour'");
  NewDelivery(org, kPending);
  NewDelivery(org, kDead);
  Sql("insert into endpoint (id, org_id, scheme, host, port, failing_since, failed_at) values "
      "(gen_random_uuid(), '" +
      org + "', 'https', 'down.example', 443, now() - interval '49 hours', now())");

  const Reply reply = Ask("GET", "/admin/v1/overview");
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  Json body = reply.body;
  ASSERT_EQ(body["members"].size(), 2U);
  int answering = 0;
  for (Json member : body["members"]) {
    if (member["answering"] != true) continue;
    ++answering;
    EXPECT_EQ(member["roles"], Json::array({"api", "admin"}));
    EXPECT_EQ(member["pid"], 42);
  }
  EXPECT_EQ(answering, 1);
  EXPECT_EQ(body["chunks"]["due"], 1);
  EXPECT_EQ(body["chunks"]["leased"], 1);
  EXPECT_GE(body["chunks"]["oldest_due_age_ms"].get<std::int64_t>(), 60000);
  EXPECT_EQ(body["checks"]["due"], 3);
  EXPECT_EQ(body["checks"]["leased"], 5);
  EXPECT_EQ(body["deliveries"]["pending"], 1);
  EXPECT_EQ(body["deliveries"]["dead"], 1);
  EXPECT_TRUE(body["deliveries"]["oldest_pending_age_ms"].is_number());
  EXPECT_EQ(body["receivers"]["failing"], 1);
  EXPECT_EQ(body["receivers"]["longest"][0]["address"], "https://down.example:443");
  EXPECT_EQ(body["backlog"][0]["name"], "Acme");
  EXPECT_EQ(body["backlog"][0]["checks"], 3);
  EXPECT_EQ(body["monitors"]["live"], 1);
  EXPECT_EQ(body["monitors"]["late"], 1);
  EXPECT_EQ(body["monitors"]["stalest"][0]["id"], monitor);
  Sql("update organisation set lives_at = 'c3'");
  const Json elsewhere = Ask("GET", "/admin/v1/overview").body;
  EXPECT_EQ(elsewhere["receivers"]["failing"], 0) << "it is told where the organisation lives";
}

TEST_F(Operations, WithoutTheDatabaseAnswersAre503AndHealthStays_G12) {
  const std::string org = NewOrganisation();
  TestDatabase::CrashServer();
  Reply reply = Ask("GET", "/admin/v1/orgs/" + org);
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(Header(reply.raw, "Retry-After"), "5");
  EXPECT_EQ(AskWith("GET", "/healthz", {}).status, 200);
  EXPECT_EQ(Ask("POST", "/admin/v1/drain").status, 202) << "an ending is possible without it";
  EXPECT_TRUE(state.drained);
  TestDatabase::StartServer();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  do {
    reply = Ask("GET", "/admin/v1/orgs/" + org);
  } while (reply.status == 503 && std::chrono::steady_clock::now() < give_up);
  EXPECT_EQ(reply.status, 200);
}

TEST_F(Operations, AnUnknownCommitIs503AndSaysThatItMayHaveHappened_G12) {
  // Each connection ends while it commits the change.
  Sql("create function end_at_commit() returns trigger language plpgsql as $$ begin "
      "perform pg_terminate_backend(pg_backend_pid()); return null; end $$");
  Sql("create constraint trigger end_at_commit after insert on organisation initially deferred "
      "for each row execute function end_at_commit()");
  const Reply reply = Ask("POST", "/admin/v1/orgs", Json{{"name", "Acme"}});
  EXPECT_EQ(reply.status, 503) << reply.raw.body;
  EXPECT_EQ(Header(reply.raw, "Retry-After"), "5");
  EXPECT_EQ(reply.body["error"], "unavailable");
  EXPECT_NE(reply.raw.body.find("may have been made or not"), std::string::npos);
}

TEST_F(Operations, RequestsAreCountedByRouteNotByPath) {
  Ask("GET", "/admin/v1/orgs/" + base::Uuid::V4().ToString());
  Ask("GET", "/admin/v1/nothing/here");
  const std::string exposed = metrics.Expose();
  EXPECT_NE(exposed.find("route=\"admin /admin/v1/orgs/{id}\""), std::string::npos);
  EXPECT_EQ(exposed.find("nothing"), std::string::npos);
}

// The console of one cell shows all of them, and finds an organisation at any.
class FakeOtherCells final : public admin::OtherCells {
 public:
  void Ask(std::string path, std::string q, Done done) override {
    asked.emplace_back(std::move(path), std::move(q));
    done(answers);
  }
  std::vector<std::pair<std::string, std::string>> asked;
  std::vector<admin::CellAnswer> answers;
};

class OperatorsCells : public AdminTest {
 public:
  Reply AskAll(const std::string& target) {
    return AskRaw(
        Request("GET", target, {{"authorization", std::string("Bearer ") + kViewerToken}}),
        with_cells);
  }
  void Answers(const std::string& cell, const std::string& body) {
    other_cells.answers.push_back({cell, "https://" + cell + ".internal:9464", body, {}});
  }
  void IsSilent(const std::string& cell) {
    other_cells.answers.push_back(
        {cell, "https://" + cell + ".internal:9464", {}, "timeout: late"});
  }

  FakeOtherCells other_cells;
  admin::Admin with_cells{config, pool,        signals, clock,   metrics, state,
                          fields, key_fetcher, log,     nullptr, nullptr, &other_cells};
};

TEST_F(OperatorsCells, EachIsShownAsItSaysAndTheSilentOneAsSilent) {
  NewOrganisation();
  Answers("c2",
          R"({"cell":"c2","version":"1","organisations":7,"monitors":5,"checks_due":3,"lag_ms":2,
              "undelivered_ms":1,"anything":{"else":1}})");
  IsSilent("c3");
  Answers("c4", R"({"cell":"c5","organisations":{"many":1}})");
  Answers("c6", "<html>");
  const Reply reply = AskAll("/admin/v1/cells");
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  const Json& items = reply.body["items"];
  ASSERT_EQ(items.size(), 5U);
  EXPECT_EQ(items[0], (Json{{"cell", ""},
                            {"url", nullptr},
                            {"version", base::VersionAndCommit()},
                            {"organisations", 1},
                            {"monitors", 0},
                            {"checks_due", 0},
                            {"lag_ms", 0},
                            {"undelivered_ms", nullptr},
                            {"reachable", true}}));
  EXPECT_EQ(items[1], (Json{{"cell", "c2"},
                            {"url", "https://c2.internal:9464"},
                            {"version", "1"},
                            {"organisations", 7},
                            {"monitors", 5},
                            {"checks_due", 3},
                            {"lag_ms", 2},
                            {"undelivered_ms", 1},
                            {"reachable", true}}));
  EXPECT_EQ(items[2], (Json{{"cell", "c3"},
                            {"url", "https://c3.internal:9464"},
                            {"reachable", false},
                            {"error", "timeout: late"}}));
  EXPECT_EQ(items[3]["error"], "it says that it is another cell");
  EXPECT_EQ(items[3]["organisations"], nullptr);
  EXPECT_EQ(items[4]["error"], "its answer is not that of an admin port");
  EXPECT_EQ(other_cells.asked,
            (std::vector<std::pair<std::string, std::string>>{{"/admin/v1/cell", ""}}));
}

TEST_F(OperatorsCells, AnOrganisationIsFoundAtAnyOfThemAndByTheDirectoryWhereItsOwnIsSilent) {
  const std::string here = NewOrganisation("Acme here");
  const std::string gone = base::Uuid::V4().ToString();
  Sql("insert into cell_directory (org_id, cell) values ('" + gone + "', 'c3')");
  Answers("c2",
          R"({"items":[{"id":"i","name":"Acme there","external_id":"a&b","locked":true,
              "lives_at":"","balance":1.5,"teams":[]},5],"next_cursor":"x"})");
  IsSilent("c3");
  const Reply named = AskAll("/admin/v1/directory?q=acme%20%26");
  ASSERT_EQ(named.status, 200) << named.raw.body;
  EXPECT_EQ(named.body["items"], (Json::array({{{"cell", "c2"},
                                                {"url", "https://c2.internal:9464"},
                                                {"id", "i"},
                                                {"name", "Acme there"},
                                                {"external_id", "a&b"},
                                                {"locked", true},
                                                {"lives_at", ""},
                                                {"balance", 1.5}}})));
  EXPECT_EQ(named.body["more"], true);
  EXPECT_EQ(named.body["lives_at"], nullptr);
  EXPECT_EQ(named.body["unreachable"], Json::array({{{"cell", "c3"}, {"error", "timeout: late"}}}));
  EXPECT_EQ(other_cells.asked.back(),
            (std::pair<std::string, std::string>("/admin/v1/orgs", "acme &")));
  other_cells.answers.erase(other_cells.answers.begin());
  EXPECT_EQ(AskAll("/admin/v1/directory?q=" + here).body["items"][0]["name"], "Acme here");
  EXPECT_EQ(AskAll("/admin/v1/directory?q=" + here).body["lives_at"], "");
  EXPECT_EQ(AskAll("/admin/v1/directory?q=" + gone).body["lives_at"], "c3");
  const Reply nothing = AskAll("/admin/v1/directory");
  EXPECT_EQ(nothing.status, 422);
  EXPECT_NE(nothing.raw.body.find(R"(["query","q"])"), std::string::npos) << nothing.raw.body;
}

TEST_F(OperatorsCells, WithoutAListOfThemThereIsThisOne) {
  NewOrganisation("Acme");
  EXPECT_EQ(Ask("GET", "/admin/v1/cells").body["items"].size(), 1U);
  const Json found = Ask("GET", "/admin/v1/directory?q=acm").body;
  EXPECT_EQ(found["items"][0]["url"], nullptr);
  EXPECT_EQ(found["unreachable"], Json::array());
}

}  // namespace
}  // namespace vedette::test
