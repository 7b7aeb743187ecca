#include "base/json_pointer.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace vedette::base {
namespace {

std::string At(const char* pointer, const char* document) {
  const auto parsed = JsonPointer::Parse(pointer);
  if (!parsed) return "no pointer";
  const Json json = ParseJsonOrThrow(document);
  const Json* found = parsed->Find(json);
  return found == nullptr ? "nothing" : DumpJson(*found);
}

// The examples of RFC 6901, 5.
TEST(JsonPointer, FindsWhatTheStandardSays) {
  constexpr const char* kDocument =
      R"({"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "k\"l": 6, " ": 7, "m~n": 8})";
  EXPECT_EQ(At("/foo", kDocument), R"(["bar","baz"])");
  EXPECT_EQ(At("/foo/0", kDocument), R"("bar")");
  EXPECT_EQ(At("/", kDocument), "0");
  EXPECT_EQ(At("/a~1b", kDocument), "1");
  EXPECT_EQ(At("/c%d", kDocument), "2");
  EXPECT_EQ(At("/k\"l", kDocument), "6");
  EXPECT_EQ(At("/ ", kDocument), "7");
  EXPECT_EQ(At("/m~0n", kDocument), "8");
  EXPECT_EQ(At("", "5"), "5");
}

TEST(JsonPointer, WhatIsNotThereIsNothing) {
  for (const char* pointer : {"/b", "/a/2", "/a/-", "/a/01", "/a/+1", "/a/99999999999999999999",
                              "/a/0/x", "/s/0", "/a/"}) {
    EXPECT_EQ(At(pointer, R"({"a": [1, 2], "s": "text"})"), "nothing") << pointer;
  }
}

TEST(JsonPointer, WhatIsNoPointerIsRefused) {
  for (const char* pointer : {"a", "a/b", "/a~", "/a~2", "#/a"}) {
    EXPECT_FALSE(JsonPointer::Parse(pointer)) << pointer;
  }
}

}  // namespace
}  // namespace vedette::base
