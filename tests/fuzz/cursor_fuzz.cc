// A cursor that is accepted is the one that EncodeCursor makes: no two spellings of one place.
#include <cstdlib>
#include <string_view>

#include "api/kit/cursor.h"
#include "domain/auth/cell.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(cursor, text) {
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
}

}  // namespace vedette
