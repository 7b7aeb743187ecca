#include "net/curl_loop.h"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace vedette::net {

CurlLoop::CurlLoop(base::EventLoop& loop, int connections_max,
                   std::function<void(CURL*, CURLcode)> done)
    : done_(std::move(done)),
      poller_(loop, [this](int fd, unsigned events) { OnReady(fd, events); }),
      multi_(curl_multi_init()),
      timer_(loop, [this] { Act(CURL_SOCKET_TIMEOUT, 0); }) {
  if (multi_ == nullptr) {
    throw std::runtime_error("curl_multi_init failed");
  }
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections_max));
}

CurlLoop::~CurlLoop() {
  curl_multi_cleanup(multi_);  // closes the idle connections
}

void CurlLoop::Add(CURL* easy) {
  curl_multi_add_handle(multi_, easy);
}

void CurlLoop::Remove(CURL* easy) {
  curl_multi_remove_handle(multi_, easy);
}

// A socket that the kernel refuses to watch makes its transfer end at its deadline: an error given
// back to curl would end all transfers.
int CurlLoop::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  const unsigned events =
      what == CURL_POLL_REMOVE
          ? 0
          : ((what & CURL_POLL_IN) != 0 ? unsigned{Poller::kReadable} : 0U) |
                ((what & CURL_POLL_OUT) != 0 ? unsigned{Poller::kWritable} : 0U);
  static_cast<CurlLoop*>(self)->poller_.Want(fd, events);
  return 0;
}

int CurlLoop::OnTimer(CURLM*, long timeout_ms, void* self) {
  base::Timer& timer = static_cast<CurlLoop*>(self)->timer_;
  if (timeout_ms < 0) {
    timer.Stop();
  } else {
    timer.Start(std::chrono::milliseconds(timeout_ms));
  }
  return 0;
}

// A broken socket is told as readable and writable: curl then finds out by itself, and sends again
// where it was a kept connection that died. Told of an error, it would give up.
void CurlLoop::OnReady(curl_socket_t fd, unsigned events) {
  Act(fd, ((events & Poller::kReadable) != 0 ? CURL_CSELECT_IN : 0) |
              ((events & Poller::kWritable) != 0 ? CURL_CSELECT_OUT : 0));
}

void CurlLoop::Act(curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, fd, events, &running);
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) {
      CURL* easy = message->easy_handle;
      const CURLcode result = message->data.result;
      done_(easy, result);
    }
  }
}

}  // namespace vedette::net
