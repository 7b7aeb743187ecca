#include "domain/people/openpgp.h"

#include <cstdint>
#include <optional>

#include "base/text.h"

namespace vedette::domain {
namespace {

constexpr unsigned kUserIdTag = 13;

// Takes bytes from the front of what is left.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }

  // A big-endian number of `size` bytes.
  std::optional<std::size_t> Number(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    std::size_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<unsigned char>(rest_[i]);
    }
    rest_.remove_prefix(size);
    return value;
  }
  std::optional<std::string_view> Take(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view rest_;
};

struct Packet {
  unsigned tag = 0;
  std::string_view body;
};

// The length behind a tag of the old format; of an indeterminate length there is no end.
std::optional<std::size_t> OldLength(unsigned type, Bytes* bytes) {
  if (type == 3) return std::nullopt;
  return bytes->Number(std::size_t{1} << type);
}

// The length behind a tag of the new format. Partial lengths are of data packets, which no key has.
std::optional<std::size_t> NewLength(Bytes* bytes) {
  const auto first = bytes->Number(1);
  if (!first || *first < 192) return first;
  if (*first == 255) return bytes->Number(4);
  if (*first >= 224) return std::nullopt;
  const auto second = bytes->Number(1);
  if (!second) return std::nullopt;
  return ((*first - 192) << 8) + *second + 192;
}

std::optional<Packet> NextPacket(Bytes* bytes) {
  const auto head = bytes->Number(1);
  if (!head || (*head & 0x80) == 0) return std::nullopt;
  const bool is_new = (*head & 0x40) != 0;
  const auto bits = static_cast<unsigned>(*head);
  const auto length = is_new ? NewLength(bytes) : OldLength(bits & 0x03, bytes);
  if (!length) return std::nullopt;
  const auto body = bytes->Take(*length);
  if (!body) return std::nullopt;
  return Packet{is_new ? bits & 0x3F : (bits & 0x3C) >> 2, *body};
}

// Without what stands in round brackets.
std::string WithoutComments(std::string_view text) {
  std::string kept;
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (depth == 0) kept += c;
    if (c == ')' && depth > 0) --depth;
  }
  return base::FoldSpace(kept);
}

}  // namespace

UserId ParseUserId(std::string_view text) {
  const auto open = text.rfind('<');
  const auto close = text.find('>', open == std::string_view::npos ? 0 : open);
  if (open != std::string_view::npos && close != std::string_view::npos) {
    const std::string_view address = text.substr(open + 1, close - open - 1);
    return {WithoutComments(text.substr(0, open)), std::string(base::Trim(address))};
  }
  const std::string_view whole = base::Trim(text);
  const bool is_address = whole.find('@') != std::string_view::npos &&
                          whole.find_first_of(" <>") == std::string_view::npos;
  return {"", is_address ? std::string(whole) : ""};
}

std::vector<UserId> ReadUserIds(std::string_view key) {
  Bytes bytes(key.substr(0, kOpenPgpBytesMax));
  std::vector<UserId> ids;
  while (!bytes.empty() && ids.size() < kUserIdsMax) {
    const auto packet = NextPacket(&bytes);
    if (!packet) break;
    const bool is_readable = packet->tag == kUserIdTag && packet->body.size() <= kUserIdBytesMax &&
                             base::IsValidUtf8(packet->body);
    if (!is_readable) continue;
    UserId id = ParseUserId(packet->body);
    if (!id.address.empty()) ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace vedette::domain
