#include "worker/blocks/lookup_block.h"

#include <gtest/gtest.h>

#include "domain/workflow/block_type.h"
#include "domain/workflow/lookup_rows.h"
#include "tests/unit/worker/blocks/find_email_fixture.h"

namespace vedette::worker {
namespace {

using base::Json;

const Json kFind{{"mode", "PROFESSIONAL"},
                 {"verify_emails", true},
                 {"providers", nullptr},
                 {"columns", Json::object()}};
const Json kVerify{{"email_column", "email"}};

// Blocks of workflows over the lookup "find_email" of the fixture.
class LookupBlockTest : public FindEmail {
 protected:
  static std::string SpecsJson(const Json& specs, const domain::Columns& input) {
    return domain::BoundSpecsJson(
        {"b", specs, input, domain::LookupPricingJson({domain::ChargeRule::kFound, 1000, 0})});
  }

  RowResult RunRow(const char* type, const Json& specs, const domain::Columns& input,
                   const Cells& cells) {
    LookupBlock block(*domain::FindBlockType(type), *block_);
    auto bound = block.Bind(SpecsJson(specs, input), 5000);
    const auto runner = std::get<std::shared_ptr<RowRunner>>(std::move(bound));
    RowRequest row = Row("");
    row.cells = cells;
    return Run(*runner, std::move(row));
  }
  RowDone WorkRow(const char* type, const Json& specs, const domain::Columns& input,
                  const Cells& cells) {
    return std::get<RowDone>(RunRow(type, specs, input, cells));
  }
};

TEST_F(LookupBlockTest, ARowIsAskedAboutAsALeadAndWhatWasFoundBecomesItsColumns) {
  Add("a", {Address("ann@acme.com", AddressStatus::kOk)});
  Add("b", {});
  const RowDone done =
      WorkRow("find_email", kFind, {"n", "name", "domain"}, {"7", "\"Ann\"", "\"acme.com\""});
  EXPECT_FALSE(done.error);
  EXPECT_EQ(done.charge_mc, 5000);
  EXPECT_EQ(done.cells, (Cells{"7", "\"Ann\"", "\"acme.com\"", "\"ann@acme.com\"", "\"OK\"",
                               "\"COMPANY\"", "null", "null"}));
  ASSERT_EQ(asked_["a"].size(), 1U);
  EXPECT_EQ(asked_["a"][0].person->name, "Ann");
  EXPECT_EQ(asked_["a"][0].person->domain, "acme.com");
}

TEST_F(LookupBlockTest, ARowWithAnErrorKeepsWhatItHasAndIsFree) {
  Add("a", {Failed("http_status", false)});
  const domain::Columns input{"name", "domain"};
  const RowDone failed = WorkRow("find_email", kFind, input, {"\"Ann\"", "\"acme.com\""});
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->code, "providers_failed");
  EXPECT_FALSE(failed.charge_mc);
  EXPECT_EQ(failed.cells.front(), "\"Ann\"");
  EXPECT_EQ(failed.cells.back(), "\"providers_failed: No provider could be asked.\"");
  const RowDone empty = WorkRow("find_email", kFind, input, {"null", "\" \""});
  EXPECT_EQ(empty.error->code, "empty_row");
  EXPECT_EQ(asked_["a"].size(), 1U) << "nobody is asked about an empty row";
}

TEST_F(LookupBlockTest, AnAddressIsVerifiedAtThePriceOfARowWhateverTheAnswer) {
  AddOwn(OnlyKnows("ann@acme.com"));
  const RowDone known = WorkRow("verify_email", kVerify, {"email"}, {"\"ann@acme.com\""});
  EXPECT_EQ(known.cells, (Cells{"\"ann@acme.com\"", "\"OK\"", "null", "null"}));
  EXPECT_EQ(known.charge_mc, 1000);
  const RowDone refused = WorkRow("verify_email", kVerify, {"email"}, {"\"bob@acme.com\""});
  EXPECT_EQ(refused.cells, (Cells{"\"bob@acme.com\"", "\"NOT_FOUND\"", "\"refused\"", "null"}));
  EXPECT_EQ(refused.charge_mc, 1000);
  const RowDone none = WorkRow("verify_email", kVerify, {"email"}, {"\"nonsense\""});
  EXPECT_EQ(none.cells, (Cells{"\"nonsense\"", "\"NOT_FOUND\"", "\"invalid_address\"", "null"}));
  EXPECT_FALSE(none.charge_mc);
  EXPECT_FALSE(none.error);
  EXPECT_EQ(asked_["smtp"].size(), 2U);
}

TEST_F(LookupBlockTest, WhatALookupPutsOffIsPutOff) {
  AddOwn([](const LookupRequest&) { return SaysLater(); });
  const RowResult result = RunRow("verify_email", kVerify, {"email"}, {"\"ann@acme.com\""});
  EXPECT_TRUE(std::holds_alternative<RowLater>(result));
}

TEST_F(LookupBlockTest, WhatCannotBeReadEndsTheRowOrTheJob) {
  LookupBlock block(*domain::FindBlockType("find_email"), *block_);
  EXPECT_EQ(block.type(), "row_find_email");
  EXPECT_TRUE(std::holds_alternative<std::string>(block.Bind("{}", 5000)));
  const RowResult broken = RunRow("find_email", kFind, {"name"}, {"broken"});
  ASSERT_TRUE(std::holds_alternative<RowFailure>(broken));
  EXPECT_FALSE(std::get<RowFailure>(broken).retryable);
}

TEST_F(LookupBlockTest, EveryBlockThatAsksALookupHasOne) {
  const auto blocks = LookupBlocks({block_.get()});
  std::vector<std::string> types;
  for (const auto& block : blocks) types.emplace_back(block->type());
  EXPECT_EQ(types, (std::vector<std::string>{"row_find_email", "row_verify_email"}));
}

}  // namespace
}  // namespace vedette::worker
