// Values as answers list them, and the filters that select them.
#include "domain/search/filter.h"

#include <gmock/gmock.h>

#include "tests/unit/domain/search/filter_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::search::Filter;
using domain::search::FilterSnippet;
using domain::search::TopValues;

class SearchValues : public FilterTest {
 public:
  std::string Snippet(const char* field, std::string_view text) const {
    return base::DumpJson(FilterSnippet(*fields().Find(field), text));
  }
};

TEST_F(SearchValues, ASnippetIsTheClauseThatSelectsTheValue) {
  EXPECT_EQ(Snippet("tag", "a\"b"), R"({"term":{"tag":"a\"b"}})");
  EXPECT_EQ(Snippet("title", "a"), R"({"term":{"title.keyword":"a"}})");
  EXPECT_EQ(Snippet("size", "42"), R"({"term":{"size":42}})");
  EXPECT_EQ(Snippet("score", "0.5"), R"({"term":{"score":0.5}})");
  EXPECT_EQ(Snippet("open", "false"), R"({"term":{"open":false}})");
  EXPECT_EQ(Snippet("jobs.grade", "a"),
            R"({"nested":{"path":"jobs","query":{"term":{"jobs.grade":"a"}}}})");
}

TEST_F(SearchValues, AValueThatNoFilterCanHaveGetsNoSnippet) {
  EXPECT_EQ(Snippet("tag", std::string(1025, 'x')), "{}");
  EXPECT_EQ(Snippet("size", "9007199254740993"), "{}");
  EXPECT_EQ(Snippet("size", "1.5"), "{}");
  EXPECT_EQ(Snippet("score", "0.12345678901234567890123"), "{}");
  EXPECT_EQ(Snippet("since", "soon"), "{}");
  EXPECT_EQ(Snippet("note", "a"), "{}");
}

TEST_F(SearchValues, ADocumentCountsOnceForEachOfItsValues) {
  const auto read = [](const char* text) { return base::ParseJsonOrThrow(text); };
  const std::vector<Json> documents = {read(R"({"tag": ["a", "a", "b"]})"), read(R"({"tag": "a"})"),
                                       read(R"({"tag": [["c"], null]})"),
                                       read(R"({"tag": ["b", "c"]})"), read(R"({"tag": 5})")};
  const TopValues top = domain::search::CountValues(*fields().Find("tag"), {}, documents, 2);
  EXPECT_EQ(top, (TopValues{5, 2, 1, {{"a", 2}, {"b", 2}}}));
}

TEST_F(SearchValues, EverySnippetSelectsAsManyDocumentsAsItsCount) {
  SearchCases cases(4);
  std::vector<Json> documents;
  for (int i = 0; i < 100; ++i) documents.push_back(cases.Document(std::to_string(i)));
  int checked = 0;
  for (const auto& field : fields().all()) {
    if (!field.has_values()) continue;
    for (const auto& value : domain::search::CountValues(field, {}, documents, 100).values) {
      const Json snippet = FilterSnippet(field, value.value);
      ASSERT_NE(snippet, Json::object()) << field.name << " " << value.value;
      const auto filter = domain::search::ReadDslFilter(snippet, fields());
      const auto total =
          domain::search::CountValues(field, std::get<Filter>(filter), documents, 1).total;
      EXPECT_EQ(total, value.count) << snippet;
      ++checked;
    }
  }
  EXPECT_GT(checked, 50);
}

}  // namespace
}  // namespace vedette::test
