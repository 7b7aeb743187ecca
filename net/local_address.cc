#include "net/local_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace vedette::net {
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
