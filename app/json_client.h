#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/event_loop.h"
#include "base/json.h"
#include "config/config_fwd.h"
#include "net/http_client.h"

namespace vedette::app {

// net::HttpClient for code that waits: a loop and a thread of its own. For the demo and the command
// line, not for the service. Any thread but its own.
class BlockingHttp {
 public:
  explicit BlockingHttp(const config::NetConfig& config);
  ~BlockingHttp();
  BlockingHttp(const BlockingHttp&) = delete;
  BlockingHttp& operator=(const BlockingHttp&) = delete;

  // Blocks until the answer or the request's timeout. Errors are in the response.
  net::HttpResponse Send(net::HttpRequest request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a server answered that was not what the caller needs; a sentence.
class RequestFailed : public std::runtime_error {
 public:
  RequestFailed(int status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }  // 0: there was no answer

 private:
  int status_;
};

// Calls a JSON API at one base address with one credential. As BlockingHttp for threads.
class JsonClient {
 public:
  // How long an answer may take: to what is read, and to what is worked for, as a preview is, which
  // may wait for memory before.
  static constexpr std::chrono::milliseconds kReadTimeout{15'000};
  static constexpr std::chrono::milliseconds kWorkTimeout{75'000};

  struct Answer {
    int status = 0;
    base::Json body;  // null when it is empty or no JSON; numbers as they are written (NumberText)
    std::string text;
  };

  // `base`: "http://127.0.0.1:8080". `credential`: the header that goes with every request.
  JsonClient(BlockingHttp& http, std::string base, std::pair<std::string, std::string> credential);

  // Any answer. Throws RequestFailed when there is none.
  Answer Call(const std::string& method, const std::string& path,
              const std::optional<base::Json>& body = std::nullopt);

  // The body of a 2xx answer; throws RequestFailed with what the server said otherwise.
  base::Json Expect(const std::string& method, const std::string& path,
                    const std::optional<base::Json>& body = std::nullopt);

  // The same as Expect, for a POST of a text of this type.
  base::Json Upload(const std::string& path, const std::string& content_type,
                    const std::string& text);

  const std::string& base() const { return base_; }

 private:
  Answer Send(const std::string& method, const std::string& path,
              const std::optional<std::string>& content_type, std::string text);
  static base::Json Taken(const std::string& method, const std::string& path, Answer answer);

  BlockingHttp& http_;
  std::string base_;
  std::pair<std::string, std::string> credential_;
};

}  // namespace vedette::app
