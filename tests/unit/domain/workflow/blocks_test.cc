#include <gmock/gmock.h>

#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/blocks.h"
#include "tests/unit/domain/workflow/blocks_support.h"

namespace vedette::domain {
namespace {

using base::Json;
using testing::HasSubstr;

const Columns kInput{"name", "age", "tags"};

std::string BindErrorOf(const std::string& block, const Json& specs) {
  return domain::BindErrorOf(block, specs, kInput);
}

std::vector<std::string> TextsOf(const Cells& row) {
  std::vector<std::string> texts;
  for (const Json& cell : row) texts.push_back(base::DumpJson(cell));
  return texts;
}

// What the block makes of a row, the same whether its cells are values or texts.
std::optional<Cells> Apply(const std::string& block, const Json& specs, const Cells& row) {
  const auto function = FindBlockType(block)->make(Whole(block, specs), kInput);
  auto applied = function->Apply(row);
  std::vector<std::string> made;
  base::CellTexts out;
  const std::vector<std::string> given = TextsOf(row);
  const bool kept = function->ApplyTexts(base::CellTexts(given.begin(), given.end()), &out, &made);
  EXPECT_EQ(kept, applied.has_value()) << "of values and of texts";
  if (kept && applied) {
    EXPECT_EQ(std::vector<std::string>(out.begin(), out.end()), TextsOf(*applied));
  }
  return applied;
}

std::optional<std::string> KeyOf(const DedupeKeys& keys, const Cells& row) {
  const std::vector<std::string> given = TextsOf(row);
  return keys.KeyOf(base::CellTexts(given.begin(), given.end()));
}

// Whether a row with this cell in "age" is kept.
bool Keeps(const char* op, const Json& value, const Json& cell, const Json& more = Json::object()) {
  Json specs{{"conditions", Json::array({{{"column", "age"}, {"op", op}, {"value", value}}})}};
  specs.update(more);
  return Apply("filter", specs, {"Ada", cell, nullptr}).has_value();
}

TEST(FilterBlock, ComparesAsMonitorsDo) {
  EXPECT_TRUE(Keeps("eq", 1, "1"));
  EXPECT_TRUE(Keeps("eq", " a ", "a"));
  EXPECT_TRUE(Keeps("eq", "1.0", 1));
  EXPECT_FALSE(Keeps("eq", "A", "a"));
  EXPECT_TRUE(Keeps("eq", nullptr, "  ")) << "null, absent and blank are no value";
  EXPECT_TRUE(Keeps("ne", "x", nullptr));
  EXPECT_FALSE(Keeps("ne", nullptr, nullptr));
  EXPECT_TRUE(Keeps("eq", true, "true"));
}

TEST(FilterBlock, NumbersCompareByValueAnythingElseByText) {
  EXPECT_TRUE(Keeps("gt", 9, "10"));
  EXPECT_FALSE(Keeps("gt", "9", "10a")) << "10a is text, and 1 comes before 9";
  EXPECT_TRUE(Keeps("lt", -1, "-1.5"));
  EXPECT_TRUE(Keeps("gte", 2, 2.0));
  EXPECT_TRUE(Keeps("lte", "2026-01-02", "2026-01-02"));
  EXPECT_TRUE(Keeps("lt", "2026-01-02", "2026-01-01"));
  EXPECT_TRUE(Keeps("gt", "12345678901234567890", "12345678901234567891"));
  for (const char* op : {"gt", "gte", "lt", "lte"}) {
    EXPECT_FALSE(Keeps(op, 1, nullptr)) << op;
    EXPECT_FALSE(Keeps(op, nullptr, 1)) << op;
  }
}

TEST(FilterBlock, TextOperators) {
  EXPECT_TRUE(Keeps("contains", "b", "abc"));
  EXPECT_FALSE(Keeps("contains", "B", "abc"));
  EXPECT_TRUE(Keeps("contains", "Ö", "größer", {{"case_sensitive", false}}));
  EXPECT_TRUE(Keeps("not_contains", "b", nullptr));
  EXPECT_FALSE(Keeps("not_contains", "b", "abc"));
  EXPECT_TRUE(Keeps("starts_with", "ab", "abc"));
  EXPECT_TRUE(Keeps("ends_with", "bc", "abc"));
  EXPECT_FALSE(Keeps("starts_with", "x", nullptr));
}

TEST(FilterBlock, ListsAndEmptiness) {
  EXPECT_TRUE(Keeps("in", {1, "b"}, "1"));
  EXPECT_FALSE(Keeps("in", {1, "b"}, "c"));
  EXPECT_FALSE(Keeps("in", {1, "b"}, nullptr));
  EXPECT_TRUE(Keeps("not_in", {1, "b"}, nullptr));
  EXPECT_FALSE(Keeps("not_in", {1, nullptr}, nullptr));
  EXPECT_TRUE(Keeps("is_empty", nullptr, " "));
  EXPECT_FALSE(Keeps("is_empty", nullptr, 0));
  EXPECT_TRUE(Keeps("is_not_empty", nullptr, false));
}

TEST(FilterBlock, AListIsLookedUpAsItsValuesCompareOneByOne) {
  const Json list{"b", "1e2", -0.5, "007", "\u00c4", "12345678901234567890.0"};
  for (const Json& cell :
       {Json(100), Json("100.0"), Json("-.5e0"), Json(7), Json("b"), Json("12345678901234567890"),
        Json("-5e-1"), Json("0"), Json("B"), Json("\u00e4"), Json(), Json("1E2")}) {
    for (const Json& more : {Json::object(), Json{{"case_sensitive", false}}}) {
      bool any = false;
      for (const Json& value : list) any = any || Keeps("eq", value, cell, more);
      EXPECT_EQ(Keeps("in", list, cell, more), any) << cell;
      EXPECT_EQ(Keeps("not_in", list, cell, more), !any) << cell;
    }
  }
  EXPECT_TRUE(Keeps("in", list, "1E2"));
  EXPECT_FALSE(Keeps("in", list, "B"));
  EXPECT_TRUE(Keeps("in", list, "B", {{"case_sensitive", false}}));
  EXPECT_TRUE(Keeps("contains", "E", "1e2", {{"case_sensitive", false}}));
}

TEST(FilterBlock, AllOrAny) {
  const Json one{{"column", "name"}, {"op", "eq"}, {"value", "Ada"}};
  const Json two{{"column", "age"}, {"op", "gt"}, {"value", 40}};
  const Cells row{"Ada", 36, nullptr};
  EXPECT_FALSE(Apply("filter", {{"conditions", {one, two}}}, row));
  EXPECT_EQ(Apply("filter", {{"conditions", {one, two}}, {"match", "any"}}, row), row);
  // Those on one column need not stand together.
  const Json three{{"column", "name"}, {"op", "contains"}, {"value", "d"}};
  EXPECT_FALSE(Apply("filter", {{"conditions", {one, two, three}}}, row));
  EXPECT_EQ(Apply("filter", {{"conditions", {two, three}}, {"match", "any"}}, row), row);
}

TEST(FilterBlock, AnOperatorHasItsKindOfValue) {
  const auto fault = [](Json condition) {
    condition["column"] = "age";
    return FaultOf("filter", {{"conditions", Json::array({condition})}});
  };
  EXPECT_EQ(fault({{"op", "like"}, {"value", 1}}), R"(enum ["conditions",0,"op"])");
  EXPECT_EQ(fault({{"op", "in"}, {"value", 1}}), R"(list_type ["conditions",0,"value"])");
  EXPECT_EQ(fault({{"op", "eq"}, {"value", Json::array({1})}}),
            R"(scalar_type ["conditions",0,"value"])");
  EXPECT_EQ(fault({{"op", "eq"}}), R"(missing ["conditions",0,"value"])");
  EXPECT_EQ(fault({{"op", "is_empty"}, {"value", 1}}),
            R"(extra_forbidden ["conditions",0,"value"])");
  EXPECT_EQ(fault({{"op", "is_empty"}, {"value", nullptr}}), "");
  EXPECT_EQ(fault({{"op", "in"}, {"value", Json::array()}}),
            R"(too_short ["conditions",0,"value"])");
}

TEST(SelectColumnsBlock, KeepsOrdersAndRenames) {
  const Json specs{{"columns", {{{"name", "age"}, {"as", "years"}}, {{"name", "name"}}}}};
  EXPECT_EQ(FindBlockType("select_columns")->bind(Whole("select_columns", specs), kInput),
            (Columns{"years", "name"}));
  EXPECT_EQ(Apply("select_columns", specs, {"Ada", 36, "x"}), (Cells{36, "Ada"}));
  EXPECT_THAT(BindErrorOf("select_columns", {{"columns", Json::array({{{"name", "a"}}})}}),
              HasSubstr("column a is not in the input; it has: name, age, tags"));
  EXPECT_THAT(BindErrorOf("select_columns", {{"columns", Json::array({{{"name", "Name"}}})}}),
              HasSubstr("\"name\" differs in case or space"));
  EXPECT_TRUE(
      domain::BindErrorOf("select_columns", {{"columns", Json::array({{{"name", "a"}}})}}, {})
          .ends_with("column a is not in the input; it has no columns"));
  EXPECT_THAT(BindErrorOf("select_columns",
                          {{"columns", {{{"name", "age"}}, {{"name", "name"}, {"as", "age"}}}}}),
              HasSubstr("two columns would be called age"));
}

TEST(DedupeBlock, KeysAreEqualWhereTheCellsAre) {
  const DedupeKeys keys(Whole("dedupe", {{"columns", {"name", "age"}}}), kInput);
  const auto key = KeyOf(keys, {"Ada", 1, "x"});
  ASSERT_TRUE(key);
  EXPECT_EQ(key->size(), 16U);
  EXPECT_EQ(KeyOf(keys, {" Ada", "1", "y"}), key);
  EXPECT_NE(KeyOf(keys, {"Ada1", nullptr, "x"}), KeyOf(keys, {"Ada", 1, "x"}));
  EXPECT_NE(KeyOf(keys, {nullptr, "Ada", "x"}), KeyOf(keys, {"Ada", nullptr, "x"}));
  EXPECT_FALSE(KeyOf(keys, {"", nullptr, "x"})) << "rows whose key cells are all blank are kept";
  const DedupeKeys all(Whole("dedupe", Json::object()), kInput);
  EXPECT_NE(KeyOf(all, {"Ada", 1, "x"}), KeyOf(all, {"Ada", 1, "y"}));
  EXPECT_THAT(BindErrorOf("dedupe", {{"columns", Json::array({"nope"})}}),
              HasSubstr("column nope"));
}

TEST(EnrichBlock, ABlankDescriptionAsksForNothing) {
  for (const char* name : {"enrich_lead", "enrich_company"}) {
    const auto fault =
        FindBlockType(name)->validate(Json{{"struct", {{"job", " \t"}}}, {"output_prefix", ""}});
    ASSERT_TRUE(fault) << name;
    EXPECT_EQ(fault->type, "string_too_short");
  }
}

TEST(EnrichBlock, AFieldIsAColumnAndHasItsLongestName) {
  const auto fault_of = [](int chars, const std::string& prefix) {
    std::string name;
    for (int i = 0; i < chars; ++i) name += "\u00e4";
    const auto fault =
        FindBlockType("enrich_lead")
            ->validate(Json{{"struct", {{name, "what"}}}, {"output_prefix", prefix}});
    return fault ? fault->type : "";
  };
  EXPECT_EQ(fault_of(200, ""), "");
  EXPECT_EQ(fault_of(201, ""), "string_too_long");
  EXPECT_EQ(fault_of(198, "c_"), "");
  EXPECT_EQ(fault_of(199, "c_"), "string_too_long") << "the prefix counts";
}

TEST(EnrichBlock, AddsItsColumnsAndKeepsWhatIsThere) {
  const Json specs = Whole("enrich_lead", {{"struct", {{"age", "how old"}, {"job", "what"}}}});
  const EnrichPlan plan = PlanEnrich(specs, kInput);
  EXPECT_EQ(plan.output, (Columns{"name", "age", "tags", "job", "enrich_sources",
                                  "enrich_confidence", "enrich_error"}));
  Observation observed;
  observed.fields["age"] = {base::Json(37), "", {"https://a.example"}, 7.0};
  observed.fields["job"] = {
      base::Json("poet"), "", {"https://a.example", "https://b.example"}, 5.0};
  const TextCells row{"\"Ada\"", "36", "null"};
  EXPECT_EQ(EnrichedRow(plan, row, observed),
            (TextCells{"\"Ada\"", "36", "null", "\"poet\"",
                       R"(["https://a.example","https://b.example"])", "5.0", "null"}));
  EXPECT_EQ(EnrichedRow(plan, {"\"Ada\""}, observed)[1], "37") << "a short row is filled up";
  EXPECT_EQ(SubjectText(plan, row), R"({"name":"Ada","age":36})");
  EXPECT_EQ(SubjectText(plan, {R"("a\"b")", "1.50", R"({"x": [2]})"}),
            R"({"name":"a\"b","age":1.50,"tags":{"x": [2]}})");
  EXPECT_EQ(SubjectText(plan, {R"(" ")", R"("\t")", "null"}), "{}") << "what is blank is no value";
  const TextCells failed = FailedRow(plan, row, "timeout: too slow");
  EXPECT_EQ(failed.back(), "\"timeout: too slow\"");
  EXPECT_EQ(failed[1], "36");
}

TEST(EnrichBlock, OverwritesPrefixesAndNeverWritesOverAnError) {
  Json specs = Whole(
      "enrich_company",
      {{"struct", {{"age", "x"}}}, {"overwrite", true}, {"output_prefix", "c_"}, {"tier", "high"}});
  const EnrichPlan plan = PlanEnrich(specs, {"c_age", "c_enrich_error"});
  EXPECT_EQ(plan.output, (Columns{"c_age", "c_enrich_error", "c_enrich_sources",
                                  "c_enrich_confidence", "c_enrich_error_2"}));
  EXPECT_EQ(plan.tier, Tier::kHigh);
  Observation observed;
  observed.fields["age"] = {base::Json(1), "", {}, std::nullopt};
  EXPECT_EQ(EnrichedRow(plan, {"0", "\"old\""}, observed),
            (TextCells{"1", "\"old\"", "null", "null", "null"}));
}

}  // namespace
}  // namespace vedette::domain
