#include "worker/jobs/part_pump.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"
#include "config/jobs_config.h"
#include "config/parts.h"
#include "domain/workflow/block_type.h"
#include "tests/unit/worker/jobs/held_job_chunks.h"

namespace vedette::worker {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

// Makes a part as the test says.
class ScriptedWork final : public PartWork {
 public:
  using Script = std::function<PartStep(const PartRequest&, PartTurn&)>;
  explicit ScriptedWork(Script script) : script_(std::move(script)) {}
  PartStep Make(const PartRequest& request, PartTurn& turn) const override {
    return script_(request, turn);
  }

 private:
  const Script script_;
};

config::Config Settings() {
  config::Config settings =
      config::LoadConfig(std::nullopt, {{"VEDETTE_DATABASE_URL", "postgresql://nowhere/none"}});
  settings.jobs.slots_transform = 2;
  return settings;
}

// A pump on a loop of its own, beside a pool that has no session: what waits for one waits for
// ever.
class PartPumpTest : public testing::Test {
 public:
  PartPumpTest() : thread_([this] { loop_.Run(); }) {
    OnLoop([this] {
      pump_ = std::make_unique<PartPump>(
          loop_, pool_, clock_, metrics_, settings_, log_, holdings_,
          PartPump::Hooks{
              .made = [this](const JobChunkPtr& chunk, PartOutput) { Came("made", chunk); },
              .fault = [this](const JobChunkPtr& chunk, store::JobFault) { Came("fault", chunk); },
              .failed = [this](const JobChunkPtr& chunk) { Came("failed", chunk); },
              .dropped = [this](const JobChunkPtr& chunk) { Came("dropped", chunk); }});
    });
  }
  ~PartPumpTest() override {
    OnLoop([this] { pump_.reset(); });
    loop_.Stop();
    thread_.join();
  }

  // Runs it on the loop, and returns when it has run.
  void OnLoop(const std::function<void()>& f) {
    std::promise<void> done;
    loop_.Post([&] {
      f();
      done.set_value();
    });
    done.get_future().wait();
  }

  // Holds a part of an organisation and has it made so.
  JobChunkPtr Start(int id, int org, ScriptedWork::Script script) {
    JobChunkPtr chunk;
    OnLoop([&] {
      chunk = NewWholeChunk({.id = id, .org = org, .job = id},
                            std::make_shared<ScriptedWork>(std::move(script)));
      chunk->deadline += clock_.SinceBoot();
      holdings_.Add(chunk);
      pump_->Start(chunk);
    });
    return chunk;
  }

  // What became of the chunk, once that is known.
  std::string Outcome(const JobChunkPtr& chunk) {
    std::future<std::string> came;
    OnLoop([&] { came = outcomes_[chunk->id()].get_future(); });
    return came.get();
  }

 protected:
  void Came(const char* what, const JobChunkPtr& chunk) { outcomes_[chunk->id()].set_value(what); }

  const base::SystemClock clock_;
  metrics::Metrics metrics_{"test"};
  const config::Config settings_ = Settings();
  const base::Logger log_{base::LogLevel::kOff, base::LogFormat::kText};
  store::Pool pool_{settings_.database, {.name = "jobs"}, 0, clock_, metrics_, log_};
  JobHoldings holdings_;
  std::map<base::Uuid, std::promise<std::string>> outcomes_;
  base::EventLoop loop_;
  std::unique_ptr<PartPump> pump_;
  std::thread thread_;
};

// Goes on as long as anybody waits for it, as a part of endless rows does.
PartStep Endless(PartTurn& turn, std::promise<void>* began) {
  turn.Ask();
  began->set_value();
  for (;;) turn.Ask();
}

TEST_F(PartPumpTest, G10_ANeighboursPartIsMadeWhileAllOfAnotherOrganisationsAreBlocked) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::promise<void> began;
  std::vector<JobChunkPtr> blocked;
  blocked.push_back(Start(1, 1, [&](const PartRequest&, PartTurn&) -> PartStep {
    began.set_value();
    released.wait();
    return PartOutput{};
  }));
  for (int id = 2; id <= 8; ++id) {
    blocked.push_back(Start(id, 1, [released](const PartRequest&, PartTurn&) -> PartStep {
      released.wait();
      return PartOutput{};
    }));
  }
  began.get_future().wait();
  for (int id = 11; id <= 13; ++id) {
    const auto neighbours =
        Start(id, 2, [](const PartRequest&, PartTurn&) -> PartStep { return PartOutput{}; });
    EXPECT_EQ(Outcome(neighbours), "made") << "without a session, and before the others end";
  }
  release.set_value();
  for (const JobChunkPtr& chunk : blocked) EXPECT_EQ(Outcome(chunk), "made");
}

TEST_F(PartPumpTest, G5_APartStopsAtItsNextRowOnceItsChunkIsNotHeldAnyMore) {
  std::promise<void> began;
  const auto chunk =
      Start(1, 1, [&](const PartRequest&, PartTurn& turn) { return Endless(turn, &began); });
  began.get_future().wait();
  OnLoop([&] { holdings_.Remove(chunk); });  // its job was cancelled, or its lease was lost
  EXPECT_EQ(Outcome(chunk), "dropped");
}

TEST_F(PartPumpTest, ADrainStopsPartsThatAreUnderWayAndBeginsNone) {
  std::promise<void> began;
  const auto under_way =
      Start(1, 1, [&](const PartRequest&, PartTurn& turn) { return Endless(turn, &began); });
  began.get_future().wait();
  std::atomic<bool> begun = false;
  const auto waiting = Start(2, 1, [&](const PartRequest&, PartTurn&) -> PartStep {
    begun = true;
    return PartOutput{};
  });
  OnLoop([&] {
    for (const auto& chunk : {under_way, waiting}) chunk->Enter(HeldJobChunk::Phase::kGivingBack);
  });
  EXPECT_EQ(Outcome(under_way), "dropped");
  EXPECT_EQ(Outcome(waiting), "dropped");
  EXPECT_FALSE(begun);
}

TEST_F(PartPumpTest, AnEndWithoutADrainWaitsForNoPart) {
  std::promise<void> began;
  Start(1, 1, [&](const PartRequest&, PartTurn& turn) { return Endless(turn, &began); });
  began.get_future().wait();
  OnLoop([&] { pump_.reset(); });  // would not return
}

TEST_F(PartPumpTest, WhatIsThrownFailsItsPartAlone) {
  const auto bad = Start(1, 1, [](const PartRequest&, PartTurn&) -> PartStep {
    throw std::runtime_error("out of luck");
  });
  EXPECT_EQ(Outcome(bad), "failed");
  const auto good =
      Start(2, 1, [](const PartRequest&, PartTurn&) -> PartStep { return PartOutput{}; });
  EXPECT_EQ(Outcome(good), "made");
}

// A clock that counts how often it is asked, and stops a turn at the third time.
class StoppingClock final : public base::Clock {
 public:
  base::Timestamp Now() const override { return {}; }
  nanoseconds SinceBoot() const override {
    if (++asked == 3 && turn != nullptr) turn->Stop();
    return seconds(1000);
  }
  PartTurn* turn = nullptr;
  mutable int asked = 0;
};

class PartTurnTest : public testing::Test {
 public:
  PartTurnTest() {
    request.rows_json = "[";
    for (int i = 0; i < kRows; ++i) request.rows_json += (i > 0 ? ",[1]" : "[1]");
    request.rows_json += "]";
    request.bytes_max = 100'000;
  }

  // The work of a block with the id "keep" over the column "n".
  static std::shared_ptr<const PartWork> Work(const std::string& type) {
    domain::BoundSpecs bound;
    bound.block_id = "keep";
    bound.input = {"n"};
    bound.specs = base::Json::parse(R"({"columns": [], "match": "all", "case_sensitive": true,
        "conditions": [{"column": "n", "op": "is_not_empty"}]})");
    const auto work = BindPartWork(type, domain::BoundSpecsJson(bound));
    return std::get<std::shared_ptr<const PartWork>>(work.value());
  }

  static constexpr int kRows = 100;
  PartRequest request;
  StoppingClock clock;
};

TEST_F(PartTurnTest, G5_APartThatNobodyWaitsForStopsBeforeItHasLookedAtAllRows) {
  for (const char* type : {"filter", "dedupe"}) {
    PartTurn turn(clock, kPartTimeMax, seconds(2000));
    clock.turn = &turn;
    clock.asked = 0;
    turn.Begin();
    EXPECT_THROW(Work(type)->Make(request, turn), PartStopped) << type;
    EXPECT_EQ(clock.asked, 3) << type << ": one look a row, and none after it was stopped";
  }
}

TEST_F(PartTurnTest, APartWhoseTimeIsUpFailsItsJobAndNamesItsBlockAndTheRule) {
  PartTurn turn(clock, nanoseconds(1), seconds(2000));
  turn.Begin();
  const auto made = Work("filter")->Make(request, turn);
  const auto* fault = std::get_if<store::JobFault>(&made);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->reason, domain::kReasonBlockFailed);
  EXPECT_EQ(fault->error,
            "block keep (filter) takes too long: a part of its rows took more than 10 s of "
            "computing, which is what one may take");
}

TEST_F(PartTurnTest, APartIsOfNoUseAfterItsJobsDeadline) {
  PartTurn turn(clock, kPartTimeMax, seconds(1000));
  turn.Begin();
  EXPECT_THROW(Work("filter")->Make(request, turn), PartStopped);
}

}  // namespace
}  // namespace vedette::worker
