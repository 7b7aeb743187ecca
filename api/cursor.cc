#include "api/cursor.h"

#include <algorithm>

namespace vedette::api {
namespace {

constexpr char kVersion = 1;
constexpr std::size_t kHeadBytes = 18;
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string Base64Url(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    held += 8;
    while (held >= 6) {
      held -= 6;
      out += kDigits[(bits >> held) & 63];
    }
  }
  if (held > 0) out += kDigits[(bits << (6 - held)) & 63];
  return out;
}

// Empty for a foreign character; what is left over at the end must be zero, so that every cursor
// has one spelling.
std::optional<std::string> FromBase64Url(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> held) & 0xFF);
    }
  }
  if (held >= 6 || (bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return out;
}

std::string Head(CursorKind kind, const base::Uuid& bound_to) {
  std::string head{kVersion, static_cast<char>(kind)};
  head.append(bound_to.bytes.begin(), bound_to.bytes.end());
  return head;
}

// What stands behind the head, if it is `bytes` long.
std::optional<std::string> Payload(CursorKind kind, const base::Uuid& bound_to,
                                   std::string_view cursor, std::size_t bytes) {
  if (cursor.size() > 2 * (kHeadBytes + bytes)) return std::nullopt;
  const auto decoded = FromBase64Url(cursor);
  if (!decoded || decoded->size() != kHeadBytes + bytes) return std::nullopt;
  if (!decoded->starts_with(Head(kind, bound_to))) return std::nullopt;
  return decoded->substr(kHeadBytes);
}

}  // namespace

std::string EncodeCursor(CursorKind kind, const base::Uuid& bound_to, std::int64_t after) {
  std::string text = Head(kind, bound_to);
  for (int shift = 56; shift >= 0; shift -= 8) {
    text += static_cast<char>((static_cast<std::uint64_t>(after) >> shift) & 0xFF);
  }
  return Base64Url(text);
}

std::string EncodeCursor(CursorKind kind, const base::Uuid& bound_to, const base::Uuid& after) {
  std::string text = Head(kind, bound_to);
  text.append(after.bytes.begin(), after.bytes.end());
  return Base64Url(text);
}

std::optional<std::int64_t> DecodeCursor(CursorKind kind, const base::Uuid& bound_to,
                                         std::string_view cursor) {
  const auto payload = Payload(kind, bound_to, cursor, 8);
  if (!payload) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : *payload) value = (value << 8) | static_cast<unsigned char>(c);
  const auto after = static_cast<std::int64_t>(value);
  if (after < 0) return std::nullopt;
  return after;
}

std::optional<base::Uuid> DecodeIdCursor(CursorKind kind, const base::Uuid& bound_to,
                                         std::string_view cursor) {
  const auto payload = Payload(kind, bound_to, cursor, 16);
  if (!payload) return std::nullopt;
  base::Uuid id;
  std::copy_n(payload->begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

}  // namespace vedette::api
