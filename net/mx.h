#pragma once

#include <random>
#include <string>
#include <vector>

#include "net/dns_records.h"

// Which hosts take a domain's mail, and in which order they are tried (RFC 5321 5.1). Pure.
namespace vedette::net {

enum class MxKind : std::uint8_t {
  kHosts,
  kNull,    // RFC 7505: a single record with the root as its host
  kNone,    // no MX: the domain's own addresses stand for one
  kNoName,  // the domain does not exist
  kFailed,  // the DNS could not say
};

struct MxChoice {
  MxKind kind = MxKind::kFailed;
  std::vector<std::string> hosts;  // of kHosts: lower case, at most `hosts_max`, best first
};

// By preference, equal ones shuffled. An MX that is an address literal or no name is passed over;
// where only such are left, the domain has no usable host, which is kFailed.
MxChoice ChooseMx(const DnsRecords<MxRecord>& answer, std::size_t hosts_max, std::mt19937& random);

}  // namespace vedette::net
