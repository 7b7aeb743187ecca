#include "worker/providers/recipe_provider.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/unit/worker/probes/probe_fixture.h"

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;
using net::ServerRequest;
using net::ServerResponse;
using test::Gate;
using test::Site;

base::ByteBudget questions(1 << 20, 0.1);
base::ByteBudget answers(1 << 20, 0.1);

domain::Recipe Recipe(const std::string& url) {
  domain::Recipe recipe;
  recipe.id = "mine";
  recipe.modes = {domain::FindMode::kProfessional};
  recipe.needs = {{domain::RecipeField::kName}};
  recipe.request.url = url;
  recipe.request.query = {{"name", "{name}"}};
  recipe.request.headers = {{"X-KEY", "{key}"}};
  recipe.request.key = "k-1";
  recipe.answer.email = *base::JsonPointer::Parse("/email");
  recipe.answer.pending_statuses = {202};
  return recipe;
}

LookupRequest Ann() {
  LookupRequest request;
  request.row_id = request.org_id = request.job_id = base::Uuid::V4();
  auto person = std::make_shared<domain::Person>();
  person->name = "Ann";
  request.person = std::move(person);
  request.timeout = 20s;
  return request;
}

class Rig {
 public:
  explicit Rig(const domain::Recipe& recipe) {
    loop_.Run([&] {
      client_ = std::make_unique<net::HttpClient>(loop_.loop, test::NetConfig());
      provider_ = std::make_unique<RecipeProvider>(
          loop_.loop, *client_, ServiceBudgets{questions, answers}, clock_, recipe);
    });
  }
  ~Rig() {
    loop_.Run([this] {
      provider_.reset();
      client_.reset();
    });
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

 private:
  const base::SystemClock clock_;
  net::test::LoopThread loop_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<RecipeProvider> provider_;
};

std::string ErrorClass(const LookupAnswer& answer) {
  const auto* failure = std::get_if<domain::Failure>(&answer);
  return failure == nullptr ? "" : failure->error_class;
}

constexpr const char* kAnswer = R"({"email": "ann@acme.com"})";

TEST(RecipeProvider, AsksAsTheRecipeSays) {
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
  Rig rig(Recipe(site.Url("/find")));
  EXPECT_EQ(std::get<domain::Candidates>(rig.Ask(Ann())).at(0).address, "ann@acme.com");
  const auto asked = site.requests().at(0);
  EXPECT_EQ(asked.method, "GET");
  EXPECT_EQ(asked.target, "/find?name=Ann");
  EXPECT_EQ(asked.Header("x-key"), "k-1");
}

TEST(RecipeProvider, WhoIsNotKnownWellEnoughAndOtherLookupsCauseNoRequest) {
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
  Rig rig(Recipe(site.Url("/find")));
  LookupRequest nameless = Ann();
  nameless.person = std::make_shared<domain::Person>();
  EXPECT_TRUE(std::holds_alternative<Nothing>(rig.Ask(std::move(nameless))));
  LookupRequest personal = Ann();
  personal.mode = domain::FindMode::kPersonal;
  EXPECT_TRUE(std::holds_alternative<Nothing>(rig.Ask(std::move(personal))));
  LookupRequest reverse = Ann();
  reverse.lookup = Lookup::kReverseEmail;
  EXPECT_TRUE(std::holds_alternative<Nothing>(rig.Ask(std::move(reverse))));
  EXPECT_TRUE(site.requests().empty());
}

TEST(RecipeProvider, AsksAgainUntilTheServiceHasEnded) {
  std::atomic<int> asked = 0;
  Site site([&](const ServerRequest&) {
    if (++asked < 3) return ServerResponse{202, {{"Retry-After", "0"}}, "{}"};
    return ServerResponse{200, {}, kAnswer};
  });
  Rig rig(Recipe(site.Url("/find")));
  EXPECT_TRUE(std::holds_alternative<domain::Candidates>(rig.Ask(Ann())));
  EXPECT_EQ(asked, 3);
}

TEST(RecipeProvider, AServiceThatDoesNotEndInTimeFails) {
  Site site([&](const ServerRequest&) { return ServerResponse{202, {{"Retry-After", "60"}}, ""}; });
  Rig rig(Recipe(site.Url("/find")));
  EXPECT_EQ(ErrorClass(rig.Ask(Ann())), "timeout");
}

TEST(RecipeProvider, G5_WhatNobodyWaitsForAnyMoreIsNotAskedAgain) {
  std::atomic<bool> is_held = true;
  Site site([&](const ServerRequest&) {
    is_held = false;
    return ServerResponse{202, {{"Retry-After", "0"}}, "{}"};
  });
  Rig rig(Recipe(site.Url("/find")));
  LookupRequest request = Ann();
  request.may_call = [&] { return is_held.load(); };
  EXPECT_EQ(ErrorClass(rig.Ask(std::move(request))), "overloaded");
  EXPECT_EQ(site.requests().size(), 1U);
}

TEST(RecipeProvider, WhatIsNoAnswerIsAFailure) {
  Site site([](const ServerRequest& request) {
    if (request.target.starts_with("/html")) return ServerResponse{200, {}, "<html>"};
    if (request.target.starts_with("/long")) {
      return ServerResponse{200, {}, '"' + std::string(5 << 20, 'x') + '"'};
    }
    return ServerResponse{302, {{"Location", "/html"}}, ""};
  });
  const auto error_at = [&](const std::string& path) {
    Rig rig(Recipe(site.Url(path)));
    return ErrorClass(rig.Ask(Ann()));
  };
  EXPECT_EQ(error_at("/html"), "invalid_answer");
  EXPECT_EQ(error_at("/long"), "body_too_large");
  EXPECT_EQ(error_at("/elsewhere"), "http_status");
  EXPECT_EQ(site.requests().size(), 3U) << "it is never redirected";
  Rig nobody(Recipe("http://127.0.0.1:1/"));
  EXPECT_EQ(ErrorClass(nobody.Ask(Ann())), "connect");
}

TEST(RecipeProvider, G11NoMoreThanAllowedAreAskedAtOnce) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ServerResponse{200, {}, kAnswer};
  });
  domain::Recipe recipe = Recipe(site.Url("/find"));
  recipe.request.in_flight_max = 2;
  Rig rig(recipe);
  std::vector<std::future<LookupAnswer>> all;
  for (int i = 0; i < 5; ++i) all.push_back(rig.Begin(Ann()));
  LookupRequest hasty = Ann();
  hasty.timeout = 50ms;
  EXPECT_EQ(ErrorClass(rig.Ask(std::move(hasty))), "overloaded");
  EXPECT_LE(site.requests().size(), 2U);
  gate.Open();
  for (auto& one : all) EXPECT_EQ(ErrorClass(one.get()), "");
}

TEST(RecipeProvider, QuestionsAreSpreadOverTheMinute) {
  Site site([](const ServerRequest&) { return ServerResponse{200, {}, kAnswer}; });
  domain::Recipe recipe = Recipe(site.Url("/find"));
  recipe.request.per_minute = 600;  // one in 100 ms
  Rig rig(recipe);
  const base::SystemClock clock;
  const auto began = clock.SinceBoot();
  std::vector<std::future<LookupAnswer>> all;
  for (int i = 0; i < 4; ++i) all.push_back(rig.Begin(Ann()));
  for (auto& one : all) EXPECT_EQ(ErrorClass(one.get()), "");
  EXPECT_GE(clock.SinceBoot() - began, 300ms);
}

}  // namespace
}  // namespace vedette::worker
