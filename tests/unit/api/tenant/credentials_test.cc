#include "api/tenant/credentials.h"

#include <gmock/gmock.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/tenant/oauth/form.h"
#include "config/auth_config.h"
#include "config/parts.h"
#include "config/server_config.h"
#include "tests/support/refusal.h"

namespace vedette::api {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

const std::string kTail(43, 'a');
const std::string kKey = "vd_live_" + kTail;
const std::string kToken = "vd_at_" + kTail;
const std::string kSession = "vd_ses_" + kTail;

net::ServerRequest With(Headers headers) {
  net::ServerRequest request;
  request.headers = std::move(headers);
  return request;
}

TEST(Credentials, AreFoundInTheirHeader) {
  for (const auto& [headers, kind, text] :
       {std::tuple<Headers, Credential::Kind, std::string>{
            {{"x-api-key", kKey}}, Credential::Kind::kApiKey, kKey},
        {{{"x-api-key", " " + kKey + " "}, {"authorization", "Basic YTpi"}},
         Credential::Kind::kApiKey,
         kKey},
        {{{"authorization", "Bearer " + kToken}}, Credential::Kind::kToken, kToken},
        {{{"authorization", "BEARER  " + kSession}, {"x-api-key", ""}},
         Credential::Kind::kToken,
         kSession},
        {{{"authorization", "Bearer a.b.c"}}, Credential::Kind::kJwt, "a.b.c"}}) {
    const net::ServerRequest request = With(headers);
    const auto found = FindCredential(request);
    ASSERT_TRUE(std::holds_alternative<Credential>(found)) << text;
    EXPECT_EQ(std::get<Credential>(found).kind, kind);
    EXPECT_EQ(std::get<Credential>(found).text, text);
  }
}

TEST(Credentials, WhatIsNoneHasItsFault) {
  using Fault = CredentialFault;
  for (const auto& [headers, fault] :
       {std::pair<Headers, Fault>{{}, Fault::kMissing},
        {{{"authorization", "Digest x"}}, Fault::kMissing},
        {{{"authorization", kToken}}, Fault::kMissing},
        {{{"x-api-key", kKey + "a"}}, Fault::kBadKey},
        {{{"x-api-key", "vd_live_" + std::string(43, '-')}}, Fault::kBadKey},
        {{{"x-api-key", kToken}}, Fault::kTokenAsKey},
        {{{"x-api-key", kSession}}, Fault::kTokenAsKey},
        {{{"authorization", "Bearer " + kKey}}, Fault::kKeyAsToken},
        {{{"authorization", "Bearer"}}, Fault::kBadToken},
        {{{"authorization", "Bearer " + kToken + "a"}}, Fault::kBadToken},
        {{{"authorization", "Bearer " + kToken + " " + kToken}}, Fault::kBadToken},
        {{{"x-api-key", kKey}, {"authorization", "Bearer " + kToken}}, Fault::kTwoCredentials},
        {{{"x-api-key", "bad"}, {"authorization", "bearer"}}, Fault::kTwoCredentials},
        {{{"x-api-key", kKey}, {"x-api-key", kKey}}, Fault::kRepeatedHeader},
        {{{"authorization", "Basic x"}, {"authorization", "Bearer " + kToken}},
         Fault::kRepeatedHeader}}) {
    const net::ServerRequest request = With(headers);
    const auto found = FindCredential(request);
    ASSERT_TRUE(std::holds_alternative<CredentialFault>(found));
    EXPECT_EQ(std::get<CredentialFault>(found), fault);
  }
}

TEST(Forms, AreDecodedAndRepeatedParametersRefused) {
  net::ServerRequest request = With({{"content-type", "application/x-www-form-urlencoded; a=b"}});
  request.body = "a=1+2&b=%2B&c&&d=";
  const auto form = ReadForm(request, 100);
  EXPECT_EQ(form, (Form{{"a", "1 2"}, {"b", "+"}, {"c", ""}, {"d", ""}}));
  for (const char* bad : {"a=1&a=1", "a=1&%61=2", "a=%", "a=%00", "a=%ff"}) {
    request.body = bad;
    const auto refused = test::RefusalOf([&] { ReadForm(request, 100); });
    ASSERT_TRUE(refused) << bad;
    EXPECT_EQ(refused->status, 400) << bad;
  }
  request.body = "a=1&scope=2&%73cope=3";
  const auto refused = test::RefusalOf([&] { ReadForm(request, 100); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(base::ParseJsonOrThrow(refused->body)["message"],
            R"(the parameter "scope" is given twice)");
}

TEST(Issuer, IsTheConfiguredUrlOrALoopbackAddressAndElseNone) {
  config::Config config{};
  config.oauth.enabled = true;
  config.api.listen = "127.0.0.1:8080";
  EXPECT_EQ(IssuerOf(config), "http://127.0.0.1:8080");
  config.public_url = "https://api.example.com";
  EXPECT_EQ(IssuerOf(config), "https://api.example.com");
  config.oauth.enabled = false;
  EXPECT_EQ(IssuerOf(config), "");
  config.oauth.enabled = true;
  config.public_url = "";
  for (const char* listen : {"0.0.0.0:8080", "127.0.0.1:0", "10.0.0.1:80"}) {
    config.api.listen = listen;
    EXPECT_EQ(IssuerOf(config), "") << listen;
    EXPECT_EQ(OauthMetadata(config).status, 404);
    EXPECT_THAT(IssuerNote(config), testing::HasSubstr("public_url is not set")) << listen;
  }
  config.public_url = "http://api.example.com";
  EXPECT_THAT(IssuerNote(config), testing::HasSubstr("plain HTTP"));
  config.public_url = "https://api.example.com";
  EXPECT_EQ(IssuerNote(config), "");
  config.public_url = "";
  config.oauth.enabled = false;
  EXPECT_EQ(IssuerNote(config), "") << "nobody expects tokens";
  config.oauth.enabled = true;
  config.api.listen = "127.0.0.1:8080";
  EXPECT_EQ(IssuerNote(config), "");
}

}  // namespace
}  // namespace vedette::api
