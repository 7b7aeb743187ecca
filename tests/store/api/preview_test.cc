#include "tests/store/support/tenant_support.h"

// POST /monitors/preview, with a previewer of the test's own.
namespace vedette::test {
namespace {

using base::Json;

class ApiPreview : public ApiTest {
 public:
  Reply Preview(const Json& changes = Json::object()) {
    Json body = {{"key_columns", {"domain"}},
                 {"rows", {{{"domain", "a.example"}, {"url", "https://a.example/"}}}},
                 {"struct", {{"price", "css:.price"}, {"gone", "css:.gone"}}}};
    body.update(changes);
    return Ask("POST", "/monitors/preview", body);
  }

  static domain::Observation Seen() {
    domain::Observation seen;
    seen.fields["price"] = {base::Json("49"), "Now 49", {"https://a.example/"}, {}};
    seen.fields["gone"] = {};
    seen.unread["typo"] = {"bad_selector", "It is none.", false, {}};
    return seen;
  }
};

TEST_F(ApiPreview, ShowsWhatWasObservedByRowAndField) {
  previewer.outcome.rows = {Seen()};
  const Reply reply = Preview();
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  const Json& row = reply.body["rows"][0];
  EXPECT_EQ(row["subject"], Json({{"domain", "a.example"}}));
  EXPECT_EQ(row["observed"]["price"]["value"], "49");
  EXPECT_EQ(row["observed"]["price"]["evidence"], "Now 49");
  EXPECT_EQ(row["observed"]["price"]["sources"], Json::array({"https://a.example/"}));
  EXPECT_EQ(row["observed"]["gone"]["value"], nullptr);
  EXPECT_EQ(row["unread"]["typo"], "bad_selector: It is none.");
  EXPECT_EQ(row["error"], nullptr);
  ASSERT_TRUE(previewer.asked);
  EXPECT_EQ(previewer.asked->org_id.ToString(), acme.org_id);
  EXPECT_EQ(previewer.asked->tier, domain::Tier::kLow);
  ASSERT_EQ(previewer.asked->watched.size(), 2U);
  EXPECT_EQ(previewer.asked->watched[0].description, "css:.price");
  EXPECT_EQ(Sql("select count(*) from monitor"), "0");
}

TEST_F(ApiPreview, ARowOfWhichNothingCouldBeSeenSaysWhy) {
  previewer.outcome.rows = {domain::Failure{"dns", "No such name.", true, {}}};
  const Reply reply = Preview();
  EXPECT_EQ(reply.body["rows"][0]["error"], "dns: No such name.");
  EXPECT_EQ(reply.body["rows"][0]["observed"], Json::object());
}

TEST_F(ApiPreview, LooksAtTheFirstFiveRowsAndCutsLongValues) {
  Json rows = Json::array();
  for (int i = 0; i < 8; ++i) rows.push_back({{"domain", "d" + std::to_string(i)}});
  domain::Observation seen;
  seen.fields["price"].value = base::Json(std::string(10'000, 'x'));
  previewer.outcome.rows.assign(5, seen);
  const Reply reply = Preview({{"rows", rows}});
  ASSERT_EQ(reply.body["rows"].size(), 5U) << reply.raw.body;
  EXPECT_EQ(previewer.asked->rows.size(), 5U);
  EXPECT_EQ(reply.body["rows"][4]["observed"]["price"]["value"].get<std::string>().size(), 4096U);
}

TEST_F(ApiPreview, ABodyOfACreationIsTakenAndCheckedAsOne) {
  previewer.outcome.rows.assign(2, Seen());
  EXPECT_EQ(Ask("POST", "/monitors/preview", GoodBody()).status, 200);
  EXPECT_EQ(Preview({{"rows", {{{"domain", " "}}}}}).error(), "missing_key_value");
  EXPECT_EQ(Preview({{"tier", "huge"}}).status, 400);
  EXPECT_EQ(Preview({{"struct", Json::object()}}).status, 400);
  EXPECT_EQ(Preview({{"nonsense", 1}}).status, 422);
  EXPECT_EQ(Preview({{"rows", nullptr}, {"resource_handle_id", "x"}}).loc(),
            R"(["body","resource_handle_id"])");
}

TEST_F(ApiPreview, TiersThatCostTheOperatorMoneyAreNotPreviewed) {
  const Reply reply = Preview({{"tier", "high"}});
  EXPECT_EQ(reply.status, 409);
  EXPECT_FALSE(previewer.asked);
}

TEST_F(ApiPreview, WhatIsOverAShareIsRefusedAndSaysWhose) {
  using Refusal = api::PreviewOutcome::Refusal;
  previewer.outcome.refusal = Refusal::kOrganisation;
  const Reply own = Preview();
  EXPECT_EQ(own.status, 429);
  EXPECT_EQ(own.Header("Retry-After"), "1");
  previewer.outcome.refusal = Refusal::kAll;
  EXPECT_EQ(Preview().status, 503);
}

}  // namespace
}  // namespace vedette::test
