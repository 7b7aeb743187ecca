// What a check costs, as counts that no noise changes: WAL, transactions and rows written in the
// database, pages looked at, allocations in the process. The bounds are the measured figures and a
// tenth; only the few transactions of big ticks, whose claims follow the pace of the machine, may
// be twice as many, and pages, to which the catalogues add, half as many again: a statement that
// reads for each of its monitors what it reads for all of them looks at ten times as many.
// bench/checks measures times.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "config/role_config.h"
#include "domain/text/limits.h"
#include "tests/store/support/allocation_count.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {
namespace {

// The monitors of a measurement.
struct Shape {
  int monitors;
  int rows;  // of each
  int checks() const { return monitors * rows; }
  int blocks() const { return monitors * ((rows + domain::kBlockRows - 1) / domain::kBlockRows); }
};
constexpr Shape kBig{2, 2048};    // large ticks, whole chunks
constexpr Shape kOneRow{512, 1};  // many ticks in a chunk

struct Costs {
  double wal_bytes;
  double transactions;
  double rows_written;
  double pages;
  double monitors_read;  // versions of rows of the table `monitor`
  double allocations;
};

std::string Described(const Costs& c) {
  return fmt::format(
      "a check costs {:.0f} B of WAL, {:.4f} transactions, {:.3f} rows written, {:.1f} pages, "
      "{:.3f} reads of a monitor, {:.1f} allocations",
      c.wal_bytes, c.transactions, c.rows_written, c.pages, c.monitors_read, c.allocations);
}

class CheckCosts : public WorkerTest {
 public:
  CheckCosts() {
    if (VEDETTE_COUNTS_ALLOCATIONS == 0) return;
    Sql("update account set balance_mc = 1000000000 returning 1");
    settings.worker.poll_ms = std::chrono::seconds(1);
    settings.worker.control_read_ms = std::chrono::seconds(1);
  }

  // The cost of one tick of every monitor, from its cut to its last record; `script` says what the
  // probe sees.
  Costs OfATick(const Shape& shape, const std::string& webhook_url,
                const ScriptedProbe::Script& script) {
    const double checks = shape.checks();
    limits.monitors_per_cut_max = shape.monitors;
    for (int i = 0; i < shape.monitors; ++i) NewPriced(shape.rows, webhook_url);
    probe.SetScript(script);
    // What the sessions that made the monitors did is not to be counted: they tell it as they end.
    Eventually(fmt::format("select n_tup_ins >= {0} and n_tup_upd >= {0} from pg_stat_user_tables "
                           "where relname = 'monitor_row'",
                           shape.checks()),
               "t");
    Sql("analyze");  // plans as they are where autovacuum has been
    Sql("select pg_stat_reset()");
    const double wal = Lsn();
    const std::int64_t before = AllocationsSoFar();
    {
      Process process(*this);
      Cut();
      UntilAllChunksAreDone();
    }
    const std::int64_t after = AllocationsSoFar();
    Costs costs;
    costs.wal_bytes = (Lsn() - wal) / checks;
    costs.allocations = static_cast<double>(after - before) / checks;
    // The worker's sessions have ended, and with that told what they did.
    Eventually("select n_tup_upd >= " + std::to_string(shape.blocks()) +
                   " from pg_stat_user_tables where relname = 'state_block'",
               "t");
    costs.transactions =
        (Statements("chunk_scan") + Statements("chunk_claim") + Statements("record_lock_chunks")) /
        checks;
    costs.rows_written =
        std::stod(Sql("select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables")) /
        checks;
    costs.pages = std::stod(Sql("select blks_hit + blks_read from pg_stat_database "
                                "where datname = current_database()")) /
                  checks;
    costs.monitors_read =
        std::stod(Sql("select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) "
                      "from pg_stat_user_tables where relname = 'monitor'")) /
        checks;
    RecordProperty("costs", Described(costs));
    return costs;
  }

 private:
  double Lsn() {
    return std::stod(Sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"));
  }
  // How often the worker ran the statement: each of these is a transaction of its own.
  double Statements(const std::string& query) {
    const double count = Series("vedette_db_query_seconds_count{query=\"" + query + "\"}");
    EXPECT_GT(count, 0) << "there is no such series: " << query;
    return count;
  }
};

TEST_F(CheckCosts, OfBigMonitorsWhereTwoPercentChange) {
  if (VEDETTE_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "costs are counted without sanitizers";
  const Costs costs =
      OfATick(kBig, {}, [](int n, int) { return n % 50 == 0 ? Price("2") : Price("1"); });
  EXPECT_LT(costs.wal_bytes, 40) << Described(costs);
  EXPECT_LT(costs.transactions, 0.006) << Described(costs);
  EXPECT_LT(costs.rows_written, 0.09) << Described(costs);
  EXPECT_LT(costs.pages, 5.3) << Described(costs);
  EXPECT_LT(costs.allocations, 50.3) << Described(costs);
}

TEST_F(CheckCosts, WhereEveryCheckWritesAnEventAndADelivery) {
  if (VEDETTE_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "costs are counted without sanitizers";
  const Costs costs = OfATick(kBig, "http://hooks.example", [](int, int) { return Price("2"); });
  EXPECT_LT(costs.wal_bytes, 1600) << Described(costs);
  EXPECT_LT(costs.transactions, 0.0064) << Described(costs);
  EXPECT_LT(costs.rows_written, 3.4) << Described(costs);
  EXPECT_LT(costs.pages, 43) << Described(costs);
  // All deliveries of a chunk are of one monitor.
  EXPECT_LT(costs.monitors_read, 0.1) << Described(costs);
  EXPECT_LT(costs.allocations, 110) << Described(costs);
}

TEST_F(CheckCosts, OfMonitorsOfOneRow) {
  if (VEDETTE_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "costs are counted without sanitizers";
  const Costs costs = OfATick(kOneRow, {}, [](int, int) { return Price("1"); });
  EXPECT_LT(costs.wal_bytes, 787) << Described(costs);
  EXPECT_LT(costs.transactions, 0.0108) << Described(costs);
  EXPECT_LT(costs.rows_written, 2.23) << Described(costs);
  EXPECT_LT(costs.pages, 41) << Described(costs);
  EXPECT_LT(costs.allocations, 73) << Described(costs);
}

// Every statement takes up each of a table's constraints again, and calls it for each row; a
// foreign key's trigger has each update of the row read the version before once more.
TEST_F(CheckCosts, OfConstraintsWhereEveryCheckWrites) {
  for (const char* table :
       {"delivery", "event", "monitor_row", "monitor_sched", "state_block", "tick"}) {
    EXPECT_LE(std::stoi(Sql(fmt::format("select count(*) from pg_constraint where contype = 'c' "
                                        "and conrelid = '{}'::regclass",
                                        table))),
              1)
        << table;
  }
  for (const char* table : {"delivery", "event", "monitor_sched", "state_block", "tick"}) {
    EXPECT_EQ(
        Sql(fmt::format("select count(*) from pg_trigger where tgrelid = '{}'::regclass", table)),
        "0")
        << table;
  }
}

}  // namespace
}  // namespace vedette::test
