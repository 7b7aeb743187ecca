#include "base/json.h"
#include "html/compiled_selector.h"

#include <gtest/gtest.h>

#include <iterator>
#include <tuple>
#include <utility>

namespace vedette::html {
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
      {"\xE2\x80\x93 5 \xE2\x80\x93"
       "3",
       5},
      {"now \xE2\x80\x93"
       "3,50 \xE2\x82\xAC",
       -3.5},
      {"A\xE2\x80\x93"
       "4",
       4},
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

// The numbers as shops, newspapers and offices of the place write; null is what cannot be told, or
// is no number.
struct Notation {
  const char* language;
  const char* text;
  base::Json value;
};
const Notation kNotations[] = {
    {"en", "$1,299.00", 1299},
    {"en", "$1,299", 1299},
    {"en", "1,299 in stock", 1299},
    {"en", "US$ 12.5", 12.5},
    {"en", "from $19.99 to $29.99", 19.99},
    {"en", "4.7 out of 5 stars", 4.7},
    {"en", "12,345 reviews", 12345},
    {"en", "1.299 kWh", 1.299},
    {"en", "-3.5%", -3.5},
    {"en", "+4.25 pts", 4.25},
    {"en", "$1.2M", nullptr},
    {"en", "$3.4 billion", nullptr},
    {"en", "10k followers", nullptr},
    {"en", "v2.10.1", nullptr},
    {"en-GB",
     "\xC2\xA3"
     "1,049.99",
     1049.99},
    {"en-GB",
     "\xC2\xA3"
     "2,500",
     2500},
    {"en-IN",
     "\xE2\x82\xB9"
     "1,29,900",
     129900},
    {"en-IN", "\xE2\x82\xB9 12,34,567.50", 1234567.5},
    {"hi", "99,999", 99999},
    {"de", "1.299,00 \xE2\x82\xAC", 1299},
    {"de", "1.299 \xE2\x82\xAC", 1299},
    {"de", "\xE2\x82\xAC 1.299,-", 1299},
    {"de", "ab 19,95 EUR", 19.95},
    {"de", "12.345.678 Einwohner", 12345678},
    {"de", "3,5 Mio.", nullptr},
    {"de", "2,1 Mrd. Euro", nullptr},
    {"de", "21.11.2026", nullptr},
    {"de", "4,7 von 5", 4.7},
    {"de", "0,99", 0.99},
    {"de-AT", "\xE2\x82\xAC 2.490,50", 2490.5},
    {"de-CH", "CHF 1'299.00", 1299},
    {"de-CH",
     "Fr. 1\xE2\x80\x99"
     "299.\xE2\x80\x93",
     1299},
    {"de-CH", "1.299", 1.299},
    {"fr", "1 299,00 \xE2\x82\xAC", 1299},
    {"fr", "1 299 \xE2\x82\xAC", 1299},
    {"fr", "12,5 %", 12.5},
    {"fr", "1.299,00 \xE2\x82\xAC", 1299},
    {"fr-CH", "CHF 89.90", 89.9},
    {"it", "\xE2\x82\xAC 1.299,90", 1299.9},
    {"it", "1.299", 1299},
    {"es", "1.299,00 \xE2\x82\xAC", 1299},
    {"es", "12.500 habitantes", 12500},
    {"es-MX", "$1,299.00", 1299},
    {"es-MX", "1,299", 1299},
    {"pt-BR", "R$ 1.299,00", 1299},
    {"pt-BR", "R$ 1.299", 1299},
    {"", "R$ 1.299", 1299},
    {"pt", "12,34", 12.34},
    {"nl", "\xE2\x82\xAC 1.299,-", 1299},
    {"nl", "\xE2\x82\xAC 12,-", 12},
    {"pl", "1 299,00 z\xC5\x82", 1299},
    {"pl", "4.500 z\xC5\x82", 4500},
    {"cs", "12 990 K\xC4\x8D", 12990},
    {"", "12.990 K\xC4\x8D", 12990},
    {"sv", "12 900 kr", 12900},
    {"da", "kr. 1.299,95", 1299.95},
    {"", "kr 1.299", 1299},
    {"fi", "1 299,90", 1299.9},
    {"ru", "12 990 \xE2\x82\xBD", 12990},
    {"tr", "1.299,90 \xE2\x82\xBA", 1299.9},
    {"",
     "\xE2\x82\xBA"
     "12.990",
     12990},
    {"vi", "1.299.000 \xE2\x82\xAB", 1299000},
    {"id", "Rp 1.299.000", 1299000},
    {"ja", "12,800\xE5\x86\x86", 12800},
    {"ja",
     "\xC2\xA5"
     "1,280",
     1280},
    {"ko", "12,900\xEC\x9B\x90", 12900},
    {"zh", "\xC2\xA5 1,299.00", 1299},
    {"", "CHF 1.299", 1.299},
    {"", "1.299", nullptr},
    {"", "1,299", nullptr},
    {"", "192.168.0.1", nullptr},
    {"", "sold out", nullptr},
};

TEST(FirstNumber, ReadsTheNotationsOfItsPlace) {
  static_assert(std::size(kNotations) >= 60);
  for (const Notation& c : kNotations) {
    const auto number = FirstNumber(c.text, MarkOfLanguage(c.language));
    EXPECT_EQ(number.value_or(nullptr), c.value) << c.language << ": " << c.text;
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
}  // namespace vedette::html
