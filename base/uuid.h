#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace vedette::base {

// A UUID as 16 bytes, big-endian as in RFC 9562. A value type; the default is the nil UUID.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Uuid&) const = default;
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
};

}  // namespace vedette::base

template <>
struct std::hash<vedette::base::Uuid> {
  std::size_t operator()(const vedette::base::Uuid& id) const noexcept {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    for (int i = 0; i < 8; ++i) {
      a = (a << 8) | id.bytes[static_cast<std::size_t>(i)];
      b = (b << 8) | id.bytes[static_cast<std::size_t>(i + 8)];
    }
    return static_cast<std::size_t>(a * 0x9E3779B97F4A7C15ULL ^ b);
  }
};
