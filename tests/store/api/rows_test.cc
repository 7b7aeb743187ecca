// Pages of rows, adding, changing and switching rows, events and ticks through the public API.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "domain/job/job.h"
#include "tests/store/support/outcome_words.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::Outcome;
using testing::HasSubstr;

constexpr std::int64_t kTick = 1795253400000000;

class ApiRows : public ApiTest {
 public:
  Json Rows(int n) {
    Json rows = Json::array();
    for (int i = 0; i < n; ++i) rows.push_back({{"domain", std::to_string(i) + ".example"}});
    return rows;
  }

  std::string RowId(const std::string& monitor, int position) {
    return Sql("select id from monitor_row where monitor_id = '" + monitor +
               "' and position = " + std::to_string(position));
  }

  std::string Events(const std::string& monitor, int position, const std::string& query) {
    const Reply reply = Ask(
        "GET", "/monitors/" + monitor + "/rows/" + RowId(monitor, position) + "/events" + query);
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    std::string text;
    for (const Json& e : reply.body) {
      if (!text.empty()) text += ' ';
      text += e["event_type"].get<std::string>();
      if (!e["field"].is_null()) text += ":" + e["field"].get<std::string>();
    }
    return text;
  }

  // A finished tick that one chunk held.
  void SmallTick(const std::string& monitor, std::int64_t tick_id,
                 const std::vector<Outcome>& outcomes) {
    Sql("insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, "
        "slots, row_count, outcomes) values ('" +
        monitor + "', " + std::to_string(tick_id) + ", '" + acme.org_id +
        "', 0, now(), now(), now(), 1, " + std::to_string(outcomes.size()) + ", '\\x" +
        HexOf(outcomes) + "')");
  }

  void Change(const std::string& monitor, int position, std::int64_t tick_id,
              const std::string& field) {
    const auto row = *base::Uuid::Parse(RowId(monitor, position));
    const auto group = domain::EventGroupId(row, tick_id);
    Sql("insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, "
        "field, previous_value, current_value) values ('" +
        base::Uuid::V4().ToString() + "', '" + acme.org_id + "', '" + monitor + "', '" +
        row.ToString() + "', " + std::to_string(tick_id) + ", '" + group.ToString() + "', 0, '" +
        field + "', '1', '2')");
  }
};

TEST_F(ApiRows, PagesGiveEveryRowOnceInTheOrderAdded) {
  const std::string id = NewMonitor({{"rows", Rows(7)}});
  std::string cursor;
  std::vector<std::string> domains;
  std::vector<std::size_t> sizes;
  do {
    const Reply page = Ask(
        "GET", "/monitors/" + id + "/rows?limit=3" + (cursor.empty() ? "" : "&cursor=" + cursor));
    ASSERT_EQ(page.status, 200) << page.raw.body;
    for (const Json& row : page.body["rows"]) domains.push_back(row["subject"]["domain"]);
    sizes.push_back(page.body["rows"].size());
    cursor = page.body.value("next_cursor", "");
  } while (!cursor.empty());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 1}));
  ASSERT_EQ(domains.size(), 7U);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(domains[static_cast<std::size_t>(i)], std::to_string(i) + ".example");
  }
  // No cursor where the last row is the page's last.
  EXPECT_FALSE(Ask("GET", "/monitors/" + id + "/rows?limit=7").body.contains("next_cursor"));
  EXPECT_TRUE(Ask("GET", "/monitors/" + id + "/rows?limit=6").body.contains("next_cursor"));
}

TEST_F(ApiRows, BadCursorsAre400AndBadLimits422) {
  const std::string id = NewMonitor({{"rows", Rows(3)}});
  const std::string other = NewMonitor({{"rows", Rows(3)}});
  const std::string cursor = Ask("GET", "/monitors/" + id + "/rows?limit=1").body["next_cursor"];
  for (const std::string& bad : {std::string("x"), std::string(), cursor + "A"}) {
    const Reply reply = Ask("GET", "/monitors/" + id + "/rows?cursor=" + bad);
    EXPECT_EQ(reply.status, 400) << bad;
    EXPECT_EQ(reply.error(), "invalid_cursor");
  }
  EXPECT_EQ(Ask("GET", "/monitors/" + other + "/rows?cursor=" + cursor).status, 400);
  EXPECT_EQ(Ask("GET", "/monitors/" + id + "/ticks?cursor=" + cursor).status, 400);
  EXPECT_EQ(Ask("GET", "/monitors?cursor=" + cursor).status, 400);
  for (const char* limit : {"0", "1001", "x"}) {
    const Reply reply = Ask("GET", "/monitors/" + id + "/rows?limit=" + std::string(limit));
    EXPECT_EQ(reply.status, 422);
    EXPECT_EQ(reply.loc(), R"(["query","limit"])");
  }
  const std::string events = "/monitors/" + id + "/rows/" + RowId(id, 0) + "/events";
  EXPECT_EQ(Ask("GET", events + "?limit=500").status, 200);
  EXPECT_EQ(Ask("GET", events + "?limit=501").status, 422);
  EXPECT_EQ(Ask("GET", events + "?include_completions=yes").loc(),
            R"(["query","include_completions"])");
  EXPECT_EQ(Ask("GET", events + "?event_group_id=x").status, 422);
}

TEST_F(ApiRows, AddedRowsContinueThePositions) {
  const std::string id = NewMonitor();
  const Reply reply = Ask("POST", "/monitors/" + id + "/rows",
                          Json{{"rows", Json::array({Json{{"domain", "c.example"}, {"price", 3}},
                                                     Json{{"domain", "d.example"}}})}});
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  ASSERT_EQ(reply.body["rows"].size(), 2U);
  EXPECT_EQ(reply.body["rows"][0]["id"], RowId(id, 2));
  EXPECT_EQ(Sql("select row_count = 4 and active_row_count = 4 from monitor_sched"), "t");
  const Reply page = Ask("GET", "/monitors/" + id + "/rows");
  EXPECT_EQ(page.body["rows"][2]["baseline"].dump(), R"({"price":3})");
  EXPECT_EQ(Sql("select count(*) from row_state"), "4");
}

TEST_F(ApiRows, AddingAKnownKeyIsRule7AndAddsNothing) {
  const std::string id = NewMonitor();
  const Reply reply =
      Ask("POST", "/monitors/" + id + "/rows",
          Json{{"rows",
                Json::array({Json{{"domain", "c.example"}}, Json{{"domain", " a.example "}}})}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.error(), "duplicate_key");
  EXPECT_THAT(reply.message(), HasSubstr("rows[1]"));
  EXPECT_EQ(Sql("select count(*) from monitor_row"), "2");
  const Json unkeyed{{"rows", Json::array({Json{{"price", 1}}})}};
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/rows", unkeyed).error(), "missing_key_value");
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/rows", Json{{"rows", Json::array()}}).status, 422);
}

TEST_F(ApiRows, SwitchingARowKeepsTheCount) {
  const std::string id = NewMonitor();
  const std::string path = "/monitors/" + id + "/rows/" + RowId(id, 0) + "/update";
  for (int i = 0; i < 2; ++i) {  // the second changes nothing
    const Reply off = Ask("POST", path, Json{{"is_active", false}, {"disabled_reason", "gone"}});
    ASSERT_EQ(off.status, 200) << off.raw.body;
    EXPECT_EQ(off.body["is_active"], false);
    EXPECT_EQ(off.body["disabled_reason"], "gone");
    EXPECT_TRUE(off.body.contains("struct"));
    EXPECT_EQ(Ask("GET", "/monitors/" + id).body["active_row_count"], 1);
  }
  const Reply on = Ask("POST", path, Json{{"is_active", true}});
  EXPECT_EQ(on.body["is_active"], true);
  EXPECT_TRUE(on.body["disabled_reason"].is_null());
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["active_row_count"], 2);
  EXPECT_EQ(Ask("POST", path, Json::object()).loc(), R"(["body","is_active"])");
  // Switched off rows stay on the pages.
  EXPECT_EQ(Ask("GET", "/monitors/" + id + "/rows").body["rows"].size(), 2U);
}

TEST_F(ApiRows, ARowThatIsChangedGetsNoLargerThanOneThatIsAdded) {
  const std::string id = NewMonitor();
  const std::string path = "/monitors/" + id + "/rows/" + RowId(id, 0);
  const auto columns = [&](const Json& values) {
    return Ask("POST", path + "/update", Json{{"columns", values}});
  };
  ASSERT_EQ(columns({{"a", std::string(60'000, 'a')}}).status, 200);
  const Reply bytes = columns({{"b", std::string(10'000, 'b')}});
  EXPECT_EQ(bytes.status, 422);
  EXPECT_EQ(bytes.loc(), R"(["body","columns"])");
  EXPECT_EQ(bytes.type(), "too_long");
  EXPECT_THAT(bytes.raw.body, HasSubstr("The row should have at most 65536 bytes"));
  EXPECT_TRUE(Ask("GET", path).body["context"]["b"].is_null());
  ASSERT_EQ(columns({{"a", nullptr}}).status, 200);
  Json many = Json::object();
  for (int i = 0; i < 1000; ++i) many["c" + std::to_string(i)] = i;
  ASSERT_EQ(columns(many).status, 200);
  Json more = Json::object();
  for (int i = 0; i < 100; ++i) more["d" + std::to_string(i)] = i;
  EXPECT_EQ(columns(more).loc(), R"(["body","columns"])");
  EXPECT_EQ(columns(more).type(), "too_many_members");
}

TEST_F(ApiRows, ARowThatIsTooLargeAlreadyIsReadAndMended) {
  const std::string id = NewMonitor();
  const std::string path = "/monitors/" + id + "/rows/" + RowId(id, 0);
  Sql("update monitor_row set context = (select json_object_agg('c' || n, repeat('x', 100)) "
      "from generate_series(1, 1500) n) where position = 0 returning 1");
  EXPECT_THAT(Ask("GET", path).raw.body, HasSubstr(R"("c1500")"));
  EXPECT_EQ(Ask("GET", "/monitors/" + id + "/export.csv").status, 200);
  Json gone = Json::object();
  for (int i = 1; i <= 1000; ++i) gone["c" + std::to_string(i)] = nullptr;
  const auto update = [&](const Json& columns) {
    return Ask("POST", path + "/update", Json{{"columns", columns}});
  };
  EXPECT_EQ(update({{"new", 1}}).status, 422);
  EXPECT_EQ(update({{"c1500", nullptr}}).status, 200) << "smaller, though still too large";
  EXPECT_EQ(update(gone).body["context"].size(), 499U);
  EXPECT_EQ(update({{"new", 1}}).status, 200);
}

TEST_F(ApiRows, AReasonIsForARowThatIsSwitchedOff) {
  const std::string id = NewMonitor();
  const std::string path = "/monitors/" + id + "/rows/" + RowId(id, 0) + "/update";
  for (const Json& rest : {Json{{"columns", {{"a", 1}}}}, Json{{"is_active", true}}}) {
    Json body = rest;
    body["disabled_reason"] = "why";
    const Reply reply = Ask("POST", path, body);
    EXPECT_EQ(reply.status, 422) << reply.raw.body;
    EXPECT_EQ(reply.loc(), R"(["body","disabled_reason"])");
  }
}

TEST_F(ApiRows, WhatIsShownOfARowIsWhatItsStructOfNowKnows) {
  const Json given = {
      {"domain", "a.example"}, {"price", 1}, {"old", 2}, {"stock", 3}, {"note", "n"}};
  const std::string id = NewMonitor(
      {{"struct", {{"price", "css:.p"}, {"old", "css:.o"}}}, {"rows", Json::array({given})}});
  const std::string path = "/monitors/" + id + "/rows/" + RowId(id, 0);
  EXPECT_EQ(Ask("GET", path).body["baseline"].dump(), R"({"price":1,"old":2})");
  ASSERT_EQ(Ask("POST", "/monitors/" + id + "/update",
                Json{{"struct", {{"price", "css:.p"}, {"stock", "css:.s"}}}})
                .status,
            200);
  const Reply row = Ask("GET", path);
  EXPECT_EQ(row.body["baseline"].dump(), R"({"price":1})");
  EXPECT_EQ(row.body["context"].dump(), R"({"note":"n"})");
  EXPECT_EQ(Ask("GET", "/monitors/" + id + "/export.csv").raw.body.find("stock\"\":"),
            std::string::npos);
  ASSERT_EQ(
      Ask("POST", "/monitors/" + id + "/update", Json{{"struct", {{"price", "css:.q"}}}}).status,
      200);
  EXPECT_EQ(Ask("GET", path).body["baseline"].dump(), "{}");
  EXPECT_EQ(Ask("GET", path).body["context"].dump(), R"({"stock":3,"note":"n"})");
  const Json added = {{"domain", "b.example"}, {"price", 5}};
  ASSERT_EQ(Ask("POST", "/monitors/" + id + "/rows", Json{{"rows", Json::array({added})}}).status,
            200);
  const Reply rows = Ask("GET", "/monitors/" + id + "/rows");
  EXPECT_EQ(rows.body["rows"][1]["baseline"].dump(), R"({"price":5})");
  EXPECT_EQ(rows.body["rows"][1]["current"]["price"]["value"], 5);
}

TEST_F(ApiRows, StaleRowsAreThoseWhoseLastCheckIsOlderThanTheFrequency) {
  const std::string id = NewMonitor({{"rows", Rows(4)}, {"frequency", "1h"}});
  const std::string path = "/monitors/" + id + "/rows?stale=true";
  EXPECT_EQ(Ask("GET", path).body["rows"].size(), 0U);
  Sql("update row_state set last_run_at = now() - interval '59 minutes'");
  Sql("update row_state set last_run_at = now() - interval '61 minutes' where position in (1, 3)");
  EXPECT_EQ(Ask("GET", path).body["rows"].size(), 2U);
  const Reply first = Ask("GET", path + "&limit=1");
  ASSERT_EQ(first.body["rows"].size(), 1U);
  EXPECT_EQ(first.body["rows"][0]["subject"]["domain"], "1.example");
  const Reply second =
      Ask("GET", path + "&limit=1&cursor=" + first.body["next_cursor"].get<std::string>());
  EXPECT_EQ(second.body["rows"][0]["subject"]["domain"], "3.example");
  EXPECT_FALSE(second.body.contains("next_cursor"));
  EXPECT_EQ(Ask("GET", "/monitors/" + id + "/rows?stale=2").status, 422);
  const auto of_key = [&](const std::string& query) {
    return Ask("GET", "/monitors/" + id + "/rows?" + query).body["rows"].size();
  };
  EXPECT_EQ(of_key("stale=true&key[domain]=1.example"), 1U);
  EXPECT_EQ(of_key("stale=true&key[domain]=0.example"), 0U) << "its key does not make it stale";
  EXPECT_EQ(of_key("failing=true&key[domain]=1.example"), 0U);
  EXPECT_EQ(of_key("key[domain]=0.example"), 1U);
}

// Rows 0 to 2 failed at the last check that was made; of row 3 the events have gone.
TEST_F(ApiRows, ARowThatFailedFailsUntilItIsCheckedAgainAndASkipIsNoCheck) {
  const std::string id = NewMonitor({{"rows", Rows(5)}});
  const auto state = [&](int position, Outcome outcome, const std::string& last_run_at) {
    Sql(fmt::format("update row_state set outcome = {}, last_run_at = {} where position = {}",
                    static_cast<int>(outcome), last_run_at, position));
  };
  const std::string before = "to_timestamp(1795253400) - interval '1 hour'";
  const std::string after = "to_timestamp(1795253400) + interval '1 hour'";
  Sql("insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, "
      "message) select gen_random_uuid(), org_id, monitor_id, id, " +
      std::to_string(kTick) +
      ", gen_random_uuid(), 1, 'dns: no such name' from monitor_row where position <> 3");
  state(0, Outcome::kFailed, before);
  state(1, Outcome::kSkippedBalance, before);
  state(2, Outcome::kInactive, "null");
  state(3, Outcome::kSkippedPaused, before);
  state(4, Outcome::kSkippedBalance, after);
  const Json failing = Ask("GET", "/monitors/" + id + "/rows?failing=true").body["rows"];
  ASSERT_EQ(failing.size(), 3U);
  for (const Json& row : failing) {
    EXPECT_EQ(row["is_failing"], true);
    EXPECT_EQ(row["failure"]["message"], "dns: no such name");
  }
  const Json all = Ask("GET", "/monitors/" + id + "/rows").body["rows"];
  std::string states;
  for (const Json& row : all) states += row["is_failing"] == true ? '1' : '0';
  EXPECT_EQ(states, "11100");
  const Json one = Ask("GET", "/monitors/" + id + "/rows/" + RowId(id, 1)).body;
  EXPECT_EQ(one["is_failing"], true);
  EXPECT_EQ(one["failure"]["since"], "2026-11-21T09:30:00.000000Z");
}

TEST_F(ApiRows, StaleLooksAtTenThousandRowsACall) {
  const std::string id = NewMonitor({{"rows", Rows(10002)}});
  Sql("update row_state set last_run_at = now() - interval '2 days' where position = 10001");
  const Reply first = Ask("GET", "/monitors/" + id + "/rows?stale=true");
  EXPECT_EQ(first.body["rows"].size(), 0U);
  ASSERT_TRUE(first.body.contains("next_cursor"));
  const Reply second = Ask("GET", "/monitors/" + id + "/rows?stale=true&cursor=" +
                                      first.body["next_cursor"].get<std::string>());
  EXPECT_EQ(second.body["rows"].size(), 1U);
  EXPECT_FALSE(second.body.contains("next_cursor"));
}

TEST_F(ApiRows, EventsMergeStoredAndDerivedNewestFirst) {
  const std::string id = NewMonitor();
  SmallTick(id, kTick + 1, {Outcome::kUnchanged, Outcome::kUnchanged});
  SmallTick(id, kTick + 2, {Outcome::kSkippedBalance, Outcome::kSkippedBalance});
  SmallTick(id, kTick + 3, {Outcome::kChanged, Outcome::kUnchanged});  // row 0 changed
  SmallTick(id, kTick + 4,
            {Outcome::kSkippedSpendLimit, Outcome::kSkippedSpendLimit});  // spend limit: nothing
  Change(id, 0, kTick + 3, "price");
  Change(id, 0, kTick + 3, "name");
  EXPECT_EQ(Events(id, 0, ""), "change:name change:price error");
  EXPECT_EQ(Events(id, 0, "?include_completions=true"),
            "completion change:name change:price error completion");
  EXPECT_EQ(Events(id, 0, "?include_completions=false"), "change:name change:price error");
  EXPECT_EQ(Events(id, 1, "?include_completions=true"), "completion error completion");
  EXPECT_EQ(Events(id, 0, "?limit=2&include_completions=true"), "completion change:name");
}

TEST_F(ApiRows, EventsOfOneCheck) {
  const std::string id = NewMonitor();
  SmallTick(id, kTick + 1, {Outcome::kSkippedBalance, Outcome::kUnchanged});
  SmallTick(id, kTick + 2, {Outcome::kChanged, Outcome::kUnchanged});
  Change(id, 0, kTick + 2, "price");
  const auto row = *base::Uuid::Parse(RowId(id, 0));
  const auto query = [&](std::int64_t tick_id) {
    return "?include_completions=true&event_group_id=" +
           domain::EventGroupId(row, tick_id).ToString();
  };
  EXPECT_EQ(Events(id, 0, query(kTick + 2)), "completion change:price");
  EXPECT_EQ(Events(id, 0, query(kTick + 1)), "error");
  EXPECT_EQ(Events(id, 0, query(kTick + 3)), "");
  EXPECT_EQ(Events(id, 1, query(kTick + 1)), "");  // the id of the other row's check
}

TEST_F(ApiRows, DerivedEventsHaveComputedIdsAndEveryField) {
  const std::string id = NewMonitor();
  SmallTick(id, kTick, {Outcome::kSkippedBalance, Outcome::kUnchanged});
  const auto row = *base::Uuid::Parse(RowId(id, 0));
  const auto group = domain::EventGroupId(row, kTick);
  const Reply reply = Ask("GET", "/monitors/" + id + "/rows/" + row.ToString() + "/events");
  ASSERT_EQ(reply.body.size(), 1U);
  const Json& e = reply.body[0];
  EXPECT_EQ(e["id"], base::Uuid::V5(group, "error").ToString());
  EXPECT_EQ(e["event_group_id"], group.ToString());
  EXPECT_THAT(e["message"].get<std::string>(), HasSubstr("insufficient_balance"));
  for (const char* field :
       {"field", "previous_value", "current_value", "evidence", "sources", "confidence"}) {
    EXPECT_TRUE(e.contains(field) && e[field].is_null()) << field;
  }
  EXPECT_TRUE(e["created_at"].is_string());
}

TEST_F(ApiRows, EventsOfLargeTicksComeFromTheCheckLog) {
  const std::string id = NewMonitor({{"rows", Rows(300)}});
  const auto logged = [&](int block, std::int64_t tick, int first,
                          const std::vector<Outcome>& outcomes) {
    Sql("insert into check_log (monitor_id, block, tick_id, first, org_id, outcomes) values ('" +
        id + "', " + std::to_string(block) + ", " + std::to_string(tick) + ", " +
        std::to_string(first) + ", '" + acme.org_id + "', '\\x" + HexOf(outcomes) + "')");
  };
  logged(0, kTick, 0, {Outcome::kUnchanged, Outcome::kSkippedBalance});
  logged(0, kTick, 2, {Outcome::kSkippedBalance});
  logged(1, kTick, 10, {Outcome::kSkippedBalance, Outcome::kUnchanged});  // positions 266 and 267
  std::vector<Outcome> from_256(44, Outcome{domain::kNoOutcome});
  from_256[266 - 256] = Outcome::kUnchanged;
  logged(1, kTick + 5, 0, from_256);
  EXPECT_EQ(Events(id, 0, "?include_completions=true"), "completion");
  EXPECT_EQ(Events(id, 1, ""), "error");
  EXPECT_EQ(Events(id, 2, ""), "error");
  EXPECT_EQ(Events(id, 3, "?include_completions=true"), "");
  EXPECT_EQ(Events(id, 266, "?include_completions=true"), "completion error");
  EXPECT_EQ(Events(id, 265, "?include_completions=true"), "");
}

TEST_F(ApiRows, CheckOfAnUnfinishedTickIsSeenInTheRowsState) {
  const std::string id = NewMonitor();
  Sql("update row_state set last_tick_id = " + std::to_string(kTick) +
      ", outcome = 2, last_run_at = now() where position = 0");
  EXPECT_EQ(Events(id, 0, "?include_completions=true"), "completion");
  const auto row = *base::Uuid::Parse(RowId(id, 0));
  EXPECT_EQ(Events(id, 0,
                   "?include_completions=true&event_group_id=" +
                       domain::EventGroupId(row, kTick).ToString()),
            "completion");
  SmallTick(id, kTick, {Outcome::kUnchanged, Outcome::kUnchanged});  // recorded: still one
  EXPECT_EQ(Events(id, 0, "?include_completions=true"), "completion");
}

TEST_F(ApiRows, EventLimitIsTwentyUnlessSaid) {
  const std::string id = NewMonitor();
  for (int i = 0; i < 25; ++i) SmallTick(id, kTick + i, {Outcome::kUnchanged, Outcome::kUnchanged});
  const std::string path = "/monitors/" + id + "/rows/" + RowId(id, 0) + "/events";
  EXPECT_EQ(Ask("GET", path + "?include_completions=true").body.size(), 20U);
  EXPECT_EQ(Ask("GET", path + "?include_completions=true&limit=500").body.size(), 25U);
}

TEST_F(ApiRows, TicksAreTheSkipLedgerNewestFirst) {
  const std::string id = NewMonitor();
  SmallTick(id, kTick, {Outcome::kChanged, Outcome::kUnchanged});
  SmallTick(id, kTick + 1, {Outcome::kSkippedBalance, Outcome::kSkippedBalance});
  Sql("insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, "
      "slots, row_count, counts) values ('" +
      id + "', " + std::to_string(kTick + 2) + ", '" + acme.org_id +
      "', 0, now(), now(), now(), 3, 2, '{0,0,0,0,0,0,0,2,0}')");
  Sql("update monitor_sched set open_tick_id = " + std::to_string(kTick + 3) +
      ", open_due_at = now(), open_started_at = now(), open_slots = 1, open_rows = 2, "
      "open_trigger = 0");
  const Reply all = Ask("GET", "/monitors/" + id + "/ticks");
  ASSERT_EQ(all.status, 200) << all.raw.body;
  const Json& ticks = all.body["ticks"];
  ASSERT_EQ(ticks.size(), 4U);
  EXPECT_TRUE(ticks[0]["finished_at"].is_null());
  EXPECT_EQ(ticks[0]["outcomes"].dump(), "{}");
  EXPECT_EQ(ticks[1]["outcomes"].dump(), R"({"skipped_overlap":2})");
  EXPECT_EQ(ticks[1]["slots"], 3);
  EXPECT_EQ(ticks[2]["outcomes"].dump(), R"({"skipped_balance":2})");
  EXPECT_EQ(ticks[3]["outcomes"].dump(), R"({"changed":1,"unchanged":1})");
  const Reply first = Ask("GET", "/monitors/" + id + "/ticks?limit=3");
  EXPECT_EQ(first.body["ticks"].size(), 3U);
  const Reply second = Ask("GET", "/monitors/" + id + "/ticks?limit=3&cursor=" +
                                      first.body["next_cursor"].get<std::string>());
  ASSERT_EQ(second.body["ticks"].size(), 1U);
  EXPECT_EQ(second.body["ticks"][0]["tick_id"], kTick);
  EXPECT_FALSE(second.body.contains("next_cursor"));
}

}  // namespace
}  // namespace vedette::test
