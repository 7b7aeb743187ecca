#pragma once

#include <memory>

#include "base/event_loop.h"
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

}  // namespace vedette::app
