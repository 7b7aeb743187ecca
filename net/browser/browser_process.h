#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/json.h"
#include "config/config_fwd.h"
#include "net/browser/devtools_messages.h"

namespace vedette::net {

// The processes of one session of the system, as /proc shows them.

struct SessionMemory {
  struct Page {
    std::size_t bytes = 0;
    int pid = 0;
  };
  std::size_t bytes = 0;    // what its processes have for themselves (RssAnon and RssShmem)
  std::vector<Page> pages;  // those of a browser's pages, the largest first
};

// What the session has that the process leads, as far as /proc shows it.
SessionMemory MemoryOfSession(int leader);

// Kills every process of the session.
void KillSession(int leader);

// One headless Chromium of ours, which is spoken to through a pair of pipes. It has a folder of its
// own that goes with it, runs in a session of its own, and as the user `nobody` where this process
// is root's. It can open no connection but those that a page's proxy on loopback takes
// (page_proxy.h). Loop thread only.
//
//   starts ──▶ runs ──it dies, breaks the pipe, or is destroyed──▶ gone, with all its processes
class BrowserProcess {
 public:
  struct Events {
    // An event of a session (a page), or of the browser itself where its session is empty.
    std::function<void(const DevtoolsMessage& event)> event;
    // Once, with a phrase that says why: it died, or was ended. Then nothing is called any more.
    std::function<void(std::string why)> gone;
  };

  // Throws std::runtime_error with a sentence where it cannot be started.
  BrowserProcess(base::EventLoop& loop, const config::BrowserConfig& config, Events events);
  ~BrowserProcess();  // kills it and waits for its end; callbacks of commands under way are dropped
  BrowserProcess(const BrowserProcess&) = delete;
  BrowserProcess& operator=(const BrowserProcess&) = delete;

  // Kills it without waiting; nothing is called any more.
  void Quit();
  // Whether it may be destroyed without a wait.
  bool has_exited() const;

  // What a command led to. `error` is empty on success.
  struct Answer {
    base::Json result;
    std::string error;
  };
  void Send(std::string_view method, base::Json params, const std::string& session,
            std::function<void(Answer answer)> done);
  // The same for an answer that may be large: its whole text, which is not parsed; `error` where it
  // is too long.
  void SendForText(std::string_view method, base::Json params, const std::string& session,
                   std::function<void(std::string text, std::string error)> done);

  // The memory that all of its processes have for themselves, as of the last look at it.
  std::size_t memory_bytes() const;
  int pid() const;

  // Removes the folders of browsers whose owner was killed, and says how many there were.
  static int RemoveLostFolders();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
