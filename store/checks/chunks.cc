#include "store/checks/chunks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "domain/money/money.h"
#include "domain/monitor/chunk_plan.h"
#include "domain/text/limits.h"
#include "store/balances.h"
#include "store/checks/state_blocks.h"
#include "store/checks/ticks_sql.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// A chunk as its row says, with what it holds reserved.
struct ChunkRow {
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  domain::Tier tier = domain::Tier::kLow;
  bool large = false;
  int claims = 0;
  base::Timestamp due_at{};
  std::int64_t reserved_mc = 0;
  std::optional<std::int64_t> price_mc;  // empty until something is reserved
  std::string month;
  std::vector<domain::ChunkPart> parts;

  Account account() const { return {org_id, team_id, month}; }
};

// Reads :chunk_columns.
ChunkRow ReadChunk(Columns& in) {
  ChunkRow chunk;
  std::vector<base::Uuid> monitor_ids;
  std::vector<std::int64_t> tick_ids;
  std::vector<std::int64_t> firsts;
  std::vector<std::int64_t> ends;
  in.Into("id"_a = &chunk.id, "org_id"_a = &chunk.org_id, "team_id"_a = &chunk.team_id,
          "tier"_a = &chunk.tier, "large"_a = &chunk.large, "claims"_a = &chunk.claims,
          "due_at"_a = &chunk.due_at, "reserved_mc"_a = &chunk.reserved_mc,
          "price_mc"_a = &chunk.price_mc, "month"_a = &chunk.month, "monitor_ids"_a = &monitor_ids,
          "tick_ids"_a = &tick_ids, "firsts"_a = &firsts, "ends"_a = &ends);
  for (std::size_t i = 0; i < monitor_ids.size(); ++i) {
    chunk.parts.push_back(
        {monitor_ids[i], tick_ids[i], static_cast<int>(firsts[i]), static_cast<int>(ends[i])});
  }
  return chunk;
}

// Each part of a chunk that holds its ticks starts with its slot, and none before the first.
void SetStarts(const std::optional<std::vector<std::int64_t>>& due_us, ClaimedChunk* chunk) {
  for (std::size_t i = 0; i < chunk->parts.size(); ++i) {
    chunk->parts[i].starts_at =
        due_us ? HeldStart(chunk->starts_at, due_us->at(i)) : chunk->starts_at;
  }
}

// What the rows of chunks hold, by chunk: their reservations are read with them.
using ChunkRows = std::map<base::Uuid, ChunkRow>;

// Whether the organisations of a claim let their monitors run.
using OrgRuns = std::map<base::Uuid, bool>;

ClaimedChunk ClaimedFrom(const ChunkRow& row, const base::Uuid& token) {
  ClaimedChunk chunk;
  chunk.id = row.id;
  chunk.org_id = row.org_id;
  chunk.team_id = row.team_id;
  chunk.tier = row.tier;
  chunk.lease_token = token;
  chunk.large = row.large;
  chunk.claims = row.claims;
  chunk.due_at = row.due_at;
  for (const domain::ChunkPart& part : row.parts) {
    const auto n = static_cast<std::size_t>(part.end - part.first);
    LoadedPart& loaded = chunk.parts.emplace_back();
    loaded.part = part;
    loaded.rows.resize(n);
    loaded.decided.resize(n);
    chunk.row_count += static_cast<int>(n);
  }
  return chunk;
}

// The monitor of a spec, and its organisation.
struct SpecOwner {
  base::Uuid monitor_id;
  base::Uuid org_id;
};

// Reads :spec_columns.
MonitorSpec ReadSpec(Columns& in, const SpecOwner& owner, std::string* watched) {
  MonitorSpec spec;
  spec.monitor_id = owner.monitor_id;
  spec.org_id = owner.org_id;
  std::optional<std::string> field_versions;
  std::optional<std::string> rules;
  std::optional<std::string> headers;
  std::optional<std::string> headers_key_id;
  std::optional<std::vector<base::Uuid>> channel_ids;
  std::optional<std::vector<domain::NotificationType>> event_types;
  in.Into("tier"_a = &spec.tier, "subject_type"_a = &spec.subject_type,
          "monitor_active"_a = &spec.monitor_active, "struct"_a = watched,
          "struct_version"_a = &spec.struct_version, "field_versions"_a = &field_versions,
          "research_plan"_a = &spec.research_plan, "confirm_after"_a = &spec.confirm_after,
          "missing_confirmations"_a = &spec.missing_confirmations,
          "webhook_url"_a = &spec.webhook_url, "webhook_event_types"_a = &event_types,
          "endpoint_id"_a = &spec.endpoint_id, "endpoint_open"_a = &spec.endpoint_open,
          "metadata"_a = &spec.metadata, "rules"_a = &rules,
          "request_headers"_a = OptionalBytesInto{&headers},
          "request_headers_key_id"_a = &headers_key_id, "channel_ids"_a = &channel_ids,
          "probe"_a = &spec.probe);
  if (channel_ids) spec.channel_ids = std::move(*channel_ids);
  if (event_types) spec.webhook_event_types = std::move(*event_types);
  spec.rules = domain::ParseChangeRules(rules);
  if (headers) spec.request_headers = Sealed{std::move(*headers), headers_key_id.value_or("")};
  // What a tick goes by that began before a change counts as it was before the change.
  spec.field_versions = domain::ParseFieldVersions(field_versions);
  std::erase_if(spec.field_versions,
                [&](const auto& field) { return field.second > spec.struct_version; });
  return spec;
}

// Reads :open_tick_columns.
void ReadOpenTick(Columns& in, MonitorSpec* spec) {
  in.Into("frequency_s"_a = &spec->frequency, "open_tick_id"_a = &spec->open_tick_id);
  if (!spec->open_tick_id) return;
  in.Into("open_due_at"_a = &spec->open_due_at, "open_started_at"_a = &spec->open_started_at,
          "open_slots"_a = &spec->open_slots, "open_trigger"_a = &spec->open_trigger);
}

// Reads :spec_columns, and :open_tick_columns behind them unless the tick is held by its chunk,
// which says the time between two slots.
void AddSpec(Columns& in, const SpecOwner& owner, std::optional<std::chrono::seconds> held,
             const OrgRuns& org_runs, Claim* claim) {
  std::string watched;
  auto spec = std::make_shared<MonitorSpec>(ReadSpec(in, owner, &watched));
  if (held) {
    spec->frequency = *held;
  } else {
    ReadOpenTick(in, spec.get());
  }
  spec->org_runs = org_runs.at(spec->org_id);
  claim->watched.emplace(spec->monitor_id, std::move(watched));
  claim->specs.emplace(spec->monitor_id, std::move(spec));
}

using PartList = std::vector<LoadedPart*>;

void LoadSpecs(Transaction& tx, const PartList& parts, const OrgRuns& org_runs, Claim* claim) {
  std::map<base::Uuid, std::int64_t> ticks;
  for (const LoadedPart* part : parts) ticks.emplace(part->part.monitor_id, part->part.tick_id);
  Rows<Column<"ids", base::Uuid>, Column<"tick_ids", std::int64_t>> asked;
  for (const auto& [monitor_id, tick_id] : ticks) asked.Add(monitor_id, tick_id);
  for (const auto& row : tx.Exec<"monitor_specs">(asked)) {
    Columns in(row);
    SpecOwner owner;
    in.Into("id"_a = &owner.monitor_id, "org_id"_a = &owner.org_id);
    AddSpec(in, owner, std::nullopt, org_runs, claim);
  }
}

// The first two columns of statements that read parts: the number of the part, from 1, and the
// position.
struct PartRow {
  std::size_t index;  // of the part, from 0
  LoadedPart* part;
  LoadedRow* row;
};
PartRow ReadPlace(Columns& in, const PartList& parts) {
  std::size_t n = 0;
  int position = 0;
  in.Into("n"_a = &n, "position"_a = &position);
  LoadedPart* part = parts.at(n - 1);
  return {n - 1, part, &part->rows.at(static_cast<std::size_t>(position - part->part.first))};
}

// Reads :checked_row_columns.
void ReadRow(Columns& in, LoadedRow* row) {
  in.Into("id"_a = &row->row_id, "is_active"_a = &row->is_active, "subject"_a = &row->subject,
          "context"_a = &row->context, "baseline"_a = &row->baseline, "known"_a = &row->known,
          "pending"_a = &row->pending, "struct_version"_a = &row->struct_version);
}

void Take(const RowState& state, const LoadedPart& part, LoadedRow* row) {
  row->last_run_at = state.last_run_at;
  if (state.last_tick_id >= part.part.tick_id) row->done = domain::Outcome{state.outcome};
}

// Reads :checked_state_columns.
void ReadState(Columns& in, const PartRow& at) {
  RowState state;
  int outcome = 0;
  in.Into("last_tick_id"_a = &state.last_tick_id, "outcome"_a = &outcome,
          "last_run_at"_a = &state.last_run_at);
  state.outcome = static_cast<std::uint8_t>(outcome);
  Take(state, *at.part, at.row);
}

// The states of a block, of which some are of rows of the part.
void TakeStates(const std::vector<RowState>& states, int block, LoadedPart* part) {
  const int start = block * domain::kBlockRows;
  const int end = std::min(part->part.end, start + static_cast<int>(states.size()));
  for (int position = std::max(part->part.first, start); position < end; ++position) {
    Take(states[static_cast<std::size_t>(position - start)], *part,
         &part->rows.at(static_cast<std::size_t>(position - part->part.first)));
  }
}

// Two range selects, joined here: cheaper than a join in the database.
void LoadRows(Transaction& tx, const PartList& parts) {
  Rows<Column<"monitor_id", base::Uuid>, Column<"first", int>, Column<"ending", int>> ranges;
  for (const LoadedPart* part : parts) {
    ranges.Add(part->part.monitor_id, part->part.first, part->part.end);
  }
  for (const auto& row : tx.Exec<"rows_of_parts">(ranges)) {
    Columns in(row);
    ReadRow(in, ReadPlace(in, parts).row);
  }
  for (const auto& row : tx.Exec<"states_of_parts">(ranges)) {
    Columns in(row);
    std::size_t n = 0;
    int block = 0;
    in.Into("n"_a = &n, "block"_a = &block);
    TakeStates(ReadStates(in), block, parts.at(n - 1));
  }
}

// What chunks that hold their ticks say of the time between two slots of each part; empty for
// others.
using Periods = std::vector<std::vector<std::int64_t>>;

// Parts of one row each. Chunks that hold their ticks say the time between two slots of each.
struct PartsOfOneRow {
  PartList parts;
  std::vector<base::Uuid> org_ids;         // of each
  std::vector<std::chrono::seconds> held;  // of each, or empty
};

// Monitor, row and state in one select: of one row each there is nothing to share. The schedule is
// read where the chunks do not hold the ticks.
void LoadOneRowParts(Transaction& tx, const PartsOfOneRow& of, const OrgRuns& org_runs,
                     Claim* claim) {
  if (of.parts.empty()) return;
  Rows<Column<"monitor_id", base::Uuid>, Column<"position", int>, Column<"tick_id", std::int64_t>>
      places;
  for (const LoadedPart* part : of.parts) {
    places.Add(part->part.monitor_id, part->part.first, part->part.tick_id);
  }
  const bool held = !of.held.empty();
  const auto rows = held ? tx.Exec<"held_row_parts">(places) : tx.Exec<"one_row_parts">(places);
  for (const auto& row : rows) {
    Columns in(row);
    const PartRow at = ReadPlace(in, of.parts);
    ReadRow(in, at.row);
    ReadState(in, at);
    AddSpec(in, {at.part->part.monitor_id, of.org_ids.at(at.index)},
            held ? std::optional(of.held.at(at.index)) : std::nullopt, org_runs, claim);
  }
}

// `periods` are those of the claim's chunks.
void Load(Transaction& tx, const Periods& periods, const OrgRuns& org_runs, Claim* claim) {
  PartsOfOneRow of_one_row;
  PartsOfOneRow held_of_one_row;
  PartList wider;
  for (std::size_t n = 0; n < claim->chunks.size(); ++n) {
    ClaimedChunk& chunk = claim->chunks[n];
    for (std::size_t i = 0; i < chunk.parts.size(); ++i) {
      LoadedPart& part = chunk.parts[i];
      if (part.rows.size() > 1) {
        wider.push_back(&part);
        continue;
      }
      const bool held = !periods[n].empty();
      PartsOfOneRow& of = held ? held_of_one_row : of_one_row;
      of.parts.push_back(&part);
      of.org_ids.push_back(chunk.org_id);
      if (held) of.held.emplace_back(periods[n].at(i));
    }
  }
  LoadOneRowParts(tx, held_of_one_row, org_runs, claim);
  LoadOneRowParts(tx, of_one_row, org_runs, claim);
  if (wider.empty()) return;
  LoadSpecs(tx, wider, org_runs, claim);
  LoadRows(tx, wider);
}

// Decides what needs no money: rows done, switched off, or stopped. Returns how many are left.
int DecideFree(const Claim& claim, ClaimedChunk* chunk) {
  int open = 0;
  for (auto& part : chunk->parts) {
    const MonitorSpec& spec = *claim.specs.at(part.part.monitor_id);
    const bool live = spec.monitor_active && spec.org_runs;
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      const LoadedRow& row = part.rows[i];
      if (row.done) {
        part.decided[i] = row.done;
      } else if (!row.is_active) {
        part.decided[i] = domain::Outcome::kInactive;
      } else if (!live) {
        part.decided[i] = domain::Outcome::kSkippedPaused;
      } else {
        ++open;
      }
    }
  }
  return open;
}

// The first `admitted` undecided rows stay so, in position order; the others are skipped.
void DecideSkipped(const domain::Admission& admission, ClaimedChunk* chunk) {
  const auto skipped = admission.skipped_balance > 0 ? domain::Outcome::kSkippedBalance
                                                     : domain::Outcome::kSkippedSpendLimit;
  int left = admission.admitted;
  for (auto& part : chunk->parts) {
    for (auto& decided : part.decided) {
      if (decided) continue;
      if (left > 0) {
        --left;
      } else {
        decided = skipped;
      }
    }
  }
}

// Admission of every chunk that has checks to pay for.
void AdmitChunks(Transaction& tx, Claim* claim, const ChunkRows& rows,
                 const std::map<domain::Tier, std::int64_t>& prices_mc) {
  std::vector<std::pair<ClaimedChunk*, int>> asking;
  Balances balances;
  for (auto& chunk : claim->chunks) {
    const ChunkRow& row = rows.at(chunk.id);
    chunk.price_mc = row.price_mc ? *row.price_mc : prices_mc.at(chunk.tier);
    const int checks = DecideFree(*claim, &chunk);
    if (checks == 0) continue;
    asking.emplace_back(&chunk, checks);
    balances.Want(row.account());
  }
  if (asking.empty()) return;
  balances.Lock(tx);
  Rows<Column<"id", base::Uuid>, Column<"amount_mc", std::int64_t>,
       Column<"price_mc", std::int64_t>, Column<"month", std::string>>
      reservations;
  for (const auto& [chunk, checks] : asking) {
    const ChunkRow& row = rows.at(chunk->id);
    const Account account = row.account();
    const Balances::Room room = balances.RoomOf(account);
    domain::AdmissionRequest request;
    request.balance_mc = room.balance_mc;
    request.spend_left_mc = room.spend_left_mc;
    request.reserved_mc = row.reserved_mc;
    request.price_mc = chunk->price_mc;
    request.checks = checks;
    const domain::Admission admission = domain::Admit(request);
    DecideSkipped(admission, chunk);
    // What is reserved too much goes back with the record that finishes the chunk.
    const std::int64_t more = std::max<std::int64_t>(admission.reserve_mc, 0);
    balances.Take(account, more);
    reservations.Add(chunk->id, more, chunk->price_mc, account.month);
  }
  balances.Write(tx);
  tx.ExecLater<"chunk_reserve">(reservations);
}

// The scan behind `cursor`, beside a snapshot.
pqxx::result ScanBehindBounds(Transaction& tx, const base::Uuid& cursor, int orgs_max,
                              const ChunkScanBounds& bounds, std::chrono::nanoseconds began) {
  constexpr int kPlaces = 2;
  std::map<base::Uuid, std::map<ChunkPlace, base::Timestamp>> from;
  for (const auto& [key, at] :
       bounds.Behind({cursor, ChunkPlace::kLeaseEnd}, kPlaces * orgs_max, began)) {
    from[key.first][key.second] = at;
  }
  Rows<Column<"org_ids", base::Uuid>, Column<"turns_from", ChunkScanBounds::First>,
       Column<"ends_from", ChunkScanBounds::First>>
      known;
  const auto of = [](const auto& places, ChunkPlace place) {
    const auto it = places.find(place);
    return it == places.end() ? std::nullopt : ChunkScanBounds::First(it->second);
  };
  for (const auto& [org_id, places] : from) {
    known.Add(org_id, of(places, ChunkPlace::kTurn), of(places, ChunkPlace::kLeaseEnd));
  }
  return tx.Exec<"chunk_scan_bounds">("cursor"_a = cursor, "orgs_max"_a = orgs_max, known,
                                      "apart_s"_a = kPlacesApart.count());
}

// Notes what the scan saw of an organisation: where nothing waits in turn, it looked at the ends of
// leases, too. A new flow's first turn may be a fraction of a second before the first of all.
void NoteSeen(const base::Uuid& org_id, ChunkScanBounds::First first, base::Timestamp now,
              std::vector<ChunkScanBounds::Seen>* seen) {
  const base::Timestamp turns_arrive = now - domain::kStartsBack - kScanMargin;
  const auto newest = domain::StartFloor(now - domain::kStartsBack - kScanMarginShort);
  if (first && *first <= now - kPlacesApart) {
    seen->push_back(
        {{org_id, ChunkPlace::kTurn}, domain::StartFloor(*first), turns_arrive, newest});
    return;
  }
  seen->push_back({{org_id, ChunkPlace::kTurn}, std::nullopt, turns_arrive, newest});
  seen->push_back(
      {{org_id, ChunkPlace::kLeaseEnd}, first, now - kScanMargin, now - kScanMarginShort});
}

}  // namespace

OrgScan ScanDueOrganisations(Session& session, const base::Uuid& cursor, int orgs_max,
                             ChunkScanBounds* bounds) {
  return Read(session, [&](Transaction& tx) {
    OrgScan scan;
    const base::Clock& clock = session.impl().clock;
    const auto began = clock.SinceBoot();
    const auto from = bounds ? bounds->Next(began) : ChunkScanBounds::From::kBeginning;
    const auto rows = from == ChunkScanBounds::From::kBounds
                          ? ScanBehindBounds(tx, cursor, orgs_max, *bounds, began)
                          : tx.Exec<"chunk_scan">("cursor"_a = cursor, "orgs_max"_a = orgs_max);
    const auto ended = clock.SinceBoot();
    std::vector<ChunkScanBounds::Seen> seen;
    base::Uuid last;
    for (const auto& row : rows) {
      DueOrg due;
      std::optional<int> rows_of_first;
      ChunkScanBounds::First first;
      base::Timestamp now{};
      Columns(row).Into("org_id"_a = &due.org_id, "row_count"_a = &rows_of_first,
                        "monitor_id"_a = &due.large_monitor_id, "first_at"_a = &first,
                        "now"_a = &now);
      last = due.org_id;
      NoteSeen(due.org_id, first, now, &seen);
      if (!rows_of_first) continue;
      due.rows = *rows_of_first;
      scan.due.push_back(due);
    }
    if (static_cast<int>(rows.size()) == orgs_max) scan.next_cursor = last;
    if (bounds) bounds->Scanned(from, began, ended, seen);
    return scan;
  });
}

namespace {

using ClaimRows =
    Rows<Column<"org_id", base::Uuid>, Column<"chunks_max", int>, Column<"rows_max", int>,
         Column<"from_at", ChunkScanBounds::First>, Column<"turns_only", bool>>;

// The share, from where the scan found the first of it.
void AddShare(const ClaimShare& share, const ChunkScanBounds* bounds, ClaimRows* rows) {
  ChunkScanBounds::First from;
  bool in_turn = false;
  if (bounds) {
    from = bounds->Found({share.org_id, ChunkPlace::kTurn});
    in_turn = from.has_value();
    if (!from) from = bounds->Found({share.org_id, ChunkPlace::kLeaseEnd});
  }
  rows->Add(share.org_id, share.chunks_max, share.rows_max, from, in_turn);
}

}  // namespace

Claim ClaimChunks(Session& session, const std::vector<ClaimShare>& shares, const base::Uuid& token,
                  std::chrono::milliseconds lease,
                  const std::map<domain::Tier, std::int64_t>& prices_mc, int careful_from,
                  const ChunkScanBounds* bounds) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        ClaimRows asked;
        for (const ClaimShare& share : shares) AddShare(share, bounds, &asked);
        Claim claim;
        claim.read_at = session.impl().clock.SinceBoot();
        ChunkRows rows;
        OrgRuns org_runs;
        Periods periods;
        for (const auto& row : tx.Exec<"chunk_claim">(
                 asked, "token"_a = token, "lease_ms"_a = lease.count(),
                        "careful_from"_a = careful_from, "apart_s"_a = kPlacesApart.count())) {
          Columns in(row);
          ChunkRow chunk = ReadChunk(in);
          ClaimedChunk& claimed = claim.chunks.emplace_back(ClaimedFrom(chunk, token));
          bool runs = false;
          std::optional<std::vector<std::int64_t>> longest_s;
          std::optional<std::vector<std::int64_t>> due_us;
          in.Into("longest_s"_a = &longest_s, "due_us"_a = &due_us,
                  "starts_at"_a = &claimed.starts_at);
          SetStarts(due_us, &claimed);
          periods.push_back(std::move(longest_s).value_or(std::vector<std::int64_t>()));
          in.Into("now"_a = &claim.now, "counted"_a = &claimed.counted, "monitors_run"_a = &runs);
          if (!claimed.counted) ++claimed.claims;
          org_runs.emplace(chunk.org_id, runs);
          rows.emplace(chunk.id, std::move(chunk));
        }
        if (claim.chunks.empty()) return claim;
        Load(tx, periods, org_runs, &claim);
        AdmitChunks(tx, &claim, rows, prices_mc);
        return claim;
      },
      Durability::kAsync);
}

std::vector<base::Uuid> RenewChunks(Session& session, const std::vector<Lease>& leases,
                                    std::chrono::milliseconds lease) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        return ReadEach<base::Uuid>(
            tx.Exec<"chunk_renew">(LeaseRows(leases), "lease_ms"_a = lease.count()));
      },
      Durability::kAsync);
}

void ReleaseChunks(Session& session, const std::vector<Lease>& leases) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"chunk_release">(
        LeaseRows(leases),
        "turn_back_s"_a = std::chrono::seconds(domain::kStartsBack + domain::kStartAgeing).count());
  });
}

ControlChanges ReadControlChanges(Session& session, std::chrono::milliseconds window,
                                  std::optional<base::Timestamp> since) {
  return InTransaction(session, [&](Transaction& tx) {
    ControlChanges changes;
    // Before the others: what is committed after it, they may see or not.
    changes.complete_until = ReadOne<base::Timestamp>(tx.Exec<"control_since">());
    for (const auto& row :
         tx.Exec<"control_monitors">("window_ms"_a = window.count(), "since"_a = since)) {
      base::Uuid monitor_id;
      std::optional<int> position;  // of a row; empty: the monitor's own switch
      bool on = false;
      Columns(row).Into("id"_a = &monitor_id, "position"_a = &position, "is_on"_a = &on);
      if (position) {
        changes.rows.push_back({monitor_id, *position, on});
      } else {
        changes.monitors.emplace_back(monitor_id, on);
      }
    }
    for (const auto& row :
         tx.Exec<"control_organisations">("window_ms"_a = window.count(), "since"_a = since)) {
      auto& [org_id, runs] = changes.organisations.emplace_back();
      Columns(row).Into("id"_a = &org_id, "monitors_run"_a = &runs);
    }
    return changes;
  });
}

namespace {

domain::ChunkPlan PlanOf(const ChunkRow& chunk) {
  domain::ChunkPlan plan;
  plan.org_id = chunk.org_id;
  plan.team_id = chunk.team_id;
  plan.tier = chunk.tier;
  plan.due_at = chunk.due_at;
  plan.parts = chunk.parts;
  if (chunk.large) plan.large_monitor_id = chunk.parts.front().monitor_id;
  return plan;
}

// The two halves: parts are kept whole where there are several.
std::pair<domain::ChunkPlan, domain::ChunkPlan> Halve(const domain::ChunkPlan& plan) {
  domain::ChunkPlan a = plan;
  domain::ChunkPlan b = plan;
  if (plan.parts.size() > 1) {
    const auto middle = plan.parts.begin() + static_cast<std::ptrdiff_t>(plan.parts.size() / 2);
    a.parts.assign(plan.parts.begin(), middle);
    b.parts.assign(middle, plan.parts.end());
  } else {
    const domain::ChunkPart& part = plan.parts.front();
    const int middle = part.first + (part.end - part.first) / 2;
    a.parts.front().end = middle;
    b.parts.front().first = middle;
    a.large_monitor_id = b.large_monitor_id = part.monitor_id;
  }
  for (domain::ChunkPlan* half : {&a, &b}) {
    half->row_count = 0;
    for (const auto& part : half->parts) half->row_count += part.end - part.first;
  }
  return {a, b};
}

// The tick of a chunk of one part, which it or the schedule says, is open as a large one from now
// on.
void MakeLarge(Transaction& tx, const ChunkRow& chunk, const std::vector<HeldTick>& held_ticks) {
  const domain::ChunkPart& part = chunk.parts.front();
  const HeldTick held = held_ticks.empty() ? HeldTick() : held_ticks.front();
  tx.Exec<"split_make_large">(
      "id"_a = chunk.id, "monitor_id"_a = part.monitor_id, "tick_id"_a = part.tick_id,
      "due_at"_a = held.due_at, "started_at"_a = held.started_at, "slots"_a = held.slots,
      "row_count"_a = part.end, "trigger"_a = domain::TickTrigger::kSchedule);
}

// The schedules of what chunk `id` holds name the chunks that hold it from now on.
void HoldTicks(Transaction& tx, const base::Uuid& id, const std::vector<domain::ChunkPlan>& plans,
               const std::vector<base::Uuid>& ids) {
  Rows<Column<"monitor_id", base::Uuid>, Column<"chunk_id", base::Uuid>> held;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const domain::ChunkPart& part : plans[i].parts) held.Add(part.monitor_id, ids[i]);
  }
  tx.Exec<"split_hold_ticks">(held, "id"_a = id);
}

}  // namespace

bool CountTry(Session& session, const Lease& lease, CarefulTry careful) {
  return InTransaction(session, [&](Transaction& tx) {
    const int uncounted = careful.counted ? 0 : 1;
    const int floor = careful.last_try ? kLastTryClaims : 0;
    return !tx.Exec<"chunk_count">("id"_a = lease.id, "token"_a = lease.token,
                                   "uncounted"_a = uncounted, "floor"_a = floor)
                .empty();
  });
}

bool SplitChunk(Session& session, const base::Clock& clock, const Lease& lease) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto rows = tx.Exec<"split_lock_chunk">("id"_a = lease.id, "token"_a = lease.token);
    if (rows.empty()) return false;
    Columns in(rows.front());
    const ChunkRow chunk = ReadChunk(in);
    const std::vector<HeldTick> held = ReadHeldTicks(in);
    const domain::ChunkPlan plan = PlanOf(chunk);
    if (plan.parts.size() == 1 && plan.parts[0].end - plan.parts[0].first < 2) return false;
    const auto [a, b] = Halve(plan);
    const bool is_large = a.large_monitor_id.has_value();
    if (is_large && !plan.large_monitor_id) MakeLarge(tx, chunk, held);
    const bool holds = !held.empty() && !is_large;
    const auto held_of = [&](const domain::ChunkPart& part) {
      const auto of_monitor = [&](const auto& p) { return p.monitor_id == part.monitor_id; };
      const auto it = std::find_if(plan.parts.begin(), plan.parts.end(), of_monitor);
      return holds ? std::optional(held.at(static_cast<std::size_t>(it - plan.parts.begin())))
                   : std::nullopt;
    };
    const std::vector<base::Uuid> ids = InsertChunks(tx, clock, {a, b}, held_of).ids;
    if (holds) HoldTicks(tx, chunk.id, {a, b}, ids);
    tx.Exec<"record_delete_chunks">("ids"_a = std::vector<base::Uuid>{lease.id});
    if (chunk.reserved_mc == 0) return true;
    Balances balances;
    balances.Want(chunk.account());
    balances.Lock(tx);
    balances.Return(chunk.account(), chunk.reserved_mc);
    balances.Write(tx);
    return true;
  });
}

}  // namespace vedette::store
