#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "store/lease.h"
#include "store/scan_bounds.h"
#include "store/session.h"

// Leasing job chunks and loading what they need. Leases go by the database's clock. All functions
// throw as InTransaction does.
namespace vedette::store {

// The organisation behind which a scan over those of a lane goes on (nil: from the start).
using LaneCursors = std::map<domain::Lane, base::Uuid>;

// An organisation that is not locked and has a chunk due.
struct DueJobs {
  domain::Lane lane = domain::Lane::kLookup;
  base::Uuid org_id;
  int rank = 1;  // 0: clients wait for these chunks
  int rows = 0;  // of the first due chunk, at most
};
struct JobScan {
  std::vector<DueJobs> due;  // by lane, organisation and rank
  LaneCursors next;          // of the same lanes
};

// The chunks of an organisation that are ordered by when they are available.
struct JobQueue {
  domain::Lane lane = domain::Lane::kLookup;
  base::Uuid org_id;
  int rank = 1;

  auto operator<=>(const JobQueue&) const = default;
};
using JobScanBounds = ScanBounds<JobQueue>;

// Visits at most `orgs_max` organisations of each lane in `cursors`. `bounds` say where its scans
// begin, and learn from them; null: always at the beginning.
JobScan ScanDueJobs(Session& session, const LaneCursors& cursors, int orgs_max,
                    JobScanBounds* bounds = nullptr);

// How much to take of an organisation in a lane: its first due chunks, those of rank 0 first.
struct JobShare {
  domain::Lane lane = domain::Lane::kLookup;
  base::Uuid org_id;
  int rank_max = 1;  // 0: only chunks that a client waits for
  int chunks_max = 0;
};

struct JobBlockSpec {
  int block = 0;
  std::string type;
  std::string specs_json;
  std::optional<int> input;
  domain::Lane lane = domain::Lane::kLookup;
  std::int64_t price_mc = 0;
  int parts_total = 0;
  bool after_drop = false;
  std::optional<std::vector<std::string>> columns;  // of its output, once bound
};

// What does not change while a job is open, but for the columns, which are bound once.
struct JobSpec {
  base::Uuid job_id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  domain::JobKind kind = domain::JobKind::kFindEmail;
  int part_rows = 1;
  bool waited = false;
  std::string params_json;
  std::optional<base::Uuid> upload_id;
  base::Timestamp created_at{};
  base::Timestamp deadline_at{};
  std::vector<JobBlockSpec> blocks;  // by number
};

struct ClaimedJobChunk {
  Lease lease;
  base::Uuid job_id;
  base::Uuid org_id;
  domain::Lane lane = domain::Lane::kLookup;
  int rank = 1;
  int block = 0;
  int part = 0;
  int claims = 0;    // since the last progress, this one included
  int progress = 0;  // records made of it: a record names this number
  base::Timestamp due_at{};
  // Ends of its rows that earlier holders recorded: JobPartProgress::done_json.
  std::optional<std::string> done_json;
  // The row whose last try ended with its process, or kSuspectPart: it must be failed, not run.
  std::optional<int> suspect;
  // The rows of its input part: JSON array of arrays. Empty for a block without input, whose rows
  // are in the job's params or its file.
  std::optional<std::string> rows_json;
  int row_count = 0;
};
inline constexpr int kSuspectPart = -1;

struct JobClaim {
  base::Timestamp now{};               // by the database's clock
  std::chrono::nanoseconds read_at{};  // since boot: the same time, or a little before it
  std::vector<ClaimedJobChunk> chunks;
  // The specs of the jobs of these chunks, but for those that are known.
  std::map<base::Uuid, std::shared_ptr<const JobSpec>> specs;
};

// In one transaction, committed without waiting for the disk: leases due chunks, makes their jobs
// and blocks running, loads specs and rows. It waits for no other transaction: a job that is locked
// is made running by its next claim or record. `known`, where it is given, says of a job whether
// its specs need not be loaded; it is called on this thread. `bounds` are those of the scan that
// found what is claimed.
JobClaim ClaimJobChunks(Session& session, const std::vector<JobShare>& shares,
                        const base::Uuid& token, std::chrono::milliseconds lease,
                        const std::function<bool(const base::Uuid&)>& known,
                        const JobScanBounds* bounds = nullptr);

// What a worker does to chunks that it holds, besides recording them. A renewal waits for no lock;
// each other statement locks chunks in the order of their ids. All functions throw as InTransaction
// does.

// Extends the leases; returns the chunks that are still held. The others are lost: taken over by
// another process, or gone with the end of their job. The lease of a chunk that somebody has locked
// at this moment is extended by the next renewal.
std::vector<base::Uuid> RenewJobChunks(Session& session, const std::vector<Lease>& leases,
                                       std::chrono::milliseconds lease);

// Gives chunks back. One without a delay is due at once, before what waits, and the claim is not
// counted. Another one is due after its delay, as one whose rows are all to be tried later, and
// claims count from zero.
void GiveBackJobChunks(Session& session, const std::vector<GiveBack>& chunks);

// A chunk that is still this process's.
struct JobLeaseState {
  base::Uuid id;
  bool may_run = true;  // false while its organisation is locked: it starts no row, and is kept
};
// The chunks that are still held, in the order of their ids; the lease is the switch by which a job
// is stopped (G5). A row starts only if a call that began less than kJobHeldFresh ago returned its
// chunk with may_run.
std::vector<JobLeaseState> ReadHeldJobChunks(Session& session, const std::vector<Lease>& leases);
inline constexpr std::chrono::seconds kJobHeldFresh{4};

// Commits that `row` (an index in the part, or kSuspectPart) has its last try now: a worker that
// claims the chunk with it fails it. False when the lease was lost. A record clears it.
bool MarkJobSuspect(Session& session, const Lease& lease, int row);

}  // namespace vedette::store
