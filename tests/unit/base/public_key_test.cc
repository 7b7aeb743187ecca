#include "base/key_pair.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/crypto.h"
#include "tests/support/jose.h"

namespace vedette::base {
namespace {

using test::NewKey;

PublicKey KeyOf(const std::string& jwk) {
  auto key = PublicKey::FromJwk(ParseJsonOrThrow(jwk));
  if (const auto* fault = std::get_if<KeyFault>(&key)) ADD_FAILURE() << fault->message;
  return std::get<PublicKey>(key);
}

std::string FaultOf(const std::variant<PublicKey, KeyFault>& key) {
  const auto* fault = std::get_if<KeyFault>(&key);
  return fault == nullptr ? "" : fault->message;
}

struct Jws {
  std::string input;
  std::string signature;
};
Jws Split(const std::string& compact) {
  const auto dot = compact.rfind('.');
  return {compact.substr(0, dot), Base64UrlDecode(compact.substr(dot + 1)).value()};
}

const std::string kClaimsOfRfc7515 =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlf"
    "Q";

TEST(Base64Url, HasOneSpellingForWhatItStandsFor) {
  for (const std::string& data : {std::string(), std::string("\xff"), std::string("\xff\xfe"),
                                  std::string("abc"), std::string(1, '\0')}) {
    EXPECT_EQ(Base64UrlDecode(Base64UrlEncode(data)), data);
  }
  EXPECT_EQ(Base64UrlEncode("\xff\xff\xfe"), "___-");
  for (const char* bad :
       {"A", "AA=", "AA==", "A A", "AB", "AAB", "+AAA", "/AAA", "AAA\n", "\xff"}) {
    EXPECT_FALSE(Base64UrlDecode(bad)) << bad;
  }
}

// RFC 7515, appendix A.2.
TEST(PublicKey, VerifiesTheRs256OfRfc7515AndNothingThatDiffersInABit) {
  const PublicKey key = KeyOf(
      R"({"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"})");
  const Jws jws = Split("eyJhbGciOiJSUzI1NiJ9." + kClaimsOfRfc7515 +
                        ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__"
                        "dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5"
                        "jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_"
                        "nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1"
                        "L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-"
                        "eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYE"
                        "UipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw");
  EXPECT_TRUE(key.Verify(SignatureAlgorithm::kRs256, jws.input, jws.signature));
  EXPECT_FALSE(key.Verify(SignatureAlgorithm::kPs256, jws.input, jws.signature));
  EXPECT_FALSE(key.Verify(SignatureAlgorithm::kRs256, jws.input + " ", jws.signature));
  for (const std::size_t byte : {0U, 100U, 255U}) {
    std::string other = jws.signature;
    other[byte] = static_cast<char>(other[byte] ^ 1);
    EXPECT_FALSE(key.Verify(SignatureAlgorithm::kRs256, jws.input, other));
  }
  EXPECT_FALSE(key.Verify(SignatureAlgorithm::kRs256, jws.input, jws.signature + "x"));
  EXPECT_FALSE(key.Verify(SignatureAlgorithm::kRs256, jws.input, ""));
}

// RFC 7515, appendix A.3.
TEST(PublicKey, VerifiesTheEs256OfRfc7515AndTakesExactly64Bytes) {
  const PublicKey key = KeyOf(
      R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})");
  const Jws jws =
      Split("eyJhbGciOiJFUzI1NiJ9." + kClaimsOfRfc7515 +
            ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP"
            "3-Kg6NU1Q");
  const auto good = [&](const std::string& signature) {
    return key.Verify(SignatureAlgorithm::kEs256, jws.input, signature);
  };
  EXPECT_TRUE(good(jws.signature));
  EXPECT_FALSE(good(jws.signature.substr(0, 63)));
  EXPECT_FALSE(good(jws.signature + std::string(1, '\0')));
  EXPECT_FALSE(good(std::string(32, '\0') + jws.signature.substr(32)));
  EXPECT_FALSE(good(jws.signature.substr(0, 32) + std::string(32, '\0')));
  EXPECT_FALSE(good(std::string(64, '\xff')));
}

// RFC 8037, appendices A.3 and A.4.
TEST(PublicKey, TakesACoordinateWithoutItsLeadingZeroOctets) {
  const std::string rest = R"(","y":"u0yFo9jqKe-q-iRAaRLdhNWxTcMr9lbvbGvVil2UP5I"})";
  const std::string signature =
      Base64UrlDecode(
          "ezzXLdTmI4idv6-RmJWiR3VgyqVhiK9IZmu2z0lbXhPGhmxfC3amxUjuLsfHl3sXReOWaVjR-bkjrOiOBH9cFQ")
          .value();
  const std::string start = R"({"kty":"EC","crv":"P-256","x":")";
  const PublicKey full = KeyOf(start + "AFVDiUrz0A7X10Cr29dclrBod7eH219w7qeLkKjXwAo" + rest);
  const PublicKey cut = KeyOf(start + "VUOJSvPQDtfXQKvb11yWsGh3t4fbX3Dup4uQqNfACg" + rest);
  EXPECT_TRUE(cut.Verify(SignatureAlgorithm::kEs256, "message", signature));
  EXPECT_EQ(cut.Thumbprint(), full.Thumbprint());
  EXPECT_NE(FaultOf(PublicKey::FromJwk(
                ParseJsonOrThrow(start + "AABVQ4lK89AO19dAq9vXXJawaHe3h9tfcO6ni5Co18AK" + rest))),
            "");
}

TEST(PublicKey, VerifiesTheEdDsaOfRfc8037AndNamesItsThumbprint) {
  const PublicKey key =
      KeyOf(R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})");
  const Jws jws = Split(
      "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
      "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
  EXPECT_TRUE(key.Verify(SignatureAlgorithm::kEdDsa, jws.input, jws.signature));
  EXPECT_FALSE(key.Verify(SignatureAlgorithm::kEs256, jws.input, jws.signature));
  EXPECT_EQ(key.Thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

// RFC 7638, section 3.1.
TEST(PublicKey, NamesTheThumbprintOfRfc7638) {
  const PublicKey key = KeyOf(
      R"({"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"})");
  EXPECT_EQ(key.Thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
}

TEST(PublicKey, EachTypeHasItsAlgorithmsAndComesBackFromDer) {
  for (const auto& [type, names] :
       {std::pair<std::string, std::vector<std::string>>{"RSA-2048", {"RS256", "PS256"}},
        {"P-256", {"ES256"}},
        {"Ed25519", {"EdDSA", "Ed25519"}}}) {
    const SigningKey mine = NewKey(type);
    auto read = PublicKey::FromPem(mine.PublicPem());
    ASSERT_EQ(FaultOf(read), "") << type;
    const PublicKey key = std::get<PublicKey>(PublicKey::FromDer(std::get<PublicKey>(read).Der()));
    EXPECT_EQ(key.Thumbprint(), std::get<PublicKey>(read).Thumbprint());
    for (const auto algorithm : {SignatureAlgorithm::kRs256, SignatureAlgorithm::kPs256,
                                 SignatureAlgorithm::kEs256, SignatureAlgorithm::kEdDsa}) {
      const bool fits = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return ParseSignatureAlgorithm(name) == algorithm;
      });
      EXPECT_EQ(key.Fits(algorithm), fits) << type << SignatureAlgorithmName(algorithm);
      if (!fits) continue;
      EXPECT_TRUE(key.Verify(algorithm, "data", mine.Sign(algorithm, "data")));
      EXPECT_FALSE(key.Verify(algorithm, "data", mine.Sign(algorithm, "date")));
      EXPECT_FALSE(key.Verify(algorithm, "data", NewKey(type, 1).Sign(algorithm, "data")));
    }
  }
}

TEST(PublicKey, WeakPrivateAndForeignKeysAreNotTaken) {
  EXPECT_NE(FaultOf(PublicKey::FromPem(test::PrivatePem("RSA-2048"))).find("leaked"),
            std::string::npos);
  const std::string good = NewKey("RSA-2048").PublicPem();
  for (const std::string& bad :
       {std::string(), std::string("no key"), good + good, good.substr(0, good.size() / 2),
        std::string("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"),
        std::string(20000, 'x') + good}) {
    EXPECT_NE(FaultOf(PublicKey::FromPem(bad)), "") << bad;
  }
  EXPECT_THROW(NewKey("P-384"), std::runtime_error);
  EXPECT_THROW(NewKey("RSA-1024"), std::runtime_error);
  const std::string n(342, 'B');
  const std::string x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
  for (const std::string& jwk :
       {std::string("[]"), std::string("{}"), R"({"kty":"oct","k":"AAAA"})" + std::string(),
        R"({"kty":"RSA","n":")" + n.substr(0, 100) + R"(","e":"AQAB"})",  // short
        R"({"kty":"RSA","n":")" + n + R"(","e":"AAAC"})",                 // exponent 2
        R"({"kty":"RSA","n":")" + n + R"(","e":"AQ"})",                   // exponent 1
        R"({"kty":"RSA","n":")" + n + R"(","e":"AQAAAAAB"})",             // of 41 bits
        R"({"kty":"RSA","n":")" + n + R"(","e":"AQAB","d":"AQAB"})",      // private
        R"({"kty":"RSA","n":")" + n + R"(","e":"AQAB","use":"enc"})",
        R"({"kty":"EC","crv":"P-256","x":")" + x + R"(","y":")" + x + R"("})",  // off the curve
        R"({"kty":"EC","crv":"P-384","x":")" + x + R"(","y":")" + x + R"("})",
        R"({"kty":"OKP","crv":"X25519","x":")" + x + R"("})",
        R"({"kty":"OKP","crv":"Ed25519","x":"AAAA"})" + std::string()}) {
    EXPECT_NE(FaultOf(PublicKey::FromJwk(ParseJsonOrThrow(jwk))), "") << jwk;
  }
}

}  // namespace
}  // namespace vedette::base
