#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/principal.h"
#include "domain/investigation/finding.h"
#include "domain/job/job.h"
#include "domain/workflow/lookup_result.h"
#include "store/audit.h"
#include "store/page.h"
#include "store/scope.h"
#include "store/session.h"

// A job as it is shown.
namespace vedette::store {

// A block with its counters.
struct JobBlockView {
  int block = 0;
  std::string type;
  std::optional<int> input;
  domain::Lane lane = domain::Lane::kLookup;
  domain::BlockStatus status = domain::BlockStatus::kPending;
  std::optional<std::string> error;        // why it failed
  std::optional<std::string> last_error;   // of the last row that was recorded with an error
  std::optional<std::int64_t> rows_total;  // of a block without input
  int parts_total = 0;
  int opened = 0;
  int parts_done = 0;
  int part_window = 1;
  std::int64_t rows_done = 0;     // rows of its input that were recorded
  std::int64_t rows_out = 0;      // rows of its output
  std::int64_t row_errors = 0;    // recorded with an error
  std::int64_t rows_charged = 0;  // paid for
  std::optional<base::Timestamp> started_at;
  base::Timestamp updated_at{};
  std::optional<base::Timestamp> finished_at;
};

struct JobView {
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  domain::JobKind kind = domain::JobKind::kFindEmail;
  domain::JobStatus status = domain::JobStatus::kQueued;
  std::optional<std::string> status_reason;  // a code; of an open job why it stands still
  std::optional<std::string> error;          // a sentence
  domain::Principal caller;
  std::int64_t estimate_mc = 0;
  std::int64_t reserved_mc = 0;
  std::int64_t charged_mc = 0;
  base::Timestamp created_at{};
  std::optional<base::Timestamp> started_at;
  base::Timestamp deadline_at{};
  std::optional<base::Timestamp> finished_at;
  // The sums over all blocks: rows that were recorded, and rows there are as far as is known.
  std::int64_t rows_done = 0;
  std::int64_t rows_total = 0;
  // While it stands still since permits to ask mail servers are used up: when it goes on, as far as
  // is known. Nothing of it is worked on or due then.
  std::optional<base::Timestamp> waiting_until;
};

// Reading jobs. Every function sees only what `scope` allows (G8) and throws as InTransaction does.

// Empty when it does not exist or is out of scope.
std::optional<JobView> GetJob(Session& session, const Scope& scope, const base::Uuid& job_id);

// A lookup with its request and, once it has ended, its rows.
struct LookupView {
  JobView job;
  std::string params_json;  // its request
  // The output of its one part: array of arrays, null in place of a row that was not recorded.
  // Empty while the job is open, where no row was recorded, and after the retention of rows.
  std::optional<std::string> rows_json;
};
std::optional<LookupView> GetLookup(Session& session, const Scope& scope, const base::Uuid& job_id);
// The same of any organisation's job, for the operator, with the audit that says who has read it.
std::optional<LookupView> GetLookup(Session& session, const base::Clock& clock,
                                    const base::Uuid& job_id, const AuditEntry& audit);

// What the callbacks of these jobs are made of; a job that is open, or gone, has no entry.
std::map<base::Uuid, domain::EndedLookup> ReadEndedLookups(Session& session,
                                                           const std::vector<base::Uuid>& job_ids);

// The jobs among these that have ended or do not exist any more: what waits for them can be
// answered.
std::vector<base::Uuid> ReadEndedJobs(Session& session, const std::vector<base::Uuid>& job_ids);

std::vector<JobBlockView> ReadJobBlocks(Session& session, const base::Uuid& job_id);

// A chunk as the operator sees it.
struct JobChunkView {
  base::Uuid id;
  domain::Lane lane = domain::Lane::kLookup;
  int rank = 1;
  int block = 0;
  int part = 0;
  int claims = 0;
  int progress = 0;
  std::optional<int> suspect;
  bool leased = false;
  base::Timestamp available_at{};
  base::Timestamp due_at{};
  std::optional<std::string> last_error;  // of the last row that was recorded with an error
};
// The first `limit` by block and part.
std::vector<JobChunkView> ReadJobChunks(Session& session, const base::Uuid& job_id, int limit);

struct JobFilter {
  Scope scope;
  std::optional<domain::JobKind> kind;
  std::optional<domain::JobStatus> status;
  std::optional<base::Uuid> before;  // older ones only
  int limit = 100;
};
// Newest first.
std::vector<JobView> ListJobs(Session& session, const JobFilter& filter);

// The lanes that a live member serves: one whose heartbeat is under kLaneMemberFresh old and that
// is not draining.
std::set<domain::Lane> ReadServedLanes(Session& session);
inline constexpr std::chrono::seconds kLaneMemberFresh{30};

// Reading what investigations are about and what they have found. They are started and recorded as
// other jobs are.

struct InvestigationView {
  std::string seeds_json;
  int depth = 1;
  int findings_max = 0;
  std::optional<std::int64_t> credits_mc_max;
  std::int64_t findings = 0;
  bool budget_reached = false;
  std::int64_t subjects_examined = 0;
  std::int64_t subjects_failed = 0;  // of them: they could not be looked at, and cost nothing
  std::optional<std::string> name;
};
// Empty when it does not exist or is out of scope (G8).
std::optional<InvestigationView> GetInvestigation(Session& session, const Scope& scope,
                                                  const base::Uuid& id);

struct FindingView {
  std::int64_t seq = 0;  // 1, 2, 3, .. in the order of commits, without gaps
  base::Uuid id;
  domain::FindingKind kind{};
  std::string subject_json;
  std::string predicate;
  std::optional<std::string> object_json;
  std::optional<double> confidence;
  std::string evidence;
  std::string sources_json;
  std::string provider;
  std::vector<base::Uuid> derived_from;
  base::Timestamp created_at{};
};
// Those behind the number `after`, at most `limit`, oldest first. Nothing that is committed later
// comes before what was read.
std::vector<FindingView> ListFindings(Session& session, const base::Uuid& id, std::int64_t after,
                                      int limit);

}  // namespace vedette::store
