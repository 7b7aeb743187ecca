#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "store/session.h"

namespace vedette::store {

// Applies the migrations that the database lacks, each in its transaction, one process at a time
// (advisory lock). Returns how many. Throws std::runtime_error with a sentence: unreachable, a
// transaction pooler, a newer schema or one that was never released, a migration that failed.
int Migrate(const config::DatabaseConfig& config, const base::Clock& clock, base::Logger log);

enum class SchemaState {
  kCurrent,
  kOlder,       // or none: `vedette migrate` is needed
  kNewer,       // this binary is too old
  kUnreleased,  // of a version before the first release
};

inline constexpr std::string_view kUnreleasedSchema =
    "the database was made by a version before 1.0.0, which was never released and cannot be "
    "upgraded: make a new, empty database, name it in [database] url, and run `vedette migrate`";

// Throws Unavailable, also where the database takes no changes.
SchemaState CheckSchema(Session& session);

// The highest migration this binary has.
int SchemaVersion();

}  // namespace vedette::store
