#pragma once

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "store/session.h"

namespace vedette::store {

// Applies the migrations that the database lacks, each in its transaction, one process at a time
// (advisory lock). Returns how many. Throws std::runtime_error with a sentence: unreachable, a
// transaction pooler, newer schema, a migration that failed.
int Migrate(const config::DatabaseConfig& config, const base::Clock& clock, base::Logger log);

enum class SchemaState {
  kCurrent,
  kOlder,  // or none: `vedette migrate` is needed
  kNewer,  // this binary is too old
};

// Throws Unavailable.
SchemaState CheckSchema(Session& session);

// The highest migration this binary has.
int SchemaVersion();

}  // namespace vedette::store
