#pragma once

#include <memory>
#include <set>
#include <string>

#include "app/roles.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"

namespace vedette::app {

// One process of the fleet: builds every part in order, stops them in reverse. Start and Stop are
// called from one thread that is not the loop's; both block.
//
//   waiting for the schema --it is there--> serving --Stop--> draining
//      |
//      +--Stop--> leaving: its roles never start
class Service {
 public:
  Service(config::Config config, std::set<Role> roles, const base::Clock& clock, base::Logger log);
  ~Service();

  // Binds the ports and starts the parts. Throws std::runtime_error with a sentence (port taken,
  // missing encryption key, schema newer than this binary). An unreachable database is no error:
  // the process stays up, not ready, and retries.
  void Start();

  // Drains: no new claims, checks and deliveries in flight finish within their drain_timeout_ms,
  // the rest is given back at once.
  void Stop();

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

// Brings the database's schema up to this binary's. Throws std::runtime_error with a sentence.
// Returns the number of migrations applied.
int Migrate(const config::Config& config, base::Logger& log);

}  // namespace vedette::app
