// What a list of monitors reads, as counts that no noise changes: as many pages of the database
// among twenty thousand monitors as among two thousand, whatever the filter leaves; and what the
// page of usage reads of the ledger.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "base/json.h"
#include "store/queries.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

constexpr int kFew = 2'000;
constexpr int kMany = 20'000;
// Each of the two indexes by which a row that is shown is found may be one page deeper.
constexpr double kGrowthMax = 2;

using Values = std::map<std::string, std::optional<std::string>>;

class ListCosts : public PipelineTest {
 public:
  ListCosts() : connection(database.url()) {
    pqxx::nontransaction tx(connection);
    for (const char* name : {"monitor_list_org", "monitor_list_all", "monitor_list_org_failing",
                             "monitor_list_all_failing", "monitor_list_sought", "usage_charges"}) {
      tx.exec(fmt::format("prepare {} as {}", name, store::QueryText(name)));
    }
  }

  // Brings the organisation's monitors up to `count`: fifty fail, fifty are paused and fifty have a
  // tag, the oldest.
  void FillUpTo(int count) {
    pqxx::nontransaction tx(connection);
    tx.exec(fmt::format(
        "insert into monitor (id, org_id, name, frequency, tier, subject_type, status, "
        "key_columns, struct, tags) "
        "select (lpad(to_hex(n), 12, '0') || '70008000000000000000')::uuid, '{}', 'Monitor ' || n, "
        "'1d', 1, 0, case when n <= 50 then 3 else 2 end, '{{company}}', '{{}}', "
        "case when n <= 50 then '{{eu,prices}}'::text[] end "
        "from generate_series((select count(*) from monitor) + 1, {}) n",
        org.ToString(), count));
    tx.exec(
        "insert into monitor_sched (monitor_id, org_id, tier, live, frequency_s, anchor_at, "
        "next_run_at, row_count, active_row_count, failing_since) "
        "select id, org_id, 1, status = 2, 86400, now(), now() + interval '1 day', 1, 1, "
        "case when status = 3 then now() end from monitor on conflict do nothing");
    tx.exec("vacuum analyze monitor");
    tx.exec("vacuum analyze monitor_sched");
  }

  double Pages(const std::string& statement, const Values& given) {
    Values all{{"before", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
               {"team_id", std::nullopt},
               {"statuses", std::nullopt},
               {"limit", "51"},
               {"bytes_max", "1000000"},
               {"with_archived", "false"},
               {"only_failing", "true"},
               {"tags", "{prices}"},
               {"text", std::nullopt},
               {"fresh", std::nullopt},
               {"look_max", "10000"},
               {"since", "2026-01-01"},
               {"until", "2027-01-01"},
               {"by_day", "true"},
               {"by_kind", "true"},
               {"by_key", "true"},
               {"jobs_only", "false"},
               {"org_id", org.ToString()}};
    for (const auto& [name, value] : given) all[name] = value;
    std::string values;
    for (const std::string& name : store::QueryParameters(statement)) {
      const auto& value = all.at(name);
      values += (values.empty() ? "" : ", ") + (value ? "'" + *value + "'" : "null");
    }
    pqxx::nontransaction tx(connection);
    const auto text = tx.exec(fmt::format("explain (analyze, buffers, format json) execute {}({})",
                                          statement, values))[0][0]
                          .as<std::string>();
    const base::Json plan = base::ParseJsonOrThrow(text)[0]["Plan"];
    EXPECT_GT(plan.value("Actual Rows", 0), 0) << statement << " shows something";
    return plan.value("Shared Hit Blocks", 0.0) + plan.value("Shared Read Blocks", 0.0);
  }

  pqxx::connection connection;
};

TEST_F(ListCosts, DoNotGrowWithTheMonitorsThatThereAre) {
  const std::vector<std::pair<std::string, Values>> lists = {
      {"monitor_list_org", {}},
      {"monitor_list_org", {{"before", "00000000-07cf-7000-8000-000000000000"}}},
      {"monitor_list_org", {{"statuses", "{3}"}}},
      {"monitor_list_org", {{"statuses", "{3,4}"}, {"with_archived", "true"}}},
      {"monitor_list_org_failing", {}},
      {"monitor_list_sought", {}},
      {"monitor_list_sought", {{"text", "MONITOR 5"}, {"only_failing", "false"}}},
      {"monitor_list_all", {}},
      {"monitor_list_all_failing", {}}};
  std::vector<double> few;
  FillUpTo(kFew);
  for (const auto& [statement, given] : lists) few.push_back(Pages(statement, given));
  FillUpTo(kMany);
  for (std::size_t at = 0; at < lists.size(); ++at) {
    const auto& [statement, given] = lists[at];
    EXPECT_LE(Pages(statement, given), kGrowthMax * few[at])
        << statement << ", list " << at << ", took " << few[at] << " pages among " << kFew;
  }
}

// Rows and their total together.
TEST_F(ListCosts, WhatWasSpentIsSummedInOneReadingOfTheLedger) {
  double ledger = 0;
  {
    pqxx::nontransaction tx(connection);
    tx.exec(fmt::format(
        "insert into credit_entry (org_id, amount_mc, checks, tier, created_at) "
        "select '{}', -256, 256, 1, '2026-06-01'::timestamptz + n * interval '1 minute' "
        "from generate_series(1, {}) n",
        org.ToString(), kMany));
    tx.exec("vacuum analyze credit_entry");
    ledger =
        tx.exec("select relpages from pg_class where relname = 'credit_entry'")[0][0].as<double>();
  }
  EXPECT_LE(Pages("usage_charges", {}), 1.5 * ledger);
}

}  // namespace
}  // namespace vedette::test
