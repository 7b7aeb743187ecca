#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "domain/job/job.h"
#include "store/fleet/fleet.h"
#include "store/jobs/claim.h"
#include "store/jobs/end.h"
#include "store/jobs/record.h"
#include "tests/store/support/jobs_support.h"
#include "tests/store/support/operator_support.h"

// Jobs through the admin port: what the operator sees of them, and ends.
namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class AdminJobs : public AdminTest {
 protected:
  AdminJobs()
      : session(config.database, {.name = "test"}, clock, metrics, log),
        org(NewOrganisation()),
        org_id(*base::Uuid::Parse(org)) {
    Ask("POST", "/admin/v1/orgs/" + org + "/credits", Json{{"amount", 100}, {"reason", "gift"}});
  }

  // A lookup of `rows` rows at one credit each.
  std::string NewJob(int rows = 1, bool with_callback = false) {
    store::NewJob job = NewLookup(org_id, clock, rows, 1000);
    if (with_callback) {
      job.webhook = store::Webhook{"https://hooks.example/x", {"https", "hooks.example", 443}};
    }
    const auto outcome = store::StartJob(session, clock, job, {10'000});
    EXPECT_TRUE(std::holds_alternative<store::JobStarted>(outcome));
    return job.id.ToString();
  }

  store::ClaimedJobChunk Claim() {
    const auto claim = store::ClaimJobChunks(session, {{domain::Lane::kLookup, org_id, 1, 1}},
                                             base::Uuid::V4(), std::chrono::seconds(30), {});
    return claim.chunks.at(0);
  }

  Json Terminate(const std::string& job) {
    const Reply reply =
        Ask("POST", "/admin/v1/jobs/" + job + "/terminate", Json{{"reason", "asked by phone"}});
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    return reply.body;
  }

  // G4, as the admin port shows it: balance, reserved and charged are what was booked.
  void ExpectTheMoneyShownAddsUp() {
    const Json shown = Ask("GET", "/admin/v1/orgs/" + org).body;
    EXPECT_EQ(shown["balance"].get<double>() + shown["reserved"].get<double>() +
                  shown["charged"].get<double>(),
              100);
    EXPECT_EQ(Sql("select (select balance_mc from account) + (select coalesce(sum(reserved_mc), 0) "
                  "from chunk) + (select coalesce(sum(reserved_mc), 0) from job) = "
                  "(select sum(amount_mc) from credit_entry)"),
              "t");
  }

  store::Session session;
  const std::string org;
  const base::Uuid org_id;
};

TEST_F(AdminJobs, AreListedNewestFirstByKindStatusAndOrganisation) {
  const std::string first = NewJob();
  const std::string second = NewJob();
  const Json item = Ask("GET", "/admin/v1/jobs?kind=find_email&limit=1").body["items"][0];
  EXPECT_EQ(item["id"], second);
  EXPECT_EQ(item["status"], "queued");
  EXPECT_EQ(item["org_id"], org);
  EXPECT_EQ(item["estimate"], 1);
  EXPECT_EQ(item["reserved"], 1);
  EXPECT_EQ(item["charged"], 0);
  EXPECT_TRUE(item["caller"].contains("kind") && item["caller"].contains("id"));
  std::set<std::string> keys;
  for (const auto& [key, value] : item.items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"id", "kind", "status", "status_reason", "error", "org_id",
                                         "team_id", "caller", "estimate", "reserved", "charged",
                                         "created_at", "started_at", "deadline_at", "finished_at",
                                         "waiting_until"}));
  Terminate(second);
  const auto ids = [this](const std::string& query) {
    std::vector<std::string> found;
    const Reply reply = Ask("GET", "/admin/v1/jobs?" + query);
    for (const Json& job : reply.body["items"]) found.push_back(job["id"]);
    return found;
  };
  EXPECT_EQ(ids("status=queued"), std::vector{first});
  EXPECT_EQ(ids("status=terminated"), std::vector{second});
  EXPECT_EQ(ids("kind=workflow"), std::vector<std::string>{});
  EXPECT_EQ(ids("org_id=" + org), (std::vector{second, first}));
  EXPECT_EQ(ids("org_id=" + NewOrganisation("other")), std::vector<std::string>{});
  const std::string cursor = Ask("GET", "/admin/v1/jobs?limit=1").body["next_cursor"];
  EXPECT_EQ(ids("limit=1&cursor=" + cursor), std::vector{first});
  EXPECT_EQ(Ask("GET", "/admin/v1/jobs?kind=nothing").status, 422);
  EXPECT_EQ(Ask("GET", "/admin/v1/jobs?status=done").status, 422);
}

TEST_F(AdminJobs, AJobIsShownWithItsBlocksItsChunksAndTheirLastError) {
  const std::string job = NewJob(4);
  const auto chunk = Claim();
  store::JobChunkRecord record =
      JobsTest::Progress(chunk, R"({"rows": [["a"], null, null, null]})");
  record.row_errors = 1;
  record.last_error = "timed_out: the row was not done in time";
  store::RecordJobChunks(session, clock, {record});
  const Json shown = Ask("GET", "/admin/v1/jobs/" + job).body;
  EXPECT_EQ(shown["status"], "running");
  ASSERT_EQ(shown["blocks"].size(), 1U);
  EXPECT_EQ(shown["blocks"][0]["rows_done"], 1);
  EXPECT_EQ(shown["blocks"][0]["row_errors"], 1);
  EXPECT_EQ(shown["blocks"][0]["last_error"], record.last_error.value());
  EXPECT_EQ(shown["blocks"][0]["error"], nullptr);
  ASSERT_EQ(shown["chunks"].size(), 1U);
  EXPECT_EQ(shown["chunks"][0]["lane"], "lookup");
  EXPECT_EQ(shown["chunks"][0]["leased"], true);
  EXPECT_EQ(shown["chunks"][0]["claims"], 0) << "since the last progress";
  EXPECT_EQ(shown["chunks"][0]["progress"], 1);
  EXPECT_EQ(shown["chunks"][0]["last_error"], record.last_error.value());
  EXPECT_EQ(shown["deliveries"], Json::array());

  store::JobChunkRecord second = record;
  second.progress = 1;
  second.row_errors = 0;
  second.last_error.reset();
  store::RecordJobChunks(session, clock, {second});
  EXPECT_EQ(Ask("GET", "/admin/v1/jobs/" + job).body["chunks"][0]["last_error"],
            record.last_error.value())
      << "it stays";
  EXPECT_EQ(Ask("GET", "/admin/v1/jobs/" + base::Uuid::V4().ToString()).status, 404);
}

TEST_F(AdminJobs, OfAnInvestigationItIsShownHowManySubjectsFailedAndWhatTheLastOneSays) {
  store::NewJob job = NewLookup(org_id, clock, 2, 1000);
  job.kind = domain::JobKind::kInvestigation;
  job.investigation = store::NewInvestigation{"[]", 2, 1, 100, {}, {}};
  ASSERT_TRUE(
      std::holds_alternative<store::JobStarted>(store::StartJob(session, clock, job, {10'000})));
  store::JobChunkRecord record = JobsTest::PartEnd(Claim(), 2, 1, 1000);
  record.what = store::JobPartEnd{R"([[{"findings": []}], [{"findings": []}]])", 2, {}, {}};
  record.row_errors = 1;
  record.last_error = "overloaded: No room.";
  store::RecordJobChunks(session, clock, {record});
  const Json shown = Ask("GET", "/admin/v1/jobs/" + job.id.ToString() + "?rows=true").body;
  EXPECT_EQ(shown["kind"], "investigation");
  EXPECT_EQ(shown["status"], "completed");
  EXPECT_EQ(shown["charged"], 1);
  EXPECT_EQ(shown["blocks"][0]["rows_done"], 2);
  EXPECT_EQ(shown["blocks"][0]["row_errors"], 1);
  EXPECT_EQ(shown["blocks"][0]["last_error"], "overloaded: No room.");
  EXPECT_EQ(shown["rows"], nullptr) << "what it found is the client's";
  ExpectTheMoneyShownAddsUp();
}

TEST_F(AdminJobs, RowsAreShownOnDemandAloneAndWhoReadThemIsAudited) {
  const std::string job = NewJob(2);
  EXPECT_FALSE(Ask("GET", "/admin/v1/jobs/" + job).body.contains("rows"));
  EXPECT_EQ(Ask("GET", "/admin/v1/jobs/" + job + "?rows=maybe").status, 422);
  EXPECT_EQ(Ask("GET", "/admin/v1/jobs/" + base::Uuid::V4().ToString() + "?rows=true").status, 404);
  EXPECT_EQ(Sql("select count(*) from audit where action = 'job.rows'"), "0");
  const Json open = Ask("GET", "/admin/v1/jobs/" + job + "?rows=true").body["rows"];
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(open[1]["lead"]["name"], "Ada Lovelace");
  EXPECT_EQ(open[1]["lead"]["company"], 1);
  EXPECT_TRUE(open[1]["result"].is_null());
  store::RecordJobChunks(
      session, clock,
      {JobsTest::Progress(Claim(), R"({"rows": [[{"email": "a@x.example"}], null]})")});
  Terminate(job);
  const Json ended = Ask("GET", "/admin/v1/jobs/" + job + "?rows=true").body["rows"];
  EXPECT_EQ(ended[0]["result"]["email"], "a@x.example");
  EXPECT_TRUE(ended[1]["result"].is_null());
  EXPECT_EQ(Sql("select count(*) from audit where action = 'job.rows'"), "2");
  const Json entry = Ask("GET", "/admin/v1/audit?limit=1").body["items"][0];
  EXPECT_EQ(entry["action"], "job.rows");
  EXPECT_EQ(entry["target"], job);
  EXPECT_EQ(entry["org_id"], org);
  EXPECT_EQ(base::DumpJson(entry).find("Lovelace"), std::string::npos);
}

TEST_F(AdminJobs, TerminationEndsAJobOnceReturnsItsMoneyAndIsAudited) {
  const std::string job = NewJob(3);
  ExpectTheMoneyShownAddsUp();
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs/" + org).body["reserved"], 3);
  EXPECT_EQ(Ask("POST", "/admin/v1/jobs/" + job + "/terminate", Json::object()).status, 422)
      << "a reason is needed";
  const Json ended = Terminate(job);
  EXPECT_EQ(
      ended,
      (Json{{"id", job}, {"status", "terminated"}, {"status_reason", "cancelled_by_operator"}}));
  const std::string finished_at = Ask("GET", "/admin/v1/jobs/" + job).body["finished_at"];
  EXPECT_EQ(Terminate(job), ended) << "idempotent";
  const Json shown = Ask("GET", "/admin/v1/jobs/" + job).body;
  EXPECT_EQ(shown["finished_at"], finished_at);
  EXPECT_EQ(shown["error"], "The operator ended the job.") << "the reason is not the client's";
  EXPECT_EQ(shown["reserved"], 0);
  EXPECT_EQ(shown["chunks"], Json::array());
  ExpectTheMoneyShownAddsUp();
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs/" + org).body["balance"], 100);
  EXPECT_EQ(Sql("select count(*) from audit where action = 'job.terminate'"), "1");
  const Json entry = Ask("GET", "/admin/v1/audit?limit=1").body["items"][0];
  EXPECT_EQ(entry["target"], job);
  EXPECT_EQ(entry["org_id"], org);
  EXPECT_EQ(entry["reason"], "asked by phone");
  EXPECT_THAT(metrics.Expose(),
              HasSubstr("vedette_jobs_total{kind=\"find_email_bulk\",outcome=\"terminated\"} 1\n"));
  EXPECT_THAT(metrics.Expose(), HasSubstr("vedette_job_seconds_count{kind=\"find_email_bulk\"} 1"));
}

TEST_F(AdminJobs, TerminationOfAJobThatHasEndedChangesNothing) {
  const std::string job = NewJob();
  store::EndJob(session, clock, {}, *base::Uuid::Parse(job),
                {domain::JobStatus::kCancelled, "cancelled_by_client", {}});
  EXPECT_EQ(Terminate(job)["status"], "cancelled");
  EXPECT_EQ(Sql("select count(*) from audit where action = 'job.terminate'"), "0");
  EXPECT_THAT(metrics.Expose(), testing::Not(HasSubstr("vedette_jobs_total{")));
}

TEST_F(AdminJobs, CallbacksAreShownWithTheirJobInEveryState) {
  const std::string job = NewJob(1, true);
  NewJob();
  Terminate(job);
  const Json pending = Ask("GET", "/admin/v1/deliveries?job_id=" + job).body["items"];
  ASSERT_EQ(pending.size(), 1U);
  EXPECT_EQ(pending[0]["job_id"], job);
  EXPECT_EQ(pending[0]["monitor_id"], nullptr);
  EXPECT_EQ(pending[0]["row_id"], nullptr);
  EXPECT_EQ(pending[0]["type"], "find_email");
  const std::string id = pending[0]["id"];
  EXPECT_EQ(Ask("GET", "/admin/v1/jobs/" + job).body["deliveries"][0]["id"], id);
  EXPECT_EQ(Ask("GET", "/admin/v1/deliveries?job_id=" + base::Uuid::V4().ToString()).body["items"],
            Json::array());

  // It is delivered, which only its attempt tells from then on.
  Sql(fmt::format(
      "insert into delivery_attempt (delivery_id, attempt, org_id, job_id, job_status, "
      "event_group_id, type, created_at, attempted_at, delivered, status_code, duration_us) "
      "select id, 1, org_id, job_id, job_status, event_group_id, type, created_at, now(), true, "
      "200, 1 from delivery where id = '{0}'",
      id));
  Sql("delete from delivery");
  EXPECT_EQ(Ask("GET", "/admin/v1/deliveries?job_id=" + job).body["items"], Json::array());
  const std::string delivered = "/admin/v1/deliveries?state=delivered&job_id=";
  EXPECT_EQ(Ask("GET", delivered + job).body["items"][0]["id"], id);
  EXPECT_EQ(Ask("GET", delivered + base::Uuid::V4().ToString()).body["items"], Json::array());
  const Json of_job = Ask("GET", "/admin/v1/jobs/" + job).body["deliveries"];
  ASSERT_EQ(of_job.size(), 1U);
  EXPECT_EQ(of_job[0]["state"], "delivered");
}

TEST_F(AdminJobs, TheOverviewShowsLanesWhoServesThemAndWhoWaits) {
  NewJob();
  Claim();
  NewJob();
  store::NewJob waited = NewLookup(org_id, clock, 1, 0);
  waited.waited = true;
  store::StartJob(session, clock, waited, {10'000});
  Sql("update job set deadline_at = now() - interval '1 hour' where waited");
  const auto member = [this](const std::string& lanes, bool draining, const std::string& counters) {
    Sql(
        fmt::format("insert into member (id, roles, version, host, pid, draining, lanes, counters) "
                    "values (gen_random_uuid(), '{{worker}}', '1', 'h', 1, {}, '{}', '{}')",
                    draining, lanes, counters));
  };
  member("{lookup,smtp}", false, R"({"waits": {"used": 3, "max": 10}})");
  member("{lookup}", false, R"({"waits": {"used": 1, "max": 10}})");
  member("{lookup}", true, "{}");  // it has not counted yet, and leaves
  const Json overview = Ask("GET", "/admin/v1/overview").body;
  ASSERT_EQ(overview["jobs"]["lanes"].size(), domain::kLaneCount);
  const Json& lookup = overview["jobs"]["lanes"][1];
  EXPECT_EQ(lookup["lane"], "lookup");
  EXPECT_EQ(lookup["due"], 2);
  EXPECT_EQ(lookup["leased"], 1);
  EXPECT_EQ(lookup["members"], 2);
  EXPECT_TRUE(lookup["oldest_due_age_ms"].is_number());
  EXPECT_EQ(overview["jobs"]["lanes"][3]["members"], 0);
  EXPECT_EQ(overview["jobs"]["lanes"][3]["oldest_due_age_ms"], nullptr);
  EXPECT_GE(overview["jobs"]["overdue_ms"].get<std::int64_t>(), 3'600'000);
  std::int64_t open = 0;
  for (const Json& some : overview["jobs"]["open"]) open += some["jobs"].get<std::int64_t>();
  EXPECT_EQ(open, 3);
  EXPECT_EQ(overview["waits"]["used"], 4);
  EXPECT_EQ(overview["waits"]["max"], 20);
  ASSERT_EQ(overview["waits"]["organisations"].size(), 1U);
  EXPECT_EQ(overview["waits"]["organisations"][0]["org_id"], org);
  EXPECT_EQ(overview["waits"]["organisations"][0]["jobs"], 1);
}

TEST_F(AdminJobs, ADeadProcessIsShownForAWhileButCountsNowhereAndIsForgotten) {
  const auto member = [this](const std::string& host, const std::string& ago) {
    Sql(fmt::format(
        "insert into member (id, roles, version, host, pid, lanes, counters, providers, "
        "heartbeat_at) values (gen_random_uuid(), '{{worker}}', '1', '{}', 1, '{{lookup}}', "
        R"('{{"waits": {{"used": 5, "max": 10}}}}', )"
        R"('[{{"id": "null", "failures": 3, "left_out": true}}]', now() - interval '{}'))",
        host, ago));
  };
  member("alive", "1 second");
  member("dead", "1 minute");
  member("long dead", "16 minutes");
  const Json overview = Ask("GET", "/admin/v1/overview").body;
  EXPECT_EQ(overview["waits"]["used"], 5);
  EXPECT_EQ(overview["waits"]["max"], 10);
  EXPECT_EQ(overview["jobs"]["lanes"][1]["members"], 1);
  EXPECT_EQ(overview["members"].size(), 2U) << "that it died is to be seen";
  const Json providers = Ask("GET", "/admin/v1/providers").body["items"];
  for (const Json& provider : providers) {
    for (const Json& failing : provider["failing"]) EXPECT_EQ(failing["host"], "alive");
  }
  store::Member self;
  self.id = base::Uuid::V4();
  self.counters = "{}";
  store::Heartbeat(session, self);
  EXPECT_EQ(Sql("select string_agg(host, ',' order by host) from member where host like '%d'"),
            "dead");
}

}  // namespace
}  // namespace vedette::test
