// The rules of POST /workflows/run that money, files and sizes make, and what is shown of a run
// that is under way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "config/jobs_config.h"
#include "domain/workflow/payload.h"
#include "store/monitors/uploads.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiRunRules : public ApiRuns {
 public:
  static Json Records(int n) {
    Json records = Json::array();
    for (int i = 0; i < n; ++i) records.push_back({{"n", i}});
    return records;
  }
  Reply Start(const std::string& workflow, const Json& body, const Headers& headers = {}) {
    return Ask("POST", "/workflows/run?workflow_id=" + workflow, body, headers);
  }
  // A definition that costs a credit a row.
  std::string Priced() {
    return NewWorkflow(
        Chain({WebhookSource(), Block("enrich_lead", {{"struct", {{"job", "x"}}}})}));
  }
  std::string Free() { return NewWorkflow(Chain({WebhookSource(), Block("dedupe")})); }

  // A filter has had one of three parts of 600 rows, of which it kept 200 rows.
  std::string UnderWay() {
    const Json keeps{{"conditions", Json::array({Json{{"column", "n"}, {"op", "is_not_empty"}}})}};
    const std::string run =
        RunRows(NewWorkflow(Chain({WebhookSource(), Block("filter", keeps), Block("dedupe")})),
                Records(600));
    EXPECT_TRUE(Ask("GET", "/workflows/runs").body[0]["duration_ms"].is_null()) << "queued";
    Sql("update job set status = 1, started_at = created_at");
    Sql("update job_block set status = 1, started_at = now(), parts_done = 1, rows_done = 256, "
        "rows_out = 200 where block = 1");
    return run;
  }

  static std::set<std::string> NamesOf(const Json& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
  }
};

TEST_F(ApiRunRules, Rule3_UnknownUnfinishedExpiredAndForeignHandlesAre400) {
  const std::string workflow = NewWorkflow(Chain({Block("read_csv"), Block("dedupe")}));
  const auto with = [](const std::string& handle) {
    return Json{{"specs_override", {{"resource_handle_id", handle}}}};
  };
  const std::string handle = Upload("n\n1\n");
  const auto unfinished = store::BeginUpload(session, clock, *base::Uuid::Parse(acme.org_id),
                                             {std::chrono::hours(1), 100, std::int64_t{1} << 30});
  const Tenant other = NewTenant("other");
  const Headers theirs{{"x-api-key", other.key}};
  const Reply made = Ask("POST", "/workflows/create_workflow",
                         Json{{"workflow_name", "theirs"},
                              {"workflow_definition", Chain({Block("read_csv"), Block("dedupe")})}},
                         theirs);
  ASSERT_EQ(made.status, 200) << made.raw.body;
  const auto theirs_id = made.body["id"].get<std::string>();
  for (const std::string& bad :
       {std::string("x"), base::Uuid::V4().ToString(), unfinished->ToString()}) {
    EXPECT_EQ(Start(workflow, with(bad)).status, 400) << bad;
    EXPECT_EQ(Start(workflow, with(bad)).error(), "invalid_resource_handle") << bad;
  }
  EXPECT_EQ(Start(theirs_id, with(handle), theirs).error(), "invalid_resource_handle");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Start(workflow, with(handle)).status, 200) << "a handle serves any number of runs";
  }
  Sql("update upload set expires_at = now()");
  EXPECT_EQ(Start(workflow, with(handle)).error(), "invalid_resource_handle");
  EXPECT_EQ(Sql("select count(*) from job"), "2");
}

TEST_F(ApiRunRules, ATeamsSpendLimitIsA402WithTheEstimateAndTheBalance) {
  const std::string team = NewTeam(acme.org_id);
  Sql("update team set spend_limit_mc = 2000 where id = '" + team + "'");
  const Headers key{{"x-api-key", NewKey(acme.org_id, team)}};
  const std::string workflow = Priced();
  const Reply refused = Start(workflow, Json{{"webhook_payload", Records(3)}}, key);
  EXPECT_EQ(refused.status, 402) << refused.raw.body;
  EXPECT_EQ(refused.error(), "spend_limit_reached");
  EXPECT_EQ(refused.body["estimated_cost_cents"], 3);
  EXPECT_EQ(refused.body["balance"], 1000);
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  EXPECT_EQ(Start(workflow, Json{{"webhook_payload", Records(2)}}, key).status, 200);
  EXPECT_EQ(Start(workflow, Json{{"webhook_payload", Records(1)}}, key).error(),
            "spend_limit_reached")
      << "what a run has reserved counts";
}

TEST_F(ApiRunRules, G4_ThreePricedBlocksBehindAFilterKeepTheBalanceExact) {
  const Json keeps{
      {"conditions", Json::array({Json{{"column", "n"}, {"op", "gte"}, {"value", 15}}})}};
  const Json asks{{"struct", {{"job", "x"}}}};
  Json definition = Chain({WebhookSource(), Block("filter", keeps), Block("enrich_lead", asks),
                           Block("enrich_lead", asks), Block("enrich_lead", asks)});
  definition["edges"][3]["from_block_id"] = "2";  // what the filter kept, too
  const std::string run = RunRows(NewWorkflow(definition), Records(60));
  EXPECT_EQ(Sql("select estimate_mc || ' ' || reserved_mc from job"), "180000 180000")
      << "what it may cost is reserved, and what the filter drops is given back";
  {
    const Worker worker(*this);
    EXPECT_EQ(Ended(run)["overall_status"], "completed");
  }
  EXPECT_EQ(probe.asked(), 3 * 45);
  EXPECT_EQ(Sql("select charged_mc || ' ' || reserved_mc || ' ' || estimate_mc from job"),
            "135000 0 180000");
  EXPECT_EQ(Sql("select sum(checks) || ' ' || sum(amount_mc) from credit_entry where job_id is not "
                "null"),
            "135 -135000");
  EXPECT_EQ(Sql("select a.balance_mc || ' ' || sum(e.amount_mc) from account a join credit_entry e "
                "using (org_id) where org_id = '" +
                acme.org_id + "' group by a.balance_mc"),
            "865000 865000");
}

// Rows are kept for days, and cost nothing in blocks that are free.
TEST_F(ApiRunRules, RunDataHasALimitThatIsToldBeforeItIsReachedAndRefusesRunsBehindIt) {
  config.workflows.run_data_bytes_per_org_max = 1'000'000;
  const std::string workflow = Free();
  const Json body{{"webhook_payload", Records(10)}};
  const Reply first = Start(workflow, body);
  ASSERT_EQ(first.status, 200) << first.raw.body;
  EXPECT_EQ(first.body["warnings"], Json::array());
  {
    const Worker worker(*this);
    EXPECT_EQ(Ended(first.body["job_id"])["overall_status"], "completed");
  }
  const std::string kept = Sql("select sum(octet_length(rows::text) + 100) from job_part");
  EXPECT_EQ(Sql("select sum(bytes) from run_data where org_id = '" + acme.org_id + "'"), kept);
  EXPECT_EQ(Sql("select sum(bytes) from job_block"), kept);
  Sql("update run_data set bytes = 850000");
  const Reply warned = Start(workflow, body);
  ASSERT_EQ(warned.status, 200) << warned.raw.body;
  EXPECT_THAT(warned.body["warnings"][0].get<std::string>(),
              HasSubstr("of 1000000 bytes; at the limit runs are refused"));
  Sql("update run_data set bytes = 999990");
  const Reply refused = Start(workflow, body);
  EXPECT_EQ(refused.status, 409) << refused.raw.body;
  EXPECT_EQ(refused.error(), "run_data_limit_reached");
  EXPECT_THAT(refused.body["message"].get<std::string>(), HasSubstr("ask the operator"));
  EXPECT_EQ(Sql("select count(*) from job"), "2");
  // Another organisation's rows are its own matter.
  Sql("update run_data set org_id = '" + NewTenant("other").org_id + "'");
  EXPECT_EQ(Start(workflow, body).status, 200);
}

TEST_F(ApiRunRules, ACancelledRunOffersNoFileOfItsSource) {
  const std::string run = UnderWay();
  ASSERT_EQ(Ask("POST", "/workflows/cancel?job_id=" + run).status, 200);
  const Reply links = Ask("GET", "/workflows/runs/" + run + "/results/download-links?blocks=all");
  ASSERT_EQ(links.body.size(), 1U) << links.raw.body;
  EXPECT_EQ(links.body[0]["block_name"], "filter");
}

// In the order of their starts it would be the last one to end.
TEST_F(ApiRunRules, G10_TwoHundredRunsOfOneOrganisationLetAnothersThrough) {
  constexpr int kRuns = 200;
  const Json definition = Chain({WebhookSource(), Block("dedupe"), Block("dedupe")});
  const std::string workflow = NewWorkflow(definition);
  for (int i = 0; i < kRuns; ++i) RunRows(workflow, Records(1));
  const Headers theirs{{"x-api-key", NewTenant("other").key}};
  const Reply made =
      Ask("POST", "/workflows/create_workflow",
          Json{{"workflow_name", "theirs"}, {"workflow_definition", definition}}, theirs);
  const Reply started =
      Start(made.body["id"].get<std::string>(), Json{{"webhook_payload", Records(10)}}, theirs);
  ASSERT_EQ(started.status, 200) << started.raw.body;
  {
    const Worker worker(*this);
    Until("select count(*) from job where status = 2", std::to_string(kRuns + 1));
  }
  const int before = std::stoi(
      Sql("select count(*) from job where finished_at < (select finished_at from job where id = '" +
          started.body["job_id"].get<std::string>() + "')"));
  RecordProperty("runs_before", before);
  EXPECT_LT(before, kRuns / 2);
}

TEST_F(ApiRunRules, RecordsAndColumnsHaveTheirLimits) {
  const std::string workflow = Free();
  const auto refused = [&](const Json& payload) {
    const Reply reply = Start(workflow, Json{{"webhook_payload", payload}});
    EXPECT_EQ(reply.status, 422) << reply.raw.body.substr(0, 500);
    return reply.loc() + " " + reply.type();
  };
  EXPECT_EQ(refused(Records(static_cast<int>(domain::kRecordsMax) + 1)),
            R"(["body","webhook_payload"] too_long)");
  EXPECT_EQ(refused(Json::array({Json{{"n", 1}}, Json{{"n", std::string(65'536, 'x')}}})),
            R"(["body","webhook_payload",1] too_long)");
  EXPECT_THAT(refused(Json::array({Json{{std::string(201, 'x'), 1}}})),
              HasSubstr("string_too_long"));
  EXPECT_THAT(refused(Json::array({Json{{"", 1}}})), HasSubstr("string_too_short"));
  Json wide = Json::array();
  for (int record = 0; record < 2; ++record) {
    Json row = Json::object();
    for (int i = 0; i < 600; ++i) row[fmt::format("{}/{}", record, i)] = i;
    wide.push_back(row);
  }
  EXPECT_THAT(refused(wide), HasSubstr("too_long")) << "1,200 columns";
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  EXPECT_EQ(Ask("POST",
                "/workflows/run?result_formats=csv&result_formats=ndjson&save_json=true&"
                "workflow_id=" +
                    workflow,
                Json{{"webhook_payload", Records(1)}})
                .status,
            200)
      << "accepted without effect";
  EXPECT_EQ(Ask("POST", "/workflows/run?result_formats=xml&workflow_id=" + workflow,
                Json{{"webhook_payload", Records(1)}})
                .type(),
            "enum");
}

TEST_F(ApiRunRules, WhatIsToldFirst) {
  const std::string csv = NewWorkflow(Chain({Block("read_csv"), Block("dedupe")}));
  const std::string priced = Priced();
  const Json payload{{"webhook_payload", Records(1)}};
  const Json override_and_payload{{"webhook_payload", Records(1)},
                                  {"specs_override", {{"colour", 1}}}};
  EXPECT_EQ(Start(base::Uuid::V4().ToString(), Json{{"colour", 1}}).status, 404)
      << "the workflow before the body";
  EXPECT_EQ(Start(csv, Json{{"webhook_payload", 1}, {"specs_override", {{"colour", 1}}}}).type(),
            "list_type")
      << "the form before what the override makes of the specs";
  EXPECT_EQ(Start(csv, override_and_payload).status, 422) << "the override before rule 1";
  const std::string token = "vd_ses_" + base::RandomBase62(43);
  Sql("insert into org_user (org_id, user_id) values ('" + acme.org_id + "', 'ada')");
  Sql("insert into access_token (token_sha256, id, kind, org_id, principal_id, user_id, "
      "expires_at) values ('\\x" +
      base::HexEncode(base::Sha256(token)) + "', gen_random_uuid(), 2, '" + acme.org_id +
      "', gen_random_uuid(), 'ada', now() + interval '1 hour')");
  EXPECT_EQ(Start(csv, override_and_payload, {{"authorization", "Bearer " + token}}).error(),
            "session_token_not_allowed")
      << "rule 2 before the override";
  const Headers key{{"idempotency-key", "once"}};
  ASSERT_EQ(Start(priced, payload, key).status, 200);
  Sql("update account set balance_mc = 0 where org_id = '" + acme.org_id + "'");
  EXPECT_EQ(Start(priced, payload).status, 402);
  const Reply again = Start(priced, payload, key);
  EXPECT_EQ(again.body["already_started"], true) << "a known key before all that can change";
  EXPECT_EQ(Start(priced, Json{{"webhook_payload", Records(2)}}, key).status, 422);
  Sql("update workflow set deleted_at = now()");
  EXPECT_EQ(Start(priced, payload).status, 404);
  EXPECT_EQ(Start(priced, payload, key).raw.body, again.raw.body) << "and before the workflow";
  Sql("update organisation set locked = true");
  EXPECT_EQ(Start(priced, payload, key).status, 403) << "a lock before the key";
  EXPECT_EQ(Ask("POST", "/workflows/run", payload).status, 403) << "and before the query";
}

TEST_F(ApiRunRules, TheWorkflowIsToldBeforeTheBodyAndOfThatItsSizeItsTypeAndItsForm) {
  const std::string run = "/workflows/run?workflow_id=";
  const std::string workflow = run + Free();
  const auto send = [this](const std::string& target, const std::string& body,
                           const std::string& type = "application/json") {
    net::ServerRequest request = Request("POST", target, {{"content-type", type}});
    request.body = body;
    request.body_too_large = body == "large";
    return AskRaw(std::move(request));
  };
  EXPECT_EQ(send("/workflows/run", "large").loc(), R"(["query","workflow_id"])");
  EXPECT_EQ(send(run + base::Uuid::V4().ToString(), "large").status, 404);
  EXPECT_EQ(send(workflow, "large", "text/plain").status, 413);
  EXPECT_EQ(send(workflow, "{", "text/plain").status, 415);
  for (const char* malformed : {"{", "[]", "nothing", R"({"webhook_payload": [}]})"}) {
    EXPECT_EQ(send(workflow, malformed).status, 400) << malformed;
  }
  EXPECT_EQ(send(workflow, R"({"webhook_payload": 1})").type(), "list_type");
  EXPECT_EQ(send(workflow, R"({"specs_override": 1})").type(), "dict_type");
  EXPECT_EQ(send(workflow + "&save_json=perhaps", "{}").status, 422);
  for (const char* nothing : {"", "{}", R"({"specs_override": null, "webhook_payload": null})"}) {
    EXPECT_EQ(send(workflow, nothing).error(), "missing_payload") << nothing;
  }
  EXPECT_EQ(Sql("select count(*) from job"), "0");
}

TEST_F(ApiRunRules, EveryFieldOfTheLiveStatusOfARunThatIsUnderWay) {
  const std::string run = UnderWay();
  const Json live = Live(run);
  EXPECT_EQ(
      NamesOf(live),
      (std::set<std::string>{"run_id", "workflow_id", "overall_status", "status_reason",
                             "error_message", "current_block", "current_block_sequence",
                             "total_blocks", "completed_blocks", "started_at", "completed_at",
                             "last_updated", "overall_progress_percentage", "estimation_blocked_by",
                             "blocks", "waiting_until", "schedule_id", "scheduled_at"}));
  EXPECT_EQ(live["run_id"], run);
  EXPECT_EQ(live["workflow_id"], Sql("select id from workflow"));
  EXPECT_EQ(live["overall_status"], "running");
  EXPECT_TRUE(live["status_reason"].is_null());
  EXPECT_TRUE(live["waiting_until"].is_null());
  EXPECT_TRUE(live["error_message"].is_null());
  EXPECT_EQ(live["current_block"], "2");
  EXPECT_EQ(live["current_block_sequence"], 2);
  EXPECT_EQ(live["total_blocks"], 3);
  EXPECT_EQ(live["completed_blocks"], 1);
  EXPECT_TRUE(live["started_at"].is_string());
  EXPECT_TRUE(live["completed_at"].is_null());
  EXPECT_EQ(live["overall_progress_percentage"], 47.5) << "the mean of 100, 42.6 and 0";
  EXPECT_EQ(live["estimation_blocked_by"], "2");
}

TEST_F(ApiRunRules, ARunThatWaitsForTheMailBudgetSaysSoAndUntilWhen) {
  const std::string run = UnderWay();
  // One of its parts waits for the budget, and one is still worked on.
  Sql("update job_chunk set waits_for = 1, lease_token = null, available_at = now() + interval '40 "
      "minutes' "
      "where part = (select min(part) from job_chunk)");
  EXPECT_TRUE(Live(run)["status_reason"].is_null()) << "another part is due";
  // Another one waits for a greylist.
  Sql("update job_chunk set lease_token = null, available_at = now() + interval '10 minutes' where "
      "waits_for is null");
  const Json live = Live(run);
  EXPECT_EQ(live["overall_status"], "running");
  EXPECT_EQ(live["status_reason"], "waiting_for_mail_budget");
  EXPECT_EQ(base::ParseTimestamp(live["waiting_until"].get<std::string>()),
            base::ParseTimestamp(
                Sql("select to_char(available_at at time zone 'UTC', "
                    "'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from job_chunk where waits_for = 1")));
  EXPECT_EQ(Ask("GET", "/workflows/runs").body[0]["status_reason"], "waiting_for_mail_budget");
  EXPECT_EQ(Ask("GET", "/job-status/" + run).body["status_reason"], "waiting_for_mail_budget");
  Sql("update job_chunk set available_at = now() where waits_for = 1");
  EXPECT_TRUE(Live(run)["status_reason"].is_null()) << "it is due";
}

TEST_F(ApiRunRules, EveryFieldOfItsBlocks) {
  const std::string run = UnderWay();
  const Json blocks = Live(run)["blocks"];
  const Json& filter = blocks[1];
  EXPECT_EQ(
      NamesOf(filter),
      (std::set<std::string>{"block_id", "block_name", "sequence_number", "previous_block_ids",
                             "status", "started_at", "completed_at", "progress_percentage",
                             "current_step", "processed_count", "total_count",
                             "estimated_total_count", "last_updated", "error_message", "metrics"}));
  EXPECT_EQ(filter["block_id"], "2");
  EXPECT_EQ(filter["block_name"], "filter");
  EXPECT_EQ(filter["sequence_number"], 2);
  EXPECT_EQ(filter["previous_block_ids"], Json::array({"1"}));
  EXPECT_EQ(filter["status"], "running");
  EXPECT_TRUE(filter["completed_at"].is_null());
  EXPECT_EQ(filter["progress_percentage"], 42.6) << "256 of 600 rows, which are one of three parts";
  EXPECT_EQ(filter["current_step"], "256 of 600 rows");
  EXPECT_EQ(filter["processed_count"], 256);
  EXPECT_EQ(filter["total_count"], 600) << "its input is complete";
  EXPECT_EQ(filter["estimated_total_count"], 600);
  EXPECT_EQ(filter["metrics"], (Json{{"row_count", 200},
                                     {"dataframe_type", "LEAD"},
                                     {"processed_count", 256},
                                     {"total_count", 600}}));
  const Json& dedupe = blocks[2];
  EXPECT_EQ(dedupe["status"], "pending");
  EXPECT_TRUE(dedupe["current_step"].is_null());
  EXPECT_EQ(dedupe["progress_percentage"], 0);
  EXPECT_EQ(dedupe["total_count"], 200) << "so far";
  EXPECT_EQ(dedupe["estimated_total_count"], 200 * 600 / 256) << "were all rows like the first";
  Sql("update job_block set parts_done = 0, rows_out = 0 where block = 1");
  EXPECT_TRUE(Live(run)["blocks"][2]["estimated_total_count"].is_null())
      << "before the input's first part";
}

TEST_F(ApiRunRules, EveryFieldOfItsItemInTheList) {
  const std::string run = UnderWay();
  const Json item = Ask("GET", "/workflows/runs").body[0];
  EXPECT_EQ(
      NamesOf(item),
      (std::set<std::string>{"job_id", "workflow_id", "workflow_name", "status", "step", "user_id",
                             "created_at", "updated_at", "queued_at", "started_at", "completed_at",
                             "duration_ms", "status_reason", "error_message", "metrics", "blocks",
                             "blocks_count", "schedule_id", "scheduled_at"}));
  EXPECT_GE(item["duration_ms"], 0) << "it counts from the start";
  EXPECT_EQ(item["updated_at"], item["started_at"]) << "the last change of status";
  EXPECT_TRUE(item["user_id"].is_null()) << "a key is nobody";
  EXPECT_TRUE(item["step"].is_null());
  EXPECT_TRUE(item["blocks"].is_null());
  EXPECT_EQ(item["metrics"],
            (Json{{"rows_in", 600}, {"rows_out", 0}, {"row_errors", 0}, {"charge_amount", 0}}));
  EXPECT_EQ(item["job_id"], run);
}

TEST_F(ApiRunRules, ARunThatGoesOnOffersItsCompletedBlocksAndEveryFieldOfThem) {
  const std::string run = RunRows(
      NewWorkflow(Chain({WebhookSource(), Block("dedupe"), Block("dedupe")}), "A flow, of mine!"),
      Records(2));
  const std::string of = "/workflows/runs/" + run + "/results/download-links";
  EXPECT_EQ(Ask("GET", of).body, Json::array()) << "its input is no result of a queued run";
  EXPECT_EQ(Ask("GET", of + "?blocks=all").body.size(), 1U) << "but one of its blocks with rows";
  Sql("update job set status = 1, started_at = created_at");
  EXPECT_EQ(Ask("GET", of).body, Json::array()) << "nor of a running one";
  Sql("update job_block set status = 2, finished_at = now(), rows_out = 2 where block = 1");
  const Reply links = Ask("GET", of + "?format=json");
  ASSERT_EQ(links.body.size(), 1U) << links.raw.body;
  const Json& link = links.body[0];
  EXPECT_EQ(NamesOf(link), (std::set<std::string>{
                               "filename", "download_url", "download_expires_in_seconds",
                               "content_type", "row_count", "block_number", "block_name",
                               "created_at", "message", "storage_bucket", "file_size", "results"}));
  EXPECT_TRUE(
      link["filename"].get<std::string>().ends_with("_2_dedupe_" + run.substr(0, 8) + ".ndjson"));
  EXPECT_EQ(link["filename"].get<std::string>().find_first_of(" ,!"), std::string::npos);
  EXPECT_EQ(link["download_expires_in_seconds"], 900);
  EXPECT_EQ(link["row_count"], 2);
  EXPECT_EQ(link["block_number"], 2);
  EXPECT_EQ(link["block_name"], "dedupe");
  EXPECT_TRUE(link["created_at"].is_string()) << "the block's end";
  EXPECT_TRUE(link["message"].is_null());
  EXPECT_EQ(link["storage_bucket"], "vedette");
  EXPECT_TRUE(link["file_size"].is_null());
  EXPECT_TRUE(link["results"].is_null());
  EXPECT_EQ(Ask("GET", of + "?format=xml").type(), "enum");
  EXPECT_EQ(Ask("GET", of + "?blocks=1").type(), "literal_error");
}

TEST_F(ApiRunRules, TheListOfRunsGoesOnBehindItsCursor) {
  const std::string workflow = Free();
  std::vector<std::string> started;
  for (int i = 0; i < 5; ++i) started.push_back(RunRows(workflow, Records(1)));
  // Two of one time are told apart by their ids.
  Sql("update job set created_at = (select created_at from job where id = '" + started[2] +
      "') where id = '" + started[3] + "'");
  const std::string of = "/workflows/runs?limit=2&status=queued&workflow_id=" + workflow;
  std::vector<std::string> listed;
  std::string cursor;
  do {
    const Reply page = Ask("GET", of + (cursor.empty() ? "" : "&cursor=" + cursor));
    ASSERT_EQ(page.status, 200) << page.raw.body;
    ASSERT_TRUE(page.body.is_array());
    EXPECT_LE(page.body.size(), 2U);
    for (const Json& run : page.body) listed.push_back(run["job_id"].get<std::string>());
    cursor = page.Header("X-Next-Cursor");
  } while (!cursor.empty());
  std::reverse(started.begin(), started.end());
  EXPECT_EQ(listed, started) << "each once, newest first";
  EXPECT_EQ(Ask("GET", "/workflows/runs").Header("X-Next-Cursor"), "") << "there are no more";
  EXPECT_EQ(Ask("GET", "/workflows/runs?cursor=x").error(), "invalid_cursor");
  cursor = Ask("GET", of).Header("X-Next-Cursor");
  const Headers theirs{{"x-api-key", NewTenant("other").key}};
  EXPECT_EQ(Ask("GET", "/workflows/runs?cursor=" + cursor, theirs).error(), "invalid_cursor")
      << "another organisation's";
}

}  // namespace
}  // namespace vedette::test
