#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "domain/workflow/block_type.h"
#include "domain/workflow/run_plan.h"
#include "store/jobs/claim.h"
#include "store/jobs/end.h"
#include "store/jobs/record.h"
#include "store/workflows/schedules.h"
#include "tests/store/support/jobs_support.h"
#include "tests/store/support/neighbour.h"
#include "tests/store/support/operator_support.h"

// Runs through the admin port: what the operator sees of them, and ends.
namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class AdminRuns : public AdminTest {
 protected:
  AdminRuns()
      : session(config.database, {.name = "test"}, clock, metrics, log),
        org(NewOrganisation()),
        org_id(*base::Uuid::Parse(org)) {}

  // A run of four rows in two parts: webhook --> dedupe --> outgoing_webhook, numbered 10, 20, 30.
  std::string NewRun() {
    store::NewJob job = NewLookup(org_id, clock, 2);
    job.kind = domain::JobKind::kWorkflow;
    job.name = "clean leads";
    job.workflow_id = base::Uuid::V4();
    const Json definition{
        {"blocks",
         {{{"block_id", "a"}, {"block_name", "webhook"}, {"sequence_number", 10}},
          {{"block_id", "b"}, {"block_name", "dedupe"}, {"sequence_number", 20}},
          {{"block_id", "c"}, {"block_name", "outgoing_webhook"}, {"sequence_number", 30}}}},
        {"edges",
         {{{"from_block_id", "a"}, {"to_block_id", "b"}},
          {{"from_block_id", "b"}, {"to_block_id", "c"}}}}};
    job.params_json = domain::RunParamsJson(definition, domain::Frame::kLead);
    job.blocks.clear();
    for (int i = 0; i < 3; ++i) {
      store::NewJobBlock& block = job.blocks.emplace_back();
      block.type =
          definition["blocks"][static_cast<std::size_t>(i)]["block_name"].get<std::string>();
      block.lane = domain::Lane::kTransform;
      block.parts_total = i == 2 ? 0 : 2;
      if (i > 0) block.input = i - 1;
    }
    job.blocks[0].rows_total = 4;
    job.parts = {{"[[1],[2]]", 2}, {"[[3],[4]]", 2}};
    const auto outcome = store::StartJob(session, clock, job, {10'000});
    EXPECT_TRUE(std::holds_alternative<store::JobStarted>(outcome));
    return job.id.ToString();
  }

  store::ClaimedJobChunk Claim() {
    const auto claim = store::ClaimJobChunks(session, {{domain::Lane::kTransform, org_id, 1, 1}},
                                             base::Uuid::V4(), std::chrono::seconds(30), {});
    return claim.chunks.at(0);
  }

  std::vector<std::string> Ids(const std::string& query) {
    std::vector<std::string> found;
    const Reply reply = Ask("GET", "/admin/v1/runs" + query);
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    for (const Json& run : reply.body["items"]) found.push_back(run["id"]);
    return found;
  }

  store::Session session;
  const std::string org;
  const base::Uuid org_id;
};

TEST_F(AdminRuns, AreListedNewestFirstByStatusAndOrganisation) {
  const std::string first = NewRun();
  const std::string second = NewRun();
  store::StartJob(session, clock, NewLookup(org_id, clock), {10'000});  // no run
  EXPECT_EQ(Ids(""), (std::vector{second, first}));
  EXPECT_EQ(Ids("?org_id=" + org + "&status="), (std::vector{second, first}));
  EXPECT_EQ(Ids("?org_id=" + NewOrganisation("other")), std::vector<std::string>{});
  Ask("POST", "/admin/v1/runs/" + second + "/cancel", Json{{"reason", "r"}});
  EXPECT_EQ(Ids("?status=active"), std::vector{first});
  EXPECT_EQ(Ids("?status=queued"), std::vector{first});
  EXPECT_EQ(Ids("?status=terminated"), std::vector{second});
  EXPECT_EQ(Ids("?status=completed"), std::vector<std::string>{});
  const Reply page = Ask("GET", "/admin/v1/runs?limit=1");
  EXPECT_EQ(Ids("?limit=1&cursor=" + page.body["next_cursor"].get<std::string>()),
            std::vector{first});
  const Json& item = page.body["items"][0];
  EXPECT_EQ(item["workflow_name"], "clean leads");
  EXPECT_EQ(item["status_reason"], "cancelled_by_operator");
  EXPECT_EQ(item["org_id"], org);
  EXPECT_EQ(item["blocks"], 3);
  EXPECT_EQ(item["rows_in"], 4);
  EXPECT_EQ(item["rows_out"], 0);
  EXPECT_EQ(Ask("GET", "/admin/v1/runs?status=done").status, 422);
  EXPECT_EQ(Ask("GET", "/admin/v1/runs?cursor=x").status, 400);
}

TEST_F(AdminRuns, ARunIsShownAsItsGraphWithItsProgressAndItsLastError) {
  const std::string run = NewRun();
  store::JobChunkRecord record = JobsTest::PartEnd(Claim(), 2);
  record.row_errors = 1;
  record.last_error = "no_page: there is no page";
  store::RecordJobChunks(session, clock, {record});
  Sql("update job_block set type = 'row_dedupe' where block = 1");
  const Json shown = Ask("GET", "/admin/v1/runs/" + run).body;
  EXPECT_EQ(shown["status"], "running");
  EXPECT_EQ(shown["workflow_name"], "clean leads");
  EXPECT_EQ(shown["progress_percentage"], 66.6) << "the last block shows its input's";
  ASSERT_EQ(shown["blocks"].size(), 3U);
  const Json& dedupe = shown["blocks"][1];
  EXPECT_EQ(dedupe["block_id"], "b");
  EXPECT_EQ(dedupe["type"], "dedupe") << "as the workflow calls it";
  EXPECT_EQ(dedupe["sequence_number"], 20);
  EXPECT_EQ(dedupe["previous_block_ids"], Json::array({"a"}));
  EXPECT_EQ(dedupe["status"], "running");
  EXPECT_EQ(dedupe["progress_percentage"], 50);
  EXPECT_EQ(dedupe["last_error"], *record.last_error);
  EXPECT_EQ(shown["blocks"][0]["previous_block_ids"], Json::array());
  EXPECT_EQ(shown["blocks"][2]["rows_out"], 2) << "its input's";
  EXPECT_EQ(shown["chunks"].size(), 1U);
  ASSERT_EQ(shown["files"].size(), 2U) << "the source's and dedupe's, each once";
  EXPECT_EQ(shown["files"][1]["block_name"], "dedupe");
  EXPECT_EQ(shown["files"][1]["rows"], 2);
  EXPECT_EQ(shown["files"][1]["filename"], "clean_leads_20_dedupe_" + run.substr(0, 8) + ".csv");
}

TEST_F(AdminRuns, LinksToFilesAreShownOnDemandAloneAndWhoAskedIsAudited) {
  const std::string run = NewRun();
  const std::string path = "/admin/v1/runs/" + run;
  store::RecordJobChunks(session, clock, {JobsTest::PartEnd(Claim(), 2)});
  config.public_url = "https://api.example";
  EXPECT_EQ(Ask("GET", path).body["files"][1]["url"], nullptr);
  EXPECT_EQ(Ask("GET", path + "?rows=maybe").status, 422);
  EXPECT_EQ(Sql("select count(*) from audit where action = 'run.rows'"), "0");
  EXPECT_THAT(Ask("GET", path + "?rows=true").body["files"][1]["url"].get<std::string>(),
              HasSubstr("https://api.example/storage/download/" + run + "/1.csv?expires="));
  const Json entry = Ask("GET", "/admin/v1/audit?limit=1").body["items"][0];
  EXPECT_EQ(entry["action"], "run.rows");
  EXPECT_EQ(entry["target"], run);
  EXPECT_EQ(entry["org_id"], org);
  config.public_url = "";
  EXPECT_EQ(Ask("GET", path + "?rows=true").body["files"][1]["url"], nullptr);
}

TEST_F(AdminRuns, CancelEndsARunOnceIsAuditedAndOfItsKindAlone) {
  const std::string run = NewRun();
  const std::string cancel = "/admin/v1/runs/" + run + "/cancel";
  EXPECT_EQ(Ask("POST", cancel, Json::object()).status, 422) << "a reason is needed";
  const Reply ended = Ask("POST", cancel, Json{{"reason", "asked by phone"}});
  EXPECT_EQ(
      ended.body,
      (Json{{"id", run}, {"status", "terminated"}, {"status_reason", "cancelled_by_operator"}}));
  EXPECT_EQ(Ask("POST", cancel, Json{{"reason", "again"}}).body, ended.body) << "idempotent";
  const Json shown = Ask("GET", "/admin/v1/runs/" + run).body;
  EXPECT_EQ(shown["blocks"][1]["status"], "cancelled");
  EXPECT_EQ(shown["chunks"], Json::array());
  EXPECT_EQ(shown["error"], "The operator ended the job.") << "the reason is not the client's";
  EXPECT_EQ(Sql("select count(*) from audit where action = 'run.cancel'"), "1");
  const Json entry = Ask("GET", "/admin/v1/audit?limit=1").body["items"][0];
  EXPECT_EQ(entry["target"], run);
  EXPECT_EQ(entry["reason"], "asked by phone");
  EXPECT_THAT(metrics.Expose(),
              HasSubstr("vedette_jobs_total{kind=\"workflow\",outcome=\"terminated\"} 1\n"));
  store::NewJob lookup = NewLookup(org_id, clock);
  store::StartJob(session, clock, lookup, {10'000});
  const std::string other = "/admin/v1/runs/" + lookup.id.ToString();
  EXPECT_EQ(Ask("GET", other).status, 404) << "a lookup is no run";
  EXPECT_EQ(Ask("POST", other + "/cancel", Json{{"reason", "r"}}).status, 404);
  EXPECT_EQ(Sql("select count(*) from job where finished_at is null"), "1");
}

// Schedules of workflows through the admin port.
class AdminSchedules : public AdminRuns {
 protected:
  // A workflow of its own runs every hour.
  std::string NewSchedule(const std::string& name) {
    store::NewWorkflowSchedule schedule;
    schedule.org_id = org_id;
    schedule.workflow_id = base::Uuid::V4();
    Sql("insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id) "
        "values ('" +
        schedule.workflow_id.ToString() + "', '" + org + "', 'w', '', '{}', 0, '" + org + "')");
    schedule.name = name;
    schedule.times.frequency = "1h";
    schedule.times.period = std::chrono::hours(1);
    schedule.owner.team_id = team;
    return store::CreateWorkflowSchedule(session, clock, schedule, {}).schedule.id.ToString();
  }
  std::vector<std::string> Names(const std::string& query) {
    std::vector<std::string> found;
    const Reply reply = Ask("GET", "/admin/v1/schedules" + query);
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    for (const Json& schedule : reply.body["items"]) found.push_back(schedule["name"]);
    return found;
  }

  const std::string team_text =
      Ask("POST", "/admin/v1/orgs/" + org + "/teams", Json{{"name", "red"}}).body["id"];
  const base::Uuid team = *base::Uuid::Parse(team_text);
};

TEST_F(AdminSchedules, AreListedNewestFirstByStateOrganisationAndWorkflow) {
  const std::string first = NewSchedule("first");
  NewSchedule("second");
  EXPECT_EQ(Names(""), (std::vector<std::string>{"second", "first"}));
  EXPECT_EQ(Names("?org_id=" + org + "&status="), (std::vector<std::string>{"second", "first"}));
  EXPECT_EQ(Names("?org_id=" + NewOrganisation("other")), std::vector<std::string>{});
  const Json shown = Ask("GET", "/admin/v1/schedules/" + first).body;
  EXPECT_EQ(Names("?workflow_id=" + shown["workflow_id"].get<std::string>()),
            std::vector<std::string>{"first"});
  EXPECT_EQ(Names("?status=paused"), std::vector<std::string>{});
  const Reply page = Ask("GET", "/admin/v1/schedules?limit=1");
  EXPECT_EQ(Names("?limit=1&cursor=" + page.body["next_cursor"].get<std::string>()),
            std::vector<std::string>{"first"});
  EXPECT_EQ(page.body["items"][0]["org_id"], org);
  EXPECT_EQ(shown["org_id"], org);
  EXPECT_EQ(shown["next_run_times"].size(), 5U);
  EXPECT_EQ(shown["history"], Json::array());
  EXPECT_EQ(Ask("GET", "/admin/v1/schedules?status=done").status, 422);
  EXPECT_EQ(Ask("GET", "/admin/v1/schedules?cursor=x").status, 400);
}

TEST_F(AdminSchedules, WhatRunsAreGivenIsShownOnDemandAloneAndWhoReadItIsAudited) {
  const std::string id = NewSchedule("mine");
  const std::string path = "/admin/v1/schedules/" + id;
  Sql(R"(update workflow_schedule set webhook_payload = '[{"email": "ada@x.example"}]', )"
      R"(specs_override = '{"a": {"webhook_input": "ada@x.example"}}')");
  for (const std::string& asked : {path, std::string("/admin/v1/schedules")}) {
    EXPECT_THAT(Ask("GET", asked).raw.body, testing::Not(HasSubstr("ada@")));
  }
  EXPECT_THAT(Ask("POST", path + "/pause", Json{{"reason", "r"}}).raw.body,
              testing::Not(HasSubstr("ada@")));
  EXPECT_EQ(Ask("GET", path + "?rows=maybe").status, 422);
  EXPECT_EQ(Sql("select count(*) from audit where action = 'schedule.rows'"), "0");
  const Json shown = Ask("GET", path + "?rows=true").body;
  EXPECT_EQ(shown["webhook_payload"][0]["email"], "ada@x.example");
  EXPECT_EQ(shown["specs_override"]["a"]["webhook_input"], "ada@x.example");
  const Json entry = Ask("GET", "/admin/v1/audit?limit=1").body["items"][0];
  EXPECT_EQ(entry["action"], "schedule.rows");
  EXPECT_EQ(entry["target"], id);
  EXPECT_EQ(entry["org_id"], org);
}

TEST_F(AdminSchedules, APauseShowsItsReasonAndAResumeGoesOnForWhomItWas) {
  const std::string path = "/admin/v1/schedules/" + NewSchedule("mine");
  EXPECT_EQ(Ask("POST", path + "/pause", Json::object()).status, 422) << "why is to be said";
  EXPECT_EQ(Ask("POST", path + "/resume", Json::object()).status, 409) << "it is not paused";
  const Reply paused = Ask("POST", path + "/pause", Json{{"reason", "too many runs"}});
  EXPECT_EQ(paused.body["is_active"], false) << paused.raw.body;
  EXPECT_EQ(paused.body["paused_reason"], "operator");
  EXPECT_EQ(paused.body["paused_message"], "too many runs (by the operator)");
  EXPECT_EQ(paused.body["next_run_times"], Json::array());
  const Reply resumed = Ask("POST", path + "/resume", Json{{"reason", "they are fewer"}});
  EXPECT_EQ(resumed.body["is_active"], true) << resumed.raw.body;
  EXPECT_EQ(resumed.body["paused_reason"], nullptr);
  EXPECT_EQ(Sql("select team_id from workflow_schedule"), team_text);
  EXPECT_EQ(Sql("select string_agg(action || ' ' || reason, ', ' order by id) from audit where "
                "action like 'schedule.%' and actor = 'default'"),
            "schedule.pause too many runs, schedule.resume they are fewer");
  Ask("POST", path + "/pause", Json{{"reason", "r"}});
  Sql("update workflow set deleted_at = now()");
  EXPECT_EQ(Ask("POST", path + "/resume", Json::object()).body["error"], "workflow_deleted");
  EXPECT_EQ(Ask("POST", path.substr(0, path.size() - 1) + "z/pause", Json{{"reason", "r"}}).status,
            404);
}

TEST_F(AdminSchedules, AScheduleOfADeletedTeamIsUpdatedAndNotResumed) {
  const std::string path = "/admin/v1/schedules/" + NewSchedule("mine");
  Ask("POST", path + "/pause", Json{{"reason", "r"}});
  Sql("update team set deleted_at = now()");
  const Reply refused = Ask("POST", path + "/resume", Json::object());
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.body["error"], "team_deleted");
  EXPECT_EQ(Ask("GET", path).body["is_active"], false);
  Sql("update workflow_schedule set team_id = null");
  EXPECT_EQ(Ask("POST", path + "/resume", Json::object()).status, 200) << "as an update leaves it";
}

TEST_F(AdminSchedules, AScheduleIsNotResumedWhileItsTeamIsDeleted) {
  const std::string path = "/admin/v1/schedules/" + NewSchedule("mine");
  Ask("POST", path + "/pause", Json{{"reason", "r"}});
  const Reply refused = CallBeside(database.url(), "update team set deleted_at = now()",
                                   [&] { return Ask("POST", path + "/resume", Json::object()); });
  EXPECT_EQ(refused.body["error"], "team_deleted");
  EXPECT_EQ(Ask("GET", path).body["is_active"], false);
}

TEST_F(AdminSchedules, ATeamIsNotDeletedWhileAScheduleRunsForIt) {
  const std::string path = "/admin/v1/schedules/" + NewSchedule("mine");
  const std::string at = "/admin/v1/orgs/" + org + "/teams/" + team_text;
  EXPECT_EQ(Ask("DELETE", at).status, 409);
  Ask("POST", path + "/pause", Json{{"reason", "r"}});
  EXPECT_EQ(Ask("DELETE", at).status, 204);
}

}  // namespace
}  // namespace vedette::test
