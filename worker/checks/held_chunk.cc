#include "worker/checks/held_chunk.h"

#include <utility>

#include "base/assert.h"

namespace vedette::worker {

void HeldChunk::Enter(Phase next_phase) {
  const bool drawn = (next_phase == Phase::kGivingBack && phase == Phase::kWorking) ||
                     (next_phase == Phase::kDeaf && phase == Phase::kGivingBack) ||
                     (next_phase == Phase::kLost && phase != Phase::kLost);
  base::Assert(drawn, "A held chunk enters a phase only from the phase before it.");
  phase = next_phase;
}

void HeldChunk::Enter(Recording next_recording) {
  base::Assert(recording != next_recording, "A chunk has at most one record under way.");
  recording = next_recording;
}

namespace {

std::size_t TextBytes(const store::LoadedRow& row) {
  const auto size = [](const std::optional<std::string>& text) { return text ? text->size() : 0; };
  return row.subject.size() + size(row.context) + row.baseline.size() + size(row.known) +
         size(row.pending);
}

}  // namespace

ChunkPtr MakeHeldChunk(
    store::ClaimedChunk claimed,
    const std::unordered_map<base::Uuid, std::shared_ptr<const store::MonitorSpec>>& specs,
    const std::unordered_map<base::Uuid, std::shared_ptr<const ProbeSpec>>& probe_specs,
    base::Timestamp now, std::chrono::nanoseconds began) {
  auto chunk = std::make_shared<HeldChunk>();
  chunk->claimed = std::move(claimed);
  chunk->looked_until = now;
  chunk->loaded_began = began;
  for (const store::LoadedPart& part : chunk->claimed.parts) {
    HeldPart& held = chunk->parts.emplace_back();
    held.spec = specs.at(part.part.monitor_id);
    held.probe_spec = probe_specs.at(part.part.monitor_id);
    held.monitor_active = held.spec->monitor_active;
    held.org_runs = held.spec->org_runs;
    held.outcomes.assign(part.rows.size(), '\0');
    chunk->rows += part.rows.size();
    for (const store::LoadedRow& row : part.rows) chunk->bytes += TextBytes(row);
  }
  chunk->rows_open = chunk->rows;
  return chunk;
}

}  // namespace vedette::worker
