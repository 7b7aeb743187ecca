// Lookups and jobs through the public API: starts, refusals, repetitions, status, cancellation.
#include <gmock/gmock.h>

#include <pqxx/pqxx>

#include "domain/email/email_fact.h"
#include "store/email/email_memory.h"
#include "tests/store/support/tenant_jobs.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

constexpr const char* kStarts[] = {"/find-email-async", "/find-email-bulk-async"};
constexpr const char* kFinds[] = {"/find-email", "/find-email-async", "/find-email-bulk",
                                  "/find-email-bulk-async"};

bool IsBulk(const std::string& route) {
  return route.find("bulk") != std::string::npos;
}

TEST_F(ApiJobs, AStartTellsTheTaskAndWhatItMayCost) {
  for (const std::string route : kStarts) {
    const Reply started = Ask("POST", route, IsBulk(route) ? Many(3) : One());
    ASSERT_EQ(started.status, 200) << started.raw.body;
    const std::string id = started.body["task_id"];
    EXPECT_EQ(started.body["job_id"], id);
    EXPECT_EQ(started.body["status"], "RUNNING");
    EXPECT_EQ(started.body["already_started"], false);
    EXPECT_EQ(started.body["estimated_cost_cents"], IsBulk(route) ? 15 : 5);
    const std::string job = "from job where id = '" + id + "'";
    EXPECT_EQ(Sql("select kind " + job), IsBulk(route) ? "1" : "0");
    EXPECT_EQ(Sql("select waited " + job), "f");
    EXPECT_EQ(Sql("select reserved_mc " + job), IsBulk(route) ? "15000" : "5000");
    EXPECT_EQ(Sql("select rank from job_chunk where job_id = '" + id + "'"), "1");
  }
}

TEST_F(ApiJobs, TheStatusShowsAJobFromItsStartToItsResult) {
  const std::string id = Ask("POST", "/find-email-async", One()).body["task_id"];
  const Reply open = Ask("GET", "/job-status/" + id);
  ASSERT_EQ(open.status, 200) << open.raw.body;
  EXPECT_EQ(open.body["task_id"], id);
  EXPECT_EQ(open.body["task_type"], "find_email");
  EXPECT_EQ(open.body["status"], "running");
  for (const char* name : {"result", "error", "charge_amount", "started_at", "finished_at",
                           "status_reason", "waiting_until"}) {
    ASSERT_TRUE(open.body.contains(name));
    EXPECT_TRUE(open.body[name].is_null()) << name;
  }
  EXPECT_EQ(open.body["progress"], (Json{{"done", 0}, {"total", 1}}));
  EXPECT_TRUE(open.body["deadline_at"].is_string());
  Work("ada@example.com", "", 5000);
  const Reply done = Ask("GET", "/job-status/" + id);
  EXPECT_EQ(done.body["status"], "completed");
  EXPECT_EQ(done.body["charge_amount"], 5);
  EXPECT_EQ(done.body["progress"]["done"], 1);
  EXPECT_TRUE(done.body["finished_at"].is_string());
  const Json& result = done.body["result"];
  EXPECT_EQ(result["email"][0][0], "ada@example.com");
  EXPECT_EQ(result["crm"], 42);
  EXPECT_EQ(result["details"]["task_id"], id);
  EXPECT_EQ(result["details"]["charge_amount"], 5);
}

TEST_F(ApiJobs, ASingleWhoseRowFailedHasFailed) {
  const std::string id = Ask("POST", "/find-email-async", One()).body["task_id"];
  Work("", "providers_failed");
  const Reply status = Ask("GET", "/job-status/" + id);
  EXPECT_EQ(status.body["status"], "failed");
  EXPECT_TRUE(status.body["result"].is_null());
  EXPECT_TRUE(status.body["error"]["error"].is_string());
  EXPECT_EQ(status.body["charge_amount"], 0);
}

TEST_F(ApiJobs, ACancelledJobStaysCancelledAndReturnsWhatItHeld) {
  const std::string id = Ask("POST", "/find-email-bulk-async", Many(2)).body["task_id"];
  for (int i = 0; i < 2; ++i) {
    const Reply cancelled = Ask("POST", "/job-status/" + id + "/cancel", Json::object());
    ASSERT_EQ(cancelled.status, 200) << cancelled.raw.body;
    EXPECT_EQ(cancelled.body["status"], "cancelled");
    EXPECT_EQ(cancelled.body["error"]["error"], "cancelled_by_client");
    EXPECT_TRUE(cancelled.body["result"].is_null());
  }
  EXPECT_EQ(Sql("select balance_mc from account"), "1000000");
  const std::string ended = Ask("POST", "/find-email-async", One()).body["task_id"];
  Work("ada@example.com");
  EXPECT_EQ(Ask("POST", "/job-status/" + ended + "/cancel").body["status"], "completed");
  EXPECT_EQ(Ask("POST", "/job-status/" + ended + "/cancel", Json{{"a", 1}}).status, 422);
  net::ServerRequest request = Request("POST", "/job-status/" + ended + "/cancel", {});
  request.body = "[]";
  EXPECT_EQ(AskRaw(std::move(request)).error(), "malformed_json");
}

TEST_F(ApiJobs, AnExpiredResultIsNullAndSaysSo) {
  const std::string id = Ask("POST", "/find-email-async", One()).body["task_id"];
  Work("ada@example.com");
  Sql("delete from job_part");
  const Reply status = Ask("GET", "/job-status/" + id);
  EXPECT_EQ(status.body["status"], "completed");
  EXPECT_TRUE(status.body["result"].is_null());
  EXPECT_EQ(status.body["error"]["error"], "result_expired");
}

TEST_F(ApiJobs, AResultThatWasErasedIsNullAndHasNotExpired) {
  const std::string id = Ask("POST", "/find-email-async", One()).body["task_id"];
  Work("ada@example.com");
  Sql("update job_part set rows = '[[null]]'");
  Sql("update job set params = jsonb_set(params::jsonb, '{rows,0}', '{\"erased\": true}')::json");
  const Reply status = Ask("GET", "/job-status/" + id);
  EXPECT_EQ(status.body["status"], "completed");
  EXPECT_TRUE(status.body["result"].is_null());
  EXPECT_TRUE(status.body["error"].is_null());
}

TEST_F(ApiJobs, FaultsOfTheRequestAreToldInTheirOrder) {
  for (const std::string route : kFinds) {
    const auto ask = [&](const std::string& body, const std::string& type = "application/json") {
      net::ServerRequest request = Request("POST", route, {{"content-type", type}});
      request.body = body;
      return AskRaw(std::move(request));
    };
    EXPECT_EQ(Ask("GET", route).status, 405) << route;
    net::ServerRequest large = Request("POST", route, {});
    large.body_too_large = true;
    EXPECT_EQ(AskRaw(std::move(large)).status, 413);
    EXPECT_EQ(api.BodyBytesMax("POST", route), std::size_t{1} << 20);
    EXPECT_EQ(ask("{}", "text/csv").status, 415);
    EXPECT_EQ(ask("{").error(), "malformed_json");
    EXPECT_EQ(ask("[]").error(), "malformed_json");
    EXPECT_EQ(ask("{}").loc(), IsBulk(route) ? R"(["body","leads"])" : R"(["body","lead"])");
    Json body = IsBulk(route) ? Many(1) : One();
    body["nonsense"] = 1;
    EXPECT_EQ(ask(body.dump()).type(), "extra_forbidden");
    body.erase("nonsense");
    body["webhook_url"] = "http://hooks.example.com/";
    body["providers"] = {"none"};
    EXPECT_EQ(ask(body.dump()).error(), "unknown_provider");
    body.erase("providers");
    EXPECT_EQ(ask(body.dump()).error(), "invalid_webhook_url");
    body[IsBulk(route) ? "leads" : "lead"] = IsBulk(route) ? Json::array({1}) : Json(1);
    EXPECT_EQ(ask(body.dump()).error(), "invalid_lead");
    body.erase("webhook_url");
    body[IsBulk(route) ? "leads" : "lead"] =
        IsBulk(route) ? Json::array({{{"own", 1}}}) : Json{{"own", 1}};
    EXPECT_EQ(ask(body.dump()).error(), "empty_lead");
    EXPECT_EQ(Ask("POST", route, One(), {{"idempotency-key", std::string(256, 'k')}}).status, 422);
  }
  EXPECT_EQ(Ask("POST", "/find-email-bulk", Json{{"leads", Json::array()}}).error(), "no_leads");
  EXPECT_EQ(Ask("POST", "/find-email-bulk", Many(101)).error(), "too_many_leads");
  EXPECT_EQ(Sql("select count(*) from job"), "0");
}

TEST_F(ApiJobs, WhatCannotBePaidIsNotStarted) {
  const Tenant poor = NewTenant("poor");
  GiveCredits(poor.org_id, 12'500);
  for (const char* route : {"/find-email-bulk-async", "/find-email-bulk"}) {
    const Reply refused = Ask("POST", route, Many(3), Headers{{"x-api-key", poor.key}});
    EXPECT_EQ(refused.status, 402) << refused.raw.body;
    EXPECT_EQ(refused.error(), "insufficient_credits");
    EXPECT_EQ(refused.body["estimated_cost_cents"], 15);
    EXPECT_EQ(refused.body["estimated_cost_credits"], 15);
    EXPECT_EQ(refused.body["balance"], 12.5);
    EXPECT_EQ(refused.message(), "this needs 15 credits and 12.5 are left; nothing was charged");
    EXPECT_EQ(refused.Header("Retry-After"), "") << "waiting does not help";
  }
  const std::string team = NewTeam(poor.org_id);
  Sql("update team set spend_limit_mc = 1000 where id = '" + team + "'");
  const Reply refused =
      Ask("POST", "/find-email-async", One(), Headers{{"x-api-key", NewKey(poor.org_id, team)}});
  EXPECT_EQ(refused.status, 402) << refused.raw.body;
  EXPECT_EQ(refused.error(), "spend_limit_reached");
  EXPECT_EQ(refused.body["team_id"], team);
  EXPECT_EQ(refused.body["spend_limit"], 1);
  EXPECT_EQ(refused.body["spent"], 0);
  // The limit was lowered below what was spent already.
  Sql("insert into team_spend (team_id, month, spent_mc) values ('" + team +
      "', date_trunc('month', now() at time zone 'UTC')::date, 11000) "
      "on conflict (team_id, month) do update set spent_mc = 11000");
  const Reply beyond =
      Ask("POST", "/find-email-async", One(), Headers{{"x-api-key", NewKey(poor.org_id, team)}});
  EXPECT_THAT(beyond.message(), HasSubstr(" and 0 are left of the team's spend limit"));
  EXPECT_EQ(beyond.body["spent"], 11);
  EXPECT_THAT(metrics.Expose(),
              HasSubstr("\nvedette_payment_required_total{kind=\"find_email\",reason="
                        "\"spend_limit_reached\"} 2\n"));
  EXPECT_THAT(metrics.Expose(),
              HasSubstr("\nvedette_payment_required_total{kind=\"find_email_bulk\",reason="
                        "\"insufficient_credits\"} 2\n"));
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  UntilParked(0);
}

TEST_F(ApiJobs, ARepetitionWithItsKeyGetsTheSameTask) {
  for (const std::string route : kStarts) {
    const Headers key{{"idempotency-key", "k" + route}};
    const Json body = IsBulk(route) ? Many(2) : One();
    const Reply first = Ask("POST", route, body, key);
    const Reply second = Ask("POST", route, body, key);
    ASSERT_EQ(second.status, 200) << second.raw.body;
    EXPECT_EQ(second.body["task_id"], first.body["task_id"]);
    EXPECT_EQ(second.body["already_started"], true);
    EXPECT_EQ(second.body["estimated_cost_cents"], first.body["estimated_cost_cents"]);
    Json other = body;
    other["verify_emails"] = false;
    EXPECT_EQ(Ask("POST", route, other, key).type(), "idempotency_key_reused");
  }
  EXPECT_EQ(Sql("select count(*) from job"), "2");
  // The route and the team are part of the request.
  const Headers key{{"idempotency-key", "k/find-email-async"}};
  const Reply elsewhere = Ask("POST", "/find-email", One(), key);
  EXPECT_EQ(elsewhere.type(), "idempotency_key_reused");
  EXPECT_THAT(elsewhere.raw.body, testing::HasSubstr("(route, team or body): send a new key"));
  EXPECT_EQ(Ask("POST", "/find-email-async", One(),
                Headers{{"idempotency-key", "k/find-email-async"},
                        {"x-api-key", NewKey(acme.org_id, NewTeam(acme.org_id))}})
                .type(),
            "idempotency_key_reused");
  Ask("POST", "/monitors", GoodBody(), {{"idempotency-key", "monitor"}});
  EXPECT_EQ(Ask("POST", "/find-email-async", One(), {{"idempotency-key", "monitor"}}).type(),
            "idempotency_key_reused");
}

TEST_F(ApiJobs, AKeyWhoseRequestIsUnderWayIsInUse) {
  // Somebody holds the organisation's account, which the start waits for.
  pqxx::connection connection(database.url());
  pqxx::work holder(connection);
  holder.exec("select from account for update");
  const auto first = Send("/find-email-async", One(), {{"idempotency-key", "k"}});
  Until("select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'", "t");
  EXPECT_EQ(Ask("POST", "/find-email-async", One(), {{"idempotency-key", "k"}}).error(),
            "idempotency_key_in_use");
  holder.abort();
  EXPECT_EQ(Take(first).status, 200);
}

TEST_F(ApiJobs, ACallbackIsSentToTheReceiverThatTheStartNamed) {
  const Json hook{{"webhook_url", "https://hooks.example.com/x"}};
  const std::string id = Ask("POST", "/find-email-async", One(hook)).body["task_id"];
  Work("ada@example.com");
  EXPECT_EQ(Sql("select count(*) from delivery where job_id = '" + id + "' and type = 4"), "1");
}

TEST_F(ApiJobs, NoFeatureIsNeededAndALockedOrganisationIsRefused) {
  Sql("update organisation set features = '{}' where id = '" + acme.org_id + "'");
  const Reply started = Ask("POST", "/find-email-async", One());
  ASSERT_EQ(started.status, 200) << started.raw.body;
  const std::string status = "/job-status/" + started.body["task_id"].get<std::string>();
  EXPECT_EQ(Ask("GET", status).status, 200);
  EXPECT_EQ(Ask("GET", "/monitors").status, 403);
  Sql("update organisation set locked = true where id = '" + acme.org_id + "'");
  EXPECT_EQ(Ask("GET", status).error(), "organisation_locked");
  EXPECT_EQ(Ask("POST", "/find-email-async", One()).error(), "organisation_locked");
}

TEST_F(ApiJobs, APersonalLeadWithItsAddressNeedsNoJob) {
  Json body = One({{"mode", "PERSONAL"}});
  body["lead"]["personal_email"] = "ada@home.example";
  ServeLanes("{checks}");
  const Reply reply = Ask("POST", "/find-email", body);
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["personal_email"][0][0], "ada@home.example");
  EXPECT_TRUE(reply.body["details"]["task_id"].is_null());
  EXPECT_EQ(reply.body["details"]["charge_amount"], 0);
  EXPECT_EQ(reply.body["crm"], 42);
  EXPECT_EQ(reply.body["personal_email"][0][1], "UNKNOWN");
  domain::EmailFact known;
  known.address = "ada@home.example";
  known.verdict = domain::Verdict::kOk;
  known.provider = "smtp";
  known.checked_at = clock.Now();
  known.until = clock.Now() + std::chrono::hours(24);
  store::LearnEmail(session,
                    {domain::EmailLesson{*base::Uuid::Parse(acme.org_id), {known}, "", {}}});
  EXPECT_EQ(Ask("POST", "/find-email", body).body["personal_email"][0][1], "OK");
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  EXPECT_EQ(Ask("POST", "/find-email-async", body).body["estimated_cost_cents"], 0);
}

class ApiJobsFew : public ApiJobs {
 public:
  ApiJobsFew() : ApiJobs({{"VEDETTE_JOBS_OPEN_PER_ORG_MAX", "1"}}) {}
};

TEST_F(ApiJobsFew, TooManyOpenJobsAreRefusedForAWhile) {
  EXPECT_EQ(Ask("POST", "/find-email-async", One()).status, 200);
  const Reply refused = Ask("POST", "/find-email-async", One());
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.error(), "too_many_jobs");
  EXPECT_EQ(refused.Header("Retry-After"), "5");
  Work("ada@example.com");
  EXPECT_EQ(Ask("POST", "/find-email-async", One()).status, 200);
}

}  // namespace
}  // namespace vedette::test
