// OAuth clients of the caller's organisation, and their keys.
#include <utility>

#include "api/kit/body.h"
#include "api/kit/credentials.h"
#include "api/tenant/handlers.h"
#include "api/tenant/oauth/published_keys.h"
#include "base/json.h"
#include "config/auth_config.h"
#include "config/parts.h"

namespace vedette::api {
namespace {

using base::Json;

// The client that the path names, or a 404.
store::OauthClient FindClient(Call& call) {
  const auto id = base::Uuid::Parse(call.params.at(0));
  if (!id) throw rest::Refusal(rest::NoClient());
  auto client = store::ReadClient(call.session(), call.caller.org_id, *id);
  if (!client) throw rest::Refusal(rest::NoClient());
  return std::move(*client);
}

rest::Reply ShowAgain(Call& call, const base::Uuid& id) {
  const auto client = store::ReadClient(call.session(), call.caller.org_id, id);
  return client ? rest::JsonReply(200, rest::OauthClientJson(*client)) : rest::NoClient();
}

rest::Reply AddReadKey(Call& call, const base::Uuid& id, const store::NewClientKey& key) {
  const int keys_max = call.parts.config.oauth.keys_per_client_max;
  const auto outcome = store::AddClientKey(call.session(), call.parts.clock, call.caller.org_id, id,
                                           key, keys_max, AuditOf(call, "oauth_client.key.add"));
  if (outcome != store::KeyOutcome::kDone) return rest::KeyRefusal(outcome, keys_max);
  const auto client = store::ReadClient(call.session(), call.caller.org_id, id);
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
  body.Check();
  const auto order = rest::MakeNewClient(std::move(read), call.parts.policy);
  const int clients_max = call.parts.config.oauth.clients_per_org_max;
  const auto made = store::CreateClient(call.session(), call.parts.clock, call.caller.org_id, order,
                                        clients_max, AuditOf(call, "oauth_client.create"));
  if (made.kind != store::ClientOutcome::Kind::kDone) {
    return rest::ClientRefusal(made.kind, clients_max);
  }
  return ShowAgain(call, made.id);
}

rest::Handled ListOauthClients(Call& call) {
  Json clients = Json::array();
  for (const auto& client : store::ListClients(call.session(), call.caller.org_id)) {
    clients.push_back(rest::OauthClientJson(client));
  }
  return rest::JsonReply(200, clients);
}

rest::Handled ShowOauthClient(Call& call) {
  const auto found = FindClient(call);
  return rest::JsonReply(200, rest::OauthClientJson(found));
}

rest::Handled ChangeOauthClient(Call& call) {
  const auto found = FindClient(call);
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  if (json.members.empty()) {
    problems.Add(Json::array({"body"}), "too_short", "Name at least one field to change");
  }
  rest::BodyReader body(json.members, &problems);
  const store::ClientChange change = rest::ReadClientChange(&body);
  body.Check();
  const base::Uuid id = found.id;
  store::ChangeClient(call.session(), call.parts.clock, call.caller.org_id, id, change,
                      AuditOf(call, "oauth_client.update"));
  return ShowAgain(call, id);
}

rest::Handled DeleteOauthClient(Call& call) {
  const auto found = FindClient(call);
  const base::Uuid id = found.id;
  if (!store::DeleteClient(call.session(), call.parts.clock, call.caller.org_id, id,
                           AuditOf(call, "oauth_client.delete"))) {
    return rest::NoClient();
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"deleted", true}});
}

rest::Handled VoidOauthTokens(Call& call) {
  const auto found = FindClient(call);
  CheckEmptyBody(call);
  const base::Uuid id = found.id;
  if (!store::VoidClientTokens(call.session(), call.parts.clock, call.caller.org_id, id,
                               AuditOf(call, "oauth_client.revoke_tokens"))) {
    return rest::NoClient();
  }
  return ShowAgain(call, id);
}

rest::Handled ListOauthClientKeys(Call& call) {
  const auto found = FindClient(call);
  return rest::JsonReply(200, rest::OauthClientJson(found).at("keys"));
}

rest::Handled AddOauthClientKey(Call& call) {
  const auto found = FindClient(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  auto read = rest::ReadNewKey(&body);
  body.Check();
  const auto key = rest::MakeNewKey(std::move(read));
  return AddReadKey(call, found.id, key);
}

rest::Handled RevokeOauthClientKey(Call& call) {
  const auto found = FindClient(call);
  const base::Uuid id = found.id;
  const std::string& kid = call.params.at(1);
  if (!store::RevokeClientKey(call.session(), call.parts.clock, call.caller.org_id, id, kid,
                              AuditOf(call, "oauth_client.key.revoke"))) {
    return rest::NoClientKey();
  }
  return rest::JsonReply(200, {{"kid", kid}, {"revoked", true}});
}

rest::Handled ValidateJwks(Call& call) {
  const auto client = FindClient(call);
  CheckEmptyBody(call);
  if (!client.jwks_uri) return rest::NoKeysUrl();
  const auto fence =
      store::BeginKeyFetchByHand(call.session(), call.parts.clock, call.caller.org_id, client.id,
                                 AuditOf(call, "oauth_client.validate_keys"));
  if (!fence) return rest::NoClient();
  const rest::KeyOrder order{client.id, client.org_id, *client.jwks_uri};
  return FetchPublishedKeys(call, order, *fence, nullptr,
                            [](Call& again, const rest::KeyReport& report) -> rest::Handled {
                              return rest::KeyReportReply(report, again.parts.clock.Now());
                            });
}

}  // namespace vedette::api
