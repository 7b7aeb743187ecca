#include "domain/workflow/payload.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

using base::Json;

TEST(WorkflowPayload, ColumnsAreTheDeclaredOnesThenOthersAsTheyAppear) {
  PayloadReader reader(base::ParseJsonOrThrow(R"({"email": {}, "age": {"required": false}})"), 2);
  EXPECT_FALSE(reader.Take(R"({"name": "Ada", "email": "a@b.example"})"));
  EXPECT_FALSE(reader.Take(R"({"email": null, "id": 12345678901234567890123})"));
  EXPECT_FALSE(reader.Take(R"({"email": "", "age": 1E2})"));
  EXPECT_FALSE(reader.missing()) << "a key that is there is present, whatever its value";
  const auto parts = reader.Finish();
  EXPECT_EQ(reader.columns(), (Columns{"email", "age", "name", "id"}));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].rows_json,
            R"([["a@b.example",null,"Ada"],[null,null,null,12345678901234567890123]])");
  EXPECT_EQ(parts[0].row_count, 2);
  EXPECT_EQ(parts[1].rows_json, R"([["",1E2]])");
}

TEST(WorkflowPayload, TheFirstRecordThatLacksADeclaredColumnIsNamed) {
  PayloadReader reader(base::ParseJsonOrThrow(R"({"a": {}, "b": {}, "c": {"required": false}})"),
                       256);
  EXPECT_FALSE(reader.Take(R"({"a": 1, "b": 2})"));
  EXPECT_FALSE(reader.Take(R"({"c": 1})"));
  EXPECT_FALSE(reader.Take("{}"));
  ASSERT_TRUE(reader.missing());
  EXPECT_EQ(reader.missing()->record, 1U);
  EXPECT_EQ(reader.missing()->columns, (std::vector<std::string>{"a", "b"}));
}

TEST(WorkflowPayload, WhatIsNoRowIsAFault) {
  const auto type = [](const std::string& record) {
    PayloadReader reader(nullptr, 256);
    const auto fault = reader.Take(record);
    return fault ? fault->type : "";
  };
  EXPECT_EQ(type("[1]"), "dict_type");
  EXPECT_EQ(type("\"a\""), "dict_type");
  EXPECT_EQ(type(R"({"": 1})"), "string_too_short");
  EXPECT_EQ(type(R"({")" + std::string(201, 'x') + R"(": 1})"), "string_too_long");
  EXPECT_EQ(type(R"({"a": ")" + std::string(kRecordBytesMax, 'x') + R"("})"), "too_long");
  std::string wide = "{";
  for (int i = 0; i < 1025; ++i) wide += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  EXPECT_EQ(type(wide + "}"), "too_long");
  EXPECT_EQ(type(R"({"__proto__": {"x": 1}})"), "");
}

TEST(WorkflowPayload, APartEndsByRowsOrBytes) {
  PayloadReader reader(nullptr, 256);
  const std::string record = R"({"a": ")" + std::string(60'000, 'x') + R"("})";
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(reader.Take(record));
  int rows = 0;
  for (const RowsPart& part : reader.Finish()) {
    EXPECT_LT(part.rows_json.size(), kPayloadPartBytes + 2 * kRecordBytesMax);
    EXPECT_EQ(base::ParseJsonOrThrow(part.rows_json).size(),
              static_cast<std::size_t>(part.row_count));
    rows += part.row_count;
  }
  EXPECT_EQ(rows, 20);
}

TEST(WorkflowPayload, ARowEndsWithItsLastValueWhateverTheOrderOfItsMembers) {
  PayloadReader reader(base::ParseJsonOrThrow(R"({"a": {}, "b": {}, "c": {}})"), 256);
  EXPECT_FALSE(reader.Take(R"({"c": null, "b": 2, "a": 1})"));
  EXPECT_FALSE(reader.Take(R"({"c": 3, "a": null, "b": null})"));
  EXPECT_FALSE(reader.Take(R"({"a": null, "b": null, "c": null})"));
  EXPECT_EQ(reader.bytes(), std::string("[[1,2],[null,null,3],[]").size());
  const auto parts = reader.Finish();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].rows_json, "[[1,2],[null,null,3],[]]");
  EXPECT_EQ(reader.bytes(), 0U);
}

TEST(WorkflowPayload, G11_RecordsTimesColumnsAreBoundedBeforeTheirRowsAreMade) {
  std::string wide = "{";
  for (int i = 0; i < 1024; ++i) {
    wide += fmt::format("{}\"c{}\":1", i == 0 ? "" : ",", i);
  }
  PayloadReader reader(nullptr, 256);
  ASSERT_FALSE(reader.Take(wide + "}"));
  std::optional<RecordFault> fault;
  std::size_t taken = 0;
  for (; taken < kRecordsMax && !fault; ++taken) fault = reader.Take(R"({"c1023":1})");
  ASSERT_TRUE(fault) << "99,999 small records would be " << reader.bytes() << " bytes of rows";
  EXPECT_EQ(fault->type, "too_long");
  EXPECT_EQ(fault->msg,
            "Records times columns should be at most 2000000; with this one there are 1954 records "
            "of 1024 columns: upload a file");
  EXPECT_EQ(reader.records(), kPayloadCellsMax / 1024);
  EXPECT_TRUE(reader.full());
  EXPECT_LT(reader.bytes(), std::size_t{11} << 20) << "five bytes a cell";
}

TEST(WorkflowPayload, ASampleIsAnObjectOrAnArrayOfObjects) {
  EXPECT_EQ(ReadSample(R"({"a": 1.50})"), (std::vector<std::string>{R"({"a":1.50})"}));
  EXPECT_EQ(ReadSample(R"([{"a": 1}, {}])")->size(), 2U);
  EXPECT_FALSE(ReadSample("[1]"));
  EXPECT_FALSE(ReadSample("nonsense"));
}

}  // namespace
}  // namespace vedette::domain
