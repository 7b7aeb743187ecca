#include "scheduler/digests.h"

#include <utility>

#include "store/channels/digests.h"

namespace vedette::scheduler {
namespace {

// A digest may come so much later than it says.
constexpr std::chrono::seconds kLookEvery{5};
// So may what an organisation is told of itself.
constexpr std::chrono::seconds kNoticesEvery{10};

}  // namespace

Digests::Digests(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                 const base::Clock& clock, std::int64_t check_price_mc, const base::Logger& log)
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
             }}),
      notices_(loop, pool, log,
               {.failed = "looking for notices to tell failed", .poll = kNoticesEvery},
               {.begin =
                    [&clock, check_price_mc] {
                      return [&clock, check_price_mc](store::Session& session) {
                        return store::TellNotices(session, clock, check_price_mc);
                      };
                    },
                .finish = [&signals](int notices) -> lease::NextRun {
                  if (notices > 0) signals.Raise(store::Signal::kDelivery);
                  return lease::kAtPoll;
                }}) {}

void Digests::Start() {
  step_.Start();
  notices_.Start();
}

void Digests::Drain(std::function<void()> done) {
  step_.Drain([this, done = std::move(done)]() mutable { notices_.Drain(std::move(done)); });
}

}  // namespace vedette::scheduler
