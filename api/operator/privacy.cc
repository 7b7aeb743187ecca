#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/cursor.h"
#include "api/operator/admin_json.h"
#include "api/operator/handlers.h"
#include "base/crypto.h"
#include "base/json.h"
#include "domain/email/suppression.h"
#include "store/email/email_memory.h"
#include "store/email/erasure.h"

namespace vedette::admin {

// The suppression list. Neither an answer nor the audit names them: the audit has the kind.

namespace {

constexpr int kValueCharsMax = 2048;

struct Named {
  domain::SuppressionKey key;
  domain::SuppressionKey former;  // by which earlier releases stored it
  std::optional<base::Uuid> org_id;
  std::optional<std::string> reason;
};

// Exactly one of `email`, `profile` and `domain`, or `name` with `domain`.
std::optional<Named> ReadNamed(CallBody* body, rest::Presence reason_presence) {
  const auto text = [&](std::string_view key) {
    return body->FilledText(key, rest::Presence::kOptional, kValueCharsMax);
  };
  const auto email = text("email");
  const auto profile = text("profile");
  const auto name = text("name");
  const auto domain = text("domain");
  Named named;
  named.org_id = body->Id("org_id", rest::Presence::kOptional);
  named.reason = body->Reason(reason_presence);
  const int given = (email ? 1 : 0) + (profile ? 1 : 0) + (name || domain ? 1 : 0);
  std::vector<domain::SuppressionKey> keys;
  const auto add = [&keys](std::optional<domain::SuppressionKey> key) {
    if (key) keys.push_back(std::move(*key));
  };
  std::string_view field = "email";
  if (given == 1 && email) add(domain::AddressSuppression(*email));
  if (given == 1 && profile) {
    field = "profile";
    keys = domain::ProfileSuppressions(*profile);
  }
  if (given == 1 && (name || domain)) {
    field = "domain";
    if (name && domain) keys = domain::PersonSuppressions(*name, *domain);
    if (!name) add(domain::DomainSuppression(*domain));
  }
  if (given != 1) {
    body->Refuse("email", "Give exactly one of email, profile, domain, or name with domain");
  } else if (keys.empty()) {
    body->Refuse(field,
                 "Input should be an address, a URL of a profile, a domain, or a name with "
                 "a domain");
  }
  if (keys.empty()) return std::nullopt;
  named.key = keys.front();
  named.former = keys.back();
  return named;
}

constexpr rest::CursorOf kSuppressionList{'s'};

base::Json SuppressionJson(const store::SuppressionView& entry) {
  return {{"id", entry.id.ToString()},
          {"kind", domain::SuppressionKindName(entry.kind)},
          {"org_id", IdJson(entry.org_id)},
          {"reason", entry.reason},
          {"created_at", base::FormatTimestamp(entry.created_at)}};
}

store::AuditEntry AuditOfKey(const Call& call, std::string action, const Named& named) {
  store::AuditEntry audit = AuditOf(call, std::move(action), named.reason);
  audit.target = domain::SuppressionKindName(named.key.kind);
  audit.org_id = named.org_id;
  return audit;
}

}  // namespace

rest::Handled GetSuppressions(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::SuppressionFilter filter;
  if (const auto kind = input.Text("kind"); kind && !kind->empty()) {
    filter.kind = domain::ParseSuppressionKind(*kind);
    if (!filter.kind) {
      input.Refuse("kind", "enum", "Input should be address, domain, profile or person");
    }
  }
  filter.org_id = input.Id("org_id");
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  if (list.cursor) {
    const auto place = rest::DecodeTimedCursor(kSuppressionList, *list.cursor);
    if (!place) return rest::InvalidCursor();
    filter.before = {place->at, place->id};
  }
  filter.limit = list.limit + 1;
  const auto page = rest::CutPage(
      store::ListSuppressions(call.session(), filter), list.limit,
      [](const store::SuppressionView& entry) {
        return rest::EncodeCursor(kSuppressionList, rest::TimedPlace{entry.created_at, entry.id});
      });
  return ListReply(page, SuppressionJson);
}

rest::Handled PostSuppression(Call& call) {
  CallBody body(call);
  const auto named = ReadNamed(&body, rest::Presence::kRequired);
  body.Check();
  const auto outcome = store::Suppress(call.session(), call.parts.clock, named->key, named->org_id,
                                       *named->reason, AuditOfKey(call, "suppression.add", *named));
  if (outcome == store::SuppressOutcome::kNoOrganisation) return rest::NotFound("organisation");
  return rest::JsonReply(200, {{"kind", domain::SuppressionKindName(named->key.kind)},
                               {"added", outcome == store::SuppressOutcome::kDone}});
}

rest::Handled PostUnsuppression(Call& call) {
  CallBody body(call);
  const auto named = ReadNamed(&body, rest::Presence::kOptional);
  body.Check();
  const auto remove = [&](const domain::SuppressionKey& key) {
    return store::Unsuppress(call.session(), call.parts.clock, key, named->org_id,
                             AuditOfKey(call, "suppression.remove", *named));
  };
  const bool was_stored = remove(named->key);
  const bool removed = (named->former != named->key && remove(named->former)) || was_stored;
  return rest::JsonReply(
      200, {{"kind", domain::SuppressionKindName(named->key.kind)}, {"removed", removed}});
}

// Takes a person out of what is stored of lookups. Neither an answer nor the audit names the
// person.

namespace {

using Phase = store::ErasurePlace::Phase;

// The work of one call; the rest follows by its cursor.
constexpr std::chrono::seconds kTimePerCall{5};

// The place where the last call ended, by what it was at.
constexpr std::pair<Phase, char> kCursorKinds[] = {
    {Phase::kJobs, 'x'},        {Phase::kAnswers, 'a'},  {Phase::kSnapshots, 'z'},
    {Phase::kMonitorRows, 'y'}, {Phase::kMonitors, 'm'}, {Phase::kWorkflows, 'u'},
    {Phase::kSchedules, 'v'}};

// What a cursor is bound to: whom it is about, of which organisation, and whether it is a dry run,
// as the first call of another erasure would be left out otherwise.
base::Uuid DigestOf(const store::Erasure& erasure) {
  std::string text = erasure.mode == store::Erasure::Mode::kCount ? "count" : "erase";
  for (const domain::SuppressionKey& key : erasure.target.keys()) {
    text += domain::SuppressionKindName(key.kind);
    text += key.hash;
  }
  if (erasure.org_id) text += erasure.org_id->ToString();
  const std::string digest = base::Sha256(text);
  base::Uuid id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

std::string EncodePlace(const store::Erasure& erasure, const store::ErasurePlace& place) {
  const auto* kind = std::find_if(std::begin(kCursorKinds), std::end(kCursorKinds),
                                  [&](const auto& one) { return one.first == place.phase; });
  return rest::EncodeCursor({kind->second, DigestOf(erasure)}, place.after);
}

std::optional<store::ErasurePlace> DecodePlace(const store::Erasure& erasure,
                                               const std::string& cursor) {
  const base::Uuid digest = DigestOf(erasure);
  for (const auto& [phase, kind] : kCursorKinds) {
    if (const auto after = rest::DecodeIdCursor({kind, digest}, cursor)) {
      return store::ErasurePlace{phase, *after};
    }
  }
  return std::nullopt;
}

base::Json IdsJson(const std::vector<base::Uuid>& ids) {
  base::Json json = base::Json::array();
  for (const base::Uuid& id : ids) json.push_back(id.ToString());
  return json;
}

base::Json StepJson(const store::Erasure& erasure, const store::ErasureStep& step) {
  base::Json rows = base::Json::array();
  for (const store::ErasedRow& row : step.monitor_rows) {
    rows.push_back({{"monitor_id", row.monitor_id.ToString()}, {"row_id", row.row_id.ToString()}});
  }
  base::Json json{{"facts", step.facts},
                  {"recipients", step.recipients},
                  {"audit_entries", step.audit_entries},
                  {"jobs", step.jobs},
                  {"rows", step.rows},
                  {"findings", step.findings},
                  {"answers", step.answers},
                  {"snapshots", step.snapshots},
                  {"monitor_rows", std::move(rows)},
                  {"monitors", IdsJson(step.monitors)},
                  {"workflows", IdsJson(step.workflows)},
                  {"schedules", IdsJson(step.schedules)}};
  if (step.next.phase != Phase::kDone) json["next_cursor"] = EncodePlace(erasure, step.next);
  return json;
}

// Nobody looks the person up from now on, so that nothing new comes in behind the erasure. Each
// call says so, and is in the audit. The reason is in the entry of the first one alone: should it
// name the person, that call takes it out again. False where there is no such organisation.
bool SuppressFirst(const Call& call, const store::Erasure& erasure, const std::string& reason,
                   bool goes_on) {
  for (const domain::SuppressionKey& key : erasure.target.keys()) {
    store::AuditEntry audit =
        AuditOf(call, "erase", goes_on ? std::nullopt : std::optional(reason));
    audit.target = domain::SuppressionKindName(key.kind);
    audit.org_id = erasure.org_id;
    const auto outcome =
        store::Suppress(call.session(), call.parts.clock, key, erasure.org_id, reason, audit);
    if (outcome == store::SuppressOutcome::kNoOrganisation) return false;
  }
  return true;
}

}  // namespace

rest::Handled PostErase(Call& call) {
  CallBody body(call);
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
  body.Check();
  const store::Erasure erasure{
      std::move(*target), org_id,
      is_dry ? store::Erasure::Mode::kCount : store::Erasure::Mode::kErase};
  store::ErasurePlace place;
  if (cursor) {
    const auto decoded = DecodePlace(erasure, *cursor);
    if (!decoded) return rest::InvalidCursor();
    place = *decoded;
  }
  if (!is_dry && !SuppressFirst(call, erasure, *reason, cursor.has_value())) {
    return rest::NotFound("organisation");
  }
  const auto step =
      store::EraseSome(call.session(), call.parts.clock, erasure, place, kTimePerCall);
  return rest::JsonReply(200, StepJson(erasure, step));
}

}  // namespace vedette::admin
