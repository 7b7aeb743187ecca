#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

// Keys of credentials other than API keys: [oauth], [oidc] and [admin.oidc].
// config/parts.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

// OAuth clients and their tokens: docs/authentication.md.
struct OauthConfig {
  bool enabled;

  // These have no keys.
  std::chrono::seconds token_ttl_s{3600};               // where its client does not say
  std::chrono::seconds assertion_lifetime_max_s{3600};  // how far ahead an assertion may expire
  std::chrono::seconds clock_skew_s{60};                // how far clocks may differ
  int clients_per_org_max = 100;
  int keys_per_client_max = 10;
  int tokens_per_client_max = 10'000;  // that are alive at once

  bool operator==(const OauthConfig&) const = default;
};

// How the keys are fetched that others publish: those of OAuth clients which have a jwks_uri, and
// of the identity provider. Keys of [oauth], which begin with jwks_.
struct JwksConfig {
  milliseconds fresh_ms;      // how long keys serve before they are fetched again
  milliseconds retry_ms;      // between the starts of two fetches of one set
  milliseconds stale_max_ms;  // how long old keys serve where fetches fail

  // These have no keys.
  milliseconds timeout_ms{3'000};  // of one answer, everything included
  std::size_t bytes_max = 65'536;  // of one answer
  int keys_max = 20;               // of one set
  int fetches_max = 64;            // of OAuth clients' keys, under way in one process

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
  // The client that the dashboard is at the provider, by which its members sign in; empty: none do.
  // One without a secret is a public client.
  std::string client_id;
  std::string client_secret;
  // How far ahead a token may expire; it has no key.
  std::chrono::seconds lifetime_max_s{86'400};

  bool operator==(const OidcConfig&) const = default;
};

// The identity provider by which operators sign in at the console; it may be another than that of
// [oidc], whose claims are named likewise.
struct AdminOidcConfig {
  std::string issuer;  // empty: nobody signs in at the console
  std::string client_id;
  std::string client_secret;  // empty: a public client
  std::string public_url;     // of the admin port, as browsers reach it
  std::string scope;          // that is asked for
  std::string role_claim;
  // The claim's values that give a role; the highest counts.
  std::vector<std::string> viewers;
  std::vector<std::string> operators;
  std::vector<std::string> admins;

  bool operator==(const AdminOidcConfig&) const = default;
};

// The pages at /dashboard, where members of organisations sign in (docs/dashboard.md).
struct DashboardConfig {
  bool enabled;

  bool operator==(const DashboardConfig&) const = default;
};

// Sessions of the users of the operator's dashboard; there are no keys.
struct SessionsConfig {
  std::chrono::seconds ttl_max_s{86'400};

  bool operator==(const SessionsConfig&) const = default;
};

}  // namespace vedette::config
