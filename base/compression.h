#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace vedette::base {

// zlib's format (RFC 1950). Both are safe on any thread; std::runtime_error where there is no
// memory.
std::string Compressed(std::string_view text);
// Empty where it is not what Compressed made, or holds more than `bytes_max`.
std::optional<std::string> Decompressed(std::string_view compressed, std::size_t bytes_max);

}  // namespace vedette::base
