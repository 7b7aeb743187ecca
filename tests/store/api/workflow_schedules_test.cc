// The routes of workflows on a schedule, and that each slot is decided once, whichever process
// dies.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <functional>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "api/tenant/workflows/run_start.h"
#include "domain/workflow/run_schedule.h"
#include "scheduler/workflow_scheduler.h"
#include "store/channels/digests.h"
#include "store/fleet/maintenance.h"
#include "store/jobs/scheduled_runs.h"
#include "store/monitors/uploads.h"
#include "store/queries.h"
#include "store/schema.h"
#include "tests/store/support/neighbour.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::chrono::milliseconds kLease = std::chrono::seconds(60);

class ApiWorkflowSchedules : public ApiRuns {
 public:
  ApiWorkflowSchedules() : flow(NewWorkflow(Chain({WebhookSource(), Block("dedupe")}))) {}

  std::string Path(const std::string& behind = "") const {
    return "/workflows/" + flow + "/schedules" + behind;
  }
  static Json Body(const Json& changes = Json::object()) {
    Json body{{"name", "Weekdays at nine"},
              {"cron", "0 9 * * 1-5"},
              {"time_zone", "Europe/Berlin"},
              {"webhook_payload", Json::array({Json{{"n", 1}}, Json{{"n", 2}}})}};
    body.update(changes);
    return body;
  }
  Reply Make(const Json& changes = Json::object()) { return Ask("POST", Path(), Body(changes)); }
  // Every day at an hour that is so far ahead, so that none of its slots comes while a test runs.
  std::string Daily(int hours_ahead = 12) const {
    const auto hour =
        std::chrono::floor<std::chrono::hours>(clock.Now()).time_since_epoch().count();
    return "0 " + std::to_string((hour + hours_ahead) % 24) + " * * *";
  }
  std::string MakeId(const Json& changes = Json::object()) {
    Json body{{"cron", Daily()}, {"time_zone", "UTC"}};
    body.update(changes);
    const Reply made = Make(body);
    if (made.status != 200) throw std::runtime_error("no schedule: " + made.raw.body);
    return made.body["id"];
  }
  Json Shown(const std::string& id) { return Ask("GET", Path("/" + id)).body; }
  // "started", "skipped overlap", ..., of each slot in the schedule's history, newest first.
  std::vector<std::string> History(const std::string& id) {
    std::vector<std::string> words;
    const Json shown = Shown(id);
    for (const Json& slot : shown["history"]) {
      std::string word = slot["outcome"];
      if (slot["reason"].is_string()) word += " " + slot["reason"].get<std::string>();
      words.push_back(std::move(word));
    }
    return words;
  }

  // Makes so many of the schedule that there is.
  void Copy(int copies) {
    const std::string columns =
        Sql("select string_agg(attname, ', ') from pg_attribute where attnum > 0 and "
            "not attisdropped and attgenerated = '' and attrelid = 'workflow_schedule'::regclass");
    Sql("insert into workflow_schedule (" + columns + ") select " + columns +
        " from (select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).* "
        "from workflow_schedule s, generate_series(1, " +
        std::to_string(copies) + ")) copied");
  }

  // Moves the next slot of every schedule to this long ago.
  void MakeDue(const std::string& ago = "1 minute") {
    Sql("update workflow_schedule set next_at = now() - interval '" + ago + "', look_at = now()");
  }
  // A process died that looked at them, and its lease has ended.
  void EndLeases() { Sql("update workflow_schedule set look_at = now()"); }

  scheduler::StartSlot Start() {
    return
        [this](store::Session& with, const store::DueSchedule& due, const store::SlotTaken& slot) {
          return api::StartSlot(config, policy, clock, with, due, slot);
        };
  }
  // Looks until nothing is to be done.
  void LookAll(store::Session* with = nullptr) {
    while (scheduler::LookAtSchedule(with == nullptr ? session : *with, Start(), kLease).looked) {
    }
  }
  // A look at which `start` stands for the start of the run; it dies there.
  void LookAndDie(scheduler::StartSlot start) {
    EXPECT_THROW(scheduler::LookAtSchedule(session, start, kLease), std::runtime_error);
    EndLeases();
  }

  std::string Runs() { return Sql("select count(*) from job"); }

  const std::string flow;
};

TEST_F(ApiWorkflowSchedules, ItsChannelsAreToldOnceOfRunsThatEndedAndOfWhatWasSkipped) {
  const std::string channel = Ask("POST", "/channels",
                                  Json{{"name", "runs"},
                                       {"kind", "webhook"},
                                       {"target", {{"url", "https://hooks.example.com/"}}}})
                                  .body["id"];
  const std::string id = MakeId({{"name", "Nightly"}, {"channel_ids", {channel}}});
  MakeId({{"name", "Silent"}});
  EXPECT_EQ(Shown(id)["channel_ids"], Json::array({channel}));
  const auto told = [&] { return store::TellNotices(session, clock, 1); };
  MakeDue();
  LookAll();
  EXPECT_EQ(Runs(), "2");
  EXPECT_EQ(told(), 0) << "its run goes on";
  MakeDue();
  LookAll();
  EXPECT_THAT(History(id), ElementsAre("skipped overlap", "started"));
  EXPECT_EQ(told(), 1);
  EXPECT_EQ(Sql("select kind || ' ' || subject from notice"), "6 Nightly (overlap)");
  Sql("update job set status = 3, finished_at = now(), reserved_mc = 0 returning 1");
  EXPECT_EQ(told(), 1);
  EXPECT_EQ(told(), 0) << "once";
  const std::string ended = "select n.kind || ' ' || n.subject from notice n join workflow_slot w";
  EXPECT_EQ(Sql(ended + " on w.run_id = n.about"), "5 Nightly");
  EXPECT_EQ(Sql("select count(*) from delivery where channel_id = '" + channel + "'"), "2");
  ASSERT_EQ(Ask("POST", Path("/" + id + "/update"), Json{{"is_active", false}}).status, 200);
  MakeDue();
  LookAll();
  EXPECT_EQ(told(), 0) << "who paused it knows";
}

TEST_F(ApiWorkflowSchedules, ChannelsThatComeBeforeTheEndOfASlotAreToldOfIt) {
  const std::string id = MakeId({{"name", "Nightly"}, {"overlap", "queue_one"}});
  const auto told = [&] { return store::TellNotices(session, clock, 1); };
  MakeDue();
  LookAll();
  MakeDue();
  LookAll();
  ASSERT_THAT(History(id), ElementsAre("waiting", "started"));
  EXPECT_EQ(told(), 0);
  const std::string channel = Ask("POST", "/channels",
                                  Json{{"name", "runs"},
                                       {"kind", "webhook"},
                                       {"target", {{"url", "https://hooks.example.com/"}}}})
                                  .body["id"];
  const auto set_channels = [&](const Json& channels) {
    return Ask("POST", Path("/" + id + "/update"), Json{{"channel_ids", channels}}).status;
  };
  const auto end_runs = [&] {
    Sql("update job set status = 3, finished_at = now(), reserved_mc = 0 where finished_at is null "
        "returning 1");
  };
  ASSERT_EQ(set_channels({channel}), 200);
  end_runs();
  EXPECT_EQ(told(), 1) << "its run went on when they came";
  EndLeases();
  LookAll();
  ASSERT_THAT(History(id), ElementsAre("started", "started"));
  end_runs();
  EXPECT_EQ(told(), 1) << "it waited when they came";
  ASSERT_EQ(set_channels(Json::array()), 200);
  MakeDue();
  LookAll();
  end_runs();
  EXPECT_EQ(told(), 0);
  ASSERT_EQ(set_channels({channel}), 200);
  EXPECT_EQ(told(), 0) << "they came after its end was looked at";
  EXPECT_EQ(Sql("select count(*) from notice"), "2");
}

TEST_F(ApiWorkflowSchedules, ItsChannelsAreTheOrganisationsOwnAndCanBeTakenOff) {
  const std::string none = base::Uuid::V4().ToString();
  EXPECT_EQ(Make({{"channel_ids", {none}}}).status, 404);
  const std::string id = MakeId({{"channel_ids", nullptr}});
  EXPECT_EQ(Shown(id)["channel_ids"], Json::array());
  const Reply changed = Ask("POST", Path("/" + id + "/update"), Json{{"channel_ids", {none}}});
  EXPECT_EQ(changed.status, 404);
  EXPECT_EQ(Ask("POST", Path("/" + id + "/update"), Json{{"channel_ids", {"x"}}}).status, 422);
  const Reply off = Ask("POST", Path("/" + id + "/update"), Json{{"channel_ids", Json::array()}});
  EXPECT_EQ(off.status, 200) << off.raw.body;
}

TEST_F(ApiWorkflowSchedules, IsMadeShownListedChangedAndDeleted) {
  const Reply made = Make();
  ASSERT_EQ(made.status, 200) << made.raw.body;
  EXPECT_EQ(made.body["workflow_id"], flow);
  EXPECT_EQ(made.body["cron"], "0 9 * * 1-5");
  EXPECT_EQ(made.body["time_zone"], "Europe/Berlin");
  EXPECT_EQ(made.body["frequency"], "1d");
  EXPECT_EQ(made.body["overlap"], "skip");
  EXPECT_EQ(made.body["catch_up_s"], 3600);
  EXPECT_EQ(made.body["is_active"], true);
  EXPECT_EQ(made.body["next_run_times"].size(), 5U);
  EXPECT_EQ(made.body["history"], Json::array());
  const std::string path = Path("/" + made.body["id"].get<std::string>());
  EXPECT_EQ(Ask("GET", path).body, made.body);
  const std::string second =
      MakeId({{"name", "Second"}, {"cron", nullptr}, {"time_zone", nullptr}, {"frequency", "6h"}});
  EXPECT_EQ(Shown(second)["frequency"], "6h");
  EXPECT_TRUE(Shown(second)["cron"].is_null());
  const Json list = Ask("GET", Path()).body["schedules"];
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["id"], second) << "newest first";
  EXPECT_FALSE(list[1].contains("webhook_payload"));
  const Reply changed = Ask("POST", path + "/update",
                            Json{{"overlap", "allow"}, {"frequency", "2h"}, {"is_active", false}});
  EXPECT_EQ(changed.body["overlap"], "allow") << changed.raw.body;
  EXPECT_EQ(changed.body["frequency"], "2h");
  EXPECT_TRUE(changed.body["cron"].is_null());
  EXPECT_EQ(changed.body["webhook_payload"], made.body["webhook_payload"]) << "what is left out";
  EXPECT_EQ(changed.body["next_run_times"], Json::array()) << "it is paused";
  EXPECT_TRUE(changed.body["paused_reason"].is_null());
  EXPECT_EQ(Ask("DELETE", path).body["deleted"], true);
  EXPECT_EQ(Ask("GET", path).status, 404);
}

TEST_F(ApiWorkflowSchedules, AnUpdateOfCronOrZoneAloneKeepsTheOther) {
  const std::string id = Make().body["id"];
  const auto update = [&](const Json& body) {
    return Ask("POST", Path("/" + id + "/update"), body);
  };
  Json shown = update({{"cron", Json::array({"0 10 * * *", "0 12 * * *"})}}).body;
  EXPECT_EQ(shown["time_zone"], "Europe/Berlin") << shown;
  shown = update({{"time_zone", "UTC"}}).body;
  EXPECT_EQ(shown["time_zone"], "UTC");
  EXPECT_EQ(shown["cron"], (Json{"0 10 * * *", "0 12 * * *"}));
  EXPECT_THAT(shown["next_run_times"][0].get<std::string>().substr(11, 2), AnyOf("10", "12"));
  shown = update({{"cron", "0 11 * * *"}, {"time_zone", nullptr}}).body;
  EXPECT_EQ(shown["cron"], "0 11 * * *");
  EXPECT_EQ(shown["time_zone"], "UTC");
  EXPECT_EQ(update({{"time_zone", "Europe/Parris"}}).error(), "invalid_time_zone");
  EXPECT_EQ(update({{"time_zone", "Europe/Paris"}}).body["time_zone"], "Europe/Paris");
  EXPECT_THAT(update({{"time_zone", 5}}).raw.body, HasSubstr("string_type"));
}

TEST_F(ApiWorkflowSchedules, AZoneNeedsCron) {
  const std::string id = MakeId({{"cron", nullptr}, {"time_zone", nullptr}, {"frequency", "6h"}});
  const auto update = [&](const Json& body) {
    return Ask("POST", Path("/" + id + "/update"), body);
  };
  EXPECT_EQ(update({{"time_zone", "UTC"}}).status, 200) << "as it is shown";
  const Reply refused = update({{"time_zone", "Europe/Paris"}});
  EXPECT_EQ(refused.loc(), R"(["body","time_zone"])") << refused.raw.body;
  EXPECT_THAT(refused.raw.body, HasSubstr("give cron instead"));
  EXPECT_THAT(update({{"time_zone", 5}}).raw.body, HasSubstr("string_type"));
  const Json shown = update({{"time_zone", "Europe/Paris"}, {"cron", "0 9 * * *"}}).body;
  EXPECT_EQ(shown["time_zone"], "Europe/Paris") << shown;
  EXPECT_EQ(update({{"time_zone", "Europe/Paris"}, {"frequency", "6h"}}).status, 422);
}

TEST_F(ApiWorkflowSchedules, APausedOneTakesNothingThatItCannotBeRunWith) {
  const std::string id = MakeId({{"is_active", false}});
  const Json before = Shown(id);
  const auto update = [&](const Json& body) {
    return Ask("POST", Path("/" + id + "/update"), body);
  };
  EXPECT_EQ(update({{"webhook_payload", "nonsense"}}).loc(), R"(["body","webhook_payload"])");
  EXPECT_EQ(update({{"webhook_payload", Json::array({1})}}).status, 422);
  EXPECT_EQ(update({{"webhook_payload", "x"}, {"is_active", false}}).status, 422);
  EXPECT_EQ(update({{"webhook_payload", nullptr}}).error(), "missing_payload");
  EXPECT_EQ(update({{"specs_override", {{"dataframe_type", "NONE"}}}}).status, 422);
  EXPECT_EQ(Shown(id), before);
  EXPECT_EQ(update({{"webhook_payload", {{"n", 3}}}}).status, 200);
  Sql("update workflow set deleted_at = now()");
  EXPECT_EQ(update({{"name", "Never again"}}).status, 200);
}

TEST_F(ApiWorkflowSchedules, WhatCannotBeRunIsRefusedWithItsReason) {
  EXPECT_EQ(Make({{"frequency", "1d"}}).loc(), R"(["body","cron"])");
  EXPECT_EQ(Make({{"cron", nullptr}, {"time_zone", nullptr}}).loc(), R"(["body","cron"])");
  EXPECT_EQ(Make({{"overlap", "never"}}).loc(), R"(["body","overlap"])");
  EXPECT_EQ(Make({{"catch_up_s", 86401}}).loc(), R"(["body","catch_up_s"])");
  EXPECT_EQ(Make({{"cron", "0 25 * * *"}}).error(), "invalid_schedule");
  EXPECT_EQ(Make({{"time_zone", "Europe/Berlyn"}}).error(), "invalid_time_zone");
  EXPECT_EQ(Make({{"cron", "* * * * *"}}).error(), "invalid_frequency");
  EXPECT_EQ(Make({{"webhook_payload", "x"}}).loc(), R"(["body","webhook_payload"])");
  EXPECT_EQ(Make({{"webhook_payload", nullptr}}).error(), "missing_payload");
  EXPECT_EQ(Make({{"specs_override", {{"dataframe_type", "NONE"}}}}).status, 422);
  EXPECT_EQ(Ask("POST", "/workflows/" + base::Uuid::V4().ToString() + "/schedules", Body()).status,
            404);
  EXPECT_EQ(Sql("select count(*) from workflow_schedule"), "0");
}

TEST_F(ApiWorkflowSchedules, AnOrganisationHasAtMostSoMany) {
  const std::string id = MakeId();
  Copy(99);
  EXPECT_EQ(Make().error(), "too_many_schedules");
  EXPECT_EQ(Ask("DELETE", Path("/" + id)).status, 200);
  EXPECT_EQ(Make().status, 200);
}

TEST_F(ApiWorkflowSchedules, ASlotStartsARunThatNamesScheduleAndSlot) {
  const std::string id = MakeId();
  LookAll();
  EXPECT_EQ(Runs(), "0") << "before its first slot nothing runs";
  MakeDue();
  LookAll();
  ASSERT_EQ(Runs(), "1");
  const Json run = Ask("GET", "/workflows/runs").body[0];
  EXPECT_EQ(run["schedule_id"], id);
  EXPECT_EQ(run["workflow_id"], flow);
  const Json slot = Shown(id)["history"][0];
  EXPECT_EQ(slot["outcome"], "started");
  EXPECT_EQ(slot["run_id"], run["job_id"]);
  EXPECT_EQ(slot["scheduled_at"], run["scheduled_at"]);
  EXPECT_EQ(run["job_id"],
            domain::RunIdOf(*base::Uuid::Parse(id),
                            base::ParseTimestamp(run["scheduled_at"].get<std::string>()))
                .ToString());
  const Json live = Live(run["job_id"]);
  EXPECT_EQ(live["schedule_id"], id);
  EXPECT_EQ(live["scheduled_at"], run["scheduled_at"]);
  EXPECT_EQ(Sql("select look_at = next_at and next_at > now() from workflow_schedule"), "t");
  const Worker worker(*this);
  EXPECT_EQ(Ended(run["job_id"])["overall_status"], "completed");
}

TEST_F(ApiWorkflowSchedules, ARunByHandOrByTriggerHasNoSlot) {
  RunRows(flow, Json::array({Json{{"n", 1}}}));
  EXPECT_TRUE(Ask("GET", "/workflows/runs").body[0]["schedule_id"].is_null());
  const std::string id = MakeId({{"is_active", false}});
  const Headers key{{"idempotency-key", "k"}};
  const Reply first = Ask("POST", Path("/" + id + "/trigger"), Json::object(), key);
  ASSERT_EQ(first.status, 200) << first.raw.body;
  const Reply again = Ask("POST", Path("/" + id + "/trigger"), Json::object(), key);
  EXPECT_EQ(again.body["job_id"], first.body["job_id"]);
  EXPECT_EQ(again.body["already_started"], true);
  const Json live = Live(first.body["job_id"]);
  EXPECT_EQ(live["schedule_id"], id);
  EXPECT_TRUE(live["scheduled_at"].is_null());
  EXPECT_EQ(Runs(), "2");
  EXPECT_EQ(Shown(id)["history"], Json::array());
  ASSERT_EQ(Ask("DELETE", Path("/" + id)).status, 200);
  EXPECT_EQ(Ask("POST", Path("/" + id + "/trigger"), Json::object()).status, 404);
  EXPECT_EQ(Ask("POST", Path("/" + id + "/trigger"), Json::object(), key).body, again.body);
}

using Answer = scheduler::SlotStart;

TEST_F(ApiWorkflowSchedules, G1_ASlotStartsOneRunWhoeverDiesWhen) {
  const std::string id = MakeId();
  MakeDue();
  // After the claim.
  ASSERT_TRUE(store::ClaimSchedule(session, kLease));
  EXPECT_FALSE(store::ClaimSchedule(session, kLease)) << "it is leased";
  EndLeases();
  // Before the start.
  LookAndDie([](store::Session&, const store::DueSchedule&, const store::SlotTaken&) -> Answer {
    throw std::runtime_error("killed");
  });
  EXPECT_EQ(Runs(), "0");
  // After the start.
  LookAndDie([this](store::Session& with, const store::DueSchedule& due,
                    const store::SlotTaken& slot) -> Answer {
    Start()(with, due, slot);
    throw std::runtime_error("killed");
  });
  EXPECT_EQ(Runs(), "1");
  LookAll();
  EndLeases();
  LookAll();
  EXPECT_EQ(Runs(), "1");
  EXPECT_THAT(History(id), ElementsAre("started"));
}

TEST_F(ApiWorkflowSchedules, G1_ARefusalIsToldOnceWhoeverDiesBeforeItIsTold) {
  const std::string priced =
      NewWorkflow(Chain({WebhookSource(), Block("enrich_lead", {{"struct", {{"job", "x"}}}})}));
  const Reply made = Ask("POST", "/workflows/" + priced + "/schedules",
                         Body({{"cron", Daily()}, {"time_zone", "UTC"}}));
  ASSERT_EQ(made.status, 200) << made.raw.body;
  const std::string shown =
      "/workflows/" + priced + "/schedules/" + made.body["id"].get<std::string>();
  Sql("update account set balance_mc = 0");
  MakeDue();
  LookAndDie([this](store::Session& with, const store::DueSchedule& due,
                    const store::SlotTaken& slot) -> Answer {
    EXPECT_TRUE(std::holds_alternative<store::JobNotPayable>(
        std::get<store::StartOutcome>(Start()(with, due, slot))));
    throw std::runtime_error("killed");
  });
  EXPECT_EQ(Sql("select count(*) from workflow_slot"), "0") << "nothing is stored by a refusal";
  LookAll();
  const Json history = Ask("GET", shown).body["history"];
  ASSERT_EQ(history.size(), 1U);
  EXPECT_EQ(history[0]["reason"], "insufficient_credits");
  EXPECT_EQ(Runs(), "0");
  // The next slot finds credits.
  GiveCredits(acme.org_id, 1'000'000);
  MakeDue("1 second");
  LookAll();
  EXPECT_EQ(Runs(), "1");
}

TEST_F(ApiWorkflowSchedules, G1_WhoHasReadAScheduleThatAnotherDidStartsNothing) {
  MakeId();
  MakeDue();
  const auto slow = store::ClaimSchedule(session, kLease);
  ASSERT_TRUE(slow);
  EndLeases();
  LookAll();
  EXPECT_EQ(Runs(), "1");
  const domain::SlotStep step = domain::NextStep(slow->moment);
  ASSERT_EQ(step.action, domain::SlotStep::Action::kStart);
  const auto outcome = Start()(session, *slow, slow->SlotOf(step));
  EXPECT_TRUE(std::holds_alternative<store::SlotIsTaken>(outcome));
  EXPECT_FALSE(store::SkipSlot(session, slow->SlotOf(step), domain::kSlotOverlap));
  EXPECT_EQ(Runs(), "1");
  EXPECT_EQ(Sql("select count(*) from workflow_slot"), "1");
}

TEST_F(ApiWorkflowSchedules, G5_WhoHasReadAScheduleBeforeItsPauseStartsNothing) {
  const std::string id = MakeId();
  MakeDue();
  const auto before = store::ClaimSchedule(session, kLease);
  ASSERT_TRUE(before);
  ASSERT_EQ(Ask("POST", Path("/" + id + "/update"), Json{{"is_active", false}}).status, 200);
  const auto outcome = Start()(session, *before, before->SlotOf(domain::NextStep(before->moment)));
  EXPECT_TRUE(std::holds_alternative<store::SlotIsTaken>(outcome));
  LookAll();
  EXPECT_EQ(Runs(), "0");
  EXPECT_THAT(History(id), ElementsAre("skipped paused"));
}

TEST_F(ApiWorkflowSchedules, G1_SeveralSchedulersStartEachSlotOnce) {
  constexpr int kSchedules = 30;
  MakeId({{"overlap", "allow"}});
  Copy(kSchedules - 1);
  MakeDue();
  std::vector<std::thread> schedulers;
  for (int i = 0; i < 3; ++i) {
    schedulers.emplace_back([this] {
      store::Session own(config.database, {.name = "scheduler", .keyed_plans = true}, clock,
                         metrics, log);
      LookAll(&own);
    });
  }
  for (std::thread& scheduler : schedulers) scheduler.join();
  LookAll();
  EXPECT_EQ(Runs(), std::to_string(kSchedules));
  EXPECT_EQ(Sql("select count(distinct schedule_id) from job"), std::to_string(kSchedules));
  EXPECT_EQ(Sql("select count(*) from workflow_slot where state = 0"), std::to_string(kSchedules));
}

TEST_F(ApiWorkflowSchedules, WhileARunGoesOnSlotsAreSkippedQueuedOrRunBesideIt) {
  const std::string skips = MakeId({{"overlap", "skip"}});
  const std::string queues = MakeId({{"overlap", "queue_one"}});
  const std::string allows = MakeId({{"overlap", "allow"}});
  for (const char* ago : {"3 minutes", "2 minutes", "1 minute"}) {
    MakeDue(ago);
    LookAll();
  }
  EXPECT_THAT(History(skips), ElementsAre("skipped overlap", "skipped overlap", "started"));
  EXPECT_THAT(History(queues), ElementsAre("skipped overlap", "waiting", "started"));
  EXPECT_THAT(History(allows), ElementsAre("started", "started", "started"));
  EXPECT_EQ(Runs(), "5");
  // The run before the slot that waits ends.
  const std::string first = Sql("select id from job where schedule_id = '" + queues + "'");
  ASSERT_EQ(Ask("POST", "/workflows/cancel?job_id=" + first, Json::object()).status, 200);
  EndLeases();
  LookAll();
  EXPECT_THAT(History(queues), ElementsAre("skipped overlap", "started", "started"));
  EXPECT_EQ(Sql("select count(*) from workflow_schedule where waiting_slot is not null"), "0");
  EXPECT_EQ(Runs(), "6");
}

TEST_F(ApiWorkflowSchedules, ASlotThatWasMissedRunsOnceOrIsLate) {
  const std::string id = MakeId({{"catch_up_s", 600}});
  MakeDue("9 minutes");
  LookAll();
  EXPECT_THAT(History(id), ElementsAre("started"));
  Sql("update job set status = 3, finished_at = now(), reserved_mc = 0");
  MakeDue("11 minutes");
  LookAll();
  EXPECT_EQ(Runs(), "1");
  EXPECT_EQ(Sql("select state || ' ' || reason || ' ' || slots from workflow_slot order by "
                "decided_at desc limit 1"),
            "1 late 1");
  // Slots that are late are told together.
  const std::string often = MakeId(
      {{"cron", nullptr}, {"time_zone", nullptr}, {"frequency", "1h"}, {"overlap", "allow"}});
  Sql("update workflow_schedule set anchor_at = now() - interval '5 hours 1 minute', next_at = "
      "now() - interval '4 hours 1 minute', look_at = now() where id = '" +
      often + "'");
  LookAll();
  const Json history = Shown(often)["history"];
  ASSERT_EQ(history.size(), 2U) << history;
  EXPECT_EQ(history[0]["outcome"], "started") << "the slot of a minute ago";
  EXPECT_EQ(history[1]["reason"], "late");
  EXPECT_EQ(history[1]["slots"], 4);
}

TEST_F(ApiWorkflowSchedules, APauseIsToldOfEachSlotAndAResumeGoesOn) {
  const std::string id = MakeId();
  ASSERT_EQ(Ask("POST", Path("/" + id + "/update"), Json{{"is_active", false}}).status, 200);
  MakeDue();
  LookAll();
  EXPECT_THAT(History(id), ElementsAre("skipped paused"));
  ASSERT_EQ(Ask("POST", Path("/" + id + "/update"), Json{{"is_active", true}}).status, 200);
  Sql("update organisation set locked = true where id = '" + acme.org_id + "'");
  MakeDue("30 seconds");
  LookAll();
  Sql("update organisation set locked = false");
  EXPECT_THAT(History(id), ElementsAre("skipped paused", "skipped paused"));
  MakeDue("1 second");
  LookAll();
  EXPECT_THAT(History(id), ElementsAre("started", "skipped paused", "skipped paused"));
}

TEST_F(ApiWorkflowSchedules, AWorkflowThatIsDeletedPausesItsSchedulesAndSaysSo) {
  const std::string id = MakeId();
  ASSERT_EQ(Ask("POST", "/workflows/delete_workflow?workflow_id=" + flow, Json::object()).status,
            200);
  const Json shown = Shown(id);
  EXPECT_EQ(shown["is_active"], false);
  EXPECT_EQ(shown["paused_reason"], "workflow_deleted");
  EXPECT_EQ(Ask("GET", Path()).body["schedules"].size(), 1U);
  const Reply resumed = Ask("POST", Path("/" + id + "/update"), Json{{"is_active", true}});
  EXPECT_EQ(resumed.status, 409);
  EXPECT_EQ(resumed.error(), "workflow_deleted");
  EXPECT_EQ(Make().status, 404);
  EXPECT_EQ(Ask("DELETE", Path("/" + id)).status, 200);
}

TEST_F(ApiWorkflowSchedules, IsNotMadeWhileItsWorkflowIsDeleted) {
  const Reply made =
      CallBeside(database.url(), "update workflow set deleted_at = now() where id = '" + flow + "'",
                 [this] { return Make(); });
  EXPECT_EQ(made.status, 404) << made.raw.body;
  EXPECT_EQ(Sql("select count(*) from workflow_schedule"), "0");
}

TEST_F(ApiWorkflowSchedules, AWorkflowThatWasDeletedByAnOlderProcessIsFoundAtItsSlot) {
  const std::string id = MakeId();
  Sql("update workflow set deleted_at = now()");
  MakeDue();
  LookAll();
  EXPECT_THAT(History(id), ElementsAre("skipped workflow_deleted"));
  EXPECT_EQ(Shown(id)["paused_reason"], "workflow_deleted");
}

TEST_F(ApiWorkflowSchedules, AWorkflowThatBecomesInvalidPausesItsSchedulesAndSaysWhy) {
  const std::string id = MakeId();
  const Json source = Block(
      "webhook", {{"dataframe_type", "LEAD"}, {"input_schema", {{"email", {{"required", true}}}}}});
  const Reply changed = Ask("POST", "/workflows/update_workflow?workflow_id=" + flow,
                            Json{{"workflow_definition", Chain({source, Block("dedupe")})}});
  ASSERT_EQ(changed.status, 200) << changed.raw.body;
  MakeDue();
  LookAll();
  EXPECT_EQ(Runs(), "0");
  EXPECT_THAT(History(id), ElementsAre("skipped workflow_invalid"));
  const Json shown = Shown(id);
  EXPECT_EQ(shown["is_active"], false);
  EXPECT_EQ(shown["paused_reason"], "workflow_invalid");
  EXPECT_THAT(shown["paused_message"].get<std::string>(), HasSubstr("email"));
  EXPECT_EQ(Ask("POST", Path("/" + id + "/update"), Json{{"is_active", true}}).error(),
            "missing_columns");
  const Reply mended =
      Ask("POST", Path("/" + id + "/update"),
          Json{{"is_active", true}, {"webhook_payload", {{"email", "ada@engines.example"}}}});
  EXPECT_EQ(mended.status, 200) << mended.raw.body;
  EXPECT_TRUE(mended.body["paused_reason"].is_null());
}

// A fixed file is what most schedules of a workflow that reads one are for.
TEST_F(ApiWorkflowSchedules, AFileThatAScheduleNamesIsKeptAndReadAtEachSlot) {
  const std::string handle = Upload("n\n1\n2\n");
  const std::string reads = NewWorkflow(Chain({Block("read_csv"), Block("dedupe")}));
  std::string named = handle;
  std::transform(named.begin(), named.end(), named.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto make = [&](const std::string& file) {
    const Reply made = Ask("POST", "/workflows/" + reads + "/schedules",
                           Json{{"name", "Daily"},
                                {"cron", Daily()},
                                {"overlap", "allow"},
                                {"specs_override", {{"resource_handle_id", file}}}});
    EXPECT_EQ(made.status, 200) << made.raw.body;
    return "/workflows/" + reads + "/schedules/" + made.body["id"].get<std::string>();
  };
  make(named);
  const std::string another = make(Upload("n\n3\n"));
  Sql("update upload set expires_at = now() - interval '1 second'");
  EXPECT_EQ(store::DeleteExpiredUploads(session, 10), 0);
  EXPECT_EQ(Ask("DELETE", another).status, 200);
  EXPECT_EQ(store::DeleteExpiredUploads(session, 10), 1) << "with its schedule goes its file";
  for (int day = 1; day <= 2; ++day) {
    MakeDue();
    LookAll();
    EXPECT_EQ(Runs(), std::to_string(day));
  }
  EXPECT_EQ(Sql("select is_active from workflow_schedule"), "t");
  const auto room = [&](int unused_max) {
    const store::UploadLimits limits{std::chrono::hours(24), unused_max, 1'000'000};
    return store::BeginUpload(session, clock, *base::Uuid::Parse(acme.org_id), limits).has_value();
  };
  EXPECT_FALSE(room(1)) << "what is kept beyond its time takes room";
  EXPECT_TRUE(room(2));
}

TEST_F(ApiWorkflowSchedules, AFileThatTheWorkflowOfAScheduleNamesIsKeptUntilItNamesAnother) {
  const auto reading = [&](const std::string& file) {
    return Chain({Block("read_csv", {{"resource_handle_id", file}}), Block("dedupe")});
  };
  const std::string first = Upload("n\n1\n");
  const std::string second = Upload("n\n2\n");
  const std::string reads = NewWorkflow(reading(first));
  const Json daily{{"name", "Daily"}, {"cron", Daily()}};
  ASSERT_EQ(Ask("POST", "/workflows/" + reads + "/schedules", daily).status, 200);
  const auto named = [&] { return Sql("select id from upload"); };
  Sql("update upload set expires_at = now() - interval '1 second' where id = '" + first + "'");
  EXPECT_EQ(store::DeleteExpiredUploads(session, 10), 0);
  ASSERT_EQ(Ask("POST", "/workflows/update_workflow?workflow_id=" + reads,
                Json{{"workflow_definition", reading(second)}})
                .status,
            200);
  Sql("update upload set expires_at = now() - interval '1 second'");
  EXPECT_EQ(store::DeleteExpiredUploads(session, 10), 1);
  EXPECT_EQ(named(), second);
  EXPECT_EQ(Ask("POST", "/workflows/delete_workflow?workflow_id=" + reads).status, 200);
  EXPECT_EQ(store::DeleteExpiredUploads(session, 10), 1) << "nothing runs that reads it";
}

TEST_F(ApiWorkflowSchedules, TheMigrationFindsTheFilesThatAreNamedAlready) {
  const std::string of_workflow = Upload("n\n1\n");
  const std::string of_schedule = Upload("n\n2\n");
  const std::string reads = NewWorkflow(
      Chain({Block("read_csv", {{"resource_handle_id", of_workflow}}), Block("dedupe")}));
  const Json daily{{"name", "Daily"},
                   {"cron", Daily()},
                   {"specs_override", {{"resource_handle_id", of_schedule}}}};
  ASSERT_EQ(Ask("POST", "/workflows/" + reads + "/schedules", daily).status, 200);
  database.Sql("drop function workflow_upload_set cascade");
  database.Sql("drop function upload_named cascade");
  database.Sql("alter table workflow drop column upload_id");
  for (const store::Migration& migration : store::Migrations()) {
    if (migration.file.starts_with("0033")) database.Sql(std::string(migration.text));
  }
  EXPECT_EQ(Sql("select upload_id from workflow where upload_id is not null"), of_workflow);
  EXPECT_EQ(Sql("select upload_id from workflow_schedule"), of_schedule);
}

// Expired files of all organisations are looked at together, and a part of a file takes a look at
// its organisation's.
TEST_F(ApiWorkflowSchedules, G10_NoDefinitionIsReadToTellWhetherASchedulesFileIsKept) {
  pqxx::connection connection(database.url());
  const auto pages = [&](const std::string& statement, const std::string& value) {
    pqxx::work tx(connection);
    tx.exec("prepare " + statement + " as " + std::string(store::QueryText(statement)));
    const auto text = tx.exec("explain (analyze, buffers, format json) execute " + statement +
                              "('" + value + "')")[0][0]
                          .as<std::string>();
    const Json plan = base::ParseJsonOrThrow(text)[0]["Plan"];
    return plan.value("Shared Hit Blocks", 0) + plan.value("Shared Read Blocks", 0);
  };
  const std::string org = "'" + acme.org_id + "'";
  Sql("insert into upload (id, org_id, expires_at, finished_at) select gen_random_uuid(), " + org +
      ", now() - interval '1 hour', now() from generate_series(1, 20)");
  Sql("insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id) "
      "select gen_random_uuid(), " +
      org +
      ", 'w', '', json_build_object('a', (select string_agg(md5((i * 10000 + k)::text), '') from "
      "generate_series(1, 4000) k)), 0, gen_random_uuid() from generate_series(1, 10) i");
  Sql("insert into workflow_schedule (id, org_id, workflow_id, name, frequency, frequency_s, "
      "anchor_at, is_active, overlap, catch_up_s, caller_kind, caller_id, next_at, look_at) select "
      "gen_random_uuid(), org_id, id, 's', '1d', 86400, now(), true, 0, 3600, 0, "
      "gen_random_uuid(), now(), now() from workflow");
  // A definition takes sixteen pages.
  EXPECT_LT(pages("upload_unused", acme.org_id), 200);
  EXPECT_LT(pages("upload_delete_expired", "10"), 800);
}

TEST_F(ApiWorkflowSchedules, AChangeOfTheTimesLeavesADueSlotDue) {
  const std::string id = MakeId();
  MakeDue();
  const std::string due = Sql("select next_at from workflow_schedule");
  ASSERT_EQ(Ask("POST", Path("/" + id + "/update"), Json{{"cron", Daily(6)}}).status, 200);
  EXPECT_EQ(Sql("select next_at from workflow_schedule"), due);
  LookAll();
  EXPECT_THAT(History(id), ElementsAre("started"));
  EXPECT_EQ(Sql("select next_at between now() + interval '5 hours' and now() + interval '6 hours' "
                "from workflow_schedule"),
            "t");
}

TEST_F(ApiWorkflowSchedules, G7_OtherTimesGoOnFromTheChangeWhileASlotIsOverdue) {
  // A cron whose last slot was half an hour ago.
  const auto minutes =
      std::chrono::floor<std::chrono::minutes>(clock.Now()).time_since_epoch().count();
  const std::string hourly = std::to_string((minutes + 30) % 60) + " * * * *";
  for (const Json& times : {Json{{"cron", hourly}, {"time_zone", "UTC"}},
                            Json{{"cron", nullptr}, {"frequency", "1h"}}}) {
    const std::string id = MakeId({{"overlap", "allow"}});
    MakeDue("40 minutes");
    const Reply changed = Ask("POST", Path("/" + id + "/update"), times);
    ASSERT_EQ(changed.status, 200) << changed.raw.body;
    const Json shown = changed.body["next_run_times"];
    EXPECT_LT(shown[0], changed.body["updated_at"]) << "what is due stays due";
    EXPECT_GT(shown[1], changed.body["updated_at"]);
    LookAll();
    EXPECT_THAT(History(id), ElementsAre("started")) << times;
    EXPECT_EQ(Shown(id)["next_run_times"][0], shown[1]);
    Ask("DELETE", Path("/" + id));
  }
}

// A change whose transaction began before a slot came, and which waits until the slot's run has
// started. The slot's hour is the first of the new times, too.
TEST_F(ApiWorkflowSchedules, G7_ASlotThatStartedItsRunWhileAChangeWaitedIsNotDueAgain) {
  const std::string id = MakeId();
  std::thread caller;
  {
    pqxx::connection connection(database.url());
    pqxx::work holder(connection);
    holder.exec("select from workflow_schedule for update");
    caller = std::thread([&] {
      EXPECT_EQ(
          Ask("POST", Path("/" + id + "/update"), Json{{"cron", nullptr}, {"frequency", "1h"}})
              .status,
          200);
    });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (Sql("select count(*) from pg_locks where not granted") == "0" &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    holder.exec(
        "insert into workflow_slot (schedule_id, slot, state, reason) select id, "
        "clock_timestamp(), 1, 'overlap' from workflow_schedule");
    holder.commit();
  }
  caller.join();
  EXPECT_EQ(Sql("select next_at > slot + interval '1 hour' from workflow_schedule, workflow_slot"),
            "t")
      << "times go on from when the change was made, not from when it was asked for";
}

// Two changes at once, of which each leaves out what the other gives: none is lost.
TEST_F(ApiWorkflowSchedules, AChangeKeepsWhatAnotherOneGivesBesideIt) {
  const std::string id = MakeId();
  const auto order = [](const char* cron, const char* zone) {
    domain::ScheduleOrder by_clock;
    by_clock.cron = {cron};
    by_clock.time_zone = zone;
    return domain::StoredSchedule(by_clock);
  };
  std::thread caller;
  {
    pqxx::connection connection(database.url());
    pqxx::work holder(connection);
    holder.exec("select from workflow_schedule for update");
    caller = std::thread([&] {
      EXPECT_EQ(Ask("POST", Path("/" + id + "/update"), Json{{"cron", "0 7 * * *"}}).status, 200);
    });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (Sql("select count(*) from pg_locks where not granted") == "0" &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    holder.exec("update workflow_schedule set version = version + 1, schedule = '" +
                order("0 9 * * *", "Europe/Berlin") + "'");
    holder.commit();
  }
  caller.join();
  EXPECT_EQ(Shown(id)["cron"], "0 7 * * *");
  EXPECT_EQ(Shown(id)["time_zone"], "Europe/Berlin");
}

TEST_F(ApiWorkflowSchedules, ItsHistoryIsBounded) {
  const std::string id = MakeId();
  Sql("insert into workflow_slot (schedule_id, slot, state, reason) select '" + id +
      "', now() - n * interval '1 hour', 1, 'overlap' from generate_series(1, 120) n");
  MakeDue();
  LookAll();
  EXPECT_EQ(Sql("select count(*) from workflow_slot"), std::to_string(domain::kSlotsKept));
  EXPECT_EQ(History(id).size(), static_cast<std::size_t>(domain::kSlotsKept));
  EXPECT_EQ(History(id).front(), "started");
}

// Its channels are told of a run once it has ended, however many slots came meanwhile.
TEST_F(ApiWorkflowSchedules, ItsHistoryKeepsSlotsOfWhichChannelsAreStillToBeTold) {
  const std::string id = MakeId();
  Sql("insert into workflow_slot (schedule_id, slot, state, reason, run_id, told) select '" + id +
      "', now() - n * interval '1 hour', case n when 115 then 0 when 110 then 2 else 1 end,"
      " case when n not in (110, 115) then 'overlap' end,"
      " case n when 115 then gen_random_uuid() end, n <> 115 from generate_series(1, 120) n");
  MakeDue();
  LookAll();
  EXPECT_EQ(Sql("select count(*) from workflow_slot"), std::to_string(domain::kSlotsKept + 2));
  EXPECT_EQ(Sql("select count(*) from workflow_slot where not told or state = 2"), "3")
      << "these two and the newest";
  EXPECT_EQ(History(id).size(), static_cast<std::size_t>(domain::kSlotsKept));
}

}  // namespace
}  // namespace vedette::test
