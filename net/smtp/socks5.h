#pragma once

#include <cstdint>
#include <string>

#include "net/public_address.h"

// SOCKS version 5 (RFC 1928), without authentication, for connections to addresses. The proxy is
// given the address that was checked, never a name. Pure.
namespace vedette::net {

//   greeting sent --method 0--> request sent --success--> open
//        |                          |
//        +-----anything else--------+--> failed
class Socks5Opening {
 public:
  Socks5Opening(const IpAddress& target, int port) : target_(target), port_(port) {}

  enum class State : std::uint8_t { kGreeting, kRequest, kOpen, kFailed };
  State state() const { return state_; }

  std::string Greeting() const;
  // Takes what came, gives what is to be sent now. Bytes behind the opening stay in `bytes`.
  std::string Take(std::string* bytes);

 private:
  std::string Request() const;

  const IpAddress target_;
  const int port_;
  State state_ = State::kGreeting;
};

}  // namespace vedette::net
