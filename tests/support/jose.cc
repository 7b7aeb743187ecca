#include "tests/support/jose.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "base/crypto.h"
#include "base/uuid.h"

namespace vedette::test {
namespace {

using base::Base64UrlEncode;
using base::Json;

EVP_PKEY* Generate(const std::string& type) {
  if (type == "RSA-2048") return EVP_RSA_gen(2048);
  if (type == "RSA-1024") return EVP_RSA_gen(1024);
  if (type == "P-256" || type == "P-384") return EVP_EC_gen(type.c_str());
  return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
}

class Maker {
 public:
  explicit Maker(const HostileSetting& setting) : setting_(setting) {}

  static Json Header() { return {{"alg", "RS256"}, {"kid", "k1"}, {"typ", "JWT"}}; }

  static Json With(Json object, const char* name, Json value) {
    object[name] = std::move(value);
    return object;
  }
  static Json Without(Json object, const char* name) {
    object.erase(name);
    return object;
  }

  void Add(std::string name, std::string token) {
    tokens_.push_back({std::move(name), std::move(token)});
  }
  // Signed as it should be, whatever the header says.
  std::string Sign(const std::string& header, const std::string& claims) const {
    return Compact(header, claims, [this](const std::string& input) {
      return key_.Sign(base::SignatureAlgorithm::kRs256, input);
    });
  }
  std::string SignHeader(const Json& header) const {
    return Sign(header.dump(), GoodClaims(setting_).dump());
  }
  std::string SignClaims(const Json& claims) const { return Sign(Header().dump(), claims.dump()); }
  std::string Unlike(const Json& header,
                     const std::function<std::string(const std::string&)>& sign) const {
    return Compact(header.dump(), GoodClaims(setting_).dump(), sign);
  }

  void Algorithms() {
    for (const char* none : {"none", "None", "NONE"}) {
      Add(std::string("algorithm ") + none,
          Unlike(With(Header(), "alg", none), [](const std::string&) { return std::string(); }));
    }
    const std::string pem = key_.PublicPem();
    const std::string der = std::get<base::PublicKey>(base::PublicKey::FromPem(pem)).Der();
    for (const auto& [name, secret] : {std::pair("PEM", pem), std::pair("DER", der)}) {
      Add(std::string("HS256 keyed with the public key's ") + name,
          Unlike(With(Header(), "alg", "HS256"), [secret = secret](const std::string& input) {
            return base::HmacSha256(secret, input);
          }));
    }
    Add("RS512", SignHeader(With(Header(), "alg", "RS512")));
    Add("ES384", SignHeader(With(Header(), "alg", "ES384")));
    Add("PS256 said of an RS256 signature", SignHeader(With(Header(), "alg", "PS256")));
  }

  void Headers() {
    Add("crit", SignHeader(With(Header(), "crit", Json::array({"exp"}))));
    Add("b64", SignHeader(With(Header(), "b64", false)));
    const auto theirs = [this](const std::string& input) {
      return attacker_.Sign(base::SignatureAlgorithm::kRs256, input);
    };
    Add("jwk with the attacker's key",
        Unlike(With(Header(), "jwk", {{"kty", "RSA"}, {"n", "AQAB"}, {"e", "AQAB"}}), theirs));
    Add("jku", Unlike(With(Header(), "jku", "https://attacker.example/jwks"), theirs));
    Add("x5u", Unlike(With(Header(), "x5u", "https://attacker.example/pem"), theirs));
    Add("x5c", Unlike(With(Header(), "x5c", Json::array({"MIIB"})), theirs));
    Add("no algorithm", SignHeader(Without(Header(), "alg")));
    Add("an algorithm that is a number", SignHeader(With(Header(), "alg", 256)));
    Add("typ at+jwt", SignHeader(With(Header(), "typ", "at+jwt")));
  }

  void Kids() {
    Add("kid a path", SignHeader(With(Header(), "kid", "../../../../dev/null")));
    Add("kid SQL", SignHeader(With(Header(), "kid", "k1' or '1'='1")));
    Add("kid a URL", SignHeader(With(Header(), "kid", "https://attacker.example/k1")));
    Add("kid of 300 characters", SignHeader(With(Header(), "kid", std::string(300, 'k'))));
    Add("kid a number", SignHeader(With(Header(), "kid", 1)));
    Add("kid empty", SignHeader(With(Header(), "kid", "")));
    Add("kid of another client", SignHeader(With(Header(), "kid", "other-k1")));
  }

  void Encodings() {
    const std::string good = GoodAssertion(setting_);
    const std::size_t first = good.find('.');
    const std::size_t second = good.rfind('.');
    const std::string header = good.substr(0, first);
    const std::string claims = good.substr(first + 1, second - first - 1);
    const std::string signature = good.substr(second + 1);
    Add("padding", header + "." + claims + "." + signature + "==");
    std::string stray = signature;  // 256 bytes: the last character has bits to spare
    stray.back() = stray.back() == 'A' ? 'B' : static_cast<char>(stray.back() + 1);
    Add("stray bits", header + "." + claims + "." + stray);
    Add("a plus sign", header + "." + claims + ".+" + signature.substr(1));
    Add("white space", header + ". " + claims + "." + signature);
    Add("a NUL", header + "." + claims + "." + signature + std::string(1, '\0'));
    Add("two parts", header + "." + claims);
    Add("four parts", good + "." + signature);
    Add("an empty payload", Sign(Header().dump(), ""));
    Add("the JSON serialisation",
        Json{{"protected", header}, {"payload", claims}, {"signature", signature}}.dump());
    Add("9 KiB", SignClaims(With(GoodClaims(setting_), "pad", std::string(9000, 'x'))));
  }

  void Documents() {
    const std::string claims = GoodClaims(setting_).dump();
    const std::string header = Header().dump();
    Add("an array as header", Sign("[\"RS256\"]", claims));
    Add("text as claims", Sign(header, "\"claims\""));
    Add("five levels", SignClaims(With(GoodClaims(setting_), "deep",
                                       Json::parse(R"({"a":{"b":{"c":{"d":1}}}})"))));
    Add("a member twice in the header", Sign(R"({"alg":"none",)" + header.substr(1), claims));
    Add("a member twice in the claims",
        Sign(header, R"({"sub":")" + setting_.other + R"(",)" + claims.substr(1)));
    Add("bad UTF-8", Sign(header, "{\"x\":\"\xff\"," + claims.substr(1)));
  }

  void Signatures() {
    const Json es = With(Header(), "alg", "ES256");
    const auto given = [](std::string signature) {
      return [signature = std::move(signature)](const std::string&) { return signature; };
    };
    Add("no signature", Unlike(Header(), given("")));
    const auto changed = [this](const std::function<void(std::string*)>& change) {
      return Unlike(Header(), [this, change](const std::string& input) {
        std::string signature = key_.Sign(base::SignatureAlgorithm::kRs256, input);
        change(&signature);
        return signature;
      });
    };
    Add("a signature that is cut", changed([](std::string* s) { s->pop_back(); }));
    Add("a bit flipped",
        changed([](std::string* s) { (*s)[100] = static_cast<char>((*s)[100] ^ 1); }));
    Add("63 bytes", Unlike(es, given(std::string(63, 'x'))));
    Add("65 bytes", Unlike(es, given(std::string(65, 'x'))));
    Add("DER", Unlike(es, given("\x30\x06\x02\x01\x01\x02\x01\x01")));
    Add("r = 0", Unlike(es, given(std::string(32, '\0') + std::string(32, 'x'))));
    Add("another client's key", Unlike(Header(), [this](const std::string& input) {
          return attacker_.Sign(base::SignatureAlgorithm::kRs256, input);
        }));
  }

  void Claims() {
    const Json good = GoodClaims(setting_);
    Add("iss of another", SignClaims(With(good, "iss", setting_.other)));
    Add("sub of another", SignClaims(With(good, "sub", setting_.other)));
    Add("no iss", SignClaims(Without(good, "iss")));
    Add("no sub", SignClaims(Without(good, "sub")));
    Add("another audience", SignClaims(With(good, "aud", "https://other.example")));
    Add("two audiences",
        SignClaims(With(good, "aud", Json::array({setting_.issuer, "https://other.example"}))));
    Add("no audience", SignClaims(Without(good, "aud")));
    Add("a prefix of the audience",
        SignClaims(With(good, "aud", setting_.issuer.substr(0, setting_.issuer.size() - 1))));
    Add("expired", SignClaims(With(good, "exp", setting_.now - 61)));
    Add("expires too late", SignClaims(With(good, "exp", setting_.now + 172'800)));
    Add("exp as text", SignClaims(With(good, "exp", std::to_string(setting_.now + 60))));
    std::string huge = good.dump();
    const std::string exp = "\"exp\":" + std::to_string(setting_.now + 300);
    huge.replace(huge.find(exp), exp.size(), "\"exp\":1e400");
    Add("exp 1e400", Sign(Header().dump(), huge));
    Add("no exp", SignClaims(Without(good, "exp")));
    Add("nbf ahead", SignClaims(With(good, "nbf", setting_.now + 120)));
    Add("iat ahead", SignClaims(With(good, "iat", setting_.now + 120)));
    Add("no jti", SignClaims(Without(good, "jti")));
  }

  std::vector<HostileToken> Take() { return std::move(tokens_); }

 private:
  const HostileSetting setting_;
  const base::SigningKey key_ = NewKey("RSA-2048");
  const base::SigningKey attacker_ = NewKey("RSA-2048", 1);
  std::vector<HostileToken> tokens_;
};

}  // namespace

std::string PrivatePem(const std::string& type, int which) {
  static std::map<std::pair<std::string, int>, std::string> made;
  std::string& pem = made[{type, which}];
  if (!pem.empty()) return pem;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(Generate(type), EVP_PKEY_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  if (!key ||
      PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    throw std::runtime_error("no key of " + type);
  }
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return pem = std::string(text, static_cast<std::size_t>(size));
}

base::SigningKey NewKey(const std::string& type, int which) {
  return base::SigningKey::FromPem(PrivatePem(type, which));
}

std::string Compact(std::string_view header, std::string_view claims,
                    const std::function<std::string(const std::string&)>& sign) {
  const std::string input = Base64UrlEncode(header) + "." + Base64UrlEncode(claims);
  return input + "." + Base64UrlEncode(sign(input));
}

std::string Signed(const base::SigningKey& key, const Json& header, const Json& claims) {
  const auto algorithm = base::ParseSignatureAlgorithm(header.at("alg").get<std::string>()).value();
  return Compact(header.dump(), claims.dump(),
                 [&](const std::string& input) { return key.Sign(algorithm, input); });
}

Json GoodClaims(const HostileSetting& setting) {
  return {{"iss", setting.client}, {"sub", setting.client},
          {"aud", setting.issuer}, {"exp", setting.now + 300},
          {"iat", setting.now},    {"jti", base::Uuid::V4().ToString()}};
}

std::string GoodAssertion(const HostileSetting& setting) {
  return Signed(NewKey("RSA-2048"), Maker::Header(), GoodClaims(setting));
}

std::vector<HostileToken> HostileAssertions(const HostileSetting& setting) {
  Maker maker(setting);
  maker.Algorithms();
  maker.Headers();
  maker.Kids();
  maker.Encodings();
  maker.Documents();
  maker.Signatures();
  maker.Claims();
  return maker.Take();
}

}  // namespace vedette::test
