#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/principal.h"
#include "domain/job/job.h"
#include "store/endpoint.h"
#include "store/idempotency.h"
#include "store/jobs/end.h"
#include "store/session.h"

// The start of a job: key, money, job, blocks and first chunks in one transaction.
namespace vedette::store {

struct NewJobBlock {
  std::string type;
  std::string specs_json = "{}";
  std::optional<int> input;  // an earlier block; empty for a source
  domain::Lane lane = domain::Lane::kLookup;
  std::int64_t price_mc = 0;  // of a row
  // What its rows cost is no part of the estimate, and is reserved as they come: the rows of an
  // investigation are not known before.
  bool after_drop = false;
  std::optional<std::vector<std::string>> columns;
  std::optional<std::int64_t> rows_total;  // of a source
  int parts_total = 1;
  int part_window = 1;  // parts of it that have a chunk at once, at most
  // A row's time, as it was guessed when the job was cut into parts; 0: it has none.
  std::chrono::microseconds pace{};
  // The receiver to which it sends the end of its run: of a block without parts.
  std::optional<Webhook> webhook{};
};

// A part of block 0 that the request gave. A job with such parts has them all: its block 0 is
// complete at the start and needs no chunk.
struct NewJobPart {
  std::string rows_json;  // array of arrays
  int row_count = 0;
};

// What a job of the kind kInvestigation is about besides.
struct NewInvestigation {
  std::string seeds_json;  // [{"type", "value"}, ..]
  int seeds = 0;
  int depth = 1;
  int findings_max = 0;
  std::optional<std::int64_t> credits_mc_max;
  std::optional<int> subjects_max;  // that credits_mc_max pays for; at least `seeds`
};

// Why a job fails as soon as it is stored: a block of it cannot be worked on.
struct NewJobFault {
  int block = 0;
  std::string error;  // a sentence
};

struct NewJob {
  // Made by the caller (base::Uuid::V7), who may repeat the call with the same one.
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;  // the caller's, who pays; it exists
  domain::JobKind kind = domain::JobKind::kFindEmail;
  std::optional<std::string> name;
  std::optional<base::Uuid> workflow_id;
  std::optional<base::Uuid> upload_id;  // a file that it reads; kept until the job has ended
  int part_rows = 1;                    // rows of a part, at most kPartRowsMax
  std::string params_json = "{}";       // a lookup: its request, rows included
  bool waited = false;                  // a client waits for it
  domain::Principal caller;
  std::string remote_address;
  std::int64_t estimate_mc = 0;          // reserved whole, or nothing starts
  std::chrono::milliseconds deadline{};  // from now; the job is ended then
  std::optional<Webhook> webhook;        // its callback
  std::vector<NewJobBlock> blocks;       // 1..kBlocksMax, in topological order
  std::vector<NewJobPart> parts;
  std::optional<NewJobFault> fault{};  // nothing of it is begun then
  std::optional<Idempotency> idempotency;
  std::optional<NewInvestigation> investigation;
};

// The limits of an organisation at the start.
struct StartLimits {
  int open_per_org_max;                                    // [jobs]
  int runs_per_org_max = std::numeric_limits<int>::max();  // [workflows] runs_active_per_org_max
  // [workflows] run_data_bytes_per_org_max
  std::int64_t run_data_max = std::numeric_limits<std::int64_t>::max();
};

// How many jobs of an organisation were open before a start, and how long the statement took that
// counted them.
struct CountedJobs {
  int open = 0;
  std::chrono::nanoseconds took{};
};

// What the rows of an organisation's runs take, of those that go on as of those that have ended.
struct RunDataUse {
  std::int64_t bytes = 0;
  std::int64_t bytes_max = 0;
};
// A start tells of it from this share of the limit on.
inline constexpr double kRunDataWarnShare = 0.8;

struct JobStarted {
  base::Uuid job_id;
  std::int64_t estimate_mc = 0;
  bool already_started = false;  // by an earlier request with this idempotency key
  // It had nothing to do, or a fault: it has ended with its start.
  std::optional<JobEnded> ended{};
  std::vector<Signal> raise{};  // the caller raises them
  // With this run, where that is kRunDataWarnShare of the limit or more.
  std::optional<RunDataUse> run_data{};
};
// Another request with this idempotency key has not finished.
struct JobKeyInUse {};
// The idempotency key stands for another request.
struct JobKeyReused {};
// The estimate cannot be reserved. The balance is asked before the spend limit.
struct JobNotPayable {
  enum class Why { kInsufficientCredits, kSpendLimitReached };
  Why why = Why::kInsufficientCredits;
  domain::JobKind kind{};
  std::int64_t estimate_mc = 0;
  std::int64_t balance_mc = 0;
  std::optional<std::int64_t> spend_left_mc;   // of the team; empty = no limit
  std::optional<std::int64_t> spend_limit_mc;  // likewise
  std::optional<base::Uuid> team_id;           // who would have paid
};
struct JobUploadNotFound {};      // or unfinished, expired, another organisation's
struct TooManyInvestigations {};  // kOpenInvestigationsMax are open; the count is exact
struct TooManyJobs {};            // about open_per_org_max are open
struct TooManyRuns {};            // about runs_per_org_max runs are open
struct TooMuchRunData {           // with what the run's request brings
  RunDataUse use;
};
using StartOutcome =
    std::variant<JobStarted, JobKeyInUse, JobKeyReused, JobNotPayable, JobUploadNotFound,
                 TooManyInvestigations, TooManyJobs, TooManyRuns, TooMuchRunData>;

// What this idempotency key stands for already, as StartJob would say (JobStarted, JobKeyInUse or
// JobKeyReused); empty where it is free. For those who validate more before they start. Throws as
// InTransaction does.
std::optional<StartOutcome> FindJobStart(Session& session, const base::Uuid& org_id,
                                         const Idempotency& idempotency);

// All or nothing: for every outcome but JobStarted nothing is stored, and the same key may be used
// again. The caller raises Signal::kJobChunk after a JobStarted that has not ended. After
// CommitUnknown the call is safe to repeat where it has an idempotency key. Throws as InTransaction
// does.
StartOutcome StartJob(Session& session, const base::Clock& clock, const NewJob& job,
                      const StartLimits& limits);

// Whether nothing but its organisation's balance and limits is asked at the job's start: no team's
// limit, receiver, file, idempotency key or investigation; and one statement takes its parts.
bool MayStartTogether(const NewJob& job);

// Starts such jobs of one organisation in one transaction. False where not all of them can be paid
// for, or have room: then nothing is stored, and each is to be started by itself, which finds out
// which may. Throws as InTransaction does. Without `counted` nobody asks how many jobs are open,
// which must then be known to be few, and none of `jobs` is a run.
bool StartJobsTogether(Session& session, const std::vector<const NewJob*>& jobs,
                       const StartLimits& limits, CountedJobs* counted);

}  // namespace vedette::store
