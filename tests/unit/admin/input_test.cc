#include "admin/input.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace vedette::admin {
namespace {

net::ServerRequest Request(std::string body, std::string content_type = "application/json") {
  net::ServerRequest request;
  request.headers = {{"content-type", std::move(content_type)}};
  request.body = std::move(body);
  return request;
}

net::ServerRequest QueryRequest(std::string query) {
  net::ServerRequest request;
  request.query = std::move(query);
  return request;
}

base::Json Body(const Answer& answer) {
  return base::ParseJsonOrThrow(answer.body);
}

TEST(BodyReader, ReadsWhatIsThere) {
  BodyReader body(Request(R"({"name":"Acme","on":true,"amount":1.5,"features":["b","a","b"]})"));
  EXPECT_EQ(body.Text("name", Presence::kRequired, 10), "Acme");
  EXPECT_EQ(body.Bool("on", Presence::kRequired), true);
  EXPECT_EQ(body.Credits("amount", Presence::kRequired), 1500);
  EXPECT_EQ(body.Names("features", Presence::kOptional, {"a", "b"}),
            (std::vector<std::string>{"b", "a"}));
  EXPECT_FALSE(body.Text("reason", Presence::kOptional, 10));
  EXPECT_FALSE(body.Refusal());
}

TEST(BodyReader, NamesEveryWrongMissingAndUnknownFieldAtOnce) {
  BodyReader body(Request(R"({"name":7,"extra":1})"));
  body.Text("name", Presence::kRequired, 10);
  body.Credits("amount", Presence::kRequired);
  const auto refusal = body.Refusal();
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
  BodyReader fits(Request(R"({"name":"äöü"})"));
  EXPECT_TRUE(fits.Text("name", Presence::kRequired, 3));
  BodyReader longer(Request(R"({"name":"äöü"})"));
  EXPECT_FALSE(longer.Text("name", Presence::kRequired, 2));
  EXPECT_TRUE(longer.Refusal());
}

TEST(BodyReader, RefusesBlankText) {
  BodyReader body(Request(R"({"reason":" \t "})"));
  EXPECT_FALSE(body.Text("reason", Presence::kOptional, 10));
  EXPECT_EQ(body.Refusal()->status, 422);
}

TEST(BodyReader, TakesNoBodyForAnEmptyObject) {
  BodyReader body(Request("", ""));
  EXPECT_FALSE(body.Text("reason", Presence::kOptional, 10));
  EXPECT_FALSE(body.Refusal());
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
        BadBody{"{}", "", 415}, BadBody{"{}", "application/json-seq", 415}}) {
    BodyReader body(Request(bad.body, bad.content_type));
    const auto refusal = body.Refusal();
    ASSERT_TRUE(refusal) << bad.body;
    EXPECT_EQ(refusal->status, bad.status) << bad.body << bad.content_type;
    EXPECT_TRUE(Body(*refusal)["error"].is_string());
    EXPECT_TRUE(Body(*refusal)["message"].is_string());
  }
}

TEST(BodyReader, RefusesABodyOverTheLimit) {
  net::ServerRequest request = Request("");
  request.body_too_large = true;
  BodyReader body(request);
  body.Text("name", Presence::kRequired, 10);
  EXPECT_EQ(body.Refusal()->status, 413);
}

TEST(BodyReader, RefusesCreditsThatAreNotExact) {
  for (const char* amount : {"0.0001", "1e30", "\"1\"", "null", "true", "[]"}) {
    BodyReader body(Request(std::string("{\"amount\":") + amount + "}"));
    EXPECT_FALSE(body.Credits("amount", Presence::kRequired)) << amount;
    ASSERT_TRUE(body.Refusal()) << amount;
    EXPECT_EQ(body.Refusal()->status, 422);
  }
}

TEST(BodyReader, BoundsNumbers) {
  for (const char* hours : {"-1", "101", "\"5\"", "null"}) {
    BodyReader body(Request(std::string("{\"hours\":") + hours + "}"));
    EXPECT_FALSE(body.Number("hours", Presence::kRequired, 0, 100)) << hours;
    EXPECT_TRUE(body.Refusal()) << hours;
  }
  BodyReader body(Request(R"({"hours":0})"));
  EXPECT_EQ(body.Number("hours", Presence::kRequired, 0, 100), 0.0);
}

TEST(QueryReader, RefusesALimitThatIsNone) {
  for (const char* limit : {"0", "1001", "-1", "1x", "", "99999999999999999999", "1.5"}) {
    QueryReader query(QueryRequest(std::string("limit=") + limit));
    query.Limit();
    const auto refusal = query.Refusal();
    ASSERT_TRUE(refusal) << limit;
    EXPECT_EQ(refusal->status, 422);
    EXPECT_EQ(Body(*refusal)["detail"][0]["loc"], base::Json::array({"query", "limit"}));
  }
  QueryReader query(QueryRequest("limit=1000&unknown=1"));
  EXPECT_EQ(query.Limit(), 1000);
  EXPECT_FALSE(query.Refusal());
  QueryReader absent(QueryRequest(""));
  EXPECT_EQ(absent.Limit(), 100);
}

TEST(QueryReader, RefusesABadEscape) {
  QueryReader query(QueryRequest("q=%zz"));
  EXPECT_EQ(query.Refusal()->status, 400);
}

TEST(Cursor, ComesBackAsMadeAndOnlyForItsKindOfList) {
  const base::Uuid id = base::Uuid::V4();
  const base::Timestamp at = base::ParseTimestamp("2026-11-21T09:30:00.123456Z");
  EXPECT_EQ(ReadCursor('o', MakeCursor('o', id))->id, id);
  const auto cursor = ReadCursor('a', MakeCursor('a', at, id));
  ASSERT_TRUE(cursor);
  EXPECT_EQ(cursor->id, id);
  EXPECT_EQ(cursor->at, at);
  EXPECT_FALSE(ReadCursor('d', MakeCursor('o', id)));
}

TEST(Cursor, RefusesWhatWasNotMadeHere) {
  std::string other_version = MakeCursor('o', base::Uuid::V4());
  other_version[1] = '2';
  const std::string beyond_all_times =
      MakeCursor('o', base::Timestamp(std::chrono::microseconds(-1)), base::Uuid::V4());
  for (const std::string& text :
       {std::string(), std::string("x"), std::string("316f"), other_version, beyond_all_times,
        MakeCursor('o', base::Uuid::V4()) + "00"}) {
    EXPECT_FALSE(ReadCursor('o', text)) << text;
  }
}

}  // namespace
}  // namespace vedette::admin
