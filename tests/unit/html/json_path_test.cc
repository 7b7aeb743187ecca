#include "html/json_path.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

const base::Json& Store() {
  static const base::Json store = base::ParseJsonOrThrow(R"({
    "store": {
      "book": [
        {"title": "A", "price": 8.95, "tags": ["x", "y"]},
        {"title": "B", "price": 12},
        {"title": "C", "isbn": "1", "price": null}
      ],
      "bicycle": {"color": "red", "price": 19.95}
    },
    "a b": {"it's": 1, "\"q\"": 2, "\u20ac": 3, "\ud83d\ude00": 4, "": 5},
    "list": [0, 1, 2, 3, 4, 5],
    "expensive": false
  })");
  return store;
}

std::string First(std::string_view path) {
  const auto parsed = JsonPath::Parse(path);
  if (const auto* error = std::get_if<SelectorSyntaxError>(&parsed)) return error->message;
  const auto found = std::get<JsonPath>(parsed).First(Store());
  return found.value != nullptr ? base::DumpJson(*found.value) : "-";
}

TEST(JsonPath, SelectsTheFirstNodeOfRfc9535) {
  const std::pair<const char*, const char*> cases[] = {
      {"$.expensive", "false"},
      {"$['expensive']", "false"},
      {"$.store.book[0].title", "\"A\""},
      {"$.store.book[-1].title", "\"C\""},
      {"$.store.book[-4]", "-"},
      {"$.store.book[3]", "-"},
      {"$.store.book[2].price", "null"},
      {"$.store.book[*].isbn", "\"1\""},
      {"$.store.*.price", "19.95"},
      {"$.store.book[0].tags[*]", "\"x\""},
      {"$..price", "8.95"},
      {"$..color", "\"red\""},
      {"$..book[1].title", "\"B\""},
      {"$..[1].title", "\"B\""},
      {"$..*..tags[1]", "\"y\""},
      {"$..nope", "-"},
      {"$['a b']['it\\'s']", "1"},
      {"$[\"a b\"][\"\\\"q\\\"\"]", "2"},
      {"$['a b']['\\u20ac']", "3"},
      {"$['a b'].\xE2\x82\xAC", "3"},
      {"$['a b']['\\ud83d\\ude00']", "4"},
      {"$['a b']['']", "5"},
      {"$.list[1:3]", "1"},
      {"$.list[-2:]", "4"},
      {"$.list[:2]", "0"},
      {"$.list[1:5:2]", "1"},
      {"$.list[::-1]", "5"},
      {"$.list[3:1:-1]", "3"},
      {"$.list[10:]", "-"},
      {"$.list[::0]", "-"},
      {"$.list[9,-1,0]", "5"},
      {"$.store['x', 'bicycle'].color", "\"red\""},
      {"$ .store [ 'bicycle' ] .color", "\"red\""},
      {"$.list.x", "-"},
      {"$.expensive[0]", "-"},
      {"$.store[0]", "-"},
  };
  for (const auto& [path, expected] : cases) EXPECT_EQ(First(path), expected) << path;
  EXPECT_EQ(First("$"), base::DumpJson(Store()));
}

TEST(JsonPath, ErrorsNameThePosition) {
  const std::tuple<const char*, std::size_t, const char*> cases[] = {
      {"", 1, "begins with $"},
      {"price", 1, "begins with $"},
      {"$.", 3, "expected a name"},
      {"$..", 4, "expected a name"},
      {"$.a.", 5, "expected a name"},
      {"$x", 2, "expected '.' or '['"},
      {"$[", 3, "expected a name in quotes"},
      {"$[]", 3, "expected a name in quotes"},
      {"$[1", 4, "expected ',' or ']'"},
      {"$['a", 5, "not closed"},
      {"$['\\x']", 5, "escape"},
      {"$['\\ud800']", 10, "surrogate"},
      {"$[01]", 3, "leading zero"},
      {"$[-0]", 3, "leading zero"},
      {"$[9007199254740992]", 3, "integer"},
      {"$[?(@.a)]", 3, "filters"},
      {"$[?@.a==1]", 3, "filters"},
      {"$[(1)]", 3, "expressions"},
      {"$.1a", 3, "expected a name"},
      {"$.\xC3\xA9.", 5, "expected a name"},
      {"$.a ", 5, "expected a segment"},
  };
  for (const auto& [path, position, message] : cases) {
    const auto result = JsonPath::Parse(path);
    const auto* error = std::get_if<SelectorSyntaxError>(&result);
    ASSERT_NE(error, nullptr) << path;
    EXPECT_EQ(error->position, position) << path << ": " << error->message;
    EXPECT_NE(error->message.find(message), std::string::npos) << path << ": " << error->message;
  }
}

TEST(JsonPath, G11SearchGivesUpAtItsLimit) {
  base::Json document = 1;
  for (int i = 0; i < 60; ++i) {
    base::Json next = base::Json::array();
    next.push_back(std::move(document));
    next.push_back(0);
    document = std::move(next);
  }
  const auto path = JsonPath::Parse("$..*..*..*..*..*..*..x");
  const auto found = std::get<JsonPath>(path).First(document);
  EXPECT_TRUE(found.gave_up);
  EXPECT_EQ(found.value, nullptr);
}

TEST(JsonPath, LimitsHold) {
  std::string path = "$";
  for (std::size_t i = 0; i < kJsonPathSegmentsMax; ++i) path += ".a";
  EXPECT_TRUE(std::holds_alternative<JsonPath>(JsonPath::Parse(path)));
  EXPECT_FALSE(std::holds_alternative<JsonPath>(JsonPath::Parse(path + ".a")));
  EXPECT_FALSE(std::holds_alternative<JsonPath>(
      JsonPath::Parse("$." + std::string(kJsonPathBytesMax, 'a'))));
}

}  // namespace
}  // namespace vedette::html
