#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/email/address.h"

// Mentions of one mailbox in a text, whatever stands around the address: quotation marks, dashes
// and signs of any script, Markdown, an URL and its escapes. Pure.
namespace vedette::domain {

class AddressMention {
 public:
  explicit AddressMention(Address address);

  // Whether the text has the address in any spelling of its mailbox, and not only as the end of a
  // longer local part or the beginning of a longer domain. In doubt it has. Takes time in the
  // length of the text: no byte is part of the surroundings of two at signs.
  bool IsIn(std::string_view text) const;

 private:
  bool IsInPlain(std::string_view text) const;
  bool IsDomain(std::string_view behind) const;
  bool IsLocalPart(std::string_view before) const;
  bool IsQuotedLocalPart(std::string_view before) const;

  std::string domain_;     // in A-labels
  std::string at_domain_;  // MailboxKey of a mailbox "x" there, by which two domains are compared
  std::string mailbox_;    // MailboxKey
};

// Texts in lower case: one that mentions the address holds one of them, its A to Z in lower case.
// The longest part of the local part that every spelling has, without what follows a plus sign;
// else the at signs: Google's dots may be anywhere.
std::vector<std::string> MentionNeedles(const Address& address);

}  // namespace vedette::domain
