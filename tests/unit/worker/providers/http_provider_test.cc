#include "worker/providers/http_provider.h"
#include "base/json.h"
#include "config/lookup_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "domain/job/webhook.h"
#include "tests/unit/worker/probes/probe_fixture.h"
#include "worker/providers/lookup_protocol.h"

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;
using net::ServerRequest;
using net::ServerResponse;
using std::chrono::milliseconds;
using test::Gate;
using test::Site;

constexpr const char* kAnswer = R"({"candidates": [{"email": "ann@acme.com", "status": "OK"}]})";

base::ByteBudget questions(1 << 20, 0.1);
base::ByteBudget answers(1 << 20, 0.1);

LookupRequest Ann(const base::Uuid& org = base::Uuid::V4()) {
  LookupRequest request;
  request.row_id = base::Uuid::V4();
  request.org_id = org;
  request.job_id = base::Uuid::V4();
  auto person = std::make_shared<domain::Person>();
  person->name = "Ann";
  person->domain = "acme.com";
  request.person = std::move(person);
  request.timeout = 20s;
  return request;
}

config::HttpProviderConfig Config(const std::string& url) {
  config::HttpProviderConfig config;
  config.url = url;
  return config;
}

// A loop on its thread, a client and a provider on it.
class Rig {
 public:
  explicit Rig(const config::HttpProviderConfig& config) {
    loop_.Run([&] {
      client_ = std::make_unique<net::HttpClient>(loop_.loop, test::NetConfig());
      provider_ = std::make_unique<HttpProvider>(
          loop_.loop, *client_, ServiceBudgets{questions, answers}, clock_, "mine", config);
    });
  }
  ~Rig() {
    DestroyProvider();
    loop_.Run([this] { client_.reset(); });
  }

  std::future<LookupAnswer> Begin(LookupRequest request) {
    auto promise = std::make_shared<std::promise<LookupAnswer>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      provider_->Start(std::move(request),
                       [promise](LookupAnswer answer) { promise->set_value(std::move(answer)); });
    });
    return future;
  }
  LookupAnswer Ask(LookupRequest request) { return Begin(std::move(request)).get(); }
  void DestroyProvider() {
    loop_.Run([this] { provider_.reset(); });
  }
  void Settle() {
    loop_.Run([] {});
  }

 private:
  const base::SystemClock clock_;
  net::test::LoopThread loop_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<HttpProvider> provider_;
};

bool IsFound(const LookupAnswer& answer) {
  return std::holds_alternative<domain::Candidates>(answer);
}
std::string ErrorClass(const LookupAnswer& answer) {
  const auto* failure = std::get_if<domain::Failure>(&answer);
  return failure == nullptr ? "" : failure->error_class;
}

TEST(HttpProvider, AsksAsTheProtocolSays) {
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
  config::HttpProviderConfig config = Config(site.Url("/lookup"));
  config.api_key = "key-1";
  config.signing_secret = "sk_whsec_" + std::string(64, 'a');
  Rig rig(config);
  const LookupRequest request = Ann();
  const auto answer = rig.Ask(request);
  EXPECT_EQ(std::get<domain::Candidates>(answer).at(0).address, "ann@acme.com");
  const auto asked = site.requests().at(0);
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.target, "/lookup");
  EXPECT_EQ(asked.Header("content-type"), "application/json");
  EXPECT_EQ(asked.Header("idempotency-key"), request.row_id.ToString());
  EXPECT_EQ(asked.Header("authorization"), "Bearer key-1");
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  EXPECT_EQ(domain::VerifySignature(config.signing_secret, asked.Header("service-signature"),
                                    asked.body, now.time_since_epoch().count()),
            domain::SignatureCheck::kValid);
  EXPECT_EQ(base::ParseJsonOrThrow(asked.body).at("person").at("name"), "Ann");
}

TEST(HttpProvider, PollsWhatIsAcceptedUntilItIsReady) {
  Site site([&](const ServerRequest& request) -> ServerResponse {
    if (request.method == "POST") return {202, {{"Location", "/jobs/1"}, {"Retry-After", "0"}}, ""};
    return {200, {}, kAnswer};
  });
  Rig rig(Config(site.Url()));
  EXPECT_TRUE(IsFound(rig.Ask(Ann())));
  EXPECT_EQ(site.requests().at(1).method, "GET");
  EXPECT_EQ(site.requests().at(1).target, "/jobs/1");
}

TEST(HttpProvider, IsNeverRedirectedNorSentToAnotherOrigin) {
  for (const int status : {202, 301, 307}) {
    Site other([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
    Site site([&](const ServerRequest&) {
      return ServerResponse{status, {{"Location", other.Url()}}, ""};
    });
    Rig rig(Config(site.Url()));
    EXPECT_EQ(ErrorClass(rig.Ask(Ann())), status == 202 ? "invalid_answer" : "http_status");
    EXPECT_TRUE(other.requests().empty()) << status;
  }
}

TEST(HttpProvider, FailuresSayWhetherTheyMayPass) {
  Site site([](const ServerRequest& request) {
    return ServerResponse{std::stoi(request.path.substr(1)), {{"Retry-After", "3"}}, kAnswer};
  });
  for (const auto& [status, retryable] : std::vector<std::pair<int, bool>>{
           {400, false}, {401, false}, {402, false}, {404, false}, {429, true}, {503, true}}) {
    Rig rig(Config(site.Url("/" + std::to_string(status))));
    const auto answer = rig.Ask(Ann());
    ASSERT_EQ(ErrorClass(answer), "http_status") << status;
    EXPECT_EQ(std::get<domain::Failure>(answer).retryable, retryable) << status;
    if (retryable) {
      EXPECT_EQ(std::get<domain::Failure>(answer).retry_after, 3s);
    }
  }
  Rig nobody(Config("http://127.0.0.1:1/"));
  EXPECT_EQ(ErrorClass(nobody.Ask(Ann())), "connect");
}

TEST(HttpProvider, AnAnswerHasALimit) {
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, std::string(3000, ' ')}; });
  config::HttpProviderConfig config = Config(site.Url());
  config.body_bytes_max = 2000;
  EXPECT_EQ(ErrorClass(Rig(config).Ask(Ann())), "body_too_large");
}

TEST(HttpProvider, TheTimeOfTheLookupAndThatOfTheProviderBoundIt) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  config::HttpProviderConfig config = Config(site.Url());
  config.timeout_ms = 200ms;
  EXPECT_EQ(ErrorClass(Rig(config).Ask(Ann())), "timeout");
  LookupRequest short_of_time = Ann();
  short_of_time.timeout = 200ms;
  EXPECT_EQ(ErrorClass(Rig(Config(site.Url())).Ask(short_of_time)), "out_of_time")
      << "it may take longer: that it did says nothing about it";
  gate.Open();
}

TEST(HttpProvider, G11NoMoreLookupsThanAllowedAreAskedAtOnce) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  config::HttpProviderConfig config = Config(site.Url());
  config.in_flight_max = 2;
  Rig rig(config);
  std::vector<std::future<LookupAnswer>> lookups;
  for (int i = 0; i < 10; ++i) lookups.push_back(rig.Begin(Ann()));
  EXPECT_EQ(questions.usage().used, 2 * LookupBody(Ann()).size()) << "what waits holds nothing";
  gate.Open();
  for (auto& lookup : lookups) EXPECT_TRUE(IsFound(lookup.get()));
  EXPECT_EQ(site.requests().size(), 10U);
  rig.Settle();
  EXPECT_EQ(questions.usage().used, 0U);
  EXPECT_EQ(answers.usage().used, 0U);
}

TEST(HttpProvider, G10OrganisationsThatWaitTakeTurns) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  config::HttpProviderConfig config = Config(site.Url());
  config.in_flight_max = 1;
  Rig rig(config);
  const base::Uuid greedy = base::Uuid::V4();
  std::vector<std::future<LookupAnswer>> lookups;
  for (int i = 0; i < 20; ++i) lookups.push_back(rig.Begin(Ann(greedy)));
  const LookupRequest modest = Ann();
  lookups.push_back(rig.Begin(modest));
  gate.Open();
  for (auto& lookup : lookups) EXPECT_TRUE(IsFound(lookup.get()));
  const auto asked = site.requests();
  const auto is_modest = [&](const ServerRequest& request) {
    return request.Header("idempotency-key") == modest.row_id.ToString();
  };
  const auto place = std::find_if(asked.begin(), asked.end(), is_modest) - asked.begin();
  EXPECT_LE(place, 2) << "it waits for what is asked and for one turn of the other";
}

TEST(HttpProvider, G10_WhatAClientWaitsForHasPlacesOfItsOwn) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  config::HttpProviderConfig config = Config(site.Url());
  config.in_flight_max = 4;
  Rig rig(config);
  const base::Uuid org = base::Uuid::V4();
  const std::size_t bytes = LookupBody(Ann(org)).size();
  std::vector<std::future<LookupAnswer>> lookups;
  for (int i = 0; i < 20; ++i) lookups.push_back(rig.Begin(Ann(org)));
  EXPECT_EQ(questions.usage().used, 3 * bytes) << "its bulk leaves a place";
  for (int i = 0; i < 3; ++i) {
    LookupRequest request = Ann(org);
    request.waited = true;
    lookups.push_back(rig.Begin(std::move(request)));
  }
  EXPECT_EQ(questions.usage().used, 4 * bytes) << "the place is for one that a client waits for";
  gate.Open();
  for (auto& lookup : lookups) EXPECT_TRUE(IsFound(lookup.get()));
  EXPECT_EQ(site.requests().size(), 23U);
}

TEST(HttpProvider, G10_WhatAClientWaitsForGoesBeforeTheBulksOfItsOrganisation) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  config::HttpProviderConfig config = Config(site.Url());
  config.in_flight_max = 1;
  Rig rig(config);
  const base::Uuid org = base::Uuid::V4();
  std::vector<std::future<LookupAnswer>> lookups;
  for (int i = 0; i < 20; ++i) lookups.push_back(rig.Begin(Ann(org)));
  LookupRequest waited = Ann(org);
  waited.waited = true;
  lookups.push_back(rig.Begin(waited));
  gate.Open();
  for (auto& lookup : lookups) EXPECT_TRUE(IsFound(lookup.get()));
  EXPECT_EQ(site.requests().at(1).Header("idempotency-key"), waited.row_id.ToString())
      << "it waits for what is asked alone";
}

TEST(HttpProvider, G5_WhatNobodyWaitsForWhenItsTurnComesIsNotAsked) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  config::HttpProviderConfig config = Config(site.Url());
  config.in_flight_max = 1;
  Rig rig(config);
  auto asked = rig.Begin(Ann());
  LookupRequest unheld = Ann();
  unheld.may_call = [] { return false; };
  auto dropped = rig.Begin(unheld);
  auto next = rig.Begin(Ann());
  gate.Open();
  EXPECT_TRUE(IsFound(asked.get()));
  EXPECT_EQ(std::get<domain::Failure>(dropped.get()).error_class, kLookupUnheld);
  EXPECT_TRUE(IsFound(next.get())) << "the next one has its turn";
  EXPECT_EQ(site.requests().size(), 2U);
}

TEST(HttpProvider, G5_WhatNobodyWaitsForAnyMoreIsNotAskedAgain) {
  std::atomic<bool> is_held = true;
  Site site([&](const ServerRequest&) {
    is_held = false;
    return ServerResponse{202, {{"Location", "/later"}, {"Retry-After", "0"}}, ""};
  });
  Rig rig(Config(site.Url()));
  LookupRequest request = Ann();
  request.may_call = [&] { return is_held.load(); };
  EXPECT_EQ(ErrorClass(rig.Ask(request)), "overloaded");
  EXPECT_EQ(site.requests().size(), 1U);
}

TEST(HttpProvider, AWaitForATurnEndsWithTheTimeOfTheLookup) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  config::HttpProviderConfig config = Config(site.Url());
  config.in_flight_max = 1;
  Rig rig(config);
  auto first = rig.Begin(Ann());
  LookupRequest short_of_time = Ann();
  short_of_time.timeout = 100ms;
  const auto late = rig.Ask(short_of_time);
  EXPECT_EQ(ErrorClass(late), "overloaded");
  gate.Open();
  EXPECT_TRUE(IsFound(first.get()));
  EXPECT_TRUE(IsFound(rig.Ask(Ann()))) << "its turn goes to the next one";
  EXPECT_EQ(site.requests().size(), 2U);
}

TEST(HttpProvider, WhatIsUnderWayIsDroppedWithTheProvider) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  config::HttpProviderConfig config = Config(site.Url());
  config.in_flight_max = 1;
  Rig rig(config);
  auto asked = rig.Begin(Ann());
  auto waits = rig.Begin(Ann());
  rig.DestroyProvider();
  gate.Open();
  EXPECT_THROW(asked.get(), std::future_error);
  EXPECT_THROW(waits.get(), std::future_error);
}

}  // namespace
}  // namespace vedette::worker
