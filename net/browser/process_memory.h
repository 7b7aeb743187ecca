#pragma once

#include <cstddef>

// The processes of one session of the system, as /proc shows them.
namespace vedette::net {

struct SessionMemory {
  std::size_t bytes = 0;  // what its processes have for themselves (RssAnon and RssShmem)
  int largest_page = 0;   // the process of a browser's page that has most; 0: there is none
};

// What the session has that the process leads, as far as /proc shows it.
SessionMemory MemoryOfSession(int leader);

// Kills every process of the session.
void KillSession(int leader);

}  // namespace vedette::net
