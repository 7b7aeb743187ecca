// What the rows that a worker has claimed take of its memory.

#include <fmt/format.h>

#include "config/limits_config.h"
#include "config/role_config.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {
namespace {

// 200 rows of 9 kB each, of which 100 kB may be held.
TEST_F(WorkerTest, G11_ClaimedRowsAreBoundedByTheirBytesAndAllAreChecked) {
  constexpr int kRows = 200;
  constexpr int kRowBytes = 9000;
  settings.limits.row_bytes_max = 10'000;
  settings.worker.rows_held_bytes_max = 100'000;
  settings.worker.chunk_rows_max = limits.chunk_rows_max = 4;
  const auto monitor = NewPriced(kRows);
  Sql(
      fmt::format("update monitor_row set subject = json_build_object('n', position, 'text', "
                  "repeat('x', {})) where monitor_id = '{}'",
                  kRowBytes, monitor.ToString()));
  Cut();
  probe.SetScript([](int, int) { return std::nullopt; });
  Process process(*this);
  Until("as much is in flight as may be held", [this] { return probe.held() >= 8; });
  process.Settle();
  // Two chunks may go beyond the limit (worker/checks/claim_room.h).
  const int rows_max =
      static_cast<int>(settings.worker.rows_held_bytes_max) / kRowBytes + 2 * limits.chunk_rows_max;
  EXPECT_LE(std::stoi(Sql("select sum(row_count) from chunk where lease_token is not null")),
            rows_max);
  probe.SetScript([](int, int) { return Price("1"); });
  probe.Release(process.loop, Price("1"));
  UntilAllChunksAreDone();
  EXPECT_EQ(probe.starts(), static_cast<std::size_t>(kRows));
  EXPECT_EQ(Sql("select count(*) from row_state where outcome = 2"), std::to_string(kRows));
  ExpectMoneyAddsUp();
}

}  // namespace
}  // namespace vedette::test
