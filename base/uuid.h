#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace vedette::base {

// A UUID as 16 bytes, big-endian as in RFC 9562. A value type; the default is the nil UUID.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  bool operator==(const Uuid&) const = default;
  // The order of the bytes, compared eight at a time.
  std::strong_ordering operator<=>(const Uuid& other) const {
    const auto high = Word(0) <=> other.Word(0);
    return high != 0 ? high : Word(8) <=> other.Word(8);
  }
  bool is_nil() const { return *this == Uuid{}; }

  // Lower-case text, 36 characters.
  std::string ToString() const;

  // Accepts the 36-character form in either case, nothing else.
  static std::optional<Uuid> Parse(std::string_view text);

  // Version 7: milliseconds, 12 bits of what follows them (RFC 9562, section 6.2, method 3), then
  // 62 random bits (from the operating system). Ids made later sort later, to the microsecond, so
  // that a list in the order of ids is in the order in which its things were made. Any thread.
  static Uuid V7(const Clock& clock);

  // The last one in the order of ids: every id that is made comes before it.
  static Uuid Last() {
    Uuid id;
    id.bytes.fill(0xFF);
    return id;
  }

  // Version 4: random. Any thread.
  static Uuid V4();

  // Version 5: SHA-1 of the namespace and the name. The same arguments give the same id everywhere.
  static Uuid V5(const Uuid& name_space, std::string_view name);

  // The eight bytes from `at` on as a number, big-endian.
  std::uint64_t Word(std::size_t at) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
  }
};

}  // namespace vedette::base

template <>
struct std::hash<vedette::base::Uuid> {
  std::size_t operator()(const vedette::base::Uuid& id) const noexcept {
    return static_cast<std::size_t>(id.Word(0) * 0x9E3779B97F4A7C15ULL ^ id.Word(8));
  }
};
