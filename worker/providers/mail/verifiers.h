#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "domain/email/finders.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "net/resolver.h"
#include "net/smtp/connection.h"
#include "worker/providers/mail/mail_domain_queue.h"
#include "worker/providers/mail/mail_server_memory.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// The verifier "dns", for clients that do not want mail servers to be asked: it refuses what no
// server can have (no address, no such domain, a domain without mail), and leaves everything else
// not verified. What the fleet knows of a domain it does not ask again. Loop thread only.
class DnsVerifier final : public Provider {
 public:
  // `names` by the DNS alone. Everything handed in must outlive this object.
  DnsVerifier(base::EventLoop& loop, const base::Clock& clock, MailServerMemory& memory,
              MailNames names);
  ~DnsVerifier() override;  // callbacks of what is under way are dropped

  std::string_view id() const override { return domain::kDnsVerifier; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  struct Impl;
  const std::shared_ptr<Impl> impl_;
};

// The verifier "smtp": it asks mail servers whether they know an address (docs/email.md), and sends
// no mail. Only AddressVerdict and Later are its answers. Loop thread only. Everything handed in
// must outlive this object.
class SmtpVerifier final : public Provider {
 public:
  // `names` by the DNS alone. Throws where [email.smtp] proxy is set and can't be read.
  SmtpVerifier(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
               const net::AddressPolicy& policy, const config::Config& config,
               MailServerMemory& memory, MailNames names);
  ~SmtpVerifier() override;

  std::string_view id() const override { return "smtp"; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  void ShowWaiting();

  const net::TlsContext tls_;
  metrics::Metrics& metrics_;
  MailSharedState shared_;
  std::map<std::string, std::unique_ptr<MailDomainQueue>>
      queues_;  // by domain; a mark for SMTPUTF8
};

// Names by the DNS, absolute (net::NameSources::kDnsOnly).
MailNames NamesOf(net::Resolver& resolver);

}  // namespace vedette::worker
