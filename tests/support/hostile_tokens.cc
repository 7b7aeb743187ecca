// Prints the table of hostile assertions as JSON, for tests of whole processes:
//   hostile_tokens CLIENT OTHER ISSUER ENDPOINT
// {"pem": the client's public key, whose kid is k1; "other_pem": the other's, whose kid is
// other-k1;
//  "good": an assertion without a fault; "hostile": [{"name", "token"}]}
#include <chrono>
#include <cstdio>

#include "tests/support/jose.h"

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: hostile_tokens CLIENT OTHER ISSUER ENDPOINT\n", stderr);
    return 2;
  }
  using vedette::base::Json;
  namespace test = vedette::test;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const test::HostileSetting setting{.client = argv[1],
                                     .other = argv[2],
                                     .issuer = argv[3],
                                     .endpoint = argv[4],
                                     .now = now.time_since_epoch().count()};
  Json hostile = Json::array();
  for (const test::HostileToken& token : test::HostileAssertions(setting)) {
    hostile.push_back({{"name", token.name}, {"token", token.token}});
  }
  const Json all{{"pem", test::NewKey("RSA-2048").PublicPem()},
                 {"other_pem", test::NewKey("RSA-2048", 1).PublicPem()},
                 {"good", test::GoodAssertion(setting)},
                 {"hostile", std::move(hostile)}};
  std::puts(all.dump().c_str());
  return 0;
}
