#include "net/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "net/curl_loop.h"
#include "net/resolver.h"
#include "net/transfer.h"
#include "net/url.h"

namespace vedette::net {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kHandlesKeptMax = 1024;  // idle curl handles
constexpr std::size_t kAddressesPerNameMax = 16;

struct CurlGlobal {
  CurlGlobal() {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    // TLS writes to a connection that is gone raise SIGPIPE, and curl would only keep it off by two
    // system calls around everything it does.
    struct sigaction now {};
    if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
      std::signal(SIGPIPE, SIG_IGN);
    }
  }
  ~CurlGlobal() { curl_global_cleanup(); }
};

// host:port as CURLOPT_RESOLVE and the queue know it.
std::string KeyOf(const std::string& host, int port) {
  return host + ":" + std::to_string(port);
}

HttpResponse Failure(HttpErrorClass error_class, std::string sentence) {
  HttpResponse response;
  response.error_class = error_class;
  response.error = std::move(sentence);
  return response;
}

}  // namespace

std::string_view HttpErrorClassName(HttpErrorClass error_class) {
  switch (error_class) {
    case HttpErrorClass::kNone:
      return "none";
    case HttpErrorClass::kRefusedAddress:
      return "refused_address";
    case HttpErrorClass::kDns:
      return "dns";
    case HttpErrorClass::kConnect:
      return "connect";
    case HttpErrorClass::kTls:
      return "tls";
    case HttpErrorClass::kTimeout:
      return "timeout";
    case HttpErrorClass::kBodyTooLarge:
      return "body_too_large";
    case HttpErrorClass::kProtocol:
      return "protocol";
    case HttpErrorClass::kShutdown:
      return "shutdown";
    case HttpErrorClass::kBusy:
      return "busy";
  }
  return "unknown";
}

std::optional<std::string_view> HttpResponse::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) {
      return value;
    }
  }
  return std::nullopt;
}

struct HttpClient::Impl {
  // What one host:port has under way and waiting.
  struct Host {
    int active = 0;
    std::deque<RequestId> waiting;
    bool ready = false;              // stands in ready_
    bool resting = false;            // stands in resting_
    Clock::time_point next_start{};  // not before; only with a gap
  };

  Impl(base::EventLoop& loop, const config::NetConfig& net, milliseconds per_host_gap);
  ~Impl();

  RequestId Send(HttpRequest request, Callback done);
  std::string Judge(Transfer& transfer);
  void Resolve(Transfer& transfer);
  void OnResolved(RequestId id, ResolveResult result);
  void Enqueue(Transfer& transfer);
  void Settle(const std::string& key);
  void ArmRest();
  void WakeResting();
  void Pump();
  void Start(Transfer& transfer);
  void OnDone(CURL* easy, CURLcode result);
  void Release(Transfer& transfer);
  void Finish(Transfer& transfer, HttpResponse response);
  void FailLater(Transfer& transfer, HttpResponse response);
  void DeliverFailed();
  void ExpireDeadlines();
  void ArmDeadline();
  void CancelAll();
  Transfer* Find(RequestId id);

  const config::NetConfig config_;
  const milliseconds per_host_gap_;
  const AddressPolicy tenant_policy_;
  const AddressPolicy open_policy_{{"0.0.0.0/0", "::/0"}};
  TenantUrl proxy_;  // where one is configured

  CurlGlobal global_;
  Resolver resolver_;
  // Connections are never shared between tenants' and operator's requests: the latter may be open
  // to addresses that the former must not reach.
  CurlLoop tenant_loop_;
  CurlLoop operator_loop_;
  base::Timer deadline_timer_;
  base::Timer failed_timer_;
  base::Timer rest_timer_;

  RequestId next_id_ = 0;
  std::unordered_map<RequestId, std::unique_ptr<Transfer>> transfers_;
  std::vector<std::unique_ptr<Transfer>> idle_;
  std::set<std::pair<Clock::time_point, RequestId>> deadlines_;
  Clock::time_point armed_for_;
  std::vector<RequestId> failed_;
  std::unordered_map<std::string, Host> hosts_;
  std::deque<std::string> ready_;  // hosts with something waiting and a connection to spare
  std::multimap<Clock::time_point, std::string> resting_;  // hosts within their gap
  // Names whose entry in curl's cache is not needed any more; removed with the next request.
  std::vector<std::string> stale_[2];  // tenants', operator's
  int active_ = 0;
};

HttpClient::Impl::Impl(base::EventLoop& loop, const config::NetConfig& net,
                       milliseconds per_host_gap)
    : config_(net),
      per_host_gap_(per_host_gap),
      tenant_policy_(net.allow),
      resolver_(loop, net.dns_servers, net.connect_timeout_ms),
      tenant_loop_(loop, net.connections_max, [this](CURL* e, CURLcode r) { OnDone(e, r); }),
      operator_loop_(loop, net.connections_max, [this](CURL* e, CURLcode r) { OnDone(e, r); }),
      deadline_timer_(loop, [this] { ExpireDeadlines(); }),
      failed_timer_(loop, [this] { DeliverFailed(); }),
      rest_timer_(loop, [this] { WakeResting(); }) {
  if (!config_.proxy.empty()) {
    UrlParts parts;
    std::string error;
    const bool split = SplitUrl(config_.proxy, &parts, &error);
    if (!split || parts.has_userinfo) {
      throw std::invalid_argument("[net] proxy: \"" + config_.proxy +
                                  "\" is not scheme://host:port");
    }
    proxy_.host = parts.host;
    proxy_.port = parts.port;
    proxy_.literal = IpAddress::Parse(proxy_.host);
  }
}

HttpClient::Impl::~Impl() {
  for (auto& [id, transfer] : transfers_) {
    if (transfer->phase == Transfer::Phase::kActive) {
      transfer->route.loop->Remove(transfer->easy());
    }
  }
}

Transfer* HttpClient::Impl::Find(RequestId id) {
  const auto found = transfers_.find(id);
  return found == transfers_.end() ? nullptr : found->second.get();
}

HttpClient::RequestId HttpClient::Impl::Send(HttpRequest request, Callback done) {
  std::unique_ptr<Transfer> owned;
  if (idle_.empty()) {
    owned = std::make_unique<Transfer>(config_);
  } else {
    owned = std::move(idle_.back());
    idle_.pop_back();
  }
  Transfer& transfer = *owned;
  transfer.id = ++next_id_;
  transfer.request = std::move(request);
  transfer.done = std::move(done);
  transfer.started = Clock::now();
  transfer.deadline = transfer.started + transfer.request.timeout;
  transfers_.emplace(transfer.id, std::move(owned));
  deadlines_.emplace(transfer.deadline, transfer.id);
  ArmDeadline();
  const std::string refusal = Judge(transfer);
  if (!refusal.empty()) {
    FailLater(transfer, Failure(HttpErrorClass::kRefusedAddress, refusal));
  } else {
    Resolve(transfer);
  }
  return transfer.id;
}

// Fills the route. Empty, or why the URL is refused.
std::string HttpClient::Impl::Judge(Transfer& transfer) {
  const bool tenant = transfer.request.trust == Trust::kTenant;
  // A fragment is the reader's own business: never sent, never judged.
  const std::string_view text =
      std::string_view(transfer.request.url).substr(0, transfer.request.url.find('#'));
  const AddressPolicy& policy = tenant ? tenant_policy_ : open_policy_;
  TenantUrlResult result = JudgeTenantUrl(text, policy);
  if (result.error) {
    return result.error->message;
  }
  UrlParts parts;
  std::string error;
  SplitUrl(text, &parts, &error);
  transfer.route.target = EncodeTarget(parts.rest);
  transfer.route.url = std::move(*result.url);
  // Behind a proxy the address connected to is the proxy's, which the operator chose.
  transfer.route.policy = config_.proxy.empty() ? &policy : &open_policy_;
  transfer.route.loop = tenant ? &tenant_loop_ : &operator_loop_;
  transfer.host_key = KeyOf(transfer.route.url.host, transfer.route.url.port);
  return {};
}

void HttpClient::Impl::Resolve(Transfer& transfer) {
  const TenantUrl& peer = config_.proxy.empty() ? transfer.route.url : proxy_;
  if (peer.literal) {
    Enqueue(transfer);
    Pump();
    return;
  }
  transfer.phase = Transfer::Phase::kResolving;
  resolver_.Resolve(peer.host, [this, id = transfer.id](ResolveResult result) {
    OnResolved(id, std::move(result));
  });
}

void HttpClient::Impl::OnResolved(RequestId id, ResolveResult result) {
  Transfer* transfer = Find(id);
  if (transfer == nullptr) {
    return;  // timed out or cancelled
  }
  const TenantUrl& peer = config_.proxy.empty() ? transfer->route.url : proxy_;
  if (result.addresses.empty()) {
    Finish(*transfer, Failure(HttpErrorClass::kDns,
                              "the name " + peer.host + " cannot be resolved: " + result.error));
    return;
  }
  const std::string first = result.addresses.front().ToString();
  std::erase_if(result.addresses,
                [&](const IpAddress& ip) { return !transfer->route.policy->Allows(ip); });
  if (result.addresses.empty()) {
    Finish(*transfer,
           Failure(HttpErrorClass::kRefusedAddress, "the name " + peer.host + " resolves to " +
                                                        first + ", which is not a public address"));
    return;
  }
  result.addresses.resize(std::min(result.addresses.size(), kAddressesPerNameMax));
  transfer->addresses = std::move(result.addresses);
  Enqueue(*transfer);
  Pump();
}

void HttpClient::Impl::Enqueue(Transfer& transfer) {
  transfer.phase = Transfer::Phase::kWaiting;
  hosts_[transfer.host_key].waiting.push_back(transfer.id);
  Settle(transfer.host_key);
}

// Puts a host where it belongs: among the ready ones, to rest until its gap has passed, or away.
void HttpClient::Impl::Settle(const std::string& key) {
  const auto found = hosts_.find(key);
  if (found == hosts_.end() || found->second.ready || found->second.resting) {
    return;
  }
  Host& host = found->second;
  if (per_host_gap_ > milliseconds(0) && Clock::now() < host.next_start) {
    host.resting = true;
    resting_.emplace(host.next_start, key);
    ArmRest();
  } else if (!host.waiting.empty()) {
    if (host.active < config_.connections_per_host_max) {
      host.ready = true;
      ready_.push_back(key);
    }
  } else if (host.active == 0) {
    hosts_.erase(found);
  }
}

void HttpClient::Impl::ArmRest() {
  if (resting_.empty()) {
    return;
  }
  const auto wait = std::chrono::ceil<milliseconds>(resting_.begin()->first - Clock::now());
  rest_timer_.Start(std::max(wait, milliseconds(0)));
}

void HttpClient::Impl::WakeResting() {
  const auto now = Clock::now();
  while (!resting_.empty() && resting_.begin()->first <= now) {
    const std::string key = std::move(resting_.begin()->second);
    resting_.erase(resting_.begin());
    hosts_.at(key).resting = false;
    Settle(key);
  }
  ArmRest();
  Pump();
}

// Starts what may start; hosts take turns, so that a busy one does not stand before the others
// (G10).
void HttpClient::Impl::Pump() {
  while (active_ < config_.connections_max && !ready_.empty()) {
    const std::string key = std::move(ready_.front());
    ready_.pop_front();
    const auto found = hosts_.find(key);
    if (found == hosts_.end()) {
      continue;
    }
    Host& host = found->second;
    host.ready = false;
    Transfer* transfer = nullptr;
    while (transfer == nullptr && !host.waiting.empty()) {
      transfer = Find(host.waiting.front());  // none: it timed out while it waited
      host.waiting.pop_front();
    }
    if (transfer == nullptr) {
      Settle(key);
      continue;
    }
    ++host.active;
    ++active_;
    if (per_host_gap_ > milliseconds(0)) {
      host.next_start = Clock::now() + per_host_gap_;
    }
    Settle(key);
    Start(*transfer);
  }
}

void HttpClient::Impl::Start(Transfer& transfer) {
  const TenantUrl& peer = config_.proxy.empty() ? transfer.route.url : proxy_;
  std::vector<std::string> entries;
  for (std::string& name : std::exchange(stale_[transfer.route.loop == &operator_loop_], {})) {
    entries.push_back("-" + std::move(name));
  }
  if (!peer.literal) {
    std::string entry = "+" + KeyOf(peer.host, peer.port) + ":";
    for (const IpAddress& ip : transfer.addresses) {
      entry +=
          (entry.ends_with(':') ? "" : ",") + (ip.v6 ? "[" + ip.ToString() + "]" : ip.ToString());
    }
    entries.push_back(std::move(entry));
  }
  transfer.phase = Transfer::Phase::kActive;
  const std::string problem = transfer.Prepare(entries);
  if (!problem.empty()) {
    transfer.phase = Transfer::Phase::kFailed;
    Release(transfer);
    FailLater(transfer, Failure(HttpErrorClass::kProtocol, problem));
    return;
  }
  transfer.route.loop->Add(transfer.easy());
}

void HttpClient::Impl::OnDone(CURL* easy, CURLcode result) {
  Transfer* transfer = Transfer::Of(easy);
  HttpResponse response = transfer->TakeResponse(result);
  transfer->route.loop->Remove(easy);
  Release(*transfer);
  Finish(*transfer, std::move(response));
  Pump();
}

// Gives the connection's place back. The transfer has left curl.
void HttpClient::Impl::Release(Transfer& transfer) {
  const TenantUrl& peer = config_.proxy.empty() ? transfer.route.url : proxy_;
  if (!(peer.literal &&
        peer.literal->v6)) {  // which curl's "-host:port" cannot name: those age out
    stale_[transfer.route.loop == &operator_loop_].push_back(KeyOf(peer.host, peer.port));
  }
  transfer.phase = Transfer::Phase::kFailed;
  --active_;
  --hosts_.at(transfer.host_key).active;
  Settle(transfer.host_key);
}

// The callback is the last thing: it may send anew or cancel.
void HttpClient::Impl::Finish(Transfer& transfer, HttpResponse response) {
  response.duration =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - transfer.started);
  deadlines_.erase({transfer.deadline, transfer.id});
  Callback done = std::move(transfer.done);
  auto node = transfers_.extract(transfer.id);
  transfer.Reset();
  if (idle_.size() < kHandlesKeptMax) {
    idle_.push_back(std::move(node.mapped()));
  }
  done(std::move(response));
}

void HttpClient::Impl::FailLater(Transfer& transfer, HttpResponse response) {
  transfer.phase = Transfer::Phase::kFailed;
  transfer.response = std::move(response);
  failed_.push_back(transfer.id);
  failed_timer_.Start(milliseconds(0));
}

void HttpClient::Impl::DeliverFailed() {
  for (const RequestId id : std::exchange(failed_, {})) {
    if (Transfer* transfer = Find(id)) {
      Finish(*transfer, std::move(transfer->response));
    }
  }
  Pump();
}

// The timer stands for the earliest deadline, or an earlier one that has been met meanwhile.
void HttpClient::Impl::ArmDeadline() {
  if (deadlines_.empty()) {
    return;
  }
  const Clock::time_point earliest = deadlines_.begin()->first;
  if (!deadline_timer_.active() || earliest < armed_for_) {
    armed_for_ = earliest;
    deadline_timer_.Start(std::chrono::ceil<milliseconds>(earliest - Clock::now()));
  }
}

void HttpClient::Impl::ExpireDeadlines() {
  const auto now = Clock::now();
  std::vector<RequestId> expired;
  for (const auto& [deadline, id] : deadlines_) {
    if (deadline > now) {
      break;
    }
    expired.push_back(id);
  }
  for (const RequestId id : expired) {
    Transfer* transfer = Find(id);
    if (transfer == nullptr || transfer->phase == Transfer::Phase::kFailed) {
      continue;  // ended meanwhile, or about to be delivered
    }
    HttpResponse response = Failure(HttpErrorClass::kTimeout,
                                    transfer->Progress() + " within " +
                                        std::to_string(transfer->request.timeout.count()) + " ms");
    if (transfer->phase == Transfer::Phase::kActive) {
      transfer->route.loop->Remove(transfer->easy());
      Release(*transfer);
    }
    Finish(*transfer, std::move(response));
  }
  Pump();
  ArmDeadline();
}

void HttpClient::Impl::CancelAll() {
  std::vector<RequestId> ids;
  for (const auto& [id, transfer] : transfers_) {
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  for (const RequestId id : ids) {
    Transfer* transfer = Find(id);
    if (transfer == nullptr) {
      continue;
    }
    if (transfer->phase == Transfer::Phase::kActive) {
      transfer->route.loop->Remove(transfer->easy());
      Release(*transfer);
    }
    Finish(*transfer, Failure(HttpErrorClass::kShutdown, "the client was stopped"));
  }
  Pump();
}

HttpClient::HttpClient(base::EventLoop& loop, const config::NetConfig& config,
                       milliseconds per_host_gap)
    : impl_(std::make_unique<Impl>(loop, config, per_host_gap)) {}

HttpClient::~HttpClient() = default;

HttpClient::RequestId HttpClient::Send(HttpRequest request, Callback done) {
  return impl_->Send(std::move(request), std::move(done));
}

void HttpClient::CancelAll() {
  impl_->CancelAll();
}

std::size_t HttpClient::in_flight() const {
  return impl_->transfers_.size();
}

}  // namespace vedette::net
