// The command line: flags, signals, exit statuses. 0: done; 1: it failed, with a sentence on
// standard error; 2: a wrong command line or configuration.

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands.h"
#include "app/ctl/ctl.h"
#include "app/demo/demo.h"
#include "app/load_config.h"
#include "app/private_postgres.h"
#include "app/probe_set.h"
#include "app/process.h"
#include "app/service.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "config/database_config.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "config/server_config.h"
#include "config/setting_files.h"
#include "domain/email/address.h"
#include "domain/job/webhook.h"

// What jemalloc reads when the process starts: memory that nobody asks for goes back to the system
// though no thread allocates any more, as after the last request of an evening.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "background_thread:true";
}

namespace vedette::app {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr std::chrono::milliseconds kFaultPoll{200};

// A word that is further off was not meant.
constexpr std::size_t kTyposMax = 3;

std::string Sentence(std::string_view kind, std::string_view word,
                     const std::vector<std::string>& known) {
  const auto closest = base::ClosestWord(word, known, kTyposMax);
  if (!closest) return fmt::format("there is no {} \"{}\"", kind, word);
  return fmt::format("there is no {} \"{}\"; the closest one is \"{}\"", kind, word, *closest);
}

std::vector<std::string> NamesOf(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// The option that this word names, of the command or of the one that it stands under.
const CLI::Option* FindOption(const CLI::App* command, const std::string& name) {
  for (; command != nullptr; command = command->get_parent()) {
    if (const CLI::Option* option = command->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

std::vector<std::string> OptionsOf(const CLI::App* command) {
  std::vector<std::string> names;
  for (; command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// The sentence about the first word of a command line that names no command or option of `app`,
// with the one that was probably meant; empty where every word is known, so that the parser's own
// sentence says what is wrong. `argv` as main has it. Values of options are passed over.
std::string UnknownWord(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word(argv[i]);
    if (word == "--") return {};
    if (word.starts_with("--")) {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* option = FindOption(command, name);
      if (option == nullptr) return Sentence("option", name, OptionsOf(command));
      const bool takes_next = option->get_items_expected_max() > 0 && name.size() == word.size();
      if (takes_next) ++i;
    } else if (!word.starts_with("-")) {
      const auto commands = command->get_subcommands([](const CLI::App*) { return true; });
      if (commands.empty()) continue;  // a value
      const auto named = std::find_if(commands.begin(), commands.end(),
                                      [&](const CLI::App* one) { return one->get_name() == word; });
      if (named == commands.end()) return Sentence("command", word, NamesOf(commands));
      command = *named;
    }
  }
  return {};
}

struct CommonOptions {
  std::string config_path;
  // While the process has one thread: the lists of domains are read without a lock from then on.
  config::Config Load(const config::Environment& environment = config::ProcessEnvironment()) const {
    config::Config config = LoadConfig(
        config_path.empty() ? std::nullopt : std::optional<std::string>(config_path), environment);
    domain::AddFreeMailboxDomains(config.mail_domains.free);
    domain::AddDisposableDomains(config.mail_domains.disposable);
    return config;
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

// What `vedette serve` is given.
struct ServeOptions {
  std::string roles;
  std::string private_postgres;  // a directory; empty: the database that is configured
  std::string cells_file;        // config/setting_files.h; empty: this cell alone is known
  bool debuggable = false;
};

// Starts a PostgreSQL of our own in `dir`, brings its schema up to date, and returns the
// configuration with its address. What is wrong in the configuration is told before.
config::Config StartPrivatePostgres(const CommonOptions& common, const std::string& dir,
                                    std::unique_ptr<PrivatePostgres>* postgres) {
  const config::Config given = common.Load();
  if (!given.database.url.empty()) {
    throw config::ConfigError(
        "serve: --private-postgres is for a process without a database; leave it out, or unset "
        "database.url (VEDETTE_DATABASE_URL)");
  }
  const base::Logger log = MakeLogger(given.log).For("postgres");
  PrivatePostgresOptions options;
  options.say = [log](std::string_view sentence) { log.Info(sentence); };
  *postgres = std::make_unique<PrivatePostgres>(dir, std::move(options));
  (*postgres)->Start();
  config::Environment environment = config::ProcessEnvironment();
  environment["VEDETTE_DATABASE_URL"] = (*postgres)->Url();
  config::Config config = common.Load(environment);
  base::Logger migration = MakeLogger(config.log);
  Migrate(config, migration);
  return config;
}

// `roles`: as they were given, if they were.
int Serve(const CommonOptions& common, const ServeOptions& given,
          const std::optional<std::string>& roles) {
  if (!given.debuggable) ForbidDumps();
  std::unique_ptr<PrivatePostgres> postgres;  // ends after all that uses it
  std::set<Role> wanted = AllRoles();
  try {
    if (roles) wanted = ParseRoles(*roles);
  } catch (const std::invalid_argument& error) {
    throw config::ConfigError(error.what());
  }
  const StopSignals signals;
  const config::Config config =
      given.private_postgres.empty()
          ? common.Load()
          : StartPrivatePostgres(common, given.private_postgres, &postgres);
  const base::SystemClock clock;
  const base::Logger log = MakeLogger(config.log);
  ProvideDescriptors(NeedOfDescriptors(config, wanted), log);
  // Its tokens are secrets of the operator's: other roles are not given them.
  std::vector<config::CellPort> cells;
  if (wanted.contains(Role::kAdmin) && !given.cells_file.empty()) {
    cells = config::ReadCells(given.cells_file);
  }
  Service service(config, std::move(wanted), clock, log, std::move(cells));
  service.Start();
  const auto stop = [&](int status) {
    const EndWithin bound(service.StopTimeMax(), status, log.For("service"));
    service.Stop();
  };
  std::string reason;
  while (!signals.WaitFor(kFaultPoll)) {
    if (!service.Failed(&reason)) continue;
    stop(kFailed);
    throw std::runtime_error(reason);
  }
  stop(kDone);
  return kDone;
}

int RunMigrate(const CommonOptions& common) {
  const config::Config config = common.Load();
  if (config.database.url.empty()) throw config::ConfigError(kNoDatabaseUrl);
  base::Logger log = MakeLogger(config.log);
  const int applied = Migrate(config, log);
  if (applied == 0) {
    fmt::print("The schema is current.\n");
  } else {
    fmt::print("{} migration{} applied.\n", applied, applied == 1 ? "" : "s");
  }
  return kDone;
}

// What `vedette verify` is given.
struct VerifyOptions {
  std::string secret;
  std::string secret_file;
  std::string header;
  std::optional<std::int64_t> now;
};

std::string SigningSecret(const VerifyOptions& given) {
  if (!given.secret.empty()) return given.secret;
  std::ifstream file(given.secret_file);
  std::string line;
  std::getline(file, line);
  line = base::Trim(line);
  if (!line.empty()) return line;
  throw config::ConfigError(
      given.secret_file.empty()
          ? "verify needs the signing secret: set SIGNING_SECRET, or give --secret-file or --secret"
          : fmt::format("verify cannot read a secret from {}", given.secret_file));
}

int Verify(const VerifyOptions& given) {
  const std::string secret = SigningSecret(given);
  std::optional<std::int64_t> now = given.now;
  const std::string body{std::istreambuf_iterator<char>(std::cin), {}};
  if (!now) {
    const auto since_epoch = base::SystemClock().Now().time_since_epoch();
    now = std::chrono::floor<std::chrono::seconds>(since_epoch).count();
  }
  const domain::SignatureCheck check = domain::VerifySignature(secret, given.header, body, *now);
  if (check == domain::SignatureCheck::kValid) {
    fmt::print("{}\n", domain::SignatureCheckMessage(check));
    return kDone;
  }
  fmt::print(stderr, "vedette verify: {}\n", domain::SignatureCheckMessage(check));
  return kFailed;
}

// The options of `vedette probe`, as the command line has them.
struct ProbeOptions {
  std::string url;
  std::string tier = "low";
  std::vector<std::string> watches;
  std::vector<std::string> subject;
  std::vector<std::string> known;
  std::string render;
  std::string wait_for;
  std::string steps;
};

// A repeated name is refused: one of its values would be passed over in silence. `texts`:
// name=value.
void RefuseRepeated(const std::string& option, const std::vector<std::string>& texts) {
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    const std::string name = text.substr(0, text.find('='));
    if (seen.insert(name).second) continue;
    throw std::invalid_argument(fmt::format("{} {}: the name is given twice", option, name));
  }
}

int Probe(const CommonOptions& common, const ProbeOptions& given) {
  ProbeOnceOptions options;
  options.url = given.url;
  options.tier = *domain::ParseTier(given.tier);
  options.render = given.render;
  options.wait_for = given.wait_for;
  try {
    for (const std::string& text : given.watches) options.watched.push_back(ParseWatch(text));
    for (const std::string& text : given.subject) {
      options.subject.push_back(ParsePair("--subject", text));
    }
    for (const std::string& text : given.known) options.known.push_back(ParsePair("--known", text));
    if (!given.steps.empty()) ReadSteps(given.steps, &options);
    if (!options.steps.empty() && options.render.empty()) options.render = "always";
    RefuseRepeated("--watch", given.watches);
    RefuseRepeated("--subject", given.subject);
    RefuseRepeated("--known", given.known);
  } catch (const std::invalid_argument& error) {
    throw config::ConfigError(error.what());
  }
  if (options.url.empty() && options.subject.empty()) {
    throw config::ConfigError("probe: name the row by --url, --subject or both");
  }
  return ProbeOnce(common.Load(), std::move(options));
}

// The options of `vedette lookup`, as the command line has them.
struct LookupOptions {
  LookupOnceOptions once;  // without the lead
  std::vector<std::string> lead;
};

int Lookup(const CommonOptions& common, const LookupOptions& given) {
  LookupOnceOptions options = given.once;
  try {
    for (const std::string& text : given.lead) options.lead.push_back(ParsePair("--lead", text));
  } catch (const std::invalid_argument& error) {
    throw config::ConfigError(error.what());
  }
  return LookupOnce(common.Load(), options);
}

// What `vedette config` is given.
struct ConfigOptions {
  bool check = false;
  std::string cells_file;  // as of ServeOptions
};

// The end of a sentence.
std::string HowPagesAreRendered(const config::Config& config) {
  const std::string lack = RenderingLack(config);
  if (lack.empty()) return "rendered by " + config.browser.executable;
  if (!HandsRenderingOver(config)) return "not rendered, because " + lack;
  return "not rendered here, because " + lack +
         "; processes with the role browser render them, where there are any";
}

int ShowConfig(const CommonOptions& common, const ConfigOptions& options) {
  if (options.check) {
    const config::Config config = common.Load();
    std::string absences;
    for (const StartFault& fault : StartFaults(config)) {
      if (!fault.is_absence) throw config::ConfigError(fault.why);
      absences += fmt::format("But `vedette serve` would refuse: {}.\n", fault.why);
    }
    if (!options.cells_file.empty()) config::ReadCells(options.cells_file);
    fmt::print("The configuration is sound.\n{}", absences);
    fmt::print("Pages made by scripts: {}.\n", HowPagesAreRendered(config));
  } else {
    fmt::print("{}", config::DefaultConfigText());
  }
  return kDone;
}

// What the command line is parsed into.
struct CommandLine {
  CommonOptions common;
  ServeOptions serve;
  DemoOptions demo;
  ProbeOptions probe;
  LookupOptions lookup;
  VerifyOptions verify;
  EmailDoctorOptions doctor;
  AssertionOptions assertion;
  ConfigOptions config;
  int status = kDone;  // what the command that ran returned
};

void AddConfig(CLI::App* command, CommonOptions* common) {
  command->add_option("--config", common->config_path, "TOML file; the environment overrides it");
}

void AddServe(CLI::App& app, CommandLine* line) {
  CLI::App* serve = app.add_subcommand("serve", "Run the service until SIGTERM or SIGINT");
  AddConfig(serve, &line->common);
  const CLI::Option* roles = serve->add_option(
      "--roles", line->serve.roles,
      "Some of api,admin,scheduler,worker,delivery,browser; default: all but browser");
  serve->add_option("--private-postgres", line->serve.private_postgres,
                    "Without a database: start one of our own, whose data is kept in this folder");
  serve
      ->add_option("--cells", line->serve.cells_file,
                   "For the console of all cells: the file that `ctl --cells` reads")
      ->envname("VEDETTE_CELLS_FILE");
  serve->add_flag("--debuggable", line->serve.debuggable,
                  "Let debuggers look into the process, and the system write core dumps of it; "
                  "both see keys, tokens and what is looked up");
  serve->callback([line, roles] {
    const ServeOptions& given = line->serve;
    line->status =
        Serve(line->common, given, roles->count() > 0 ? std::optional(given.roles) : std::nullopt);
  });
}

void AddMigrate(CLI::App& app, CommandLine* line) {
  CLI::App* migrate = app.add_subcommand("migrate", "Bring the database's schema up to date");
  AddConfig(migrate, &line->common);
  migrate->callback([line] { line->status = RunMigrate(line->common); });
}

void AddDemo(CLI::App& app, CommandLine* line) {
  CLI::App* demo = app.add_subcommand(
      "demo", "Show everything at work, on a private PostgreSQL; needs no configuration");
  DemoOptions& options = line->demo;
  demo->add_flag("--once", options.once, "End after the story; 0 only if every step was seen");
  demo->add_option("--dir", options.dir, "Where the data is kept")
      ->take_last()
      ->capture_default_str();
  demo->add_option("--api-port", options.api_port, "Default 8080; 0: any free one")
      ->take_last()
      ->check(CLI::Range(0, 65535));
  demo->add_option("--admin-port", options.admin_port, "Default 9464; 0: any free one")
      ->take_last()
      ->check(CLI::Range(0, 65535));
  const std::map<std::string, ReceiverMode> modes = {{"honest", ReceiverMode::kHonest},
                                                     {"refuse", ReceiverMode::kRefuse},
                                                     {"wrong-key", ReceiverMode::kWrongKey}};
  demo->add_option_function<std::string>(
          "--receiver",
          [&options, modes](const std::string& mode) { options.receiver = modes.at(mode); },
          "How the receiver behaves: honest; refuse or wrong-key make the story fail")
      ->take_last()
      ->check(CLI::IsMember({"honest", "refuse", "wrong-key"}));
  demo->add_option("--only", options.only, "Tell one chapter, and those that it goes on from")
      ->take_last()
      ->check(CLI::IsMember(DemoChapters()));
  demo->callback([line] {
    const StopSignals signals;
    line->status = RunDemo(line->demo, config::ProcessEnvironment(), signals);
  });
}

void AddProbe(CLI::App& app, CommandLine* line) {
  CLI::App* probe = app.add_subcommand("probe", "Try a probe on one row and print what it sees");
  AddConfig(probe, &line->common);
  ProbeOptions& options = line->probe;
  const auto pairs = [probe](const char* name, std::vector<std::string>* to, const char* help) {
    return probe->add_option(name, *to, help)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  probe->add_option("--url", options.url, "The row's page");
  pairs("--watch", &options.watches, "name=description, for example 'title=css:h1'; repeatable")
      ->required();
  pairs("--subject", &options.subject, "name=value, a column of the row; repeatable");
  pairs("--known", &options.known,
        "name=value, what is known of a field, to compare with; repeatable");
  probe->add_option("--tier", options.tier, "Whose probe: micro, low, medium, high or xhigh")
      ->capture_default_str()
      ->check(CLI::IsMember({"micro", "low", "medium", "high", "xhigh"}));
  probe
      ->add_option(
          "--render", options.render,
          "Whether a browser runs the page's scripts: never, auto or always, in place of what the "
          "tier says")
      ->check(CLI::IsMember({"never", "auto", "always"}));
  probe->add_option("--wait-for", options.wait_for,
                    "A CSS selector: a rendered page is read when it matches");
  probe->add_option("--steps", options.steps,
                    "A file of JSON: steps that are made on the page first, and their secrets");
  probe->callback([line] { line->status = Probe(line->common, line->probe); });
}

void AddLookup(CLI::App& app, CommandLine* line) {
  CLI::App* lookup = app.add_subcommand(
      "lookup", "Try a lookup of one person, without a database, and print answer and tries");
  AddConfig(lookup, &line->common);
  LookupOptions& options = line->lookup;
  lookup->add_option("--kind", options.once.kind, "find_email, reverse_email or verify_age")
      ->capture_default_str()
      ->check(CLI::IsMember({"find_email", "reverse_email", "verify_age"}));
  lookup
      ->add_option("--lead", options.lead,
                   "key=value of the lead, for example 'name=Ada Lovelace'; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->required();
  lookup
      ->add_option("--providers", options.once.providers,
                   "Who is asked, in this order: a,b; default: as configured")
      ->delimiter(',');
  lookup->add_option("--mode", options.once.mode, "Of find_email: PROFESSIONAL or PERSONAL")
      ->capture_default_str()
      ->check(CLI::IsMember({"PROFESSIONAL", "PERSONAL"}));
  lookup->callback([line] { line->status = Lookup(line->common, line->lookup); });
}

void AddVerify(CLI::App& app, CommandLine* line) {
  CLI::App* verify =
      app.add_subcommand("verify", "Check a webhook's signature; the body comes on standard input");
  VerifyOptions& options = line->verify;
  verify->add_option("--secret", options.secret, "Better in SIGNING_SECRET: others see arguments")
      ->envname("SIGNING_SECRET");
  verify->add_option("--secret-file", options.secret_file,
                     "A file with the signing secret, whole, in its first line");
  verify->add_option("--header", options.header, "The value of Service-Signature")->required();
  verify->add_option("--now", options.now, "The receiver's clock, in Unix seconds; default: now");
  verify->callback([line] { line->status = Verify(line->verify); });
}

// `ctl email doctor`, which asks no admin port (as `ctl org-move`): what it examines is the machine
// on which it runs.
void AddEmailDoctor(CLI::App& app, CommandLine* line) {
  CLI::App* doctor = app.get_subcommand("ctl")->get_subcommand("email")->add_subcommand(
      "doctor", "Say whether mail servers will talk to this machine, and what to do");
  AddConfig(doctor, &line->common);
  doctor->add_option("--to", line->doctor.to, "Verify this address; may be given several times");
  doctor->add_flag_callback(
      "--json", [line] { line->doctor.print = EmailDoctorOptions::Print::kJson; }, "Print JSON");
  doctor->callback([line] { line->status = EmailDoctor(line->common.Load(), line->doctor); });
}

void AddAssertion(CLI::App& app, CommandLine* line) {
  CLI::App* assertion =
      app.add_subcommand("assertion", "Print an assertion of an OAuth client, good for a minute");
  AssertionOptions& options = line->assertion;
  assertion->add_option("--client-id", options.client_id, "The client's id")->required();
  assertion->add_option("--key", options.key_file, "The file of its private key, PEM")->required();
  assertion->add_option("--aud", options.audience, "The URL of the API, or of the endpoint")
      ->required();
  assertion->add_option("--kid", options.kid, "The key's id; without it each key is tried");
  assertion->callback([line] {
    fmt::print("{}\n", MakeAssertion(line->assertion));
    line->status = kDone;
  });
}

void AddConfigCommand(CLI::App& app, CommandLine* line) {
  CLI::App* command =
      app.add_subcommand("config", "Print every key of the configuration with its default value");
  AddConfig(command, &line->common);
  command->add_flag("--check", line->config.check,
                    "Check the file of --config and the environment instead, as serve would");
  command->add_option("--cells", line->config.cells_file, "With --check: the file of serve --cells")
      ->envname("VEDETTE_CELLS_FILE");
  command->callback([line] { line->status = ShowConfig(line->common, line->config); });
}

std::string VersionLine() {
  return "vedette " + base::VersionAndCommit();
}

void AddVersion(CLI::App& app, CommandLine* line) {
  CLI::App* command =
      app.add_subcommand("version", "Print the version and the commit of the build");
  command->callback([line] {
    fmt::print("{}\n", VersionLine());
    line->status = kDone;
  });
}

// What was printed is written by now, or the command has not done what it was for: a key that is
// shown once would be lost behind a 0. The sentence is the one of fmt::print, which finds a long
// text's failure by itself.
int WithOutput(int status) {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (status != kDone || written) return status;
  // What failed before has left no reason.
  const std::string reason = errno == 0 ? "" : fmt::format(": {}", std::strerror(errno));
  throw std::runtime_error("cannot write to file" + reason);
}

int Main(int argc, char** argv) {
  CLI::App app{
      "vedette watches rows: it checks them on a schedule, records what changed and sends signed "
      "webhooks."};
  app.name("vedette");
  app.set_version_flag("--version", VersionLine());
  app.require_subcommand(1);
  CommandLine line;
  AddServe(app, &line);
  AddMigrate(app, &line);
  AddDemo(app, &line);
  Ctl ctl;
  ctl.AddTo(app, &line.status);
  AddEmailDoctor(app, &line);
  AddOrgMove(app, &line.status);
  AddProbe(app, &line);
  AddLookup(app, &line);
  AddVerify(app, &line);
  AddAssertion(app, &line);
  AddConfigCommand(app, &line);
  AddVersion(app, &line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = error.get_exit_code() == 0 ? "" : UnknownWord(app, argc, argv);
    if (!unknown.empty()) {
      fmt::print(stderr, "vedette: {}\nRun with --help for more information.\n", unknown);
      return kWrongUse;
    }
    return app.exit(error) == 0 ? WithOutput(kDone) : kWrongUse;
  }
  return WithOutput(line.status);
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
