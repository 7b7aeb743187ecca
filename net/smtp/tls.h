#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// TLS of one connection over memory: bytes in, bytes out, no socket. Opportunistic (RFC 3207): TLS
// 1.2 or later, the certificate is not checked, as nothing secret is said and a server without TLS
// would be asked all the same.
namespace vedette::net {

class TlsContext {
 public:
  TlsContext();  // throws std::runtime_error where OpenSSL refuses
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// One thread. `context` must outlive it.
//
//   handshake --its last bytes--> open
//      +--refused, or what OpenSSL cannot read--> failed, from open too
class TlsStream {
 public:
  enum class State : std::uint8_t { kHandshake, kOpen, kFailed };

  // `server_name` is sent as SNI where it is a name.
  TlsStream(const TlsContext& context, const std::string& server_name);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  State state() const;
  // Takes bytes of the peer; what they mean is appended to `plain`.
  void Take(std::string_view wire, std::string* plain);
  void Write(std::string_view plain);  // in state kOpen
  // What is to be sent to the peer now.
  std::string Out();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
