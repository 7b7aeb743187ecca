#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/roles.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "config/parts.h"
#include "config/setting_files.h"

namespace vedette::app {

// One process of the fleet: builds every part in order, stops them in reverse. Start and Stop are
// called from one thread that is not the loop's; both block.
//
//   waiting for the schema --it is there--> serving --Stop--> draining
//      |
//      +--Stop--> leaving: its roles never start
class Service {
 public:
  // `cells`: all cells, for the console; none: it shows its own.
  Service(const config::Config& config, std::set<Role> roles, const base::Clock& clock,
          base::Logger log, std::vector<config::CellPort> cells = {});
  ~Service();

  // Binds the ports and starts the parts. Throws config::ConfigError with what StartFaults says of
  // its roles, std::runtime_error with a sentence (port taken, schema newer than this binary). An
  // unreachable database is no error: the process stays up, not ready, and retries.
  void Start();

  // Drains: no new claims, checks and deliveries in flight finish within their drain_timeout_ms,
  // the rest is given back at once. Threads that wait for the database are waited for, however
  // long.
  void Stop();
  // How long Stop takes at most where the database answers.
  std::chrono::milliseconds StopTimeMax() const;

  // True once a fault made going on pointless (the schema is newer than this binary); then the
  // reason.
  bool Failed(std::string* reason) const;

  // "127.0.0.1:8080"; empty without the role.
  std::string api_address() const;
  std::string admin_address() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Why processes with one of these roles do not start with a configuration.
struct StartFault {
  std::set<Role> roles;  // none: all processes
  std::string why;       // a sentence without its full stop
  // Something that was not given: the configuration of all may be sound without what is secret.
  bool is_absence = false;
};

// What `serve` refuses of a configuration that could be loaded. Reads the files that it names.
std::vector<StartFault> StartFaults(const config::Config& config);

// Brings the database's schema up to this binary's. Throws std::runtime_error with a sentence.
// Returns the number of migrations applied.
int Migrate(const config::Config& config, base::Logger& log);

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
