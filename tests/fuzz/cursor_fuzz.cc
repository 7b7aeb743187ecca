// A cursor that is accepted is the one that EncodeCursor makes: no two spellings of one place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cursor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vedette;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const base::Uuid bound_to;
  if (const auto after = api::DecodeCursor(api::CursorKind::kRows, bound_to, text)) {
    if (api::EncodeCursor(api::CursorKind::kRows, bound_to, *after) != text) std::abort();
  }
  if (const auto after = api::DecodeIdCursor(api::CursorKind::kMonitors, bound_to, text)) {
    if (api::EncodeCursor(api::CursorKind::kMonitors, bound_to, *after) != text) std::abort();
  }
  return 0;
}
