#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/observation.h"
#include "store/checks/chunks.h"
#include "store/checks/ticks.h"
#include "store/endpoint.h"
#include "store/session.h"

// The one transaction in which finished checks take effect: row state, events, charge, deliveries,
// ledger (G1). Results of chunks whose lease is lost are dropped: the fence is here, in the
// database.
namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// New outcomes of consecutive positions of one monitor's tick: byte i is for position first + i, 0
// where there is none yet (or it was recorded before).
struct OutcomeRange {
  base::Uuid monitor_id;
  std::int64_t tick_id = 0;
  int first = 0;
  std::string outcomes;
  base::Timestamp looked_until{};  // when its checks began: last_run_at of the completed
};

struct EventRecord {
  base::Uuid row_id;
  base::Uuid monitor_id;
  base::Uuid org_id;
  base::Uuid event_group_id;
  std::int64_t tick_id = 0;
  domain::EventType type = domain::EventType::kChange;  // change or error
  std::optional<std::string> field;
  std::optional<std::string> previous_value;  // JSON
  std::optional<std::string> current_value;   // JSON
  std::optional<std::string> message;
  std::optional<std::string> evidence;
  std::optional<std::string> sources;  // JSON array
  std::optional<double> confidence;
};

// What a check changed of its row; JSON text. A column that is empty keeps its value, except that
// `pending` is always written: empty = nothing pending.
struct RowUpdate {
  base::Uuid monitor_id;
  int position = 0;
  std::optional<std::string> baseline;
  std::optional<std::string> known;
  std::optional<std::string> pending;
  // What is known about the values that are new (domain/monitor/current_values.h); it joins what is
  // there.
  std::optional<std::string> seen;
  int struct_version = 0;  // of the monitor's struct that the values were observed with
};

struct DeliveryRecord {
  base::Uuid id;
  base::Uuid org_id;
  base::Uuid endpoint_id;
  base::Uuid monitor_id;
  base::Uuid row_id;
  base::Uuid event_group_id;
  domain::NotificationType type = domain::NotificationType::kChanged;
  // The lease of this process's deliverer, which sends it at once. Empty: any deliverer claims it.
  std::optional<base::Uuid> lease_token;
};

// A notification for a channel of the monitor, written where the channel wants its type. Any
// deliverer claims it.
struct ChannelDeliveryRecord {
  base::Uuid id;
  base::Uuid channel_id;
  base::Uuid org_id;
  base::Uuid monitor_id;
  base::Uuid row_id;
  base::Uuid event_group_id;
  domain::NotificationType type = domain::NotificationType::kChanged;
};

// What the page of a row was like at a check, under the check's id. Of one that failed the picture,
// in the place of the one that failed before.
struct SnapshotRecord {
  base::Uuid id;  // event_group_id
  base::Uuid org_id;
  base::Uuid monitor_id;
  base::Uuid row_id;
  std::int64_t tick_id = 0;
  bool is_rendered = false;
  bool is_failure = false;
  std::shared_ptr<const domain::SeenPage> page;  // never null
};

// A part of a finished chunk: what its ledger gets. `spec` has the open tick.
struct FinishedPart {
  domain::ChunkPart part;
  std::string outcomes;  // of all its rows, also those recorded earlier
  std::shared_ptr<const MonitorSpec> spec;
  int check_ms = 0;  // how long a check of it took on average; 0 = none was made
};

struct ChunkRecord {
  Lease lease;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  domain::Tier tier = domain::Tier::kLow;
  bool large = false;
  std::int64_t price_mc = 0;
  int completed = 0;           // of these ranges: what is charged
  std::int64_t rebate_mc = 0;  // of that: what those cost less whose pages were not rendered
  std::vector<OutcomeRange> ranges;
  std::vector<EventRecord> events;
  std::vector<RowUpdate> rows;
  std::vector<DeliveryRecord> deliveries;
  std::vector<ChannelDeliveryRecord> channel_deliveries;
  std::vector<SnapshotRecord> snapshots;
  // The last record of the chunk: it is deleted, what is still reserved returns, its ticks'
  // outcomes are logged, and ticks wholly inside are closed.
  bool finished = false;
  std::vector<FinishedPart> parts;  // only when finished
};

struct RecordResult {
  base::Timestamp recorded_at{};       // created_at of the deliveries and events
  std::chrono::nanoseconds read_at{};  // since boot: before `targets` were read
  // The targets of every monitor with deliveries, as the transaction saw it: it may have changed
  // since the claim. Without a url nothing was written for it; a delivery whose endpoint is another
  // one by now was written for that one, without its lease.
  DeliveryTargets targets;
  bool tells_channels = false;        // deliveries to channels were written, which are due
  std::vector<HealthChange> changes;  // of monitors whose ticks were closed
  std::vector<base::Uuid> dropped;    // chunks whose lease was lost: nothing of them took effect
};

// All or nothing for the chunks whose lease still holds. Throws as InTransaction; std::logic_error
// when a row turns out to be recorded already although the lease was held (then nothing happened).
// After CommitUnknown the same call is safe to repeat: what happened is fenced off.
RecordResult RecordChecks(Session& session, const std::vector<ChunkRecord>& chunks,
                          std::chrono::milliseconds delivery_lease);

// What RecordChecks does with the deliveries of all its chunks, in its transaction; bench/delivery,
// which commits notifications alone, calls it, too. One that has a lease and still goes where its
// check meant it to is leased for `lease`; the others are due at once. `targets` tells where their
// monitors send now; every monitor has an entry.
void RecordDeliveries(Transaction& tx, const std::vector<const DeliveryRecord*>& deliveries,
                      std::chrono::milliseconds lease, DeliveryTargets* targets);

}  // namespace vedette::store
