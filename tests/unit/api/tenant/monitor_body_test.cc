// The bodies of the monitor routes: types and limits (422), then the eight rules of a
// definition (400).
#include "api/tenant/monitors/monitor_body.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "store/monitors/control.h"
#include "tests/support/hand_clock.h"
#include "tests/support/refusal.h"

#include <gmock/gmock.h>

#include <string>

namespace vedette::api {
namespace {

using base::Json;
using testing::HasSubstr;
using vedette::test::HandClock;

config::LimitsConfig Limits() {
  config::LimitsConfig limits{};
  limits.rows_per_request_max = 100;
  limits.rows_per_monitor_max = 1000;
  limits.struct_fields_max = 64;
  limits.name_chars_max = 200;
  limits.metadata_bytes_max = 16384;
  limits.struct_bytes_max = 8192;
  limits.row_bytes_max = 65536;
  return limits;
}

// A body as it comes in a request. `text` outlives what is made of it.
rest::JsonBody BodyOf(const std::string& text) {
  rest::JsonBody body;
  const auto error =
      rest::ParseBody(text, RowsBodyRules(1 << 24, Limits().rows_per_request_max), &body);
  EXPECT_FALSE(error) << error->message;
  return body;
}

CreateBody Read(const Json& body, rest::Problems* problems) {
  return ReadCreateBody(BodyOf(base::DumpJson(body)), Limits(), problems);
}

Json Good() {
  return base::ParseJsonOrThrow(R"({
    "name": "n", "key_columns": ["domain", "name"], "struct": {"price": "css:.p"},
    "rows": [{"domain": "a.example", "price": 1}, {"domain": "b.example", "name": "B"}]})");
}

Json With(const std::string& field, const Json& value) {
  Json body = Good();
  body[field] = value;
  return body;
}

Json Without(const std::string& field) {
  Json body = Good();
  body.erase(field);
  return body;
}

struct Invalid {
  std::string what;
  Json body;
  std::string loc;
  std::string type;
};

Json RepeatedStruct(int fields) {
  Json s = Json::object();
  for (int i = 0; i < fields; ++i) s["f" + std::to_string(i)] = "text";
  return s;
}

Json RepeatedRows(int rows) {
  Json all = Json::array();
  for (int i = 0; i < rows; ++i) all.push_back({{"domain", i}});
  return all;
}

// One row of two columns that has so many bytes as compact JSON.
Json RowOfBytes(std::size_t bytes) {
  Json row{{"domain", "a.example"}, {"name", ""}};
  row["name"] = std::string(bytes - row.dump().size(), 'x');
  return Json::array({row});
}

TEST(CreateBody, TypesAndLimitsAreA422ThatSaysWhere) {
  const Json nested = Json::array({Json{{"domain", Json::array({1})}}});
  const Invalid cases[] = {
      {"no name", Without("name"), R"(["body","name"])", "missing"},
      {"name of a wrong type", With("name", 7), R"(["body","name"])", "string_type"},
      {"empty name", With("name", ""), R"(["body","name"])", "string_too_short"},
      {"long name", With("name", std::string(201, 'x')), R"(["body","name"])", "string_too_long"},
      {"no key_columns", Without("key_columns"), R"(["body","key_columns"])", "missing"},
      {"key_columns of a wrong type", With("key_columns", "domain"), R"(["body","key_columns"])",
       "list_type"},
      {"empty key_columns", With("key_columns", Json::array()), R"(["body","key_columns"])",
       "too_short"},
      {"key column of a wrong type", With("key_columns", Json::array({"domain", 3})),
       R"(["body","key_columns",1])", "string_type"},
      {"key column twice", With("key_columns", Json::array({"domain", "domain"})),
       R"(["body","key_columns",1])", "duplicate"},
      {"no struct", Without("struct"), R"(["body","struct"])", "missing"},
      {"struct of a wrong type", With("struct", Json::array()), R"(["body","struct"])",
       "dict_type"},
      {"65 fields", With("struct", RepeatedStruct(65)), R"(["body","struct"])", "too_long"},
      {"large struct", With("struct", Json{{"f", std::string(9000, 'x')}}), R"(["body","struct"])",
       "too_long"},
      {"empty description", With("struct", Json{{"f", " "}}), R"(["body","struct","f"])",
       "string_too_short"},
      {"description of a wrong type", With("struct", Json{{"f", 1}}), R"(["body","struct","f"])",
       "string_type"},
      {"no rows and no file", Without("rows"), R"(["body","rows"])", "missing"},
      {"rows and a file", With("resource_handle_id", "h"), R"(["body","rows"])", "too_many"},
      {"rows of a wrong type", With("rows", Json::object()), R"(["body","rows"])", "list_type"},
      {"empty rows", With("rows", Json::array()), R"(["body","rows"])", "too_short"},
      {"101 rows", With("rows", RepeatedRows(101)), R"(["body","rows"])", "too_long"},
      {"row of a wrong type", With("rows", Json::array({1})), R"(["body","rows",0])", "dict_type"},
      {"column that is no scalar", With("rows", nested), R"(["body","rows",0,"domain"])",
       "scalar_type"},
      {"row of a byte more", With("rows", RowOfBytes(65537)), R"(["body","rows",0])", "too_long"},
      {"large row", With("rows", Json::array({Json{{"domain", std::string(70000, 'x')}}})),
       R"(["body","rows",0])", "too_long"},
      {"frequency of a wrong type", With("frequency", 60), R"(["body","frequency"])",
       "string_type"},
      {"tier of a wrong type", With("tier", 1), R"(["body","tier"])", "string_type"},
      {"metadata of a wrong type", With("metadata", "x"), R"(["body","metadata"])", "dict_type"},
      {"large metadata", With("metadata", Json{{"a", std::string(17000, 'x')}}),
       R"(["body","metadata"])", "too_long"},
      {"webhook_url of a wrong type", With("webhook_url", true), R"(["body","webhook_url"])",
       "string_type"},
      {"unknown event type", With("webhook_event_types", Json::array({"monitor.webhook.test"})),
       R"(["body","webhook_event_types",0])", "enum"},
      {"empty run_id", With("run_id", ""), R"(["body","run_id"])", "string_too_short"},
      {"long run_id", With("run_id", std::string(201, 'x')), R"(["body","run_id"])",
       "string_too_long"},
      {"confirm_after 0", With("confirm_after", 0), R"(["body","confirm_after"])",
       "greater_than_equal"},
      {"confirm_after 101", With("confirm_after", 101), R"(["body","confirm_after"])",
       "less_than_equal"},
      {"huge confirm_after", With("confirm_after", 18446744073709551615ULL),
       R"(["body","confirm_after"])", "less_than_equal"},
      {"confirm_after 1.5", With("confirm_after", 1.5), R"(["body","confirm_after"])", "int_type"},
      {"unknown field", With("colour", "red"), R"(["body","colour"])", "extra_forbidden"},
  };
  for (const Invalid& c : cases) {
    rest::Problems problems;
    Read(c.body, &problems);
    ASSERT_TRUE(problems.any()) << c.what;
    EXPECT_EQ(problems.Items()[0]["loc"].dump(), c.loc) << c.what;
    EXPECT_EQ(problems.Items()[0]["type"], c.type) << c.what;
  }
}

TEST(CreateBody, LimitsThemselvesAreAccepted) {
  for (const Json& body :
       {Good(), With("name", std::string(200, 'x')), With("struct", RepeatedStruct(64)),
        With("rows", RepeatedRows(100)), With("rows", RowOfBytes(65536)),
        With("run_id", std::string(200, 'x')), With("confirm_after", 100),
        With("confirm_after", 1.0), With("missing_confirmations", 1),
        With("metadata", Json::object()), With("webhook_event_types", Json::array()),
        With("tier", nullptr), With("webhook_url", nullptr)}) {
    rest::Problems problems;
    Read(body, &problems);
    EXPECT_FALSE(problems.any()) << problems.Items()[0]["loc"].dump();
  }
}

TEST(CreateBody, G11_HostileBodiesAreRefusedByTheLimitTheyBreak) {
  const auto many = [](const std::string& what, int n) {
    std::string text = "[" + what;
    for (int i = 1; i < n; ++i) text += "," + what;
    return text + "]";
  };
  rest::JsonBody body;
  // Outside of rows: the parser stops.
  const std::string metadata = R"({"metadata":{"a":)" + many("[]", 100'000) + "}}";
  const auto error = rest::ParseBody(metadata, RowsBodyRules(1 << 24, 100), &body);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, base::JsonError::Kind::kTooManyValues);
  EXPECT_THAT(error->message, HasSubstr("65536"));
  // The same as rows: they are counted, but never built.
  const std::string rows = R"({"rows":)" + many("[]", 200'000) + "}";
  ASSERT_FALSE(rest::ParseBody(rows, RowsBodyRules(1 << 24, 100), &body));
  EXPECT_EQ(body.elements->count, 200'000U);
  EXPECT_EQ(body.elements->texts.size(), 100U);
  rest::Problems too_many;
  ReadRowsBody(body, {{"domain"}, {}}, Limits(), &too_many);
  ASSERT_TRUE(too_many.any());
  EXPECT_THAT(too_many.Items()[0]["msg"].get<std::string>(), HasSubstr("has 200000"));
  // Inside one row.
  const std::string row = R"({"rows":[{"domain":"a"},{"domain":)" + many("[]", 10'000) + "}]}";
  ASSERT_FALSE(rest::ParseBody(row, RowsBodyRules(1 << 24, 100), &body));
  rest::Problems nested;
  ReadRowsBody(body, {{"domain"}, {}}, Limits(), &nested);
  ASSERT_TRUE(nested.any());
  EXPECT_EQ(nested.Items()[0]["loc"].dump(), R"(["body","rows",1])");
  EXPECT_EQ(nested.Items()[0]["type"], "too_many_values");
}

TEST(CreateBody, NumbersOfMetadataAndRowsStayAsGiven) {
  const std::string text =
      R"({"name":"n","key_columns":["domain"],"struct":{"price":"css:.p"},)"
      R"("metadata":{"id":12345678901234567890123,"x":[1E2]},)"
      R"("rows":[{"domain":100000000000000000001},{"domain":100000000000000000002}]})";
  rest::Problems problems;
  CreateBody body = ReadCreateBody(BodyOf(text), Limits(), &problems);
  ASSERT_FALSE(problems.any());
  EXPECT_EQ(body.metadata_json, R"({"id":12345678901234567890123,"x":[1E2]})");
  const CreateOrder order = TakeOrder(&body, Limits(), net::AddressPolicy({}), base::Timestamp{});
  EXPECT_EQ(order.rows[0].subject_json, R"({"domain":100000000000000000001})");
}

TEST(CreateBody, Defaults) {
  rest::Problems problems;
  CreateBody body = Read(Good(), &problems);
  EXPECT_EQ(body.frequency, "1d");
  EXPECT_EQ(body.tier, "low");
  EXPECT_EQ(body.subject_type, "company");
  EXPECT_EQ(body.confirm_after, 1);
  EXPECT_EQ(body.missing_confirmations, 2);
  EXPECT_EQ(body.webhook_event_types.size(), 3U) << "a webhook_url may come later";
  body = Read(With("webhook_url", "https://x.example"), &problems);
  EXPECT_EQ(body.webhook_event_types.size(), 3U);
  body = Read(With("webhook_event_types", Json::array()), &problems);
  EXPECT_TRUE(body.webhook_event_types.empty()) << "a list that was given stays";
}

struct Broken {
  std::string rule;
  Json body;
  std::string error;
  std::string says;
};

// The `error` and the sentence of the 400 with which the body is refused.
struct RuleBreach {
  std::string code;
  std::string message;
};
std::optional<RuleBreach> Validate(const Json& json) {
  rest::Problems problems;
  CreateBody body = Read(json, &problems);
  EXPECT_FALSE(problems.any()) << problems.Items().dump();
  const auto reply = test::RefusalOf(
      [&] { TakeOrder(&body, Limits(), net::AddressPolicy({}), base::Timestamp{}); });
  if (!reply) return std::nullopt;
  EXPECT_EQ(reply->status, 400);
  const Json said = base::ParseJsonOrThrow(reply->body);
  return RuleBreach{said["error"], said["message"]};
}

TEST(CreateRules, EachRuleHasItsErrorAndNamesTheValue) {
  const auto rows = [](const char* text) { return With("rows", base::ParseJsonOrThrow(text)); };
  const Broken cases[] = {
      {"1 malformed", With("frequency", "1 day"), "invalid_frequency", R"("1 day")"},
      {"1 empty", With("frequency", ""), "invalid_frequency", R"("")"},
      {"1 too short", With("frequency", "59m"), "invalid_frequency", "59m"},
      {"1 too short, but not 5m", With("frequency", "6m"), "invalid_frequency", "1h"},
      {"1 too long", With("frequency", "31d"), "invalid_frequency", "30d"},
      {"1 too long in weeks", With("frequency", "5w"), "invalid_frequency", "30d"},
      {"1 huge", With("frequency", "99999999999999999999d"), "invalid_frequency", "frequency"},
      {"1 seconds", With("frequency", "3600s"), "invalid_frequency", "3600s"},
      {"2", With("tier", "xhigh"), "invalid_tier", "xhigh"},
      {"2 case", With("tier", "Low"), "invalid_tier", "Low"},
      {"3", With("subject_type", "person"), "invalid_subject_type", "person"},
      {"4", With("struct", Json::object()), "empty_struct", "struct"},
      {"5", With("struct", Json{{"domain", "text"}}), "column_conflict", "domain"},
      {"6 absent", rows(R"([{"domain":"a"},{"price":1}])"), "missing_key_value", "rows[1]"},
      {"6 null and blank", rows(R"([{"domain":null,"name":"  "}])"), "missing_key_value",
       "domain, name"},
      {"7", rows(R"([{"domain":"a"},{"domain":"b"},{"domain":"a"}])"), "duplicate_key",
       R"(rows[2] has the same key values as rows[0] (domain = "a"))"},
      {"7 number and text", rows(R"([{"domain":1},{"domain":"1"}])"), "duplicate_key", "rows[1]"},
      {"7 trimmed", rows(R"([{"domain":"a"},{"domain":" a "}])"), "duplicate_key", "rows[1]"},
      {"7 null and absent", rows(R"([{"domain":"a","name":null},{"domain":"a"}])"), "duplicate_key",
       "rows[1]"},
      {"8 private", With("webhook_url", "http://10.0.0.1/x"), "invalid_webhook_url", "10.0.0.1"},
      {"8 literal in another spelling", With("webhook_url", "http://0x7f.1/"),
       "invalid_webhook_url", "0x7f.1"},
      {"8 localhost", With("webhook_url", "http://localhost/"), "invalid_webhook_url", "localhost"},
      {"8 scheme", With("webhook_url", "ftp://x.example/"), "invalid_webhook_url", "ftp"},
      {"8 user", With("webhook_url", "https://u:p@x.example/"), "invalid_webhook_url", "webhook"},
      {"8 fragment", With("webhook_url", "https://x.example/#f"), "invalid_webhook_url", "webhook"},
      {"8 empty", With("webhook_url", ""), "invalid_webhook_url", "webhook"},
      {"8 too long", With("webhook_url", "https://x.example/" + std::string(2083, 'x')),
       "invalid_webhook_url", "2083"},
  };
  for (const Broken& c : cases) {
    const auto breach = Validate(c.body);
    ASSERT_TRUE(breach) << c.rule;
    EXPECT_EQ(breach->code, c.error) << c.rule;
    EXPECT_THAT(breach->message, HasSubstr(c.says)) << c.rule;
  }
}

TEST(CreateRules, BoundariesAreAccepted) {
  for (const Json& body :
       {With("frequency", "1h"), With("frequency", "60m"), With("frequency", "30d"),
        With("frequency", "4w"), With("tier", "micro"), With("tier", "high"),
        With("subject_type", "lead"),
        With("webhook_url", "https://x.example/" + std::string(2083 - 18, 'x')),
        With("rows", base::ParseJsonOrThrow(R"([{"domain":"a"},{"domain":"A"},{"name":"a"}])"))}) {
    const auto breach = Validate(body);
    EXPECT_FALSE(breach) << breach->message;
  }
}

TEST(CreateRules, TheLowestBrokenRuleIsReported) {
  Json body = With("frequency", "1s");
  body["tier"] = "none";
  body["webhook_url"] = "x";
  EXPECT_EQ(Validate(body)->code, "invalid_frequency");
  body["frequency"] = "1h";
  EXPECT_EQ(Validate(body)->code, "invalid_tier");
}

TEST(Frequency, FiveMinutesNeedTesting) {
  EXPECT_TRUE(ReadFrequency("5m", Limits()).needs_testing);
  EXPECT_FALSE(ReadFrequency("1h", Limits()).needs_testing);
}

TEST(Frequency, WhatIsNoneIsToldWhichThereAre) {
  for (const char* text : {"0h", "99999999999999999999h", "1", "1.5h"}) {
    const auto reply = test::RefusalOf([&] { ReadFrequency(text, Limits()); });
    ASSERT_TRUE(reply) << text;
    EXPECT_THAT(reply->body, HasSubstr("is not a number above 0 and a unit")) << text;
    EXPECT_THAT(reply->body, HasSubstr("from 1h to 30d")) << text;
  }
}

TEST(Frequency, AConfiguredMinimumReplacesTheBoundAndAdmitsSeconds) {
  config::LimitsConfig limits = Limits();
  limits.frequency_min = std::chrono::seconds(2);
  EXPECT_FALSE(ReadFrequency("2s", limits).needs_testing);
  EXPECT_FALSE(ReadFrequency("5m", limits).needs_testing);
  EXPECT_THROW(ReadFrequency("1s", limits), rest::Refusal);
}

TEST(UpdateBody, KnowsAbsentFromNull) {
  rest::Problems problems;
  const UpdateBody body = ReadUpdateBody(
      base::ParseJsonOrThrow(R"({"webhook_url":null,"metadata":{"a":1}})"), Limits(), &problems);
  EXPECT_FALSE(problems.any());
  ASSERT_TRUE(body.webhook_url);
  EXPECT_FALSE(*body.webhook_url);
  ASSERT_TRUE(body.metadata_json);
  EXPECT_EQ(*body.metadata_json, R"({"a":1})");
  EXPECT_FALSE(body.research_plan);
}

TEST(DescriptionWarnings, G10_SelectorsAreCheckedForABoundedTime) {
  config::Config config{};
  config.probes["low"].kind = "web";
  HandClock clock;
  Json watched = Json::object();
  for (int i = 0; i < 64; ++i) watched["f" + std::to_string(i)] = "regex:(x{100}){10}";
  int checked = 0;
  const auto slow = [&](const std::string&, const std::string&) -> std::optional<std::string> {
    ++checked;
    clock.Pass(std::chrono::milliseconds(33));
    return std::nullopt;
  };
  const auto warnings = DescriptionWarnings(watched, domain::Tier::kLow, config, slow, clock);
  EXPECT_EQ(checked, 4);
  ASSERT_TRUE(warnings);
  EXPECT_EQ(base::ParseJsonOrThrow(*warnings).size(), 1U);
  EXPECT_THAT(*warnings, HasSubstr("not checked"));
  EXPECT_THAT(*warnings, HasSubstr("f63"));
  EXPECT_THAT(*warnings, testing::Not(HasSubstr("f3\\\"")));
}

TEST(ProbeMember, AsksForNoMoreThanTheTierGivesAndTheRefusalSaysWhatThatIs) {
  config::Config config{};
  config.probes["low"].kind = "web";
  config.probes["low"].render = "auto";
  config.probes["medium"].kind = "web";
  config.probes["high"].kind = "http";
  const auto check = [&](std::optional<domain::Render> render, const std::string& wait_for,
                         domain::Tier tier) {
    CheckProbe({render, wait_for}, tier, false, net::AddressPolicy({}), config,
               [](const auto&, const auto&) { return std::nullopt; });
  };
  using domain::Render;
  using domain::Tier;
  EXPECT_NO_THROW(check(std::nullopt, "", Tier::kHigh));
  EXPECT_NO_THROW(check(std::nullopt, "#a", Tier::kLow));
  EXPECT_NO_THROW(check(Render::kAuto, "#a", Tier::kLow));
  EXPECT_NO_THROW(check(Render::kNever, "", Tier::kHigh));
  for (const Tier tier : {Tier::kMedium, Tier::kHigh}) {
    EXPECT_THROW(check(Render::kAuto, "", tier), rest::Refusal);
    EXPECT_THROW(check(std::nullopt, "#a", tier), rest::Refusal);
  }
  EXPECT_THROW(check(Render::kNever, "#a", Tier::kLow), rest::Refusal);
  const auto reply = test::RefusalOf([&] { check(Render::kAlways, "", Tier::kLow); });
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 400);
  for (const char* part : {"invalid_render", "always", "low", "auto"}) {
    EXPECT_THAT(reply->body, HasSubstr(part));
  }
}

TEST(DescriptionWarnings, NameProseThatTheWebProbeCannotServe) {
  config::Config config{};
  config.probes["low"].kind = "web";
  config.probes["high"].kind = "http";
  const Json watched{{"a", "css:.a"}, {"b", "the name of the CEO"}};
  const auto sound = [](const std::string&, const std::string&) { return std::nullopt; };
  const auto warnings =
      DescriptionWarnings(watched, domain::Tier::kLow, config, sound, HandClock());
  ASSERT_TRUE(warnings);
  EXPECT_EQ(base::ParseJsonOrThrow(*warnings).size(), 1U);
  EXPECT_THAT(*warnings, HasSubstr("struct.\\\"b\\\""));
  EXPECT_FALSE(DescriptionWarnings(watched, domain::Tier::kHigh, config, sound, HandClock()));
  config.probes["low"].url = "http://model.example";
  config.probes["low"].model = "m";
  EXPECT_FALSE(DescriptionWarnings(watched, domain::Tier::kLow, config, sound, HandClock()));
}

TEST(DescriptionWarnings, NameSelectorsThatCannotBeRead) {
  config::Config config{};
  config.probes["low"].kind = "web";
  config.probes["high"].kind = "http";
  const Json watched{{"a", "css:.a"}, {"b", "css:.b["}};
  const auto fault = [](const std::string& field, const std::string& description) {
    return description == "css:.b[" ? std::optional("It is wrong: " + field + ".") : std::nullopt;
  };
  for (const char* model : {"", "m"}) {
    config.probes["low"].url = config.probes["low"].model = model;
    const auto warnings =
        DescriptionWarnings(watched, domain::Tier::kLow, config, fault, HandClock());
    ASSERT_TRUE(warnings);
    EXPECT_EQ(base::ParseJsonOrThrow(*warnings),
              Json({"struct.\"b\": It is wrong: b. This field will never be observed."}));
  }
  EXPECT_FALSE(DescriptionWarnings(watched, domain::Tier::kHigh, config, fault, HandClock()));
}

using Kind = store::ControlOutcome::Kind;

// How often it was validated again, and the outcome, where the writes come to `kinds` in turn.
std::pair<int, Kind> ValidatedAgain(const std::vector<Kind>& kinds) {
  int validated = 0;
  std::size_t written = 0;
  const auto outcome = WriteValidated(
      [&] { return store::ControlOutcome{.kind = kinds.at(written++)}; }, [&] { ++validated; });
  return {validated, outcome.kind};
}

TEST(WriteValidated, ValidatesAgainWhatOthersChangedTenTimesInAll) {
  EXPECT_EQ(ValidatedAgain({Kind::kDone}), std::pair(0, Kind::kDone));
  EXPECT_EQ(ValidatedAgain({Kind::kChanged, Kind::kNotFound}), std::pair(1, Kind::kNotFound));
  EXPECT_EQ(ValidatedAgain(std::vector(10, Kind::kChanged)), std::pair(9, Kind::kChanged));
}

}  // namespace
}  // namespace vedette::api
