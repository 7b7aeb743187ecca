#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "net/resolver.h"
#include "net/smtp/tls.h"
#include "worker/providers/mail/mail_book.h"
#include "worker/providers/mail/mail_desk.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// The verifier "smtp": it asks mail servers whether they know an address (docs/email.md), and sends
// no mail. Only AddressVerdict and Later are its answers. Loop thread only. Everything handed in
// must outlive this object.
class SmtpVerifier final : public Provider {
 public:
  // `names` by the DNS alone; with proxy, its address is looked up by `resolver`'s system sources.
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
