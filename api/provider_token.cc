#include "api/provider_token.h"

#include <utility>

#include "config/config.h"

namespace vedette::api {
namespace {

domain::ExternalTokenRules RulesOf(const config::Config& config) {
  const config::OidcConfig& oidc = config.oidc;
  domain::ExternalTokenRules rules{
      .issuer = oidc.issuer,
      .audience = oidc.audience,
      .org_claim = oidc.org_claim,
      .team_claim = oidc.team_claim,
      .user_claim = oidc.user_claim,
      .algorithms = {},
      .times = {.lifetime_max = oidc.lifetime_max_s, .skew = config.oauth.clock_skew_s}};
  for (const std::string& name : oidc.algorithms) {
    if (const auto algorithm = base::ParseSignatureAlgorithm(name)) {
      rules.algorithms.push_back(*algorithm);
    }
  }
  return rules;
}

}  // namespace

TokenVerdict JudgeProviderToken(std::string_view text, const config::Config& config,
                                const ProviderKeys::View& keys, base::Timestamp now) {
  if (config.oidc.issuer.empty()) return domain::JwtFault{"no identity provider is configured"};
  const auto parsed = domain::ParseJwt(text);
  if (const auto* fault = std::get_if<domain::JwtFault>(&parsed)) return *fault;
  const auto& jwt = std::get<domain::Jwt>(parsed);
  auto token = domain::ReadExternalToken(jwt, RulesOf(config), now);
  if (auto* fault = std::get_if<domain::JwtFault>(&token)) return std::move(*fault);
  const bool verified = keys.keys && domain::VerifiedByOne(*keys.keys, jwt);
  const config::JwksConfig& jwks = config.jwks;
  // Here keys are fresh as long as they serve at all: a timer renews them, not the requests.
  const domain::FetchRules rules{
      .fresh = jwks.stale_max_ms, .retry = jwks.retry_ms, .stale_max = jwks.stale_max_ms};
  switch (domain::WhenToFetch(keys.cache, verified, rules, keys.now)) {
    case domain::FetchDecision::kUse:
    case domain::FetchDecision::kUseStale:
      return std::get<domain::ExternalToken>(std::move(token));
    case domain::FetchDecision::kFetch:
    case domain::FetchDecision::kWait:
      return KeysWanted::kFetch;
    case domain::FetchDecision::kNoKeys:
      return KeysWanted::kNone;
    case domain::FetchDecision::kRefuse:
      break;
  }
  return domain::JwtFault{"no key of the identity provider verifies the signature"};
}

}  // namespace vedette::api
