#include "domain/email/idn.h"

#include <idn2.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::domain {

bool IsAsciiText(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
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

}  // namespace vedette::domain
