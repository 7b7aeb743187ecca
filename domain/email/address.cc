#include "domain/email/address.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include <idn2.h>

#include "base/text.h"
#include "domain/text/letters.h"
#include "domain/text/word_lists.h"

namespace vedette::domain {
namespace {

bool IsNonAscii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

// RFC 5321 "atext", and what RFC 6531 adds to it.
bool IsAtomCharacter(char c) {
  constexpr std::string_view kSigns = "!#$%&'*+-/=?^_`{|}~";
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || IsNonAscii(c) ||
         kSigns.find(c) != std::string_view::npos;
}

// Atoms with single dots between them.
bool IsDotString(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  if (text.find("..") != std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '.' || IsAtomCharacter(c); });
}

// What stands between the quotes of a quoted local part, its escapes resolved. Empty where it is
// none.
std::optional<std::string> Unquote(std::string_view text) {
  if (text.size() < 3 || text.front() != '"' || text.back() != '"') return std::nullopt;
  std::string out;
  const std::string_view inner = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == '"') return std::nullopt;
    if (inner[i] == '\\' && ++i == inner.size()) return std::nullopt;
    if (base::IsAsciiControl(inner[i])) return std::nullopt;
    out += inner[i];
  }
  return out;
}

bool IsLabel(std::string_view label) {
  if (label.empty() || label.size() > kLabelBytesMax) return false;
  if (label.front() == '-' || label.back() == '-') return false;
  return std::all_of(label.begin(), label.end(), [](char c) {
    return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '-' || IsNonAscii(c);
  });
}

}  // namespace

std::string Address::Text() const {
  if (IsDotString(local)) return local + '@' + domain;
  std::string out = "\"";
  for (const char c : local) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"@" + domain;
}

std::string Address::Key() const {
  return Address{LowerNfc(local), InALabels(domain)}.Text();
}

std::optional<Address> ParseAddress(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || text.size() > kAddressBytesMax) return std::nullopt;
  const std::string_view local = text.substr(0, at);
  if (local.size() > kLocalPartBytesMax) return std::nullopt;
  if (text.ends_with('.')) return std::nullopt;
  auto domain = ParseDomain(text.substr(at + 1));
  if (!domain) return std::nullopt;
  if (IsDotString(local)) return Address{std::string(local), std::move(*domain)};
  auto quoted = Unquote(local);
  if (!quoted) return std::nullopt;
  return Address{std::move(*quoted), std::move(*domain)};
}

std::optional<std::string> ParseDomain(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.size() > kDomainBytesMax) return std::nullopt;
  std::string_view rest = text;
  std::string_view label;
  int labels = 0;
  for (bool more = true; more; ++labels) {
    const std::size_t dot = rest.find('.');
    more = dot != std::string_view::npos;
    label = rest.substr(0, dot);
    if (!IsLabel(label)) return std::nullopt;
    if (more) rest.remove_prefix(dot + 1);
  }
  // A last label of digits alone is an IPv4 address or none at all.
  if (labels < 2 || std::all_of(label.begin(), label.end(), base::IsAsciiDigit))
    return std::nullopt;
  return base::AsciiLower(text);
}

std::optional<std::string> FindDomain(std::string_view text) {
  if (const auto scheme = text.find("://"); scheme != std::string_view::npos) {
    text.remove_prefix(scheme + 3);
  }
  text = text.substr(0, text.find_first_of("/?#"));
  if (const auto at = text.rfind('@'); at != std::string_view::npos) text.remove_prefix(at + 1);
  if (const auto port = text.rfind(':'); port != std::string_view::npos)
    text = text.substr(0, port);
  auto domain = ParseDomain(text);
  if (domain && domain->starts_with("www.") &&
      std::count(domain->begin(), domain->end(), '.') > 1) {
    domain->erase(0, 4);
  }
  return domain;
}

bool IsAsciiText(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool IsBelow(std::string_view domain, std::string_view parent) {
  if (domain == parent) return true;
  return domain.size() > parent.size() && domain.ends_with(parent) &&
         domain[domain.size() - parent.size() - 1] == '.';
}

std::string InALabels(std::string_view domain) {
  return AsciiDomain(domain).value_or(std::string(domain));
}

std::optional<std::string> AsciiDomain(std::string_view domain) {
  if (IsAsciiText(domain)) return ParseDomain(domain);
  const std::string input(domain);
  std::uint8_t* output = nullptr;
  const int status = idn2_lookup_u8(reinterpret_cast<const std::uint8_t*>(input.c_str()), &output,
                                    IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  const std::unique_ptr<std::uint8_t, void (*)(void*)> owner(output, idn2_free);
  if (status != IDN2_OK) return std::nullopt;
  return ParseDomain(reinterpret_cast<const char*>(output));
}

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
