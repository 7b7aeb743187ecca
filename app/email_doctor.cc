#include "app/email_doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/json.h"
#include "domain/email/address.h"
#include "metrics/metrics.h"
#include "net/local_address.h"
#include "net/mx.h"
#include "net/public_address.h"
#include "net/resolver.h"
#include "net/smtp/connection.h"
#include "worker/providers/mail/smtp_verifier.h"

namespace vedette::app {
namespace {

using worker::LookupAnswer;

constexpr std::chrono::seconds kNamesTimeout{15};
constexpr std::chrono::minutes kVerifyTimeout{5};
constexpr std::size_t kMxTriedMax = 2;  // of a domain, for its banner

enum class Health : std::uint8_t { kOk, kWarn, kFail };

struct Check {
  std::string name;
  Health health = Health::kOk;
  std::string message;  // what was seen, and what to do about it
};

std::string_view HealthName(Health health) {
  constexpr std::string_view kNames[] = {"ok", "warn", "fail"};
  return kNames[static_cast<std::size_t>(health)];
}

// Every permit is there, and nothing is remembered: the doctor works without a database.
class OpenBook final : public worker::MailBook {
 public:
  explicit OpenBook(base::EventLoop& loop) : loop_(loop) {}
  void ReadDomain(const std::string&,
                  std::function<void(std::optional<domain::MailDomainFacts>)> done) override {
    loop_.Post([done = std::move(done)] { done(std::nullopt); });
  }
  void SaveDomain(const domain::MailDomainFacts&) override {}
  void Admit(const std::string&, const std::vector<store::MailPermit>&, int,
             std::function<void(store::MailAdmission)> done) override {
    store::MailAdmission admission;
    admission.granted = true;
    loop_.Post([done = std::move(done), admission] { done(admission); });
  }
  void Block(const std::string&, std::chrono::milliseconds, domain::VerdictReason,
             const std::string&) override {}
  void Unblock(const std::string&) override {}

 private:
  base::EventLoop& loop_;
};

class Doctor {
 public:
  explicit Doctor(const config::Config& config)
      : config_(config),
        smtp_(config.smtp),
        policy_(config.net.allow),
        names_(loop_, config.net.dns_servers, kNamesTimeout, net::NameSources::kDnsOnly) {}

  std::vector<Check> Examine();
  std::vector<LookupAnswer> Verify(const std::vector<std::string>& addresses);

 private:
  // Runs the loop until `start` has called back.
  template <typename T>
  T Await(const std::function<void(std::function<void(T)>)>& start) {
    std::optional<T> value;
    loop_.Post([&] {
      start([&](T result) {
        value = std::move(result);
        loop_.Stop();
      });
    });
    loop_.Run();
    return std::move(*value);
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

  void CheckName();
  void CheckOutgoingAddress();
  void CheckReverseName(const net::IpAddress& address);
  void CheckPort(const std::string& domain);
  void CheckSender();
  void CheckList(const std::string& list, const net::IpAddress& address);
  void Say(std::string name, Health health, std::string message) {
    checks_.push_back({std::move(name), health, std::move(message)});
  }

  const config::Config& config_;
  const config::SmtpConfig& smtp_;
  const net::AddressPolicy policy_;
  base::EventLoop loop_;
  net::Resolver names_;
  std::mt19937 random_{std::random_device{}()};
  std::vector<Check> checks_;
  std::optional<net::IpAddress> outgoing_;
};

void Doctor::CheckName() {
  if (smtp_.hello_name.empty()) {
    return Say("hello_name", Health::kFail,
               "[email.smtp] hello_name is not set: this process does not serve the lane smtp. Set "
               "it to this machine's full name.");
  }
  if (Addresses(smtp_.hello_name).addresses.empty()) {
    return Say("hello_name", Health::kFail,
               fmt::format("{} does not resolve. Give it an A record with the outgoing address.",
                           smtp_.hello_name));
  }
  Say("hello_name", Health::kOk, smtp_.hello_name + " resolves.");
}

void Doctor::CheckOutgoingAddress() {
  outgoing_ =
      smtp_.public_address.empty() ? std::nullopt : net::IpAddress::Parse(smtp_.public_address);
  const auto somewhere = net::IpAddress::Parse("192.88.99.1");  // any public address does
  if (!outgoing_) outgoing_ = net::LocalAddressTowards(*somewhere);
  if (!outgoing_) {
    return Say("outgoing_address", Health::kFail, "This machine has no route to the internet.");
  }
  if (!net::IsPublicAddress(*outgoing_)) {
    return Say(
        "outgoing_address", Health::kWarn,
        outgoing_->ToString() +
            " is not public. Behind a router, set [email.smtp] public_address to the address "
            "that servers see.");
  }
  Say("outgoing_address", Health::kOk, outgoing_->ToString() + " is public.");
}

void Doctor::CheckReverseName(const net::IpAddress& address) {
  const auto answer = Await<net::DnsRecords<std::string>>(
      [&](auto done) { names_.QueryPtr(address, std::move(done)); });
  if (answer.records.empty()) {
    return Say("reverse_name", Health::kFail,
               fmt::format("{} has no reverse name. Ask the owner of the address to set it to {}; "
                           "many servers refuse those without one.",
                           address.ToString(), smtp_.hello_name));
  }
  const std::string& name = answer.records.front();
  const auto back = Addresses(name).addresses;
  if (std::find(back.begin(), back.end(), address) == back.end()) {
    return Say("reverse_name", Health::kFail,
               fmt::format("{} is called {}, which does not resolve back to it.",
                           address.ToString(), name));
  }
  if (domain::ParseDomain(name) != domain::ParseDomain(smtp_.hello_name)) {
    return Say("reverse_name", Health::kWarn,
               fmt::format("{} is called {}, not {}. Make [email.smtp] hello_name and the reverse "
                           "name the same.",
                           address.ToString(), name, smtp_.hello_name));
  }
  Say("reverse_name", Health::kOk, name + " resolves back.");
}

std::variant<net::SmtpReply, net::SmtpFault> Doctor::Banner(const net::IpAddress& address) {
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

void Doctor::CheckPort(const std::string& domain) {
  const std::string name = "port_" + std::to_string(smtp_.port) + " " + domain;
  const net::MxChoice choice = MxOf(domain);
  for (const std::string& host : choice.hosts) {
    for (const net::IpAddress& address : Addresses(host).addresses) {
      if (address.v6 || !policy_.Allows(address)) continue;
      const auto banner = Banner(address);
      const auto* reply = std::get_if<net::SmtpReply>(&banner);
      if (reply == nullptr) {
        return Say(name, Health::kFail,
                   fmt::format("{} does not answer. Most clouds close port 25: ask the provider to "
                               "open it, or set [email.smtp] proxy to a machine that may use it.",
                               host));
      }
      if (reply->code != 220) {
        return Say(name, Health::kFail, fmt::format("{} refuses with {}.", host, reply->code));
      }
      return Say(name, Health::kOk, host + " answers.");
    }
  }
  Say(name, Health::kWarn, "No mail host of the domain could be looked up.");
}

void Doctor::CheckSender() {
  const std::string from =
      smtp_.mail_from.empty() ? "postmaster@" + smtp_.hello_name : smtp_.mail_from;
  const auto address = domain::ParseAddress(from);
  if (!address) return Say("mail_from", Health::kFail, "[email.smtp] mail_from is no address.");
  if (MxOf(address->domain).kind != net::MxKind::kHosts) {
    return Say(
        "mail_from", Health::kFail,
        address->domain + " has no MX record: servers refuse senders that cannot be answered.");
  }
  const auto texts = Await<net::DnsRecords<std::string>>(
      [&](auto done) { names_.QueryTxt(address->domain, std::move(done)); });
  const bool has_spf =
      std::any_of(texts.records.begin(), texts.records.end(),
                  [](const std::string& text) { return text.starts_with("v=spf1"); });
  if (!has_spf) {
    return Say("mail_from", Health::kWarn,
               address->domain + " has no SPF record. Add one that names the outgoing address.");
  }
  Say("mail_from", Health::kOk, address->domain + " has an MX and an SPF record.");
}

void Doctor::CheckList(const std::string& list, const net::IpAddress& address) {
  const net::ResolveResult result = Addresses(net::ReverseLabels(address) + "." + list);
  if (result.addresses.empty()) {
    return Say("list " + list, result.missing ? Health::kOk : Health::kWarn,
               result.missing ? "The address is not listed." : "The list does not answer.");
  }
  const auto refuses = net::Cidr::Parse("127.255.255.0/24");
  if (refuses->Contains(result.addresses.front())) {
    return Say("list " + list, Health::kWarn,
               "The list refuses this resolver. Use a resolver of your own: [net] dns_servers.");
  }
  Say("list " + list, Health::kFail,
      fmt::format("{} is listed. Ask {} why, and have it removed.", address.ToString(), list));
}

std::vector<Check> Doctor::Examine() {
  CheckName();
  CheckOutgoingAddress();
  if (outgoing_ && net::IsPublicAddress(*outgoing_)) CheckReverseName(*outgoing_);
  for (const std::string& domain : smtp_.doctor_domains) CheckPort(domain);
  CheckSender();
  if (outgoing_ && net::IsPublicAddress(*outgoing_)) {
    for (const std::string& list : smtp_.doctor_lists) CheckList(list, *outgoing_);
  }
  return std::exchange(checks_, {});
}

std::vector<LookupAnswer> Doctor::Verify(const std::vector<std::string>& addresses) {
  const base::SystemClock clock;
  metrics::Metrics metrics(VEDETTE_VERSION);
  OpenBook book(loop_);
  worker::SmtpVerifier verifier(loop_, clock, metrics, policy_, config_, book,
                                worker::NamesOf(names_));
  std::vector<LookupAnswer> answers(addresses.size());
  std::size_t left = addresses.size();
  loop_.Post([&] {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      worker::LookupRequest request;
      request.lookup = worker::Lookup::kVerifyEmail;
      request.address = addresses[i];
      request.timeout = kVerifyTimeout;
      verifier.Start(std::move(request), [&, i](LookupAnswer answer) {
        answers[i] = std::move(answer);
        if (--left == 0) loop_.Stop();
      });
    }
  });
  loop_.Run();
  return answers;
}

base::Json CodesJson(const domain::ReplyCodes& codes) {
  if (codes.code == 0) return nullptr;
  return {{"code", codes.code}, {"enhanced", codes.enhanced}};
}

base::Json AnswerJson(const std::string& address, const LookupAnswer& answer) {
  const auto* later = std::get_if<worker::Later>(&answer);
  const auto& verdict =
      later != nullptr ? later->verdict : std::get<domain::AddressVerdict>(answer);
  constexpr std::string_view kStatus[] = {"OK", "UNKNOWN", "NOT_FOUND"};
  base::Json json = base::Json::object();
  json["address"] = address;
  json["status"] = kStatus[static_cast<std::size_t>(verdict.verdict)];
  json["reason"] = VerdictReasonName(verdict.reason);
  json["later_s"] =
      later == nullptr
          ? base::Json(nullptr)
          : base::Json(std::chrono::duration_cast<std::chrono::seconds>(later->wait).count());
  json["mx"] = verdict.evidence.mx_host;
  json["reply"] = CodesJson(verdict.evidence.address);
  json["control"] = CodesJson(verdict.evidence.control);
  json["witness"] = CodesJson(verdict.evidence.witness);
  return json;
}

}  // namespace

int EmailDoctor(const config::Config& config, const EmailDoctorOptions& options) {
  Doctor doctor(config);
  const std::vector<Check> checks = doctor.Examine();
  base::Json out = {{"checks", base::Json::array()}, {"verified", base::Json::array()}};
  bool failed = false;
  for (const Check& check : checks) {
    failed = failed || check.health == Health::kFail;
    out["checks"].push_back(
        {{"check", check.name}, {"status", HealthName(check.health)}, {"message", check.message}});
  }
  if (!options.to.empty() && !config.smtp.hello_name.empty()) {
    const std::vector<LookupAnswer> answers = doctor.Verify(options.to);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      out["verified"].push_back(AnswerJson(options.to[i], answers[i]));
    }
  }
  if (options.print == EmailDoctorOptions::Print::kJson) {
    fmt::print("{}\n", out.dump(2, ' ', false, base::Json::error_handler_t::replace));
    return failed ? 1 : 0;
  }
  for (const Check& check : checks) {
    fmt::print("{:4}  {:28}  {}\n", HealthName(check.health), check.name, check.message);
  }
  for (const base::Json& one : out["verified"]) fmt::print("{}\n", one.dump());
  return failed ? 1 : 0;
}

}  // namespace vedette::app
