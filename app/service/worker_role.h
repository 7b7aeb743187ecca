#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/mail_watch.h"
#include "app/probe_set.h"
#include "app/row_block_set.h"
#include "app/service/core.h"
#include "app/service/duties.h"
#include "app/service/pools.h"
#include "lease/suspect_slot.h"
#include "store/fleet/fleet.h"
#include "worker/checks/check_pipeline.h"
#include "worker/checks/notification_sink.h"
#include "worker/jobs/job_pipeline.h"

namespace vedette::app {

// The role that makes checks and works on jobs, as far as the lanes of the process go. Built and
// destroyed while the loop does not run; everything handed in must outlive it.
class WorkerRole {
 public:
  // `sink` may be null: then notifications are left to the processes that claim them.
  WorkerRole(const Core& core, const Duties& duties, Pools& pools, ProbeSet& probes,
             worker::NotificationSink* sink);

  void Start();  // loop thread
  void Drain();  // blocks; not on the loop thread

  // What its doctor of mail found last; empty where there is none. Loop thread.
  std::optional<std::string> mail_seen() const;
  // The providers of lookups that fail here, as store::Member has them. Loop thread.
  std::optional<std::string> AilingProviders() const;

 private:
  void BuildChecks(const Core& core, store::Pool& pool, ProbeSet& probes,
                   worker::NotificationSink* sink);
  void BuildJobs(const Core& core, store::Pool& pool, ProbeSet& probes);

  base::EventLoop& loop_;
  lease::SuspectSlot suspect_slot_;  // the one of the process
  std::unique_ptr<worker::CheckPipeline> checks_;
  std::unique_ptr<RowBlockSet> row_blocks_;
  std::unique_ptr<worker::JobPipeline> jobs_;
  std::unique_ptr<MailWatch> mail_watch_;
};

}  // namespace vedette::app
