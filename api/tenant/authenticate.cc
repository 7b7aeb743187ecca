#include "api/tenant/authenticate.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/kit/query_reader.h"
#include "config/auth_config.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/auth/cell.h"
#include "store/accounts/cells.h"

namespace vedette::api {
namespace {

// When who was refused because its organisation moves had better ask again.
constexpr std::chrono::seconds kMovingRetry{5};

}  // namespace

domain::ExternalTokenRules ProviderRules(const config::Config& config) {
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

TokenVerdict ValidateProviderToken(std::string_view text, const config::Config& config,
                                   const ProviderKeys::View& keys, base::Timestamp now) {
  if (config.oidc.issuer.empty()) return domain::JwtFault{"no identity provider is configured"};
  return rest::ValidateToken<TokenVerdict>(text, config.jwks, keys, [&](const domain::Jwt& jwt) {
    return domain::ReadExternalToken(jwt, ProviderRules(config), now);
  });
}

namespace {

constexpr std::string_view kChallenge = "Bearer realm=\"vedette\"";

// The challenge, with the error of RFC 6750 where there is one.
rest::Reply Challenge(rest::Reply reply, std::string_view error = {},
                      std::string_view description = {}) {
  std::string header(kChallenge);
  if (!error.empty()) {
    header += fmt::format(", error=\"{}\", error_description=\"{}\"", error, description);
  }
  reply.headers.emplace_back("WWW-Authenticate", std::move(header));
  return reply;
}

rest::Reply Unauthorized(std::string_view message) {
  return Challenge(rest::ErrorReply(401, "unauthorized", message));
}

// One sentence for whatever is wrong with a token: a stranger learns nothing from it.
rest::Reply InvalidToken() {
  constexpr std::string_view kMessage = "the token is not valid, or no longer";
  return Challenge(rest::ErrorReply(401, "invalid_token", kMessage), "invalid_token", kMessage);
}

rest::Reply Ambiguous(std::string_view message) {
  return Challenge(rest::ErrorReply(400, "ambiguous_credentials", message), "invalid_request",
                   message);
}

// Whether this caller may manage what lets others in: not with what is easily lost, and not for a
// part of the organisation alone.
bool MayManage(const store::Caller& caller) {
  using Kind = domain::PrincipalKind;
  const Kind kind = caller.principal.kind;
  return !caller.team_id && (kind == Kind::kApiKey || kind == Kind::kUser);
}

rest::Reply BadKey() {
  return Unauthorized("the API key in x-api-key is not valid");
}

// On the wire every reason is one sentence; the log has the true one under the request's id.
rest::Reply RefuseToken(const Dependencies& parts, const rest::Answer& answer,
                        std::string_view reason) {
  parts.log.Info("a bearer token was refused",
                 {{"request_id", answer.request_id()}, {"reason", std::string(reason)}});
  return InvalidToken();
}

// The question to the store of whom a good token names; empty where what it names has no form.
std::optional<store::ExternalQuestion> QuestionOf(const Dependencies& parts,
                                                  const domain::ExternalToken& token) {
  const config::OidcConfig& oidc = parts.config.oidc;
  store::ExternalQuestion question;
  question.principal = domain::ExternalPrincipal(oidc.issuer, token.subject);
  question.label = "external " + token.subject;
  question.organisation = token.organisation.value_or(oidc.organisation);
  if (token.team) {
    question.team_id = base::Uuid::Parse(*token.team);
    if (!question.team_id) return std::nullopt;
  }
  return question;
}

FoundCaller FindExternal(const Dependencies& parts, store::Session& session,
                         const rest::Answer& answer, std::string_view text, bool count,
                         bool keys_fetched) {
  const auto verdict =
      ValidateProviderToken(text, parts.config, parts.provider_keys.Now(), parts.clock.Now());
  if (const auto* fault = std::get_if<domain::JwtFault>(&verdict)) {
    return Refused{RefuseToken(parts, answer, fault->reason), "invalid"};
  }
  if (const auto* wanted = std::get_if<KeysWanted>(&verdict)) {
    if (*wanted == KeysWanted::kFetch && !keys_fetched) return KeysAreDue{};
    return Refused{rest::Unavailable("the identity provider's keys are not there; nothing was "
                                     "charged"),
                   "unavailable"};
  }
  auto question = QuestionOf(parts, std::get<domain::ExternalToken>(verdict));
  if (question) {
    question->forwarded_user = ForwardedUser(answer.request());
    question->count = count;
    auto found = store::AuthenticateExternal(session, *question);
    if (found && !found->caller.organisation_locked) return std::move(*found);
    // Another one's names are of no use here: the directory knows organisations by their ids.
    const auto org_id = found ? found->caller.org_id : base::Uuid::Parse(question->organisation);
    auto elsewhere = org_id ? AtAnotherCell(parts, session, *org_id) : std::nullopt;
    if (elsewhere) return Refused{std::move(*elsewhere), "elsewhere"};
    if (found) return std::move(*found);
  }
  return Refused{
      rest::ErrorReply(403, "unknown_organisation",
                       "the token names no organisation, or no team, that is known here"),
      "invalid"};
}

}  // namespace

rest::Reply Refuse(const Dependencies& parts, const rest::Answer& answer, CredentialFault fault) {
  switch (fault) {
    case CredentialFault::kMissing:
      return Unauthorized(
          "a credential is missing: send your API key in x-api-key, or a token in Authorization as "
          "Bearer");
    case CredentialFault::kBadKey:
      return BadKey();
    case CredentialFault::kTokenAsKey:
      return Unauthorized("x-api-key has a token: send it in the header Authorization, as Bearer");
    case CredentialFault::kKeyAsToken:
      return Unauthorized("Authorization has an API key: send it in the header x-api-key");
    case CredentialFault::kBadToken:
      return RefuseToken(parts, answer, "it is neither a token of ours nor a JWT");
    case CredentialFault::kNoCsrfToken:
      return rest::ErrorReply(403, "csrf_token_missing",
                              "a change that is made with a session's cookie shows its "
                              "X-CSRF-Token: see GET /dashboard/session");
    case CredentialFault::kTwoCredentials:
      return Ambiguous("send x-api-key or Authorization, not both");
    case CredentialFault::kRepeatedHeader:
      return Ambiguous("a header with a credential was sent twice");
  }
  return InvalidToken();
}

std::optional<rest::Reply> AtAnotherCell(const Dependencies& parts, store::Session& session,
                                         const base::Uuid& org_id) {
  const auto cell = store::CellOfOrganisation(session, org_id);
  if (!cell || *cell == parts.config.cell.id) return std::nullopt;
  return rest::WrongCell(*cell);
}

std::optional<rest::Reply> NamesAnotherCell(const Dependencies& parts,
                                            const net::ServerRequest& request, bool is_link) {
  const std::string& own = parts.config.cell.id;
  const auto meant = domain::CellOfWord(request.Header("x-cell"));
  if (meant && *meant != own) return rest::WrongCell(*meant);
  if (!is_link || request.query.empty()) return std::nullopt;
  rest::Problems problems;
  const auto word = rest::QueryReader(request.query, &problems).Text(domain::kCellParameter);
  const auto named = word ? domain::CellOfWord(*word) : std::nullopt;
  if (!named || *named == own) return std::nullopt;
  return rest::WrongCell(*named);
}

namespace {

// The cell at which a credential may be good that is not good here; nothing where it is this one.
// One whose organisation is here was revoked here, or has expired.
std::optional<rest::Reply> ElsewhereGood(const Dependencies& parts, store::Session& session,
                                         const Credential& credential) {
  if (store::IsKnownHere(session, credential.text)) return std::nullopt;
  const auto named = store::CellOfCredential(credential.text);
  if (named && *named != parts.config.cell.id) return rest::WrongCell(*named);
  if (credential.kind != Credential::Kind::kApiKey) return std::nullopt;
  const auto moved = store::CellOfMovedKey(session, credential.text);
  if (!moved || *moved == parts.config.cell.id) return std::nullopt;
  return rest::WrongCell(*moved);
}

}  // namespace

FoundCaller FindCaller(const Dependencies& parts, store::Session& session,
                       const rest::Answer& answer, const Credential& credential, bool count,
                       bool keys_fetched) {
  if (credential.kind == Credential::Kind::kJwt) {
    return FindExternal(parts, session, answer, credential.text, count, keys_fetched);
  }
  auto found = store::Authenticate(session, {.credential = credential.text,
                                             .forwarded_user = ForwardedUser(answer.request()),
                                             .client_tokens = parts.config.oauth.enabled,
                                             .count = count});
  if (found && found->caller.organisation_locked) {
    if (auto elsewhere = AtAnotherCell(parts, session, found->caller.org_id)) {
      return Refused{std::move(*elsewhere), "elsewhere"};
    }
  }
  if (found) return std::move(*found);
  if (auto elsewhere = ElsewhereGood(parts, session, credential)) {
    return Refused{std::move(*elsewhere), "elsewhere"};
  }
  if (credential.kind == Credential::Kind::kApiKey) return Refused{BadKey(), "invalid"};
  return Refused{RefuseToken(parts, answer,
                             "it is unknown, expired or revoked, or its client is disabled or has "
                             "another version"),
                 "invalid"};
}

void CheckRate(const Dependencies& parts, const store::RequestCount& count, rest::Answer* answer) {
  const std::int64_t limit = parts.config.limits.requests_per_minute;
  if (limit == 0) return;
  const auto reset =
      std::chrono::duration_cast<std::chrono::seconds>(count.minute_ends_at.time_since_epoch());
  answer->AddHeader("X-RateLimit-Limit", std::to_string(limit));
  answer->AddHeader("X-RateLimit-Remaining",
                    std::to_string(std::max<std::int64_t>(0, limit - count.requests)));
  answer->AddHeader("X-RateLimit-Reset", std::to_string(reset.count()));
  if (count.requests <= limit) return;
  const auto left =
      std::chrono::ceil<std::chrono::seconds>(count.minute_ends_at - parts.clock.Now());
  const std::int64_t wait_s = std::clamp<std::int64_t>(left.count(), 1, 60);
  rest::Reply reply = rest::ErrorReply(
      429, "rate_limited",
      fmt::format("more than {} requests in this minute by this caller: wait {} s", limit, wait_s));
  reply.headers.emplace_back("Retry-After", std::to_string(wait_s));
  throw rest::Refusal(std::move(reply));
}

rest::Reply OrganisationMoves(base::Timestamp until, base::Timestamp now) {
  rest::Reply reply = rest::ErrorReply(
      503, "organisation_moving",
      fmt::format(
          "your organisation moves to another cell of the service{}: it may read, and write "
          "again afterwards",
          rest::EndOfMove(until, now)));
  reply.headers.emplace_back("Retry-After", std::to_string(kMovingRetry.count()));
  return reply;
}

rest::Reply AwayReply(const store::OrganisationPlace& place, base::Timestamp now) {
  return place.lives_at ? rest::WrongCell(*place.lives_at)
                        : OrganisationMoves(*place.moving_until, now);
}

rest::Reply LinkAway(const net::ServerRequest& request, const store::OrganisationPlace& place,
                     base::Timestamp now) {
  rest::Reply reply = AwayReply(place, now);
  if (!place.lives_at) return reply;
  reply.status = 307;
  std::string target = "?";
  std::string_view left = request.query;
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    if (one.substr(0, one.find('=')) != domain::kCellParameter) target.append(one).append("&");
  }
  target.append(domain::kCellParameter).append("=").append(domain::CellWord(*place.lives_at));
  reply.headers.emplace_back("Location", std::move(target));
  return reply;
}

// An organisation that is locked for a move reads, and writes afterwards.
void CheckWhetherItMoves(const store::Caller& caller, const Route& route, base::Timestamp now) {
  if (!caller.organisation_moving_until || route.method == "GET") return;
  throw rest::Refusal(OrganisationMoves(*caller.organisation_moving_until, now));
}

void CheckCaller(const store::Authentication& found, const Route& route, base::Timestamp now) {
  const store::Caller& caller = found.caller;
  CheckWhetherItMoves(caller, route, now);
  if (caller.organisation_locked && !caller.organisation_moving_until && !route.when_locked) {
    throw rest::Refusal(403, "organisation_locked",
                        "your organisation is locked: ask the operator why");
  }
  if (!found.user_known.value_or(true)) {
    throw rest::Refusal(403, "unknown_user",
                        "Service-Forwarded-User names no user for whom you may call");
  }
  if (route.access == rest::Access::kManagement && !MayManage(caller)) {
    throw rest::Refusal(
        403, "credential_not_allowed",
        "keys, secrets, deliveries, the audit and OAuth clients are managed with an "
        "API key or a session of the whole organisation");
  }
  if (!MayUse(caller.scopes, route.method, route.pattern)) {
    throw rest::Refusal(
        403, "insufficient_scope",
        fmt::format("this {} has the scopes {}; this request needs {}",
                    caller.principal.kind == domain::PrincipalKind::kUser ? "member" : "API key",
                    fmt::join(caller.scopes.Names(), ", "),
                    domain::KeyScopeName(*ScopeOf(route.pattern))));
  }
  if (!route.feature.empty() && !caller.Has(route.feature)) {
    throw rest::Refusal(
        403, "feature_not_enabled",
        fmt::format("the feature {} is not enabled for your organisation: ask the operator for it",
                    route.feature));
  }
}

}  // namespace vedette::api
