#include <algorithm>
#include <utility>

#include "api/kit/answer.h"
#include "api/tenant/authenticate.h"
#include "api/tenant/handlers.h"
#include "api/tenant/oauth/form.h"
#include "api/tenant/oauth/published_keys.h"
#include "base/json.h"
#include "config/auth_config.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "domain/auth/jwt.h"
#include "store/accounts/access_tokens.h"

namespace vedette::api {
namespace {

constexpr std::string_view kAssertionType =
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
constexpr std::string_view kScope = "full_access";
constexpr std::string_view kTooManyTokensRetrySeconds = "60";

// How long a fetch that another process has begun counts as under way, beyond its own timeout.
constexpr std::chrono::milliseconds kFetchMargin{2000};
constexpr std::string_view kOtherFetchRetrySeconds = "1";

// The client that asks, with an assertion that is validated, but not yet taken.
struct Asking {
  store::AssertingClient client;
  domain::Assertion assertion;
};

// An order: the keys that the client publishes are to be fetched before its assertion is validated.
using Authenticated = std::variant<Asking, rest::KeyOrder>;

// Whether the request has waited for the client's keys already: it does so once.
enum class Keys { kAsStored, kFetched };

rest::Refusal InvalidRequest(std::string_view description) {
  return rest::Refusal(OauthError(400, "invalid_request", description));
}

// Before the signature is verified there is one sentence for every reason; the log has the true one
// under the request's id.
rest::Refusal UnknownClient(const Call& call, const std::string& reason) {
  call.parts.log.Info("a client assertion was refused",
                      {{"request_id", call.answer->request_id()}, {"reason", reason}});
  return rest::Refusal(OauthError(401, "invalid_client", "the client's assertion is not valid"));
}

rest::Refusal InvalidClient(const Call& call, const std::string& reason) {
  UnknownClient(call, reason);
  return rest::Refusal(OauthError(401, "invalid_client", reason));
}

void CheckForm(const Form& form) {
  for (const std::string_view name : {"client_assertion_type", "client_assertion"}) {
    if (form.find(name) == form.end()) {
      throw InvalidRequest(std::string(name) + " is missing");
    }
  }
  if (form.find("client_assertion_type")->second != kAssertionType) {
    throw InvalidRequest("client_assertion_type must be " + std::string(kAssertionType));
  }
  if (!domain::LooksLikeJwt(form.find("client_assertion")->second)) {
    throw InvalidRequest("client_assertion must have three parts between two dots");
  }
}

rest::Refusal KeysUnavailable(std::string_view retry_after) {
  rest::Reply reply = OauthError(503, "temporarily_unavailable",
                                 "the client's keys could not be fetched from its jwks_uri");
  reply.headers.emplace_back("Retry-After", retry_after);
  return rest::Refusal(std::move(reply));
}

// The fetch that is to be made before the signature counts, where the client publishes its keys;
// nothing where it is verified.
std::optional<rest::KeyOrder> WantedFetch(const Call& call, const store::AssertingClient& client,
                                          bool verified, Keys keys) {
  const config::JwksConfig& jwks = call.parts.config.jwks;
  const domain::FetchRules rules{
      .fresh = jwks.fresh_ms, .retry = jwks.retry_ms, .stale_max = jwks.stale_max_ms};
  const auto cache = client.published->Cache(jwks.timeout_ms + kFetchMargin);
  switch (domain::WhenToFetch(cache, verified, rules, client.published->now)) {
    case domain::FetchDecision::kUse:
    case domain::FetchDecision::kUseStale:
      return std::nullopt;
    case domain::FetchDecision::kFetch:
      if (keys == Keys::kAsStored) {
        return rest::KeyOrder{client.id, client.org_id, client.published->url};
      }
      // It failed, or brought no such key; old ones serve as long as they may.
      if (verified && client.published->now - cache.fetched_at <= rules.stale_max) {
        return std::nullopt;
      }
      break;
    case domain::FetchDecision::kWait:  // here or in another process; here it can be joined
      if (keys == Keys::kAsStored) {
        return rest::KeyOrder{client.id, client.org_id, client.published->url};
      }
      throw KeysUnavailable(kOtherFetchRetrySeconds);
    case domain::FetchDecision::kNoKeys:
      throw KeysUnavailable(rest::kRetryAfterSeconds);
    case domain::FetchDecision::kRefuse:
      break;
  }
  throw UnknownClient(call, "no key that the client publishes verifies the signature");
}

domain::AssertionRules RulesOf(const config::Config& config, std::string_view path) {
  const std::string issuer = IssuerOf(config);
  return {
      issuer,
      issuer + std::string(path),
      {.lifetime_max = config.oauth.assertion_lifetime_max_s, .skew = config.oauth.clock_skew_s}};
}

// The client authentication of every protocol route, and the count of its requests.
Authenticated Authenticate(Call& call, const Form& form, std::string_view path, Keys keys) {
  const config::Config& config = call.parts.config;
  auto parsed = domain::ParseJwt(form.find("client_assertion")->second);
  if (const auto* fault = std::get_if<domain::JwtFault>(&parsed)) {
    throw UnknownClient(call, fault->reason);
  }
  const domain::Jwt& jwt = std::get<domain::Jwt>(parsed);
  const auto id = domain::ClaimedClient(jwt);
  if (!id) throw UnknownClient(call, "sub names no client");
  auto client = store::FindAssertingClient(call.session(), *id);
  if (!client) throw UnknownClient(call, "the client is unknown or disabled");
  const bool verified = domain::VerifiedByOne(client->keys, jwt);
  auto validated =
      domain::ValidateAssertion(jwt, *id, RulesOf(config, path), call.parts.clock.Now());
  const auto* fault = std::get_if<domain::JwtFault>(&validated);
  if (!verified && (fault != nullptr || !client->published)) {
    // What is refused whatever its key is causes no fetch.
    throw UnknownClient(call, "no key of the client verifies the signature");
  }
  if (client->published) {
    if (auto order = WantedFetch(call, *client, verified, keys)) return std::move(*order);
  }
  if (fault != nullptr) throw InvalidClient(call, fault->reason);
  if (const auto given = form.find("client_id");
      given != form.end() && given->second != id->ToString()) {
    throw InvalidClient(call, "client_id must be the assertion's sub");
  }
  if (config.limits.requests_per_minute > 0) {
    const auto count = store::CountRequest(call.session(), *id);
    CheckRate(call.parts, count, call.answer.get());
  }
  if (client->organisation_locked) {
    if (auto elsewhere = AtAnotherCell(call.parts, call.session(), client->org_id)) {
      throw rest::Refusal(std::move(*elsewhere));
    }
    // The assertion is not taken: it is good once more afterwards, at the other cell.
    if (client->organisation_moving_until) {
      throw rest::Refusal(
          OrganisationMoves(*client->organisation_moving_until, call.parts.clock.Now()));
    }
    throw rest::Refusal(OauthError(403, "organisation_locked",
                                   "your organisation is locked: ask the operator why"));
  }
  return Asking{std::move(*client), std::get<domain::Assertion>(std::move(validated))};
}

// What a route of the protocol does once the client is known.
using Answer = rest::Reply (*)(Call&, const Form&, const Asking&);

rest::Reply NoStore(rest::Reply reply) {
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("Pragma", "no-cache");
  return reply;
}

rest::Refusal Replayed(const Call& call) {
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
  const auto minted = store::MintToken(
      call.session(), call.parts.clock,
      {asking.client, asking.assertion, ttl, oauth.tokens_per_client_max, CellOf(call)});
  if (const auto* token = std::get_if<store::MintedToken>(&minted)) {
    return NoStore(rest::JsonReply(200, {{"access_token", token->token},
                                         {"token_type", "Bearer"},
                                         {"expires_in", ttl.count()},
                                         {"scope", kScope}}));
  }
  switch (std::get<store::MintRefusal>(minted)) {
    case store::MintRefusal::kReplayed:
      throw Replayed(call);
    case store::MintRefusal::kChanged:
      throw UnknownClient(call, "the client was changed meanwhile");
    case store::MintRefusal::kTooMany:
      break;
  }
  rest::Reply reply =
      OauthError(429, "too_many_tokens", "too many tokens of this client are alive");
  reply.headers.emplace_back("Retry-After", kTooManyTokensRetrySeconds);
  return reply;
}

rest::Reply Revoke(Call& call, const Form& form, const Asking& asking) {
  if (!store::TakeAssertion(call.session(), asking.client.id, asking.assertion)) {
    throw Replayed(call);
  }
  store::RevokeToken(call.session(), asking.client.id, *TokenOf(form));
  return NoStore(rest::JsonReply(200, base::Json::object()));
}

rest::Reply Introspect(Call& call, const Form& form, const Asking& asking) {
  if (!store::TakeAssertion(call.session(), asking.client.id, asking.assertion)) {
    throw Replayed(call);
  }
  const auto live = store::IntrospectToken(call.session(), asking.client.org_id, *TokenOf(form));
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

// One route of the protocol.
struct Endpoint {
  std::string_view name;  // in the metrics
  std::string_view path;
  Wants wants;
  Answer answer;
};

std::variant<rest::KeyOrder, rest::Reply> Serve(Call& call, const Endpoint& endpoint, Keys keys) {
  const Wants wants = endpoint.wants;
  if (IssuerOf(call.parts.config).empty()) throw rest::Refusal(NoOauth());
  const auto form = ReadForm(call.request(), call.body_bytes_max);
  if (wants == Wants::kToken && TokenOf(form) == nullptr) {
    throw InvalidRequest("token is missing");
  }
  if (wants == Wants::kGrant && form.find("grant_type") == form.end()) {
    throw InvalidRequest("grant_type is missing");
  }
  CheckForm(form);
  if (wants == Wants::kGrant && form.find("grant_type")->second != "client_credentials") {
    throw rest::Refusal(
        OauthError(400, "unsupported_grant_type", "the one grant is client_credentials"));
  }
  auto authenticated = Authenticate(call, form, endpoint.path, keys);
  if (auto* order = std::get_if<rest::KeyOrder>(&authenticated)) return std::move(*order);
  return endpoint.answer(call, form, std::get<Asking>(authenticated));
}

// A refusal is an answer like others here: it is counted, and told in the shape of these routes.
std::variant<rest::KeyOrder, rest::Reply> Handle(Call& call, const Endpoint& endpoint, Keys keys) {
  try {
    return Serve(call, endpoint, keys);
  } catch (const rest::Refusal& refusal) {
    return refusal.reply();
  }
}

rest::Reply Counted(const Call& call, const Endpoint& endpoint, rest::Reply reply) {
  const std::string code = reply.status == 200 ? "ok" : std::to_string(reply.status);
  call.parts.metrics.AddOauthRequest(endpoint.name, code);
  return AsOauthError(std::move(reply));
}

rest::Handled ServeEndpoint(Call& call, const Endpoint& endpoint, Keys keys);

// Fetches the client's keys, or waits for the fetch that this process has under way, and validates
// again.
rest::Handled FetchThenServe(Call& call, const rest::KeyOrder& order, const Endpoint& endpoint) {
  auto fetch = call.parts.key_waits.Enter(
      order.client_id, [parked = call.On(nullptr), org_id = order.org_id, endpoint] {
        rest::ServeLater<Call>(parked.parts.pool, org_id, parked, [endpoint](Call& again) {
          return ServeEndpoint(again, endpoint, Keys::kFetched);
        });
      });
  if (!fetch) return rest::Parked{};
  const auto then = [endpoint](Call& again, const rest::KeyReport& report) -> rest::Handled {
    if (report.kind == rest::KeyReport::Kind::kBusy) {
      return Counted(again, endpoint, KeysUnavailable(rest::kRetryAfterSeconds).reply());
    }
    return ServeEndpoint(again, endpoint, Keys::kFetched);
  };
  const auto fence =
      store::BeginKeyFetch(call.session(), order.client_id, call.parts.config.jwks.retry_ms);
  if (!fence) {
    // Another fetch is under way, or has ended since the client was read.
    auto again = Handle(call, endpoint, Keys::kAsStored);
    if (auto* reply = std::get_if<rest::Reply>(&again)) {
      return Counted(call, endpoint, std::move(*reply));
    }
    return Counted(call, endpoint, KeysUnavailable(kOtherFetchRetrySeconds).reply());
  }
  return FetchPublishedKeys(call, order, *fence, std::move(fetch), then);
}

rest::Handled ServeEndpoint(Call& call, const Endpoint& endpoint, Keys keys) {
  auto handled = Handle(call, endpoint, keys);
  if (const auto* first = std::get_if<rest::KeyOrder>(&handled)) {
    return FetchThenServe(call, *first, endpoint);
  }
  return Counted(call, endpoint, std::get<rest::Reply>(std::move(handled)));
}

}  // namespace

rest::Handled ServeOauthMetadata(Call& call) {
  return OauthMetadata(call.parts.config);
}

rest::Handled IssueToken(Call& call) {
  return ServeEndpoint(call, {"token", kTokenPath, Wants::kGrant, Mint}, Keys::kAsStored);
}

rest::Handled RevokeToken(Call& call) {
  return ServeEndpoint(call, {"revoke", kRevokePath, Wants::kToken, Revoke}, Keys::kAsStored);
}

rest::Handled IntrospectToken(Call& call) {
  return ServeEndpoint(call, {"introspect", kIntrospectPath, Wants::kToken, Introspect},
                       Keys::kAsStored);
}

}  // namespace vedette::api
