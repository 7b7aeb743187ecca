#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/people/erasure.h"
#include "store/session.h"

// Takes a person out of what is stored of lookups and investigations: email_fact with email_owner,
// job, job_block, job_part, job_chunk, investigation, finding, recipient; what receivers answered
// where that names the person; and of pages that monitors keep, the snapshots whose text does, with
// their pictures, and the picture of such a row's last failure. The monitors, and rows of monitors,
// that hold the person are listed, and left to their owner; so are workflows and their schedules,
// by what they give their runs. It is the one writer of a part that is written, under the job's
// lock.
//
// The rows of email_fact that go are those of the address itself and, where a lookup is erased
// from, what its organisation knows of that person by name: other addresses, and guesses that were
// refused.
namespace vedette::store {

struct Erasure {
  domain::ErasureTarget target;
  std::optional<base::Uuid> org_id;                        // empty: of every organisation
  enum class Mode { kErase, kCount } mode = Mode::kErase;  // kCount changes nothing
};

// How far an erasure has come. Facts, recipients and entries of the audit come first, with the
// first call.
//
//   kStart --> kJobs --> kAnswers --> kSnapshots --> kMonitorRows --> kMonitors
//     --> kWorkflows --> kSchedules --> kDone
struct ErasurePlace {
  enum class Phase {
    kStart,
    kJobs,
    kAnswers,
    kSnapshots,
    kMonitorRows,
    kMonitors,
    kWorkflows,
    kSchedules,
    kDone
  } phase = Phase::kStart;
  base::Uuid after{};  // the last id that was looked at
};

struct ErasedRow {
  base::Uuid monitor_id;
  base::Uuid row_id;
};

// What one call has done, or would do.
struct ErasureStep {
  std::int64_t facts = 0;
  std::int64_t recipients = 0;  // of channels' e-mail
  std::int64_t audit_entries = 0;
  std::int64_t jobs = 0;
  std::int64_t rows = 0;      // of these jobs, findings included
  std::int64_t findings = 0;  // of these jobs
  std::int64_t answers = 0;   // of receivers
  std::int64_t snapshots = 0;
  std::vector<ErasedRow> monitor_rows;
  std::vector<base::Uuid> monitors;
  std::vector<base::Uuid> workflows;
  std::vector<base::Uuid> schedules;  // of workflows
  ErasurePlace next;
};

// Goes on from `place` for about `time`, page by page, each job in a transaction of its own; to
// repeat any of it is safe. Throws as InTransaction does.
ErasureStep EraseSome(Session& session, const base::Clock& clock, const Erasure& erasure,
                      ErasurePlace place, std::chrono::milliseconds time);

}  // namespace vedette::store
