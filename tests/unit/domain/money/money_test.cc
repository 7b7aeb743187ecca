#include "domain/money/money.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace vedette::domain {
namespace {

std::optional<std::int64_t> FromText(const std::string& json) {
  return CreditsFromJson(base::ParseJsonOrThrow(json));
}

TEST(Money, IsANumberWithAtMostThreeDecimals) {
  EXPECT_EQ(base::DumpJson(CreditsToJson(1500)), "1.5");
  EXPECT_EQ(base::DumpJson(CreditsToJson(2000)), "2");
  EXPECT_EQ(base::DumpJson(CreditsToJson(0)), "0");
  EXPECT_EQ(base::DumpJson(CreditsToJson(-1)), "-0.001");
  EXPECT_EQ(base::DumpJson(CreditsToJson(123456789012345)), "123456789012.345");
}

TEST(Money, IsWrittenForPeople) {
  EXPECT_EQ(FormatCredits(1500), "1.5");
  EXPECT_EQ(FormatCredits(-1), "-0.001");
  EXPECT_EQ(FormatCredits(2000), "2");
  EXPECT_EQ(FormatCredits(-10), "-0.01");
  EXPECT_EQ(FormatCredits(std::numeric_limits<std::int64_t>::min()), "-9223372036854775.808");
}

TEST(Money, G4SurvivesTheWayThroughJsonAndText) {
  for (std::int64_t mc = -5000; mc <= 5000; ++mc) {
    EXPECT_EQ(FromText(base::DumpJson(CreditsToJson(mc))), mc);
    EXPECT_EQ(ParseCredits(FormatCredits(mc)), mc);
  }
  for (const std::int64_t mc :
       {std::int64_t{999'999'999'999'999}, std::int64_t{-999'999'999'999'999},
        std::int64_t{1'000'000'000'000'000}}) {
    EXPECT_EQ(FromText(base::DumpJson(CreditsToJson(mc))), mc);
    EXPECT_EQ(ParseCredits(FormatCredits(mc)), mc);
  }
}

TEST(Money, ReadsJsonNumbers) {
  EXPECT_EQ(FromText("0.1"), 100);
  EXPECT_EQ(FromText("0.300"), 300);
  EXPECT_EQ(FromText("-2.5"), -2500);
  EXPECT_EQ(FromText("1e3"), 1'000'000);
  EXPECT_EQ(FromText("0.29"), 290);  // not 289, as a truncated product would be
}

TEST(Money, RefusesWhatIsNoAmount) {
  for (const char* json : {"0.0001", "1.0005", "\"1\"", "null", "true", "[1]", "1000000000001",
                           "-1000000000001", "1e13", "1e300", "18446744073709551615"}) {
    EXPECT_EQ(FromText(json), std::nullopt) << json;
  }
}

TEST(Money, ReadsDecimalTextUnderTheSameRules) {
  EXPECT_EQ(ParseCredits("0.5"), 500);
  EXPECT_EQ(ParseCredits("-20"), -20'000);
  EXPECT_EQ(ParseCredits("1000000000000"), 1'000'000'000'000'000);
  for (const char* text : {"", "-", ".", ".5", "5.", "1.2345", "1e3", "+1", " 1", "1 ", "0x1",
                           "--1", "1.-5", "1000000000000.001", "99999999999999999999"}) {
    EXPECT_EQ(ParseCredits(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace vedette::domain
