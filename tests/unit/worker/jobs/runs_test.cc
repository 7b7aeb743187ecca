#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "domain/workflow/block_type.h"
#include "tests/unit/worker/jobs/held_job_chunks.h"
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

// A run whose blocks follow each other as `types` says, the first one a source of `parts` parts.
class FollowingBlocks : public BlockRunsTest {
 public:
  static std::shared_ptr<store::JobSpec> Chain(const std::vector<std::string>& types,
                                               int parts = 1) {
    auto job = std::make_shared<store::JobSpec>();
    job->job_id = Id(1);
    job->kind = domain::JobKind::kWorkflow;
    domain::BoundSpecs bound;
    bound.input = {"n"};
    for (const std::string& type : types) {
      store::JobBlockSpec& of = job->blocks.emplace_back();
      of.block = static_cast<int>(job->blocks.size()) - 1;
      if (of.block > 0) of.input = of.block - 1;
      of.type = type;
      of.parts_total = parts;
      bound.specs = base::Json::object();
      if (type == "select_columns") {
        bound.specs["columns"] = base::Json::array({base::Json{{"name", "n"}}});
      } else if (type == "dedupe") {
        bound.specs["columns"] = base::Json::array();
      }
      of.specs_json = domain::BoundSpecsJson(bound);
    }
    return job;
  }
  BlockRunPtr Bind(const std::shared_ptr<store::JobSpec>& job, int of_block) {
    store::ClaimedJobChunk chunk = Chunk(1);
    chunk.block = of_block;
    return runs.Bind(chunk, {{Id(1), job}});
  }
};

TEST_F(FollowingBlocks, TheOnlyPartIsPassedOnAsFarAsBlocksNeedNothingButRows) {
  const auto run = Bind(Chain({"webhook", "dedupe", "select_columns", "counting"}), 1);
  ASSERT_NE(run, nullptr);
  ASSERT_NE(run->next, nullptr);
  EXPECT_EQ(run->next->block->type, "select_columns");
  EXPECT_EQ(run->next->next, nullptr) << "a block that asks somebody gets a chunk";
  EXPECT_TRUE(run->shares_records);
}

TEST_F(FollowingBlocks, NotWhereThereAreMoreParts) {
  const auto run = Bind(Chain({"webhook", "dedupe", "select_columns"}, 2), 1);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->next, nullptr);
  EXPECT_FALSE(run->shares_records);
}

TEST_F(FollowingBlocks, NotWhereTwoConsumeIt) {
  auto job = Chain({"webhook", "dedupe", "select_columns", "select_columns"});
  job->blocks[3].input = 1;
  const auto run = Bind(job, 1);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->next, nullptr);
}

TEST_F(FollowingBlocks, RunsWithMonitorsAndInvestigationsAreRecordedByThemselves) {
  auto job = Chain({"webhook", "select_columns", "monitor"});
  const auto run = Bind(job, 1);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->next, nullptr);
  EXPECT_FALSE(run->shares_records);
  auto investigation = std::make_shared<store::JobSpec>(*Job(2, 1).at(Id(2)));
  investigation->kind = domain::JobKind::kInvestigation;
  const auto look = runs.Bind(Chunk(2), {{Id(2), investigation}});
  ASSERT_NE(look, nullptr);
  EXPECT_FALSE(look->shares_records);
}

}  // namespace
}  // namespace vedette::worker
