// What a look at a run's live status reads, as counts that no noise changes: the same for a run of
// ten thousand rows and for one of five million.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <string>

#include "base/json.h"
#include "store/queries.h"
#include "tests/store/support/jobs_support.h"

namespace vedette::test {
namespace {

constexpr int kBlocks = 3;
constexpr int kFewParts = 40;       // of 256 rows: 10,240
constexpr int kManyParts = 19'532;  // 5,000,192
// Blocks and job are some rows of two pages, found by one index each.
constexpr double kPagesMax = 40;

class RunStatus : public JobsTest {
 public:
  RunStatus() : connection(database.url()) {
    pqxx::nontransaction tx(connection);
    tx.exec("set synchronous_commit = off");
    tx.exec("set plan_cache_mode = force_generic_plan");
    for (const char* name : {"run_get", "job_blocks_read"}) {
      tx.exec(fmt::format("prepare {} as {}", name, store::QueryText(name)));
    }
  }

  // A run of which so many parts of each block are done, each in a transaction of its own, as
  // records do it.
  std::string RunWithParts(int parts) {
    const std::string run = Start(Run(1, kBlocks - 1, 16)).ToString();
    pqxx::nontransaction tx(connection);
    tx.exec(fmt::format("update job_block set parts_total = {0}, opened = {0} where job_id = '{1}'",
                        parts, run));
    tx.exec(
        fmt::format("insert into job_part (job_id, block, part, rows, row_count) select '{}', "
                    "b, p, '[]', 256 from generate_series(0, {}) b, generate_series(1, {}) p",
                    run, kBlocks - 1, parts - 1));
    tx.exec(
        fmt::format("do $$ begin for n in 2..{0} loop "
                    "update job_block set parts_done = n, rows_done = n * 256, rows_out = n * 256, "
                    "updated_at = clock_timestamp() where job_id = '{1}'; commit; end loop; end $$",
                    parts, run));
    EXPECT_EQ(Sql(fmt::format("select count(*) from job_part where job_id = '{}'", run)),
              std::to_string(parts * kBlocks - (kBlocks - 1)))
        << "the first part of the source came with the run, those of the others never";
    return run;
  }

  // Pages that a look at it reads.
  double Pages(const std::string& run) {
    return PagesOf(fmt::format("run_get('{}', '{}')", run, org.ToString())) +
           PagesOf(fmt::format("job_blocks_read('{}')", run));
  }

  pqxx::connection connection;

 private:
  double PagesOf(const std::string& call) {
    pqxx::nontransaction tx(connection);
    const auto text =
        tx.exec("explain (analyze, buffers, format json) execute " + call)[0][0].as<std::string>();
    const base::Json plan = base::ParseJsonOrThrow(text)[0]["Plan"];
    EXPECT_GT(plan.value("Actual Rows", 0.0), 0) << call;
    return plan.value("Shared Hit Blocks", 0.0) + plan.value("Shared Read Blocks", 0.0);
  }
};

TEST_F(RunStatus, ALookReadsAsMuchAtFiveMillionRowsAsAtTenThousand) {
  const std::string few = RunWithParts(kFewParts);
  const std::string many = RunWithParts(kManyParts);
  Pages(few);  // takes away what the last writes have left
  Pages(many);
  const double of_few = Pages(few);
  const double of_many = Pages(many);
  RecordProperty("pages", fmt::format("{} and {}", of_few, of_many));
  EXPECT_LE(of_many, of_few + 4);
  EXPECT_LE(of_many, kPagesMax);
}

}  // namespace
}  // namespace vedette::test
