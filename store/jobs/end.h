#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "store/audit.h"
#include "store/scope.h"
#include "store/session.h"
#include "store/signals.h"

// The end of a job, whatever leads to it.
namespace vedette::store {

struct JobEnding {
  domain::JobStatus status = domain::JobStatus::kCancelled;  // an end
  std::optional<std::string> reason;                         // a code: domain::kReason..
  std::optional<std::string> error;                          // a sentence
};

// How a job ends whose deadline has come.
JobEnding OverdueEnding();

// A job that has ended just now.
struct JobEnded {
  domain::JobKind kind = domain::JobKind::kFindEmail;
  domain::JobStatus status = domain::JobStatus::kCancelled;
  std::chrono::microseconds took{};  // from its start to its end
};

struct JobEndOutcome {
  // What the job is now: the ending, or the one that it had already.
  domain::JobStatus status = domain::JobStatus::kCancelled;
  std::optional<std::string> status_reason;
  std::optional<JobEnded> ended;  // for the caller's metrics; empty where it had ended already
  std::vector<Signal> raise;      // the caller raises them; empty where it had ended already
};

// Ends the job, once: takes its chunks, whose recorded rows become parts; returns what is still
// reserved; inserts the callback. What was in flight is dropped by its lease. A job that has ended
// is returned unchanged. Empty: there is no such job in scope. One synchronous transaction; safe to
// repeat after CommitUnknown. `audit`, whose organisation is filled in, is written where this call
// ends the job. Throws as InTransaction does.
std::optional<JobEndOutcome> EndJob(Session& session, const base::Clock& clock, const Scope& scope,
                                    const base::Uuid& job_id, const JobEnding& ending,
                                    const std::optional<AuditEntry>& audit = std::nullopt);

}  // namespace vedette::store
