#include "domain/workflow/run_plan.h"

#include <gmock/gmock.h>

#include "domain/workflow/block_type.h"

namespace vedette::domain {
namespace {

using base::Json;
using testing::HasSubstr;

DefinedBlock Block(const std::string& name, Json specs, std::optional<int> input) {
  DefinedBlock block;
  block.id = name;
  block.type = FindBlockType(name);
  const DefinitionRules rules{[](const std::string&) { return std::nullopt; }, nullptr};
  EXPECT_TRUE(ValidateBlockSpecs(*block.type, Json::array(), &specs, rules).empty()) << name;
  block.specs = std::move(specs);
  block.input = input;
  return block;
}

PlanRules Rules() {
  PlanRules rules;
  rules.price_mc = [](const DefinedBlock& block) {
    return block.type->work == BlockWork::kResearch ? 1000 : 0;
  };
  rules.pace = [](const DefinedBlock& block) { return block.type->pace; };
  rules.part_target = std::chrono::seconds(30);
  rules.window_rows = 4096;
  return rules;
}

const Json kEnrich{{"struct", {{"job", "title"}}}};
const Json kFilter{{"conditions", Json::array({Json{{"column", "a"}, {"op", "is_empty"}}})}};

TEST(RunPlan, TheEstimateIsRowsTimesPriceBehindABlockThatDropsRowsToo) {
  Definition d;
  d.blocks = {Block("webhook", {{"dataframe_type", "LEAD"}}, {}), Block("enrich_lead", kEnrich, 0),
              Block("filter", kFilter, 1), Block("enrich_lead", kEnrich, 2),
              Block("outgoing_webhook", {{"url", "https://a.example"}}, 3)};
  const RunPlan plan = PlanRun(d, {{"a"}, 600, 3, {}}, 256, Rules());
  EXPECT_EQ(plan.estimate_mc, 2 * 600'000);
  EXPECT_FALSE(plan.fault);
  EXPECT_EQ(plan.blocks[1].output,
            (Columns{"a", "job", "enrich_sources", "enrich_confidence", "enrich_error"}));
  EXPECT_EQ(plan.blocks[3].bound.input, plan.blocks[2].output);
  EXPECT_EQ(plan.blocks[3].output.back(), "enrich_error_2");
  EXPECT_EQ(plan.blocks[0].parts_total, 3);
  EXPECT_EQ(plan.blocks[4].parts_total, 0);
  EXPECT_EQ(plan.blocks[1].part_window, 16);
}

TEST(RunPlan, AFileIsReadInPiecesAndDedupeWorksInOrder) {
  Definition d;
  d.blocks = {Block("read_csv", Json::object(), {}), Block("dedupe", Json::object(), 0),
              Block("filter", kFilter, 1)};
  const RunPlan plan = PlanRun(d, {{"a"}, 9000, 36, 2}, 8, Rules());
  EXPECT_EQ(plan.blocks[0].parts_total, 2);
  EXPECT_EQ(plan.blocks[1].parts_total, 36);
  EXPECT_EQ(plan.blocks[1].part_window, 1);
  EXPECT_EQ(plan.blocks[2].part_window, 512);
}

TEST(RunPlan, ALargeFileIsNotCutIntoMorePartsThanAreWorthStoring) {
  EXPECT_EQ(PartRowsOfMany(65'536), 1);
  EXPECT_EQ(PartRowsOfMany(1'000'000), 16);
  EXPECT_EQ(PartRowsOfMany(100'000'000), kPartRowsMax);
}

TEST(RunPlan, TheFirstBlockThatCannotBeBoundIsNamed) {
  Definition d;
  d.blocks = {Block("webhook", {{"dataframe_type", "LEAD"}}, {}), Block("enrich_lead", kEnrich, 0),
              Block("filter", kFilter, 1), Block("filter", kFilter, 2)};
  const RunPlan plan = PlanRun(d, {{"b"}, 10, 1, {}}, 256, Rules());
  ASSERT_TRUE(plan.fault);
  EXPECT_EQ(plan.fault->block, 2);
  EXPECT_THAT(plan.fault->error, HasSubstr("column a is not in the input"));
  EXPECT_EQ(plan.estimate_mc, 0);
}

TEST(RunPlan, PartsAreAsLargeAsTheSlowestBlockWantsThem) {
  Definition d;
  d.blocks = {Block("webhook", {{"dataframe_type", "LEAD"}}, {}), Block("filter", kFilter, 0)};
  EXPECT_EQ(PartRowsOf(d, Rules()), kPartRowsMax);
  d.blocks.push_back(Block("enrich_lead", kEnrich, 1));
  EXPECT_EQ(PartRowsOf(d, Rules()), 6);
}

// {"specs_override": {"input_schema": {"x": ..}}}, as deep as a body may be.
TEST(RunGraph, IsReadWhereTheRequestWasAsDeepAsItMay) {
  Json deep = Json::object();
  for (int depth = 4; depth < base::JsonLimits().depth_max; ++depth) {
    deep = Json{{"a", std::move(deep)}};
  }
  Definition d;
  d.blocks = {Block("webhook", {{"dataframe_type", "LEAD"}}, {})};
  d.blocks[0].given_specs = {{"dataframe_type", "LEAD"}, {"input_schema", {{"x", deep}}}};
  const RunGraph graph = ReadRunGraph(RunParamsJson(DefinitionJson(d), Frame::kLead));
  ASSERT_EQ(graph.blocks.size(), 1U);
  EXPECT_EQ(graph.blocks[0].name, "webhook");
  EXPECT_EQ(graph.frame, "LEAD");
}

}  // namespace
}  // namespace vedette::domain
