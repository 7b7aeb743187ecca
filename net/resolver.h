#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "net/dns_records.h"
#include "net/public_address.h"

namespace vedette::net {

struct ResolveResult {
  std::vector<IpAddress> addresses;  // empty on failure
  std::string error;                 // c-ares' words
  bool missing = false;              // the DNS is sure that there is none
};

// The sources by which names are resolved.
enum class NameSources : std::uint8_t {
  kSystem,   // the hosts file, then DNS with the system's search list
  kDnsOnly,  // DNS, every name absolute: what stands in the DNS must not mean a name of ours
};

// The time for one name in the DNS, its retries included, where no setting says another.
inline constexpr std::chrono::seconds kNamesTimeout{15};

// Names to addresses on the loop, by c-ares. Loop thread only.
class Resolver {
 public:
  // `servers`: "ip" or "ip:port"; empty: the system's.
  Resolver(base::EventLoop& loop, const std::vector<std::string>& servers,
           std::chrono::milliseconds timeout, NameSources sources = NameSources::kSystem);
  ~Resolver();  // pending callbacks are dropped

  // `done` exactly once, later, on the loop thread.
  void Resolve(const std::string& host, std::function<void(ResolveResult)> done);

  // The DNS's records of absolute names; likewise. They are not remembered.
  void QueryMx(const std::string& name, std::function<void(DnsRecords<MxRecord>)> done);
  void QueryNs(const std::string& name, std::function<void(DnsRecords<std::string>)> done);
  void QueryTxt(const std::string& name, std::function<void(DnsRecords<std::string>)> done);
  void QueryPtr(const IpAddress& ip, std::function<void(DnsRecords<std::string>)> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
