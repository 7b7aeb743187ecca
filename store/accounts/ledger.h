#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "domain/money/money.h"
#include "store/scope.h"
#include "store/session.h"

// The ledger of an account, oldest first (G4): balance + what is reserved = the sum of its lines.
// All functions throw as InTransaction does (store/session.h).
namespace vedette::store {

// The lines of a time. With a team in its scope it has that team's lines alone.
struct LedgerRange {
  Scope scope;
  base::Timestamp since;  // included
  base::Timestamp until;  // not included
};

// `until`, or two minutes ago where it is later or not given: lines are numbered before they
// commit, so that a younger page could miss one.
base::Timestamp LedgerSettled(Session& session, const std::optional<base::Timestamp>& until);

// The sum of the lines before the range.
std::int64_t LedgerOpening(Session& session, const LedgerRange& range);

// The place behind a line: its number, and the total up to it.
struct LedgerPlace {
  std::int64_t entry = 0;
  std::int64_t total_mc = 0;
};
// At most `limit` lines behind `after`, with their totals.
std::vector<domain::LedgerLine> ReadLedger(Session& session, const LedgerRange& range,
                                           const LedgerPlace& after, int limit);

// What each day of the range, in UTC, has of each kind and item, with the totals from `opening_mc`
// on. At most `limit` lines.
std::vector<domain::LedgerLine> ReadLedgerDays(Session& session, const LedgerRange& range,
                                               std::int64_t opening_mc, int limit);

// What holds credits of an organisation, or of its team, at one moment.
struct Reservations {
  struct Checks {
    domain::Tier tier = domain::Tier::kMicro;
    std::int64_t reserved_mc = 0;
  };
  struct Job {
    base::Uuid id;
    domain::JobKind kind{};
    std::int64_t reserved_mc = 0;
  };
  std::vector<Checks> checks;  // that have been admitted and have not ended, by tier
  std::vector<Job> jobs;       // those that hold most, at most `jobs_max`
  std::int64_t job_count = 0;  // of all that hold any
  std::int64_t jobs_mc = 0;    // of all of them

  std::int64_t reserved_mc() const;
};
Reservations ReadReservations(Session& session, const Scope& scope, int jobs_max);

}  // namespace vedette::store
