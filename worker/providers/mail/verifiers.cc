#include "worker/providers/mail/verifiers.h"

#include <cstdint>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>

#include "config/database_config.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "domain/email/address.h"
#include "domain/email/mail_host.h"
#include "domain/email/verdict.h"
#include "net/dns_records.h"

namespace vedette::worker {

using domain::AddressFacts;
using domain::MailDomainKind;

// One question goes through these, and is answered in any of them, or when its time is over:
//
//   facts of the fleet --> MX --> addresses, where there is no MX
struct DnsVerifier::Impl : std::enable_shared_from_this<DnsVerifier::Impl> {
  using AskId = std::uint64_t;
  struct Ask {
    std::string domain;  // A-labels
    std::function<void(LookupAnswer)> done;
    std::unique_ptr<base::Timer> timer;
  };

  Impl(base::EventLoop& l, const base::Clock& k, MailServerMemory& b, MailNames n)
      : loop(l), clock(k), memory(b), names(std::move(n)) {}

  void Begin(std::string domain, std::chrono::milliseconds timeout,
             std::function<void(LookupAnswer)> done);
  void OnFacts(AskId id, const std::optional<domain::MailDomainFacts>& facts);
  void OnMx(AskId id, const net::DnsRecords<net::MxRecord>& answer);
  void OnAddresses(AskId id, const net::ResolveResult& result);
  void Answer(AskId id, MailDomainKind kind);
  void AnswerFailed(AskId id, AddressFacts::Course course);
  void Finish(AskId id, LookupAnswer answer);

  // What comes when the question was answered, or this object is gone, is dropped.
  template <typename F>
  auto IfOpen(AskId id, F f) {
    return [id, f = std::move(f), weak = weak_from_this()](const auto& answer) {
      const auto self = weak.lock();
      if (self != nullptr && self->asks.contains(id)) f(*self, answer);
    };
  }

  base::EventLoop& loop;
  const base::Clock& clock;
  MailServerMemory& memory;
  const MailNames names;
  std::mt19937 random{std::random_device{}()};
  std::unordered_map<AskId, Ask> asks;
  AskId last_id = 0;
};

void DnsVerifier::Impl::Begin(std::string domain, std::chrono::milliseconds timeout,
                              std::function<void(LookupAnswer)> done) {
  const AskId id = ++last_id;
  auto timer = std::make_unique<base::Timer>(
      loop, [this, id] { AnswerFailed(id, AddressFacts::Course::kTimeout); });
  timer->Start(timeout);
  asks.emplace(id, Ask{domain, std::move(done), std::move(timer)});
  memory.ReadDomain(domain,
                    IfOpen(id, [id](Impl& self, const auto& facts) { self.OnFacts(id, facts); }));
}

void DnsVerifier::Impl::OnFacts(AskId id, const std::optional<domain::MailDomainFacts>& facts) {
  if (facts && clock.Now() - facts->mx_at <= domain::kMxLife) return Answer(id, facts->kind);
  names.mx(asks.at(id).domain,
           IfOpen(id, [id](Impl& self, const auto& answer) { self.OnMx(id, answer); }));
}

void DnsVerifier::Impl::OnMx(AskId id, const net::DnsRecords<net::MxRecord>& answer) {
  switch (net::ChooseMx(answer, domain::kMailHostsMax, random).kind) {
    case net::MxKind::kHosts:
      return Answer(id, MailDomainKind::kServed);
    case net::MxKind::kNull:
      return Answer(id, MailDomainKind::kNullMx);
    case net::MxKind::kNoName:
      return Answer(id, MailDomainKind::kUnknownDomain);
    case net::MxKind::kFailed:
      return AnswerFailed(id, AddressFacts::Course::kDnsFailed);
    case net::MxKind::kNone:
      break;
  }
  names.addresses(asks.at(id).domain, IfOpen(id, [id](Impl& self, const auto& result) {
                    self.OnAddresses(id, result);
                  }));
}

void DnsVerifier::Impl::OnAddresses(AskId id, const net::ResolveResult& result) {
  if (!result.addresses.empty()) return Answer(id, MailDomainKind::kServed);
  if (result.missing) return Answer(id, MailDomainKind::kNoMx);
  AnswerFailed(id, AddressFacts::Course::kDnsFailed);
}

void DnsVerifier::Impl::Answer(AskId id, MailDomainKind kind) {
  // A domain with mail says nothing about the address.
  if (kind == MailDomainKind::kServed) return Finish(id, domain::AddressVerdict());
  AddressFacts facts;
  facts.domain = kind;
  Finish(id, domain::CheckAddress(facts));
}

void DnsVerifier::Impl::AnswerFailed(AskId id, AddressFacts::Course course) {
  AddressFacts facts;
  facts.course = course;
  Finish(id, domain::CheckAddress(facts));
}

void DnsVerifier::Impl::Finish(AskId id, LookupAnswer answer) {
  auto node = asks.extract(id);
  node.mapped().done(std::move(answer));
}

DnsVerifier::DnsVerifier(base::EventLoop& loop, const base::Clock& clock, MailServerMemory& memory,
                         MailNames names)
    : impl_(std::make_shared<Impl>(loop, clock, memory, std::move(names))) {}

DnsVerifier::~DnsVerifier() = default;

void DnsVerifier::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const auto address = domain::ParseAddress(request.address);
  const auto ascii = address ? domain::AsciiDomain(address->domain) : std::nullopt;
  AddressFacts facts;
  facts.valid_syntax = ascii.has_value();
  facts.disposable = ascii && domain::IsDisposableDomain(*ascii);
  if (!facts.valid_syntax || facts.disposable) return done(domain::CheckAddress(facts));
  impl_->Begin(*ascii, request.timeout, std::move(done));
}

namespace {

// The proxy is the operator's; it is given by its address, so that nothing has to be looked up.
// Throws where it is none: who names a proxy wants nobody to be asked without it.
std::optional<net::SmtpPeer> ProxyOf(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto proxy = config::SocksProxy::Parse(text).value();
  return net::SmtpPeer{net::IpAddress::Parse(proxy.address).value(), proxy.port};
}

domain::AddressVerdict AtOnce(const domain::AddressFacts& facts) {
  return CheckAddress(facts);
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
