// A server's address, and reading a request's query.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/server_config.h"
#include "net/http_server.h"
#include "tests/unit/net/support.h"

namespace vedette::net {
namespace {

using test::FunctionService;
using test::ServerConfig;
using test::Silent;

void Refuse(const std::shared_ptr<Exchange>& exchange) {
  exchange->Send({503, {}, ""});
}

TEST(HttpServer, NamesTheAddressItCannotListenOn) {
  FunctionService service(Refuse);
  const HttpServer first(ServerConfig(), service, Silent());
  auto config = ServerConfig();
  config.listen = first.address();
  try {
    const HttpServer second(config, service, Silent());
    FAIL() << "listened twice on " << config.listen;
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()),
              "cannot listen on " + config.listen + ": Address already in use");
  }
  config.listen = "nonsense";
  EXPECT_THROW(HttpServer(config, service, Silent()), std::runtime_error);
}

TEST(HttpServer, CanBeDestroyedWithoutHavingStarted) {
  FunctionService service(Refuse);
  const HttpServer server(ServerConfig(), service, Silent());
  EXPECT_GT(server.port(), 0);
}

TEST(Query, DecodesPairsInOrder) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(ParseQuery("a=1&b=&c&&a=x%20y+z%2B&d=e=f"),
            (Pairs{{"a", "1"}, {"b", ""}, {"c", ""}, {"a", "x y z+"}, {"d", "e=f"}}));
  EXPECT_EQ(ParseQuery(""), Pairs{});
  EXPECT_EQ(PercentDecode("a+b%2fc", false), "a+b/c");
}

TEST(Query, RefusesBadEscapesNulAndWhatIsNotUtf8) {
  for (const std::string_view bad :
       {"%", "%1", "%zz", "a%2", "%00", "%ff", "%c3", "%c3%28", "%ed%a0%80", "%f8%88%80%80%80"}) {
    EXPECT_THROW(PercentDecode(bad, true), std::invalid_argument) << bad;
    EXPECT_THROW(ParseQuery(std::string("x=") + std::string(bad)), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace vedette::net
