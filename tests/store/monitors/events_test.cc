// What is told of checks for which nothing is stored.

#include "store/monitors/events.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

class EventsTest : public PipelineTest {
 public:
  base::Timestamp TimeOfTheOnlyEvent(const base::Uuid& monitor, const domain::Row& row) {
    const auto events = store::ListEvents(
        session, monitor, row,
        {.event_group_id = std::nullopt, .limit = 20, .include_completions = true});
    EXPECT_EQ(events.items.size(), 1U);
    return events.items.empty() ? base::Timestamp{} : events.items[0].created_at;
  }
};

TEST_F(EventsTest, ADerivedEventHasTheSameTimeAtEveryReadingAlsoWhenItsTickHasEnded) {
  for (const auto outcome : {domain::Outcome::kSkippedBalance, domain::Outcome::kUnchanged}) {
    const auto monitor = NewMonitor({.rows = 1});
    Cut();
    const auto claim = ClaimAll();
    domain::Row row;
    row.id = claim.chunks.at(0).parts.at(0).rows.at(0).row_id;
    auto records = FinishAll(claim, outcome);
    auto partial = records;
    partial[0].finished = false;
    partial[0].parts.clear();
    Record(partial);
    const auto first = TimeOfTheOnlyEvent(monitor, row);
    EXPECT_EQ(TimeOfTheOnlyEvent(monitor, row), first) << "while its chunk is under way";
    records[0].ranges.clear();
    records[0].completed = 0;
    Record(records);
    EXPECT_EQ(Sql("select count(*) from chunk"), "0");
    EXPECT_EQ(TimeOfTheOnlyEvent(monitor, row), first) << "when its tick has ended";
  }
}

}  // namespace
}  // namespace vedette::test
