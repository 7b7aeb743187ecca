#include "api/kit/credentials.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "domain/auth/cell.h"
#include "domain/text/limits.h"

namespace vedette::rest {
namespace {

std::vector<std::string_view> ScopeNames() {
  std::vector<std::string_view> names;
  names.reserve(domain::kKeyScopes.size());
  for (const auto scope : domain::kKeyScopes) names.push_back(domain::KeyScopeName(scope));
  return names;
}

}  // namespace

base::Json ApiKeyJson(const store::ApiKey& key) {
  return {
      {"id", key.id.ToString()},
      {"name", key.name},
      {"prefix", key.prefix},
      {"scopes", key.scopes.Names()},
      {"expires_at", base::OrNull(key.expires_at)},
      {"team_id", key.team_id ? base::Json(key.team_id->ToString()) : base::Json(nullptr)},
      {"created_at", base::FormatTimestamp(key.created_at)},
      {"last_used_at", base::OrNull(key.last_used_at)},
  };
}

std::string DashboardLink(const std::string& public_url, const std::string& cell,
                          const std::string& page) {
  return domain::DashboardUrl(public_url, cell) + page;
}

store::NewApiKey ReadNewApiKey(BodyReader* body, base::Timestamp now) {
  store::NewApiKey order;
  order.name = body->FilledText("name", Presence::kRequired, domain::kNameCharsMax).value_or("");
  if (!body->IsNull("scopes")) {
    const auto names = body->Names("scopes", Presence::kOptional, ScopeNames());
    if (names && names->empty()) {
      body->Refuse("scopes", "Name at least one scope, or leave scopes out for all of them");
    } else if (names) {
      order.scopes = domain::KeyScopes::Of(*names);
    }
  }
  if (!body->IsNull("expires_at")) {
    order.expires_at = body->Time("expires_at", Presence::kOptional);
    if (order.expires_at && *order.expires_at <= now) {
      body->Refuse("expires_at", "Input should be a time that is yet to come");
    }
  }
  if (!body->IsNull("team_id")) order.team_id = body->Id("team_id", Presence::kOptional);
  return order;
}

Reply NewApiKeyReply(const store::ApiKeyOutcome& outcome) {
  using Kind = store::ApiKeyOutcome::Kind;
  switch (outcome.kind) {
    case Kind::kNoOrganisation:
      return NotFound("organisation");
    case Kind::kNoTeam:
      return NotFound("team of this organisation");
    case Kind::kTooMany:
      return ErrorReply(409, "too_many_keys",
                        fmt::format("the organisation has {} keys, as many as it may: revoke those "
                                    "that nobody uses",
                                    store::kApiKeysMax));
    case Kind::kDone:
      break;
  }
  base::Json json = ApiKeyJson(outcome.made);
  json.erase("last_used_at");
  json["key"] = outcome.key;
  return JsonReply(201, json);
}

namespace {

using base::Json;

constexpr std::size_t kClientNameCharsMax = 255;
constexpr std::size_t kKidCharsMax = 255;
constexpr int kTokenTtlMin = 60;
constexpr int kTokenTtlMax = 86'400;

Json CreatedByJson(const store::OauthClient& client) {
  const auto kind = client.created_by_kind;
  return {{"kind", kind ? domain::PrincipalKindName(*kind) : "operator"},
          {"id", base::OrNull(client.created_by_id)},
          {"label", client.created_by_label}};
}

Refusal InvalidKey(const std::string& message) {
  return Refusal(ErrorReply(400, "invalid_public_key", message));
}

// The life of tokens; null is the configured one, whatever the reader takes null for.
std::optional<std::int64_t> ReadTtl(BodyReader* body) {
  if (body->IsNull("access_token_ttl_seconds")) return std::nullopt;
  return body->Integer("access_token_ttl_seconds", Presence::kOptional, kTokenTtlMin, kTokenTtlMax);
}

std::optional<std::string> ReadText(BodyReader* body, std::string_view name,
                                    std::size_t chars_max) {
  if (body->IsNull(name)) return std::nullopt;
  return body->Text(name, Presence::kOptional, 1, chars_max);
}

}  // namespace

Json OauthClientKeyJson(const store::ClientKey& key) {
  return {{"kid", key.kid},
          {"algorithm", base::SignatureAlgorithmName(key.algorithm)},
          {"created_at", base::FormatTimestamp(key.created_at)},
          {"revoked_at", base::OrNull(key.revoked_at)}};
}

Json OauthClientJson(const store::OauthClient& client) {
  Json keys = Json::array();
  for (const store::ClientKey& key : client.keys) keys.push_back(OauthClientKeyJson(key));
  return {
      {"id", client.id.ToString()},
      {"client_id", client.id.ToString()},
      {"org_id", client.org_id.ToString()},
      {"team_id", base::OrNull(client.team_id)},
      {"name", client.name},
      {"jwks_uri", base::OrNull(client.jwks_uri)},
      {"jwks_last_validated_at", base::OrNull(client.jwks_validated_at)},
      {"jwks_last_error", base::OrNull(client.jwks_error)},
      {"status", client.disabled ? "disabled" : "active"},
      {"token_version", client.token_version},
      {"access_token_ttl_seconds", client.token_ttl_s ? Json(*client.token_ttl_s) : Json(nullptr)},
      {"last_used_at", base::OrNull(client.last_used_at)},
      {"created_at", base::FormatTimestamp(client.created_at)},
      {"updated_at", base::FormatTimestamp(client.updated_at)},
      {"created_by", CreatedByJson(client)},
      {"keys", std::move(keys)}};
}

NewClientBody ReadNewClient(BodyReader* body) {
  return {body->FilledText("name", Presence::kRequired, kClientNameCharsMax),
          ReadText(body, "team_id", kClientNameCharsMax), ReadTtl(body),
          ReadText(body, "jwks_uri", domain::kUrlCharsMax)};
}

store::NewClient MakeNewClient(NewClientBody body, const net::AddressPolicy& policy) {
  store::NewClient order{std::move(*body.name), std::nullopt, body.token_ttl_s,
                         std::move(body.jwks_uri)};
  if (body.team_id) {
    order.team_id = base::Uuid::Parse(*body.team_id);
    if (!order.team_id) throw Refusal(NotFound("team"));
  }
  if (!order.jwks_uri) return order;
  const auto parsed = net::ParseTenantUrl(*order.jwks_uri, policy);
  if (parsed.url && parsed.url->scheme == "https") return order;
  const std::string wrong = parsed.error ? parsed.error->message : "it must be https";
  throw Refusal(400, "invalid_jwks_uri", "jwks_uri: " + wrong);
}

Reply ClientRefusal(store::ClientOutcome::Kind kind, int clients_max) {
  if (kind == store::ClientOutcome::Kind::kNoOrganisation) return NotFound("organisation");
  if (kind == store::ClientOutcome::Kind::kNoTeam) return NotFound("team");
  return ErrorReply(
      409, "too_many_clients",
      fmt::format("the organisation has {} clients already: delete one first", clients_max));
}

store::ClientChange ReadClientChange(BodyReader* body) {
  store::ClientChange change;
  if (!body->IsNull("name")) {
    change.name = body->FilledText("name", Presence::kOptional, kClientNameCharsMax);
  }
  const auto status = ReadText(body, "status", kClientNameCharsMax);
  if (status && *status != "active" && *status != "disabled") {
    body->Refuse("status", "Input should be 'active' or 'disabled'");
  }
  if (status) change.disabled = *status == "disabled";
  change.set_token_ttl = body->Has("access_token_ttl_seconds");
  change.token_ttl_s = ReadTtl(body);
  return change;
}

NewKeyBody ReadNewKey(BodyReader* body) {
  return {body->Text("public_key_pem", Presence::kRequired, 1, base::PublicKey::kPemBytesMax),
          ReadText(body, "kid", kKidCharsMax), ReadText(body, "algorithm", kKidCharsMax)};
}

namespace {

// "RS256 or PS256".
std::string FittingNames(const base::PublicKey& key) {
  using Algorithm = base::SignatureAlgorithm;
  std::vector<std::string_view> names;
  for (const Algorithm algorithm :
       {Algorithm::kRs256, Algorithm::kPs256, Algorithm::kEs256, Algorithm::kEdDsa}) {
    if (key.Fits(algorithm)) names.push_back(base::SignatureAlgorithmName(algorithm));
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

store::NewClientKey MakeNewKey(NewKeyBody body) {
  auto read = base::PublicKey::FromPem(*body.pem);
  if (const auto* fault = std::get_if<base::KeyFault>(&read)) throw InvalidKey(fault->message);
  const auto& key = std::get<base::PublicKey>(read);
  auto named = key.DefaultAlgorithm();
  if (body.algorithm) {
    const auto parsed = base::ParseSignatureAlgorithm(*body.algorithm);
    if (!parsed || !key.Fits(*parsed)) {
      throw InvalidKey(
          fmt::format("algorithm {} does not fit the key, with which {} goes; leave it out or name "
                      "that",
                      Quoted(*body.algorithm), FittingNames(key)));
    }
    named = *parsed;
  }
  return store::NewClientKey{body.kid ? std::move(*body.kid) : key.Thumbprint(), named, key.Der()};
}

Reply KeyRefusal(store::KeyOutcome outcome, int keys_max) {
  switch (outcome) {
    case store::KeyOutcome::kPublishes:
      return ErrorReply(409, "client_uses_jwks_uri",
                        "the client publishes its keys under its jwks_uri: add the key there, or "
                        "make another client");
    case store::KeyOutcome::kTaken:
      return ErrorReply(409, "kid_taken",
                        "the client has, or had, a key of this kid: give the new one another");
    case store::KeyOutcome::kTooMany:
      return ErrorReply(
          409, "too_many_keys",
          fmt::format("the client has {} live keys already: revoke one first", keys_max));
    case store::KeyOutcome::kNoClient:
    case store::KeyOutcome::kDone:
      break;
  }
  return NoClient();
}

Reply NoClient() {
  return NotFound("OAuth client");
}

Reply NoClientKey() {
  return NotFound("live key of this client");
}

}  // namespace vedette::rest
