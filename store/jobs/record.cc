#include "store/jobs/record.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/assert.h"
#include "domain/admission.h"
#include "domain/email/found.h"
#include "store/jobs/end_sql.h"
#include "store/jobs/findings_record.h"
#include "store/jobs/monitor_record.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using Records = std::vector<const JobChunkRecord*>;

bool IsPartEnd(const JobChunkRecord& record) {
  return std::holds_alternative<JobPartEnd>(record.what);
}

std::int64_t ChargeOf(const std::vector<JobChunkRecord>& records) {
  std::int64_t charge_mc = 0;
  for (const JobChunkRecord& record : records) charge_mc += record.charge_mc;
  return charge_mc;
}

// The job, while it is open.
struct OpenJob {
  LockedJob job;
  bool tops_up = false;
  bool one_block = false;
};

std::optional<OpenJob> LockOpenJob(Transaction& tx, const base::Uuid& job_id,
                                   JobRecordResult* result) {
  const auto found = tx.Exec("job_lock", job_id);
  if (found.empty()) return std::nullopt;
  OpenJob open;
  Columns in(found[0]);
  open.job = ReadLockedJob(in);
  in.Into(&open.tops_up, &open.one_block, &result->recorded_at);
  if (domain::IsEnd(open.job.status)) return std::nullopt;
  return open;
}

// The fences of lease and progress. What they let through is recorded.
Records LockChunks(Transaction& tx, const base::Uuid& job_id,
                   const std::vector<JobChunkRecord>& records, JobRecordResult* result) {
  Rows<base::Uuid, base::Uuid, int> asked;
  for (const JobChunkRecord& record : records) {
    asked.Add(record.lease.id, record.lease.token, record.progress);
  }
  Records fresh;
  for (const auto& row : tx.Exec("job_chunk_lock", job_id, asked)) {
    std::size_t n = 0;
    bool is_fresh = false;
    bool was_before = false;
    Columns(row).Into(&n, &is_fresh, &was_before);
    if (is_fresh) {
      result->chunks.at(n - 1) = JobRecorded::kRecorded;
      fresh.push_back(&records.at(n - 1));
    } else if (was_before) {
      result->chunks.at(n - 1) = JobRecorded::kBefore;
    }
  }
  return fresh;
}

// Each part that the record adds to the output of its block: its number, rows and their count.
template <typename F>
void ForEachMade(const JobChunkRecord& record, F&& f) {
  const auto* end = std::get_if<JobPartEnd>(&record.what);
  if (end == nullptr) return;
  if (!end->made) return f(record.part, end->rows_json, end->row_count);
  for (const JobMadePart& made : *end->made) f(made.part, made.rows_json, made.row_count);
}

using MadeParts = Rows<int, int, std::string, int>;

MadeParts PartsOf(const Records& records) {
  MadeParts parts;
  for (const JobChunkRecord* record : records) {
    ForEachMade(*record, [&](int part, const std::string& rows_json, int row_count) {
      parts.Add(record->block, part, rows_json, row_count);
    });
  }
  return parts;
}

void WriteKeys(Transaction& tx, const base::Uuid& job_id, const Records& records) {
  Rows<int, std::string> keys;
  for (const JobChunkRecord* record : records) {
    const auto* end = std::get_if<JobPartEnd>(&record->what);
    if (end == nullptr) continue;
    for (const std::string& key : end->keys) keys.Add(record->block, Bytea(key));
  }
  if (!keys.empty()) tx.Exec("run_key_insert", job_id, keys);
}

// What a record adds to one block.
struct BlockSum {
  std::optional<std::string> columns;
  int parts_done = 0;
  int rows_done = 0;
  int rows_out = 0;
  int row_errors = 0;
  int rows_charged = 0;
  int rows_timed = 0;
  std::int64_t rows_took_us = 0;
  std::optional<std::string> last_error;
};

// Adds to the blocks, writes the parts that were made and deletes the chunks whose parts have
// ended. Returns the blocks that their last part has completed.
std::vector<int> AddToBlocks(Transaction& tx, const base::Uuid& job_id, const Records& records) {
  std::map<int, BlockSum> sums;
  std::vector<base::Uuid> ended;
  for (const JobChunkRecord* record : records) {
    BlockSum& sum = sums[record->block];
    if (record->columns) sum.columns = Param(*record->columns).text();
    if (IsPartEnd(*record)) {
      ++sum.parts_done;
      ended.push_back(record->lease.id);
    }
    ForEachMade(*record,
                [&](int, const std::string&, int row_count) { sum.rows_out += row_count; });
    sum.rows_done += record->rows_done;
    sum.row_errors += record->row_errors;
    sum.rows_charged += record->rows_charged;
    sum.rows_timed += record->rows_timed;
    sum.rows_took_us += record->rows_took.count();
    if (record->last_error) sum.last_error = record->last_error;
  }
  Rows<int, std::optional<std::string>, int, int, int, int, int, std::optional<std::string>, int,
       std::int64_t>
      rows;
  for (const auto& [block, sum] : sums) {
    rows.Add(block, sum.columns, sum.parts_done, sum.rows_done, sum.rows_out, sum.row_errors,
             sum.rows_charged, sum.last_error, sum.rows_timed, sum.rows_took_us);
  }
  std::vector<int> completed;
  for (const auto& row : tx.Exec("job_block_add", job_id, rows, ended, PartsOf(records))) {
    int block = 0;
    bool is_completed = false;
    Columns(row).Into(&block, &is_completed);
    if (is_completed) completed.push_back(block);
  }
  return completed;
}

// Opens what follows from the parts that ended: further parts of their blocks, and those of what
// consumes them. Returns whether there are any.
bool OpenParts(Transaction& tx, const base::Uuid& job_id, const Records& records) {
  std::vector<int> blocks;
  for (const JobChunkRecord* record : records) {
    if (IsPartEnd(*record)) blocks.push_back(record->block);
  }
  return !blocks.empty() && !tx.Exec("parts_open", job_id, blocks).empty();
}

// Chunks that go on count one record more.
void WriteChunks(Transaction& tx, const Records& records) {
  Rows<base::Uuid, int, std::string, bool, std::optional<std::string>> going_on;
  for (const JobChunkRecord* record : records) {
    if (const auto* progress = std::get_if<JobPartProgress>(&record->what)) {
      going_on.Add(record->lease.id, record->progress, progress->done_json, progress->serial,
                   record->last_error);
    }
  }
  if (going_on.empty()) return;
  const auto written = tx.Exec("job_chunk_progress", going_on).affected_rows();
  if (static_cast<std::size_t>(written) != going_on.size()) {
    throw std::logic_error("a locked job chunk was recorded by somebody else");
  }
}

// Takes what the records charge from the job's reservation. It is written with the job's end, or
// alone where the job goes on.
JobCharge TakeCharge(const Records& records, LockedJob* job) {
  JobCharge charge;
  for (const JobChunkRecord* record : records) {
    charge.amount_mc += record->charge_mc;
    if (record->charge_mc > 0) charge.rows += record->rows_charged;
  }
  if (charge.amount_mc > job->reserved_mc) {
    throw std::logic_error("a job is charged more than is reserved for it");
  }
  job->reserved_mc -= charge.amount_mc;
  return charge;
}

// Rows that came through a block that drops some are paid for where priced blocks consume them. The
// job fails where that cannot be reserved.
std::optional<JobEnding> TopUp(Transaction& tx, const Records& records, LockedJob* job,
                               JobPurse* purse) {
  Rows<int, int> parts;
  for (const JobChunkRecord* record : records) {
    ForEachMade(*record, [&](int, const std::string&, int row_count) {
      parts.Add(record->block, row_count);
    });
  }
  if (parts.empty()) return std::nullopt;
  const auto more_mc = ReadOne<std::int64_t>(tx.Exec("job_top_up_due", job->id, parts));
  if (more_mc == 0) return std::nullopt;
  const Purses::Room room = purse->Room();
  const domain::Admission admission = domain::Admit({.balance_mc = room.balance_mc,
                                                     .spend_left_mc = room.spend_left_mc,
                                                     .price_mc = more_mc,
                                                     .checks = 1});
  if (admission.admitted == 0) {
    const bool balance = room.balance_mc < more_mc;
    return JobEnding{domain::JobStatus::kFailed,
                     std::string(balance ? domain::kReasonInsufficientCredits
                                         : domain::kReasonSpendLimitReached),
                     balance ? "The balance does not cover the rows that came through."
                             : "The team's spend limit does not cover the rows that came through."};
  }
  purse->Take(more_mc);
  tx.Exec("job_top_up", job->id, more_mc);
  job->reserved_mc += more_mc;
  return std::nullopt;
}

// A block that cannot go on fails with its job.
std::optional<JobEnding> FailBlocks(Transaction& tx, const base::Uuid& job_id,
                                    const Records& records) {
  std::optional<JobEnding> ending;
  for (const JobChunkRecord* record : records) {
    const auto* fault = std::get_if<JobFault>(&record->what);
    if (fault == nullptr) continue;
    tx.Exec("job_block_fail", job_id, record->block, fault->error);
    ending = JobEnding{domain::JobStatus::kFailed, fault->reason, fault->error};
  }
  return ending;
}

// The end of the job where its last block is completed.
std::optional<JobEnding> EndOfBlocks(Transaction& tx, const OpenJob& open,
                                     const std::vector<int>& completed, const Records& records) {
  if (completed.empty()) return std::nullopt;
  if (!open.one_block && ReadOne<int>(tx.Exec("job_block_end", open.job.id, completed)) > 0) {
    return std::nullopt;
  }
  for (const JobChunkRecord* record : records) {
    const auto* end = std::get_if<JobPartEnd>(&record->what);
    if (end == nullptr || !end->error_code) continue;
    // Its time ran out, whether the runner or the keeper notices it first.
    if (*end->error_code == domain::kErrorTimedOut) {
      return JobEnding{domain::JobStatus::kTimedOut, std::string(domain::kReasonDeadlineExceeded),
                       end->error};
    }
    return JobEnding{domain::JobStatus::kFailed, end->error_code, end->error};
  }
  return JobEnding{domain::JobStatus::kCompleted, std::nullopt, std::nullopt};
}

void CheckShape(const std::vector<JobChunkRecord>& records) {
  base::Assert(!records.empty() && records.size() <= kJobRecordChunksMax,
               "a record has 1 to 8 chunks");
  for (const JobChunkRecord& record : records) {
    base::Assert(record.charge_mc >= 0 && (record.charge_mc == 0 || record.rows_charged > 0),
                 "what is charged stands for rows");
  }
}

// A record that may fail its job takes the job's other chunks then. It locks them before its own:
// a renewal locks chunks in the order of their ids, and two orders would make a deadlock.
bool MayFailTheJob(const std::vector<JobChunkRecord>& records, const OpenJob& open) {
  return open.tops_up || open.job.kind == domain::JobKind::kInvestigation ||
         std::any_of(records.begin(), records.end(), [](const auto& record) {
           return std::holds_alternative<JobFault>(record.what);
         });
}

// Everything that the fresh records do.
void Apply(Transaction& tx, const base::Clock& clock, const Records& fresh, OpenJob* open,
           JobRecordResult* result) {
  LockedJob& job = open->job;
  Records records = fresh;
  RecordedFindings found;
  if (job.kind == domain::JobKind::kInvestigation) {
    found = RecordFindings(tx, job.id, fresh);
    records.clear();
    for (const JobChunkRecord& record : found.records) records.push_back(&record);
  }
  if (job.status == domain::JobStatus::kQueued) {
    tx.Exec("job_started", std::vector<base::Uuid>{job.id}, std::vector<int>{records[0]->block});
    job.status = domain::JobStatus::kRunning;
  }
  WriteKeys(tx, job.id, records);
  AddMonitorRows(tx, clock, job, records);
  const std::vector<int> completed = AddToBlocks(tx, job.id, records);
  if (ActivateMonitors(tx, job, records, completed)) result->raise.push_back(Signal::kDue);
  WriteChunks(tx, records);
  const JobCharge charge = TakeCharge(records, &job);
  JobPurse purse(tx, job.payer);
  std::optional<JobEnding> ending = std::move(found.ending);
  if (!ending && open->tops_up) ending = TopUp(tx, records, &job, &purse);
  if (!ending) ending = FailBlocks(tx, job.id, records);
  if (!ending) ending = EndOfBlocks(tx, *open, completed, records);
  if (ending) {
    const auto raise = EndLockedJob(tx, clock, *ending, &job, &purse, charge);
    result->raise.insert(result->raise.end(), raise.begin(), raise.end());
    result->ended = job.status;
  } else {
    if (charge.amount_mc > 0) tx.Exec("job_charge", job.id, charge.amount_mc, charge.rows);
    if (OpenParts(tx, job.id, records)) result->raise.push_back(Signal::kJobChunk);
  }
  purse.Write();
  // A record that charges nothing began without waiting, and turns out to end or to reserve.
  if (!completed.empty() || ending || purse.locked()) tx.WaitForDisk();
}

}  // namespace

JobRecordResult RecordJobChunks(Session& session, const base::Clock& clock,
                                const base::Uuid& job_id,
                                const std::vector<JobChunkRecord>& records) {
  CheckShape(records);
  const Durability durability = ChargeOf(records) > 0 ? Durability::kSync : Durability::kAsync;
  return InTransaction(
      session,
      [&](Transaction& tx) {
        JobRecordResult result;
        result.chunks.assign(records.size(), JobRecorded::kDropped);
        auto open = LockOpenJob(tx, job_id, &result);
        if (!open) return result;
        if (MayFailTheJob(records, *open)) tx.Exec("job_chunks_lock", job_id);
        const Records fresh = LockChunks(tx, job_id, records, &result);
        if (!fresh.empty()) Apply(tx, clock, fresh, &*open, &result);
        return result;
      },
      durability);
}

}  // namespace vedette::store
