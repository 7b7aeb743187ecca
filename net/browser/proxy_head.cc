#include "net/browser/proxy_head.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "net/url.h"

namespace vedette::net {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool IsOfTheHop(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames{"connection", "proxy-connection", "keep-alive",
                                                   "proxy-authorization"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view one) {
    return base::EqualsIgnoringAsciiCase(one, name);
  });
}

// The fields without those of the hop, and the one that closes.
std::string ClosingFields(std::string_view fields) {
  std::string out;
  while (!fields.empty()) {
    const std::size_t end = fields.find(kLineEnd);
    const std::string_view line = fields.substr(0, end);
    if (!line.empty() && !IsOfTheHop(line.substr(0, line.find(':')))) out.append(line) += kLineEnd;
    fields = end == std::string_view::npos ? "" : fields.substr(end + kLineEnd.size());
  }
  return out.append("Connection: close").append(kLineEnd).append(kLineEnd);
}

std::string_view AfterLine(std::string_view head, std::size_t line_end) {
  return head.substr(std::min(line_end + kLineEnd.size(), head.size()));
}

}  // namespace

std::size_t EndOfHead(std::string_view bytes) {
  const std::size_t at = bytes.find("\r\n\r\n");
  return at == std::string_view::npos ? at : at + 4;
}

std::optional<ProxyRequest> ReadProxyRequest(std::string_view head) {
  const std::size_t line_end = head.find(kLineEnd);
  const std::string_view line = head.substr(0, line_end);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (line_end == std::string_view::npos || first == std::string_view::npos || first == last) {
    return std::nullopt;
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  ProxyRequest request;
  if (method == "CONNECT") {
    request.is_connect = true;
    request.url = "https://" + std::string(target) + "/";
    return request;
  }
  UrlParts parts;
  std::string error;
  if (!SplitUrl(target, &parts, &error) || parts.scheme != "http") return std::nullopt;
  request.url = "http://" + std::string(parts.host) + ":" + std::to_string(parts.port) + "/";
  request.head.append(method).append(" ").append(EncodeTarget(parts.rest)).append(" HTTP/1.1\r\n");
  request.head += ClosingFields(AfterLine(head, line_end));
  return request;
}

std::string ClosingAnswer(std::string_view head) {
  const std::size_t line_end = head.find(kLineEnd);
  std::string out(head.substr(0, line_end));
  return out.append(kLineEnd) + ClosingFields(AfterLine(head, line_end));
}

}  // namespace vedette::net
