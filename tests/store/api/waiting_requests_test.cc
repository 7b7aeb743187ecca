// Requests that wait for the end of a job (people.md 2, G10, G11).
#include <gmock/gmock.h>

#include "config/database_config.h"
#include "config/server_config.h"
#include "store/jobs/end.h"
#include "tests/store/support/tenant_jobs.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiWaits : public ApiJobs {
 public:
  explicit ApiWaits(config::Environment environment = {}, const Adjust& adjust = nullptr)
      : ApiJobs(std::move(environment), adjust) {}

  std::string Status(const std::string& job) {
    return Sql("select status || ' ' || coalesce(status_reason, '') from job where id = '" + job +
               "'");
  }
  void EndAs(const std::string& job, domain::JobStatus status, const std::string& reason) {
    const auto outcome =
        store::EndJob(session, clock, {}, *base::Uuid::Parse(job), {status, reason, std::nullopt});
    for (const store::Signal signal : outcome->raise) signals.Raise(signal);
  }
  void ExpectOutcome(const std::string& outcome, int n) {
    EXPECT_THAT(metrics.Expose(), HasSubstr("\nvedette_waits_total{outcome=\"" + outcome + "\"} " +
                                            std::to_string(n) + "\n"));
  }
};

TEST_F(ApiWaits, AWaitedCallIsAnsweredOnceItsJobIsRecorded) {
  for (const std::string route : {"/find-email", "/find-email-bulk"}) {
    const bool bulk = route == "/find-email-bulk";
    const auto exchange = Send(route, bulk ? Many(2) : One());
    const std::string job = JobOf(bulk ? 2 : 1);
    EXPECT_EQ(Sql("select waited from job where id = '" + job + "'"), "t");
    EXPECT_EQ(Sql("select rank from job_chunk where job_id = '" + job + "'"), "0");
    UntilParked(1);
    EXPECT_FALSE(exchange->answered());
    Work("ada@example.com", "", 5000);
    const Reply reply = Take(exchange);
    ASSERT_EQ(reply.status, 200) << reply.raw.body;
    EXPECT_EQ(reply.Header("Service-Task-Id"), job);
    EXPECT_EQ(reply.Header("Preference-Applied"), "");
    if (bulk) {
      EXPECT_EQ(reply.body["task_id"], job);
      EXPECT_EQ(reply.body["results"].size(), 2U);
      EXPECT_EQ(reply.body["charge_amount"], 10);
    } else {
      EXPECT_EQ(reply.body["email"][0][0], "ada@example.com");
      EXPECT_EQ(reply.body["details"]["task_id"], job);
    }
    EXPECT_EQ(Ask("GET", "/job-status/" + job).body["result"], reply.body);
    UntilParked(0);
  }
  ExpectOutcome("ended", 2);
  EXPECT_THAT(metrics.Expose(), HasSubstr("route=\"wait /find-email\""));
}

TEST_F(ApiWaits, WhoWaitsForAJobThatHasMovedIsToldWhereAndItsName) {
  const auto waited = Send("/find-email", One());
  const std::string job = JobOf(1);
  Sql("update organisation set locked = true, lives_at = 'c3'");
  EndAs(job, domain::JobStatus::kCancelled, "moved");
  const Reply reply = Take(waited);
  EXPECT_EQ(reply.status, 421) << reply.raw.body;
  EXPECT_EQ(reply.Header("X-Cell"), "c3");
  EXPECT_EQ(reply.body["cell"], "c3");
  EXPECT_EQ(reply.body["task_id"], job);
}

TEST_F(ApiWaits, AnEndFromElsewhereIsARowWithThatError) {
  int jobs = 0;
  for (const auto& [status, error] : {std::pair(domain::JobStatus::kCancelled, "cancelled"),
                                      std::pair(domain::JobStatus::kTerminated, "terminated")}) {
    const auto exchange = Send("/find-email", One());
    EndAs(JobOf(++jobs), status, "a_reason");
    const Reply reply = Take(exchange);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body["error"], error);
    EXPECT_EQ(reply.body["name"], "Ada Lovelace");
    EXPECT_EQ(reply.body["details"]["charge_amount"], 0);
  }
  const auto exchange = Send("/find-email", One());
  JobOf(++jobs);
  Work("", "providers_failed");
  const Reply reply = Take(exchange);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["error"], "providers_failed");
}

TEST_F(ApiWaits, APreferredWaitIsConfirmedAndEndsTheJob) {
  const auto exchange = Send("/find-email-bulk", Many(2), {{"prefer", "wait=1"}});
  const Reply reply = Take(exchange);
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.Header("Preference-Applied"), "wait=1");
  EXPECT_EQ(reply.body["results"][1]["error"], "timed_out");
  EXPECT_EQ(reply.body["results"][1]["name"], "Ada 1");
  EXPECT_EQ(Status(JobOf()), "6 deadline_exceeded");
  EXPECT_EQ(Sql("select balance_mc from account"), "1000000");
  ExpectOutcome("deadline", 1);
}

TEST_F(ApiWaits, AClientThatLeavesCancelsItsJob) {
  const auto exchange = Send("/find-email", One());
  const std::string job = JobOf();
  UntilParked(1);
  exchange->Leave();
  Until("select status from job", "4");
  EXPECT_EQ(Status(job), "4 client_gone");
  UntilParked(0);
  ExpectOutcome("client_gone", 1);
  EXPECT_THAT(metrics.Expose(), HasSubstr("code=\"499\",route=\"wait /find-email\"} 1"));
}

TEST_F(ApiWaits, AClientWithAKeyMayLeaveAndComeBack) {
  const Headers key{{"idempotency-key", "k"}};
  const auto first = Send("/find-email", One(), key);
  const std::string job = JobOf();
  UntilParked(1);
  first->Leave();
  UntilParked(0);
  EXPECT_EQ(Status(job), "0 ");
  // Also where no worker serves lookups any more: nothing is started.
  ServeLanes("{checks}");
  const auto second = Send("/find-email", One(), {{"idempotency-key", "k"}, {"prefer", "wait=50"}});
  const auto third = Send("/find-email", One(), key);
  UntilParked(2);
  Work("ada@example.com");
  for (const auto& exchange : {second, third}) {
    const Reply reply = Take(exchange);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body["email"][0][0], "ada@example.com");
    EXPECT_EQ(reply.Header("Service-Task-Id"), job);
  }
  const Reply later = Ask("POST", "/find-email", One(), key);
  EXPECT_EQ(later.body["email"][0][0], "ada@example.com");
  EXPECT_EQ(Sql("select count(*) from job"), "1");
}

TEST_F(ApiWaits, ARepetitionWaitsAsLongAsItPrefers) {
  const auto first = Send("/find-email", One(), {{"idempotency-key", "k"}});
  const std::string job = JobOf();
  UntilParked(1);
  const auto second = Send("/find-email", One(), {{"idempotency-key", "k"}, {"prefer", "wait=1"}});
  const Reply reply = Take(second);
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.Header("Preference-Applied"), "wait=1");
  EXPECT_EQ(reply.body["error"], "timed_out");
  EXPECT_EQ(Status(job), "6 deadline_exceeded") << "as after a first request that prefers it";
  EXPECT_EQ(Take(first).body["error"], "timed_out");
}

TEST_F(ApiWaits, WithoutAWorkerThatServesLookupsNobodyWaits) {
  ServeLanes("{checks,transform}");
  const Reply refused = Ask("POST", "/find-email", One());
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.error(), "no_worker");
  EXPECT_EQ(refused.Header("Retry-After"), "5");
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  ExpectOutcome("no_worker", 1);
  EXPECT_EQ(Ask("POST", "/find-email-async", One()).status, 200);
}

TEST_F(ApiWaits, APollWaitsForTheEndOrItsTime) {
  const std::string id = Ask("POST", "/find-email-async", One()).body["task_id"];
  const Reply early = Ask("GET", "/job-status/" + id + "?wait_s=1");
  EXPECT_EQ(early.status, 200);
  EXPECT_EQ(early.body["status"], "running");
  EXPECT_EQ(Status(id), "0 ");
  const auto exchange = Begin(Request("GET", "/job-status/" + id + "?wait_s=60", {}));
  UntilParked(1);
  Work("ada@example.com");
  EXPECT_EQ(Take(exchange).body["status"], "completed");
  EXPECT_EQ(Ask("GET", "/job-status/" + id + "?wait_s=60").body["status"], "completed");
  for (const char* bad : {"61", "-1", "x"}) {
    EXPECT_EQ(Ask("GET", "/job-status/" + id + "?wait_s=" + bad).loc(), R"(["query","wait_s"])");
  }
}

TEST_F(ApiWaits, APollThatIsLeftLeavesTheJobAlone) {
  const std::string id = Ask("POST", "/find-email-async", One()).body["task_id"];
  const auto exchange = Begin(Request("GET", "/job-status/" + id + "?wait_s=60", {}));
  UntilParked(1);
  exchange->Leave();
  UntilParked(0);
  EXPECT_EQ(Status(id), "0 ");
}

class ApiFewWaits : public ApiWaits {
 public:
  ApiFewWaits() : ApiWaits({{"VEDETTE_API_WAITS_MAX", "4"}}) {}
};

TEST_F(ApiFewWaits, G10_AnOrganisationWithItsShareOfPlacesIsRefusedBesideOthers) {
  const auto first = Send("/find-email", One());
  JobOf();
  UntilParked(1);
  const Reply refused = Ask("POST", "/find-email", One());
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.error(), "too_many_waiting");
  EXPECT_EQ(refused.Header("Retry-After"), "5");
  EXPECT_EQ(Sql("select count(*) from job"), "1");
  // A poll without a place is answered at once.
  EXPECT_EQ(Ask("GET", "/job-status/" + JobOf() + "?wait_s=60").body["status"], "running");
  const Tenant other = NewTenant("other");
  GiveCredits(other.org_id, 5000);
  const auto neighbour = Send("/find-email", One(), {{"x-api-key", other.key}});
  JobOf(2);  // both jobs are there to be worked on
  Work("ada@example.com");
  EXPECT_EQ(Take(first).status, 200);
  EXPECT_EQ(Take(neighbour).status, 200);
}

class ApiShutdown : public ApiWaits {
 public:
  ApiShutdown()
      : ApiWaits({}, [](config::Config& c) {
          c.api.drain_timeout_ms = std::chrono::milliseconds(200);
        }) {}
};

TEST_F(ApiShutdown, AtHalfOfTheDrainThoseWhoWaitAreToldAndTheirJobsGoOn) {
  const auto exchange = Send("/find-email", One());
  const std::string job = JobOf();
  UntilParked(1);
  waits->Drain();
  const Reply reply = Take(exchange);
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.error(), "shutting_down");
  EXPECT_EQ(reply.body["task_id"], job);
  EXPECT_EQ(reply.Header("Retry-After"), "5");
  EXPECT_EQ(Status(job), "0 ");
  // Nor does a later one hold the stop up.
  EXPECT_EQ(Take(Send("/find-email", One())).error(), "shutting_down");
  ExpectOutcome("shutdown", 2);
}

class ApiManyWaits : public ApiWaits {
 public:
  ApiManyWaits()
      : ApiWaits({{"VEDETTE_API_WAITS_MAX", "1024"}}, [](config::Config& c) {
          c.waits.waits_share = 1;
          c.database.queue_max = 8192;
        }) {}
};

TEST_F(ApiManyWaits, G11_AThousandParkedRequestsHoldNoThread) {
  const std::string id = Ask("POST", "/find-email-async", One()).body["task_id"];
  std::vector<std::shared_ptr<ApiExchange>> parked;
  for (int i = 0; i < 1000; ++i) {
    parked.push_back(Begin(Request("GET", "/job-status/" + id + "?wait_s=60", {})));
  }
  UntilParked(1000);
  // The pool has four threads.
  EXPECT_EQ(Ask("GET", "/monitors").status, 200);
  Until(
      "select count(*) from pg_stat_activity where application_name = 'vedette api' and state <> "
      "'idle'",
      "0");
  Work("ada@example.com");
  for (const auto& exchange : parked) EXPECT_EQ(Take(exchange).body["status"], "completed");
  UntilParked(0);
}

}  // namespace
}  // namespace vedette::test
