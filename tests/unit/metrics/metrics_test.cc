#include "metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/version.h"
#include "metrics/process_series.h"

namespace vedette::metrics {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

// Every method once or more, so that every series has a value.
void UseEverything(Metrics* m) {
  m->AddChecks(domain::Outcome::kChanged, domain::Tier::kLow, 3);
  m->ObserveCheckDuration("web", milliseconds(200));
  m->AddProbeFailure("web", "timeout");
  m->AddLlmTokens(domain::Tier::kHigh, 120, 30);
  m->ObserveScheduleLag(milliseconds(20));
  m->ObserveRowFreshness(1.02);
  m->SetChecksInFlight(7);
  m->AddCreditsCharged(domain::Tier::kMicro, 1500);
  m->AddLeaseLost(2);
  m->AddAuth("token", "ok");
  m->AddOauthRequest("assertion", "replay");
  m->AddMaintenanceFailures("partitions", 1);
  m->AddTicks(domain::TickTrigger::kManual, 4);
  m->AddDeliveries("delivered", 5);
  m->AddMails("sent", 6);
  m->ObserveDeliveryAttempt(milliseconds(30));
  m->SetChunks("due", 11);
  m->SetChunkOldestDue(milliseconds(2500));
  m->SetDeliveries("dead", 12);
  m->SetDeliveryOldestPending(milliseconds(1500));
  m->SetAuditOldestUnsealed(milliseconds(2500));
  m->SetReceiversFailing(3);
  m->ObserveHttpRequest("api /monitors/{monitor_id}", 404, milliseconds(2));
  m->ObserveQuery("claim_chunks", microseconds(700), false);
  m->ObserveLookup("find_email", "ok", milliseconds(40));
  m->AddProviderCall("mine", "find_email", "found");
  m->ObserveProviderCall("mine", milliseconds(30));
  m->AddJobEnded(domain::JobKind::kFindEmail, domain::JobStatus::kTerminated, milliseconds(700));
  m->SetOpenJobs(domain::JobKind::kFindEmailBulk, domain::JobStatus::kRunning, 8);
  m->AddJobEnded(domain::JobKind::kWorkflow, domain::JobStatus::kCompleted, milliseconds(900));
  m->SetOpenJobs(domain::JobKind::kWorkflow, domain::JobStatus::kRunning, 5);
  m->SetJobOverdue(milliseconds(4500));
  m->AddRunsStalled(1);
  m->SetRunOldestQueued(milliseconds(3500));
  m->AddRunRecord("filter", 2, 500, 3);
  m->ObserveRunPart("dedupe", milliseconds(20));
  m->SetRunPartsHeld(9);
  m->SetSigningSecretsUnreadable(2);
  m->AddDownload("expired");
  m->SetWaits(6);
  m->SetWaitsMax(1024);
  m->SetAccessTokens("oauth_client", 9);
  m->AddPaymentRequired(domain::JobKind::kFindEmailBulk, "spend_limit_reached");
}

TEST(Metrics, SummariseWhatTheConsoleDraws) {
  Metrics m("1.2.3");
  UseEverything(&m);
  m.AddChecks(domain::Outcome::kChanged, domain::Tier::kHigh, 1);
  m.ObserveScheduleLag(std::chrono::hours(2));
  const base::Json summary = base::ParseJsonOrThrow(m.Summary());
  EXPECT_EQ(summary["checks"]["changed"], 4) << "of every tier";
  EXPECT_EQ(summary["checks"]["skipped_balance"], 0);
  EXPECT_EQ(summary["deliveries"], base::Json({{"delivered", 5}, {"retried", 0}, {"dead", 0}}));
  const base::Json& lag = summary["lag"];
  ASSERT_EQ(lag["counts"].size(), lag["le_s"].size() + 1);
  EXPECT_EQ(lag["le_s"][0], 0.001) << "a check that somebody waits for begins within milliseconds";
  EXPECT_EQ(lag["le_s"][4], 0.025);
  EXPECT_EQ(lag["counts"][4], 1) << "20 ms";
  EXPECT_EQ(lag["counts"].back(), 1) << "beyond every bound";
  EXPECT_EQ(summary["waits"], base::Json({{"used", 6}, {"max", 1024}}));
  EXPECT_EQ(summary["secrets_unreadable"], 2)
      << "so that any process can name the one that lacks a key";
}

TEST(Metrics, ExposeEverySeriesUnderItsNameAndLabels) {
  Metrics m("1.2.3");
  UseEverything(&m);
  const std::string text = m.Expose();
  for (const char* line :
       {"vedette_checks_total{outcome=\"changed\",tier=\"low\"} 3\n",
        "vedette_check_duration_seconds_count{probe=\"web\"} 1\n",
        "vedette_check_duration_seconds_bucket{probe=\"web\",le=\"0.25\"} 1\n",
        "vedette_check_duration_seconds_bucket{probe=\"web\",le=\"0.1\"} 0\n",
        "vedette_probe_failures_total{class=\"timeout\",probe=\"web\"} 1\n",
        "vedette_llm_tokens_total{kind=\"prompt\",tier=\"high\"} 120\n",
        "vedette_llm_tokens_total{kind=\"completion\",tier=\"high\"} 30\n",
        "vedette_schedule_lag_seconds_sum 0.02\n",
        "vedette_row_freshness_ratio_sum 1.02\n",
        "vedette_checks_in_flight 7\n",
        "vedette_credits_charged_total{tier=\"micro\"} 1.5\n",
        "vedette_lease_lost_total 2\n",
        "vedette_maintenance_failures_total{task=\"partitions\"} 1\n",
        "vedette_ticks_total{trigger=\"manual\"} 4\n",
        "vedette_deliveries_total{outcome=\"delivered\"} 5\n",
        "vedette_mails_total{outcome=\"sent\"} 6\n",
        "vedette_delivery_attempt_seconds_count 1\n",
        "vedette_receivers_failing 3\n",
        "vedette_chunks{state=\"due\"} 11\n",
        "vedette_chunk_oldest_due_seconds 2.5\n",
        "vedette_deliveries{state=\"dead\"} 12\n",
        "vedette_delivery_oldest_pending_seconds 1.5\n",
        "vedette_audit_oldest_unsealed_seconds 2.5\n",
        "vedette_http_requests_total{code=\"404\",route=\"api /monitors/{monitor_id}\"} 1\n",
        "vedette_http_request_seconds_count{route=\"api /monitors/{monitor_id}\"} 1\n",
        "vedette_db_query_seconds_count{query=\"claim_chunks\"} 1\n",
        "vedette_db_errors_total{query=\"claim_chunks\"} 1\n",
        "vedette_lookups_total{kind=\"find_email\",outcome=\"ok\"} 1\n",
        "vedette_lookup_seconds_count{kind=\"find_email\"} 1\n",
        "vedette_provider_calls_total{lookup=\"find_email\",outcome=\"found\",provider=\"mine\"} "
        "1\n",
        "vedette_provider_seconds_count{provider=\"mine\"} 1\n",
        "vedette_jobs_total{kind=\"find_email\",outcome=\"terminated\"} 1\n",
        "vedette_job_seconds_count{kind=\"find_email\"} 1\n",
        "vedette_jobs{kind=\"find_email_bulk\",status=\"running\"} 8\n",
        "vedette_jobs{kind=\"workflow\",status=\"queued\"} 0\n",
        "vedette_runs{status=\"running\"} 5\n",
        "vedette_runs{status=\"queued\"} 0\n",
        "vedette_runs_total{outcome=\"completed\"} 1\n",
        "vedette_run_seconds_count 1\n",
        "vedette_job_overdue_seconds 4.5\n",
        "vedette_runs_stalled_total 1\n",
        "vedette_run_oldest_queued_seconds 3.5\n",
        "vedette_parts_total{block=\"filter\"} 2\n",
        "vedette_run_rows_total{block=\"filter\",outcome=\"done\"} 500\n",
        "vedette_run_rows_total{block=\"filter\",outcome=\"failed\"} 3\n",
        "vedette_part_seconds_count{block=\"dedupe\"} 1\n",
        "vedette_parts_held 9\n",
        "vedette_downloads_total{outcome=\"expired\"} 1\n",
        "vedette_downloads_total{outcome=\"begun\"} 0\n",
        "vedette_waits 6\n",
        "vedette_waits_max 1024\n",
        "vedette_access_tokens{kind=\"oauth_client\"} 9\n",
        "vedette_payment_required_total{kind=\"find_email_bulk\",reason=\"spend_limit_reached\"} "
        "1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, HasSubstr("vedette_build_info{commit=\"" + std::string(base::Commit()) +
                              "\",version=\"1.2.3\"} 1\n"));
}

// The value of a series without labels.
double ValueOf(const std::string& text, const std::string& series) {
  const std::size_t at = text.find("\n" + series + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
}

TEST(Metrics, SayOfTheProcessWhatPrometheusClientsSay) {
  const std::string text = Metrics("x").Expose();
  EXPECT_GT(ValueOf(text, "process_resident_memory_bytes"), 1e6);
  EXPECT_GE(ValueOf(text, "process_virtual_memory_bytes"),
            ValueOf(text, "process_resident_memory_bytes"));
  EXPECT_GE(ValueOf(text, "process_cpu_seconds_total"), 0);
  EXPECT_GE(ValueOf(text, "process_open_fds"), 3);
  EXPECT_GE(ValueOf(text, "process_max_fds"), ValueOf(text, "process_open_fds"));
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_GT(ValueOf(text, "process_start_time_seconds"), now - 86400);
  EXPECT_LE(ValueOf(text, "process_start_time_seconds"), now + 60);
}

TEST(ProcessStat, IsReadBehindANameWithBlanksAndParentheses) {
  ProcessStat stat;
  ASSERT_TRUE(
      ParseProcessStat("77 (a) b 1 (c) S 1 2 3 4 5 6 7 8 9 10 1400 15 16 17 18 19 20 21 "
                       "2200 2300 24 25 26\n",
                       &stat));
  EXPECT_EQ(stat.user_ticks, 1400U);
  EXPECT_EQ(stat.system_ticks, 15U);
  EXPECT_EQ(stat.start_ticks, 2200U);
  EXPECT_EQ(stat.virtual_bytes, 2300U);
  EXPECT_EQ(stat.resident_pages, 24U);
  EXPECT_FALSE(ParseProcessStat("", &stat));
  EXPECT_FALSE(ParseProcessStat("77 (a) S 1 2", &stat));
}

TEST(Metrics, KnownSeriesStandAtZeroBeforeTheirFirstCount) {
  const std::string text = Metrics("x").Expose();
  for (const char* line :
       {"vedette_checks_total{outcome=\"skipped_overlap\",tier=\"high\"} 0\n",
        "vedette_deliveries_total{outcome=\"dead\"} 0\n", "vedette_chunks{state=\"leased\"} 0\n",
        "vedette_mails_total{outcome=\"unreachable\"} 0\n", "vedette_lease_lost_total 0\n",
        "vedette_db_errors_total{query=\"connect\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(Metrics, PagesInTheBrowserAreCountedWithWhatTheyTook) {
  Metrics m("x");
  m.AddRenderedPage("ok", std::chrono::milliseconds(500), 5000, 3);
  m.SetBrowser(2, 5, 1000);
  m.AddBrowsers(4, 1);
  m.SetBrowserMissing(true);
  const std::string text = m.Expose();
  for (const char* line :
       {"vedette_rendered_pages_total{outcome=\"ok\"} 1\n",
        "vedette_rendered_page_seconds_sum 0.5\n", "vedette_rendered_bytes_total 5000\n",
        "vedette_rendered_refused_total 3\n", "vedette_browser_pages{state=\"open\"} 2\n",
        "vedette_browser_pages{state=\"waiting\"} 5\n", "vedette_browser_memory_bytes 1000\n",
        "vedette_browser_starts_total 4\n", "vedette_browser_deaths_total 1\n",
        "vedette_browser_missing 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(Metrics, ASuccessfulQueryIsNoError) {
  Metrics m("x");
  m.ObserveQuery("claim_chunks", microseconds(1), true);
  EXPECT_THAT(m.Expose(), HasSubstr("vedette_db_errors_total{query=\"claim_chunks\"} 0\n"));
}

TEST(Metrics, G11ALabelThatNeverRepeatsDoesNotGrowForEver) {
  Metrics m("x");
  for (int i = 0; i < 5000; ++i) m.AddDeliveries("made-up " + std::to_string(i), 1);
  const std::string text = m.Expose();
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 2000);
  EXPECT_THAT(text, HasSubstr("vedette_deliveries_total{outcome=\"other\"} "));
  EXPECT_THAT(text, Not(HasSubstr("made-up 4999")));
}

TEST(Metrics, CountFromManyThreads) {
  Metrics m("x");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        m.ObserveHttpRequest("api /r" + std::to_string(i % 7), 200 + t, microseconds(10));
        m.AddChecks(domain::Outcome::kUnchanged, domain::Tier::kHigh, 1);
        if (i % 100 == 0) m.Expose();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(m.Expose(),
              HasSubstr("vedette_checks_total{outcome=\"unchanged\",tier=\"high\"} 2000\n"));
}

TEST(Metrics, ArePleasingToPromtool) {
  if (std::system("command -v promtool >/dev/null") != 0) GTEST_SKIP() << "promtool is not here";
  Metrics m("1.2.3");
  UseEverything(&m);
  char path[] = "/tmp/vedette-metrics-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  close(fd);
  std::ofstream(path) << m.Expose();
  const std::string command = std::string("promtool check metrics <") + path + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    said.push_back(static_cast<char>(c));
  EXPECT_EQ(pclose(pipe), 0) << said;
  EXPECT_EQ(said, "");
  unlink(path);
}

}  // namespace
}  // namespace vedette::metrics
