#include "domain/workflow/definition.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace vedette::domain {
namespace {

using base::Json;
using testing::ElementsAre;

DefinitionRules Rules() {
  static int made = 0;
  return {[](const std::string& url) -> std::optional<std::string> {
            if (url.starts_with("http")) return std::nullopt;
            return "the scheme must be http or https";
          },
          [] { return "made" + std::to_string(++made); }};
}

Json Block(int number, const std::string& name, const std::string& id, Json specs) {
  return {{"sequence_number", number},
          {"block_name", name},
          {"block_id", id},
          {"specs", std::move(specs)}};
}
Json Source(const std::string& frame = "LEAD") {
  return Block(1, "webhook", "in", {{"dataframe_type", frame}});
}
Json Filter(int number, const std::string& id) {
  return Block(number, "filter", id,
               {{"conditions", Json::array({{{"column", "a"}, {"op", "is_empty"}}})}});
}
Json Out(int number, const std::string& id) {
  return Block(number, "outgoing_webhook", id, {{"url", "https://a.example/"}});
}
Json Edge(const std::string& from, const std::string& to) {
  return {{"from_block_id", from}, {"to_block_id", to}};
}
Json Graph(Json blocks, Json edges) {
  return {{"blocks", std::move(blocks)}, {"edges", std::move(edges)}};
}

// "<type> <loc>" of everything that is wrong.
std::vector<std::string> FaultsOf(const Json& definition) {
  const auto read = ReadDefinition(definition, Json::array({"d"}), Rules());
  std::vector<std::string> faults;
  if (const auto* found = std::get_if<ValidationFaults>(&read)) {
    for (const ValidationFault& fault : *found) {
      faults.push_back(fault.type + " " + base::DumpJson(fault.loc));
    }
  }
  return faults;
}

Definition Read(const Json& definition) {
  return std::get<Definition>(ReadDefinition(definition, Json::array(), Rules()));
}

std::vector<std::string> IdsOf(const Definition& definition) {
  std::vector<std::string> ids;
  for (const DefinedBlock& block : definition.blocks) ids.push_back(block.id);
  return ids;
}

TEST(WorkflowDefinition, BlocksAreOrderedTopologicallyTiesBySequenceNumber) {
  const Definition read = Read(Graph(
      {Filter(9, "late"), Filter(3, "early"), Filter(2, "deep"), Source("COMPANY"), Out(5, "out")},
      {Edge("in", "late"), Edge("in", "early"), Edge("late", "deep"), Edge("early", "out")}));
  EXPECT_THAT(IdsOf(read), ElementsAre("in", "early", "out", "late", "deep"));
  EXPECT_EQ(read.frame, Frame::kCompany);
  EXPECT_EQ(read.blocks[4].input, 3);
  EXPECT_EQ(read.blocks[0].input, std::nullopt);
  EXPECT_EQ(read.blocks[1].input, 0);
}

TEST(WorkflowDefinition, WhatIsStoredReadsBackAsTheSameGraph) {
  Json blocks = Json::array({Source(), Filter(2, "f")});
  blocks[1].erase("block_id");
  blocks[0]["block_id"] = nullptr;
  const auto broken = FaultsOf(Graph(blocks, Json::array({Edge("in", "f")})));
  EXPECT_FALSE(broken.empty()) << "edges name ids that were given";
  const Definition read = Read(Graph({Source(), Filter(2, "f")}, Json::array({Edge("in", "f")})));
  const Json stored = DefinitionJson(read);
  EXPECT_EQ(stored["blocks"][1]["block_type"], "filter");
  EXPECT_EQ(DefinitionJson(ReadStoredDefinition(base::DumpJson(stored))), stored);
  EXPECT_EQ(read.blocks[1].specs["match"], "all") << "defaults are filled in";
  EXPECT_FALSE(stored["blocks"][1]["specs"].contains("match")) << "and not shown";
  EXPECT_THROW(ReadStoredDefinition("{}"), std::invalid_argument);
}

// A filter compares the digits that were given, as payloads are read.
TEST(WorkflowDefinition, WhatIsStoredKeepsTheDigitsOfItsNumbers) {
  const std::string digits = "123456789012345678901";
  Json filter = Filter(2, "f");
  ASSERT_FALSE(
      base::ParseJson(R"({"conditions":[{"column":"a","op":"eq","value":)" + digits + "}]}",
                      &filter["specs"], {.keep_numbers = true}));
  const Definition read = Read(Graph({Source(), filter}, Json::array({Edge("in", "f")})));
  const std::string stored = base::DumpJson(DefinitionJson(read));
  const Definition again = ReadStoredDefinition(stored);
  EXPECT_EQ(base::DumpJson(DefinitionJson(again)), stored);
  const BoundSpecs bound = ReadBoundSpecs(BoundSpecsJson({"f", again.blocks[1].specs, {"a"}, {}}));
  EXPECT_EQ(base::DumpJson(bound.specs.at("conditions").at(0).at("value")), digits);
}

TEST(WorkflowDefinition, TheShapeIsCheckedFirst) {
  EXPECT_THAT(FaultsOf(Json::array()), ElementsAre(R"(dict_type ["d"])"));
  EXPECT_THAT(FaultsOf(Json::object()),
              ElementsAre(R"(missing ["d","blocks"])", R"(missing ["d","edges"])"));
  EXPECT_THAT(FaultsOf(Graph(Json::array(), Json::array())),
              ElementsAre(R"(too_short ["d","blocks"])"));
  Json many = Json::array();
  for (int i = 0; i < 51; ++i) many.push_back(Filter(i, std::to_string(i)));
  EXPECT_THAT(FaultsOf(Graph(many, Json::array())), ElementsAre(R"(too_long ["d","blocks"])"));
  Json block = Source();
  block["sequence_number"] = "1";
  block["colour"] = "red";
  EXPECT_THAT(FaultsOf(Graph(Json::array({block}), Json::array())),
              ElementsAre(R"(int_type ["d","blocks",0,"sequence_number"])",
                          R"(extra_forbidden ["d","blocks",0,"colour"])"));
  EXPECT_THAT(
      FaultsOf(Graph(Json::array({Block(1, "webhook", std::string(65, 'x'), Json::object())}),
                     Json::array())),
      ElementsAre(R"(string_too_long ["d","blocks",0,"block_id"])"));
  Json large = Source();
  large["specs"]["input_schema"] = {{"a", {{"description", std::string(300'000, 'x')}}}};
  EXPECT_THAT(FaultsOf(Graph(Json::array({large}), Json::array())),
              ElementsAre(R"(too_long ["d"])"));
}

TEST(WorkflowDefinition, NumbersAndBothEndsOfAnEdgeAreChecked) {
  EXPECT_THAT(FaultsOf(Graph({Filter(-1, "low"), Filter(1'000'001, "high")}, Json::array())),
              ElementsAre(R"(greater_than_equal ["d","blocks",0,"sequence_number"])",
                          R"(less_than_equal ["d","blocks",1,"sequence_number"])"));
  EXPECT_TRUE(FaultsOf(Graph({Block(0, "webhook", "in", {{"dataframe_type", "LEAD"}}),
                              Filter(1'000'000, "f")},
                             Json::array({Edge("in", "f")})))
                  .empty());
  EXPECT_THAT(FaultsOf(Graph(Json::array({Source()}), Json::array({Edge("nowhere", "in")}))),
              testing::Contains(R"(unknown_block_id ["d","edges",0,"from_block_id"])"));
}

// With what is filled in it is longer than what may be given, and is still the one that was taken.
TEST(WorkflowDefinition, ADefinitionThatJustFitsReadsBackAfterItWasStored) {
  Json source = Source();
  const auto graph = [&](std::size_t bytes) {
    source["specs"]["input_schema"] = {{"a", {{"description", std::string(bytes, 'x')}}}};
    return Graph(Json::array({source, Filter(2, "f")}), Json::array({Edge("in", "f")}));
  };
  const std::size_t frame = base::DumpJson(graph(0)).size();
  EXPECT_THAT(FaultsOf(graph(kDefinitionBytesMax - frame + 1)), ElementsAre(R"(too_long ["d"])"));
  const Json stored = DefinitionJson(Read(graph(kDefinitionBytesMax - frame)));
  EXPECT_GT(base::DumpJson(stored).size(), kDefinitionBytesMax);
  EXPECT_EQ(DefinitionJson(ReadStoredDefinition(base::DumpJson(stored))), stored);
}

TEST(WorkflowDefinition, BlocksAreCheckedByTypeIdNumberAndSpecs) {
  Json wrong_type = Filter(2, "f");
  wrong_type["block_type"] = "enrich";
  Json right_type = Filter(3, "g");
  right_type["block_type"] = "transform";
  Json twice = Filter(3, "g");
  Json bad_specs = Block(4, "filter", "h", {{"conditions", Json::array()}});
  EXPECT_THAT(FaultsOf(Graph({Source(), wrong_type, right_type, twice, bad_specs,
                              Block(5, "teleport", "t", Json::object())},
                             {Edge("in", "f"), Edge("in", "g"), Edge("in", "h"), Edge("in", "t")})),
              testing::IsSupersetOf({R"(unknown_block ["d","blocks",5,"block_name"])",
                                     R"(block_type_mismatch ["d","blocks",1,"block_type"])",
                                     R"(duplicate ["d","blocks",3,"block_id"])",
                                     R"(duplicate ["d","blocks",3,"sequence_number"])",
                                     R"(too_short ["d","blocks",4,"specs","conditions"])"}));
  const auto read =
      ReadDefinition(Graph(Json::array({Block(1, "teleport", "t", Json::object())}), Json::array()),
                     Json::array(), Rules());
  EXPECT_EQ(std::get<ValidationFaults>(read)[0].ctx["known"][0], "webhook");
}

TEST(WorkflowDefinition, AnUnknownBlockIsTakenForTheSourceWhereThereIsNoOther) {
  EXPECT_THAT(FaultsOf(Graph(Json::array({Block(1, "teleport", "in", Json::object()),
                                          Filter(2, "f"), Filter(3, "alone")}),
                             Json::array({Edge("in", "f")}))),
              ElementsAre(R"(unknown_block ["d","blocks",0,"block_name"])",
                          R"(unreachable ["d","blocks",2])"));
}

TEST(WorkflowDefinition, ASourceIsNeededAndOnlyOne) {
  EXPECT_THAT(FaultsOf(Graph(Json::array({Filter(1, "f")}), Json::array())),
              ElementsAre(R"(no_source ["d","blocks"])"));
  EXPECT_THAT(
      FaultsOf(Graph({Source(), Block(2, "read_csv", "csv", Json::object())}, Json::array())),
      ElementsAre(R"(multiple_sources ["d","blocks",1])"));
}

TEST(WorkflowDefinition, EveryEdgeIsChecked) {
  Json conditional = Edge("in", "f");
  conditional["condition"] = {{"if", 1}};
  EXPECT_THAT(FaultsOf(Graph({Source(), Filter(2, "f"), Filter(3, "g"), Out(4, "out")},
                             {Edge("in", "nowhere"), conditional, Edge("in", "f"), Edge("f", "in"),
                              Edge("in", "out"), Edge("out", "g"), Edge("in", "g")})),
              ElementsAre(R"(unknown_block_id ["d","edges",0,"to_block_id"])",
                          R"(duplicate_edge ["d","edges",2])",
                          R"(condition_reserved ["d","edges",1,"condition"])",
                          R"(edge_into_source ["d","edges",3,"to_block_id"])",
                          R"(edge_from_output ["d","edges",5,"from_block_id"])",
                          R"(multiple_inputs ["d","edges",6,"to_block_id"])"));
}

TEST(WorkflowDefinition, CirclesAndIslandsAreFound) {
  EXPECT_THAT(
      FaultsOf(Graph({Source(), Filter(2, "a"), Filter(3, "b"), Filter(4, "c"), Filter(5, "alone"),
                      Filter(6, "self")},
                     {Edge("a", "b"), Edge("b", "a"), Edge("b", "c"), Edge("self", "self")})),
      ElementsAre(R"(cycle ["d","blocks",1])", R"(cycle ["d","blocks",5])",
                  R"(unreachable ["d","blocks",3])", R"(unreachable ["d","blocks",4])"));
}

TEST(WorkflowDefinition, ABlockThatTakesOtherRowsIsIncompatible) {
  const Json enrich = Block(3, "enrich_company", "e", {{"struct", {{"size", "employees"}}}});
  const Json graph =
      Graph({Source("LEAD"), Filter(2, "f"), enrich}, {Edge("in", "f"), Edge("f", "e")});
  EXPECT_THAT(FaultsOf(graph), ElementsAre(R"(incompatible_dataframe ["d","blocks",2])"));
  const auto read = ReadDefinition(graph, Json::array(), Rules());
  EXPECT_EQ(std::get<ValidationFaults>(read)[0].ctx,
            (Json{{"takes", "COMPANY"}, {"given", "LEAD"}, {"from_block_id", "in"}}));
}

TEST(WorkflowDefinition, AddressesAndSamplesAreCheckedLast) {
  Json out = Out(2, "out");
  out["specs"]["url"] = "ftp://a.example";
  Json in = Source();
  in["specs"]["webhook_input"] = "[1]";
  EXPECT_THAT(FaultsOf(Graph({in, out}, Json::array())),
              ElementsAre(R"(unreachable ["d","blocks",1])",
                          R"(invalid_json ["d","blocks",0,"specs","webhook_input"])",
                          R"(invalid_url ["d","blocks",1,"specs","url"])"));
}

TEST(WorkflowDefinition, AProviderIsCheckedWhereItIsSavedAndNotWhereItIsReadAgain) {
  const Json graph = Graph(
      Json::array({Source(), Block(2, "find_email", "f", {{"providers", Json::array({"gone"})}})}),
      Json::array({Edge("in", "f")}));
  EXPECT_THAT(FaultsOf(graph), testing::IsEmpty()) << "without rules about them";
  DefinitionRules rules = Rules();
  rules.finders.emplace();
  const auto refused = ReadDefinition(graph, Json::array({"d"}), rules);
  const auto& faults = std::get<ValidationFaults>(refused);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].type, "unknown_provider");
  EXPECT_EQ(faults[0].loc, Json::array({"d", "blocks", 1, "specs", "providers", 0}));
  const std::string stored = base::DumpJson(DefinitionJson(Read(graph)));
  EXPECT_EQ(ReadStoredDefinition(stored).blocks.size(), 2U);
}

// Whatever the graph: it is refused, or every block stands behind its input.
TEST(WorkflowDefinition, AnyGraphIsRefusedOrOrdered) {
  std::mt19937 random(7);
  int accepted = 0;
  for (int round = 0; round < 1000; ++round) {
    const int n = 1 + static_cast<int>(random() % 6);
    Json blocks = Json::array({Source()});
    for (int i = 1; i < n; ++i) blocks.push_back(Filter(10 - i, std::to_string(i)));
    Json edges = Json::array();
    const auto id = [&](unsigned i) { return i == 0 ? std::string("in") : std::to_string(i); };
    for (int i = 1; i < n; ++i) {
      edges.push_back(Edge(
          id(random() % static_cast<unsigned>(n)),
          id(random() % 4 == 0 ? random() % static_cast<unsigned>(n) : static_cast<unsigned>(i))));
    }
    auto read = ReadDefinition(Graph(blocks, edges), Json::array(), Rules());
    if (const auto* definition = std::get_if<Definition>(&read)) {
      ++accepted;
      ASSERT_EQ(definition->blocks.size(), static_cast<std::size_t>(n));
      for (int i = 1; i < n; ++i) {
        ASSERT_LT(definition->blocks[static_cast<std::size_t>(i)].input.value(), i);
      }
    } else {
      ASSERT_FALSE(std::get<ValidationFaults>(read).empty());
    }
  }
  EXPECT_GT(accepted, 20);
}

}  // namespace
}  // namespace vedette::domain
