#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "config/search_config.h"
#include "domain/email/find_prices.h"
#include "domain/recipe/recipe.h"

// The typed configuration. Every limit, timeout and size of the system has its name here; the
// defaults and their explanation stand in config.default.toml, which is compiled in. A value type:
// built once by LoadConfig, then passed down by const reference.
namespace vedette::config {

using std::chrono::milliseconds;

struct DatabaseConfig {
  std::string url;  // libpq connection string or URI
  milliseconds connect_timeout_ms;
  milliseconds statement_timeout_ms;
  milliseconds lock_timeout_ms;
  milliseconds idle_in_transaction_timeout_ms;
  milliseconds tcp_user_timeout_ms;
  // First and longest wait between attempts to reconnect.
  milliseconds reconnect_first_ms;
  milliseconds reconnect_max_ms;
  // Connections, and threads, per role.
  int api_connections;
  int admin_connections;
  int scheduler_connections;
  int worker_connections;
  int delivery_connections;
  int jobs_connections;
  int search_connections;
  // Jobs that may wait for a connection, per role; over it the caller is refused.
  int queue_max;

  bool operator==(const DatabaseConfig&) const = default;
};

struct HttpServerConfig {
  std::string listen;  // host:port; port 0 picks a free one
  int connections_max;
  std::size_t header_bytes_max;
  std::size_t body_bytes_max;
  milliseconds header_timeout_ms;  // from the first byte (or accept) to the end of the header
  milliseconds body_timeout_ms;    // from the end of the header to the end of the body
  milliseconds write_timeout_ms;   // without progress
  milliseconds idle_timeout_ms;    // keep-alive
  milliseconds drain_timeout_ms;   // for requests in flight at shutdown

  bool operator==(const HttpServerConfig&) const = default;
};

// What the public API keeps of its tenants' bytes in memory at once; keys of [api].
struct ApiMemoryConfig {
  std::size_t held_bytes_max;  // bodies, what is made of them, answers: of all requests together
  milliseconds held_wait_ms;   // the longest that a request waits for a share of it

  bool operator==(const ApiMemoryConfig&) const = default;
};

// Requests that wait for the end of a job; keys of [api].
struct WaitsConfig {
  int waits_max;       // of the process
  double waits_share;  // of these that one organisation may have

  bool operator==(const WaitsConfig&) const = default;
};

// Previews of monitors; keys of [api].
struct PreviewsConfig {
  int previews_in_flight_max;       // rows that are being looked at, of the process
  milliseconds preview_timeout_ms;  // the longest that a client waits for one preview

  bool operator==(const PreviewsConfig&) const = default;
};

struct HealthConfig {
  std::string listen;  // host:port of health and metrics alone; empty: no such port
  milliseconds drain_delay_ms;

  bool operator==(const HealthConfig&) const = default;
};

struct SecurityConfig {
  // 32 bytes, decoded from 64 hex digits; empty when not set. Its id is the first 8 hex digits of
  // its SHA-256, computed where it is used.
  std::string encryption_key;
  // Former keys, for reading only.
  std::vector<std::string> encryption_keys_old;

  bool operator==(const SecurityConfig&) const = default;
};

struct NetConfig {
  std::vector<std::string> allow;        // CIDRs that tenants' URLs may reach although not public
  std::vector<std::string> dns_servers;  // empty: the system's
  std::string ca_file;                   // empty: the system's bundle
  std::string proxy;                     // empty: none; never taken from the environment
  std::string user_agent;                // of the web probe
  std::string contact;                   // that the user agent names; empty: none
  milliseconds connect_timeout_ms;
  int connections_max;  // of the outgoing client, all hosts together
  int connections_per_host_max;

  bool operator==(const NetConfig&) const = default;
};

struct LogConfig {
  std::string level;   // trace, debug, info, warn, error
  std::string format;  // text, json

  bool operator==(const LogConfig&) const = default;
};

// How one tier is observed.
struct ProbeConfig {
  std::string kind;  // web, http, llm, null (benchmarks only)
  std::string url;
  std::string model;
  std::string api_key;         // from api_key or api_key_file
  std::string signing_secret;  // from signing_secret or signing_secret_file
  milliseconds timeout_ms;     // bounds one attempt
  int attempts_max;            // attempts within the check's deadline
  milliseconds deadline_ms;    // bounds the check, retries included; at most 10 minutes
  std::size_t body_bytes_max;
  // Of the model (kind llm, and web with a model).
  std::optional<double> temperature;  // empty: not sent
  int tokens_max;                     // of one answer
  std::string tokens_max_field;       // how the model's server calls it
  std::string answer_format;          // json_schema, json_object, text
  std::size_t page_text_bytes_max;    // of a page's text given to the model; 0 = none is fetched
  double change_share;                // of the checks of kind null that see new values

  bool operator==(const ProbeConfig&) const = default;
};

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

struct LimitsConfig {
  int requests_per_minute;  // of one principal, over the whole fleet; 0 = off
  std::optional<std::chrono::seconds> frequency_min;  // replaces the lower bound for everyone
  int rows_per_request_max;
  std::int64_t rows_per_monitor_max;
  int struct_fields_max;
  int name_chars_max;
  std::size_t metadata_bytes_max;
  std::size_t struct_bytes_max;  // names and descriptions together, as JSON
  std::size_t row_bytes_max;     // one row's columns as JSON
  // Of one organisation: uploaded files that no monitor was made from, and their bytes.
  int uploads_unused_max;
  std::size_t uploads_unused_bytes_max;
  int signing_secrets_live_max;

  bool operator==(const LimitsConfig&) const = default;
};

struct RetentionConfig {
  std::chrono::hours events;
  std::chrono::hours check_log;
  std::chrono::hours attempts;
  std::chrono::hours dead;
  std::chrono::hours audit;
  std::chrono::hours idempotency_keys;
  std::chrono::hours uploads;
  std::chrono::hours jobs;
  std::chrono::hours runs;             // of workflows, from their end on
  std::chrono::hours run_data;         // the rows of blocks, by the day that their job was made
  std::chrono::hours mail_facts;       // what is known of mail servers, since it was last asked
  std::chrono::hours domain_patterns;  // of organisations, since they were last seen to hold

  bool operator==(const RetentionConfig&) const = default;
};

struct SchedulerConfig {
  milliseconds poll_ms;      // safety net behind notifications
  int monitors_per_cut_max;  // due monitors in one transaction
  int rows_per_cut_max;      // rows of one monitor in one transaction; the rest follows as portions
  int spread_rows_min;
  double spread;  // share of the period
  milliseconds maintenance_ms;

  bool operator==(const SchedulerConfig&) const = default;
};

struct WorkerConfig {
  milliseconds lease_ms;
  milliseconds poll_ms;
  milliseconds control_read_ms;     // how often pauses are read
  milliseconds control_age_max_ms;  // older knowledge starts no check (G5)
  int checks_in_flight_max;
  int rows_ahead_max;     // rows claimed beyond what can be in flight
  double newcomer_share;  // of both that an organisation that is alone leaves free
  int chunk_rows_max;
  milliseconds chunk_duration_target_ms;  // a chunk's size follows from it and the checks' duration
  int claims_max;                         // deaths before a chunk is halved
  int orgs_per_walk_max;
  milliseconds record_delay_ms;          // how long results of finished chunks are gathered
  milliseconds record_partial_delay_ms;  // and those of chunks that go on
  int record_checks_max;                 // results in one transaction
  milliseconds drain_timeout_ms;
  int probe_threads;                       // that one organisation may occupy; one more for others
  int per_host_max;                        // pages being fetched from one host
  milliseconds per_host_gap_ms;            // between the starts of two of them
  bool obey_robots;                        // whether robots.txt is read and obeyed
  std::size_t pages_remembered_bytes_max;  // of what was seen on pages that name their version
  std::size_t pages_held_bytes_max;        // of pages and answers that are fetched or read now
  std::size_t questions_held_bytes_max;    // of what services and models are asked now
  std::size_t rows_held_bytes_max;         // of the rows that are claimed
  std::vector<std::string> lanes;          // checks, transform, lookup, smtp, research

  bool operator==(const WorkerConfig&) const = default;
};

struct DeliveryConfig {
  milliseconds timeout_ms;  // one attempt, everything included
  milliseconds lease_ms;
  milliseconds poll_ms;
  milliseconds backoff_first_ms;
  milliseconds backoff_max_ms;
  milliseconds backoff_window_ms;
  double backoff_jitter;            // +- share
  milliseconds breaker_age_max_ms;  // how long deliveries may wait behind an open breaker
  int in_flight_max;
  int in_flight_per_endpoint_max;
  int slow_in_flight_max;
  int tests_in_flight_max;     // webhook tests under way in one process
  milliseconds slow_after_ms;  // an attempt under way for longer makes its receiver slow
  int breaker_failures;        // in a row, until it opens
  milliseconds breaker_interval_ms;
  std::size_t answer_bytes_max;
  std::size_t body_bytes_max;         // of a job's callback; over it the result is left out
  std::size_t bodies_held_bytes_max;  // of callbacks that the process sends now
  milliseconds settle_delay_ms;
  int settle_max;
  milliseconds drain_timeout_ms;

  bool operator==(const DeliveryConfig&) const = default;
};

// The engine of jobs. Slots are rows in flight in one process, but those of `transform`, which are
// parts that are being computed.
struct JobsConfig {
  int slots_transform;
  int slots_lookup;
  int slots_smtp;
  int slots_research;
  int parts_held_max;     // of transform, claimed ahead
  double newcomer_share;  // of a lane that an organisation that is alone leaves free
  double waited_share;    // of a lane that is kept for jobs that a client waits for
  int record_chunks_max;  // of one job in one transaction
  milliseconds record_delay_ms;
  milliseconds record_partial_delay_ms;
  std::size_t part_bytes_max;
  int attempts_max;           // at one row, within its time
  milliseconds wait_lane_ms;  // how long a job waits for a lane that nobody serves
  milliseconds keeper_ms;
  int open_per_org_max;

  bool operator==(const JobsConfig&) const = default;
};

// Lookups: the providers that are asked, in order, and how long.
// [workflows].
struct WorkflowsConfig {
  std::chrono::hours run_timeout;          // a run's deadline
  int runs_active_per_org_max;             // that have not ended
  int workflows_per_org_max;               // that are not deleted
  std::size_t run_data_bytes_per_org_max;  // of the rows of its runs that are kept
  int window_rows;                         // of one block that are open at once
  std::size_t inline_results_bytes_max;    // of the rows that go along with a callback
  bool csv_formula_guard;                  // whether cells that spreadsheets compute are defused
  std::int64_t verify_email_mc;            // [prices.workflow] verify_email: of a row

  bool operator==(const WorkflowsConfig&) const = default;
};

struct LookupsConfig {
  std::vector<std::string> find_email;           // ids of providers, for mode PROFESSIONAL
  std::vector<std::string> find_email_personal;  // and for mode PERSONAL
  std::vector<std::string> reverse_email;        // whom lookups of an address ask
  std::vector<std::string> verify_age;           // and lookups of an age
  std::vector<std::string> company_domain;       // and the domain of a company that has none
  int candidates_max;                            // addresses of one answer that are looked at
  int guesses_max;                               // addresses that are guessed for one lead
  milliseconds row_timeout_ms;
  milliseconds wait_single_ms;  // how long a client that waits is kept
  milliseconds wait_bulk_ms;
  milliseconds find_deadline_ms;  // of jobs that nobody waits for
  milliseconds bulk_deadline_ms;
  milliseconds reverse_deadline_ms;
  milliseconds age_deadline_ms;
  int minimum_result_age;  // a younger person has no result; 0: off
  std::string verifier;    // who verifies addresses: smtp, none, or a provider's id

  bool operator==(const LookupsConfig&) const = default;
};

// Whom lookups of an age ask of their own.
struct AgeConfig {
  bool wikidata;             // asked at all: it learns the names of people
  std::string wikidata_url;  // of its Action API

  bool operator==(const AgeConfig&) const = default;
};

// What is read of a company's site when an address or a person is looked for there.
struct EmailConfig {
  int pages_max;                 // of one site, robots.txt not counted
  milliseconds site_timeout_ms;  // all pages of one site together
  std::int64_t page_bytes_max;

  bool operator==(const EmailConfig&) const = default;
};

// Domains that the operator adds to the lists of those that are no company's; keys of [email].
struct MailDomainsConfig {
  std::string free_domains_file;  // empty: none
  std::string disposable_domains_file;
  // What stands in them: in lower case and A-labels, sorted, each once.
  std::vector<std::string> free;
  std::vector<std::string> disposable;

  bool operator==(const MailDomainsConfig&) const = default;
};

// How this process asks mail servers about addresses (docs/email.md).
struct SmtpConfig {
  std::string hello_name;  // of EHLO; empty: this process verifies nothing
  std::string mail_from;   // empty: postmaster@hello_name
  int port;
  std::string ip;              // 4, 46
  std::string proxy;           // socks5://host:port; empty: none
  std::string public_address;  // behind NAT; empty: the one that the system leaves by
  // RCPT commands of the whole fleet.
  int per_domain_hour;
  int per_class_minute;
  int per_day;
  int connections_per_class;  // of one process
  int recipients_max;         // of a connection to a host of no known class
  int refusals_max;           // of a connection, until it ends
  milliseconds linger_ms;     // how long a connection stays for further recipients
  milliseconds connect_timeout_ms;
  milliseconds banner_timeout_ms;
  milliseconds reply_timeout_ms;
  milliseconds connection_timeout_ms;
  std::vector<std::string> doctor_domains;
  std::vector<std::string> doctor_lists;

  bool operator==(const SmtpConfig&) const = default;
};

using domain::ChargeRule;
using domain::FindEmailPrices;
using domain::PeoplePrice;

// A service of the operator's that answers lookups: [providers.http.<id>]. What the file does not
// say is as it stands here.
struct HttpProviderConfig {
  std::string url;
  std::string api_key;         // from api_key or api_key_file; sent as bearer token
  std::string signing_secret;  // from signing_secret or signing_secret_file
  milliseconds timeout_ms{20'000};
  std::size_t body_bytes_max = 1024 * 1024;
  int in_flight_max = 64;  // of one process
  bool trust = true;       // an OK that it states is taken; otherwise it is UNKNOWN

  bool operator==(const HttpProviderConfig&) const = default;
};

// A language model that points to statements about people's ages: [providers.llm.<id>]. What the
// file does not say is as it stands here.
struct LlmProviderConfig {
  std::string url;  // OpenAI-compatible
  std::string model;
  std::string api_key;  // from api_key or api_key_file
  milliseconds timeout_ms{60'000};
  std::size_t body_bytes_max = 1024 * 1024;  // of an answer
  std::optional<double> temperature = 0;     // empty: not sent
  int tokens_max = 1024;                     // of one answer
  std::string tokens_max_field = "max_tokens";
  std::string answer_format = "json_schema";  // json_schema, json_object, text
  std::size_t page_text_bytes_max = 16384;    // of a page's text given to the model

  bool operator==(const LlmProviderConfig&) const = default;
};

// Gravatar, which is asked only where it has a URL: it learns the addresses that are looked up.
struct GravatarConfig {
  std::string url;
  std::string api_key;  // from api_key or api_key_file; empty: 100 questions an hour
  milliseconds timeout_ms;

  bool operator==(const GravatarConfig&) const = default;
};

struct ProvidersConfig {
  int breaker_failures;  // in a row, until a provider is left out for a while
  milliseconds breaker_ms;
  std::map<std::string, LlmProviderConfig> llm;    // by id
  std::map<std::string, HttpProviderConfig> http;  // by id
  std::string recipes_dir;                         // a folder of *.toml; empty: there is none
  std::map<std::string, domain::Recipe> recipes;   // what stands in it, by id

  bool operator==(const ProvidersConfig&) const = default;
};

// For the project's own tests: faults that a process does to itself, and safeties switched off.
struct TestingConfig {
  struct FaultPoint {
    std::string point;   // after_claim, ...: store/testing.cc says where each lies
    std::string action;  // kill, stop: the signal that the process sends to itself
    double probability;  // each time the point is passed

    bool operator==(const FaultPoint&) const = default;
  };
  std::vector<FaultPoint> fault_points;
  std::int64_t fault_seed;
  std::vector<std::string> disable;  // names of safeties (config/values.cc lists them)
  milliseconds mail_window_ms;       // of mail budgets, breakers and greylists; 0: as they are

  bool any() const {
    return !fault_points.empty() || !disable.empty() || mail_window_ms.count() != 0;
  }
  bool operator==(const TestingConfig&) const = default;
};

struct Config {
  DatabaseConfig database;
  HttpServerConfig api;
  ApiMemoryConfig api_memory;
  WaitsConfig waits;
  PreviewsConfig previews;
  std::string public_url;  // [api] public_url: the issuer of tokens; may be empty
  OauthConfig oauth;
  JwksConfig jwks;
  OidcConfig oidc;
  SessionsConfig sessions;
  HttpServerConfig admin;
  std::map<std::string, std::string> admin_tokens;  // name -> token
  HealthConfig health;
  SecurityConfig security;
  NetConfig net;
  LogConfig log;
  std::map<std::string, ProbeConfig> probes;      // micro, low, medium, high: always all four
  std::map<std::string, std::int64_t> prices_mc;  // the same names; millicredits per check
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
  JobsConfig jobs;
  WorkflowsConfig workflows;
  LookupsConfig lookups;
  AgeConfig age;
  ProvidersConfig providers;
  GravatarConfig gravatar;
  SmtpConfig smtp;
  SearchConfig search;
  InvestigationsConfig investigations;
  TestingConfig testing;

  bool operator==(const Config&) const = default;
};

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
// later layer wins. Known variables that are not configuration (VEDETTE_ADMIN_URL, the links that
// Kubernetes sets for a service of this name) are passed over; any other unknown VEDETTE_ variable
// is an error, as are an unknown key of the file, and a secret given both as <key> and <key>_file
// in one layer. A variable that is set but empty is an empty value. Throws ConfigError.
Config LoadConfig(const std::optional<std::string>& path, const Environment& environment);

}  // namespace vedette::config
