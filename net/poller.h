#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <curl/curl.h>
#include <uv.h>

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

// curl's multi socket interface on the event loop. Internal to the client; loop thread only.
// Several may share one loop: each has its own Poller, so they share no table of descriptors.
//
// Transfers are spread over several multi handles of curl, which share one Poller. A handle looks
// through its connections to a host one by one for a free one, and through those to all hosts
// whenever a transfer is removed, so a handle with thousands of them spends most of its time
// looking (libcurl 7.88, ConnectionExists and curl_multi_remove_handle). A host has its first
// handle by its name, and stays in it while it has few transfers, so that it finds its kept
// connections there. No handle carries more than kTransfersPerHandle transfers to one host: what is
// more goes to the handles behind.
class CurlLoop {
 public:
  static constexpr int kTransfersPerHandle = 128;

  // `connections_max`: transfers at once.
  // `done`: a transfer ended; it is still added. Called from the loop, never from inside Add.
  CurlLoop(base::EventLoop& loop, int connections_max, std::function<void(CURL*, CURLcode)> done);
  // Every transfer must have been removed.
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  // Connections that may be open at once, kept ones included.
  static std::int64_t ConnectionsKeptMax(int connections_max);

  // A multi handle, and what there is to know of it before a transfer is prepared for it.
  struct Handle;
  // The handle for the next transfer to `host` ("name:port").
  Handle& HandleFor(const std::string& host);
  // Names ("name:port") whose entries in the handle's cache of addresses are not needed any more;
  // they go with the next transfer's CURLOPT_RESOLVE.
  static std::vector<std::string> TakeStaleNames(Handle& handle);

  void Add(CURL* easy, Handle& handle, const std::string& host);
  // `stale_name`: what the transfer left in the cache of addresses; empty: nothing.
  void Remove(CURL* easy, Handle& handle, const std::string& host, std::string stale_name);

  // To be called with every socket that is opened for a connection, before curl has it.
  void OpenedSocket(Handle& handle, curl_socket_t fd);

 private:
  static int OnSocket(CURL*, curl_socket_t fd, int what, void* handle, void*);
  static int OnTimer(CURLM*, long timeout_ms, void* handle);
  void OnReady(curl_socket_t fd, unsigned events);
  void Act(Handle& handle, curl_socket_t fd, int events);
  std::size_t StepsTo(const std::string& host, std::size_t index) const;

  base::EventLoop& loop_;
  const int connections_max_;
  std::function<void(CURL*, CURLcode)> done_;
  Poller poller_;
  std::vector<std::unique_ptr<Handle>> handles_;  // made when first needed
  std::vector<Handle*> handle_of_;                // by descriptor; null: not opened here
  struct Host {
    int transfers = 0;
    std::vector<int> carried;  // by the first handle and those behind it
  };
  std::unordered_map<std::string, Host> hosts_;  // with a transfer
};

}  // namespace vedette::net
