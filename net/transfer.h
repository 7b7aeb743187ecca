#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config_fwd.h"
#include "net/answer_body.h"
#include "net/http_client.h"
#include "net/poller.h"
#include "net/public_address.h"

// One request and its curl handle. Internal to the client; loop thread only.
namespace vedette::net {

class Transfer {
 public:
  //   Send ──▶ kResolving ──▶ kWaiting ──▶ kRenewing ──▶ kActive ──▶ answered
  //   (a literal address is not resolved; one that finds a place does not wait; only addresses that
  //   have become old while it waited are looked up again)
  //
  //   kActive ──▶ kPaused ──▶ kActive   while its answer waits for bytes of its budget
  //
  // kRenewing, kActive and kPaused hold a place of the ConnectionQueue; kActive and kPaused are
  // with curl. kFailed: the answer is about to be delivered. Every phase ends early at the deadline
  // and when the client is stopped.
  enum class Phase { kResolving, kWaiting, kRenewing, kActive, kPaused, kFailed };
  bool with_curl() const { return phase == Phase::kActive || phase == Phase::kPaused; }

  // The client that a transfer with a budget tells that its answer waits.
  class Pauser {
   public:
    virtual ~Pauser() = default;
    // What runs, on any thread, once the bytes are there; it leads to Resume.
    virtual std::function<void()> WhenGranted(const Transfer& transfer) = 0;
    // The phase is now kPaused. Called by curl.
    virtual void Paused(Transfer& transfer) = 0;
  };

  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // The destination of the request, checked before.
  struct Route {
    TenantUrl url;
    std::string target;  // path and query
    // Validates every address that is connected to; of the request's trust (of the proxy's with
    // one).
    const AddressPolicy* policy;
    CurlLoop* loop;
    CurlLoop::Handle* handle = nullptr;  // of the loop, while it is with curl
  };

  // What a transfer has only while it is with curl: a handle of curl for transfers of this
  // configuration, and what its callbacks find. One that waits has none, and those few that are
  // under way use few of them again and again.
  struct Easy {
    explicit Easy(const config::NetConfig& config);
    ~Easy();
    Easy(const Easy&) = delete;
    Easy& operator=(const Easy&) = delete;

    void SetHeaders();

    CURL* const curl;
    Transfer* transfer = nullptr;           // that has it
    std::string header_text;                // lines of the request's header, each ended by a zero
    std::vector<std::size_t> header_lines;  // where they begin
    std::vector<curl_slist> headers;        // the same as curl reads them
    curl_slist* resolve = nullptr;
    char error[CURL_ERROR_SIZE] = {};
    std::string refused_address;
    std::string protocol_error;
    int sends = 0;                 // how often curl began to send the request
    std::size_t header_bytes = 0;  // of the answer
    AnswerBody body;
  };
  void Attach(std::unique_ptr<Easy> easy);
  std::unique_ptr<Easy> Detach();

  // Hands curl the request. `resolve`: entries for CURLOPT_RESOLVE. Empty, or why it cannot be
  // sent.
  std::string Prepare(const std::vector<std::string>& resolve);

  // The answer, as it stands when curl has ended with `result`.
  HttpResponse TakeResponse(CURLcode result);

  // Reads on after a pause, which may begin another one. Not CURLE_OK: it has ended with that.
  CURLcode Resume();

  // How far it came, for the sentence of a timeout: "no connection to 192.0.2.1:80".
  std::string Progress() const;

  // When transfers end at the latest, the earliest first.
  using Deadlines = std::set<std::pair<std::chrono::steady_clock::time_point, std::uint64_t>>;
  // Most deadlines are later than those before, so that they need no search.
  void SetDeadline(std::chrono::steady_clock::time_point at, Deadlines& deadlines);

  // Forgets the request, and takes it out of `deadlines`.
  void Reset(Deadlines& deadlines);

  CURL* easy() const { return easy_->curl; }
  static Transfer* Of(CURL* easy);

  std::uint64_t id = 0;
  Phase phase = Phase::kFailed;
  HttpRequest request;
  HttpClient::Callback done;
  Route route;
  std::string host_key;              // host:port
  std::vector<IpAddress> addresses;  // of its name, checked
  std::chrono::steady_clock::time_point started;
  std::chrono::steady_clock::time_point resolved;
  std::chrono::steady_clock::time_point deadline;
  std::chrono::steady_clock::time_point begun;  // handed to curl
  // The time from `begun` until the answer began, once there is a response.
  std::chrono::microseconds answered_in{};
  Pauser* pauser = nullptr;  // not null where the request has a budget
  std::chrono::steady_clock::time_point paused_at;
  std::chrono::steady_clock::duration paused_for{};  // in all, up to paused_at
  // The rest of the request's timeout, while it waits on a clock of its own (wait_max).
  std::chrono::steady_clock::duration time_left{};
  HttpResponse response;

 private:
  void SetMethod();
  void TakeTime();
  std::string SetHeaders();
  void SetResolve(const std::vector<std::string>& entries);
  void TakeResult(CURLcode result);
  void Fail(HttpErrorClass error_class, std::string sentence);
  bool AcceptHeaderLine(std::string_view line);
  void BeginBody();
  std::size_t AcceptBody(std::string_view data);

  // Callbacks of curl, which know the Easy.
  static std::size_t OnHeader(char* data, std::size_t size, std::size_t n, void* easy);
  static std::size_t OnBody(char* data, std::size_t size, std::size_t n, void* easy);
  static curl_socket_t OnOpenSocket(void* easy, curlsocktype purpose,
                                    struct curl_sockaddr* address);
  static int OnPrerequest(void* easy, char* remote, char* local, int remote_port, int local_port);

  void LeaveDeadlines(Deadlines& deadlines);

  std::unique_ptr<Easy> easy_;
  Deadlines::iterator deadline_at_;          // while there is a deadline
  Deadlines::node_type deadline_node_ = {};  // while there is none
  bool has_deadline_ = false;
};

}  // namespace vedette::net
