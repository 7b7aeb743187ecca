#include "net/transfer.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "config/net_config.h"

namespace vedette::net {

namespace {

// The most bytes of an answer's header, interim answers included: a receiver cannot feed us headers
// for ever.
constexpr std::size_t kHeaderBytesMax = 64 * 1024;
constexpr std::size_t kHeaderFieldsMax = 256;
// A connection is given up at this age, so that a receiver that moved is followed.
constexpr long kConnectionAgeMaxSeconds = 300;
constexpr long kConnectionIdleMaxSeconds = 60;
// Every transfer brings its addresses along; curl's own cache only carries them over to the
// connection attempt. Not 0: curl would throw them away and ask the system's resolver.
constexpr long kDnsCacheSeconds = 10;

bool IsToken(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return base::IsAsciiDigit(c) || base::IsAsciiLetter(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::optional<IpAddress> AddressOf(const sockaddr& address) {
  IpAddress ip;
  if (address.sa_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    std::memcpy(ip.bytes.data(), &in.sin_addr, 4);
    return ip;
  }
  if (address.sa_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    ip.v6 = true;
    std::memcpy(ip.bytes.data(), &in.sin6_addr, 16);
    return ip;
  }
  return std::nullopt;
}

std::string UrlFor(const TenantUrl& url, const std::string& target) {
  const bool v6 = url.literal && url.literal->v6;
  return url.scheme + "://" + (v6 ? "[" + url.host + "]" : url.host) + ":" +
         std::to_string(url.port) + target;
}

HttpErrorClass ClassOf(CURLcode result) {
  switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return HttpErrorClass::kDns;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return HttpErrorClass::kConnect;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpErrorClass::kTimeout;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ENGINE_INITFAILED:
      return HttpErrorClass::kTls;
    default:
      return HttpErrorClass::kProtocol;
  }
}

}  // namespace

Transfer::~Transfer() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
  curl_slist_free_all(resolve_);
}

Transfer* Transfer::Of(CURL* easy) {
  void* transfer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return static_cast<Transfer*>(transfer);
}

CURL* Transfer::NewHandle(const config::NetConfig& config) {
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(), curl_easy_cleanup);
  if (handle == nullptr) {
    throw std::runtime_error("curl_easy_init failed");
  }
  const auto set = [&handle](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(handle.get(), option, value);
    if (code != CURLE_OK) {
      throw std::runtime_error(std::string("curl_easy_setopt: ") + curl_easy_strerror(code));
    }
  };
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // Never the environment's proxy: the empty string says "none" where NULL would say "ask it".
  set(CURLOPT_PROXY, config.proxy.c_str());
  set(CURLOPT_NOPROXY, config.proxy.empty() ? "*" : "");
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!config.ca_file.empty()) {
    set(CURLOPT_CAINFO, config.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(config.connect_timeout_ms.count()));
  set(CURLOPT_DNS_CACHE_TIMEOUT, kDnsCacheSeconds);
  set(CURLOPT_MAXAGE_CONN, kConnectionIdleMaxSeconds);
  set(CURLOPT_MAXLIFETIME_CONN, kConnectionAgeMaxSeconds);
  set(CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  set(CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::OnOpenSocket);
  set(CURLOPT_PREREQFUNCTION, &Transfer::OnPrerequest);
  return handle.release();
}

void Transfer::Attach(CURL* handle) {
  easy_ = handle;
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, curl_error_);
  for (const CURLoption option : {CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA,
                                  CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA}) {
    curl_easy_setopt(easy_, option, static_cast<void*>(this));
  }
}

CURL* Transfer::Detach() {
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, static_cast<char*>(nullptr));
  return std::exchange(easy_, nullptr);
}

std::string Transfer::Prepare(const std::vector<std::string>& resolve) {
  if (!IsToken(request.method)) {
    return "the method is not a token";
  }
  std::string problem = SetHeaders();
  if (!problem.empty()) {
    return problem;
  }
  SetMethod();
  SetResolve(resolve);
  curl_easy_setopt(easy_, CURLOPT_URL, UrlFor(route.url, route.target).c_str());
  return {};
}

void Transfer::SetMethod() {
  const bool head = request.method == "HEAD";
  const bool sends_body = !request.body.empty() || request.method == "POST" ||
                          request.method == "PUT" || request.method == "PATCH";
  curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);  // from whatever the last request was
  if (head) {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  } else if (sends_body) {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  const bool named =
      head || request.method == "GET" ? sends_body && !head : request.method != "POST";
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST,
                   named ? request.method.c_str() : static_cast<const char*>(nullptr));
}

std::string Transfer::SetHeaders() {
  curl_slist_free_all(headers_);
  headers_ = nullptr;
  bool has_content_type = false;
  bool has_accept_encoding = false;
  for (const auto& [name, value] : request.headers) {
    if (!IsToken(name) || value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return "the header \"" + name + "\" cannot be sent";
    }
    const std::string lower = base::AsciiLower(name);
    has_content_type = has_content_type || lower == "content-type";
    has_accept_encoding = has_accept_encoding || lower == "accept-encoding";
    headers_ = curl_slist_append(headers_, (name + (value.empty() ? ";" : ": " + value)).c_str());
  }
  if (!has_accept_encoding) {
    headers_ = curl_slist_append(headers_, "Accept-Encoding: gzip, deflate");
  }
  headers_ = curl_slist_append(headers_, "Expect:");  // no waiting for a 100
  if (!has_content_type) {
    headers_ = curl_slist_append(headers_, "Content-Type:");  // none rather than curl's guess
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  return {};
}

void Transfer::SetResolve(const std::vector<std::string>& entries) {
  curl_slist_free_all(resolve_);
  resolve_ = nullptr;
  for (const std::string& entry : entries) {
    resolve_ = curl_slist_append(resolve_, entry.c_str());
  }
  curl_easy_setopt(easy_, CURLOPT_RESOLVE, resolve_);
}

void Transfer::Reset() {
  id = 0;
  phase = Phase::kFailed;
  request = {};
  done = nullptr;
  response = {};
  addresses.clear();
  curl_error_[0] = '\0';
  refused_address_.clear();
  protocol_error_.clear();
  header_bytes_ = 0;
  body_.Reset();
  pauser = nullptr;
  paused_for = {};
}

// ---------------------------------------------------------------- the answer

void Transfer::Fail(HttpErrorClass error_class, std::string sentence) {
  response.error_class = error_class;
  response.error = std::move(sentence);
}

HttpResponse Transfer::TakeResponse(CURLcode result) {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  TakeTime();
  const char* address = nullptr;
  curl_easy_getinfo(easy_, CURLINFO_PRIMARY_IP, &address);
  response.remote_address = address == nullptr ? "" : address;
  TakeResult(result);
  if (response.error_class == HttpErrorClass::kNone) {
    response.body = body_.TakeText();
    response.held = body_.TakeHolding();
  }
  body_.Reset();
  return std::move(response);
}

// curl's own times begin where it begins with the transfer, which it may do long after it was
// handed over. What waits for this process counts, and so does the making of a connection, behind
// which the same wait may hide.
void Transfer::TakeTime() {
  curl_off_t answered = 0;
  curl_off_t ended = 0;
  curl_easy_getinfo(easy_, CURLINFO_STARTTRANSFER_TIME_T, &answered);
  curl_easy_getinfo(easy_, CURLINFO_TOTAL_TIME_T, &ended);
  const auto since = std::chrono::steady_clock::now() - begun;
  answered_in = std::chrono::duration_cast<std::chrono::microseconds>(since) -
                std::chrono::microseconds(ended - answered);
}

void Transfer::TakeResult(CURLcode result) {
  if (result == CURLE_OK) {
    return;
  }
  if (!refused_address_.empty()) {
    Fail(HttpErrorClass::kRefusedAddress,
         "the address " + refused_address_ + " of " + route.url.host + " is not public");
  } else if (body_.state() == AnswerBody::State::kCut) {
    response.body_truncated = true;  // stopped by us: the status decides
  } else if (body_.state() == AnswerBody::State::kBroken) {
    Fail(HttpErrorClass::kProtocol,
         "the answer's body is not what its content-encoding says, gzip or deflate");
  } else if (body_.state() == AnswerBody::State::kTooLong) {
    Fail(HttpErrorClass::kBodyTooLarge,
         "the answer's body is longer than " + std::to_string(request.body_bytes_max) + " bytes");
  } else if (!protocol_error_.empty()) {
    Fail(HttpErrorClass::kProtocol, protocol_error_);
  } else {
    const char* why = curl_error_[0] != '\0' ? curl_error_ : curl_easy_strerror(result);
    Fail(ClassOf(result), host_key + ": " + why);
  }
}

std::string Transfer::Progress() const {
  switch (phase) {
    case Phase::kResolving:
    case Phase::kRenewing:
      return "the name " + route.url.host + " was not resolved";
    case Phase::kPaused:
      return "no memory was free for the answer of " + host_key;
    case Phase::kWaiting:
      return "no connection to " + host_key + " was free";
    default:
      break;
  }
  curl_off_t connected = 0;
  curl_off_t sent = 0;
  curl_easy_getinfo(easy_, CURLINFO_CONNECT_TIME_T, &connected);
  curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &sent);
  if (connected == 0 && sent == 0) {
    return "no connection to " + host_key + " was made";
  }
  if (sent == 0) {
    return "no TLS connection to " + host_key + " was made";
  }
  return response.headers.empty() ? host_key + " did not answer"
                                  : "the answer of " + host_key + " did not end";
}

std::size_t Transfer::OnHeader(char* data, std::size_t size, std::size_t n, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  return transfer->AcceptHeaderLine({data, size * n}) ? size * n : 0;
}

bool Transfer::AcceptHeaderLine(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kHeaderBytesMax || response.headers.size() >= kHeaderFieldsMax) {
    protocol_error_ = "the answer's header is too long";
    return false;
  }
  if (line.starts_with("HTTP/")) {
    response.headers.clear();  // an interim answer came before this one
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return true;
  }
  std::string name = base::AsciiLower(base::Trim(line.substr(0, colon), base::kLineSpace));
  const std::string_view value = base::Trim(line.substr(colon + 1), base::kLineSpace);
  // One layer of compression only: layers multiply, and the body's limit sees just the outermost.
  const bool layered = name == "content-encoding" && (value.find(',') != std::string_view::npos ||
                                                      response.Header(name).has_value());
  if (layered || (name == "transfer-encoding" && base::AsciiLower(value) != "chunked")) {
    protocol_error_ = "the answer is encoded in more than one layer";
    return false;
  }
  response.headers.emplace_back(std::move(name), std::string(value));
  return true;
}

std::size_t Transfer::OnBody(char* data, std::size_t size, std::size_t n, void* self) {
  return static_cast<Transfer*>(self)->AcceptBody({data, size * n});
}

void Transfer::BeginBody() {
  curl_off_t length = -1;
  curl_easy_getinfo(easy_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  const std::string coding = base::AsciiLower(response.Header("content-encoding").value_or(""));
  body_.Begin({request.body_bytes_max, request.truncate_body,
               pauser == nullptr ? nullptr : request.budget, request.org},
              {coding, length},
              pauser == nullptr ? std::function<void()>() : pauser->WhenGranted(*this));
}

std::size_t Transfer::AcceptBody(std::string_view data) {
  if (!body_.begun()) {
    BeginBody();
  }
  switch (body_.Feed(data)) {
    case AnswerBody::State::kReading:
      return data.size();
    case AnswerBody::State::kWaiting:
      phase = Phase::kPaused;
      pauser->Paused(*this);
      return CURL_WRITEFUNC_PAUSE;
    default:
      return 0;
  }
}

CURLcode Transfer::Resume() {
  phase = Phase::kActive;
  body_.Granted();
  return curl_easy_pause(easy_, CURLPAUSE_CONT);
}

// ---------------------------------------------------------------- addresses

curl_socket_t Transfer::OnOpenSocket(void* self, curlsocktype, struct curl_sockaddr* address) {
  auto* transfer = static_cast<Transfer*>(self);
  const auto ip = AddressOf(address->addr);
  if (!ip || !transfer->route.policy->Allows(*ip)) {
    transfer->refused_address_ = ip ? ip->ToString() : "(of no known family)";
    return CURL_SOCKET_BAD;
  }
  const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd >= 0) {
    transfer->route.loop->OpenedSocket(*transfer->route.handle, fd);
  }
  return fd;
}

// Also for a connection that an earlier request opened.
int Transfer::OnPrerequest(void* self, char* remote, char*, int, int) {
  auto* transfer = static_cast<Transfer*>(self);
  const auto ip = IpAddress::Parse(remote);
  if (ip && transfer->route.policy->Allows(*ip)) {
    return CURL_PREREQFUNC_OK;
  }
  transfer->refused_address_ = remote;
  return CURL_PREREQFUNC_ABORT;
}

}  // namespace vedette::net
