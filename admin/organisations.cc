#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "admin/handlers.h"
#include "admin/input.h"
#include "admin/shapes.h"
#include "domain/money.h"
#include "domain/names.h"
#include "store/accounts.h"
#include "store/control.h"
#include "store/signing_secrets.h"

namespace vedette::admin {
namespace {

// A year; longer than that is no rotation.
constexpr double kOverlapHoursMax = 8760;

const std::vector<std::string_view>& Features() {
  static const std::vector<std::string_view> kFeatures = {
      domain::kFeatureMonitors, domain::kFeatureTestingMonitors, domain::kFeatureHighTier};
  return kFeatures;
}

Answer NoOrganisation() {
  return NotFound("organisation");
}

// Reads "spend_limit", where null says "none". False where it is negative or no number.
std::optional<std::int64_t> ReadSpendLimit(BodyReader* body) {
  if (body->IsNull("spend_limit")) return std::nullopt;
  const auto limit_mc = body->Credits("spend_limit", Presence::kOptional);
  if (limit_mc && *limit_mc < 0) body->Refuse("spend_limit", "Input should not be negative");
  return limit_mc;
}

}  // namespace

Answer PostOrganisation(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto name = body.Text("name", Presence::kRequired, kNameCharsMax);
  const auto features = body.Names("features", Presence::kOptional, Features());
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const base::Uuid id = store::CreateOrganisation(session, parts.clock, *name,
                                                  features.value_or(std::vector<std::string>{}),
                                                  AuditOf(call, "org.create", reason));
  return JsonAnswer(201, {{"id", id.ToString()}});
}

Answer GetOrganisations(const Parts&, store::Session& session, const Call& call) {
  QueryReader input(call.request);
  store::OrganisationQuery query;
  query.q = input.Text("q").value_or("");
  const int limit = input.Limit();
  const auto cursor_text = input.Text("cursor");
  if (auto refusal = input.Refusal()) return *refusal;
  if (cursor_text) {
    const auto cursor = ReadCursor('o', *cursor_text);
    if (!cursor) return BadCursor();
    query.before = cursor->id;
  }
  query.limit = limit + 1;
  auto orgs = store::ListOrganisations(session, query);
  std::optional<std::string> next;
  if (orgs.size() > static_cast<std::size_t>(limit)) {
    orgs.resize(static_cast<std::size_t>(limit));
    next = MakeCursor('o', orgs.back().id);
  }
  base::Json items = base::Json::array();
  for (const auto& org : orgs) items.push_back(OrganisationJson(org));
  return JsonAnswer(200, ListJson(std::move(items), next));
}

Answer GetOrganisation(const Parts&, store::Session& session, const Call& call) {
  const auto org = store::ReadOrganisation(session, call.ids[0]);
  if (!org) return NoOrganisation();
  return JsonAnswer(200, OrganisationJson(*org));
}

Answer PatchOrganisation(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  store::OrganisationChange change;
  change.locked = body.Bool("locked", Presence::kOptional);
  change.features = body.Names("features", Presence::kOptional, Features());
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (!body.Has("locked") && !body.Has("features")) {
    body.Refuse("locked", "Give locked, features, or both");
  }
  if (auto refusal = body.Refusal()) return *refusal;
  store::AuditEntry audit = AuditOf(call, "org.change", reason);
  audit.org_id = call.ids[0];
  audit.detail = base::Json::object();
  if (change.locked) (*audit.detail)["locked"] = *change.locked;
  if (change.features) (*audit.detail)["features"] = *change.features;
  if (!store::ChangeOrganisation(session, parts.clock, call.ids[0], change, audit)) {
    return NoOrganisation();
  }
  parts.signals.Raise(store::Signal::kDue);
  return GetOrganisation(parts, session, call);
}

Answer PostCredits(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto amount_mc = body.Credits("amount", Presence::kRequired);
  if (amount_mc == 0) body.Refuse("amount", "Input should not be 0");
  const auto reason = body.Text("reason", Presence::kRequired, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const store::CreditOutcome outcome = store::AddCredits(
      session, parts.clock, call.ids[0], *amount_mc, *reason, AuditOf(call, "org.credits", reason));
  using Kind = store::CreditOutcome::Kind;
  const std::string balance = domain::FormatCredits(outcome.balance_mc);
  switch (outcome.kind) {
    case Kind::kNotFound:
      return NoOrganisation();
    case Kind::kWouldBeNegative:
      return Conflict("insufficient_balance",
                      fmt::format("the balance is {} and cannot become negative", balance));
    case Kind::kWouldBeTooLarge:
      return Conflict("balance_too_large",
                      fmt::format("the balance is {} and cannot exceed {}", balance,
                                  domain::FormatCredits(store::kBalanceMcMax)));
    case Kind::kDone:
      break;
  }
  // Credits may be what skipped checks waited for; the next tick asks anew, nothing is woken.
  return JsonAnswer(200, {{"balance", domain::CreditsToJson(outcome.balance_mc)}});
}

Answer PostTeam(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto name = body.Text("name", Presence::kRequired, kNameCharsMax);
  const auto limit_mc = ReadSpendLimit(&body);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const auto id = store::CreateTeam(session, parts.clock, call.ids[0], *name, limit_mc,
                                    AuditOf(call, "team.create", reason));
  if (!id) return NoOrganisation();
  return JsonAnswer(201, {{"id", id->ToString()}});
}

Answer PatchTeam(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  store::TeamChange change;
  change.name = body.Text("name", Presence::kOptional, kNameCharsMax);
  change.set_spend_limit = body.Has("spend_limit");
  change.spend_limit_mc = ReadSpendLimit(&body);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (!body.Has("name") && !body.Has("spend_limit")) {
    body.Refuse("spend_limit", "Give name, spend_limit, or both");
  }
  if (auto refusal = body.Refusal()) return *refusal;
  const auto team = store::ChangeTeam(session, parts.clock, call.ids[0], call.ids[1], change,
                                      AuditOf(call, "team.change", reason));
  if (!team) return NotFound("team of this organisation");
  return JsonAnswer(200, TeamJson(*team));
}

Answer GetApiKeys(const Parts&, store::Session& session, const Call& call) {
  QueryReader input(call.request);
  const int limit = input.Limit();
  const auto cursor_text = input.Text("cursor");
  if (auto refusal = input.Refusal()) return *refusal;
  store::ApiKeyQuery query;
  if (cursor_text) {
    const auto cursor = ReadCursor('k', *cursor_text);
    if (!cursor) return BadCursor();
    query.before = cursor->id;
  }
  query.limit = limit + 1;
  auto keys = store::ListApiKeys(session, call.ids[0], query);
  if (!keys) return NoOrganisation();
  std::optional<std::string> next;
  if (keys->size() > static_cast<std::size_t>(limit)) {
    keys->resize(static_cast<std::size_t>(limit));
    next = MakeCursor('k', keys->back().id);
  }
  base::Json items = base::Json::array();
  for (const auto& key : *keys) items.push_back(ApiKeyJson(key));
  return JsonAnswer(200, ListJson(std::move(items), next));
}

Answer PostApiKey(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto name = body.Text("name", Presence::kRequired, kNameCharsMax);
  std::optional<base::Uuid> team_id;
  if (!body.IsNull("team_id")) team_id = body.Id("team_id", Presence::kOptional);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const store::ApiKeyOutcome made = store::CreateApiKey(
      session, parts.clock, call.ids[0], *name, team_id, AuditOf(call, "api_key.create", reason));
  using Kind = store::ApiKeyOutcome::Kind;
  if (made.kind == Kind::kNoOrganisation) return NoOrganisation();
  if (made.kind == Kind::kNoTeam) return NotFound("team of this organisation");
  return JsonAnswer(201, {{"id", made.id.ToString()}, {"key", made.key}});
}

Answer DeleteApiKey(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  if (!store::RevokeApiKey(session, parts.clock, call.ids[0], call.ids[1],
                           AuditOf(call, "api_key.revoke", reason))) {
    return NotFound("API key of this organisation");
  }
  return Answer{204, {}, {}};
}

Answer PostRotation(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto hours = body.Number("overlap_hours", Presence::kRequired, 0, kOverlapHoursMax);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const std::chrono::seconds overlap(std::llround(*hours * 3600));
  const auto made = store::RotateSigningSecret(
      session, parts.clock, call.ids[0], overlap, parts.config.limits.signing_secrets_live_max,
      parts.config.security, AuditOf(call, "signing_secret.rotate", reason));
  if (!made) return NoOrganisation();
  store::AwaitSecretsInForce();
  return JsonAnswer(200, {{"id", made->id.ToString()}, {"secret", made->secret}});
}

}  // namespace vedette::admin
