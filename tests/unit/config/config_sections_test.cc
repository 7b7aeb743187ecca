// What particular sections take, ask for and inherit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "config/rules.h"
#include "tests/unit/config/config_support.h"

namespace vedette::config {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

TEST(Providers, AreNamedByTheOperatorInTheFileAndInTheEnvironment) {
  const Config config = Load(
      "[providers.http.mine]\nurl = \"http://a/\"\ntrust = false\n[lookups]\nfind_email = "
      "[\"mine\", \"the_other\"]\n",
      {{"VEDETTE_PROVIDERS_HTTP_THE_OTHER_URL", "http://b/"},
       {"VEDETTE_PROVIDERS_HTTP_THE_OTHER_API_KEY", "k"},
       {"VEDETTE_PROVIDERS_HTTP_MINE_IN_FLIGHT_MAX", "3"}});
  ASSERT_EQ(config.providers.http.size(), 2U);
  EXPECT_EQ(config.providers.http.at("mine").url, "http://a/");
  EXPECT_FALSE(config.providers.http.at("mine").trust);
  EXPECT_EQ(config.providers.http.at("mine").in_flight_max, 3);
  EXPECT_EQ(config.providers.http.at("the_other").api_key, "k");
  EXPECT_TRUE(config.providers.http.at("the_other").trust);
}

TEST(Lookups, AreAsPoliteAndAsPatientAsTheSpecificationUnlessTheOperatorSaysOtherwise) {
  using Texts = std::vector<std::string>;
  using std::chrono::milliseconds;
  const Config config = Load("");
  const SmtpConfig& smtp = config.smtp;
  EXPECT_EQ(smtp.hello_name, "") << "the lane smtp is not served";
  EXPECT_EQ((std::tuple(smtp.port, smtp.ip, smtp.per_domain_hour, smtp.per_class_minute,
                        smtp.per_day, smtp.connections_per_class)),
            (std::tuple(25, "4", 60, 60, 10'000, 4)));
  EXPECT_EQ((std::tuple(smtp.recipients_max, smtp.refusals_max)), (std::tuple(16, 5)));
  EXPECT_EQ(smtp.linger_ms, milliseconds(500));
  EXPECT_EQ(smtp.connect_timeout_ms, seconds(10));
  EXPECT_EQ(smtp.banner_timeout_ms, seconds(30));
  EXPECT_EQ(smtp.reply_timeout_ms, seconds(30));
  EXPECT_EQ(smtp.connection_timeout_ms, seconds(90));
  const LookupsConfig& lookups = config.lookups;
  EXPECT_EQ(lookups.find_email, (Texts{"store", "website", "pattern"}));
  EXPECT_EQ(lookups.find_email_personal, (Texts{"store", "website"}));
  EXPECT_EQ(lookups.reverse_email, (Texts{"store", "website", "wkd"}));
  EXPECT_EQ(lookups.verify_age, (Texts{"pages", "wikidata"}));
  // No third party learns of anybody before the operator says so.
  EXPECT_EQ(lookups.company_domain, Texts{"store"});
  EXPECT_EQ((std::tuple(lookups.verifier, lookups.candidates_max, lookups.guesses_max)),
            (std::tuple("smtp", 3, 10)));
  EXPECT_EQ(lookups.row_timeout_ms, seconds(120));
  EXPECT_EQ(lookups.wait_single_ms, seconds(60));
  EXPECT_EQ(lookups.wait_bulk_ms, seconds(300));
  EXPECT_EQ(lookups.find_deadline_ms, std::chrono::hours(1));
  EXPECT_EQ(lookups.bulk_deadline_ms, std::chrono::hours(6));
  EXPECT_EQ(lookups.reverse_deadline_ms, std::chrono::minutes(15));
  EXPECT_EQ(lookups.age_deadline_ms, seconds(600));
  EXPECT_EQ(config.email.pages_max, 8);
  EXPECT_EQ(config.email.site_timeout_ms, seconds(20));
  EXPECT_EQ(config.email.page_bytes_max, 2 * 1024 * 1024);
}

TEST(Providers, OneThatIsAskedIsKnownAndHasAUrl) {
  EXPECT_THAT(ErrorOf("[lookups]\nfind_email = [\"mine\"]\n"),
              HasSubstr("there is no [providers.http.mine]"));
  EXPECT_THAT(ErrorOf("[providers.http.mine]\ntrust = true\n"), HasSubstr("needs a url"));
  EXPECT_THAT(ErrorOf("[providers.http.Mine]\nurl = \"http://a/\"\n"), HasSubstr("unknown key"));
  EXPECT_THAT(ErrorOf("[providers.http.mine]\nurll = \"http://a/\"\n"), HasSubstr("unknown key"));
}

TEST(Waits, FollowALowerLimitOfConnectionsUnlessTheyAreSet) {
  EXPECT_EQ(Load("[api]\nconnections_max = 100\n").waits.waits_max, 50);
  EXPECT_THAT(ErrorOf("[api]\nconnections_max = 100\nwaits_max = 51\n"),
              HasSubstr("at most half of connections_max"));
}

TEST(Database, PatienceFollowsFromThatWithAStatement) {
  EXPECT_EQ(Load("").database.lock_timeout_ms, seconds(10));
  EXPECT_EQ(Load("").database.tcp_user_timeout_ms, seconds(10));
  EXPECT_EQ(Load("").database.idle_in_transaction_timeout_ms, seconds(5));
  const DatabaseConfig patient = Load("[database]\nstatement_timeout_ms = 120000\n").database;
  EXPECT_EQ(patient.lock_timeout_ms, seconds(40));
  EXPECT_EQ(patient.idle_in_transaction_timeout_ms, seconds(20));
}

TEST(Delivery, SlowReceiversHaveAsManyAttemptsAsOthersAndAllMayEndAtShutdown) {
  const DeliveryConfig delivery =
      Load("[delivery]\nin_flight_max = 16\ntimeout_ms = 2000\n").delivery;
  EXPECT_EQ(delivery.slow_in_flight_max, 16);
  EXPECT_EQ(delivery.drain_timeout_ms, seconds(3));
  EXPECT_EQ(Load("").delivery.drain_timeout_ms, seconds(11));
}

TEST(Mail, ARelayNeedsWhatMailIsMadeOf) {
  const auto error = [](const std::string& keys) {
    return ErrorOf("[api]\npublic_url = \"https://v.example\"\n[mail]\n" + keys);
  };
  const std::string from = "from = \"alerts@v.example\"\n";
  EXPECT_EQ(error("relay = \"smtps://relay.example:465\"\n" + from), "no error");
  EXPECT_EQ(error("relay = \"smtps://me@relay.example\"\npassword = \"p\"\n" + from), "no error");
  EXPECT_THAT(error("relay = \"smtps://relay.example\"\n"), HasSubstr("[mail] from"));
  EXPECT_THAT(error("relay = \"https://relay.example\"\n" + from), HasSubstr("[mail] relay"));
  EXPECT_THAT(error("relay = \"smtps://me@relay.example\"\n" + from), HasSubstr("[mail] password"));
  const std::string hidden = error("relay = \"smtps://me:hunter2@relay.example\"\n" + from);
  EXPECT_THAT(hidden, HasSubstr("[mail] relay"));
  EXPECT_THAT(hidden, testing::Not(HasSubstr("hunter2")));
  EXPECT_THAT(ErrorOf("[mail]\nrelay = \"smtps://relay.example\"\n" + from),
              HasSubstr("[api] public_url"));
}

TEST(Smtp, WhatWouldBeIgnoredIsRefused) {
  const auto error = [](const std::string& line) { return ErrorOf("[email.smtp]\n" + line); };
  const auto proxy = SocksProxy::Parse("socks5://[::1]:1080").value();
  EXPECT_EQ(std::pair(proxy.address, proxy.port), std::pair(std::string("::1"), 1080));
  for (const char* good : {"", "socks5://192.0.2.7:1080", "socks5://[2001:db8::7]:1"}) {
    EXPECT_EQ(error("proxy = \"" + std::string(good) + "\"\n"), "no error") << good;
  }
  for (const char* bad :
       {"http://192.0.2.7:1080", "socks5://localhost:9", "socks5://nonsense", "socks5://192.0.2.7",
        "socks5://192.0.2.7:0", "socks5://::1:1080", "socks5://[192.0.2.7]:1080", "socks5://[]:1",
        "socks5://user:secret@192.0.2.7:9", "socks5://192.0.2.7:9/"}) {
    const std::string said = error("proxy = \"" + std::string(bad) + "\"\n");
    EXPECT_THAT(said, HasSubstr("[email.smtp] proxy")) << bad;
    EXPECT_THAT(said, testing::Not(HasSubstr("secret")));
  }
  EXPECT_EQ(error("public_address = \"2001:db8::7\"\n"), "no error");
  EXPECT_THAT(error("public_address = \"mx.example\"\n"), HasSubstr("must be an address"));
}

TEST(Smtp, ABudgetIsEnoughForOneAddressAndWhatIsAskedBesideIt) {
  for (const std::string key : {"per_domain_hour", "per_class_minute", "per_day"}) {
    EXPECT_EQ(ErrorOf("[email.smtp]\n" + key + " = 3\n"), "no error");
    EXPECT_THAT(ErrorOf("[email.smtp]\n" + key + " = 2\n"), HasSubstr("from 3 to")) << key;
  }
}

TEST(Cell, AnIdIsShortAndOfLowerCaseLettersAndDigits) {
  for (const char* good : {"", "c2", "eu"}) {
    EXPECT_EQ(ErrorOf("[cell]\nid = \"" + std::string(good) + "\"\n"), "no error");
  }
  for (const char* bad : {"C2", "c_2", "c-2", "toolongid", " c2"}) {
    EXPECT_THAT(ErrorOf("[cell]\nid = \"" + std::string(bad) + "\"\n"),
                HasSubstr("1 to 8 lower-case letters and digits"))
        << bad;
  }
}

TEST(Oidc, AWrongCombinationNamesTheKey) {
  const auto error = [](const std::string& keys) { return ErrorOf("[oidc]\n" + keys); };
  const std::string issuer = "issuer = \"https://idp.example/\"\n";
  const std::string good = issuer + "audience = \"a\"\norg_claim = \"/org/id\"\n";
  EXPECT_EQ(error(good), "no error");
  EXPECT_EQ(error("issuer = \"http://127.0.0.1:9\"\naudience = \"a\"\norg_claim = \"o\"\n"),
            "no error");
  for (const auto& [keys, says] :
       {std::pair(issuer, "[oidc] audience"),
        {issuer + "audience = \"a\"\n", "exactly one"},
        {good + "organisation = \"x\"\n", "exactly one"},
        {std::string("audience = \"a\"\n"), "needs [oidc] issuer"},
        {std::string("issuer = \"http://idp.example\"\n"), "https"},
        {std::string("issuer = \"http://127.0.0.1.evil\"\n"), "https"},
        {issuer + "audience = \"a\"\norganisation = \"acme\"\n", "[oidc] organisation = \"acme\""},
        {good + "team_claim = \"/a~2\"\n", "[oidc] team_claim"},
        {good + "algorithms = []\n", "[oidc] algorithms"},
        {good + "client_id = \"a\"\n", "needs [api] public_url"},
        {std::string("client_id = \"a\"\n"), "needs [oidc] issuer"},
        {good + "algorithms = [\"HS256\"]\n", "RS256"}}) {
    EXPECT_THAT(error(keys), HasSubstr(says)) << keys;
  }
  EXPECT_THAT(ErrorOf("[oauth]\njwks_fresh_ms = 1000\n"), HasSubstr("jwks_retry_ms"));
  EXPECT_THAT(ErrorOf("[oauth]\njwks_stale_max_ms = 1000\n"), HasSubstr("jwks_fresh_ms"));
}

TEST(AdminOidc, AWrongCombinationNamesTheKey) {
  const auto error = [](const std::string& keys) -> std::string {
    try {
      ValidateAdminOidc(Load("[admin.oidc]\n" + keys).admin_oidc);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string issuer = "issuer = \"https://idp.example\"\n";
  const std::string url = "public_url = \"http://localhost:9464\"\n";
  const std::string client = "client_id = \"console\"\n";
  const std::string good = issuer + url + client + "admins = [\"owners\"]\n";
  EXPECT_EQ(error(good), "no error");
  for (const auto& [keys, says] :
       {std::pair(issuer + url + client, std::string("nobody could sign in")),
        {issuer + client, "[admin.oidc] public_url = \"\": must be https"},
        {issuer + url, "[admin.oidc] client_id"},
        {url, "[admin.oidc] issuer"},
        {std::string("viewers = [\"staff\"]\n"), "[admin.oidc] issuer"},
        {good + "viewers = [\"\"]\n", "[admin.oidc] viewers"},
        {good + "role_claim = \"/a~2\"\n", "[admin.oidc] role_claim"},
        {"issuer = \"http://idp.example\"\n" + url + client, "[admin.oidc] issuer"},
        {issuer + "public_url = \"http://admin.example\"\n" + client, "https, or http on loopback"},
        {issuer + "public_url = \"https://admin.example/\"\n" + client, "without a slash"}}) {
    EXPECT_THAT(error(keys), HasSubstr(says)) << keys;
  }
}

TEST(Worker, G5ControlKnowledgeMayNotGrowOlderThanThePromiseAllows) {
  for (const char* steps : {"false", "true"}) {
    const WorkerConfig worker =
        Load(std::string("[testing]\nsmall_steps = ") + steps + "\n").worker;
    EXPECT_LE(worker.control_age_max_ms, seconds(4)) << "a pause holds within 5 s";
    EXPECT_LT(worker.control_read_ms, worker.control_age_max_ms);
  }
}

TEST(Worker, G11TheRowsThatAWorkerHoldsHaveRoomForOne) {
  const Config config = Load("");
  EXPECT_EQ(config.worker.rows_held_bytes_max, 256U << 20);
  EXPECT_GE(config.worker.rows_held_bytes_max, config.limits.row_bytes_max);
  EXPECT_GE(config.worker.rows_held_bytes_max, 2 * config.jobs.part_bytes_max);
}

TEST(Probes, AProbeHasWhatItsKindNeeds) {
  EXPECT_THAT(ErrorOf("[probes.low]\nkind = \"http\""), HasSubstr("[probes.low] url"));
  EXPECT_THAT(ErrorOf("[probes.low]\nkind = \"llm\"\nurl = \"http://m/\""),
              HasSubstr("[probes.low] model"));
  EXPECT_THAT(ErrorOf("[probes.low]\nurl = \"http://m/\""), HasSubstr("[probes.low]"));
  EXPECT_EQ(Load("[probes.low]\nkind = \"null\"").probes.at("low").kind, "null");
}

TEST(Probes, ATierInheritsWhatItLeavesOut) {
  const Config c = Load(
      "[probes.default]\nkind = \"http\"\nurl = \"http://all/\"\nattempts_max = 2\n"
      "[probes.high]\nurl = \"http://high/\"\n");
  EXPECT_EQ(c.probes.size(), 5U) << "the default is no tier";
  for (const auto& [tier, probe] : c.probes) {
    EXPECT_EQ(probe.kind, "http") << tier;
    EXPECT_EQ(probe.attempts_max, 2) << tier;
    EXPECT_EQ(probe.url, tier == "high" ? "http://high/" : "http://all/");
  }
}

TEST(Probes, WhatAFileSaysOfATierStandsAgainstAVariableOfTheDefault) {
  const Config c = Load(
      "[probes.low]\nattempts_max = 5\n",
      {{"VEDETTE_PROBES_DEFAULT_ATTEMPTS_MAX", "7"}, {"VEDETTE_PROBES_HIGH_ATTEMPTS_MAX", "9"}});
  EXPECT_EQ(c.probes.at("micro").attempts_max, 7);
  EXPECT_EQ(c.probes.at("low").attempts_max, 5);
  EXPECT_EQ(c.probes.at("high").attempts_max, 9);
}

// In any order.
TEST(Probes, AFileMayNameEveryTier) {
  const Config c = Load(
      "[probes.high]\nkind = \"null\"\n[probes.micro]\nkind = \"web\"\n"
      "[probes.medium]\nkind = \"http\"\nurl = \"http://m/\"\n[probes.low]\nattempts_max = 1\n");
  EXPECT_EQ(c.probes.at("high").kind, "null");
  EXPECT_EQ(c.probes.at("micro"), FromEnvironment({}).probes.at("micro"));
  EXPECT_EQ(c.probes.at("xhigh"), FromEnvironment({}).probes.at("xhigh"));
  EXPECT_EQ(c.probes.at("medium").url, "http://m/");
  EXPECT_EQ(c.probes.at("low").kind, "web");
  EXPECT_EQ(c.probes.at("low").attempts_max, 1);
}

TEST(Testing, IsOffUnlessAskedFor) {
  EXPECT_FALSE(Load("").testing.any());
  EXPECT_TRUE(Load("[testing]\ndisable = [\"row_fence\"]").testing.any());
  EXPECT_TRUE(Load("[testing]\nsmall_steps = true").testing.any());
}

TEST(Testing, SmallStepsAreSmallerAndSoonerThanAnyFleetWants) {
  const Config usual = Load("");
  const Config small = Load("[testing]\nsmall_steps = true");
  EXPECT_LT(small.worker.chunk_rows_max, usual.worker.chunk_rows_max);
  EXPECT_LT(small.worker.record_checks_max, usual.worker.record_checks_max);
  EXPECT_LT(small.scheduler.rows_per_cut_max, usual.scheduler.rows_per_cut_max);
  EXPECT_LT(small.delivery.poll_ms, usual.delivery.poll_ms);
  EXPECT_LT(small.jobs.keeper_ms, usual.jobs.keeper_ms);
}

TEST(Testing, AlonePutsTheProviderThatInventsIntoAnOrder) {
  for (const char* list :
       {"find_email", "find_email_personal", "company_domain", "reverse_email", "verify_age"}) {
    const std::string order = std::string("[lookups]\n") + list + " = [\"null\"]\n";
    EXPECT_THROW(Load(order), ConfigError) << list;
    EXPECT_NO_THROW(Load(order + "[testing]\nnull_provider = true")) << list;
  }
  const std::string named = "[providers.http.null]\nurl = \"http://a.example/\"\n";
  EXPECT_THROW(Load(named), ConfigError) << "no service of the operator's goes by its name";
  const Config config = Load("[testing]\nnull_provider = true");
  EXPECT_FALSE(FindersOf(config).Knows("null")) << "no request may name it";
  EXPECT_FALSE(config.testing.changes_sessions());
}

TEST(Testing, TakesKnownPointsActionsAndProbabilities) {
  const auto points =
      Load("[testing]\nfault_points = [\"after_probe:kill:0.5\"]").testing.fault_points;
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].point, "after_probe");
  EXPECT_EQ(points[0].action, "kill");
  EXPECT_EQ(points[0].probability, 0.5);
  for (const char* bad : {"nowhere:kill:1", "after_probe:sleep:1", "after_probe:kill:2",
                          "after_probe:kill:nan", "after_probe:1", "after_probe"}) {
    EXPECT_THROW(Load(std::string("[testing]\nfault_points = [\"") + bad + "\"]"), ConfigError)
        << bad;
  }
  EXPECT_THROW(Load("[testing]\ndisable = [\"everything\"]"), ConfigError);
}

}  // namespace
}  // namespace vedette::config
