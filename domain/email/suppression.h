#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/email/lead.h"

// The suppression list: persons, addresses and domains that are never looked up. Also the keys
// under which facts about a person are kept. Pure. Only digests are stored: a value is normalised,
// and hashed behind a fixed label.
namespace vedette::domain {

// The numbers are stored (suppression.kind).
enum class SuppressionKind : std::uint8_t {
  kAddress = 0,  // one mailbox
  kDomain = 1,   // everybody at a company
  kProfile = 2,  // the URL of a profile
  kPerson = 3,   // a name at a domain
};
std::string_view SuppressionKindName(SuppressionKind kind);  // "address"
std::optional<SuppressionKind> ParseSuppressionKind(std::string_view name);

struct SuppressionKey {
  SuppressionKind kind{};
  std::string hash;  // 32 bytes

  bool operator==(const SuppressionKey&) const = default;
};

// Empty for a text that is none of its kind. Spellings of one mailbox (MailboxKey) are one address;
// a profile is compared as PlainProfile has it, a name by the letters of its given name and its
// family name, whatever stands around them ("Smith, Dr. Ann B.").
std::optional<SuppressionKey> AddressSuppression(std::string_view address);
std::optional<SuppressionKey> DomainSuppression(std::string_view domain);
std::optional<SuppressionKey> ProfileSuppression(std::string_view url);
std::optional<SuppressionKey> PersonSuppression(std::string_view name, std::string_view domain);

// What a profile, or a name, is asked by: the key above first, then those of a name's other given
// and family names, and last the one by which earlier releases stored it, as it was written.
std::vector<SuppressionKey> ProfileSuppressions(std::string_view url);
std::vector<SuppressionKey> PersonSuppressions(std::string_view name, std::string_view domain);

// A profile without scheme, "www.", port, query and final slash, and at LinkedIn without the
// country or "m." before the host and the language behind the member: "linkedin.com/in/ann".
std::string PlainProfile(std::string_view url);

// What a lead is asked by: everything that it names.
std::vector<SuppressionKey> SuppressionKeys(const Person& person);
// What a candidate is asked by: the address and its domain.
std::vector<SuppressionKey> SuppressionKeysOfAddress(std::string_view address);

// The whole name: `name`, else the first name and the last name.
std::string WholeName(const Person& person);

// The company's domain: the lead's, else that of its address where that is no free mailbox; in
// A-labels. Empty where it is not known.
std::string CompanyDomain(const Person& person);

// 16 bytes that stand for the person at their company, under which an organisation's facts are
// found again. Empty where the name or the domain is not known.
std::string PersonKey(const Person& person);

// 16 bytes that stand for a company by its name, compared by its letters; empty for a name without
// any.
std::string CompanyKey(std::string_view company);

}  // namespace vedette::domain
