#pragma once

#include <cstddef>
#include <vector>

// The processes of one session of the system, as /proc shows them.
namespace vedette::net {

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

}  // namespace vedette::net
