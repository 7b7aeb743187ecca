#pragma once

#include <memory>

#include "app/service/core.h"
#include "scheduler/importer.h"
#include "scheduler/job_keeper.h"
#include "scheduler/maintenance.h"
#include "scheduler/scheduler.h"
#include "store/session.h"

namespace vedette::app {

// The role that opens ticks, takes uploaded rows over, keeps jobs going and cleans up. Built and
// destroyed while the loop does not run; everything handed in must outlive it.
class SchedulerRole {
 public:
  SchedulerRole(const Core& core, store::Pool& pool);

  void Start();  // loop thread
  void Drain();  // blocks; not on the loop thread

 private:
  base::EventLoop& loop_;
  std::unique_ptr<scheduler::Scheduler> ticker_;
  std::unique_ptr<scheduler::Importer> importer_;
  std::unique_ptr<scheduler::Maintenance> maintenance_;
  std::unique_ptr<scheduler::JobKeeper> job_keeper_;
};

}  // namespace vedette::app
