#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace vedette::base {

// Straight to stderr: the logger may be what is broken, and its queue would be lost.
void AssertFailed(std::string_view sentence, const char* file, int line) {
  std::fprintf(stderr, "vedette: an invariant does not hold: %.*s (%s:%d)\n",
               static_cast<int>(sentence.size()), sentence.data(), file, line);
  std::abort();
}

}  // namespace vedette::base
