// What claims look at beside a snapshot that is held for long, as counts that no noise changes: the
// entries of what is done stay in the queues' indexes, and no scan behind a bound visits them. And
// that nothing is left behind a bound. bench/snapshot measures rates.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "store/deliveries/deliveries.h"
#include "store/jobs/claim.h"
#include "store/queries.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr int kDone = 20'000;
// 15 were measured; from the beginning it is over a thousand.
constexpr double kPagesBehind = 60;

// The bounds of scans, without a database ---------------------------------------------------------

using Bounds = store::ScanBounds<int>;
constexpr base::Timestamp kFirst{seconds(1'000'000)};
constexpr base::Timestamp kArrives{seconds(1'000'100)};
constexpr base::Timestamp kNewest{seconds(1'000'104)};

// A claim of chunks is made every 20 ms where much is due, and waits for its scan.
static_assert(Bounds::kQuick <= milliseconds(2));

// Scans of `key` from the beginning, the last of which took from `began` until `ended`.
void ScanTwice(Bounds* bounds, nanoseconds began, nanoseconds ended,
               const std::vector<Bounds::Seen>& seen) {
  bounds->Scanned(Bounds::From::kBeginning, began, ended, seen);
  bounds->Scanned(Bounds::From::kBeginning, began, ended, seen);
}

TEST(ScanBounds, AQuickScanIsFollowedByAnotherFromTheBeginning) {
  Bounds bounds;
  EXPECT_EQ(bounds.Next(seconds(1)), Bounds::From::kBeginning);
  ScanTwice(&bounds, seconds(1), seconds(1) + Bounds::kQuick, {{1, kFirst, kArrives, kNewest}});
  EXPECT_EQ(bounds.Next(seconds(2)), Bounds::From::kBeginning);
  EXPECT_EQ(bounds.Of(1, seconds(2)), std::nullopt);
  EXPECT_EQ(bounds.Found(1), std::nullopt) << "a claim begins at the beginning, too";
}

TEST(ScanBounds, OneScanThatTookLongMeansThatTheMachineStoodStill) {
  Bounds bounds;
  const auto scan = [&](nanoseconds began, nanoseconds took) {
    bounds.Scanned(Bounds::From::kBeginning, began, began + took, {{1, kFirst, kArrives, kNewest}});
  };
  scan(seconds(1), seconds(9));
  EXPECT_EQ(bounds.Next(seconds(10)), Bounds::From::kBeginning);
  EXPECT_EQ(bounds.Of(1, seconds(10)), std::nullopt);
  scan(seconds(10), milliseconds(20));
  EXPECT_EQ(bounds.Next(seconds(11)), Bounds::From::kBounds) << "50 times the shorter of the two";
  EXPECT_EQ(bounds.Next(milliseconds(11'020)), Bounds::From::kBeginning);
}

TEST(ScanBounds, WhatStandsBeforeABoundWaitsForTenMinutesAtMost) {
  Bounds bounds;
  ScanTwice(&bounds, seconds(10), seconds(30), {{1, kFirst, kArrives, kNewest}});
  EXPECT_EQ(bounds.Next(seconds(629)), Bounds::From::kBounds);
  EXPECT_EQ(bounds.Next(seconds(630)), Bounds::From::kBeginning);
  EXPECT_EQ(bounds.Of(1, seconds(630)), std::nullopt);
  EXPECT_EQ(bounds.Found(1), kFirst);
}

TEST(ScanBounds, AScanOfManyKeysMayTakeLonger) {
  Bounds bounds;
  std::vector<Bounds::Seen> seen;
  seen.reserve(1000);
  for (int key = 0; key < 1000; ++key) seen.push_back({key, kFirst, kArrives, kNewest});
  ScanTwice(&bounds, seconds(1), seconds(1) + Bounds::kQuick + 1000 * Bounds::kQuickEach, seen);
  EXPECT_EQ(bounds.Next(seconds(2)), Bounds::From::kBeginning);
}

TEST(ScanBounds, AScanThatTookLongIsRepeatedAfterFiftyTimesAsLong) {
  Bounds bounds;
  ScanTwice(&bounds, seconds(1), seconds(2), {{1, kFirst, kArrives, kNewest}});
  EXPECT_EQ(bounds.Next(seconds(51)), Bounds::From::kBounds);
  EXPECT_NE(bounds.Of(1, seconds(51)), std::nullopt);
  EXPECT_EQ(bounds.Next(seconds(52)), Bounds::From::kBeginning);
  EXPECT_EQ(bounds.Of(1, seconds(52)), std::nullopt);
}

TEST(ScanBounds, AScanBeginsWhereTheLastOneFoundSomethingAndOnceASecondWhereWorkArrives) {
  Bounds bounds;
  const base::Timestamp later = kArrives + seconds(50);
  ScanTwice(&bounds, seconds(1), seconds(2), {{1, later, kArrives, kNewest}});
  EXPECT_EQ(bounds.Of(1, milliseconds(2'500)), later);
  EXPECT_EQ(bounds.Found(1), later);
  EXPECT_EQ(bounds.Of(1, seconds(3)), kArrives);
  bounds.Scanned(Bounds::From::kBounds, seconds(3), seconds(3),
                 {{1, later + seconds(1), kArrives + seconds(1), kNewest}});
  EXPECT_EQ(bounds.Of(1, milliseconds(3'500)), later + seconds(1));
  EXPECT_EQ(bounds.Of(1, seconds(4)), kArrives + seconds(1));
}

TEST(ScanBounds, BoundsThatAreSlowerThanTheBeginningAreGivenUp) {
  Bounds bounds;
  const auto scan = [&](milliseconds began, milliseconds took) {
    bounds.Scanned(Bounds::From::kBounds, began, began + took, {{1, kFirst, kArrives, kNewest}});
  };
  ScanTwice(&bounds, milliseconds(1'000), milliseconds(1'010), {{1, kFirst, kArrives, kNewest}});
  scan(milliseconds(1'020), milliseconds(11));
  EXPECT_EQ(bounds.Next(milliseconds(1'031)), Bounds::From::kBounds) << "one alone says nothing";
  scan(milliseconds(1'040), milliseconds(10));
  scan(milliseconds(1'050), milliseconds(11));
  scan(milliseconds(1'070), milliseconds(11));
  EXPECT_EQ(bounds.Next(milliseconds(1'081)), Bounds::From::kBeginning);
  EXPECT_EQ(bounds.Of(1, milliseconds(1'081)), std::nullopt);
}

TEST(ScanBounds, AScanFromWhereWorkArrivesIsRepeatedAfterFiftyTimesWhatItTook) {
  Bounds bounds;
  const base::Timestamp later = kArrives + seconds(50);
  ScanTwice(&bounds, seconds(1), seconds(2), {{1, later, kArrives, kNewest}});
  bounds.Scanned(Bounds::From::kBounds, seconds(3), milliseconds(3'040),
                 {{1, later, kArrives, kNewest}});
  EXPECT_EQ(bounds.Of(1, milliseconds(5'030)), later);
  EXPECT_EQ(bounds.Of(1, milliseconds(5'040)), kArrives);
}

TEST(ScanBounds, WhereNothingWasFoundTheNextScanBeginsWhereWorkArrives) {
  Bounds bounds;
  ScanTwice(&bounds, seconds(1), seconds(2), {{1, std::nullopt, kArrives, kNewest}});
  EXPECT_EQ(bounds.Of(1, seconds(2)), kNewest);
  EXPECT_EQ(bounds.Of(1, seconds(3)), kArrives) << "what committed late";
  EXPECT_EQ(bounds.Found(1), std::nullopt);
}

TEST(ScanBounds, AKeyThatIsNotKnownIsScannedFromTheBeginning) {
  Bounds bounds;
  ScanTwice(&bounds, seconds(1), seconds(2), {{1, kFirst, kArrives, kNewest}});
  EXPECT_EQ(bounds.Of(2, seconds(3)), std::nullopt);
  bounds.Scanned(Bounds::From::kBounds, seconds(3), seconds(4), {{2, kFirst, kArrives, kNewest}});
  EXPECT_EQ(bounds.Of(2, milliseconds(4'500)), kFirst);
  EXPECT_EQ(bounds.Of(2, seconds(54)), std::nullopt) << "after fifty times what that took";
  EXPECT_EQ(bounds.Behind(1, 10, milliseconds(4'500)).size(), 1U);
}

// Pages -------------------------------------------------------------------------------------------

class SnapshotCosts : public PipelineTest {
 public:
  SnapshotCosts() : reader_(database.url()), snapshot_(reader_), looking_(database.url()) {
    snapshot_.exec("set transaction isolation level repeatable read");
    snapshot_.exec("select count(*) from monitor");
  }

  // The pages that the statement read, with these of its parameters; the others are null.
  double Pages(const std::string& name, const std::map<std::string, std::string>& given) {
    pqxx::work tx(looking_);
    tx.exec(
        "set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off; "
        "set local enable_hashjoin = off; set local enable_mergejoin = off");
    tx.exec(fmt::format("prepare {} as {}", name, store::QueryText(name)));
    std::string values;
    for (const std::string& parameter : store::QueryParameters(name)) {
      values += fmt::format("{}'{}'", values.empty() ? "" : ", ", given.at(parameter));
    }
    const auto plan =
        tx.exec(fmt::format("explain (analyze, buffers) execute {}({})", name, values));
    tx.exec("deallocate " + name);
    // The first line with buffers is that of the whole statement: "Buffers: shared hit=12 read=3".
    for (const auto& row : plan) {
      const std::string line = row[0].as<std::string>();
      if (line.find("Buffers: shared") != std::string::npos) {
        return PagesOf(line, "hit=") + PagesOf(line, "read=");
      }
    }
    ADD_FAILURE() << "the plan tells of no buffers";
    return 0;
  }

  std::string Now(const std::string& less) { return Sql("select now() - interval '" + less + "'"); }

  // kDone chunks came in turn, were leased and are gone, and three wait.
  void DoChunks() {
    AddChunks(kDone, "30 days 10 minutes");
    AddChunks(kDone, "2 minutes");
    Sql("delete from chunk");
    AddChunks(3, "30 days");
  }
  void AddChunks(int count, const std::string& ago) {
    Sql(fmt::format(
        "insert into chunk (id, org_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, "
        "due_at, row_count) select gen_random_uuid(), '{}', 1, "
        "now() - interval '{}' + n * interval '1 ms', "
        "array[gen_random_uuid()], '{{1}}', '{{0}}', '{{1}}', now(), 1 from generate_series(1, {}) "
        "n",
        org.ToString(), ago, count));
  }

 private:
  static double PagesOf(const std::string& line, const std::string& which) {
    const auto at = line.find(which);
    return at == std::string::npos ? 0 : std::stod(line.substr(at + which.size()));
  }

  pqxx::connection reader_;
  pqxx::work snapshot_;
  pqxx::connection looking_;
};

TEST_F(SnapshotCosts, OfChunks) {
  DoChunks();
  const std::string nil = base::Uuid().ToString();
  const std::string from = Now("30 days 1 minute");
  const std::string orgs = "{" + org.ToString() + "}";
  const auto claim = [&](const std::string& from_at, const std::string& turns_only) {
    return Pages("chunk_claim", {{"org_id", orgs},
                                 {"chunks_max", "{3}"},
                                 {"rows_max", "{9}"},
                                 {"from_at", "{" + from_at + "}"},
                                 {"turns_only", "{" + turns_only + "}"},
                                 {"apart_s", "1296000"},
                                 {"token", base::Uuid::V4().ToString()},
                                 {"lease_ms", "1000"},
                                 {"careful_from", "3"}});
  };
  EXPECT_GT(Pages("chunk_scan", {{"cursor", nil}, {"orgs_max", "9"}}), 300);
  // Nothing is known of the ends of leases, as nobody has looked at them while something waited in
  // turn.
  for (const std::string& ends_from : {"\"" + Now("1 minute") + "\"", std::string("NULL")}) {
    EXPECT_LE(Pages("chunk_scan_bounds", {{"cursor", nil},
                                          {"orgs_max", "9"},
                                          {"org_ids", orgs},
                                          {"turns_from", "{\"" + from + "\"}"},
                                          {"ends_from", "{" + ends_from + "}"},
                                          {"apart_s", "1296000"}}),
              kPagesBehind);
  }
  EXPECT_LE(Pages("chunk_turns", {{"org_ids", orgs},
                                  {"from_at", "{\"" + from + "\"}"},
                                  {"apart_s", "1296000"},
                                  {"chunk_ids", "{}"}}),
            kPagesBehind);
  EXPECT_GT(claim("NULL", "false"), 300);
  EXPECT_LE(claim("\"" + from + "\"", "true"), kPagesBehind);
}

TEST_F(SnapshotCosts, OfLargeTicksThatMayEnd) {
  limits.chunk_rows_max = 1;
  NewMonitor({.rows = 3});
  Cut();
  Sql(
      fmt::format("insert into chunk (id, org_id, tier, available_at, monitor_id, monitor_ids, "
                  "tick_ids, firsts, ends, due_at, row_count) select gen_random_uuid(), org_id, 1, "
                  "now(), monitor_id, monitor_ids, tick_ids, firsts, ends, due_at - n * interval "
                  "'1 ms', row_count from chunk cross join generate_series(1, {}) n",
                  kDone / 3));
  Sql("create table waiting as select * from chunk where due_at = (select max(due_at) from chunk)");
  Sql("delete from chunk");
  // The queue is empty when it is analyzed, as it is when little is due.
  Sql("analyze chunk");
  Sql("insert into chunk select * from waiting");
  EXPECT_LE(Pages("sched_closable", {{"limit", "9"}}), kPagesBehind);
  EXPECT_EQ(store::CloseLargeTicks(session, 9).count, 0);
  Sql("delete from chunk");
  EXPECT_EQ(store::CloseLargeTicks(session, 9).count, 1);
}

TEST_F(SnapshotCosts, OfTheSchedule) {
  for (int i = 0; i < 20; ++i) NewMonitor({});
  const std::string nil = base::Uuid().ToString();
  const auto due = [&](const std::string& at, const std::string& org_id, const std::string& id) {
    return Pages(
        "sched_due",
        {{"from_at", at}, {"from_org_id", org_id}, {"from_monitor_id", id}, {"limit", "9"}});
  };
  const auto next_due = [&](const std::string& at, const std::string& org_id,
                            const std::string& id) {
    return Pages("sched_next_due",
                 {{"from_at", at}, {"from_org_id", org_id}, {"from_monitor_id", id}});
  };
  // They are due again and again.
  Sql("do $$ begin for i in 1..600 loop update monitor_sched set next_run_at = now() - interval "
      "'10 minutes' + i * interval '1 ms'; end loop; end $$");
  Sql("update monitor_sched set next_run_at = now() - interval '1 second' returning 1");
  EXPECT_GT(due("1970-01-01", nil, nil), 200);
  EXPECT_LE(due(Now("1 minute"), nil, nil), kPagesBehind);
  EXPECT_LE(next_due(Now("1 minute"), nil, nil), kPagesBehind);

  // All were due at one instant, again and again, but the last, which is now.
  const std::string at = Now("30 seconds");
  const std::string last = Sql("select monitor_id from monitor_sched order by 1 desc limit 1");
  Sql(
      fmt::format("do $$ begin for i in 1..300 loop "
                  "update monitor_sched set next_run_at = '{0}' where monitor_id <> '{1}'; "
                  "update monitor_sched set next_run_at = now() + interval '1 hour'; end loop; "
                  "update monitor_sched set next_run_at = '{0}' where monitor_id = '{1}'; end $$",
                  at, last));
  EXPECT_GT(due(at, nil, nil), 200);
  EXPECT_LE(due(at, org.ToString(), last), kPagesBehind);
  EXPECT_LE(next_due(at, org.ToString(), last), kPagesBehind);
}

TEST_F(SnapshotCosts, OfJobs) {
  Sql(fmt::format(
      "insert into job_chunk (id, org_id, lane, rank, available_at, due_at, job_id, block, part) "
      "select gen_random_uuid(), '{}', 0, 1, now() - interval '10 minutes' + n * interval '1 ms', "
      "now(), gen_random_uuid(), 0, 0 from generate_series(1, {}) n",
      org.ToString(), kDone));
  Sql("delete from job_chunk");
  const std::string from = "{\"" + Now("1 minute") + "\"}";
  const std::string nil = base::Uuid().ToString();
  const std::string of = "{" + org.ToString() + "}";
  const auto claim = [&](const std::string& from_at, const std::string& rank_min) {
    return Pages("job_claim", {{"lane", "{0}"},
                               {"org_id", of},
                               {"rank_min", "{" + rank_min + "}"},
                               {"rank_max", "{1}"},
                               {"chunks_max", "{3}"},
                               {"from_at", from_at},
                               {"token", base::Uuid::V4().ToString()},
                               {"lease_ms", "1000"}});
  };
  EXPECT_GT(Pages("job_scan", {{"lane", "{0}"}, {"behind", "{" + nil + "}"}, {"orgs_max", "9"}}),
            300);
  EXPECT_LE(Pages("job_scan_bounds",
                  {{"lane", "{0}"},
                   {"behind", "{" + nil + "}"},
                   {"orgs_max", "9"},
                   {"of_lane", "{0,0}"},
                   {"org_id", "{" + org.ToString() + "," + org.ToString() + "}"},
                   {"rank", "{0,1}"},
                   {"from_at", "{\"" + Now("1 minute") + "\",\"" + Now("1 minute") + "\"}"}}),
            kPagesBehind);
  EXPECT_GT(claim("{NULL}", "0"), 300);
  EXPECT_LE(claim(from, "1"), kPagesBehind);
}

TEST_F(SnapshotCosts, OfDeliveries) {
  const auto endpoint = base::Uuid::V4();
  Sql(
      fmt::format("insert into endpoint (id, org_id, scheme, host, port) values ('{}', '{}', "
                  "'http', 'hooks.example', 80)",
                  endpoint.ToString(), org.ToString()));
  Sql(fmt::format(
      "insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
      "available_at) select gen_random_uuid(), '{}', '{}', gen_random_uuid(), gen_random_uuid(), "
      "gen_random_uuid(), 0, now() - interval '10 minutes' + n * interval '1 ms' "
      "from generate_series(1, {}) n",
      org.ToString(), endpoint.ToString(), kDone));
  Sql("delete from delivery");
  const std::string from = "{\"" + Now("1 minute") + "\"}";
  const std::string nil = base::Uuid().ToString();
  const std::string of = "{" + endpoint.ToString() + "}";
  const auto claim = [&](const std::string& from_at) {
    return Pages("delivery_claim", {{"endpoint_id", of},
                                    {"deliveries_max", "{3}"},
                                    {"from_at", from_at},
                                    {"token", base::Uuid::V4().ToString()},
                                    {"lease_ms", "1000"}});
  };
  EXPECT_GT(Pages("delivery_scan", {{"cursor", nil}, {"endpoints_max", "9"}}), 300);
  EXPECT_LE(
      Pages("delivery_scan_bounds",
            {{"cursor", nil}, {"endpoints_max", "9"}, {"endpoint_ids", of}, {"from_at", from}}),
      kPagesBehind);
  EXPECT_GT(claim("{NULL}"), 300);
  EXPECT_LE(claim(from), kPagesBehind);
}

// Nothing is left behind --------------------------------------------------------------------------

class BehindBounds : public PipelineTest {
 public:
  // The bounds are those of scans from the beginning that took two seconds.
  template <typename B>
  void Begin(B* bounds) {
    const auto now = clock.SinceBoot();
    bounds->Scanned(B::From::kBeginning, now - seconds(2), now, {});
    bounds->Scanned(B::From::kBeginning, now - seconds(2), now, {});
    ASSERT_EQ(bounds->Next(now), B::From::kBounds);
  }
  store::Claim ClaimBehind(store::ChunkScanBounds* bounds) {
    std::vector<store::ClaimShare> shares;
    for (const auto& due : store::ScanDueOrganisations(session, {}, 1000, bounds).due) {
      shares.push_back({due.org_id, 100, 1'000'000});
    }
    return store::ClaimChunks(session, shares, base::Uuid::V4(), lease, prices, kCarefulFrom,
                              bounds);
  }
};

TEST_F(BehindBounds, ChunksOfANewOrganisationOfALaterCutAndOfALeaseThatEndedAreClaimed) {
  store::ChunkScanBounds bounds;
  Begin(&bounds);
  EXPECT_TRUE(ClaimBehind(&bounds).chunks.empty());
  for (int i = 0; i < 3; ++i) {
    NewMonitor({.rows = 2, .org = i == 1 ? NewOrganisation(1'000'000) : org});
    Cut();
    const auto claim = ClaimBehind(&bounds);
    ASSERT_EQ(claim.chunks.size(), 1U) << i;
    EXPECT_EQ(claim.chunks[0].row_count, 2);
  }
  Sql("update chunk set available_at = now() returning 1");
  EXPECT_EQ(ClaimBehind(&bounds).chunks.size(), 3U);
  EXPECT_TRUE(ClaimBehind(&bounds).chunks.empty());
  ExpectMoneyAddsUp();
}

TEST_F(BehindBounds, WhatStandsBeforeABoundIsClaimedByTheNextScanFromTheBeginning) {
  store::ChunkScanBounds bounds;
  NewMonitor({.rows = 2});
  Cut();
  ASSERT_EQ(ClaimBehind(&bounds).chunks.size(), 1U);
  const auto now = clock.SinceBoot();
  const base::Timestamp turns_arrive = clock.Now() - domain::kStartsBack;
  const std::vector<store::ChunkScanBounds::Seen> seen{
      {{org, store::ChunkPlace::kTurn}, {}, turns_arrive, turns_arrive}};
  bounds.Scanned(store::ChunkScanBounds::From::kBeginning, now - milliseconds(20), now, seen);
  bounds.Scanned(store::ChunkScanBounds::From::kBeginning, now - milliseconds(20), now, seen);
  // It is given back.
  Sql("update chunk set available_at = now() - interval '30 days 1 hour' returning 1");
  int scans = 0;
  Until("the scan from the beginning", [&] {
    ++scans;
    return ClaimBehind(&bounds).chunks.size() == 1;
  });
  EXPECT_GT(scans, 1) << "scans behind the bound do not see it";
}

TEST_F(BehindBounds, TicksOfNewMonitorsAreCut) {
  store::MaterialiseBounds bounds;
  Begin(&bounds.due);
  Begin(&bounds.turns);
  for (int i = 0; i < 3; ++i) {
    store::ReadNextMaterialisation(session, &bounds);
    NewMonitor({});
    EXPECT_EQ(store::MaterialiseDueTicks(session, clock, limits, &bounds).scheduled_ticks, 1) << i;
    EXPECT_GT(store::ReadNextMaterialisation(session, &bounds).next_due, clock.Now());
  }
  EXPECT_EQ(ClaimAll().chunks.size(), 3U);
}

TEST_F(BehindBounds, ANewDeliveryAndARetryAreClaimed) {
  store::ScanBounds<base::Uuid> bounds;
  Begin(&bounds);
  const base::FairShares<base::Uuid> room(100, 0.1);
  const store::DeliveryClaimLimits room_for{200, 9, room, room, room, 3, seconds(30), lease};
  const auto claim = [&] {
    return store::ClaimDeliveries(session, {}, base::Uuid::V4(), room_for, {}, {}, &bounds)
        .deliveries.size();
  };
  NewMonitor({.webhook_url = "http://hooks.example"});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(claim(), 0U);
    Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
        "available_at) select gen_random_uuid(), m.org_id, m.endpoint_id, m.id, "
        "gen_random_uuid(), gen_random_uuid(), 0, now() from monitor m");
    EXPECT_EQ(claim(), 1U) << i;
  }
  Sql("update delivery set available_at = now() returning 1");
  EXPECT_EQ(claim(), 3U);
  // One whose transaction took two seconds: found within a second.
  Sql("update delivery set available_at = now() - interval '2 seconds' returning 1");
  Until("the scan from where work arrives", [&] { return claim() == 3U; });
}

}  // namespace
}  // namespace vedette::test
