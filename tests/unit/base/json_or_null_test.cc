#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace vedette::base {
namespace {

TEST(JsonOrNull, WhatIsMissingIsNull) {
  EXPECT_EQ(OrNull(""), Json(nullptr));
  EXPECT_EQ(OrNull(std::optional<std::string>()), Json(nullptr));
  EXPECT_EQ(OrNull(std::optional<int>()), Json(nullptr));
  EXPECT_EQ(OrNull(std::optional<Timestamp>()), Json(nullptr));
  EXPECT_EQ(OrNull(std::optional<Uuid>()), Json(nullptr));
}

TEST(JsonOrNull, WhatIsThereIsWritten) {
  const Uuid id = Uuid::V4();
  const Timestamp time(std::chrono::seconds(1));
  EXPECT_EQ(OrNull("a"), Json("a"));
  EXPECT_EQ(OrNull(std::string("a")), Json("a"));
  EXPECT_EQ(OrNull(std::optional<std::string>("")), Json("")) << "there, and empty";
  EXPECT_EQ(OrNull(std::optional(0)), Json(0));
  EXPECT_EQ(OrNull(std::optional(time)), Json(FormatTimestamp(time)));
  EXPECT_EQ(OrNull(std::optional(id)), Json(id.ToString()));
}

}  // namespace
}  // namespace vedette::base
