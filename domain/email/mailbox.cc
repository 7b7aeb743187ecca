#include "domain/email/mailbox.h"

#include <string>

#include "base/text.h"
#include "domain/text/letters.h"
#include "domain/text/word_lists.h"

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
  std::string local = LowerNfc(WithoutTag(address.local));
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

bool IsOfCompany(const Address& address, std::string_view company_domain) {
  const std::string at = InALabels(address.domain);
  const std::string companys = InALabels(company_domain);
  return !companys.empty() && (IsBelow(at, companys) || IsBelow(companys, at));
}

namespace {

const WordSet& RoleNames() {
  static const WordSet listed = ListedWords("role_names");
  return listed;
}

}  // namespace

bool IsRoleName(std::string_view local) {
  std::string name = base::AsciiLower(local.substr(0, local.find('+')));
  std::erase_if(name, [](char c) { return c == '-' || c == '_' || c == '.'; });
  while (!name.empty() && base::IsAsciiDigit(name.back())) name.pop_back();
  return RoleNames().contains(name);
}

namespace {

// The list with what the operator's file adds. It is constant from the first question on.
WordSet& FreeMailboxes() {
  static WordSet listed = ListedWords("free_mailbox_domains");
  return listed;
}

}  // namespace

bool IsFreeMailboxDomain(std::string_view domain) {
  return FreeMailboxes().contains(InALabels(domain));
}

void AddFreeMailboxDomains(const std::vector<std::string>& domains) {
  FreeMailboxes().insert(domains.begin(), domains.end());
}

namespace {

// The list with what the operator's file adds. It is constant from the first question on.
WordSet& DisposableDomains() {
  static WordSet listed = ListedWords("disposable_domains");
  return listed;
}

}  // namespace

bool IsDisposableDomain(std::string_view given) {
  const std::string ascii = InALabels(given);
  std::string_view domain = ascii;
  while (!DisposableDomains().contains(domain)) {
    const auto dot = domain.find('.');
    if (dot == std::string_view::npos) return false;
    domain.remove_prefix(dot + 1);
  }
  return true;
}

void AddDisposableDomains(const std::vector<std::string>& domains) {
  DisposableDomains().insert(domains.begin(), domains.end());
}

}  // namespace vedette::domain
