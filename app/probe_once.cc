#include "app/probe_once.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/thread_pool.h"
#include "net/http_client.h"
#include "net/public_address.h"
#include "worker/probes/web_probe.h"

namespace vedette::app {
namespace {

worker::ProbeResult Observe(const config::Config& config, worker::ProbeRequest request) {
  base::EventLoop loop;
  net::HttpClient client(loop, config.net);
  base::ThreadPool pool("probe", 1, 4);
  const net::AddressPolicy policy(config.net.allow);
  config::ProbeConfig low = config.probes.at("low");
  low.kind = "web";
  worker::WebProbe probe(loop, client, pool, policy, low, config.net);
  std::optional<worker::ProbeResult> result;
  loop.Post([&] {
    probe.Start(std::move(request), [&](worker::ProbeResult r) {
      result = std::move(r);
      loop.Stop();
    });
  });
  loop.Run();
  return std::move(*result);
}

base::Json ToJson(const std::string& url, const worker::Observation& observation) {
  base::Json values = base::Json::object();
  for (const auto& [name, field] : observation.fields) {
    if (field.value.is_null()) continue;
    base::Json entry = {{"value", field.value}};
    if (!field.evidence.empty()) entry["evidence"] = field.evidence;
    if (!field.sources.empty()) entry["sources"] = field.sources;
    if (field.confidence) entry["confidence"] = *field.confidence;
    values[name] = std::move(entry);
  }
  return {{"url", url}, {"values", std::move(values)}};
}

}  // namespace

worker::WatchedField ParseWatch(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw std::invalid_argument(fmt::format(
        "--watch {}: write name=description, for example --watch 'title=css:h1'", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

int ProbeOnce(const config::Config& config, const std::string& url,
              std::vector<worker::WatchedField> watched) {
  const base::SystemClock clock;
  auto spec = std::make_shared<worker::ProbeSpec>();
  spec->subject_type = domain::SubjectType::kCompany;
  spec->tier = domain::Tier::kLow;
  spec->watched = std::move(watched);
  worker::ProbeRequest request;
  request.check_id = base::Uuid::V4();
  request.row_id = base::Uuid::V4();
  request.spec = std::move(spec);
  request.subject = {{"url", url}};
  request.context = base::Json::object();
  request.known = base::Json::object();
  request.until = clock.Now();
  request.timeout = config.probes.at("low").timeout_ms;
  const worker::ProbeResult result = Observe(config, std::move(request));
  if (const auto* failure = std::get_if<worker::ProbeFailure>(&result)) {
    fmt::print(stderr, "vedette probe: {} ({})\n", failure->message, failure->error_class);
    return 1;
  }
  fmt::print("{}\n", ToJson(url, std::get<worker::Observation>(result))
                         .dump(2, ' ', false, base::Json::error_handler_t::replace));
  return 0;
}

}  // namespace vedette::app
