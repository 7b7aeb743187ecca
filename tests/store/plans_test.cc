// The fleet's statements find rows of queues by their ids or places, also where the queue was empty
// when it was last analyzed (docs/decisions/0009-plans-by-key.md).

#include <fmt/format.h>

#include <pqxx/pqxx>
#include <regex>

#include "store/queries.h"
#include "store/session_impl.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

class PlansTest : public PipelineTest {
 public:
  // The plan of the statement in the sessions of the fleet.
  std::string PlanOf(const std::string& name) {
    pqxx::nontransaction work(fleet_.impl().Connect());
    work.exec(fmt::format("prepare {} as {}", name, store::QueryText(name)));
    std::string nulls;
    for (std::size_t i = 0; i < store::QueryParameters(name).size(); ++i) {
      nulls += nulls.empty() ? "null" : ", null";
    }
    std::string plan;
    for (const auto& row : work.exec(fmt::format("explain execute {}({})", name, nulls))) {
      plan += row[0].as<std::string>() + "\n";
    }
    return plan;
  }

 private:
  store::Session fleet_{config,
                        {.name = "fleet", .keyed_plans = true},
                        clock,
                        metrics,
                        base::Logger(base::LogLevel::kError, base::LogFormat::kText)};
};

TEST_F(PlansTest, RowsOfAQueueThatWasEmptyAreFoundByTheirIdsOrPlaces) {
  Sql("analyze chunk, delivery, job_chunk");
  for (const std::string name :
       {"record_lock_chunks", "record_progress", "record_delete_chunks", "chunk_claim",
        "chunk_reserve", "chunk_renew", "chunk_release", "delivery_claim", "delivery_move",
        "delivery_settle_delivered", "delivery_settle_failed", "delivery_renew", "delivery_release",
        "job_claim", "job_chunk_lock", "job_chunk_renew", "job_chunk_put_back",
        "job_chunk_progress", "job_chunk_held"}) {
    const std::string plan = PlanOf(name);
    EXPECT_FALSE(std::regex_search(plan, std::regex("Join Filter: .*ANY"))) << name << "\n" << plan;
    const char* const found =
        name == "delivery_claim" ? "TID Cond: (ctid = ANY (" : "Index Cond: (id = ANY (";
    EXPECT_NE(plan.find(found), std::string::npos) << name << "\n" << plan;
    EXPECT_EQ(plan.find("Seq Scan"), std::string::npos) << name << "\n" << plan;
  }
}

TEST_F(PlansTest, ACutFindsTheSchedulesThatItHasLockedByTheirPlaces) {
  const std::string plan = PlanOf("sched_hold_ticks");
  EXPECT_NE(plan.find("TID Cond: (ctid = "), std::string::npos) << plan;
}

// Each key is compared with all others by such a join, at every claim.
TEST_F(PlansTest, ScansBehindBoundsJoinNothingByAFilter) {
  for (const std::string name : {"chunk_scan_bounds", "delivery_scan_bounds"}) {
    const std::string plan = PlanOf(name);
    EXPECT_EQ(plan.find("Join Filter"), std::string::npos) << name << "\n" << plan;
  }
}

}  // namespace
}  // namespace vedette::test
