#include "net/public_address.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"

namespace vedette::net {
namespace {

struct Block {
  std::array<std::uint8_t, 4> start;  // the first bytes; the rest is zero
  int prefix_bits;
};

// IANA's special-purpose registries, and 168.63.129.16, Azure's host service, which is reachable
// from every virtual machine there.
constexpr Block kNeverPublicV4[] = {
    {{0, 0, 0, 0}, 8},       {{10, 0, 0, 0}, 8},     {{100, 64, 0, 0}, 10},
    {{127, 0, 0, 0}, 8},     {{169, 254, 0, 0}, 16}, {{172, 16, 0, 0}, 12},
    {{192, 0, 0, 0}, 24},    {{192, 0, 2, 0}, 24},   {{192, 88, 99, 0}, 24},
    {{192, 168, 0, 0}, 16},  {{198, 18, 0, 0}, 15},  {{198, 51, 100, 0}, 24},
    {{203, 0, 113, 0}, 24},  {{224, 0, 0, 0}, 4},    {{240, 0, 0, 0}, 4},
    {{168, 63, 129, 16}, 32}};

// Only 2000::/3 of IPv6 is public, without these: protocol assignments (Teredo among them),
// documentation, 6to4, documentation again.
constexpr Block kGlobalUnicastV6 = {{0x20, 0, 0, 0}, 3};
constexpr Block kNeverPublicV6[] = {{{0x20, 0x01, 0x00, 0x00}, 23},
                                    {{0x20, 0x01, 0x0d, 0xb8}, 32},
                                    {{0x20, 0x02, 0x00, 0x00}, 16},
                                    {{0x3f, 0xff, 0x00, 0x00}, 20}};

template <typename A, typename B>
bool SamePrefix(const A& a, const B& b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) {
    return false;
  }
  const int rest = bits % 8;
  if (rest == 0) {
    return true;
  }
  const int mask = 0xff << (8 - rest) & 0xff;
  return (a[whole] & mask) == (b[whole] & mask);
}

bool IsIn(const IpAddress& ip, const Block& block) {
  return SamePrefix(block.start, ip.bytes, block.prefix_bits);
}

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool IsMapped(const IpAddress& ip) {
  return ip.v6 && SamePrefix(kMappedPrefix, ip.bytes, 96);
}

// ::ffff:1.2.3.4 as 1.2.3.4; everything else as it is.
IpAddress Unwrap(const IpAddress& ip) {
  if (!IsMapped(ip)) {
    return ip;
  }
  IpAddress v4;
  std::copy(ip.bytes.begin() + 12, ip.bytes.end(), v4.bytes.begin());
  return v4;
}

}  // namespace

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
  return text;
}

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  IpAddress ip;
  ip.v6 = text.find(':') != std::string_view::npos;
  if (inet_pton(ip.v6 ? AF_INET6 : AF_INET, std::string(text).c_str(), ip.bytes.data()) != 1) {
    return std::nullopt;
  }
  return ip;
}

bool Cidr::Contains(const IpAddress& ip) const {
  return ip.v6 == address.v6 && SamePrefix(address.bytes, ip.bytes, prefix_bits);
}

std::optional<Cidr> Cidr::Parse(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto ip = IpAddress::Parse(text.substr(0, slash));
  if (!ip) {
    return std::nullopt;
  }
  const int bits_max = ip->v6 ? 128 : 32;
  int bits = bits_max;
  if (slash < text.size()) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (ec != std::errc() || end != digits.data() + digits.size() || bits < 0 || bits > bits_max) {
      return std::nullopt;
    }
  }
  if (IsMapped(*ip) && bits >= 96) {  // addresses are unwrapped before they are looked up
    return Cidr{Unwrap(*ip), bits - 96};
  }
  return Cidr{*ip, bits};
}

bool IsPublicAddress(const IpAddress& given) {
  const IpAddress ip = Unwrap(given);
  const auto in = [&](const Block& block) { return IsIn(ip, block); };
  if (ip.v6) {
    return in(kGlobalUnicastV6) &&
           std::none_of(std::begin(kNeverPublicV6), std::end(kNeverPublicV6), in);
  }
  return std::none_of(std::begin(kNeverPublicV4), std::end(kNeverPublicV4), in);
}

namespace {

// An entry of X-Forwarded-For: an address, with a port as some proxies write it or without:
// "203.0.113.7:5678", "[2001:db8::7]:5678".
std::optional<IpAddress> ParseForwarded(std::string_view entry) {
  if (entry.starts_with('[')) {
    const auto end = entry.find(']');
    return end == std::string_view::npos ? std::nullopt
                                         : IpAddress::Parse(entry.substr(1, end - 1));
  }
  const auto colon = entry.find(':');
  const bool has_port = colon != std::string_view::npos && colon == entry.rfind(':');
  return IpAddress::Parse(has_port ? entry.substr(0, colon) : entry);
}

}  // namespace

std::string ClientAddress(const std::string& peer,
                          const std::vector<std::string_view>& forwarded_for,
                          const std::vector<Cidr>& trusted) {
  auto client = IpAddress::Parse(peer);
  if (!client) return peer;
  const auto is_trusted = [&](const IpAddress& ip) {
    return std::any_of(trusted.begin(), trusted.end(),
                       [&](const Cidr& cidr) { return cidr.Contains(ip); });
  };
  for (auto value = forwarded_for.rbegin(); value != forwarded_for.rend(); ++value) {
    std::string_view rest = *value;
    while (!rest.empty()) {
      if (!is_trusted(*client)) return client->ToString();
      const auto comma = rest.rfind(',');
      const auto entry = comma == std::string_view::npos ? rest : rest.substr(comma + 1);
      const auto before = ParseForwarded(base::Trim(entry));
      if (!before) return client->ToString();
      client = Unwrap(*before);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(0, comma);
    }
  }
  return client->ToString();
}

AddressPolicy::AddressPolicy(const std::vector<std::string>& allow) {
  for (const std::string& entry : allow) {
    const auto cidr = Cidr::Parse(entry);
    if (!cidr) {
      throw std::invalid_argument("[net] allow: \"" + entry +
                                  "\" is not an address or CIDR such as 10.0.0.0/8");
    }
    allow_.push_back(*cidr);
  }
}

bool AddressPolicy::Allows(const IpAddress& given) const {
  const IpAddress ip = Unwrap(given);
  return IsPublicAddress(ip) || std::any_of(allow_.begin(), allow_.end(),
                                            [&](const Cidr& cidr) { return cidr.Contains(ip); });
}

namespace {

constexpr std::uint16_t kAnyPort = 9;  // "connecting" a datagram socket sends nothing

}  // namespace

std::optional<IpAddress> LocalAddressTowards(const IpAddress& peer) {
  const int family = peer.v6 ? AF_INET6 : AF_INET;
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::nullopt;
  sockaddr_storage address{};
  if (peer.v6) {
    auto* in6 = reinterpret_cast<sockaddr_in6*>(&address);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(kAnyPort);
    std::memcpy(&in6->sin6_addr, peer.bytes.data(), 16);
  } else {
    auto* in = reinterpret_cast<sockaddr_in*>(&address);
    in->sin_family = AF_INET;
    in->sin_port = htons(kAnyPort);
    std::memcpy(&in->sin_addr, peer.bytes.data(), 4);
  }
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool known = connect(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0;
  close(fd);
  if (!known) return std::nullopt;
  IpAddress local;
  local.v6 = peer.v6;
  if (peer.v6) {
    std::memcpy(local.bytes.data(), &reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr, 16);
  } else {
    std::memcpy(local.bytes.data(), &reinterpret_cast<sockaddr_in*>(&address)->sin_addr, 4);
  }
  return local;
}

}  // namespace vedette::net
