#include "net/curl_loop.h"

#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace vedette::net {

struct CurlLoop::Socket {
  uv_poll_t poll;
  CurlLoop* owner;
  curl_socket_t fd;
  int wanted = 0;   // by curl
  int watched = 0;  // by libuv
};

CurlLoop::CurlLoop(base::EventLoop& loop, int connections_max,
                   std::function<void(CURL*, CURLcode)> done)
    : loop_(loop),
      done_(std::move(done)),
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
  curl_multi_cleanup(multi_);  // closes the idle connections through CloseSocket
  for (std::size_t fd = 0; fd < sockets_.size(); ++fd) {
    Forget(static_cast<curl_socket_t>(fd));
  }
}

void CurlLoop::Add(CURL* easy) {
  curl_multi_add_handle(multi_, easy);
}

void CurlLoop::Remove(CURL* easy) {
  curl_multi_remove_handle(multi_, easy);
}

CurlLoop::Socket*& CurlLoop::At(curl_socket_t fd) {
  const auto i = static_cast<std::size_t>(fd);
  if (i >= sockets_.size()) {
    sockets_.resize(i + 64, nullptr);
  }
  return sockets_[i];
}

// A kept connection stays watched between its transfers: changing what is watched costs two system
// calls. If something happens on it meanwhile, OnPoll stops watching.
void CurlLoop::Watch(curl_socket_t fd, int what) {
  Socket*& socket = At(fd);
  const bool remove = what == CURL_POLL_REMOVE || what == CURL_POLL_NONE;
  if (socket == nullptr) {
    if (remove) {
      return;
    }
    socket = new Socket{{}, this, fd};
    uv_poll_init_socket(loop_.raw(), &socket->poll, fd);
    socket->poll.data = socket;
  }
  socket->wanted = remove ? 0
                          : ((what & CURL_POLL_IN) != 0 ? UV_READABLE : 0) |
                                ((what & CURL_POLL_OUT) != 0 ? UV_WRITABLE : 0);
  if (socket->wanted != 0 && socket->wanted != socket->watched) {
    socket->watched = socket->wanted;
    uv_poll_start(&socket->poll, socket->watched, OnPoll);
  }
}

void CurlLoop::Forget(curl_socket_t fd) {
  if (Socket* socket = std::exchange(At(fd), nullptr)) {
    uv_close(reinterpret_cast<uv_handle_t*>(&socket->poll),
             [](uv_handle_t* handle) { delete static_cast<Socket*>(handle->data); });
  }
}

int CurlLoop::CloseSocket(void* self, curl_socket_t fd) {
  static_cast<CurlLoop*>(self)->Forget(fd);
  return close(fd);
}

int CurlLoop::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  static_cast<CurlLoop*>(self)->Watch(fd, what);
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

void CurlLoop::OnPoll(uv_poll_t* poll, int status, int events) {
  auto* socket = static_cast<Socket*>(poll->data);
  if (status < 0) {
    socket->watched = 0;  // libuv has stopped
  }
  if (socket->wanted == 0) {
    socket->watched = 0;
    uv_poll_stop(poll);
    return;
  }
  // A broken socket is readable: curl then finds out by itself, and sends again where it was a kept
  // connection that died. Told of an error, it would give up.
  const int bits = status < 0 ? CURL_CSELECT_IN | CURL_CSELECT_OUT
                              : ((events & UV_READABLE) != 0 ? CURL_CSELECT_IN : 0) |
                                    ((events & UV_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0);
  socket->owner->Act(socket->fd, bits);
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
