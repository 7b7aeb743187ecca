// What is wrong with a monitor is mended while its checks go on: watched fields, and what was known
// of them.

#include <fmt/format.h>

#include "base/json.h"
#include "config/security_config.h"
#include "domain/monitor/current_values.h"
#include "store/monitors/monitors.h"
#include "store/monitors/rows.h"
#include "store/schema.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {
namespace {

const worker::ProbeResult kOther = Price("2", "now 2");

class MendingTest : public WorkerTest {
 public:
  void CheckOnce(const base::Uuid& monitor) {
    Sql(fmt::format(
        "update monitor_sched set next_run_at = now() where monitor_id = '{}' returning 1",
        monitor.ToString()));
    Cut();
    Process process(*this);
    UntilAllChunksAreDone();
  }

  domain::CurrentValues CurrentOf(const base::Uuid& id) {
    const auto monitor = *store::GetMonitor(session, {}, id);
    const auto row = store::ListRows(session, id, -1, 1, 1 << 20).items.at(0);
    return domain::CurrentValuesOf(
        base::ParseJsonOrThrow(monitor.struct_json), monitor.field_versions,
        {row.baseline_json, row.known_json, row.seen_json, row.struct_version});
  }

  store::ControlOutcome Watch(const base::Uuid& id, const std::string& struct_json) {
    store::MonitorChange change;
    change.struct_json = struct_json;
    return store::UpdateMonitor(session, clock, {}, id, change);
  }

  std::string Changes() { return Sql("select count(*) from event where event_type = 0"); }
};

TEST_F(MendingTest, TheCurrentValueIsShownWithWhatWasSeenOfItWhenItsEventIsGone) {
  const auto id = NewPriced(1);
  probe.SetScript([](int, int) { return kOther; });
  CheckOnce(id);
  Sql("delete from event returning 1");
  const auto current = CurrentOf(id);
  EXPECT_EQ(current.values.Value()["price"]["value"], "2");
  EXPECT_EQ(current.values.Value()["price"]["evidence"], "now 2");
  EXPECT_EQ(current.values.Value()["price"]["since"],
            Sql("select to_char(last_run_at at time zone 'UTC', "
                "'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from row_state"));
  probe.SetScript([](int, int) { return kOther; });
  CheckOnce(id);
  EXPECT_EQ(CurrentOf(id).values.Value()["price"], current.values.Value()["price"])
      << "the same value, seen again";
}

TEST_F(MendingTest, AFieldWithAnotherDescriptionIsObservedAsForTheFirstTime) {
  const auto id = NewPriced(1);
  const std::string fields = Sql("select struct from monitor");
  probe.SetScript([](int, int) { return kOther; });
  CheckOnce(id);
  ASSERT_EQ(Changes(), "1");
  const auto outcome = Watch(id, R"({"price":"css:.mended"})");
  EXPECT_EQ(outcome.forgotten, std::vector<std::string>{"price"});
  EXPECT_TRUE(CurrentOf(id).values.Value()["price"]["value"].is_null());
  probe.SetScript([](int, int) { return Price("3", "now 3"); });
  CheckOnce(id);
  EXPECT_EQ(Changes(), "1") << "a first observation is no change";
  EXPECT_EQ(CurrentOf(id).values.Value()["price"]["value"], "3");
  EXPECT_EQ(Sql("select baseline::text || known::text from monitor_row"),
            R"({"price":"3"}{"price":"3"})");
  probe.SetScript([](int, int) { return Price("4"); });
  CheckOnce(id);
  EXPECT_EQ(Changes(), "2");
  EXPECT_TRUE(Watch(id, R"({"price":"css:.mended"})").forgotten.empty()) << "the same again";
  EXPECT_NE(fields, Sql("select struct from monitor"));
}

TEST_F(MendingTest, ARowThatWasRemovedAtTheSameMomentIsNotSwitchedOn) {
  const auto id = NewPriced(2);
  const auto row = *base::Uuid::Parse(Sql("select id from monitor_row where position = 0"));
  store::RemoveRow(session, clock, {}, id, row);
  using Kind = store::ControlOutcome::Kind;
  for (const bool on : {true, false}) {
    EXPECT_EQ(store::SwitchRow(session, clock, {}, id, row, on, "why").kind, Kind::kNotFound);
  }
  EXPECT_EQ(Sql("select disabled_reason from monitor_row where not is_active"), "removed");
  EXPECT_EQ(Sql("select active_row_count from monitor_sched"), "1");
}

TEST_F(MendingTest, TheMigrationSwitchesRemovedRowsOff) {
  const auto id = NewPriced(3);
  const auto row = *base::Uuid::Parse(Sql("select id from monitor_row where position = 0"));
  store::RemoveRow(session, clock, {}, id, row);
  database.Sql("update monitor_row set is_active = true where position = 0");
  database.Sql("update monitor_sched set active_row_count = active_row_count + 1");
  for (const store::Migration& migration : store::Migrations()) {
    if (migration.file.starts_with("0030")) database.Sql(std::string(migration.text));
  }
  EXPECT_EQ(Sql("select count(*) from monitor_row where is_active"), "2");
  EXPECT_EQ(Sql("select active_row_count from monitor_sched"), "2");
}

TEST_F(MendingTest, WhatWasValidatedByAnOlderMonitorIsNotWritten) {
  const auto id = NewPriced(1);
  using Kind = store::ControlOutcome::Kind;
  store::MonitorChange change{.of_version = store::GetMonitor(session, {}, id)->updated_at};
  CheckOnce(id);
  change.name = "first";
  EXPECT_EQ(store::UpdateMonitor(session, clock, {}, id, change).kind, Kind::kDone)
      << "ticks and checks are no updates";
  change.name = "second";
  EXPECT_EQ(store::UpdateMonitor(session, clock, {}, id, change).kind, Kind::kChanged);
  EXPECT_EQ(Sql("select name from monitor"), "first");
  Watch(id, R"({"price":"css:.price","stock":"css:.stock"})");
  const domain::RowValues row{R"({"domain":"new.example"})", R"({"stock":1})", std::nullopt,
                              std::string(16, 'k'), true};
  using Added = store::AddRowsOutcome::Kind;
  EXPECT_EQ(store::AddRows(session, clock, {}, id, {row}, 0, 10).kind, Added::kChanged);
  EXPECT_EQ(store::AddRows(session, clock, {}, id, {row}, 1, 10).kind, Added::kAdded);
}

TEST_F(MendingTest, AColumnThatBecameAWatchedFieldIsNotGivenToTheProbe) {
  const auto id = NewPriced(1);
  Sql(R"(update monitor_row set context = '{"stock":7,"note":"n"}' returning 1)");
  std::mutex mutex;
  std::vector<std::string> contexts;
  probe.SetLook([&](const worker::ProbeRequest& request) {
    const std::lock_guard lock(mutex);
    contexts.push_back(request.context.Text());
  });
  probe.SetScript([](int, int) { return kOther; });
  CheckOnce(id);
  Watch(id, R"({"price":"css:.price","stock":"css:.stock"})");
  CheckOnce(id);
  EXPECT_EQ(contexts, (std::vector<std::string>{R"({"stock":7,"note":"n"})", R"({"note":"n"})"}));
}

TEST_F(MendingTest, TheTickInProgressGoesByWhatItBeganWith) {
  const auto id = NewPriced(1);
  Cut();
  const auto claim = ClaimAll();
  Watch(id, R"({"price":"css:.mended"})");
  store::ReleaseChunks(session, {{claim.chunks.at(0).id, claim.chunks.at(0).lease_token}});
  const auto again = ClaimAll();
  EXPECT_EQ(again.watched.at(id), claim.watched.at(id));
  EXPECT_EQ(again.specs.at(id)->struct_version, 0);
  EXPECT_TRUE(again.specs.at(id)->field_versions.empty());
  Record(FinishAll(again, domain::Outcome::kUnchanged));
  Sql("update monitor_sched set next_run_at = now() returning 1");
  Cut();
  const auto next = ClaimAll();
  EXPECT_EQ(next.watched.at(id), R"({"price":"css:.mended"})");
  EXPECT_EQ(next.specs.at(id)->struct_version, 1);
}

TEST_F(MendingTest, AMonitorAllOfWhoseChecksFailSaysSinceWhenUntilOneCompletes) {
  NewPriced(2);
  const auto since = [&] { return Sql("select failing_since from monitor_sched"); };
  const auto tick = [&](domain::Outcome outcome) {
    Sql("update monitor_sched set next_run_at = now() returning 1");
    Cut();
    Record(FinishAll(ClaimAll(), outcome));
  };
  tick(domain::Outcome::kFailed);
  const std::string first = since();
  EXPECT_EQ(first, Sql("select started_at from tick"));
  tick(domain::Outcome::kFailed);
  EXPECT_EQ(since(), first);
  tick(domain::Outcome::kSkippedBalance);
  EXPECT_EQ(since(), first) << "no check was made";
  tick(domain::Outcome::kUnchanged);
  EXPECT_EQ(since(), "");
}

TEST_F(MendingTest, ARowThatFailsIsFoundWithSinceWhenAndWhy) {
  const auto id = NewPriced(3);
  for (int check = 0; check < 2; ++check) {
    probe.SetScript([](int n, int) {
      return n == 1 ? worker::ProbeResult(worker::ProbeFailure{"gone", "It is gone.", false, {}})
                    : kOther;
    });
    CheckOnce(id);
  }
  const auto monitor = *store::GetMonitor(session, {}, id);
  const auto page =
      store::ListChosenRows(session, monitor, store::RowChoice::kFailing, {-1, 2}, 10, 1 << 20);
  ASSERT_EQ(page.items.size(), 1U);
  const domain::Row& row = page.items[0];
  EXPECT_EQ(row.position, 1);
  EXPECT_EQ(row.failure_message, "gone: It is gone.");
  EXPECT_EQ(base::FormatTimestamp(*row.failing_since),
            base::FormatTimestamp(base::Timestamp(std::chrono::microseconds(
                std::stoll(Sql("select min(tick_id) from event where event_type = 1"))))));
  EXPECT_FALSE(store::GetRow(session, id, store::ListRows(session, id, -1, 1, 1 << 20).items[0].id)
                   ->failing_since);
}

// What `monitor` tells of a price by these rules.
class RulesTest : public MendingTest {
 public:
  void SetRules(const base::Uuid& monitor, const std::string& rules) {
    store::MonitorChange change;
    change.rules_json.emplace(rules);
    store::UpdateMonitor(session, clock, {}, monitor, change);
  }
  void See(const base::Uuid& monitor, const std::string& price) {
    probe.SetScript([price](int, int) { return Price(price, "now " + price); });
    CheckOnce(monitor);
  }
};

TEST_F(RulesTest, AChangeBelowTheThresholdIsKnownAndMakesNoEventAndNoNotification) {
  const auto id = NewPriced(1, "http://hooks.example/");
  Sql("update monitor set webhook_event_types = '{0}' returning 1");
  SetRules(id, R"({"price":{"threshold":{"absolute":2}}})");
  See(id, "2");
  EXPECT_EQ(Changes(), "0");
  EXPECT_EQ(Sql("select count(*) from delivery"), "0");
  EXPECT_EQ(sink.taken, 0);
  const auto current = CurrentOf(id);
  EXPECT_EQ(current.values.Value()["price"]["value"], "2") << "the present value is kept";
  EXPECT_EQ(current.values.Value()["price"]["evidence"], "now 2");
  See(id, "3");
  EXPECT_EQ(Changes(), "1") << "from 1, which was told last, it is 2";
  EXPECT_EQ(Sql("select previous_value::text || current_value::text from event"), R"("1""3")");
  EXPECT_EQ(sink.taken, 1);
}

TEST_F(RulesTest, RulesHoldFromTheNextClaimOnAndEndWithNull) {
  const auto id = NewPriced(1);
  SetRules(id, R"({"price":{"only_if":{"above":100}}})");
  See(id, "2");
  EXPECT_EQ(Changes(), "0");
  store::MonitorChange change;
  change.rules_json.emplace();
  store::UpdateMonitor(session, clock, {}, id, change);
  EXPECT_FALSE(store::GetMonitor(session, {}, id)->rules_json);
  See(id, "3");
  EXPECT_EQ(Changes(), "1");
}

TEST_F(RulesTest, ASessionIsKeptUntilTheStepsChangeOrTheMonitorGoes) {
  settings.security.encryption_key = std::string(32, 'k');
  const auto id = NewPriced(1);
  const auto keep = [&](const base::Uuid& version, const std::string& text) {
    return store::KeepPageSession(
        session, org, id, version,
        store::Seal(settings.security, text, store::PageSessionBinding(org, id)));
  };
  const auto set = [&](std::optional<store::NewLogin> login) {
    store::MonitorChange change;
    change.probe_json.emplace(R"({"render":"always","session":"kept"})");
    change.login = std::move(login);
    store::UpdateMonitor(session, clock, {}, id, change);
  };
  EXPECT_FALSE(store::ReadLogin(session, org, id));
  set(store::NewLogin{
      store::Seal(settings.security, R"({"pw":"x"})", store::ProbeSecretsBinding(org))});
  const auto first = store::ReadLogin(session, org, id);
  ASSERT_TRUE(first && first->secrets);
  EXPECT_FALSE(first->session);
  EXPECT_FALSE(store::ReadLogin(session, base::Uuid::V4(), id)) << "another organisation's";
  EXPECT_TRUE(keep(first->version, "sid=1"));
  EXPECT_TRUE(keep(first->version, "sid=2"));
  const auto kept = store::ReadLogin(session, org, id)->session;
  ASSERT_TRUE(kept);
  const auto keys = store::NamedKeys(settings.security);
  EXPECT_EQ(store::OpenSealed(keys, *kept, store::PageSessionBinding(org, id)), "sid=2");
  EXPECT_FALSE(store::OpenSealed(keys, *kept, store::PageSessionBinding(org, org)));
  EXPECT_EQ(Sql("select count(*) from monitor_login where position('sid'::bytea in session) > 0"),
            "0");
  // A page that was under way meanwhile has nothing to say any more.
  set(store::NewLogin{});
  EXPECT_FALSE(keep(first->version, "sid=3"));
  EXPECT_FALSE(store::ReadLogin(session, org, id)->session);
  const auto second = store::ReadLogin(session, org, id);
  EXPECT_TRUE(keep(second->version, "sid=4"));
  store::DeleteMonitor(session, clock, {}, id, "r", {});
  EXPECT_EQ(Sql("select count(*) from monitor_login"), "0");
  EXPECT_FALSE(keep(second->version, "sid=5"));
}

TEST_F(RulesTest, TheHeadersOfAMonitorReachItsChecksAndWithoutTheKeyAreKnownToBeThere) {
  settings.security.encryption_key = std::string(32, 'k');
  const auto id = NewPriced(1);
  store::MonitorChange change;
  change.request_headers.emplace(store::SealedHeaders{
      store::Seal(settings.security, R"({"Cookie":"a=b"})", store::RequestHeadersBinding(org)),
      {"Cookie"}});
  store::UpdateMonitor(session, clock, {}, id, change);
  EXPECT_EQ(store::GetMonitor(session, {}, id)->request_header_names,
            std::vector<std::string>{"Cookie"});
  EXPECT_EQ(Sql("select position('a=b'::bytea in request_headers) from monitor"), "0");
  std::mutex mutex;
  std::vector<std::shared_ptr<const worker::ProbeSpec>> specs;
  const auto look = [&](const config::SecurityConfig& security) {
    settings.security = security;
    probe.SetLook([&](const worker::ProbeRequest& request) {
      const std::lock_guard lock(mutex);
      specs.push_back(request.spec);
    });
    CheckOnce(id);
  };
  look({std::string(32, 'k'), {}});
  look({std::string(32, 'n'), {std::string(32, 'k')}});
  look({std::string(32, 'n'), {}});
  ASSERT_EQ(specs.size(), 3U);
  for (const std::size_t opened : {0U, 1U}) {
    ASSERT_NE(specs.at(opened)->request_headers, nullptr);
    EXPECT_EQ(specs.at(opened)->request_headers->at(0).second, "a=b");
    EXPECT_FALSE(specs.at(opened)->headers_sealed);
  }
  EXPECT_EQ(specs.at(2)->request_headers, nullptr);
  EXPECT_TRUE(specs.at(2)->headers_sealed);
}

}  // namespace
}  // namespace vedette::test
