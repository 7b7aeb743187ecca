#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// The heads of messages that a proxy of HTTP/1.1 passes on. Pure.
namespace vedette::net {

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

}  // namespace vedette::net
