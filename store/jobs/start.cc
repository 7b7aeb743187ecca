#include "store/jobs/start.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/json.h"
#include "domain/money/money.h"
#include "store/balances.h"
#include "store/endpoint_sql.h"
#include "store/idempotency.h"
#include "store/jobs/keeper.h"
#include "store/jobs/locked_job_sql.h"
#include "store/jobs/scheduled_runs.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

constexpr const char* kEstimateKey = "estimate_mc";
// A statement takes parts of so many bytes, or one that is larger. A request may give a hundred
// times as much, and its parameters stand in memory several times, once in a buffer that the
// connection keeps.
constexpr std::size_t kPartBytesTogether = std::size_t{4} << 20;

// The end of those parts from `from` on that one statement takes.
std::size_t EndOfParts(const NewJob& job, std::size_t from) {
  std::size_t bytes = 0;
  std::size_t end = from;
  while (end < job.parts.size()) {
    bytes += job.parts[end].rows_json.size();
    if (bytes > kPartBytesTogether && end > from) break;
    ++end;
  }
  return end;
}

// What idempotency_key.answer holds.
std::string StoredAnswer(const NewJob& job) {
  return base::DumpJson(base::Json{{kEstimateKey, job.estimate_mc}});
}

StartOutcome OutcomeOf(const KeyUse& use) {
  if (use.kind == KeyUse::Kind::kInProgress) return JobKeyInUse{};
  // A monitor's request is another one, whatever its hash.
  if (use.kind == KeyUse::Kind::kOtherRequest || !use.job_id) return JobKeyReused{};
  const base::Json answer = base::ParseJsonOrThrow(use.answer_json);
  return JobStarted{*use.job_id, answer.at(kEstimateKey).get<std::int64_t>(), true};
}

std::int64_t WarnFrom(const StartLimits& limits) {
  return static_cast<std::int64_t>(static_cast<double>(limits.run_data_max) * kRunDataWarnShare);
}

// Reserves the estimate whole, or says why not. At price 0 no account is locked.
std::optional<JobNotPayable> Reserve(const NewJob& job, const Account& account,
                                     Balances* balances) {
  if (job.estimate_mc == 0) return std::nullopt;
  const Balances::Room room = balances->RoomOf(account);
  const domain::Admission admission = domain::Admit({.balance_mc = room.balance_mc,
                                                     .spend_left_mc = room.spend_left_mc,
                                                     .price_mc = job.estimate_mc,
                                                     .checks = 1});
  if (admission.admitted == 1) {
    balances->Take(account, job.estimate_mc);
    return std::nullopt;
  }
  return JobNotPayable{room.balance_mc < job.estimate_mc ? JobNotPayable::Why::kInsufficientCredits
                                                         : JobNotPayable::Why::kSpendLimitReached,
                       job.kind,
                       job.estimate_mc,
                       room.balance_mc,
                       room.spend_left_mc,
                       room.spend_limit_mc,
                       job.team_id};
}

// Whether one more investigation is one too many. The account's lock, which every start of one
// takes, makes the count exact.
bool HasTooManyInvestigations(Transaction& tx, const NewJob& job) {
  if (job.kind != domain::JobKind::kInvestigation) return false;
  const auto open =
      ReadOne<int>(tx.Exec<"job_open_of_kind">("org_id"_a = job.org_id, "kind"_a = job.kind));
  return open >= domain::kOpenInvestigationsMax;
}

bool HasTooManyRuns(Transaction& tx, const NewJob& job, const StartLimits& limits) {
  if (job.kind != domain::JobKind::kWorkflow) return false;
  const auto active = ReadOne<int>(tx.Exec<"run_active_count">(
      "org_id"_a = job.org_id, "runs_per_org_max"_a = limits.runs_per_org_max));
  return active >= limits.runs_per_org_max;
}

std::int64_t BytesGiven(const NewJob& job) {
  std::int64_t bytes = 0;
  for (const NewJobPart& part : job.parts) bytes += RunBytesOf(part.rows_json);
  return bytes;
}

// What the organisation's runs take with this one, where the start has to tell of it.
std::optional<RunDataUse> AskRunData(Transaction& tx, const NewJob& job,
                                     const StartLimits& limits) {
  if (job.kind != domain::JobKind::kWorkflow) return std::nullopt;
  const auto bytes =
      ReadOne<std::int64_t>(tx.Exec<"run_data_read">("org_id"_a = job.org_id)) + BytesGiven(job);
  if (bytes < WarnFrom(limits)) return std::nullopt;
  return RunDataUse{bytes, limits.run_data_max};
}

// Parts of a block that have a chunk from the start on: of a source, or of what consumes the parts
// that the request gave, as many as its window has room for.
int OpenedAtOnce(const NewJob& job, const NewJobBlock& block) {
  if (job.fault) return 0;
  const bool begins = job.parts.empty() ? !block.input : block.input == 0;
  return begins ? std::min(block.part_window, block.parts_total) : 0;
}

// The receivers of its blocks, one for each block.
using Endpoints = std::vector<std::optional<base::Uuid>>;

Endpoints EnsureEndpoints(Transaction& tx, const base::Clock& clock, const NewJob& job) {
  Endpoints endpoints;
  for (const NewJobBlock& block : job.blocks) {
    auto& id = endpoints.emplace_back();
    if (block.webhook) id = EnsureEndpoint(tx, clock, job.org_id, block.webhook->endpoint);
  }
  return endpoints;
}

// How many chunks the job begins with.
int Beginning(const NewJob& job) {
  int chunks = 0;
  for (const NewJobBlock& block : job.blocks) chunks += OpenedAtOnce(job, block);
  return chunks;
}

using Text = std::optional<std::string>;
using Id = std::optional<base::Uuid>;

// Jobs with their blocks as job_asked and job_inserted take them, and with the parts that one
// statement takes.
class JobRows {
 public:
  void Add(const NewJob& job, const Id& endpoint_id, const Endpoints& endpoints) {
    ++jobs_count_;
    jobs_.Add(job.id, job.org_id, job.team_id, job.kind, job.name, job.workflow_id, job.upload_id,
              job.part_rows, job.params_json, job.waited, job.caller.kind, job.caller.id,
              job.remote_address, job.estimate_mc, job.webhook ? Text(job.webhook->url) : Text(),
              endpoint_id, job.deadline.count(), job.caller.on_behalf_of);
    int number = 0;
    for (const NewJobBlock& block : job.blocks) {
      Text columns;
      if (block.columns) columns = Param(*block.columns).text();
      const bool made = number == 0 && !job.parts.empty();
      blocks_.Add(jobs_count_, number, block.type, block.specs_json, block.input, block.lane,
                  block.price_mc, block.after_drop, columns, block.rows_total, block.parts_total,
                  block.part_window, made ? block.parts_total : OpenedAtOnce(job, block), made,
                  block.webhook ? Text(block.webhook->url) : Text(),
                  endpoints[static_cast<std::size_t>(number)], made ? BytesGiven(job) : 0,
                  block.pace.count());
      ++number;
    }
    const std::size_t end = EndOfParts(job, 0);
    for (std::size_t i = 0; i < end; ++i) {
      parts_.Add(jobs_count_, 0, static_cast<int>(i), job.parts[i].rows_json,
                 job.parts[i].row_count);
    }
  }

  // Runs job_insert or job_start, which take `more`, too.
  template <NameText statement, typename... More>
  pqxx::result Insert(Transaction& tx, const More&... more) const {
    return tx.Exec<statement>(jobs_, blocks_, parts_, more...);
  }

 private:
  int jobs_count_ = 0;  // the last one's number, which its blocks and parts name
  Rows<Column<"id", base::Uuid>, Column<"org_id", base::Uuid>, Column<"team_id", Id>,
       Column<"kind", domain::JobKind>, Column<"name", Text>, Column<"workflow_id", Id>,
       Column<"upload_id", Id>, Column<"part_rows", int>, Column<"params", std::string>,
       Column<"waited", bool>, Column<"caller_kind", domain::PrincipalKind>,
       Column<"caller_id", base::Uuid>, Column<"remote_address", std::string>,
       Column<"estimate_mc", std::int64_t>, Column<"webhook_url", Text>, Column<"endpoint_id", Id>,
       Column<"deadline_ms", std::int64_t>, Column<"on_behalf_of", Text>>
      jobs_;
  Rows<Column<"block_n", int>, Column<"block", int>, Column<"type", std::string>,
       Column<"specs", std::string>, Column<"input", std::optional<int>>,
       Column<"lane", domain::Lane>, Column<"price_mc", std::int64_t>, Column<"after_drop", bool>,
       Column<"columns", Text>, Column<"rows_total", std::optional<std::int64_t>>,
       Column<"parts_total", int>, Column<"part_window", int>, Column<"opened", int>,
       Column<"made", bool>, Column<"block_webhook_url", Text>, Column<"block_endpoint_id", Id>,
       Column<"bytes", std::int64_t>, Column<"pace_us", std::int64_t>>
      blocks_;
  Rows<Column<"part_n", int>, Column<"part_block", int>, Column<"part", int>,
       Column<"rows", std::string>, Column<"row_count", int>>
      parts_;
};

// The parts that a request gave beyond those that were inserted with the job.
void InsertFurtherParts(Transaction& tx, const NewJob& job) {
  for (std::size_t from = EndOfParts(job, 0); from < job.parts.size();) {
    Rows<Column<"part", int>, Column<"rows", std::string>, Column<"row_count", int>> parts;
    for (const std::size_t end = EndOfParts(job, from); from < end; ++from) {
      parts.Add(static_cast<int>(from), job.parts[from].rows_json, job.parts[from].row_count);
    }
    tx.Exec<"run_parts_give">("job_id"_a = job.id, parts);
  }
}

// Whether a block without parts of its own is completed with the source, which is there already.
bool CompletesBlocks(const NewJob& job) {
  return !job.parts.empty() && job.kind == domain::JobKind::kWorkflow &&
         std::any_of(job.blocks.begin(), job.blocks.end(),
                     [](const auto& block) { return block.input == 0 && block.parts_total == 0; });
}

void InsertInvestigation(Transaction& tx, const NewJob& job) {
  if (!job.investigation) return;
  const NewInvestigation& given = *job.investigation;
  tx.Exec<"investigation_insert">(
      "id"_a = job.id, "org_id"_a = job.org_id, "seeds"_a = given.seeds_json,
      "depth"_a = given.depth, "findings_max"_a = given.findings_max,
      "credits_mc_max"_a = given.credits_mc_max, "subjects_max"_a = given.subjects_max,
      "subjects"_a = given.seeds);
}

// Takes the slot of a scheduled run, as the last thing before the run: nobody else has started one
// for it, and the schedule is what it was.
bool TakeSlot(Transaction& tx, const NewJob& job, const ScheduledRun* scheduled) {
  if (scheduled == nullptr || !scheduled->slot) return true;
  return DecideSlot(tx, *scheduled->slot, domain::SlotState::kStarted, std::nullopt, job.id);
}

void NameSchedule(Transaction& tx, const NewJob& job, const ScheduledRun* scheduled) {
  if (scheduled == nullptr) return;
  std::optional<base::Timestamp> slot;
  if (scheduled->slot) slot = scheduled->slot->slot;
  tx.Exec<"run_scheduled">("job_id"_a = job.id, "schedule_id"_a = scheduled->schedule_id,
                           "scheduled_at"_a = slot);
}

// How a job ends with its start, if it does.
std::optional<JobEnding> EndingOf(Transaction& tx, const NewJob& job) {
  if (job.fault) {
    tx.Exec<"job_block_fail">("job_id"_a = job.id, "block"_a = job.fault->block,
                              "error"_a = job.fault->error);
    return JobEnding{domain::JobStatus::kFailed, std::string(domain::kReasonBlockFailed),
                     job.fault->error};
  }
  if (job.parts.empty() || job.kind != domain::JobKind::kWorkflow) return std::nullopt;
  if (!CompletesBlocks(job) && Beginning(job) > 0) return std::nullopt;
  base::Uuid id;
  int left = 0;
  Columns(
      tx.Exec<"job_block_end">("job_id"_a = std::vector{job.id}, "block"_a = std::vector{0}).at(0))
      .Into("id"_a = &id, "left"_a = &left);
  if (left > 0) return std::nullopt;
  return JobEnding{domain::JobStatus::kCompleted, std::nullopt, std::nullopt};
}

void EndWithStart(Transaction& tx, const base::Clock& clock, const NewJob& job, Balances* balances,
                  JobStarted* started) {
  const auto ending = EndingOf(tx, job);
  if (!ending) return;
  Columns in(tx.Exec<"job_end_lock">("job_id"_a = job.id, "org_id"_a = job.org_id,
                                     "team_id"_a = std::nullopt)
                 .at(0));
  LockedJob locked = ReadLockedJob(in);
  started->raise = EndLockedJobs(tx, clock, {{&locked, *ending}}, balances);
  started->ended = JobEnded{locked.kind, locked.status, locked.took};
}

void CheckShape(const NewJob& job) {
  base::Assert(Beginning(job) > 0 || job.fault || !job.parts.empty(), "a job has something to do");
  base::Assert(job.investigation.has_value() == (job.kind == domain::JobKind::kInvestigation),
               "an investigation says what it is about");
  base::Assert(!job.blocks.empty() && job.blocks.size() <= std::size_t{domain::kBlocksMax},
               "a job has 1 to 64 blocks");
  base::Assert(job.part_rows >= 1 && job.part_rows <= domain::kPartRowsMax,
               "a part has 1 to 256 rows");
  base::Assert(job.parts.empty() || job.blocks[0].parts_total == static_cast<int>(job.parts.size()),
               "the parts that a request gives are all of its first block");
}

}  // namespace

std::optional<StartOutcome> FindJobStart(Session& session, const base::Uuid& org_id,
                                         const Idempotency& idempotency) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<StartOutcome> {
    const auto use = CheckIdempotency(tx, org_id, idempotency);
    if (!use) return std::nullopt;
    return OutcomeOf(*use);
  });
}

namespace {

// What is left to do in the transaction that has inserted the job.
JobStarted Started(Transaction& tx, const base::Clock& clock, const NewJob& job,
                   Balances* balances) {
  InsertInvestigation(tx, job);
  if (job.idempotency) StoreJobKey(tx, job.org_id, *job.idempotency, job.id, StoredAnswer(job));
  JobStarted started{job.id, job.estimate_mc, false};
  EndWithStart(tx, clock, job, balances, &started);
  if (balances->locked()) balances->Write(tx);
  return started;
}

// Starts the jobs, of one organisation, where job_start admits them. Returns whether it did.
bool StartAtOnce(Transaction& tx, const std::vector<const NewJob*>& jobs, const StartLimits& limits,
                 const base::Clock& clock, CountedJobs* counted) {
  JobRows rows;
  for (const NewJob* job : jobs) rows.Add(*job, std::nullopt, Endpoints(job->blocks.size()));
  const auto began = clock.SinceBoot();
  const auto admitted = rows.Insert<"job_start">(tx, "open_per_org_max"_a = limits.open_per_org_max,
                                                 "runs_per_org_max"_a = limits.runs_per_org_max,
                                                 "run_data_max"_a = WarnFrom(limits),
                                                 "count_open"_a = counted != nullptr);
  base::Assert(admitted.empty() || static_cast<std::size_t>(admitted.size()) == jobs.size(),
               "of one organisation all jobs start together, or none");
  if (admitted.empty()) return false;
  if (!counted) return true;
  int n = 0;
  Columns(admitted.front()).Into("n"_a = &n, "open"_a = &counted->open);
  counted->took = clock.SinceBoot() - began;
  return true;
}

}  // namespace

bool MayStartTogether(const NewJob& job) {
  const bool tells = std::any_of(job.blocks.begin(), job.blocks.end(),
                                 [](const auto& block) { return block.webhook.has_value(); });
  return !job.team_id && !job.webhook && !tells && !job.upload_id && !job.fault &&
         !job.idempotency && !job.investigation && Beginning(job) > 0 && !CompletesBlocks(job) &&
         EndOfParts(job, 0) == job.parts.size();
}

bool StartJobsTogether(Session& session, const std::vector<const NewJob*>& jobs,
                       const StartLimits& limits, CountedJobs* counted) {
  for (const NewJob* job : jobs) {
    CheckShape(*job);
    base::Assert(counted || job->kind != domain::JobKind::kWorkflow, "runs are counted");
    base::Assert(MayStartTogether(*job) && job->org_id == jobs.front()->org_id,
                 "nothing else is asked of what starts together, and it is one organisation's");
  }
  return InTransaction(
      session,
      [&](Transaction& tx) { return StartAtOnce(tx, jobs, limits, session.impl().clock, counted); },
      Durability::kSync, Plans::kByKey);
}

namespace {

// Starts one job by itself; nothing where the slot of a scheduled run is taken.
std::optional<StartOutcome> StartAlone(Transaction& tx, const base::Clock& clock, const NewJob& job,
                                       const StartLimits& limits, const ScheduledRun* scheduled) {
  if (job.idempotency) {
    if (const auto use = CheckIdempotency(tx, job.org_id, *job.idempotency)) {
      return OutcomeOf(*use);
    }
  }
  if (job.upload_id &&
      tx.Exec<"upload_use">("upload_id"_a = *job.upload_id, "org_id"_a = job.org_id).empty()) {
    return JobUploadNotFound{};
  }
  std::string month;
  int open = 0;
  Columns(tx.Exec<"job_start_read">("org_id"_a = job.org_id,
                                    "open_per_org_max"_a = limits.open_per_org_max)[0])
      .Into("month"_a = &month, "open"_a = &open);
  // The endpoint comes before the account in the order of locks.
  std::optional<base::Uuid> endpoint_id;
  if (job.webhook) endpoint_id = EnsureEndpoint(tx, clock, job.org_id, job.webhook->endpoint);
  const Endpoints endpoints = EnsureEndpoints(tx, clock, job);
  Balances balances;
  const Account account{job.org_id, job.team_id, month};
  if (job.estimate_mc > 0 || job.investigation) balances.Want(account);
  if (!balances.empty()) balances.Lock(tx);
  if (auto refused = Reserve(job, account, &balances)) return *refused;
  if (HasTooManyInvestigations(tx, job)) return TooManyInvestigations{};
  if (open >= limits.open_per_org_max) return TooManyJobs{};
  if (HasTooManyRuns(tx, job, limits)) return TooManyRuns{};
  const auto run_data = AskRunData(tx, job, limits);
  if (run_data && run_data->bytes >= run_data->bytes_max) return TooMuchRunData{*run_data};
  if (!TakeSlot(tx, job, scheduled)) return std::nullopt;
  JobRows rows;
  rows.Add(job, endpoint_id, endpoints);
  rows.Insert<"job_insert">(tx, "month"_a = month);
  InsertFurtherParts(tx, job);
  NameSchedule(tx, job, scheduled);
  JobStarted started = Started(tx, clock, job, &balances);
  started.run_data = run_data;
  return started;
}

}  // namespace

StartOutcome StartJob(Session& session, const base::Clock& clock, const NewJob& job,
                      const StartLimits& limits) {
  CheckShape(job);
  const auto start = [&](Transaction& tx) -> StartOutcome {
    CountedJobs counted;
    if (MayStartTogether(job) && StartAtOnce(tx, {&job}, limits, clock, &counted)) {
      return JobStarted{job.id, job.estimate_mc, false};
    }
    return *StartAlone(tx, clock, job, limits, nullptr);
  };
  return InTransaction(session, start, Durability::kSync, Plans::kByKey);
}

std::optional<StartOutcome> StartScheduledRun(Session& session, const base::Clock& clock,
                                              const NewJob& job, const ScheduledRun& scheduled,
                                              const StartLimits& limits) {
  CheckShape(job);
  return InTransaction(
      session, [&](Transaction& tx) { return StartAlone(tx, clock, job, limits, &scheduled); },
      Durability::kSync, Plans::kByKey);
}

}  // namespace vedette::store
