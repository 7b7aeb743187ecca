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
// A kept connection may have been closed just before the request, so curl sends it again, six times
// in all, and cannot tell that from a server that has read it and hung up. Each of those may act on
// what it read.
constexpr int kSendsMax = 2;

bool IsName(std::string_view name, std::string_view lower) {
  return name.size() == lower.size() && base::AsciiLower(name) == lower;
}

bool IsToken(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return base::IsAsciiLetter(c) || c == '-' || base::IsAsciiDigit(c) ||
           std::string_view("!#$%&'*+.^_`|~").find(c) != std::string_view::npos;
  });
}

// Compared one by one: find_first_of calls memchr for each character.
bool EndsLine(char c) {
  return c == '\r' || c == '\n' || c == '\0';
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

Transfer* Transfer::Of(CURL* curl) {
  void* easy = nullptr;
  curl_easy_getinfo(curl, CURLINFO_PRIVATE, &easy);
  return static_cast<Easy*>(easy)->transfer;
}

Transfer::Easy::~Easy() {
  curl_easy_cleanup(curl);
  curl_slist_free_all(resolve);
}

Transfer::Easy::Easy(const config::NetConfig& config) : curl(curl_easy_init()) {
  if (curl == nullptr) {
    throw std::runtime_error("curl_easy_init failed");
  }
  const auto set = [this](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(curl, option, value);
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
  set(CURLOPT_ERRORBUFFER, error);
  for (const CURLoption option : {CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA,
                                  CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA}) {
    set(option, static_cast<void*>(this));
  }
}

void Transfer::Attach(std::unique_ptr<Easy> easy) {
  easy_ = std::move(easy);
  easy_->transfer = this;
}

std::unique_ptr<Transfer::Easy> Transfer::Detach() {
  easy_->transfer = nullptr;
  easy_->error[0] = '\0';
  easy_->refused_address.clear();
  easy_->protocol_error.clear();
  easy_->sends = 0;
  easy_->header_bytes = 0;
  easy_->body.Reset();
  return std::move(easy_);
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
  curl_easy_setopt(easy_->curl, CURLOPT_URL, UrlFor(route.url, route.target).c_str());
  return {};
}

void Transfer::SetMethod() {
  const bool head = request.method == "HEAD";
  const bool sends_body = !request.body.empty() || request.method == "POST" ||
                          request.method == "PUT" || request.method == "PATCH";
  curl_easy_setopt(easy_->curl, CURLOPT_HTTPGET, 1L);  // from whatever the last request was
  if (head) {
    curl_easy_setopt(easy_->curl, CURLOPT_NOBODY, 1L);
  } else if (sends_body) {
    curl_easy_setopt(easy_->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_->curl, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy_->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  const bool named =
      head || request.method == "GET" ? sends_body && !head : request.method != "POST";
  curl_easy_setopt(easy_->curl, CURLOPT_CUSTOMREQUEST,
                   named ? request.method.c_str() : static_cast<const char*>(nullptr));
}

std::string Transfer::SetHeaders() {
  std::string& text = easy_->header_text;
  text.clear();
  easy_->header_lines.clear();
  const auto add = [&](std::string_view name, std::string_view between, std::string_view value) {
    easy_->header_lines.push_back(text.size());
    text.append(name).append(between).append(value).push_back('\0');
  };
  bool has_content_type = false;
  bool has_accept_encoding = false;
  for (const auto& [name, value] : request.headers) {
    if (!IsToken(name) || std::any_of(value.begin(), value.end(), EndsLine)) {
      return "the header \"" + name + "\" cannot be sent";
    }
    has_content_type = has_content_type || IsName(name, "content-type");
    has_accept_encoding = has_accept_encoding || IsName(name, "accept-encoding");
    add(name, value.empty() ? ";" : ": ", value);
  }
  if (!has_accept_encoding) add("Accept-Encoding", ": ", "gzip, deflate");
  add("Expect", ":", "");                               // no waiting for a 100
  if (!has_content_type) add("Content-Type", ":", "");  // none rather than curl's guess
  easy_->SetHeaders();
  return {};
}

// curl reads the list and never changes it, so that its nodes need no memory of their own.
void Transfer::Easy::SetHeaders() {
  headers.resize(header_lines.size());
  for (std::size_t i = 0; i < headers.size(); ++i) {
    headers[i] = {header_text.data() + header_lines[i],
                  i + 1 < headers.size() ? &headers[i + 1] : nullptr};
  }
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.data());
}

void Transfer::SetResolve(const std::vector<std::string>& entries) {
  curl_slist_free_all(easy_->resolve);
  easy_->resolve = nullptr;
  for (const std::string& entry : entries) {
    easy_->resolve = curl_slist_append(easy_->resolve, entry.c_str());
  }
  curl_easy_setopt(easy_->curl, CURLOPT_RESOLVE, easy_->resolve);
}

void Transfer::SetDeadline(std::chrono::steady_clock::time_point at, Deadlines& deadlines) {
  LeaveDeadlines(deadlines);
  deadline = at;
  if (deadline_node_.empty()) {
    deadline_at_ = deadlines.emplace_hint(deadlines.end(), at, id);
  } else {
    deadline_node_.value() = {at, id};
    deadline_at_ = deadlines.insert(deadlines.end(), std::move(deadline_node_));
  }
  has_deadline_ = true;
}

// The node stays for the next deadline.
void Transfer::LeaveDeadlines(Deadlines& deadlines) {
  if (has_deadline_) deadline_node_ = deadlines.extract(deadline_at_);
  has_deadline_ = false;
}

void Transfer::Reset(Deadlines& deadlines) {
  LeaveDeadlines(deadlines);
  id = 0;
  phase = Phase::kFailed;
  request = {};
  done = nullptr;
  response = {};
  addresses.clear();
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
  curl_easy_getinfo(easy_->curl, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  TakeTime();
  const char* address = nullptr;
  curl_easy_getinfo(easy_->curl, CURLINFO_PRIMARY_IP, &address);
  response.remote_address = address == nullptr ? "" : address;
  TakeResult(result);
  if (response.error_class == HttpErrorClass::kNone) {
    response.body = easy_->body.TakeText();
    response.held = easy_->body.TakeHolding();
  }
  easy_->body.Reset();
  return std::move(response);
}

// curl's own times begin where it begins with the transfer, which it may do long after it was
// handed over. What waits for this process counts, and so does the making of a connection, behind
// which the same wait may hide.
void Transfer::TakeTime() {
  curl_off_t answered = 0;
  curl_off_t ended = 0;
  curl_easy_getinfo(easy_->curl, CURLINFO_STARTTRANSFER_TIME_T, &answered);
  curl_easy_getinfo(easy_->curl, CURLINFO_TOTAL_TIME_T, &ended);
  const auto since = std::chrono::steady_clock::now() - begun;
  answered_in = std::chrono::duration_cast<std::chrono::microseconds>(since) -
                std::chrono::microseconds(ended - answered);
}

void Transfer::TakeResult(CURLcode result) {
  if (result == CURLE_OK) {
    const AnswerBody::State end = easy_->body.End();
    if (end == AnswerBody::State::kUnbegun || end == AnswerBody::State::kReading) return;
  }
  if (!easy_->refused_address.empty()) {
    Fail(HttpErrorClass::kRefusedAddress,
         "the address " + easy_->refused_address + " of " + route.url.host + " is not public");
  } else if (easy_->body.state() == AnswerBody::State::kCut) {
    response.body_truncated = true;  // stopped by us: the status decides
  } else if (easy_->body.state() == AnswerBody::State::kBroken) {
    Fail(HttpErrorClass::kProtocol,
         "the answer's body is not what its content-encoding says, gzip or deflate");
  } else if (easy_->body.state() == AnswerBody::State::kTooLong) {
    Fail(HttpErrorClass::kBodyTooLarge,
         "the answer's body is longer than " + std::to_string(request.body_bytes_max) + " bytes");
  } else if (!easy_->protocol_error.empty()) {
    Fail(HttpErrorClass::kProtocol, easy_->protocol_error);
  } else {
    const char* why = easy_->error[0] != '\0' ? easy_->error : curl_easy_strerror(result);
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
  curl_easy_getinfo(easy_->curl, CURLINFO_CONNECT_TIME_T, &connected);
  curl_easy_getinfo(easy_->curl, CURLINFO_PRETRANSFER_TIME_T, &sent);
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
  return static_cast<Easy*>(self)->transfer->AcceptHeaderLine({data, size * n}) ? size * n : 0;
}

bool Transfer::AcceptHeaderLine(std::string_view line) {
  easy_->header_bytes += line.size();
  if (easy_->header_bytes > kHeaderBytesMax || response.headers.size() >= kHeaderFieldsMax) {
    easy_->protocol_error = "the answer's header is too long";
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
  // curl would decode others, beyond the body's limit.
  if (name == "transfer-encoding" && base::AsciiLower(value) != "chunked" &&
      base::AsciiLower(value) != "identity") {
    easy_->protocol_error = "the answer is encoded in more than one layer";
    return false;
  }
  response.headers.emplace_back(std::move(name), std::string(value));
  return true;
}

std::size_t Transfer::OnBody(char* data, std::size_t size, std::size_t n, void* self) {
  return static_cast<Easy*>(self)->transfer->AcceptBody({data, size * n});
}

void Transfer::BeginBody() {
  curl_off_t length = -1;
  curl_easy_getinfo(easy_->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  // One layer of compression only, as layers multiply: a list is a coding that is not known.
  std::string coding;
  for (const auto& [name, value] : response.headers) {
    if (name != "content-encoding") continue;
    coding.append(coding.empty() ? "" : ",").append(base::AsciiLower(value));
  }
  easy_->body.Begin({request.body_bytes_max, request.truncate_body,
                     pauser == nullptr ? nullptr : request.budget, request.org},
                    {coding, length},
                    pauser == nullptr ? std::function<void()>() : pauser->WhenGranted(*this));
}

std::size_t Transfer::AcceptBody(std::string_view data) {
  if (!easy_->body.begun()) {
    BeginBody();
  }
  switch (easy_->body.Feed(data)) {
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
  easy_->body.Granted();
  return curl_easy_pause(easy_->curl, CURLPAUSE_CONT);
}

// ---------------------------------------------------------------- addresses

curl_socket_t Transfer::OnOpenSocket(void* self, curlsocktype, struct curl_sockaddr* address) {
  auto* easy = static_cast<Easy*>(self);
  const Transfer* transfer = easy->transfer;
  const auto ip = AddressOf(address->addr);
  if (!ip || !transfer->route.policy->Allows(*ip)) {
    easy->refused_address = ip ? ip->ToString() : "(of no known family)";
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
  auto* easy = static_cast<Easy*>(self);
  const Transfer* transfer = easy->transfer;
  const auto ip = IpAddress::Parse(remote);
  const bool allowed = ip && transfer->route.policy->Allows(*ip);
  if (allowed && ++easy->sends <= kSendsMax) {
    return CURL_PREREQFUNC_OK;
  }
  if (allowed) {
    easy->protocol_error = transfer->host_key + " hung up twice without an answer";
  } else {
    easy->refused_address = remote;
  }
  return CURL_PREREQFUNC_ABORT;
}

}  // namespace vedette::net
