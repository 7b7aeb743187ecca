// OAuth clients of the caller's organisation, and their keys.
#include <fmt/format.h>

#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
#include "rest/body_reader.h"
#include "store/accounts/oauth_clients.h"

namespace vedette::api {
namespace {

using base::Json;
using rest::Presence;

constexpr std::size_t kClientNameCharsMax = 255;
constexpr std::size_t kKidCharsMax = 255;
constexpr int kTokenTtlMin = 60;
constexpr int kTokenTtlMax = 86'400;

Json TimeOrNull(const std::optional<base::Timestamp>& t) {
  return t ? Json(base::FormatTimestamp(*t)) : Json(nullptr);
}
Json IdOrNull(const std::optional<base::Uuid>& id) {
  return id ? Json(id->ToString()) : Json(nullptr);
}

Json KeyJson(const store::ClientKey& key) {
  return {{"kid", key.kid},
          {"algorithm", base::SignatureAlgorithmName(key.algorithm)},
          {"created_at", base::FormatTimestamp(key.created_at)},
          {"revoked_at", TimeOrNull(key.revoked_at)}};
}

Json KeysJson(const store::OauthClient& client) {
  Json keys = Json::array();
  for (const store::ClientKey& key : client.keys) keys.push_back(KeyJson(key));
  return keys;
}

Json ClientJson(const store::OauthClient& client) {
  const auto kind = client.created_by_kind;
  const Json created_by{{"kind", kind ? domain::PrincipalKindName(*kind) : "operator"},
                        {"id", IdOrNull(client.created_by_id)},
                        {"label", client.created_by_label}};
  return {
      {"id", client.id.ToString()},
      {"client_id", client.id.ToString()},
      {"org_id", client.org_id.ToString()},
      {"team_id", IdOrNull(client.team_id)},
      {"name", client.name},
      {"status", client.disabled ? "disabled" : "active"},
      {"token_version", client.token_version},
      {"access_token_ttl_seconds", client.token_ttl_s ? Json(*client.token_ttl_s) : Json(nullptr)},
      {"last_used_at", TimeOrNull(client.last_used_at)},
      {"created_at", base::FormatTimestamp(client.created_at)},
      {"updated_at", base::FormatTimestamp(client.updated_at)},
      {"created_by", created_by},
      {"keys", KeysJson(client)}};
}

rest::Reply NoClient() {
  return rest::NotFound("OAuth client");
}

// The client that the path names, or a 404.
rest::Judged<store::OauthClient> FindClient(Call& call) {
  const auto id = base::Uuid::Parse(call.path_params.at(0));
  if (!id) return NoClient();
  auto client = store::ReadClient(call.session, call.caller.org_id, *id);
  if (!client) return NoClient();
  return std::move(*client);
}

rest::Reply ShowAgain(Call& call, const base::Uuid& id) {
  const auto client = store::ReadClient(call.session, call.caller.org_id, id);
  return client ? rest::JsonReply(200, ClientJson(*client)) : NoClient();
}

// What a client's keys and life are changed with.
store::AuditEntry AuditOf(const Call& call, std::string action) {
  store::AuditEntry entry;
  entry.actor = call.caller.principal.label;
  entry.action = std::move(action);
  entry.remote_address = call.request().remote_address;
  entry.principal = call.caller.principal;
  return entry;
}

rest::Reply InvalidKey(const std::string& message) {
  return rest::ErrorReply(400, "invalid_public_key", message);
}

// The key that the body has, or why it is not taken.
rest::Judged<store::NewClientKey> ReadKey(const std::string& pem, std::optional<std::string> kid,
                                          const std::optional<std::string>& algorithm) {
  auto read = base::PublicKey::FromPem(pem);
  if (const auto* fault = std::get_if<base::KeyFault>(&read)) return InvalidKey(fault->message);
  const auto& key = std::get<base::PublicKey>(read);
  auto named = key.DefaultAlgorithm();
  if (algorithm) {
    const auto parsed = base::ParseSignatureAlgorithm(*algorithm);
    if (!parsed || !key.Fits(*parsed)) return InvalidKey("the algorithm does not fit the key");
    named = *parsed;
  }
  return store::NewClientKey{kid ? std::move(*kid) : key.Thumbprint(), named, key.Der()};
}

rest::Reply AddReadKey(Call& call, const base::Uuid& id, const store::NewClientKey& key) {
  const int keys_max = call.parts.config.oauth.keys_per_client_max;
  switch (store::AddClientKey(call.session, call.parts.clock, call.caller.org_id, id, key, keys_max,
                              AuditOf(call, "oauth_client.key.add"))) {
    case store::KeyOutcome::kNoClient:
      return NoClient();
    case store::KeyOutcome::kTaken:
      return rest::ErrorReply(409, "kid_taken", "the client has, or had, a key of this kid");
    case store::KeyOutcome::kTooMany:
      return rest::ErrorReply(409, "too_many_keys",
                              fmt::format("the client has {} live keys already", keys_max));
    case store::KeyOutcome::kDone:
      break;
  }
  const auto client = store::ReadClient(call.session, call.caller.org_id, id);
  if (!client) return NoClient();
  for (const store::ClientKey& made : client->keys) {
    if (made.kid == key.kid) return rest::JsonReply(200, KeyJson(made));
  }
  return NoClient();
}

}  // namespace

rest::Handled CreateOauthClient(Call& call) {
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const auto name = body.FilledText("name", Presence::kRequired, kClientNameCharsMax);
  const auto team = body.Text("team_id", Presence::kOptional, 1, kClientNameCharsMax);
  const auto ttl =
      body.Integer("access_token_ttl_seconds", Presence::kOptional, kTokenTtlMin, kTokenTtlMax);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  store::NewClient order{*name, std::nullopt, ttl};
  if (team) {
    order.team_id = base::Uuid::Parse(*team);
    if (!order.team_id) return rest::NotFound("team");
  }
  const int clients_max = call.parts.config.oauth.clients_per_org_max;
  const auto made = store::CreateClient(call.session, call.parts.clock, call.caller.org_id, order,
                                        clients_max, AuditOf(call, "oauth_client.create"));
  using Kind = store::ClientOutcome::Kind;
  if (made.kind == Kind::kNoTeam) return rest::NotFound("team");
  if (made.kind == Kind::kTooMany) {
    return rest::ErrorReply(409, "too_many_clients",
                            fmt::format("the organisation has {} clients already", clients_max));
  }
  return ShowAgain(call, made.id);
}

rest::Handled ListOauthClients(Call& call) {
  Json clients = Json::array();
  for (const auto& client : store::ListClients(call.session, call.caller.org_id)) {
    clients.push_back(ClientJson(client));
  }
  return rest::JsonReply(200, clients);
}

rest::Handled ShowOauthClient(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  return rest::JsonReply(200, ClientJson(std::get<store::OauthClient>(found)));
}

rest::Handled ChangeOauthClient(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  store::ClientChange change;
  change.name = body.FilledText("name", Presence::kOptional, kClientNameCharsMax);
  const auto status = body.Text("status", Presence::kOptional, 1, kClientNameCharsMax);
  if (status && *status != "active" && *status != "disabled") {
    body.Refuse("status", "Input should be 'active' or 'disabled'");
  }
  change.set_token_ttl = body.Has("access_token_ttl_seconds");
  change.token_ttl_s =
      body.Integer("access_token_ttl_seconds", Presence::kOptional, kTokenTtlMin, kTokenTtlMax);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  if (status) change.disabled = *status == "disabled";
  const base::Uuid id = std::get<store::OauthClient>(found).id;
  store::ChangeClient(call.session, call.parts.clock, call.caller.org_id, id, change,
                      AuditOf(call, "oauth_client.update"));
  return ShowAgain(call, id);
}

rest::Handled DeleteOauthClient(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  const base::Uuid id = std::get<store::OauthClient>(found).id;
  if (!store::DeleteClient(call.session, call.parts.clock, call.caller.org_id, id,
                           AuditOf(call, "oauth_client.delete"))) {
    return NoClient();
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"deleted", true}});
}

rest::Handled VoidOauthTokens(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return std::move(*reply);
  const base::Uuid id = std::get<store::OauthClient>(found).id;
  if (!store::VoidClientTokens(call.session, call.parts.clock, call.caller.org_id, id,
                               AuditOf(call, "oauth_client.revoke_tokens"))) {
    return NoClient();
  }
  return ShowAgain(call, id);
}

rest::Handled ListOauthClientKeys(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  return rest::JsonReply(200, KeysJson(std::get<store::OauthClient>(found)));
}

rest::Handled AddOauthClientKey(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const auto pem =
      body.Text("public_key_pem", Presence::kRequired, 1, base::PublicKey::kPemBytesMax);
  const auto kid = body.Text("kid", Presence::kOptional, 1, kKidCharsMax);
  const auto algorithm = body.Text("algorithm", Presence::kOptional, 1, kKidCharsMax);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  auto key = ReadKey(*pem, kid, algorithm);
  if (auto* reply = std::get_if<rest::Reply>(&key)) return std::move(*reply);
  return AddReadKey(call, std::get<store::OauthClient>(found).id,
                    std::get<store::NewClientKey>(key));
}

rest::Handled RevokeOauthClientKey(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  const base::Uuid id = std::get<store::OauthClient>(found).id;
  const std::string& kid = call.path_params.at(1);
  if (!store::RevokeClientKey(call.session, call.parts.clock, call.caller.org_id, id, kid,
                              AuditOf(call, "oauth_client.key.revoke"))) {
    return rest::NotFound("live key of this client");
  }
  return rest::JsonReply(200, {{"kid", kid}, {"revoked", true}});
}

}  // namespace vedette::api
