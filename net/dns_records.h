#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "net/public_address.h"

// Records of the DNS beside addresses, as c-ares gives them. Pure.
namespace vedette::net {

enum class DnsType : std::uint8_t { kA = 1, kNs = 2, kCname = 5, kPtr = 12, kMx = 15, kTxt = 16 };
inline constexpr int kDnsClassInternet = 1;

enum class DnsStatus : std::uint8_t {
  kFound,
  kNoRecord,  // the name exists and has no record of this type
  kNoName,    // the name does not exist
  kFailed,    // nobody could say
};

struct MxRecord {
  int preference = 0;
  std::string host;  // empty: the root, which is a null MX (RFC 7505)

  bool operator==(const MxRecord&) const = default;
};

// At most kDnsRecordsMax records, in the order of the answer.
template <typename Record>
struct DnsRecords {
  DnsStatus status = DnsStatus::kFailed;
  std::vector<Record> records;
};
inline constexpr std::size_t kDnsRecordsMax = 64;

// Reads what ares_query calls back with. An answer that cannot be parsed is kFailed.
void ReadDnsAnswer(int ares_status, const unsigned char* answer, int size,
                   DnsRecords<MxRecord>* out);
// Reads records: TXT ones as their joined parts; PTR and NS ones as names.
void ReadDnsAnswer(int ares_status, const unsigned char* answer, int size,
                   DnsRecords<std::string>* out);

// Whether aliases (CNAME) of the answer lead back to one of themselves. False also for what cannot
// be read.
bool HasAliasLoop(const unsigned char* answer, int size);

// "4.3.2.1.in-addr.arpa" of 1.2.3.4.
std::string ReverseName(const IpAddress& ip);
// The labels of an address alone, as lists of blocked addresses are asked: "4.3.2.1".
std::string ReverseLabels(const IpAddress& ip);

// Which hosts take a domain's mail, and in which order they are tried (RFC 5321 5.1). Pure.

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
