#include "domain/text/letters.h"

#include <cstdint>

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

namespace vedette::domain {
namespace {

icu::UnicodeString Utf16(std::string_view text) {
  return icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
}

// The text as it is where ICU has no memory.
std::string Composed(const icu::UnicodeString& text) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* nfc = icu::Normalizer2::getNFCInstance(status);
  const icu::UnicodeString composed = nfc->normalize(text, status);
  std::string out;
  (U_FAILURE(status) != 0 ? text : composed).toUTF8String(out);
  return out;
}

}  // namespace

std::string Nfc(std::string_view text) {
  return Composed(Utf16(text));
}

std::string LowerNfc(std::string_view text) {
  // What is composed first has the one letter that the lower case is made of.
  return Composed(Utf16(Nfc(text)).toLower(icu::Locale::getRoot()));
}

bool IsDirectionMark(std::uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace vedette::domain
