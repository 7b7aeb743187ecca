#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lease/suspect_slot.h"
#include "tests/store/support/tenant_jobs.h"
#include "worker/blocks/enrich_block.h"
#include "worker/jobs/job_pipeline.h"
#include "worker/probes/probe.h"

namespace vedette::test {

// Answers a research at once, by a script. Its lock makes it safe to look at from the test's
// thread.
class RunProbe final : public worker::Probe {
 public:
  using Script = std::function<worker::ProbeResult(const worker::ProbeRequest&)>;

  void Start(worker::ProbeRequest request, std::function<void(worker::ProbeResult)> done) override;
  void SetScript(Script script);
  int asked() const;

 private:
  mutable std::mutex mutex_;
  Script script_;
  int asked_ = 0;
};

// The routes of workflows, with workers of the test's process.
class ApiRuns : public ApiJobs {
 public:
  explicit ApiRuns(config::Environment environment = {});
  ~ApiRuns() override;

  // A pipeline with a loop and connections of its own, as in a process.
  class Worker {
   public:
    explicit Worker(ApiRuns& test);
    ~Worker();
    // The end without a word: nothing is given back.
    void Kill();

   private:
    base::EventLoop loop_;
    store::Pool pool_;
    std::unique_ptr<worker::EnrichBlock> lead_, company_;
    lease::SuspectSlot slot_;
    std::unique_ptr<worker::JobPipeline> pipeline_;
    std::thread thread_;
  };

  // A block, and a definition of a chain of blocks: each works on the one before it. Ids are the
  // places in the chain, from "1" on.
  static base::Json Block(const std::string& name, base::Json specs = base::Json::object());
  static base::Json Chain(base::Json blocks);
  static base::Json WebhookSource(const std::string& frame = "LEAD");

  // Creates it; the workflow's id.
  std::string NewWorkflow(const base::Json& definition, const std::string& name = "flow");
  // Starts a run of these records, or of what `body` says; the run's id.
  std::string Run(const std::string& workflow, const base::Json& body = base::Json::object());
  std::string RunRows(const std::string& workflow, const base::Json& records);
  // Its handle.
  std::string Upload(const std::string& csv);

  // Waits until the run has ended, and gives its live status.
  base::Json Ended(const std::string& run);
  base::Json Live(const std::string& run);
  // The text of the run's only file, or of the file of that block name.
  std::string File(const std::string& run, const std::string& query = "",
                   const std::string& block_name = "");

  RunProbe probe;
};

}  // namespace vedette::test
