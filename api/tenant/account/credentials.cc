// API keys and signing secrets of the caller's organisation, which its owner manages.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/kit/credentials.h"
#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/tenant/handlers.h"
#include "base/json.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/text/limits.h"
#include "store/accounts/accounts.h"
#include "store/accounts/signing_secrets.h"

namespace vedette::api {
namespace {

// How long former secrets sign beside a new one, at most and where nothing is said.
constexpr int kOverlapHoursMax = 72;
constexpr double kOverlapHours = 24;

rest::CursorOf KeysOf(const Call& call, const base::Uuid& org_id) {
  return {'k', org_id, CellOf(call)};
}

base::Json SecretJson(const store::SigningSecretView& secret) {
  return {{"id", secret.id.ToString()},
          {"preview", secret.preview ? base::Json(*secret.preview) : base::Json(nullptr)},
          {"created_at", base::FormatTimestamp(secret.created_at)},
          {"retires_at", base::OrNull(secret.retires_at)}};
}

void CheckSigning(const Call& call) {
  if (!call.parts.config.security.encryption_key.empty()) return;
  throw rest::Refusal(409, "signing_not_configured",
                      "the operator has not configured the signing of webhooks");
}

// Waits until the whole fleet signs with the secret.
rest::Reply NewSecretReply(const std::optional<store::NewSigningSecret>& made) {
  if (!made) return rest::NotFound("organisation");
  store::AwaitSecretsInForce();
  return rest::JsonReply(201, {{"id", made->id.ToString()},
                               {"secret", made->secret},
                               {"preview", store::SigningSecretPreview(made->secret)},
                               {"created_at", base::FormatTimestamp(made->created_at)}});
}

}  // namespace

rest::Handled CreateApiKey(Call& call) {
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  store::NewApiKey order = rest::ReadNewApiKey(&body, call.parts.clock.Now());
  order.cell = call.parts.config.cell.id;
  body.Check();
  return rest::NewApiKeyReply(store::CreateApiKey(call.session(), call.parts.clock,
                                                  call.caller.org_id, order,
                                                  AuditOf(call, "api_key.create")));
}

rest::Handled ListApiKeys(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  query.Finish({"cursor"});
  problems.Check();
  store::ApiKeyQuery wanted;
  wanted.limit = limit + 1;
  if (const auto cursor = query.Text("cursor")) {
    wanted.before = rest::DecodeIdCursor(KeysOf(call, call.caller.org_id), *cursor);
    if (!wanted.before) return rest::InvalidCursor();
  }
  auto keys = store::ListApiKeys(call.session(), call.caller.org_id, wanted);
  if (!keys) return rest::NotFound("organisation");
  const auto page = rest::CutPage(std::move(*keys), limit, [&](const store::ApiKey& key) {
    return rest::EncodeCursor(KeysOf(call, call.caller.org_id), key.id);
  });
  return rest::Reply{200, rest::PageText("api_keys", page, [](const auto& key, std::string* text) {
                       text->append(base::DumpJson(rest::ApiKeyJson(key)));
                     })};
}

rest::Handled RevokeApiKey(Call& call) {
  const base::Uuid id = call.Id(0, "API key");
  if (!store::HasApiKey(call.session(), call.caller.org_id, id)) return rest::NotFound("API key");
  CheckEmptyBody(call);
  if (!store::RevokeApiKey(call.session(), call.parts.clock, call.caller.org_id, id,
                           AuditOf(call, "api_key.revoke"))) {
    return rest::NotFound("API key");
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"revoked", true}});
}

rest::Handled ListOwnSigningSecrets(Call& call) {
  base::Json secrets = base::Json::array();
  for (const auto& secret :
       store::ListSigningSecrets(call.session(), call.caller.org_id, call.parts.config.security)) {
    if (secret.live) secrets.push_back(SecretJson(secret));
  }
  return rest::JsonReply(200, {{"signing_secrets", std::move(secrets)}});
}

rest::Handled CreateSigningSecret(Call& call) {
  CheckEmptyBody(call);
  CheckSigning(call);
  const auto first = store::MakeFirstSigningSecret(
      call.session(), call.parts.clock, call.caller.org_id,
      call.parts.config.limits.signing_secrets_live_max, call.parts.config.security,
      AuditOf(call, "signing_secret.create"));
  if (first.exists) {
    return rest::ErrorReply(409, "signing_secret_exists",
                            "the organisation signs with a secret already: roll it at "
                            "/account/signing-secrets/roll");
  }
  return NewSecretReply(first.made);
}

rest::Handled RollSigningSecret(Call& call) {
  rest::BodyReader body(call.request(), OptionalBodyRulesOf(call), rest::Nulls::kAbsent);
  const double hours = body.Number("overlap_hours", rest::Presence::kOptional, 0, kOverlapHoursMax)
                           .value_or(kOverlapHours);
  body.Check();
  CheckSigning(call);
  return NewSecretReply(
      store::RotateSigningSecret(call.session(), call.parts.clock, call.caller.org_id,
                                 std::chrono::seconds(std::llround(hours * 3600)),
                                 call.parts.config.limits.signing_secrets_live_max,
                                 call.parts.config.security, AuditOf(call, "signing_secret.roll")));
}

rest::Handled RevokeSigningSecret(Call& call) {
  const base::Uuid id = call.Id(0, "signing secret");
  const auto secrets =
      store::ListSigningSecrets(call.session(), call.caller.org_id, call.parts.config.security);
  if (std::none_of(secrets.begin(), secrets.end(),
                   [&](const auto& secret) { return secret.id == id && secret.live; })) {
    return rest::NotFound("live signing secret");
  }
  CheckEmptyBody(call);
  switch (store::RetireSigningSecret(call.session(), call.parts.clock, call.caller.org_id, id,
                                     AuditOf(call, "signing_secret.revoke"))) {
    case store::RetireOutcome::kNotFound:
      return rest::NotFound("live signing secret");
    case store::RetireOutcome::kCurrent:
      return rest::ErrorReply(409, "signing_secret_in_use",
                              "this is the secret that webhooks are signed with, and without it "
                              "none could be sent: roll it with overlap_hours 0 instead");
    case store::RetireOutcome::kDone:
      break;
  }
  store::AwaitSecretsInForce();
  return rest::JsonReply(200, {{"id", id.ToString()}, {"revoked", true}});
}

}  // namespace vedette::api
