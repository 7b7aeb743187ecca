#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "tests/store/support/allocation_count.h"
#include "tests/store/support/jobs_support.h"

// What a lookup costs the database, as counts that no noise changes. The bounds are the measured
// figures with slack.
namespace vedette::test {
namespace {

constexpr int kLookups = 200;

class JobsCosts : public JobsTest {
 public:
  double Lsn() {
    return std::stod(Sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"));
  }
  std::int64_t Updated(const std::string& table, const std::string& counter) {
    return std::stoll(
        Sql("select " + counter + " from pg_stat_user_tables where relname = '" + table + "'"));
  }
  // Transactions that wrote something, this one included.
  std::int64_t Transactions() { return std::stoll(Sql("select txid_current()")); }
  // How often the series' statement ran. A series that is not there is a failure.
  double Statements(const std::string& query) {
    const std::string text = metrics.Expose();
    const std::string series = "\nvedette_db_query_seconds_count{query=\"" + query + "\"} ";
    const auto at = text.find(series);
    EXPECT_NE(at, std::string::npos) << query << " never ran";
    return at == std::string::npos ? 0 : std::stod(text.substr(at + series.size()));
  }
};

TEST_F(JobsCosts, ALookupIsTwoSynchronousCommitsAndAtMostSixKilobytesOfWal) {
  // In the time that a sanitizer's build takes, the server's own vacuums may write, too.
  if (VEDETTE_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "costs are counted without sanitizers";
  // The first ones pay for plans, and for the images of pages.
  for (int i = 0; i < 20; ++i) {
    const auto job = Start(Lookup(1, 1000));
    RecordOne(job, PartEnd(Claim().chunks.at(0)));
  }
  Sql("checkpoint");
  const double claims = Statements("job_claim");
  const double starts = Statements("job_start");
  const double records = Statements("job_finish");
  const std::int64_t transactions = Transactions();
  const double wal = Lsn();
  for (int i = 0; i < kLookups; ++i) {
    const auto job = Start(Lookup(1, 1000));
    const auto claim = Claim();
    ASSERT_EQ(claim.chunks.size(), 1U);
    ASSERT_EQ(RecordOne(job, PartEnd(claim.chunks[0], 1, 1, 1000)), store::JobRecorded::kRecorded);
  }
  const double bytes = (Lsn() - wal) / kLookups;
  // A start, a claim and a record; the server counts transactions of autovacuum, too.
  const std::int64_t made = Transactions() - transactions - 1;
  EXPECT_GE(made, 3 * kLookups);
  EXPECT_LT(made, 4 * kLookups);
  RecordProperty("wal_bytes", static_cast<int>(bytes));
  EXPECT_LT(bytes, 6000) << bytes;
  // A start and a record that ends wait for the disk; a claim does not.
  EXPECT_EQ(Statements("job_start") - starts, kLookups);
  EXPECT_EQ(Statements("job_finish") - records, kLookups);
  EXPECT_EQ(Statements("job_claim") - claims, kLookups);
}

TEST_F(JobsCosts, WhatARecordWritesInItsJobStaysInItsPage) {
  auto asked = Lookup(256, 1000);
  const auto job = Start(asked);
  auto chunk = Claim().chunks.at(0);
  for (int i = 0; i < 30; ++i) {
    chunk.progress = i;
    RecordOne(job, Progress(chunk, R"({"rows": []})", 1, 1000));
  }
  {
    const auto other = OtherSession();
    for (int i = 30; i < 90; ++i) {
      chunk.progress = i;
      store::RecordJobChunks(*other, clock, {Progress(chunk, R"({"rows": []})", 1, 1000)});
    }
  }
  // The session tells what it did when it ends.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (Updated("job", "n_tup_upd") < 60 || Updated("job_block", "n_tup_upd") < 60) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const std::string table : {"job", "job_block"}) {
    EXPECT_GE(Updated(table, "n_tup_hot_upd") * 10, Updated(table, "n_tup_upd") * 9) << table;
  }
}

TEST_F(JobsCosts, ALookupTakesEightStatements) {
  const auto lookup = [this] {
    const auto job = Start(Lookup(1, 1000));
    RecordOne(job, PartEnd(Claim().chunks.at(0), 1, 1, 1000));
  };
  lookup();
  const double before = StatementsSoFar();
  for (int i = 0; i < 10; ++i) lookup();
  EXPECT_EQ((StatementsSoFar() - before) / 10, 8)
      << "a start one, a scan, a claim two, a record four";
}

}  // namespace
}  // namespace vedette::test
