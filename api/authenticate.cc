#include "api/authenticate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace vedette::api {
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

}  // namespace

rest::Reply Refuse(CredentialFault fault) {
  switch (fault) {
    case CredentialFault::kMissing:
      return Unauthorized(
          "a credential is missing: send your API key in x-api-key, or a token in Authorization as "
          "Bearer");
    case CredentialFault::kBadKey:
      return RefuseUnknown(Credential::Kind::kApiKey);
    case CredentialFault::kTokenAsKey:
      return Unauthorized("x-api-key has a token: send it in the header Authorization, as Bearer");
    case CredentialFault::kKeyAsToken:
      return Unauthorized("Authorization has an API key: send it in the header x-api-key");
    case CredentialFault::kBadToken:
      return InvalidToken();
    case CredentialFault::kTwoCredentials:
      return Ambiguous("send x-api-key or Authorization, not both");
    case CredentialFault::kRepeatedHeader:
      return Ambiguous("a header with a credential was sent twice");
  }
  return InvalidToken();
}

rest::Reply RefuseUnknown(Credential::Kind kind) {
  if (kind == Credential::Kind::kToken) return InvalidToken();
  return Unauthorized("the API key in x-api-key is not valid");
}

std::optional<store::Authentication> FindCaller(const Parts& parts, store::Session& session,
                                                const net::ServerRequest& request,
                                                const Credential& credential, bool count) {
  return store::Authenticate(session, {.credential = credential.text,
                                       .forwarded_user = ForwardedUser(request),
                                       .client_tokens = parts.config.oauth.enabled,
                                       .count = count});
}

std::optional<rest::Reply> JudgeRate(const Parts& parts, const store::RequestCount& count,
                                     rest::Answer* answer) {
  const std::int64_t limit = parts.config.limits.requests_per_minute;
  if (limit == 0) return std::nullopt;
  const auto reset =
      std::chrono::duration_cast<std::chrono::seconds>(count.minute_ends_at.time_since_epoch());
  answer->AddHeader("X-RateLimit-Limit", std::to_string(limit));
  answer->AddHeader("X-RateLimit-Remaining",
                    std::to_string(std::max<std::int64_t>(0, limit - count.requests)));
  answer->AddHeader("X-RateLimit-Reset", std::to_string(reset.count()));
  if (count.requests <= limit) return std::nullopt;
  const auto left =
      std::chrono::ceil<std::chrono::seconds>(count.minute_ends_at - parts.clock.Now());
  rest::Reply reply =
      rest::ErrorReply(429, "rate_limited",
                       fmt::format("more than {} requests in this minute by this caller", limit));
  reply.headers.emplace_back("Retry-After",
                             std::to_string(std::clamp<std::int64_t>(left.count(), 1, 60)));
  return reply;
}

std::optional<rest::Reply> JudgeCaller(const store::Authentication& found, const Route& route) {
  const store::Caller& caller = found.caller;
  if (caller.organisation_locked) {
    return rest::ErrorReply(403, "organisation_locked", "your organisation is locked");
  }
  if (!found.user_known.value_or(true)) {
    return rest::ErrorReply(403, "unknown_user",
                            "Service-Forwarded-User names no user for whom you may call");
  }
  if (route.access == Access::kManagement && !MayManage(caller)) {
    return rest::ErrorReply(403, "credential_not_allowed",
                            "OAuth clients are managed with an API key or a session of the whole "
                            "organisation");
  }
  if (!route.feature.empty() && !caller.Has(route.feature)) {
    return rest::ErrorReply(
        403, "feature_not_enabled",
        fmt::format("the feature {} is not enabled for your organisation", route.feature));
  }
  return std::nullopt;
}

}  // namespace vedette::api
