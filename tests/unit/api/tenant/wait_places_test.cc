#include "api/tenant/jobs/waits.h"

#include <gmock/gmock.h>

#include <vector>

namespace vedette::api {
namespace {

TEST(WaitPlaces, AnOrganisationThatIsAloneHasItsShareAndTheNextOneFindsRoom) {
  metrics::Metrics metrics("test");
  WaitPlaces places(8, 0.25, metrics);
  const base::Uuid greedy = base::Uuid::V4();
  std::vector<WaitPlaces::Place> held;
  while (auto place = places.Reserve(greedy)) held.push_back(std::move(*place));
  EXPECT_EQ(held.size(), 2U);
  EXPECT_TRUE(places.Reserve(base::Uuid::V4()));
  EXPECT_THAT(metrics.Expose(), testing::HasSubstr("\nvedette_waits 2\n"));
  held.pop_back();
  EXPECT_TRUE(places.Reserve(greedy));
}

TEST(WaitPlaces, NoMoreThanThereAreAreGivenAndEachComesBackOnce) {
  metrics::Metrics metrics("test");
  WaitPlaces places(3, 1, metrics);
  for (int round = 0; round < 2; ++round) {
    std::vector<WaitPlaces::Place> held;
    while (auto place = places.Reserve(base::Uuid::V4())) held.push_back(std::move(*place));
    EXPECT_EQ(held.size(), 3U);
  }
  EXPECT_THAT(metrics.Expose(), testing::HasSubstr("\nvedette_waits 0\n"));
}

}  // namespace
}  // namespace vedette::api
