#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/dns_records.h"
#include "net/resolver.h"
#include "worker/providers/expander.h"

namespace vedette::worker {

// How the DNS is asked; net::Resolver in a process, tables in tests. They must outlive what asks.
struct DnsNames {
  std::function<void(const std::string&, std::function<void(net::DnsRecords<net::MxRecord>)>)> mx;
  std::function<void(const std::string&, std::function<void(net::DnsRecords<std::string>)>)> txt;
  std::function<void(const std::string&, std::function<void(net::ResolveResult)>)> addresses;
  std::function<void(const net::IpAddress&, std::function<void(net::DnsRecords<std::string>)>)>
      names;
  std::function<void(const std::string&, std::function<void(net::DnsRecords<std::string>)>)> ns;
};
DnsNames NamesOf(net::Resolver* resolver);

// What the DNS says:
//
//   domain  its mail servers (MX), its name servers (NS), its texts (TXT), its addresses
//   ip      its names (PTR)
//   email   the domain behind it; the DNS is not asked
//
// What the DNS does not answer is not found. Its failure: none.
class DnsExpander final : public Expander {
 public:
  static constexpr std::string_view kId = "dns";

  explicit DnsExpander(DnsNames names)
      : names_(std::make_shared<const DnsNames>(std::move(names))) {}

  std::string_view id() const override { return kId; }
  bool Takes(domain::SubjectKind type) const override;
  void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) override;

 private:
  class Asking;
  const std::shared_ptr<const DnsNames> names_;
};

}  // namespace vedette::worker
