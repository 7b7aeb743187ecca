#include "app/email_doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "app/mail_check.h"
#include "app/open_mail_book.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/json.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "net/resolver.h"
#include "worker/providers/mail/smtp_verifier.h"

namespace vedette::app {
namespace {

using worker::LookupAnswer;

constexpr std::chrono::seconds kNamesTimeout{15};
constexpr std::chrono::minutes kVerifyTimeout{5};

std::vector<LookupAnswer> Verify(const config::Config& config,
                                 const std::vector<std::string>& addresses) {
  const base::SystemClock clock;
  base::EventLoop loop;
  const net::AddressPolicy policy(config.net.allow);
  net::Resolver names(loop, config.net.dns_servers, kNamesTimeout, net::NameSources::kDnsOnly);
  metrics::Metrics metrics(VEDETTE_VERSION);
  OpenMailServerMemory mail_servers(loop);
  worker::SmtpVerifier verifier(loop, clock, metrics, policy, config, mail_servers,
                                worker::NamesOf(names));
  std::vector<LookupAnswer> answers(addresses.size());
  std::size_t left = addresses.size();
  loop.Post([&] {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      worker::LookupRequest request;
      request.lookup = worker::Lookup::kVerifyEmail;
      request.address = addresses[i];
      request.timeout = kVerifyTimeout;
      verifier.Start(std::move(request), [&, i](LookupAnswer answer) {
        answers[i] = std::move(answer);
        if (--left == 0) loop.Stop();
      });
    }
  });
  loop.Run();
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
  const base::SystemClock clock;
  const std::vector<MailCheck> checks = ExamineMail(config, clock)->Run();
  base::Json out = {{"checks", MailChecksJson(checks)}, {"verified", base::Json::array()}};
  const bool failed = std::any_of(checks.begin(), checks.end(), [](const MailCheck& check) {
    return check.health == MailHealth::kFail;
  });
  if (!options.to.empty() && !config.smtp.hello_name.empty()) {
    const std::vector<LookupAnswer> answers = Verify(config, options.to);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      out["verified"].push_back(AnswerJson(options.to[i], answers[i]));
    }
  }
  if (options.print == EmailDoctorOptions::Print::kJson) {
    fmt::print("{}\n", out.dump(2, ' ', false, base::Json::error_handler_t::replace));
    return failed ? 1 : 0;
  }
  for (const MailCheck& check : checks) {
    fmt::print("{:4}  {:28}  {}\n", MailHealthName(check.health), check.name, check.message);
  }
  for (const base::Json& one : out["verified"]) fmt::print("{}\n", one.dump());
  return failed ? 1 : 0;
}

}  // namespace vedette::app
