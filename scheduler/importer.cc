#include "scheduler/importer.h"

#include <utility>

#include "store/async.h"

namespace vedette::scheduler {

Importer::Importer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                   const base::Clock& clock, const config::Config& config, base::Logger log)
    : loop_(loop),
      pool_(pool),
      signals_(signals),
      clock_(clock),
      config_(config),
      log_(log),
      timer_(loop, [this] { Run(); }),
      alive_(std::make_shared<bool>(true)) {}

Importer::~Importer() {
  *alive_ = false;
}

void Importer::Start() {
  timer_.Start(std::chrono::milliseconds(0));
}

void Importer::Wake() {
  Run();
}

void Importer::Run() {
  if (running_ || draining_) return;
  running_ = true;
  store::RunAsync<store::ImportStep>(
      pool_, loop_,
      [&clock = clock_](store::Session& session) { return store::ImportBatch(session, clock); },
      [this, alive = alive_](std::variant<store::ImportStep, store::Failure> result) {
        if (!*alive) return;
        running_ = false;
        auto wait = config_.scheduler.poll_ms;
        if (const auto* step = std::get_if<store::ImportStep>(&result)) {
          if (*step == store::ImportStep::kActivated) signals_.Raise(store::Signal::kDue);
          if (*step != store::ImportStep::kNothing) wait = std::chrono::milliseconds(0);
        } else if (const auto& failure = std::get<store::Failure>(result);
                   failure.kind == store::Failure::Kind::kFault) {
          log_.Error("adding rows of a file failed", {{"error", failure.message}});
        }
        if (drained_) {
          loop_.Post(std::exchange(drained_, nullptr));
        } else {
          timer_.Start(wait);
        }
      });
}

void Importer::Drain(std::function<void()> done) {
  draining_ = true;
  timer_.Stop();
  if (running_) {
    drained_ = std::move(done);
  } else {
    loop_.Post(std::move(done));
  }
}

}  // namespace vedette::scheduler
