#include "domain/people/mailbox.h"

#include "base/text.h"
#include "domain/email/disposable_domains.h"
#include "domain/email/free_mailbox.h"
#include "domain/email/role_names.h"

namespace vedette::domain {
namespace {

constexpr std::size_t kNamePartsMin = 2;
constexpr std::size_t kNamePartsMax = 4;

std::string_view WithoutTag(std::string_view local) {
  const auto plus = local.find('+');
  // A local part that begins with the sign has no tag.
  return plus == 0 || plus == std::string_view::npos ? local : local.substr(0, plus);
}

}  // namespace

std::string MailboxKey(const Address& address) {
  std::string local = base::AsciiLower(WithoutTag(address.local));
  std::string domain = address.domain;
  if (domain == "googlemail.com") domain = "gmail.com";
  if (domain == "gmail.com") std::erase(local, '.');
  return Address{local, domain}.Text();
}

std::string NameOfLocalPart(std::string_view address) {
  const auto parsed = ParseAddress(address);
  if (!parsed || IsRoleName(parsed->local)) return "";
  std::string name;
  std::size_t parts = 1;
  bool begins = true;
  for (const char c : WithoutTag(parsed->local)) {
    const bool is_letter = base::IsAsciiLetter(c) || (static_cast<unsigned char>(c) & 0x80) != 0;
    if (is_letter) {
      const bool is_small = c >= 'a' && c <= 'z';
      name += begins && is_small ? static_cast<char>(c - 'a' + 'A') : c;
      begins = false;
    } else if ((c == '.' || c == '_') && !begins) {
      name += ' ';
      ++parts;
      begins = true;
    } else {
      return "";
    }
  }
  return begins || parts < kNamePartsMin || parts > kNamePartsMax ? "" : name;
}

MailboxClass ClassOf(const Address& address) {
  if (IsRoleName(address.local)) return MailboxClass::kRole;
  if (IsDisposableDomain(address.domain)) return MailboxClass::kDisposable;
  return IsFreeMailboxDomain(address.domain) ? MailboxClass::kFree : MailboxClass::kCompany;
}

bool IsPersons(const Address& address) {
  const MailboxClass mailbox = ClassOf(address);
  return mailbox == MailboxClass::kFree || mailbox == MailboxClass::kCompany;
}

std::string CompanyDomainOf(const Address& address) {
  const bool is_provider =
      IsDisposableDomain(address.domain) || IsFreeMailboxDomain(address.domain);
  return is_provider ? std::string() : address.domain;
}

}  // namespace vedette::domain
