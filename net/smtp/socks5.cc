#include "net/smtp/socks5.h"

namespace vedette::net {
namespace {

constexpr char kVersion = 5;
constexpr char kNoAuthentication = 0;
constexpr char kConnect = 1;
constexpr char kIpV4 = 1;
constexpr char kName = 3;
constexpr char kIpV6 = 4;

}  // namespace

std::string Socks5Opening::Greeting() const {
  return {kVersion, 1, kNoAuthentication};
}

std::string Socks5Opening::Request() const {
  std::string out{kVersion, kConnect, 0, target_.v6 ? kIpV6 : kIpV4};
  out.append(reinterpret_cast<const char*>(target_.bytes.data()), target_.v6 ? 16 : 4);
  out += static_cast<char>(port_ >> 8);
  out += static_cast<char>(port_ & 0xff);
  return out;
}

std::string Socks5Opening::Take(std::string* bytes) {
  if (state_ == State::kGreeting) {
    if (bytes->size() < 2) return {};
    const bool ok = (*bytes)[0] == kVersion && (*bytes)[1] == kNoAuthentication;
    bytes->erase(0, 2);
    state_ = ok ? State::kRequest : State::kFailed;
    return ok ? Request() : std::string();
  }
  if (state_ != State::kRequest || bytes->size() < 5) return {};
  if ((*bytes)[0] != kVersion || (*bytes)[1] != 0) {
    state_ = State::kFailed;
    return {};
  }
  std::size_t address = 0;
  switch ((*bytes)[3]) {
    case kIpV4:
      address = 4;
      break;
    case kIpV6:
      address = 16;
      break;
    case kName:
      address = 1 + static_cast<unsigned char>((*bytes)[4]);
      break;
    default:
      state_ = State::kFailed;
      return {};
  }
  const std::size_t size = 4 + address + 2;
  if (bytes->size() < size) return {};
  bytes->erase(0, size);
  state_ = State::kOpen;
  return {};
}

}  // namespace vedette::net
