#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "config/auth_config.h"
#include "config/database_config.h"
#include "config/delivery_config.h"
#include "config/jobs_config.h"
#include "config/limits_config.h"
#include "config/lookup_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "config/search_config.h"
#include "config/security_config.h"
#include "config/server_config.h"
#include "domain/money/money.h"

// The configuration with all of its parts, for what reads most of them: the table of keys, and what
// checks them. A source that reads some includes config/parts.h and their headers.
namespace vedette::config {

using std::chrono::milliseconds;

// The values that a Config refers to, under the same names.
struct Config::Parts {
  DatabaseConfig database;
  HttpServerConfig api;
  ApiMemoryConfig api_memory;
  WaitsConfig waits;
  PreviewsConfig previews;
  std::string public_url;
  CellConfig cell;
  OauthConfig oauth;
  JwksConfig jwks;
  OidcConfig oidc;
  SessionsConfig sessions;
  DashboardConfig dashboard;
  HttpServerConfig admin = AdminServer();
  std::map<std::string, std::string> admin_tokens;
  std::map<std::string, std::string> admin_roles;
  AdminOidcConfig admin_oidc;
  HealthConfig health;
  SecurityConfig security;
  NetConfig net;
  LogConfig log;
  std::map<std::string, ProbeConfig> probes;
  std::map<std::string, std::int64_t> prices_mc;
  std::int64_t render_mc;
  EmailConfig email;
  MailDomainsConfig mail_domains;
  FindEmailPrices find_email_prices;
  PeoplePrice reverse_email_price;
  PeoplePrice age_price;
  double cents_per_credit;
  LimitsConfig limits;
  RetentionConfig retention;
  SchedulerConfig scheduler;
  WorkerConfig worker;
  DeliveryConfig delivery;
  MailConfig mail;
  JobsConfig jobs;
  WorkflowsConfig workflows;
  LookupsConfig lookups;
  AgeConfig age;
  ProvidersConfig providers;
  GravatarConfig gravatar;
  SmtpConfig smtp;
  SearchConfig search;
  InvestigationsConfig investigations;
  BrowserConfig browser;
  TestingConfig testing;

  bool operator==(const Parts&) const = default;
};

}  // namespace vedette::config
