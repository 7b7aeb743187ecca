// Verifies addresses as a worker does, without a database: the tests of real mail servers and the
// benchmark ask by it.
//
//   mail_verify --dns 127.0.0.1:5353 --port 2525 [--per-domain N] [--connections N] [--linger MS]
//       < addresses, one a line    > "address status reason" in the order of the input
//
// All addresses are asked at once. Loopback is allowed here alone.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "config/lookup_config.h"
#include "config/parts.h"
#include "worker/providers/mail/mail_server_memory.h"
#include "worker/providers/mail/verifiers.h"

namespace vedette {
namespace {

using namespace std::chrono_literals;

// The memory of one run; it remembers what it learnt of their domains.
class RunMemory final : public app::OpenMailServerMemory {
 public:
  explicit RunMemory(base::EventLoop& loop) : OpenMailServerMemory(loop), loop_(loop) {}
  void ReadDomain(const std::string& domain,
                  std::function<void(std::optional<domain::MailDomainFacts>)> done) override {
    const auto found = domains_.find(domain);
    auto facts = found == domains_.end() ? std::nullopt : std::optional(found->second);
    loop_.Post([done = std::move(done), facts = std::move(facts)] { done(facts); });
  }
  void SaveDomain(const domain::MailDomainFacts& facts) override { domains_[facts.domain] = facts; }

 private:
  base::EventLoop& loop_;
  std::map<std::string, domain::MailDomainFacts> domains_;
};

std::string Said(const worker::LookupAnswer& answer) {
  const auto* later = std::get_if<worker::Later>(&answer);
  const auto& verdict =
      later != nullptr ? later->verdict : std::get<domain::AddressVerdict>(answer);
  constexpr const char* kStatus[] = {"OK", "UNKNOWN", "NOT_FOUND"};
  return std::string(kStatus[static_cast<std::size_t>(verdict.verdict)]) + " " +
         std::string(verdict.reason == domain::VerdictReason::kNone
                         ? "-"
                         : VerdictReasonName(verdict.reason)) +
         " " + std::to_string(verdict.evidence.address.code) + " " +
         std::to_string(verdict.evidence.control.code);
}

int Main(std::map<std::string, std::string> options) {
  config::Config config{};
  config::SmtpConfig& smtp = config.smtp;
  smtp.hello_name = "verify.example";
  smtp.mail_from = "postmaster@verify.example";
  smtp.ip = "4";
  smtp.port = std::stoi(options["--port"]);
  smtp.per_domain_hour = smtp.per_class_minute = smtp.per_day = 1'000'000;
  smtp.connections_per_class =
      options.contains("--connections") ? std::stoi(options["--connections"]) : 4;
  smtp.recipients_max = 16;
  smtp.refusals_max = 5;
  smtp.linger_ms = std::chrono::milliseconds(
      options.contains("--linger") ? std::stoi(options["--linger"]) : 200);
  smtp.connect_timeout_ms = 10s;
  smtp.banner_timeout_ms = smtp.reply_timeout_ms = 30s;
  smtp.connection_timeout_ms = 90s;
  std::vector<std::string> addresses;
  for (std::string line; std::getline(std::cin, line);) addresses.push_back(line);

  base::EventLoop loop;
  const base::SystemClock clock;
  metrics::Metrics metrics("tool");
  const net::AddressPolicy policy({"127.0.0.0/8"});
  net::Resolver names(loop, {options["--dns"]}, 5s, net::NameSources::kDnsOnly);
  RunMemory memory(loop);
  worker::SmtpVerifier verifier(loop, clock, metrics, policy, config, memory,
                                worker::NamesOf(names));
  std::vector<std::string> said(addresses.size());
  std::size_t left = addresses.size();
  loop.Post([&] {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      worker::LookupRequest request;
      request.lookup = worker::Lookup::kVerifyEmail;
      request.address = addresses[i];
      request.may_wait = false;
      request.timeout = 10min;
      verifier.Start(std::move(request), [&, i](const worker::LookupAnswer& answer) {
        said[i] = Said(answer);
        if (--left == 0) loop.Stop();
      });
    }
  });
  loop.Run();
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    std::printf("%s %s\n", addresses[i].c_str(), said[i].c_str());
  }
  return 0;
}

}  // namespace
}  // namespace vedette

int main(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  return vedette::Main(std::move(options));
}
