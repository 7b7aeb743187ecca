#include <gmock/gmock.h>

#include "domain/job/job.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/definition.h"

namespace vedette::domain {
namespace {

using base::Json;
using testing::HasSubstr;

Json Specs(const Json& changes = Json::object()) {
  Json specs{{"name", "m"},
             {"key_columns", Json::array({"domain"})},
             {"struct", {{"price", "what it costs"}}}};
  for (const auto& [name, value] : changes.items()) specs[name] = value;
  return specs;
}

ValidationFaults Validate(Json* specs) {
  const DefinitionRules rules{[](const std::string& url) -> std::optional<std::string> {
                                if (url.starts_with("http")) return std::nullopt;
                                return "no address";
                              },
                              nullptr};
  return ValidateBlockSpecs(*FindBlockType("monitor"), Json::array(), specs, rules);
}

std::string FaultOf(const Json& changes) {
  Json specs = Specs(changes);
  const auto faults = Validate(&specs);
  return faults.empty() ? "" : faults.front().type + " " + base::DumpJson(faults.front().loc);
}

Json Whole(const Json& changes = Json::object()) {
  Json specs = Specs(changes);
  EXPECT_TRUE(Validate(&specs).empty());
  return specs;
}

TEST(MonitorBlock, ItsSpecsAreCheckedByTheRulesOfMonitors) {
  EXPECT_EQ(FaultOf({}), "");
  for (const char* frequency : {"1h", "30d", "4w", "5m", "36h"}) {
    EXPECT_EQ(FaultOf({{"frequency", frequency}}), "") << frequency;
  }
  for (const char* frequency : {"59m", "31d", "5s", "1", "h1", "01h", "6m"}) {
    EXPECT_EQ(FaultOf({{"frequency", frequency}}), R"(invalid_frequency ["frequency"])")
        << frequency;
  }
  EXPECT_EQ(FaultOf({{"tier", "xhigh"}}), R"(enum ["tier"])");
  EXPECT_EQ(FaultOf({{"struct", Json::object()}}), R"(too_short ["struct"])");
  EXPECT_EQ(FaultOf({{"key_columns", Json::array()}}), R"(too_short ["key_columns"])");
  EXPECT_EQ(FaultOf({{"key_columns", Json::array({"a", "price"})}}),
            R"(column_conflict ["key_columns",1])");
  EXPECT_EQ(FaultOf({{"key_columns", Json::array({"a", "a"})}}), R"(duplicate ["key_columns",1])");
  EXPECT_EQ(FaultOf({{"struct", {{"price", " "}}}}), R"(string_too_short ["struct","price"])");
  EXPECT_EQ(FaultOf({{"struct", {{std::string(200, 'p'), "x"}}}}), "");
  EXPECT_THAT(FaultOf({{"struct", {{std::string(201, 'p'), "x"}}}}),
              testing::StartsWith(R"(string_too_long ["struct","ppp)"));
  EXPECT_EQ(FaultOf({{"metadata", {{"a", std::string(16 * 1024, 'x')}}}}),
            R"(too_long ["metadata"])");
  EXPECT_EQ(FaultOf({{"webhook_url", "ftp://a.example"}}), R"(invalid_url ["webhook_url"])");
  EXPECT_EQ(FaultOf({{"webhook_url", nullptr}}), "");
  EXPECT_EQ(FaultOf({{"webhook_event_types", Json::array({"monitor.webhook.test"})}}),
            R"(enum ["webhook_event_types",0])");
}

TEST(MonitorBlock, WhatIsLeftOutIsAsInPostMonitors) {
  const MonitorOrder plain = ReadMonitorOrder(Whole());
  EXPECT_EQ(plain.frequency_text, "1d");
  EXPECT_EQ(plain.frequency, std::chrono::hours(24));
  EXPECT_EQ(plain.tier, Tier::kLow);
  EXPECT_EQ(plain.confirm_after, 1);
  EXPECT_EQ(plain.missing_confirmations, 2);
  EXPECT_FALSE(plain.metadata_json);
  EXPECT_FALSE(plain.research_plan);
  const std::vector all{NotificationType::kChanged, NotificationType::kCompleted,
                        NotificationType::kFailed};
  EXPECT_EQ(plain.webhook_event_types, all) << "a webhook_url may come later";
  EXPECT_EQ(ReadMonitorOrder(Whole({{"webhook_url", "https://a.example/"}})).webhook_event_types,
            all);
  const MonitorOrder chosen =
      ReadMonitorOrder(Whole({{"webhook_url", "https://a.example/"},
                              {"metadata", {{"a", 1}}},
                              {"webhook_event_types", Json::array({"monitor.execution.failed"})}}));
  EXPECT_EQ(chosen.webhook_event_types, std::vector{NotificationType::kFailed});
  EXPECT_EQ(chosen.metadata_json, R"({"a":1})");
}

TEST(MonitorBlock, KeyColumnsAreColumnsOfItsInput) {
  const Columns input{"Domain", "price"};
  try {
    FindBlockType("monitor")->bind(Whole(), input);
    ADD_FAILURE() << "a monitor without its key column was bound";
  } catch (const BindError& error) {
    EXPECT_THAT(error.what(), HasSubstr("column domain is not in the input"));
    EXPECT_THAT(error.what(), HasSubstr("Domain"));
  }
}

TEST(MonitorBlock, ARowIsSplitAndKeepsItsCells) {
  const Columns input{"domain", "price", "monitor_error", "more"};
  const MonitorRows rows(Whole(), input);
  EXPECT_EQ(rows.output(), (Columns{"domain", "price", "monitor_error", "more", "monitor_row_id",
                                    "monitor_error_2"}));
  const Cells row{"a.example", 5, nullptr, Json::array({1})};
  const RowValues values = rows.ValuesOf(row);
  EXPECT_TRUE(values.has_key);
  EXPECT_EQ(values.subject_json, R"({"domain":"a.example"})");
  EXPECT_EQ(values.baseline_json, R"({"price":5})");
  EXPECT_EQ(values.context_json, R"({"more":"[1]"})");
  EXPECT_EQ(rows.ValuesOf({"a.example ", 6}).key_hash, values.key_hash);
  EXPECT_FALSE(rows.ValuesOf({" ", 5}).has_key);
  EXPECT_EQ(rows.Added(row, "id"),
            (Cells{"a.example", 5, nullptr, Json::array({1}), "id", nullptr}));
  EXPECT_EQ(rows.NotAdded(row, "why"),
            (Cells{"a.example", 5, nullptr, Json::array({1}), nullptr, "why"}));
}

TEST(MonitorBlock, ItsMonitorHasOneIdThatStandsWithThoseOfItsTime) {
  const auto run = base::Uuid::Parse("01a1fc89-ad28-7fba-bd9a-c03270e11a18").value();
  const base::Uuid id = RunMonitorId(run, "watch");
  EXPECT_EQ(id, RunMonitorId(run, "watch"));
  EXPECT_NE(id, RunMonitorId(run, "other"));
  EXPECT_EQ(id.ToString().substr(0, 13), "01a1fc89-ad28");
  EXPECT_EQ(RunMonitorRowId(id, "key"), RunMonitorRowId(id, "key"));
  EXPECT_NE(RunMonitorRowId(id, "key"), RunMonitorRowId(id, "kez"));
}

}  // namespace
}  // namespace vedette::domain
