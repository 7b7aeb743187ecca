// Schedules by the clock through the public API, and where the slots of the others begin.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiSchedules : public ApiTest {
 public:
  static Json With(const Json& members) {
    Json body = GoodBody();
    body.update(members);
    return body;
  }
  static Json Weekdays() {
    return {{"cron", "0 9 * * 1-5"}, {"time_zone", "Europe/Berlin"}, {"spread_s", 0}};
  }
  Json Detail(const std::string& id) { return Ask("GET", "/monitors/" + id).body; }

  void Refused(const Json& schedule, int status, const std::string& error,
               const std::string& sentence) {
    const Reply reply = Ask("POST", "/monitors", With({{"schedule", schedule}}));
    EXPECT_EQ(reply.status, status) << reply.raw.body;
    if (status == 400) {
      EXPECT_EQ(reply.body["error"], error) << schedule;
    }
    EXPECT_THAT(reply.raw.body, HasSubstr(sentence)) << schedule;
  }
};

TEST_F(ApiSchedules, AMonitorByTheClockShowsItsScheduleAndItsNextFiveSlots) {
  const std::string id = NewMonitor({{"schedule", Weekdays()}});
  const Json detail = Detail(id);
  EXPECT_EQ(detail["schedule"], Weekdays());
  EXPECT_EQ(detail["frequency"], "1d");
  const Json preview = Ask("POST", "/schedules/preview",
                           Json{{"cron", "0 9 * * 1-5"}, {"time_zone", "Europe/Berlin"}})
                           .body;
  ASSERT_EQ(detail["next_run_times"].size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(detail["next_run_times"][i].get<std::string>().substr(0, 19),
              preview["times"][i].get<std::string>().substr(0, 19));
  }
  EXPECT_EQ(Sql("select live and next_run_at > now() from monitor_sched"), "t")
      << "no check before the first slot";
  const Json listed = Ask("GET", "/monitors").body;
  EXPECT_EQ(listed["monitors"][0]["schedule"], Weekdays());
}

TEST_F(ApiSchedules, AFrequencyHasNoSchedule) {
  const Json detail = Detail(NewMonitor());
  ASSERT_TRUE(detail.contains("schedule"));
  EXPECT_TRUE(detail["schedule"].is_null());
}

TEST_F(ApiSchedules, ListsAndDefaultsAreTakenAndShown) {
  const Json cron = Json::array({"0 9 * * 1-5", "0 12 L * *"});
  const Json detail = Detail(NewMonitor({{"schedule", {{"cron", cron}}}}));
  EXPECT_EQ(detail["schedule"], (Json{{"cron", cron}, {"time_zone", "UTC"}, {"spread_s", 0}}));
}

TEST_F(ApiSchedules, SpreadMovesTheSlotsOfAMonitorByTheSame) {
  const Json schedule{{"cron", "0 9 * * *"}, {"spread_s", 3600.0}};
  std::set<std::string> seen;
  for (int i = 0; i < 8; ++i) {
    const Json times = Detail(NewMonitor({{"schedule", schedule}}))["next_run_times"];
    const std::string first = times[0].get<std::string>().substr(11);
    EXPECT_EQ(times[4].get<std::string>().substr(11), first);
    EXPECT_TRUE(first.starts_with("09:") || first.starts_with("10:00:00")) << first;
    seen.insert(first);
  }
  EXPECT_GT(seen.size(), 4U);
}

TEST_F(ApiSchedules, RefusalsNameTheFieldTheRuleAndTheClosestZones) {
  Refused({{"cron", "0 25 * * *"}}, 400, "invalid_schedule", "the hour 25 is not between 0 and 23");
  Refused({{"cron", "0 0 30 2 *"}}, 400, "invalid_schedule", "never comes");
  Refused({{"cron", {"0 9 * * *", "0 0 31 4 *"}}}, 400, "invalid_schedule", "0 0 31 4 *");
  Refused({{"cron", "0 9 * * *"}, {"time_zone", "Europe/Berln"}}, 400, "invalid_time_zone",
          "Europe/Berlin");
  Refused({{"cron", "*/4 * * * *"}}, 400, "invalid_frequency",
          "4m apart, and the shortest distance is 1h, or 5m with the feature testing_monitors");
  Refused({{"cron", "0 0 1 1,6 *"}}, 400, "invalid_frequency", "31 days");
  Refused({{"cron", "0 0 29 2 *"}}, 400, "invalid_frequency", "31 days");
  Refused({{"cron", Json::array()}}, 422, "", "1 to 8");
  Refused({{"cron", Json::array()}}, 422, "", "too_short");
  Refused({{"cron", std::vector<std::string>(9, "0 9 * * *")}}, 422, "", "1 to 8");
  Refused({{"cron", Json::array({1})}}, 422, "", "string");
  Refused({{"time_zone", "UTC"}}, 422, "", "cron");
  Refused({{"cron", "0 9 * * *"}, {"spread_s", 3601}}, 422, "", "spread_s");
  Refused({{"cron", "0 9 * * *"}, {"spread_s", "1"}}, 422, "", "spread_s");
  Refused({{"cron", "0 9 * * *"}, {"every", "1d"}}, 422, "", "every");
  Refused("0 9 * * *", 422, "", "object");
  const Reply both =
      Ask("POST", "/monitors", With({{"schedule", Weekdays()}, {"frequency", "1d"}}));
  EXPECT_EQ(both.status, 422);
  EXPECT_THAT(both.raw.body, HasSubstr("not both"));
  const Reply anchored = Ask(
      "POST", "/monitors", With({{"schedule", Weekdays()}, {"anchor_at", "2026-01-01T00:00:00Z"}}));
  EXPECT_EQ(anchored.status, 422);
  EXPECT_EQ(Sql("select count(*) from monitor"), "0");
}

TEST_F(ApiSchedules, FiveMinutesNeedTheFeatureOfTestingMonitors) {
  const Json schedule{{"cron", "*/5 * * * *"}};
  Sql("update organisation set features = '{monitors}'");
  Refused(schedule, 403, "",
          "two times are 5m apart, nearer than 1h, needs the feature testing_monitors");
  Refused({{"cron", "*/30 * * * *"}}, 403, "", "two times are 30m apart");
  Sql("update organisation set features = features || '{testing_monitors}'");
  EXPECT_EQ(Ask("POST", "/monitors", With({{"schedule", schedule}})).status, 200);
}

TEST_F(ApiSchedules, AnUpdateMovesFromOneToTheOther) {
  const std::string id = NewMonitor({{"anchor_at", "2026-01-01T00:00:00Z"}});
  Sql("update monitor_sched set next_run_at = now() + interval '1 hour'");
  const std::string path = "/monitors/" + id + "/update";
  Json detail = Ask("POST", path, Json{{"schedule", Weekdays()}}).body;
  EXPECT_EQ(detail["schedule"], Weekdays());
  EXPECT_EQ(detail["frequency"], "1d");
  EXPECT_EQ(Sql("select extract(hour from next_run_at at time zone 'Europe/Berlin') || ':' || "
                "extract(minute from next_run_at) from monitor_sched"),
            "9:0");
  detail = Ask("POST", path, Json{{"frequency", "2h"}}).body;
  EXPECT_TRUE(detail["schedule"].is_null());
  EXPECT_EQ(detail["frequency"], "2h");
  EXPECT_EQ(Sql("select schedule is null and next_run_at > now() and next_run_at <= now() + "
                "interval '2 hours' and extract(epoch from next_run_at - anchor_at)::bigint % 7200 "
                "= 0 from monitor_sched"),
            "t");
  EXPECT_EQ(Ask("POST", path, Json{{"frequency", "2h"}, {"schedule", Weekdays()}}).status, 422);
  EXPECT_EQ(Ask("POST", path, Json{{"schedule", nullptr}}).status, 422);
  EXPECT_EQ(Ask("POST", path, Json{{"schedule", {{"cron", "0 0 30 2 *"}}}}).status, 400);
}

TEST_F(ApiSchedules, G7ASlotThatIsDueStaysDueWhenTheScheduleChanges) {
  const std::string id = NewMonitor();
  Sql("update monitor_sched set next_run_at = now() - interval '1 second'");
  const std::string due = Sql("select next_run_at from monitor_sched");
  Ask("POST", "/monitors/" + id + "/update", Json{{"schedule", Weekdays()}});
  EXPECT_EQ(Sql("select next_run_at from monitor_sched"), due);
  Sql("update monitor_sched set next_run_at = now() - interval '2 seconds'");
  const std::string by_clock = Sql("select next_run_at from monitor_sched");
  Ask("POST", "/monitors/" + id + "/update", Json{{"frequency", "1h"}});
  EXPECT_EQ(Sql("select next_run_at from monitor_sched"), by_clock);
}

TEST_F(ApiSchedules, G7ASlotThatIsDueAtAStopIsAccountedForAndTheNextIsByTheClock) {
  const std::string id = NewMonitor({{"schedule", Weekdays()}});
  Sql("update monitor_sched set next_run_at = now() - interval '1 minute'");
  Ask("POST", "/monitors/" + id + "/update", Json{{"is_active", false}});
  EXPECT_EQ(Sql("select slots from tick"), "1") << "as skipped_paused";
  Sql("update monitor_sched set next_run_at = now() - interval '40 days'");
  Ask("POST", "/monitors/" + id + "/update", Json{{"is_active", true}});
  EXPECT_EQ(Sql("select next_run_at > now() and extract(hour from next_run_at at time zone "
                "'Europe/Berlin') = 9 from monitor_sched"),
            "t");
  EXPECT_EQ(Sql("select count(*) from tick"), "1");
}

TEST_F(ApiSchedules, MonitorsMadeTogetherDoNotComeTogetherUnlessAnAnchorIsGiven) {
  std::set<std::string> leads;
  for (int i = 0; i < 8; ++i) {
    const std::string id = NewMonitor({{"frequency", "1h"}});
    const std::string of =
        " from monitor m join monitor_sched s on s.monitor_id = m.id where id = '" + id + "'";
    EXPECT_EQ(Sql("select s.next_run_at = m.created_at and s.anchor_at <= m.created_at and "
                  "s.anchor_at >= m.created_at - interval '3 minutes'" +
                  of),
              "t");
    leads.insert(Sql("select m.created_at - s.anchor_at" + of));
    const Json times = Detail(id)["next_run_times"];
    EXPECT_EQ(base::ParseTimestamp(times[2].get<std::string>()) -
                  base::ParseTimestamp(times[1].get<std::string>()),
              std::chrono::hours(1));
  }
  EXPECT_GT(leads.size(), 6U);
  const std::string past = NewMonitor({{"frequency", "1h"}, {"anchor_at", "2026-01-01T00:30:00Z"}});
  EXPECT_EQ(Sql("select anchor_at = '2026-01-01T00:30Z' and next_run_at = created_at from "
                "monitor_sched join monitor on id = monitor_id where id = '" +
                past + "'"),
            "t");
  EXPECT_THAT(Detail(past)["next_run_times"][1].get<std::string>(), HasSubstr(":30:00"));
  const std::string ahead =
      base::FormatTimestamp(clock.Now() + std::chrono::hours(5)).substr(0, 19) + "Z";
  const std::string later = NewMonitor({{"frequency", "1h"}, {"anchor_at", ahead}});
  EXPECT_EQ(Detail(later)["next_run_times"][0].get<std::string>().substr(0, 19),
            ahead.substr(0, 19));
  const Json far = With({{"anchor_at", "2126-01-01T00:00:00Z"}});
  EXPECT_EQ(Ask("POST", "/monitors", far).status, 400);
}

TEST_F(ApiSchedules, APreviewTellsTimesAndChangesOfTheClocks) {
  const Json asked{{"cron", "30 2 * * *"},
                   {"time_zone", "Europe/Berlin"},
                   {"from", "2026-03-28T00:00:00Z"},
                   {"count", 3}};
  const Reply reply = Ask("POST", "/schedules/preview", asked);
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["times"], (Json{"2026-03-28T01:30:00.000000Z", "2026-03-29T01:00:00.000000Z",
                                       "2026-03-30T00:30:00.000000Z"}));
  ASSERT_EQ(reply.body["clock_changes"].size(), 1U);
  EXPECT_EQ(reply.body["clock_changes"][0]["at"], "2026-03-29T01:00:00.000000Z");
  EXPECT_THAT(reply.body["clock_changes"][0]["effect"].get<std::string>(), HasSubstr("03:00"));
  // Any distance is shown.
  EXPECT_EQ(Ask("POST", "/schedules/preview", Json{{"cron", "* * * * *"}, {"count", 100}})
                .body["times"]
                .size(),
            100U);
  EXPECT_EQ(Ask("POST", "/schedules/preview", Json{{"cron", "0 0 30 2 *"}}).status, 400);
  EXPECT_EQ(Ask("POST", "/schedules/preview", Json{{"cron", "@daily"}, {"count", 101}}).status,
            422);
  EXPECT_EQ(Ask("POST", "/schedules/preview", Json{{"cron", "@daily"}, {"at", 1}}).status, 422);
  EXPECT_EQ(
      Ask("POST", "/schedules/preview", Json{{"cron", "@daily"}, {"from", "9999-01-01T00:00:00Z"}})
          .status,
      422);
}

TEST_F(ApiSchedules, APreviewEndsWithTheYearsOfWhichTheZonesAreKnown) {
  Json asked{{"cron", "0 9 1 * *"},
             {"time_zone", "Europe/Berlin"},
             {"from", "2036-06-02T00:00:00Z"},
             {"count", 60}};
  const Json times = Ask("POST", "/schedules/preview", asked).body["times"];
  ASSERT_EQ(times.size(), 18U);
  EXPECT_EQ(times[12], "2037-07-01T07:00:00.000000Z");
  EXPECT_EQ(times[17], "2037-12-01T08:00:00.000000Z");
  asked["cron"] = "0 9 29 2 *";
  const Reply none = Ask("POST", "/schedules/preview", asked);
  EXPECT_EQ(none.body, (Json{{"times", Json::array()}, {"clock_changes", Json::array()}}))
      << none.raw.body;
  asked["from"] = "2037-01-01T00:00:00Z";
  EXPECT_EQ(Ask("POST", "/schedules/preview", asked).loc(), R"(["body","from"])");
  asked["from"] = "2036-12-31T23:59:59Z";
  EXPECT_EQ(Ask("POST", "/schedules/preview", asked).status, 200);
}

}  // namespace
}  // namespace vedette::test
