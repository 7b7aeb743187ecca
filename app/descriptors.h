#pragma once

#include <cstdint>
#include <set>

#include "app/service.h"
#include "base/log.h"
#include "config/config_fwd.h"

namespace vedette::app {

// How many file descriptors one process may need at once, by what its configuration allows.
struct DescriptorNeed {
  std::int64_t servers = 0;   // connections of clients to the API, admin and health ports
  std::int64_t outgoing = 0;  // connections to pages, services and receivers
  std::int64_t database = 0;
  std::int64_t rest = 0;  // files, listening sockets, event loops, the resolver

  std::int64_t total() const { return servers + outgoing + database + rest; }
};

// Pure.
DescriptorNeed NeedOfDescriptors(const config::Config& config, const std::set<Role>& roles);

// Raises the process's soft limit of descriptors to the hard one, and logs what it found: one line,
// a warning where the limit is less than the need. Without descriptors new connections fail, and
// what needed them is tried again later; nothing else is lost.
void ProvideDescriptors(const DescriptorNeed& need, const base::Logger& log);

}  // namespace vedette::app
