#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

// Keys of [oauth], [jwks], [oidc] and [sessions]: credentials other than API keys.
// config/config.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

// OAuth clients and their tokens: docs/authentication.md.
struct OauthConfig {
  bool enabled;
  std::chrono::seconds token_ttl_s;
  std::chrono::seconds assertion_lifetime_max_s;
  std::chrono::seconds clock_skew_s;
  int clients_per_org_max;
  int keys_per_client_max;
  int tokens_per_client_max;

  bool operator==(const OauthConfig&) const = default;
};

// How the keys are fetched that others publish: those of OAuth clients which have a jwks_uri, and
// of the identity provider. Keys of [oauth], which begin with jwks_.
struct JwksConfig {
  milliseconds timeout_ms;    // of one answer, everything included
  std::size_t bytes_max;      // of one answer
  int keys_max;               // of one set
  milliseconds fresh_ms;      // how long keys serve before they are fetched again
  milliseconds retry_ms;      // between the starts of two fetches of one set
  milliseconds stale_max_ms;  // how long old keys serve where fetches fail
  int fetches_max;            // of OAuth clients' keys, under way in one process

  bool operator==(const JwksConfig&) const = default;
};

// The operator's identity provider, whose bearer tokens are taken. A claim is a member's name, or a
// JSON Pointer where it begins with '/'.
struct OidcConfig {
  std::string issuer;        // empty: there is none
  std::string audience;      // that a token must name
  std::string org_claim;     // of the organisation; empty: `organisation` is everybody's
  std::string organisation;  // an id; empty: org_claim says which
  std::string team_claim;    // empty: tokens are for the whole organisation
  std::string user_claim;
  std::vector<std::string> algorithms;
  std::chrono::seconds lifetime_max_s;  // how far ahead a token may expire

  bool operator==(const OidcConfig&) const = default;
};

// Sessions of the users of the operator's dashboard.
struct SessionsConfig {
  std::chrono::seconds ttl_max_s;

  bool operator==(const SessionsConfig&) const = default;
};

}  // namespace vedette::config
