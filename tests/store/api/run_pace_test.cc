// The parts of runs are as large as the rows of the runs before them were quick.
#include <gmock/gmock.h>

#include <string>

#include "config/probe_config.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;

class ApiRunPace : public ApiRuns {
 public:
  ApiRunPace() {
    // One that asks somebody; what answers is the test's probe all the same.
    for (auto& [tier, settings] : config.probes) settings.kind = "web";
    workflow =
        NewWorkflow(Chain({WebhookSource(), Block("enrich_lead", {{"struct", {{"job", "x"}}}})}));
  }

  // A run that has completed; the rows of its parts.
  int PartRowsOfARun(int rows) {
    Json records = Json::array();
    for (int i = 0; i < rows; ++i) records.push_back({{"n", i}});
    const std::string run = RunRows(workflow, records);
    EXPECT_EQ(Ended(run)["overall_status"], "completed");
    return std::stoi(Sql("select part_rows from job where id = '" + run + "'"));
  }

  std::string workflow;
};

TEST_F(ApiRunPace, PartsGrowWhereRowsWereQuickAndAreSmallAgainWhereTheyWereSlow) {
  const Worker worker(*this);
  EXPECT_EQ(PartRowsOfARun(60), 2) << "nothing was measured";
  EXPECT_EQ(Sql("select sum(rows_timed) from job_block"), "60");
  const int second = PartRowsOfARun(600);
  EXPECT_GT(second, 2);
  const int third = PartRowsOfARun(1);
  EXPECT_GT(third, second);
  EXPECT_LE(third, 256);
  Sql("update job_block set rows_took_us = rows_timed * 20000000 where rows_timed > 0");
  EXPECT_EQ(PartRowsOfARun(1), 1) << "a row of 20 s is more than a part may take";
  // 662 rows; the last ones are counted when their record has been answered.
  EXPECT_THAT(
      metrics.Expose(),
      testing::HasSubstr("vedette_run_rows_total{block=\"enrich_lead\",outcome=\"done\"} 66"));
}

TEST_F(ApiRunPace, PartsOfALookupFollowItsOwnRowsToo) {
  ServeLanes("{lookup}");
  const std::string lookups =
      NewWorkflow(Chain({WebhookSource(), Block("find_email", {{"verify_emails", false}})}));
  const auto started = [&] {
    const std::string run = RunRows(lookups, Json::array({{{"name", "Ada"}}}));
    return std::stoi(Sql("select part_rows from job where id = '" + run + "'"));
  };
  EXPECT_EQ(started(), 3) << "nothing was measured";
  // What a record of a part writes, of rows that took a millisecond each.
  EXPECT_EQ(Sql("with u as (update job_block set rows_timed = 3000, rows_took_us = 3000000 "
                "where block = 1 returning 1) select count(*) from u"),
            "1");
  EXPECT_EQ(started(), 256);
}

TEST_F(ApiRunPace, RowsWithAnErrorAndRowsOfOthersMeasureNothing) {
  probe.SetScript([](const worker::ProbeRequest&) -> worker::ProbeResult {
    return worker::ProbeFailure{"no_page", "there is no page", false, std::nullopt};
  });
  const Worker worker(*this);
  PartRowsOfARun(20);
  EXPECT_EQ(Sql("select sum(rows_timed) || ' ' || sum(rows_took_us) from job_block"), "0 0");
  EXPECT_EQ(PartRowsOfARun(1), 2);
  // Another organisation's rows were quick.
  probe.SetScript(nullptr);
  PartRowsOfARun(200);
  Sql("update job set org_id = '" + NewTenant("other").org_id + "'");
  EXPECT_EQ(PartRowsOfARun(1), 2);
}

}  // namespace
}  // namespace vedette::test
