#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "api/kit/credentials.h"
#include "api/kit/cursor.h"
#include "api/kit/ledger.h"
#include "api/operator/admin_json.h"
#include "api/operator/handlers.h"
#include "base/json.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/money/money.h"
#include "domain/monitor/enums.h"
#include "domain/text/limits.h"
#include "store/accounts/accounts.h"
#include "store/accounts/signing_secrets.h"
#include "store/monitors/control.h"

namespace vedette::admin {
namespace {

constexpr rest::CursorOf kOrganisationList{'o'};

constexpr std::size_t kExternalIdCharsMax = 255;

// A year; longer than that is no rotation.
constexpr double kOverlapHoursMax = 8760;

const std::vector<std::string_view>& Features() {
  static const std::vector<std::string_view> kFeatures = {
      domain::kFeatureMonitors, domain::kFeatureTestingMonitors, domain::kFeatureHighTier,
      domain::kFeatureXhigh};
  return kFeatures;
}

rest::Reply NoOrganisation() {
  return rest::NotFound("organisation");
}

// Reads "spend_limit", where null says "none". False where it is negative or no number.
std::optional<std::int64_t> ReadSpendLimit(rest::BodyReader* body) {
  if (body->IsNull("spend_limit")) return std::nullopt;
  const auto limit_mc = body->Credits("spend_limit", rest::Presence::kOptional);
  if (limit_mc && *limit_mc < 0) body->Refuse("spend_limit", "Input should not be negative");
  return limit_mc;
}

}  // namespace

rest::Handled PostOrganisation(Call& call) {
  CallBody body(call);
  const auto name = body.FilledText("name", rest::Presence::kRequired, domain::kNameCharsMax);
  const auto features = body.Names("features", rest::Presence::kOptional, Features());
  const auto reason = body.Reason();
  body.Check();
  const base::Uuid id = store::CreateOrganisation(
      call.session(), call.parts.clock,
      {*name, features.value_or(std::vector<std::string>{}), call.parts.config.cell.id},
      AuditOf(call, "org.create", reason));
  base::Json made{{"id", id.ToString()}};
  if (!features ||
      std::find(features->begin(), features->end(), domain::kFeatureMonitors) == features->end()) {
    made["warnings"] = base::Json::array(
        {"Without the feature monitors its API answers every request for monitors with 403."});
  }
  return rest::JsonReply(201, made);
}

rest::Handled GetOrganisations(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::OrganisationQuery query;
  query.q = input.Text("q").value_or("");
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  if (list.cursor) {
    query.before = rest::DecodeIdCursor(kOrganisationList, *list.cursor);
    if (!query.before) return rest::InvalidCursor();
  }
  query.limit = list.limit + 1;
  const auto page = rest::CutPage(
      store::ListOrganisations(call.session(), query), list.limit,
      [](const store::Organisation& org) { return rest::EncodeCursor(kOrganisationList, org.id); });
  return ListReply(page, OrganisationJson);
}

rest::Handled GetOrganisation(Call& call) {
  const auto org = store::ReadOrganisation(call.session(), call.Id(0));
  if (!org) return NoOrganisation();
  return rest::JsonReply(200, OrganisationJson(*org));
}

// Sets external_id, which is changed by itself: it has nothing to do with what may run.
rest::Handled ChangeExternalId(Call& call, const std::optional<std::string>& external_id,
                               const std::optional<std::string>& reason) {
  switch (store::SetExternalId(call.session(), call.parts.clock, call.Id(0), external_id,
                               AuditOf(call, "org.external_id", reason))) {
    case store::ExternalIdOutcome::kNotFound:
      return NoOrganisation();
    case store::ExternalIdOutcome::kTaken:
      return rest::ErrorReply(409, "external_id_taken",
                              "another organisation has this external_id");
    case store::ExternalIdOutcome::kDone:
      break;
  }
  return GetOrganisation(call);
}

rest::Handled PatchOrganisation(Call& call) {
  CallBody body(call);
  store::OrganisationChange change;
  change.locked = body.Boolean("locked", rest::Presence::kOptional);
  change.features = body.Names("features", rest::Presence::kOptional, Features());
  const bool names = body.Has("external_id");
  std::optional<std::string> external_id;
  if (!body.IsNull("external_id")) {
    external_id = body.FilledText("external_id", rest::Presence::kOptional, kExternalIdCharsMax);
  }
  const auto reason = body.Reason();
  const bool switches = body.Has("locked") || body.Has("features");
  if (!names && !switches) body.Refuse("locked", "Give locked, features, or both; or external_id");
  if (names && switches) body.Refuse("external_id", "Input is changed by itself");
  body.Check();
  if (names) return ChangeExternalId(call, external_id, reason);
  store::AuditEntry audit = AuditOf(call, "org.change", reason);
  audit.org_id = call.Id(0);
  base::Json detail = base::Json::object();
  if (change.locked) detail["locked"] = *change.locked;
  if (change.features) detail["features"] = *change.features;
  audit.detail = std::move(detail);
  if (!store::ChangeOrganisation(call.session(), call.parts.clock, call.Id(0), change, audit)) {
    return NoOrganisation();
  }
  call.parts.signals.Raise(store::Signal::kDue);
  return GetOrganisation(call);
}

rest::Handled PostCredits(Call& call) {
  CallBody body(call);
  const auto amount_mc = body.Credits("amount", rest::Presence::kRequired);
  if (amount_mc == 0) body.Refuse("amount", "Input should not be 0");
  const auto reason = body.Reason(rest::Presence::kRequired);
  body.Check();
  const store::CreditOutcome outcome =
      store::AddCredits(call.session(), call.parts.clock, call.Id(0), *amount_mc, *reason,
                        AuditOf(call, "org.credits", reason));
  using Kind = store::CreditOutcome::Kind;
  const std::string balance = domain::FormatCredits(outcome.balance_mc);
  switch (outcome.kind) {
    case Kind::kNotFound:
      return NoOrganisation();
    case Kind::kWouldBeNegative:
      return rest::ErrorReply(409, "insufficient_balance",
                              fmt::format("the balance is {} and cannot become negative", balance));
    case Kind::kWouldBeTooLarge:
      return rest::ErrorReply(409, "balance_too_large",
                              fmt::format("the balance is {} and cannot exceed {}", balance,
                                          domain::FormatCredits(store::kBalanceMcMax)));
    case Kind::kDone:
      break;
  }
  // Credits may be what skipped checks waited for; the next tick asks again, nothing is woken.
  return rest::JsonReply(200, {{"balance", domain::CreditsToJson(outcome.balance_mc)}});
}

rest::Handled PostTeam(Call& call) {
  CallBody body(call);
  const auto name = body.FilledText("name", rest::Presence::kRequired, domain::kNameCharsMax);
  const auto limit_mc = ReadSpendLimit(&body);
  const auto reason = body.Reason();
  body.Check();
  const auto id = store::CreateTeam(call.session(), call.parts.clock, call.Id(0), *name, limit_mc,
                                    AuditOf(call, "team.create", reason));
  if (!id) return NoOrganisation();
  return rest::JsonReply(201, {{"id", id->ToString()}});
}

rest::Handled PatchTeam(Call& call) {
  CallBody body(call);
  store::TeamChange change;
  change.name = body.FilledText("name", rest::Presence::kOptional, domain::kNameCharsMax);
  change.set_spend_limit = body.Has("spend_limit");
  change.spend_limit_mc = ReadSpendLimit(&body);
  const auto reason = body.Reason();
  if (!body.Has("name") && !body.Has("spend_limit")) {
    body.Refuse("spend_limit", "Give name, spend_limit, or both");
  }
  body.Check();
  const auto team = store::ChangeTeam(call.session(), call.parts.clock, call.Id(0), call.Id(1),
                                      change, AuditOf(call, "team.change", reason));
  if (!team) return rest::NotFound("team of this organisation");
  return rest::JsonReply(200, TeamJson(*team));
}

rest::Handled DeleteTeam(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  switch (store::DeleteTeam(call.session(), call.parts.clock, call.Id(0), call.Id(1),
                            AuditOf(call, "team.delete", reason))) {
    case store::TeamDeletion::kNotFound:
      return rest::NotFound("team of this organisation");
    case store::TeamDeletion::kInUse:
      return rest::Conflict(
          "the team still has API keys, OAuth clients, sessions, members, invitations, open jobs, "
          "active schedules of workflows, or monitors that are not archived");
    case store::TeamDeletion::kDone:
      break;
  }
  return rest::Reply{204, {}};
}

rest::Handled GetApiKeys(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  const rest::CursorOf keys_of{'k', call.Id(0)};
  store::ApiKeyQuery query;
  if (list.cursor) {
    query.before = rest::DecodeIdCursor(keys_of, *list.cursor);
    if (!query.before) return rest::InvalidCursor();
  }
  query.limit = list.limit + 1;
  auto keys = store::ListApiKeys(call.session(), call.Id(0), query);
  if (!keys) return NoOrganisation();
  const auto page = rest::CutPage(std::move(*keys), list.limit, [&](const store::ApiKey& key) {
    return rest::EncodeCursor(keys_of, key.id);
  });
  return ListReply(page, rest::ApiKeyJson);
}

rest::Handled PostApiKey(Call& call) {
  CallBody body(call);
  store::NewApiKey order = rest::ReadNewApiKey(&body, call.parts.clock.Now());
  order.cell = call.parts.config.cell.id;
  const auto reason = body.Reason();
  body.Check();
  return rest::NewApiKeyReply(store::CreateApiKey(call.session(), call.parts.clock, call.Id(0),
                                                  order, AuditOf(call, "api_key.create", reason)));
}

rest::Handled DeleteApiKey(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  if (!store::RevokeApiKey(call.session(), call.parts.clock, call.Id(0), call.Id(1),
                           AuditOf(call, "api_key.revoke", reason))) {
    return rest::NotFound("API key of this organisation");
  }
  return rest::Reply{204, {}};
}

rest::Handled GetSigningSecrets(Call& call) {
  if (!store::ReadOrganisation(call.session(), call.Id(0))) return NoOrganisation();
  base::Json items = base::Json::array();
  for (const auto& secret :
       store::ListSigningSecrets(call.session(), call.Id(0), call.parts.config.security)) {
    items.push_back({{"id", secret.id.ToString()},
                     {"preview", TextJson(secret.preview)},
                     {"encryption_key_id", secret.encryption_key_id},
                     {"live", secret.live},
                     {"created_at", TimeJson(secret.created_at)},
                     {"retires_at", TimeJson(secret.retires_at)}});
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

rest::Handled GetEncryptionKeys(Call& call) {
  base::Json items = base::Json::array();
  for (const auto& key : store::ReadEncryptionKeys(call.session(), call.parts.config.security)) {
    using Place = store::EncryptionKeyUse::Place;
    const char* place = key.place == Place::kPresent  ? "encryption_key"
                        : key.place == Place::kFormer ? "encryption_keys_old"
                                                      : "not configured here";
    items.push_back({{"id", key.id},
                     {"place", place},
                     {"live_secrets", key.secrets},
                     {"organisations", key.organisations},
                     {"monitors", key.monitors},
                     {"channels", key.channels}});
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

rest::Handled PostReseal(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  const auto done =
      store::ResealSigningSecrets(call.session(), call.parts.clock, call.parts.config.security,
                                  AuditOf(call, "signing_secrets.reseal", reason));
  // What is live under a key that this process lacks is left to one that has it.
  std::int64_t unknown = 0;
  for (const auto& key : store::ReadEncryptionKeys(call.session(), call.parts.config.security)) {
    if (key.place == store::EncryptionKeyUse::Place::kUnknown) {
      unknown += key.secrets + key.monitors + key.channels;
    }
  }
  return rest::JsonReply(200, {{"resealed", done.resealed},
                               {"unreadable", done.unreadable + unknown},
                               {"done", done.done && unknown == 0}});
}

rest::Handled PostRotation(Call& call) {
  CallBody body(call);
  const auto hours = body.Number("overlap_hours", rest::Presence::kRequired, 0, kOverlapHoursMax);
  const auto reason = body.Reason();
  body.Check();
  const std::chrono::seconds overlap(std::llround(*hours * 3600));
  const auto made = store::RotateSigningSecret(
      call.session(), call.parts.clock, call.Id(0), overlap,
      call.parts.config.limits.signing_secrets_live_max, call.parts.config.security,
      AuditOf(call, "signing_secret.rotate", reason));
  if (!made) return NoOrganisation();
  store::AwaitSecretsInForce();
  return rest::JsonReply(200, {{"id", made->id.ToString()}, {"secret", made->secret}});
}

// What an organisation's account holds for work that has not ended, and its ledger: pages of it,
// and statements.

namespace {

// A statement is made whole here. A longer one is asked for month by month, or by day.
constexpr std::size_t kStatementBytesMax = std::size_t{32} << 20;

}  // namespace

rest::Handled GetReservations(Call& call) {
  if (!store::ReadOrganisation(call.session(), call.Id(0))) return rest::NotFound("organisation");
  return rest::ReservationsReply(
      store::ReadReservations(call.session(), {call.Id(0), std::nullopt}, rest::kReservationsMax));
}

rest::Handled GetLedger(Call& call) {
  const store::Scope scope{call.Id(0), std::nullopt};
  if (!store::ReadOrganisation(call.session(), call.Id(0))) return rest::NotFound("organisation");
  const auto query = rest::ReadLedgerQuery(call.session(), scope, call.request().query);
  if (query.format == rest::LedgerQuery::Format::kJson)
    return rest::LedgerPage(call.session(), query);
  const rest::PieceSource source = rest::Statement(query);
  std::string text;
  std::string piece;
  for (bool last = false; !last; piece.clear()) {
    last = source(call.session(), &piece);
    text += piece;
    if (text.size() > kStatementBytesMax) {
      return rest::ErrorReply(422, "statement_too_long",
                              "the statement is longer than 32 MiB: ask for a shorter time, or by "
                              "day");
    }
  }
  return rest::Reply{200, std::move(text), {{"Content-Type", std::string(rest::kCsvType)}}};
}

}  // namespace vedette::admin
