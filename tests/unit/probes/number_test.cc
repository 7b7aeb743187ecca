#include "worker/probes/number.h"

#include <gtest/gtest.h>

namespace vedette::worker {
namespace {

TEST(FirstNumber, ReadsWhatPeopleWrite) {
  const std::pair<const char*, base::Json> cases[] = {
      {"42", 42},
      {"about 42 people", 42},
      {"12.50 EUR", 12.5},
      {"12,50 \xE2\x82\xAC", 12.5},
      {"$1,299.00", 1299},
      {"1.299,95 EUR", 1299.95},
      {"1,299", 1299},
      {"1.299", 1.299},
      {"0,299", 0.299},
      {"1,234,567.89", 1234567.89},
      {"1.234.567", 1234567},
      {"1 234 567,5 kr", 1234567.5},
      {"1'234.50", 1234.5},
      {"1\xE2\x80\x99"
       "234",
       1234},
      {"12 34", 12},
      {"-5 degrees", -5},
      {"at \xE2\x88\x92"
       "5",
       -5},
      {"(-7)", -7},
      {"A-4", 4},
      {"2024-11-21", 2024},
      {".5", 0.5},
      {"No.5", 5},
      {"5.", 5},
      {"3,", 3},
      {"007", 7},
      {"9007199254740993123", 9007199254740993123.0},
  };
  for (const auto& [text, expected] : cases) {
    const auto number = FirstNumber(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(*number, expected) << text << " gave " << number->dump();
  }
}

TEST(FirstNumber, IsEmptyWithoutADigit) {
  for (const char* text : {"", "-", "sold out", ".,", "\xE2\x88\x92"}) {
    EXPECT_FALSE(FirstNumber(text)) << text;
  }
}

}  // namespace
}  // namespace vedette::worker
