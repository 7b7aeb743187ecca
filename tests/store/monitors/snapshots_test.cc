// What pages said and looked like: kept when something changed, once, and gone with its row.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/compression.h"
#include "base/crypto.h"
#include "store/fleet/maintenance.h"
#include "store/monitors/control.h"
#include "store/monitors/rows.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {
namespace {

class Snapshots : public WorkerTest {
 public:
  // What a probe sees of a page with this text, and where `picture` is given, this picture.
  static worker::ProbeResult Page(const std::string& price, const std::string& text,
                                  const std::string& picture = "") {
    worker::ProbeResult result = Price(price);
    auto& seen = std::get<domain::Observation>(result);
    domain::SeenPage page;
    page.url = "https://shop.example/";
    page.text = base::Compressed(text);
    page.text_hash = base::Sha256(text);
    page.text_bytes = static_cast<int>(text.size());
    page.picture = picture;
    if (!picture.empty()) page.picture_hash = base::Sha256(picture);
    seen.rendered = !picture.empty();
    seen.page = std::make_shared<const domain::SeenPage>(page);
    return result;
  }

  // One check of every row, which sees this.
  void Check(const worker::ProbeResult& seen) {
    probe.SetScript([seen](int, int) { return seen; });
    Sql("update monitor_sched set next_run_at = now()");
    Cut();
    Process process(*this);
    UntilAllChunksAreDone();
  }

  base::Uuid RowOf(const base::Uuid& monitor, int position = 0) {
    return *base::Uuid::Parse(
        Sql(fmt::format("select id from monitor_row where monitor_id = '{}' and position = {}",
                        monitor.ToString(), position)));
  }
  std::string Count(const std::string& table) { return Sql("select count(*) from " + table); }
};

TEST_F(Snapshots, AreKeptAtTheFirstCheckAndWhereAFieldChangedAndEventsNameThem) {
  const base::Uuid monitor = NewPriced(1);
  const base::Uuid row = RowOf(monitor);
  Check(Page("1", "one"));
  ASSERT_EQ(store::ListSnapshots(session, row, std::nullopt, 10).size(), 1U) << "the first check";
  Check(Page("1", "one, and news"));
  ASSERT_EQ(store::ListSnapshots(session, row, std::nullopt, 10).size(), 1U)
      << "no field has changed";
  Check(Page("2", "two", "picture"));
  const auto kept = store::ListSnapshots(session, row, std::nullopt, 10);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].previous_id, kept[1].id);
  EXPECT_EQ(kept[1].previous_id, std::nullopt);
  EXPECT_EQ(kept[0].url, "https://shop.example/");
  EXPECT_TRUE(kept[0].is_rendered && kept[0].has_picture);
  EXPECT_FALSE(kept[1].is_rendered || kept[1].has_picture);
  EXPECT_EQ(store::ListSnapshots(session, row, kept[0].tick_id, 10).size(), 1U) << "a page further";
  EXPECT_EQ(
      Sql("select previous_snapshot_id || ' ' || snapshot_id from event where event_type = 0"),
      kept[1].id.ToString() + " " + kept[0].id.ToString());
  EXPECT_EQ(Sql("select event_group_id from event where event_type = 0"), kept[0].id.ToString());
  const store::Scope scope{org, std::nullopt};
  using Part = store::SnapshotPart;
  EXPECT_EQ(base::Decompressed(*store::ReadSnapshot(session, scope, kept[1].id, Part::kText), 100),
            "one");
  EXPECT_EQ(store::ReadSnapshot(session, scope, kept[0].id, Part::kPicture), "picture");
  EXPECT_EQ(store::ReadSnapshot(session, scope, kept[1].id, Part::kPicture), std::nullopt);
  EXPECT_EQ(store::ReadSnapshot(session, {base::Uuid::V4(), std::nullopt}, kept[0].id, Part::kText),
            std::nullopt);
  EXPECT_EQ(store::ReadSnapshot(session, {org, base::Uuid::V4()}, kept[0].id, Part::kText),
            std::nullopt);
}

TEST_F(Snapshots, OfEqualContentsOneIsKept) {
  NewPriced(40);
  NewPriced(2);
  Check(Page("1", "the same", "picture"));
  EXPECT_EQ(Count("snapshot"), "42");
  EXPECT_EQ(Count("snapshot_content"), "2");
  Sql("update snapshot_content set used_at = now() - interval '5 days'");
  Check(Page("2", "the same", "another"));
  EXPECT_EQ(Count("snapshot"), "84");
  EXPECT_EQ(Count("snapshot_content"), "3");
  EXPECT_EQ(Count("snapshot_content where used_at > now() - interval '1 day'"), "2")
      << "what is used again is kept as long again";
}

TEST_F(Snapshots, ACheckWithoutAChangeWritesNothingOfItsPage) {
  NewPriced(3);
  Check(Page("1", "one"));
  const double before = Series("vedette_db_query_seconds_count{query=\"record_snapshots\"}");
  Check(Page("1", "two"));
  EXPECT_EQ(Series("vedette_db_query_seconds_count{query=\"record_snapshots\"}"), before);
  EXPECT_EQ(Count("snapshot"), "3");
  EXPECT_EQ(Count("snapshot_content"), "1");
}

TEST_F(Snapshots, GoWithTheirRowAndWhatOthersHaveStays) {
  const base::Uuid monitor = NewPriced(2);
  Check(Page("1", "shared"));
  probe.SetScript(
      [](int n, int) { return n == 0 ? Page("2", "its own", "picture") : Page("1", "shared"); });
  Sql("update monitor_sched set next_run_at = now()");
  Cut();
  {
    Process process(*this);
    UntilAllChunksAreDone();
  }
  EXPECT_EQ(Count("snapshot"), "3");
  EXPECT_EQ(Count("snapshot_content"), "3");
  const auto removed = store::RemoveRow(session, base::SystemClock(), {org, std::nullopt}, monitor,
                                        RowOf(monitor), std::nullopt);
  EXPECT_EQ(removed.kind, store::ControlOutcome::Kind::kDone);
  EXPECT_EQ(Count("snapshot"), "1");
  EXPECT_EQ(Sql("select encode(hash, 'hex') from snapshot_content"),
            base::HexEncode(base::Sha256("shared")));
}

TEST_F(Snapshots, NothingIsKeptOfARowThatIsRemovedWhileItIsChecked) {
  probe.SetLook([](const worker::ProbeRequest& request) {
    domain::SeenPage page;
    page.picture = "picture";
    request.on_failed_page(std::make_shared<const domain::SeenPage>(page));
  });
  const auto check = [&](const worker::ProbeResult& seen) {
    probe.SetScript([](int, int) { return std::nullopt; });
    const base::Uuid monitor = NewPriced(2);
    Cut();
    Process process(*this);
    Until("both are looked at", [this] { return probe.held() == 2; });
    const auto removed = store::RemoveRow(session, base::SystemClock(), {org, std::nullopt},
                                          monitor, RowOf(monitor), std::nullopt);
    EXPECT_EQ(removed.kind, store::ControlOutcome::Kind::kDone);
    probe.Release(process.loop, seen);
    UntilAllChunksAreDone();
    return RowOf(monitor, 1).ToString();
  };
  const std::string seen = check(Page("1", "one", "picture"));
  EXPECT_EQ(Sql("select string_agg(row_id::text, ' ') from snapshot"), seen);
  const std::string failed = check(worker::ProbeFailure{"step_failed", "A step.", false, {}});
  EXPECT_EQ(Sql("select string_agg(row_id::text, ' ') from failed_page"), failed);
}

TEST_F(Snapshots, AreNotOfAFieldThatCouldNotBeRead) {
  const base::Uuid monitor = NewPriced(1);
  const auto with_unread = [](worker::ProbeResult seen) {
    std::get<domain::Observation>(seen).unread["plan"] = {"no_match", "Nothing matches.", false};
    return seen;
  };
  Sql(
      fmt::format("update monitor set struct = '{{\"price\": \"css:.p\", \"plan\": \"css:.q\"}}' "
                  "where id = '{}'",
                  monitor.ToString()));
  Check(with_unread(Page("1", "one")));
  Check(with_unread(Page("2", "two")));
  EXPECT_EQ(Count("snapshot"), "2");
  EXPECT_EQ(Sql("select count(*) from event where event_type = 0 and snapshot_id is not null"),
            "1");
  EXPECT_EQ(
      Sql("select count(*) || ' ' || count(snapshot_id) || ' ' || count(previous_snapshot_id) "
          "from event where event_type = 1"),
      "2 0 0")
      << "of an error it is the picture of a check that failed";
}

TEST_F(Snapshots, OfChecksThatFailedTheLastPictureOfARowIsKept) {
  const base::Uuid monitor = NewPriced(1);
  const store::Scope scope{org, std::nullopt};
  const auto fail = [&](const std::string& picture) {
    probe.SetLook([picture](const worker::ProbeRequest& request) {
      domain::SeenPage page;
      page.picture = picture;
      request.on_failed_page(std::make_shared<const domain::SeenPage>(page));
    });
    Check(worker::ProbeFailure{"step_failed", "A step could not be made.", false, {}});
    return *base::Uuid::Parse(
        Sql("select snapshot_id from event where event_type = 1 order by tick_id desc limit 1"));
  };
  const auto picture_of = [&](const base::Uuid& id) {
    return store::ReadSnapshot(session, scope, id, store::SnapshotPart::kPicture);
  };
  const base::Uuid first = fail("first");
  EXPECT_EQ(picture_of(first), "first");
  const base::Uuid second = fail("second");
  EXPECT_EQ(picture_of(second), "second");
  EXPECT_EQ(picture_of(first), std::nullopt) << "one a row";
  EXPECT_EQ(store::ReadSnapshot(session, scope, second, store::SnapshotPart::kText), std::nullopt);
  EXPECT_EQ(
      store::ReadSnapshot(session, {org, base::Uuid::V4()}, second, store::SnapshotPart::kPicture),
      std::nullopt);
  Check(Page("1", "one"));  // an attempt had failed before
  EXPECT_EQ(picture_of(second), "second");
  EXPECT_EQ(Count("snapshot"), "1");
  Sql("update failed_page set failed_at = now() - interval '200 days'");
  store::MaintenanceState state;
  EXPECT_TRUE(store::Maintain(session, settings.retention, &state).failures.empty());
  EXPECT_EQ(Count("failed_page"), "0");
  fail("third");
  store::RemoveRow(session, base::SystemClock(), scope, monitor, RowOf(monitor), std::nullopt);
  EXPECT_EQ(Count("failed_page"), "0");
}

TEST_F(Snapshots, AreKeptAsLongAsTheOperatorSays) {
  NewPriced(1);
  Check(Page("1", "old"));
  Sql("update snapshot set tick_id = extract(epoch from now() - interval '200 days')::bigint * "
      "1000000");
  Sql("update snapshot_content set used_at = now() - interval '200 days'");
  Check(Page("2", "young"));
  store::MaintenanceState state;
  EXPECT_TRUE(store::Maintain(session, settings.retention, &state).failures.empty());
  EXPECT_EQ(Count("snapshot"), "1");
  EXPECT_EQ(Sql("select encode(hash, 'hex') from snapshot_content"),
            base::HexEncode(base::Sha256("young")));
}

}  // namespace
}  // namespace vedette::test
