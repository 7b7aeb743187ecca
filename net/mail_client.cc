#include "net/mail_client.h"

#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/delivery_config.h"
#include "config/net_config.h"
#include "net/poller.h"
#include "net/public_address.h"
#include "net/resolver.h"

namespace vedette::net {
namespace {

using MailTime = std::chrono::steady_clock;
using RelaySecurity = domain::MailRelay::Security;

constexpr long kIdleMaxSeconds = 60;

std::string_view MailErrorClass(CURLcode result) {
  switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "dns";
    case CURLE_COULDNT_CONNECT:
      return "connect";
    case CURLE_OPERATION_TIMEDOUT:
      return "timeout";
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_USE_SSL_FAILED:
      return "tls";
    case CURLE_LOGIN_DENIED:
      return "login";
    default:
      return "relay";
  }
}

// "550" and "550 5.1.1" of a reply's line.
struct RelayReply {
  int code = 0;
  std::string shown;
  bool policy = false;  // X.7.X: the sender is not welcome, which says nothing of the address
};

RelayReply ReadRelayReply(std::string_view line) {
  RelayReply reply;
  if (line.size() < 3 || !std::all_of(line.begin(), line.begin() + 3, base::IsAsciiDigit)) {
    return reply;
  }
  reply.code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  reply.shown = line.substr(0, 3);
  const std::string_view rest = line.size() > 4 ? line.substr(4) : std::string_view();
  const std::string_view enhanced = rest.substr(0, rest.find_first_not_of("0123456789."));
  if (std::count(enhanced.begin(), enhanced.end(), '.') != 2) return reply;
  reply.shown.append(" ").append(enhanced);
  reply.policy = enhanced.substr(1).starts_with(".7.");
  return reply;
}

}  // namespace

struct MailClient::Impl : std::enable_shared_from_this<MailClient::Impl> {
  // The command that the last reply is about, as far as it says what the reply means.
  //
  //   kBefore --RCPT--> kRecipient --DATA--> kMessage
  //
  enum class Stage : std::uint8_t { kBefore, kRecipient, kMessage };

  struct Transfer {
    Impl* client = nullptr;
    OutgoingMail mail;
    std::function<void(MailOutcome)> done;
    CURL* easy = nullptr;
    curl_slist* to = nullptr;
    curl_slist* resolve = nullptr;
    CurlLoop::Handle* handle = nullptr;
    std::size_t sent = 0;
    Stage stage = Stage::kBefore;
    bool quits = false;
    RelayReply reply;
    MailTime::time_point began{};
    char error[CURL_ERROR_SIZE] = {};

    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer() {
      curl_easy_cleanup(easy);
      curl_slist_free_all(to);
      curl_slist_free_all(resolve);
    }
  };

  Impl(base::EventLoop& loop, const config::NetConfig& config, domain::MailRelay to,
       std::string secret, const std::string& hello_name)
      : config_(config),
        relay_(std::move(to)),
        password_(std::move(secret)),
        literal_(IpAddress::Parse(relay_.host)),
        key_(relay_.host + ":" + std::to_string(relay_.port)),
        resolver_(loop, config_.dns_servers, config_.connect_timeout_ms),
        curl_(loop, kConnectionsMax, [this](CURL* easy, CURLcode result) { OnDone(easy, result); }),
        posted_(loop) {
    const bool v6 = literal_ && literal_->v6;
    const std::string_view scheme = relay_.security == RelaySecurity::kTls ? "smtps://" : "smtp://";
    url_.append(scheme).append(v6 ? "[" + relay_.host + "]" : relay_.host);
    url_.append(":").append(std::to_string(relay_.port)).append("/").append(hello_name);
  }
  ~Impl() {
    for (const auto& [easy, transfer] : under_way_) {
      if (transfer->handle != nullptr) curl_.Remove(easy, *transfer->handle, key_, {});
    }
    // curl says good-bye on each connection that it kept, and would wait minutes for the answer of
    // a relay that gives none.
    for (const int fd : sockets_) shutdown(fd, SHUT_RDWR);
  }

  void Send(OutgoingMail mail, std::function<void(MailOutcome)> done);
  void Pump();
  void Begin(const std::shared_ptr<Transfer>& transfer);
  void Start(Transfer& transfer, const std::vector<IpAddress>& addresses);
  void SetOptions(Transfer& transfer);
  void OnDone(CURL* easy, CURLcode result);
  void Finish(CURL* easy, MailOutcome outcome);

  static std::size_t OnRead(char* to, std::size_t size, std::size_t n, void* self);
  static int OnDialogue(CURL*, curl_infotype type, char* data, std::size_t size, void* self);
  static curl_socket_t OnOpenSocket(void* self, curlsocktype, struct curl_sockaddr* address);
  static int OnCloseSocket(void* client, curl_socket_t fd);

  const config::NetConfig config_;
  const domain::MailRelay relay_;
  const std::string password_;
  const std::optional<IpAddress> literal_;
  const std::string key_;
  std::string url_;
  Resolver resolver_;
  std::set<int> sockets_;  // outlives curl_, which closes them
  CurlLoop curl_;
  base::EventLoop& posted_;
  std::deque<std::shared_ptr<Transfer>> waiting_;
  std::map<CURL*, std::shared_ptr<Transfer>> under_way_;
};

void MailClient::Impl::Send(OutgoingMail mail, std::function<void(MailOutcome)> done) {
  const auto transfer = std::make_shared<Transfer>();
  transfer->client = this;
  transfer->mail = std::move(mail);
  transfer->done = std::move(done);
  waiting_.push_back(transfer);
  posted_.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Pump();
  });
}

void MailClient::Impl::Pump() {
  while (!waiting_.empty() && under_way_.size() < std::size_t{kConnectionsMax}) {
    const auto transfer = std::move(waiting_.front());
    waiting_.pop_front();
    transfer->easy = curl_easy_init();
    if (transfer->easy == nullptr) throw std::runtime_error("curl_easy_init failed");
    transfer->began = MailTime::now();
    under_way_.emplace(transfer->easy, transfer);
    Begin(transfer);
  }
}

void MailClient::Impl::Begin(const std::shared_ptr<Transfer>& transfer) {
  if (literal_) return Start(*transfer, {});
  resolver_.Resolve(relay_.host, [this, easy = transfer->easy](const ResolveResult& result) {
    const auto found = under_way_.find(easy);
    if (found == under_way_.end()) return;
    if (!result.addresses.empty()) return Start(*found->second, result.addresses);
    MailOutcome outcome;
    outcome.error = "dns: the name " + relay_.host + " cannot be resolved: " + result.error;
    Finish(easy, std::move(outcome));
  });
}

void MailClient::Impl::Start(Transfer& transfer, const std::vector<IpAddress>& addresses) {
  transfer.handle = &curl_.HandleFor(key_);
  for (const std::string& stale : CurlLoop::TakeStaleNames(*transfer.handle)) {
    transfer.resolve = curl_slist_append(transfer.resolve, ("-" + stale).c_str());
  }
  std::string entry = "+" + key_ + ":";
  for (const IpAddress& ip : addresses) {
    if (!entry.ends_with(':')) entry += ',';
    entry += ip.v6 ? "[" + ip.ToString() + "]" : ip.ToString();
  }
  if (!addresses.empty()) transfer.resolve = curl_slist_append(transfer.resolve, entry.c_str());
  SetOptions(transfer);
  curl_.Add(transfer.easy, *transfer.handle, key_);
}

void MailClient::Impl::SetOptions(Transfer& transfer) {
  CURL* const easy = transfer.easy;
  const auto set = [easy](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(easy, option, value);
    if (code != CURLE_OK) {
      throw std::runtime_error(std::string("curl_easy_setopt: ") + curl_easy_strerror(code));
    }
  };
  void* const self = &transfer;
  set(CURLOPT_PRIVATE, self);
  set(CURLOPT_ERRORBUFFER, transfer.error);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_URL, url_.c_str());
  set(CURLOPT_RESOLVE, transfer.resolve);
  set(CURLOPT_USE_SSL,
      static_cast<long>(relay_.security == RelaySecurity::kStartTls ? CURLUSESSL_ALL
                                                                    : CURLUSESSL_NONE));
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!config_.ca_file.empty()) {
    set(CURLOPT_CAINFO, config_.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!relay_.user.empty()) {
    set(CURLOPT_USERNAME, relay_.user.c_str());
    set(CURLOPT_PASSWORD, password_.c_str());
  }
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(transfer.mail.timeout.count()));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(config_.connect_timeout_ms.count()));
  set(CURLOPT_MAXAGE_CONN, kIdleMaxSeconds);
  set(CURLOPT_MAIL_FROM, ("<" + transfer.mail.from + ">").c_str());
  transfer.to = curl_slist_append(nullptr, ("<" + transfer.mail.to + ">").c_str());
  set(CURLOPT_MAIL_RCPT, transfer.to);
  set(CURLOPT_UPLOAD, 1L);
  set(CURLOPT_READFUNCTION, &Impl::OnRead);
  set(CURLOPT_READDATA, self);
  set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(transfer.mail.message.size()));
  set(CURLOPT_VERBOSE, 1L);  // the dialogue, which is told to OnDialogue alone
  set(CURLOPT_DEBUGFUNCTION, &Impl::OnDialogue);
  set(CURLOPT_DEBUGDATA, self);
  set(CURLOPT_OPENSOCKETFUNCTION, &Impl::OnOpenSocket);
  set(CURLOPT_OPENSOCKETDATA, self);
  // A connection outlives the mail that opened it.
  set(CURLOPT_CLOSESOCKETFUNCTION, &Impl::OnCloseSocket);
  set(CURLOPT_CLOSESOCKETDATA, static_cast<void*>(this));
}

std::size_t MailClient::Impl::OnRead(char* to, std::size_t size, std::size_t n, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::size_t bytes = transfer.mail.message.copy(to, size * n, transfer.sent);
  transfer.sent += bytes;
  return bytes;
}

// Keeps the code of the last reply, and nothing of what was said, which holds addresses and the
// password.
int MailClient::Impl::OnDialogue(CURL*, curl_infotype type, char* data, std::size_t size,
                                 void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view line(data, size);
  if (type == CURLINFO_HEADER_OUT) {
    if (line.starts_with("RCPT ")) transfer.stage = Stage::kRecipient;
    if (line.starts_with("DATA")) transfer.stage = Stage::kMessage;
    // curl says good-bye before it tells that a recipient was refused.
    if (line.starts_with("QUIT")) transfer.quits = true;
  } else if (type == CURLINFO_HEADER_IN && !transfer.quits) {
    if (RelayReply reply = ReadRelayReply(line); reply.code != 0) transfer.reply = std::move(reply);
  }
  return 0;
}

curl_socket_t MailClient::Impl::OnOpenSocket(void* self, curlsocktype,
                                             struct curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0) return fd;
  transfer.client->sockets_.insert(fd);
  transfer.client->curl_.OpenedSocket(*transfer.handle, fd);
  return fd;
}

int MailClient::Impl::OnCloseSocket(void* client, curl_socket_t fd) {
  static_cast<Impl*>(client)->sockets_.erase(fd);
  return close(fd);
}

void MailClient::Impl::OnDone(CURL* easy, CURLcode result) {
  const Transfer& transfer = *under_way_.at(easy);
  const RelayReply& reply = transfer.reply;
  MailOutcome outcome;
  if (result == CURLE_OK) {
    outcome.end = MailOutcome::End::kTaken;
    outcome.reply = reply.code;
  } else if (transfer.stage == Stage::kRecipient && reply.code >= 500 && !reply.policy) {
    outcome.end = MailOutcome::End::kRefusedAddress;
    outcome.reply = reply.code;
    outcome.error = "hard_bounce: the relay refuses the address for good (" + reply.shown + ")";
  } else {
    const char* why = transfer.error[0] != '\0' ? transfer.error : curl_easy_strerror(result);
    outcome.error = std::string(MailErrorClass(result)) + ": " + key_ + ": " + why;
    if (reply.code >= 400) {
      outcome.reply = reply.code;
      outcome.error += " (" + reply.shown + ")";
    }
  }
  // curl's "-host:port" cannot name an address of IPv6: such an entry ages out.
  curl_.Remove(easy, *transfer.handle, key_, literal_ && literal_->v6 ? std::string() : key_);
  Finish(easy, std::move(outcome));
}

// The callback is the last thing: it may send more.
void MailClient::Impl::Finish(CURL* easy, MailOutcome outcome) {
  const auto node = under_way_.extract(easy);
  const Transfer& transfer = *node.mapped();
  outcome.duration =
      std::chrono::duration_cast<std::chrono::microseconds>(MailTime::now() - transfer.began);
  Pump();
  transfer.done(std::move(outcome));
}

MailClient::MailClient(base::EventLoop& loop, const config::NetConfig& config,
                       domain::MailRelay relay, std::string password, const std::string& hello_name)
    : impl_(std::make_shared<Impl>(loop, config, std::move(relay), std::move(password),
                                   hello_name)) {}

MailClient::~MailClient() = default;

void MailClient::Send(OutgoingMail mail, std::function<void(MailOutcome)> done) {
  impl_->Send(std::move(mail), std::move(done));
}

}  // namespace vedette::net
