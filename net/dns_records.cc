#include "net/dns_records.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <ares.h>
#include <netdb.h>
#include <sys/socket.h>

#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::net {
namespace {

DnsStatus StatusOf(int ares_status) {
  switch (ares_status) {
    case ARES_SUCCESS:
      return DnsStatus::kFound;
    case ARES_ENODATA:
      return DnsStatus::kNoRecord;
    case ARES_ENOTFOUND:
      return DnsStatus::kNoName;
    default:
      return DnsStatus::kFailed;
  }
}

struct FreeReply {
  void operator()(void* reply) const { ares_free_data(reply); }
};

// The type that was asked for, and 0 where there is none: TXT, PTR and NS come through one
// function, as all of them are text.
std::uint16_t AnsweredType(const unsigned char* answer, int size) {
  constexpr int kHeader = 12;
  constexpr int kQuestionTail = 4;
  int at = kHeader;
  while (at < size && answer[at] != 0) at += answer[at] + 1;
  at += 1;
  return at + kQuestionTail <= size
             ? static_cast<std::uint16_t>(static_cast<unsigned>(answer[at]) << 8U | answer[at + 1])
             : std::uint16_t{0};
}

// A name of the answer from `at` on, in lower case; moves `at` behind it. Empty where it is none.
std::string ReadName(const unsigned char* answer, int size, int* at) {
  char* name = nullptr;
  long taken = 0;  // NOLINT(google-runtime-int): the library's type
  if (*at >= size || ares_expand_name(answer + *at, answer, size, &name, &taken) != ARES_SUCCESS) {
    *at = size;
    return "";
  }
  const std::unique_ptr<char, void (*)(void*)> owner(name, ares_free_string);
  *at += static_cast<int>(taken);
  return base::AsciiLower(name);
}

int ReadShort(const unsigned char* answer, int at) {
  return answer[at] << 8 | answer[at + 1];
}

// The names of the answer's CNAME records by their aliases, as far as it can be read.
std::map<std::string, std::string> Aliases(const unsigned char* answer, int size) {
  constexpr int kHeader = 12;
  constexpr int kAnswersAt = 6;
  constexpr int kQuestionTail = 4;
  constexpr int kRecordHead = 10;  // type, class, time to live, length
  constexpr int kLengthAt = 8;
  std::map<std::string, std::string> names;
  if (size < kHeader) return names;
  int at = kHeader;
  ReadName(answer, size, &at);
  at += kQuestionTail;
  for (int left = ReadShort(answer, kAnswersAt); left > 0; --left) {
    std::string alias = ReadName(answer, size, &at);
    if (at > size - kRecordHead || names.size() == kDnsRecordsMax) break;
    const int type = ReadShort(answer, at);
    int data = at + kRecordHead;
    at = data + ReadShort(answer, at + kLengthAt);
    if (type != static_cast<int>(DnsType::kCname)) continue;
    names.emplace(std::move(alias), ReadName(answer, size, &data));
  }
  return names;
}

int ReadTxt(const unsigned char* answer, int size, std::vector<std::string>* out) {
  ares_txt_ext* list = nullptr;
  const int status = ares_parse_txt_reply_ext(answer, size, &list);
  const std::unique_ptr<ares_txt_ext, FreeReply> owner(list);
  for (const ares_txt_ext* item = list; item != nullptr; item = item->next) {
    const std::string part(reinterpret_cast<const char*>(item->txt), item->length);
    if (item->record_start != 0 || out->empty()) {
      if (out->size() == kDnsRecordsMax) break;
      out->push_back(part);
    } else {
      out->back() += part;
    }
  }
  return status;
}

int ReadNs(const unsigned char* answer, int size, std::vector<std::string>* out) {
  hostent* host = nullptr;
  const int status = ares_parse_ns_reply(answer, size, &host);
  const std::unique_ptr<hostent, void (*)(hostent*)> owner(host, ares_free_hostent);
  if (status != ARES_SUCCESS || host == nullptr) return status;
  for (char** name = host->h_aliases; name != nullptr && *name != nullptr; ++name) {
    if (out->size() == kDnsRecordsMax) break;
    out->emplace_back(*name);
  }
  return status;
}

int ReadPtr(const unsigned char* answer, int size, std::vector<std::string>* out) {
  hostent* host = nullptr;
  const int status = ares_parse_ptr_reply(answer, size, nullptr, 0, AF_INET, &host);
  const std::unique_ptr<hostent, void (*)(hostent*)> owner(host, ares_free_hostent);
  if (status != ARES_SUCCESS || host == nullptr) return status;
  for (char** alias = host->h_aliases; alias != nullptr && *alias != nullptr; ++alias) {
    if (out->size() == kDnsRecordsMax) break;
    out->emplace_back(*alias);
  }
  if (out->empty() && host->h_name != nullptr) out->emplace_back(host->h_name);
  return status;
}

}  // namespace

void ReadDnsAnswer(int ares_status, const unsigned char* answer, int size,
                   DnsRecords<MxRecord>* out) {
  out->status = StatusOf(ares_status);
  if (out->status != DnsStatus::kFound) return;
  ares_mx_reply* list = nullptr;
  const int parsed = ares_parse_mx_reply(answer, size, &list);
  const std::unique_ptr<ares_mx_reply, FreeReply> owner(list);
  for (const ares_mx_reply* item = list; item != nullptr; item = item->next) {
    if (out->records.size() == kDnsRecordsMax) break;
    out->records.push_back({item->priority, item->host});
  }
  if (out->records.empty()) {
    out->status = parsed == ARES_SUCCESS ? DnsStatus::kNoRecord : StatusOf(parsed);
  }
}

void ReadDnsAnswer(int ares_status, const unsigned char* answer, int size,
                   DnsRecords<std::string>* out) {
  out->status = StatusOf(ares_status);
  if (out->status != DnsStatus::kFound) return;
  const auto type = static_cast<DnsType>(AnsweredType(answer, size));
  const auto read = type == DnsType::kPtr ? ReadPtr : type == DnsType::kNs ? ReadNs : ReadTxt;
  const int parsed = read(answer, size, &out->records);
  if (out->records.empty()) {
    out->status = parsed == ARES_SUCCESS ? DnsStatus::kNoRecord : StatusOf(parsed);
  }
}

bool HasAliasLoop(const unsigned char* answer, int size) {
  const std::map<std::string, std::string> names = Aliases(answer, size);
  return std::any_of(names.begin(), names.end(), [&](const auto& first) {
    // A walk that has taken more steps than there are aliases goes round.
    std::size_t steps = 0;
    auto at = names.find(first.second);
    while (at != names.end() && ++steps <= names.size()) at = names.find(at->second);
    return at != names.end();
  });
}

std::string ReverseLabels(const IpAddress& ip) {
  std::string out;
  if (!ip.v6) {
    for (std::size_t i = 4; i-- > 0;) {
      out += std::to_string(ip.bytes.at(i)) + (i == 0 ? "" : ".");
    }
    return out;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  for (std::size_t i = 16; i-- > 0;) {
    out += kHex[ip.bytes.at(i) & 15U];
    out += '.';
    out += kHex[ip.bytes.at(i) >> 4U];
    if (i != 0) out += '.';
  }
  return out;
}

std::string ReverseName(const IpAddress& ip) {
  return ReverseLabels(ip) + (ip.v6 ? ".ip6.arpa" : ".in-addr.arpa");
}

MxChoice ChooseMx(const DnsRecords<MxRecord>& answer, std::size_t hosts_max, std::mt19937& random) {
  switch (answer.status) {
    case DnsStatus::kFound:
      break;
    case DnsStatus::kNoRecord:
      return {MxKind::kNone, {}};
    case DnsStatus::kNoName:
      return {MxKind::kNoName, {}};
    case DnsStatus::kFailed:
      return {MxKind::kFailed, {}};
  }
  if (answer.records.size() == 1 && answer.records.front().host.empty()) {
    return {MxKind::kNull, {}};
  }
  std::vector<MxRecord> records = answer.records;
  std::shuffle(records.begin(), records.end(), random);
  std::stable_sort(records.begin(), records.end(), [](const MxRecord& a, const MxRecord& b) {
    return a.preference < b.preference;
  });
  MxChoice choice;
  std::set<std::string> seen;
  for (const MxRecord& record : records) {
    if (choice.hosts.size() == hosts_max) break;
    const auto host = domain::ParseDomain(record.host);
    if (host && seen.insert(*host).second) choice.hosts.push_back(*host);
  }
  choice.kind = choice.hosts.empty() ? MxKind::kFailed : MxKind::kHosts;
  return choice;
}

}  // namespace vedette::net
