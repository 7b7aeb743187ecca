#include "base/uuid.h"

#include <gtest/gtest.h>

#include <set>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "tests/support/hand_clock.h"

namespace vedette::base {
namespace {

using vedette::test::HandClock;

TEST(Uuid, ReadsWhatItWritesInEitherCase) {
  const std::string text = "0192f0c1-2b3c-7def-8a9b-0123456789ab";
  const auto id = Uuid::Parse(text);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->ToString(), text);
  EXPECT_EQ(Uuid::Parse("0192F0C1-2B3C-7DEF-8A9B-0123456789AB"), id);
  EXPECT_EQ(id->bytes[0], 0x01);
  EXPECT_EQ(id->bytes[15], 0xab);
}

TEST(Uuid, RefusesEveryOtherForm) {
  for (const char* text :
       {"", "0192f0c12b3c7def8a9b0123456789ab", "{0192f0c1-2b3c-7def-8a9b-0123456789ab}",
        "0192f0c1-2b3c-7def-8a9b-0123456789a", "0192f0c1-2b3c-7def-8a9b-0123456789abc",
        "0192f0c1-2b3c-7def-8a9b_0123456789ab", "0192f0c1-2b3c-7def-8a9b-0123456789ag",
        "0192f0c12-b3c-7def-8a9b-0123456789ab", " 192f0c1-2b3c-7def-8a9b-0123456789ab"}) {
    EXPECT_EQ(Uuid::Parse(text), std::nullopt) << text;
  }
}

TEST(Uuid, SortsAsItsBytesDo) {
  const Uuid middle = *Uuid::Parse("80808080-8080-8080-8080-808080808080");
  for (std::size_t i = 0; i < 16; ++i) {
    Uuid higher = middle;
    Uuid lower = middle;
    ++higher.bytes[i];
    --lower.bytes[i];
    if (i < 15) {
      higher.bytes[15] = 0x00;  // what comes first decides
      lower.bytes[15] = 0xFF;
    }
    EXPECT_LT(middle, higher) << i;
    EXPECT_LT(lower, middle) << i;
    EXPECT_GT(higher, lower) << i;
    EXPECT_NE(higher, middle) << i;
  }
  EXPECT_TRUE(middle <=> middle == 0);
}

TEST(Uuid, DefaultIsNil) {
  EXPECT_TRUE(Uuid{}.is_nil());
  EXPECT_EQ(Uuid{}.ToString(), "00000000-0000-0000-0000-000000000000");
  EXPECT_FALSE(Uuid::V4().is_nil());
}

// RFC 9562, appendix A.4: the DNS namespace and "www.example.com".
TEST(Uuid, Version5MatchesThePublishedVector) {
  const auto dns = Uuid::Parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
  EXPECT_EQ(Uuid::V5(*dns, "www.example.com").ToString(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
}

// RFC 9562, appendix A.6: the time of its example.
TEST(Uuid, Version7CarriesTheClockAndSortsByIt) {
  const Timestamp t = ParseTimestamp("2022-02-22T19:22:22.000Z");
  const Uuid id = Uuid::V7(HandClock(t));
  EXPECT_EQ(id.ToString().substr(0, 18), "017f22e2-79b0-7000");
  EXPECT_EQ(id.bytes[8] & 0xC0, 0x80);
  const Uuid later = Uuid::V7(HandClock(t + std::chrono::milliseconds(1)));
  EXPECT_LT(id, later);
  EXPECT_LT(id.ToString(), later.ToString());
  // Within a millisecond too: every microsecond has a fraction of its own, in their order.
  Uuid before = id;
  for (int us = 1; us < 1000; ++us) {
    const Uuid next = Uuid::V7(HandClock(t + std::chrono::microseconds(us)));
    ASSERT_LT(std::vector(before.bytes.begin(), before.bytes.begin() + 8),
              std::vector(next.bytes.begin(), next.bytes.begin() + 8))
        << us;
    before = next;
  }
  EXPECT_LT(before, later);
}

TEST(Uuid, RandomOnesDifferAndSayTheirVersion) {
  const HandClock clock;
  std::unordered_set<Uuid> seen;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(seen.insert(Uuid::V7(clock)).second);
    const Uuid v4 = Uuid::V4();
    EXPECT_TRUE(seen.insert(v4).second);
    EXPECT_EQ(v4.bytes[6] >> 4, 4);
    EXPECT_EQ(v4.bytes[8] >> 6, 2);
  }
}

}  // namespace
}  // namespace vedette::base
