#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/event_loop.h"
#include "domain/email/provider_ids.h"
#include "worker/providers/mail/mail_book.h"
#include "worker/providers/mail/mail_desk.h"
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

}  // namespace vedette::worker
