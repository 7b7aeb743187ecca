#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"

// An organisation goes from one cell to another: from one database, whose fleet works on it, to
// another (docs/decisions/0077-moving-an-organisation.md). Blocks for as long as it takes.
namespace vedette::store {

// How far a move is: org_move.state. The old side's row says it; the new side's follows.
//
//   (none) --> copying --> draining --> locked --> switched --> opened --> removed
//                 ^           |           |
//                 +-----------+-----------+   what did not stand still in time goes on
//   copying, draining, locked --> (none): given up (Abandon)
//
// One command at a time does any of this. Each step may be repeated, and is, where a process died
// in it. Up to `locked` the organisation lives at the old side, from `switched` on at the new one;
// between the two nobody works on it.
enum class MoveState : std::uint8_t {
  kCopying = 0,   // what seldom changes is copied; nobody notices
  kDraining = 1,  // what is due waits, what is under way ends; clients are served
  kLocked = 2,    // clients that write are refused; what has changed is copied and compared
  kSwitched = 3,  // it lives at the new side, where it is still locked
  kOpened = 4,    // it works there; the old side keeps its rows for the grace
  kRemoved = 5,   // the old side has none of them
};
std::string_view MoveStateName(MoveState state);

enum class MoveSide : std::uint8_t { kOld = 0, kNew = 1 };

// One of the two.
struct MoveEnd {
  std::string cell;  // its name; empty: the first one
  const config::DatabaseConfig& database;
  const config::SecurityConfig& security;
};

struct MoveOptions {
  base::Uuid org_id;
  // How long what is under way may take to end before the lock, and under it.
  std::chrono::milliseconds drain_max{std::chrono::minutes(5)};
  std::chrono::milliseconds standstill_max{std::chrono::seconds(30)};
  // How long everything has to have stood still, as seen, before it counts: longer than a request
  // is served without being authenticated again (kAuthenticationAgeMax in api/tenant/api.cc), so
  // that none is let in that has not seen the lock.
  std::chrono::milliseconds quiet{2'500};
  // The old side's rows are removed no sooner after the switch.
  std::chrono::seconds grace{std::chrono::hours(24)};
  // Remove takes with it what somebody has written there after the switch.
  bool discards_strays = false;
  // Members whose address the new side knows with other ways of signing in lose those; else the
  // move is refused.
  bool resets_sign_in = false;
  // Told what happens, a sentence at a time.
  std::function<void(const std::string&)> say = [](const std::string&) {};
  // For tests: each commit of a move passes here.
  std::function<void(std::string_view)> passed = [](std::string_view) {};
};

// The move cannot go on: a sentence with what to do.
struct MoveRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An organisation that has a row at a database, wherever it lives.
struct NamedOrganisation {
  std::string id;
  std::string name;
};
// Those whose name has this in it. Throws std::runtime_error.
std::vector<NamedOrganisation> OrganisationsNamed(const config::DatabaseConfig& database,
                                                  const std::string& part);

class OrgMove {
 public:
  // Connects to both, and compares them: the same schema, and two databases. Throws MoveRefused,
  // and std::runtime_error where a database cannot be reached.
  OrgMove(MoveEnd from, MoveEnd to, MoveOptions options, const base::Clock& clock,
          metrics::Metrics& metrics, base::Logger log);
  ~OrgMove();
  OrgMove(const OrgMove&) = delete;
  OrgMove& operator=(const OrgMove&) = delete;

  // Says what Run would do and how many rows there are; changes nothing.
  void Plan();
  // Begins the move, or goes on with it, until the organisation works at the new side. Throws
  // MoveRefused; anything else may be tried again by running it again. Where a database has refused
  // something or is gone before the switch, the organisation goes on at the old side, if that
  // answers; what is thrown says which.
  void Run();
  // Takes it back: the organisation goes on at the old side, and the new one has nothing of it.
  // Throws MoveRefused where it lives at the new side already.
  void Abandon();
  // The old side's part of Abandon alone, for while the new side cannot be reached: the
  // organisation goes on, and Abandon is still to come. Throws as Abandon does.
  static void LetGoOn(const MoveEnd& from, const MoveOptions& options);
  // Removes the old side's rows. Throws MoveRefused before the grace is over, and where somebody
  // has written there after the switch.
  void Remove();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::store
