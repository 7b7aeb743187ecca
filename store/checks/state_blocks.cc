#include "store/checks/state_blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "domain/text/limits.h"

namespace vedette::store {
namespace {

std::optional<base::Timestamp> TimeOf(std::int64_t run_us) {
  if (run_us == 0) return std::nullopt;
  return base::Timestamp(std::chrono::microseconds(run_us));
}

std::int64_t MicrosOf(const std::optional<base::Timestamp>& run) {
  return run ? Micros(*run) : 0;
}

// The place of a block: its monitor, and its number there.
using BlockKey = std::pair<base::Uuid, int>;
using BlockRows = Rows<Column<"monitor_id", base::Uuid>, Column<"block", int>>;

// The outcomes of a range that are of one block.
struct Portion {
  const NewOutcomes* of;
  int block;
  int place;  // of the first, in the block
  std::string_view outcomes;
};

std::vector<Portion> Divide(const std::vector<NewOutcomes>& checks) {
  std::vector<Portion> portions;
  for (const NewOutcomes& c : checks) {
    const int end = c.first + static_cast<int>(c.outcomes.size());
    for (int at = c.first; at < end;) {
      const int block = at / domain::kBlockRows;
      const int until = std::min(end, (block + 1) * domain::kBlockRows);
      portions.push_back({&c, block, at % domain::kBlockRows,
                          c.outcomes.substr(static_cast<std::size_t>(at - c.first),
                                            static_cast<std::size_t>(until - at))});
      at = until;
    }
  }
  return portions;
}

// Whether nothing of what was known of its block stays.
bool IsWhole(const Portion& portion) {
  return portion.place == 0 &&
         (portion.of->all_rows || portion.outcomes.size() == domain::kBlockRows) &&
         std::all_of(portion.outcomes.begin(), portion.outcomes.end(),
                     [](char c) { return domain::IsCompleted(static_cast<domain::Outcome>(c)); });
}

bool IsEmpty(const Portion& portion) {
  return portion.outcomes.find_first_not_of(static_cast<char>(domain::kNoOutcome)) ==
         std::string_view::npos;
}

bool WriteWhole(Transaction& tx, const std::vector<Portion>& portions) {
  Rows<Column<"monitor_id", base::Uuid>, Column<"block", int>, Column<"tick_id", std::int64_t>,
       Column<"outcomes", std::string>, Column<"looked_until", std::int64_t>>
      blocks;
  for (const Portion& p : portions) {
    blocks.Add(p.of->monitor_id, p.block, p.of->tick_id, Bytea(p.outcomes),
               Micros(p.of->looked_until));
  }
  return static_cast<std::size_t>(tx.Exec<"record_row_states">(blocks).affected_rows()) ==
         portions.size();
}

using Blocks = std::map<BlockKey, std::vector<RowState>>;

Blocks LockBlocks(Transaction& tx, const BlockRows& keys) {
  Blocks blocks;
  for (const auto& row : tx.Exec<"states_lock">(keys)) {
    Columns in(row);
    BlockKey key;
    in.Into("monitor_id"_a = &key.first, "block"_a = &key.second);
    blocks.emplace(key, ReadStates(in));
  }
  return blocks;
}

void WriteBlocks(Transaction& tx, const Blocks& blocks) {
  Rows<Column<"monitor_id", base::Uuid>, Column<"block", int>, Column<"tick_id", std::int64_t>,
       Column<"last_run_us", std::optional<std::int64_t>>, Column<"outcomes", std::string>,
       Column<"groups", std::optional<std::string>>, Column<"group_from", int>,
       Column<"group_until", int>>
      rows;
  Rows<Column<"group_ticks", std::int64_t>, Column<"group_runs", std::int64_t>> groups;
  for (const auto& [key, states] : blocks) {
    const StateBlock block = PackStates(states);
    const int from = static_cast<int>(groups.size()) + 1;  // arrays of SQL count from 1
    for (std::size_t i = 0; i < block.group_ticks.size(); ++i) {
      groups.Add(block.group_ticks[i], block.group_runs[i]);
    }
    rows.Add(key.first, key.second, block.tick_id,
             block.last_run_at ? std::optional(Micros(*block.last_run_at)) : std::nullopt,
             Bytea(block.outcomes),
             block.groups ? std::optional(Bytea(*block.groups)) : std::nullopt, from,
             static_cast<int>(groups.size()));
  }
  tx.Exec<"states_write">(rows, groups);
}

void Merge(const Portion& portion, std::vector<RowState>* states) {
  for (std::size_t i = 0; i < portion.outcomes.size(); ++i) {
    const auto outcome = static_cast<std::uint8_t>(portion.outcomes[i]);
    if (outcome == domain::kNoOutcome) continue;
    RowState& state = states->at(static_cast<std::size_t>(portion.place) + i);
    if (state.last_tick_id >= portion.of->tick_id) {
      throw std::logic_error("some rows of a leased chunk are recorded already");
    }
    state.outcome = outcome;
    state.last_tick_id = portion.of->tick_id;
    if (domain::IsCompleted(domain::Outcome{outcome})) {
      state.last_run_at = portion.of->looked_until;
    }
  }
}

void WriteMerged(Transaction& tx, const std::vector<Portion>& portions) {
  std::set<BlockKey> asked;
  for (const Portion& p : portions) asked.emplace(p.of->monitor_id, p.block);
  BlockRows keys;
  for (const auto& [monitor_id, block] : asked) keys.Add(monitor_id, block);
  Blocks blocks = LockBlocks(tx, keys);
  for (const Portion& p : portions) Merge(p, &blocks.at({p.of->monitor_id, p.block}));
  WriteBlocks(tx, blocks);
}

}  // namespace

StateBlock PackStates(const std::vector<RowState>& states) {
  StateBlock block;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint8_t> numbers;
  std::string groups;
  for (const RowState& state : states) {
    const std::pair key(state.last_tick_id, MicrosOf(state.last_run_at));
    const auto [group, is_new] =
        numbers.try_emplace(key, static_cast<std::uint8_t>(numbers.size()));
    if (is_new) {
      block.group_ticks.push_back(key.first);
      block.group_runs.push_back(key.second);
    }
    groups.push_back(static_cast<char>(group->second));
    block.outcomes.push_back(static_cast<char>(state.outcome));
    block.tick_id = std::max(block.tick_id, state.last_tick_id);
  }
  if (numbers.size() > 1) {
    block.groups = std::move(groups);
  } else {
    block.last_run_at = TimeOf(block.group_runs.at(0));
    block.group_ticks.clear();
    block.group_runs.clear();
  }
  return block;
}

std::vector<RowState> UnpackStates(const StateBlock& block) {
  std::vector<RowState> states;
  states.reserve(block.outcomes.size());
  for (std::size_t i = 0; i < block.outcomes.size(); ++i) {
    RowState& state = states.emplace_back();
    state.outcome = static_cast<std::uint8_t>(block.outcomes[i]);
    if (block.groups) {
      const auto group = static_cast<std::uint8_t>(block.groups->at(i));
      state.last_tick_id = block.group_ticks.at(group);
      state.last_run_at = TimeOf(block.group_runs.at(group));
    } else {
      state.last_tick_id = block.tick_id;
      state.last_run_at = block.last_run_at;
    }
  }
  return states;
}

std::vector<RowState> ReadStates(Columns& in) {
  StateBlock block;
  std::optional<std::vector<std::int64_t>> ticks;
  std::optional<std::vector<std::int64_t>> runs;
  in.Into("tick_id"_a = &block.tick_id, "last_run_at"_a = &block.last_run_at,
          "outcomes"_a = BytesInto{&block.outcomes}, "groups"_a = OptionalBytesInto{&block.groups},
          "group_ticks"_a = &ticks, "group_runs"_a = &runs);
  if (ticks) block.group_ticks = std::move(*ticks);
  if (runs) block.group_runs = std::move(*runs);
  return UnpackStates(block);
}

void AddStates(Transaction& tx, const base::Uuid& monitor_id, int first, int end) {
  const int begun = first % domain::kBlockRows;
  if (begun > 0) {
    BlockRows keys;
    keys.Add(monitor_id, first / domain::kBlockRows);
    Blocks blocks = LockBlocks(tx, keys);
    std::vector<RowState>& states = blocks.at({monitor_id, first / domain::kBlockRows});
    const int joining = std::min(end - first, domain::kBlockRows - begun);
    states.resize(states.size() + static_cast<std::size_t>(joining));
    WriteBlocks(tx, blocks);
    first += joining;
  }
  if (first < end)
    tx.Exec<"states_insert">("monitor_id"_a = monitor_id, "first"_a = first, "end"_a = end);
}

bool WriteStates(Transaction& tx, const std::vector<NewOutcomes>& checks, StateWriting writing) {
  std::vector<Portion> whole;
  std::vector<Portion> merged;
  for (const Portion& portion : Divide(checks)) {
    if (IsEmpty(portion)) continue;
    const bool in_place = writing == StateWriting::kInPlace && IsWhole(portion);
    (in_place ? whole : merged).push_back(portion);
  }
  if (!whole.empty() && !WriteWhole(tx, whole)) return false;
  if (!merged.empty()) WriteMerged(tx, merged);
  return true;
}

}  // namespace vedette::store
