#include "worker/jobs/held_watch.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vedette::worker {

HeldWatch::HeldWatch(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                     base::Logger log, const JobHoldings& holdings, Hooks hooks)
    : holdings_(holdings),
      hooks_(std::move(hooks)),
      watch_(loop, pool, clock, log,
             {.failed = "looking which job chunks are held failed", .poll = kHeldReadEvery},
             {.read = [this] { return Ask(); },
              .seen = [this](const Look& look,
                             std::chrono::nanoseconds began) { OnLooked(look, began); }}) {}

HeldWatch::Looks::Job HeldWatch::Ask() const {
  if (holdings_.empty()) return nullptr;
  std::vector<store::Lease> asked;
  asked.reserve(holdings_.chunks().size());
  for (const auto& [id, chunk] : holdings_.chunks()) asked.push_back(chunk->lease);
  return [asked = std::move(asked)](store::Session& session) {
    return Look{asked, store::ReadHeldJobChunks(session, asked)};
  };
}

void HeldWatch::OnLooked(const Look& look, std::chrono::nanoseconds began) {
  std::map<base::Uuid, bool> may_run;
  for (const store::JobLeaseState& held : look.held) may_run.emplace(held.id, held.may_run);
  for (const store::Lease& lease : look.asked) {
    const JobChunkPtr chunk = holdings_.Find(lease.id);
    // Recorded, given back or claimed again meanwhile: the answer is about another lease.
    if (!chunk || chunk->lease.token != lease.token) continue;
    const auto held = may_run.find(lease.id);
    if (held == may_run.end()) {
      hooks_.lost(chunk);
    } else if (!held->second) {
      hooks_.locked(chunk);
    } else {
      chunk->known_since = std::max(chunk->known_since, began);
    }
  }
  hooks_.looked();
}

}  // namespace vedette::worker
