#include "app/search_engine_client.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "base/crypto.h"
#include "base/json.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/search_config.h"
#include "domain/search/opensearch.h"

namespace vedette::app {
namespace {

namespace search = domain::search;
using std::chrono::milliseconds;

// A hundred values of at most 32 KiB each, the longest that an index takes, and what is around
// them.
constexpr std::size_t kAnswerBytesMax = 4 * 1024 * 1024;
// A filter in the engine's words is longer than in the caller's: $search asks every field of text.
constexpr std::size_t kBodyBytesMax = 8 * 1024 * 1024;
// How the series of providers name it, so that their alert is about it, too.
constexpr std::string_view kMetricsProvider = "search_engine";
constexpr std::string_view kMetricsLookup = "field_values";

// All of them may go to the one host.
config::NetConfig ToOneHost(const config::Config& config) {
  config::NetConfig net = config.net;
  net.connections_per_host_max = config.search.in_flight_max;
  return net;
}

// The engine gives up a little before this process does, and so its answer still arrives.
milliseconds EngineTimeout(milliseconds timeout) {
  return timeout * 9 / 10;
}

std::string SearchUrl(const config::SearchConfig& config, const std::string& index) {
  std::string_view base = config.url;
  while (base.ends_with('/')) base.remove_suffix(1);
  return fmt::format("{}/{}/_search?timeout={}ms", base, index,
                     EngineTimeout(config.timeout_ms).count());
}

// Base64 as HTTP has it (RFC 7617).
std::string Base64(const std::string& text) {
  std::string encoded = base::Base64UrlEncode(text);
  for (char& c : encoded) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  encoded.append((4 - encoded.size() % 4) % 4, '=');
  return encoded;
}

std::vector<std::pair<std::string, std::string>> Headers(const config::SearchConfig& config) {
  std::vector<std::pair<std::string, std::string>> headers{{"Content-Type", "application/json"},
                                                           {"Accept", "application/json"}};
  if (!config.api_key.empty()) headers.emplace_back("Authorization", "ApiKey " + config.api_key);
  if (!config.user.empty()) {
    headers.emplace_back("Authorization", "Basic " + Base64(config.user + ":" + config.password));
  }
  return headers;
}

}  // namespace

SearchEngineClient::SearchEngineClient(base::EventLoop& loop, base::ByteBudget& answers,
                                       metrics::Metrics& metrics, const config::Config& config,
                                       base::Logger log)
    : answers_(answers),
      metrics_(metrics),
      config_(config.search),
      log_(log),
      urls_{SearchUrl(config.search, config.search.index_people),
            SearchUrl(config.search, config.search.index_company)},
      headers_(Headers(config.search)),
      calls_(loop, ToOneHost(config), config.search.in_flight_max) {}

void SearchEngineClient::Count(const store::ValuesQuestion& question, Done done) {
  const Asked asked{question.org_id, question.mode, question.field, question.values_max};
  const search::Tenant tenant{config_.org_field, question.org_id.ToString()};
  std::string body = base::DumpJson(search::TopValuesBody(
      *question.field, question.filter, tenant, question.values_max, question.excluded_ids));
  if (body.size() > kBodyBytesMax) return done({Outcome::Kind::kTooLarge});
  calls_.Begin(asked.org_id, [this, asked, body = std::move(body),
                              done = std::move(done)](OutsideCalls::Place place) mutable {
    if (place == OutsideCalls::Place::kTaken) return Start(asked, std::move(body), std::move(done));
    metrics_.AddProviderCall(kMetricsProvider, kMetricsLookup, "skipped");
    done({Outcome::Kind::kBusy});
  });
}

void SearchEngineClient::Start(const Asked& asked, std::string body, Done done) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = urls_[static_cast<std::size_t>(asked.mode)];
  request.headers = headers_;
  request.body = std::move(body);
  request.trust = net::Trust::kOperator;
  request.org = asked.org_id;
  request.timeout = config_.timeout_ms;
  request.body_bytes_max = kAnswerBytesMax;
  request.budget = &answers_;
  calls_.client().Send(
      std::move(request), [this, asked, done = std::move(done)](const net::HttpResponse& response) {
        calls_.End(asked.org_id);
        Outcome outcome = OutcomeOf(asked, response);
        const bool counted = outcome.kind == Outcome::Kind::kCounted;
        metrics_.AddProviderCall(kMetricsProvider, kMetricsLookup, counted ? "found" : "failed");
        metrics_.ObserveProviderCall(kMetricsProvider, response.duration);
        done(std::move(outcome));
      });
}

api::SearchEngine::Outcome SearchEngineClient::OutcomeOf(const Asked& asked,
                                                         const net::HttpResponse& response) const {
  const auto failed = [this](Outcome::Kind kind, const std::string& why) {
    log_.Warn("the search engine did not count", {{"why", why}});
    return Outcome{kind};
  };
  if (response.error_class == net::HttpErrorClass::kTimeout) {
    return failed(Outcome::Kind::kTimedOut, "there was no answer in time");
  }
  if (response.error_class != net::HttpErrorClass::kNone) {
    return failed(
        Outcome::Kind::kFailed,
        fmt::format("{}: {}", net::HttpErrorClassName(response.error_class), response.error));
  }
  if (response.status != 200) {
    return failed(Outcome::Kind::kFailed,
                  fmt::format("the answer is a {}, no 200", response.status));
  }
  auto read = search::ReadEngineAnswer(response.body, *asked.field, asked.values_max);
  if (const auto* problem = std::get_if<search::EngineProblem>(&read)) {
    const bool timed_out = problem->kind == search::EngineProblem::Kind::kTimedOut;
    return failed(timed_out ? Outcome::Kind::kTimedOut : Outcome::Kind::kFailed, problem->why);
  }
  return {Outcome::Kind::kCounted, std::get<search::EngineCount>(std::move(read))};
}

domain::search::Catalogue LoadSearchFields(const config::SearchConfig& config) {
  if (config.fields_file.empty()) return domain::search::Catalogue();
  std::ifstream file(config.fields_file);
  if (!file) {
    throw config::ConfigError(
        fmt::format("[search] fields_file: {} cannot be read", config.fields_file));
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return domain::search::Catalogue(text);
  } catch (const std::invalid_argument& error) {
    throw config::ConfigError(
        fmt::format("[search] fields_file: {}: {}", config.fields_file, error.what()));
  }
}

}  // namespace vedette::app
