// What is taken of a search engine's answer, and what is not.
#include "domain/search/opensearch.h"

#include <gmock/gmock.h>

#include "tests/unit/domain/search/filter_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::search::EngineCount;
using domain::search::EngineProblem;
using domain::search::ValueCount;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kValuesMax = 3;

class EngineAnswer : public FilterTest {
 public:
  static Json Answer(const Json& buckets) {
    Json answer = base::ParseJsonOrThrow(R"({
      "took": 3, "timed_out": false, "_shards": {"total": 2, "successful": 2, "failed": 0},
      "hits": {"total": {"value": 10, "relation": "eq"}, "hits": []},
      "aggregations": {"missing": {"doc_count": 2}, "values": {
        "doc_count_error_upper_bound": 0, "sum_other_doc_count": 4, "buckets": []}}})");
    answer["aggregations"]["values"]["buckets"] = buckets;
    return answer;
  }
  // The same as Answer, of a nested field.
  static Json NestedAnswer(const Json& buckets) {
    Json answer = Answer(buckets);
    const Json values = answer["aggregations"]["values"];
    answer["aggregations"].erase("values");
    answer["aggregations"]["objects"] = {{"doc_count", 30}, {"values", values}};
    return answer;
  }
  EngineCount Read(const Json& answer, const char* field = "tag") const {
    auto read =
        domain::search::ReadEngineAnswer(base::DumpJson(answer), *fields().Find(field), kValuesMax);
    if (const auto* problem = std::get_if<EngineProblem>(&read)) {
      ADD_FAILURE() << problem->why;
      return {};
    }
    return std::get<EngineCount>(std::move(read));
  }
  EngineProblem Problem(const std::string& text) const {
    const auto read = domain::search::ReadEngineAnswer(text, *fields().Find("tag"), kValuesMax);
    const auto* problem = std::get_if<EngineProblem>(&read);
    if (problem != nullptr) return *problem;
    ADD_FAILURE() << "it was taken: " << text;
    return {};
  }
};

Json Bucket(const Json& key, int count) {
  return {{"key", key}, {"doc_count", count}};
}

TEST_F(EngineAnswer, CountsAreReadAndEqualOnesOrderedByTheirValue) {
  const EngineCount read =
      Read(Answer(Json::array({Bucket("b", 3), Bucket("z", 2), Bucket("a", 2)})));
  EXPECT_EQ(read.top.total, 10);
  EXPECT_EQ(read.top.missing, 2);
  EXPECT_EQ(read.top.other, 4);
  EXPECT_FALSE(read.approximate);
  EXPECT_THAT(read.top.values,
              ElementsAre(ValueCount{"b", 3}, ValueCount{"a", 2}, ValueCount{"z", 2}));
}

TEST_F(EngineAnswer, AValueIsATextWhateverItsKeyIs) {
  EXPECT_THAT(Read(Answer(Json::array({Bucket(42, 1), Bucket(-3, 1)})), "size").top.values,
              ElementsAre(ValueCount{"-3", 1}, ValueCount{"42", 1}));
  EXPECT_THAT(Read(Answer(Json::array({Bucket(100.0, 2), Bucket(0.5, 1)})), "score").top.values,
              ElementsAre(ValueCount{"100", 2}, ValueCount{"0.5", 1}));
  Json flag = Bucket(1, 2);
  flag["key_as_string"] = "true";
  EXPECT_THAT(Read(Answer(Json::array({flag})), "open").top.values,
              ElementsAre(ValueCount{"true", 2}));
  Json date = Bucket(1700000000000, 2);
  date["key_as_string"] = "2023-11-14";
  EXPECT_THAT(Read(Answer(Json::array({date})), "since").top.values,
              ElementsAre(ValueCount{"2023-11-14", 2}));
}

TEST_F(EngineAnswer, OfANestedFieldDocumentsAreCounted) {
  Json bucket = Bucket("a", 7);
  bucket["documents"] = {{"doc_count", 5}};
  const EngineCount read = Read(NestedAnswer(Json::array({bucket})), "jobs.grade");
  EXPECT_THAT(read.top.values, ElementsAre(ValueCount{"a", 5}));
  EXPECT_TRUE(read.approximate) << "what is not listed was counted in objects";
}

TEST_F(EngineAnswer, ApproximateIsSaid) {
  for (const int bound : {-1, 3}) {
    Json answer = Answer(Json::array({Bucket("a", 1)}));
    answer["aggregations"]["values"]["doc_count_error_upper_bound"] = bound;
    EXPECT_TRUE(Read(answer).approximate) << bound;
  }
}

TEST_F(EngineAnswer, TimedOutIsSaidByName) {
  Json answer = Answer(Json::array());
  answer["timed_out"] = true;
  EXPECT_EQ(Problem(base::DumpJson(answer)).kind, EngineProblem::Kind::kTimedOut);
}

TEST_F(EngineAnswer, WhatWouldBeWrongWithoutSayingSoIsNotTaken) {
  const Json good = Answer(Json::array({Bucket("a", 1)}));
  const std::pair<const char*, const char*> changes[] = {
      {"/_shards/failed", "1"},
      {"/_shards/failed", "null"},
      {"/timed_out", "null"},
      {"/hits/total", "10"},
      {"/hits/total/relation", "\"gte\""},
      {"/hits/total/value", "-1"},
      {"/hits/total/value", "1.5"},
      {"/hits/total/value", "1"},  // fewer than are missing
      {"/aggregations/missing/doc_count", "-1"},
      {"/aggregations/values/buckets", "{}"},
      {"/aggregations/values/sum_other_doc_count", "null"},
      {"/aggregations/values/doc_count_error_upper_bound", "null"},
      {"/aggregations/values/buckets/0/key", "5"},
      {"/aggregations/values/buckets/0/doc_count", "11"},
      {"/aggregations/values/buckets/0", "{}"},
      {"/aggregations", "{}"}};
  for (const auto& [where, value] : changes) {
    Json answer = good;
    answer[Json::json_pointer(where)] = base::ParseJsonOrThrow(value);
    EXPECT_EQ(Problem(base::DumpJson(answer)).kind, EngineProblem::Kind::kUnusable) << where;
  }
  const Json many =
      Answer(Json::array({Bucket("a", 1), Bucket("b", 1), Bucket("c", 1), Bucket("d", 1)}));
  EXPECT_THAT(Problem(base::DumpJson(many)).why, HasSubstr("lacks"));
}

TEST_F(EngineAnswer, WhatIsNoJsonIsNotTaken) {
  const std::string good = base::DumpJson(Answer(Json::array()));
  for (const std::string& text :
       {std::string(), std::string("<html>"), good.substr(0, 60), std::string(100'000, '['),
        good + "{}", std::string("[]"), std::string("null")}) {
    EXPECT_EQ(Problem(text).kind, EngineProblem::Kind::kUnusable);
  }
  std::string many = "[0";
  for (int i = 0; i < 5000; ++i) many += ",0";
  EXPECT_THAT(Problem(many + "]").why, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace vedette::test
