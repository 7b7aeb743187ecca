#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The user ids of an OpenPGP key as a Web Key Directory serves it (RFC 9580 4 and 5.11): binary
// packets, of which everything but user ids is passed over. No signature is checked: the server
// that gives out the key speaks for the address's own domain. Pure; strangers' bytes go through it.
namespace vedette::domain {

inline constexpr std::size_t kOpenPgpBytesMax = 256 * 1024;  // further bytes are not read
inline constexpr std::size_t kUserIdsMax = 64;
inline constexpr std::size_t kUserIdBytesMax = 1024;  // a longer one is passed over

struct UserId {
  std::string name;     // without the address and comments; may be empty
  std::string address;  // as it stands in angle brackets, or the whole where it is one
};

// Those that hold an address, in their order. Bytes that are no packets end the reading; what was
// read before stays.
std::vector<UserId> ReadUserIds(std::string_view key);

// "Ada Lovelace (work) <ada@example.com>". An empty address where there is none.
UserId ParseUserId(std::string_view text);

}  // namespace vedette::domain
