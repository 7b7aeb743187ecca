#include "net/browser/byte_stream.h"

#include <netinet/in.h>
#include <signal.h>

#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace vedette::net {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;

struct PendingWrite {
  uv_write_t request{};
  std::string bytes;
};

// A write of libuv's to a connection that is gone raises SIGPIPE, which would end the process.
bool IgnoreBrokenPipes() {
  struct sigaction now {};
  return sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL &&
         std::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

}  // namespace

struct ByteStream::Handle {
  union {
    uv_handle_t any;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  };
  uv_connect_t connect{};
  uv_shutdown_t shutdown{};
  // Null once the stream is destroyed or has ended. A callback that runs keeps a share of it.
  std::shared_ptr<const Events> events;
  std::size_t waiting = 0;
  std::array<char, kReadBytes> buffer;

  Handle() : any() {}

  void End() {
    const auto kept = std::exchange(events, nullptr);
    if (kept != nullptr && kept->ended) kept->ended();
  }
  static Handle& Of(void* data) { return *static_cast<Handle*>(data); }
};

ByteStream::ByteStream(base::EventLoop& loop, Kind kind, Events events) : handle_(new Handle) {
  [[maybe_unused]] static const bool kIgnored = IgnoreBrokenPipes();
  handle_->events = std::make_shared<const Events>(std::move(events));
  const int made = kind == Kind::kTcp ? uv_tcp_init(loop.raw(), &handle_->tcp)
                                      : uv_pipe_init(loop.raw(), &handle_->pipe, 0);
  base::Assert(made == 0, "a handle of libuv is made without the system");
  handle_->any.data = handle_;
}

ByteStream::~ByteStream() {
  handle_->events = nullptr;
  uv_close(&handle_->any, [](uv_handle_t* handle) { delete static_cast<Handle*>(handle->data); });
}

void ByteStream::Connect(const IpAddress& address, int port) {
  sockaddr_storage to{};
  if (address.v6) {
    auto* in = reinterpret_cast<sockaddr_in6*>(&to);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&in->sin6_addr, address.bytes.data(), sizeof in->sin6_addr);
  } else {
    auto* in = reinterpret_cast<sockaddr_in*>(&to);
    in->sin_family = AF_INET;
    in->sin_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&in->sin_addr, address.bytes.data(), sizeof in->sin_addr);
  }
  handle_->connect.data = handle_;
  const auto connected = [](uv_connect_t* request, int status) {
    const auto events = Handle::Of(request->data).events;
    if (events != nullptr && events->connected) events->connected(status == 0);
  };
  const int status = uv_tcp_connect(&handle_->connect, &handle_->tcp,
                                    reinterpret_cast<const sockaddr*>(&to), connected);
  if (status == 0) return;
  const auto events = handle_->events;
  if (events != nullptr && events->connected) events->connected(false);
}

bool ByteStream::Accept(uv_stream_t* listener) {
  return uv_accept(listener, &handle_->stream) == 0;
}

uv_stream_t* ByteStream::raw() {
  return &handle_->stream;
}

void ByteStream::Read() {
  uv_read_start(
      &handle_->stream,
      [](uv_handle_t* handle, std::size_t, uv_buf_t* out) {
        auto& buffer = Handle::Of(handle->data).buffer;
        *out = uv_buf_init(buffer.data(), static_cast<unsigned>(buffer.size()));
      },
      [](uv_stream_t* stream, ssize_t n, const uv_buf_t* from) {
        Handle& self = Handle::Of(stream->data);
        if (n < 0) {
          uv_read_stop(stream);
          return self.End();
        }
        const auto events = self.events;
        if (n == 0 || events == nullptr || !events->data) return;
        events->data({from->base, static_cast<std::size_t>(n)});
      });
}

void ByteStream::PauseReading() {
  uv_read_stop(&handle_->stream);
}

void ByteStream::Write(std::string bytes) {
  auto* write = new PendingWrite;
  write->bytes = std::move(bytes);
  write->request.data = handle_;
  handle_->waiting += write->bytes.size();
  const uv_buf_t out = uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
  const auto written = [](uv_write_t* request, int status) {
    Handle& self = Handle::Of(request->data);
    const std::unique_ptr<PendingWrite> done(reinterpret_cast<PendingWrite*>(request));
    self.waiting -= done->bytes.size();
    if (status < 0) return self.End();
    const auto events = self.events;
    if (self.waiting == 0 && events != nullptr && events->drained) events->drained();
  };
  if (uv_write(&write->request, &handle_->stream, &out, 1, written) == 0) return;
  handle_->waiting -= write->bytes.size();
  delete write;  // the end of the stream is told by its reader
}

std::size_t ByteStream::waiting() const {
  return handle_->waiting;
}

void ByteStream::FinishWriting() {
  uv_shutdown(&handle_->shutdown, &handle_->stream, [](uv_shutdown_t*, int) {});
}

}  // namespace vedette::net
