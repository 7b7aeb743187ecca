#include "base/json.h"
#include "domain/money/money.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace vedette::domain {
namespace {

using base::Json;

const base::Timestamp kAt = base::ParseTimestamp("2026-11-21T09:30:00.5Z");

LedgerLine Booking(const std::string& reason) {
  LedgerLine line;
  line.entry = 7;
  line.at = kAt;
  line.amount_mc = 12'500;
  line.total_mc = 20'000;
  line.reason = reason;
  return line;
}

TEST(Ledger, ALineSaysWhatWasChargedForWhat) {
  LedgerLine line;
  line.entry = 9;
  line.at = kAt;
  line.kind = LedgerKind::kChecks;
  line.amount_mc = -1'500;
  line.total_mc = 18'500;
  line.units = 3;
  line.tier = Tier::kMicro;
  line.team_id = base::Uuid::Parse("6f1c2b9e-0000-4000-8000-000000000001");
  EXPECT_EQ(LedgerLineJson(line), (Json{{"entry", 9},
                                        {"at", "2026-11-21T09:30:00.500000Z"},
                                        {"kind", "checks"},
                                        {"amount", -1.5},
                                        {"total", 18.5},
                                        {"units", 3},
                                        {"item", "micro"},
                                        {"team_id", "6f1c2b9e-0000-4000-8000-000000000001"},
                                        {"job_id", nullptr},
                                        {"reason", nullptr}}));
  EXPECT_EQ(StatementLine(line),
            "9,2026-11-21T09:30:00.500000Z,checks,-1.5,18.5,3,micro,"
            "6f1c2b9e-0000-4000-8000-000000000001,,\r\n");
  line.kind = LedgerKind::kJob;
  line.tier.reset();
  line.job = JobKind::kFindEmail;
  line.entry.reset();
  EXPECT_EQ(LedgerLineJson(line)["item"], JobKindName(JobKind::kFindEmail));
  EXPECT_TRUE(LedgerLineJson(line)["entry"].is_null());
  EXPECT_EQ(StatementLine(line).front(), ',');
}

TEST(Statement, TextThatASpreadsheetWouldTakeForAFormulaIsGuarded) {
  const std::string before = "7,2026-11-21T09:30:00.500000Z,booking,12.5,20,0,,,,";
  for (const auto& [reason, cell] : {std::pair("trial", "trial"),
                                     {"=1+1", "'=1+1"},
                                     {"+49", "'+49"},
                                     {"-x", "'-x"},
                                     {"@SUM(A1)", "'@SUM(A1)"},
                                     {"a,b", "\"a,b\""},
                                     {"say \"hi\"", "\"say \"\"hi\"\"\""},
                                     {"=\"a\"", "\"'=\"\"a\"\"\""},
                                     {"two\nlines", "\"two\nlines\""},
                                     {"", ""}}) {
    EXPECT_EQ(StatementLine(Booking(reason)), before + cell + "\r\n") << reason;
  }
}

TEST(Statement, EveryLineHasAsManyCellsAsTheHead) {
  const auto commas = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  EXPECT_EQ(commas(StatementHead()), 9);
  EXPECT_EQ(commas(StatementLine(Booking("trial"))), 9);
  EXPECT_EQ(StatementEdge("opening", kAt, -250),
            ",2026-11-21T09:30:00.500000Z,opening,,-0.25,,,,,\r\n");
  EXPECT_EQ(commas(StatementEdge("closing", kAt, 0)), 9);
}

}  // namespace
}  // namespace vedette::domain
