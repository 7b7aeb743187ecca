#include "api/oauth/protocol.h"

#include <algorithm>
#include <utility>

#include "api/authenticate.h"
#include "api/oauth/form.h"
#include "api/oauth/issuer.h"
#include "domain/auth/client_assertion.h"
#include "store/accounts/access_tokens.h"

namespace vedette::api {
namespace {

constexpr std::string_view kAssertionType =
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
constexpr std::string_view kScope = "full_access";
constexpr std::string_view kTooManyTokensRetrySeconds = "60";

// Who asks, with an assertion that is judged, but not yet taken.
struct Asking {
  store::AssertingClient client;
  domain::Assertion assertion;
};

rest::Reply InvalidRequest(std::string_view description) {
  return OauthError(400, "invalid_request", description);
}

// Before the signature is verified there is one sentence for every reason; the log has the true one
// under the request's id.
rest::Reply UnknownClient(const Call& call, const std::string& reason) {
  call.parts.log.Info("a client assertion was refused",
                      {{"request_id", call.answer->request_id()}, {"reason", reason}});
  return OauthError(401, "invalid_client", "the client's assertion is not valid");
}

rest::Reply InvalidClient(const Call& call, const std::string& reason) {
  UnknownClient(call, reason);
  return OauthError(401, "invalid_client", reason);
}

std::optional<rest::Reply> JudgeForm(const Form& form) {
  for (const std::string_view name : {"client_assertion_type", "client_assertion"}) {
    if (form.find(name) == form.end()) {
      return InvalidRequest(std::string(name) + " is missing");
    }
  }
  if (form.find("client_assertion_type")->second != kAssertionType) {
    return InvalidRequest("client_assertion_type must be " + std::string(kAssertionType));
  }
  if (!domain::LooksLikeJwt(form.find("client_assertion")->second)) {
    return InvalidRequest("client_assertion must have three parts between two dots");
  }
  return std::nullopt;
}

// The client authentication of every protocol route, and the count of its requests.
rest::Judged<Asking> Authenticate(Call& call, const Form& form, std::string_view path) {
  const config::Config& config = call.parts.config;
  auto parsed = domain::ParseJwt(form.find("client_assertion")->second);
  if (const auto* fault = std::get_if<domain::JwtFault>(&parsed)) {
    return UnknownClient(call, fault->reason);
  }
  const domain::Jwt& jwt = std::get<domain::Jwt>(parsed);
  const auto id = domain::ClaimedClient(jwt);
  if (!id) return UnknownClient(call, "sub names no client");
  auto client = store::FindAssertingClient(call.session, *id);
  if (!client) return UnknownClient(call, "the client is unknown or disabled");
  if (!domain::VerifiedByOne(client->keys, jwt)) {
    return UnknownClient(call, "no key of the client verifies the signature");
  }
  const std::string issuer = IssuerOf(config);
  const domain::AssertionRules rules{
      issuer,
      issuer + std::string(path),
      {.lifetime_max = config.oauth.assertion_lifetime_max_s, .skew = config.oauth.clock_skew_s}};
  auto judged = domain::JudgeAssertion(jwt, *id, rules, call.parts.clock.Now());
  if (const auto* fault = std::get_if<domain::JwtFault>(&judged)) {
    return InvalidClient(call, fault->reason);
  }
  if (const auto given = form.find("client_id");
      given != form.end() && given->second != id->ToString()) {
    return InvalidClient(call, "client_id must be the assertion's sub");
  }
  if (config.limits.requests_per_minute > 0) {
    const auto count = store::CountRequest(call.session, *id);
    if (auto reply = JudgeRate(call.parts, count, call.answer.get())) return std::move(*reply);
  }
  if (client->organisation_locked) {
    return OauthError(403, "organisation_locked", "your organisation is locked");
  }
  return Asking{std::move(*client), std::get<domain::Assertion>(std::move(judged))};
}

// What a route of the protocol does once the client is known.
using Answer = rest::Reply (*)(Call&, const Form&, const Asking&);

rest::Reply NoStore(rest::Reply reply) {
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("Pragma", "no-cache");
  return reply;
}

rest::Reply Replayed(const Call& call) {
  call.parts.metrics.AddOauthRequest("assertion", "replay");
  return InvalidClient(call, "jti was used before: each assertion is good once");
}

// A parameter of the routes that ask about a token.
const std::string* TokenOf(const Form& form) {
  const auto it = form.find("token");
  return it == form.end() || it->second.empty() ? nullptr : &it->second;
}

rest::Reply Mint(Call& call, const Form& form, const Asking& asking) {
  const config::OauthConfig& oauth = call.parts.config.oauth;
  if (const auto scope = form.find("scope");
      scope != form.end() && !scope->second.empty() && scope->second != kScope) {
    return OauthError(400, "invalid_scope", "the one scope is full_access");
  }
  const auto ttl = asking.client.token_ttl.value_or(oauth.token_ttl_s);
  const auto minted =
      store::MintToken(call.session, call.parts.clock,
                       {asking.client, asking.assertion, ttl, oauth.tokens_per_client_max});
  if (const auto* token = std::get_if<store::MintedToken>(&minted)) {
    return NoStore(rest::JsonReply(200, {{"access_token", token->token},
                                         {"token_type", "Bearer"},
                                         {"expires_in", ttl.count()},
                                         {"scope", kScope}}));
  }
  switch (std::get<store::MintRefusal>(minted)) {
    case store::MintRefusal::kReplayed:
      return Replayed(call);
    case store::MintRefusal::kChanged:
      return UnknownClient(call, "the client was changed meanwhile");
    case store::MintRefusal::kTooMany:
      break;
  }
  rest::Reply reply =
      OauthError(429, "too_many_tokens", "too many tokens of this client are alive");
  reply.headers.emplace_back("Retry-After", kTooManyTokensRetrySeconds);
  return reply;
}

rest::Reply Revoke(Call& call, const Form& form, const Asking& asking) {
  if (!store::TakeAssertion(call.session, asking.client.id, asking.assertion)) {
    return Replayed(call);
  }
  store::RevokeToken(call.session, asking.client.id, *TokenOf(form));
  return NoStore(rest::JsonReply(200, base::Json::object()));
}

rest::Reply Introspect(Call& call, const Form& form, const Asking& asking) {
  if (!store::TakeAssertion(call.session, asking.client.id, asking.assertion)) {
    return Replayed(call);
  }
  const auto live = store::IntrospectToken(call.session, asking.client.org_id, *TokenOf(form));
  if (!live) return NoStore(rest::JsonReply(200, {{"active", false}}));
  const auto seconds = [](base::Timestamp t) {
    return std::chrono::floor<std::chrono::seconds>(t).time_since_epoch().count();
  };
  return NoStore(rest::JsonReply(200, {{"active", true},
                                       {"client_id", live->client_id.ToString()},
                                       {"sub", live->client_id.ToString()},
                                       {"scope", kScope},
                                       {"token_type", "Bearer"},
                                       {"iat", seconds(live->created_at)},
                                       {"exp", seconds(live->expires_at)},
                                       {"iss", IssuerOf(call.parts.config)}}));
}

// What the route wants of a form before anybody is authenticated.
enum class Wants { kGrant, kToken };

rest::Reply Handle(Call& call, std::string_view path, Wants wants, Answer answer) {
  if (IssuerOf(call.parts.config).empty()) return NoOauth();
  auto read = ReadForm(call.request(), call.body_bytes_max);
  if (auto* reply = std::get_if<rest::Reply>(&read)) return std::move(*reply);
  const Form& form = std::get<Form>(read);
  if (wants == Wants::kToken && TokenOf(form) == nullptr) return InvalidRequest("token is missing");
  if (wants == Wants::kGrant && form.find("grant_type") == form.end()) {
    return InvalidRequest("grant_type is missing");
  }
  if (auto reply = JudgeForm(form)) return std::move(*reply);
  if (wants == Wants::kGrant && form.find("grant_type")->second != "client_credentials") {
    return OauthError(400, "unsupported_grant_type", "the one grant is client_credentials");
  }
  auto asking = Authenticate(call, form, path);
  if (auto* reply = std::get_if<rest::Reply>(&asking)) return std::move(*reply);
  return answer(call, form, std::get<Asking>(asking));
}

rest::Handled Counted(Call& call, std::string_view endpoint, rest::Reply reply) {
  const std::string code = reply.status == 200 ? "ok" : std::to_string(reply.status);
  call.parts.metrics.AddOauthRequest(endpoint, code);
  return reply;
}

}  // namespace

rest::Handled IssueToken(Call& call) {
  return Counted(call, "token", Handle(call, kTokenPath, Wants::kGrant, Mint));
}

rest::Handled RevokeToken(Call& call) {
  return Counted(call, "revoke", Handle(call, kRevokePath, Wants::kToken, Revoke));
}

rest::Handled IntrospectToken(Call& call) {
  return Counted(call, "introspect", Handle(call, kIntrospectPath, Wants::kToken, Introspect));
}

}  // namespace vedette::api
