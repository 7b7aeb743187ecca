#include "api/kit/cursor.h"

#include <algorithm>

#include "base/crypto.h"
#include "domain/auth/cell.h"

namespace vedette::rest {
namespace {

constexpr char kVersion = 1;
constexpr std::size_t kHeadBytes = 18;
constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kIdBytes = 16;
// The end of the year 9999: a later time is forged, and PostgreSQL might not hold it.
constexpr std::int64_t kMicrosMax = 253'402'300'800'000'000;

std::string Head(const CursorOf& list) {
  std::string head{kVersion, list.kind};
  head.append(list.bound_to.bytes.begin(), list.bound_to.bytes.end());
  return head;
}

// What stands after the head, if it is `bytes` long.
std::optional<std::string> Place(const CursorOf& list, std::string_view given, std::size_t bytes) {
  const std::string_view cursor = domain::SplitCell(given).text;
  if (cursor.size() > 2 * (kHeadBytes + bytes)) return std::nullopt;
  const auto decoded = base::Base64UrlDecode(cursor);
  if (!decoded || decoded->size() != kHeadBytes + bytes) return std::nullopt;
  if (!decoded->starts_with(Head(list))) return std::nullopt;
  return decoded->substr(kHeadBytes);
}

void AppendNumber(std::int64_t number, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    *out += static_cast<char>((static_cast<std::uint64_t>(number) >> shift) & 0xFF);
  }
}

// Empty for a negative one.
std::optional<std::int64_t> ReadNumber(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = (value << 8) | static_cast<unsigned char>(c);
  const auto number = static_cast<std::int64_t>(value);
  if (number < 0) return std::nullopt;
  return number;
}

void AppendId(const base::Uuid& id, std::string* out) {
  out->append(id.bytes.begin(), id.bytes.end());
}

base::Uuid ReadId(std::string_view bytes) {
  base::Uuid id;
  std::copy_n(bytes.begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

}  // namespace

std::string EncodeCursor(const CursorOf& list, std::int64_t after) {
  std::string text = Head(list);
  AppendNumber(after, &text);
  return domain::WithCell(list.cell, base::Base64UrlEncode(text));
}

std::string EncodeCursor(const CursorOf& list, const base::Uuid& after) {
  std::string text = Head(list);
  AppendId(after, &text);
  return domain::WithCell(list.cell, base::Base64UrlEncode(text));
}

std::string EncodeCursor(const CursorOf& list, const TimedPlace& after) {
  std::string text = Head(list);
  AppendNumber(after.at.time_since_epoch().count(), &text);
  AppendId(after.id, &text);
  return domain::WithCell(list.cell, base::Base64UrlEncode(text));
}

std::optional<std::int64_t> DecodeCursor(const CursorOf& list, std::string_view cursor) {
  const auto place = Place(list, cursor, kNumberBytes);
  if (!place) return std::nullopt;
  return ReadNumber(*place);
}

std::optional<base::Uuid> DecodeIdCursor(const CursorOf& list, std::string_view cursor) {
  const auto place = Place(list, cursor, kIdBytes);
  if (!place) return std::nullopt;
  return ReadId(*place);
}

std::optional<TimedPlace> DecodeTimedCursor(const CursorOf& list, std::string_view cursor) {
  const auto place = Place(list, cursor, kNumberBytes + kIdBytes);
  if (!place) return std::nullopt;
  const auto micros = ReadNumber(std::string_view(*place).substr(0, kNumberBytes));
  if (!micros || *micros > kMicrosMax) return std::nullopt;
  return TimedPlace{base::Timestamp(std::chrono::microseconds(*micros)),
                    ReadId(std::string_view(*place).substr(kNumberBytes))};
}

}  // namespace vedette::rest
