#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/email/verdict.h"

// What the fleet knows of a domain's mail, which is nobody's secret. Values; a row of mail_domain.
namespace vedette::domain {

enum class AcceptsAll : std::uint8_t { kNotKnown = 0, kNo = 1, kYes = 2 };

struct MailDomainFacts {
  std::string domain;  // A-labels in lower case
  MailDomainKind kind = MailDomainKind::kServed;
  std::vector<std::string> hosts{};  // best first, at most kMailHostsMax
  MailClass mail_class = MailClass::kOther;
  base::Timestamp mx_at{};
  std::string control{};  // the local part that should not exist
  base::Timestamp control_at{};
  AcceptsAll accepts_all = AcceptsAll::kNotKnown;
  std::optional<base::Timestamp> accepts_all_at{};
  std::optional<int> recipients_max{};  // of one connection, as the host showed
  std::optional<base::Timestamp> recipients_at{};

  bool operator==(const MailDomainFacts&) const = default;
};

inline constexpr std::size_t kMailHostsMax = 16;
// A host that showed how many recipients it takes is believed for that long.
inline constexpr std::chrono::hours kRecipientsLife{24};

inline bool AcceptedItsControl(const MailDomainFacts& facts, base::Timestamp now) {
  return facts.accepts_all == AcceptsAll::kYes && facts.accepts_all_at &&
         now - *facts.accepts_all_at <= kControlLife;
}

// When a mail host is to be left alone, as it refuses us or is not there. The fleet counts it
// together, by EHLO name and class (table mail_host). Pure.
//
//   served --refused, about three different domains in a row--> blocked for 30 min, 1 h, .. 6 h
//     ^  ^ |                                                      ^
//     |  | +--five connections fail in a row----------------------+
//     |  +--a recipient is accepted, or refused as an unknown mailbox
//     +-----the block is over

inline constexpr int kMailRefusalsMax = 3;
inline constexpr int kMailConnectFailuresMax = 5;

// How long the first block is, and the longest one.
struct MailBlockTimes {
  std::chrono::milliseconds first = std::chrono::minutes(30);
  std::chrono::milliseconds max = std::chrono::hours(6);
};

// `before`: how often in a row it was blocked.
constexpr std::chrono::milliseconds MailBlockFor(const MailBlockTimes& times, int before) {
  constexpr int kDoublingsMax = 4;
  return std::min(times.first * (1 << std::min(before, kDoublingsMax)), times.max);
}

}  // namespace vedette::domain
