#include "domain/job/standard_webhooks.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace vedette::domain {
namespace {

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
