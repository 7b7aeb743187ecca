#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "net/curl_loop.h"
#include "net/http_client.h"
#include "net/public_address.h"

// One request and its curl handle. Internal to the client; loop thread only.
namespace vedette::net {

class Transfer {
 public:
  //   Send ──▶ kResolving ──▶ kWaiting ──▶ kRenewing ──▶ kActive ──▶ answered
  //   (a literal address is not resolved; who finds a place does not wait; only addresses that have
  //   become old while it waited are looked up again)
  //
  // kRenewing and kActive hold a place of the ConnectionQueue. kFailed: the answer is about to be
  // delivered. Every phase ends early at the deadline and when the client is stopped.
  enum class Phase { kResolving, kWaiting, kRenewing, kActive, kFailed };

  explicit Transfer(const config::NetConfig& config);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Where the request goes, judged before.
  struct Route {
    TenantUrl url;
    std::string target;  // path and query
    // Judges every address that is connected to; of the request's trust (of the proxy's with one).
    const AddressPolicy* policy;
    CurlLoop* loop;
  };

  // Hands curl the request. `resolve`: entries for CURLOPT_RESOLVE. Empty, or why it cannot be
  // sent.
  std::string Prepare(const std::vector<std::string>& resolve);

  // The answer, as it stands when curl has ended with `result`.
  HttpResponse TakeResponse(CURLcode result);

  // How far it came, for the sentence of a timeout: "no connection to 192.0.2.1:80".
  std::string Progress() const;

  // Forgets the request, keeps the handle.
  void Reset();

  CURL* easy() const { return easy_; }
  static Transfer* Of(CURL* easy);

  std::uint64_t id = 0;
  Phase phase = Phase::kFailed;
  HttpRequest request;
  HttpClient::Callback done;
  Route route;
  std::string host_key;              // host:port
  std::vector<IpAddress> addresses;  // of its name, judged
  std::chrono::steady_clock::time_point started;
  std::chrono::steady_clock::time_point resolved;
  std::chrono::steady_clock::time_point deadline;
  // Of the request's timeout, while it waits on a clock of its own (wait_max).
  std::chrono::steady_clock::duration time_left{};
  HttpResponse response;

 private:
  void SetConstantOptions(const config::NetConfig& config);
  void SetMethod();
  std::string SetHeaders();
  void SetResolve(const std::vector<std::string>& entries);
  void JudgeResult(CURLcode result);
  void Fail(HttpErrorClass error_class, std::string sentence);
  bool AcceptHeaderLine(std::string_view line);
  bool AcceptBody(const char* data, std::size_t n);
  bool BodyEndsAtLimit() const;

  static std::size_t OnHeader(char* data, std::size_t size, std::size_t n, void* self);
  static std::size_t OnBody(char* data, std::size_t size, std::size_t n, void* self);
  static curl_socket_t OnOpenSocket(void* self, curlsocktype purpose,
                                    struct curl_sockaddr* address);
  static int OnPrerequest(void* self, char* remote, char* local, int remote_port, int local_port);

  CURL* easy_;
  curl_slist* headers_ = nullptr;
  curl_slist* resolve_ = nullptr;
  char curl_error_[CURL_ERROR_SIZE] = {};

  // What the callbacks found.
  std::string refused_address_;
  std::string protocol_error_;
  std::size_t header_bytes_ = 0;
  bool body_over_limit_ = false;
  bool body_cut_ = false;
};

}  // namespace vedette::net
