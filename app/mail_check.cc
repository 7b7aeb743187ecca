#include "app/mail_check.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/event_loop.h"
#include "base/json.h"
#include "config/lookup_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "domain/email/address.h"
#include "net/dns_records.h"
#include "net/public_address.h"
#include "net/resolver.h"
#include "net/smtp/connection.h"

namespace vedette::app {
namespace {

constexpr std::size_t kMxTriedMax = 2;  // of a domain, for its banner

class Examination final : public MailExamination {
 public:
  Examination(const config::Config& config, const base::Clock& clock)
      : clock_(clock),
        smtp_(config.smtp),
        policy_(config.net.allow),
        names_(loop_, config.net.dns_servers, net::kNamesTimeout, net::NameSources::kDnsOnly) {}

  std::vector<MailCheck> Run() override;
  void Stop() override {
    stopped_ = true;
    loop_.Stop();
  }

 private:
  // Stop was called.
  struct Stopped {};

  // Runs the loop until `start` has called back.
  template <typename T>
  T Await(const std::function<void(std::function<void(T)>)>& start) {
    // What comes behind the end of this call is dropped.
    const auto value = std::make_shared<std::optional<T>>();
    if (stopped_) throw Stopped();
    loop_.Post([&] {
      start([this, value](T result) {
        if (*value) return;  // a reply, and then the end of its connection
        *value = std::move(result);
        loop_.Stop();
      });
    });
    loop_.Run();
    if (!*value) throw Stopped();
    return std::move(**value);
  }
  net::ResolveResult Addresses(const std::string& host) {
    return Await<net::ResolveResult>([&](auto done) { names_.Resolve(host, std::move(done)); });
  }
  net::MxChoice MxOf(const std::string& domain) {
    const auto answer = Await<net::DnsRecords<net::MxRecord>>(
        [&](auto done) { names_.QueryMx(domain, std::move(done)); });
    return ChooseMx(answer, kMxTriedMax, random_);
  }
  // The reply of the host's port, or how it failed.
  std::variant<net::SmtpReply, net::SmtpFault> Banner(const net::IpAddress& address);

  void LookAtAll();
  void CheckName();
  void CheckOutgoingAddress();
  void CheckReverseName(const net::IpAddress& address);
  void CheckPort(const std::string& domain);
  void CheckSender();
  void CheckList(const std::string& list, const net::IpAddress& address);
  void Say(std::string name, MailHealth health, std::string message) {
    checks_.push_back({std::move(name), health, std::move(message)});
  }

  const base::Clock& clock_;
  const config::SmtpConfig& smtp_;
  const net::AddressPolicy policy_;
  base::EventLoop loop_;
  net::Resolver names_;
  std::mt19937 random_{std::random_device{}()};
  std::vector<MailCheck> checks_;
  std::optional<net::IpAddress> outgoing_;
  std::atomic<bool> stopped_ = false;
};

void Examination::CheckName() {
  if (smtp_.hello_name.empty()) {
    return Say("hello_name", MailHealth::kFail,
               "[email.smtp] hello_name is not set: this process does not serve the lane smtp. Set "
               "it to this machine's full name.");
  }
  if (Addresses(smtp_.hello_name).addresses.empty()) {
    return Say("hello_name", MailHealth::kFail,
               fmt::format("{} does not resolve. Give it an A record with the outgoing address.",
                           smtp_.hello_name));
  }
  Say("hello_name", MailHealth::kOk, smtp_.hello_name + " resolves.");
}

void Examination::CheckOutgoingAddress() {
  outgoing_ =
      smtp_.public_address.empty() ? std::nullopt : net::IpAddress::Parse(smtp_.public_address);
  const auto somewhere = net::IpAddress::Parse("192.88.99.1");  // any public address does
  if (!outgoing_) outgoing_ = net::LocalAddressTowards(*somewhere);
  if (!outgoing_) {
    return Say("outgoing_address", MailHealth::kFail, "This machine has no route to the internet.");
  }
  if (!net::IsPublicAddress(*outgoing_)) {
    return Say(
        "outgoing_address", MailHealth::kWarn,
        outgoing_->ToString() +
            " is not public. Behind a router, set [email.smtp] public_address to the address "
            "that servers see.");
  }
  Say("outgoing_address", MailHealth::kOk, outgoing_->ToString() + " is public.");
}

void Examination::CheckReverseName(const net::IpAddress& address) {
  const auto answer = Await<net::DnsRecords<std::string>>(
      [&](auto done) { names_.QueryPtr(address, std::move(done)); });
  if (answer.records.empty()) {
    return Say("reverse_name", MailHealth::kFail,
               fmt::format("{} has no reverse name. Ask the owner of the address to set it to {}; "
                           "many servers refuse those without one.",
                           address.ToString(), smtp_.hello_name));
  }
  const std::string& name = answer.records.front();
  const auto back = Addresses(name).addresses;
  if (std::find(back.begin(), back.end(), address) == back.end()) {
    return Say("reverse_name", MailHealth::kFail,
               fmt::format("{} is called {}, which does not resolve back to it.",
                           address.ToString(), name));
  }
  if (domain::ParseDomain(name) != domain::ParseDomain(smtp_.hello_name)) {
    return Say("reverse_name", MailHealth::kWarn,
               fmt::format("{} is called {}, not {}. Make [email.smtp] hello_name and the reverse "
                           "name the same.",
                           address.ToString(), name, smtp_.hello_name));
  }
  Say("reverse_name", MailHealth::kOk, name + " resolves back.");
}

std::variant<net::SmtpReply, net::SmtpFault> Examination::Banner(const net::IpAddress& address) {
  using Result = std::variant<net::SmtpReply, net::SmtpFault>;
  const net::TlsContext tls;
  std::unique_ptr<net::SmtpConnection> connection;
  net::SmtpTarget target;
  target.peer = {address, smtp_.port};
  const net::SmtpTimes times{smtp_.connect_timeout_ms, smtp_.banner_timeout_ms,
                             smtp_.reply_timeout_ms, smtp_.connection_timeout_ms};
  Result result = Await<Result>([&](const auto& done) {
    net::SmtpConnection::Events events;
    events.reply = [done](const net::SmtpReply& reply) { done(reply); };
    events.secured = [] {};
    events.failed = [done](net::SmtpFault fault) { done(fault); };
    connection = std::make_unique<net::SmtpConnection>(loop_, tls, policy_, target, times,
                                                       std::move(events));
  });
  connection.reset();
  return result;
}

void Examination::CheckPort(const std::string& domain) {
  const std::string name = "port_" + std::to_string(smtp_.port) + " " + domain;
  const net::MxChoice choice = MxOf(domain);
  for (const std::string& host : choice.hosts) {
    for (const net::IpAddress& address : Addresses(host).addresses) {
      if (address.v6 || !policy_.Allows(address)) continue;
      const auto banner = Banner(address);
      const auto* reply = std::get_if<net::SmtpReply>(&banner);
      if (reply == nullptr) {
        return Say(name, MailHealth::kFail,
                   fmt::format("{} does not answer. Most clouds close port 25: ask the provider to "
                               "open it, or set [email.smtp] proxy to a machine that may use it.",
                               host));
      }
      if (reply->code != 220) {
        return Say(name, MailHealth::kFail, fmt::format("{} refuses with {}.", host, reply->code));
      }
      return Say(name, MailHealth::kOk, host + " answers.");
    }
  }
  Say(name, MailHealth::kWarn, "No mail host of the domain could be looked up.");
}

void Examination::CheckSender() {
  const std::string from =
      smtp_.mail_from.empty() ? "postmaster@" + smtp_.hello_name : smtp_.mail_from;
  const auto address = domain::ParseAddress(from);
  if (!address) return Say("mail_from", MailHealth::kFail, "[email.smtp] mail_from is no address.");
  if (MxOf(address->domain).kind != net::MxKind::kHosts) {
    return Say(
        "mail_from", MailHealth::kFail,
        address->domain + " has no MX record: servers refuse senders that cannot be answered.");
  }
  const auto texts = Await<net::DnsRecords<std::string>>(
      [&](auto done) { names_.QueryTxt(address->domain, std::move(done)); });
  const bool has_spf =
      std::any_of(texts.records.begin(), texts.records.end(),
                  [](const std::string& text) { return text.starts_with("v=spf1"); });
  if (!has_spf) {
    return Say("mail_from", MailHealth::kWarn,
               address->domain + " has no SPF record. Add one that names the outgoing address.");
  }
  Say("mail_from", MailHealth::kOk, address->domain + " has an MX and an SPF record.");
}

void Examination::CheckList(const std::string& list, const net::IpAddress& address) {
  const net::ResolveResult result = Addresses(net::ReverseLabels(address) + "." + list);
  if (result.addresses.empty()) {
    return Say("list " + list, result.missing ? MailHealth::kOk : MailHealth::kWarn,
               result.missing ? "The address is not listed." : "The list does not answer.");
  }
  const auto refuses = net::Cidr::Parse("127.255.255.0/24");
  if (refuses->Contains(result.addresses.front())) {
    return Say("list " + list, MailHealth::kWarn,
               "The list refuses this resolver. Use a resolver of your own: [net] dns_servers.");
  }
  Say("list " + list, MailHealth::kFail,
      fmt::format("{} is listed. Ask {} why, and have it removed.", address.ToString(), list));
}

void Examination::LookAtAll() {
  const auto until = clock_.SinceBoot() + kMailExaminationMax;
  std::size_t left_out = 0;
  const auto look = [&](const std::function<void()>& check) {
    if (clock_.SinceBoot() < until) {
      check();
    } else {
      ++left_out;
    }
  };
  look([&] { CheckName(); });
  look([&] { CheckOutgoingAddress(); });
  const bool is_public = outgoing_ && net::IsPublicAddress(*outgoing_);
  if (is_public) look([&] { CheckReverseName(*outgoing_); });
  for (const std::string& domain : smtp_.doctor_domains) look([&] { CheckPort(domain); });
  look([&] { CheckSender(); });
  for (const std::string& list : smtp_.doctor_lists) {
    if (is_public) look([&] { CheckList(list, *outgoing_); });
  }
  if (left_out > 0) {
    Say("time", MailHealth::kWarn,
        fmt::format("{} checks were left out, because the others took {} minutes. Does the DNS "
                    "answer?",
                    left_out, kMailExaminationMax.count()));
  }
}

std::vector<MailCheck> Examination::Run() {
  try {
    LookAtAll();
  } catch (const Stopped&) {
    // What was looked at until then is there.
  }
  return std::exchange(checks_, {});
}

}  // namespace

std::string_view MailHealthName(MailHealth health) {
  constexpr std::string_view kNames[] = {"ok", "warn", "fail"};
  return kNames[static_cast<std::size_t>(health)];
}

base::Json MailChecksJson(const std::vector<MailCheck>& checks) {
  base::Json json = base::Json::array();
  for (const MailCheck& check : checks) {
    json.push_back({{"check", check.name},
                    {"status", MailHealthName(check.health)},
                    {"message", check.message}});
  }
  return json;
}

std::unique_ptr<MailExamination> ExamineMail(const config::Config& config,
                                             const base::Clock& clock) {
  return std::make_unique<Examination>(config, clock);
}

namespace {

double ValueOf(MailHealth health) {
  constexpr double kWarning = 0.5;
  if (health == MailHealth::kWarn) return kWarning;
  return health == MailHealth::kOk ? 1 : 0;
}

// An examination that fails says so, and ends nothing but itself.
std::vector<MailCheck> RunToItsEnd(MailExamination& examination) {
  try {
    return examination.Run();
  } catch (const std::exception& error) {
    return {{"examination", MailHealth::kWarn, std::string("It ended early: ") + error.what()}};
  }
}

}  // namespace

MailWatch::MailWatch(base::EventLoop& loop, metrics::Metrics& metrics, base::Logger log,
                     Begin begin, std::chrono::milliseconds every)
    : loop_(loop),
      metrics_(metrics),
      log_(log),
      begin_(std::move(begin)),
      every_(every),
      timer_(loop, [this] { Examine(); }) {}

MailWatch::~MailWatch() {
  if (examination_) examination_->Stop();
  if (thread_.joinable()) thread_.join();
}

void MailWatch::Start() {
  timer_.Start(std::chrono::milliseconds(0), every_);
}

void MailWatch::Examine() {
  if (examination_) return;
  examination_ = begin_();
  // The thread touches nothing of this object: its last act is to hand over what it has seen.
  thread_ = std::thread([&loop = loop_, examination = examination_.get(),
                         note = live_.Guard([this](const std::vector<MailCheck>& checks) {
                           Note(checks);
                         })]() mutable {
    auto checks = RunToItsEnd(*examination);
    loop.Post([note = std::move(note), checks = std::move(checks)]() mutable { note(checks); });
  });
}

void MailWatch::Note(const std::vector<MailCheck>& checks) {
  thread_.join();
  examination_.reset();
  std::set<std::string> now;
  MailHealth worst = MailHealth::kOk;
  std::string failing;
  for (const MailCheck& check : checks) {
    now.insert(check.name);
    metrics_.SetEmailDoctor(check.name, ValueOf(check.health));
    worst = std::max(worst, check.health);
    if (check.health != MailHealth::kOk) failing += (failing.empty() ? "" : ", ") + check.name;
  }
  // What was not looked at this time is neither well nor ill.
  for (const std::string& name : shown_) {
    if (!now.contains(name)) metrics_.SetEmailDoctor(name, ValueOf(MailHealth::kWarn));
  }
  shown_.merge(now);
  seen_ = base::DumpJson(MailChecksJson(checks));
  if (std::exchange(worst_, worst) == worst) return;
  if (worst == MailHealth::kOk) {
    log_.Info("mail servers will talk to this machine");
  } else {
    log_.Warn("mail servers may not talk to this machine; see `vedette ctl email doctor`",
              {{"checks", failing}});
  }
}

}  // namespace vedette::app
