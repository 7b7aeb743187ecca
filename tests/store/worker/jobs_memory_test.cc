// What the parts that a worker has claimed take of its memory.

#include <fmt/format.h>

#include "config/jobs_config.h"
#include "config/role_config.h"
#include "tests/store/support/job_pipeline_support.h"

namespace vedette::test {
namespace {

using JobMemory = JobPipelineTest;

// 40 jobs of one part with rows of 20 kB each, of which 200 kB may be held.
TEST_F(JobMemory, G11_ClaimedPartsAreBoundedByTheirBytesAndAllAreDone) {
  constexpr int kJobs = 40;
  constexpr std::size_t kRowBytes = 20'000;
  settings.worker.rows_held_bytes_max = 200'000;
  settings.jobs.part_bytes_max = kRowBytes;
  for (int i = 0; i < kJobs; ++i) {
    auto job = Numbers(1);
    job.params_json = fmt::format(R"({{"rows": ["{}"]}})", std::string(kRowBytes - 100, 'x'));
    Start(job);
  }
  block.SetScript([](const worker::RowRequest&, int) { return std::nullopt; });
  Process process(*this);
  Until("as much is in flight as may be held", [this] { return block.held() >= 4; });
  UntilHeldIsRead();
  // A part is held with the params that it is read from, and one may go beyond the limit.
  const int chunks_max =
      static_cast<int>(settings.worker.rows_held_bytes_max / (2 * kRowBytes)) + 2;
  EXPECT_LE(std::stoi(Sql("select count(*) from job_chunk where lease_token is not null")),
            chunks_max);
  block.SetScript(nullptr);
  block.Release(process.loop);
  Eventually("select count(*) from job_chunk", "0");
  EXPECT_EQ(Sql("select count(*) from job where status = 2"), std::to_string(kJobs));
}

}  // namespace
}  // namespace vedette::test
