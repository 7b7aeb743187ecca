// What an organisation has spent, by day, kind, monitor and key.
#include <gmock/gmock.h>

#include <string>

#include "domain/monitor/enums.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;
using testing::StartsWith;

class ApiUsage : public ApiTest {
 public:
  void Checks(const std::string& at, int mc, int checks) {
    Sql("insert into credit_entry (org_id, amount_mc, created_at, checks, tier) values ('" +
        acme.org_id + "', " + std::to_string(-mc) + ", '" + at + "', " + std::to_string(checks) +
        ", 1)");
  }
  void JobCharge(const std::string& at, int mc, const std::string& job) {
    Sql("insert into credit_entry (org_id, amount_mc, created_at, checks, job_id) values ('" +
        acme.org_id + "', " + std::to_string(-mc) + ", '" + at + "', 1, '" + job + "')");
  }
  std::string NewJob(const std::string& key) {
    const Json lead{{"lead", {{"name", "Ada Lovelace"}, {"domain", "engines.example"}}}};
    Sql("update account set balance_mc = 1000000 returning 1");
    EXPECT_LT(Ask("POST", "/find-email-async", lead, {{"x-api-key", key}}).status, 300);
    return Sql("select id from job");
  }
  // An ended tick of two rows, one of which was looked at with success.
  void Tick(const std::string& monitor, const std::string& at) {
    Sql("insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, "
        "slots, row_count, outcomes) values ('" +
        monitor + "', (extract(epoch from '" + at + "'::timestamptz) * 1000000)::bigint, '" +
        acme.org_id + "', 0, '" + at + "', '" + at + "', '" + at + "', 1, 2, '\\x0203')");
  }
  Json Usage(const std::string& query) {
    const Reply reply = Ask("GET", "/account/usage?from=2026-10-01&to=2026-10-31" + query);
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    return reply.body;
  }
};

TEST_F(ApiUsage, TheLastOfAllDaysEndsInAYearThatNoTextSays) {
  const std::string path = "/account/usage?from=9999-12-29&to=9999-12-";
  EXPECT_EQ(Ask("GET", path + "30").body["to"], "9999-12-31T00:00:00.000000Z");
  EXPECT_EQ(Ask("GET", path + "31").status, 422);
}

TEST_F(ApiUsage, DaysHaveWhatWasChargedAndBookingsAreLeftOut) {
  Sql("insert into credit_entry (org_id, amount_mc, reason, created_at) values ('" + acme.org_id +
      "', 5000, 'r', '2026-10-02T00:00:00Z')");
  Checks("2026-09-30T23:59:59Z", 9'000, 9);
  Checks("2026-10-01T00:00:00Z", 1'000, 2);
  Checks("2026-10-01T23:00:00Z", 500, 1);
  Checks("2026-10-31T23:59:59Z", 250, 1);
  const Json usage = Usage("");
  EXPECT_EQ(usage["rows"],
            (Json{{{"day", "2026-10-01"}, {"credits", 1.5}, {"checks", 3}, {"jobs", 0}},
                  {{"day", "2026-10-31"}, {"credits", 0.25}, {"checks", 1}, {"jobs", 0}}}));
  EXPECT_EQ(usage["total"], (Json{{"credits", 1.75}, {"checks", 4}, {"jobs", 0}}));
}

TEST_F(ApiUsage, JobsHaveTheKeyThatStartedThemAndChecksHaveNone) {
  const Json made = Ask("POST", "/account/api-keys", Json{{"name", "nightly"}}).body;
  const std::string job = NewJob(made["key"]);
  JobCharge("2026-10-05T10:00:00Z", 2'000, job);
  JobCharge("2026-10-05T11:00:00Z", 1'000, job);
  JobCharge("2026-10-06T10:00:00Z", 1'000, base::Uuid::V4().ToString());  // forgotten by now
  Checks("2026-10-05T10:00:00Z", 500, 1);
  const Json rows = Usage("&group_by=kind,key")["rows"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], (Json{{"kind", "checks"},
                           {"key", nullptr},
                           {"key_name", nullptr},
                           {"credits", 0.5},
                           {"checks", 1},
                           {"jobs", 0}}));
  EXPECT_EQ(rows[1], (Json{{"kind", "find_email"},
                           {"key", made["id"]},
                           {"key_name", "nightly"},
                           {"credits", 3},
                           {"checks", 0},
                           {"jobs", 1}}));
  EXPECT_EQ(rows[2]["kind"], "job");
  EXPECT_EQ(rows[2]["key"], nullptr);
}

TEST_F(ApiUsage, MonitorsHaveTheChecksOfTheirTicksAtThePresentPrice) {
  const std::string monitor = NewMonitor({{"name", "=prices"}});
  Tick(monitor, "2026-10-05T10:00:00Z");
  Tick(monitor, "2026-10-05T11:00:00Z");
  Tick(monitor, "2026-10-07T10:00:00Z");
  Tick(monitor, "2026-11-01T00:00:00Z");  // outside
  const std::string tier = Ask("GET", "/monitors/" + monitor).body["tier"];
  const double price = static_cast<double>(config.prices_mc.at(tier)) / 1000;
  const Json usage = Usage("&group_by=day,monitor");
  ASSERT_EQ(usage["rows"].size(), 2U);
  EXPECT_EQ(usage["rows"][0], (Json{{"day", "2026-10-05"},
                                    {"monitor", monitor},
                                    {"monitor_name", "=prices"},
                                    {"credits", 2 * price},
                                    {"checks", 2},
                                    {"jobs", 0}}));
  EXPECT_EQ(usage["total"]["checks"], 0) << "the total is the ledger's";
  EXPECT_EQ(Usage("&group_by=monitor")["rows"][0]["checks"], 3);
}

TEST_F(ApiUsage, IsCsvWhereThatIsAskedFor) {
  Tick(NewMonitor({{"name", "=prices"}}), "2026-10-05T10:00:00Z");
  const std::string path = "/account/usage?from=2026-10-01&to=2026-10-31&group_by=monitor";
  const Reply reply = Ask("GET", path, Headers{{"accept", "text/csv"}});
  EXPECT_EQ(reply.Header("Content-Type"), "text/csv; charset=utf-8");
  EXPECT_THAT(reply.raw.body, StartsWith("monitor,monitor_name,credits,checks,jobs\r\n"));
  EXPECT_THAT(reply.raw.body, HasSubstr(",'=prices,"));
  EXPECT_EQ(Ask("GET", path + "&format=csv").raw.body, reply.raw.body);
  for (const char* csv : {"Text/CSV;header=present;q=0.5, */*", "text/csv , application/json"}) {
    EXPECT_EQ(Ask("GET", path, Headers{{"accept", csv}}).raw.body, reply.raw.body) << csv;
  }
  for (const char* json : {"text/csv;q=0", "text/csvx", "application/json, text/csv"}) {
    EXPECT_TRUE(Ask("GET", path, Headers{{"accept", json}}).body.is_object()) << json;
  }
}

TEST_F(ApiUsage, WhatCannotBeAskedForIsNamed) {
  const auto refusal = [this](const std::string& query) {
    const Reply reply = Ask("GET", "/account/usage?" + query);
    EXPECT_EQ(reply.status, 422) << query;
    return reply.raw.body;
  };
  EXPECT_THAT(refusal("group_by=team"), HasSubstr("group_by"));
  EXPECT_THAT(refusal("group_by=day,"), HasSubstr("group_by"));
  EXPECT_THAT(refusal("from=yesterday"), HasSubstr("2026-11-25"));
  EXPECT_THAT(refusal("to=0001-01-01T00:00:00Z"), HasSubstr("from 1970 on"));
  EXPECT_THAT(refusal("from=1969-12-31&to=1970-01-02"), HasSubstr("from 1970 on"));
  EXPECT_THAT(refusal("format=xml"), HasSubstr("format"));
  EXPECT_THAT(refusal("from=2026-10-02&to=2026-10-01T00:00:00Z"), HasSubstr("before"));
  EXPECT_THAT(refusal("from=2025-01-01&to=2026-10-01"), HasSubstr("366"));
  EXPECT_THAT(refusal("from=2026-08-01&to=2026-10-01&group_by=monitor"), HasSubstr("31"));
  EXPECT_THAT(refusal("form=2026-10-01"), HasSubstr("form"));
}

}  // namespace
}  // namespace vedette::test
