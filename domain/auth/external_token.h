#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "domain/auth/jwt.h"

// An access token of the operator's identity provider (RFC 9068). Pure.
namespace vedette::domain {

// A claim is named by its member, or by a JSON Pointer where the name begins with '/'.
struct ExternalTokenRules {
  std::string issuer;
  std::string audience;
  std::string org_claim;   // empty: every token is of one organisation
  std::string team_claim;  // empty: tokens are for the whole organisation
  std::string user_claim;
  std::vector<base::SignatureAlgorithm> algorithms;  // that are taken
  TimeRules times;
};

struct ExternalToken {
  std::optional<std::string> organisation;  // an id or an external_id; empty without org_claim
  std::optional<std::string> team;
  std::string subject;
};

// Validates a token whose signature is the provider's. The fault is for the log.
std::variant<ExternalToken, JwtFault> ReadExternalToken(const Jwt& jwt,
                                                        const ExternalTokenRules& rules,
                                                        base::Timestamp now);

// The principal of a subject: UUIDv5 of the issuer and the subject, so that no table is needed.
base::Uuid ExternalPrincipal(std::string_view issuer, std::string_view subject);

}  // namespace vedette::domain
