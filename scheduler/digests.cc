#include "scheduler/digests.h"

#include <utility>

#include "store/channels/digests.h"

namespace vedette::scheduler {
namespace {

// A digest may come so much later than it says.
constexpr std::chrono::seconds kLookEvery{5};

}  // namespace

Digests::Digests(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                 const base::Clock& clock, base::Logger log)
    : step_(loop, pool, log, {.failed = "cutting digests failed", .poll = kLookEvery},
            {.begin =
                 [&clock] {
                   return [&clock](store::Session& session) {
                     return store::CutDigests(session, clock);
                   };
                 },
             .finish = [&signals](int channels) -> lease::NextRun {
               if (channels > 0) signals.Raise(store::Signal::kDelivery);
               return channels == store::kDigestsPerCut ? lease::kAtOnce : lease::kAtPoll;
             }}) {}

void Digests::Start() {
  step_.Start();
}

void Digests::Drain(std::function<void()> done) {
  step_.Drain(std::move(done));
}

}  // namespace vedette::scheduler
