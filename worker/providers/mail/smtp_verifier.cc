#include "worker/providers/mail/smtp_verifier.h"

#include <utility>

#include "config/config.h"
#include "domain/email/address.h"
#include "domain/email/disposable_domains.h"
#include "domain/email/idn.h"
#include "domain/email/mail_class.h"
#include "net/smtp/socks5.h"

namespace vedette::worker {
namespace {

// The proxy is the operator's; it is given by its address, so that nothing has to be looked up.
std::optional<net::SmtpPeer> ProxyOf(const std::string& text) {
  const auto proxy = net::SocksProxy::Parse(text);
  if (!proxy) return std::nullopt;
  const auto address = net::IpAddress::Parse(proxy->host);
  if (!address) return std::nullopt;
  return net::SmtpPeer{*address, proxy->port};
}

domain::AddressVerdict AtOnce(const domain::AddressFacts& facts) {
  return JudgeAddress(facts);
}

}  // namespace

MailNames NamesOf(net::Resolver& resolver) {
  return {
      [&resolver](const std::string& domain, auto done) {
        resolver.QueryMx(domain, std::move(done));
      },
      [&resolver](const std::string& host, auto done) { resolver.Resolve(host, std::move(done)); }};
}

SmtpVerifier::SmtpVerifier(base::EventLoop& loop, const base::Clock& clock,
                           metrics::Metrics& metrics, const net::AddressPolicy& policy,
                           const config::Config& config, MailServerMemory& memory, MailNames names)
    : metrics_(metrics),
      shared_{MailExchange::Dependencies{loop, metrics, tls_, policy, config.smtp},
              clock,
              std::move(names),
              memory,
              ProxyOf(config.smtp.proxy),
              config.testing.mail_window_ms} {}

SmtpVerifier::~SmtpVerifier() = default;

void SmtpVerifier::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  domain::AddressFacts facts;
  facts.guess = request.guess;
  const auto address = domain::ParseAddress(request.address);
  const auto ascii = address ? domain::AsciiDomain(address->domain) : std::nullopt;
  const auto path = ascii ? net::SmtpPath::Of(*address, *ascii) : std::nullopt;
  if (!path) {
    facts.valid_syntax = false;
    return done(AtOnce(facts));
  }
  if (domain::IsDisposableDomain(*ascii)) {
    facts.disposable = true;
    return done(AtOnce(facts));
  }
  // An address that needs SMTPUTF8 changes what is said before it, so it has connections of its
  // own.
  const std::string key = *ascii + (path->needs_utf8() ? " utf8" : "");
  auto& queue = queues_[key];
  if (!queue) {
    queue = std::make_unique<MailDomainQueue>(shared_, *ascii, path->needs_utf8(), [this, key] {
      queues_.erase(key);
      ShowWaiting();
    });
    ShowWaiting();
  }
  queue->Push(
      {*path, request.guess, request.attempt, request.may_wait, request.timeout, std::move(done)});
}

void SmtpVerifier::ShowWaiting() {
  metrics_.SetSmtpWaiting("domains", static_cast<std::int64_t>(queues_.size()));
}

}  // namespace vedette::worker
