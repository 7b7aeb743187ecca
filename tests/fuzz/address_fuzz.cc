// What is taken for an address is written so that it is read again as the same one, and has nothing
// in it that could end a command of SMTP.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "domain/email/address.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(address, text) {
  if (!base::IsValidUtf8(text)) return;
  const auto address = domain::ParseAddress(text);
  if (!address) return;
  const std::string written = address->Text();
  const auto again = domain::ParseAddress(written);
  if (!again || again->local != address->local || again->domain != address->domain) std::abort();
  const bool steers = std::any_of(written.begin(), written.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (steers || address->domain.find_first_of("<> ") != std::string::npos) std::abort();
}

}  // namespace vedette
