#include "api/kit/answer.h"
#include "tests/support/fake_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vedette::rest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Answers : public testing::Test {
 protected:
  Answers() {
    net::ServerRequest request;
    request.path = "/things";
    request.body = "{}";
    request.headers = {{"x-request-id", "r-1"}};
    exchange = std::make_shared<vedette::test::FakeExchange>(std::move(request));
  }

  std::shared_ptr<Answer> New(std::string_view pattern = "/things") {
    return std::make_shared<Answer>(port, exchange, pattern);
  }

  base::SystemClock clock;
  metrics::Metrics metrics{"test"};
  Port port{"api", "other", {{"Cache-Control", "no-store"}},
            clock, metrics, {base::LogLevel::kOff, base::LogFormat::kText}};
  std::shared_ptr<vedette::test::FakeExchange> exchange;
};

TEST_F(Answers, HaveTheRequestsIdAndThePortsHeaders) {
  New()->Send({200, "{}"});
  EXPECT_EQ(exchange->Header("X-Request-Id"), "r-1");
  EXPECT_EQ(exchange->Header("Cache-Control"), "no-store");
  EXPECT_EQ(exchange->Header("Content-Type"), "application/json");
}

TEST_F(Answers, HaveTheReplysOwnHeaderInPlaceOfThePorts) {
  New()->Send({200, "x", {{"Cache-Control", "no-cache"}, {"Content-Type", "text/plain"}}});
  EXPECT_EQ(exchange->answer->headers, (std::vector<Header>{{"X-Request-Id", "r-1"},
                                                            {"Cache-Control", "no-cache"},
                                                            {"Content-Type", "text/plain"}}));
}

TEST_F(Answers, WithoutABodyHaveNoType) {
  New()->Send({204, {}});
  EXPECT_EQ(exchange->Header("Content-Type"), "");
}

TEST_F(Answers, AreCountedOnceUnderThePatternOfTheirRoute) {
  {
    const auto answer = New();
    answer->Send({404, "{}"});
  }
  EXPECT_THAT(metrics.Expose(), HasSubstr(R"(route="api /things"} 1)"));
  EXPECT_THAT(metrics.Expose(), HasSubstr(R"(code="404")"));
  EXPECT_THAT(metrics.Expose(), Not(HasSubstr(R"(code="500")")));
}

TEST_F(Answers, WithoutARouteAreCountedTogether) {
  New("")->Send({404, "{}"});
  EXPECT_THAT(metrics.Expose(), HasSubstr(R"(route="api other")"));
}

TEST_F(Answers, ThatAreNeverGivenCountAsTheServersFailure) {
  New();
  EXPECT_THAT(metrics.Expose(), HasSubstr(R"(code="500")"));
}

TEST_F(Answers, ThatAreStreamedBeginWithJsonAndThePortsHeaders) {
  const auto answer = New();
  answer->Begin().Write("[]", [](bool) {});
  EXPECT_EQ(exchange->answer->status, 200);
  EXPECT_EQ(exchange->answer->body, "[]");
  EXPECT_EQ(exchange->Header("Content-Type"), "application/json");
  EXPECT_EQ(exchange->Header("Cache-Control"), "no-store");
}

TEST_F(Answers, ThatAreParkedForgetTheBodyAndAreFinishedLater) {
  const auto answer = New();
  const Handled handled = answer->Park([] {});
  EXPECT_TRUE(std::holds_alternative<Parked>(handled));
  EXPECT_EQ(exchange->request().body, "");
  EXPECT_FALSE(exchange->answer);
  answer->Send({200, R"({"found":true})"});
  EXPECT_EQ(exchange->answer->body, R"({"found":true})");
}

TEST_F(Answers, ThatAreParkedAreCountedApartFromThePort) {
  {
    const auto answer = New();
    answer->Park([] {});
    answer->Send({200, "{}"});
  }
  EXPECT_THAT(metrics.Expose(), HasSubstr(R"(route="wait /things")"));
  EXPECT_THAT(metrics.Expose(), Not(HasSubstr(R"(route="api /things")")));
}

TEST_F(Answers, ThatAreParkedTellWhenTheClientHasLeft) {
  int left = 0;
  const auto answer = New();
  answer->Park([&left] { ++left; });
  EXPECT_EQ(left, 0);
  exchange->gone();
  EXPECT_EQ(left, 1);
}

}  // namespace
}  // namespace vedette::rest
