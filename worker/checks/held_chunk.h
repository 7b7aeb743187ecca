#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"
#include "lease/held_work.h"
#include "lease/holdings.h"
#include "store/checks/chunks.h"
#include "store/checks/record.h"
#include "store/lease.h"
#include "worker/probes/probe.h"

// A leased chunk inside a process: its rows, what is known of each, and how far its work is. The
// states that it goes through are drawn at its enums. Loop thread only.
namespace vedette::worker {

// Which row of a chunk: the index of its part, and its index inside the part.
struct RowRef {
  std::size_t part = 0;
  std::size_t row = 0;
};

// What a check writes besides its outcome. Most checks have none.
struct CheckEffects {
  std::vector<store::EventRecord> events;
  std::optional<store::RowUpdate> row;
  std::optional<store::DeliveryRecord> delivery;
  std::vector<store::ChannelDeliveryRecord> channel_deliveries;  // one a channel of the monitor
  std::optional<store::SnapshotRecord> snapshot;
  std::string address;  // of a failed check, for the log: "https://shop.example"; may be empty
};

// The source of a result. The database refused the result of a probe: then the recorder replaces it
// by a failed check, which carries kUnrecordable. It does so once; a result that is refused
// although it is kUnrecordable already sends its chunk back.
enum class Origin {
  kProbed,        // from a probe, or decided without one
  kUnrecordable,  // stands for a result that could not be stored
};

// A check that ended and is not recorded yet.
struct CheckResult {
  RowRef ref;
  domain::Outcome outcome = domain::Outcome::kFailed;
  std::unique_ptr<CheckEffects> effects;  // null where there are none
  Origin origin = Origin::kProbed;
  int never_observed = 0;  // Verdict::never_observed
  bool rendered = false;   // Observation::rendered
};

// The rows of one monitor inside a chunk.
struct HeldPart {
  std::shared_ptr<const store::MonitorSpec> spec;
  std::shared_ptr<const ProbeSpec> probe_spec;
  // The latest that is known; PauseWatch changes them. A check starts only where both are true.
  bool monitor_active = true;
  bool org_runs = true;
  base::Timestamp looked_until{};          // when its checks begin, by the database's clock
  std::chrono::nanoseconds starts_from{};  // the same since boot: none begins before
  std::string outcomes;                    // one byte for each row; 0: the row has no outcome yet
  // How many checks were made, and how long they took together. The monitor's next tick is cut by
  // their average.
  int checks = 0;
  std::chrono::nanoseconds took{};

  bool MayRun() const { return monitor_active && org_runs; }

  // The average duration of a check, rounded up; 0 where none was made.
  int CheckMs() const {
    return checks == 0 ? 0
                       : static_cast<int>(
                             std::chrono::ceil<std::chrono::milliseconds>(took / checks).count());
  }
};

struct HeldChunk;

// What a process holds of one organisation.
struct CheckOrgLoad : lease::LaneLoad {
  std::map<base::Uuid, std::size_t> large_chunks;  // chunks of large ticks, by monitor

  void Hold(const HeldChunk& chunk);
  void Drop(const HeldChunk& chunk);
};

struct HeldChunk : lease::HeldWork {
  using OrgLoad = CheckOrgLoad;

  // How its results are recorded: kBatched --the database refuses its record--> kOneByOne, which
  // finds the row that is at fault. It stays so until the chunk is not held any more.
  enum class RecordMode {
    kBatched,   // all its results at once, together with other chunks
    kOneByOne,  // one result at a time, alone
  };

  store::ClaimedChunk claimed;
  OrgLoad* org = nullptr;       // valid while the chunk is held, or one of its checks is in flight
  std::vector<HeldPart> parts;  // parallel to claimed.parts, in the order of their starts
  RowRef next;                  // the first row that may not have been started
  std::vector<CheckResult> unrecorded;  // without those of the record that is under way
  RecordMode record_mode = RecordMode::kBatched;

  bool HasUnrecorded() const { return !unrecorded.empty(); }
  bool CanEnd() const { return Finished(); }

  // Every row was started, or had an outcome before.
  bool AllStarted() const {
    return next.part >= parts.size() ||
           (next.part + 1 == parts.size() && next.row >= parts.back().outcomes.size());
  }
  // Whose turn its checks take among those of its organisation: the chunks of a large tick share
  // one.
  const base::Uuid& flow() const {
    return claimed.large ? claimed.parts.front().part.monitor_id : id();
  }
  // Whether nothing but this held chunk is held of its large tick's monitor. A chunk of small ticks
  // is always alone.
  bool AloneOfItsFlow() const;
};

using ChunkPtr = std::shared_ptr<HeldChunk>;
using CheckHoldings = lease::Holdings<HeldChunk>;

// The chunk of a claim, with no row started. `specs` and `probe_specs` have every monitor of it.
// `now` is the claim's time by the database's clock, `read_at` the same time, or a little before
// it, since boot.
ChunkPtr MakeHeldChunk(
    store::ClaimedChunk claimed,
    const std::unordered_map<base::Uuid, std::shared_ptr<const store::MonitorSpec>>& specs,
    const std::unordered_map<base::Uuid, std::shared_ptr<const ProbeSpec>>& probe_specs,
    base::Timestamp now, std::chrono::nanoseconds read_at);

// What a claim brought. Specs are as probes read them: made on the pool's thread, because reading
// large structs would hold up the loop.
struct ClaimedChecks {
  // The scan with the claim behind it, and what it shared out.
  struct Behind {
    store::OrgScan scan;
    std::vector<store::ClaimShare> shares;
  };

  store::Claim claim;
  std::unordered_map<base::Uuid, std::shared_ptr<const ProbeSpec>> probe_specs;  // by monitor
  std::optional<Behind> behind;
};

// Checks as a kind of leased work (lease/pipeline.h).
struct CheckKind {
  using Work = HeldChunk;
  using Lane = HeldChunk::Lane;
  using Scan = store::OrgScan;
  using Share = store::ClaimShare;
  using Claimed = ClaimedChecks;
  using Taken = std::vector<CheckResult>;
  using Written = store::RecordResult;
};

// How far a read of pauses looks back at least: what a transaction changes carries the time of its
// beginning. Where one takes longer the read looks back to it (ControlChanges::complete_until).
inline constexpr std::chrono::milliseconds kPauseWindow{60000};

// A read of the last kPauseWindow that began at `began` (since boot) found these changes: they take
// effect on every chunk that is held, and what is known of it is as young as the read, because what
// changes during a read may not be in it. So a pause holds anywhere within the age that CheckRunner
// allows, also where the database is lost (G5). No I/O and no clock; one thread.
void ApplyControl(const store::ControlChanges& changes, std::chrono::nanoseconds began,
                  const CheckHoldings& holdings);

}  // namespace vedette::worker
