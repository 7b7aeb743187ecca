#include "tests/store/support/operator_support.h"

#include <stdexcept>
#include <utility>

#include "tests/store/support/server_request.h"

namespace vedette::test {
namespace {

config::Config AdminConfig(const std::string& url) {
  return config::LoadConfig(std::nullopt,
                            {{"VEDETTE_ADMIN_LISTEN", "127.0.0.1:0"},
                             {"VEDETTE_DATABASE_URL", url},
                             {"VEDETTE_ADMIN_TOKEN", AdminTest::kToken},
                             {"VEDETTE_ADMIN_TOKENS_ALICE", "alice's token"},
                             {"VEDETTE_ADMIN_TOKENS_OLLI", AdminTest::kOperatorToken},
                             {"VEDETTE_ADMIN_ROLES_OLLI", "operator"},
                             {"VEDETTE_ADMIN_TOKENS_VIOLA", AdminTest::kViewerToken},
                             {"VEDETTE_ADMIN_ROLES_VIOLA", "viewer"},
                             {"VEDETTE_SECURITY_ENCRYPTION_KEY", std::string(64, 'a')}});
}

AdminTest::Headers GoodToken() {
  return {{"authorization", std::string("Bearer ") + AdminTest::kToken}};
}

}  // namespace

AdminTest::AdminTest()
    : config(AdminConfig(database.url())),
      signals(config.database, clock, metrics, log),
      pool(config.database, {.name = "admin"}, 2, clock, metrics, log),
      admin(config, pool, signals, clock, metrics, state, fields, key_fetcher, log) {
  signals.Listen(store::Signal::kDelivery, [this] { ++deliveries_signalled; });
  signals.Start();
}

net::ServerRequest AdminTest::Request(const std::string& method, const std::string& target,
                                      Headers headers) {
  net::ServerRequest request = ServerRequestOf(method, target, std::move(headers));
  request.remote_address = "203.0.113.7";
  return request;
}

AdminTest::Reply AdminTest::AskRaw(net::ServerRequest request, admin::Admin& port) {
  auto exchange = std::make_shared<RecordedExchange>(std::move(request));
  port.Handle(exchange);
  Reply reply;
  reply.raw = exchange->Wait();
  reply.status = reply.raw.status;
  if (base::ParseJson(reply.raw.body, &reply.body)) reply.body = nullptr;
  return reply;
}

AdminTest::Reply AdminTest::Ask(const std::string& method, const std::string& target) {
  return AskRaw(Request(method, target, GoodToken()));
}

AdminTest::Reply AdminTest::Ask(const std::string& method, const std::string& target,
                                const base::Json& body) {
  net::ServerRequest request = Request(method, target, GoodToken());
  request.headers.emplace_back("content-type", "application/json");
  request.body = base::DumpJson(body);
  return AskRaw(std::move(request));
}

std::string AdminTest::Sql(const std::string& statement) {
  return database.Sql(statement);
}

std::string AdminTest::NewOrganisation(const std::string& name) {
  base::Json body = base::Json::object();
  body["name"] = name;
  body["features"] = {"monitors"};
  const Reply reply = Ask("POST", "/admin/v1/orgs", body);
  if (reply.status != 201) throw std::runtime_error("no organisation: " + reply.raw.body);
  return reply.body["id"].get<std::string>();
}

}  // namespace vedette::test
