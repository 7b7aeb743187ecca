#include "api/tenant/jobs/waits.h"

#include <gmock/gmock.h>

#include <random>

namespace vedette::api {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const base::Uuid kFirst = base::Uuid::V4();
const base::Uuid kSecond = base::Uuid::V4();

TEST(WaitTable, EveryoneWhoWaitsForAJobThatHasEndedGoes) {
  WaitTable table;
  table.Add(1, kFirst, seconds(10));
  table.Add(2, kSecond, seconds(5));
  table.Add(3, kFirst, seconds(20));
  EXPECT_THAT(table.Jobs(), UnorderedElementsAre(kFirst, kSecond));
  EXPECT_THAT(table.TakeEnded({base::Uuid::V4(), kFirst}), UnorderedElementsAre(1, 3));
  EXPECT_THAT(table.Jobs(), ElementsAre(kSecond));
  EXPECT_THAT(table.TakeEnded({kFirst}), IsEmpty());
  EXPECT_EQ(table.Earliest(), seconds(5));
}

TEST(WaitTable, ThoseWhoseTimeIsOverGoTheEarliestFirst) {
  WaitTable table;
  table.Add(1, kFirst, seconds(10));
  table.Add(2, kSecond, seconds(5));
  table.Add(3, kFirst, seconds(20));
  EXPECT_THAT(table.TakeDue(seconds(4)), IsEmpty());
  EXPECT_THAT(table.TakeDue(seconds(10)), ElementsAre(2, 1));
  EXPECT_EQ(table.Earliest(), seconds(20));
  EXPECT_THAT(table.TakeAll(), ElementsAre(3));
  EXPECT_EQ(table.Earliest(), std::nullopt);
  EXPECT_TRUE(table.empty());
}

TEST(WaitTable, AClientThatLeftIsTakenOnce) {
  WaitTable table;
  table.Add(7, kFirst, seconds(1));
  EXPECT_TRUE(table.Take(7));
  EXPECT_FALSE(table.Take(7));
  EXPECT_THAT(table.TakeDue(seconds(2)), IsEmpty());
  EXPECT_THAT(table.TakeEnded({kFirst}), IsEmpty());
  EXPECT_THAT(table.Jobs(), IsEmpty());
}

// Against a plain list of waits.
TEST(WaitTable, InManyHistoriesEveryWaitGoesOnceAndForItsReason) {
  std::mt19937 random(11);
  const auto below = [&random](int n) { return static_cast<int>(random() % n); };
  std::vector<base::Uuid> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(base::Uuid::V4());
  for (int history = 0; history < 500; ++history) {
    WaitTable table;
    std::map<WaitTable::Id, std::pair<base::Uuid, seconds>> waits;
    for (WaitTable::Id next = 1; next < 60; ++next) {
      const base::Uuid job = jobs[static_cast<std::size_t>(below(5))];
      const seconds time(below(50));
      std::vector<WaitTable::Id> taken;
      std::vector<WaitTable::Id> expected;
      switch (below(4)) {
        case 0:
          taken = table.TakeEnded({job});
          for (const auto& [id, wait] : waits) {
            if (wait.first == job) expected.push_back(id);
          }
          break;
        case 1:
          taken = table.TakeDue(time);
          for (const auto& [id, wait] : waits) {
            if (wait.second <= time) expected.push_back(id);
          }
          break;
        default:
          table.Add(next, job, time);
          waits.emplace(next, std::pair(job, time));
      }
      ASSERT_THAT(taken, testing::UnorderedElementsAreArray(expected));
      for (const WaitTable::Id id : taken) waits.erase(id);
      ASSERT_EQ(table.empty(), waits.empty());
    }
  }
}

}  // namespace
}  // namespace vedette::api
