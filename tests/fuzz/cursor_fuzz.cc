// A cursor that is accepted is the one that EncodeCursor makes: no two spellings of one place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/kit/cursor.h"
#include "domain/auth/cell.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vedette;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const base::Uuid bound_to;
  const rest::CursorOf list{'r', bound_to, domain::SplitCell(text).cell};
  if (const auto after = rest::DecodeCursor(list, text)) {
    if (rest::EncodeCursor(list, *after) != text) std::abort();
  }
  if (const auto after = rest::DecodeIdCursor(list, text)) {
    if (rest::EncodeCursor(list, *after) != text) std::abort();
  }
  if (const auto after = rest::DecodeTimedCursor(list, text)) {
    if (rest::EncodeCursor(list, *after) != text) std::abort();
  }
  return 0;
}
