#include "app/outside_calls.h"

#include <cstddef>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/ctl/ctl_commands.h"
#include "app/ctl/ctl_text.h"
#include "base/json.h"
#include "base/text.h"
#include "config/auth_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/security_config.h"

namespace vedette::app {
namespace {

config::NetConfig OwnConnections(config::NetConfig net, int calls_max) {
  net.connections_max = calls_max;
  return net;
}

}  // namespace

OutsideCalls::OutsideCalls(base::EventLoop& loop, const config::NetConfig& net, int calls_max)
    : loop_(loop),
      client_(loop, OwnConnections(net, calls_max)),
      under_way_(static_cast<std::size_t>(calls_max), base::kUsualReserve) {}

void OutsideCalls::Begin(const base::Uuid& org_id, std::function<void(Place)> begin) {
  loop_.Post([this, org_id, begin = std::move(begin)] { begin(Take(org_id)); });
}

OutsideCalls::Place OutsideCalls::Take(const base::Uuid& org_id) {
  if (!under_way_.MayTake(org_id)) {
    return under_way_.held_by(org_id) == 0 ? Place::kAllTaken : Place::kOrganisationsTaken;
  }
  under_way_.Take(org_id);
  return Place::kTaken;
}

void OutsideCalls::End(const base::Uuid& org_id) {
  under_way_.GiveBack(org_id);
}

namespace {

using Outcome = rest::KeyFetcher::Outcome;

Outcome OutcomeOf(net::HttpResponse response) {
  if (response.error_class != net::HttpErrorClass::kNone) {
    return {Outcome::Kind::kFailed,
            fmt::format("{}: {}", HttpErrorClassName(response.error_class), response.error)};
  }
  if (response.status != 200) {
    return {Outcome::Kind::kFailed, fmt::format("the answer is a {}, no 200", response.status)};
  }
  return {Outcome::Kind::kCame, std::move(response.body)};
}

}  // namespace

KeyFetch::KeyFetch(base::EventLoop& loop, metrics::Metrics& metrics, const config::Config& config)
    : metrics_(metrics), config_(config.jwks), calls_(loop, config.net, config.jwks.fetches_max) {}

void KeyFetch::Fetch(const base::Uuid& org_id, std::string url, Done done) {
  calls_.Begin(org_id, [this, org_id, url = std::move(url),
                        done = std::move(done)](OutsideCalls::Place place) {
    if (place == OutsideCalls::Place::kTaken) return Start(org_id, url, done);
    done({Outcome::Kind::kBusy, "too many fetches of keys are under way"});
  });
}

void KeyFetch::Start(const base::Uuid& org_id, const std::string& url, const Done& done) {
  net::HttpRequest request;
  request.url = url;
  request.headers = {{"Accept", "application/jwk-set+json, application/json"}};
  request.trust = net::Trust::kTenant;
  request.org = org_id;
  request.timeout = config_.timeout_ms;
  request.body_bytes_max = config_.bytes_max;
  calls_.client().Send(std::move(request), [this, org_id, done](net::HttpResponse response) {
    calls_.End(org_id);
    Outcome outcome = OutcomeOf(std::move(response));
    metrics_.AddJwksFetch("client", outcome.kind == Outcome::Kind::kCame ? "ok" : "failed");
    done(std::move(outcome));
  });
}

namespace {

constexpr int kCellConnectionsMax = 64;
// What a list of organisations has at most, generously.
constexpr std::size_t kCellAnswerBytesMax = std::size_t{1} << 20;

std::vector<config::CellPort> OthersOf(std::vector<config::CellPort> cells,
                                       const std::string& own) {
  std::erase_if(cells, [&](const config::CellPort& cell) { return cell.id == own; });
  return cells;
}

config::NetConfig Inside(config::NetConfig net) {
  net.proxy.clear();
  return OwnConnections(std::move(net), kCellConnectionsMax);
}

// What a cell has answered, or why it has not.
void TakeAnswer(net::HttpResponse response, admin::CellAnswer* answer) {
  if (response.error_class != net::HttpErrorClass::kNone) {
    answer->error = fmt::format("{}: {}", HttpErrorClassName(response.error_class), response.error);
    return;
  }
  if (response.status == 200) {
    answer->body = std::move(response.body);
    return;
  }
  base::Json body;
  if (base::ParseJson(response.body, &body)) body = nullptr;
  answer->error = RefusalText(response.status, body);
}

}  // namespace

// One question to all of them. Loop thread.
struct CellPorts::Asked {
  std::vector<admin::CellAnswer> answers;
  std::size_t left = 0;
  Done done;
};

CellPorts::CellPorts(base::EventLoop& loop, const config::Config& config,
                     std::vector<config::CellPort> cells)
    : loop_(loop),
      cells_(OthersOf(std::move(cells), config.cell.id)),
      client_(loop, Inside(config.net)) {}

void CellPorts::Ask(std::string path, std::string q, Done done) {
  if (!q.empty()) path += "?q=" + base::UrlEncode(q);
  loop_.Post([this, path = std::move(path), done = std::move(done)] {
    auto asked = std::make_shared<Asked>();
    asked->left = cells_.size();
    asked->done = done;
    for (const config::CellPort& cell : cells_) {
      asked->answers.push_back({cell.id, cell.url, {}, {}});
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) Send(i, path, asked);
  });
}

void CellPorts::Send(std::size_t place, const std::string& path,
                     const std::shared_ptr<Asked>& asked) {
  const config::CellPort& cell = cells_[place];
  const auto take = [asked, place](net::HttpResponse response) {
    TakeAnswer(std::move(response), &asked->answers[place]);
    if (--asked->left == 0) asked->done(std::move(asked->answers));
  };
  if (cell.token.empty()) {
    net::HttpResponse none;
    none.error_class = net::HttpErrorClass::kProtocol;
    none.error = "it is not asked, since the list of cells names no file of a token for it";
    return take(std::move(none));
  }
  net::HttpRequest request;
  request.url = cell.url + path;
  request.headers = {{"Authorization", "Bearer " + cell.token}};
  request.trust = net::Trust::kOperator;
  request.timeout = kCellAnswerMax;
  request.body_bytes_max = kCellAnswerBytesMax;
  client_.Send(std::move(request), take);
}

}  // namespace vedette::app
