#include "tests/store/support/jobs_support.h"

#include <fmt/format.h>

#include "base/json.h"
#include "domain/email/find_request.h"

namespace vedette::test {

store::NewJob NewLookup(const base::Uuid& org, const base::Clock& clock, int rows,
                        std::int64_t price_mc) {
  store::NewJob job;
  job.id = base::Uuid::V7(clock);
  job.org_id = org;
  job.kind = rows == 1 ? domain::JobKind::kFindEmail : domain::JobKind::kFindEmailBulk;
  job.part_rows = rows;
  domain::FindRequest request;
  for (int i = 0; i < rows; ++i) {
    request.rows.push_back({base::Json{{"name", "Ada Lovelace"}, {"company", i}}, {}});
  }
  job.params_json = domain::FindParamsJson(request);
  job.caller = {domain::PrincipalKind::kApiKey, base::Uuid::V4()};
  job.remote_address = "127.0.0.1";
  job.estimate_mc = rows * price_mc;
  job.deadline = std::chrono::hours(1);
  store::NewJobBlock block;
  block.type = "find_email";
  block.price_mc = price_mc;
  block.rows_total = rows;
  job.blocks.push_back(block);
  return job;
}

store::NewJob JobsTest::Run(int parts, int blocks, int window) const {
  store::NewJob job = Lookup(2);
  job.kind = domain::JobKind::kWorkflow;
  job.blocks.clear();
  for (int i = 0; i <= blocks; ++i) {
    store::NewJobBlock& block = job.blocks.emplace_back();
    block.type = i == 0 ? "webhook" : "select_columns";
    block.lane = domain::Lane::kTransform;
    block.parts_total = parts;
    block.part_window = window;
    if (i > 0) block.input = i - 1;
  }
  job.blocks[0].rows_total = 2 * parts;
  for (int i = 0; i < parts; ++i) job.parts.push_back({"[[1],[2]]", 2});
  return job;
}

base::Uuid JobsTest::Start(const store::NewJob& job) {
  const auto outcome = store::StartJob(session, clock, job, start_limits);
  EXPECT_TRUE(std::holds_alternative<store::JobStarted>(outcome))
      << "the outcome is number " << outcome.index();
  return job.id;
}

store::JobClaim JobsTest::Claim(int chunks_max) {
  const store::LaneCursors lanes{{domain::Lane::kTransform, {}},
                                 {domain::Lane::kLookup, {}},
                                 {domain::Lane::kSmtp, {}},
                                 {domain::Lane::kResearch, {}}};
  std::vector<store::JobShare> shares;
  for (const auto& due : store::ScanDueJobs(session, lanes, 1000).due) {
    shares.push_back({due.lane, due.org_id, due.rank, chunks_max});
  }
  return store::ClaimJobChunks(session, shares, base::Uuid::V4(), job_lease, {});
}

store::JobChunkRecord JobsTest::PartEnd(const store::ClaimedJobChunk& chunk, int rows, int charged,
                                        std::int64_t price_mc) {
  store::JobChunkRecord record;
  record.job_id = chunk.job_id;
  record.lease = chunk.lease;
  record.block = chunk.block;
  record.part = chunk.part;
  record.progress = chunk.progress;
  record.rows_done = rows;
  record.rows_charged = charged;
  record.charge_mc = charged * price_mc;
  std::string cells = "[";
  for (int i = 0; i < rows; ++i) cells += fmt::format("{}[{}]", i == 0 ? "" : ",", i);
  record.what = store::JobPartEnd{cells + "]", rows, {}, {}};
  return record;
}

store::JobChunkRecord JobsTest::Progress(const store::ClaimedJobChunk& chunk,
                                         const std::string& done_json, int charged,
                                         std::int64_t price_mc) {
  store::JobChunkRecord record = PartEnd(chunk, 1, charged, price_mc);
  record.what = store::JobPartProgress{done_json, false};
  return record;
}

store::JobRecordResult JobsTest::RecordJob(const base::Uuid& job,
                                           const std::vector<store::JobChunkRecord>& records) {
  for (const store::JobChunkRecord& record : records) EXPECT_EQ(record.job_id, job);
  return store::RecordJobChunks(session, clock, records);
}

store::JobRecorded JobsTest::RecordOne(const base::Uuid& job, const store::JobChunkRecord& record) {
  return RecordJob(job, {record}).chunks.at(0);
}

std::optional<domain::JobStatus> JobsTest::EndIn(const store::JobRecordResult& result) {
  EXPECT_LE(result.ended.size(), 1U) << "it was a record of one job";
  if (result.ended.empty()) return std::nullopt;
  return result.ended.begin()->second;
}

std::optional<store::JobEndOutcome> JobsTest::End(const base::Uuid& job, domain::JobStatus status,
                                                  const std::string& reason) {
  return store::EndJob(session, clock, {}, job, {status, reason, {}});
}

double JobsTest::StatementsSoFar() {
  double all = 0;
  const std::string text = metrics.Expose();
  const std::string series = "\nvedette_db_query_seconds_count{";
  for (auto at = text.find(series); at != std::string::npos; at = text.find(series, at + 1)) {
    all += std::stod(text.substr(text.find('}', at) + 1));
  }
  EXPECT_GT(all, 0) << "no statement is counted";
  return all;
}

std::string JobsTest::Job(const base::Uuid& job, const std::string& column) {
  return Sql(fmt::format("select {} from job where id = '{}'", column, job.ToString()));
}

std::int64_t JobsTest::BalanceOf(const base::Uuid& organisation) {
  return std::stoll(Sql(
      fmt::format("select balance_mc from account where org_id = '{}'", organisation.ToString())));
}

void JobsTest::ExpectJobMoneyAddsUp() {
  EXPECT_EQ(
      Sql("select count(*) from account a where a.balance_mc "
          "+ (select coalesce(sum(reserved_mc), 0) from chunk c where c.org_id = a.org_id) "
          "+ (select coalesce(sum(reserved_mc), 0) from job j where j.org_id = a.org_id) "
          "<> (select coalesce(sum(amount_mc), 0) from credit_entry e where e.org_id = a.org_id)"),
      "0");
  EXPECT_EQ(Sql("select count(*) from job j where charged_mc <> (select coalesce(-sum(amount_mc), "
                "0) from credit_entry e where e.job_id = j.id)"),
            "0");
  EXPECT_EQ(Sql("select count(*) from job_chunk c join job j on j.id = c.job_id "
                "where j.finished_at is not null"),
            "0");
}

std::unique_ptr<store::Session> JobsTest::OtherSession(const config::TestingConfig* testing,
                                                       const base::Clock* other_clock) {
  return std::make_unique<store::Session>(
      config, store::SessionOptions{.name = "other", .testing = testing},
      other_clock ? *other_clock : clock, metrics,
      base::Logger(base::LogLevel::kOff, base::LogFormat::kText));
}

}  // namespace vedette::test
