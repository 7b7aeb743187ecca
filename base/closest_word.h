#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::base {

// The word of `known` that a typist probably meant: the first one with the fewest insertions,
// deletions and replacements of bytes between it and `word`. Empty where even that one needs more
// than `typos_max` of them. Takes time in the product of the lengths. Pure.
std::optional<std::string> ClosestWord(std::string_view word, const std::vector<std::string>& known,
                                       std::size_t typos_max);

}  // namespace vedette::base
