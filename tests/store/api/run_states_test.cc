// The states of a run as the interface draws them (3.1), through the public API.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "config/role_config.h"
#include "store/jobs/claim.h"
#include "store/jobs/record.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;

class ApiRunStates : public ApiRuns {
 public:
  ApiRunStates()
      : workflow(NewWorkflow(Chain({WebhookSource(), Block("dedupe"),
                                    Block("enrich_lead", {{"struct", {{"job", "x"}}}})}))) {}

  std::string Start() { return RunRows(workflow, Json::array({Json{{"n", 1}}, Json{{"n", 2}}})); }
  std::string StatusOf(const std::string& run) { return Live(run)["overall_status"]; }
  // What the answer to a cancel says: status and reason.
  std::string Cancel(const std::string& run) {
    const Reply reply = Ask("POST", "/workflows/cancel?job_id=" + run);
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    EXPECT_EQ(reply.body["job_id"], run);
    EXPECT_TRUE(reply.body["completed_at"].is_string());
    const Json& reason = reply.body["status_reason"];
    return reply.body["status"].get<std::string>() + " " +
           (reason.is_null() ? "null" : reason.get<std::string>());
  }

  const std::string workflow;
};

TEST_F(ApiRunStates, AStartedRunIsQueuedAndACancelEndsIt) {
  const std::string run = Start();
  EXPECT_EQ(StatusOf(run), "queued");
  EXPECT_TRUE(Live(run)["started_at"].is_null());
  EXPECT_EQ(Cancel(run), "cancelled cancelled_by_client");
  EXPECT_EQ(StatusOf(run), "cancelled");
}

TEST_F(ApiRunStates, ARunningRunIsCancelledWithWhatItHasMade) {
  const std::string run = Start();
  config.worker.lanes = {"transform"};
  const Worker worker(*this);
  Until("select sum(row_count) from job_part where block = 1", "2");
  EXPECT_EQ(StatusOf(run), "running");
  EXPECT_TRUE(Live(run)["started_at"].is_string());
  EXPECT_EQ(Cancel(run), "cancelled cancelled_by_client");
  const Json live = Live(run);
  EXPECT_EQ(live["overall_status"], "cancelled");
  EXPECT_EQ(live["blocks"][1]["status"], "completed") << "what ended stays as it ended";
  EXPECT_EQ(live["blocks"][2]["status"], "cancelled");
}

// One of the two rows has been answered, and paid for, when its run is cancelled.
TEST_F(ApiRunStates, RowsOfAPartThatACancelCutShortCanBeDownloaded) {
  const std::string run = Start();
  {
    config.worker.lanes = {"transform"};
    const Worker worker(*this);
    Until("select sum(row_count) from job_part where block = 1", "2");
  }
  const auto scan = store::ScanDueJobs(session, {{domain::Lane::kResearch, {}}}, 10);
  ASSERT_EQ(scan.due.size(), 1U);
  const auto claim =
      store::ClaimJobChunks(session, {{scan.due[0].lane, scan.due[0].org_id, scan.due[0].rank, 1}},
                            base::Uuid::V4(), std::chrono::milliseconds(30000), {});
  ASSERT_EQ(claim.chunks.size(), 1U);
  store::JobChunkRecord record;
  record.job_id = claim.chunks[0].job_id;
  record.lease = claim.chunks[0].lease;
  record.block = claim.chunks[0].block;
  record.part = claim.chunks[0].part;
  record.progress = claim.chunks[0].progress;
  record.rows_done = 1;
  record.rows_charged = 1;
  record.charge_mc = 1000;
  record.columns =
      std::vector<std::string>{"n", "job", "enrich_sources", "enrich_confidence", "enrich_error"};
  record.what = store::JobPartProgress{R"({"rows": [[1, "baker", null, null, null], null]})"};
  ASSERT_EQ(store::RecordJobChunks(session, clock, {record}).chunks.at(0),
            store::JobRecorded::kRecorded);
  EXPECT_EQ(Cancel(run), "cancelled cancelled_by_client");
  const Json live = Live(run);
  EXPECT_EQ(live["blocks"][2]["status"], "cancelled");
  EXPECT_EQ(live["blocks"][2]["metrics"]["row_count"], 1);
  const Reply links = Ask("GET", "/workflows/runs/" + run + "/results/download-links");
  ASSERT_EQ(links.body.size(), 2U) << links.raw.body;
  EXPECT_EQ(links.body[1]["row_count"], 1);
  EXPECT_EQ(links.body[1]["message"], "partial");
  EXPECT_EQ(File(run, "", "enrich_lead"),
            "n,job,enrich_sources,enrich_confidence,enrich_error\r\n1,baker,,,\r\n");
  EXPECT_EQ(Sql("select balance_mc from account where org_id = '" + acme.org_id + "'"), "999000");
}

TEST_F(ApiRunStates, ACancelLeavesEveryEndAsItIs) {
  const Worker worker(*this);
  const std::string completed = Start();
  EXPECT_EQ(Ended(completed)["overall_status"], "completed");
  const std::string failed = RunRows(
      NewWorkflow(Chain(
          {WebhookSource(),
           Block("filter",
                 {{"conditions", Json::array({Json{{"column", "x"}, {"op", "is_empty"}}})}})})),
      Json::array({Json{{"n", 1}}}));
  EXPECT_EQ(Ended(failed)["overall_status"], "failed");
  const std::string cancelled = Start();
  Cancel(cancelled);
  const std::string terminated = Start();
  Ended(terminated);
  Sql("update job set status = 5, status_reason = 'cancelled_by_operator' where id = '" +
      terminated + "'");
  const std::string before =
      Sql("select string_agg(id || ' ' || status || ' ' || finished_at, ',' order by id) from job");
  EXPECT_EQ(Cancel(completed), "completed null");
  EXPECT_EQ(Cancel(failed), "failed block_failed");
  EXPECT_EQ(Cancel(terminated), "cancelled cancelled_by_operator") << "as clients see it";
  EXPECT_TRUE(Cancel(cancelled).starts_with("c"));
  EXPECT_EQ(Sql("select string_agg(id || ' ' || status || ' ' || finished_at, ',' order by id) "
                "from job"),
            before);
}

}  // namespace
}  // namespace vedette::test
