#include "domain/people/address_mention.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include "base/text.h"

namespace vedette::domain {
namespace {

// What is not part of a local part without quotes.
constexpr std::string_view kNoLocalPart = " \"(),:;<>@[\\]\x7F";
// Signs that join what people are called by: "x.ann@" is not Ann, "=ann@" is.
constexpr std::string_view kJoining = ".-_";
// The bytes before an at sign that are looked at: accents may be written apart, and signs between
// quotes with a backslash.
constexpr std::size_t kLocalPartWindow = kLocalPartBytesMax * 2;

bool IsAsciiAlnum(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c);
}

bool IsNonAscii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

bool IsOfLocalPart(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && kNoLocalPart.find(c) == std::string_view::npos;
}

bool IsOfDomain(char c) {
  return IsAsciiAlnum(c) || IsNonAscii(c) || c == '-' || c == '.';
}

UScriptCode ScriptOf(UChar32 code) {
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(code, &status);
  const bool is_any = U_FAILURE(status) != 0 || script == USCRIPT_INHERITED;
  return is_any ? USCRIPT_COMMON : script;
}

UChar32 FirstOf(std::string_view text) {
  std::uint32_t code = 0;
  base::DecodeUtf8(text, &code);
  return static_cast<UChar32>(code);
}

UChar32 LastOf(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && base::ContinuesCharacter(text[begin])) --begin;
  return FirstOf(text.substr(begin));
}

// Letters, digits, and accents that are written apart.
bool IsOfWord(UChar32 code) {
  return u_isalnum(code) != 0 || u_hasBinaryProperty(code, UCHAR_ALPHABETIC) != 0 ||
         u_getCombiningClass(code) != 0;
}

// Whether the word at the end of `before` goes on with `next`. Words of two scripts that touch are
// two: Chinese has no blank before an address.
bool GoesOn(std::string_view before, std::string_view next) {
  if (before.empty()) return false;
  const UChar32 last = LastOf(before);
  const UChar32 first = FirstOf(next);
  if (!IsOfWord(last) || !IsOfWord(first)) return false;
  const UScriptCode a = ScriptOf(last);
  const UScriptCode b = ScriptOf(first);
  return a == b || a == USCRIPT_COMMON || b == USCRIPT_COMMON;
}

// Whether a local part may begin at `begin`.
bool BeginsAt(std::string_view text, std::size_t begin) {
  std::string_view before = text.substr(0, begin);
  if (!before.empty() && kJoining.find(before.back()) != std::string_view::npos) {
    before.remove_suffix(1);
  }
  return !GoesOn(before, text.substr(begin));
}

// Whether a domain may end at `end`: a dot is the sentence's unless a label follows.
bool EndsAt(std::string_view text, std::size_t end) {
  if (end == text.size()) return true;
  if (text[end] == '.') return end + 1 == text.size() || !IsAsciiAlnum(text[end + 1]);
  return !IsAsciiAlnum(text[end]) && !base::ContinuesCharacter(text[end]);
}

int HexDigit(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto digit = kDigits.find(base::AsciiLower(c));
  return digit == std::string_view::npos ? -1 : static_cast<int>(digit);
}

// The text with the escapes of an URL resolved. Other per cent signs stay.
std::string WithoutEscapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_long = text[i] == '%' && i + 2 < text.size();
    const int high = is_long ? HexDigit(text[i + 1]) : -1;
    const int low = is_long ? HexDigit(text[i + 2]) : -1;
    const bool is_escape = high >= 0 && low >= 0;
    out += is_escape ? static_cast<char>(high * 16 + low) : text[i];
    if (is_escape) i += 2;
  }
  return base::RepairUtf8(out);
}

// Whether every spelling has the character at `at` of a text in lower case: not what is outside
// ASCII, nor the letter before it, which may be one character with it; nor the k that NFC makes of
// the sign U+212A; nor what is written with a backslash, or in an URL as an escape.
bool IsInEverySpelling(std::string_view text, std::size_t at) {
  const char c = text[at];
  const bool is_plain = IsAsciiAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
  const bool is_last = at + 1 == text.size();
  return is_plain && c != 'k' && (is_last || IsAsciiText(text.substr(at + 1, 1)));
}

}  // namespace

AddressMention::AddressMention(Address address) {
  domain_ = InALabels(address.domain);
  at_domain_ = MailboxKey({"x", domain_});
  address.domain = domain_;
  mailbox_ = MailboxKey(address);
}

bool AddressMention::IsIn(std::string_view text) const {
  if (IsInPlain(text)) return true;
  return text.find('%') != std::string_view::npos && IsInPlain(WithoutEscapes(text));
}

bool AddressMention::IsInPlain(std::string_view text) const {
  for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    if (!IsDomain(text.substr(at + 1))) continue;
    const std::string_view before = text.substr(0, at);
    if (IsLocalPart(before) || IsQuotedLocalPart(before)) return true;
  }
  return false;
}

// Whether the domain stands at the beginning of what is behind an at sign.
bool AddressMention::IsDomain(std::string_view behind) const {
  const auto dots = std::count(domain_.begin(), domain_.end(), '.');
  std::ptrdiff_t passed = 0;
  for (std::size_t end = 0; end < behind.size() && end < kDomainBytesMax; ++end) {
    if (!IsOfDomain(behind[end])) return false;
    passed += behind[end] == '.' ? 1 : 0;
    if (passed > dots) return false;
    if (passed < dots || !EndsAt(behind, end + 1)) continue;
    const auto domain = AsciiDomain(behind.substr(0, end + 1));
    if (domain && MailboxKey({"x", *domain}) == at_domain_) return true;
  }
  return false;
}

// Whether the local part stands at the end of what is before an at sign.
bool AddressMention::IsLocalPart(std::string_view before) const {
  const std::size_t first = before.size() - std::min(before.size(), kLocalPartWindow);
  for (std::size_t begin = before.size(); begin > first && IsOfLocalPart(before[begin - 1]);) {
    --begin;
    if (base::ContinuesCharacter(before[begin]) || !BeginsAt(before, begin)) continue;
    if (MailboxKey({std::string(before.substr(begin)), domain_}) == mailbox_) return true;
  }
  return false;
}

bool AddressMention::IsQuotedLocalPart(std::string_view before) const {
  if (!before.ends_with('"')) return false;
  const std::size_t first = before.size() - std::min(before.size(), kLocalPartWindow);
  for (std::size_t begin = before.size() - 1; begin > first;) {
    if (before[--begin] != '"') continue;
    auto address = ParseAddress(std::string(before.substr(begin)) + '@' + domain_);
    if (address && MailboxKey(*address) == mailbox_) return true;
  }
  return false;
}

std::vector<std::string> MentionNeedles(const Address& address) {
  const std::vector<std::string> at_signs{"@", "%40"};
  if (MailboxKey(address).ends_with("@gmail.com")) return at_signs;
  const auto plus = address.local.find('+');
  const std::string local = base::AsciiLower(
      std::string_view(address.local).substr(0, plus > 0 ? plus : address.local.npos));
  std::string longest;
  std::string part;
  for (std::size_t at = 0; at < local.size(); ++at) {
    if (!IsInEverySpelling(local, at)) {
      part.clear();
      continue;
    }
    part += local[at];
    if (part.size() > longest.size()) longest = part;
  }
  return longest.size() > 1 ? std::vector<std::string>{longest} : at_signs;
}

}  // namespace vedette::domain
