#include "api/kit/body.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "tests/support/fake_exchange.h"
#include "tests/support/refusal.h"

namespace vedette::rest {
namespace {

using vedette::test::Request;

const BodyRules kRules{.bytes_max = 100, .absent = BodyRules::Absent::kEmptyObject};

// Reads a request's whole body, in which null is a wrong value.
struct Reader : BodyReader {
  explicit Reader(const net::ServerRequest& request) : BodyReader(request, kRules, Nulls::kWrong) {}
};

base::Json Body(const Reply& reply) {
  return base::ParseJsonOrThrow(reply.body);
}

std::optional<Reply> RefusalOf(BodyReader* body) {
  return vedette::test::RefusalOf([&] { body->Check(); });
}

TEST(BodyReader, ReadsWhatIsThere) {
  Reader body(Request(R"({"name":"Acme","on":true,"amount":1.5,"features":["b","a","b"]})"));
  EXPECT_EQ(body.FilledText("name", Presence::kRequired, 10), "Acme");
  EXPECT_EQ(body.Boolean("on", Presence::kRequired), true);
  EXPECT_EQ(body.Credits("amount", Presence::kRequired), 1500);
  EXPECT_EQ(body.Names("features", Presence::kOptional, {"a", "b"}),
            (std::vector<std::string>{"b", "a"}));
  EXPECT_FALSE(body.FilledText("reason", Presence::kOptional, 10));
  EXPECT_FALSE(RefusalOf(&body));
}

TEST(BodyReader, AnIntegerBeyond64BitsIsToldItsLimit) {
  const net::ServerRequest request = Request(
      R"({"a":18446744073709551616,"b":-18446744073709551616,"c":1e30,"d":-0,"e":9223372036854775808})");
  BodyRules rules = kRules;
  rules.json.keep_numbers = true;
  BodyReader body(request, rules, Nulls::kWrong);
  for (const char* name : {"a", "b", "c", "e"}) body.Integer(name, Presence::kRequired, 1, 100);
  EXPECT_EQ(body.Integer("d", Presence::kRequired, 0, 100), 0);
  const auto refusal = RefusalOf(&body);
  ASSERT_TRUE(refusal);
  const base::Json detail = Body(*refusal)["detail"];
  std::string types;
  for (const base::Json& item : detail) {
    types += item["type"].get<std::string>() + " ";
  }
  EXPECT_EQ(types, "less_than_equal greater_than_equal less_than_equal less_than_equal ");
}

TEST(BodyReader, AnIntegerIsOneWhateverItsNotation) {
  for (const bool keep : {false, true}) {
    BodyRules rules = kRules;
    rules.json.keep_numbers = keep;
    const net::ServerRequest request =
        Request(R"({"a":1.0,"b":1e0,"c":10e-1,"d":100E-2,"e":-0.0,"f":1.5,"g":"1"})");
    BodyReader body(request, rules, Nulls::kWrong);
    for (const char* name : {"a", "b", "c", "d"}) {
      EXPECT_EQ(body.Integer(name, Presence::kRequired, 0, 100), 1) << name << keep;
    }
    EXPECT_EQ(body.Integer("e", Presence::kRequired, 0, 100), 0) << keep;
    for (const char* name : {"f", "g"}) {
      EXPECT_FALSE(body.Integer(name, Presence::kRequired, 0, 100)) << name << keep;
    }
  }
}

TEST(BodyReader, ATimeThatHasNoPlaceIsToldWhy) {
  for (const char* time : {"2016-12-31T23:59:60Z", "9999-12-31T23:59:59-01:00"}) {
    Reader body(Request(base::DumpJson(base::Json{{"at", time}})));
    EXPECT_FALSE(body.Time("at", Presence::kRequired));
    const auto refusal = RefusalOf(&body);
    ASSERT_TRUE(refusal) << time;
    EXPECT_EQ(
        Body(*refusal)["detail"][0]["msg"],
        "Input should be an RFC 3339 time, without a leap second and in UTC of the years 0 to "
        "9999");
  }
}

TEST(BodyReader, NothingOfABodyWithASecretIsShown) {
  const std::string secret = "correct horse battery staple";
  const net::ServerRequest request = Request(R"({"password":")" + secret + R"(","passwort":")" +
                                             secret + R"(","pin":12345678,"on":"yes"})");
  BodyRules rules = kRules;
  rules.bytes_max = 1000;
  BodyReader body(request, rules, Nulls::kAbsent);
  body.Secret("password", Presence::kRequired, 1, 10);
  body.Secret("pin", Presence::kRequired, 1, 10);
  body.Boolean("on", Presence::kOptional);
  const auto refusal = RefusalOf(&body);
  ASSERT_TRUE(refusal);
  const base::Json detail = Body(*refusal)["detail"];
  ASSERT_EQ(detail.size(), 4U);
  EXPECT_EQ(detail[0]["type"], "string_too_long");
  EXPECT_EQ(detail[1]["type"], "string_type");
  for (const base::Json& item : detail) EXPECT_EQ(item["input"], nullptr) << item;
}

TEST(BodyReader, NamesEveryWrongMissingAndUnknownFieldAtOnce) {
  Reader body(Request(R"({"name":7,"extra":1})"));
  body.FilledText("name", Presence::kRequired, 10);
  body.Credits("amount", Presence::kRequired);
  const auto refusal = RefusalOf(&body);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 422);
  const base::Json detail = Body(*refusal)["detail"];
  ASSERT_EQ(detail.size(), 3U);
  EXPECT_EQ(detail[0]["loc"], base::Json::array({"body", "name"}));
  EXPECT_EQ(detail[0]["type"], "string_type");
  EXPECT_EQ(detail[0]["input"], 7);
  EXPECT_EQ(detail[1]["loc"], base::Json::array({"body", "amount"}));
  EXPECT_EQ(detail[1]["type"], "missing");
  EXPECT_EQ(detail[2]["loc"], base::Json::array({"body", "extra"}));
  EXPECT_EQ(detail[2]["type"], "extra_forbidden");
}

TEST(BodyReader, CountsCharactersNotBytes) {
  Reader fits(Request(R"({"name":"äöü"})"));
  EXPECT_TRUE(fits.FilledText("name", Presence::kRequired, 3));
  Reader longer(Request(R"({"name":"äöü"})"));
  EXPECT_FALSE(longer.FilledText("name", Presence::kRequired, 2));
  EXPECT_TRUE(RefusalOf(&longer));
}

TEST(BodyReader, RefusesBlankText) {
  Reader body(Request(R"({"reason":" \t "})"));
  EXPECT_FALSE(body.FilledText("reason", Presence::kOptional, 10));
  EXPECT_EQ(RefusalOf(&body)->status, 422);
}

TEST(BodyReader, TakesNoBodyForAnEmptyObject) {
  Reader body(Request("", ""));
  EXPECT_FALSE(body.FilledText("reason", Presence::kOptional, 10));
  EXPECT_FALSE(RefusalOf(&body));
}

struct BadBody {
  std::string body;
  std::string content_type;
  int status;
};

TEST(BodyReader, RefusesABodyThatIsNoJsonObject) {
  for (const BadBody& bad :
       {BadBody{"{", "application/json", 400}, BadBody{"[]", "application/json", 400},
        BadBody{"null", "application/json; charset=utf-8", 400},
        BadBody{std::string(200, '['), "application/json", 400}, BadBody{"{}", "text/plain", 415},
        BadBody{"{}", "application/json-seq", 415},
        BadBody{"{}", "application/json; charset=latin1", 415}}) {
    const auto refusal =
        vedette::test::RefusalOf([&] { Reader(Request(bad.body, bad.content_type)); });
    ASSERT_TRUE(refusal) << bad.body;
    EXPECT_EQ(refusal->status, bad.status) << bad.body << bad.content_type;
    EXPECT_TRUE(Body(*refusal)["error"].is_string());
    EXPECT_TRUE(Body(*refusal)["message"].is_string());
  }
}

TEST(BodyReader, RefusesABodyOverTheLimit) {
  net::ServerRequest request = Request("");
  request.body_too_large = true;
  const auto refusal = vedette::test::RefusalOf([&] { Reader body(request); });
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 413);
}

TEST(BodyReader, RefusesCreditsThatAreNotExact) {
  for (const char* amount : {"0.0001", "1e30", "\"1\"", "null", "true", "[]"}) {
    Reader body(Request(std::string("{\"amount\":") + amount + "}"));
    EXPECT_FALSE(body.Credits("amount", Presence::kRequired)) << amount;
    const auto refusal = RefusalOf(&body);
    ASSERT_TRUE(refusal) << amount;
    EXPECT_EQ(refusal->status, 422);
  }
}

TEST(BodyReader, BoundsNumbers) {
  for (const char* hours : {"-1", "101", "\"5\"", "null"}) {
    Reader body(Request(std::string("{\"hours\":") + hours + "}"));
    EXPECT_FALSE(body.Number("hours", Presence::kRequired, 0, 100)) << hours;
    EXPECT_TRUE(RefusalOf(&body)) << hours;
  }
  Reader body(Request(R"({"hours":0})"));
  EXPECT_EQ(body.Number("hours", Presence::kRequired, 0, 100), 0.0);
}

TEST(BodyReader, UnknownFieldsAreForbidden) {
  const base::Json body{{"a", 1}, {"b", 2}};
  Problems problems;
  BodyReader reader(body, &problems);
  reader.Member("a", Presence::kOptional);
  reader.Finish();
  ASSERT_EQ(problems.Items().size(), 1U);
  EXPECT_EQ(problems.Items()[0]["type"], "extra_forbidden");
  EXPECT_EQ(problems.Items()[0]["loc"].dump(), R"(["body","b"])");
}

TEST(BodyReader, CountsCharactersOfAMemberThatIsRead) {
  const base::Json body{{"a", "\xc3\xa4\xc3\xb6"}};
  Problems problems;
  BodyReader reader(body, &problems);
  EXPECT_TRUE(reader.Text("a", Presence::kRequired, 1, 2));
  EXPECT_FALSE(reader.Text("a", Presence::kRequired, 1, 1));
}

}  // namespace
}  // namespace vedette::rest
