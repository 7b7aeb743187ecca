// Creating, reading, listing and switching monitors through the public API.
#include <gmock/gmock.h>

#include <cstring>
#include <pqxx/pqxx>
#include <set>

#include "base/crypto.h"
#include "config/role_config.h"
#include "tests/store/support/allocation_count.h"
#include "tests/store/support/neighbour.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;
using ApiMonitors = ApiTest;

std::set<std::string> Keys(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST_F(ApiMonitors, CreateAnswersIdStatusAndRowIdsInOrder) {
  const Reply reply = Ask("POST", "/monitors", GoodBody());
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["status"], "active");
  ASSERT_EQ(reply.body["rows"].size(), 2U);
  const std::string id = reply.body["id"];
  const Reply rows = Ask("GET", "/monitors/" + id + "/rows");
  ASSERT_EQ(rows.status, 200) << rows.raw.body;
  EXPECT_EQ(rows.body["rows"][0]["id"], reply.body["rows"][0]["id"]);
  EXPECT_EQ(rows.body["rows"][1]["id"], reply.body["rows"][1]["id"]);
  EXPECT_FALSE(rows.body.contains("next_cursor"));
}

TEST_F(ApiMonitors, FirstTickIsDueAtCreation) {
  config.scheduler.spread = 0;
  const std::string id = NewMonitor();
  EXPECT_EQ(Sql("select s.live and s.next_run_at = m.created_at and s.anchor_at = m.created_at "
                "and s.row_count = 2 and s.active_row_count = 2 and s.frequency_s = 86400 "
                "from monitor_sched s join monitor m on m.id = s.monitor_id where m.id = '" +
                id + "'"),
            "t");
  EXPECT_EQ(Sql("select count(*) from row_state where monitor_id = '" + id + "'"), "2");
}

TEST_F(ApiMonitors, DetailHasEveryFieldOfTheInterface) {
  const std::string id =
      NewMonitor({{"metadata", {{"b", 1}, {"a", 2}}}, {"research_plan", "look"}});
  const Reply reply = Ask("GET", "/monitors/" + id);
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  for (const char* field : {"id",
                            "org_id",
                            "team_id",
                            "name",
                            "frequency",
                            "watched",
                            "tier",
                            "subject_type",
                            "research_plan",
                            "is_active",
                            "disabled_reason",
                            "webhook_url",
                            "metadata",
                            "last_run_at",
                            "next_run_times",
                            "row_count",
                            "active_row_count",
                            "created_at",
                            "updated_at",
                            "rows",
                            "status",
                            "webhook_event_types",
                            "webhook_failing",
                            "waiting_for"}) {
    EXPECT_TRUE(reply.body.contains(field)) << field;
  }
  EXPECT_EQ(reply.body["next_run_times"].size(), 5U);
  EXPECT_EQ(reply.body["frequency"], "1d");
  EXPECT_EQ(reply.body["tier"], "low");
  EXPECT_EQ(reply.body["metadata"].dump(), R"({"b":1,"a":2})");
  const Json& row = reply.body["rows"][0];
  EXPECT_EQ(Keys(row), (std::set<std::string>{"id",
                                              "org_id",
                                              "team_id",
                                              "name",
                                              "frequency",
                                              "subject",
                                              "context",
                                              "baseline",
                                              "current",
                                              "never_observed",
                                              "is_failing",
                                              "watched",
                                              "tier",
                                              "subject_type",
                                              "research_plan",
                                              "is_active",
                                              "disabled_reason",
                                              "webhook_url",
                                              "metadata",
                                              "last_run_at",
                                              "next_run_times",
                                              "pending_confirmations",
                                              "created_at",
                                              "updated_at"}));
  EXPECT_EQ(row["subject"].dump(), R"({"domain":"a.example"})");
  EXPECT_EQ(row["baseline"].dump(), R"({"price":"1"})");
  EXPECT_EQ(row["context"].dump(), R"({"note":"n"})");
  EXPECT_TRUE(reply.body["rows"][1]["context"].is_null());
}

TEST_F(ApiMonitors, RowOfAPageHasStructAndEventTypes) {
  const std::string id = NewMonitor({{"webhook_url", "https://hooks.example.com/a"}});
  const Reply reply = Ask("GET", "/monitors/" + id + "/rows");
  EXPECT_EQ(Keys(reply.body["rows"][0]), (std::set<std::string>{"id",
                                                                "org_id",
                                                                "team_id",
                                                                "name",
                                                                "frequency",
                                                                "subject",
                                                                "context",
                                                                "baseline",
                                                                "current",
                                                                "never_observed",
                                                                "is_failing",
                                                                "struct",
                                                                "tier",
                                                                "subject_type",
                                                                "research_plan",
                                                                "is_active",
                                                                "disabled_reason",
                                                                "webhook_url",
                                                                "webhook_event_types",
                                                                "metadata",
                                                                "last_run_at",
                                                                "next_run_times",
                                                                "pending_confirmations",
                                                                "created_at",
                                                                "updated_at"}));
  EXPECT_EQ(reply.body["rows"][0]["webhook_event_types"].size(), 3U);
}

TEST_F(ApiMonitors, SummaryHasEveryFieldOfTheInterfaceAndNewestComesFirst) {
  const std::string first = NewMonitor({{"run_id", "run 1"}});
  Sql("select pg_sleep(0.002)");  // ids sort by millisecond
  const std::string second = NewMonitor({{"run_id", "run 1"}});
  const Reply reply = Ask("GET", "/monitors/for-run/run%201");
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  ASSERT_EQ(reply.body.size(), 2U);
  EXPECT_EQ(reply.body[0]["id"], second);
  EXPECT_EQ(Keys(reply.body[0]), (std::set<std::string>{"id",
                                                        "org_id",
                                                        "team_id",
                                                        "name",
                                                        "frequency",
                                                        "struct",
                                                        "tier",
                                                        "subject_type",
                                                        "research_plan",
                                                        "is_active",
                                                        "disabled_reason",
                                                        "webhook_url",
                                                        "webhook_event_types",
                                                        "metadata",
                                                        "last_run_at",
                                                        "next_run_times",
                                                        "schedule",
                                                        "row_count",
                                                        "active_row_count",
                                                        "status",
                                                        "tags",
                                                        "waiting_for",
                                                        "webhook_waiting_until",
                                                        "failing_since",
                                                        "archived_at",
                                                        "created_at",
                                                        "updated_at"}));
  EXPECT_EQ(Ask("GET", "/monitors/for-run/unknown").raw.body, "[]");
  EXPECT_EQ(Ask("GET", "/monitors/for-run/run%201?status=paused&status=failed").raw.body, "[]");
  EXPECT_EQ(Ask("GET", "/monitors/for-run/run%201?status=paused&status=active").body.size(), 2U);
  EXPECT_EQ(Ask("GET", "/monitors/for-run/x?status=odd").loc(), R"(["query","status"])");
}

TEST_F(ApiMonitors, AnUnknownParameterOfAListIsRefusedAsAnUnknownFieldIs) {
  const std::string path = "/monitors/" + NewMonitor();
  for (const std::string& list :
       {std::string("/monitors"), std::string("/monitors/for-run/x"), path + "/rows",
        path + "/events", path + "/ticks", path + "/deliveries", std::string("/events"),
        std::string("/credits/ledger")}) {
    const Reply reply = Ask("GET", list + "?page=2");
    EXPECT_EQ(reply.status, 422) << list;
    EXPECT_EQ(reply.loc(), R"(["query","page"])") << list;
    EXPECT_EQ(reply.type(), "extra_forbidden") << list;
  }
}

TEST_F(ApiMonitors, ListPagesThroughEveryMonitorOnce) {
  std::set<std::string> made;
  for (int i = 0; i < 5; ++i) made.insert(NewMonitor());
  std::set<std::string> seen;
  std::string cursor;
  int pages = 0;
  do {
    const Reply page =
        Ask("GET", "/monitors?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
    ASSERT_EQ(page.status, 200) << page.raw.body;
    for (const Json& m : page.body["monitors"]) EXPECT_TRUE(seen.insert(m["id"]).second);
    cursor = page.body.value("next_cursor", "");
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(seen, made);
  EXPECT_EQ(pages, 3);
}

TEST_F(ApiMonitors, AllMonitorsOfARunAreListedOverThePagesThatTheyAreReadIn) {
  NewMonitor({{"run_id", "r"}});
  Sql("insert into monitor select (jsonb_populate_record(m, jsonb_build_object("
      "'id', gen_random_uuid()))).* from monitor m, generate_series(1, 2499)");
  Sql("insert into monitor_sched select (jsonb_populate_record(s, jsonb_build_object("
      "'monitor_id', m.id))).* from monitor_sched s, monitor m where m.id <> s.monitor_id");
  const Reply reply = Ask("GET", "/monitors/for-run/r");
  std::set<std::string> ids;
  for (const Json& monitor : reply.body) ids.insert(monitor["id"]);
  EXPECT_EQ(reply.body.size(), 2500U);
  EXPECT_EQ(ids.size(), 2500U);
}

TEST_F(ApiMonitors, MonitorsOfARunCanBeHadInEveryStatusAndArchivedToo) {
  const auto of_run = [this](const std::string& query) {
    return Ask("GET", "/monitors/for-run/r-1" + query).body;
  };
  for (const char* status : {"starting", "failed", "active", "paused", "cancelled"}) {
    const std::string id = NewMonitor({{"run_id", "r-1"}});
    if (std::string_view(status) == "cancelled") {
      Ask("POST", "/monitors/" + id + "/cancel");
    } else {
      Sql("update monitor set status = (array_position(array['starting', 'failed', 'active', "
          "'paused', 'cancelled'], '" +
          std::string(status) + "') - 1) where id = '" + id + "'");
    }
    const Json found = of_run(std::string("?status=") + status);
    ASSERT_EQ(found.size(), 1U) << status << found.dump();
    EXPECT_EQ(found[0]["id"], id);
  }
  const std::string archived = NewMonitor({{"run_id", "r-1"}});
  ASSERT_EQ(Ask("POST", "/monitors/" + archived + "/archive").status, 200);
  EXPECT_EQ(of_run("").size(), 5U);
  EXPECT_EQ(of_run("?archived=true").size(), 6U);
  const Json both = of_run("?archived=True&status=cancelled");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]["id"], archived) << "newest first";
  EXPECT_EQ(of_run("?status=active").size(), 1U);
}

TEST_F(ApiMonitors, G10_ReceiversOfAnOrganisationAreApartByPathAndNotByQuery) {
  const auto receiver = [this](const std::string& url) {
    const std::string id = NewMonitor({{"webhook_url", url}});
    return Sql("select endpoint_id from monitor where id = '" + id + "'");
  };
  const std::string a = receiver("https://hooks.example.com/a");
  EXPECT_EQ(receiver("https://hooks.example.com:443/a?team=2"), a);
  EXPECT_NE(receiver("https://hooks.example.com/b"), a);
  EXPECT_EQ(receiver("https://hooks.example.com"), receiver("https://hooks.example.com/?x=1"));
  EXPECT_EQ(Sql("select count(*) from endpoint"), "3");
  EXPECT_EQ(Sql("select count(*) from endpoint where host like '%/a%'"), "0")
      << "a path may hold a secret";
}

TEST_F(ApiMonitors, AnOrganisationThatCannotPayACheckIsToldAtCreation) {
  const Reply poor = Ask("POST", "/monitors", GoodBody());
  ASSERT_EQ(poor.status, 200) << "it may get credits before the first check";
  ASSERT_EQ(poor.body["warnings"].size(), 1U) << poor.raw.body;
  EXPECT_THAT(poor.body["warnings"][0].get<std::string>(), HasSubstr("skipped_balance"));
  Sql("update account set balance_mc = 1000000 returning 1");
  EXPECT_FALSE(Ask("POST", "/monitors", GoodBody()).body.contains("warnings"));
}

TEST_F(ApiMonitors, ProseIsAcceptedWithAWarning) {
  Sql("update account set balance_mc = 1000000 returning 1");
  Json body = GoodBody();
  body["struct"]["ceo"] = "who leads the company";
  const Reply reply = Ask("POST", "/monitors", body);
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  ASSERT_EQ(reply.body["warnings"].size(), 1U);
  EXPECT_THAT(reply.body["warnings"][0].get<std::string>(), HasSubstr("ceo"));
  EXPECT_FALSE(Ask("POST", "/monitors", GoodBody()).body.contains("warnings"));
}

TEST_F(ApiMonitors, PauseByUpdateThenResume) {
  const std::string id = NewMonitor();
  Reply reply = Ask("POST", "/monitors/" + id + "/update", Json{{"is_active", false}});
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["status"], "paused");
  EXPECT_EQ(reply.body["is_active"], false);
  EXPECT_EQ(reply.body["disabled_reason"], "paused through the API");
  EXPECT_EQ(reply.body["next_run_times"].size(), 0U);
  EXPECT_FALSE(reply.body.contains("rows"));
  reply = Ask("POST", "/monitors/" + id + "/trigger");
  EXPECT_EQ(reply.status, 409);
  reply = Ask("POST", "/monitors/" + id + "/update", Json{{"is_active", true}});
  ASSERT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["status"], "active");
  EXPECT_TRUE(reply.body["disabled_reason"].is_null());
  EXPECT_EQ(Sql("select count(*) from open_tick"), "0");
}

TEST_F(ApiMonitors, CancelIsIdempotentAndResumable) {
  const std::string id = NewMonitor();
  for (int i = 0; i < 2; ++i) {
    const Reply reply = Ask("POST", "/monitors/" + id + "/cancel");
    ASSERT_EQ(reply.status, 200) << reply.raw.body;
    EXPECT_EQ(reply.body["status"], "cancelled");
    EXPECT_EQ(reply.body["disabled_reason"], "cancelled through the API");
  }
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/trigger").status, 409);
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/update", Json{{"is_active", false}}).status, 409);
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/update", Json{{"is_active", true}}).body["status"],
            "active");
}

TEST_F(ApiMonitors, StartingAndFailedRefuseUpdateTriggerCancelAndRows) {
  const std::string id = NewMonitor();
  for (const char* status : {"0", "1"}) {
    Sql("update monitor set status = " + std::string(status) + " where id = '" + id + "'");
    Sql("update monitor_sched set live = false where monitor_id = '" + id + "'");
    EXPECT_EQ(Ask("POST", "/monitors/" + id + "/update", Json{{"name", "x"}}).status, 409);
    EXPECT_EQ(Ask("POST", "/monitors/" + id + "/trigger").status, 409);
    EXPECT_EQ(Ask("POST", "/monitors/" + id + "/cancel").status, 409);
    const Json rows{{"rows", Json::array({Json{{"domain", "n.example"}}})}};
    EXPECT_EQ(Ask("POST", "/monitors/" + id + "/rows", rows).status, 409);
  }
}

TEST_F(ApiMonitors, TriggerOpensATickAndASecondJoinsIt) {
  const std::string id = NewMonitor();
  const Reply first = Ask("POST", "/monitors/" + id + "/trigger");
  ASSERT_EQ(first.status, 202) << first.raw.body;
  EXPECT_EQ(first.body["monitor_id"], id);
  EXPECT_EQ(first.body["rows"], 2);
  EXPECT_EQ(first.body["joined"], false);
  const Reply second = Ask("POST", "/monitors/" + id + "/trigger", Json::object());
  ASSERT_EQ(second.status, 202) << second.raw.body;
  EXPECT_EQ(second.body["joined"], true);
  EXPECT_EQ(second.body["tick_id"], first.body["tick_id"]);
  const Reply ticks = Ask("GET", "/monitors/" + id + "/ticks");
  ASSERT_EQ(ticks.status, 200) << ticks.raw.body;
  ASSERT_EQ(ticks.body["ticks"].size(), 1U);
  EXPECT_EQ(ticks.body["ticks"][0]["tick_id"], first.body["tick_id"]);
  EXPECT_EQ(ticks.body["ticks"][0]["trigger"], "manual");
  EXPECT_TRUE(ticks.body["ticks"][0]["finished_at"].is_null());
  EXPECT_EQ(ticks.body["ticks"][0]["slots"], 0);
}

TEST_F(ApiMonitors, ATriggerThatNobodyPaysSaysSoAndTheMonitorWhatItWaitsFor) {
  const std::string id = NewMonitor();
  const Reply poor = Ask("POST", "/monitors/" + id + "/trigger");
  ASSERT_EQ(poor.status, 202) << "it may get credits before the check";
  ASSERT_EQ(poor.body["warnings"].size(), 1U) << poor.raw.body;
  EXPECT_THAT(poor.body["warnings"][0].get<std::string>(), HasSubstr("skipped_balance"));
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["waiting_for"], "balance");
  EXPECT_EQ(Ask("GET", "/monitors").body["monitors"][0]["waiting_for"], "balance");

  Sql("update account set balance_mc = 1000000 returning 1");
  EXPECT_FALSE(Ask("POST", "/monitors/" + id + "/trigger").body.contains("warnings"));
  EXPECT_TRUE(Ask("GET", "/monitors/" + id).body["waiting_for"].is_null());

  const std::string team = NewTeam(acme.org_id);
  Sql("update team set spend_limit_mc = 1000 where id = '" + team + "'");
  Sql("insert into team_spend (team_id, month, spent_mc) values ('" + team +
      "', date_trunc('month', now() at time zone 'UTC')::date, 1000)");
  Sql("update monitor set team_id = '" + team + "'");
  const Reply limited = Ask("POST", "/monitors/" + id + "/trigger");
  ASSERT_EQ(limited.body["warnings"].size(), 1U) << limited.raw.body;
  EXPECT_THAT(limited.body["warnings"][0].get<std::string>(), HasSubstr("skipped_spend_limit"));
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["waiting_for"], "spend_limit");
  EXPECT_TRUE(Ask("POST", "/monitors/" + id + "/update", {{"is_active", false}})
                  .body["waiting_for"]
                  .is_null())
      << "a paused monitor waits for nothing";
}

TEST_F(ApiMonitors, EventTypesThatWereNotGivenAreAllThreeAndAGivenListStays) {
  const Json all{"monitor.field.changed", "monitor.execution.completed",
                 "monitor.execution.failed"};
  const Json url{{"webhook_url", "https://hooks.example.com/a"}};
  const auto types = [this](const std::string& id) {
    return Ask("GET", "/monitors/" + id).body["webhook_event_types"];
  };
  Sql("update account set balance_mc = 1000000 returning 1");
  const std::string later = NewMonitor();
  EXPECT_EQ(types(later), all) << "a webhook_url may come later";
  EXPECT_EQ(types(NewMonitor(url)), all);
  EXPECT_EQ(types(NewMonitor({{"webhook_event_types", nullptr}})), all);
  const std::string one = NewMonitor({{"webhook_event_types", {"monitor.field.changed"}}});
  EXPECT_EQ(types(one), Json::array({"monitor.field.changed"}));
  const std::string none = NewMonitor({{"webhook_event_types", Json::array()}});
  EXPECT_EQ(types(none), Json::array());

  for (const std::string& told : {later, one}) {
    EXPECT_FALSE(Ask("POST", "/monitors/" + told + "/update", url).body.contains("warnings"));
  }
  const Reply silent = Ask("POST", "/monitors/" + none + "/update", url);
  ASSERT_EQ(silent.status, 200) << silent.raw.body;
  ASSERT_EQ(silent.body["warnings"].size(), 1U) << silent.raw.body;
  EXPECT_THAT(silent.body["warnings"][0].get<std::string>(), HasSubstr("webhook_event_types"));
  EXPECT_EQ(types(none), Json::array());
  Json body = GoodBody();
  body.update(url);
  body["webhook_event_types"] = Json::array();
  EXPECT_EQ(Ask("POST", "/monitors", body).body["warnings"].size(), 1U);
}

TEST_F(ApiMonitors, UpdateChangesEachFieldAndLeavesTheOthers) {
  const std::string id =
      NewMonitor({{"webhook_url", "https://hooks.example.com/a"}, {"metadata", {{"a", 1}}}});
  const std::string path = "/monitors/" + id + "/update";
  EXPECT_EQ(Ask("POST", path, Json{{"name", "new"}}).body["name"], "new");
  EXPECT_EQ(Ask("POST", path, Json{{"research_plan", "p"}}).body["research_plan"], "p");
  EXPECT_EQ(Ask("POST", path, Json{{"confirm_after", 3}}).body["confirm_after"], 3);
  EXPECT_EQ(Ask("POST", path, Json{{"missing_confirmations", 4}}).body["missing_confirmations"], 4);
  EXPECT_EQ(Ask("POST", path, Json{{"webhook_url", "http://x.example/b"}}).body["webhook_url"],
            "http://x.example/b");
  Reply reply = Ask("POST", path, Json{{"metadata", nullptr}});
  EXPECT_TRUE(reply.body["metadata"].is_null());
  EXPECT_EQ(reply.body["webhook_url"], "http://x.example/b");
  EXPECT_EQ(reply.body["name"], "new");
  reply = Ask("POST", path, Json{{"webhook_url", nullptr}, {"research_plan", nullptr}});
  EXPECT_TRUE(reply.body["webhook_url"].is_null());
  EXPECT_TRUE(reply.body["research_plan"].is_null());
}

TEST_F(ApiMonitors, FrequencyChangeKeepsTheAnchorAndTheFirstTick) {
  config.scheduler.spread = 0;
  const std::string id = NewMonitor();
  const std::string path = "/monitors/" + id + "/update";
  ASSERT_EQ(Ask("POST", path, Json{{"frequency", "2h"}}).body["frequency"], "2h");
  EXPECT_EQ(Sql("select next_run_at = anchor_at and frequency_s = 7200 from monitor_sched"), "t");
  Sql("update monitor_sched set anchor_at = now() - interval '5 hours', "
      "next_run_at = now() + interval '1 hour'");
  ASSERT_EQ(Ask("POST", path, Json{{"frequency", "1d"}}).status, 200);
  EXPECT_EQ(Sql("select next_run_at = anchor_at + interval '1 day' from monitor_sched"), "t");
}

TEST_F(ApiMonitors, UpdateRefusesAnEmptyBodyEventTypesAndNulls) {
  const std::string path = "/monitors/" + NewMonitor() + "/update";
  EXPECT_EQ(Ask("POST", path, Json::object()).status, 422);
  EXPECT_EQ(Ask("POST", path, Json{{"webhook_event_types", Json::array()}}).loc(),
            R"(["body","webhook_event_types"])");
  for (const char* field : {"name", "is_active", "frequency", "confirm_after"}) {
    EXPECT_EQ(Ask("POST", path, Json{{field, nullptr}}).status, 422) << field;
  }
  EXPECT_EQ(Ask("POST", path, Json{{"frequency", "59m"}}).error(), "invalid_frequency");
  EXPECT_EQ(Ask("POST", path, Json{{"webhook_url", "http://127.0.0.1/"}}).error(),
            "invalid_webhook_url");
}

TEST_F(ApiMonitors, WebhookTestAnswersWithTheOutcome) {
  const std::string id = NewMonitor({{"webhook_url", "https://hooks.example.com/a"}});
  const Reply reply = Ask("POST", "/monitors/" + id + "/webhook/test");
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.raw.body,
            R"({"delivered":true,"status_code":204,"error":null,"duration_ms":12})");
  EXPECT_EQ(tester.tested->url, "https://hooks.example.com/a");
  EXPECT_EQ(tester.tested->monitor_id.ToString(), id);
  EXPECT_EQ(Ask("POST", "/monitors/" + NewMonitor() + "/webhook/test").status, 409);
}

TEST_F(ApiMonitors, IdempotencyKeyRepeatsTheFirstAnswer) {
  Json body = GoodBody();
  body["struct"]["ceo"] = "prose";
  const Headers key{{"idempotency-key", "k1"}};
  const Reply first = Ask("POST", "/monitors", body, key);
  ASSERT_EQ(first.status, 200) << first.raw.body;
  const std::string id = first.body["id"];
  // What happened since does not change the first answer.
  Ask("POST", "/monitors/" + id + "/update", Json{{"is_active", false}});
  Ask("POST", "/monitors/" + id + "/rows",
      Json{{"rows", Json::array({Json{{"domain", "c.example"}}})}});
  const Reply again = Ask("POST", "/monitors", body, key);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.raw.body, first.raw.body);
  EXPECT_EQ(Sql("select count(*) from monitor"), "1");
  body["name"] = "other";
  EXPECT_EQ(Ask("POST", "/monitors", body, key).status, 422);
  // Another organisation's key is another key.
  const Tenant other = NewTenant("other");
  EXPECT_EQ(Ask("POST", "/monitors", body, {key[0], {"x-api-key", other.key}}).status, 200);
  // Kept for 24 hours.
  Sql("update idempotency_key set created_at = now() - interval '25 hours'");
  EXPECT_NE(Ask("POST", "/monitors", body, key).body["id"], id);
}

TEST_F(ApiMonitors, ARepetitionHasTheFirstAnswerWhateverHasBecomeOfWhatItNames) {
  const std::string team = NewTeam(acme.org_id);
  const std::string channel = Ask("POST", "/channels",
                                  Json{{"name", "ours"},
                                       {"kind", "webhook"},
                                       {"target", {{"url", "https://hooks.example.com/"}}}})
                                  .body["id"];
  Json body = GoodBody();
  body["channel_ids"] = {channel};
  body["team_id"] = team;
  const Headers key{{"idempotency-key", "k"}};
  const Reply first = Ask("POST", "/monitors", body, key);
  ASSERT_EQ(first.status, 200) << first.raw.body;
  ASSERT_EQ(Ask("DELETE", "/channels/" + channel).status, 200);
  EXPECT_EQ(Ask("POST", "/monitors", body).status, 404) << "without the key";
  EXPECT_EQ(Ask("POST", "/monitors", body, key).raw.body, first.raw.body);
  Sql("update team set deleted_at = now()");
  EXPECT_EQ(Ask("POST", "/monitors", body, key).raw.body, first.raw.body);
  EXPECT_EQ(Sql("select count(*) from monitor"), "1");
}

TEST_F(ApiMonitors, IsNotMadeWhileItsTeamIsDeleted) {
  Json body = GoodBody();
  body["team_id"] = NewTeam(acme.org_id);
  const Reply refused = CallBeside(database.url(), "update team set deleted_at = now()",
                                   [&] { return Ask("POST", "/monitors", body); });
  EXPECT_EQ(refused.status, 404) << refused.raw.body;
  EXPECT_EQ(Sql("select count(*) from monitor"), "0");
}

TEST_F(ApiMonitors, HundredParallelCreatesWithOneKeyMakeOneMonitor) {
  std::vector<std::shared_ptr<ApiExchange>> exchanges;
  for (int i = 0; i < 100; ++i) {
    net::ServerRequest request = Request("POST", "/monitors", {{"idempotency-key", "same"}});
    request.body = base::DumpJson(GoodBody());
    exchanges.push_back(Begin(std::move(request)));
  }
  std::set<std::string> bodies;
  for (const auto& exchange : exchanges) {
    const auto answer = exchange->Wait();
    if (answer.status == 200) {
      bodies.insert(answer.body);
    } else {
      EXPECT_EQ(answer.status, 409) << answer.body;
    }
  }
  EXPECT_EQ(bodies.size(), 1U);
  EXPECT_EQ(Sql("select count(*) from monitor"), "1");
  // Retried, each gets the first answer, however many retry at once.
  exchanges.clear();
  for (int i = 0; i < 100; ++i) {
    net::ServerRequest request = Request("POST", "/monitors", {{"idempotency-key", "same"}});
    request.body = base::DumpJson(GoodBody());
    exchanges.push_back(Begin(std::move(request)));
  }
  for (const auto& exchange : exchanges) {
    const auto answer = exchange->Wait();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, *bodies.begin());
  }
}

TEST_F(ApiMonitors, KeyHeldByARunningCreateIsA409AtOnce) {
  std::string text;
  const auto org = *base::Uuid::Parse(acme.org_id);
  text.assign(org.bytes.begin(), org.bytes.end());
  const std::string hash = base::Sha256(text + "held");
  std::int64_t number = 0;
  std::memcpy(&number, hash.data(), sizeof number);
  pqxx::connection holder(database.url());
  pqxx::work work(holder);
  work.exec("select pg_advisory_xact_lock(" + std::to_string(number) + ")");
  const Reply reply = Ask("POST", "/monitors", GoodBody(), {{"idempotency-key", "held"}});
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.error(), "idempotency_key_in_use");
  work.abort();
  EXPECT_EQ(Ask("POST", "/monitors", GoodBody(), {{"idempotency-key", "held"}}).status, 200);
}

TEST_F(ApiMonitors, MonitorOfALockedOrganisationIsShownAsPaused) {
  const std::string id = NewMonitor();
  Sql("update organisation set locked = true where id = '" + acme.org_id + "'");
  EXPECT_EQ(Sql("select shown_status from monitor_shown where id = '" + id + "'"), "3");
}

TEST_F(ApiMonitors, HundredThousandRowsInOneBody) {
  Json body = GoodBody();
  Json rows = Json::array();
  constexpr std::size_t kRows = OrLessIfSanitized(100'000, 10'000);
  for (std::size_t i = 0; i < kRows; ++i)
    rows.push_back({{"domain", std::to_string(i) + ".example"}});
  body["rows"] = std::move(rows);
  const Reply reply = Ask("POST", "/monitors", body);
  ASSERT_EQ(reply.status, 200) << reply.raw.body.substr(0, 500);
  EXPECT_EQ(reply.body["rows"].size(), kRows);
  // The detail view streams in pages.
  const Reply detail = Ask("GET", "/monitors/" + reply.body["id"].get<std::string>());
  ASSERT_EQ(detail.status, 200);
  EXPECT_EQ(detail.body["rows"].size(), kRows);
  EXPECT_EQ(detail.body["rows"][kRows - 1]["subject"]["domain"],
            std::to_string(kRows - 1) + ".example");
  EXPECT_GT(detail.raw.pieces, static_cast<int>(kRows / 1100));
  EXPECT_LT(detail.raw.piece_bytes_max, 2U << 20);
}

}  // namespace
}  // namespace vedette::test
