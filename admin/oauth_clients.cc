// OAuth clients of an organisation, and their keys, as the operator manages them. The shapes are
// those of the API (rest/oauth_clients.h).
#include <utility>

#include "admin/handlers.h"
#include "config/config.h"
#include "net/public_address.h"
#include "rest/oauth_clients.h"
#include "rest/published_keys.h"
#include "store/accounts/accounts.h"

namespace vedette::admin {
namespace {

rest::Reply ShowClient(store::Session& session, const Call& call, const base::Uuid& id) {
  const auto client = store::ReadClient(session, call.ids[0], id);
  return client ? rest::JsonReply(200, rest::OauthClientJson(*client)) : rest::NoClient();
}

}  // namespace

rest::Reply GetOauthClients(const Parts&, store::Session& session, const Call& call) {
  if (!store::ReadOrganisation(session, call.ids[0])) return rest::NotFound("organisation");
  base::Json items = base::Json::array();
  for (const auto& client : store::ListClients(session, call.ids[0])) {
    items.push_back(rest::OauthClientJson(client));
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

rest::Reply GetOauthClient(const Parts&, store::Session& session, const Call& call) {
  return ShowClient(session, call, call.ids[1]);
}

rest::Reply PostOauthClient(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  auto read = rest::ReadNewClient(&body);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  auto order = rest::JudgeNewClient(std::move(read), net::AddressPolicy(parts.config.net.allow));
  if (auto* reply = std::get_if<rest::Reply>(&order)) return std::move(*reply);
  const int clients_max = parts.config.oauth.clients_per_org_max;
  const auto made =
      store::CreateClient(session, parts.clock, call.ids[0], std::get<store::NewClient>(order),
                          clients_max, AuditOf(call, "oauth_client.create", reason));
  if (made.kind != store::ClientOutcome::Kind::kDone) {
    return rest::ClientRefusal(made.kind, clients_max);
  }
  rest::Reply reply = ShowClient(session, call, made.id);
  reply.status = 201;
  return reply;
}

rest::Reply PatchOauthClient(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const store::ClientChange change = rest::ReadClientChange(&body);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  store::ChangeClient(session, parts.clock, call.ids[0], call.ids[1], change,
                      AuditOf(call, "oauth_client.update", reason));
  return ShowClient(session, call, call.ids[1]);
}

rest::Reply DeleteOauthClient(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  if (!store::DeleteClient(session, parts.clock, call.ids[0], call.ids[1],
                           AuditOf(call, "oauth_client.delete", reason))) {
    return rest::NoClient();
  }
  return {204, {}};
}

rest::Reply PostOauthClientKey(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  auto read = rest::ReadNewKey(&body);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  auto key = rest::JudgeNewKey(std::move(read));
  if (auto* reply = std::get_if<rest::Reply>(&key)) return std::move(*reply);
  const int keys_max = parts.config.oauth.keys_per_client_max;
  const auto outcome = store::AddClientKey(session, parts.clock, call.ids[0], call.ids[1],
                                           std::get<store::NewClientKey>(key), keys_max,
                                           AuditOf(call, "oauth_client.key.add", reason));
  if (outcome != store::KeyOutcome::kDone) return rest::KeyRefusal(outcome, keys_max);
  return ShowClient(session, call, call.ids[1]);
}

rest::Reply DeleteOauthClientKey(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  if (!store::RevokeClientKey(session, parts.clock, call.ids[0], call.ids[1], call.name,
                              AuditOf(call, "oauth_client.key.revoke", reason))) {
    return rest::NoClientKey();
  }
  return {204, {}};
}

rest::Reply PostOauthTokenRevocation(const Parts& parts, store::Session& session,
                                     const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  if (!store::VoidClientTokens(session, parts.clock, call.ids[0], call.ids[1],
                               AuditOf(call, "oauth_client.revoke_tokens", reason))) {
    return rest::NoClient();
  }
  return ShowClient(session, call, call.ids[1]);
}

rest::Handled PostOauthKeyValidation(const Parts& parts, store::Session& session, const Call& call,
                                     const Waiting& waiting) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const auto client = store::ReadClient(session, call.ids[0], call.ids[1]);
  if (!client) return rest::NoClient();
  if (!client->jwks_uri) return rest::NoKeysUrl();
  const auto fence =
      store::BeginKeyFetchByHand(session, parts.clock, client->org_id, client->id,
                                 AuditOf(call, "oauth_client.validate_keys", reason));
  if (!fence) return rest::NoClient();
  return rest::FetchKeys({waiting.pool, waiting.key_fetcher, parts.config.jwks.keys_max},
                         waiting.answer, std::nullopt,
                         {client->id, client->org_id, *client->jwks_uri}, *fence,
                         [&clock = parts.clock](store::Session&, const rest::KeyReport& report) {
                           return rest::KeyReportReply(report, clock.Now());
                         });
}

}  // namespace vedette::admin
