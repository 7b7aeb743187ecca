#pragma once

#include <source_location>
#include <string_view>

namespace vedette::base {

// Ends the process, with `sentence` and the place on stderr, unless `condition` holds. On in every
// build. For invariants: a count never goes below zero, a state is reached from its predecessors
// only, a function of the loop runs on the loop's thread. Never for input, and never for what the
// database or a peer may say. A process that dies costs its leases, which others take over; a wrong
// counter costs fairness or money, and nobody sees it.
[[noreturn]] void AssertFailed(std::string_view sentence, const std::source_location& where);

inline void Assert(bool condition, std::string_view sentence,
                   const std::source_location& where = std::source_location::current()) {
  if (!condition) [[unlikely]] {
    AssertFailed(sentence, where);
  }
}

}  // namespace vedette::base
