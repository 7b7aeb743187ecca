#include "net/http_server.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/text.h"
#include "base/uuid.h"
#include "config/server_config.h"
#include "net/http_connection.h"

namespace vedette::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;

namespace {

// Connections over connections_max that are being told so; over it they are closed without a word.
constexpr std::size_t kRefusedConnectionsMax = 64;
constexpr milliseconds kAcceptRetry{100};
// Deadlines are scanned in rounds, a quarter of the shortest one apart.
constexpr milliseconds kDeadlineScanMin{5};
constexpr milliseconds kDeadlineScanMax{250};

tcp::endpoint ResolveListenAddress(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string::npos) {
    throw std::runtime_error("a port is missing (host:port)");
  }
  std::string host = listen.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  asio::io_context io;
  tcp::resolver resolver(io);
  auto flags = tcp::resolver::passive | tcp::resolver::numeric_service;
  return *resolver.resolve(host == "*" ? "0.0.0.0" : host, listen.substr(colon + 1), flags).begin();
}

// A browser that inherited a socket would hold it open after this process has closed it.
template <typename Socket>
void CloseOnExec(Socket& socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

milliseconds DeadlineScanInterval(const config::HttpServerConfig& c) {
  const auto shortest =
      std::min({c.header_timeout_ms, c.body_timeout_ms, c.write_timeout_ms, c.idle_timeout_ms});
  return std::clamp(shortest / 4, kDeadlineScanMin, kDeadlineScanMax);
}

}  // namespace

struct HttpServer::Impl final : ConnectionHost {
  using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;
  using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                           asio::wait_traits<std::chrono::steady_clock>,
                                           asio::io_context::executor_type>;
  using Connections = std::list<std::shared_ptr<HttpConnection>>;

  Impl(const config::HttpServerConfig& config, HttpService& service, base::Logger log)
      : config_(config), service_(service), log_(log) {
    // The configuration refuses what is none when it is read.
    for (const std::string& proxy : config.trusted_proxies) {
      if (const auto cidr = Cidr::Parse(proxy)) trusted_proxies_.push_back(*cidr);
    }
    Listen();
  }

  ~Impl() override { Stop(); }

  enum class Stage { kServing, kLeaving, kDraining, kStopped };  // http_server.h

  // ConnectionHost.
  const config::HttpServerConfig& config() const override { return config_; }
  const std::vector<Cidr>& trusted_proxies() const override { return trusted_proxies_; }
  HttpService& service() override { return service_; }
  const base::Logger& log() const override { return log_; }
  const std::shared_ptr<Mailbox>& mailbox() const override { return mailbox_; }
  bool draining() const override { return stage_ >= Stage::kDraining; }
  bool leaving() const override { return stage_ >= Stage::kLeaving; }
  asio::mutable_buffer scratch() override { return asio::buffer(scratch_); }
  std::string_view date() override;
  void SetIdle(HttpConnection& connection, bool idle) override;
  void Remove(HttpConnection& connection) override;

  void Listen();
  void Start();
  void Leave();
  void Stop();
  void RunThread();
  void Accept();
  void OnAccept(HttpConnection::Socket socket);
  void CloseOverdue();
  void BeginDrain();
  void CloseAll();
  void FinishStop();
  std::size_t connections() const { return busy_.size() + idle_.size(); }

  const config::HttpServerConfig config_;
  HttpService& service_;
  std::vector<Cidr> trusted_proxies_;
  const base::Logger log_;

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>(io_);
  Acceptor acceptor_{io_.get_executor()};
  Timer deadline_timer_{io_.get_executor()};
  Timer accept_timer_{io_.get_executor()};
  Timer drain_timer_{io_.get_executor()};
  tcp::endpoint bound_;
  std::mutex stop_mutex_;
  std::thread thread_;

  // The server's thread only from here on.
  Connections busy_;
  Connections idle_;  // the longest idle first
  std::array<char, kBodyReadBytes> scratch_;
  Stage stage_ = Stage::kServing;
  std::time_t date_second_ = 0;
  std::string date_;
};

void HttpServer::Impl::Listen() {
  try {
    const tcp::endpoint endpoint = ResolveListenAddress(config_.listen);
    acceptor_.open(endpoint.protocol());
    CloseOnExec(acceptor_);
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
    acceptor_.non_blocking(true);
    bound_ = acceptor_.local_endpoint();
  } catch (const boost::system::system_error& e) {
    throw std::runtime_error("cannot listen on " + config_.listen + ": " + e.code().message());
  } catch (const std::runtime_error& e) {
    throw std::runtime_error("cannot listen on " + config_.listen + ": " + e.what());
  }
}

std::string_view HttpServer::Impl::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[64];
    // The C locale's names of days and months: the process never sets another.
    const std::size_t n = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    date_.assign(text, n);
    date_second_ = now;
  }
  return date_;
}

void HttpServer::Impl::SetIdle(HttpConnection& connection, bool idle) {
  auto& slot = connection.slot;
  if (!slot.listed) {
    return;
  }
  if (idle) {
    idle_.splice(idle_.end(), slot.idle ? idle_ : busy_, slot.at);
  } else if (slot.idle) {
    busy_.splice(busy_.end(), idle_, slot.at);
  }
  slot.idle = idle;
}

void HttpServer::Impl::Remove(HttpConnection& connection) {
  auto& slot = connection.slot;
  if (slot.listed) {
    slot.listed = false;
    (slot.idle ? idle_ : busy_).erase(slot.at);
  }
  if (draining() && connections() == 0) {
    FinishStop();
  }
}

void HttpServer::Impl::Start() {
  const std::lock_guard lock(stop_mutex_);
  if (thread_.joinable()) {
    return;
  }
  asio::post(io_, [this] {
    Accept();
    CloseOverdue();
  });
  thread_ = std::thread([this] { RunThread(); });
}

void HttpServer::Impl::RunThread() {
  for (;;) {
    try {
      io_.run();
      return;
    } catch (const std::exception& e) {
      log_.Error("the HTTP server's thread caught an exception", {{"error", e.what()}});
    }
  }
}

void HttpServer::Impl::Stop() {
  const std::lock_guard lock(stop_mutex_);
  if (!thread_.joinable()) {
    mailbox_->Close();
    return;
  }
  asio::post(io_, [this] { BeginDrain(); });
  thread_.join();
}

void HttpServer::Impl::Leave() {
  const std::lock_guard lock(stop_mutex_);
  if (thread_.joinable()) asio::post(io_, [this] { stage_ = std::max(stage_, Stage::kLeaving); });
}

void HttpServer::Impl::Accept() {
  acceptor_.async_accept(
      [this](const boost::system::error_code& ec, HttpConnection::Socket socket) {
        if (draining() || ec == asio::error::operation_aborted) {
          return;
        }
        if (!ec) {
          OnAccept(std::move(socket));
          Accept();
          return;
        }
        // Out of descriptors, most likely: give one back and look again in a moment.
        log_.Warn("cannot accept a connection", {{"error", ec.message()}});
        if (!idle_.empty()) {
          idle_.front()->Close();
        }
        accept_timer_.expires_after(kAcceptRetry);
        accept_timer_.async_wait([this](const boost::system::error_code& wait) {
          if (!wait && !draining()) {
            Accept();
          }
        });
      });
}

void HttpServer::Impl::OnAccept(HttpConnection::Socket socket) {
  CloseOnExec(socket);
  const auto max = static_cast<std::size_t>(config_.connections_max);
  if (connections() >= max && !idle_.empty()) {
    const auto oldest = idle_.front();
    oldest->Close();
  }
  const bool refused = connections() >= max;
  if (refused && connections() >= max + kRefusedConnectionsMax) {
    return;
  }
  const auto connection = std::make_shared<HttpConnection>(*this, std::move(socket));
  connection->slot.at = busy_.insert(busy_.end(), connection);
  connection->slot.listed = true;
  if (refused) {
    connection->StartRefused({503, "unavailable", "The server has no connection to spare."});
  } else {
    connection->Start();
  }
}

void HttpServer::Impl::CloseOverdue() {
  const auto now = std::chrono::steady_clock::now();
  for (Connections* list : {&busy_, &idle_}) {
    for (auto it = list->begin(); it != list->end();) {
      const auto connection = *it++;
      if (connection->deadline() <= now) {
        connection->OnDeadline();
      }
    }
  }
  if (stage_ == Stage::kStopped) {
    return;
  }
  deadline_timer_.expires_after(DeadlineScanInterval(config_));
  deadline_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) {
      CloseOverdue();
    }
  });
}

void HttpServer::Impl::BeginDrain() {
  stage_ = Stage::kDraining;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  accept_timer_.cancel();
  Connections all = busy_;
  all.insert(all.end(), idle_.begin(), idle_.end());
  for (const auto& connection : all) {
    connection->Drain();
  }
  if (connections() == 0) {
    FinishStop();
    return;
  }
  drain_timer_.expires_after(config_.drain_timeout_ms);
  drain_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) {
      log_.Warn("requests were still under way when the server stopped",
                {{"connections", connections()}});
      CloseAll();
      FinishStop();
    }
  });
}

void HttpServer::Impl::CloseAll() {
  Connections all = busy_;
  all.insert(all.end(), idle_.begin(), idle_.end());
  for (const auto& connection : all) {
    connection->Close();
  }
}

void HttpServer::Impl::FinishStop() {
  if (stage_ == Stage::kStopped) {
    return;
  }
  stage_ = Stage::kStopped;
  mailbox_->Close();
  deadline_timer_.cancel();
  drain_timer_.cancel();
  work_.reset();
}

HttpServer::HttpServer(const config::HttpServerConfig& config, HttpService& service,
                       base::Logger log)
    : impl_(std::make_unique<Impl>(config, service, log)) {}

HttpServer::~HttpServer() = default;

void HttpServer::Start() {
  impl_->Start();
}

void HttpServer::Leave() {
  impl_->Leave();
}

void HttpServer::Stop() {
  impl_->Stop();
}

int HttpServer::port() const {
  return impl_->bound_.port();
}

std::string HttpServer::address() const {
  const auto& address = impl_->bound_.address();
  const std::string host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
  return host + ":" + std::to_string(port());
}

namespace {

constexpr std::size_t kRequestIdCharsMax = 128;

bool IsSane(std::string_view id) {
  if (id.empty() || id.size() > kRequestIdCharsMax) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return base::IsAsciiDigit(c) || base::IsAsciiLetter(c) || c == '-' || c == '_' || c == '.' ||
           c == ':';
  });
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view ServerRequest::Header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const auto& header) { return header.first == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::string RequestIdOf(const ServerRequest& request) {
  const std::string_view given = request.Header("x-request-id");
  return IsSane(given) ? std::string(given) : base::Uuid::V4().ToString();
}

std::string PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 1 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        throw std::invalid_argument("a percent sign is not followed by two hexadecimal digits");
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') {
      throw std::invalid_argument("the text contains NUL");
    }
    out.push_back(c);
  }
  if (!base::IsValidUtf8(out)) throw std::invalid_argument("the text is not UTF-8");
  return out;
}

std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value =
        equals < pair.size() ? pair.substr(equals + 1) : std::string_view();
    pairs.emplace_back(PercentDecode(pair.substr(0, equals), true), PercentDecode(value, true));
  }
  return pairs;
}

}  // namespace vedette::net
