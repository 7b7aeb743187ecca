#include "store/email/erasure.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/compression.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/job/job.h"
#include "domain/monitor/observation.h"
#include "store/monitors/rows.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::StoredJob;
using Phase = ErasurePlace::Phase;

// Jobs, and rows of monitors, that one statement looks through.
constexpr int kJobsPerPage = 200;
constexpr int kRowsPerPage = 5000;
constexpr int kMonitorsPerPage = 500;
// Attempts of deliveries, each with what the receiver answered.
constexpr int kAttemptsPerPage = 2000;
// Snapshots, whose texts are compressed: they are looked through here.
constexpr int kSnapshotsPerPage = 100;
// Workflows, and their schedules, of which one may be over a megabyte long.
constexpr int kWorkflowsPerPage = 50;

bool Writes(const Erasure& erasure) {
  return erasure.mode == Erasure::Mode::kErase;
}

// Numbers are written again as they were.
base::Json Parse(const std::string& text) {
  base::Json json;
  base::JsonLimits limits;
  limits.keep_numbers = true;
  // The params of a run hold a definition, which had the whole depth for itself.
  limits.depth_max += 8;
  if (const auto error = base::ParseJson(text, &json, limits)) {
    throw std::invalid_argument("a stored job is not JSON");
  }
  return json;
}

StoredJob::Form FormOf(domain::JobKind kind) {
  if (kind == domain::JobKind::kInvestigation) return StoredJob::Form::kInvestigation;
  return kind == domain::JobKind::kWorkflow ? StoredJob::Form::kOther : StoredJob::Form::kLookup;
}

// A job under its lock.
struct LockedToErase {
  base::Uuid org_id;
  StoredJob job;
};

// Addresses of one organisation.
using Facts = std::set<std::pair<base::Uuid, std::string>>;

std::int64_t EraseFacts(Session& session, const Erasure& erasure) {
  return InTransaction(session, [&](Transaction& tx) {
    Rows<Column<"org_id", base::Uuid>, Column<"address", std::string>> found;
    for (const auto& row : tx.Exec<"erase_facts_find">("org_id"_a = erasure.org_id,
                           "needles"_a = erasure.target.needles())) {
      base::Uuid org_id;
      std::string address;
      Columns(row).Into("org_id"_a = &org_id, "address"_a = &address);
      if (erasure.target.IsInText(address)) found.Add(org_id, address);
    }
    if (!found.empty() && Writes(erasure)) tx.Exec<"erase_facts">(found);
    return static_cast<std::int64_t>(found.size());
  });
}

// Finds things by `said`, what they say of people, and takes the person out of those that name it.
template <NameText find, NameText erase>
std::int64_t EraseWhatSays(Session& session, const Erasure& erasure) {
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<base::Uuid> ids;
    for (const auto& row :
         tx.Exec<find>("org_id"_a = erasure.org_id, "needles"_a = erasure.target.needles())) {
      base::Uuid id;
      std::string said;
      Columns(row).Into("id"_a = &id, "said"_a = &said);
      if (erasure.target.IsInText(said)) ids.push_back(id);
    }
    if (!ids.empty() && Writes(erasure)) tx.Exec<erase>("ids"_a = ids);
    return static_cast<std::int64_t>(ids.size());
  });
}

void ReadBlocks(Transaction& tx, const base::Uuid& job_id, const std::vector<std::string>& needles,
                StoredJob* job) {
  for (const auto& row :
       tx.Exec<"erase_job_blocks_read">("job_id"_a = job_id, "needles"_a = needles)) {
    StoredJob::Block& block = job->blocks.emplace_back();
    std::string specs;
    Columns(row).Into("block"_a = &block.block, "specs"_a = &specs);
    block.specs = Parse(specs);
  }
}

void ReadInvestigation(Transaction& tx, const base::Uuid& job_id,
                       const std::vector<std::string>& needles, StoredJob* job) {
  job->seeds = Parse(ReadOne<std::string>(tx.Exec<"erase_seeds_read">("job_id"_a = job_id)));
  for (const auto& row :
       tx.Exec<"erase_findings_read">("job_id"_a = job_id, "needles"_a = needles)) {
    domain::StoredFinding& finding = job->findings.emplace_back();
    std::string subject;
    std::optional<std::string> object;
    std::string sources;
    Columns(row).Into("seq"_a = &finding.seq, "subject"_a = &subject, "object"_a = &object,
                      "evidence"_a = &finding.evidence, "sources"_a = &sources);
    finding.subject = Parse(subject);
    if (object) finding.object = Parse(*object);
    finding.sources = Parse(sources);
  }
}

// Empty where it is gone.
std::optional<LockedToErase> LockAndRead(Transaction& tx, const base::Uuid& job_id,
                                         const std::vector<std::string>& needles) {
  const auto found = tx.Exec<"erase_job_lock">("job_id"_a = job_id);
  if (found.empty()) return std::nullopt;
  LockedToErase locked;
  StoredJob& job = locked.job;
  domain::JobKind kind{};
  std::string params;
  Columns(found[0]).Into("org_id"_a = &locked.org_id, "kind"_a = &kind,
                         "part_rows"_a = &job.part_rows, "params"_a = &params);
  job.form = FormOf(kind);
  job.params = Parse(params);
  for (const auto& row : tx.Exec<"erase_job_chunks_read">("job_id"_a = job_id)) {
    StoredJob::Chunk& chunk = job.chunks.emplace_back();
    std::string done;
    Columns(row).Into("id"_a = &chunk.id, "block"_a = &chunk.block, "part"_a = &chunk.part,
                      "done"_a = &done, "input"_a = &chunk.input);
    chunk.done = Parse(done);
  }
  for (const auto& row : tx.Exec<"erase_job_parts_read">("job_id"_a = job_id)) {
    StoredJob::Part& part = job.parts.emplace_back();
    std::string rows;
    Columns(row).Into("block"_a = &part.block, "part"_a = &part.part, "rows"_a = &rows);
    part.rows = Parse(rows);
  }
  if (job.form == StoredJob::Form::kOther) ReadBlocks(tx, job_id, needles, &job);
  if (job.form == StoredJob::Form::kInvestigation) ReadInvestigation(tx, job_id, needles, &job);
  return locked;
}

void WriteInvestigation(Transaction& tx, const base::Uuid& job_id, const StoredJob& job) {
  if (job.seeds_changed)
    tx.Exec<"erase_seeds">("job_id"_a = job_id, "seeds"_a = base::DumpJson(job.seeds));
  Rows<Column<"seq", std::int64_t>, Column<"subject", std::string>,
       Column<"object", std::optional<std::string>>, Column<"evidence", std::string>,
       Column<"sources", std::string>>
      findings;
  for (const domain::StoredFinding& finding : job.findings) {
    if (!finding.changed) continue;
    std::optional<std::string> object;
    if (!finding.object.is_null()) object = base::DumpJson(finding.object);
    findings.Add(finding.seq, base::DumpJson(finding.subject), object, finding.evidence,
                 base::DumpJson(finding.sources));
  }
  if (!findings.empty()) tx.Exec<"erase_findings">("job_id"_a = job_id, findings);
}

void WriteBlocks(Transaction& tx, const base::Uuid& job_id, const StoredJob& job) {
  Rows<Column<"block", int>, Column<"specs", std::string>> blocks;
  for (const auto& block : job.blocks) {
    if (block.changed) blocks.Add(block.block, base::DumpJson(block.specs));
  }
  if (!blocks.empty()) tx.Exec<"erase_job_blocks">("job_id"_a = job_id, blocks);
}

void Write(Transaction& tx, const base::Uuid& job_id, const StoredJob& job) {
  if (job.params_changed)
    tx.Exec<"erase_job_params">("job_id"_a = job_id, "params"_a = base::DumpJson(job.params));
  if (job.form == StoredJob::Form::kInvestigation) WriteInvestigation(tx, job_id, job);
  Rows<Column<"block", int>, Column<"part", int>, Column<"rows", std::string>> parts;
  for (const auto& part : job.parts) {
    if (part.changed) parts.Add(part.block, part.part, base::DumpJson(part.rows));
  }
  if (!parts.empty()) tx.Exec<"erase_job_parts">("job_id"_a = job_id, parts);
  WriteBlocks(tx, job_id, job);
  Rows<Column<"id", base::Uuid>, Column<"done", std::optional<std::string>>> chunks;
  std::map<int, int> ended;  // rows, by block
  for (const auto& chunk : job.chunks) {
    if (!chunk.changed) continue;
    std::optional<std::string> done;
    if (!chunk.done.is_null()) done = base::DumpJson(chunk.done);
    chunks.Add(chunk.id, done);
    ended[chunk.block] += chunk.ended;
  }
  if (chunks.empty()) return;
  tx.Exec<"erase_job_chunks">(chunks);
  Rows<Column<"block", int>, Column<"rows", int>> blocks;
  for (const auto& [block, rows] : ended) blocks.Add(block, rows);
  tx.Exec<"erase_job_rows_done">("job_id"_a = job_id, blocks);
}

// What the organisation knows of the person by name. The erased address itself went first.
Facts FactsByName(Transaction& tx, const Erasure& erasure, const LockedToErase& locked) {
  Facts found;
  if (locked.job.person_keys.empty()) return found;
  Rows<Column<"person_keys", std::string>> keys;
  for (const std::string& key : locked.job.person_keys) keys.Add(Bytea(key));
  for (const auto& address : ReadEach<std::string>(tx.Exec<"erase_facts_by_name">(
           "org_id"_a = locked.org_id, keys, "guesses"_a = locked.job.guesses))) {
    if (!erasure.target.IsInText(address)) found.emplace(locked.org_id, address);
  }
  return found;
}

struct ErasedFromJob {
  bool is_touched = false;
  int rows = 0;
  std::int64_t findings = 0;
  Facts facts;
};

ErasedFromJob EraseFromJob(Transaction& tx, const Erasure& erasure, const base::Uuid& job_id) {
  ErasedFromJob erased;
  auto locked = LockAndRead(tx, job_id, erasure.target.needles());
  if (!locked) return erased;
  StoredJob& job = locked->job;
  erased.rows = domain::EraseFrom(erasure.target, &job);
  erased.is_touched = erased.rows > 0 || job.params_changed ||
                      std::any_of(job.blocks.begin(), job.blocks.end(),
                                  [](const auto& one) { return one.changed; });
  if (!erased.is_touched) return erased;
  erased.findings = std::count_if(job.findings.begin(), job.findings.end(),
                                  [](const auto& finding) { return finding.changed; });
  erased.facts = FactsByName(tx, erasure, *locked);
  if (!Writes(erasure)) return erased;
  Write(tx, job_id, job);
  Rows<Column<"org_id", base::Uuid>, Column<"address", std::string>> facts;
  for (const auto& [org_id, address] : erased.facts) facts.Add(org_id, address);
  if (!facts.empty()) tx.Exec<"erase_facts">(facts);
  return erased;
}

// `counted`: facts that were counted before, which a call that changes nothing finds again.
void EraseJob(Session& session, const Erasure& erasure, const base::Uuid& job_id, Facts* counted,
              ErasureStep* step) {
  const ErasedFromJob erased =
      InTransaction(session, [&](Transaction& tx) { return EraseFromJob(tx, erasure, job_id); });
  if (!erased.is_touched) return;
  ++step->jobs;
  step->rows += erased.rows;
  step->findings += erased.findings;
  for (const auto& fact : erased.facts) step->facts += counted->insert(fact).second ? 1 : 0;
}

void EraseJobs(Session& session, const Erasure& erasure, Facts* counted, ErasureStep* step) {
  ErasurePlace& place = step->next;
  const auto page = Read(session, [&](Transaction& tx) {
    return tx.Exec<"erase_jobs_page">("org_id"_a = erasure.org_id, "after"_a = place.after,
                                      "needles"_a = erasure.target.needles(),
                                      "limit"_a = kJobsPerPage);
  });
  for (const auto& row : page) {
    bool is_match = false;
    Columns(row).Into("id"_a = &place.after, "is_match"_a = &is_match);
    if (is_match) EraseJob(session, erasure, place.after, counted, step);
  }
  if (page.size() < kJobsPerPage) place = {Phase::kAnswers, {}};
}

// Receivers may have answered with what they were told.
void EraseAnswers(Session& session, const Erasure& erasure, ErasureStep* step) {
  ErasurePlace& place = step->next;
  const auto page = Read(session, [&](Transaction& tx) {
    return tx.Exec<"erase_attempts_page">("org_id"_a = erasure.org_id, "after"_a = place.after,
                                          "needles"_a = erasure.target.needles(),
                                          "limit"_a = kAttemptsPerPage);
  });
  Rows<Column<"delivery_id", base::Uuid>, Column<"attempt", int>> found;
  for (const auto& row : page) {
    int attempt = 0;
    std::string answer;
    Columns(row).Into("delivery_id"_a = &place.after, "attempt"_a = &attempt,
                      "answer"_a = BytesInto{&answer});
    if (erasure.target.IsInText(base::RepairUtf8(answer))) found.Add(place.after, attempt);
  }
  step->answers += static_cast<std::int64_t>(found.size());
  if (!found.empty() && Writes(erasure)) {
    InTransaction(session, [&](Transaction& tx) { tx.Exec<"erase_attempts">(found); });
  }
  if (page.size() < kAttemptsPerPage) place = {Phase::kSnapshots, {}};
}

// What shows the person goes whole: a text that was cut, or a picture, would be none of the page's.
// A row whose page named the person may show as much in the picture of its last failure.
void EraseSnapshots(Session& session, const Erasure& erasure, ErasureStep* step) {
  ErasurePlace& place = step->next;
  const auto page = Read(session, [&](Transaction& tx) {
    return tx.Exec<"erase_snapshots_page">("org_id"_a = erasure.org_id, "after"_a = place.after,
                                           "limit"_a = kSnapshotsPerPage);
  });
  std::vector<base::Uuid> ids;
  for (const auto& row : page) {
    std::string body;
    Columns(row).Into("id"_a = &place.after, "body"_a = BytesInto{&body});
    const auto text = base::Decompressed(body, domain::kSnapshotTextBytesMax);
    if (text && erasure.target.IsInText(*text)) ids.push_back(place.after);
  }
  step->snapshots += static_cast<std::int64_t>(ids.size());
  if (!ids.empty() && Writes(erasure)) ForgetSnapshots(session, ids);
  if (page.size() < kSnapshotsPerPage) place = {Phase::kMonitorRows, {}};
}

void ListMonitorRows(Session& session, const Erasure& erasure, ErasureStep* step) {
  ErasurePlace& place = step->next;
  const auto page = Read(session, [&](Transaction& tx) {
    return tx.Exec<"erase_rows_page">("org_id"_a = erasure.org_id, "after"_a = place.after,
                                      "needles"_a = erasure.target.needles(),
                                      "limit"_a = kRowsPerPage);
  });
  for (const auto& row : page) {
    ErasedRow found;
    std::optional<std::string> text;
    Columns(row).Into("monitor_id"_a = &found.monitor_id, "id"_a = &found.row_id, "text"_a = &text);
    place.after = found.row_id;
    if (text && erasure.target.IsIn(Parse(*text))) step->monitor_rows.push_back(found);
  }
  if (page.size() < kRowsPerPage) place = {Phase::kMonitors, {}};
}

// Lists what belongs to its owner by id, page by page, and goes on with `then`.
template <NameText page_of>
void List(Session& session, const Erasure& erasure, int per_page, Phase then,
          std::vector<base::Uuid>* holders, ErasureStep* step) {
  ErasurePlace& place = step->next;
  const auto page = Read(session, [&](Transaction& tx) {
    return tx.Exec<page_of>("org_id"_a = erasure.org_id, "after"_a = place.after,
                            "needles"_a = erasure.target.needles(), "limit"_a = per_page);
  });
  for (const auto& row : page) {
    std::optional<std::string> text;
    Columns(row).Into("id"_a = &place.after, "text"_a = &text);
    if (text && erasure.target.IsIn(Parse(*text))) holders->push_back(place.after);
  }
  if (static_cast<int>(page.size()) < per_page) place = {then, {}};
}

}  // namespace

ErasureStep EraseSome(Session& session, const base::Clock& clock, const Erasure& erasure,
                      ErasurePlace place, std::chrono::milliseconds time) {
  const auto until = clock.SinceBoot() + time;
  ErasureStep step;
  Facts counted;
  step.next = place;
  if (place.phase == Phase::kStart) {
    step.facts = EraseFacts(session, erasure);
    step.recipients = EraseWhatSays<"erase_recipients_find", "erase_recipients">(session, erasure);
    // The entries stay in their chain (store/audit_chain.h), which covers what goes by a digest.
    step.audit_entries = EraseWhatSays<"erase_audit_find", "erase_audit">(session, erasure);
    step.next.phase = Phase::kJobs;
  }
  do {
    if (step.next.phase == Phase::kJobs) {
      EraseJobs(session, erasure, &counted, &step);
    } else if (step.next.phase == Phase::kAnswers) {
      EraseAnswers(session, erasure, &step);
    } else if (step.next.phase == Phase::kSnapshots) {
      EraseSnapshots(session, erasure, &step);
    } else if (step.next.phase == Phase::kMonitorRows) {
      ListMonitorRows(session, erasure, &step);
    } else if (step.next.phase == Phase::kMonitors) {
      List<"erase_monitors_page">(session, erasure, kMonitorsPerPage, Phase::kWorkflows,
                                  &step.monitors, &step);
    } else if (step.next.phase == Phase::kWorkflows) {
      List<"erase_workflows_page">(session, erasure, kWorkflowsPerPage, Phase::kSchedules,
                                   &step.workflows, &step);
    } else if (step.next.phase == Phase::kSchedules) {
      List<"erase_schedules_page">(session, erasure, kWorkflowsPerPage, Phase::kDone,
                                   &step.schedules, &step);
    }
  } while (step.next.phase != Phase::kDone && clock.SinceBoot() < until);
  return step;
}

}  // namespace vedette::store
