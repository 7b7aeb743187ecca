#include "app/oidc_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "api/tenant/authenticate.h"
#include "base/crypto.h"
#include "config/parts.h"
#include "tests/support/hand_clock.h"
#include "tests/support/jose.h"

namespace vedette::app {
namespace {

using base::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using vedette::test::HandClock;

const std::string kIssuer = "https://idp.example";

// The Ed25519 key of RFC 8037, A.2: only its id matters where nothing is signed with it.
Json Jwk(const std::string& kid) {
  return {{"kty", "OKP"},
          {"crv", "Ed25519"},
          {"x", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
          {"kid", kid}};
}

// A provider whose answers a test sets; it counts what it is asked for. Loop thread.
struct Provider {
  std::string issuer = kIssuer;
  Json keys = Json::array();
  bool away = false;
  bool slow = false;  // answers wait in `held`
  std::vector<std::function<void()>> held;
  std::atomic<int> documents{0};
  std::atomic<int> sets{0};

  net::HttpResponse Answer(const std::string& url) {
    net::HttpResponse response;
    const bool document = url.ends_with("/.well-known/openid-configuration");
    ++(document ? documents : sets);
    if (away) {
      response.error_class = net::HttpErrorClass::kConnect;
      response.error = "nobody listens";
      return response;
    }
    response.status = 200;
    response.body = document ? Json{{"issuer", issuer}, {"jwks_uri", kIssuer + "/jwks"}}.dump()
                             : Json{{"keys", keys}}.dump();
    return response;
  }
};

class OidcKeysTest : public testing::Test {
 public:
  OidcKeysTest()
      : config(config::LoadConfig(std::nullopt, {{"VEDETTE_OIDC_ISSUER", kIssuer},
                                                 {"VEDETTE_OIDC_AUDIENCE", "us"},
                                                 {"VEDETTE_OIDC_ORG_CLAIM", "org"}})),
        keys(
            loop,
            [this](const std::string& url, const std::string&, auto done) {
              Get(url, std::move(done));
            },
            clock, metrics, config, log),
        thread([this] { loop.Run(); }) {}
  ~OidcKeysTest() override {
    loop.Stop();
    thread.join();
  }

  void Get(const std::string& url, std::function<void(net::HttpResponse)> done) {
    auto answer = [this, url, done = std::move(done)] { done(provider.Answer(url)); };
    if (provider.slow) {
      provider.held.push_back(std::move(answer));
    } else {
      loop.Post(std::move(answer));
    }
  }
  // Runs on the loop and waits for it.
  void On(const std::function<void()>& f) {
    std::promise<void> done;
    loop.Post([&] {
      f();
      done.set_value();
    });
    done.get_future().wait();
  }
  void Fetch() {
    std::promise<void> done;
    keys.Fetch([&] { done.set_value(); });
    done.get_future().wait();
  }
  bool Knows(const std::string& kid) {
    const auto view = keys.Now();
    return view.keys && domain::KnowsKid(*view.keys, kid);
  }
  // A token of the key, or one that nobody has signed.
  std::string Token(const std::string& kid, const base::SigningKey& key) const {
    const auto now = std::chrono::floor<seconds>(clock.Now()).time_since_epoch().count();
    return test::Signed(
        key, {{"alg", "ES256"}, {"kid", kid}},
        {{"iss", kIssuer}, {"aud", "us"}, {"sub", "ada"}, {"org", "acme"}, {"exp", now + 60}});
  }

  base::EventLoop loop;
  HandClock clock;
  metrics::Metrics metrics{"test"};
  base::Logger log{base::LogLevel::kOff, base::LogFormat::kText};
  const config::Config config;
  Provider provider;
  OidcKeys keys;
  std::thread thread;
};

TEST_F(OidcKeysTest, KeysComeByDiscoveryAndOnlyFromTheConfiguredIssuer) {
  On([&] { provider.keys = Json::array({Jwk("a")}); });
  Fetch();
  EXPECT_TRUE(Knows("a"));
  On([&] {
    provider.issuer = kIssuer + "/";
    provider.keys = Json::array({Jwk("b")});
  });
  clock.Pass(seconds(30));
  Fetch();
  EXPECT_FALSE(Knows("b")) << "discovery names another issuer";
  EXPECT_TRUE(Knows("a"));
  EXPECT_EQ(provider.sets, 1);
}

TEST_F(OidcKeysTest, AFetchBeginsAtMostEveryThirtySecondsAndTheOthersJoinIt) {
  On([&] { provider.slow = true; });
  std::atomic<int> ended{0};
  for (int i = 0; i < 100; ++i) keys.Fetch([&] { ++ended; });
  On([&] { EXPECT_EQ(provider.held.size(), 1U); });
  EXPECT_TRUE(keys.Now().cache.under_way);
  EXPECT_EQ(ended, 0);
  for (int step = 0; step < 2; ++step) {
    On([&] {
      for (const auto& answer : std::exchange(provider.held, {})) answer();
    });
  }
  EXPECT_EQ(ended, 100);
  EXPECT_FALSE(keys.Now().cache.under_way);
  On([&] { provider.slow = false; });
  Fetch();
  EXPECT_EQ(provider.documents, 1);
  clock.Pass(seconds(30));
  Fetch();
  EXPECT_EQ(provider.documents, 2);
}

TEST_F(OidcKeysTest, WhereFetchesFailTheOldKeysStay) {
  On([&] { provider.keys = Json::array({Jwk("a")}); });
  Fetch();
  On([&] { provider.away = true; });
  for (int i = 0; i < 10; ++i) {
    clock.Pass(std::chrono::hours(1));
    Fetch();
  }
  EXPECT_TRUE(Knows("a"));
  EXPECT_EQ(keys.Now().now - keys.Now().cache.fetched_at, std::chrono::hours(10));
  On([&] {
    provider.away = false;
    provider.keys = Json::array({Jwk("b")});
  });
  clock.Pass(seconds(30));
  Fetch();
  EXPECT_TRUE(Knows("b"));
  EXPECT_FALSE(Knows("a")) << "what is no longer published is no key any more";
}

TEST_F(OidcKeysTest, ASetWithoutAKeyThatCanBeUsedDoesNotTakeThePlaceOfGoodOnes) {
  On([&] { provider.keys = Json::array({Jwk("a")}); });
  Fetch();
  for (const Json& bad : {Json::array(), Json::array({7}), Json::array({{{"kty", "oct"}}})}) {
    On([&] { provider.keys = bad; });
    clock.Pass(std::chrono::hours(1));
    Fetch();
    EXPECT_TRUE(Knows("a")) << bad;
  }
  EXPECT_EQ(keys.Now().now - keys.Now().cache.fetched_at, std::chrono::hours(3)) << "they age";
  EXPECT_THAT(
      metrics.Expose(),
      testing::HasSubstr(R"(vedette_jwks_fetches_total{outcome="failed",owner="provider"} 3)"));
}

TEST_F(OidcKeysTest, TenThousandUnknownKeyIdsInAMinuteCauseAtMostTwoFetches) {
  On([&] { provider.keys = Json::array({Jwk("a")}); });
  Fetch();
  const int before = provider.sets;
  const std::string signed_once = Token("unknown", test::NewKey("P-256"));
  // Nothing looks at the signature of a key that nobody knows.
  const std::string claims = signed_once.substr(signed_once.find('.'));
  int refused = 0;
  for (int i = 0; i < 10'000; ++i) {
    clock.Pass(std::chrono::microseconds(5'999));  // just less than a minute in all
    const Json header{{"alg", "ES256"}, {"kid", "unknown-" + std::to_string(i)}};
    const std::string token = base::Base64UrlEncode(header.dump()) + claims;
    auto verdict = api::ValidateProviderToken(token, config, keys.Now(), clock.Now());
    if (const auto* wanted = std::get_if<api::KeysWanted>(&verdict)) {
      ASSERT_EQ(*wanted, api::KeysWanted::kFetch);
      Fetch();
      verdict = api::ValidateProviderToken(token, config, keys.Now(), clock.Now());
    }
    refused += std::holds_alternative<domain::JwtFault>(verdict) ? 1 : 0;
  }
  EXPECT_EQ(refused, 10'000);
  EXPECT_LE(provider.sets - before, 2);
  EXPECT_GE(provider.sets - before, 1);
}

TEST_F(OidcKeysTest, ATokenThatAKnownKeyVerifiesNeverWaitsForAFetch) {
  const base::SigningKey key = test::NewKey("P-256");
  const auto read =
      std::get<base::PublicKey>(base::PublicKey::FromPem(key.PublicPem())).Thumbprint();
  api::ProviderKeys::View view;
  view.keys = std::make_shared<const std::vector<domain::SetKey>>(std::vector<domain::SetKey>{
      {read, std::nullopt, std::get<base::PublicKey>(base::PublicKey::FromPem(key.PublicPem()))}});
  view.now = base::Timestamp(std::chrono::hours(100));
  view.cache = {true, view.now - std::chrono::hours(23), view.now - seconds(1), true};
  const auto verdict = api::ValidateProviderToken(Token(read, key), config, view, clock.Now());
  ASSERT_TRUE(std::holds_alternative<domain::ExternalToken>(verdict));
  EXPECT_EQ(std::get<domain::ExternalToken>(verdict).subject, "ada");
}

}  // namespace
}  // namespace vedette::app
