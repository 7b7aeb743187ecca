#include "scheduler/importer.h"

#include <utility>

#include "config/config.h"

namespace vedette::scheduler {

Importer::Importer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                   const base::Clock& clock, const config::Config& config, base::Logger log)
    : signals_(signals),
      step_(loop, pool, log,
            {.failed = "adding rows of a file failed", .poll = config.scheduler.poll_ms},
            {.begin =
                 [&clock] {
                   return [&clock](store::Session& session) {
                     return store::ImportBatch(session, clock);
                   };
                 },
             .finish = [this](store::ImportStep batch) { return OnBatch(batch); }}) {}

void Importer::Start() {
  step_.Start();
}

void Importer::Wake() {
  step_.Wake();
}

lease::NextRun Importer::OnBatch(store::ImportStep batch) {
  if (batch == store::ImportStep::kActivated) signals_.Raise(store::Signal::kDue);
  return batch == store::ImportStep::kNothing ? lease::kAtPoll : lease::kAtOnce;
}

void Importer::Drain(std::function<void()> done) {
  step_.Drain(std::move(done));
}

}  // namespace vedette::scheduler
