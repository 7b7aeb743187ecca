#include "net/resolver.h"

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "net/poller.h"

namespace vedette::net {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

// Names being looked up at a time; askers of the same name share one lookup.
constexpr std::size_t kLookupsMax = 10000;
// Answers are remembered for their time to live within these bounds: long enough that a busy
// receiver does not cost a query for every request, short enough to follow a name that moves.
constexpr std::size_t kCachedNamesMax = 20000;
constexpr std::chrono::seconds kCacheMin{1};
constexpr std::chrono::seconds kCacheMax{30};
constexpr int kTries = 3;
// Retries and deadlines are examined this often at least.
constexpr milliseconds kRoundMax{250};

struct Cached {
  std::vector<IpAddress> addresses;
  Clock::time_point until;
};

struct Lookup {
  std::vector<std::function<void(ResolveResult)>> waiters;
  std::uint64_t id;
};

std::vector<IpAddress> Addresses(const ares_addrinfo* info, std::chrono::seconds* ttl) {
  std::vector<IpAddress> addresses;
  *ttl = kCacheMax;
  for (const auto* node = info->nodes; node != nullptr; node = node->ai_next) {
    IpAddress ip;
    if (node->ai_family == AF_INET) {
      const auto* in = reinterpret_cast<const sockaddr_in*>(node->ai_addr);
      std::memcpy(ip.bytes.data(), &in->sin_addr, 4);
    } else if (node->ai_family == AF_INET6) {
      const auto* in = reinterpret_cast<const sockaddr_in6*>(node->ai_addr);
      ip.v6 = true;
      std::memcpy(ip.bytes.data(), &in->sin6_addr, 16);
    } else {
      continue;
    }
    *ttl = std::min(*ttl, std::chrono::seconds(node->ai_ttl));
    if (std::find(addresses.begin(), addresses.end(), ip) == addresses.end()) {
      addresses.push_back(ip);
    }
  }
  *ttl = std::max(*ttl, kCacheMin);
  return addresses;
}

}  // namespace

struct Resolver::Impl {
  Impl(base::EventLoop& event_loop, const std::vector<std::string>& servers,
       milliseconds lookup_timeout, NameSources sources);
  ~Impl();

  template <typename Record>
  void Query(const std::string& name, DnsType type, std::function<void(DnsRecords<Record>)> done);

  void Resolve(const std::string& host, std::function<void(ResolveResult)> done);
  void Begin(const std::string& host);
  void OnAnswer(const std::string& host, std::uint64_t id, int status, ares_addrinfo* info);
  void LookForLoop(const std::string& host, std::uint64_t id, ResolveResult result);
  void Complete(const std::string& host, ResolveResult result);
  void Deliver();
  void ExpireLookups();
  void Remember(const std::string& host, const std::vector<IpAddress>& addresses,
                std::chrono::seconds ttl);
  void Process(ares_socket_t readable, ares_socket_t writable);
  void ArmTimer();

  const milliseconds timeout_;
  Poller poller_;
  ares_channel channel_ = nullptr;
  base::Timer timer_;
  base::Timer deliver_timer_;
  std::unordered_map<std::string, Lookup> lookups_;
  // All lookups have the same timeout: the first one in is the first one due.
  std::deque<std::pair<Clock::time_point, std::pair<std::string, std::uint64_t>>> deadlines_;
  std::unordered_map<std::string, Cached> cache_;
  std::vector<std::function<void()>> ready_;
  std::uint64_t next_id_ = 0;
  bool closing_ = false;
};

Resolver::Impl::Impl(base::EventLoop& event_loop, const std::vector<std::string>& servers,
                     milliseconds lookup_timeout, NameSources sources)
    : timeout_(lookup_timeout),
      poller_(event_loop,
              [this](int fd, unsigned events) {
                Process((events & Poller::kReadable) != 0 ? fd : ARES_SOCKET_BAD,
                        (events & Poller::kWritable) != 0 ? fd : ARES_SOCKET_BAD);
              }),
      timer_(event_loop,
             [this] {
               ExpireLookups();
               Process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
             }),
      deliver_timer_(event_loop, [this] { Deliver(); }) {
  ares_options options{};
  // c-ares doubles the wait with each try: 1 + 2 + 4 of these make up the timeout.
  options.timeout = std::max(1, static_cast<int>(timeout_.count() / ((1 << kTries) - 1)));
  options.tries = kTries;
  const bool dns_only = sources == NameSources::kDnsOnly;
  char system_lookups[] = "fb";  // the hosts file, then DNS
  char dns_lookups[] = "b";
  options.lookups = dns_only ? dns_lookups : system_lookups;
  options.sock_state_cb_data = this;
  options.sock_state_cb = [](void* self, ares_socket_t fd, int readable, int writable) {
    static_cast<Impl*>(self)->poller_.Want(fd,
                                           (readable != 0 ? unsigned{Poller::kReadable} : 0U) |
                                               (writable != 0 ? unsigned{Poller::kWritable} : 0U));
  };
  const int domains = dns_only ? ARES_OPT_DOMAINS : 0;  // none: an empty search list
  const int mask =
      domains | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
  ares_library_init(ARES_LIB_INIT_ALL);
  int status = ares_init_options(&channel_, &options, mask);
  if (status == ARES_SUCCESS) {
    ares_set_socket_configure_callback(
        channel_,
        [](ares_socket_t fd, int, void* self) {
          static_cast<Impl*>(self)->poller_.Opened(fd);
          return 0;
        },
        this);
  }
  if (status == ARES_SUCCESS && !servers.empty()) {
    std::string csv;
    for (const std::string& server : servers) {
      csv += (csv.empty() ? "" : ",") + server;
    }
    status = ares_set_servers_ports_csv(channel_, csv.c_str());
    if (status != ARES_SUCCESS) {
      ares_destroy(channel_);
      ares_library_cleanup();
      throw std::runtime_error("[net] dns_servers: " + csv + ": " + ares_strerror(status));
    }
  }
  if (status != ARES_SUCCESS) {
    ares_library_cleanup();
    throw std::runtime_error(std::string("cannot set up name resolution: ") +
                             ares_strerror(status));
  }
}

Resolver::Impl::~Impl() {
  closing_ = true;
  ares_destroy(channel_);  // calls back for every lookup, and closes the sockets
  ares_library_cleanup();
}

void Resolver::Impl::Resolve(const std::string& host, std::function<void(ResolveResult)> done) {
  if (const auto cached = cache_.find(host); cached != cache_.end()) {
    if (cached->second.until > Clock::now()) {
      ready_.emplace_back([done = std::move(done), addresses = cached->second.addresses] {
        done(ResolveResult{addresses, "", false});
      });
      deliver_timer_.Start(milliseconds(0));
      return;
    }
    cache_.erase(cached);
  }
  if (const auto found = lookups_.find(host); found != lookups_.end()) {
    found->second.waiters.push_back(std::move(done));
    return;
  }
  if (lookups_.size() >= kLookupsMax) {
    ready_.emplace_back([done = std::move(done)] {
      done(ResolveResult{{}, "too many names are being looked up", false});
    });
    deliver_timer_.Start(milliseconds(0));
    return;
  }
  lookups_[host].waiters.push_back(std::move(done));
  Begin(host);
}

void Resolver::Impl::Begin(const std::string& host) {
  struct Query {
    Impl* impl;
    std::string host;
    std::uint64_t id;
  };
  const std::uint64_t id = ++next_id_;
  lookups_[host].id = id;
  deadlines_.emplace_back(Clock::now() + timeout_, std::pair(host, id));
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  // Sorting would open a socket to every address, before anyone has checked it.
  hints.ai_flags = ARES_AI_NOSORT;
  ares_getaddrinfo(
      channel_, host.c_str(), nullptr, &hints,
      [](void* arg, int status, int, ares_addrinfo* info) {
        const std::unique_ptr<Query> query(static_cast<Query*>(arg));
        query->impl->OnAnswer(query->host, query->id, status, info);
        ares_freeaddrinfo(info);
      },
      new Query{this, host, id});
  ArmTimer();
}

void Resolver::Impl::OnAnswer(const std::string& host, std::uint64_t id, int status,
                              ares_addrinfo* info) {
  const auto found = lookups_.find(host);
  if (closing_ || found == lookups_.end() || found->second.id != id) {
    return;  // given up before
  }
  ResolveResult result;
  if (status == ARES_SUCCESS && info != nullptr) {
    std::chrono::seconds ttl;
    result.addresses = Addresses(info, &ttl);
    Remember(host, result.addresses, ttl);
  }
  if (result.addresses.empty()) {
    result.error = ares_strerror(status == ARES_SUCCESS ? ARES_ENODATA : status);
    if (status == ARES_SUCCESS || status == ARES_ENODATA) return LookForLoop(host, id, result);
    result.missing = status == ARES_ENOTFOUND;
  }
  Complete(host, std::move(result));
}

// The library keeps nothing of an answer without an address. So it is asked for once more, as it
// is: aliases that lead back to themselves do not say that the name has no address.
void Resolver::Impl::LookForLoop(const std::string& host, std::uint64_t id, ResolveResult result) {
  struct Asked {
    Impl* impl;
    std::string host;
    std::uint64_t id;
    ResolveResult result;
  };
  ares_query(
      channel_, host.c_str(), kDnsClassInternet, static_cast<int>(DnsType::kA),
      [](void* arg, int status, int, unsigned char* answer, int size) {
        const std::unique_ptr<Asked> asked(static_cast<Asked*>(arg));
        Impl& impl = *asked->impl;
        if (impl.closing_) return;
        const auto found = impl.lookups_.find(asked->host);
        if (found == impl.lookups_.end() || found->second.id != asked->id) return;  // given up
        const bool is_loop = status == ARES_SUCCESS && HasAliasLoop(answer, size);
        if (is_loop) asked->result.error = "its aliases lead back to themselves";
        asked->result.missing = !is_loop && (status == ARES_SUCCESS || status == ARES_ENODATA ||
                                             status == ARES_ENOTFOUND);
        impl.Complete(asked->host, std::move(asked->result));
      },
      new Asked{this, host, id, std::move(result)});
}

// Callbacks run from the loop, never from inside c-ares or Resolve.
void Resolver::Impl::Complete(const std::string& host, ResolveResult result) {
  auto node = lookups_.extract(host);
  for (auto& waiter : node.mapped().waiters) {
    ready_.emplace_back([waiter = std::move(waiter), result] { waiter(result); });
  }
  deliver_timer_.Start(milliseconds(0));
}

void Resolver::Impl::Deliver() {
  auto ready = std::exchange(ready_, {});
  for (const auto& deliver : ready) deliver();
}

void Resolver::Impl::Remember(const std::string& host, const std::vector<IpAddress>& addresses,
                              std::chrono::seconds ttl) {
  if (addresses.empty()) {
    return;
  }
  const auto now = Clock::now();
  if (cache_.size() >= kCachedNamesMax) {
    std::erase_if(cache_, [&](const auto& entry) { return entry.second.until <= now; });
  }
  if (cache_.size() >= kCachedNamesMax) {
    cache_.clear();
  }
  cache_[host] = {addresses, now + ttl};
}

void Resolver::Impl::ExpireLookups() {
  const auto now = Clock::now();
  while (!deadlines_.empty() && deadlines_.front().first <= now) {
    const auto [host, id] = std::move(deadlines_.front().second);
    deadlines_.pop_front();
    const auto found = lookups_.find(host);
    if (found != lookups_.end() && found->second.id == id) {
      Complete(host, {{}, ares_strerror(ARES_ETIMEOUT), false});
    }
  }
}

void Resolver::Impl::Process(ares_socket_t readable, ares_socket_t writable) {
  ares_process_fd(channel_, readable, writable);
  ArmTimer();
}

// ares_timeout looks at every query under way, so it is asked once a round, not once a packet.
void Resolver::Impl::ArmTimer() {
  if (lookups_.empty()) {
    deadlines_.clear();
  }
  if (timer_.active()) {
    return;
  }
  timeval longest{};
  longest.tv_usec = static_cast<suseconds_t>(kRoundMax.count() * 1000);
  timeval wait{};
  if (lookups_.empty() && ares_timeout(channel_, nullptr, &wait) == nullptr) {
    return;
  }
  const timeval* next = ares_timeout(channel_, &longest, &wait);
  timer_.Start(milliseconds(next->tv_sec * 1000 + next->tv_usec / 1000 + 1));
}

// c-ares bounds the time of these itself: it gives up after its tries.
template <typename Record>
void Resolver::Impl::Query(const std::string& name, DnsType type,
                           std::function<void(DnsRecords<Record>)> done) {
  struct Asked {
    Impl* impl;
    std::function<void(DnsRecords<Record>)> done;
  };
  ares_query(
      channel_, name.c_str(), kDnsClassInternet, static_cast<int>(type),
      [](void* arg, int status, int, unsigned char* answer, int size) {
        const std::unique_ptr<Asked> asked(static_cast<Asked*>(arg));
        if (asked->impl->closing_) return;
        DnsRecords<Record> records;
        ReadDnsAnswer(status, answer, size, &records);
        // The answer comes as for addresses: never from inside c-ares.
        asked->impl->ready_.emplace_back(
            [done = std::move(asked->done), records = std::move(records)] { done(records); });
        asked->impl->deliver_timer_.Start(milliseconds(0));
      },
      new Asked{this, std::move(done)});
  ArmTimer();
}

Resolver::Resolver(base::EventLoop& loop, const std::vector<std::string>& servers,
                   milliseconds timeout, NameSources sources)
    : impl_(std::make_unique<Impl>(loop, servers, timeout, sources)) {}

void Resolver::QueryMx(const std::string& name, std::function<void(DnsRecords<MxRecord>)> done) {
  impl_->Query(name, DnsType::kMx, std::move(done));
}

void Resolver::QueryNs(const std::string& name, std::function<void(DnsRecords<std::string>)> done) {
  impl_->Query(name, DnsType::kNs, std::move(done));
}

void Resolver::QueryTxt(const std::string& name,
                        std::function<void(DnsRecords<std::string>)> done) {
  impl_->Query(name, DnsType::kTxt, std::move(done));
}

void Resolver::QueryPtr(const IpAddress& ip, std::function<void(DnsRecords<std::string>)> done) {
  impl_->Query(ReverseName(ip), DnsType::kPtr, std::move(done));
}

Resolver::~Resolver() = default;

void Resolver::Resolve(const std::string& host, std::function<void(ResolveResult)> done) {
  impl_->Resolve(host, std::move(done));
}

}  // namespace vedette::net
