#include "api/tenant/credentials.h"

#include <gtest/gtest.h>

#include "tests/support/ids.h"

namespace vedette::api {
namespace {

using vedette::test::Id;

// Those of the keys "1" to "n" that are known.
int CountKnown(KnownKeys* keys, int n) {
  int known = 0;
  for (int i = 1; i <= n; ++i) known += keys->Find(std::to_string(i)) ? 1 : 0;
  return known;
}

TEST(KnownKeys, KnowWhoseAKeyWasOnceItWasAccepted) {
  KnownKeys keys(4);
  EXPECT_EQ(keys.Find("a"), std::nullopt);
  keys.Learn("a", Id(1));
  keys.Learn("b", Id(2));
  EXPECT_EQ(keys.Find("a"), Id(1));
  EXPECT_EQ(keys.Find("b"), Id(2));
  EXPECT_EQ(keys.Find("c"), std::nullopt);
}

TEST(KnownKeys, ThatMovedAreOfTheOrganisationThatTheyWereLastAcceptedFor) {
  KnownKeys keys(4);
  keys.Learn("a", Id(1));
  keys.Learn("b", Id(2));
  keys.Learn("c", Id(2));  // now "a" is among the older ones
  keys.Learn("a", Id(3));
  EXPECT_EQ(keys.Find("a"), Id(3));
  keys.Learn("d", Id(2));  // and again
  EXPECT_EQ(keys.Find("a"), Id(3));
}

TEST(KnownKeys, AreNeverMoreThanTheirLimit) {
  for (const int keys_max : {2, 4, 10}) {
    KnownKeys keys(static_cast<std::size_t>(keys_max));
    for (int i = 1; i <= 100; ++i) keys.Learn(std::to_string(i), Id(i));
    EXPECT_LE(CountKnown(&keys, 100), keys_max);
    EXPECT_EQ(keys.Find("1"), std::nullopt) << "the first are forgotten";
    EXPECT_EQ(keys.Find("100"), Id(100));
  }
}

TEST(KnownKeys, ThatWereUsedLastStayAndTheOthersGo) {
  KnownKeys keys(4);
  keys.Learn("used", Id(1));
  keys.Learn("unused", Id(2));
  for (int i = 3; i <= 50; ++i) {
    keys.Learn(std::to_string(i), Id(i));
    EXPECT_EQ(keys.Find("used"), Id(1)) << i;
  }
  EXPECT_EQ(keys.Find("unused"), std::nullopt);
}

TEST(KnownKeys, ThatAreForgottenAreKnownNoMoreWhereverTheyStood) {
  KnownKeys keys(4);
  keys.Learn("older", Id(1));
  keys.Learn("b", Id(2));
  keys.Learn("recent", Id(3));
  keys.Forget("older");
  keys.Forget("recent");
  keys.Forget("never known");
  EXPECT_EQ(keys.Find("older"), std::nullopt);
  EXPECT_EQ(keys.Find("recent"), std::nullopt);
  EXPECT_EQ(keys.Find("b"), Id(2));
}

TEST(KnownKeys, ThatStandInBothPlacesAreForgottenInBoth) {
  KnownKeys keys(4);
  keys.Learn("a", Id(1));
  keys.Learn("b", Id(2));
  keys.Learn("c", Id(3));
  ASSERT_EQ(keys.Find("a"), Id(1));  // so that it is among the recent ones, too
  keys.Forget("a");
  EXPECT_EQ(keys.Find("a"), std::nullopt);
}

}  // namespace
}  // namespace vedette::api
