// What a search engine is asked, with which credentials, and how many counts at once.
#include "app/search_engine_client.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "base/json.h"
#include "config/parts.h"
#include "config/search_config.h"
#include "domain/search/opensearch.h"
#include "tests/unit/net/site.h"

namespace vedette::app {
namespace {

using Outcome = api::SearchEngine::Outcome;
using domain::search::Mode;

constexpr const char* kNothingCounted = R"({
  "timed_out": false, "_shards": {"failed": 0}, "hits": {"total": {"value": 0, "relation": "eq"}},
  "aggregations": {"missing": {"doc_count": 0}, "values": {
    "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0, "buckets": []}}})";

class SearchEngineClientTest : public testing::Test {
 protected:
  SearchEngineClientTest()
      : site_([this](const net::ServerRequest&) {
          gate_.Wait();
          return net::ServerResponse{200, {}, kNothingCounted};
        }) {
    field_.name = "tag";
    field_.aggregation_field = "tag";
  }
  ~SearchEngineClientTest() override {
    gate_.Open();
    loop_.Run([this] { client_.reset(); });
  }

  void Build(config::Environment environment = {}, int in_flight_max = 16) {
    environment["VEDETTE_SEARCH_BACKEND"] = "opensearch";
    environment["VEDETTE_SEARCH_URL"] = site_.Url("/engine/");
    config_ = config::LoadConfig(std::nullopt, environment);
    config_.search.timeout_ms = std::chrono::seconds(60);
    config_.search.in_flight_max = in_flight_max;
    loop_.Run([this] {
      client_ = std::make_unique<SearchEngineClient>(loop_.loop, answers_, metrics_, config_, log_);
    });
  }
  store::ValuesQuestion Question(Mode mode = Mode::kCompany) const {
    store::ValuesQuestion question;
    question.mode = mode;
    question.org_id = org_;
    question.field = &field_;
    return question;
  }
  std::future<Outcome> Count(const store::ValuesQuestion& question) {
    auto promise = std::make_shared<std::promise<Outcome>>();
    client_->Count(question,
                   [promise](Outcome outcome) { promise->set_value(std::move(outcome)); });
    return promise->get_future();
  }

  const base::Uuid org_ = base::Uuid::V4();
  domain::search::Field field_;
  base::ByteBudget answers_{1 << 26, 0.1};
  metrics::Metrics metrics_{"test"};
  const base::Logger log_{base::LogLevel::kOff, base::LogFormat::kText};
  config::Config config_;
  net::test::Gate gate_;  // the engine answers once it is open
  net::test::Site site_;
  net::test::LoopThread loop_;
  std::unique_ptr<SearchEngineClient> client_;
};

TEST_F(SearchEngineClientTest, ACountIsOneRequestForTheCallersDocuments) {
  Build({{"VEDETTE_SEARCH_INDEX_PEOPLE", "people-1"}, {"VEDETTE_SEARCH_ORG_FIELD", "owner"}});
  gate_.Open();
  EXPECT_EQ(Count(Question(Mode::kPeople)).get().kind, Outcome::Kind::kCounted);
  ASSERT_EQ(site_.requests().size(), 1U);
  const net::ServerRequest request = site_.requests().front();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/engine/people-1/_search?timeout=54000ms");
  EXPECT_EQ(request.Header("content-type"), "application/json");
  EXPECT_EQ(request.Header("authorization"), "");
  EXPECT_EQ(request.body, base::DumpJson(domain::search::TopValuesBody(
                              field_, {}, domain::search::Tenant{"owner", org_.ToString()}, 25)));
}

TEST_F(SearchEngineClientTest, ItKnowsUsByPasswordOrByKey) {
  Build({{"VEDETTE_SEARCH_USER", "vedette"}, {"VEDETTE_SEARCH_PASSWORD", "a?>~\xc3\xbc"}});
  gate_.Open();
  Count(Question()).get();
  EXPECT_EQ(site_.requests().back().Header("authorization"), "Basic dmVkZXR0ZTphPz5+w7w=");
  loop_.Run([this] { client_.reset(); });
  Build({{"VEDETTE_SEARCH_API_KEY", "a-key"}});
  Count(Question()).get();
  EXPECT_EQ(site_.requests().back().Header("authorization"), "ApiKey a-key");
}

TEST_F(SearchEngineClientTest, AFilterThatIsTooLongForTheEngineIsNotSent) {
  Build();
  store::ValuesQuestion question = Question();
  const std::vector<domain::search::Value> values(9000, std::string(1000, 'a'));
  question.filter = domain::search::Filter{domain::search::OneOf{&field_, values}};
  EXPECT_EQ(Count(question).get().kind, Outcome::Kind::kTooLarge);
  EXPECT_TRUE(site_.requests().empty());
}

TEST_F(SearchEngineClientTest, WhatIsOverTheCountsAtOnceIsRefusedAndLaterTakenAgain) {
  Build({}, 1);
  auto first = Count(Question());
  EXPECT_EQ(Count(Question()).get().kind, Outcome::Kind::kBusy);
  gate_.Open();
  EXPECT_EQ(first.get().kind, Outcome::Kind::kCounted);
  EXPECT_EQ(Count(Question()).get().kind, Outcome::Kind::kCounted);
}

}  // namespace
}  // namespace vedette::app
