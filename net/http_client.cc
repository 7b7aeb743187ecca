#include "net/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <set>
#include <utility>

#include "base/assert.h"
#include "config/net_config.h"
#include "net/connection_queue.h"
#include "net/poller.h"
#include "net/resolver.h"
#include "net/transfer.h"
#include "net/url.h"

namespace vedette::net {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kHandlesKeptMax = 1024;  // idle curl handles, and idle transfers
constexpr int kPlaceBits = 24;                 // so many requests of a client there may be
constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;
constexpr std::size_t kAddressesPerNameMax = 16;
// With less time left a request is not begun: it could only cost a connection.
constexpr milliseconds kTimeLeftMin{50};
// Addresses that are older when a connection becomes free are looked up again.
constexpr std::chrono::seconds kAddressAgeMax{30};
// How long the answer to one request may wait for bytes of its budget, on top of its timeout.
constexpr milliseconds kPausedMax{60000};

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

// What an answer says of its host's load.
HostLimit::Answer LoadOf(const HttpResponse& response) {
  switch (response.error_class) {
    case HttpErrorClass::kNone:
    case HttpErrorClass::kBodyTooLarge:
      break;
    case HttpErrorClass::kConnect:
    case HttpErrorClass::kTimeout:
    case HttpErrorClass::kProtocol:
      return HostLimit::Answer::kFailed;
    default:
      return HostLimit::Answer::kOther;
  }
  const int status = response.status;
  if (status == 429 || status == 503) return HostLimit::Answer::kRefused;
  if (status == 502 || status == 504) return HostLimit::Answer::kFailed;
  return status < 500 ? HostLimit::Answer::kServed : HostLimit::Answer::kOther;
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

struct HttpClient::Impl final : Transfer::Pauser, std::enable_shared_from_this<HttpClient::Impl> {
  Impl(base::EventLoop& loop, const config::NetConfig& net, milliseconds per_host_gap,
       OnLimit on_limit);
  ~Impl() override;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  RequestId Send(HttpRequest request, Callback done);
  std::string FillRoute(Transfer& transfer);
  void Resolve(Transfer& transfer);
  void OnResolved(RequestId id, ResolveResult result);
  void Enqueue(Transfer& transfer);
  void Pump();
  void TakeTurn(Transfer& transfer, milliseconds waited);
  void Begin(Transfer& transfer);
  void Start(Transfer& transfer);
  void TakeHandle(Transfer& transfer);
  void GiveHandleBack(Transfer& transfer);
  void OnDone(CURL* easy, CURLcode result);
  void Withdraw(Transfer& transfer, const HttpResponse& response);
  void Release(Transfer& transfer, const HostLimit::Ended& ended = {});
  void Finish(Transfer& transfer, HttpResponse response);
  void FailLater(Transfer& transfer, HttpResponse response);
  void DeliverFailed();
  void SetDeadline(Transfer& transfer, Clock::time_point deadline);
  void ExpireDeadlines();
  void ArmDeadline();
  HttpResponse TimedOut(const Transfer& transfer) const;
  void CancelAll();
  Transfer* Find(RequestId id);
  Transfer& TakePlace();
  std::function<void()> WhenGranted(const Transfer& transfer) override;
  void Paused(Transfer& transfer) override;
  void Resume(RequestId id);

  base::EventLoop& loop_;
  const config::NetConfig config_;
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

  // Thousands may wait, and are touched again long after they came: so they are found by their
  // place, without a search. Ids are in the order of Send; their last kPlaceBits are the place.
  RequestId sequence_ = 0;
  std::vector<std::unique_ptr<Transfer>> transfers_;  // null, or of id 0: free
  std::vector<std::size_t> free_places_;
  std::vector<std::unique_ptr<Transfer::Easy>> handles_;  // that no transfer has
  Transfer::Deadlines deadlines_;
  Clock::time_point armed_for_;
  std::vector<RequestId> failed_;
  ConnectionQueue queue_;
};

HttpClient::Impl::Impl(base::EventLoop& loop, const config::NetConfig& net,
                       milliseconds per_host_gap, OnLimit on_limit)
    : loop_(loop),
      config_(net),
      tenant_policy_(net.allow),
      resolver_(loop, net.dns_servers, net.connect_timeout_ms),
      tenant_loop_(loop, net.connections_max, [this](CURL* e, CURLcode r) { OnDone(e, r); }),
      operator_loop_(loop, net.connections_max, [this](CURL* e, CURLcode r) { OnDone(e, r); }),
      deadline_timer_(loop, [this] { ExpireDeadlines(); }),
      failed_timer_(loop, [this] { DeliverFailed(); }),
      rest_timer_(loop, [this] { Pump(); }),
      queue_({net.connections_max, net.connections_per_host_max, per_host_gap},
             std::move(on_limit)) {
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
  for (const auto& transfer : transfers_) {
    if (transfer != nullptr && transfer->with_curl()) {
      transfer->route.loop->Remove(transfer->easy(), *transfer->route.handle, transfer->host_key,
                                   {});
    }
  }
}

Transfer* HttpClient::Impl::Find(RequestId id) {
  Transfer* transfer = transfers_[id & kPlaceMask].get();
  return transfer != nullptr && transfer->id == id ? transfer : nullptr;
}

// One that is free, the one that was used last.
Transfer& HttpClient::Impl::TakePlace() {
  if (free_places_.empty()) {
    base::Assert(transfers_.size() < kPlaceMask, "a client has fewer requests than places");
    free_places_.push_back(transfers_.size());
    transfers_.emplace_back();
  }
  const std::size_t place = free_places_.back();
  free_places_.pop_back();
  if (transfers_[place] == nullptr) transfers_[place] = std::make_unique<Transfer>();
  transfers_[place]->id = ++sequence_ << kPlaceBits | place;
  return *transfers_[place];
}

HttpClient::RequestId HttpClient::Impl::Send(HttpRequest request, Callback done) {
  Transfer& transfer = TakePlace();
  transfer.request = std::move(request);
  transfer.done = std::move(done);
  transfer.pauser = transfer.request.budget == nullptr ? nullptr : this;
  transfer.started = Clock::now();
  transfer.deadline = transfer.started + transfer.request.timeout;
  transfer.SetDeadline(transfer.deadline, deadlines_);
  ArmDeadline();
  const std::string refusal = FillRoute(transfer);
  if (!refusal.empty()) {
    FailLater(transfer, Failure(HttpErrorClass::kRefusedAddress, refusal));
  } else {
    Resolve(transfer);
  }
  return transfer.id;
}

// Fills the route. Empty, or why the URL is refused.
std::string HttpClient::Impl::FillRoute(Transfer& transfer) {
  const bool tenant = transfer.request.trust == Trust::kTenant;
  // A fragment is the reader's own business: never sent, never checked.
  const std::string_view text =
      std::string_view(transfer.request.url).substr(0, transfer.request.url.find('#'));
  const AddressPolicy& policy = tenant ? tenant_policy_ : open_policy_;
  TenantUrlResult result = ParseTenantUrl(text, policy);
  if (result.error) {
    return result.error->message;
  }
  transfer.route.url = std::move(*result.url);
  transfer.route.target = EncodeTarget(transfer.route.url.rest());
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
    return;
  }
  if (transfer.phase != Transfer::Phase::kRenewing) {
    transfer.phase = Transfer::Phase::kResolving;
  }
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
  HttpResponse failure;
  if (result.addresses.empty()) {
    failure = Failure(HttpErrorClass::kDns,
                      "the name " + peer.host + " cannot be resolved: " + result.error);
  } else {
    const std::string first = result.addresses.front().ToString();
    std::erase_if(result.addresses,
                  [&](const IpAddress& ip) { return !transfer->route.policy->Allows(ip); });
    if (result.addresses.empty()) {
      failure =
          Failure(HttpErrorClass::kRefusedAddress, "the name " + peer.host + " resolves to " +
                                                       first + ", which is not a public address");
    }
  }
  if (failure.error_class != HttpErrorClass::kNone) {
    Withdraw(*transfer, failure);
    Finish(*transfer, std::move(failure));
    Pump();
    return;
  }
  result.addresses.resize(std::min(result.addresses.size(), kAddressesPerNameMax));
  transfer->addresses = std::move(result.addresses);
  transfer->resolved = Clock::now();
  if (transfer->phase == Transfer::Phase::kRenewing) {
    Begin(*transfer);
  } else {
    Enqueue(*transfer);
  }
}

// Goes on at once where a place is free. Otherwise it waits, on a clock of its own if it has one.
void HttpClient::Impl::Enqueue(Transfer& transfer) {
  const auto now = Clock::now();
  if (queue_.TryTake(transfer.host_key, transfer.request.org, now)) {
    TakeTurn(transfer, milliseconds(0));
    return;
  }
  transfer.phase = Transfer::Phase::kWaiting;
  if (transfer.request.wait_max > milliseconds(0)) {
    transfer.time_left = transfer.deadline - now;
    SetDeadline(transfer, now + transfer.request.wait_max);
  }
  queue_.Push(transfer.host_key, transfer.request.org, transfer.id, now);
  Pump();
}

// Starts what may start.
void HttpClient::Impl::Pump() {
  while (const auto id = queue_.Pop(Clock::now())) {
    Transfer& transfer = *Find(*id);
    milliseconds waited(0);
    if (transfer.request.wait_max > milliseconds(0)) {
      const auto now = Clock::now();
      const auto queued = transfer.deadline - transfer.request.wait_max;
      transfer.started += now - queued;
      waited = std::chrono::floor<milliseconds>(now - queued);
      SetDeadline(transfer, now + transfer.time_left);
    }
    TakeTurn(transfer, waited);
  }
  if (const auto wake = queue_.next_wake()) {
    rest_timer_.Start(std::chrono::ceil<milliseconds>(*wake - Clock::now()));
  }
}

// The transfer has its place.
void HttpClient::Impl::TakeTurn(Transfer& transfer, milliseconds waited) {
  if (transfer.request.on_turn && !transfer.request.on_turn(waited)) {
    Release(transfer);
    FailLater(transfer, Failure(HttpErrorClass::kBusy, "it was given up while it waited"));
    return;
  }
  Begin(transfer);
}

void HttpClient::Impl::Begin(Transfer& transfer) {
  const TenantUrl& peer = config_.proxy.empty() ? transfer.route.url : proxy_;
  const auto now = Clock::now();
  if (transfer.deadline - now < kTimeLeftMin) {
    Release(transfer);
    FailLater(transfer,
              Failure(HttpErrorClass::kTimeout,
                      transfer.host_key + " was not asked: less than " +
                          std::to_string(kTimeLeftMin.count()) + " of " +
                          std::to_string(transfer.request.timeout.count()) + " ms were left"));
  } else if (!peer.literal && now - transfer.resolved > kAddressAgeMax) {
    transfer.phase = Transfer::Phase::kRenewing;
    Resolve(transfer);
  } else {
    Start(transfer);
  }
}

void HttpClient::Impl::Start(Transfer& transfer) {
  const TenantUrl& peer = config_.proxy.empty() ? transfer.route.url : proxy_;
  transfer.route.handle = &transfer.route.loop->HandleFor(transfer.host_key);
  std::vector<std::string> entries;
  for (std::string& name : CurlLoop::TakeStaleNames(*transfer.route.handle)) {
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
  TakeHandle(transfer);
  const std::string problem = transfer.Prepare(entries);
  if (!problem.empty()) {
    GiveHandleBack(transfer);
    Release(transfer);
    FailLater(transfer, Failure(HttpErrorClass::kProtocol, problem));
    return;
  }
  transfer.begun = Clock::now();
  transfer.route.loop->Add(transfer.easy(), *transfer.route.handle, transfer.host_key);
}

// The one that was used last: what it touches is near.
void HttpClient::Impl::TakeHandle(Transfer& transfer) {
  if (handles_.empty()) return transfer.Attach(std::make_unique<Transfer::Easy>(config_));
  transfer.Attach(std::move(handles_.back()));
  handles_.pop_back();
}

void HttpClient::Impl::GiveHandleBack(Transfer& transfer) {
  auto handle = transfer.Detach();
  if (handles_.size() < kHandlesKeptMax) handles_.push_back(std::move(handle));
}

void HttpClient::Impl::OnDone(CURL* easy, CURLcode result) {
  Transfer* transfer = Transfer::Of(easy);
  HttpResponse response = transfer->TakeResponse(result);
  Withdraw(*transfer, response);
  Finish(*transfer, std::move(response));
  Pump();
}

// Out of curl and out of its place, wherever it is. One that waits stays in the queue. `response`:
// what it ends with.
void HttpClient::Impl::Withdraw(Transfer& transfer, const HttpResponse& response) {
  if (transfer.with_curl()) {
    const TenantUrl& peer = config_.proxy.empty() ? transfer.route.url : proxy_;
    // curl's "-host:port" cannot name an address of IPv6: such an entry ages out.
    const bool named = !(peer.literal && peer.literal->v6);
    transfer.route.loop->Remove(transfer.easy(), *transfer.route.handle, transfer.host_key,
                                named ? KeyOf(peer.host, peer.port) : std::string());
    GiveHandleBack(transfer);
    Release(transfer, {LoadOf(response), transfer.begun, transfer.answered_in});
  } else if (transfer.phase == Transfer::Phase::kRenewing) {
    Release(transfer);
  }
}

// Gives the place back.
void HttpClient::Impl::Release(Transfer& transfer, const HostLimit::Ended& ended) {
  transfer.phase = Transfer::Phase::kFailed;
  queue_.Release(transfer.host_key, transfer.request.org, Clock::now(), ended);
}

// The callback is the last thing: it may send another request or cancel one.
void HttpClient::Impl::Finish(Transfer& transfer, HttpResponse response) {
  response.duration =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - transfer.started);
  Callback done = std::move(transfer.done);
  const std::size_t place = transfer.id & kPlaceMask;
  transfer.Reset(deadlines_);
  if (free_places_.size() >= kHandlesKeptMax) transfers_[place].reset();
  free_places_.push_back(place);
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

std::function<void()> HttpClient::Impl::WhenGranted(const Transfer& transfer) {
  return [&loop = loop_, id = transfer.id, weak = weak_from_this()] {
    loop.Post([id, weak] {
      if (const auto self = weak.lock()) {
        self->Resume(id);
      }
    });
  };
}

// The request's clock stands still meanwhile, but not for ever.
void HttpClient::Impl::Paused(Transfer& transfer) {
  transfer.paused_at = Clock::now();
  SetDeadline(transfer, transfer.deadline + (kPausedMax - transfer.paused_for));
}

void HttpClient::Impl::Resume(RequestId id) {
  Transfer* transfer = Find(id);
  if (transfer == nullptr || transfer->phase != Transfer::Phase::kPaused) {
    return;  // ended meanwhile
  }
  const auto paused = Clock::now() - transfer->paused_at;
  SetDeadline(*transfer, transfer->deadline - (kPausedMax - transfer->paused_for) + paused);
  transfer->paused_for += paused;
  const CURLcode result = transfer->Resume();
  if (result != CURLE_OK) {
    OnDone(transfer->easy(), result);
  }
}

void HttpClient::Impl::SetDeadline(Transfer& transfer, Clock::time_point deadline) {
  transfer.SetDeadline(deadline, deadlines_);
  ArmDeadline();
}

HttpResponse HttpClient::Impl::TimedOut(const Transfer& transfer) const {
  const HttpRequest& request = transfer.request;
  HttpErrorClass error_class = HttpErrorClass::kTimeout;
  milliseconds limit = request.timeout;
  if (transfer.phase == Transfer::Phase::kPaused) {
    error_class = HttpErrorClass::kBusy;
    limit = kPausedMax;
  } else if (transfer.phase == Transfer::Phase::kWaiting) {
    error_class = HttpErrorClass::kBusy;
    limit = request.wait_max > milliseconds(0) ? request.wait_max : request.timeout;
  }
  return Failure(error_class,
                 transfer.Progress() + " within " + std::to_string(limit.count()) + " ms");
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
  std::set<std::string> left;  // hosts that somebody waited for
  std::vector<std::pair<RequestId, HttpResponse>> ended;
  for (const RequestId id : expired) {
    Transfer& transfer = *Find(id);
    if (transfer.phase == Transfer::Phase::kFailed) {
      continue;  // about to be delivered
    }
    ended.emplace_back(id, TimedOut(transfer));
    if (transfer.phase == Transfer::Phase::kWaiting) {
      left.insert(transfer.host_key);
    }
    Withdraw(transfer, ended.back().second);
    transfer.phase = Transfer::Phase::kFailed;
  }
  for (const std::string& host : left) {
    queue_.EraseIf(
        host, [this](RequestId id) { return Find(id)->phase == Transfer::Phase::kFailed; }, now);
  }
  for (auto& [id, response] : ended) {
    if (Transfer* transfer = Find(id)) {  // no callback has cancelled it
      Finish(*transfer, std::move(response));
    }
  }
  Pump();
  ArmDeadline();
}

void HttpClient::Impl::CancelAll() {
  std::vector<RequestId> ids;
  for (const auto& transfer : transfers_) {
    if (transfer != nullptr && transfer->id != 0) ids.push_back(transfer->id);
  }
  std::sort(ids.begin(), ids.end());
  queue_.Clear(Clock::now());
  for (const RequestId id : ids) {
    if (Transfer* transfer = Find(id)) {
      HttpResponse stopped = Failure(HttpErrorClass::kShutdown, "the client was stopped");
      Withdraw(*transfer, stopped);
      Finish(*transfer, std::move(stopped));
    }
  }
  Pump();
}

HttpClient::HttpClient(base::EventLoop& loop, const config::NetConfig& config,
                       milliseconds per_host_gap, OnLimit on_limit)
    : impl_(std::make_shared<Impl>(loop, config, per_host_gap, std::move(on_limit))) {}

HttpClient::~HttpClient() = default;

HttpClient::RequestId HttpClient::Send(HttpRequest request, Callback done) {
  return impl_->Send(std::move(request), std::move(done));
}

void HttpClient::CancelAll() {
  impl_->CancelAll();
}

std::size_t HttpClient::in_flight() const {
  return impl_->transfers_.size() - impl_->free_places_.size();
}

std::int64_t HttpClient::OpenConnectionsMax(const config::NetConfig& config) {
  return CurlLoop::ConnectionsKeptMax(config.connections_max);
}

}  // namespace vedette::net
