#include "worker/checks/held_chunk.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace vedette::worker {
namespace {

std::size_t TextBytes(const store::LoadedRow& row) {
  const auto size = [](const std::optional<std::string>& text) { return text ? text->size() : 0; };
  return row.subject.size() + size(row.context) + row.baseline.size() + size(row.known) +
         size(row.pending);
}

}  // namespace

void CheckOrgLoad::Hold(const HeldChunk& chunk) {
  if (chunk.claimed.large) ++large_chunks[chunk.flow()];
}

void CheckOrgLoad::Drop(const HeldChunk& chunk) {
  if (!chunk.claimed.large) return;
  const auto large = large_chunks.find(chunk.flow());
  base::Assert(large != large_chunks.end(), "A held chunk of a large tick is counted.");
  if (--large->second == 0) large_chunks.erase(large);
}

bool HeldChunk::AloneOfItsFlow() const {
  if (!claimed.large) return true;
  const auto large = org->large_chunks.find(flow());
  return large == org->large_chunks.end() || large->second == 1;
}

ChunkPtr MakeHeldChunk(
    store::ClaimedChunk claimed,
    const std::unordered_map<base::Uuid, std::shared_ptr<const store::MonitorSpec>>& specs,
    const std::unordered_map<base::Uuid, std::shared_ptr<const ProbeSpec>>& probe_specs,
    base::Timestamp now, std::chrono::nanoseconds read_at) {
  auto chunk = std::make_shared<HeldChunk>();
  chunk->claimed = std::move(claimed);
  chunk->lease = {chunk->claimed.id, chunk->claimed.lease_token};
  chunk->org_id = chunk->claimed.org_id;
  chunk->known_since = read_at;
  for (const store::LoadedPart& part : chunk->claimed.parts) {
    HeldPart& held = chunk->parts.emplace_back();
    held.spec = specs.at(part.part.monitor_id);
    held.probe_spec = probe_specs.at(part.part.monitor_id);
    held.monitor_active = held.spec->monitor_active;
    held.org_runs = held.spec->org_runs;
    // It may be held ahead of its slot.
    held.looked_until = std::max(now, part.starts_at);
    held.starts_from = read_at + (held.looked_until - now);
    held.outcomes.assign(part.rows.size(), '\0');
    chunk->row_count += part.rows.size();
    for (const store::LoadedRow& row : part.rows) chunk->bytes += TextBytes(row);
  }
  chunk->rows_open = chunk->row_count;
  return chunk;
}

namespace {

using Switches = std::unordered_map<base::Uuid, bool>;

void SwitchMonitors(const Switches& monitors, const Switches& organisations,
                    const CheckHoldings& holdings) {
  for (const auto& [id, chunk] : holdings.chunks()) {
    const auto org = organisations.find(chunk->claimed.org_id);
    for (HeldPart& part : chunk->parts) {
      const auto monitor = monitors.find(part.spec->monitor_id);
      if (monitor != monitors.end()) part.monitor_active = monitor->second;
      if (org != organisations.end()) part.org_runs = org->second;
    }
  }
}

void SwitchRows(const std::vector<store::RowSwitch>& rows, const CheckHoldings& holdings) {
  std::unordered_map<base::Uuid, std::vector<const store::RowSwitch*>> by_monitor;
  for (const store::RowSwitch& row : rows) by_monitor[row.monitor_id].push_back(&row);
  for (const auto& [id, chunk] : holdings.chunks()) {
    for (store::LoadedPart& part : chunk->claimed.parts) {
      const auto switched = by_monitor.find(part.part.monitor_id);
      if (switched == by_monitor.end()) continue;
      for (const store::RowSwitch* row : switched->second) {
        if (row->position < part.part.first || row->position >= part.part.end) continue;
        const auto index = static_cast<std::size_t>(row->position - part.part.first);
        part.rows[index].is_active = row->is_active;
      }
    }
  }
}

}  // namespace

void ApplyControl(const store::ControlChanges& changes, std::chrono::nanoseconds began,
                  const CheckHoldings& holdings) {
  for (const auto& [id, chunk] : holdings.chunks()) {
    chunk->known_since = std::max(chunk->known_since, began);
  }
  if (!changes.monitors.empty() || !changes.organisations.empty()) {
    SwitchMonitors({changes.monitors.begin(), changes.monitors.end()},
                   {changes.organisations.begin(), changes.organisations.end()}, holdings);
  }
  if (!changes.rows.empty()) SwitchRows(changes.rows, holdings);
}

}  // namespace vedette::worker
