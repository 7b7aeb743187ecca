#include "store/checks/record.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/json.h"
#include "domain/job/job.h"
#include "domain/text/limits.h"
#include "store/balances.h"
#include "store/checks/state_blocks.h"
#include "store/checks/ticks_sql.h"
#include "store/endpoint_sql.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// A chunk whose lease held when it was locked, with what the database knows of it.
struct LockedChunk {
  const ChunkRecord* record;
  std::int64_t reserved_mc;
  std::string month;
  std::vector<HeldTick> held;  // of its parts, in their order; empty where it holds none
  std::int64_t charge_mc() const {
    return record->completed * record->price_mc - record->rebate_mc;
  }
};

std::vector<LockedChunk> LockChunks(Transaction& tx, const std::vector<ChunkRecord>& chunks,
                                    RecordResult* result) {
  std::map<base::Uuid, const ChunkRecord*> waiting;
  std::vector<Lease> leases;
  for (const ChunkRecord& chunk : chunks) {
    waiting.emplace(chunk.lease.id, &chunk);
    leases.push_back(chunk.lease);
  }
  std::vector<LockedChunk> locked;
  for (const auto& row : tx.Exec<"record_lock_chunks">(LeaseRows(leases))) {
    base::Uuid id;
    std::int64_t reserved_mc = 0;
    std::optional<std::string> month;  // empty where nothing was reserved yet
    Columns in(row);
    in.Into("id"_a = &id, "reserved_mc"_a = &reserved_mc, "month"_a = &month,
            "now"_a = &result->recorded_at);
    const auto it = waiting.find(id);
    locked.push_back({it->second, reserved_mc, std::move(month).value_or(""), ReadHeldTicks(in)});
    waiting.erase(it);
  }
  result->dropped.clear();
  for (const auto& [id, chunk] : waiting) result->dropped.push_back(id);
  return locked;
}

// The row fence: everything else that is written stands for exactly these rows. False: see
// WriteStates.
bool WriteRowStates(Transaction& tx, const std::vector<LockedChunk>& chunks, StateWriting writing) {
  std::vector<NewOutcomes> checks;
  for (const auto& chunk : chunks) {
    for (const OutcomeRange& range : chunk.record->ranges) {
      checks.push_back({range.monitor_id, range.tick_id, range.first, range.outcomes,
                        range.looked_until, !chunk.record->large});
    }
  }
  return WriteStates(tx, checks, writing);
}

// The rows whose pages are to be kept: what is seen of a row that was removed meanwhile is not, and
// one that is removed from now on waits for the record, and then forgets what it has kept. Costs
// nothing where no page has to be kept.
std::set<base::Uuid> LockRowsWithPages(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  std::set<base::Uuid> with_pages;
  for (const auto& chunk : chunks) {
    for (const SnapshotRecord& s : chunk.record->snapshots) with_pages.insert(s.row_id);
  }
  if (with_pages.empty()) return {};
  const std::vector<base::Uuid> ids(with_pages.begin(), with_pages.end());
  const auto there = ReadEach<base::Uuid>(tx.Exec<"record_lock_rows">("ids"_a = ids));
  return {there.begin(), there.end()};
}

// The snapshot before, by the one that follows it.
using PreviousSnapshots = std::map<base::Uuid, base::Uuid>;

// Pages of these rows are kept. Costs nothing where none has to be.
PreviousSnapshots WriteSnapshots(Transaction& tx, const std::vector<LockedChunk>& chunks,
                                 const std::set<base::Uuid>& row_ids) {
  Rows<Column<"id", base::Uuid>, Column<"org_id", base::Uuid>, Column<"monitor_id", base::Uuid>,
       Column<"row_id", base::Uuid>, Column<"tick_id", std::int64_t>, Column<"url", std::string>,
       Column<"is_rendered", bool>, Column<"text_hash", std::string>, Column<"text_bytes", int>,
       Column<"picture_hash", std::optional<std::string>>>
      snapshots;
  // Each once, in order (record_snapshots).
  std::map<std::pair<base::Uuid, std::string_view>, std::string_view> bodies;
  for (const auto& chunk : chunks) {
    for (const SnapshotRecord& s : chunk.record->snapshots) {
      if (s.is_failure || !row_ids.contains(s.row_id)) continue;
      const domain::SeenPage& page = *s.page;
      std::optional<std::string> picture_hash;
      bodies.emplace(std::pair(s.org_id, std::string_view(page.text_hash)), page.text);
      if (!page.picture.empty()) {
        picture_hash = Bytea(page.picture_hash);
        bodies.emplace(std::pair(s.org_id, std::string_view(page.picture_hash)), page.picture);
      }
      snapshots.Add(s.id, s.org_id, s.monitor_id, s.row_id, s.tick_id, page.url, s.is_rendered,
                    Bytea(page.text_hash), page.text_bytes, picture_hash);
    }
  }
  PreviousSnapshots previous;
  if (snapshots.empty()) return previous;
  Rows<Column<"content_org_id", base::Uuid>, Column<"hash", std::string>,
       Column<"body", std::string>>
      contents;
  for (const auto& [key, body] : bodies) contents.Add(key.first, Bytea(key.second), Bytea(body));
  for (const auto& row : tx.Exec<"record_snapshots">(snapshots, contents)) {
    base::Uuid id;
    base::Uuid previous_id;
    Columns(row).Into("id"_a = &id, "previous_id"_a = &previous_id);
    previous.emplace(id, previous_id);
  }
  return previous;
}

// Pictures of these rows are kept, by row, each once, in one order. Costs nothing where no check
// has failed with one.
void WriteFailedPages(Transaction& tx, const std::vector<LockedChunk>& chunks,
                      const std::set<base::Uuid>& row_ids) {
  std::map<base::Uuid, const SnapshotRecord*> by_row;
  for (const auto& chunk : chunks) {
    for (const SnapshotRecord& s : chunk.record->snapshots) {
      if (s.is_failure && row_ids.contains(s.row_id)) by_row[s.row_id] = &s;
    }
  }
  if (by_row.empty()) return;
  Rows<Column<"row_id", base::Uuid>, Column<"id", base::Uuid>, Column<"org_id", base::Uuid>,
       Column<"monitor_id", base::Uuid>, Column<"picture", std::string>>
      pages;
  for (const auto& [row_id, s] : by_row) {
    pages.Add(row_id, s->id, s->org_id, s->monitor_id, Bytea(s->page->picture));
  }
  tx.Exec<"record_failed_pages">(pages);
}

void WriteEvents(Transaction& tx, const std::vector<LockedChunk>& chunks,
                 const PreviousSnapshots& previous) {
  using Text = std::optional<std::string>;
  using Id = std::optional<base::Uuid>;
  Rows<Column<"id", base::Uuid>, Column<"org_id", base::Uuid>, Column<"monitor_id", base::Uuid>,
       Column<"row_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"event_group_id", base::Uuid>, Column<"event_type", domain::EventType>,
       Column<"field", Text>, Column<"previous_value", Text>, Column<"current_value", Text>,
       Column<"message", Text>, Column<"evidence", Text>, Column<"sources", Text>,
       Column<"confidence", std::optional<double>>, Column<"previous_snapshot_id", Id>,
       Column<"snapshot_id", Id>>
      events;
  for (const auto& chunk : chunks) {
    // A change names what the page was like, and an error the picture of a check that failed: what
    // is kept of a check that could not read one field is not of that error.
    std::set<std::pair<base::Uuid, domain::EventType>> kept;
    for (const SnapshotRecord& s : chunk.record->snapshots) {
      kept.emplace(s.id, s.is_failure ? domain::EventType::kError : domain::EventType::kChange);
    }
    for (const EventRecord& e : chunk.record->events) {
      const bool is_kept = kept.contains({e.event_group_id, e.type});
      const auto before = is_kept ? previous.find(e.event_group_id) : previous.end();
      events.Add(domain::EventId(e.event_group_id, e.type, e.field.value_or("")), e.org_id,
                 e.monitor_id, e.row_id, e.tick_id, e.event_group_id, e.type, e.field,
                 e.previous_value, e.current_value, e.message, e.evidence, e.sources, e.confidence,
                 before == previous.end() ? Id() : before->second,
                 is_kept ? Id(e.event_group_id) : Id());
    }
  }
  if (!events.empty()) tx.Exec<"record_events">(events);
}

void WriteRows(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  using Json = std::optional<std::string>;
  Rows<Column<"monitor_id", base::Uuid>, Column<"position", int>, Column<"baseline", Json>,
       Column<"known", Json>, Column<"pending", Json>, Column<"seen", Json>,
       Column<"struct_version", int>>
      rows;
  for (const auto& chunk : chunks) {
    for (const RowUpdate& u : chunk.record->rows) {
      rows.Add(u.monitor_id, u.position, u.baseline, u.known, u.pending, u.seen, u.struct_version);
    }
  }
  if (!rows.empty()) tx.Exec<"record_rows">(rows);
}

void WriteDeliveries(Transaction& tx, const std::vector<LockedChunk>& chunks,
                     std::chrono::milliseconds lease, DeliveryTargets* targets) {
  std::vector<const DeliveryRecord*> deliveries;
  for (const auto& chunk : chunks) {
    for (const DeliveryRecord& d : chunk.record->deliveries) deliveries.push_back(&d);
  }
  RecordDeliveries(tx, deliveries, lease, targets);
}

// Costs nothing where no monitor of the batch has channels. Whether any delivery was written: what
// waits for a digest, or is read as a feed, has none.
bool WriteChannelDeliveries(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  Rows<Column<"id", base::Uuid>, Column<"channel_id", base::Uuid>, Column<"org_id", base::Uuid>,
       Column<"monitor_id", base::Uuid>, Column<"row_id", base::Uuid>,
       Column<"event_group_id", base::Uuid>, Column<"type", domain::NotificationType>>
      deliveries;
  for (const auto& chunk : chunks) {
    for (const ChannelDeliveryRecord& d : chunk.record->channel_deliveries) {
      deliveries.Add(d.id, d.channel_id, d.org_id, d.monitor_id, d.row_id, d.event_group_id,
                     d.type);
    }
  }
  return !deliveries.empty() &&
         tx.Exec<"record_channel_deliveries">(deliveries).affected_rows() > 0;
}

// Outcomes of parts of large ticks go to the log, block by block.
void WriteLog(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  // `first` is a place in the block, `check_ms` how long a check took.
  Rows<Column<"monitor_id", base::Uuid>, Column<"block", int>, Column<"tick_id", std::int64_t>,
       Column<"first", int>, Column<"org_id", base::Uuid>, Column<"outcomes", std::string>,
       Column<"check_ms", int>>
      blocks;
  for (const auto& chunk : chunks) {
    if (!chunk.record->finished || !chunk.record->large) continue;
    for (const FinishedPart& p : chunk.record->parts) {
      for (int at = p.part.first; at < p.part.end;) {
        const int end = std::min(p.part.end, (at / domain::kBlockRows + 1) * domain::kBlockRows);
        const auto outcomes = std::string_view(p.outcomes)
                                  .substr(static_cast<std::size_t>(at - p.part.first),
                                          static_cast<std::size_t>(end - at));
        blocks.Add(p.part.monitor_id, at / domain::kBlockRows, p.part.tick_id,
                   at % domain::kBlockRows, chunk.record->org_id, Bytea(outcomes), p.check_ms);
        at = end;
      }
    }
  }
  if (!blocks.empty()) tx.Exec<"record_log">(blocks);
}

bool Has(const std::string& outcomes, domain::Outcome outcome) {
  return outcomes.find(static_cast<char>(outcome)) != std::string::npos;
}

// What the schedule says of a tick that no chunk holds.
HeldTick TickOf(const MonitorSpec& spec) {
  HeldTick tick;
  tick.due_at = spec.open_due_at;
  tick.started_at = spec.open_started_at;
  tick.slots = spec.open_slots;
  return tick;
}

// Whether the end of a tick that its chunk holds says something new of its monitor.
bool TellsOfMonitor(const HeldTick& held, bool completed, bool failed, int check_ms) {
  return (held.failing ? completed : failed && !completed) ||
         domain::PaceMoved(held.check_ms, check_ms);
}

// Ticks wholly inside a finished chunk are inserted once, outcomes inside, and closed: those that
// the chunk holds by its end.
std::vector<HealthChange> CloseSmallTicks(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  Rows<Column<"monitor_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"org_id", base::Uuid>, Column<"trigger", domain::TickTrigger>,
       Column<"due_at", std::int64_t>, Column<"started_at", std::int64_t>,
       Column<"slots", std::int64_t>, Column<"outcomes", std::string>>
      ticks;
  // `open_tick_id` is the same tick where the schedule says that it is open.
  Rows<Column<"monitor_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"open_tick_id", std::optional<std::int64_t>>, Column<"started_at", std::int64_t>,
       Column<"check_ms", int>, Column<"completed", bool>, Column<"failed", bool>>
      closed;
  for (const auto& chunk : chunks) {
    if (!chunk.record->finished || chunk.record->large) continue;
    const bool holds = !chunk.held.empty();
    for (std::size_t i = 0; i < chunk.record->parts.size(); ++i) {
      const FinishedPart& p = chunk.record->parts[i];
      const HeldTick tick = holds ? chunk.held.at(i) : TickOf(*p.spec);
      ticks.Add(p.part.monitor_id, p.part.tick_id, chunk.record->org_id,
                holds ? domain::TickTrigger::kSchedule : p.spec->open_trigger, Micros(tick.due_at),
                Micros(tick.started_at), tick.slots, Bytea(p.outcomes));
      const bool completed = Has(p.outcomes, domain::Outcome::kChanged) ||
                             Has(p.outcomes, domain::Outcome::kUnchanged);
      const bool failed = Has(p.outcomes, domain::Outcome::kFailed);
      if (holds && !TellsOfMonitor(tick, completed, failed, p.check_ms)) continue;
      closed.Add(p.part.monitor_id, p.part.tick_id,
                 holds ? std::nullopt : std::optional(p.part.tick_id), Micros(tick.started_at),
                 p.check_ms, completed, failed);
    }
  }
  if (ticks.empty()) return {};
  tx.Exec<"record_ticks">(ticks);
  if (closed.empty()) return {};
  return ReadChanges(tx.Exec<"record_close_ticks">(closed));
}

// The charge leaves the reservation; what a finished chunk still holds returns.
void SettleMoney(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  Rows<Column<"org_id", base::Uuid>, Column<"team_id", std::optional<base::Uuid>>,
       Column<"amount_mc", std::int64_t>, Column<"checks", int>, Column<"tier", domain::Tier>,
       Column<"chunk_id", base::Uuid>>
      charges;
  Rows<Column<"id", base::Uuid>, Column<"amount_mc", std::int64_t>> going_on;
  std::vector<base::Uuid> finished;
  std::vector<std::pair<Account, std::int64_t>> returns;
  Balances balances;
  for (const LockedChunk& chunk : chunks) {
    const ChunkRecord& record = *chunk.record;
    const std::int64_t charge_mc = chunk.charge_mc();
    if (charge_mc > 0) {
      charges.Add(record.org_id, record.team_id, charge_mc, record.completed, record.tier,
                  record.lease.id);
    }
    if (!record.finished) {
      going_on.Add(record.lease.id, charge_mc);
      continue;
    }
    finished.push_back(record.lease.id);
    const std::int64_t left = chunk.reserved_mc - charge_mc;
    if (left < 0) throw std::logic_error("a chunk is charged more than is reserved for it");
    if (left == 0) continue;
    returns.emplace_back(Account{record.org_id, record.team_id, chunk.month}, left);
    balances.Want(returns.back().first);
  }
  if (!charges.empty()) tx.Exec<"record_charges">(charges);
  if (!going_on.empty()) tx.Exec<"record_progress">(going_on);
  if (!finished.empty()) tx.Exec<"record_delete_chunks">("ids"_a = finished);
  if (returns.empty()) return;
  balances.Lock(tx);
  for (const auto& [account, left] : returns) balances.Return(account, left);
  balances.Write(tx);
}

}  // namespace

void RecordDeliveries(Transaction& tx, const std::vector<const DeliveryRecord*>& deliveries,
                      std::chrono::milliseconds lease, DeliveryTargets* targets) {
  targets->clear();
  // `target` is the number of the monitor, from 1.
  Rows<Column<"id", base::Uuid>, Column<"org_id", base::Uuid>, Column<"endpoint_id", base::Uuid>,
       Column<"monitor_id", base::Uuid>, Column<"target", int>, Column<"row_id", base::Uuid>,
       Column<"event_group_id", base::Uuid>, Column<"type", domain::NotificationType>,
       Column<"lease_token", std::optional<base::Uuid>>>
      rows;
  std::map<base::Uuid, int> numbers;
  std::vector<base::Uuid> monitors;
  for (const DeliveryRecord* d : deliveries) {
    const auto [number, is_new] =
        numbers.try_emplace(d->monitor_id, static_cast<int>(monitors.size()) + 1);
    if (is_new) {
      monitors.push_back(d->monitor_id);
      targets->try_emplace(d->monitor_id);
    }
    rows.Add(d->id, d->org_id, d->endpoint_id, d->monitor_id, number->second, d->row_id,
             d->event_group_id, d->type, d->lease_token);
  }
  if (rows.empty()) return;
  ReadTargets(
      tx.Exec<"record_deliveries">(rows, "lease_ms"_a = lease.count(), "monitor_ids"_a = monitors),
      targets);
}

namespace {

// Empty where a block of states is not as `writing` expects it; then nothing happened.
std::optional<RecordResult> TryRecord(Session& session, const std::vector<ChunkRecord>& chunks,
                                      std::chrono::milliseconds delivery_lease,
                                      StateWriting writing) {
  struct GiveUp {};
  try {
    return InTransaction(session, [&](Transaction& tx) {
      RecordResult result;
      result.read_at = session.impl().clock.SinceBoot();
      const auto locked = LockChunks(tx, chunks, &result);
      if (locked.empty()) return result;
      // Before the schedules, as for who adds rows to a monitor.
      if (!WriteRowStates(tx, locked, writing)) throw GiveUp();
      const auto with_pages = LockRowsWithPages(tx, locked);
      WriteEvents(tx, locked, WriteSnapshots(tx, locked, with_pages));
      WriteFailedPages(tx, locked, with_pages);
      WriteRows(tx, locked);
      WriteDeliveries(tx, locked, delivery_lease, &result.targets);
      result.tells_channels = WriteChannelDeliveries(tx, locked);
      WriteLog(tx, locked);
      result.changes = CloseSmallTicks(tx, locked);
      SettleMoney(tx, locked);
      return result;
    });
  } catch (const GiveUp&) {
    return std::nullopt;
  }
}

}  // namespace

RecordResult RecordChecks(Session& session, const std::vector<ChunkRecord>& chunks,
                          std::chrono::milliseconds delivery_lease) {
  auto result = TryRecord(session, chunks, delivery_lease, StateWriting::kInPlace);
  // Rows joined a monitor meanwhile, or a part of a block was recorded before.
  if (!result) result = TryRecord(session, chunks, delivery_lease, StateWriting::kMerged);
  return std::move(result.value());
}

}  // namespace vedette::store
