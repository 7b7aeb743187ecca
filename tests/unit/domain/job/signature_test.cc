#include "domain/job/webhook.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace vedette::domain {
namespace {

const std::string kSecret = "sk_whsec_" + std::string(64, 'a');
constexpr std::int64_t kTime = 1700000000;
const std::string kBody = R"({"type":"monitor.field.changed"})";
// printf '%s' '1700000000.{"type":"monitor.field.changed"}' | openssl dgst -sha256 -hmac "$secret"
const std::string kHex = "88d9fd2184314552cc0ef36133d683aac1db88eff15c93ea23030f13b082a60c";
const std::string kHeader = "t=1700000000,v1=" + kHex;

SignatureCheck Verify(const std::string& header, std::int64_t now = kTime) {
  return VerifySignature(kSecret, header, kBody, now);
}

TEST(Signature, MatchesThePinnedVector) {
  EXPECT_EQ(SignatureHeader({kSecret}, kTime, kBody), kHeader);
  EXPECT_EQ(Verify(kHeader), SignatureCheck::kValid);
}

TEST(Signature, HasOneSegmentASecretInTheOrderGiven) {
  const std::string header = SignatureHeader({"new", kSecret}, kTime, kBody);
  EXPECT_EQ(header, SignatureHeader({"new"}, kTime, kBody) + ",v1=" + kHex);
  EXPECT_EQ(Verify(header), SignatureCheck::kValid);
  EXPECT_EQ(VerifySignature("new", header, kBody, kTime), SignatureCheck::kValid);
  EXPECT_EQ(VerifySignature("old", header, kBody, kTime), SignatureCheck::kMismatch);
}

TEST(Signature, CoversTimeAndEveryByteOfTheBody) {
  EXPECT_EQ(Verify("t=1700000001,v1=" + kHex), SignatureCheck::kMismatch);
  EXPECT_EQ(VerifySignature(kSecret, kHeader, kBody + "\n", kTime), SignatureCheck::kMismatch);
  EXPECT_EQ(VerifySignature(kSecret.substr(0, kSecret.size() - 1), kHeader, kBody, kTime),
            SignatureCheck::kMismatch);
  EXPECT_EQ(Verify("t=1700000000,v1=" + kHex.substr(0, 63)), SignatureCheck::kMismatch);
  EXPECT_EQ(Verify("t=1700000000,v1="), SignatureCheck::kMismatch);
}

TEST(Signature, HoldsFor300SecondsEitherWay) {
  EXPECT_EQ(Verify(kHeader, kTime + 300), SignatureCheck::kValid);
  EXPECT_EQ(Verify(kHeader, kTime - 300), SignatureCheck::kValid);
  EXPECT_EQ(Verify(kHeader, kTime + 301), SignatureCheck::kStale);
  EXPECT_EQ(Verify(kHeader, kTime - 301), SignatureCheck::kStale);
}

TEST(Signature, IsReadLeniently) {
  EXPECT_EQ(Verify("t=1700000000, v1=" + kHex), SignatureCheck::kValid);
  EXPECT_EQ(Verify(" v1=" + kHex + " ,\tt=1700000000 "), SignatureCheck::kValid);
  EXPECT_EQ(Verify("t=1700000000,v0=beef,v2=x,nonsense,v1=" + kHex + ","), SignatureCheck::kValid);
  EXPECT_EQ(Verify("t=1700000000,v1=00,v1=" + kHex), SignatureCheck::kValid);
}

TEST(Signature, RefusesWhatIsNoHeader) {
  for (const std::string& header :
       {std::string(), std::string("t=1700000000"), "v1=" + kHex, "t=,v1=" + kHex,
        "t=17x,v1=" + kHex, "t=-1700000000,v1=" + kHex, "t=1700000000,t=1700000000,v1=" + kHex,
        "t=99999999999999999999,v1=" + kHex, std::string(",,,")}) {
    EXPECT_EQ(Verify(header), SignatureCheck::kMalformed) << header;
  }
}

TEST(Signature, ExtremeClocksAreStaleNotUndefined) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  const std::string far = SignatureHeader({kSecret}, kLast, kBody);
  EXPECT_EQ(Verify(far, 0), SignatureCheck::kStale);
  EXPECT_EQ(Verify(far, std::numeric_limits<std::int64_t>::min()), SignatureCheck::kStale);
  EXPECT_EQ(Verify(kHeader, std::numeric_limits<std::int64_t>::min()), SignatureCheck::kStale);
}

TEST(Signature, EveryResultHasASentence) {
  for (const auto check : {SignatureCheck::kValid, SignatureCheck::kMalformed,
                           SignatureCheck::kStale, SignatureCheck::kMismatch}) {
    EXPECT_TRUE(SignatureCheckMessage(check).ends_with('.'));
  }
}

// printf '%s' 'msg_1.1700000000.BODY' | openssl dgst -sha256 -hmac "$secret" -binary | base64
TEST(StandardWebhooks, MatchTheirPinnedVectorsNewestSecretFirst) {
  const std::vector<std::string> secrets{"new", "sk_whsec_" + std::string(64, 'a')};
  const std::vector<std::pair<std::string, std::string>> expected{
      {"webhook-id", "msg_1"},
      {"webhook-timestamp", "1700000000"},
      {"webhook-signature",
       "v1,tcuogq08epDTIGl8ySy9rsxkimK6JEvMN2a3o7vjiG8= "
       "v1,ZbX8KyZXPW4Cyvbno/rAOWDZ8gyZL20gvx82GMIjSho="}};
  EXPECT_EQ(
      StandardWebhooksHeaders(secrets, "msg_1", 1700000000, R"({"type":"monitor.field.changed"})"),
      expected);
}

}  // namespace
}  // namespace vedette::domain
