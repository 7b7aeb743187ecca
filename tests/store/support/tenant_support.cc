#include "tests/store/support/tenant_support.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/crypto.h"
#include "config/net_config.h"
#include "config/search_config.h"
#include "tests/store/support/neighbour.h"
#include "tests/store/support/server_request.h"

namespace vedette::test {
namespace {

config::Config ApiConfig(const std::string& url, config::Environment environment,
                         const ApiTest::Adjust& adjust) {
  environment["VEDETTE_DATABASE_URL"] = url;
  config::Config config = config::LoadConfig(std::nullopt, environment);
  if (adjust) adjust(config);
  return config;
}

}  // namespace

void ApiExchange::Send(net::ServerResponse response) {
  const std::lock_guard lock(mutex_);
  answer_.status = response.status;
  answer_.headers = std::move(response.headers);
  answer_.body = std::move(response.body);
  answer_.ended = true;
  ended_.notify_all();
}

void ApiExchange::Begin(int status, std::vector<std::pair<std::string, std::string>> headers) {
  const std::lock_guard lock(mutex_);
  answer_.status = status;
  answer_.headers = std::move(headers);
}

void ApiExchange::Write(std::string piece, std::function<void(bool)> then) {
  {
    const std::lock_guard lock(mutex_);
    ++answer_.pieces;
    answer_.piece_bytes_max = std::max(answer_.piece_bytes_max, piece.size());
    answer_.body += piece;
  }
  then(true);
}

void ApiExchange::End() {
  const std::lock_guard lock(mutex_);
  answer_.ended = true;
  ended_.notify_all();
}

void ApiExchange::WhenGone(std::function<void()> then) {
  const std::lock_guard lock(mutex_);
  gone_ = std::move(then);
  ended_.notify_all();
}

bool ApiExchange::answered() {
  const std::lock_guard lock(mutex_);
  return answer_.ended;
}

void ApiExchange::Leave() {
  std::unique_lock lock(mutex_);
  if (!ended_.wait_for(lock, std::chrono::seconds(60), [this] { return gone_ != nullptr; })) {
    throw std::runtime_error("nobody watches the client of " + request_.target);
  }
  const auto gone = std::exchange(gone_, nullptr);
  lock.unlock();
  gone();
}

ApiExchange::Answer ApiExchange::Wait() {
  std::unique_lock lock(mutex_);
  if (!ended_.wait_for(lock, std::chrono::seconds(60), [this] { return answer_.ended; })) {
    throw std::runtime_error("no answer to " + request_.method + " " + request_.target);
  }
  return std::move(answer_);
}

std::string ApiTest::Reply::Header(const std::string& name) const {
  for (const auto& [key, value] : raw.headers) {
    if (key == name) return value;
  }
  return {};
}

std::string ApiTest::Reply::loc() const {
  return base::DumpJson(body["detail"][0]["loc"]);
}

std::string ApiTest::Reply::type() const {
  return body["detail"][0]["type"].get<std::string>();
}

ApiTest::ApiTest(const config::Environment& environment, const Adjust& adjust)
    : config(ApiConfig(database.url(), environment, adjust)),
      policy(config.net.allow),
      signals(config.database, clock, metrics, log),
      pool(config.database, {.name = "api", .testing = &config.testing}, 4, clock, metrics, log),
      waits(std::make_unique<api::Waits>(loop, pool, clock, metrics, config, log)),
      search_pool(config.database, {.name = "search"}, 2, clock, metrics, log),
      outgoing{tester,
               previewer,
               key_fetcher,
               provider_keys,
               {fields, config.search.backend.empty() ? nullptr : &search_pool}},
      api(
          config, pool, signals, clock, metrics, policy, outgoing, *waits,
          [](const std::string&, const std::string&) { return std::nullopt; }, log),
      acme(NewTenant("acme")),
      loop_thread([this] { loop.Run(); }) {}

ApiTest::~ApiTest() {
  pool.Stop();
  search_pool.Stop();
  loop.Stop();
  loop_thread.join();
  waits.reset();
}

net::ServerRequest ApiTest::Request(const std::string& method, const std::string& target,
                                    const Headers& headers) const {
  net::ServerRequest request = ServerRequestOf(method, target, headers);
  if (request.Header("x-api-key").empty() && request.Header("authorization").empty()) {
    request.headers.emplace_back("x-api-key", acme.key);
  }
  return request;
}

std::shared_ptr<ApiExchange> ApiTest::Begin(net::ServerRequest request) {
  auto exchange = std::make_shared<ApiExchange>(std::move(request));
  api.Handle(exchange);
  return exchange;
}

ApiTest::Reply ApiTest::AskRaw(net::ServerRequest request) {
  Reply reply;
  reply.raw = Begin(std::move(request))->Wait();
  reply.status = reply.raw.status;
  if (base::ParseJson(reply.raw.body, &reply.body)) reply.body = base::Json::object();
  return reply;
}

ApiTest::Reply ApiTest::Ask(const std::string& method, const std::string& target,
                            const Headers& headers) {
  return AskRaw(Request(method, target, headers));
}

ApiTest::Reply ApiTest::Ask(const std::string& method, const std::string& target,
                            const base::Json& body, const Headers& headers) {
  net::ServerRequest request = Request(method, target, headers);
  request.headers.emplace_back("content-type", "application/json");
  request.body = base::DumpJson(body);
  return AskRaw(std::move(request));
}

std::string ApiTest::Sql(const std::string& statement) {
  return database.Sql(statement);
}

ApiTest::Reply ApiTest::AskBeside(const std::string& statement, const std::function<Reply()>& ask) {
  return CallBeside(
      database.url(),
      "select from organisation where id = '" + acme.org_id + "' for no key update; " + statement,
      ask);
}

std::string ApiTest::NewKey(const std::string& org_id, const std::optional<std::string>& team_id) {
  const std::string key = "vd_live_" + base::RandomBase62(43);
  Sql("insert into api_key (id, org_id, team_id, name, prefix, key_sha256) values ('" +
      base::Uuid::V7(clock).ToString() + "', '" + org_id + "', " +
      (team_id ? "'" + *team_id + "'" : "null") + ", 'k', '" + key.substr(0, 14) + "', '\\x" +
      base::HexEncode(base::Sha256(key)) + "')");
  return key;
}

ApiTest::Tenant ApiTest::NewTenant(const std::string& name) {
  const std::string org_id = base::Uuid::V7(clock).ToString();
  Sql("insert into organisation (id, name, features) values ('" + org_id + "', '" + name +
      "', '{monitors,testing_monitors,high_tier}')");
  Sql("insert into account (org_id) values ('" + org_id + "')");
  return {org_id, NewKey(org_id, std::nullopt)};
}

std::string ApiTest::NewTeam(const std::string& org_id) {
  const std::string id = base::Uuid::V7(clock).ToString();
  Sql("insert into team (id, org_id, name) values ('" + id + "', '" + org_id + "', 'team')");
  return id;
}

base::Json ApiTest::GoodBody() {
  return base::ParseJsonOrThrow(R"({
    "name": "prices", "key_columns": ["domain"], "struct": {"price": "css:.price"},
    "rows": [{"domain": "a.example", "price": "1", "note": "n"}, {"domain": "b.example"}]})");
}

std::string ApiTest::NewMonitor(const base::Json& changes) {
  base::Json body = GoodBody();
  for (const auto& [name, value] : changes.items()) body[name] = value;
  const Reply reply = Ask("POST", "/monitors", body);
  if (reply.status != 200) throw std::runtime_error("no monitor: " + reply.raw.body);
  return reply.body["id"].get<std::string>();
}

}  // namespace vedette::test
