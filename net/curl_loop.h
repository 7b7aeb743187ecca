#pragma once

#include <curl/curl.h>

#include <functional>

#include "base/event_loop.h"
#include "net/poller.h"

// curl's multi socket interface on the event loop. Internal to the client; loop thread only.
// Several may share one loop: each has its own Poller, so they share no table of descriptors.
namespace vedette::net {

class CurlLoop {
 public:
  // `done`: a transfer ended; it is still added. Called from the loop, never from inside Add.
  CurlLoop(base::EventLoop& loop, int connections_max, std::function<void(CURL*, CURLcode)> done);
  // Every transfer must have been removed.
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  void Add(CURL* easy);
  void Remove(CURL* easy);

  // To be called with every socket that is opened for a connection, before curl has it.
  void OpenedSocket(curl_socket_t fd) { poller_.Opened(fd); }

 private:
  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimer(CURLM*, long timeout_ms, void* self);
  void OnReady(curl_socket_t fd, unsigned events);
  void Act(curl_socket_t fd, int events);

  std::function<void(CURL*, CURLcode)> done_;
  Poller poller_;
  CURLM* multi_;
  base::Timer timer_;
};

}  // namespace vedette::net
