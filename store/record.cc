#include "store/record.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "domain/ids.h"
#include "domain/limits.h"
#include "store/deliveries_sql.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// A chunk whose lease held when it was locked, with what the database knows of it.
struct LockedChunk {
  const ChunkRecord* record;
  std::int64_t reserved_mc;
  std::string month;
  std::int64_t charge_mc() const { return record->completed * record->price_mc; }
};

std::vector<LockedChunk> LockChunks(Transaction& tx, const std::vector<ChunkRecord>& chunks,
                                    RecordResult* result) {
  std::map<base::Uuid, const ChunkRecord*> waiting;
  std::vector<base::Uuid> ids;
  std::vector<base::Uuid> tokens;
  for (const ChunkRecord& chunk : chunks) {
    waiting.emplace(chunk.lease.chunk_id, &chunk);
    ids.push_back(chunk.lease.chunk_id);
    tokens.push_back(chunk.lease.lease_token);
  }
  std::vector<LockedChunk> locked;
  for (const auto& row : tx.Exec("record_lock_chunks", ids, tokens)) {
    const auto it = waiting.find(ReadUuid(row[0]));
    locked.push_back(
        {it->second, row[1].as<std::int64_t>(), row[2].is_null() ? "" : row[2].c_str()});
    result->recorded_at = ReadTime(row[3]);
    waiting.erase(it);
  }
  result->dropped.clear();
  for (const auto& [id, chunk] : waiting) result->dropped.push_back(id);
  return locked;
}

void WriteRowStates(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  std::vector<base::Uuid> monitor_ids;
  std::vector<std::int64_t> tick_ids;
  std::vector<int> firsts;
  std::vector<std::string> outcomes;
  std::vector<base::Timestamp> looked_until;
  std::int64_t expected = 0;
  for (const auto& chunk : chunks) {
    for (const OutcomeRange& range : chunk.record->ranges) {
      monitor_ids.push_back(range.monitor_id);
      tick_ids.push_back(range.tick_id);
      firsts.push_back(range.first);
      outcomes.push_back(Bytea(range.outcomes));
      looked_until.push_back(chunk.record->looked_until);
      expected += static_cast<std::int64_t>(range.outcomes.size()) -
                  std::count(range.outcomes.begin(), range.outcomes.end(),
                             static_cast<char>(domain::kNoOutcome));
    }
  }
  if (expected == 0) return;
  const auto written =
      tx.Exec("record_row_states", monitor_ids, tick_ids, firsts, outcomes, looked_until)[0][0]
          .as<std::int64_t>();
  // The row fence: everything below stands for exactly these rows.
  if (written != expected) {
    throw std::logic_error("some rows of a leased chunk are recorded already");
  }
}

void WriteEvents(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  std::vector<base::Uuid> ids, org_ids, monitor_ids, row_ids, groups;
  std::vector<std::int64_t> tick_ids;
  std::vector<domain::EventType> types;
  std::vector<std::optional<std::string>> fields, previous, current, messages, evidence, sources;
  std::vector<std::optional<double>> confidence;
  for (const auto& chunk : chunks) {
    for (const EventRecord& e : chunk.record->events) {
      ids.push_back(domain::EventId(e.event_group_id, e.type, e.field.value_or("")));
      org_ids.push_back(e.org_id);
      monitor_ids.push_back(e.monitor_id);
      row_ids.push_back(e.row_id);
      tick_ids.push_back(e.tick_id);
      groups.push_back(e.event_group_id);
      types.push_back(e.type);
      fields.push_back(e.field);
      previous.push_back(e.previous_value);
      current.push_back(e.current_value);
      messages.push_back(e.message);
      evidence.push_back(e.evidence);
      sources.push_back(e.sources);
      confidence.push_back(e.confidence);
    }
  }
  if (ids.empty()) return;
  tx.Exec("record_events", ids, org_ids, monitor_ids, row_ids, tick_ids, groups, types, fields,
          previous, current, messages, evidence, sources, confidence);
}

void WriteRows(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  std::vector<base::Uuid> monitor_ids;
  std::vector<int> positions;
  std::vector<std::optional<std::string>> baseline, known, pending;
  for (const auto& chunk : chunks) {
    for (const RowUpdate& u : chunk.record->rows) {
      monitor_ids.push_back(u.monitor_id);
      positions.push_back(u.position);
      baseline.push_back(u.baseline);
      known.push_back(u.known);
      pending.push_back(u.pending);
    }
  }
  if (monitor_ids.empty()) return;
  tx.Exec("record_rows", monitor_ids, positions, baseline, known, pending);
}

void WriteDeliveries(Transaction& tx, const std::vector<LockedChunk>& chunks,
                     std::chrono::milliseconds lease, DeliveryTargets* targets) {
  targets->clear();
  std::vector<base::Uuid> ids, org_ids, endpoint_ids, monitor_ids, row_ids, groups;
  std::vector<domain::NotificationType> types;
  std::vector<std::optional<base::Uuid>> tokens;
  for (const auto& chunk : chunks) {
    for (const DeliveryRecord& d : chunk.record->deliveries) {
      ids.push_back(d.id);
      org_ids.push_back(d.org_id);
      endpoint_ids.push_back(d.endpoint_id);
      monitor_ids.push_back(d.monitor_id);
      row_ids.push_back(d.row_id);
      groups.push_back(d.event_group_id);
      types.push_back(d.type);
      tokens.push_back(d.lease_token);
      targets->try_emplace(d.monitor_id);
    }
  }
  if (ids.empty()) return;
  std::vector<base::Uuid> monitors;
  for (const auto& [monitor_id, target] : *targets) monitors.push_back(monitor_id);
  ReadTargets(tx.Exec("record_deliveries", ids, org_ids, endpoint_ids, monitor_ids, row_ids, groups,
                      types, tokens, lease.count(), monitors),
              targets);
}

// Outcomes of parts of large ticks go to the log, block by block.
void WriteLog(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  std::vector<base::Uuid> monitor_ids, org_ids;
  std::vector<int> blocks, firsts, check_ms;
  std::vector<std::int64_t> tick_ids;
  std::vector<std::string> outcomes;
  for (const auto& chunk : chunks) {
    if (!chunk.record->finished || !chunk.record->large) continue;
    for (const FinishedPart& p : chunk.record->parts) {
      for (int at = p.part.first; at < p.part.end;) {
        const int end = std::min(p.part.end, (at / domain::kBlockRows + 1) * domain::kBlockRows);
        monitor_ids.push_back(p.part.monitor_id);
        org_ids.push_back(chunk.record->org_id);
        blocks.push_back(at / domain::kBlockRows);
        firsts.push_back(at % domain::kBlockRows);
        check_ms.push_back(p.check_ms);
        tick_ids.push_back(p.part.tick_id);
        outcomes.push_back(Bytea(std::string_view(p.outcomes)
                                     .substr(static_cast<std::size_t>(at - p.part.first),
                                             static_cast<std::size_t>(end - at))));
        at = end;
      }
    }
  }
  if (monitor_ids.empty()) return;
  tx.Exec("record_log", monitor_ids, blocks, tick_ids, firsts, org_ids, outcomes, check_ms);
}

// Ticks wholly inside a finished chunk are inserted once, outcomes inside, and closed.
void CloseSmallTicks(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  std::vector<base::Uuid> monitor_ids, org_ids;
  std::vector<std::int64_t> tick_ids, slots;
  std::vector<domain::TickTrigger> triggers;
  std::vector<base::Timestamp> due_at, started_at;
  std::vector<std::string> outcomes;
  std::vector<int> check_ms;
  for (const auto& chunk : chunks) {
    if (!chunk.record->finished || chunk.record->large) continue;
    for (const FinishedPart& p : chunk.record->parts) {
      monitor_ids.push_back(p.part.monitor_id);
      org_ids.push_back(chunk.record->org_id);
      tick_ids.push_back(p.part.tick_id);
      slots.push_back(p.spec->open_slots);
      triggers.push_back(p.spec->open_trigger);
      due_at.push_back(p.spec->open_due_at);
      started_at.push_back(p.spec->open_started_at);
      outcomes.push_back(Bytea(p.outcomes));
      check_ms.push_back(p.check_ms);
    }
  }
  if (monitor_ids.empty()) return;
  tx.Exec("record_ticks", monitor_ids, tick_ids, org_ids, triggers, due_at, started_at, slots,
          outcomes);
  tx.Exec("record_close_ticks", monitor_ids, tick_ids, check_ms);
}

// The charge leaves the reservation; what a finished chunk still holds returns.
void SettleMoney(Transaction& tx, const std::vector<LockedChunk>& chunks) {
  std::vector<base::Uuid> org_ids, chunk_ids, going_on, finished;
  std::vector<std::optional<base::Uuid>> team_ids;
  std::vector<std::int64_t> amounts, going_on_amounts;
  std::vector<int> checks;
  std::vector<domain::Tier> tiers;
  std::map<base::Uuid, std::int64_t> returns;
  std::map<std::pair<base::Uuid, std::string>, std::int64_t> team_returns;
  for (const LockedChunk& chunk : chunks) {
    const ChunkRecord& record = *chunk.record;
    if (chunk.charge_mc() > 0) {
      org_ids.push_back(record.org_id);
      team_ids.push_back(record.team_id);
      amounts.push_back(chunk.charge_mc());
      checks.push_back(record.completed);
      tiers.push_back(record.tier);
      chunk_ids.push_back(record.lease.chunk_id);
    }
    if (!record.finished) {
      going_on.push_back(record.lease.chunk_id);
      going_on_amounts.push_back(chunk.charge_mc());
      continue;
    }
    finished.push_back(record.lease.chunk_id);
    const std::int64_t left = chunk.reserved_mc - chunk.charge_mc();
    if (left < 0) throw std::logic_error("a chunk is charged more than is reserved for it");
    if (left == 0) continue;
    returns[record.org_id] += left;
    if (record.team_id) team_returns[{*record.team_id, chunk.month}] += left;
  }
  if (!org_ids.empty()) {
    tx.Exec("record_charges", org_ids, team_ids, amounts, checks, tiers, chunk_ids);
  }
  if (!going_on.empty()) tx.Exec("record_progress", going_on, going_on_amounts);
  if (!finished.empty()) tx.Exec("record_delete_chunks", finished);
  if (returns.empty()) return;
  // Account, then team, in id order: the order of ClaimChunks.
  org_ids.clear();
  amounts.clear();
  for (const auto& [org_id, amount] : returns) {
    org_ids.push_back(org_id);
    amounts.push_back(amount);
  }
  tx.Exec("accounts_lock", org_ids);
  tx.Exec("accounts_return", org_ids, amounts);
  if (team_returns.empty()) return;
  std::vector<base::Uuid> teams;
  std::vector<std::string> months;
  amounts.clear();
  for (const auto& [key, amount] : team_returns) {
    teams.push_back(key.first);
    months.push_back(key.second);
    amounts.push_back(amount);
  }
  tx.Exec("team_spend_lock", teams, months);
  tx.Exec("team_spend_return", teams, months, amounts);
}

}  // namespace

RecordResult RecordChecks(Session& session, const std::vector<ChunkRecord>& chunks,
                          std::chrono::milliseconds delivery_lease) {
  return InTransaction(session, [&](Transaction& tx) {
    RecordResult result;
    result.read_at = session.impl().clock.SinceBoot();
    const auto locked = LockChunks(tx, chunks, &result);
    if (locked.empty()) return result;
    WriteRowStates(tx, locked);
    WriteEvents(tx, locked);
    WriteRows(tx, locked);
    WriteDeliveries(tx, locked, delivery_lease, &result.targets);
    WriteLog(tx, locked);
    CloseSmallTicks(tx, locked);
    SettleMoney(tx, locked);
    return result;
  });
}

}  // namespace vedette::store
