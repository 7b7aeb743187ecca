#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "api/kit/body.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/monitor_body.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "api/tenant/outgoing.h"
#include "base/json.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits_config.h"
#include "domain/monitor/observation.h"

namespace vedette::api {
namespace {

// The rows of a body that are looked at: its first ones.
constexpr std::size_t kPreviewRowsMax = 5;
// The part of an observed value that is shown; a check keeps it whole.
constexpr std::size_t kShownCharactersMax = 4096;
constexpr const char* kNamedBy = "preview";

std::string Sentence(const domain::Failure& failure) {
  return failure.error_class + ": " + failure.message;
}

base::Json FieldJson(const domain::FieldObservation& field) {
  base::Json value = field.value.Value();
  if (value.is_string()) {
    value = base::CutCharacters(value.get_ref<const std::string&>(), kShownCharactersMax);
  }
  base::Json confidence;
  if (field.confidence) confidence = *field.confidence;
  return {{"value", std::move(value)},
          {"evidence", field.evidence.empty() ? base::Json() : base::Json(field.evidence)},
          {"sources", field.sources},
          {"confidence", std::move(confidence)}};
}

// `observed` has the fields in which something was found, or looked for and not found (value null).
base::Json RowJson(const std::string& subject_json, const domain::ObservationResult& result) {
  base::Json subject;
  base::ParseJson(subject_json, &subject, {.keep_numbers = true});  // our own text
  base::Json row{{"subject", std::move(subject)},
                 {"observed", base::Json::object()},
                 {"unread", base::Json::object()},
                 {"error", nullptr}};
  if (const auto* failure = std::get_if<domain::Failure>(&result)) {
    row["error"] = Sentence(*failure);
    return row;
  }
  const auto& seen = std::get<domain::Observation>(result);
  for (const auto& [name, field] : seen.fields) row["observed"][name] = FieldJson(field);
  for (const auto& [name, failure] : seen.unread) row["unread"][name] = Sentence(failure);
  return row;
}

rest::Reply PreviewReply(const std::vector<std::string>& subjects, const base::Json& warnings,
                         const PreviewOutcome& outcome) {
  using Refusal = PreviewOutcome::Refusal;
  if (outcome.refusal == Refusal::kAll) {
    return rest::Unavailable("too many previews are under way");
  }
  if (outcome.refusal == Refusal::kOrganisation) {
    rest::Reply reply = rest::ErrorReply(429, "rate_limited",
                                         "too many previews of your organisation are under way");
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  }
  base::Json rows = base::Json::array();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    rows.push_back(RowJson(subjects[i], outcome.rows[i]));
  }
  return {200, base::DumpJson({{"rows", std::move(rows)}, {"warnings", warnings}})};
}

// The body of POST /monitors, of which a preview needs rows, key_columns and struct alone.
CreateBody ReadBody(Call& call) {
  const config::LimitsConfig& limits = call.parts.config.limits;
  auto body = ReadJsonObject(call, RowsBodyRules(call.body_bytes_max, limits.rows_per_request_max));
  if (!body.members.contains("name")) body.members["name"] = kNamedBy;
  rest::Problems problems;
  CreateBody read = ReadCreateBody(std::move(body), limits, &problems);
  if (read.resource_handle_id) {
    problems.Add(base::Json::array({"body", "resource_handle_id"}), "value_error",
                 "A preview looks at rows of its body; take some out of the file", nullptr);
  }
  problems.Check();
  call.answer->DropBody();
  return read;
}

base::Json WarningsOf(const Call& call, const CreateBody& body, const CreateOrder& judged) {
  base::Json warnings = base::Json::array();
  const auto said = DescriptionWarnings(body.watched, judged.tier, call.parts.config,
                                        call.parts.selector_fault, call.parts.clock);
  if (said) warnings = base::ParseJsonOrThrow(*said);
  const auto addresses = AddressWarning(judged.rows, judged.tier, call.parts.config);
  if (addresses) warnings.push_back(*addresses);
  return warnings;
}

}  // namespace

rest::Handled PreviewMonitor(Call& call) {
  auto body = ReadBody(call);
  CreateOrder judged =
      TakeOrder(&body, call.parts.config.limits, call.parts.policy, call.parts.clock.Now());
  CheckFrequency(call, judged.frequency.needs_testing);
  CheckTier(call, judged.tier);
  if (!call.parts.previewer.Serves(judged.tier)) {
    return rest::Conflict("a preview reads pages; the tier " +
                          std::string(domain::TierName(judged.tier)) +
                          " is served by a research service or a model, which checks alone ask");
  }
  const auto options = body.probe ? domain::ReadProbeOptions(*body.probe) : domain::ProbeOptions();
  CheckProbe(options, judged.tier, !body.request_headers.empty(), call.parts.policy,
             call.parts.config);
  base::Json warnings = WarningsOf(call, body, judged);
  PreviewRequest request{.org_id = call.caller.org_id,
                         .tier = judged.tier,
                         .subject_type = judged.subject_type,
                         .research_plan = std::move(body.research_plan),
                         .watched = {},
                         .rows = std::move(judged.rows),
                         .request_headers = std::move(body.request_headers),
                         .options = options,
                         .secrets = {}};
  if (body.probe) request.secrets = domain::TakeSecrets(&*body.probe);
  for (const auto& [name, description] : body.watched.items()) {
    request.watched.push_back({name, description.get<std::string>()});
  }
  request.rows.resize(std::min(request.rows.size(), kPreviewRowsMax));
  std::vector<std::string> subjects;
  for (const domain::RowValues& row : request.rows) subjects.push_back(row.subject_json);
  call.parts.previewer.Preview(std::move(request),
                               [answer = call.answer, subjects = std::move(subjects),
                                warnings = std::move(warnings)](const PreviewOutcome& outcome) {
                                 answer->Send(PreviewReply(subjects, warnings, outcome));
                               });
  return rest::Parked{};
}

}  // namespace vedette::api
