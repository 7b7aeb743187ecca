#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/event_loop.h"

// Waits for descriptors that a library (curl, c-ares) owns. Internal to the client; loop thread
// only.
//
// Such a library may close a descriptor without a word (curl 7.88 does, while it connects), and the
// kernel may give its number to anyone on the same loop at once. libuv must not be asked to watch
// such descriptors itself: it keeps one table by number for the whole loop, and it ends the process
// where it finds a dead one. So each Poller has an epoll instance of its own, and libuv watches
// only that:
//
//     libuv ── uv_poll ── epoll of one Poller ── sockets of one library
//
// That is safe for three reasons. The kernel itself takes a closed socket out of an epoll instance.
// Numbers of one Poller mean nothing to another one or to libuv. And a call of epoll_ctl that fails
// is a return value here.
//
// What is known of a number:
//
//     unknown ── Want(events) ──▶ watched ── Want(0) ──▶ kept ── an event comes ──▶ unknown
//                                    ▲                    │
//                                    └─── Want(events) ───┘   no system call for the same events
//
// "Kept" saves system calls: a connection between two requests stays registered as it is. Opened()
// starts a number from the beginning.
namespace vedette::net {

class Poller {
 public:
  enum Events : unsigned { kReadable = 1, kWritable = 2 };

  // `ready`: a watched descriptor is readable or writable, or broken (then it is both). Never
  // called from inside a method. It must not destroy the Poller. Throws std::system_error where the
  // system has no descriptor left.
  Poller(base::EventLoop& loop, std::function<void(int fd, unsigned events)> ready);
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // To be called with every new socket before its library uses it: its number may have belonged to
  // one that was closed without a word. What the library still waits for on this number holds for
  // the new socket.
  void Opened(int fd);

  // What the library waits for on the descriptor from now on, which must be open; 0: nothing.
  // False: the system refuses to watch it (it has no memory for another registration), and nothing
  // will be said of it.
  bool Want(int fd, unsigned events);

 private:
  struct Watcher;  // deletes itself once its handle is closed
  struct Entry {
    unsigned wanted = 0;           // by the library
    unsigned registered = 0;       // with the kernel, unless the socket was closed
    std::uint32_t generation = 0;  // of the number: events of an earlier socket are dropped
  };

  bool Register(int fd, Entry& entry);
  void Unregister(int fd, Entry& entry);
  void Collect();

  std::function<void(int, unsigned)> ready_;
  int epoll_;
  Watcher* watcher_;
  std::vector<Entry> entries_;  // by descriptor
};

}  // namespace vedette::net
