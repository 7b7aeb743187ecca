#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "net/public_address.h"
#include "net/smtp/dialogue.h"

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

// Why a connection to a mail server ended by itself.
enum class SmtpFault : std::uint8_t {
  kNotAllowed,  // the address is none that we connect to (G9)
  kConnect,     // no connection, also not in time
  kTimeout,     // the server is silent, or the connection's time is over
  kTls,         // the handshake failed
  kProtocol,    // what came is no SMTP, or more than was asked for
  kClosed,      // the server hung up
};

struct SmtpTimes {
  std::chrono::milliseconds connect;
  std::chrono::milliseconds banner;
  std::chrono::milliseconds reply;       // also the handshake
  std::chrono::milliseconds connection;  // all of it
};

struct SmtpPeer {
  IpAddress address;
  int port = 25;
};

struct SmtpTarget {
  SmtpPeer peer;
  std::string host;               // of the MX: SNI
  std::optional<SmtpPeer> proxy;  // SOCKS5, the operator's own: not checked
};

inline constexpr std::size_t kSmtpConnectionBytesMax = 256 * 1024;  // that a server may send

// One connection to a mail server: lines out, replies in, with all bounds of time and size. It
// knows nothing of what is said (dialogue.h). Loop thread only.
//
//   connecting --> [proxy] --> banner due --> reply due <--Send-- idle <-------------+
//                                                 |               ^ |                |
//                                                 +-----reply-----+ +--StartTls--> handshake
//
// Every state may end with a fault; nothing comes after it.
class SmtpConnection {
 public:
  struct Events {
    std::function<void(const SmtpReply&)> reply;  // to the connection itself first, then to a line;
                                                  // an unasked 421 comes at any time
    std::function<void()> secured;
    std::function<void(SmtpFault)> failed;
  };

  // Begins to connect; `policy` checks the address once more. Everything handed in must outlive
  // this object. Events come from the loop, never from inside a method; they may destroy it.
  SmtpConnection(base::EventLoop& loop, const TlsContext& tls, const AddressPolicy& policy,
                 const SmtpTarget& target, const SmtpTimes& times, Events events);
  // Hangs up. No event comes any more.
  ~SmtpConnection();
  SmtpConnection(const SmtpConnection&) = delete;
  SmtpConnection& operator=(const SmtpConnection&) = delete;

  // One line, without its end, while no reply is due.
  void Send(const std::string& line);
  // While no reply is due. Bytes that came before the handshake are a fault.
  void StartTls();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::net
