#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "net/http_client.h"
#include "net/public_address.h"
#include "net/resolver.h"

namespace vedette::net {

// The heads of messages that a proxy of HTTP/1.1 passes on. Pure.

inline constexpr std::size_t kProxyHeadBytesMax = 256 << 10;

// A request of the browser's.
struct ProxyRequest {
  bool is_connect = false;
  std::string url;   // whom to reach, for ParseTenantUrl: "http://host:port/"
  std::string head;  // what goes to the server; empty for CONNECT
};

// The end of a message's head, behind its empty line; npos: it has not come yet.
std::size_t EndOfHead(std::string_view bytes);

// "CONNECT a.example:443 HTTP/1.1", "GET http://a.example/b HTTP/1.1" and their fields. Headers of
// the hop are left out, and the server is asked to close after its answer. Empty where it is no
// such request.
std::optional<ProxyRequest> ReadProxyRequest(std::string_view head);

// The head of an answer, with what makes the browser use this connection for nothing more.
std::string ClosingAnswer(std::string_view head);

// What one page may fetch.
struct PageBounds {
  std::size_t bytes_max = 64 << 20;   // both ways, all connections of the page together
  std::size_t connections_max = 500;  // of the page's whole life; one may carry many requests
  std::size_t connections_open_max = 64;
};

// The only way out for one page in the browser (G9): a proxy of HTTP on a port of loopback that
// belongs to this page. It serves CONNECT, through which https and WebSocket go, and requests for
// http URLs.
//
//   accepted --head--> checked --> resolved --> connected --> relays --> closed
//                         |            |            |           |
//                         +- refused --+-- no name -+- failed --+-- over a bound: the whole page
//
// A host is checked as a tenant's URL is (ParseTenantUrl), then each address that its name has
// (AddressPolicy), and the connection goes to one of those very addresses, so that a name which
// changes its mind reaches nothing. Each connection goes to one server: an answer to a plain
// request ends it. Loop thread only.
class PageProxy {
 public:
  // `resolver` and `policy` must outlive it. Throws std::runtime_error where no port is free.
  PageProxy(base::EventLoop& loop, Resolver& resolver, const AddressPolicy& policy,
            const PageBounds& bounds);
  ~PageProxy();  // ends every connection
  PageProxy(const PageProxy&) = delete;
  PageProxy& operator=(const PageProxy&) = delete;

  int port() const;

  // What became of the last connection to the host, which is named as in a URL, in lower case;
  // kNone: nothing is known against it.
  struct Fault {
    HttpErrorClass error_class = HttpErrorClass::kNone;
    std::string error;  // a sentence's middle, as of HttpResponse
  };
  Fault FaultOf(const std::string& host) const;

  // Ends every connection and carries nothing more, but keeps its port: while the browser may still
  // try it, nobody else's is to be found there.
  void Stop();

  // The page was over a bound; nothing more is carried for it. The name of the bound; null: not.
  const char* exceeded() const;
  // Called once, when that happens; it must not destroy this object.
  void WhenExceeded(std::function<void()> f);
  std::size_t bytes() const;
  std::uint64_t refused() const;  // connections that were not allowed

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
