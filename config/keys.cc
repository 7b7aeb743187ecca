#include "config/keys.h"

#include <algorithm>
#include <utility>

#include "config/section.h"

namespace vedette::config {
namespace {

using std::chrono::days;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kGiB = 1024 * kMiB;
constexpr double kNewcomerShareMin = 0.0001;  // of ten thousand slots not one is left free
constexpr double kNewcomerShareMax = 0.9;

ValueReader<ChargeRule> Charge() {
  const ValueReader<std::string> choice = Choice({"always", "found", "ok"});
  return {choice.allowed, [read = choice.read](const RawValue& raw) -> std::optional<ChargeRule> {
            const auto text = read(raw);
            if (!text) return std::nullopt;
            if (*text == "always") return ChargeRule::kAlways;
            return *text == "found" ? ChargeRule::kFound : ChargeRule::kOk;
          }};
}

void AddDatabase(std::vector<Key>* table) {
  using C = DatabaseConfig;
  Section<C>(table, "database", [](Config& c) -> C& { return c.database; })
      .Add("url", &C::url, Secret(DatabaseUrl()))
      .Time("connect_timeout_ms", &C::connect_timeout_ms)
      .Time("statement_timeout_ms", &C::statement_timeout_ms)
      .Time("lock_timeout_ms", &C::lock_timeout_ms)
      .Time("idle_in_transaction_timeout_ms", &C::idle_in_transaction_timeout_ms)
      .Time("tcp_user_timeout_ms", &C::tcp_user_timeout_ms)
      .Time("reconnect_first_ms", &C::reconnect_first_ms)
      .Time("reconnect_max_ms", &C::reconnect_max_ms)
      .Add("api_connections", &C::api_connections, Int(1, 1000))
      .Add("admin_connections", &C::admin_connections, Int(1, 1000))
      .Add("scheduler_connections", &C::scheduler_connections, Int(1, 1000))
      .Add("worker_connections", &C::worker_connections, Int(1, 1000))
      .Add("delivery_connections", &C::delivery_connections, Int(1, 1000))
      .Add("jobs_connections", &C::jobs_connections, Int(1, 1000))
      .Add("search_connections", &C::search_connections, Int(1, 1000))
      .Add("queue_max", &C::queue_max, Int(1, 1'000'000));
}

void AddHttpServer(std::vector<Key>* table, std::string name, HttpServerConfig Config::*server) {
  using C = HttpServerConfig;
  Section<C>(table, std::move(name), [server](Config& c) -> C& { return c.*server; })
      .Add("listen", &C::listen, ListenAddress())
      .Add("connections_max", &C::connections_max, Int(1, 1'000'000))
      .Add("header_bytes_max", &C::header_bytes_max, Bytes(kKiB, kMiB))
      .Add("body_bytes_max", &C::body_bytes_max, Bytes(kKiB, kGiB))
      .Time("header_timeout_ms", &C::header_timeout_ms)
      .Time("body_timeout_ms", &C::body_timeout_ms)
      .Time("write_timeout_ms", &C::write_timeout_ms)
      .Time("idle_timeout_ms", &C::idle_timeout_ms)
      .Time("drain_timeout_ms", &C::drain_timeout_ms, milliseconds(0));
}

void AddApiMemory(std::vector<Key>* table) {
  using C = ApiMemoryConfig;
  Section<C>(table, "api", [](Config& c) -> C& { return c.api_memory; })
      .Add("held_bytes_max", &C::held_bytes_max, Bytes(kKiB, 1024 * kGiB))
      .Time("held_wait_ms", &C::held_wait_ms);

  using W = WaitsConfig;
  Section<W>(table, "api", [](Config& c) -> W& { return c.waits; })
      .Add("waits_max", &W::waits_max, Int(1, 1'000'000))
      .Add("waits_share", &W::waits_share, Real(0.001, 1));

  using P = PreviewsConfig;
  Section<P>(table, "api", [](Config& c) -> P& { return c.previews; })
      .Add("previews_in_flight_max", &P::previews_in_flight_max, Int(1, 100'000))
      .Time("preview_timeout_ms", &P::preview_timeout_ms);
}

void AddCredentials(std::vector<Key>* table) {
  Section<Config>(table, "api", [](Config& c) -> Config& {
    return c;
  }).Add("public_url", &Config::public_url, OptionalIssuer());

  using C = OauthConfig;
  Section<C>(table, "oauth", [](Config& c) -> C& { return c.oauth; })
      .Add("enabled", &C::enabled, Flag())
      .Add("token_ttl_s", &C::token_ttl_s, Seconds(minutes(1), days(1)))
      .Add("assertion_lifetime_max_s", &C::assertion_lifetime_max_s, Seconds(minutes(1), days(1)))
      .Add("clock_skew_s", &C::clock_skew_s, Seconds(seconds(0), minutes(10)))
      .Add("clients_per_org_max", &C::clients_per_org_max, Int(1, 100'000))
      .Add("keys_per_client_max", &C::keys_per_client_max, Int(1, 1000))
      .Add("tokens_per_client_max", &C::tokens_per_client_max, Int(1, 10'000'000));

  using K = JwksConfig;
  Section<K>(table, "oauth", [](Config& c) -> K& { return c.jwks; })
      .Time("jwks_timeout_ms", &K::timeout_ms, milliseconds(100), minutes(1))
      .Add("jwks_bytes_max", &K::bytes_max, Bytes(kKiB, kMiB))
      .Add("jwks_keys_max", &K::keys_max, Int(1, 100))
      .Time("jwks_fresh_ms", &K::fresh_ms, milliseconds(100), days(1))
      .Time("jwks_retry_ms", &K::retry_ms, milliseconds(100))
      .Time("jwks_stale_max_ms", &K::stale_max_ms, milliseconds(100), days(7))
      .Add("jwks_fetches_max", &K::fetches_max, Int(1, 10'000));

  using O = OidcConfig;
  Section<O>(table, "oidc", [](Config& c) -> O& { return c.oidc; })
      .Add("issuer", &O::issuer, OptionalUrl())
      .Add("audience", &O::audience, Text())
      .Add("org_claim", &O::org_claim, Text())
      .Add("organisation", &O::organisation, Text())
      .Add("team_claim", &O::team_claim, Text())
      .Add("user_claim", &O::user_claim, NonEmptyText())
      .Add("algorithms", &O::algorithms, ChoiceList({"RS256", "PS256", "ES256", "EdDSA"}))
      .Add("lifetime_max_s", &O::lifetime_max_s, Seconds(minutes(1), days(30)));

  using S = SessionsConfig;
  Section<S>(table, "sessions", [](Config& c) -> S& {
    return c.sessions;
  }).Add("ttl_max_s", &S::ttl_max_s, Seconds(minutes(1), days(30)));
}

void AddHealth(std::vector<Key>* table) {
  using C = HealthConfig;
  Section<C>(table, "health", [](Config& c) -> C& { return c.health; })
      .Add("listen", &C::listen, OptionalListenAddress())
      .Time("drain_delay_ms", &C::drain_delay_ms, milliseconds(0), minutes(5));
}

void AddSecurityNetLog(std::vector<Key>* table) {
  using S = SecurityConfig;
  Section<S>(table, "security", [](Config& c) -> S& { return c.security; })
      .Add("encryption_key", &S::encryption_key, Secret(OptionalKey()))
      .Add("encryption_keys_old", &S::encryption_keys_old, Secret(KeyList()));

  using N = NetConfig;
  Section<N>(table, "net", [](Config& c) -> N& { return c.net; })
      .Add("allow", &N::allow, CidrList())
      .Add("dns_servers", &N::dns_servers, AddressList())
      .Add("ca_file", &N::ca_file, Text())
      .Add("proxy", &N::proxy, Secret(OptionalUrl()))
      .Add("user_agent", &N::user_agent, NonEmptyText())
      .Add("contact", &N::contact, Text())
      .Time("connect_timeout_ms", &N::connect_timeout_ms)
      .Add("connections_max", &N::connections_max, Int(1, 1'000'000))
      .Add("connections_per_host_max", &N::connections_per_host_max, Int(1, 1'000'000));

  using L = LogConfig;
  Section<L>(table, "log", [](Config& c) -> L& { return c.log; })
      .Add("level", &L::level, Choice({"trace", "debug", "info", "warn", "error"}))
      .Add("format", &L::format, Choice({"text", "json"}));
}

// `name`: a tier, or kProbeDefaults.
void AddProbe(std::vector<Key>* table, const std::string& name) {
  using C = ProbeConfig;
  const std::size_t first = table->size();
  Section<C>(table, "probes." + name, [name](Config& c) -> C& { return c.probes[name]; })
      .Add("kind", &C::kind, Choice({"web", "http", "llm", "null"}))
      .Add("url", &C::url, OptionalUrl())
      .Add("model", &C::model, Text())
      .Add("api_key", &C::api_key, Secret(Text()))
      .Add("signing_secret", &C::signing_secret, Secret(Text()))
      .Time("timeout_ms", &C::timeout_ms, milliseconds(1), minutes(10))
      .Add("attempts_max", &C::attempts_max, Int(1, 10))
      .Time("deadline_ms", &C::deadline_ms, milliseconds(1), minutes(10))
      .Add("body_bytes_max", &C::body_bytes_max, Bytes(kKiB, 100 * kMiB))
      .Add("temperature", &C::temperature, OptionalReal(0, 2))
      .Add("tokens_max", &C::tokens_max, Int(1, 1'000'000))
      .Add("tokens_max_field", &C::tokens_max_field,
           Choice({"max_tokens", "max_completion_tokens"}))
      .Add("answer_format", &C::answer_format, Choice({"json_schema", "json_object", "text"}))
      .Add("page_text_bytes_max", &C::page_text_bytes_max, Bytes(0, 10 * kMiB))
      .Add("change_share", &C::change_share, Real(0, 1));
  if (name == kProbeDefaults) return;
  for (std::size_t i = first; i < table->size(); ++i) {
    (*table)[i].source = Key::Source::kInherited;
  }
}

void AddPrice(std::vector<Key>* table, const std::string& tier) {
  const ValueReader<std::int64_t> price = Credits(1'000'000);
  table->push_back({"prices", tier, price.allowed, false,
                    [tier, read = price.read](const RawValue& raw, Config* config) {
                      const auto mc = read(raw);
                      if (mc) config->prices_mc[tier] = *mc;
                      return mc.has_value();
                    }});
}

void AddLimitsAndRetention(std::vector<Key>* table) {
  using L = LimitsConfig;
  Section<L>(table, "limits", [](Config& c) -> L& { return c.limits; })
      .Add("requests_per_minute", &L::requests_per_minute, Int(0, 1'000'000'000))
      .Add("frequency_min", &L::frequency_min, OptionalDuration())
      .Add("rows_per_request_max", &L::rows_per_request_max, Int(1, 1'000'000))
      .Add("rows_per_monitor_max", &L::rows_per_monitor_max, Int64(1, 1'000'000'000))
      .Add("struct_fields_max", &L::struct_fields_max, Int(1, 1024))
      .Add("name_chars_max", &L::name_chars_max, Int(1, 10'000))
      .Add("metadata_bytes_max", &L::metadata_bytes_max, Bytes(2, kMiB))
      .Add("struct_bytes_max", &L::struct_bytes_max, Bytes(2, 16 * kMiB))
      .Add("row_bytes_max", &L::row_bytes_max, Bytes(2, 16 * kMiB))
      .Add("uploads_unused_max", &L::uploads_unused_max, Int(1, 1'000'000))
      .Add("uploads_unused_bytes_max", &L::uploads_unused_bytes_max, Bytes(kKiB, 1024 * kGiB))
      .Add("signing_secrets_live_max", &L::signing_secrets_live_max, Int(1, 20));

  using R = RetentionConfig;
  Section<R>(table, "retention", [](Config& c) -> R& { return c.retention; })
      .Add("events", &R::events, Hours())
      .Add("check_log", &R::check_log, Hours())
      .Add("attempts", &R::attempts, Hours())
      .Add("dead", &R::dead, Hours())
      .Add("audit", &R::audit, Hours())
      .Add("idempotency_keys", &R::idempotency_keys, Hours())
      .Add("uploads", &R::uploads, Hours())
      .Add("jobs", &R::jobs, Hours())
      .Add("runs", &R::runs, Hours())
      .Add("run_data", &R::run_data, Hours())
      .Add("mail_facts", &R::mail_facts, Hours())
      .Add("domain_patterns", &R::domain_patterns, Hours());
}

void AddScheduler(std::vector<Key>* table) {
  using C = SchedulerConfig;
  Section<C>(table, "scheduler", [](Config& c) -> C& { return c.scheduler; })
      .Time("poll_ms", &C::poll_ms, milliseconds(10))
      .Add("monitors_per_cut_max", &C::monitors_per_cut_max, Int(1, 100'000))
      .Add("rows_per_cut_max", &C::rows_per_cut_max, Int(256, 10'000'000))
      .Add("spread_rows_min", &C::spread_rows_min, Int(1, 1'000'000'000))
      .Add("spread", &C::spread, Real(0, 1))
      .Time("maintenance_ms", &C::maintenance_ms, milliseconds(100));
}

void AddWorker(std::vector<Key>* table) {
  using C = WorkerConfig;
  Section<C>(table, "worker", [](Config& c) -> C& { return c.worker; })
      .Time("lease_ms", &C::lease_ms, seconds(1))
      .Time("poll_ms", &C::poll_ms, milliseconds(10))
      .Time("control_read_ms", &C::control_read_ms, milliseconds(10), seconds(3))
      // Above 4 s the promise that a pause holds within 5 s could not be kept (G5).
      .Time("control_age_max_ms", &C::control_age_max_ms, milliseconds(100), seconds(4))
      .Add("checks_in_flight_max", &C::checks_in_flight_max, Int(1, 1'000'000))
      .Add("rows_ahead_max", &C::rows_ahead_max, Int(0, 1'000'000))
      .Add("newcomer_share", &C::newcomer_share, Real(kNewcomerShareMin, kNewcomerShareMax))
      .Add("chunk_rows_max", &C::chunk_rows_max, Int(1, 65'536))
      .Time("chunk_duration_target_ms", &C::chunk_duration_target_ms)
      .Add("claims_max", &C::claims_max, Int(1, 100))
      .Add("orgs_per_walk_max", &C::orgs_per_walk_max, Int(1, 100'000))
      .Time("record_delay_ms", &C::record_delay_ms, milliseconds(0), seconds(10))
      .Time("record_partial_delay_ms", &C::record_partial_delay_ms, milliseconds(0), seconds(60))
      .Add("record_checks_max", &C::record_checks_max, Int(1, 100'000))
      .Time("drain_timeout_ms", &C::drain_timeout_ms, milliseconds(0))
      .Add("probe_threads", &C::probe_threads, Int(1, 256))
      .Add("per_host_max", &C::per_host_max, Int(1, 100'000))
      .Time("per_host_gap_ms", &C::per_host_gap_ms, milliseconds(0), minutes(10))
      .Add("obey_robots", &C::obey_robots, Flag())
      .Add("pages_remembered_bytes_max", &C::pages_remembered_bytes_max, Bytes(0, 16 * kGiB))
      .Add("pages_held_bytes_max", &C::pages_held_bytes_max, Bytes(kMiB, 256 * kGiB))
      .Add("questions_held_bytes_max", &C::questions_held_bytes_max, Bytes(kMiB, 256 * kGiB))
      .Add("rows_held_bytes_max", &C::rows_held_bytes_max, Bytes(kMiB, 256 * kGiB))
      .Add("lanes", &C::lanes, ChoiceList({"checks", "transform", "lookup", "smtp", "research"}));
}

void AddDelivery(std::vector<Key>* table) {
  using C = DeliveryConfig;
  Section<C>(table, "delivery", [](Config& c) -> C& { return c.delivery; })
      .Time("timeout_ms", &C::timeout_ms, milliseconds(1), minutes(10))
      .Time("lease_ms", &C::lease_ms, seconds(1))
      .Time("poll_ms", &C::poll_ms, milliseconds(10))
      .Time("backoff_first_ms", &C::backoff_first_ms, milliseconds(1), days(1))
      .Time("backoff_max_ms", &C::backoff_max_ms, milliseconds(1), days(7))
      .Time("backoff_window_ms", &C::backoff_window_ms, milliseconds(0), days(30))
      .Add("backoff_jitter", &C::backoff_jitter, Real(0, 1))
      .Time("breaker_age_max_ms", &C::breaker_age_max_ms, milliseconds(0), days(90))
      .Add("in_flight_max", &C::in_flight_max, Int(1, 1'000'000))
      .Add("in_flight_per_endpoint_max", &C::in_flight_per_endpoint_max, Int(1, 1'000'000))
      .Add("slow_in_flight_max", &C::slow_in_flight_max, Int(1, 1'000'000))
      .Add("tests_in_flight_max", &C::tests_in_flight_max, Int(1, 100'000))
      .Time("slow_after_ms", &C::slow_after_ms, milliseconds(1), minutes(10))
      .Add("breaker_failures", &C::breaker_failures, Int(1, 1'000'000))
      .Time("breaker_interval_ms", &C::breaker_interval_ms, milliseconds(1), days(1))
      .Add("answer_bytes_max", &C::answer_bytes_max, Bytes(0, kMiB))
      .Add("body_bytes_max", &C::body_bytes_max, Bytes(kKiB, 64 * kMiB))
      .Add("bodies_held_bytes_max", &C::bodies_held_bytes_max, Bytes(kMiB, 16 * kGiB))
      .Time("settle_delay_ms", &C::settle_delay_ms, milliseconds(0), seconds(10))
      .Add("settle_max", &C::settle_max, Int(1, 100'000))
      .Time("drain_timeout_ms", &C::drain_timeout_ms, milliseconds(0));
}

void AddJobs(std::vector<Key>* table) {
  using C = JobsConfig;
  constexpr int kSlotsMax = 1'000'000;
  Section<C>(table, "jobs", [](Config& c) -> C& { return c.jobs; })
      .Add("slots_transform", &C::slots_transform, Int(1, 256))
      .Add("slots_lookup", &C::slots_lookup, Int(1, kSlotsMax))
      .Add("slots_smtp", &C::slots_smtp, Int(1, kSlotsMax))
      .Add("slots_research", &C::slots_research, Int(1, kSlotsMax))
      .Add("parts_held_max", &C::parts_held_max, Int(1, 1024))
      .Add("newcomer_share", &C::newcomer_share, Real(kNewcomerShareMin, kNewcomerShareMax))
      .Add("waited_share", &C::waited_share, Real(0, 0.9))
      .Add("record_chunks_max", &C::record_chunks_max, Int(1, 64))
      .Time("record_delay_ms", &C::record_delay_ms, milliseconds(0), seconds(10))
      .Time("record_partial_delay_ms", &C::record_partial_delay_ms, milliseconds(0), seconds(60))
      .Add("part_bytes_max", &C::part_bytes_max, Bytes(64 * kKiB, 64 * kMiB))
      .Add("attempts_max", &C::attempts_max, Int(1, 10))
      .Time("wait_lane_ms", &C::wait_lane_ms, milliseconds(100))
      .Time("keeper_ms", &C::keeper_ms, milliseconds(100))
      .Add("open_per_org_max", &C::open_per_org_max, Int(1, 10'000'000));
}

void AddWorkflows(std::vector<Key>* table) {
  using C = WorkflowsConfig;
  Section<C>(table, "workflows", [](Config& c) -> C& { return c.workflows; })
      .Add("run_timeout", &C::run_timeout, Hours())
      .Add("runs_active_per_org_max", &C::runs_active_per_org_max, Int(1, 1'000'000))
      .Add("workflows_per_org_max", &C::workflows_per_org_max, Int(1, 100'000))
      .Add("run_data_bytes_per_org_max", &C::run_data_bytes_per_org_max,
           Bytes(kMiB, 1024 * 1024 * kGiB))
      .Add("window_rows", &C::window_rows, Int(256, 1'000'000))
      .Add("inline_results_bytes_max", &C::inline_results_bytes_max, Bytes(0, 16 * kMiB))
      .Add("csv_formula_guard", &C::csv_formula_guard, Flag());
  Section<C>(table, "prices.workflow", [](Config& c) -> C& {
    return c.workflows;
  }).Add("verify_email", &C::verify_email_mc, Credits(1'000'000));
}

void AddLookups(std::vector<Key>* table) {
  using C = LookupsConfig;
  Section<C>(table, "lookups", [](Config& c) -> C& { return c.lookups; })
      .Add("find_email", &C::find_email, ProviderIds())
      .Add("find_email_personal", &C::find_email_personal, ProviderIds())
      .Add("reverse_email", &C::reverse_email, ProviderIds())
      .Add("verify_age", &C::verify_age, ProviderIds())
      .Add("company_domain", &C::company_domain, ProviderIds())
      .Add("candidates_max", &C::candidates_max, Int(1, 16))
      .Add("guesses_max", &C::guesses_max, Int(1, 30))
      .Time("row_timeout_ms", &C::row_timeout_ms, milliseconds(100))
      .Time("wait_single_ms", &C::wait_single_ms, milliseconds(100), minutes(10))
      .Time("wait_bulk_ms", &C::wait_bulk_ms, milliseconds(100), minutes(10))
      .Time("find_deadline_ms", &C::find_deadline_ms, seconds(1), days(1))
      .Time("bulk_deadline_ms", &C::bulk_deadline_ms, seconds(1), days(1))
      .Time("reverse_deadline_ms", &C::reverse_deadline_ms, seconds(1), days(1))
      .Time("age_deadline_ms", &C::age_deadline_ms, seconds(1), days(1))
      .Add("verifier", &C::verifier, NonEmptyText());
  Section<C>(table, "age", [](Config& c) -> C& {
    return c.lookups;
  }).Add("minimum_result_age", &C::minimum_result_age, Int(0, 120));
  using A = AgeConfig;
  Section<A>(table, "age", [](Config& c) -> A& { return c.age; })
      .Add("wikidata", &A::wikidata, Flag())
      .Add("wikidata_url", &A::wikidata_url, OptionalUrl());

  using E = EmailConfig;
  Section<E>(table, "email", [](Config& c) -> E& { return c.email; })
      .Add("pages_max", &E::pages_max, Int(1, 32))
      .Time("site_timeout_ms", &E::site_timeout_ms, milliseconds(100), minutes(5))
      .Add("page_bytes_max", &E::page_bytes_max, Int64(1024, 64 << 20));
  using M = MailDomainsConfig;
  Section<M>(table, "email", [](Config& c) -> M& { return c.mail_domains; })
      .Add("free_domains_file", &M::free_domains_file, Text())
      .Add("disposable_domains_file", &M::disposable_domains_file, Text());

  using F = FindEmailPrices;
  Section<F>(table, "prices.find_email", [](Config& c) -> F& { return c.find_email_prices; })
      .Add("professional", &F::professional_mc, Credits(1'000'000))
      .Add("personal", &F::personal_mc, Credits(1'000'000))
      .Add("verify", &F::verify_mc, Credits(1'000'000))
      .Add("charge", &F::charge, Charge());
  using L = PeoplePrice;
  Section<L>(table, "prices.reverse_email", [](Config& c) -> L& { return c.reverse_email_price; })
      .Add("lookup", &L::row_mc, Credits(1'000'000))
      .Add("charge", &L::charge, Charge());
  Section<L>(table, "prices.people_intelligence", [](Config& c) -> L& { return c.age_price; })
      .Add("high", &L::row_mc, Credits(1'000'000))
      .Add("charge", &L::charge, Charge());
  Section<Config>(table, "prices", [](Config& c) -> Config& {
    return c;
  }).Add("cents_per_credit", &Config::cents_per_credit, Real(0, 1'000'000));

  using P = ProvidersConfig;
  Section<P>(table, "providers", [](Config& c) -> P& { return c.providers; })
      .Add("breaker_failures", &P::breaker_failures, Int(1, 1'000'000))
      .Time("breaker_ms", &P::breaker_ms, milliseconds(1), days(1))
      .Add("recipes_dir", &P::recipes_dir, Text());
  using G = GravatarConfig;
  Section<G>(table, "providers.gravatar", [](Config& c) -> G& { return c.gravatar; })
      .Add("url", &G::url, OptionalUrl())
      .Add("api_key", &G::api_key, Secret(Text()))
      .Time("timeout_ms", &G::timeout_ms, milliseconds(1), minutes(10));
}

void AddSmtp(std::vector<Key>* table) {
  using C = SmtpConfig;
  Section<C>(table, "email.smtp", [](Config& c) -> C& { return c.smtp; })
      .Add("hello_name", &C::hello_name, Text())
      .Add("mail_from", &C::mail_from, Text())
      .Add("port", &C::port, Int(1, 65535))
      .Add("ip", &C::ip, Choice({"4", "46"}))
      .Add("proxy", &C::proxy, Text())
      .Add("public_address", &C::public_address, Text())
      .Add("per_domain_hour", &C::per_domain_hour, Int(1, 1'000'000'000))
      .Add("per_class_minute", &C::per_class_minute, Int(1, 1'000'000'000))
      .Add("per_day", &C::per_day, Int(1, 1'000'000'000))
      .Add("connections_per_class", &C::connections_per_class, Int(1, 1000))
      .Add("recipients_max", &C::recipients_max, Int(1, 100))
      .Add("refusals_max", &C::refusals_max, Int(1, 100))
      .Time("linger_ms", &C::linger_ms, milliseconds(0), seconds(30))
      .Time("connect_timeout_ms", &C::connect_timeout_ms)
      .Time("banner_timeout_ms", &C::banner_timeout_ms)
      .Time("reply_timeout_ms", &C::reply_timeout_ms)
      .Time("connection_timeout_ms", &C::connection_timeout_ms)
      .Add("doctor_domains", &C::doctor_domains, NameList())
      .Add("doctor_lists", &C::doctor_lists, NameList());
}

void AddTesting(std::vector<Key>* table) {
  using C = TestingConfig;
  Section<C>(table, "testing", [](Config& c) -> C& { return c.testing; })
      .Add("fault_points", &C::fault_points, FaultPoints())
      .Add("fault_seed", &C::fault_seed, Int64(0, INT64_MAX))
      .Add("disable", &C::disable, Safeties())
      .Time("mail_window_ms", &C::mail_window_ms, milliseconds(0))
      .Add("null_provider", &C::null_provider, Flag());
}

}  // namespace

std::vector<Key> KeyTable() {
  std::vector<Key> table;
  AddDatabase(&table);
  AddHttpServer(&table, "api", &Config::api);
  AddApiMemory(&table);
  AddCredentials(&table);
  AddHttpServer(&table, "admin", &Config::admin);
  AddHealth(&table);
  AddSecurityNetLog(&table);
  AddProbe(&table, std::string(kProbeDefaults));
  for (const std::string_view tier : kTiers) AddProbe(&table, std::string(tier));
  for (const std::string_view tier : kTiers) AddPrice(&table, std::string(tier));
  AddLimitsAndRetention(&table);
  AddScheduler(&table);
  AddWorker(&table);
  AddDelivery(&table);
  AddJobs(&table);
  AddWorkflows(&table);
  AddLookups(&table);
  AddSmtp(&table);
  AddSearchKeys(&table);
  AddTesting(&table);
  return table;
}

std::vector<Key> FormerKeys() {
  // Version 0.1 named the share that one organisation might hold, not the one that it leaves free.
  const ValueReader<double> share = Real(0.01, 1);
  return {{"worker", "org_share", share.allowed, false,
           [read = share.read](const RawValue& raw, Config* config) {
             const auto value = read(raw);
             if (!value) return false;
             config->worker.newcomer_share =
                 std::clamp(1 - *value, kNewcomerShareMin, kNewcomerShareMax);
             return true;
           }}};
}

std::optional<Key> TokenKey(std::string_view name) {
  const bool known = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  if (!known) return std::nullopt;
  const ValueReader<std::string> token = NonEmptyText();
  return Key{std::string(kTokensSection), std::string(name), token.allowed, true,
             [name = std::string(name), read = token.read](const RawValue& raw, Config* config) {
               auto value = read(raw);
               if (!value) return false;
               config->admin_tokens[name] = std::move(*value);
               return true;
             }};
}

std::vector<Key> HttpProviderKeys(std::string_view id) {
  using C = HttpProviderConfig;
  std::vector<Key> keys;
  if (!IsProviderId(id)) return keys;
  Section<C>(&keys, std::string(kHttpProvidersSection) + "." + std::string(id),
             [id = std::string(id)](Config& c) -> C& { return c.providers.http[id]; })
      .Add("url", &C::url, OptionalUrl())
      .Add("api_key", &C::api_key, Secret(Text()))
      .Add("signing_secret", &C::signing_secret, Secret(Text()))
      .Time("timeout_ms", &C::timeout_ms, milliseconds(1), minutes(10))
      .Add("body_bytes_max", &C::body_bytes_max, Bytes(kKiB, 100 * kMiB))
      .Add("in_flight_max", &C::in_flight_max, Int(1, 1'000'000))
      .Add("trust", &C::trust, Flag());
  return keys;
}

std::vector<Key> LlmProviderKeys(std::string_view id) {
  using C = LlmProviderConfig;
  std::vector<Key> keys;
  if (!IsProviderId(id)) return keys;
  Section<C>(&keys, std::string(kLlmProvidersSection) + "." + std::string(id),
             [id = std::string(id)](Config& c) -> C& { return c.providers.llm[id]; })
      .Add("url", &C::url, OptionalUrl())
      .Add("model", &C::model, Text())
      .Add("api_key", &C::api_key, Secret(Text()))
      .Time("timeout_ms", &C::timeout_ms, milliseconds(1), minutes(10))
      .Add("body_bytes_max", &C::body_bytes_max, Bytes(kKiB, 100 * kMiB))
      .Add("temperature", &C::temperature, OptionalReal(0, 2))
      .Add("tokens_max", &C::tokens_max, Int(1, 1'000'000))
      .Add("tokens_max_field", &C::tokens_max_field,
           Choice({"max_tokens", "max_completion_tokens"}))
      .Add("answer_format", &C::answer_format, Choice({"json_schema", "json_object", "text"}))
      .Add("page_text_bytes_max", &C::page_text_bytes_max, Bytes(0, kMiB));
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
