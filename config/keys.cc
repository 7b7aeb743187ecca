#include "config/keys.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "config/lookup_config.h"

namespace vedette::config {
namespace {

using Kind = Values::Kind;

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr std::int64_t kMillion = 1'000'000;

// Most durations: nothing below `min` works, nothing above an hour is meant.
constexpr Values Time(std::int64_t min = 1, std::int64_t max = kHourMs) {
  return {Kind::kWhole, min, max};
}
constexpr Values Whole(std::int64_t min, std::int64_t max) {
  return {Kind::kWhole, min, max};
}
constexpr Values Real(std::int64_t min, std::int64_t max) {
  return {Kind::kReal, min, max};
}
constexpr Values Choice(std::string_view choices, Kind kind = Kind::kChoice) {
  return {kind, 0, 0, choices};
}
constexpr Values Secret(Kind kind) {
  return {kind, 0, 0, {}, true};
}
constexpr Values kCredits{Kind::kCredits, 0, kMillion};
constexpr Values kCharge = Choice("always, found, ok", Kind::kCharge);
constexpr Values kHours{Kind::kHours};
constexpr Values kFlag{Kind::kFlag};
constexpr Values kText{Kind::kText};
constexpr Values kNonEmptyText{Kind::kNonEmptyText};
constexpr Values kTexts{Kind::kTexts};
constexpr Values kOptionalUrl{Kind::kOptionalUrl};
constexpr Values kOptionalAddress{Kind::kOptionalAddress};
constexpr Values kProviderIds{Kind::kProviderIds};
constexpr Values kDomains{Kind::kDomains};
constexpr Values kSecretText = Secret(Kind::kText);
// Fewer than a connection takes for one address would be none.
constexpr Values kRecipients = Whole(1 + kSmtpRecipientsReserved, 1000 * kMillion);
constexpr std::string_view kAnswerFormats = "json_schema, json_object, text";
constexpr std::string_view kTokensMaxFields = "max_tokens, max_completion_tokens";

struct Row {
  std::string_view name;
  Field field;
  Values values;
};

void Add(std::vector<Key>* table, std::string_view section, std::initializer_list<Row> rows,
         Key::Source source = Key::Source::kDefaults) {
  for (const Row& row : rows) {
    table->push_back({std::string(section), std::string(row.name), row.values, row.field, source});
  }
}

void AddDatabase(Config& c, std::vector<Key>* table) {
  Add(table, "database",
      {{"url", &c.database.url, Secret(Kind::kDatabaseUrl)},
       {"pooled_url", &c.database.pooled_url, Secret(Kind::kDatabaseUrl)},
       {"statement_timeout_ms", &c.database.statement_timeout_ms, Time(6)},
       {"api_connections", &c.database.api_connections, Whole(1, 1000)},
       {"worker_connections", &c.database.worker_connections, Whole(1, 1000)},
       {"jobs_connections", &c.database.jobs_connections, Whole(1, 1000)}});
}

void AddServers(Config& c, std::vector<Key>* table) {
  Add(table, "api",
      {{"listen", &c.api.listen, {Kind::kListenAddress}},
       {"connections_max", &c.api.connections_max, Whole(1, kMillion)},
       {"body_bytes_max", &c.api.body_bytes_max, Whole(kKiB, kGiB)},
       {"held_bytes_max", &c.api_memory.held_bytes_max, Whole(kKiB, 1024 * kGiB)},
       {"waits_max", &c.waits.waits_max, Whole(1, kMillion)},
       {"idle_timeout_ms", &c.api.idle_timeout_ms, Time()},
       {"trusted_proxies", &c.api.trusted_proxies, {Kind::kCidrs}},
       {"public_url", &c.public_url, {Kind::kOptionalIssuer}}});
  Add(table, "admin", {{"listen", &c.admin.listen, {Kind::kListenAddress}}});
  Add(table, "health",
      {{"listen", &c.health.listen, {Kind::kOptionalListenAddress}},
       {"drain_delay_ms", &c.health.drain_delay_ms, Time(0, 5 * kMinuteMs)}});
}

void AddCredentials(Config& c, std::vector<Key>* table) {
  Add(table, "cell", {{"id", &c.cell.id, {Kind::kOptionalCell}}});
  Add(table, "oauth",
      {{"enabled", &c.oauth.enabled, kFlag},
       {"jwks_fresh_ms", &c.jwks.fresh_ms, Time(100, kDayMs)},
       {"jwks_retry_ms", &c.jwks.retry_ms, Time(100)},
       {"jwks_stale_max_ms", &c.jwks.stale_max_ms, Time(100, 7 * kDayMs)}});
  Add(table, "dashboard", {{"enabled", &c.dashboard.enabled, kFlag}});
  Add(table, "oidc",
      {{"issuer", &c.oidc.issuer, kOptionalUrl},
       {"audience", &c.oidc.audience, kText},
       {"org_claim", &c.oidc.org_claim, kText},
       {"organisation", &c.oidc.organisation, kText},
       {"team_claim", &c.oidc.team_claim, kText},
       {"user_claim", &c.oidc.user_claim, kNonEmptyText},
       {"algorithms", &c.oidc.algorithms, Choice("RS256, PS256, ES256, EdDSA", Kind::kChoiceList)},
       {"client_id", &c.oidc.client_id, kText},
       {"client_secret", &c.oidc.client_secret, kSecretText}});
  Add(table, "admin.oidc",
      {{"issuer", &c.admin_oidc.issuer, kOptionalUrl},
       {"client_id", &c.admin_oidc.client_id, kText},
       {"client_secret", &c.admin_oidc.client_secret, kSecretText},
       {"public_url", &c.admin_oidc.public_url, {Kind::kOptionalIssuer}},
       {"scope", &c.admin_oidc.scope, kNonEmptyText},
       {"role_claim", &c.admin_oidc.role_claim, kNonEmptyText},
       {"viewers", &c.admin_oidc.viewers, kTexts},
       {"operators", &c.admin_oidc.operators, kTexts},
       {"admins", &c.admin_oidc.admins, kTexts}});
  Add(table, "security",
      {{"encryption_key", &c.security.encryption_key, Secret(Kind::kOptionalKey)},
       {"encryption_keys_old", &c.security.encryption_keys_old, Secret(Kind::kKeyList)}});
}

void AddNetLog(Config& c, std::vector<Key>* table) {
  Add(table, "net",
      {{"allow", &c.net.allow, {Kind::kCidrs}},
       {"dns_servers", &c.net.dns_servers, {Kind::kAddresses}},
       {"ca_file", &c.net.ca_file, kText},
       {"proxy", &c.net.proxy, Secret(Kind::kOptionalUrl)},
       {"contact", &c.net.contact, kText},
       {"connections_max", &c.net.connections_max, Whole(1, kMillion)}});
  Add(table, "log",
      {{"level", &c.log.level, Choice("trace, debug, info, warn, error")},
       {"format", &c.log.format, Choice("text, json")}});
}

// `name`: a tier, or kProbeDefaults.
void AddProbe(Config& c, std::string_view name, std::vector<Key>* table) {
  ProbeConfig& p = c.probes[std::string(name)];
  Add(table, "probes." + std::string(name),
      {{"kind", &p.kind, Choice("web, http, llm, null")},
       {"url", &p.url, kOptionalUrl},
       {"model", &p.model, kText},
       {"api_key", &p.api_key, kSecretText},
       {"signing_secret", &p.signing_secret, kSecretText},
       {"timeout_ms", &p.timeout_ms, Time(1, 10 * kMinuteMs)},
       {"attempts_max", &p.attempts_max, Whole(1, 10)},
       {"deadline_ms", &p.deadline_ms, Time(1, 10 * kMinuteMs)},
       {"body_bytes_max", &p.body_bytes_max, Whole(kKiB, 100 * kMiB)},
       {"temperature", &p.temperature, Real(0, 2)},
       {"tokens_max", &p.tokens_max, Whole(1, kMillion)},
       {"tokens_max_field", &p.tokens_max_field, Choice(kTokensMaxFields)},
       {"answer_format", &p.answer_format, Choice(kAnswerFormats)},
       {"render", &p.render, Choice("never, auto, always")}},
      name == kProbeDefaults ? Key::Source::kDefaults : Key::Source::kInherited);
}

void AddPrices(Config& c, std::vector<Key>* table) {
  for (const std::string_view tier : kTiers) {
    Add(table, "prices", {{tier, &c.prices_mc[std::string(tier)], kCredits}});
  }
  Add(table, "prices", {{"render", &c.render_mc, kCredits}});
  Add(table, "prices", {{"cents_per_credit", &c.cents_per_credit, Real(0, kMillion)}});
  Add(table, "prices.find_email",
      {{"professional", &c.find_email_prices.professional_mc, kCredits},
       {"personal", &c.find_email_prices.personal_mc, kCredits},
       {"verify", &c.find_email_prices.verify_mc, kCredits},
       {"charge", &c.find_email_prices.charge, kCharge}});
  Add(table, "prices.reverse_email",
      {{"lookup", &c.reverse_email_price.row_mc, kCredits},
       {"charge", &c.reverse_email_price.charge, kCharge}});
  Add(table, "prices.people_intelligence",
      {{"high", &c.age_price.row_mc, kCredits}, {"charge", &c.age_price.charge, kCharge}});
  Add(table, "prices.investigation", {{"expansion", &c.investigations.expansion_mc, kCredits}});
  Add(table, "prices.workflow", {{"verify_email", &c.workflows.verify_email_mc, kCredits}});
}

void AddLimits(Config& c, std::vector<Key>* table) {
  Add(table, "limits",
      {{"requests_per_minute", &c.limits.requests_per_minute, Whole(0, 1000 * kMillion)},
       {"frequency_min", &c.limits.frequency_min, {Kind::kDuration}},
       {"struct_bytes_max", &c.limits.struct_bytes_max, Whole(2, 16 * kMiB)},
       {"uploads_unused_bytes_max", &c.limits.uploads_unused_bytes_max, Whole(kKiB, 1024 * kGiB)}});
  Add(table, "retention",
      {{"events", &c.retention.events, kHours},
       {"check_log", &c.retention.check_log, kHours},
       {"attempts", &c.retention.attempts, kHours},
       {"snapshots", &c.retention.snapshots, kHours},
       {"dead", &c.retention.dead, kHours},
       {"audit", &c.retention.audit, kHours},
       {"jobs", &c.retention.jobs, kHours},
       {"runs", &c.retention.runs, kHours},
       {"run_data", &c.retention.run_data, kHours}});
}

void AddRoles(Config& c, std::vector<Key>* table) {
  constexpr std::string_view kLanes = "checks, transform, lookup, smtp, research";
  Add(table, "scheduler", {{"spread", &c.scheduler.spread, Real(0, 1)}});
  Add(table, "worker",
      {{"lease_ms", &c.worker.lease_ms, Time(1000)},
       {"checks_in_flight_max", &c.worker.checks_in_flight_max, Whole(1, kMillion)},
       {"claims_max", &c.worker.claims_max, Whole(1, 100)},
       {"drain_timeout_ms", &c.worker.drain_timeout_ms, Time(0)},
       {"probe_threads", &c.worker.probe_threads, Whole(1, 256)},
       {"per_host_max", &c.worker.per_host_max, Whole(1, 100'000)},
       {"per_host_gap_ms", &c.worker.per_host_gap_ms, Time(0, 10 * kMinuteMs)},
       {"obey_robots", &c.worker.obey_robots, kFlag},
       {"pages_held_bytes_max", &c.worker.pages_held_bytes_max, Whole(kMiB, 256 * kGiB)},
       {"lanes", &c.worker.lanes, Choice(kLanes, Kind::kChoiceList)}});
  Add(table, "delivery",
      {{"timeout_ms", &c.delivery.timeout_ms, Time(1, 10 * kMinuteMs)},
       {"lease_ms", &c.delivery.lease_ms, Time(1000)},
       {"backoff_first_ms", &c.delivery.backoff_first_ms, Time(1, kDayMs)},
       {"backoff_max_ms", &c.delivery.backoff_max_ms, Time(1, 7 * kDayMs)},
       {"backoff_window_ms", &c.delivery.backoff_window_ms, Time(0, 30 * kDayMs)},
       {"in_flight_max", &c.delivery.in_flight_max, Whole(1, kMillion)},
       {"breaker_failures", &c.delivery.breaker_failures, Whole(1, kMillion)}});
  Add(table, "mail",
      {{"relay", &c.mail.relay, kText},
       {"password", &c.mail.password, kSecretText},
       {"from", &c.mail.from, kText}});
  Add(table, "jobs",
      {{"slots_transform", &c.jobs.slots_transform, Whole(1, 256)},
       {"slots_lookup", &c.jobs.slots_lookup, Whole(1, kMillion)},
       {"slots_research", &c.jobs.slots_research, Whole(1, kMillion)},
       {"open_per_org_max", &c.jobs.open_per_org_max, Whole(1, 10 * kMillion)}});
  Add(table, "workflows",
      {{"run_timeout", &c.workflows.run_timeout, kHours},
       {"runs_active_per_org_max", &c.workflows.runs_active_per_org_max, Whole(1, kMillion)},
       {"run_data_bytes_per_org_max", &c.workflows.run_data_bytes_per_org_max,
        Whole(kMiB, 1024 * 1024 * kGiB)},
       {"csv_formula_guard", &c.workflows.csv_formula_guard, kFlag}});
}

void AddLookups(Config& c, std::vector<Key>* table) {
  Add(table, "lookups",
      {{"find_email", &c.lookups.find_email, kProviderIds},
       {"find_email_personal", &c.lookups.find_email_personal, kProviderIds},
       {"reverse_email", &c.lookups.reverse_email, kProviderIds},
       {"verify_age", &c.lookups.verify_age, kProviderIds},
       {"company_domain", &c.lookups.company_domain, kProviderIds},
       {"row_timeout_ms", &c.lookups.row_timeout_ms, Time(100)},
       {"age_deadline_ms", &c.lookups.age_deadline_ms, Time(1000, kDayMs)},
       {"verifier", &c.lookups.verifier, kNonEmptyText}});
  Add(table, "age",
      {{"minimum_result_age", &c.lookups.minimum_result_age, Whole(0, 120)},
       {"wikidata", &c.age.wikidata, kFlag},
       {"wikidata_url", &c.age.wikidata_url, kOptionalUrl}});
  Add(table, "email",
      {{"free_domains_file", &c.mail_domains.free_domains_file, kText},
       {"disposable_domains_file", &c.mail_domains.disposable_domains_file, kText}});
  Add(table, "providers",
      {{"breaker_failures", &c.providers.breaker_failures, Whole(1, kMillion)},
       {"recipes_dir", &c.providers.recipes_dir, kText}});
  Add(table, "providers.gravatar",
      {{"url", &c.gravatar.url, kOptionalUrl}, {"api_key", &c.gravatar.api_key, kSecretText}});
  Add(table, "email.smtp",
      {{"hello_name", &c.smtp.hello_name, kText},
       {"mail_from", &c.smtp.mail_from, kText},
       {"port", &c.smtp.port, Whole(1, 65'535)},
       {"proxy", &c.smtp.proxy, kText},
       {"public_address", &c.smtp.public_address, kOptionalAddress},
       {"per_domain_hour", &c.smtp.per_domain_hour, kRecipients},
       {"per_class_minute", &c.smtp.per_class_minute, kRecipients},
       {"per_day", &c.smtp.per_day, kRecipients},
       {"doctor_domains", &c.smtp.doctor_domains, kDomains},
       {"doctor_lists", &c.smtp.doctor_lists, kDomains}});
}

void AddSearch(Config& c, std::vector<Key>* table) {
  constexpr std::string_view kExpanders = "dns, website, lookups, rdap, ct";
  Add(table, "search",
      {{"backend", &c.search.backend, Choice("postgres, opensearch, ")},
       {"url", &c.search.url, kOptionalUrl},
       {"index_people", &c.search.index_people, kNonEmptyText},
       {"index_company", &c.search.index_company, kNonEmptyText},
       {"org_field", &c.search.org_field, kNonEmptyText},
       {"user", &c.search.user, kText},
       {"password", &c.search.password, kSecretText},
       {"api_key", &c.search.api_key, kSecretText},
       {"fields_file", &c.search.fields_file, kText}});
  Add(table, "investigations",
      {{"providers", &c.investigations.providers, Choice(kExpanders, Kind::kChoiceList)}});
}

void AddBrowser(Config& c, std::vector<Key>* table) {
  Add(table, "browser",
      {{"enabled", &c.browser.enabled, Choice("auto, true, false")},
       {"executable", &c.browser.executable, kNonEmptyText},
       {"pages_max", &c.browser.pages_max, Whole(1, 100)},
       {"memory_bytes_max", &c.browser.memory_bytes_max, Whole(256 * kMiB, 256 * kGiB)},
       {"sandbox", &c.browser.sandbox, kFlag},
       {"render_timeout_ms", &c.browser.render_timeout_ms, Time(1000, 10 * kMinuteMs)}});
}

// The names of safeties are those that store/testing.cc asks for.
void AddTesting(Config& c, std::vector<Key>* table) {
  constexpr std::string_view kSafeties =
      "lease_fence, row_fence, reservation, lease_renewal, job_lease_fence, job_progress_fence, "
      "job_reservation, job_held, job_end_lock, open_later, slot_fence, assertion_once, "
      "token_version, key_fetch_limit";
  Add(table, "testing",
      {{"fault_points", &c.testing.fault_points, {Kind::kFaultPoints}},
       {"fault_seed", &c.testing.fault_seed, Whole(0, INT64_MAX)},
       {"disable", &c.testing.disable, Choice(kSafeties, Kind::kChoiceList)},
       {"mail_window_ms", &c.testing.mail_window_ms, Time(0)},
       {"null_provider", &c.testing.null_provider, kFlag},
       {"null_change_share", &c.testing.null_change_share, Real(0, 1)},
       {"small_steps", &c.testing.small_steps, kFlag}});
}

bool IsTokenName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

std::vector<Key> KeyTable(Config* config) {
  std::vector<Key> table;
  AddDatabase(*config, &table);
  AddServers(*config, &table);
  AddCredentials(*config, &table);
  AddNetLog(*config, &table);
  AddProbe(*config, kProbeDefaults, &table);
  for (const std::string_view tier : kTiers) AddProbe(*config, tier, &table);
  AddPrices(*config, &table);
  AddLimits(*config, &table);
  AddRoles(*config, &table);
  AddLookups(*config, &table);
  AddSearch(*config, &table);
  AddBrowser(*config, &table);
  AddTesting(*config, &table);
  return table;
}

std::optional<Key> TokenKey(std::string_view name, Config* config) {
  if (!IsTokenName(name)) return std::nullopt;
  return Key{std::string(kTokensSection), std::string(name), Secret(Kind::kNonEmptyText),
             &config->admin_tokens[std::string(name)]};
}

std::optional<Key> TokenRoleKey(std::string_view name, Config* config) {
  if (!IsTokenName(name)) return std::nullopt;
  return Key{std::string(kRolesSection), std::string(name), Choice("viewer, operator, admin"),
             &config->admin_roles[std::string(name)]};
}

std::vector<Key> HttpProviderKeys(std::string_view id, Config* config) {
  std::vector<Key> keys;
  if (!IsProviderId(id)) return keys;
  HttpProviderConfig& p = config->providers.http[std::string(id)];
  Add(&keys, std::string(kHttpProvidersSection) + "." + std::string(id),
      {{"url", &p.url, kOptionalUrl},
       {"api_key", &p.api_key, kSecretText},
       {"signing_secret", &p.signing_secret, kSecretText},
       {"timeout_ms", &p.timeout_ms, Time(1, 10 * kMinuteMs)},
       {"body_bytes_max", &p.body_bytes_max, Whole(kKiB, 100 * kMiB)},
       {"in_flight_max", &p.in_flight_max, Whole(1, kMillion)},
       {"trust", &p.trust, kFlag}});
  return keys;
}

std::vector<Key> LlmProviderKeys(std::string_view id, Config* config) {
  std::vector<Key> keys;
  if (!IsProviderId(id)) return keys;
  LlmProviderConfig& p = config->providers.llm[std::string(id)];
  Add(&keys, std::string(kLlmProvidersSection) + "." + std::string(id),
      {{"url", &p.url, kOptionalUrl},
       {"model", &p.model, kText},
       {"api_key", &p.api_key, kSecretText},
       {"timeout_ms", &p.timeout_ms, Time(1, 10 * kMinuteMs)},
       {"body_bytes_max", &p.body_bytes_max, Whole(kKiB, 100 * kMiB)},
       {"temperature", &p.temperature, Real(0, 2)},
       {"tokens_max", &p.tokens_max, Whole(1, kMillion)},
       {"tokens_max_field", &p.tokens_max_field, Choice(kTokensMaxFields)},
       {"answer_format", &p.answer_format, Choice(kAnswerFormats)},
       {"page_text_bytes_max", &p.page_text_bytes_max, Whole(0, kMiB)}});
  return keys;
}

std::string EnvironmentName(std::string_view section, std::string_view name) {
  std::string out = "VEDETTE_";
  out.append(section).append("_").append(name);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    if (c == '.' || c == '-') return '_';
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
}

}  // namespace vedette::config
