#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "domain/monitor/enums.h"

namespace vedette::test {

// The outcomes of a small tick by position, as InWords reads them.
inline constexpr const char* kTickOutcomes = "select encode(outcomes, 'hex') from tick";

// The outcomes that PostgreSQL gives as hexadecimal digits, in words: "changed, 2 unchanged" of
// "010202". Lists between commas are told apart by semicolons; what is no list stays as it is.
inline std::string InWords(std::string_view lists) {
  std::string words;
  for (std::size_t begin = 0; begin <= lists.size();) {
    const std::size_t end = std::min(lists.find(',', begin), lists.size());
    const auto packed = base::HexDecode(lists.substr(begin, end - begin));
    if (!packed) return std::string(lists);
    if (begin > 0) words += "; ";
    for (std::size_t first = 0; first < packed->size();) {
      std::size_t next = first;
      while (next < packed->size() && (*packed)[next] == (*packed)[first]) ++next;
      if (first > 0) words += ", ";
      if (next - first > 1) words += fmt::format("{} ", next - first);
      const auto number = static_cast<std::uint8_t>((*packed)[first]);
      words += number == domain::kNoOutcome ? "none" : domain::OutcomeName(domain::Outcome{number});
      first = next;
    }
    begin = end + 1;
  }
  return words;
}

// The packed form, as hexadecimal digits.
inline std::string HexOf(const std::vector<domain::Outcome>& outcomes) {
  std::string hex;
  for (const auto outcome : outcomes) hex += fmt::format("{:02x}", static_cast<int>(outcome));
  return hex;
}

}  // namespace vedette::test
