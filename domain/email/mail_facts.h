#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/email/judge_address.h"
#include "domain/email/mail_class.h"

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

}  // namespace vedette::domain
