#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "worker/jobs/part_rows.h"

namespace vedette::worker {
namespace {

using std::chrono::microseconds;

constexpr base::Timestamp kNow{microseconds(1'000'000)};

store::JobSpec Bulk() {
  store::JobSpec job;
  job.part_rows = 2;
  job.params_json = R"({"mode": "x", "rows": [{"a": 1}, "b", 3.50]})";
  return job;
}

std::vector<JobRow> Read(const store::ClaimedJobChunk& chunk) {
  auto rows = ReadPart(chunk, Bulk(), kNow);
  EXPECT_TRUE(std::holds_alternative<std::vector<JobRow>>(rows));
  return std::get<std::vector<JobRow>>(std::move(rows));
}

TEST(ReadPart, TakesThePartsShareOfTheRowsThatTheRequestGave) {
  store::ClaimedJobChunk chunk;
  auto rows = Read(chunk);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cells, Cells{R"({"a": 1})"});
  EXPECT_EQ(rows[1].cells, Cells{R"("b")"});
  chunk.part = 1;
  rows = Read(chunk);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].cells, Cells{"3.50"});
}

TEST(ReadPart, TakesTheRowsOfTheInputPartAndSkipsThoseThatWereNotRecorded) {
  store::ClaimedJobChunk chunk;
  chunk.rows_json = R"([["a", {"b": 12345678901234567890123}], null, ["c", null]])";
  const auto rows = Read(chunk);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cells, (Cells{R"("a")", R"({"b": 12345678901234567890123})"}))
      << "a cell stays the text that it was";
  EXPECT_EQ(rows[1].cells, (Cells{R"("c")", "null"}));
}

TEST(ReadPart, AppliesWhatEarlierHoldersRecorded) {
  store::ClaimedJobChunk chunk;
  chunk.rows_json = "[[1],[2],[3],[4]]";
  chunk.done_json =
      R"({"rows": [["one"], null, null, null],
          "later": {"1": {"at_us": 999999, "memo": {"mx": 1}}, "2": {"at_us": 1000001}}})";
  const auto rows = Read(chunk);
  EXPECT_EQ(rows[0].state, JobRow::State::kEnded);
  EXPECT_EQ(*rows[0].output, Cells{R"("one")"});
  EXPECT_EQ(rows[1].state, JobRow::State::kWaiting);
  EXPECT_EQ(rows[1].memo, R"({"mx":1})");
  EXPECT_EQ(rows[2].state, JobRow::State::kLater);
  EXPECT_EQ(rows[3].state, JobRow::State::kWaiting);
}

TEST(ReadPart, SaysOfAPartThatCannotBeReadNothingOfItsRows) {
  store::ClaimedJobChunk chunk;
  chunk.rows_json = R"([["secret", )";
  const auto rows = ReadPart(chunk, Bulk(), kNow);
  ASSERT_TRUE(std::holds_alternative<UnreadablePart>(rows));
  EXPECT_EQ(std::get<UnreadablePart>(rows).sentence.find("secret"), std::string::npos);
  chunk.rows_json.reset();
  store::JobSpec job = Bulk();
  job.params_json = "{}";
  EXPECT_TRUE(std::holds_alternative<UnreadablePart>(ReadPart(chunk, job, kNow)));
}

TEST(WriteDone, IsReadBackAsItWasWritten) {
  std::vector<RowRecord> records(3);
  records[0].output = std::make_shared<const Cells>(Cells{"1", R"({"x": [2]})"});
  records[1].memo = R"({"mx":1})";
  records[1].not_before = kNow + microseconds(5);
  store::ClaimedJobChunk chunk;
  chunk.rows_json = "[[1],[2],[3]]";
  chunk.done_json = WriteDone(records);
  EXPECT_EQ(*chunk.done_json, R"({"rows":[[1,{"x": [2]}],null,null],)"
                              R"("later":{"1":{"at_us":1000005,"memo":{"mx":1}}}})");
  const auto rows = Read(chunk);
  EXPECT_EQ(*rows[0].output, (Cells{"1", R"({"x":[2]})"}));
  EXPECT_EQ(rows[1].state, JobRow::State::kLater);
  EXPECT_EQ(rows[1].not_before, kNow + microseconds(5));
  EXPECT_EQ(rows[2].state, JobRow::State::kWaiting);
}

TEST(WriteOutput, HasTheCellsOfEachRow) {
  std::vector<RowRecord> records(2);
  records[0].output = std::make_shared<const Cells>(Cells{"1", "2"});
  records[1].output = std::make_shared<const Cells>(Cells{"3"});
  EXPECT_EQ(WriteOutput(records), "[[1,2],[3]]");
  EXPECT_EQ(WriteOutput({}), "[]");
}

}  // namespace
}  // namespace vedette::worker
