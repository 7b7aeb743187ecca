#include "worker/probes/http_probe.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <atomic>

#include "domain/job/webhook.h"
#include "tests/unit/worker/probes/probe_fixture.h"

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;
using net::ServerRequest;
using net::ServerResponse;
using std::chrono::milliseconds;
using test::FailureClass;
using test::Request;
using test::Site;
using test::Spec;

constexpr const char* kAnswer = R"({"values": {"city": {"value": "Oslo", "confidence": 9}}})";

// The budgets of all tests here, one after the other.
base::ByteBudget questions(1 << 20, 0.1);
base::ByteBudget answers(1 << 20, 0.1);

std::unique_ptr<test::Rig> Rig(const std::string& url, const std::string& api_key = "",
                               const std::string& secret = "") {
  static const base::SystemClock clock;
  return std::make_unique<test::Rig>([&](base::EventLoop& loop, net::HttpClient& client) {
    config::ProbeConfig config = test::ProbeConfig();
    config.url = url;
    config.api_key = api_key;
    config.signing_secret = secret;
    return std::make_unique<HttpProbe>(loop, client, ServiceBudgets{questions, answers}, clock,
                                       config);
  });
}

ProbeRequest CityRequest() {
  return Request(Spec({{"city", "where they live"}}), {{"name", "x"}});
}

ServerResponse Accepted(const std::string& location, const std::string& retry_after = "0") {
  return {202, {{"Location", location}, {"Retry-After", retry_after}}, ""};
}

TEST(HttpProbe, G11WhatIsAskedHasRoomOrWaitsAndIsNotKept) {
  test::Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  const auto rig = Rig(site.Url());
  auto request = Request(Spec({{"city", std::string(400'000, 'x')}}), {{"name", "x"}});
  std::vector<std::future<ProbeResult>> checks;
  for (int i = 0; i < 8; ++i) checks.push_back(rig->Begin(request));
  EXPECT_LE(questions.usage().used, questions.total() + 500'000);
  EXPECT_GT(questions.usage().waiting, 0U);
  gate.Open();
  for (auto& check : checks) {
    EXPECT_TRUE(std::holds_alternative<Observation>(check.get()));
  }
  rig->Settle();
  EXPECT_EQ(questions.usage().used, 0U);
  EXPECT_EQ(answers.usage().used, 0U);
}

TEST(HttpProbe, G11AWaitForRoomEndsWithTheCheckAndCostsTheOthersNothing) {
  auto all = questions.Open(base::Uuid::V4());
  ASSERT_TRUE(all.Take(questions.total(), [] {}));
  auto privileged = questions.Open(base::Uuid::V4());  // the one that need not wait
  ASSERT_TRUE(privileged.Take(1, [] {}));
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
  const auto rig = Rig(site.Url());
  auto short_of_time = CityRequest();
  short_of_time.deadline_left = 200ms;
  auto patient = CityRequest();
  patient.timeout = 1000ms;
  milliseconds waited{};
  patient.on_turn = [&](milliseconds w) {
    waited += w;
    return true;
  };
  auto waits = rig->Begin(patient);
  const auto failed = rig->Check(short_of_time);
  EXPECT_EQ(FailureClass(failed), "overloaded");
  EXPECT_TRUE(std::get<ProbeFailure>(failed).retryable);
  EXPECT_EQ(waits.wait_for(1200ms), std::future_status::timeout);
  all = {};
  privileged = {};
  EXPECT_TRUE(std::holds_alternative<Observation>(waits.get())) << "its time began with its turn";
  EXPECT_GE(waited, 1000ms);
  rig->Settle();
  EXPECT_EQ(questions.usage().used, 0U);
}

TEST(HttpProbe, G11WhatWasAskedIsGivenBackWhereTheAnswerIsPolled) {
  Site site([&](const ServerRequest& request) {
    if (request.method == "POST") return Accepted("/later");
    EXPECT_EQ(questions.usage().used, 0U);
    return ServerResponse{200, {}, kAnswer};
  });
  EXPECT_TRUE(std::holds_alternative<Observation>(Rig(site.Url())->Check(CityRequest())));
}

TEST(HttpProbe, G11WhatWaitsForRoomGoesWithTheProbe) {
  auto all = questions.Open(base::Uuid::V4());
  ASSERT_TRUE(all.Take(questions.total(), [] {}));
  auto privileged = questions.Open(base::Uuid::V4());  // the one that need not wait
  ASSERT_TRUE(privileged.Take(1, [] {}));
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
  const auto rig = Rig(site.Url());
  auto waits = rig->Begin(CityRequest());
  EXPECT_EQ(questions.usage().waiting, 1U);
  rig->DestroyProbe();
  EXPECT_THROW(waits.get(), std::future_error);
  EXPECT_EQ(questions.usage().waiting, 0U);
  all = {};
  privileged = {};
  EXPECT_EQ(questions.usage().used, 0U);
}

TEST(HttpProbe, AsksAsTheProtocolSays) {
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
  const std::string secret = "sk_whsec_" + std::string(64, 'a');
  const auto rig = Rig(site.Url("/research"), "key-1", secret);
  const auto request = CityRequest();
  const auto result = rig->Check(request);
  EXPECT_EQ(std::get<Observation>(result).fields.at("city").value.Value(), "Oslo");
  EXPECT_EQ(std::get<Observation>(result).fields.at("city").confidence, 9);
  const auto asked = site.requests().at(0);
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.target, "/research");
  EXPECT_EQ(asked.Header("content-type"), "application/json");
  EXPECT_EQ(asked.Header("idempotency-key"), request.check_id.ToString());
  EXPECT_EQ(asked.Header("authorization"), "Bearer key-1");
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  EXPECT_EQ(domain::VerifySignature(secret, asked.Header("service-signature"), asked.body,
                                    now.time_since_epoch().count()),
            domain::SignatureCheck::kValid);
  const base::Json body = base::ParseJsonOrThrow(asked.body);
  EXPECT_EQ(body.at("check_id"), request.check_id.ToString());
  EXPECT_EQ(body.at("watched"), (base::Json{{"city", "where they live"}}));
}

TEST(HttpProbe, SendsNoSecretsThatItDoesNotHave) {
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
  Rig(site.Url())->Check(CityRequest());
  EXPECT_EQ(site.requests().at(0).Header("authorization"), "");
  EXPECT_EQ(site.requests().at(0).Header("service-signature"), "");
}

TEST(HttpProbe, PollsWhatIsAcceptedUntilItIsReady) {
  std::atomic<int> polls = 0;
  Site site([&](const ServerRequest& request) -> ServerResponse {
    if (request.method == "POST") return Accepted("jobs/1");
    if (++polls == 1) return Accepted("/moved/1");
    if (polls == 2) return {202, {{"Retry-After", "0"}}, ""};
    return {200, {}, kAnswer};
  });
  const auto rig = Rig(site.Url("/api/research"), "key-1");
  EXPECT_EQ(std::get<Observation>(rig->Check(CityRequest())).fields.at("city").value.Value(),
            "Oslo");
  const auto asked = site.requests();
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_EQ(asked[1].method, "GET");
  EXPECT_EQ(asked[1].target, "/api/jobs/1");
  EXPECT_EQ(asked[1].Header("authorization"), "Bearer key-1");
  EXPECT_EQ(asked[2].target, "/moved/1");
  EXPECT_EQ(asked[3].target, "/moved/1");
}

TEST(HttpProbe, PollsItsOwnOriginOnly) {
  for (const char* location :
       {"http://127.0.0.1:1/x", "https://evil.example/", "//evil.example/x", "ftp://x/"}) {
    Site site([&](const ServerRequest&) { return Accepted(location, "0"); });
    const auto result = Rig(site.Url())->Check(CityRequest());
    EXPECT_EQ(FailureClass(result), "invalid_answer") << location;
    EXPECT_EQ(site.requests().size(), 1U) << location;
  }
  Site site([&](const ServerRequest&) { return ServerResponse{202, {}, ""}; });
  EXPECT_EQ(FailureClass(Rig(site.Url())->Check(CityRequest())), "invalid_answer");
}

TEST(HttpProbe, AnAnswerThatIsNotReadyInTimeIsARetryableTimeout) {
  Site site([&](const ServerRequest&) { return Accepted("/jobs/1", "60"); });
  const auto result = Rig(site.Url())->Check(CityRequest());
  EXPECT_EQ(FailureClass(result), "timeout");
  EXPECT_TRUE(std::get<ProbeFailure>(result).retryable);
  EXPECT_EQ(std::get<ProbeFailure>(result).retry_after, 60s);
  EXPECT_EQ(site.requests().size(), 1U);

  Site endless([&](const ServerRequest&) { return Accepted("/jobs/1", "0"); });
  auto request = CityRequest();
  request.timeout = 700ms;
  EXPECT_EQ(FailureClass(Rig(endless.Url())->Check(request)), "timeout");
  EXPECT_GT(endless.requests().size(), 1U);
}

TEST(HttpProbe, OtherStatusesAreFailures) {
  Site site([](const ServerRequest& request) {
    return ServerResponse{
        std::stoi(request.path.substr(1)), {{"Retry-After", "3"}, {"Location", "/200"}}, kAnswer};
  });
  for (const auto& [status, retryable] :
       {std::pair(201, false), std::pair(204, false), std::pair(302, false), std::pair(400, false),
        std::pair(401, false), std::pair(404, false), std::pair(408, true), std::pair(425, true),
        std::pair(429, true), std::pair(500, true), std::pair(503, true)}) {
    const auto result = Rig(site.Url("/" + std::to_string(status)))->Check(CityRequest());
    ASSERT_EQ(FailureClass(result), "http_status") << status;
    EXPECT_EQ(std::get<ProbeFailure>(result).retryable, retryable) << status;
    EXPECT_EQ(std::get<ProbeFailure>(result).retry_after.has_value(), retryable) << status;
  }
}

TEST(HttpProbe, InvalidAnswersAreFailures) {
  for (const char* body : {"", "<html>", R"({"values": {"city": "Oslo"}})",
                           R"({"values": {"city": {"value": {"a": 1}}}})"}) {
    Site site([&](const ServerRequest&) { return ServerResponse{200, {}, body}; });
    const auto result = Rig(site.Url())->Check(CityRequest());
    EXPECT_EQ(FailureClass(result), "invalid_answer") << body;
    EXPECT_FALSE(std::get<ProbeFailure>(result).retryable);
  }
}

TEST(HttpProbe, G11LongAnswersAreRefused) {
  Site site([](const ServerRequest&) {
    return ServerResponse{200, {}, std::string((1 << 20) + 1, ' ')};
  });
  EXPECT_EQ(FailureClass(Rig(site.Url())->Check(CityRequest())), "body_too_large");
}

TEST(HttpProbe, CallbacksAreDroppedWithTheProbe) {
  test::Gate gate;
  test::Gate asked;
  Site site([&](const ServerRequest&) {
    asked.Open();
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  const auto rig = Rig(site.Url());
  auto result = rig->Begin(CityRequest());
  asked.Wait();
  rig->DestroyProbe();
  gate.Open();
  EXPECT_THROW(result.get(), std::future_error);

  Site accepting([](const ServerRequest&) { return Accepted("/jobs/1", "5"); });
  const auto waiting = Rig(accepting.Url());
  auto polled = waiting->Begin(CityRequest());
  while (accepting.requests().empty()) std::this_thread::yield();
  waiting->DestroyProbe();
  EXPECT_THROW(polled.get(), std::future_error);
}

}  // namespace
}  // namespace vedette::worker
