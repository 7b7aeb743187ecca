// What a browser says of a passkey: what is taken, and each thing that is refused.
#include "domain/auth/passkey.h"

#include <gtest/gtest.h>

#include <random>

#include "base/crypto.h"
#include "base/json.h"
#include "tests/support/jose.h"
#include "tests/support/passkeys.h"

namespace vedette::domain {
namespace {

using test::Authenticator;

const PasskeyRules kRules{"https://app.example:8443", "app.example"};

class Passkeys : public testing::Test {
 public:
  std::string Fault(const Authenticator& made) const {
    const auto read =
        ReadNewPasskey(made.ClientData(true, kChallenge), made.Attestation(), kChallenge, kRules);
    const auto* fault = std::get_if<PasskeyFault>(&read);
    return fault == nullptr ? "" : fault->reason;
  }
  KnownPasskey Known(const Authenticator& made) const {
    const auto read =
        ReadNewPasskey(made.ClientData(true, kChallenge), made.Attestation(), kChallenge, kRules);
    const auto& taken = std::get<NewPasskey>(read);
    return {taken.key, taken.algorithm, taken.sign_count};
  }
  std::string Fault(const PasskeyAnswer& answer, const KnownPasskey& known) const {
    const auto verified = VerifyPasskey(answer, kChallenge, known, kRules);
    const auto* fault = std::get_if<PasskeyFault>(&verified);
    return fault == nullptr ? "" : fault->reason;
  }

  const std::string kChallenge = base::Base64UrlEncode(std::string(32, 'c'));
  Authenticator ours{"https://app.example:8443", "app.example"};
};

TEST_F(Passkeys, OneThatWasMadeVerifiesWhatItSigns) {
  const KnownPasskey known = Known(ours);
  EXPECT_EQ(known.algorithm, base::SignatureAlgorithm::kEs256);
  // The form of a signature depends on its numbers: many have a leading zero byte, some a short
  // one.
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Fault(ours.Sign(kChallenge), known), "");
}

TEST_F(Passkeys, RsaAndEd25519AreTakenToo) {
  for (const char* type : {"RSA-2048", "Ed25519"}) {
    const Authenticator other("https://app.example:8443", "app.example", test::NewKey(type));
    EXPECT_EQ(Fault(other), "") << type;
    EXPECT_EQ(Fault(other.Sign(kChallenge), Known(other)), "") << type;
    EXPECT_EQ(Fault(other.Sign(kChallenge), Known(ours)), "the signature is not the passkey's");
  }
}

TEST_F(Passkeys, EachThingThatIsNotAsItShouldBeIsRefused) {
  const auto changed = [this](auto change) {
    Authenticator made = ours;
    change(made);
    return made;
  };
  const std::pair<const char*, Authenticator> cases[] = {
      {"the origin is another", changed([](auto& a) { a.origin = "https://app.example"; })},
      {"the origin is another", changed([](auto& a) { a.origin = "https://evil.example"; })},
      {"it is for another site", changed([](auto& a) { a.rp_id = "evil.example"; })},
      {"the user was not present", changed([](auto& a) { a.flags &= ~0x01U; })},
      {"the user was not verified", changed([](auto& a) { a.flags &= ~0x04U; })},
      {"it is backed up, and cannot be", changed([](auto& a) { a.flags |= 0x10U; })},
      {"it was made in a frame of another site", changed([](auto& a) {
         a.more = {{"crossOrigin", true}};
       })},
      {"it was made in a frame of another site", changed([](auto& a) {
         a.more = {{"topOrigin", "https://evil.example"}};
       })},
      {"it is of another type", changed([](auto& a) { a.type = "payment.get"; })},
      {"it is for another challenge", changed([](auto& a) { a.challenge = "bm90IHRoZSBzYW1l"; })},
      {"the authenticator data does not end where it should",
       changed([](auto& a) { a.behind = "x"; })},
      {"the authenticator data does not end where it should",
       changed([](auto& a) { a.flags |= 0x80U; })},
  };
  for (const auto& [reason, made] : cases) {
    EXPECT_EQ(Fault(made), reason);
    EXPECT_EQ(Fault(made.Sign(kChallenge), Known(ours)), reason);
  }
}

TEST_F(Passkeys, ExtensionsArePassedOver) {
  ours.flags |= 0x80U;
  ours.behind =
      "\xa1\x6b"
      "credProtect\x02";
  EXPECT_EQ(Fault(ours), "");
  EXPECT_EQ(Fault(ours.Sign(kChallenge), Known(ours)), "");
}

TEST_F(Passkeys, ACountThatDoesNotGrowIsRefusedAndOneThatIsNoneIsTaken) {
  KnownPasskey known = Known(ours);
  ours.sign_count = 7;
  EXPECT_EQ(
      std::get<std::uint32_t>(VerifyPasskey(ours.Sign(kChallenge), kChallenge, known, kRules)), 7U);
  for (const std::uint32_t before : {7U, 8U}) {
    known.sign_count = before;
    EXPECT_NE(Fault(ours.Sign(kChallenge), known), "");
  }
  ours.sign_count = 0;
  EXPECT_NE(Fault(ours.Sign(kChallenge), known), "") << "it counted once";
  known.sign_count = 0;
  EXPECT_EQ(Fault(ours.Sign(kChallenge), known), "");
}

TEST_F(Passkeys, WhatWasSignedIsWhatCounts) {
  const KnownPasskey known = Known(ours);
  PasskeyAnswer answer = ours.Sign(kChallenge);
  answer.client_data.insert(1, " ");
  EXPECT_EQ(Fault(answer, known), "the signature is not the passkey's");
  answer = ours.Sign(kChallenge);
  answer.authenticator_data[36] ^= 1;  // the count
  EXPECT_EQ(Fault(answer, known), "the signature is not the passkey's");
  answer = ours.Sign(kChallenge);
  answer.signature += '\0';
  EXPECT_EQ(Fault(answer, known), "the signature is not the passkey's");
  answer.signature.clear();
  EXPECT_EQ(Fault(answer, known), "the signature is not the passkey's");
}

// Whatever stands in place of a byte, and wherever it ends: nothing is read beyond the end, and
// nothing else is taken for the same key.
TEST_F(Passkeys, HostileBytesAreRefused) {
  const std::string good = ours.Attestation();
  const std::string client_data = ours.ClientData(true, kChallenge);
  const auto taken = [&](const std::string& bytes) {
    return std::holds_alternative<NewPasskey>(
        ReadNewPasskey(client_data, bytes, kChallenge, kRules));
  };
  ASSERT_TRUE(taken(good));
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(taken(good.substr(0, n))) << n;
  EXPECT_FALSE(taken(good + '\0'));
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (unsigned n = 1 + random() % 3; n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    taken(bytes);
  }
  for (const std::string& bytes :
       {std::string(4000, '\xa1'),                            // deep
        std::string("\xbb\xff\xff\xff\xff\xff\xff\xff\xff"),  // 2^64 - 1 pairs
        std::string("\x5b\xff\xff\xff\xff\xff\xff\xff\xff"),  // as many bytes
        std::string("\xbf\xff"),                              // without a length
        std::string("\xa1\x78\x08"
                    "authData\x40"),  // a length that is too long written
        std::string("\xa1\xc0\x40"),  // a tag
        std::string(9000, 'x'), std::string()}) {
    EXPECT_FALSE(taken(bytes));
  }
  EXPECT_FALSE(ClaimedChallenge(std::string(5000, '[')));
  EXPECT_FALSE(ClaimedChallenge(R"({"challenge":7})"));
}

TEST_F(Passkeys, AnAttestationOfAMakerIsPassedOver) {
  ours.statement =
      "\xa2\x63"
      "alg\x26\x63"
      "sig\x44"
      "abcd";
  EXPECT_EQ(Fault(ours), "");
}

TEST_F(Passkeys, TheOriginIsThatOfThePublicUrl) {
  const auto rules = PasskeyRulesOf("https://App.Example:8443/api");
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->origin, "https://app.example:8443");
  EXPECT_EQ(rules->rp_id, "app.example");
  EXPECT_EQ(PasskeyRulesOf("https://app.example:443")->origin, "https://app.example");
  EXPECT_EQ(PasskeyRulesOf("http://localhost:80")->origin, "http://localhost");
  for (const char* none : {"", "app.example", "http://127.0.0.1:8080", "http://[::1]:8080"}) {
    EXPECT_FALSE(PasskeyRulesOf(none)) << none;
  }
}

}  // namespace
}  // namespace vedette::domain
