#include "api/kit/cursor.h"

#include <gtest/gtest.h>

#include <limits>

namespace vedette::rest {
namespace {

const base::Uuid kMonitor = *base::Uuid::Parse("01939a5e-7c00-7f3a-9d2b-4f0c8b1e2a3d");
const base::Uuid kOther = *base::Uuid::Parse("01939a5e-7c00-7f3a-9d2b-4f0c8b1e2a3e");

TEST(Cursor, RoundTripsPositionsTicksAndIds) {
  for (const std::int64_t after :
       {std::int64_t{0}, std::int64_t{99}, std::int64_t{1795253400000000},
        std::numeric_limits<std::int64_t>::max()}) {
    const std::string cursor = EncodeCursor(CursorOf{'r', kMonitor}, after);
    EXPECT_EQ(DecodeCursor(CursorOf{'r', kMonitor}, cursor), after);
  }
  const std::string cursor = EncodeCursor(CursorOf{'m', kMonitor}, kOther);
  EXPECT_EQ(DecodeIdCursor(CursorOf{'m', kMonitor}, cursor), kOther);
}

TEST(Cursor, IsBoundToWhatItWasMadeFor) {
  const std::string cursor = EncodeCursor(CursorOf{'r', kMonitor}, 5);
  EXPECT_FALSE(DecodeCursor(CursorOf{'r', kOther}, cursor));
  EXPECT_FALSE(DecodeCursor(CursorOf{'t', kMonitor}, cursor));
  EXPECT_FALSE(DecodeIdCursor(CursorOf{'r', kMonitor}, cursor));
}

TEST(Cursor, RoundTripsTimedPlaces) {
  const TimedPlace place{base::ParseTimestamp("2026-11-21T09:30:00.123456Z"), kOther};
  const std::string cursor = EncodeCursor(CursorOf{'a'}, place);
  EXPECT_EQ(DecodeTimedCursor(CursorOf{'a'}, cursor), place);
  EXPECT_FALSE(DecodeTimedCursor(CursorOf{'d'}, cursor));
  EXPECT_FALSE(DecodeIdCursor(CursorOf{'a'}, cursor));
}

TEST(Cursor, RefusesTimesThatTheDatabaseDoesNotHold) {
  for (const std::int64_t micros : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    const TimedPlace place{base::Timestamp(std::chrono::microseconds(micros)), kOther};
    EXPECT_FALSE(DecodeTimedCursor(CursorOf{'a'}, EncodeCursor(CursorOf{'a'}, place))) << micros;
  }
}

TEST(Cursor, KeepsTheSpellingThatClientsHold) {
  EXPECT_EQ(EncodeCursor(CursorOf{'r', kMonitor}, std::int64_t{5}),
            "AXIBk5pefAB_Op0rTwyLHio9AAAAAAAAAAU");
}

TEST(Cursor, RefusesWhatItDidNotMake) {
  const std::string cursor = EncodeCursor(CursorOf{'r', kMonitor}, 5);
  for (std::string bad :
       {std::string(), std::string("x"), cursor + "A", cursor + "=", cursor.substr(1),
        std::string(5000, 'A'), std::string("%%%%"), cursor.substr(0, cursor.size() - 1)}) {
    EXPECT_FALSE(DecodeCursor(CursorOf{'r', kMonitor}, bad)) << bad;
  }
  std::string version = cursor;
  version[0] = 'B';
  EXPECT_FALSE(DecodeCursor(CursorOf{'r', kMonitor}, version));
  // A negative position.
  EXPECT_FALSE(DecodeCursor(CursorOf{'r', kMonitor},
                            EncodeCursor(CursorOf{'r', kMonitor}, std::int64_t{-2})));
}

}  // namespace
}  // namespace vedette::rest
