#include <chrono>
#include <string>
#include <utility>

#include "admin/handlers.h"
#include "admin/shapes.h"
#include "rest/cursor.h"
#include "store/email/email_memory.h"
#include "store/email/erasure.h"

// Takes a person out of what is stored of lookups. Neither an answer nor the audit names the
// person.
namespace vedette::admin {
namespace {

using Phase = store::ErasurePlace::Phase;

constexpr int kValueCharsMax = 2048;
// The work of one call; the rest follows by its cursor.
constexpr std::chrono::seconds kTimePerCall{5};

// Where the last call ended, by what it was at.
constexpr char kAtJobs = 'x';
constexpr char kAtMonitorRows = 'y';

std::string EncodePlace(const store::ErasurePlace& place) {
  return rest::EncodeCursor({place.phase == Phase::kJobs ? kAtJobs : kAtMonitorRows}, place.after);
}

std::optional<store::ErasurePlace> DecodePlace(const std::string& cursor) {
  if (const auto after = rest::DecodeIdCursor({kAtJobs}, cursor)) {
    return store::ErasurePlace{Phase::kJobs, *after};
  }
  if (const auto after = rest::DecodeIdCursor({kAtMonitorRows}, cursor)) {
    return store::ErasurePlace{Phase::kMonitorRows, *after};
  }
  return std::nullopt;
}

base::Json StepJson(const store::ErasureStep& step) {
  base::Json rows = base::Json::array();
  for (const store::ErasedRow& row : step.monitor_rows) {
    rows.push_back({{"monitor_id", row.monitor_id.ToString()}, {"row_id", row.row_id.ToString()}});
  }
  base::Json json{{"facts", step.facts},
                  {"jobs", step.jobs},
                  {"rows", step.rows},
                  {"findings", step.findings},
                  {"monitor_rows", std::move(rows)}};
  if (step.next.phase != Phase::kDone) json["next_cursor"] = EncodePlace(step.next);
  return json;
}

// Nobody looks the person up from now on, so that nothing new comes in behind the erasure. False
// where there is no such organisation.
bool SuppressFirst(const Parts& parts, store::Session& session, const Call& call,
                   const store::Erasure& erasure, const std::optional<std::string>& reason) {
  for (const domain::SuppressionKey& key : erasure.target.keys()) {
    store::AuditEntry audit = AuditOf(call, "erase", reason);
    audit.target = domain::SuppressionKindName(key.kind);
    audit.org_id = erasure.org_id;
    const auto outcome = store::Suppress(session, parts.clock, key, erasure.org_id, *reason, audit);
    if (outcome == store::SuppressOutcome::kNoOrganisation) return false;
  }
  return true;
}

}  // namespace

rest::Reply PostErase(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto email = body.FilledText("email", rest::Presence::kRequired, kValueCharsMax);
  const auto profile = body.FilledText("profile", rest::Presence::kOptional, kValueCharsMax);
  const auto org_id = body.Id("org_id", rest::Presence::kOptional);
  const bool is_dry = body.Boolean("dry_run", rest::Presence::kOptional).value_or(false);
  const auto cursor = body.FilledText("cursor", rest::Presence::kOptional, kValueCharsMax);
  const auto reason = body.Reason(is_dry ? rest::Presence::kOptional : rest::Presence::kRequired);
  auto target = domain::ErasureTarget::Of(email.value_or(""), profile.value_or(""));
  if (email && !target) {
    body.Refuse("email", "Input should be an address, and profile the URL of a profile");
  }
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const store::Erasure erasure{
      std::move(*target), org_id,
      is_dry ? store::Erasure::Mode::kCount : store::Erasure::Mode::kErase};
  store::ErasurePlace place;
  if (cursor) {
    const auto decoded = DecodePlace(*cursor);
    if (!decoded) return rest::InvalidCursor();
    place = *decoded;
  } else if (!is_dry && !SuppressFirst(parts, session, call, erasure, reason)) {
    return rest::NotFound("organisation");
  }
  return rest::JsonReply(
      200, StepJson(store::EraseSome(session, parts.clock, erasure, place, kTimePerCall)));
}

}  // namespace vedette::admin
