#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_fwd.h"
#include "domain/money/money.h"

// The typed configuration. What an operator turns has a key; the defaults and their explanation
// stand in config.default.toml, which is compiled in. What nobody turns is a constant beside what
// it limits, or a field with a value and no key, which tests make smaller.
//
// Its parts are only named here. A source that reads a part includes that part's header as well, so
// that a new key compiles again what reads its part and nothing else.
namespace vedette::config {

using domain::ChargeRule;
using domain::FindEmailPrices;
using domain::PeoplePrice;

// A value: a copy has parts of its own. It is built once by LoadConfig, then passed down by const
// reference, and nobody changes it then: that it is const does not make its parts so, and a test of
// the floors looks that the product does not write to them.
struct Config {
  Config();
  Config(const Config& other);
  Config& operator=(const Config& other);
  ~Config();

  DatabaseConfig& database;
  HttpServerConfig& api;
  ApiMemoryConfig& api_memory;
  WaitsConfig& waits;
  PreviewsConfig& previews;
  std::string& public_url;  // [api] public_url: the issuer of tokens; may be empty
  CellConfig& cell;
  OauthConfig& oauth;
  JwksConfig& jwks;
  OidcConfig& oidc;
  SessionsConfig& sessions;
  DashboardConfig& dashboard;
  HttpServerConfig& admin;
  std::map<std::string, std::string>& admin_tokens;  // name -> token
  // A token's name -> viewer, operator or admin; a token without a role is an admin's.
  std::map<std::string, std::string>& admin_roles;
  AdminOidcConfig& admin_oidc;
  HealthConfig& health;
  SecurityConfig& security;
  NetConfig& net;
  LogConfig& log;
  std::map<std::string, ProbeConfig>& probes;      // micro, low, medium, high, xhigh: all five
  std::map<std::string, std::int64_t>& prices_mc;  // the same names; millicredits per check
  std::int64_t& render_mc;                         // on top, for a check whose page was rendered
  EmailConfig& email;
  MailDomainsConfig& mail_domains;
  FindEmailPrices& find_email_prices;
  PeoplePrice& reverse_email_price;
  PeoplePrice& age_price;
  double& cents_per_credit;
  LimitsConfig& limits;
  RetentionConfig& retention;
  SchedulerConfig& scheduler;
  WorkerConfig& worker;
  DeliveryConfig& delivery;
  MailConfig& mail;
  JobsConfig& jobs;
  WorkflowsConfig& workflows;
  LookupsConfig& lookups;
  AgeConfig& age;
  ProvidersConfig& providers;
  GravatarConfig& gravatar;
  SmtpConfig& smtp;
  SearchConfig& search;
  InvestigationsConfig& investigations;
  BrowserConfig& browser;
  TestingConfig& testing;

  bool operator==(const Config& other) const;

 private:
  struct Parts;  // config/config.h

  explicit Config(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;  // what is referred to above
};

// Whether a tier's pages may be rendered by a browser.
bool Renders(const ProbeConfig& probe);
// What a check costs at most, by tier: that of one whose page is rendered, where pages may be.
std::map<std::string, std::int64_t> MostPricesMc(const Config& config);

// What is wrong with the configuration: names the key as the reader wrote it ("[limits] foo" or
// "VEDETTE_LIMITS_FOO"), the value, and what is allowed.
class ConfigError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The compiled-in config.default.toml.
std::string_view DefaultConfigText();

// One key of the configuration, for lists of them. The names in [admin.tokens] are free and not
// listed.
struct ConfigKey {
  std::string section;      // "limits", "probes.low"
  std::string name;         // "requests_per_minute"
  std::string environment;  // "VEDETTE_LIMITS_REQUESTS_PER_MINUTE"
  std::string allowed;      // completes "must be ..."
  bool secret;              // never shown; <name>_file (and <environment>_FILE) are known too
};
std::vector<ConfigKey> ConfigKeys();

// Environment variables by name; empty when not set.
using Environment = std::map<std::string, std::string>;
Environment ProcessEnvironment();

// The defaults, then the file (if a path is given), then the environment's VEDETTE_* variables; a
// later layer wins. Known variables that are not configuration (those of ctl, the links that
// Kubernetes sets for a service of this name) are passed over; any other unknown VEDETTE_ variable
// is an error, as are an unknown key of the file, and a secret given both as <key> and <key>_file
// in one layer. A variable that is set but empty is an empty value. Throws ConfigError.
Config LoadConfig(const std::optional<std::string>& path, const Environment& environment);

}  // namespace vedette::config
