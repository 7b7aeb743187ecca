// What a run costs, as counts that no noise changes: transactions, WAL beside the rows themselves
// and rows written for each part, allocations for each row of a block. bench/workflows measures
// times.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>

#include "config/role_config.h"
#include "domain/workflow/block_type.h"
#include "tests/store/support/allocation_count.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;

constexpr int kRows = 10'240;
constexpr int kSmallRuns = 12;

struct Costs {
  double transactions = 0;
  double wal_bytes = 0;  // less what the rows take
  double rows_written = 0;
  double allocations = 0;
};

// At most so much for each part, and allocations for each row of a block. Of the run of one row:
// for the run as a whole. The bounds are the measured figures and a quarter; transactions may be
// twice as many, since how often a worker claims and records depends on how the parts of several
// blocks meet.
constexpr Costs kOfComputed{1.1, 1'640, 4.9, 26.2};
constexpr Costs kOfPriced{0.91, 2'060, 5.3, 46.2};
constexpr Costs kOfOneRow{6, 9'480, 18.8, 2'700};

std::string Described(const Costs& c) {
  return fmt::format(
      "{:.3f} transactions, {:.0f} B of WAL beside its data, {:.2f} rows written; {:.1f} "
      "allocations",
      c.transactions, c.wal_bytes, c.rows_written, c.allocations);
}

void ExpectAtMost(const std::string& of, const Costs& costs, const Costs& bounds) {
  std::cout << of << ": " << Described(costs) << "\n";
  testing::Test::RecordProperty("costs", Described(costs));
  EXPECT_GT(costs.transactions, 0);
  EXPECT_GT(costs.rows_written, 0);
  EXPECT_LT(costs.transactions, bounds.transactions) << Described(costs);
  EXPECT_LT(costs.wal_bytes, bounds.wal_bytes) << Described(costs);
  EXPECT_LT(costs.rows_written, bounds.rows_written) << Described(costs);
  EXPECT_LT(costs.allocations, bounds.allocations) << Described(costs);
}

class RunCosts : public ApiRuns {
 public:
  RunCosts() : ApiRuns(config::Environment{{"VEDETTE_PROBES_LOW_KIND", "null"}}) {
    // What it is told moves the worker, and nothing else.
    config.worker.poll_ms = std::chrono::seconds(1);
    config.worker.control_read_ms = std::chrono::seconds(1);
    GiveCredits(acme.org_id, 1'000'000'000);
  }

  // A file of kRows rows of about 200 B.
  static std::string Csv() {
    const std::string note(180, 'x');
    std::string csv = "n,digit,note\n";
    for (int n = 0; n < kRows; ++n) csv += fmt::format("{},{},{}{}\n", n, n % 10, note, n);
    return csv;
  }
  static Json KeepsAll() {
    return Block("filter", {{"conditions",
                             Json::array({Json{{"column", "digit"}, {"op", "is_not_empty"}}})}});
  }
  std::string FileFlow(const Json& block, const Json& last) {
    return NewWorkflow(Chain({Block("read_csv", {{"dataframe_type", "COMPANY"}}), block, last}));
  }
  Json Handle() { return {{"specs_override", {{"resource_handle_id", Upload(Csv())}}}}; }

  struct Counts {
    double transactions = 0;
    double wal_bytes = 0;
    double allocations = 0;
  };
  Counts Now() {
    return {Starts() + Statements("job_claim") + Statements("job_lock"),
            std::stod(Sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")),
            static_cast<double>(AllocationsSoFar())};
  }

  // What was done since `before`, in all.
  Costs Since(const Counts& before) {
    const Counts now = Now();
    // The worker's sessions have ended, and with that told what they did.
    Until(
        "select (select sum(n_tup_ins) from pg_stat_user_tables where relname like 'job\\_part%') "
        ">= (select count(*) from job_part p join job_block b using (job_id, block) "
        "where b.input is not null)",
        "t");
    Until(
        "select n_tup_del > 0 and n_tup_upd >= n_tup_del from pg_stat_user_tables "
        "where relname = 'job_chunk'",
        "t");
    Costs costs;
    costs.transactions = now.transactions - before.transactions;
    costs.wal_bytes = now.wal_bytes - before.wal_bytes -
                      std::stod(Sql("select sum(pg_column_size(rows)) from job_part"));
    costs.rows_written = std::stod(
        Sql("select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables where relname "
            "in ('job', 'job_block', 'job_chunk', 'account', 'credit_entry', 'team_spend') or "
            "relname like 'job\\_part%'"));
    costs.allocations = now.allocations - before.allocations;
    return costs;
  }

  // The cost of one run from its start to its end.
  Costs OfARun(const std::string& workflow) {
    const Json body = Handle();
    Sql("select pg_stat_reset()");
    const Counts before = Now();
    {
      const Worker worker(*this);
      WaitFor(Run(workflow, body));
    }
    Costs costs = Since(before);
    const double parts = std::stod(Sql("select count(*) from job_part"));
    costs.transactions /= parts;
    costs.wal_bytes /= parts;
    costs.rows_written /= parts;
    costs.allocations /= std::stod(Sql("select sum(rows_out) from job_block"));
    EXPECT_EQ(Sql("select min(job.status) || ' ' || min(rows_out) from job join job_block on id = "
                  "job_id"),
              fmt::format("2 {}", kRows))
        << "every row is through every block";
    return costs;
  }

  // Looks seldom, since looking allocates, too.
  void WaitFor(const std::string& run) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    while (Sql("select finished_at is not null from job where id = '" + run + "'") != "t") {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the run does not end";
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

 private:
  // A run that reads a file locks it, and so starts by several statements.
  double Starts() { return Statements("job_start") + Statements("job_insert"); }
  // How often the statement ran, in any process: each of these is a transaction of its own.
  double Statements(const std::string& query) {
    const std::string text = metrics.Expose();
    const std::string series = "\nvedette_db_query_seconds_count{query=\"" + query + "\"} ";
    const auto at = text.find(series);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + series.size()));
  }
};

TEST_F(RunCosts, OfPartsThatAreComputed) {
  if (VEDETTE_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "costs are counted without sanitizers";
  const Json both{{"columns", Json::array({Json{{"name", "n"}}, Json{{"name", "note"}}})}};
  ExpectAtMost("a part of 256 rows that is computed",
               OfARun(FileFlow(KeepsAll(), Block("select_columns", both))), kOfComputed);
}

TEST_F(RunCosts, OfPartsWhoseRowsArePaidFor) {
  if (VEDETTE_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "costs are counted without sanitizers";
  const Json size{{"struct", {{"size", "how many work there"}}}};
  ExpectAtMost("a part of 256 rows of which some blocks are priced",
               OfARun(FileFlow(KeepsAll(), Block("enrich_company", size))), kOfPriced);
  EXPECT_EQ(Sql("select sum(checks) from credit_entry where job_id is not null"),
            std::to_string(kRows));
}

TEST_F(RunCosts, OfARunOfOneRowAndThreeBlocks) {
  if (VEDETTE_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "costs are counted without sanitizers";
  const Json name{{"columns", Json::array({Json{{"name", "email"}}})}};
  const std::string workflow =
      NewWorkflow(Chain({WebhookSource(), Block("dedupe"), Block("select_columns", name)}));
  const Json row = Json::array({Json{{"email", "ada@example.com"}}});
  Sql("select pg_stat_reset()");
  Counts before;
  Costs costs;
  {
    const Worker worker(*this);
    WaitFor(RunRows(workflow, row));  // pays for plans
    before = Now();
    for (int i = 0; i < kSmallRuns; ++i) WaitFor(RunRows(workflow, row));
  }
  costs = Since(before);
  constexpr double kRunsCounted = kSmallRuns + 1;  // among the rows written
  costs.transactions /= kSmallRuns;
  costs.wal_bytes /= kSmallRuns;
  costs.rows_written /= kRunsCounted;
  costs.allocations /= kSmallRuns;
  ExpectAtMost("a run of one row and three blocks", costs, kOfOneRow);
}

// Allocations for a row of a filter whose condition lists so many long numbers, none of which the
// row has.
double OfARowBeside(int numbers) {
  const std::string digits(600, '7');
  Json list = Json::array();
  for (int i = 0; i < numbers; ++i) list.push_back(digits + std::to_string(i));
  const Json condition{{"column", "n"}, {"op", "in"}, {"value", std::move(list)}};
  const auto filter = domain::FindBlockType("filter")->make(
      {{"conditions", Json::array({condition, condition, condition})},
       {"match", "any"},
       {"case_sensitive", true}},
      {"n"});
  const std::string cell = '"' + digits + '"';
  const base::CellTexts row{cell};
  base::CellTexts out;
  std::vector<std::string> made;
  constexpr int kTries = 100;
  const auto before = AllocationsSoFar();
  for (int i = 0; i < kTries; ++i) EXPECT_FALSE(filter->ApplyTexts(row, &out, &made));
  return static_cast<double>(AllocationsSoFar() - before) / kTries;
}

// The values of a list are read once a filter, and a cell once a row, however many conditions look
// at it.
TEST(FilterCosts, AListOfAThousandNumbersCostsARowNoMoreThanOneOfTwo) {
  if (VEDETTE_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "costs are counted without sanitizers";
  const double of_two = OfARowBeside(2);
  EXPECT_GT(of_two, 0);
  EXPECT_LE(OfARowBeside(1000), of_two);
}

}  // namespace
}  // namespace vedette::test
