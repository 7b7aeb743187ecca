#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// Which provider runs a mail host, by the suffix of its name, and what that says about manners. A
// class sets numbers alone; whether a domain accepts everybody, its control finds. The numbers are
// stored (mail_domain.class): they never change. Pure.
namespace vedette::domain {

enum class MailClass : std::uint8_t {
  kOther = 0,
  kOutlook = 1,
  kMicrosoft365 = 2,
  kGoogle = 3,
  kYahoo = 4,
  kApple = 5,
  kProofpoint = 6,
  kMimecast = 7,
};
inline constexpr std::size_t kMailClassCount = 8;

std::string_view MailClassName(MailClass mail_class);  // "google"

// The class in the key of a host that is left alone, "<hello name> google" or "<hello name>
// 192.0.2.0/24".
MailClass MailClassOfHostKey(std::string_view key);

// `host` is in lower case. The longest suffix wins; a suffix is one or more whole labels.
MailClass MailClassOf(std::string_view host);

// Recipients of one connection, controls and witnesses included. `other_max` is that of kOther.
int RecipientsMax(MailClass mail_class, int other_max);

}  // namespace vedette::domain
