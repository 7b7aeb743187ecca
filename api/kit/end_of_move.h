#pragma once

#include <string>

#include "base/clock.h"

namespace vedette::rest {

// When the move of an organisation should end, as words that go on a sentence: none once that is
// past by this machine's clock, as of a move that has died.
inline std::string EndOfMove(base::Timestamp until) {
  if (until < base::SystemClock().Now()) return "";
  return ", which should end before " + base::FormatTimestamp(until);
}

}  // namespace vedette::rest
