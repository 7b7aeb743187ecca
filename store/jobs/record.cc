#include "store/jobs/record.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/assert.h"
#include "domain/email/found.h"
#include "domain/money/money.h"
#include "store/balances.h"
#include "store/jobs/keeper.h"
#include "store/jobs/locked_job_sql.h"
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

// A job while it is open, and what the transaction does to it.
struct OpenJob {
  LockedJob job;
  bool tops_up = false;
  bool attached = false;   // a block has no parts of its own
  int blocks_left = 0;     // that were not completed before this record; known once one is
  Records records;         // those that the fences let through
  RecordedFindings found;  // of an investigation
  std::vector<int> completed;
  JobCharge charge;
  std::int64_t top_up_mc = 0;        // that came due
  std::optional<JobEnding> overdue;  // how it ends if nothing else ends it: its deadline has come
  std::optional<JobEnding> ending;
};
using OpenJobs = std::map<base::Uuid, OpenJob>;

OpenJobs LockOpenJobs(Transaction& tx, const std::vector<JobChunkRecord>& records,
                      JobRecordResult* result) {
  std::set<base::Uuid> asked;
  for (const JobChunkRecord& record : records) asked.insert(record.job_id);
  OpenJobs jobs;
  for (const auto& row : tx.Exec<"job_lock">("ids"_a = std::vector(asked.begin(), asked.end()))) {
    OpenJob open;
    bool is_overdue = false;
    Columns in(row);
    open.job = ReadLockedJob(in);
    in.Into("tops_up"_a = &open.tops_up, "attached"_a = &open.attached,
            "is_overdue"_a = &is_overdue, "now"_a = &result->recorded_at);
    if (is_overdue) open.overdue = OverdueEnding();
    if (!domain::IsEnd(open.job.status)) jobs.emplace(open.job.id, std::move(open));
  }
  return jobs;
}

// A record that may fail its job takes the job's other chunks then. It locks them before its own:
// a renewal locks chunks in the order of their ids, and two orders would make a deadlock.
void LockChunksOfFailing(Transaction& tx, const OpenJobs& jobs,
                         const std::vector<JobChunkRecord>& records) {
  std::set<base::Uuid> failing;
  for (const auto& [id, open] : jobs) {
    if (open.tops_up || open.overdue || open.job.kind == domain::JobKind::kInvestigation) {
      failing.insert(id);
    }
  }
  for (const JobChunkRecord& record : records) {
    const bool faulty = std::holds_alternative<JobFault>(record.what);
    if (faulty && jobs.contains(record.job_id)) failing.insert(record.job_id);
  }
  if (failing.empty()) return;
  tx.Exec<"job_chunks_lock">("job_ids"_a = std::vector(failing.begin(), failing.end()));
}

// The fences of lease and progress. What they let through is recorded. Jobs of which nothing is are
// left out.
void LockChunks(Transaction& tx, const std::vector<JobChunkRecord>& records, OpenJobs* jobs,
                JobRecordResult* result) {
  Rows<Column<"job_id", base::Uuid>, Column<"id", base::Uuid>, Column<"token", base::Uuid>,
       Column<"progress", int>>
      asked;
  std::vector<std::size_t> numbers;  // of the records that are asked for
  for (std::size_t i = 0; i < records.size(); ++i) {
    const JobChunkRecord& record = records[i];
    if (!jobs->contains(record.job_id)) continue;
    asked.Add(record.job_id, record.lease.id, record.lease.token, record.progress);
    numbers.push_back(i);
  }
  for (const auto& row : tx.Exec<"job_chunk_lock">(asked)) {
    std::size_t n = 0;
    bool is_fresh = false;
    bool was_before = false;
    Columns(row).Into("n"_a = &n, "is_fresh"_a = &is_fresh, "was_before"_a = &was_before);
    const std::size_t number = numbers.at(n - 1);
    if (is_fresh) {
      result->chunks.at(number) = JobRecorded::kRecorded;
      jobs->at(records[number].job_id).records.push_back(&records[number]);
    } else if (was_before) {
      result->chunks.at(number) = JobRecorded::kBefore;
    }
  }
  std::erase_if(*jobs, [](const auto& job) { return job.second.records.empty(); });
}

// What happens to investigations alone: their records are replaced by what is left of them.
void KeepFindings(Transaction& tx, OpenJobs* jobs) {
  for (auto& [id, open] : *jobs) {
    if (open.job.kind != domain::JobKind::kInvestigation) continue;
    open.found = RecordFindings(tx, id, open.records);
    open.ending = std::move(open.found.ending);
    open.records.clear();
    for (const JobChunkRecord& record : open.found.records) open.records.push_back(&record);
  }
}

// Jobs whose claim could not say that they run.
void StartQueued(Transaction& tx, OpenJobs* jobs) {
  Rows<Column<"job_id", base::Uuid>, Column<"block", int>> queued;
  for (auto& [id, open] : *jobs) {
    if (open.job.status != domain::JobStatus::kQueued) continue;
    queued.Add(id, open.records.front()->block);
    open.job.status = domain::JobStatus::kRunning;
  }
  if (!queued.empty()) tx.Exec<"job_started">(queued);
}

// Every part that the record adds: its block, number, rows and their count.
template <typename F>
void ForEachMade(const JobChunkRecord& record, F&& f) {
  const auto* end = std::get_if<JobPartEnd>(&record.what);
  if (end == nullptr) return;
  if (!end->made) {
    f(record.block, record.part, end->rows_json, end->row_count);
  } else {
    for (const JobMadePart& made : *end->made) {
      f(record.block, made.part, made.rows_json, made.row_count);
    }
  }
  for (const JobPassedPart& passed : end->passed) {
    for (const JobMadePart& made : passed.made) {
      f(passed.block, made.part, made.rows_json, made.row_count);
    }
  }
}

void WriteKeys(Transaction& tx, const OpenJobs& jobs) {
  Rows<Column<"job_id", base::Uuid>, Column<"block", int>, Column<"key_hash", std::string>> rows;
  for (const auto& [id, open] : jobs) {
    for (const JobChunkRecord* record : open.records) {
      const auto* end = std::get_if<JobPartEnd>(&record->what);
      if (end == nullptr) continue;
      for (const std::string& key : end->keys) rows.Add(id, record->block, Bytea(key));
      for (const JobPassedPart& passed : end->passed) {
        for (const std::string& key : passed.keys) rows.Add(id, passed.block, Bytea(key));
      }
    }
  }
  if (!rows.empty()) tx.Exec<"run_key_insert">(rows);
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
  int passed = 0;  // of parts_done, those without a chunk
  std::int64_t bytes = 0;
};
using BlockSums = std::map<std::pair<base::Uuid, int>, BlockSum>;

void AddTo(const base::Uuid& job_id, const JobChunkRecord& record, BlockSums* sums) {
  BlockSum& sum = (*sums)[{job_id, record.block}];
  if (record.columns) sum.columns = Param(*record.columns).text();
  sum.rows_done += record.rows_done;
  sum.row_errors += record.row_errors;
  sum.rows_charged += record.rows_charged;
  sum.rows_timed += record.rows_timed;
  sum.rows_took_us += record.rows_took.count();
  if (record.last_error) sum.last_error = record.last_error;
  if (const auto* end = std::get_if<JobPartEnd>(&record.what)) {
    ++sum.parts_done;
    for (const JobPassedPart& passed : end->passed) {
      BlockSum& further = (*sums)[{job_id, passed.block}];
      ++further.parts_done;
      ++further.passed;
      further.rows_done += passed.rows_done;
      further.row_errors += passed.row_errors;
    }
  }
  ForEachMade(record, [&](int block, int, const std::string& rows_json, int row_count) {
    BlockSum& made = (*sums)[{job_id, block}];
    made.rows_out += row_count;
    made.bytes += RunBytesOf(rows_json);
  });
}

// Adds to the blocks, writes the parts that were made and deletes the chunks whose parts have
// ended. Notes the blocks that their last part has completed.
void AddToBlocks(Transaction& tx, OpenJobs* jobs) {
  BlockSums sums;
  std::vector<base::Uuid> ended;
  Rows<Column<"part_job_id", base::Uuid>, Column<"part_block", int>, Column<"part", int>,
       Column<"rows", std::string>, Column<"row_count", int>>
      parts;
  for (const auto& [id, open] : *jobs) {
    for (const JobChunkRecord* record : open.records) {
      AddTo(id, *record, &sums);
      if (IsPartEnd(*record)) ended.push_back(record->lease.id);
      ForEachMade(*record, [&, job_id = id](int block, int part, const std::string& rows_json,
                                            int row_count) {
        parts.Add(job_id, block, part, rows_json, row_count);
      });
    }
  }
  Rows<Column<"job_id", base::Uuid>, Column<"block", int>,
       Column<"columns", std::optional<std::string>>, Column<"parts_done", int>,
       Column<"rows_done", int>, Column<"rows_out", int>, Column<"row_errors", int>,
       Column<"rows_charged", int>, Column<"last_error", std::optional<std::string>>,
       Column<"rows_timed", int>, Column<"rows_took_us", std::int64_t>, Column<"passed", int>,
       Column<"bytes", std::int64_t>>
      rows;
  for (const auto& [key, sum] : sums) {
    rows.Add(key.first, key.second, sum.columns, sum.parts_done, sum.rows_done, sum.rows_out,
             sum.row_errors, sum.rows_charged, sum.last_error, sum.rows_timed, sum.rows_took_us,
             sum.passed, sum.bytes);
  }
  for (const auto& row : tx.Exec<"job_block_add">(rows, "ended"_a = ended, parts)) {
    base::Uuid job_id;
    int block = 0;
    bool is_completed = false;
    std::optional<int> blocks_left;
    Columns(row).Into("job_id"_a = &job_id, "block"_a = &block, "is_completed"_a = &is_completed,
                      "blocks_left"_a = &blocks_left);
    if (!is_completed) continue;
    OpenJob& open = jobs->at(job_id);
    open.completed.push_back(block);
    open.blocks_left = blocks_left.value();
  }
}

// Opens what follows from the parts that ended: further parts of their blocks, and those of what
// consumes them. Returns whether there are any.
bool OpenParts(Transaction& tx, const OpenJobs& jobs) {
  Rows<Column<"job_id", base::Uuid>, Column<"block", int>> blocks;
  for (const auto& [id, open] : jobs) {
    if (open.ending) continue;
    for (const JobChunkRecord* record : open.records) {
      const auto* end = std::get_if<JobPartEnd>(&record->what);
      if (end == nullptr) continue;
      blocks.Add(id, record->block);
      for (const JobPassedPart& passed : end->passed) blocks.Add(id, passed.block);
    }
  }
  return !blocks.empty() && !tx.Exec<"parts_open">(blocks).empty();
}

// Chunks that go on count one record more.
void WriteChunks(Transaction& tx, const OpenJobs& jobs) {
  Rows<Column<"id", base::Uuid>, Column<"progress", int>, Column<"done", std::string>,
       Column<"serial", bool>, Column<"last_error", std::optional<std::string>>>
      going_on;
  for (const auto& [id, open] : jobs) {
    for (const JobChunkRecord* record : open.records) {
      if (const auto* progress = std::get_if<JobPartProgress>(&record->what)) {
        going_on.Add(record->lease.id, record->progress, progress->done_json, progress->serial,
                     record->last_error);
      }
    }
  }
  if (going_on.empty()) return;
  const auto written = tx.Exec<"job_chunk_progress">(going_on).affected_rows();
  if (static_cast<std::size_t>(written) != going_on.size()) {
    throw std::logic_error("a locked job chunk was recorded by somebody else");
  }
}

// Takes what the records charge from the job's reservation. It is written with the job's end, or
// alone where the job goes on.
void TakeCharge(OpenJob* open) {
  for (const JobChunkRecord* record : open->records) {
    open->charge.amount_mc += record->charge_mc;
    if (record->charge_mc > 0) open->charge.rows += record->rows_charged;
  }
  if (open->charge.amount_mc > open->job.reserved_mc) {
    throw std::logic_error("a job is charged more than is reserved for it");
  }
  open->job.reserved_mc -= open->charge.amount_mc;
}

// Rows that came through a block that drops some are paid for where priced blocks consume them.
void AskTopUp(Transaction& tx, OpenJob* open) {
  if (!open->tops_up) return;
  Rows<Column<"block", int>, Column<"row_count", int>> parts;
  for (const JobChunkRecord* record : open->records) {
    ForEachMade(*record, [&](int block, int, const std::string&, int row_count) {
      parts.Add(block, row_count);
    });
  }
  if (parts.empty()) return;
  open->top_up_mc =
      ReadOne<std::int64_t>(tx.Exec<"job_top_up_due">("job_id"_a = open->job.id, parts));
}

// The job fails where what came due cannot be reserved.
void TopUp(Transaction& tx, Balances* balances, OpenJob* open) {
  const std::int64_t more_mc = open->top_up_mc;
  if (more_mc == 0) return;
  const Balances::Room room = balances->RoomOf(open->job.account);
  const domain::Admission admission = domain::Admit({.balance_mc = room.balance_mc,
                                                     .spend_left_mc = room.spend_left_mc,
                                                     .price_mc = more_mc,
                                                     .checks = 1});
  if (admission.admitted == 0) {
    const bool balance = room.balance_mc < more_mc;
    open->ending = {domain::JobStatus::kFailed,
                    std::string(balance ? domain::kReasonInsufficientCredits
                                        : domain::kReasonSpendLimitReached),
                    balance ? "The balance does not cover the rows that came through."
                            : "The team's spend limit does not cover the rows that came through."};
    return;
  }
  balances->Take(open->job.account, more_mc);
  tx.Exec<"job_top_up">("id"_a = open->job.id, "more_mc"_a = more_mc);
  open->job.reserved_mc += more_mc;
}

// A block that cannot go on fails with its job.
void FailBlocks(Transaction& tx, OpenJob* open) {
  if (open->ending) return;
  for (const JobChunkRecord* record : open->records) {
    const auto* fault = std::get_if<JobFault>(&record->what);
    if (fault == nullptr) continue;
    tx.Exec<"job_block_fail">("job_id"_a = open->job.id, "block"_a = record->block,
                              "error"_a = fault->error);
    open->ending = {domain::JobStatus::kFailed, fault->reason, fault->error};
  }
}

// How a job ends whose last block is completed.
JobEnding EndOf(const Records& records) {
  for (const JobChunkRecord* record : records) {
    const auto* end = std::get_if<JobPartEnd>(&record->what);
    if (end == nullptr || !end->error_code) continue;
    // Its time ran out, whether the runner or the keeper notices it first.
    if (*end->error_code == domain::kErrorTimedOut) {
      return {domain::JobStatus::kTimedOut, std::string(domain::kReasonDeadlineExceeded),
              end->error};
    }
    return {domain::JobStatus::kFailed, end->error_code, end->error};
  }
  return {domain::JobStatus::kCompleted, std::nullopt, std::nullopt};
}

// Completes the blocks that have no parts of their own behind those that are completed, and ends
// the jobs of which no block is left.
void EndCompleted(Transaction& tx, OpenJobs* jobs) {
  Rows<Column<"job_id", base::Uuid>, Column<"block", int>> completed;
  for (auto& [id, open] : *jobs) {
    if (open.ending || open.completed.empty()) continue;
    if (!open.attached) {
      const auto now_completed = static_cast<int>(open.completed.size());
      if (open.blocks_left == now_completed) open.ending = EndOf(open.records);
      continue;
    }
    for (const int block : open.completed) completed.Add(id, block);
  }
  if (completed.empty()) return;
  for (const auto& row : tx.Exec<"job_block_end">(completed)) {
    base::Uuid id;
    int left = 0;
    Columns(row).Into("id"_a = &id, "left"_a = &left);
    OpenJob& open = jobs->at(id);
    if (left == 0) open.ending = EndOf(open.records);
  }
}

// A job in small parts is locked by its records without a gap, so that the keeper, who waits for
// nobody, may never find it free: whichever record comes first behind the deadline ends it (G7).
void EndOverdue(OpenJobs* jobs) {
  for (auto& [id, open] : *jobs) {
    if (!open.ending) open.ending = std::move(open.overdue);
  }
}

// Reserves what came due, and where that cannot be ends the job.
void TopUpAll(Transaction& tx, OpenJobs* jobs, Balances* balances) {
  for (auto& [id, open] : *jobs) {
    if (!open.ending) AskTopUp(tx, &open);
  }
  const auto is_due = [](const auto& job) { return job.second.top_up_mc > 0; };
  if (std::none_of(jobs->begin(), jobs->end(), is_due)) return;
  // An account is locked once, so that those to which ends return something are, too.
  for (const auto& [id, open] : *jobs) {
    if (open.top_up_mc > 0 || open.job.reserved_mc > 0) balances->Want(open.job.account);
  }
  balances->Lock(tx);
  for (auto& [id, open] : *jobs) TopUp(tx, balances, &open);
}

void WriteCharges(Transaction& tx, const OpenJobs& jobs) {
  Rows<Column<"id", base::Uuid>, Column<"amount_mc", std::int64_t>, Column<"rows", int>> charges;
  for (const auto& [id, open] : jobs) {
    if (open.ending || open.charge.amount_mc == 0) continue;
    charges.Add(id, open.charge.amount_mc, open.charge.rows);
  }
  if (!charges.empty()) tx.Exec<"job_charge">(charges);
}

void CheckShape(const std::vector<JobChunkRecord>& records) {
  base::Assert(!records.empty() && records.size() <= kJobRecordChunksMax,
               "a record has 1 to 64 chunks");
  for (const JobChunkRecord& record : records) {
    base::Assert(record.charge_mc >= 0 && (record.charge_mc == 0 || record.rows_charged > 0),
                 "what is charged stands for rows");
  }
}

// What the records add: rows, parts, counters, what belongs to runs and investigations.
void Add(Transaction& tx, const base::Clock& clock, OpenJobs* jobs, JobRecordResult* result) {
  KeepFindings(tx, jobs);
  StartQueued(tx, jobs);
  WriteKeys(tx, *jobs);
  for (const auto& [id, open] : *jobs) AddMonitorRows(tx, clock, open.job, open.records);
  AddToBlocks(tx, jobs);
  for (const auto& [id, open] : *jobs) {
    if (ActivateMonitors(tx, open.job, open.records, open.completed)) {
      result->raise.push_back(Signal::kDue);
    }
  }
  WriteChunks(tx, *jobs);
  for (auto& [id, open] : *jobs) TakeCharge(&open);
}

// What follows from what was added: money, ends, and parts that are opened.
void Conclude(Transaction& tx, const base::Clock& clock, OpenJobs* jobs, JobRecordResult* result) {
  Balances balances;
  TopUpAll(tx, jobs, &balances);
  for (auto& [id, open] : *jobs) FailBlocks(tx, &open);
  EndCompleted(tx, jobs);
  EndOverdue(jobs);
  std::vector<EndingJob> endings;
  bool completed = false;
  for (auto& [id, open] : *jobs) {
    completed = completed || !open.completed.empty();
    if (open.ending) endings.push_back({&open.job, *open.ending, open.charge});
  }
  const auto raise = EndLockedJobs(tx, clock, endings, &balances);
  result->raise.insert(result->raise.end(), raise.begin(), raise.end());
  for (const EndingJob& ending : endings) result->ended[ending.job->id] = ending.job->status;
  WriteCharges(tx, *jobs);
  if (OpenParts(tx, *jobs)) result->raise.push_back(Signal::kJobChunk);
  // A record that charges nothing began without waiting, and turns out to end or to reserve.
  if (completed || !endings.empty() || balances.locked()) tx.WaitForDisk();
  if (balances.locked()) balances.Write(tx);
}

}  // namespace

JobRecordResult RecordJobChunks(Session& session, const base::Clock& clock,
                                const std::vector<JobChunkRecord>& records) {
  CheckShape(records);
  const Durability durability = ChargeOf(records) > 0 ? Durability::kSync : Durability::kAsync;
  return InTransaction(
      session,
      [&](Transaction& tx) {
        JobRecordResult result;
        result.chunks.assign(records.size(), JobRecorded::kDropped);
        OpenJobs jobs = LockOpenJobs(tx, records, &result);
        if (jobs.empty()) return result;
        LockChunksOfFailing(tx, jobs, records);
        LockChunks(tx, records, &jobs, &result);
        if (jobs.empty()) return result;
        Add(tx, clock, &jobs, &result);
        Conclude(tx, clock, &jobs, &result);
        return result;
      },
      durability);
}

}  // namespace vedette::store
