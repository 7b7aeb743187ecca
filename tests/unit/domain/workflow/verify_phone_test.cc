#include <gmock/gmock.h>

#include "tests/unit/domain/workflow/blocks_support.h"

// The sentences of the interface's section 7 about phones, each by its test, and what the columns
// say. tests/e2e/test_workflow_blocks.py compares thousands of numbers with another port of the
// library.
namespace vedette::domain {
namespace {

using base::Json;
using testing::HasSubstr;

const Columns kInput{"name", "phone"};
const Json kNamed{{"phone_column", "phone"}, {"name_column", "name"}};

class VerifyPhone : public testing::Test {
 protected:
  void SetUp() override {
    if (FindBlockType("verify_phone") == nullptr) GTEST_SKIP() << "built without libphonenumber";
  }

  // What the block adds, without the row itself.
  static Json Added(const Json& specs, const Cells& row) {
    const BlockType& type = *FindBlockType("verify_phone");
    const Json whole = Whole("verify_phone", specs);
    const Columns output = type.bind(whole, kInput);
    const auto cells = type.make(whole, kInput)->Apply(row);
    EXPECT_TRUE(cells.has_value()) << "no row is dropped";
    EXPECT_EQ(cells->size(), output.size());
    Json added = Json::object();
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (i < kInput.size()) {
        EXPECT_EQ(cells->at(i), row.at(i)) << "the row stays as it is";
      } else {
        added[output[i]] = cells->at(i);
      }
    }
    return added;
  }

  static Json Of(const char* phone, const Json& region = nullptr) {
    return Added({{"phone_column", "phone"}, {"default_region", region}}, {"Ann", phone});
  }
};

TEST_F(VerifyPhone, ItAddsItsColumns) {
  EXPECT_EQ(FindBlockType("verify_phone")->bind(Whole("verify_phone", kNamed), kInput),
            (Columns{"name", "phone", "phone_e164", "phone_valid", "phone_possible", "phone_type",
                     "phone_region", "phone_warnings", "phone_errors"}));
}

TEST_F(VerifyPhone, ARowWithoutANameIsNotVerifiedAndTheOthersGoOn) {
  for (const Json& name : {Json(nullptr), Json(" ")}) {
    const Json added = Added(kNamed, {name, "+49 30 123456"});
    EXPECT_EQ(added["phone_warnings"], "Missing Name");
    ASSERT_EQ(added["phone_errors"].size(), 1U);
    EXPECT_EQ(added["phone_errors"][0]["code"], "MissingRequiredInput");
    EXPECT_EQ(added["phone_errors"][0]["field"], "name");
    EXPECT_TRUE(added["phone_errors"][0]["message"].is_string());
    EXPECT_TRUE(added["phone_e164"].is_null());
    EXPECT_TRUE(added["phone_valid"].is_null());
  }
  EXPECT_EQ(Added(kNamed, {"Ann", "+49 30 123456"})["phone_valid"], true);
}

TEST_F(VerifyPhone, TheNameColumnEqualsTheInputColumnsNameByteForByte) {
  Json specs = kNamed;
  specs["name_column"] = "Name";
  EXPECT_EQ(BindErrorOf("verify_phone", specs, kInput), "") << "the batch does not fail";
  const Json added = Added(specs, {"Ann", "+49 30 123456"});
  EXPECT_EQ(added["phone_warnings"], "Missing Name");
  EXPECT_EQ(added["phone_errors"][0]["field"], "Name");
}

TEST_F(VerifyPhone, AMissingPhoneColumnFailsTheBlock) {
  EXPECT_EQ(BindErrorOf("verify_phone", {{"phone_column", "Phone"}}, kInput),
            "column Phone is not in the input; it has: name, phone; \"phone\" differs in case or "
            "space");
  EXPECT_EQ(FaultOf("verify_phone", Json::object()), R"(missing ["phone_column"])");
}

TEST_F(VerifyPhone, ABlankPhoneSkipsTheRow) {
  for (const Json& phone : {Json(nullptr), Json(""), Json("  ")}) {
    for (const Json& name : {Json("Ann"), Json(nullptr)}) {
      const Json added = Added(kNamed, {name, phone});
      for (const auto& [column, value] : added.items()) {
        EXPECT_TRUE(value.is_null()) << column;
      }
    }
  }
}

TEST_F(VerifyPhone, AValidNumberIsWrittenAsTheWorldDialsIt) {
  EXPECT_EQ(Of("+49 30 123456"), (Json{{"phone_e164", "+4930123456"},
                                       {"phone_valid", true},
                                       {"phone_possible", true},
                                       {"phone_type", "FIXED_LINE"},
                                       {"phone_region", "DE"},
                                       {"phone_warnings", nullptr},
                                       {"phone_errors", nullptr}}));
  EXPECT_EQ(Of("+1 650-253-0000")["phone_type"], "FIXED_LINE_OR_MOBILE");
  EXPECT_EQ(Of("+44 7400 123456")["phone_type"], "MOBILE");
}

TEST_F(VerifyPhone, WhatIsPossibleAndNotValidIsAWarning) {
  const Json added = Of("+1 123 456 7890");
  EXPECT_EQ(added["phone_e164"], "+11234567890");
  EXPECT_EQ(added["phone_valid"], false);
  EXPECT_EQ(added["phone_possible"], true);
  EXPECT_EQ(added["phone_warnings"], "Possible Not Valid");
  EXPECT_TRUE(added["phone_errors"].is_null());
  EXPECT_TRUE(added["phone_type"].is_null());
  EXPECT_EQ(Of("123 456 7890", "us")["phone_warnings"], "Possible Not Valid; Region Assumed");
}

TEST_F(VerifyPhone, ANumberWithoutACountryCodeNeedsARegion) {
  const Json assumed = Of("030 123456", "de");
  EXPECT_EQ(assumed["phone_e164"], "+4930123456");
  EXPECT_EQ(assumed["phone_warnings"], "Region Assumed");
  const Json missing = Of("030 123456");
  EXPECT_EQ(missing["phone_errors"][0]["code"], "MissingRegion");
  EXPECT_EQ(missing["phone_errors"][0]["field"], "phone");
  EXPECT_EQ(missing["phone_valid"], false);
  EXPECT_EQ(FaultOf("verify_phone", {{"phone_column", "phone"}, {"default_region", "XX"}}),
            R"(enum ["default_region"])");
  EXPECT_EQ(FaultOf("verify_phone", {{"phone_column", "phone"}, {"default_region", "DEU"}}),
            R"(string_too_long ["default_region"])");
}

TEST_F(VerifyPhone, WhatIsNoNumberIsAnError) {
  for (const char* phone : {"call me", "+999 123", "+49 1", "5"}) {
    const Json added = Of(phone, "DE");
    EXPECT_EQ(added["phone_errors"][0]["code"], "InvalidNumber") << phone;
    EXPECT_TRUE(added["phone_e164"].is_null()) << phone;
    EXPECT_EQ(added["phone_possible"], false) << phone;
  }
  EXPECT_EQ(Of("+999 123")["phone_errors"][0]["code"], "InvalidNumber") << "no region is missing";
}

}  // namespace
}  // namespace vedette::domain
