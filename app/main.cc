// The command line: flags, signals, exit statuses. 0: done; 1: it failed, with a sentence on
// standard error; 2: a wrong command line or configuration.

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/ctl.h"
#include "app/demo.h"
#include "app/descriptors.h"
#include "app/probe_once.h"
#include "app/service.h"
#include "app/signals.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "domain/signature.h"

namespace vedette::app {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr std::chrono::milliseconds kFaultPoll{200};

struct CommonOptions {
  std::string config_path;
  config::Config Load() const {
    return config::LoadConfig(
        config_path.empty() ? std::nullopt : std::optional<std::string>(config_path),
        config::ProcessEnvironment());
  }
};

base::Logger MakeLogger(const config::LogConfig& config) {
  static const std::map<std::string, base::LogLevel> kLevels = {
      {"trace", base::LogLevel::kTrace}, {"debug", base::LogLevel::kDebug},
      {"info", base::LogLevel::kInfo},   {"warn", base::LogLevel::kWarn},
      {"error", base::LogLevel::kError}, {"off", base::LogLevel::kOff}};
  return base::Logger(kLevels.at(config.level),
                      config.format == "json" ? base::LogFormat::kJson : base::LogFormat::kText);
}

int Serve(const CommonOptions& common, const std::string& roles) {
  const config::Config config = common.Load();
  std::set<Role> wanted = AllRoles();
  try {
    if (!roles.empty()) wanted = ParseRoles(roles);
  } catch (const std::invalid_argument& error) {
    throw config::ConfigError(error.what());
  }
  const StopSignals signals;
  const base::SystemClock clock;
  const base::Logger log = MakeLogger(config.log);
  ProvideDescriptors(NeedOfDescriptors(config, wanted), log);
  Service service(config, std::move(wanted), clock, log);
  service.Start();
  std::string reason;
  while (!signals.WaitFor(kFaultPoll)) {
    if (!service.Failed(&reason)) continue;
    service.Stop();
    throw std::runtime_error(reason);
  }
  service.Stop();
  return kDone;
}

int RunMigrate(const CommonOptions& common) {
  const config::Config config = common.Load();
  base::Logger log = MakeLogger(config.log);
  const int applied = Migrate(config, log);
  if (applied == 0) {
    fmt::print("The schema is current.\n");
  } else {
    fmt::print("{} migration{} applied.\n", applied, applied == 1 ? "" : "s");
  }
  return kDone;
}

int Verify(const std::string& secret, const std::string& header, std::optional<std::int64_t> now) {
  const std::string body{std::istreambuf_iterator<char>(std::cin), {}};
  if (!now) {
    const auto since_epoch = base::SystemClock().Now().time_since_epoch();
    now = std::chrono::floor<std::chrono::seconds>(since_epoch).count();
  }
  const domain::SignatureCheck check = domain::VerifySignature(secret, header, body, *now);
  if (check == domain::SignatureCheck::kValid) {
    fmt::print("{}\n", domain::SignatureCheckMessage(check));
    return kDone;
  }
  fmt::print(stderr, "vedette verify: {}\n", domain::SignatureCheckMessage(check));
  return kFailed;
}

// As the command line has it.
struct ProbeOptions {
  std::string url;
  std::string tier = "low";
  std::vector<std::string> watches;
  std::vector<std::string> subject;
  std::vector<std::string> known;
};

int Probe(const CommonOptions& common, const ProbeOptions& given) {
  ProbeOnceOptions options;
  options.url = given.url;
  options.tier = *domain::ParseTier(given.tier);
  try {
    for (const std::string& text : given.watches) options.watched.push_back(ParseWatch(text));
    for (const std::string& text : given.subject) {
      options.subject.push_back(ParsePair("--subject", text));
    }
    for (const std::string& text : given.known) options.known.push_back(ParsePair("--known", text));
  } catch (const std::invalid_argument& error) {
    throw config::ConfigError(error.what());
  }
  if (options.url.empty() && options.subject.empty()) {
    throw config::ConfigError("probe: name the row by --url, --subject or both");
  }
  return ProbeOnce(common.Load(), std::move(options));
}

int Main(int argc, char** argv) {
  CLI::App app{
      "vedette watches rows: it checks them on a schedule, records what changed and sends signed "
      "webhooks."};
  app.name("vedette");
  app.set_version_flag("--version", "vedette " VEDETTE_VERSION);
  app.require_subcommand(1);
  int status = kDone;
  CommonOptions common;
  const auto with_config = [&common](CLI::App* command) {
    command->add_option("--config", common.config_path, "TOML file; the environment overrides it");
  };

  CLI::App* serve = app.add_subcommand("serve", "Run the service until SIGTERM or SIGINT");
  with_config(serve);
  std::string roles;
  serve->add_option("--roles", roles, "Some of api,admin,scheduler,worker,delivery; default: all");
  serve->callback([&] { status = Serve(common, roles); });

  CLI::App* migrate = app.add_subcommand("migrate", "Bring the database's schema up to date");
  with_config(migrate);
  migrate->callback([&] { status = RunMigrate(common); });

  CLI::App* demo = app.add_subcommand(
      "demo", "Show everything at work, on a private PostgreSQL; needs no configuration");
  DemoOptions demo_options;
  demo->add_flag("--once", demo_options.once, "End after the story; 0 only if every step was seen");
  demo->add_option("--dir", demo_options.dir, "Where the data is kept")
      ->take_last()
      ->capture_default_str();
  demo->add_option("--api-port", demo_options.api_port, "Default 8080; 0: any free one")
      ->take_last()
      ->check(CLI::Range(0, 65535));
  demo->add_option("--admin-port", demo_options.admin_port, "Default 9464; 0: any free one")
      ->take_last()
      ->check(CLI::Range(0, 65535));
  const std::map<std::string, ReceiverMode> modes = {{"honest", ReceiverMode::kHonest},
                                                     {"refuse", ReceiverMode::kRefuse},
                                                     {"wrong-key", ReceiverMode::kWrongKey}};
  demo->add_option("--receiver", demo_options.receiver,
                   "How the receiver behaves: honest; refuse or wrong-key make the story fail")
      ->transform(CLI::CheckedTransformer(modes));
  demo->callback([&] {
    const StopSignals signals;
    status = RunDemo(demo_options, config::ProcessEnvironment(), signals);
  });

  Ctl ctl;
  ctl.AddTo(app, &status);

  CLI::App* probe = app.add_subcommand("probe", "Try a probe on one row and print what it sees");
  with_config(probe);
  ProbeOptions probe_options;
  const auto pairs = [probe](const char* name, std::vector<std::string>* to, const char* help) {
    return probe->add_option(name, *to, help)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  probe->add_option("--url", probe_options.url, "The row's page");
  pairs("--watch", &probe_options.watches,
        "name=description, for example 'title=css:h1'; repeatable")
      ->required();
  pairs("--subject", &probe_options.subject, "name=value, a column of the row; repeatable");
  pairs("--known", &probe_options.known,
        "name=value, what is known of a field, to compare with; repeatable");
  probe->add_option("--tier", probe_options.tier, "Whose probe: micro, low, medium or high")
      ->capture_default_str()
      ->check(CLI::IsMember({"micro", "low", "medium", "high"}));
  probe->callback([&] { status = Probe(common, probe_options); });

  CLI::App* verify =
      app.add_subcommand("verify", "Check a webhook's signature; the body comes on standard input");
  std::string secret;
  std::string header;
  std::optional<std::int64_t> now;
  verify->add_option("--secret", secret, "The signing secret, whole")->required();
  verify->add_option("--header", header, "The value of Service-Signature")->required();
  verify->add_option("--now", now, "The receiver's clock, in Unix seconds; default: now");
  verify->callback([&] { status = Verify(secret, header, now); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUse;
  }
  return status;
}

}  // namespace
}  // namespace vedette::app

int main(int argc, char** argv) {
  try {
    return vedette::app::Main(argc, argv);
  } catch (const vedette::config::ConfigError& error) {
    fmt::print(stderr, "vedette: {}\n", error.what());
    return vedette::app::kWrongUse;
  } catch (const std::exception& error) {
    fmt::print(stderr, "vedette: {}\n", error.what());
    return vedette::app::kFailed;
  }
}
