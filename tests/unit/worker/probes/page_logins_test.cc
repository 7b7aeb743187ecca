#include "worker/probes/page_logins.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace vedette::worker {
namespace {

// Keeps what it is given, and answers when it is told to.
class FakeKeeper final : public LoginKeeper {
 public:
  void Read(const base::Uuid&, const base::Uuid&,
            std::function<void(std::optional<Login>)> done) override {
    ++reads;
    asked_.push_back(
        [this, done = std::move(done)] { done(away ? std::nullopt : std::optional(login)); });
  }
  void Keep(const base::Uuid&, const base::Uuid&, const base::Uuid& version, std::string session,
            std::function<void()> done) override {
    ++writes;
    asked_.push_back([this, version, session = std::move(session), done = std::move(done)] {
      if (version == login.version) login.session = session;
      done();
    });
  }
  void Answer() {
    while (!asked_.empty()) {
      for (const auto& one : std::exchange(asked_, {})) one();
    }
  }

  Login login{
      .version = base::Uuid::V4(), .secrets = domain::ProbeSecrets{{"pw", "x"}}, .session = ""};
  bool away = false;
  int reads = 0;
  int writes = 0;

 private:
  std::vector<std::function<void()>> asked_;
};

const std::vector<net::PageCookie> kCookies{{.name = "sid", .value = "1", .domain = "a.example"}};

class PageLoginsTest : public ::testing::Test {
 protected:
  PageLoginsTest() {
    spec_->monitor_id = base::Uuid::V4();
    spec_->options.keeps_session = true;
    spec_->options.steps = {
        {.kind = domain::PageStep::Kind::kFill, .target = "#p", .secret = "pw"}};
  }
  // Its place in `given_`.
  std::size_t Ask() {
    const std::size_t n = given_.size();
    given_.emplace_back();
    logins_.Ask(org_, spec_, [this, n](PageLogins::Given given) { given_[n] = std::move(given); });
    keeper_.Answer();
    return n;
  }
  void End(std::size_t n, const std::optional<std::vector<net::PageCookie>>& cookies,
           const ProbeFailure* failure = nullptr) {
    logins_.End(org_, *spec_, Login(n), cookies, failure);
    keeper_.Answer();
  }
  const PageLogin& Login(std::size_t n) { return std::get<PageLogin>(given_[n].value()); }

  const base::Uuid org_ = base::Uuid::V4();
  const std::shared_ptr<ProbeSpec> spec_ = std::make_shared<ProbeSpec>();
  FakeKeeper keeper_;
  PageLogins logins_{&keeper_};
  std::vector<std::optional<PageLogins::Given>> given_;
};

TEST_F(PageLoginsTest, OnePageLogsInAndTheOthersHaveItsSession) {
  const auto first = Ask();
  const auto second = Ask();
  const auto third = Ask();
  EXPECT_EQ(Login(first).steps[0].value, "x");
  EXPECT_TRUE(Login(first).cookies.empty());
  EXPECT_FALSE(given_[second]);
  End(first, kCookies);
  EXPECT_EQ(Login(second).cookies, kCookies);
  EXPECT_EQ(Login(third).cookies, kCookies);
  // What has not changed is not written again.
  End(second, kCookies);
  End(third, std::nullopt);
  EXPECT_EQ(keeper_.writes, 1);
  EXPECT_EQ(Login(Ask()).cookies, kCookies);
}

TEST_F(PageLoginsTest, ALoginThatFailsIsNotTriedForEachRow) {
  const auto first = Ask();
  const auto second = Ask();
  const ProbeFailure failed{"step_failed", "A step could not be made: probe.steps[0].", false, {}};
  End(first, std::nullopt, &failed);
  const auto* failure = std::get_if<ProbeFailure>(&given_[second].value());
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->error_class, "step_failed");
  const auto next = Ask();  // the next check tries again
  EXPECT_TRUE(Login(next).leads);
}

TEST_F(PageLoginsTest, APageThatFailsOtherwiseKeepsNobodyBack) {
  const auto first = Ask();
  const auto second = Ask();
  const ProbeFailure failed{"http_status", "404", false, {}};
  End(first, std::nullopt, &failed);
  EXPECT_FALSE(Login(second).leads);
}

TEST_F(PageLoginsTest, WithoutAKeptSessionEveryPageLogsInAndNothingIsKept) {
  spec_->options.keeps_session = false;
  const auto first = Ask();
  const auto second = Ask();
  EXPECT_FALSE(Login(first).leads);
  End(first, kCookies);
  End(second, kCookies);
  EXPECT_EQ(keeper_.writes, 0);
  spec_->options.steps[0].secret.clear();
  Ask();
  EXPECT_EQ(keeper_.reads, 2) << "steps that type no secret need nothing";
}

TEST_F(PageLoginsTest, WhatCannotBeOpenedOrHadIsAFailure) {
  keeper_.login.secrets.reset();
  EXPECT_EQ(std::get<ProbeFailure>(given_.at(Ask()).value()).error_class, "unreadable_secrets");
  keeper_.away = true;
  const auto away = Ask();
  EXPECT_TRUE(std::get<ProbeFailure>(given_[away].value()).retryable);
}

TEST_F(PageLoginsTest, APreviewTypesItsOwnSecrets) {
  spec_->monitor_id = {};
  spec_->secrets = {{"pw", "mine"}};
  EXPECT_EQ(Login(Ask()).steps[0].value, "mine");
  EXPECT_EQ(keeper_.reads, 0);
}

}  // namespace
}  // namespace vedette::worker
