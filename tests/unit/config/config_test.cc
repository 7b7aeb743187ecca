#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/crypto.h"
#include "tests/unit/config/config_support.h"

namespace vedette::config {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(Defaults, AreThoseOfTheDesign) {
  const Config c = FromEnvironment({});
  EXPECT_EQ(c.api.listen, "127.0.0.1:8080");
  EXPECT_EQ(c.admin.listen, "127.0.0.1:9464");
  EXPECT_EQ(c.api.body_bytes_max, 16U * 1024 * 1024);
  EXPECT_EQ(
      c.prices_mc,
      (std::map<std::string, std::int64_t>{
          {"micro", 500}, {"low", 1000}, {"medium", 5000}, {"high", 20000}, {"xhigh", 50000}}));
  EXPECT_EQ(c.render_mc, 0);
  EXPECT_EQ(c.limits.requests_per_minute, 500);
  EXPECT_EQ(c.limits.frequency_min, std::nullopt);
  EXPECT_EQ(c.retention.events, hours(90 * 24));
  EXPECT_EQ(c.retention.dead, hours(30 * 24));
  EXPECT_EQ(c.retention.audit, hours(365 * 24));
  EXPECT_EQ(c.retention.idempotency_keys, hours(24));
  EXPECT_EQ(c.delivery.backoff_max_ms, hours(4));
  EXPECT_EQ(c.delivery.backoff_window_ms, hours(72));
  EXPECT_EQ(c.delivery.answer_bytes_max, 4096U);
  EXPECT_EQ(c.scheduler.spread_rows_min, 10000);
  EXPECT_EQ(c.worker.checks_in_flight_max, 4096);
  EXPECT_EQ(c.worker.newcomer_share, 0.1);
  EXPECT_EQ(c.probes.size(), 5U);
  EXPECT_EQ(c.probes.at("medium").kind, "web");
  EXPECT_TRUE(c.admin_tokens.empty());
  EXPECT_TRUE(c.net.allow.empty());
  EXPECT_TRUE(c.security.encryption_key.empty());
}

TEST(Defaults, ACrashIsFinishedWithinThreeMinutes) {
  const Config c = FromEnvironment({});
  for (const auto& [tier, probe] : c.probes) {
    EXPECT_LT(c.worker.lease_ms + probe.deadline_ms, seconds(180)) << tier;
    EXPECT_LE(probe.timeout_ms, probe.deadline_ms) << tier;
  }
  EXPECT_LT(c.delivery.lease_ms + c.delivery.timeout_ms, seconds(180));
}

TEST(Defaults, DrainingFitsIntoTheThirtySecondsOfKubernetes) {
  const Config c = FromEnvironment({});
  EXPECT_LT(c.health.drain_delay_ms + c.api.drain_timeout_ms + c.admin.drain_timeout_ms +
                c.worker.drain_timeout_ms + c.delivery.drain_timeout_ms,
            seconds(30));
}

TEST(Defaults, AreAValueOfWhichACopyHasPartsOfItsOwn) {
  const Config first = Load("");
  Config second = first;
  EXPECT_EQ(first, second);
  second.limits.name_chars_max += 1;
  second.probes.at("low").timeout_ms += seconds(1);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, Load(""));
  Config third = first;
  third = second;
  EXPECT_EQ(third, second);
  second.public_url = "https://other.example";
  EXPECT_EQ(third.public_url, first.public_url);
}

TEST(Defaults, TheFileItselfIsAFileOnesOwn) {
  EXPECT_EQ(Load(std::string(DefaultConfigText())), FromEnvironment({}));
}

// Counts the members of an aggregate: how many initialisers its braces take.
struct Anything {
  template <typename T>
  operator T() const {
    abort();  // is only named, never run
  }
};
template <typename T, typename... Initialisers>
consteval std::size_t MembersOf() {
  if constexpr (requires { T{std::declval<Initialisers>()..., std::declval<Anything>()}; }) {
    return MembersOf<T, Initialisers..., Anything>();
  } else {
    return sizeof...(Initialisers);
  }
}

// Added is how many fields of a section have a value and no key.
TEST(Keys, EveryFieldHasOneOrAValueThatNobodyTurns) {
  std::map<std::string, std::size_t> keys;
  for (const ConfigKey& key : ConfigKeys()) ++keys[key.section];
  EXPECT_EQ(keys["database"] + 12, MembersOf<DatabaseConfig>());
  EXPECT_EQ(
      keys["api"] + 5 + 1 + 1 - 1,  // of the server, its memory and its waits; public_url
      MembersOf<HttpServerConfig>() + MembersOf<ApiMemoryConfig>() + MembersOf<WaitsConfig>());
  EXPECT_EQ(keys["cell"], MembersOf<CellConfig>());
  EXPECT_EQ(keys["oauth"] + 6 + 4, MembersOf<OauthConfig>() + MembersOf<JwksConfig>());
  EXPECT_EQ(keys["oidc"] + 1, MembersOf<OidcConfig>());
  EXPECT_EQ(keys["admin"], 1U);
  EXPECT_EQ(keys["health"], MembersOf<HealthConfig>());
  EXPECT_EQ(keys["security"], MembersOf<SecurityConfig>());
  EXPECT_EQ(keys["net"] + 3, MembersOf<NetConfig>());
  EXPECT_EQ(keys["log"], MembersOf<LogConfig>());
  for (const char* probe : {"default", "micro", "low", "medium", "high", "xhigh"}) {
    EXPECT_EQ(keys[std::string("probes.") + probe] + 1, MembersOf<ProbeConfig>());
  }
  EXPECT_EQ(keys["prices"], 7U);
  EXPECT_EQ(keys["prices.find_email"], MembersOf<FindEmailPrices>());
  EXPECT_EQ(keys["limits"] + 8, MembersOf<LimitsConfig>());
  EXPECT_EQ(keys["retention"] + 4, MembersOf<RetentionConfig>());
  EXPECT_EQ(keys["scheduler"] + 5, MembersOf<SchedulerConfig>());
  EXPECT_EQ(keys["worker"] + 14, MembersOf<WorkerConfig>());
  EXPECT_EQ(keys["delivery"] + 14, MembersOf<DeliveryConfig>());
  EXPECT_EQ(keys["jobs"] + 11, MembersOf<JobsConfig>());
  EXPECT_EQ(keys["workflows"] + keys["prices.workflow"] + 3, MembersOf<WorkflowsConfig>());
  EXPECT_EQ(keys["lookups"] + keys["age"] + 7, MembersOf<LookupsConfig>() + MembersOf<AgeConfig>());
  EXPECT_EQ(keys["email"] + 2, MembersOf<MailDomainsConfig>());  // the domains of its two files
  EXPECT_EQ(keys["providers"] + 1 + 3,  // the ids of services, models and recipes
            MembersOf<ProvidersConfig>());
  EXPECT_EQ(keys["providers.gravatar"] + 1, MembersOf<GravatarConfig>());
  EXPECT_EQ(keys["email.smtp"] + 9, MembersOf<SmtpConfig>());
  EXPECT_EQ(keys["search"] + 2, MembersOf<SearchConfig>());
  EXPECT_EQ(keys["investigations"] + keys["prices.investigation"] + 3,
            MembersOf<InvestigationsConfig>());
  EXPECT_EQ(keys["testing"], MembersOf<TestingConfig>());
}

// The keys of a tier are those of [probes.default], and those of [testing] are no operator's.
TEST(Keys, AreNoMoreThanAnOperatorTurns) {
  int keys = 0;
  for (const ConfigKey& key : ConfigKeys()) {
    const bool is_tier = key.section.starts_with("probes.") && key.section != "probes.default";
    keys += !is_tier && key.section != "testing";
  }
  EXPECT_LE(keys, 167) << "what nobody turns is a constant beside what it limits";
}

Config OfAnOperator() {
  return LoadConfig(VEDETTE_SOURCE_DIR "/tests/unit/config/settings/operator.toml", {});
}

TEST(Keys, ThoseOfServersProbesAndRolesSetWhatTheyAreNamedFor) {
  using std::chrono::milliseconds;
  const Config c = OfAnOperator();
  EXPECT_EQ((std::pair(c.database.worker_connections, c.database.jobs_connections)),
            (std::pair(3, 4)));
  EXPECT_EQ(c.database.pooled_url, "postgresql://pooler/vedette");
  EXPECT_EQ(c.api_memory.held_bytes_max, 1'000'001U);
  EXPECT_EQ(c.api.idle_timeout_ms, milliseconds(1002));
  EXPECT_EQ(c.admin.idle_timeout_ms, milliseconds(75'000)) << "the admin port has its own";
  EXPECT_EQ(c.api.trusted_proxies, std::vector<std::string>{"10.1.0.0/16"});
  EXPECT_EQ(c.admin.trusted_proxies, c.api.trusted_proxies);
  EXPECT_EQ((std::pair(c.oidc.org_claim, c.oidc.user_claim)),
            (std::pair<std::string, std::string>("org", "email")));
  EXPECT_EQ(c.admin_oidc, (AdminOidcConfig{.issuer = "https://staff.example",
                                           .client_id = "console",
                                           .client_secret = "another secret",
                                           .public_url = "https://admin.example",
                                           .scope = "openid email groups",
                                           .role_claim = "groups",
                                           .viewers = {"staff"},
                                           .operators = {"on call", "CN=On Call,DC=example"},
                                           .admins = {"owners"}}));
  EXPECT_EQ((std::pair(c.oidc.client_id, c.oidc.client_secret)),
            (std::pair<std::string, std::string>("dashboard", "a secret of the client")));
  const ProbeConfig& probe = c.probes.at("high");
  EXPECT_EQ(probe.temperature, 0.5);
  EXPECT_EQ(probe.tokens_max, 1003);
  EXPECT_EQ(probe.tokens_max_field, "max_completion_tokens");
  EXPECT_EQ(probe.answer_format, "text");
  EXPECT_EQ(c.worker.probe_threads, 5);
  EXPECT_TRUE(c.worker.obey_robots);
  EXPECT_EQ(c.worker.pages_held_bytes_max, 2'000'001U);
  EXPECT_EQ(c.delivery.backoff_window_ms, milliseconds(1004));
  EXPECT_EQ(c.jobs.slots_transform, 6);
  EXPECT_EQ(c.workflows.run_timeout, hours(25));
  EXPECT_EQ(c.workflows.run_data_bytes_per_org_max, 3'000'001U);
  EXPECT_FALSE(c.workflows.csv_formula_guard);
  EXPECT_EQ(c.lookups.minimum_result_age, 18);
  EXPECT_EQ(c.smtp.mail_from, "verify@mx.example");
  EXPECT_EQ(c.smtp.proxy, "socks5://192.0.2.7:1080");
  EXPECT_EQ(c.smtp.per_day, 1005);
}

TEST(Prices, RenderingIsOnTopWhereATiersPagesMayBeRendered) {
  const Config c = FromEnvironment({{"VEDETTE_PRICES_RENDER", "0.25"},
                                    {"VEDETTE_PROBES_MEDIUM_RENDER", "auto"},
                                    {"VEDETTE_PROBES_HIGH_RENDER", "always"},
                                    {"VEDETTE_PROBES_HIGH_KIND", "http"},
                                    {"VEDETTE_PROBES_HIGH_URL", "http://127.0.0.1/"}});
  EXPECT_EQ(
      MostPricesMc(c),
      (std::map<std::string, std::int64_t>{
          {"micro", 500}, {"low", 1000}, {"medium", 5250}, {"high", 20000}, {"xhigh", 50000}}));
}

TEST(Keys, ThoseOfPricesAndRetentionSetWhatTheyAreNamedFor) {
  const Config c = OfAnOperator();
  EXPECT_EQ(c.prices_mc, (std::map<std::string, std::int64_t>{
                             {"micro", 1}, {"low", 2}, {"medium", 3}, {"high", 4}, {"xhigh", 5}}));
  EXPECT_EQ(c.render_mc, 13);
  EXPECT_EQ(c.cents_per_credit, 0.25);
  EXPECT_EQ(c.find_email_prices, (FindEmailPrices{6, 7, 8, ChargeRule::kOk}));
  EXPECT_EQ(c.reverse_email_price, (PeoplePrice{9, ChargeRule::kAlways}));
  EXPECT_EQ(c.age_price, (PeoplePrice{10, ChargeRule::kAlways}));
  EXPECT_EQ(c.investigations.expansion_mc, 11);
  EXPECT_EQ(c.workflows.verify_email_mc, 12);
  EXPECT_EQ(c.retention.events, hours(101));
  EXPECT_EQ(c.retention.check_log, hours(102));
  EXPECT_EQ(c.retention.attempts, hours(103));
  EXPECT_EQ(c.retention.dead, hours(104));
  EXPECT_EQ(c.retention.audit, hours(105));
  EXPECT_EQ(c.retention.jobs, hours(106));
  EXPECT_EQ(c.retention.runs, hours(107));
  EXPECT_EQ(c.retention.run_data, hours(108));
  EXPECT_EQ(c.retention.snapshots, hours(109));
}

// Values one of which every key takes and none of which is a default.
const std::vector<std::string> kCandidates{"0.125",
                                           "7",
                                           "257",
                                           "1234",
                                           "2000000",
                                           "3h",
                                           "100h",
                                           "debug",
                                           "json",
                                           "null",
                                           "website",
                                           "wikidata",
                                           "max_completion_tokens",
                                           "json_object",
                                           "127.0.0.1:17",
                                           "192.0.2.7",
                                           "46",
                                           "mx.example",
                                           "a@mx.example",
                                           "socks5://192.0.2.7:1080",
                                           "none",
                                           "10.1.0.0/16",
                                           kHex,
                                           "http://x.example/",
                                           "smtp://mx.example:25",
                                           "1073741824",
                                           "https://idp.example",
                                           "after_claim:stop:0.5",
                                           "row_fence",
                                           "always",
                                           "lookup",
                                           "ok",
                                           "RS256",
                                           "6f1c2b9e-0000-4000-8000-000000000001",
                                           "false",
                                           "true",
                                           "dns",
                                           VEDETTE_SOURCE_DIR "/tests/unit/config",
                                           VEDETTE_SOURCE_DIR "/tests/unit/config/domains.txt",
                                           VEDETTE_SOURCE_DIR "/tests/unit/config/authority.pem",
                                           ""};

// How a value may stand in TOML, the likeliest first, as each takes long to load.
std::vector<std::string> TomlForms(const std::string& value) {
  std::vector<std::string> forms{"\"" + value + "\"", value, "[\"" + value + "\"]"};
  const bool is_number = value.find_first_not_of("0123456789.") == std::string::npos;
  if (is_number || value == "true" || value == "false") std::swap(forms[0], forms[1]);
  return forms;
}

std::optional<Config> TryLoad(const std::string& file, const Environment& environment) {
  try {
    return Load(file, environment);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

// With url and model set, either can change alone; so can what needs an issuer.
const std::string kProbeFile = "[probes.default]\nurl=\"http://a/\"\nmodel=\"m\"\n";
std::string BaseFile(const ConfigKey& key) {
  if (key.environment == "VEDETTE_MAIL_RELAY") {
    return kProbeFile + "[api]\npublic_url=\"https://a\"\n[mail]\nfrom=\"a@a.example\"\n";
  }
  if (key.section == "admin.oidc") {
    return kProbeFile +
           "[admin.oidc]\nissuer=\"https://a\"\nclient_id=\"c\"\npublic_url=\"https://c\"\n"
           "viewers=[\"v\"]\n";
  }
  if (key.section != "oidc") return kProbeFile;
  const bool fixed = key.name == "organisation";
  // The page to which the provider sends people back.
  const std::string back =
      key.name.starts_with("client_") ? "[api]\npublic_url=\"https://a\"\n" : "";
  return back + "[oidc]\nissuer=\"https://a/\"\naudience=\"a\"\n" +
         std::string(fixed ? "organisation=\"6f1c2b9e-0000-4000-8000-000000000002\"\n"
                           : "org_claim=\"o\"\n");
}
// The file with this line in this section, in place of the one of its key that is there.
std::string WithLine(std::string file, const ConfigKey& key, const std::string& line) {
  const std::string header = "[" + key.section + "]\n";
  const std::size_t at = file.find(header);
  if (at == std::string::npos) return file + header + line;
  const std::size_t old = file.find("\n" + key.name + "=", at);
  if (old == std::string::npos) return file.insert(at + header.size(), line);
  return file.replace(old + 1, file.find('\n', old + 1) - old, line);
}

TEST(Keys, EachIsReachedThroughTheEnvironmentAndTheFileAlike) {
  std::map<std::string, std::string> likely;  // what a key took that allows the same
  std::map<std::string, Config> bases;        // by file: there are few, and each takes long to load
  for (const ConfigKey& key : ConfigKeys()) {
    const std::string file = BaseFile(key);
    if (!bases.contains(file)) bases.emplace(file, Load(file));
    const Config& base = bases.at(file);
    std::optional<Config> through_environment;
    std::string taken;
    std::vector<std::string> candidates = kCandidates;
    if (likely.contains(key.allowed)) candidates.insert(candidates.begin(), likely[key.allowed]);
    for (const std::string& candidate : candidates) {
      auto config = TryLoad(file, {{key.environment, candidate}});
      if (!config || *config == base) continue;
      through_environment = std::move(config);
      taken = candidate;
      likely[key.allowed] = candidate;
      break;
    }
    ASSERT_TRUE(through_environment) << key.environment << " takes none: " << key.allowed;

    bool reached = false;
    for (const std::string& form : TomlForms(taken)) {
      const auto config = TryLoad(WithLine(file, key, key.name + " = " + form + "\n"), {});
      reached = config && *config == *through_environment;
      if (reached) break;
    }
    EXPECT_TRUE(reached) << "[" << key.section << "] " << key.name << " = " << taken;
  }
}

TEST(Keys, ASecretMayStandInAFileOfItsOwn) {
  const TempFile secret(kHex + "\n");
  for (const ConfigKey& key : ConfigKeys()) {
    if (!key.secret || key.name == "proxy") continue;
    EXPECT_EQ(FromEnvironment({{key.environment + "_FILE", secret.path()}}),
              FromEnvironment({{key.environment, kHex}}))
        << key.environment;
    EXPECT_EQ(Load("[" + key.section + "]\n" + key.name + "_file = \"" + secret.path() + "\""),
              FromEnvironment({{key.environment, kHex}}))
        << key.name;
  }
}

TEST(Environment, WinsOverTheFileAndTheFileOverTheDefaults) {
  const std::string file = "[limits]\nrequests_per_minute = 7\nstruct_bytes_max = 8\n";
  const Config c = Load(file, {{"VEDETTE_LIMITS_REQUESTS_PER_MINUTE", "9"}, {"PATH", "/bin"}});
  EXPECT_EQ(c.limits.requests_per_minute, 9);
  EXPECT_EQ(c.limits.struct_bytes_max, 8U);
  EXPECT_EQ(c.limits.uploads_unused_bytes_max, std::size_t{4} << 30);
}

TEST(Environment, KnowsTheNamesOfTheDesign) {
  const Config c = FromEnvironment({{"VEDETTE_DATABASE_URL", "postgresql://db/vedette"},
                                    {"VEDETTE_PROBES_LOW_URL", "http://research/"},
                                    {"VEDETTE_PROBES_LOW_KIND", "http"},
                                    {"VEDETTE_PRICES_LOW", "1.5"},
                                    {"VEDETTE_NET_ALLOW", "127.0.0.1, ::1/128,10.0.0.0/8"},
                                    {"VEDETTE_SECURITY_ENCRYPTION_KEY", kHex},
                                    {"VEDETTE_LIMITS_FREQUENCY_MIN", "5s"},
                                    {"VEDETTE_ADMIN_TOKEN", "t0"},
                                    {"VEDETTE_ADMIN_TOKENS_ALICE", "t1"},
                                    {"VEDETTE_LOG_LEVEL", "warn"}});
  EXPECT_EQ(c.database.url, "postgresql://db/vedette");
  EXPECT_EQ(c.probes.at("low").url, "http://research/");
  EXPECT_EQ(c.prices_mc.at("low"), 1500);
  EXPECT_EQ(c.net.allow, (std::vector<std::string>{"127.0.0.1", "::1/128", "10.0.0.0/8"}));
  EXPECT_EQ(c.security.encryption_key, base::HexDecode(kHex));
  EXPECT_EQ(c.limits.frequency_min, seconds(5));
  EXPECT_EQ(c.admin_tokens,
            (std::map<std::string, std::string>{{"default", "t0"}, {"alice", "t1"}}));
  EXPECT_EQ(c.log.level, "warn");
}

TEST(Environment, PassesOverWhatIsNotItsOwn) {
  EXPECT_EQ(FromEnvironment({{"VEDETTE_ADMIN_URL", "http://127.0.0.1:9464"},
                             {"VEDETTE_SERVICE_HOST", "10.0.0.1"},
                             {"VEDETTE_SERVICE_PORT_API", "8080"},
                             {"VEDETTE_API_PORT", "tcp://10.0.0.1:8080"},
                             {"VEDETTE_API_PORT_8080_TCP_ADDR", "10.0.0.1"},
                             {"HOME", "/root"}}),
            FromEnvironment({}));
}

TEST(Environment, AnUnknownVariableIsAnErrorThatNamesTheClosest) {
  EXPECT_EQ(EnvironmentErrorOf("VEDETTE_API_LISTENS", "x"),
            "unknown variable VEDETTE_API_LISTENS; the closest known one is VEDETTE_API_LISTEN");
  EXPECT_THAT(EnvironmentErrorOf("VEDETTE_API_PORT", "8080"), HasSubstr("unknown variable"));
  // Nothing that was not meant: VEDETTE_ADMIN_TOKEN is as close to this as anything.
  EXPECT_EQ(EnvironmentErrorOf("VEDETTE_LIMITS_NONSENSE", "1"),
            "unknown variable VEDETTE_LIMITS_NONSENSE; no known one is close, `vedette config` "
            "prints them all");
  EXPECT_THAT(EnvironmentErrorOf("VEDETTE_LIMITS_STRUCT_BYTES_MAX_FILE", "x"),
              HasSubstr("unknown variable"));
}

TEST(Environment, AnEmptyVariableIsAnEmptyValue) {
  const std::string file = "[database]\nurl = \"postgresql://db/x\"\n[net]\nallow = [\"::1\"]\n";
  const Config c = Load(file, {{"VEDETTE_DATABASE_URL", ""}, {"VEDETTE_NET_ALLOW", ""}});
  EXPECT_EQ(c.database.url, "");
  EXPECT_TRUE(c.net.allow.empty());
  EXPECT_THAT(EnvironmentErrorOf("VEDETTE_API_LISTEN", ""),
              HasSubstr("VEDETTE_API_LISTEN = \"\": must be host:port"));
  EXPECT_THAT(EnvironmentErrorOf("VEDETTE_ADMIN_TOKEN", ""), HasSubstr("must be"));
  EXPECT_THAT(EnvironmentErrorOf("VEDETTE_LIMITS_STRUCT_BYTES_MAX", ""), HasSubstr("must be"));
}

TEST(File, AnUnknownKeyIsAnErrorThatNamesItsPlaceAndTheClosest) {
  const std::string error = ErrorOf("[limits]\n\nrequest_per_minute = 5\n");
  EXPECT_THAT(error, HasSubstr(":3: unknown key [limits] request_per_minute; the closest known key "
                               "is [limits] requests_per_minute"));
  EXPECT_THAT(ErrorOf("[limit]\nstruct_bytes_max = 5"), HasSubstr("unknown key [limit]"));
  EXPECT_THAT(ErrorOf("[probes.huge]\nkind = \"web\""), HasSubstr("unknown key [probes.huge]"));
  EXPECT_THAT(ErrorOf("listen = \"x\""), HasSubstr("unknown key listen"));
  EXPECT_THAT(ErrorOf("[admin.tokens]\n\"Bad Name\" = \"x\""),
              HasSubstr("the name of a token has lower case letters"));
  EXPECT_THAT(ErrorOf("[databse]\nurl = \"x\""), HasSubstr("the closest known key is [database]"));
}

TEST(File, ASyntaxErrorNamesItsPlace) {
  EXPECT_THAT(ErrorOf("[limits\n"), testing::MatchesRegex("/tmp/vedette-config-.*:1:8: .*"));
}

TEST(File, OneThatCannotBeReadIsAnError) {
  try {
    LoadConfig("/nowhere/vedette.toml", {});
    ADD_FAILURE();
  } catch (const ConfigError& e) {
    EXPECT_STREQ(e.what(), "cannot read /nowhere/vedette.toml: No such file or directory");
  }
  EXPECT_THROW(LoadConfig("/tmp", {}), ConfigError);
}

TEST(File, HoldsNamedTokens) {
  const TempFile secret("from file\n");
  const Config c = Load("[admin.tokens]\nalice = \"a\"\nbob-2_file = \"" + secret.path() + "\"\n");
  EXPECT_EQ(c.admin_tokens,
            (std::map<std::string, std::string>{{"alice", "a"}, {"bob-2", "from file"}}));
}

TEST(File, GivesTokensRoles) {
  const std::string tokens = "[admin.tokens]\nalice = \"a\"\nbob = \"b\"\n[admin.roles]\n";
  const Config c = Load(tokens + "alice = \"viewer\"\n", {{"VEDETTE_ADMIN_ROLES_BOB", "operator"}});
  EXPECT_EQ(c.admin_roles,
            (std::map<std::string, std::string>{{"alice", "viewer"}, {"bob", "operator"}}));
  EXPECT_TRUE(Load(tokens).admin_roles.empty());
  EXPECT_THAT(ErrorOf(tokens + "alice = \"root\""),
              HasSubstr("[admin.roles] alice = \"root\": must be one of viewer, operator, admin"));
  EXPECT_THAT(ErrorOf(tokens + "\"Bad Name\" = \"viewer\""),
              HasSubstr("the name of a token has lower case letters"));
}

TEST(ProcessEnvironment, IsThatOfTheProcess) {
  ASSERT_EQ(setenv("VEDETTE_TEST_VALUE", "a=b", 1), 0);
  EXPECT_EQ(ProcessEnvironment().at("VEDETTE_TEST_VALUE"), "a=b");
  unsetenv("VEDETTE_TEST_VALUE");
}

}  // namespace
}  // namespace vedette::config
