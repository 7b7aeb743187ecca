#include "pages/number.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

namespace vedette::pages {
namespace {

TEST(FirstNumber, ReadsWhatPeopleWrite) {
  const std::pair<const char*, base::Json> cases[] = {
      {"42", 42},
      {"about 42 people", 42},
      {"12.50 EUR", 12.5},
      {"12,50 \xE2\x82\xAC", 12.5},
      {"$1,299.00", 1299},
      {"1.299,95 EUR", 1299.95},
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

TEST(FirstNumber, OneSeparatorBeforeThreeDigitsIsToldByTheLanguage) {
  using Mark = DecimalMark;
  const std::tuple<const char*, Mark, base::Json> cases[] = {
      {"1.299", Mark::kComma, 1299},      {"1.299", Mark::kPoint, 1.299},
      {"1,299", Mark::kComma, 1.299},     {"1,299", Mark::kPoint, 1299},
      {"ab 12.500", Mark::kComma, 12500}, {"12,500 units", Mark::kPoint, 12500},
      {"0.299", Mark::kComma, 0.299},     {"1234.500", Mark::kComma, 1234.5},
      {"1.29", Mark::kComma, 1.29},       {"1,29", Mark::kPoint, 1.29},
      {"1.299,50", Mark::kPoint, 1299.5}, {"1,299.50", Mark::kComma, 1299.5},
      {"999.999", Mark::kComma, 999999},  {"-1.500", Mark::kComma, -1500},
  };
  for (const auto& [text, mark, expected] : cases) {
    const auto number = FirstNumber(text, mark);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(*number, expected) << text << " gave " << number->dump();
  }
}

TEST(FirstNumber, OneSeparatorBeforeThreeDigitsIsToldByTheCurrency) {
  const std::pair<const char*, base::Json> cases[] = {
      {"1.299 \xE2\x82\xAC", 1299},
      {"\xE2\x82\xAC 1.299,-", 1299},
      {"EUR 2.500", 2500},
      {"1,299 \xE2\x82\xAC", 1.299},
      {"$1,299", 1299},
      {"US$ 1.299", 1.299},
      {"\xC2\xA3"
       "2,500",
       2500},
      {"\xC2\xA5"
       "12,800",
       12800},
      {"USD 3,400", 3400},
      {"4.500 z\xC5\x82", 4500},
      {"12.900 kr", 12900},
      {"12.900 SEK", 12900},
      {"\xE2\x82\xB9 1,500", 1500},
      {"GBP 1,050", 1050},
  };
  for (const auto& [text, expected] : cases) {
    const auto number = FirstNumber(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(*number, expected) << text << " gave " << number->dump();
  }
}

TEST(FirstNumber, RefusesWhatCannotBeToldAndWhatIsNoNumber) {
  for (const char* text :
       {"1.299", "1,299", "about 12.500 of them", "1.2.3", "v2.1", "V3", "v1.2.3", "1.2M", "5k",
        "3,5 Mio.", "2 Mrd. EUR", "1.4 million", "7 billion", "3 thousand", "21.11.2026",
        "192.168.0.1", "1,2,3", "1.23.456", "12,34.567,8"}) {
    EXPECT_FALSE(FirstNumber(text)) << text << " gave " << FirstNumber(text)->dump();
  }
}

TEST(MarkOfLanguage, IsHowPeopleOfThePlaceWrite) {
  EXPECT_EQ(MarkOfLanguage("de"), DecimalMark::kComma);
  EXPECT_EQ(MarkOfLanguage("DE-at"), DecimalMark::kComma);
  EXPECT_EQ(MarkOfLanguage("de-CH"), DecimalMark::kPoint);
  EXPECT_EQ(MarkOfLanguage("en-GB"), DecimalMark::kPoint);
  EXPECT_EQ(MarkOfLanguage("tlh"), DecimalMark::kUnknown);
  EXPECT_EQ(MarkOfLanguage(""), DecimalMark::kUnknown);
}

TEST(FirstNumber, IsEmptyWithoutADigit) {
  for (const char* text : {"", "-", "sold out", ".,", "\xE2\x88\x92"}) {
    EXPECT_FALSE(FirstNumber(text)) << text;
  }
}

}  // namespace
}  // namespace vedette::pages
