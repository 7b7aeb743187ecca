#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/change_rules.h"
#include "domain/monitor/chunk_plan.h"
#include "domain/monitor/current_values.h"
#include "domain/monitor/enums.h"
#include "store/lease.h"
#include "store/scan_bounds.h"
#include "store/sealed.h"
#include "store/session.h"

namespace vedette::store {

// Leasing chunks, paying for them, loading their rows, giving them back. All functions throw as
// InTransaction does. Leases go by the database's clock.

// What a monitor's rows have in common, as of the claim.
struct MonitorSpec {
  base::Uuid monitor_id;
  base::Uuid org_id;
  domain::Tier tier = domain::Tier::kLow;
  domain::SubjectType subject_type = domain::SubjectType::kCompany;
  bool monitor_active = false;
  bool org_runs = false;  // not locked, and with the feature
  int struct_version = 0;
  domain::FieldVersions field_versions;
  std::optional<std::string> research_plan;
  int confirm_after = 1;
  int missing_confirmations = 2;
  std::chrono::seconds frequency{};
  std::optional<std::string> webhook_url;
  std::vector<domain::NotificationType> webhook_event_types;
  std::optional<base::Uuid> endpoint_id;
  bool endpoint_open = false;           // its breaker lets nothing through now
  std::optional<std::string> metadata;  // JSON; empty where nothing is to be sent
  domain::RulesOfFields rules;
  std::vector<base::Uuid> channel_ids;    // that are told, too
  std::optional<std::string> probe;       // domain/monitor/probe_options.h
  std::optional<Sealed> request_headers;  // bound to its organisation (RequestHeadersBinding)
  // The open tick, where there is one.
  std::optional<std::int64_t> open_tick_id;
  base::Timestamp open_due_at{};
  base::Timestamp open_started_at{};
  std::int64_t open_slots = 0;
  domain::TickTrigger open_trigger = domain::TickTrigger::kSchedule;
};

// One row of a part. JSON columns are text, as stored.
struct LoadedRow {
  base::Uuid row_id;
  bool is_active = true;
  // Recorded already, by an earlier holder of the chunk.
  std::optional<domain::Outcome> done;
  std::optional<base::Timestamp> last_run_at;
  std::string subject;
  std::optional<std::string> context;
  std::string baseline;
  std::optional<std::string> known;  // empty = as baseline
  std::optional<std::string> pending;
  int struct_version = 0;  // of the struct that these values were observed with
};

// What has been decided of a row before any probe: nothing (it is to be checked), or its outcome.
struct LoadedPart {
  domain::ChunkPart part;
  base::Timestamp starts_at{};  // with its slot: it was cut ahead of it (kCutAhead)
  std::vector<LoadedRow> rows;  // position = part.first + index
  std::vector<std::optional<domain::Outcome>> decided;  // the same length
};

struct ClaimedChunk {
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  domain::Tier tier = domain::Tier::kLow;
  base::Uuid lease_token;
  bool large = false;   // part of one large tick; else every tick is wholly inside
  int claims = 0;       // this one included
  bool counted = true;  // whether the database counts this claim already; else see CountTry
  int row_count = 0;
  base::Timestamp due_at{};     // of the first of its ticks
  base::Timestamp starts_at{};  // the first of its parts
  std::int64_t price_mc = 0;
  std::vector<LoadedPart> parts;
};

struct Claim {
  // The claim's time by the database's clock: what its checks look at ends here (G6).
  base::Timestamp now{};
  std::chrono::nanoseconds read_at{};  // since boot: the same time, or a little before it
  std::vector<ClaimedChunk> chunks;
  std::unordered_map<base::Uuid, std::shared_ptr<const MonitorSpec>> specs;
  // The monitors' watched fields, JSON objects: field -> description. They are apart, because they
  // may be large and nobody needs the text after parsing it.
  std::unordered_map<base::Uuid, std::string> watched;
};

// The place of a chunk in its organisation's queue: in turn (domain/monitor/chunk_plan.h), a month
// back, or at the end of a lease that nobody renewed. Scans behind bounds look at the first, and
// then at the second, and so need not visit what lies between.
enum class ChunkPlace { kTurn, kLeaseEnd };
using ChunkScanBounds = ScanBounds<std::pair<base::Uuid, ChunkPlace>>;
// In the middle between the two.
inline constexpr std::chrono::seconds kPlacesApart = domain::kStartsBack / 2;

// Organisations with due chunks, in the order of their ids, from behind `cursor` on; `next_cursor`
// is where the next scan goes on (nil: from the start).
struct DueOrg {
  base::Uuid org_id;
  int rows = 0;  // of its first due chunk
  // The monitor of that chunk, where it is a part of a large tick.
  std::optional<base::Uuid> large_monitor_id;
};
struct OrgScan {
  std::vector<DueOrg> due;
  base::Uuid next_cursor;
};
// `bounds` say where its scans begin, and learn from them; null: always at the beginning.
OrgScan ScanDueOrganisations(Session& session, const base::Uuid& cursor, int orgs_max,
                             ChunkScanBounds* bounds = nullptr);

// In one transaction (committed without waiting for the disk: a lost claim loses its reservation
// with it): leases due chunks, loads their rows, decides which checks can be paid and reserves for
// them. Rows that are switched off, done, stopped or cannot be paid come back decided.
//
// A chunk of one row is claimed without being counted from its `careful_from`-th claim on: a death
// counts against it only once it was started (CountTry). `bounds` are those of the scan that found
// what is claimed.
Claim ClaimChunks(Session& session, const std::vector<ClaimShare>& shares, const base::Uuid& token,
                  std::chrono::milliseconds lease,
                  const std::map<domain::Tier, std::int64_t>& prices_mc, int careful_from,
                  const ChunkScanBounds* bounds = nullptr);

// Extends the leases; returns those that are still held.
std::vector<base::Uuid> RenewChunks(Session& session, const std::vector<Lease>& leases,
                                    std::chrono::milliseconds lease);

// Gives chunks back at once: available to others, the claim not counted. Of a chunk whose claim was
// not counted yet the one before is forgotten, too.
void ReleaseChunks(Session& session, const std::vector<Lease>& leases);

// A row that was switched on or off.
struct RowSwitch {
  base::Uuid monitor_id;
  int position = 0;
  bool is_active = true;
};

// What changed among monitors, rows and organisations that decides whether checks may run (G5).
struct ControlChanges {
  // Changed within the last `window` and since `since`, with whether they may run now.
  std::vector<std::pair<base::Uuid, bool>> monitors;
  std::vector<std::pair<base::Uuid, bool>> organisations;
  std::vector<RowSwitch> rows;
  // What a later read sees and this one does not is not older: the next one's `since`.
  base::Timestamp complete_until{};
};
// A change carries the time at which its transaction began, and its COMMIT may wait for minutes,
// for a synchronous standby or a disk. `since`: from the last read; empty in
// the first, which looks back an hour.
ControlChanges ReadControlChanges(Session& session, std::chrono::milliseconds window,
                                  std::optional<base::Timestamp> since);

// Replaces a leased chunk by two halves that are due at once: by its parts where it has several,
// else by its rows. What it holds reserved returns. False when the lease was lost, or one row is
// all it has.
bool SplitChunk(Session& session, const base::Clock& clock, const Lease& lease);

// `claims` is raised to this when a chunk of one row has its first last try. A worker that claims
// such a chunk knows that `claims` - kLastTryClaims last tries ended with their process.
inline constexpr int kLastTryClaims = 1'000'000;

// A chunk of one row that is to be tried with care.
struct CarefulTry {
  bool counted = true;    // ClaimedChunk::counted
  bool last_try = false;  // it is tried alone
};

// Commits, before the row is started, that the claim counts: a claim after a death counts one more.
// False when the lease was lost.
bool CountTry(Session& session, const Lease& lease, CarefulTry careful);

}  // namespace vedette::store
