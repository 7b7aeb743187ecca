#include "api/kit/credentials.h"

#include <gtest/gtest.h>

#include "tests/support/fake_exchange.h"
#include "tests/support/ids.h"
#include "tests/support/jose.h"
#include "tests/support/refusal.h"

namespace vedette::rest {
namespace {

using base::Json;
using vedette::test::Id;

const BodyRules kRules{.bytes_max = 100'000};

// Reads a whole body, as the ports do.
struct Reader : BodyReader {
  explicit Reader(const Json& body, Nulls nulls = Nulls::kWrong)
      : BodyReader(vedette::test::Request(base::DumpJson(body)), kRules, nulls) {}
};

// What a 422 says is wrong, as "loc type, ..."; nothing where nothing is.
std::string Wrong(Reader* body) {
  const auto refusal = vedette::test::RefusalOf([&] { body->Check(); });
  if (!refusal) return "nothing";
  std::string all;
  const Json said = base::ParseJsonOrThrow(refusal->body);
  for (const Json& item : said["detail"]) {
    all += (all.empty() ? "" : ", ") + item["loc"].back().get<std::string>() + " " +
           item["type"].get<std::string>();
  }
  return all;
}

// "<status> <code>" of a reply.
std::string Said(const Reply& reply) {
  return std::to_string(reply.status) + " " +
         base::ParseJsonOrThrow(reply.body)["error"].get<std::string>();
}

std::string Message(const Reply& reply) {
  return base::ParseJsonOrThrow(reply.body)["message"].get<std::string>();
}

store::OauthClient Client() {
  store::OauthClient client;
  client.id = Id(1);
  client.org_id = Id(2);
  client.name = "warehouse";
  client.token_version = 3;
  client.created_at = base::ParseTimestamp("2026-11-21T09:30:00Z");
  client.updated_at = base::ParseTimestamp("2026-11-21T09:31:00Z");
  client.created_by_label = "default";
  return client;
}

TEST(OauthClientJson, HasEveryMemberAndNullForWhatIsMissing) {
  const std::string id = Id(1).ToString();
  EXPECT_EQ(OauthClientJson(Client()).dump(),
            R"({"id":")" + id + R"(","client_id":")" + id + R"(","org_id":")" + Id(2).ToString() +
                R"(","team_id":null,"name":"warehouse","jwks_uri":null,)"
                R"("jwks_last_validated_at":null,"jwks_last_error":null,"status":"active",)"
                R"("token_version":3,"access_token_ttl_seconds":null,"last_used_at":null,)"
                R"("created_at":"2026-11-21T09:30:00.000000Z",)"
                R"("updated_at":"2026-11-21T09:31:00.000000Z",)"
                R"("created_by":{"kind":"operator","id":null,"label":"default"},"keys":[]})");
}

TEST(OauthClientJson, ShowsWhatIsKnownOfIt) {
  store::OauthClient client = Client();
  client.team_id = Id(3);
  client.disabled = true;
  client.token_ttl_s = 60;
  client.last_used_at = client.jwks_validated_at = client.updated_at;
  client.jwks_uri = "https://acme.example/keys";
  client.jwks_error = "connect: nobody listens";
  client.created_by_kind = domain::PrincipalKind::kUser;
  client.created_by_id = Id(4);
  client.keys = {{"k1", base::SignatureAlgorithm::kEs256, client.created_at, client.updated_at},
                 {"k2", base::SignatureAlgorithm::kEdDsa, client.created_at, std::nullopt}};
  const Json shown = OauthClientJson(client);
  EXPECT_EQ(shown["team_id"], Id(3).ToString());
  EXPECT_EQ(shown["status"], "disabled");
  EXPECT_EQ(shown["access_token_ttl_seconds"], 60);
  EXPECT_EQ(shown["last_used_at"], "2026-11-21T09:31:00.000000Z");
  EXPECT_EQ(shown["jwks_uri"], "https://acme.example/keys");
  EXPECT_EQ(shown["jwks_last_validated_at"], "2026-11-21T09:31:00.000000Z");
  EXPECT_EQ(shown["jwks_last_error"], "connect: nobody listens");
  EXPECT_EQ(shown["created_by"].dump(),
            R"({"kind":"user","id":")" + Id(4).ToString() + R"(","label":"default"})");
  EXPECT_EQ(shown["keys"].dump(),
            R"([{"kid":"k1","algorithm":"ES256","created_at":"2026-11-21T09:30:00.000000Z",)"
            R"("revoked_at":"2026-11-21T09:31:00.000000Z"},{"kid":"k2","algorithm":"EdDSA",)"
            R"("created_at":"2026-11-21T09:30:00.000000Z","revoked_at":null}])");
}

TEST(NewClientBodies, AreReadMemberByMember) {
  Reader body({{"name", "warehouse"},
               {"team_id", Id(3).ToString()},
               {"access_token_ttl_seconds", 86'400},
               {"jwks_uri", "https://acme.example/keys"}});
  const NewClientBody read = ReadNewClient(&body);
  EXPECT_EQ(Wrong(&body), "nothing");
  EXPECT_EQ(read.name, "warehouse");
  EXPECT_EQ(read.team_id, Id(3).ToString());
  EXPECT_EQ(read.token_ttl_s, 86'400);
  EXPECT_EQ(read.jwks_uri, "https://acme.example/keys");
}

TEST(NewClientBodies, TakeNullForWhatIsNotNamedWhateverTheReaderTakesItFor) {
  for (const Nulls nulls : {Nulls::kAbsent, Nulls::kWrong}) {
    Reader body({{"name", "n"},
                 {"team_id", nullptr},
                 {"access_token_ttl_seconds", nullptr},
                 {"jwks_uri", nullptr}},
                nulls);
    const NewClientBody read = ReadNewClient(&body);
    EXPECT_EQ(Wrong(&body), "nothing");
    EXPECT_EQ(read.name, "n");
    EXPECT_FALSE(read.team_id || read.token_ttl_s || read.jwks_uri);
  }
}

TEST(NewClientBodies, HoldTheirLimits) {
  const auto wrong = [](Json members) {
    Reader body(members);
    ReadNewClient(&body);
    return Wrong(&body);
  };
  EXPECT_EQ(wrong(Json::object()), "name missing");
  EXPECT_EQ(wrong({{"name", std::string(255, 'n')}}), "nothing");
  EXPECT_EQ(wrong({{"name", std::string(256, 'n')}}), "name string_too_long");
  EXPECT_EQ(wrong({{"name", " "}}), "name string_too_short");
  for (const int seconds : {60, 86'400}) {
    EXPECT_EQ(wrong({{"name", "n"}, {"access_token_ttl_seconds", seconds}}), "nothing") << seconds;
  }
  EXPECT_EQ(wrong({{"name", "n"}, {"access_token_ttl_seconds", 59}}),
            "access_token_ttl_seconds greater_than_equal");
  EXPECT_EQ(wrong({{"name", "n"}, {"access_token_ttl_seconds", 86'401}}),
            "access_token_ttl_seconds less_than_equal");
  EXPECT_EQ(wrong({{"name", "n"}, {"jwks_uri", std::string(2083, 'u')}}), "nothing");
  EXPECT_EQ(wrong({{"name", "n"}, {"jwks_uri", std::string(2084, 'u')}}),
            "jwks_uri string_too_long");
  EXPECT_EQ(wrong({{"name", "n"}, {"team_id", ""}, {"jwks_uri", 7}, {"secret", "s"}}),
            "team_id string_too_short, jwks_uri string_type, secret extra_forbidden");
}

TEST(MakeNewClient, TakesWhatIsTherePerItsBody) {
  const auto order = MakeNewClient({"n", Id(3).ToString(), 60, "https://acme.example/keys"},
                                   net::AddressPolicy({}));
  EXPECT_EQ(order.name, "n");
  EXPECT_EQ(order.team_id, Id(3));
  EXPECT_EQ(order.token_ttl_s, 60);
  EXPECT_EQ(order.jwks_uri, "https://acme.example/keys");
}

TEST(MakeNewClient, ATeamThatIsNoIdIsNotThere) {
  const auto refusal = vedette::test::RefusalOf([&] {
    MakeNewClient({"n", "buyers", {}, {}}, net::AddressPolicy({}));
  });
  EXPECT_EQ(Said(refusal.value()), "404 not_found");
  EXPECT_EQ(Message(refusal.value()), "there is no such team");
}

TEST(MakeNewClient, G9KeysAreFetchedOverHttpsFromPublicAddressesAlone) {
  const auto said = [](const char* url, const std::vector<std::string>& allow = {}) {
    const auto reply = vedette::test::RefusalOf([&] {
      MakeNewClient({"n", {}, {}, url}, net::AddressPolicy(allow));
    });
    return reply ? Said(*reply) : "nothing";
  };
  for (const char* url :
       {"http://acme.example/keys", "ftp://acme.example/keys", "keys", "https://127.0.0.1/keys",
        "https://0x7f.1/keys", "https://10.0.0.1/", "https://[::1]/", "https://localhost/keys",
        "https://keys.internal/", "https://user@acme.example/", "https://acme.example/#a"}) {
    EXPECT_EQ(said(url), "400 invalid_jwks_uri") << url;
  }
  EXPECT_EQ(said("https://acme.example/keys"), "nothing");
  EXPECT_EQ(said("https://127.0.0.1/keys", {"127.0.0.0/8"}), "nothing") << "the operator allows it";
  EXPECT_EQ(said("http://127.0.0.1/keys", {"127.0.0.0/8"}), "400 invalid_jwks_uri");
  const auto plain = vedette::test::RefusalOf([&] {
    MakeNewClient({"n", {}, {}, "http://acme.example/"}, net::AddressPolicy({}));
  });
  EXPECT_EQ(Message(plain.value()), "jwks_uri: it must be https");
}

TEST(Refusals, SayWhyNoClientWasMade) {
  using Kind = store::ClientOutcome::Kind;
  EXPECT_EQ(Message(ClientRefusal(Kind::kNoOrganisation, 5)), "there is no such organisation");
  EXPECT_EQ(Message(ClientRefusal(Kind::kNoTeam, 5)), "there is no such team");
  EXPECT_EQ(Said(ClientRefusal(Kind::kNoTeam, 5)), "404 not_found");
  EXPECT_EQ(Said(ClientRefusal(Kind::kTooMany, 5)), "409 too_many_clients");
  EXPECT_EQ(Message(ClientRefusal(Kind::kTooMany, 5)),
            "the organisation has 5 clients already: delete one first");
}

TEST(Refusals, SayWhyNoKeyWasAdded) {
  using Outcome = store::KeyOutcome;
  EXPECT_EQ(Said(KeyRefusal(Outcome::kNoClient, 5)), "404 not_found");
  EXPECT_EQ(Said(KeyRefusal(Outcome::kPublishes, 5)), "409 client_uses_jwks_uri");
  EXPECT_EQ(Said(KeyRefusal(Outcome::kTaken, 5)), "409 kid_taken");
  EXPECT_EQ(Said(KeyRefusal(Outcome::kTooMany, 5)), "409 too_many_keys");
  EXPECT_EQ(Message(KeyRefusal(Outcome::kTooMany, 5)),
            "the client has 5 live keys already: revoke one first");
  EXPECT_EQ(Message(NoClient()), "there is no such OAuth client");
  EXPECT_EQ(NoClient().status, 404);
  EXPECT_EQ(Message(NoClientKey()), "there is no such live key of this client");
  EXPECT_EQ(NoClientKey().status, 404);
}

TEST(ClientChanges, WhatIsNotNamedStays) {
  for (const Json& members : {Json::object(), Json{{"name", nullptr}, {"status", nullptr}}}) {
    Reader body(members);
    const store::ClientChange change = ReadClientChange(&body);
    EXPECT_EQ(Wrong(&body), "nothing") << members;
    EXPECT_FALSE(change.name || change.disabled || change.set_token_ttl || change.token_ttl_s);
  }
}

TEST(ClientChanges, NullTakesTheLifeOfTokensBackToTheConfiguredOne) {
  Reader body(Json{{"access_token_ttl_seconds", nullptr}});
  const store::ClientChange change = ReadClientChange(&body);
  EXPECT_EQ(Wrong(&body), "nothing");
  EXPECT_TRUE(change.set_token_ttl);
  EXPECT_EQ(change.token_ttl_s, std::nullopt);
}

TEST(ClientChanges, AreWhatTheBodyNames) {
  for (const bool disabled : {false, true}) {
    Reader body({{"name", "new"},
                 {"status", disabled ? "disabled" : "active"},
                 {"access_token_ttl_seconds", 60}});
    const store::ClientChange change = ReadClientChange(&body);
    EXPECT_EQ(Wrong(&body), "nothing");
    EXPECT_EQ(change.name, "new");
    EXPECT_EQ(change.disabled, disabled);
    EXPECT_TRUE(change.set_token_ttl);
    EXPECT_EQ(change.token_ttl_s, 60);
  }
}

TEST(ClientChanges, OfAnotherKindAreRefused) {
  Reader body({{"name", ""},
               {"status", "deleted"},
               {"access_token_ttl_seconds", "60"},
               {"jwks_uri", "https://acme.example/keys"}});
  ReadClientChange(&body);
  EXPECT_EQ(Wrong(&body),
            "name string_too_short, status value_error, access_token_ttl_seconds int_type, "
            "jwks_uri extra_forbidden");
}

// The key of RFC 8037, A.2, whose thumbprint A.3 names.
constexpr const char* kEd25519Pem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";

TEST(NewKeys, AreReadMemberByMember) {
  Reader body({{"public_key_pem", kEd25519Pem}, {"kid", "k1"}, {"algorithm", nullptr}});
  const NewKeyBody read = ReadNewKey(&body);
  EXPECT_EQ(Wrong(&body), "nothing");
  EXPECT_EQ(read.pem, kEd25519Pem);
  EXPECT_EQ(read.kid, "k1");
  EXPECT_EQ(read.algorithm, std::nullopt);
}

TEST(NewKeys, HoldTheirLimits) {
  const auto wrong = [](Json members) {
    Reader body(members);
    ReadNewKey(&body);
    return Wrong(&body);
  };
  EXPECT_EQ(wrong(Json::object()), "public_key_pem missing");
  EXPECT_EQ(wrong({{"public_key_pem", std::string(16'384, 'p')}, {"kid", std::string(255, 'k')}}),
            "nothing");
  EXPECT_EQ(wrong({{"public_key_pem", std::string(16'385, 'p')}, {"kid", std::string(256, 'k')}}),
            "public_key_pem string_too_long, kid string_too_long");
}

TEST(NewKeys, WithoutAKidOrAnAlgorithmHaveThoseOfTheKey) {
  const auto key = MakeNewKey({kEd25519Pem, {}, {}});
  EXPECT_EQ(key.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  EXPECT_EQ(key.algorithm, base::SignatureAlgorithm::kEdDsa);
  EXPECT_EQ(key.der.size(), 44U);
}

TEST(NewKeys, HaveTheNamedKidAndAlgorithmWhereItFitsTheKey) {
  const std::string rsa = vedette::test::NewKey("RSA-2048").PublicPem();
  const auto key = MakeNewKey({rsa, "k1", "PS256"});
  EXPECT_EQ(key.kid, "k1");
  EXPECT_EQ(key.algorithm, base::SignatureAlgorithm::kPs256);
  for (const char* algorithm : {"ES256", "EdDSA", "none", "HS256", "ps256"}) {
    const auto other = vedette::test::RefusalOf([&] { MakeNewKey({rsa, "k1", algorithm}); });
    EXPECT_EQ(Said(other.value()), "400 invalid_public_key") << algorithm;
    EXPECT_EQ(Message(other.value()),
              "algorithm \"" + std::string(algorithm) +
                  "\" does not fit the key, with which RS256 or PS256 goes; leave it out or name "
                  "that");
  }
}

TEST(NewKeys, ThatAreNoPublicKeysAreRefused) {
  const std::string private_pem = vedette::test::PrivatePem("Ed25519");
  for (const std::string& pem :
       {std::string("x"), private_pem, std::string(kEd25519Pem) + kEd25519Pem,
        vedette::test::NewKey("P-256").PublicPem().substr(0, 60)}) {
    const auto refusal = vedette::test::RefusalOf([&] { MakeNewKey({pem, "k1", {}}); });
    ASSERT_TRUE(refusal) << pem;
    EXPECT_EQ(Said(refusal.value()), "400 invalid_public_key") << pem;
  }
  const auto leaked = vedette::test::RefusalOf([&] { MakeNewKey({private_pem, {}, {}}); });
  EXPECT_NE(Message(leaked.value()).find("treat it as leaked"), std::string::npos);
}

}  // namespace
}  // namespace vedette::rest
