#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace vedette::base {
namespace {

using Kind = JsonError::Kind;

Json Parsed(std::string_view text) {
  Json value;
  const auto error = ParseJson(text, &value);
  EXPECT_FALSE(error) << (error ? error->message : "");
  return value;
}

std::optional<Kind> KindOf(std::string_view text, const JsonLimits& limits = {}) {
  Json value;
  const auto error = ParseJson(text, &value, limits);
  if (!error) return std::nullopt;
  EXPECT_FALSE(error->message.empty());
  return error->kind;
}

std::string Nested(int depth) {
  const auto n = static_cast<std::size_t>(depth);
  return std::string(n, '[') + std::string(n, ']');
}

std::string ObjectOf(int members) {
  std::string text = "{";
  for (int i = 0; i < members; ++i) {
    text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":" + std::to_string(i);
  }
  return text + "}";
}

TEST(ParseJson, ReadsEveryKindOfValueInOrder) {
  const std::string text =
      R"({"z":[1,-2,2.5,true,false,null,"\u00e9\n"],"a":{"b":{}},"":[],"big":18446744073709551615})";
  EXPECT_EQ(DumpJson(Parsed(text)),
            "{\"z\":[1,-2,2.5,true,false,null,\"\xC3\xA9\\n\"],\"a\":{\"b\":{}},\"\":[],"
            "\"big\":18446744073709551615}");
  EXPECT_EQ(Parsed("  \"x\" "), Json("x"));
  EXPECT_EQ(Parsed("0"), Json(0));
}

TEST(ParseJson, TheLastOfEqualKeysWins) {
  EXPECT_EQ(DumpJson(Parsed(R"({"a":1,"b":2,"a":{"c":3},"b":4,"a":5})")), R"({"a":5,"b":4})");
}

TEST(ParseJson, LeavesTheResultAloneOnError) {
  Json value = "before";
  EXPECT_TRUE(ParseJson("[1,2", &value));
  EXPECT_EQ(value, Json("before"));
}

TEST(ParseJson, RefusesWhatIsNotOneDocument) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "[1] 2", "nul", "'a'",
                           "01", "1.", "+1", "NaN", "\"a", "\"\\x\"", "\"\t\"", "// c\n1"}) {
    EXPECT_EQ(KindOf(text), Kind::kMalformed) << text;
  }
}

TEST(ParseJson, RefusesInvalidUtf8) {
  for (const char* text :
       {"\"\xff\"", "\"\xc3\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
        "{\"\xff\":1}", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800x\""}) {
    EXPECT_EQ(KindOf(text), Kind::kMalformed) << text;
  }
}

TEST(ParseJson, RefusesNulInValuesAndKeys) {
  EXPECT_EQ(KindOf(R"("a\u0000b")"), Kind::kMalformed);
  EXPECT_EQ(KindOf(R"({"a\u0000":1})"), Kind::kMalformed);
  Json json;
  EXPECT_EQ(
      ParseJson(R"({"mode": "x", "leads": [{"email": "a"}, {"name": "b", "email": "\u0000"}]})",
                &json)
          ->message,
      "leads[1].email: a string contains \\u0000, which is not taken");
  EXPECT_EQ(KindOf(std::string_view("\"a\0\"", 4)), Kind::kMalformed);
  EXPECT_EQ(KindOf(std::string_view("1\0", 2)), Kind::kMalformed);
}

TEST(ParseJson, RefusesNumbersOutOfRangeWithoutRepeatingThem) {
  const std::string digits(5000, '9');
  Json value;
  const auto error = ParseJson("[" + digits + "]", &value);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::kMalformed);
  EXPECT_LT(error->message.size(), 200U);
  EXPECT_EQ(KindOf("1e400"), Kind::kMalformed);
}

TEST(ParseJson, SaysWhereAndWhatWithoutQuotingTheSender) {
  Json value;
  const auto error = ParseJson("{\"a\": <script>}", &value);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message.find("at byte 7: syntax error"), 0U) << error->message;
  EXPECT_EQ(error->message.find("script"), std::string::npos) << error->message;
}

TEST(ParseJson, BoundsTheDepth) {
  EXPECT_EQ(KindOf(Nested(64)), std::nullopt);
  EXPECT_EQ(KindOf(Nested(65)), Kind::kTooDeep);
  EXPECT_EQ(KindOf(Nested(2), {.depth_max = 1}), Kind::kTooDeep);
  EXPECT_EQ(KindOf(std::string(100'000, '[')), Kind::kTooDeep);
  std::string objects;
  for (int i = 0; i < 65; ++i) objects += "{\"a\":";
  EXPECT_EQ(KindOf(objects), Kind::kTooDeep);
}

TEST(ParseJson, BoundsTheMembersOfOneObject) {
  EXPECT_EQ(KindOf(ObjectOf(1024)), std::nullopt);
  EXPECT_EQ(KindOf(ObjectOf(1025)), Kind::kTooManyMembers);
  EXPECT_EQ(KindOf("[" + ObjectOf(1000) + "," + ObjectOf(1000) + "]"), std::nullopt);
  // Repeating one key is no way around it.
  std::string repeated = "{\"k\":0";
  for (int i = 0; i < 1024; ++i) repeated += ",\"k\":0";
  EXPECT_EQ(KindOf(repeated + "}"), Kind::kTooManyMembers);
}

TEST(ParseJson, KeepsEveryMemberOfALargeObject) {
  const Json value = Parsed(ObjectOf(1024));
  ASSERT_EQ(value.size(), 1024U);
  int i = 0;
  for (const auto& [key, member] : value.items()) {
    EXPECT_EQ(key, "k" + std::to_string(i));
    EXPECT_EQ(member, Json(i));
    ++i;
  }
}

TEST(ParseJson, BoundsTheValues) {
  EXPECT_EQ(KindOf("[[],[],{}]", {.values_max = 4}), std::nullopt);
  EXPECT_EQ(KindOf("[[],[],{}]", {.values_max = 3}), Kind::kTooManyValues);
  EXPECT_EQ(KindOf(R"({"a":1,"b":[2]})", {.values_max = 3}), Kind::kTooManyValues);
}

TEST(ParseJson, KeepsNumbersAsTheyWereGivenWhereItIsAsked) {
  const std::string text =
      R"({"a":12345678901234567890123,"b":[1E2,-0,0.10,1.5,-7,1e-7],"c":{"d":100000000000000000001}})";
  Json value;
  ASSERT_FALSE(ParseJson(text, &value, {.keep_numbers = true}));
  EXPECT_EQ(DumpJson(value), text);
  EXPECT_EQ(NumberText(value["a"]), "12345678901234567890123");
  EXPECT_TRUE(value["b"][3].is_number_float()) << "a usual number stays one";
  EXPECT_TRUE(value["b"][4].is_number_integer());
  EXPECT_NE(DumpJson(Parsed(text)), text);
}

TEST(ParseJsonApart, LeavesTheElementsOfOneArrayAsText) {
  Json value;
  std::optional<JsonElements> rows;
  const std::string text =
      "{ \"a\" : [ 1 , {\"rows\":[0]} ] , \"ro\\u0077s\" : [ {\"x\":\"]\\\"}\"} ,\n-1.5e3,[[],{}] "
      ", null\t,\"s\" ]"
      " , \"z\":1}";
  ASSERT_FALSE(ParseJsonApart(text, "rows", 4, &value, &rows, {}));
  EXPECT_EQ(DumpJson(value), R"({"a":[1,{"rows":[0]}],"rows":[],"z":1})");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->count, 5U);
  EXPECT_EQ(rows->texts,
            (std::vector<std::string_view>{R"({"x":"]\"}"})", "-1.5e3", "[[],{}]", "null"}));
}

TEST(ParseJsonApart, TheLastOfEqualKeysWinsHereToo) {
  Json value;
  std::optional<JsonElements> rows;
  ASSERT_FALSE(ParseJsonApart(R"({"rows":[1,2],"rows":[3]})", "rows", 9, &value, &rows, {}));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->texts, std::vector<std::string_view>{"3"});
  ASSERT_FALSE(ParseJsonApart(R"({"rows":[1,2],"rows":7})", "rows", 9, &value, &rows, {}));
  EXPECT_FALSE(rows);
  EXPECT_EQ(value["rows"], Json(7));
  ASSERT_FALSE(ParseJsonApart(R"([{"rows":[1]}])", "rows", 9, &value, &rows, {}));
  EXPECT_FALSE(rows);
  ASSERT_FALSE(ParseJsonApart(" {\"rows\":[]}", "rows", 9, &value, &rows, {}));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->count, 0U);
}

TEST(ParseJsonApart, TellsThePlaceOfANulInWhatItDoesNotBuild) {
  const auto message = [](std::string_view text) {
    Json value;
    std::optional<JsonElements> rows;
    const auto error = ParseJsonApart(text, "rows", 9, &value, &rows, {});
    return error ? error->message : "taken";
  };
  EXPECT_EQ(message(R"({"a":[1],"rows":[{"d":"ok"},{"c":{},"d":"a\u0000"}]})"),
            "rows[1].d: a string contains \\u0000, which is not taken");
  EXPECT_EQ(message(R"({"rows":[1,[2,{"d":{"a\u0000":1}}]]})"),
            "rows[1][1].d: a member's name contains \\u0000, which is not taken");
  EXPECT_EQ(message(R"({"a\u0000":1})"), "a member's name contains \\u0000, which is not taken");
}

TEST(ParseJsonApart, JudgesWhatItDoesNotBuild) {
  Json value;
  std::optional<JsonElements> rows;
  for (const char* text : {R"({"rows":[1,]})", R"({"rows":[1 2]})", R"({"rows":[{"a"}]})",
                           R"({"rows":["\ud800"]})", R"({"rows":["\u0000"]})", R"({"rows":[01]})",
                           R"({"rows":[1}})", R"({"rows":[1]]})", R"({"rows":[1e999]})"}) {
    EXPECT_TRUE(ParseJsonApart(text, "rows", 9, &value, &rows, {})) << text;
  }
  const auto deep = ParseJsonApart("{\"rows\":" + Nested(64) + "}", "rows", 9, &value, &rows, {});
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->kind, Kind::kTooDeep);
  // Its values count for nothing: they take no memory.
  std::string many = "{\"rows\":[[]";
  for (int i = 0; i < 1000; ++i) many += ",[]";
  EXPECT_FALSE(ParseJsonApart(many + "]}", "rows", 9, &value, &rows, {.values_max = 2}));
  EXPECT_EQ(rows->count, 1001U);
  EXPECT_EQ(rows->texts.size(), 9U);
}

TEST(ParseJsonOrThrow, ThrowsWithTheReason) {
  EXPECT_EQ(ParseJsonOrThrow("[1]"), Json::array({1}));
  EXPECT_THROW(ParseJsonOrThrow("[1"), std::invalid_argument);
}

TEST(DumpJson, ReplacesInvalidUtf8InsteadOfThrowing) {
  EXPECT_EQ(DumpJson(Json("a\xff")), "\"a\xEF\xBF\xBD\"");
}

// The library's own writer says what is right.
TEST(DumpJson, WritesAsTheLibraryDoes) {
  const auto by_library = [](const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string every;
  for (int c = 0; c < 0x80; ++c) every.push_back(static_cast<char>(c));
  for (const std::string& text :
       {std::string(), std::string("plain"), every,
        std::string("\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80"), std::string("\xed\xa0\x80"),
        std::string("cut \xe2\x82"), std::string("\xc3\xb6\n\"\\"), std::string("\xff\n")}) {
    EXPECT_EQ(DumpJson(Json(text)), by_library(Json(text)));
    const Json object{{text, Json::array({text, nullptr, true, false})}};
    EXPECT_EQ(DumpJson(object), by_library(object));
  }
  for (const char c : every) {
    const Json one(std::string(1, c));
    EXPECT_EQ(DumpJson(one), by_library(one));
  }
  for (const Json& value :
       {Json(nullptr), Json(true), Json(0), Json(-1),
        Json(std::numeric_limits<std::int64_t>::min()),
        Json(std::numeric_limits<std::uint64_t>::max()), Json(1.5), Json(1.0), Json(-0.0),
        Json(1e300), Json::array(), Json::object(),
        Json::array({1, Json::array({Json::object(), "x"})}), Json{{"a", {{"b", {1, 2}}}}}}) {
    EXPECT_EQ(DumpJson(value), by_library(value));
  }
}

TEST(AppendJson, AddsToWhatIsThere) {
  std::string text = "[";
  AppendJson(Json{{"a", 1}}, &text);
  text += ',';
  AppendJsonString("say \"hi\"", &text);
  EXPECT_EQ(text, R"([{"a":1},"say \"hi\"")");
}

TEST(ReadJsonCell, IsWhatTheParserReadsWithItsNumbersKept) {
  for (const std::string text :
       {"null", "\"\"", "\"a b\"", R"("a\"b")", R"("\\")", R"("\u00f6")", "true", "-7", "1.50",
        "12345678901234567890123", R"({"a":[1,"]"]})", "[]"}) {
    Json parsed;
    ASSERT_FALSE(ParseJson(text, &parsed, {.keep_numbers = true})) << text;
    EXPECT_EQ(ReadJsonCell(text), parsed) << text;
  }
  for (const char* text : {"", "\"", "nul", "[1", R"("a" "b")", R"("\u0000")"}) {
    EXPECT_THROW(ReadJsonCell(text), std::invalid_argument) << text;
  }
}

TEST(ParseJsonOrThrow, ReadsWhatIsStoredHoweverManyMembersItHas) {
  Json stored = Json::object();
  for (int i = 0; i < 1500; ++i) stored["c" + std::to_string(i)] = i;
  Json refused;
  ASSERT_TRUE(ParseJson(DumpJson(stored), &refused));
  EXPECT_EQ(ParseJsonOrThrow(DumpJson(stored)), stored);
  EXPECT_EQ(ReadJsonCell(DumpJson(stored)), stored);
}

TEST(JsonText, BecomesTheOtherFormAtTheFirstLook) {
  EXPECT_EQ(JsonText().Text(), "{}");
  EXPECT_TRUE(JsonText().Value().is_object());
  const JsonText from_text(std::string(R"({"a": 1})"));
  const JsonText copy = from_text;
  EXPECT_EQ(&copy.Value(), &from_text.Value()) << "copies share what was parsed";
  EXPECT_EQ(copy.Text(), R"({"a": 1})") << "text stays as it came";
  const JsonText from_value(Json{{"a", 1}});
  EXPECT_EQ(from_value.Text(), R"({"a":1})");
  const JsonText broken(std::string("{"));
  EXPECT_EQ(broken.Text(), "{");
  EXPECT_THROW(broken.Value(), std::invalid_argument);
}

}  // namespace
}  // namespace vedette::base
