#include "worker/checks/pause_watch.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace vedette::worker {
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
