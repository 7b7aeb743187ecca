#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

// Tables of names whose index is an enumeration's stored number.
namespace vedette::domain {

// A number that is none of the enumeration's (a row written by a newer version) has no name.
template <std::size_t N, typename E>
constexpr std::string_view NameIn(const std::array<std::string_view, N>& names, E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : std::string_view("unknown");
}

template <typename E, std::size_t N>
constexpr std::optional<E> FindIn(const std::array<std::string_view, N>& names,
                                  std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace vedette::domain
