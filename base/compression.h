#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace vedette::base {

// How much time is given for fewer bytes: the usual, for what is kept; little, for what goes soon.
enum class Effort { kUsual, kLittle };

// zlib's format (RFC 1950). Both are safe on any thread; std::runtime_error where there is no
// memory.
std::string Compressed(std::string_view text, Effort effort = Effort::kUsual);
// Empty where it is not what Compressed made, or holds more than `bytes_max`.
std::optional<std::string> Decompressed(std::string_view compressed, std::size_t bytes_max);

}  // namespace vedette::base
