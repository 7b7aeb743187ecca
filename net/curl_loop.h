#pragma once

#include <curl/curl.h>
#include <uv.h>

#include <functional>
#include <vector>

#include "base/event_loop.h"

// curl's multi socket interface on the event loop. Internal to the client; loop thread only.
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

  // Set on every handle (with this object as data): a connection's poll handle lives as long as its
  // socket, not only as long as a transfer, which saves three system calls a request.
  static int CloseSocket(void* self, curl_socket_t fd);
  // To be called with every socket that is opened for a connection: its number may have been
  // another's.
  void OpenedSocket(curl_socket_t fd) { Forget(fd); }

 private:
  struct Socket;  // deletes itself once its handle is closed

  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimer(CURLM*, long timeout_ms, void* self);
  static void OnPoll(uv_poll_t* poll, int status, int events);
  void Act(curl_socket_t fd, int events);
  Socket*& At(curl_socket_t fd);
  void Watch(curl_socket_t fd, int what);
  void Forget(curl_socket_t fd);

  base::EventLoop& loop_;
  std::function<void(CURL*, CURLcode)> done_;
  CURLM* multi_;
  base::Timer timer_;
  std::vector<Socket*> sockets_;  // by descriptor
};

}  // namespace vedette::net
