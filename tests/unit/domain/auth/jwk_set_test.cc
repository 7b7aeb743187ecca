#include "domain/auth/jwk_set.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/crypto.h"
#include "tests/support/jose.h"

namespace vedette::domain {
namespace {

using base::Json;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const char* const kEd25519 = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

Json Jwk(const char* kid) {
  return {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", kEd25519}, {"kid", kid}};
}

TEST(JwkSet, PassesOverKeysThatCannotBeUsedAndKeepsTheOthers) {
  Json with_alg = Jwk("c");
  with_alg["alg"] = "EdDSA";
  Json foreign_alg = Jwk("d");
  foreign_alg["alg"] = "RS256";
  Json number = Jwk("e");
  number["kid"] = 5;
  Json secret = Jwk("f");
  secret["d"] = "AAAA";
  const Json set{{"keys", {Jwk("a"), {{"kty", "oct"}}, 7, with_alg, foreign_alg, number, secret}}};
  const auto read = ReadJwks(set.dump(), 20);
  const auto& reports = std::get<std::vector<JwkReport>>(read);
  ASSERT_EQ(reports.size(), 7U);
  const auto reason = [&](std::size_t i) { return std::get<JwtFault>(reports[i].key).reason; };
  EXPECT_EQ(reason(2), "the key is no object");
  EXPECT_EQ(reason(4), "alg is none that fits the key");
  EXPECT_EQ(reports[4].kid, "d");
  EXPECT_EQ(reason(5), "kid is no text of 1 to 255 bytes");
  EXPECT_FALSE(reason(6).empty());
  const std::vector<SetKey> keys = UsableKeys(reports);
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_TRUE(KnowsKid(keys, "a"));
  EXPECT_TRUE(KnowsKid(keys, "c"));
  EXPECT_FALSE(KnowsKid(keys, "d"));
}

TEST(JwkSet, WhatIsNoSetIsAFault) {
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"keys":{}})"),
        std::string(R"({"keys":[],"keys":[]})"),
        R"({"keys":)" + std::string(9, '[') + std::string(9, ']') + "}",
        Json{{"keys", Json::array({1, 2, 3})}}.dump()}) {
    EXPECT_TRUE(std::holds_alternative<JwtFault>(ReadJwks(bad, 2))) << bad;
  }
}

TEST(JwkSet, OfTwoKeysOfOneIdNeitherCounts) {
  const base::SigningKey mine = test::NewKey("RSA-2048");
  const auto key = std::get<base::PublicKey>(base::PublicKey::FromPem(mine.PublicPem()));
  const auto other =
      std::get<base::PublicKey>(base::PublicKey::FromPem(test::NewKey("RSA-2048", 1).PublicPem()));
  const auto curve =
      std::get<base::PublicKey>(base::PublicKey::FromPem(test::NewKey("P-256").PublicPem()));
  const auto parsed =
      ParseJwt(test::Signed(mine, {{"alg", "RS256"}, {"kid", "k"}}, {{"sub", "s"}}));
  const Jwt& jwt = std::get<Jwt>(parsed);
  EXPECT_TRUE(VerifiedByOne({{"k", {}, key}}, jwt));
  EXPECT_TRUE(VerifiedByOne({{"k", {}, key}, {"k", {}, curve}}, jwt)) << "another algorithm's";
  EXPECT_FALSE(VerifiedByOne({{"k", {}, key}, {"k", {}, other}}, jwt));
  EXPECT_FALSE(VerifiedByOne({{"K", {}, key}}, jwt)) << "compared as bytes";
  EXPECT_FALSE(VerifiedByOne({{std::nullopt, {}, key}}, jwt));
  EXPECT_FALSE(VerifiedByOne({{"k", base::SignatureAlgorithm::kPs256, key}}, jwt));
}

constexpr FetchRules kRules{.fresh = minutes(10), .retry = seconds(30), .stale_max = minutes(1440)};

FetchDecision Decide(bool known, std::optional<seconds> fetched_ago,
                     std::optional<seconds> tried_ago) {
  const base::Timestamp now(std::chrono::hours(500'000));
  KeyCache cache;
  cache.has_keys = fetched_ago.has_value();
  if (fetched_ago) cache.fetched_at = now - *fetched_ago;
  if (tried_ago) cache.tried_at = now - *tried_ago;
  return WhenToFetch(cache, known, kRules, now);
}

TEST(WhenToFetch, FreshKeysServeAndAnUnknownKeyIsLookedForAtMostEveryThirtySeconds) {
  EXPECT_EQ(Decide(true, seconds(5), seconds(5)), FetchDecision::kUse);
  EXPECT_EQ(Decide(false, seconds(5), seconds(5)), FetchDecision::kRefuse);
  EXPECT_EQ(Decide(false, seconds(29), seconds(29)), FetchDecision::kRefuse);
  EXPECT_EQ(Decide(false, seconds(30), seconds(30)), FetchDecision::kFetch);
  EXPECT_EQ(Decide(true, seconds(601), seconds(601)), FetchDecision::kFetch);
  EXPECT_EQ(Decide(true, seconds(601), seconds(1)), FetchDecision::kUseStale);
}

TEST(WhenToFetch, WhoHasNothingToCheckByWaitsForAFetchThatIsUnderWay) {
  const base::Timestamp now(std::chrono::hours(500'000));
  KeyCache cache{true, now - seconds(60), now - seconds(1), true};
  EXPECT_EQ(WhenToFetch(cache, true, kRules, now), FetchDecision::kUse);
  EXPECT_EQ(WhenToFetch(cache, false, kRules, now), FetchDecision::kWait);
  cache.fetched_at = now - minutes(11);
  EXPECT_EQ(WhenToFetch(cache, true, kRules, now), FetchDecision::kUseStale);
  cache.has_keys = false;
  EXPECT_EQ(WhenToFetch(cache, false, kRules, now), FetchDecision::kWait);
  cache.under_way = false;
  EXPECT_EQ(WhenToFetch(cache, false, kRules, now), FetchDecision::kNoKeys);
}

TEST(WhenToFetch, OldKeysServeForADayWhereFetchesFailAndThenNoneDo) {
  EXPECT_EQ(Decide(true, seconds(86'400), seconds(1)), FetchDecision::kUseStale);
  EXPECT_EQ(Decide(true, seconds(86'401), seconds(1)), FetchDecision::kNoKeys);
  EXPECT_EQ(Decide(true, seconds(86'401), seconds(31)), FetchDecision::kFetch);
  EXPECT_EQ(Decide(false, std::nullopt, std::nullopt), FetchDecision::kFetch);
  EXPECT_EQ(Decide(false, std::nullopt, seconds(2)), FetchDecision::kNoKeys);
}

TEST(WhenToFetch, InAnyHistoryNoKeyServesTooLongAndNoFetchBeginsTooSoon) {
  std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): a fixed seed, so that a failure repeats
  base::Timestamp now(std::chrono::hours(500'000));
  KeyCache cache;
  int fetches = 0;
  for (int i = 0; i < 200'000; ++i) {
    // Times from milliseconds, within one fetch, to hours, in which keys age.
    const auto scale = std::array{milliseconds(20), milliseconds(5'000), milliseconds(400'000),
                                  milliseconds(20'000'000)}[random() % 4];
    now += milliseconds(random() % static_cast<unsigned>(scale.count()));
    if (cache.under_way && random() % 2 == 0) {
      cache.under_way = false;
      if (random() % 3 != 0) {
        cache.has_keys = true;
        cache.fetched_at = now;
      }
    }
    const bool known = random() % 2 == 0;
    const auto age = now - cache.fetched_at;
    switch (WhenToFetch(cache, known, kRules, now)) {
      case FetchDecision::kUse:
        ASSERT_TRUE(cache.has_keys && known && age < kRules.fresh) << i;
        break;
      case FetchDecision::kUseStale:
        ASSERT_TRUE(cache.has_keys && known && age <= kRules.stale_max) << i;
        break;
      case FetchDecision::kFetch:
        ASSERT_TRUE(!cache.tried_at || now - *cache.tried_at >= kRules.retry) << i;
        cache.tried_at = now;
        cache.under_way = true;
        ++fetches;
        break;
      case FetchDecision::kWait:
        ASSERT_TRUE(cache.under_way) << i;
        break;
      case FetchDecision::kRefuse:
        ASSERT_TRUE(cache.has_keys && !known) << i;
        break;
      case FetchDecision::kNoKeys:
        ASSERT_TRUE(!cache.has_keys || age > kRules.stale_max) << i;
        break;
    }
  }
  EXPECT_GT(fetches, 1000);
}

TEST(WhenToFetch, TenThousandUnknownKeyIdsInAMinuteCauseAtMostTwoFetches) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): a fixed seed, so that a failure repeats
  for (int history = 0; history < 20; ++history) {
    base::Timestamp now(std::chrono::hours(500'000));
    KeyCache cache{true, now - seconds(30), now - seconds(30), false};
    int fetches = 0;
    for (int i = 0; i < 10'000; ++i) {
      now += std::chrono::microseconds(random() % 11'998);  // 60 s together at most 2 x 30 s
      if (now - base::Timestamp(std::chrono::hours(500'000)) >= seconds(59)) break;
      if (WhenToFetch(cache, false, kRules, now) != FetchDecision::kFetch) continue;
      ++fetches;
      cache.tried_at = now;
      if (random() % 2 == 0) cache.fetched_at = now;
    }
    EXPECT_LE(fetches, 2);
  }
}

}  // namespace
}  // namespace vedette::domain
