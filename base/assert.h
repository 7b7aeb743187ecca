#pragma once

#include <string_view>

namespace vedette::base {

// Ends the process, with `sentence` and the place on stderr, unless `condition` holds. On in every
// build. For invariants: a count never goes below zero, a state is reached from its predecessors
// only, a function of the loop runs on the loop's thread. Never for input, and never for what the
// database or a peer may say. A process that dies costs its leases, which others take over; a wrong
// counter costs fairness or money, and nobody sees it.
[[noreturn]] void AssertFailed(std::string_view sentence, const char* file, int line);

// `file` and `line` are the caller's. (clang-tidy 14 does not know std::source_location.)
inline void Assert(bool condition, std::string_view sentence, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
  if (!condition) [[unlikely]] {
    AssertFailed(sentence, file, line);
  }
}

}  // namespace vedette::base
