#include "base/base64url.h"

#include <array>
#include <cstdint>

namespace vedette::base {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& value : values) value = kNone;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::string Base64UrlEncode(std::string_view data) {
  std::string text;
  text.reserve((data.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int count = 0;  // of the bits that are not written yet
  for (const char c : data) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += kAlphabet[(bits << (6 - count)) & 63];
  return text;
}

std::optional<std::string> Base64UrlDecode(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string data;
  data.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;  // of the bits that are not taken yet
  for (const char c : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone) return std::nullopt;
    bits = (bits << 6) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    data += static_cast<char>((bits >> count) & 255);
  }
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return data;
}

}  // namespace vedette::base
