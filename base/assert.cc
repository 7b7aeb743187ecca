#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace vedette::base {

// Straight to stderr: the logger may be what is broken, and its queue would be lost.
void AssertFailed(std::string_view sentence, const std::source_location& where) {
  std::fprintf(stderr, "vedette: an invariant does not hold: %.*s (%s:%u, %s)\n",
               static_cast<int>(sentence.size()), sentence.data(), where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name());
  std::abort();
}

}  // namespace vedette::base
