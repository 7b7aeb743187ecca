#include "api/kit/credentials.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/fake_exchange.h"
#include "tests/support/refusal.h"

namespace vedette::rest {
namespace {

using base::Json;
using domain::KeyScope;

const BodyRules kRules{.bytes_max = 100'000};
const base::Timestamp kNow = base::ParseTimestamp("2026-11-25T12:00:00Z");

struct Reader : BodyReader {
  explicit Reader(const Json& body)
      : BodyReader(vedette::test::Request(base::DumpJson(body)), kRules, Nulls::kWrong) {}
};

// The members that a 422 names; nothing where the order is good.
std::string Wrong(const Json& body) {
  Reader reader(body);
  ReadNewApiKey(&reader, kNow);
  const auto refusal = vedette::test::RefusalOf([&] { reader.Check(); });
  if (!refusal) return "nothing";
  std::string all;
  const Json said = base::ParseJsonOrThrow(refusal->body);
  for (const Json& item : said["detail"]) {
    all += (all.empty() ? "" : ", ") + item["loc"][1].get<std::string>();
  }
  return all;
}

TEST(ApiKeysTest, AKeyWithoutScopesHasAllOfThem) {
  Reader reader(Json{{"name", "k"}, {"scopes", nullptr}, {"team_id", nullptr}});
  EXPECT_TRUE(ReadNewApiKey(&reader, kNow).scopes.all());
}

TEST(ApiKeysTest, ScopesAndTheEndAreWhatTheBodyNames) {
  Reader reader(
      Json{{"name", "k"}, {"scopes", {"read", "search"}}, {"expires_at", "2026-11-25T12:00:01Z"}});
  const store::NewApiKey order = ReadNewApiKey(&reader, kNow);
  EXPECT_EQ(order.scopes, (domain::KeyScopes{KeyScope::kRead, KeyScope::kSearch}));
  EXPECT_EQ(order.expires_at, kNow + std::chrono::seconds(1));
}

TEST(ApiKeysTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(Wrong(Json::object()), "name");
  EXPECT_EQ(Wrong(Json{{"name", " "}}), "name");
  EXPECT_EQ(Wrong(Json{{"name", "k"}, {"scopes", Json::array()}}), "scopes");
  EXPECT_EQ(Wrong(Json{{"name", "k"}, {"scopes", {"read", "admin"}}}), "scopes");
  EXPECT_EQ(Wrong(Json{{"name", "k"}, {"expires_at", "2026-11-25T12:00:00Z"}}), "expires_at");
  EXPECT_EQ(Wrong(Json{{"name", "k"}, {"team_id", "none"}}), "team_id");
  EXPECT_EQ(Wrong(Json{{"name", "k"}}), "nothing");
}

TEST(ApiKeysTest, TheKeyItselfIsInTheAnswerToItsMakingAlone) {
  store::ApiKeyOutcome outcome;
  outcome.key = "vd_live_secret";
  const Reply made = NewApiKeyReply(outcome);
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(base::ParseJsonOrThrow(made.body)["key"], "vd_live_secret");
  EXPECT_FALSE(ApiKeyJson(outcome.made).contains("key"));
  outcome.kind = store::ApiKeyOutcome::Kind::kTooMany;
  EXPECT_EQ(NewApiKeyReply(outcome).status, 409);
}

}  // namespace
}  // namespace vedette::rest
