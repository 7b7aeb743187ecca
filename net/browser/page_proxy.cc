#include "net/browser/page_proxy.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <uv.h>

#include "base/assert.h"
#include "base/text.h"
#include "net/browser/byte_stream.h"
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

namespace {

using std::chrono::milliseconds;

// Connections that wait to be accepted.
constexpr int kBacklog = 64;
// What one side may be behind the other; over it the faster one is not read.
constexpr std::size_t kBehindMax = 256 << 10;
// Addresses of a name that are tried in turn.
constexpr std::size_t kAddressesMax = 4;
// The head of a request, the name and one connection each have this long.
constexpr milliseconds kStepTimeMax{10'000};
// The longest name of a host that there is; nothing is remembered of what is longer.
constexpr std::size_t kHostBytesMax = 255;
constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";
constexpr std::string_view kForbidden =
    "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
constexpr std::string_view kUnreachable =
    "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

}  // namespace

struct PageProxy::Impl {
  // One connection of the browser's.
  struct Relay {
    std::uint64_t id = 0;
    std::unique_ptr<ByteStream> browser;
    std::unique_ptr<ByteStream> server;  // once there is an address
    std::unique_ptr<base::Timer> timer;  // while something is waited for before it relays
    std::string read;                    // of the browser's, before the server is reached
    std::string answer;                  // of the server's, before its head is whole
    std::optional<ProxyRequest> request;
    std::string host;  // as the browser names it, in lower case
    TenantUrl url;
    std::vector<IpAddress> addresses;  // still to be tried
    bool relays = false;               // the server is reached
  };

  Impl(base::EventLoop& l, Resolver& r, const AddressPolicy& p, const PageBounds& b)
      : loop(l), resolver(r), policy(p), bounds(b) {}
  ~Impl() {
    relays.clear();
    *alive = false;
    uv_close(reinterpret_cast<uv_handle_t*>(listener),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_tcp_t*>(handle); });
  }

  void Listen();
  void Accept();
  Relay* Find(std::uint64_t id) {
    const auto it = relays.find(id);
    return it == relays.end() ? nullptr : it->second.get();
  }
  // Any call of these may end the relay: who called looks it up again.
  void OnBrowserData(std::uint64_t id, std::string_view bytes);
  void OnServerData(std::uint64_t id, std::string_view bytes);
  void Resolve(Relay& relay);
  void OnResolved(std::uint64_t id, ResolveResult result);
  void Connect(Relay& relay);
  void OnConnected(std::uint64_t id, bool ok);
  void Refuse(Relay& relay, HttpErrorClass error_class, std::string error);
  void EndOf(std::uint64_t id, bool of_server);
  void Await(Relay& relay, HttpErrorClass error_class);
  bool Count(std::size_t n);
  void Exceed(const char* bound);

  base::EventLoop& loop;
  Resolver& resolver;
  const AddressPolicy& policy;
  const PageBounds bounds;
  uv_tcp_t* listener = nullptr;  // owned by libuv once it is closed
  int port = 0;
  std::map<std::uint64_t, std::unique_ptr<Relay>> relays;
  std::uint64_t connections = 0;
  std::uint64_t refused = 0;
  std::size_t bytes = 0;
  const char* exceeded = nullptr;
  bool stopped = false;
  std::function<void()> when_exceeded;
  std::map<std::string, Fault> faults;  // by host; bounded by the connections of a page
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // for the resolver's callbacks
};

void PageProxy::Impl::Listen() {
  listener = new uv_tcp_t;
  uv_tcp_init(loop.raw(), listener);
  listener->data = this;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int status = uv_tcp_bind(listener, reinterpret_cast<const sockaddr*>(&address), 0);
  if (status == 0) {
    status = uv_listen(reinterpret_cast<uv_stream_t*>(listener), kBacklog,
                       [](uv_stream_t* stream, int result) {
                         if (result == 0)
                           static_cast<Impl*>(static_cast<void*>(stream->data))->Accept();
                       });
  }
  int size = sizeof address;
  if (status == 0) {
    status = uv_tcp_getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  }
  if (status != 0) {
    throw std::runtime_error(std::string("no port for a page's proxy: ") + uv_strerror(status));
  }
  port = ntohs(address.sin_port);
}

void PageProxy::Impl::Accept() {
  auto relay = std::make_unique<Relay>();
  const std::uint64_t id = ++connections;
  relay->id = id;
  relay->browser = std::make_unique<ByteStream>(
      loop, ByteStream::Kind::kTcp,
      ByteStream::Events{{},
                         [this, id](std::string_view data) { OnBrowserData(id, data); },
                         [this, id] { EndOf(id, false); },
                         [this, id] {
                           Relay* one = Find(id);
                           if (one == nullptr) return;
                           // A refusal has gone.
                           if (one->request && !one->relays && one->server == nullptr &&
                               one->timer == nullptr) {
                             relays.erase(id);
                           } else if (one->relays && one->server != nullptr) {
                             one->server->Read();
                           }
                         }});
  if (!relay->browser->Accept(reinterpret_cast<uv_stream_t*>(listener))) return;
  if (stopped || relays.size() >= bounds.connections_open_max) return;
  if (connections > bounds.connections_max) return Exceed("connections");
  Relay& made = *relay;
  relays.emplace(id, std::move(relay));
  Await(made, HttpErrorClass::kTimeout);
  made.browser->Read();
}

void PageProxy::Impl::Await(Relay& relay, HttpErrorClass error_class) {
  relay.timer = std::make_unique<base::Timer>(loop, [this, id = relay.id, error_class] {
    Relay* one = Find(id);
    if (one == nullptr) return;
    if (error_class == HttpErrorClass::kConnect && !one->addresses.empty()) return Connect(*one);
    Refuse(*one, error_class, "it took too long to be reached");
  });
  relay.timer->Start(kStepTimeMax);
}

void PageProxy::Impl::OnBrowserData(std::uint64_t id, std::string_view data) {
  Relay* relay = Find(id);
  if (relay == nullptr || !Count(data.size())) return;
  if (relay->relays) {
    relay->server->Write(std::string(data));
    if (relay->server->waiting() > kBehindMax) relay->browser->PauseReading();
    return;
  }
  relay->read.append(data);
  if (relay->request) {  // it waits for the server
    if (relay->read.size() > kBehindMax) relay->browser->PauseReading();
    return;
  }
  const std::size_t end = EndOfHead(relay->read);
  if (end == std::string::npos) {
    if (relay->read.size() > kProxyHeadBytesMax) relays.erase(id);
    return;
  }
  relay->request = ReadProxyRequest(std::string_view(relay->read).substr(0, end));
  relay->read.erase(0, end);
  if (!relay->request) {
    relays.erase(id);
    return;
  }
  Resolve(*relay);
}

void PageProxy::Impl::Resolve(Relay& relay) {
  UrlParts parts;
  std::string error;
  if (SplitUrl(relay.request->url, &parts, &error)) relay.host = base::AsciiLower(parts.host);
  TenantUrlResult checked = ParseTenantUrl(relay.request->url, policy);
  if (checked.error) {
    return Refuse(relay, HttpErrorClass::kRefusedAddress, std::move(checked.error->message));
  }
  relay.url = std::move(*checked.url);
  Await(relay, HttpErrorClass::kDns);
  if (relay.url.literal) {
    relay.addresses = {*relay.url.literal};
    return Connect(relay);
  }
  resolver.Resolve(relay.url.host, [this, id = relay.id, still = alive](ResolveResult result) {
    if (*still) OnResolved(id, std::move(result));
  });
}

void PageProxy::Impl::OnResolved(std::uint64_t id, ResolveResult result) {
  Relay* relay = Find(id);
  if (relay == nullptr || relay->relays || relay->server != nullptr) return;
  if (result.addresses.empty()) {
    return Refuse(*relay, HttpErrorClass::kDns,
                  "the name " + relay->url.host + " cannot be resolved: " + result.error);
  }
  std::erase_if(result.addresses, [&](const IpAddress& ip) { return !policy.Allows(ip); });
  if (result.addresses.empty()) {
    return Refuse(*relay, HttpErrorClass::kRefusedAddress,
                  "the name " + relay->url.host + " resolves to no public address");
  }
  result.addresses.resize(std::min(result.addresses.size(), kAddressesMax));
  relay->addresses = std::move(result.addresses);
  Connect(*relay);
}

void PageProxy::Impl::Connect(Relay& relay) {
  const IpAddress address = relay.addresses.front();
  relay.addresses.erase(relay.addresses.begin());
  if (!policy.Allows(address)) {
    return Refuse(relay, HttpErrorClass::kRefusedAddress,
                  address.ToString() + " is not a public address");
  }
  Await(relay, HttpErrorClass::kConnect);
  const std::uint64_t id = relay.id;
  relay.server = std::make_unique<ByteStream>(
      loop, ByteStream::Kind::kTcp,
      ByteStream::Events{[this, id](bool ok) { OnConnected(id, ok); },
                         [this, id](std::string_view data) { OnServerData(id, data); },
                         [this, id] { EndOf(id, true); },
                         [this, id] {
                           Relay* one = Find(id);
                           if (one != nullptr && one->relays) one->browser->Read();
                         }});
  relay.server->Connect(address, relay.url.port);
}

void PageProxy::Impl::OnConnected(std::uint64_t id, bool ok) {
  Relay* relay = Find(id);
  if (relay == nullptr) return;
  if (!ok && !relay->addresses.empty()) return Connect(*relay);
  if (!ok) {
    return Refuse(*relay, HttpErrorClass::kConnect,
                  "no connection to " + relay->url.host + " could be made");
  }
  relay->timer = nullptr;
  relay->relays = true;
  faults.erase(relay->host);
  if (relay->request->is_connect) {
    relay->browser->Write(std::string(kEstablished));
  } else {
    relay->server->Write(relay->request->head);
  }
  if (!relay->read.empty()) relay->server->Write(std::exchange(relay->read, {}));
  relay->server->Read();
  relay->browser->Read();
}

void PageProxy::Impl::OnServerData(std::uint64_t id, std::string_view data) {
  Relay* relay = Find(id);
  if (relay == nullptr || !Count(data.size())) return;
  std::string out(data);
  if (!relay->request->is_connect && relay->request->head.size() > 0) {
    relay->answer.append(data);
    const std::size_t end = EndOfHead(relay->answer);
    if (end == std::string::npos) {
      if (relay->answer.size() > kProxyHeadBytesMax) relays.erase(id);
      return;
    }
    out = ClosingAnswer(std::string_view(relay->answer).substr(0, end)) + relay->answer.substr(end);
    relay->answer.clear();
    relay->request->head.clear();  // what follows is the body
  }
  relay->browser->Write(std::move(out));
  if (relay->browser->waiting() > kBehindMax) relay->server->PauseReading();
}

// The answer tells the browser that there was a server's fault, and our own record says which.
void PageProxy::Impl::Refuse(Relay& relay, HttpErrorClass error_class, std::string error) {
  const bool is_refused = error_class == HttpErrorClass::kRefusedAddress;
  if (is_refused) ++refused;
  if (relay.host.size() <= kHostBytesMax) faults[relay.host] = {error_class, std::move(error)};
  relay.server = nullptr;
  relay.timer = nullptr;
  if (!relay.request) {
    relays.erase(relay.id);
    return;
  }
  relay.browser->PauseReading();
  relay.browser->Write(std::string(is_refused ? kForbidden : kUnreachable));
}

// What one side has sent is still carried to the other.
void PageProxy::Impl::EndOf(std::uint64_t id, bool of_server) {
  Relay* relay = Find(id);
  if (relay == nullptr) return;
  if (of_server && relay->relays) {
    relay->browser->FinishWriting();
    relay->server = nullptr;
    relay->relays = false;
    relay->browser->PauseReading();
    // The relay is dropped when the last bytes have gone, at once where none wait.
    if (relay->browser->waiting() > 0) return;
  }
  relays.erase(id);
}

bool PageProxy::Impl::Count(std::size_t n) {
  bytes += n;
  if (bytes <= bounds.bytes_max) return true;
  Exceed("bytes");
  return false;
}

void PageProxy::Impl::Exceed(const char* bound) {
  if (exceeded != nullptr) return;
  exceeded = bound;
  stopped = true;
  relays.clear();
  if (when_exceeded) when_exceeded();
}

PageProxy::PageProxy(base::EventLoop& loop, Resolver& resolver, const AddressPolicy& policy,
                     const PageBounds& bounds)
    : impl_(std::make_unique<Impl>(loop, resolver, policy, bounds)) {
  base::Assert(loop.raw() != nullptr, "a proxy of a page lives on a loop");
  impl_->Listen();
}

PageProxy::~PageProxy() = default;

int PageProxy::port() const {
  return impl_->port;
}

PageProxy::Fault PageProxy::FaultOf(const std::string& host) const {
  const auto it = impl_->faults.find(host);
  return it == impl_->faults.end() ? Fault{} : it->second;
}

void PageProxy::Stop() {
  impl_->stopped = true;
  impl_->relays.clear();
}

const char* PageProxy::exceeded() const {
  return impl_->exceeded;
}

void PageProxy::WhenExceeded(std::function<void()> f) {
  impl_->when_exceeded = std::move(f);
}

std::size_t PageProxy::bytes() const {
  return impl_->bytes;
}

std::uint64_t PageProxy::refused() const {
  return impl_->refused;
}

}  // namespace vedette::net
