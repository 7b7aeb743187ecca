// What is stored of the keys is in tests/store/; here is what needs no database.
#include "api/kit/published_keys.h"

#include <gtest/gtest.h>

#include <future>

#include "base/json.h"
#include "tests/support/ids.h"
#include "tests/unit/api/kit/no_database.h"

namespace vedette::rest {
namespace {

using base::Json;
using vedette::test::Id;

const base::Timestamp kNow = base::ParseTimestamp("2026-11-21T09:30:00Z");

KeyReport Read(const std::string& set) {
  auto read = domain::ReadJwks(set, 10);
  return {KeyReport::Kind::kStored, std::get<std::vector<domain::JwkReport>>(std::move(read)), {}};
}

constexpr const char* kUsable =
    R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"a"})";

TEST(KeyReportReply, NamesEveryKeyOfTheSetAndWhyOneCannotBeUsed) {
  const Reply reply =
      KeyReportReply(Read(std::string(R"({"keys":[)") + kUsable +
                          R"(,{"kty":"OKP","crv":"Ed25519",)"
                          R"("x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"b",)"
                          R"("alg":"RS256"},7]})"),
                     kNow);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(
      reply.body,
      R"({"valid":true,"keys":[{"kid":"a","algorithm":"EdDSA","usable":true,"reason":null},)"
      R"({"kid":"b","algorithm":null,"usable":false,"reason":"alg is none that fits the key"},)"
      R"({"kid":null,"algorithm":null,"usable":false,"reason":"the key is no object"}],)"
      R"("error":null,"validated_at":"2026-11-21T09:30:00.000000Z"})");
}

TEST(KeyReportReply, ASetWithoutAKeyThatCanBeUsedIsNotValid) {
  for (const char* set : {R"({"keys":[]})", R"({"keys":[7]})"}) {
    const Json body = base::ParseJsonOrThrow(KeyReportReply(Read(set), kNow).body);
    EXPECT_EQ(body["valid"], false) << set;
    EXPECT_EQ(body["error"], "no key of the set can be used") << set;
  }
}

TEST(KeyReportReply, AFetchThatFailedSaysWhy) {
  const Reply reply =
      KeyReportReply({KeyReport::Kind::kFailed, {}, "connect: nobody listens"}, kNow);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"valid":false,"keys":[],"error":"connect: nobody listens",)"
                        R"("validated_at":"2026-11-21T09:30:00.000000Z"})");
}

TEST(KeyReportReply, AFetchThatWasNotMadeIsA503ThatAsksToComeAgain) {
  const Reply reply = KeyReportReply({KeyReport::Kind::kBusy, {}, "too many are under way"}, kNow);
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.body, R"({"error":"unavailable","message":"too many are under way"})");
  EXPECT_EQ(reply.headers, (std::vector<Header>{{"Retry-After", "5"}}));
}

TEST(NoKeysUrl, IsAConflictWithANameOfItsOwn) {
  EXPECT_EQ(NoKeysUrl().status, 409);
  EXPECT_EQ(base::ParseJsonOrThrow(NoKeysUrl().body)["error"], "client_has_no_jwks_uri");
}

// Keeps the fetch, for the test to end.
class HeldFetcher final : public KeyFetcher {
 public:
  void Fetch(const base::Uuid& org_id, std::string url,
             std::function<void(Outcome)> done) override {
    asked.emplace_back(org_id, std::move(url));
    end = std::move(done);
  }

  std::vector<std::pair<base::Uuid, std::string>> asked;
  std::function<void(Outcome)> end;
};

class FetchKeysTest : public test::NoDatabaseTest {
 protected:
  Parked Fetch() {
    return FetchKeys({pool, fetcher, 10}, AnswerTo(exchange), Id(2),
                     {Id(1), Id(2), "https://acme.example/keys"}, kNow,
                     [this](store::Session&, const KeyReport&) -> Handled {
                       ++then;
                       return Reply{200, "{}"};
                     });
  }

  HeldFetcher fetcher;
  std::shared_ptr<vedette::test::FakeExchange> exchange = Asked();
  int then = 0;
};

TEST_F(FetchKeysTest, TheFetchIsOfTheClientsUrlAndItsOrganisationsShare) {
  const Parked parked = Fetch();
  static_cast<void>(parked);
  const std::vector<std::pair<base::Uuid, std::string>> wanted = {
      {Id(2), "https://acme.example/keys"}};
  EXPECT_EQ(fetcher.asked, wanted);
  EXPECT_FALSE(exchange->answer) << "the fetch is under way";
}

TEST_F(FetchKeysTest, WhatCannotBeStoredIsAnsweredByTheDatabasesFailure) {
  using Kind = KeyFetcher::Outcome::Kind;
  const KeyFetcher::Outcome outcomes[] = {
      {Kind::kCame, std::string(R"({"keys":[)") + kUsable + "]}"},
      {Kind::kCame, "no set"},
      {Kind::kFailed, "connect: nobody listens"},
      {Kind::kBusy, "too many are under way"}};
  std::vector<std::shared_ptr<vedette::test::FakeExchange>> all;
  testing::internal::CaptureStderr();
  for (const auto& outcome : outcomes) {
    exchange = Asked();
    all.push_back(exchange);
    Fetch();
    fetcher.end(outcome);
    std::promise<void> idle;
    ASSERT_TRUE(pool.Post([&idle](store::Session&) { idle.set_value(); }));
    idle.get_future().wait();
  }
  FinishJobs();
  testing::internal::GetCapturedStderr();
  for (const auto& one : all) {
    ASSERT_TRUE(one->answer);
    EXPECT_EQ(one->answer->status, 503);
    EXPECT_NE(one->answer->body.find("the database cannot be reached"), std::string::npos);
  }
  EXPECT_EQ(then, 0) << "there is no report of what was not stored";
}

TEST_F(FetchKeysTest, AFullQueueIsAnsweredAtOnce) {
  Fetch();
  FinishJobs();
  fetcher.end({KeyFetcher::Outcome::Kind::kFailed, "connect: nobody listens"});
  ASSERT_TRUE(exchange->answer);
  EXPECT_EQ(exchange->answer->status, 503);
  EXPECT_NE(exchange->answer->body.find("too many requests are waiting"), std::string::npos);
  EXPECT_EQ(then, 0);
}

}  // namespace
}  // namespace vedette::rest
