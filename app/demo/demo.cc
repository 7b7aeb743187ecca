#include "app/demo/demo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "app/demo/demo_mail.h"
#include "app/demo/demo_output.h"
#include "app/demo/demo_servers.h"
#include "app/demo/demo_story.h"
#include "app/json_client.h"
#include "app/private_postgres.h"
#include "app/probe_set.h"
#include "app/service.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/auth_config.h"
#include "config/limits_config.h"
#include "config/server_config.h"
#include "net/http_server.h"

namespace vedette::app {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kFrequency{2};
constexpr std::chrono::seconds kFrequencyIdle{10};
constexpr const char* kLoopback = "127.0.0.0/8";
constexpr const char* kDemoJson = "demo.json";
const std::string kApiListen = "127.0.0.1:8080";  // unless it is given another

std::string SystemNameServers() {
  std::ifstream file("/etc/resolv.conf");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return fmt::format("{}", fmt::join(NameServersOf(text), ","));
}

// The reader's environment, over it what the demo cannot do without, and below it the demo's
// defaults.
config::Environment DemoEnvironment(config::Environment environment, const DemoOptions& options,
                                    const DemoState& state, const std::string& database_url,
                                    const DemoMail& mail) {
  environment["VEDETTE_DATABASE_URL"] = database_url;
  environment.erase("VEDETTE_DATABASE_URL_FILE");
  std::string& allow = environment["VEDETTE_NET_ALLOW"];
  allow += (allow.empty() ? "" : ",") + std::string(kLoopback);
  if (options.api_port) {
    // Links in e-mail name the port, and so it is chosen before the API listens.
    const int port = *options.api_port == 0 ? DemoMail::FreePort() : *options.api_port;
    environment["VEDETTE_API_LISTEN"] = fmt::format("127.0.0.1:{}", port);
  }
  if (options.admin_port) {
    environment["VEDETTE_ADMIN_LISTEN"] = fmt::format("127.0.0.1:{}", *options.admin_port);
  }
  // The demo's companies have a mail server and a DNS of their own; every other name is asked where
  // it would be asked without the demo.
  environment["VEDETTE_EMAIL_SMTP_PORT"] = std::to_string(mail.smtp_port());
  const std::string given = environment["VEDETTE_NET_DNS_SERVERS"];
  environment["VEDETTE_NET_DNS_SERVERS"] =
      mail.dns_server() + "," + (given.empty() ? SystemNameServers() : given);
  // What is told by e-mail goes to the demo's own relay.
  environment["VEDETTE_MAIL_RELAY"] = fmt::format("smtp://127.0.0.1:{}", mail.smtp_port());
  environment["VEDETTE_MAIL_FROM"] = "vedette@demo.example";
  environment.erase("VEDETTE_MAIL_PASSWORD");
  environment.erase("VEDETTE_MAIL_PASSWORD_FILE");
  const auto by_default = [&environment](const char* name, const std::string& value) {
    if (!environment.contains(name) && !environment.contains(std::string(name) + "_FILE")) {
      environment[name] = value;
    }
  };
  by_default("VEDETTE_SECURITY_ENCRYPTION_KEY", state.encryption_key);
  by_default("VEDETTE_ADMIN_TOKEN", state.admin_token);
  by_default("VEDETTE_EMAIL_SMTP_HELLO_NAME", "demo.vedette.example");
  // Its mail servers are its own: nobody else's are asked whether they talk to this machine.
  by_default("VEDETTE_EMAIL_SMTP_DOCTOR_DOMAINS", "");
  by_default("VEDETTE_EMAIL_SMTP_DOCTOR_LISTS", "");
  const auto listen = environment.find("VEDETTE_API_LISTEN");
  by_default("VEDETTE_API_PUBLIC_URL",
             "http://" + (listen == environment.end() ? kApiListen : listen->second));
  by_default("VEDETTE_DASHBOARD_ENABLED", "true");
  by_default("VEDETTE_LIMITS_FREQUENCY_MIN", "1s");
  by_default("VEDETTE_LOG_LEVEL", "warn");
  // Without a browser nothing asks for one.
  if (access("/usr/bin/chromium", X_OK) == 0) by_default("VEDETTE_PROBES_DEFAULT_RENDER", "auto");
  return environment;
}

std::unique_ptr<net::HttpServer> Serve(const config::Config& config, int port,
                                       net::HttpService& service, const base::Logger& log) {
  config::HttpServerConfig server = config.api;
  server.listen = fmt::format("127.0.0.1:{}", port);
  auto made = std::make_unique<net::HttpServer>(server, service, log);
  made->Start();
  return made;
}

// On the port of the last run, or on any where that is taken.
std::unique_ptr<net::HttpServer> ServeAgain(const config::Config& config, int port,
                                            net::HttpService& service, const base::Logger& log) {
  try {
    return Serve(config, port, service, log);
  } catch (const std::runtime_error&) {
    if (port == 0) throw;
    return Serve(config, 0, service, log);
  }
}

base::LogLevel LevelOf(const std::string& name) {
  if (name == "trace") return base::LogLevel::kTrace;
  if (name == "debug") return base::LogLevel::kDebug;
  if (name == "info") return base::LogLevel::kInfo;
  return name == "error" ? base::LogLevel::kError : base::LogLevel::kWarn;
}

// A file that is there as long as this object.
class Announcement {
 public:
  Announcement(fs::path path, const base::Json& json) : path_(std::move(path)) {
    WritePrivateFile(path_, json.dump(2) + "\n");
  }
  ~Announcement() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

 private:
  fs::path path_;
};

// One run. The members are destroyed in reverse: what uses a thing stands below it.
class Demo {
 public:
  Demo(const DemoOptions& options, const StopSignals& signals)
      : options_(options),
        signals_(signals),
        narrator_(Narrator::ForStandardOutput()),
        receiver_(options.receiver, clock_) {}

  int Run(const config::Environment& environment);

 private:
  void StartPostgres();
  void StartService(const config::Environment& environment);
  int Tell();
  void TellWhatToDo(const StepFailed& error);
  base::Json Announce() const;
  void ShowAddresses(const base::Json& announced);
  // Those of what goes on after the story.
  void ShowServers(const base::Json& announced);
  // An invitation to the demo's organisation; empty where the service makes none.
  std::string DashboardLink();
  bool ServiceFailed();
  void Save() {
    state_.site = site_.Save();
    SaveDemoState(dir_, state_);
  }

  const DemoOptions& options_;
  const StopSignals& signals_;
  base::SystemClock clock_;
  Narrator narrator_;
  fs::path dir_;
  DemoState state_;
  DemoSite site_;
  DemoReceiver receiver_;
  DemoMail mail_;
  std::unique_ptr<PrivatePostgres> postgres_;
  config::Config config_;
  std::unique_ptr<base::Logger> log_;
  std::unique_ptr<net::HttpServer> site_server_;
  std::unique_ptr<net::HttpServer> receiver_server_;
  bool site_moved_ = false;
  std::unique_ptr<BlockingHttp> http_;
  std::unique_ptr<Service> service_;
};

int Demo::Run(const config::Environment& environment) {
  // Wrong configuration is told before anything is started. The demo's own secrets, which are not
  // made yet, have stand-ins.
  DemoState stand_in;
  stand_in.admin_token = "-";
  stand_in.encryption_key = std::string(64, '0');
  config::LoadConfig(std::nullopt,
                     DemoEnvironment(environment, options_, stand_in, "postgresql:///", mail_));
  narrator_.Title("vedette demo: company pages are watched, and you see what comes of it");
  narrator_.Note(options_.once ? "takes about 15 seconds, then ends"
                               : "takes about 15 seconds, then stays up until Ctrl-C");
  int status = 1;
  try {
    fs::create_directories(options_.dir);
    dir_ = fs::canonical(options_.dir);
    StartPostgres();
    StartService(environment);
    status = Tell();
  } catch (const Interrupted&) {
    narrator_.Blank();
    narrator_.Note("stopped before the story was over");
    status = options_.once ? 1 : 0;
  } catch (const config::ConfigError&) {
    throw;
  } catch (const fs::filesystem_error& error) {
    narrator_.Failed(fmt::format("cannot use {}: {}; choose another directory with --dir",
                                 error.path1().native(), error.code().message()));
  } catch (const std::exception& error) {
    narrator_.Blank();
    narrator_.Failed(error.what());
  }
  if (!options_.once) narrator_.Note("stopping: checks and deliveries in flight finish first");
  if (service_) service_->Stop();
  if (receiver_server_) receiver_server_->Stop();
  if (site_server_) site_server_->Stop();
  if (postgres_) postgres_->Stop();
  return status;
}

void Demo::StartPostgres() {
  const auto start = std::chrono::steady_clock::now();
  PrivatePostgresOptions options;
  options.say = [this](std::string_view sentence) { narrator_.Note(sentence); };
  postgres_ = std::make_unique<PrivatePostgres>(dir_, std::move(options));
  postgres_->Start();  // refuses a directory that another demo uses
  std::error_code ignored;
  fs::remove(dir_ / kDemoJson, ignored);  // a crash left it
  const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start);
  narrator_.Observed(fmt::format("a private PostgreSQL runs, its data in {} ({:.1f} s)",
                                 postgres_->data_dir().native(), took.count()));
  state_ = LoadDemoState(dir_);
  if (!state_.site.empty()) site_.Load(state_.site);
}

void Demo::StartService(const config::Environment& environment) {
  const config::Environment mine =
      DemoEnvironment(environment, options_, state_, postgres_->Url(), mail_);
  config_ = config::LoadConfig(std::nullopt, mine);
  // What the reader's environment gave wins over what the last run kept.
  state_.admin_token = config_.admin_tokens.at("default");
  log_ = std::make_unique<base::Logger>(LevelOf(config_.log.level), config_.log.format == "json"
                                                                        ? base::LogFormat::kJson
                                                                        : base::LogFormat::kText);
  const bool is_current = Migrate(config_, *log_) == 0;
  narrator_.Observed(is_current ? "the schema is current" : "the schema is made");

  site_server_ = ServeAgain(config_, state_.site_port, site_, log_->For("demo site"));
  site_moved_ = state_.site_port != 0 && state_.site_port != site_server_->port();
  state_.site_port = site_server_->port();
  receiver_server_ =
      ServeAgain(config_, state_.receiver_port, receiver_, log_->For("demo receiver"));
  state_.receiver_port = receiver_server_->port();
  narrator_.Observed(fmt::format("a site of company pages at http://{}/", site_server_->address()));
  narrator_.Observed(fmt::format("a webhook receiver at http://{}{}", receiver_server_->address(),
                                 DemoReceiver::kPath));
  narrator_.Observed(
      fmt::format("a mail server on port {}, and the DNS that leads to it", mail_.smtp_port()));

  service_ = std::make_unique<Service>(config_, AllRoles(), clock_, *log_);
  try {
    service_->Start();
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    throw std::runtime_error(
        what.find("cannot listen") == std::string::npos
            ? what
            : what + "; stop what uses it, or choose other ports with --api-port and --admin-port");
  }
  narrator_.Observed(
      fmt::format("vedette serves all its roles, the API at http://{}", service_->api_address()));
  http_ = std::make_unique<BlockingHttp>(config_.net);
}

bool Demo::ServiceFailed() {
  std::string reason;
  if (!service_->Failed(&reason)) return false;
  throw std::runtime_error("the service gave up: " + reason);
}

int Demo::Tell() {
  const std::chrono::seconds floor = config_.limits.frequency_min.value_or(std::chrono::seconds(1));
  DemoStory story({.http = *http_,
                   .site = site_,
                   .receiver = receiver_,
                   .mail = mail_,
                   .state = state_,
                   .save_state = [this] { Save(); },
                   .narrator = narrator_,
                   .signals = signals_,
                   .clock = clock_,
                   .api = "http://" + service_->api_address(),
                   .admin = "http://" + service_->admin_address(),
                   .site_address = "http://" + site_server_->address(),
                   .receiver_address = "http://" + receiver_server_->address(),
                   .frequency = std::max(kFrequency, floor),
                   .frequency_idle = std::max(kFrequencyIdle, floor),
                   .price_mc = config_.prices_mc.at("low"),
                   .site_moved = site_moved_,
                   .rendering_lack = RenderingLack(config_),
                   .only = options_.only});
  int status = 0;
  try {
    story.SetUp();
    Save();
    story.Tell();
    narrator_.Blank();
    narrator_.Success("Every step was observed.");
  } catch (const StepFailed& error) {
    status = 1;
    Save();
    TellWhatToDo(error);
  }
  const base::Json announced = Announce();
  const Announcement announcement(dir_ / kDemoJson, announced);
  ShowAddresses(announced);
  if (!options_.once) story.StayUp([this] { return ServiceFailed(); });
  return status;
}

void Demo::TellWhatToDo(const StepFailed& error) {
  narrator_.Blank();
  narrator_.Failed(error.what());
  if (!options_.once) narrator_.Note("the service stays up, for you to look at what it says:");
  narrator_.Note(
      fmt::format("start the demo again, or begin from nothing: rm -r {}", options_.dir.native()));
}

base::Json Demo::Announce() const {
  return {{"api", "http://" + service_->api_address()},
          {"admin", "http://" + service_->admin_address()},
          {"admin_token", state_.admin_token},
          {"api_key", state_.api_key},
          {"org_id", state_.org_id},
          {"monitor_id", state_.monitor_id},
          {"signing_secret", state_.signing_secret},
          {"database_url", postgres_->Url()}};
}

void Demo::ShowAddresses(const base::Json& announced) {
  narrator_.Blank();
  if (!options_.once) ShowServers(announced);
  narrator_.Fact("data", fmt::format("{} (remove it to start from nothing)", dir_.native()));
  if (postgres_->data_dir().parent_path() != dir_) {
    narrator_.Fact("database", postgres_->data_dir().native());
  }
  if (!options_.once) {
    narrator_.Fact("keys", (dir_ / kDemoJson).native());
    narrator_.Blank();
    narrator_.Note("The site goes on changing; Ctrl-C stops everything, the next start continues.");
  }
}

void Demo::ShowServers(const base::Json& announced) {
  narrator_.Fact("API", announced["api"].get<std::string>());
  if (!state_.monitor_id.empty()) {
    narrator_.Fact("try", fmt::format("curl -H 'x-api-key: {}' {}/monitors/{}/rows", state_.api_key,
                                      announced["api"].get<std::string>(), state_.monitor_id));
  }
  narrator_.Fact("console", fmt::format("{}/  (token {})", announced["admin"].get<std::string>(),
                                        state_.admin_token));
  if (const std::string link = DashboardLink(); !link.empty()) narrator_.Fact("dashboard", link);
  narrator_.Fact("site", fmt::format("http://{}/", site_server_->address()));
}

std::string Demo::DashboardLink() {
  if (!config_.dashboard.enabled || state_.org_id.empty()) return {};
  JsonClient admin(*http_, "http://" + service_->admin_address(),
                   {"Authorization", "Bearer " + state_.admin_token});
  const auto made = admin.Call("POST", "/admin/v1/orgs/" + state_.org_id + "/invitations",
                               base::Json{{"email", "visitor@demo.example"}, {"role", "owner"}});
  if (made.status != 201) return {};
  const std::string link = made.body["link"];
  // A browser keeps the session's cookie over http where the host is localhost.
  const std::string api = service_->api_address();
  return "http://localhost" + api.substr(api.rfind(':')) + link.substr(link.find("/dashboard"));
}

}  // namespace

std::vector<std::string> DemoChapters() {
  return DemoStory::ChapterNames();
}

int RunDemo(const DemoOptions& options, const config::Environment& environment,
            const StopSignals& signals) {
  return Demo(options, signals).Run(environment);
}

}  // namespace vedette::app
