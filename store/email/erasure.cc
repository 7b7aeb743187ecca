#include "store/email/erasure.h"

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/json.h"
#include "domain/job.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::StoredJob;
using Phase = ErasurePlace::Phase;

// Jobs, and rows of monitors, that one statement looks through.
constexpr int kJobsPerPage = 200;
constexpr int kRowsPerPage = 5000;

bool Writes(const Erasure& erasure) {
  return erasure.mode == Erasure::Mode::kErase;
}

// Numbers are written again as they were.
base::Json Parse(const std::string& text) {
  base::Json json;
  base::JsonLimits limits;
  limits.keep_numbers = true;
  if (const auto error = base::ParseJson(text, &json, limits)) {
    throw std::invalid_argument("a stored job is not JSON");
  }
  return json;
}

bool IsLookup(domain::JobKind kind) {
  return kind != domain::JobKind::kInvestigation && kind != domain::JobKind::kWorkflow;
}

std::int64_t EraseFacts(Session& session, const Erasure& erasure) {
  return InTransaction(session, [&](Transaction& tx) {
    Rows<base::Uuid, std::string> found;
    for (const auto& row : tx.Exec("erase_facts_find", erasure.org_id, erasure.target.needles())) {
      base::Uuid org_id;
      std::string address;
      Columns(row).Into(&org_id, &address);
      if (erasure.target.IsInText(address)) found.Add(org_id, address);
    }
    if (!found.empty() && Writes(erasure)) tx.Exec("erase_facts", found);
    return static_cast<std::int64_t>(found.size());
  });
}

// Empty where it is gone.
std::optional<StoredJob> LockAndRead(Transaction& tx, const base::Uuid& job_id) {
  const auto found = tx.Exec("erase_job_lock", job_id);
  if (found.empty()) return std::nullopt;
  StoredJob job;
  domain::JobKind kind{};
  std::string params;
  Columns(found[0]).Into(&kind, &job.part_rows, &params);
  job.is_lookup = IsLookup(kind);
  job.params = Parse(params);
  for (const auto& row : tx.Exec("erase_job_chunks_read", job_id)) {
    StoredJob::Chunk& chunk = job.chunks.emplace_back();
    std::string done;
    Columns(row).Into(&chunk.id, &chunk.block, &chunk.part, &done);
    chunk.done = Parse(done);
  }
  for (const auto& row : tx.Exec("erase_job_parts_read", job_id)) {
    StoredJob::Part& part = job.parts.emplace_back();
    std::string rows;
    Columns(row).Into(&part.block, &part.part, &rows);
    part.rows = Parse(rows);
  }
  return job;
}

void Write(Transaction& tx, const base::Uuid& job_id, const StoredJob& job) {
  if (job.params_changed) tx.Exec("erase_job_params", job_id, base::DumpJson(job.params));
  Rows<int, int, std::string> parts;
  for (const auto& part : job.parts) {
    if (part.changed) parts.Add(part.block, part.part, base::DumpJson(part.rows));
  }
  if (!parts.empty()) tx.Exec("erase_job_parts", job_id, parts);
  Rows<base::Uuid, std::string> chunks;
  std::map<int, int> ended;  // rows, by block
  for (const auto& chunk : job.chunks) {
    if (!chunk.changed) continue;
    chunks.Add(chunk.id, base::DumpJson(chunk.done));
    ended[chunk.block] += chunk.ended;
  }
  if (chunks.empty()) return;
  tx.Exec("erase_job_chunks", chunks);
  Rows<int, int> blocks;
  for (const auto& [block, rows] : ended) blocks.Add(block, rows);
  tx.Exec("erase_job_rows_done", job_id, blocks);
}

void EraseJob(Session& session, const Erasure& erasure, const base::Uuid& job_id,
              ErasureStep* step) {
  const int rows = InTransaction(session, [&](Transaction& tx) {
    auto job = LockAndRead(tx, job_id);
    if (!job) return 0;
    const int touched = domain::EraseFrom(erasure.target, &*job);
    if (touched > 0 && Writes(erasure)) Write(tx, job_id, *job);
    return touched;
  });
  if (rows == 0) return;
  ++step->jobs;
  step->rows += rows;
}

void EraseJobs(Session& session, const Erasure& erasure, ErasureStep* step) {
  ErasurePlace& place = step->next;
  const auto page = Read(session, [&](Transaction& tx) {
    return tx.Exec("erase_jobs_page", erasure.org_id, place.after, erasure.target.needles(),
                   kJobsPerPage);
  });
  for (const auto& row : page) {
    bool is_match = false;
    Columns(row).Into(&place.after, &is_match);
    if (is_match) EraseJob(session, erasure, place.after, step);
  }
  if (page.size() < kJobsPerPage) place = {Phase::kMonitorRows, {}};
}

void ListMonitorRows(Session& session, const Erasure& erasure, ErasureStep* step) {
  ErasurePlace& place = step->next;
  const auto page = Read(session, [&](Transaction& tx) {
    return tx.Exec("erase_rows_page", erasure.org_id, place.after, erasure.target.needles(),
                   kRowsPerPage);
  });
  for (const auto& row : page) {
    ErasedRow found;
    std::optional<std::string> text;
    Columns(row).Into(&found.monitor_id, &found.row_id, &text);
    place.after = found.row_id;
    if (text && erasure.target.IsIn(Parse(*text))) step->monitor_rows.push_back(found);
  }
  if (page.size() < kRowsPerPage) place = {Phase::kDone, {}};
}

}  // namespace

ErasureStep EraseSome(Session& session, const base::Clock& clock, const Erasure& erasure,
                      ErasurePlace place, std::chrono::milliseconds time) {
  const auto until = clock.SinceBoot() + time;
  ErasureStep step;
  step.next = place;
  if (place.phase == Phase::kStart) {
    step.facts = EraseFacts(session, erasure);
    step.next.phase = Phase::kJobs;
  }
  do {
    if (step.next.phase == Phase::kJobs) {
      EraseJobs(session, erasure, &step);
    } else if (step.next.phase == Phase::kMonitorRows) {
      ListMonitorRows(session, erasure, &step);
    }
  } while (step.next.phase != Phase::kDone && clock.SinceBoot() < until);
  return step;
}

}  // namespace vedette::store
