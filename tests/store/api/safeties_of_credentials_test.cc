// Each safety of credentials, switched off: what the safety is there for then goes wrong, and is
// seen. What cannot be switched off in a process is broken in a build
// (tests/unit/domain/CMakeLists.txt).
#include "store/accounts/oauth_clients.h"
#include "tests/store/support/tenant_credentials.h"

namespace vedette::test {
namespace {

using base::Json;

// Runs with one safety off, or with all of them on: "".
class CredentialSafeties : public ApiCredentials, public testing::WithParamInterface<const char*> {
 public:
  CredentialSafeties() : ApiCredentials({{"VEDETTE_TESTING_DISABLE", GetParam()}}) {}

  static bool Off(const std::string& safety) { return safety == GetParam(); }

  int TokensOfOneAssertion(const Client& client) {
    const std::string assertion = Assertion(client);
    int minted = 0;
    for (int i = 0; i < 3; ++i) minted += AskToken(assertion).status == 200 ? 1 : 0;
    return minted;
  }
  int StatusAfterTokensWereRevoked(const Client& client) {
    const std::string token = NewToken(client);
    EXPECT_EQ(Ask("GET", "/credits", Bearer(token)).status, 200);
    const std::string path = "/oauth/clients/" + client.id + "/revoke-tokens";
    EXPECT_EQ(Ask("POST", path, Json::object()).status, 200);
    return Ask("GET", "/credits", Bearer(token)).status;
  }
  // The answers to five processes that ask at one moment.
  int FetchesThatBegin() {
    const Json body{{"name", "c"}, {"jwks_uri", "https://client.example/jwks.json"}};
    const std::string id = Ask("POST", "/oauth/clients", body).body["client_id"];
    store::Session session(config.database, {.name = "fetches", .testing = &config.testing}, clock,
                           metrics, log);
    int begun = 0;
    for (int i = 0; i < 5; ++i) {
      begun +=
          store::BeginKeyFetch(session, *base::Uuid::Parse(id), std::chrono::seconds(30)) ? 1 : 0;
    }
    return begun;
  }
};

TEST_P(CredentialSafeties, AreNoticedWhereTheyAreOffEachByItself) {
  const Client client = NewClient("Ed25519");
  EXPECT_EQ(TokensOfOneAssertion(client), Off("assertion_once") ? 3 : 1);
  EXPECT_EQ(StatusAfterTokensWereRevoked(client), Off("token_version") ? 200 : 401);
  EXPECT_EQ(FetchesThatBegin(), Off("key_fetch_limit") ? 5 : 1);
}

INSTANTIATE_TEST_SUITE_P(Without, CredentialSafeties,
                         testing::Values("", "assertion_once", "token_version", "key_fetch_limit"));

}  // namespace
}  // namespace vedette::test
