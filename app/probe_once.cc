#include "app/probe_once.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>

#include "app/probe_set.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "worker/checks/verdict.h"

namespace vedette::app {
namespace {

base::Json ObjectOf(const std::vector<std::pair<std::string, std::string>>& pairs) {
  base::Json object = base::Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

worker::ProbeRequest RequestOf(const config::ProbeConfig& config, const ProbeOnceOptions& options,
                               const base::Clock& clock) {
  auto spec = std::make_shared<worker::ProbeSpec>();
  spec->subject_type = domain::SubjectType::kCompany;
  spec->tier = options.tier;
  spec->watched = options.watched;
  worker::ProbeRequest request;
  request.check_id = base::Uuid::V4();
  request.row_id = base::Uuid::V4();
  request.spec = std::move(spec);
  base::Json subject = ObjectOf(options.subject);
  if (!options.url.empty()) subject["url"] = options.url;
  request.subject = std::move(subject);
  request.context = base::Json::object();
  request.known = ObjectOf(options.known);
  request.until = clock.Now();
  request.timeout = config.timeout_ms;
  request.deadline_left = config.deadline_ms;
  return request;
}

worker::ProbeResult Observe(const config::Config& config, domain::Tier tier,
                            const base::Clock& clock, worker::ProbeRequest request) {
  base::EventLoop loop;
  metrics::Metrics metrics(VEDETTE_VERSION);
  const net::AddressPolicy policy(config.net.allow);
  ProbeSet probes(loop, clock, metrics, policy, config);
  std::optional<worker::ProbeResult> result;
  loop.Post([&] {
    probes.tiers().at(tier).probe->Start(std::move(request), [&](worker::ProbeResult r) {
      result = std::move(r);
      loop.Stop();
    });
  });
  loop.Run();
  return std::move(*result);
}

void AddValues(const worker::Observation& observation, base::Json* out) {
  base::Json values = base::Json::object();
  base::Json absent = base::Json::array();
  for (const auto& [name, field] : observation.fields) {
    if (field.value.is_null()) {
      absent.push_back(name);
      continue;
    }
    base::Json entry = {{"value", field.value}};
    if (!field.evidence.empty()) entry["evidence"] = field.evidence;
    if (!field.sources.empty()) entry["sources"] = field.sources;
    if (field.confidence) entry["confidence"] = *field.confidence;
    values[name] = std::move(entry);
  }
  (*out)["values"] = std::move(values);
  (*out)["absent"] = std::move(absent);
  if (observation.unread.empty()) return;
  base::Json unread = base::Json::object();
  for (const auto& [name, failure] : observation.unread) {
    unread[name] = failure.error_class + ": " + failure.message;
  }
  (*out)["unread"] = std::move(unread);
}

// What would be a change against the known values: as the worker decides, but at once.
base::Json Compared(const worker::ProbeRequest& asked, const worker::ProbeResult& result) {
  const worker::Verdict verdict =
      worker::Judge(asked.spec->watched, {1, 1}, {asked.known, std::nullopt, std::nullopt}, result);
  base::Json compared = base::Json::object();
  const auto& fields = std::get<worker::Observation>(result).fields;
  for (const auto& [name, known] : asked.known.Value().items()) {
    const auto seen = fields.find(name);
    if (seen == fields.end()) continue;
    compared[name] = {{"previous", known}, {"current", seen->second.value}, {"changed", false}};
  }
  for (const worker::FieldChange& change : verdict.changes) {
    compared[change.field]["changed"] = true;
  }
  return compared;
}

}  // namespace

std::pair<std::string, std::string> ParsePair(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw std::invalid_argument(
        option == "--watch"
            ? fmt::format("--watch {}: write name=description, for example --watch 'title=css:h1'",
                          text)
            : fmt::format("{0} {1}: write name=value, for example {0} 'name=Example'", option,
                          text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

worker::WatchedField ParseWatch(const std::string& text) {
  auto [name, description] = ParsePair("--watch", text);
  return {std::move(name), std::move(description)};
}

int ProbeOnce(const config::Config& config, ProbeOnceOptions options) {
  const base::SystemClock clock;
  const config::ProbeConfig& probe = config.probes.at(std::string(TierName(options.tier)));
  const worker::ProbeRequest request = RequestOf(probe, options, clock);
  const auto began = clock.SinceBoot();
  const worker::ProbeResult result = Observe(config, options.tier, clock, request);
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(clock.SinceBoot() - began);
  if (const auto* failure = std::get_if<worker::ProbeFailure>(&result)) {
    fmt::print(stderr, "vedette probe: {} ({})\n", failure->message, failure->error_class);
    if (failure->error_class == "refused_address") {
      fmt::print(stderr,
                 "To let probes reach it, set VEDETTE_NET_ALLOW ([net] allow) to its "
                 "addresses, for example 127.0.0.0/8.\n");
    }
    return 1;
  }
  base::Json out = base::Json::object();
  if (!options.url.empty()) out["url"] = options.url;
  out["probe"] = probe.kind;
  AddValues(std::get<worker::Observation>(result), &out);
  if (!options.known.empty()) out["compared"] = Compared(request, result);
  out["duration_ms"] = took.count();
  fmt::print("{}\n", out.dump(2, ' ', false, base::Json::error_handler_t::replace));
  return 0;
}

}  // namespace vedette::app
