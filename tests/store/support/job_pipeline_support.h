#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/event_loop.h"
#include "config/parts.h"
#include "lease/suspect_slot.h"
#include "store/signals.h"
#include "tests/store/support/jobs_support.h"
#include "worker/blocks/row_runner.h"
#include "worker/jobs/job_pipeline.h"

namespace vedette::test {

// A block of type "scripted" whose rows end by a script. Its lock makes it safe to look at from the
// test's thread.
class ScriptedBlock final : public worker::RowBlock {
 public:
  // `request` is the attempt's, which counts from 1; nothing: the row is held until released.
  using Script = std::function<std::optional<worker::RowResult>(const worker::RowRequest& request,
                                                                int attempt)>;

  std::string_view type() const override { return "scripted"; }
  std::variant<std::shared_ptr<worker::RowRunner>, std::string> Bind(
      const std::string& specs_json, std::int64_t price_mc) override;

  void SetScript(Script script);
  // Ends what is held with its own cells, on the loop; returns when that has happened.
  void Release(base::EventLoop& loop);
  // Forgets what is held, as the end of a process does.
  void Forget();

  std::size_t held() const;
  std::size_t starts() const;  // attempts begun
  // First cells of the attempts, in the order in which they began.
  std::vector<std::string> started() const;

 private:
  class Runner;
  struct Held {
    worker::Cells cells;
    std::function<void(worker::RowResult)> done;
  };

  mutable std::mutex mutex_;
  Script script_;  // empty: a row ends with its own cells
  std::vector<Held> held_;
  std::map<base::Uuid, int> attempts_;
  std::vector<std::string> started_;
};

// A row that has ended with these cells.
worker::RowResult Ended(worker::Cells cells);

class JobPipelineTest : public JobsTest {
 public:
  JobPipelineTest();

  // A pipeline with a loop, blocks and connections of its own, as in a process.
  class Process {
   public:
    explicit Process(JobPipelineTest& test);
    // Drains, unless it was drained or killed.
    ~Process();
    // A future that is ready when the drain is done.
    std::future<void> Drain();
    // The end without a word: nothing is given back.
    void Kill();
    base::EventLoop loop;

   private:
    JobPipelineTest& test_;
    store::Pool pool_;
    worker::NullBlock null_;
    lease::SuspectSlot slot_;
    std::unique_ptr<worker::JobPipeline> pipeline_;
    std::thread thread_;
    bool drained_ = false;
  };

  // A job of one block of the type "scripted" whose rows are the numbers from 0 on; `part_rows` of
  // them in a part.
  store::NewJob Numbers(int rows, int part_rows, std::int64_t price_mc = 0) const;
  store::NewJob Numbers(int rows) const { return Numbers(rows, rows); }

  // Waits until the job has this status.
  void UntilJobIs(const base::Uuid& job, domain::JobStatus status);
  // Until a look at what is held, begun after this call, has taken effect. Something must be held.
  void UntilHeldIsRead();
  // The rows of a part of the job's block 0.
  std::string PartRows(const base::Uuid& job, int part = 0);
  // The leases of dead processes end.
  void EndLeases();

  config::Config settings;
  store::Signals signals;
  ScriptedBlock block;
};

}  // namespace vedette::test
