// The compliance cases of RFC 9535 as data (data/rfc9535.json), as far as the RFC is supported.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/json.h"
#include "html/json_path.h"

namespace vedette::html {
namespace {

using base::Json;

const Json& Cases() {
  static const Json cases = [] {
    std::ifstream file(VEDETTE_SOURCE_DIR "/tests/unit/html/data/rfc9535.json");
    return base::ParseJsonOrThrow(std::string(std::istreambuf_iterator<char>(file), {}));
  }();
  return cases;
}

TEST(Rfc9535, TheFirstNodeIsTheOneThatTheCasesName) {
  int run = 0;
  for (const Json& c : Cases().at("selects")) {
    const std::string path = c[0];
    const auto parsed = JsonPath::Parse(path);
    ASSERT_TRUE(std::holds_alternative<JsonPath>(parsed))
        << path << ": " << std::get<SelectorSyntaxError>(parsed).message;
    const Json& document = Cases().at("documents").at(c[1].get<std::string>());
    const auto found = std::get<JsonPath>(parsed).First(document);
    ASSERT_EQ(found.value == nullptr, c[2].empty()) << path;
    EXPECT_EQ(found.value != nullptr ? *found.value : Json(), c[2].empty() ? Json() : c[2][0])
        << path;
    ++run;
  }
  EXPECT_GE(run, 100);
}

TEST(Rfc9535, WhatIsNotValidIsRefused) {
  int run = 0;
  for (const Json& path : Cases().at("invalid")) {
    EXPECT_TRUE(std::holds_alternative<SelectorSyntaxError>(
        JsonPath::Parse(path.get_ref<const std::string&>())))
        << path;
    ++run;
  }
  EXPECT_GE(run, 150);
}

}  // namespace
}  // namespace vedette::html
