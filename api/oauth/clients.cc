// OAuth clients of the caller's organisation, and their keys.
#include <utility>

#include "api/handlers.h"
#include "api/oauth/published_keys.h"
#include "config/config.h"
#include "rest/oauth_clients.h"

namespace vedette::api {
namespace {

using base::Json;

// The client that the path names, or a 404.
rest::Judged<store::OauthClient> FindClient(Call& call) {
  const auto id = base::Uuid::Parse(call.path_params.at(0));
  if (!id) return rest::NoClient();
  auto client = store::ReadClient(call.session, call.caller.org_id, *id);
  if (!client) return rest::NoClient();
  return std::move(*client);
}

rest::Reply ShowAgain(Call& call, const base::Uuid& id) {
  const auto client = store::ReadClient(call.session, call.caller.org_id, id);
  return client ? rest::JsonReply(200, rest::OauthClientJson(*client)) : rest::NoClient();
}

rest::Reply AddReadKey(Call& call, const base::Uuid& id, const store::NewClientKey& key) {
  const int keys_max = call.parts.config.oauth.keys_per_client_max;
  const auto outcome = store::AddClientKey(call.session, call.parts.clock, call.caller.org_id, id,
                                           key, keys_max, AuditOf(call, "oauth_client.key.add"));
  if (outcome != store::KeyOutcome::kDone) return rest::KeyRefusal(outcome, keys_max);
  const auto client = store::ReadClient(call.session, call.caller.org_id, id);
  if (!client) return rest::NoClient();
  for (const store::ClientKey& made : client->keys) {
    if (made.kid == key.kid) return rest::JsonReply(200, rest::OauthClientKeyJson(made));
  }
  return rest::NoClient();
}

}  // namespace

rest::Handled CreateOauthClient(Call& call) {
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  auto read = rest::ReadNewClient(&body);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  auto order = rest::JudgeNewClient(std::move(read), call.parts.policy);
  if (auto* reply = std::get_if<rest::Reply>(&order)) return std::move(*reply);
  const int clients_max = call.parts.config.oauth.clients_per_org_max;
  const auto made = store::CreateClient(call.session, call.parts.clock, call.caller.org_id,
                                        std::get<store::NewClient>(order), clients_max,
                                        AuditOf(call, "oauth_client.create"));
  if (made.kind != store::ClientOutcome::Kind::kDone) {
    return rest::ClientRefusal(made.kind, clients_max);
  }
  return ShowAgain(call, made.id);
}

rest::Handled ListOauthClients(Call& call) {
  Json clients = Json::array();
  for (const auto& client : store::ListClients(call.session, call.caller.org_id)) {
    clients.push_back(rest::OauthClientJson(client));
  }
  return rest::JsonReply(200, clients);
}

rest::Handled ShowOauthClient(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  return rest::JsonReply(200, rest::OauthClientJson(std::get<store::OauthClient>(found)));
}

rest::Handled ChangeOauthClient(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const store::ClientChange change = rest::ReadClientChange(&body);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
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
    return rest::NoClient();
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
    return rest::NoClient();
  }
  return ShowAgain(call, id);
}

rest::Handled ListOauthClientKeys(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  return rest::JsonReply(200,
                         rest::OauthClientJson(std::get<store::OauthClient>(found)).at("keys"));
}

rest::Handled AddOauthClientKey(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  auto read = rest::ReadNewKey(&body);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  auto key = rest::JudgeNewKey(std::move(read));
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
    return rest::NoClientKey();
  }
  return rest::JsonReply(200, {{"kid", kid}, {"revoked", true}});
}

rest::Handled ValidateJwks(Call& call) {
  auto found = FindClient(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return std::move(*reply);
  const auto& client = std::get<store::OauthClient>(found);
  if (!client.jwks_uri) return rest::NoKeysUrl();
  const auto fence =
      store::BeginKeyFetchByHand(call.session, call.parts.clock, call.caller.org_id, client.id,
                                 AuditOf(call, "oauth_client.validate_keys"));
  if (!fence) return rest::NoClient();
  const rest::KeyOrder order{client.id, client.org_id, *client.jwks_uri};
  return FetchPublishedKeys(call, order, *fence, nullptr,
                            [](Call& again, const rest::KeyReport& report) -> rest::Handled {
                              return rest::KeyReportReply(report, again.parts.clock.Now());
                            });
}

}  // namespace vedette::api
