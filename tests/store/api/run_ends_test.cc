// How runs end, what is told of the end, and how long what they made can be downloaded.
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>

#include "config/jobs_config.h"
#include "config/role_config.h"
#include "config/security_config.h"
#include "delivery/sender.h"
#include "store/deliveries/delivery_views.h"
#include "store/jobs/keeper.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;
using std::chrono::seconds;

class ApiRunEnds : public ApiRuns {
 public:
  static Json Records(int n) {
    Json records = Json::array();
    for (int i = 0; i < n; ++i) records.push_back({{"n", i}});
    return records;
  }
  std::string Hook(const Json& more = Json::object()) {
    Json specs{{"url", "https://hooks.example/x"}, {"send_on_failure", true}};
    specs.update(more);
    return NewWorkflow(Chain({WebhookSource(), Block("dedupe"), Block("outgoing_webhook", specs)}),
                       "told");
  }
  // The chain's second block is worked on to its end, and its third one waits for a lane that
  // nobody serves.
  std::string HalfDone() {
    const std::string run =
        RunRows(NewWorkflow(Chain({WebhookSource(), Block("dedupe"),
                                   Block("enrich_lead", {{"struct", {{"job", "x"}}}})})),
                Records(3));
    config.worker.lanes = {"transform"};
    const Worker worker(*this);
    Until("select sum(row_count) from job_part where block = 1", "3");
    return run;
  }

  // What the receiver of the run's third block is told, `later` than the end.
  Json Told(const std::string& run, domain::JobStatus status, seconds later = seconds(0)) {
    domain::Notification told;
    told.type = domain::NotificationType::kOutgoingWebhook;
    told.event_group_id = *base::Uuid::Parse(run);
    told.created_at = clock.Now();
    told.about = domain::JobNotice{*base::Uuid::Parse(run), 2, status};
    const auto bodies = delivery::RunCallbackBodies(session, {told}, config, clock.Now() + later);
    if (bodies.size() != 1) throw std::runtime_error("nothing is told of the run");
    return Json::parse(bodies.begin()->second);
  }
  Reply Download(const std::string& path) {
    net::ServerRequest request = Request("GET", path, {});
    request.headers.clear();
    return AskRaw(std::move(request));
  }
  std::string PathOf(const std::string& run) {
    const Reply links = Ask("GET", "/workflows/runs/" + run + "/results/download-links");
    const auto url = links.body[0]["download_url"].get<std::string>();
    return url.substr(url.find("/storage"));
  }
};

TEST_F(ApiRunEnds, ALinkIsServedFor899SecondsAndRefusedAfter901) {
  const std::string run = RunRows(NewWorkflow(Chain(Json::array({WebhookSource()}))), Records(1));
  const base::Timestamp now = clock.Now();
  clock.HoldAt(now);
  const std::string path = PathOf(run);
  for (const int served : {0, 1, 899}) {
    clock.HoldAt(now + seconds(served));
    const Reply taken = Download(path);
    EXPECT_EQ(taken.status, 200) << served;
    EXPECT_EQ(taken.raw.body, "n\r\n0\r\n");
  }
  for (const int refused : {901, 86'400}) {
    clock.HoldAt(now + seconds(refused));
    const Reply late = Download(path);
    EXPECT_EQ(late.status, 403) << refused;
    EXPECT_EQ(late.error(), "link_expired");
    EXPECT_EQ(late.raw.body.find("\r\n0\r\n"), std::string::npos);
  }
  EXPECT_EQ(Download(path.substr(0, path.size() - 1) + (path.back() == 'A' ? "B" : "A")).error(),
            "invalid_link")
      << "a signature is checked before the time";
  EXPECT_EQ(Download(PathOf(run)).status, 200) << "a new link of the same rows";
}

TEST_F(ApiRunEnds, ALinkThatAFormerKeySignedIsServed) {
  const std::string run = RunRows(NewWorkflow(Chain(Json::array({WebhookSource()}))), Records(1));
  const std::string path = PathOf(run);
  config.security.encryption_keys_old = {config.security.encryption_key};
  config.security.encryption_key = std::string(32, 'n');
  EXPECT_EQ(Download(path).status, 200);
  config.security.encryption_keys_old.clear();
  EXPECT_EQ(Download(path).error(), "invalid_link");
}

TEST_F(ApiRunEnds, ASourceThatIsGoneFailsTheRun) {
  const std::string run = Run(NewWorkflow(Chain({Block("read_csv"), Block("dedupe")})),
                              Json{{"specs_override", {{"resource_handle_id", Upload("n\n1\n")}}}});
  Sql("delete from upload");
  const Worker worker(*this);
  const Json live = Ended(run);
  EXPECT_EQ(live["overall_status"], "failed");
  EXPECT_EQ(live["status_reason"], "source_unavailable");
  EXPECT_EQ(live["error_message"], live["blocks"][0]["error_message"]);
  EXPECT_TRUE(live["error_message"].is_string());
  EXPECT_EQ(live["blocks"][0]["status"], "failed");
  EXPECT_EQ(live["blocks"][1]["status"], "cancelled") << "unfinished when the run ended";
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "0");
}

TEST_F(ApiRunEnds, AFailedRunOffersEveryBlockWithRowsButTheSource) {
  const std::string run = HalfDone();
  Sql("update job set deadline_at = now()");
  ASSERT_EQ(store::EndOverdueJobs(session, clock).ended, 1);
  const std::string links = "/workflows/runs/" + run + "/results/download-links";
  const Json failed = Ask("GET", links).body;
  ASSERT_EQ(failed.size(), 1U) << failed;
  EXPECT_EQ(failed[0]["block_name"], "dedupe");
  EXPECT_EQ(failed[0]["message"], "partial");
  EXPECT_EQ(failed[0]["row_count"], 3);
  const Json all = Ask("GET", links + "?blocks=all").body;
  ASSERT_EQ(all.size(), 2U) << all;
  EXPECT_EQ(all[0]["block_name"], "webhook") << "by block_number";
  EXPECT_EQ(Ask("GET", "/workflows/runs?status=failed").body[0]["job_id"], run);
  EXPECT_EQ(Ask("GET", "/workflows/runs?status=cancelled").body.size(), 0U);
}

TEST_F(ApiRunEnds, ARunNamesTheUserWhoStartedIt) {
  Sql("insert into org_user (org_id, user_id) values ('" + acme.org_id + "', 'ada')");
  const std::string workflow = NewWorkflow(Chain(Json::array(
      {Block("webhook", {{"dataframe_type", "LEAD"}, {"webhook_input", R"({"n": 1})"}})})));
  const std::string start = "/workflows/run?workflow_id=" + workflow;
  const auto user = [&] { return Ask("GET", "/workflows/runs?limit=1").body[0]["user_id"]; };
  ASSERT_EQ(Ask("POST", start).status, 200);
  EXPECT_TRUE(user().is_null()) << "a key is nobody";
  ASSERT_EQ(Ask("POST", start, Headers{{"service-forwarded-user", "ada"}}).status, 200);
  EXPECT_EQ(user(), "ada");
}

TEST_F(ApiRunEnds, EveryFieldOfWhatIsToldOfACompletedRun) {
  const std::string run = RunRows(Hook(), Records(2));
  {
    const Worker worker(*this);
    Ended(run);
  }
  const Json told = Told(run, domain::JobStatus::kCompleted);
  std::set<std::string> names;
  for (const auto& [name, value] : told.items()) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"event_id", "type", "run_id", "workflow_id",
                                          "workflow_name", "status", "row_count", "results",
                                          "results_truncated", "results_download_url",
                                          "results_download_expires_at", "created_at"}));
  EXPECT_EQ(told["type"], "outgoing_webhook.completed");
  EXPECT_EQ(told["run_id"], run);
  EXPECT_EQ(told["workflow_id"], Sql("select id from workflow"));
  EXPECT_EQ(told["workflow_name"], "told");
  EXPECT_EQ(told["status"], "completed");
  EXPECT_EQ(told["row_count"], 2);
  EXPECT_EQ(told["results"], Records(2));
  EXPECT_EQ(told["results_truncated"], false);
  EXPECT_TRUE(told["results_download_url"].is_null()) << "[api] public_url is empty";
  EXPECT_TRUE(told["results_download_expires_at"].is_null());
  config.workflows.inline_results_bytes_max = 10;
  const Json cut = Told(run, domain::JobStatus::kCompleted);
  EXPECT_TRUE(cut["results"].is_null());
  EXPECT_EQ(cut["results_truncated"], true) << "which its length alone makes true";
}

// A retry after an hour carries a link that lives, and nothing else that is new.
TEST_F(ApiRunEnds, OnlyTheLinkOfACallbackDiffersBetweenItsAttempts) {
  const std::string run = RunRows(Hook(), Records(2));
  {
    const Worker worker(*this);
    Ended(run);
  }
  config.public_url = "https://api.example";
  clock.HoldAt(clock.Now());
  Json first = Told(run, domain::JobStatus::kCompleted);
  Json second = Told(run, domain::JobStatus::kCompleted, seconds(3600));
  const auto url = first["results_download_url"].get<std::string>();
  ASSERT_TRUE(url.starts_with("https://api.example/storage/download/")) << url;
  EXPECT_EQ(Download(url.substr(url.find("/storage"))).raw.body, "n\r\n0\r\n1\r\n");
  EXPECT_EQ(base::ParseTimestamp(second["results_download_expires_at"].get<std::string>()) -
                base::ParseTimestamp(first["results_download_expires_at"].get<std::string>()),
            seconds(3600));
  EXPECT_NE(second["results_download_url"], url);
  for (const char* field : {"results_download_url", "results_download_expires_at"}) {
    first.erase(field);
    second.erase(field);
  }
  EXPECT_EQ(first, second);
}

TEST_F(ApiRunEnds, ACallbackThatIsSentAgainAfterItsRowsHasNeitherRowsNorALink) {
  const std::string run = RunRows(Hook(), Records(2));
  {
    const Worker worker(*this);
    Ended(run);
  }
  config.public_url = "https://api.example";
  ASSERT_TRUE(Told(run, domain::JobStatus::kCompleted)["results_download_url"].is_string());
  Sql("delete from job_part");
  const Json told = Told(run, domain::JobStatus::kCompleted);
  EXPECT_EQ(told["row_count"], 2);
  EXPECT_TRUE(told["results"].is_null()) << told;
  EXPECT_EQ(told["results_truncated"], true);
  EXPECT_TRUE(told["results_download_url"].is_null());
  EXPECT_TRUE(told["results_download_expires_at"].is_null());
}

TEST_F(ApiRunEnds, ACallbackOfNoRowsHasAnEmptyArrayAndALink) {
  const std::string run = RunRows(Hook(), Records(1));
  {
    const Worker worker(*this);
    Ended(run);
  }
  Sql("delete from job_part");
  Sql("update job_block set rows_out = 0");
  config.public_url = "https://api.example";
  const Json told = Told(run, domain::JobStatus::kCompleted);
  EXPECT_EQ(told["results"], Json::array());
  EXPECT_EQ(told["results_truncated"], false);
  EXPECT_TRUE(told["results_download_url"].is_string());
}

TEST_F(ApiRunEnds, WhatWasToldOfARunCanBeSentAgain) {
  RunRows(Hook(), Records(1));
  Sql("update job set deadline_at = now()");
  ASSERT_EQ(store::EndOverdueJobs(session, clock).ended, 1);
  const std::string id = Sql("select id from delivery");
  Sql("insert into delivery_attempt (delivery_id, attempt, org_id, job_id, block, job_status, "
      "event_group_id, type, created_at, attempted_at, delivered, status_code, duration_us) select "
      "id, 1, org_id, job_id, block, job_status, event_group_id, type, created_at, now(), true, "
      "200, 1 from delivery");
  Sql("delete from delivery");
  EXPECT_EQ(store::SendDeliveryNow(session, clock, *base::Uuid::Parse(id),
                                   {.actor = "t", .action = "delivery.send"}),
            store::SendNowOutcome::kResent);
  EXPECT_EQ(Sql("select d.endpoint_id = b.endpoint_id from delivery d join job_block b using "
                "(job_id, block) where d.id = '" +
                id + "'"),
            "t");
}

TEST_F(ApiRunEnds, RowsAreToldOfACompletedRunAloneAndWhereTheyAreWanted) {
  const std::string quiet = RunRows(Hook({{"include_results", false}}), Records(2));
  {
    const Worker worker(*this);
    Ended(quiet);
  }
  const Json unwanted = Told(quiet, domain::JobStatus::kCompleted);
  EXPECT_TRUE(unwanted["results"].is_null());
  EXPECT_EQ(unwanted["results_truncated"], false);
  EXPECT_EQ(unwanted["row_count"], 2);
  const std::string cancelled = RunRows(Hook(), Records(2));
  ASSERT_EQ(Ask("POST", "/workflows/cancel?job_id=" + cancelled).status, 200);
  const Json told = Told(cancelled, domain::JobStatus::kCancelled);
  EXPECT_EQ(told["type"], "outgoing_webhook.cancelled");
  EXPECT_EQ(told["status"], "cancelled");
  EXPECT_TRUE(told["results"].is_null());
  EXPECT_EQ(told["results_truncated"], false);
  const std::string failed = RunRows(Hook(), Records(2));
  Sql("update job set deadline_at = now() where finished_at is null");
  ASSERT_EQ(store::EndOverdueJobs(session, clock).ended, 1);
  const Json of_failed = Told(failed, domain::JobStatus::kTimedOut);
  EXPECT_EQ(of_failed["type"], "outgoing_webhook.failed");
  EXPECT_EQ(of_failed["status"], "failed");
  EXPECT_TRUE(of_failed["results"].is_null());
}

}  // namespace
}  // namespace vedette::test
