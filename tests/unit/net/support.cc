#include "tests/unit/net/support.h"

#include "config/net_config.h"
#include "config/server_config.h"
#include "tests/unit/net/client_support.h"
#include "tests/unit/net/site.h"

namespace vedette::net::test {
namespace {

config::NetConfig ClientConfig(std::vector<std::string> allow) {
  config::NetConfig c{};
  c.allow = std::move(allow);
  c.connect_timeout_ms = milliseconds(5000);
  c.connections_max = 64;
  c.connections_per_host_max = 16;
  return c;
}

}  // namespace

const config::HttpServerConfig& ServerConfig() {
  static const config::HttpServerConfig kConfig = [] {
    config::HttpServerConfig c{};
    c.listen = "127.0.0.1:0";
    c.connections_max = 100;
    c.header_bytes_max = 8192;
    c.body_bytes_max = 1 << 20;
    c.header_timeout_ms = milliseconds(20000);
    c.body_timeout_ms = milliseconds(20000);
    c.write_timeout_ms = milliseconds(20000);
    c.idle_timeout_ms = milliseconds(20000);
    c.drain_timeout_ms = milliseconds(20000);
    return c;
  }();
  return kConfig;
}

const config::NetConfig& NetConfig() {
  static const config::NetConfig kConfig = ClientConfig({"127.0.0.0/8"});
  return kConfig;
}

const config::NetConfig& WithoutAllow() {
  static const config::NetConfig kConfig = ClientConfig({});
  return kConfig;
}

const config::NetConfig& SiteNetConfig() {
  static const config::NetConfig kConfig = [] {
    config::NetConfig c = ClientConfig({"127.0.0.0/8"});
    c.user_agent = "vedette-test/1";
    return c;
  }();
  return kConfig;
}

}  // namespace vedette::net::test
