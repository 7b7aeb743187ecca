#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/unit/worker/held_job_chunks.h"
#include "worker/jobs/block_runs.h"

namespace vedette::worker {
namespace {

class CountingBlock final : public RowBlock {
 public:
  std::string_view type() const override { return "counting"; }
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t /*price_mc*/) override {
    ++bound;
    if (specs_json == "bad") return "the specs are bad";
    return std::make_shared<WaitingRunner>();
  }
  int bound = 0;
};

class BlockRunsTest : public testing::Test {
 public:
  static JobSpecs Job(int id, int parts, const std::string& type = "counting",
                      const std::string& specs = "{}") {
    auto job = std::make_shared<store::JobSpec>();
    job->job_id = Id(id);
    store::JobBlockSpec& block = job->blocks.emplace_back();
    block.type = type;
    block.specs_json = specs;
    block.parts_total = parts;
    return {{job->job_id, std::move(job)}};
  }
  static store::ClaimedJobChunk Chunk(int job) {
    store::ClaimedJobChunk chunk;
    chunk.job_id = Id(job);
    return chunk;
  }

  CountingBlock block;
  BlockRuns runs{{&block}};
};

TEST_F(BlockRunsTest, ABlockOfManyPartsIsBoundOnceAndItsJobRemembered) {
  const BlockRunPtr first = runs.Bind(Chunk(1), Job(1, 2));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(runs.Known()->size(), 1U);
  EXPECT_EQ(runs.Bind(Chunk(1), {}), first);
  EXPECT_EQ(block.bound, 1);
}

TEST_F(BlockRunsTest, AJobOfOnePartIsNotRemembered) {
  EXPECT_NE(runs.Bind(Chunk(1), Job(1, 1)), nullptr);
  EXPECT_EQ(runs.Known()->size(), 0U);
}

TEST_F(BlockRunsTest, AnUnknownTypeHasNoRunAndBadSpecsHaveTheSentence) {
  EXPECT_EQ(runs.Bind(Chunk(1), Job(1, 1, "of_tomorrow")), nullptr);
  EXPECT_EQ(runs.Bind(Chunk(2), {}), nullptr);
  const BlockRunPtr bad = runs.Bind(Chunk(3), Job(3, 1, "counting", "bad"));
  ASSERT_NE(bad, nullptr);
  EXPECT_EQ(bad->runner, nullptr);
  EXPECT_EQ(bad->fault, "the specs are bad");
}

TEST_F(BlockRunsTest, G11_TheLeastRecentlyUsedJobsAreForgotten) {
  const int n = static_cast<int>(kJobsRememberedMax) + 2;
  for (int i = 1; i <= n; ++i) {
    runs.Bind(Chunk(i), Job(i, 2));
    runs.Bind(Chunk(1), {});
  }
  runs.Trim();
  EXPECT_EQ(runs.Known()->size(), kJobsRememberedMax);
  EXPECT_NE(runs.Known()->Find(Id(1)), nullptr);
  EXPECT_EQ(runs.Known()->Find(Id(2)), nullptr);
}

TEST_F(BlockRunsTest, G11_JobsWithLargeParamsAreForgottenByTheirBytes) {
  constexpr std::size_t kParams = kJobsRememberedBytesMax / 4;
  for (int i = 1; i <= 6; ++i) {
    JobSpecs specs = Job(i, 2);
    auto job = std::make_shared<store::JobSpec>(*specs.at(Id(i)));
    job->params_json.assign(kParams, ' ');
    runs.Bind(Chunk(i), {{Id(i), job}});
  }
  runs.Trim();
  EXPECT_EQ(runs.Known()->size(), 4U);
  EXPECT_NE(runs.Known()->Find(Id(6)), nullptr);
}

}  // namespace
}  // namespace vedette::worker
