// What goes to the database is made of known words, paths of the catalogue, and literals: nothing
// that a tenant sends is anything else.
#include "domain/search/jsonpath_writer.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "tests/support/in_full.h"
#include "tests/unit/domain/search/filter_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::search::Filter;

class JsonPath : public FilterTest {
 public:
  std::string Print(Grammar grammar, const std::string& filter) const {
    const auto read = Read(grammar, filter);
    const auto* tree = std::get_if<Filter>(&read);
    return tree == nullptr ? "" : domain::search::FilterJsonPath(*tree);
  }
};

// The text without its literals, which are those of JSON; and these literals.
std::string WithoutLiterals(const std::string& path, std::set<std::string>* literals) {
  static const std::regex kLiteral(R"re("(?:[^"\\\x00-\x1f]|\\["\\/bfnrtu])*")re");
  for (std::sregex_iterator it(path.begin(), path.end(), kLiteral), end; it != end; ++it) {
    literals->insert(base::ParseJsonOrThrow(it->str()).get<std::string>());
  }
  return std::regex_replace(path, kLiteral, "S");
}

// Only what the printer itself writes: keys, comparisons, and numbers.
bool IsOfKnownWords(const std::string& bare) {
  static const std::regex kWords(
      R"re((?:\$|\?|@|\.S|\.type\(\)|exists|like_regex|starts with|true|false|[ ()!]|&&|\|\||)re"
      R"re(==|<=|>=|<|>|-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|S)*)re");
  return std::regex_match(bare, kWords);
}

TEST_F(JsonPath, EachPartOfATree) {
  EXPECT_EQ(Print(Grammar::kDsl, "{}"), "$ ? ((1 == 1))");
  EXPECT_EQ(Print(Grammar::kDsl, R"({"term": {"tag": "a"}})"),
            R"($ ? (exists(@."tag" ? ((@ == "a") && @.type() == "string"))))");
  EXPECT_EQ(Print(Grammar::kDsl, R"({"terms": {"size": [1, -2]}})"),
            R"($ ? (exists(@."size" ? ((@ == 1 || @ == -2) && @.type() == "number"))))");
  EXPECT_EQ(Print(Grammar::kSimple, R"({"open": {"$ne": true}})"),
            R"($ ? (!((exists(@."open" ? ((@ == true) && @.type() == "boolean"))))))");
  EXPECT_EQ(Print(Grammar::kSimple, R"({"jobs.months": {"$gte": 0.5e1}})"),
            R"($ ? (exists(@."jobs" ? (@.type() == "object" && (exists(@."months" ? )"
            R"((@ >= 5 && @.type() == "number")))))))");
  EXPECT_EQ(Print(Grammar::kSimple, R"({"$or": []})"), "$ ? ((1 == 0))");
}

TEST_F(JsonPath, TheValuesOfAFieldAreThoseOfItsType) {
  EXPECT_EQ(domain::search::ValuesJsonPath(*fields().Find("place.city")),
            R"($."place"."city" ? (@.type() == "string"))");
  EXPECT_EQ(domain::search::ValuesJsonPath(*fields().Find("jobs.months")),
            R"($."jobs" ? (@.type() == "object")."months" ? (@.type() == "number"))");
}

// The injection corpus: every nasty text, as a value of every clause that takes one.
TEST_F(JsonPath, ATextStaysALiteralWhateverItHolds) {
  for (const std::string& text : NastyTexts()) {
    for (const Json& filter :
         {Json{{"term", {{"tag", text}}}}, Json{{"terms", {{"tag", {text, "b"}}}}},
          Json{{"prefix", {{"tag", text}}}}, Json{{"range", {{"tag", {{"gt", text}}}}}},
          Json{{"match", {{"title", text}}}}, Json{{"match_phrase", {{"title", text}}}}}) {
      std::set<std::string> literals;
      const std::string path = Print(Grammar::kDsl, base::DumpJson(filter));
      ASSERT_NE(path, "") << filter;
      EXPECT_TRUE(IsOfKnownWords(WithoutLiterals(path, &literals))) << path;
      const std::string kind = filter.begin().key();
      if (!kind.starts_with("match")) {
        EXPECT_TRUE(literals.contains(text)) << path;
      }
    }
  }
}

TEST_F(JsonPath, AnUnknownNameNeverGetsThere) {
  for (const std::string& name : NastyTexts()) {
    EXPECT_EQ(Print(Grammar::kDsl, base::DumpJson(Json{{"term", {{name, "a"}}}})), "");
    EXPECT_EQ(Print(Grammar::kDsl, base::DumpJson(Json{{"exists", {{"field", name}}}})), "");
    EXPECT_EQ(Print(Grammar::kDsl, base::DumpJson(Json{{name, {{"tag", "a"}}}})), "");
    EXPECT_EQ(Print(Grammar::kSimple, base::DumpJson(Json{{name, "a"}})), "");
    EXPECT_EQ(Print(Grammar::kSimple, base::DumpJson(Json{{"tag", {{name, "a"}}}})), "");
    const Json nested{{"nested", {{"path", name}, {"query", {{"match_all", Json::object()}}}}}};
    EXPECT_EQ(Print(Grammar::kDsl, base::DumpJson(nested)), "");
  }
}

TEST_F(JsonPath, EveryFilterByChanceIsMadeOfKnownWords) {
  SearchCases cases(1);
  const int filters = InFull(2000, 500);
  for (int i = 0; i < filters; ++i) {
    const bool dsl = cases.Chance(50);
    const Json filter = dsl ? cases.Dsl() : cases.Simple();
    const auto read = Read(dsl ? Grammar::kDsl : Grammar::kSimple, base::DumpJson(filter));
    const auto* tree = std::get_if<Filter>(&read);
    ASSERT_NE(tree, nullptr) << filter << std::get<domain::search::FilterError>(read).message;
    std::set<std::string> literals;
    const std::string path = domain::search::FilterJsonPath(*tree);
    EXPECT_TRUE(IsOfKnownWords(WithoutLiterals(path, &literals))) << path;
  }
}

}  // namespace
}  // namespace vedette::test
