#include "net/mx.h"

#include <algorithm>
#include <set>

#include "domain/email/address.h"

namespace vedette::net {

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
