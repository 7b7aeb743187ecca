#include "base/uuid.h"

#include <algorithm>

#include "base/crypto.h"

namespace vedette::base {
namespace {

Uuid FromBytes(std::string_view bytes) {
  Uuid id;
  std::transform(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(id.bytes.size()),
                 id.bytes.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return id;
}

void SetVersion(Uuid* id, int version) {
  id->bytes[6] = static_cast<std::uint8_t>((id->bytes[6] & 0x0F) | (version << 4));
  id->bytes[8] = static_cast<std::uint8_t>((id->bytes[8] & 0x3F) | 0x80);  // the RFC's variant
}

constexpr bool IsDashPosition(std::size_t i) {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

}  // namespace

std::string Uuid::ToString() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(36, '-');
  std::size_t at = 0;
  for (const std::uint8_t byte : bytes) {
    if (IsDashPosition(at)) ++at;
    text[at++] = kDigits[byte >> 4];
    text[at++] = kDigits[byte & 15];
  }
  return text;
}

// Every id of every row read goes through here: no allocation.
std::optional<Uuid> Uuid::Parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid id;
  std::size_t at = 0;
  for (std::uint8_t& byte : id.bytes) {
    if (IsDashPosition(at) && text[at++] != '-') return std::nullopt;
    const int high = HexValue(text[at++]);
    const int low = HexValue(text[at++]);
    if (high < 0 || low < 0) return std::nullopt;
    byte = static_cast<std::uint8_t>(high * 16 + low);
  }
  return id;
}

Uuid Uuid::V7(const Clock& clock) {
  Uuid id = V4();
  const auto since_epoch = clock.Now().time_since_epoch();
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(since_epoch);
  auto ms = static_cast<std::uint64_t>(whole.count());
  for (int i = 5; i >= 0; --i) {
    id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(ms & 0xFF);
    ms >>= 8;
  }
  // The microseconds, 0 to 999, as a fraction of the 12 bits that follow.
  const auto fraction = static_cast<std::uint64_t>((since_epoch - whole).count()) * 4096 / 1000;
  id.bytes[6] = static_cast<std::uint8_t>(fraction >> 8);
  id.bytes[7] = static_cast<std::uint8_t>(fraction & 0xFF);
  SetVersion(&id, 7);
  return id;
}

Uuid Uuid::V4() {
  Uuid id = FromBytes(RandomBytes(16));
  SetVersion(&id, 4);
  return id;
}

Uuid Uuid::V5(const Uuid& name_space, std::string_view name) {
  std::string data(name_space.bytes.begin(), name_space.bytes.end());
  data.append(name);
  Uuid id = FromBytes(Sha1(data));
  SetVersion(&id, 5);
  return id;
}

}  // namespace vedette::base
