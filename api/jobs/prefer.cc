#include "api/jobs/prefer.h"

#include <charconv>
#include <string_view>

#include "base/text.h"

namespace vedette::api {
namespace {

// More seconds than any wait lasts; a longer number cannot be read.
constexpr int kSecondsMax = 1'000'000;

// `preference`: "wait=10", with spaces around its parts and perhaps parameters after a semicolon.
std::optional<std::chrono::seconds> WaitOf(std::string_view preference) {
  preference = base::Trim(preference.substr(0, preference.find(';')));
  const std::size_t equals = preference.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view name = base::Trim(preference.substr(0, equals));
  if (!base::EqualsIgnoringAsciiCase(name, "wait")) return std::nullopt;
  std::string_view digits = base::Trim(preference.substr(equals + 1));
  if (digits.size() >= 2 && digits.front() == '"' && digits.back() == '"') {
    digits = digits.substr(1, digits.size() - 2);
  }
  int seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
  if (!is_whole || seconds < 1 || seconds > kSecondsMax) return std::nullopt;
  return std::chrono::seconds(seconds);
}

}  // namespace

std::optional<std::chrono::seconds> PreferredWait(const net::ServerRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (name != "prefer") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      if (const auto wait = WaitOf(rest.substr(0, comma))) return wait;
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return std::nullopt;
}

}  // namespace vedette::api
