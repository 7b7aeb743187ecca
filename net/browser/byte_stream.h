#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <uv.h>

#include "base/event_loop.h"
#include "net/public_address.h"

namespace vedette::net {

// A TCP connection or a pipe of the event loop, with what it does as callbacks. Loop thread only.
//
//   made ──Connect, Accept, or as a pipe of a child──▶ open ──end of file, error, Close──▶ closed
//
// Nothing is called once the object is destroyed, or after `ended`; any callback may destroy it.
class ByteStream {
 public:
  struct Events {
    std::function<void(bool ok)> connected{};            // once, after Connect
    std::function<void(std::string_view bytes)> data{};  // valid during the call
    std::function<void()> ended{};                       // once: end of file, or an error
    std::function<void()> drained{};                     // everything that was written has gone
  };
  enum class Kind { kTcp, kPipe };

  ByteStream(base::EventLoop& loop, Kind kind, Events events);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  void Connect(const IpAddress& address, int port);
  // Takes the next connection of a listening socket. False: there is none any more.
  bool Accept(uv_stream_t* listener);
  // For uv_spawn, which makes it an end of a pipe.
  uv_stream_t* raw();

  // Bytes come from here on; they stop coming while reading is paused.
  void Read();
  void PauseReading();
  // Takes the bytes, whatever waits already: the caller bounds what it writes by `waiting`.
  void Write(std::string bytes);
  std::size_t waiting() const;  // bytes that have not gone yet
  // The other side reads the end of the stream once everything that was written has gone.
  void FinishWriting();

 private:
  struct Handle;  // deletes itself once it is closed
  Handle* handle_;
};

}  // namespace vedette::net
