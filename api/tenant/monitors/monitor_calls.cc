#include "api/tenant/monitors/monitor_calls.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/json.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "html/url_reference.h"

namespace vedette::api {

void CheckFrequency(const Call& call, const NeedsTesting& needs_testing) {
  CheckFeature(call, needs_testing.has_value(), domain::kFeatureTestingMonitors,
               needs_testing.value_or(std::string()));
}

void CheckTier(const Call& call, domain::Tier tier) {
  CheckTier(call.caller, tier);
}

rest::Reply ChangedMeanwhile(std::string_view what) {
  return rest::ErrorReply(
      409, "changed_meanwhile",
      fmt::format("the {} was changed by others at the same moment; try again", what));
}

rest::Reply TestReply(const WebhookTestOutcome& outcome) {
  using Refusal = WebhookTestOutcome::Refusal;
  if (outcome.refusal == Refusal::kAll) {
    return rest::Unavailable("too many webhook tests are under way");
  }
  if (outcome.refusal == Refusal::kOrganisation) {
    rest::Reply reply = rest::ErrorReply(
        429, "rate_limited", "too many webhook tests of your organisation are under way");
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  }
  base::Json json{{"delivered", outcome.delivered},
                  {"status_code", nullptr},
                  {"error", nullptr},
                  {"duration_ms", outcome.duration_ms}};
  if (outcome.status_code) json["status_code"] = *outcome.status_code;
  if (outcome.error) json["error"] = *outcome.error;
  return {200, base::DumpJson(json)};
}

namespace {

bool HasAddress(const domain::RowValues& row) {
  base::Json subject;
  base::Json context = base::Json::object();
  const base::JsonLimits limits{.keep_numbers = true};
  if (base::ParseJson(row.subject_json, &subject, limits)) return true;
  if (row.context_json && base::ParseJson(*row.context_json, &context, limits)) return true;
  return html::PageAddress(subject, context).has_value();
}

}  // namespace

std::optional<std::string> AddressWarning(const std::vector<domain::RowValues>& rows,
                                          domain::Tier tier, const config::Config& config) {
  const auto probe = config.probes.find(std::string(domain::TierName(tier)));
  if (probe == config.probes.end() || probe->second.kind != "web") return std::nullopt;
  const std::size_t looked_at = std::min(rows.size(), kAddressRowsLookedAtMax);
  std::size_t without = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < looked_at; ++i) {
    if (HasAddress(rows[i])) continue;
    if (without++ == 0) first = i;
  }
  if (without == 0) return std::nullopt;
  return fmt::format(
      "rows: {} of the first {} have no url, website or domain that names a page, rows[{}] is the "
      "first of them. Their checks will fail.",
      without, looked_at, first);
}

}  // namespace vedette::api
