// Runs of workflows through the public API, with workers in this process.
#include <gmock/gmock.h>

#include <set>

#include "base/crypto.h"
#include "config/jobs_config.h"
#include "config/role_config.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

Json Emails(int rows) {
  Json records = Json::array();
  for (int i = 0; i < rows; ++i) records.push_back({{"n", i}, {"email", "a" + std::to_string(i)}});
  return records;
}

Json Condition(const std::string& column, const std::string& op, const Json& value) {
  return {{"conditions", Json::array({Json{{"column", column}, {"op", op}, {"value", value}}})}};
}

TEST_F(ApiRuns, ARunWorksItsRowsThroughTheGraph) {
  const std::string workflow = NewWorkflow(Chain(
      {WebhookSource(), Block("filter", Condition("n", "gte", 2)),
       Block("dedupe", {{"columns", Json::array({"email"})}}),
       Block("select_columns", {{"columns", Json::array({Json{{"name", "email"}, {"as", "address"}},
                                                         Json{{"name", "n"}}})}})}));
  const Reply started = Ask("POST", "/workflows/run?workflow_id=" + workflow,
                            Json{{"webhook_payload",
                                  {{{"n", 1}, {"email", "a"}},
                                   {{"n", 2}, {"email", "b"}},
                                   {{"n", 3}, {"email", "b "}},
                                   {{"n", -4}, {"email", "c"}},
                                   {{"n", 5}, {"email", "=1+1"}},
                                   {{"n", 6}, {"email", nullptr}}}}});
  ASSERT_EQ(started.status, 200) << started.raw.body;
  EXPECT_EQ(started.body["status"], "queued");
  EXPECT_EQ(started.body["workflow_id"], workflow);
  EXPECT_TRUE(started.body["cache_config"].is_null());
  EXPECT_EQ(started.body["already_started"], false);
  EXPECT_EQ(started.body["estimated_cost_cents"], 0);
  const std::string run = started.body["job_id"];
  const Json queued = Live(run);
  EXPECT_EQ(queued["overall_status"], "queued");
  EXPECT_EQ(queued["blocks"][0]["status"], "completed") << "the payload is there";
  EXPECT_EQ(queued["blocks"][1]["status"], "pending");
  EXPECT_EQ(queued["estimation_blocked_by"], "2");
  const Worker worker(*this);
  const Json live = Ended(run);
  EXPECT_EQ(live["overall_status"], "completed") << live;
  EXPECT_EQ(live["overall_progress_percentage"], 100);
  EXPECT_EQ(live["completed_blocks"], 4);
  EXPECT_TRUE(live["current_block"].is_null());
  EXPECT_EQ(live["blocks"][1]["metrics"], (Json{{"row_count", 4},
                                                {"dataframe_type", "LEAD"},
                                                {"processed_count", 6},
                                                {"total_count", 6}}));
  EXPECT_EQ(live["blocks"][3]["previous_block_ids"], Json::array({"3"}));
  EXPECT_EQ(File(run), "address,n\r\nb,2\r\n'=1+1,5\r\n,6\r\n");
  EXPECT_EQ(
      File(run, "?format=ndjson"),
      "{\"address\":\"b\",\"n\":2}\n{\"address\":\"=1+1\",\"n\":5}\n{\"address\":null,\"n\":6}\n");
  EXPECT_EQ(File(run, "?blocks=all", "filter").substr(0, 9), "n,email\r\n");
}

TEST_F(ApiRuns, AFileIsReadInOrderThroughManyPartsExactlyOnce) {
  const Worker worker(*this);
  std::string csv = "n,phone,note\n";
  for (int i = 0; i < 12'000; ++i) {
    csv += std::to_string(i) + ",+49" + std::to_string(i) + ",\"a \"\"quoted\"\"\nnote, " +
           std::to_string(i % 3) + "\"\n";
  }
  const std::string workflow = NewWorkflow(
      Chain({Block("read_csv"), Block("filter", Condition("n", "ne", 7)), Block("dedupe")}));
  const std::string handle = Upload(csv);
  const std::string run = Run(workflow, Json{{"specs_override", {{"resource_handle_id", handle}}}});
  const Json live = Ended(run);
  ASSERT_EQ(live["overall_status"], "completed") << live;
  EXPECT_EQ(live["blocks"][2]["metrics"]["row_count"], 11'999);
  std::string expected = "n,phone,note\r\n";
  for (int i = 0; i < 12'000; ++i) {
    if (i == 7) continue;
    expected += std::to_string(i) + ",+49" + std::to_string(i) + ",\"a \"\"quoted\"\"\nnote, " +
                std::to_string(i % 3) + "\"\r\n";
  }
  EXPECT_EQ(File(run), expected);
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "0");
  EXPECT_GT(std::stoi(Sql("select count(*) from job_part where block = 2")), 46);
  EXPECT_EQ(Sql("select used_at is not null from upload"), "t");
  const std::string again =
      Run(workflow, Json{{"specs_override", {{"resource_handle_id", handle}}}});
  EXPECT_EQ(Ended(again)["overall_status"], "completed") << "a handle serves any number of runs";
}

TEST_F(ApiRuns, EnrichAddsColumnsAndChargesWhatHasNoError) {
  probe.SetScript([](const worker::ProbeRequest& request) -> worker::ProbeResult {
    EXPECT_EQ(request.check_id, request.row_id);
    EXPECT_EQ(request.spec->subject_type, domain::SubjectType::kCompany);
    const Json& subject = request.subject.Value();
    if (subject["domain"] == "bad.example") {
      return worker::ProbeFailure{"no_page", "there is no page", false, std::nullopt};
    }
    worker::Observation seen;
    seen.fields["size"] = {
        base::Json(42), "", {"https://" + subject["domain"].get<std::string>()}, 8.0};
    return seen;
  });
  const Worker worker(*this);
  const std::string workflow = NewWorkflow(
      Chain({WebhookSource("COMPANY"),
             Block("enrich_company", {{"struct", {{"size", "employees"}}}, {"tier", "low"}})}));
  const Reply started =
      Ask("POST", "/workflows/run?workflow_id=" + workflow,
          Json{{"webhook_payload",
                {{{"domain", "a.example"}}, {{"domain", "bad.example"}}, {{"domain", ""}}}}});
  ASSERT_EQ(started.status, 200) << started.raw.body;
  EXPECT_EQ(started.body["estimated_cost_cents"], 3);
  const std::string run = started.body["job_id"];
  const Json live = Ended(run);
  ASSERT_EQ(live["overall_status"], "completed") << live;
  EXPECT_EQ(File(run),
            "domain,size,enrich_sources,enrich_confidence,enrich_error\r\n"
            "a.example,42,\"[\"\"https://a.example\"\"]\",8.0,\r\n"
            "bad.example,,,,no_page: there is no page\r\n"
            ",,,,empty_row: the row has no value\r\n");
  const Reply list = Ask("GET", "/workflows/runs");
  EXPECT_EQ(list.body[0]["metrics"],
            (Json{{"rows_in", 3}, {"rows_out", 3}, {"row_errors", 2}, {"charge_amount", 1}}));
  EXPECT_EQ(Sql("select charged_mc || ' ' || reserved_mc || ' ' || estimate_mc from job"),
            "1000 0 3000");
  EXPECT_EQ(Sql("select balance_mc from account where org_id = '" + acme.org_id + "'"), "999000");
}

TEST_F(ApiRuns, ALookupOfARunKeepsItsPriceItsLaneAndItsTermsFromTheStart) {
  ServeLanes("{smtp,lookup,research}");
  const std::string workflow =
      NewWorkflow(Chain({WebhookSource(), Block("find_email", {{"mode", "PERSONAL"}}),
                         Block("verify_email"), Block("find_email", {{"verify_emails", false}}),
                         Block("reverse_email"), Block("verify_age")}));
  const Json record{{"name", "Ada"}, {"email", "ada@a.example"}};
  const Json payload{{"webhook_payload", Json::array({record})}};
  const Reply started = Ask("POST", "/workflows/run?workflow_id=" + workflow, payload);
  ASSERT_EQ(started.status, 200) << started.raw.body;
  EXPECT_EQ(started.body["estimated_cost_cents"], 20 + 1 + 5 + 5 + 20);
  const std::string blocks =
      "select string_agg(type || ' ' || lane || ' ' || price_mc || ' ' || "
      "(specs->'terms'->>'charge'"
      "), ', ' order by block) from job_block where block > 0 and job_id = '";
  EXPECT_EQ(Sql(blocks + started.body["job_id"].get<std::string>() + "'"),
            "row_find_email 2 20000 found, row_verify_email 2 1000 always, "
            "row_find_email 1 5000 found, row_reverse_email 1 5000 found, "
            "row_verify_age 3 20000 found");
  ServeLanes("{lookup,research}");
  const std::string without = Run(workflow, payload);
  EXPECT_EQ(Sql("select string_agg(lane::text, ' ' order by block) from job_block "
                "where block > 0 and job_id = '" +
                without + "'"),
            "1 1 1 1 3")
      << "addresses are looked up all the same, and not verified";
}

TEST_F(ApiRuns, G4_WhatARunMayCostIsReservedBehindAFilterTooAndTheRestReturns) {
  const Worker worker(*this);
  const std::string workflow =
      NewWorkflow(Chain({WebhookSource(), Block("filter", Condition("n", "lt", 300)),
                         Block("enrich_lead", {{"struct", {{"job", "title"}}}, {"tier", "low"}})}));
  const Reply started =
      Ask("POST", "/workflows/run?workflow_id=" + workflow, Json{{"webhook_payload", Emails(600)}});
  EXPECT_EQ(started.body["estimated_cost_cents"], 600);
  const std::string run = started.body["job_id"];
  EXPECT_EQ(Ended(run)["overall_status"], "completed");
  EXPECT_EQ(Sql("select charged_mc || ' ' || reserved_mc || ' ' || estimate_mc from job"),
            "300000 0 600000");
  EXPECT_EQ(Sql("select sum(amount_mc) = (select balance_mc from account where org_id = '" +
                acme.org_id + "') from credit_entry where org_id = '" + acme.org_id + "'"),
            "t");
}

TEST_F(ApiRuns, ARunThatMayCostMoreThanThereIsIsA402BehindDedupeTooAndChargesNothing) {
  Sql("update account set balance_mc = 3000 where org_id = '" + acme.org_id + "'");
  const std::string workflow =
      NewWorkflow(Chain({WebhookSource(), Block("dedupe"),
                         Block("enrich_lead", {{"struct", {{"job", "title"}}}, {"tier", "low"}})}));
  const Reply refused =
      Ask("POST", "/workflows/run?workflow_id=" + workflow, Json{{"webhook_payload", Emails(5)}});
  EXPECT_EQ(refused.status, 402) << refused.raw.body;
  EXPECT_EQ(refused.error(), "insufficient_credits");
  EXPECT_EQ(refused.body["estimated_cost_cents"], 5);
  EXPECT_EQ(refused.body["balance"], 3);
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  EXPECT_EQ(Sql("select balance_mc from account where org_id = '" + acme.org_id + "'"), "3000");
}

TEST_F(ApiRuns, ABlockThatCannotBeBoundFailsTheRunAtOnceAndFree) {
  const std::string workflow =
      NewWorkflow(Chain({WebhookSource(), Block("enrich_lead", {{"struct", {{"job", "title"}}}}),
                         Block("filter", Condition("Email", "is_empty", nullptr))}));
  const std::string run = RunRows(workflow, Emails(3));
  const Json live = Live(run);
  EXPECT_EQ(live["overall_status"], "failed");
  EXPECT_EQ(live["status_reason"], "block_failed");
  EXPECT_THAT(live["error_message"].get<std::string>(),
              HasSubstr("column Email is not in the input; it has: n, email"));
  EXPECT_EQ(live["blocks"][2]["status"], "failed");
  EXPECT_EQ(live["blocks"][2]["error_message"], live["error_message"]);
  EXPECT_EQ(live["blocks"][1]["status"], "cancelled");
  EXPECT_EQ(Sql("select estimate_mc from job"), "0");
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "0");
  EXPECT_EQ(File(run, "?blocks=all"), "n,email\r\n0,a0\r\n1,a1\r\n2,a2\r\n")
      << "the source's rows, which are known";
}

TEST_F(ApiRuns, ARunWithNothingToDoIsCompletedAtItsStart) {
  const std::string run = RunRows(NewWorkflow(Chain(Json::array({WebhookSource()}))), Emails(2));
  EXPECT_EQ(Live(run)["overall_status"], "completed");
  EXPECT_EQ(File(run), "n,email\r\n0,a0\r\n1,a1\r\n");
  EXPECT_EQ(Ask("GET", "/workflows/runs").body[0]["duration_ms"], 0);
}

TEST_F(ApiRuns, EveryEndIsToldToTheReceiversThatAskedForIt) {
  const Worker worker(*this);
  const auto chain = [](const Json& more) {
    Json specs{{"url", "https://hooks.example/x"}};
    specs.update(more);
    return Chain({WebhookSource(), Block("dedupe"), Block("outgoing_webhook", specs)});
  };
  const std::string told = "select type || ' ' || block || ' ' || job_status from delivery";
  const std::string run = RunRows(NewWorkflow(chain(Json::object())), Emails(2));
  const Json live = Ended(run);
  EXPECT_EQ(live["blocks"][2]["status"], "completed") << live;
  EXPECT_EQ(live["blocks"][2]["metrics"]["row_count"], 2) << "it shows its input's rows";
  EXPECT_EQ(Ask("GET", "/job-status/" + run).body["progress"], (Json{{"done", 4}, {"total", 4}}));
  EXPECT_EQ(Sql(told + " where job_id = '" + run + "'"), "8 2 2");
  const std::string id = Sql("select event_group_id from delivery");
  EXPECT_EQ(id, base::Uuid::V5(*base::Uuid::Parse(run), "outgoing_webhook.completed:3").ToString());
  // A run that cannot be bound has failed.
  const Json bad = Block("filter", Condition("x", "is_empty", nullptr));
  for (const bool on_failure : {false, true}) {
    Json definition = chain({{"send_on_failure", on_failure}});
    definition["blocks"][1]["block_name"] = "filter";
    definition["blocks"][1]["specs"] = bad["specs"];
    const std::string failed = RunRows(NewWorkflow(definition), Emails(2));
    EXPECT_EQ(Sql("select count(*) from delivery where job_id = '" + failed + "'"),
              on_failure ? "1" : "0");
  }
}

TEST_F(ApiRuns, TheRulesOfAStart) {
  const std::string hook =
      NewWorkflow(Chain({Block("webhook", {{"dataframe_type", "LEAD"},
                                           {"input_schema", {{"email", Json::object()}}}}),
                         Block("dedupe")}));
  const std::string csv = NewWorkflow(Chain({Block("read_csv"), Block("dedupe")}));
  const auto start = [&](const std::string& workflow, const Json& body) {
    return Ask("POST", "/workflows/run?workflow_id=" + workflow, body);
  };
  const auto error = [&](const std::string& workflow, const Json& body) {
    const Reply reply = start(workflow, body);
    EXPECT_EQ(reply.status, 400) << reply.raw.body;
    return reply.error();
  };
  EXPECT_EQ(error(csv, Json{{"webhook_payload", Emails(1)}}), "source_not_webhook");
  EXPECT_EQ(error(csv, Json::object()), "missing_resource_handle");
  for (const std::string& handle : {base::Uuid::V4().ToString(), std::string("nonsense")}) {
    EXPECT_EQ(error(csv, Json{{"specs_override", {{"resource_handle_id", handle}}}}),
              "invalid_resource_handle");
  }
  EXPECT_EQ(error(hook, Json{{"webhook_payload", Json::array()}}), "empty_payload");
  EXPECT_EQ(error(hook, Json::object()), "missing_payload");
  const Reply missing =
      start(hook, Json{{"webhook_payload", {{{"email", nullptr}}, {{"name", "Ada"}}}}});
  EXPECT_EQ(missing.error(), "missing_columns");
  EXPECT_THAT(missing.message(), HasSubstr("record 1 lacks columns"));
  EXPECT_THAT(missing.message(), HasSubstr("email"));
  EXPECT_EQ(start(hook, Json{{"webhook_payload", {{"email", "one"}}}}).status, 200)
      << "a record alone";
  EXPECT_EQ(start(hook, Json{{"webhook_payload", {1, 2}}}).loc(),
            R"(["body","webhook_payload",0])");
  EXPECT_EQ(start(hook, Json{{"webhook_payload", "x"}}).type(), "list_type");
  EXPECT_EQ(start(hook, Json{{"payload", 1}}).type(), "extra_forbidden");
  EXPECT_EQ(
      start(hook, Json{{"specs_override", {{"colour", 1}}}, {"webhook_payload", Emails(1)}}).loc(),
      R"(["body","specs_override","colour"])");
  EXPECT_EQ(Ask("POST", "/workflows/run", Json::object()).loc(), R"(["query","workflow_id"])");
  EXPECT_EQ(start("nonsense", Json::object()).status, 404);
  EXPECT_EQ(Sql("select count(*) from job"), "1");
}

TEST_F(ApiRuns, ASampleStandsForAPayload) {
  const std::string workflow = NewWorkflow(Chain(Json::array(
      {Block("webhook", {{"dataframe_type", "LEAD"}, {"webhook_input", R"([{"a": 1.50}])"}})})));
  EXPECT_EQ(File(Run(workflow)), "a\r\n1.50\r\n");
  EXPECT_EQ(Sql("select count(*) from job j join job_block b on b.job_id = j.id "
                "where j.params::text like '%1.50%' or b.specs::text like '%1.50%'"),
            "0")
      << "its records are rows, which an erasure looks through";
}

TEST_F(ApiRuns, AWorkersDeathLosesAndDoublesNoRow) {
  // A part that was in many deaths is not to be blamed for them: they came from outside.
  config.worker.claims_max = 100;
  std::string csv = "n,key\n";
  std::set<std::string> expected;
  for (int i = 0; i < 600; ++i) {
    csv += std::to_string(i) + ",k" + std::to_string(i % 500) + "\n";
  }
  probe.SetScript([](const worker::ProbeRequest&) { return worker::Observation(); });
  const std::string workflow =
      NewWorkflow(Chain({Block("read_csv"), Block("dedupe", {{"columns", Json::array({"key"})}}),
                         Block("filter", Condition("n", "ends_with", "0")),
                         Block("enrich_lead", {{"struct", {{"job", "x"}}}, {"tier", "micro"}})}));
  for (int i = 0; i < 500; i += 10) {
    expected.insert(std::to_string(i) + ",k" + std::to_string(i) + ",,,,");
  }
  const std::string run =
      Run(workflow, Json{{"specs_override", {{"resource_handle_id", Upload(csv)}}}});
  const Worker survivor(*this);
  const std::string ended = "select finished_at is not null from job where id = '" + run + "'";
  for (int death = 0; death < 20 && Sql(ended) != "t"; ++death) {
    Worker victim(*this);
    Until("select (select count(*) from job_part) > " + std::to_string(6 * death) +
              " or exists (select from job where finished_at is not null)",
          "t");
    victim.Kill();
    Sql("update job_chunk set available_at = now() where lease_token is not null");
  }
  const Json live = Ended(run);
  ASSERT_EQ(live["overall_status"], "completed") << live;
  EXPECT_EQ(live["blocks"][1]["metrics"]["row_count"], 500);
  EXPECT_EQ(live["blocks"][3]["metrics"]["row_count"], 50);
  const std::string file = File(run);
  std::set<std::string> seen;
  std::size_t lines = 0;
  for (std::size_t at = file.find("\r\n") + 2; at < file.size(); ++lines) {
    const std::size_t end = file.find("\r\n", at);
    seen.insert(file.substr(at, end - at));
    at = end + 2;
  }
  EXPECT_EQ(lines, 50U);
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(Sql("select charged_mc || ' ' || reserved_mc from job"), "25000 0");
  EXPECT_EQ(Sql("select sum(amount_mc) = (select balance_mc from account where org_id = '" +
                acme.org_id + "') from credit_entry where org_id = '" + acme.org_id + "'"),
            "t");
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "0");
}

TEST_F(ApiRuns, PayloadsNeedACredentialOfAProgram) {
  const std::string workflow = NewWorkflow(Chain({WebhookSource(), Block("dedupe")}));
  const std::string token = "vd_ses_" + base::RandomBase62(43);
  Sql("insert into org_user (org_id, user_id) values ('" + acme.org_id + "', 'ada')");
  Sql("insert into access_token (token_sha256, id, kind, org_id, principal_id, user_id, "
      "expires_at) "
      "values ('\\x" +
      base::HexEncode(base::Sha256(token)) + "', gen_random_uuid(), 2, '" + acme.org_id +
      "', gen_random_uuid(), 'ada', now() + interval '1 hour')");
  const Headers session_of_ada{{"authorization", "Bearer " + token}};
  const Reply refused = Ask("POST", "/workflows/run?workflow_id=" + workflow,
                            Json{{"webhook_payload", Emails(1)}}, session_of_ada);
  EXPECT_EQ(refused.status, 400) << refused.raw.body;
  EXPECT_EQ(refused.error(), "session_token_not_allowed");
  EXPECT_EQ(
      Ask("POST", "/workflows/run?workflow_id=" + workflow, Json::object(), session_of_ada).error(),
      "missing_payload");
}

TEST_F(ApiRuns, FeaturesAndMoneyAreAskedFor) {
  const auto chain = [](const std::string& tier) {
    return Chain(
        {WebhookSource(), Block("enrich_lead", {{"struct", {{"job", "x"}}}, {"tier", tier}})});
  };
  Sql("update organisation set features = '{}'");
  for (const char* tier : {"high", "micro", "xhigh"}) {
    const Reply refused = Ask("POST", "/workflows/run?workflow_id=" + NewWorkflow(chain(tier)),
                              Json{{"webhook_payload", Emails(1)}});
    EXPECT_EQ(refused.status, 403) << tier;
    EXPECT_EQ(refused.error(), "feature_not_enabled");
  }
  const Reply poor = Ask("POST", "/workflows/run?workflow_id=" + NewWorkflow(chain("low")),
                         Json{{"webhook_payload", Emails(1001)}});
  EXPECT_EQ(poor.status, 402);
  EXPECT_EQ(poor.error(), "insufficient_credits");
  EXPECT_EQ(poor.body["estimated_cost_cents"], 1001);
  EXPECT_EQ(poor.body["balance"], 1000);
  EXPECT_EQ(Sql("select count(*) from job"), "0");
}

TEST_F(ApiRuns, TheTiersOfEnrichmentHaveFeaturesOfTheirOwn) {
  // Features, and the tiers of enrichment that they allow beside low and medium.
  const std::vector<std::pair<std::string, std::set<std::string>>> allowed{
      {"monitors,testing_monitors", {}},
      {"high_tier", {"high", "micro"}},
      {"xhigh", {"xhigh", "micro"}}};
  std::string last;
  for (const auto& [features, tiers] : allowed) {
    Sql("update organisation set features = '{" + features + "}'");
    for (const std::string tier : {"micro", "high", "xhigh"}) {
      const Json enrich{{"struct", {{"job", "x"}}}, {"tier", tier}};
      const std::string workflow =
          NewWorkflow(Chain({WebhookSource(), Block("enrich_lead", enrich)}));
      const Reply reply = Ask("POST", "/workflows/run?workflow_id=" + workflow,
                              Json{{"webhook_payload", Emails(1)}});
      EXPECT_EQ(reply.status, tiers.contains(tier) ? 200 : 403) << features << ' ' << tier;
      if (reply.status == 200) last = reply.body["job_id"];
    }
  }
  EXPECT_EQ(Sql("select max(price_mc) from job_block where job_id = '" + last + "'"), "50000");
  // A monitor has no such tier, whatever the organisation may have.
  const Json monitor{
      {"name", "m"}, {"key_columns", {"email"}}, {"struct", {{"job", "x"}}}, {"tier", "xhigh"}};
  const Reply refused =
      Ask("POST", "/workflows/create_workflow",
          Json{{"workflow_name", "w"},
               {"workflow_definition", Chain({WebhookSource(), Block("monitor", monitor)})}});
  EXPECT_EQ(refused.status, 422) << refused.raw.body;
}

// n8n 28524, 31837, 38083: one call of a webhook makes two runs.
TEST_F(ApiRuns, FiftyEqualStartsMakeOneRun) {
  const std::string workflow = NewWorkflow(Chain({WebhookSource(), Block("dedupe")}));
  const std::string other = NewWorkflow(Chain({WebhookSource(), Block("dedupe")}));
  const Headers key{{"idempotency-key", "once"}};
  const Json body{{"webhook_payload", Emails(1)}};
  std::vector<std::shared_ptr<ApiExchange>> sent;
  for (int i = 0; i < 50; ++i) {
    sent.push_back(Send("/workflows/run?workflow_id=" + workflow, body, key));
  }
  std::set<std::string> runs;
  for (const auto& exchange : sent) {
    const Reply reply = Take(exchange);
    if (reply.status == 200) runs.insert(reply.body["job_id"].get<std::string>());
    if (reply.status != 200) {
      EXPECT_EQ(reply.error(), "idempotency_key_in_use") << reply.raw.body;
    }
  }
  EXPECT_EQ(runs.size(), 1U);
  EXPECT_EQ(Sql("select count(*) from job"), "1");
  const Reply again = Ask("POST", "/workflows/run?workflow_id=" + workflow, body, key);
  EXPECT_EQ(again.body["already_started"], true);
  EXPECT_EQ(Ask("POST", "/workflows/run?workflow_id=" + other, body, key).status, 422);
}

TEST_F(ApiRuns, TooManyOpenRunsAreRefused) {
  config.workflows.runs_active_per_org_max = 2;
  const std::string workflow = NewWorkflow(Chain({WebhookSource(), Block("dedupe")}));
  RunRows(workflow, Emails(1));
  RunRows(workflow, Emails(1));
  const Reply full =
      Ask("POST", "/workflows/run?workflow_id=" + workflow, Json{{"webhook_payload", Emails(1)}});
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.error(), "too_many_runs");
  EXPECT_EQ(full.Header("Retry-After"), "5");
}

TEST_F(ApiRuns, ACancelledQueuedRunNeverStarts) {
  const std::string workflow =
      NewWorkflow(Chain({WebhookSource(), Block("enrich_lead", {{"struct", {{"job", "x"}}}})}));
  const std::string run = RunRows(workflow, Emails(10));
  for (int i = 0; i < 2; ++i) {
    const Reply cancelled = Ask("POST", "/workflows/cancel?job_id=" + run);
    ASSERT_EQ(cancelled.status, 200) << cancelled.raw.body;
    EXPECT_EQ(cancelled.body["status"], "cancelled");
    EXPECT_EQ(cancelled.body["status_reason"], "cancelled_by_client");
    EXPECT_TRUE(cancelled.body["completed_at"].is_string());
  }
  const Worker worker(*this);
  const std::string after = RunRows(workflow, Emails(1));
  EXPECT_EQ(Ended(after)["overall_status"], "completed");
  EXPECT_EQ(probe.asked(), 1) << "no row of the cancelled run";
  EXPECT_EQ(Sql("select balance_mc from account where org_id = '" + acme.org_id + "'"), "999000");
  const Json live = Live(run);
  EXPECT_EQ(live["overall_status"], "cancelled");
  EXPECT_EQ(live["blocks"][1]["status"], "cancelled");
  EXPECT_EQ(Ask("POST", "/workflows/cancel").status, 422);
  EXPECT_EQ(Ask("POST", "/workflows/cancel?job_id=x").status, 404);
  EXPECT_EQ(Ask("POST", "/workflows/cancel?job_id=" + run, Json{{"why", 1}}).status, 422);
  const Reply lookup = Ask("POST", "/find-email-async", One());
  EXPECT_EQ(
      Ask("POST", "/workflows/cancel?job_id=" + lookup.body["job_id"].get<std::string>()).status,
      404)
      << "a lookup is no run";
}

TEST_F(ApiRuns, WhatACancelledRunFinishedCanBeDownloaded) {
  const std::string workflow = NewWorkflow(Chain(
      {WebhookSource(), Block("dedupe"), Block("enrich_lead", {{"struct", {{"job", "x"}}}})}));
  const std::string run = RunRows(workflow, Emails(3));
  {
    config.worker.lanes = {"transform"};
    const Worker worker(*this);
    Until("select sum(row_count) from job_part where block = 1", "3");
  }
  Ask("POST", "/workflows/cancel?job_id=" + run);
  const Reply links = Ask("GET", "/workflows/runs/" + run + "/results/download-links");
  ASSERT_EQ(links.body.size(), 1U) << links.raw.body;
  EXPECT_EQ(links.body[0]["message"], "partial");
  EXPECT_EQ(links.body[0]["block_name"], "dedupe");
  EXPECT_EQ(File(run), "n,email\r\n0,a0\r\n1,a1\r\n2,a2\r\n");
}

TEST_F(ApiRuns, RunsAreListedByStatusAndWorkflow) {
  const std::string one = NewWorkflow(Chain({WebhookSource(), Block("dedupe")}), "one");
  const std::string two = NewWorkflow(Chain(Json::array({WebhookSource()})), "two");
  const std::string queued = RunRows(one, Emails(1));
  const std::string completed = RunRows(two, Emails(1));
  const std::string cancelled = RunRows(one, Emails(1));
  Ask("POST", "/workflows/cancel?job_id=" + cancelled);
  const auto ids = [&](const std::string& query) {
    std::vector<std::string> found;
    for (const Json& run : Ask("GET", "/workflows/runs" + query).body)
      found.push_back(run["job_id"]);
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(""), (Ids{cancelled, completed, queued}));
  EXPECT_EQ(ids("?limit=1"), Ids{cancelled});
  EXPECT_EQ(ids("?status=queued"), Ids{queued});
  EXPECT_EQ(ids("?status=active"), Ids{queued});
  EXPECT_EQ(ids("?status=running"), Ids{});
  EXPECT_EQ(ids("?status=completed"), Ids{completed});
  EXPECT_EQ(ids("?status=cancelled"), Ids{cancelled});
  EXPECT_EQ(ids("?workflow_id=" + one), (Ids{cancelled, queued}));
  Ask("POST", "/workflows/delete_workflow?workflow_id=" + two);
  EXPECT_EQ(ids("?workflow_id=" + two), Ids{completed}) << "a deleted workflow is found";
  EXPECT_EQ(Ask("GET", "/workflows/runs?workflow_id=" + base::Uuid::V4().ToString()).status, 404);
  EXPECT_EQ(Ask("GET", "/workflows/runs?status=done").type(), "enum");
  EXPECT_EQ(Ask("GET", "/workflows/runs?limit=501").status, 422);
  const Json item = Ask("GET", "/workflows/runs?status=queued").body[0];
  EXPECT_EQ(item["queued_at"], item["created_at"]);
  EXPECT_TRUE(item["metrics"].is_null());
  EXPECT_TRUE(item["duration_ms"].is_null());
  EXPECT_EQ(item["workflow_name"], "one");
  EXPECT_EQ(item["blocks_count"], 2);
  EXPECT_TRUE(Ask("GET", "/workflows/" + one).body["last_run_date"].is_string());
}

TEST_F(ApiRuns, AForeignRunIsNotThere) {
  const std::string run = RunRows(NewWorkflow(Chain(Json::array({WebhookSource()}))), Emails(1));
  const Headers theirs{{"x-api-key", NewTenant("other").key}};
  for (const char* rest : {"/live_status", "/results/download-links"}) {
    EXPECT_EQ(Ask("GET", "/workflows/runs/" + run + rest, theirs).status, 404) << rest;
    EXPECT_EQ(Ask("GET", std::string("/workflows/runs/x") + rest).status, 404) << rest;
  }
  EXPECT_EQ(Ask("POST", "/workflows/cancel?job_id=" + run, theirs).status, 404);
  EXPECT_EQ(Ask("GET", "/workflows/runs", theirs).body.size(), 0U);
}

TEST_F(ApiRuns, ALinkIsRefusedWhereAnyCharacterOfItWasChanged) {
  const std::string run = RunRows(NewWorkflow(Chain(Json::array({WebhookSource()}))), Emails(1));
  const Reply links = Ask("GET", "/workflows/runs/" + run + "/results/download-links",
                          Headers{{"host", "api.example"}, {"x-forwarded-proto", "https"}});
  const Json& link = links.body[0];
  EXPECT_EQ(link["download_expires_in_seconds"], 900);
  EXPECT_EQ(link["filename"], "flow_1_webhook_" + run.substr(0, 8) + ".csv");
  const auto url = link["download_url"].get<std::string>();
  ASSERT_TRUE(url.starts_with("https://api.example/storage/download/")) << url;
  const std::string path = url.substr(url.find("/storage"));
  const auto status = [&](const std::string& target) {
    net::ServerRequest request = Request("GET", target, {});
    request.headers.clear();
    return AskRaw(std::move(request));
  };
  const Reply taken = status(path);
  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(taken.Header("Content-Type"), "text/csv; charset=utf-8");
  EXPECT_EQ(taken.Header("Content-Disposition"),
            "attachment; filename=\"flow_1_webhook_" + run.substr(0, 8) + ".csv\"");
  EXPECT_EQ(taken.Header("Cache-Control"), "private, no-store");
  EXPECT_EQ(taken.Header("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(taken.Header("X-Content-Type-Options"), "nosniff");
  for (std::size_t i = std::string("/storage/download/").size(); i < path.size(); ++i) {
    std::string changed = path;
    changed[i] = changed[i] == '0' ? '1' : '0';
    const Reply refused = status(changed);
    EXPECT_TRUE(refused.status == 403 || refused.status == 404) << changed;
    EXPECT_NE(refused.raw.body.substr(0, 7), "n,email") << changed;
  }
  EXPECT_EQ(status(path + "A").error(), "invalid_link");
  const std::string query = path.substr(path.find('?') + 1);
  for (const std::string& repeated :
       {query.substr(query.find('&') + 1), query.substr(0, query.find('&'))}) {
    EXPECT_EQ(status(path + "&" + repeated).error(), "invalid_link") << "twice: " << repeated;
  }
  EXPECT_EQ(status(path.substr(0, path.find('?'))).error(), "invalid_link");
  Sql("delete from job_part");
  EXPECT_EQ(status(path).status, 404) << "past the retention of rows";
  const std::string counted = metrics.Expose();
  EXPECT_THAT(counted, HasSubstr("vedette_downloads_total{outcome=\"begun\"} 1\n"));
  EXPECT_THAT(counted, HasSubstr("vedette_downloads_total{outcome=\"gone\"} 1\n"));
}

}  // namespace
}  // namespace vedette::test
