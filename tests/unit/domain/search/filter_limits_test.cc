// How large a filter may be, in both grammars; at a limit it is taken, over it the limit is named.
#include <gmock/gmock.h>

#include "tests/unit/domain/search/filter_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::search::kFilterCharsMax;
using domain::search::kFilterClausesMax;
using domain::search::kFilterDepthMax;
using domain::search::kFilterValuesMax;
using testing::HasSubstr;
using testing::StartsWith;

class FilterLimits : public FilterTest {};

Json Term() {
  return {{"term", {{"tag", "a"}}}};
}

// `depth` clauses within each other.
std::string DeepDsl(int depth) {
  Json clause = Term();
  for (int i = 1; i < depth; ++i) clause = {{"bool", {{"must", Json::array({clause})}}}};
  return base::DumpJson(clause);
}

// An object, and what is said of its field, are a clause each.
std::string DeepSimple(int depth) {
  Json object = {{"tag", "a"}};
  for (int i = 2; i < depth; ++i) object = {{"$and", Json::array({object})}};
  return base::DumpJson(object);
}

TEST_F(FilterLimits, SixteenClausesWithinEachOther) {
  EXPECT_EQ(Refusal(Grammar::kDsl, DeepDsl(kFilterDepthMax)), "");
  EXPECT_THAT(Refusal(Grammar::kDsl, DeepDsl(kFilterDepthMax + 1)),
              StartsWith("filter_too_large: "));
  EXPECT_EQ(Refusal(Grammar::kSimple, DeepSimple(kFilterDepthMax)), "");
  EXPECT_THAT(Refusal(Grammar::kSimple, DeepSimple(kFilterDepthMax + 1)),
              HasSubstr("more than 16 clauses within each other"));
}

TEST_F(FilterLimits, ClausesInAll) {
  const auto wide = [](int clauses) {
    Json list = Json::array();
    for (int i = 1; i < clauses; ++i) list.push_back(Term());
    return base::DumpJson(Json{{"bool", {{"should", list}}}});
  };
  EXPECT_EQ(Refusal(Grammar::kDsl, wide(kFilterClausesMax)), "");
  EXPECT_THAT(Refusal(Grammar::kDsl, wide(kFilterClausesMax + 1)), HasSubstr("256 clauses"));
  Json objects = Json::array();
  for (int i = 0; i < kFilterClausesMax; ++i) objects.push_back({{"tag", "a"}});
  EXPECT_THAT(Refusal(Grammar::kSimple, base::DumpJson(Json{{"$or", objects}})),
              StartsWith("filter_too_large: "));
}

TEST_F(FilterLimits, ValuesOfAList) {
  const auto list = [](std::size_t values) { return Json(std::vector<int>(values, 1)); };
  for (const std::size_t over : {0, 1}) {
    const Json values = list(kFilterValuesMax + over);
    const std::string expected = over == 0 ? "" : "filter_too_large: ";
    EXPECT_THAT(Refusal(Grammar::kDsl, base::DumpJson(Json{{"terms", {{"size", values}}}})),
                StartsWith(expected));
    EXPECT_THAT(Refusal(Grammar::kSimple, base::DumpJson(Json{{"size", {{"$in", values}}}})),
                StartsWith(expected));
  }
  EXPECT_EQ(
      Refusal(Grammar::kDsl, base::DumpJson(Json{{"terms", {{"size", list(kFilterValuesMax)}}}})),
      "");
}

TEST_F(FilterLimits, CharactersOfAString) {
  std::string text;
  for (std::size_t i = 0; i < kFilterCharsMax; ++i) text += "\xc3\xa9";  // two bytes each
  EXPECT_EQ(Refusal(Grammar::kDsl, base::DumpJson(Json{{"term", {{"tag", text}}}})), "");
  text += "x";
  for (const char* clause : {"term", "match", "match_phrase", "prefix"}) {
    EXPECT_THAT(Refusal(Grammar::kDsl, base::DumpJson(Json{{clause, {{"title", text}}}})),
                StartsWith("filter_too_large: "))
        << clause;
  }
  EXPECT_THAT(Refusal(Grammar::kSimple, base::DumpJson(Json{{"$search", text}})),
              StartsWith("filter_too_large: "));
}

TEST_F(FilterLimits, AMessageStaysShortWhateverIsSent) {
  const std::string name(100000, 'x');
  for (const Grammar grammar : {Grammar::kDsl, Grammar::kSimple}) {
    EXPECT_LT(Refusal(grammar, base::DumpJson(Json{{name, 1}})).size(), 2000U);
    EXPECT_LT(Refusal(grammar, base::DumpJson(Json{{"$" + name, 1}})).size(), 2000U);
    EXPECT_LT(Refusal(grammar, base::DumpJson(Json{{"term", {{name, 1}}}})).size(), 2000U);
  }
}

}  // namespace
}  // namespace vedette::test
