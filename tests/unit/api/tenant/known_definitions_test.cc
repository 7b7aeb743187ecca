#include "api/tenant/workflows/workflow_calls.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace vedette::api {
namespace {

std::string Definition(const std::string& name) {
  return R"({"blocks": [{"sequence_number": 0, "block_name": "webhook", "block_type": "webhook", "block_id": ")" +
         name + R"(", "specs": {"dataframe_type": "LEAD"}}], "edges": []})";
}

TEST(KnownDefinitions, AreReadOnceWhileTheyAreTheSame) {
  KnownDefinitions known;
  const auto first = known.Read(Definition("a"));
  EXPECT_EQ(first->blocks.at(0).id, "a");
  EXPECT_EQ(known.Read(Definition("a")), first);
  EXPECT_EQ(known.Read(Definition("b"))->blocks.at(0).id, "b") << "a change is another definition";
}

TEST(KnownDefinitions, ALongOneIsNotKept) {
  KnownDefinitions known;
  const std::string text = Definition("a") + std::string(KnownDefinitions::kTextBytesMax, ' ');
  EXPECT_NE(known.Read(text), known.Read(text));
}

TEST(KnownDefinitions, WhatCannotBeReadIsNotKept) {
  KnownDefinitions known;
  EXPECT_THROW(known.Read("{}"), std::invalid_argument);
  EXPECT_THROW(known.Read("{}"), std::invalid_argument);
}

}  // namespace
}  // namespace vedette::api
