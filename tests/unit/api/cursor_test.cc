#include "api/cursor.h"

#include <gtest/gtest.h>

#include <limits>

namespace vedette::api {
namespace {

const base::Uuid kMonitor = *base::Uuid::Parse("01939a5e-7c00-7f3a-9d2b-4f0c8b1e2a3d");
const base::Uuid kOther = *base::Uuid::Parse("01939a5e-7c00-7f3a-9d2b-4f0c8b1e2a3e");

TEST(Cursor, RoundTripsPositionsTicksAndIds) {
  for (const std::int64_t after :
       {std::int64_t{0}, std::int64_t{99}, std::int64_t{1795253400000000},
        std::numeric_limits<std::int64_t>::max()}) {
    const std::string cursor = EncodeCursor(CursorKind::kRows, kMonitor, after);
    EXPECT_EQ(DecodeCursor(CursorKind::kRows, kMonitor, cursor), after);
  }
  const std::string cursor = EncodeCursor(CursorKind::kMonitors, kMonitor, kOther);
  EXPECT_EQ(DecodeIdCursor(CursorKind::kMonitors, kMonitor, cursor), kOther);
}

TEST(Cursor, IsBoundToWhatItWasMadeFor) {
  const std::string cursor = EncodeCursor(CursorKind::kRows, kMonitor, 5);
  EXPECT_FALSE(DecodeCursor(CursorKind::kRows, kOther, cursor));
  EXPECT_FALSE(DecodeCursor(CursorKind::kTicks, kMonitor, cursor));
  EXPECT_FALSE(DecodeIdCursor(CursorKind::kRows, kMonitor, cursor));
}

TEST(Cursor, RefusesWhatItDidNotMake) {
  const std::string cursor = EncodeCursor(CursorKind::kRows, kMonitor, 5);
  for (std::string bad :
       {std::string(), std::string("x"), cursor + "A", cursor + "=", cursor.substr(1),
        std::string(5000, 'A'), std::string("%%%%"), cursor.substr(0, cursor.size() - 1)}) {
    EXPECT_FALSE(DecodeCursor(CursorKind::kRows, kMonitor, bad)) << bad;
  }
  std::string version = cursor;
  version[0] = 'B';
  EXPECT_FALSE(DecodeCursor(CursorKind::kRows, kMonitor, version));
  // A negative position.
  EXPECT_FALSE(DecodeCursor(CursorKind::kRows, kMonitor,
                            EncodeCursor(CursorKind::kRows, kMonitor, std::int64_t{-2})));
}

}  // namespace
}  // namespace vedette::api
