#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/principal.h"
#include "domain/job/block_progress.h"
#include "domain/job/job.h"
#include "domain/workflow/run_plan.h"
#include "store/jobs/read.h"
#include "store/session.h"

// Reading runs of workflows. They belong to the organisation, whatever the caller's team; every
// function sees only that organisation's (G8), and throws as InTransaction does.
namespace vedette::store {

struct RunView {
  base::Uuid id;
  base::Uuid org_id;
  base::Uuid workflow_id;
  std::string workflow_name;  // at the start
  domain::JobStatus status = domain::JobStatus::kQueued;
  std::optional<std::string> status_reason;  // a code
  std::optional<std::string> error;          // a sentence
  domain::Principal caller;
  std::int64_t charged_mc = 0;
  base::Timestamp created_at{};
  std::optional<base::Timestamp> started_at;
  std::optional<base::Timestamp> finished_at;
  std::optional<base::Uuid> schedule_id;         // that made it
  std::optional<base::Timestamp> scheduled_at;   // its slot; none of a run that was triggered
  std::optional<base::Timestamp> waiting_until;  // as of JobView
};

struct RunItem {
  RunView run;
  std::int64_t rows_in = 0;
  std::int64_t rows_out = 0;  // of its leaves
  std::int64_t row_errors = 0;
  int blocks = 0;
};
struct RunPlace {
  base::Timestamp created_at{};
  base::Uuid id;
};
struct RunFilter {
  base::Uuid org_id;
  std::optional<std::vector<domain::JobStatus>> statuses;  // empty: every one
  std::optional<base::Uuid> workflow_id;
  std::optional<RunPlace> after;  // older ones only
  int limit = 100;
};
// Newest first.
std::vector<RunItem> ListRuns(Session& session, const RunFilter& filter);

struct RunPageFilter {
  std::optional<base::Uuid> org_id;                        // empty: every organisation's
  std::optional<std::vector<domain::JobStatus>> statuses;  // empty: every one
  std::optional<base::Uuid> before;                        // older ones only
  int limit = 100;
};
// For the operator. Newest first.
std::vector<RunItem> ListRunsPage(Session& session, const RunPageFilter& filter);

struct RunDetail {
  RunView run;
  std::string params_json;  // {"definition": domain::DefinitionJson}
};
// Empty where there is no such run of the organisation; of any, where none is named.
std::optional<RunDetail> GetRun(Session& session, const std::optional<base::Uuid>& org_id,
                                const base::Uuid& run_id);

// The columns of a block's output; empty where they are not known.
std::optional<std::vector<std::string>> ReadRunColumns(Session& session, const base::Uuid& run_id,
                                                       int block);

// What the block was stored with; empty where it is not there.
std::optional<std::string> ReadRunBlockSpecs(Session& session, const base::Uuid& run_id, int block);

struct RunPart {
  int part = 0;
  std::string rows_json;  // array of arrays; null in place of a row that was not recorded
  int row_count = 0;
};
// The parts of a block from `from` on, in order: at most `parts_max`, and none behind the one with
// which they have `bytes_max` bytes. Parts may be missing of a run that did not complete.
std::vector<RunPart> ReadRunParts(Session& session, const base::Uuid& run_id, int block, int from,
                                  std::size_t bytes_max, int parts_max);
// Whether the rows of a block that has some are kept still: they go before their run does.
bool AreRowsKept(Session& session, const base::Uuid& run_id, int block);

// How long rows took in the organisation's last kPacedRuns runs, by the type of their block and its
// tier ("" of a block that has none).
using BlockPaces = std::map<std::pair<std::string, std::string>, domain::RowsTimed>;
BlockPaces ReadBlockPaces(Session& session, const base::Uuid& org_id);
inline constexpr int kPacedRuns = 16;

// What the callbacks of these runs, which have ended, are made of.
std::map<base::Uuid, RunDetail> ReadEndedRuns(Session& session,
                                              const std::vector<base::Uuid>& run_ids);

// How far each block of a run has come, as domain::PerMille says; one that has no rows of its own
// as far as its input. `blocks` are as many as the graph's, in the same order. Pure.
std::vector<int> RunPerMille(const domain::RunGraph& graph,
                             const std::vector<JobBlockView>& blocks);

// What blocks of a run read while they work, besides the parts of their inputs. All functions throw
// as InTransaction does.

// An uploaded file as the source of a run.
struct RunUpload {
  std::vector<std::string> columns;
  std::int64_t row_count = 0;
  int units = 0;  // pieces of it, each of which is read as one
  int parts = 0;  // of rows that they make
};
// Empty when it is unknown, unfinished, expired or another organisation's. `part_rows`: rows of a
// part, at most.
std::optional<RunUpload> FindRunUpload(Session& session, const base::Uuid& org_id,
                                       const base::Uuid& upload_id, int part_rows);

struct UploadUnit {
  std::int64_t first_line = 0;  // of the file
  std::string text;             // whole records
  int first_part = 0;           // that its rows make
};
// Empty when it is gone.
std::optional<UploadUnit> ReadUploadUnit(Session& session, const base::Uuid& upload_id, int unit,
                                         int part_rows);

// Which of these keys (16 bytes each) a block `dedupe` has seen in the parts that were recorded.
std::set<std::string> ReadSeenKeys(Session& session, const base::Uuid& job_id, int block,
                                   const std::vector<std::string>& keys);

// Which of these keys (domain::RowValues::key_hash) the monitor has that a block of a run makes.
std::set<std::string> ReadMonitorKeys(Session& session, const base::Uuid& monitor_id,
                                      const std::vector<std::string>& keys);

}  // namespace vedette::store
