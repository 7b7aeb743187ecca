// The routes of channels, and monitors that name some.
#include <gmock/gmock.h>

#include "domain/channel/channel.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;
using testing::Not;

const std::string kSlack = "https://hooks.slack.example/services/T0/B0/secret1234";

class ApiChannels : public ApiTest {
 public:
  ApiChannels() : ApiTest({{"VEDETTE_SECURITY_ENCRYPTION_KEY", std::string(64, 'a')}}) {}

  static Json Webhook(const Json& changes = Json::object()) {
    Json body{{"name", "Prices"},
              {"kind", "webhook"},
              {"target", {{"url", "https://hooks.example.com/prices"}}}};
    body.update(changes);
    return body;
  }
  Reply Make(const Json& changes = Json::object()) {
    return Ask("POST", "/channels", Webhook(changes));
  }
  std::string MakeId(const Json& changes = Json::object()) { return Make(changes).body["id"]; }
};

TEST_F(ApiChannels, IsMadeShownListedChangedAndDeleted) {
  const Reply made = Make();
  ASSERT_EQ(made.status, 200) << made.raw.body;
  EXPECT_EQ(made.body["kind"], "webhook");
  EXPECT_EQ(made.body["target"], (Json{{"url", "https://hooks.example.com/prices"}}));
  EXPECT_EQ(made.body["events"], (Json{"monitor.field.changed", "monitor.execution.failed"}));
  EXPECT_EQ(made.body["digest"], "none");
  EXPECT_EQ(made.body["include_values"], true);
  EXPECT_EQ(made.body["status"], "active");
  const std::string path = "/channels/" + made.body["id"].get<std::string>();
  EXPECT_EQ(Ask("GET", path).body, made.body);
  const std::string second = MakeId({{"name", "Second"}});
  const Reply page = Ask("GET", "/channels?limit=1");
  EXPECT_EQ(page.body["channels"][0]["id"], second) << "newest first";
  const std::string cursor = page.body["next_cursor"];
  EXPECT_EQ(Ask("GET", "/channels?limit=1&cursor=" + cursor).body["channels"],
            Json::array({made.body}));
  const Reply changed =
      Ask("POST", path + "/update",
          Json{{"events", {"monitor.execution.completed"}}, {"include_values", false}});
  EXPECT_EQ(changed.body["events"], (Json{"monitor.execution.completed"}));
  EXPECT_EQ(changed.body["include_values"], false);
  EXPECT_EQ(changed.body["target"], made.body["target"]) << "what is left out stays";
  EXPECT_EQ(Ask("DELETE", path).body["deleted"], true);
  EXPECT_EQ(Ask("GET", path).status, 404);
}

TEST_F(ApiChannels, TheAddressOfAChatIsSealedAndShownInPartAlone) {
  const Reply made = Make({{"kind", "slack"}, {"target", {{"url", kSlack}}}});
  ASSERT_EQ(made.status, 200) << made.raw.body;
  EXPECT_EQ(made.body["target"]["url"], "https://hooks.slack.example/...1234");
  for (const char* table : {"channel", "audit", "endpoint"}) {
    EXPECT_THAT(Sql(std::string("select string_agg(t::text, ' ') from ") + table + " t"),
                Not(HasSubstr("secret")));
  }
  EXPECT_EQ(Sql("select position('secret'::bytea in sealed_url) from channel"), "0");
}

TEST_F(ApiChannels, WhatCannotBeToldIsRefusedWithItsReason) {
  EXPECT_EQ(Make({{"kind", "pigeon"}}).loc(), R"(["body","kind"])");
  EXPECT_EQ(Make({{"digest", "monthly"}}).loc(), R"(["body","digest"])");
  EXPECT_EQ(Make({{"digest", "daily at 09:00 Europe/Berlim"}}).loc(), R"(["body","digest"])");
  EXPECT_EQ(
      Ask("POST", "/channels", Json{{"name", "f"}, {"kind", "feed"}, {"digest", "hourly"}}).loc(),
      R"(["body","digest"])");
  EXPECT_EQ(Make({{"events", Json::array()}}).loc(), R"(["body","events"])");
  EXPECT_EQ(Make({{"events", {"monitor.webhook.test"}}}).loc(), R"(["body","events",0])");
  EXPECT_EQ(Make({{"target", Json::object()}}).loc(), R"(["body","target","url"])");
  EXPECT_EQ(Make({{"target", {{"url", "https://a.example"}, {"tag", "x"}}}}).loc(),
            R"(["body","target","tag"])");
  const Reply inside = Make({{"target", {{"url", "http://127.0.0.1/"}}}});
  EXPECT_EQ(inside.status, 400);
  EXPECT_EQ(inside.error(), "invalid_target");
  EXPECT_EQ(Make({{"kind", "apprise"},
                  {"target", {{"url", "https://a.example/notify/k"}, {"tag", "sales"}}}})
                .body["target"]["tag"],
            "sales");
}

TEST_F(ApiChannels, EmailWithoutARelayIsRefusedWithThatReason) {
  const Reply refused =
      Make({{"kind", "email"}, {"target", {{"addresses", {"ann@acme.example"}}}}});
  EXPECT_EQ(refused.loc(), R"(["body","kind"])");
  EXPECT_THAT(refused.raw.body, HasSubstr("[mail] relay"));
}

TEST_F(ApiChannels, ADigestIsShownAsItWasGivenAndIsDueByItsClock) {
  const Reply made = Make({{"digest", "daily at 09:00 Europe/Berlin"}});
  EXPECT_EQ(made.body["digest"], "daily at 09:00 Europe/Berlin") << made.raw.body;
  EXPECT_EQ(Sql("select to_char(digest_at at time zone 'Europe/Berlin', 'HH24:MI') from channel"),
            "09:00");
  const std::string path = "/channels/" + made.body["id"].get<std::string>() + "/update";
  Ask("POST", path, Json{{"name", "n"}});
  EXPECT_EQ(Sql("select digest_at > now() from channel"), "t");
  EXPECT_EQ(Ask("POST", path, Json{{"digest", "none"}}).body["digest"], "none");
  EXPECT_EQ(Sql("select digest_at <= now() from channel"), "t") << "what waits goes soon";
}

TEST_F(ApiChannels, OneThatIsPausedSaysSoIsNotTriedAndGoesOnWhenItIsResumed) {
  const std::string path = "/channels/" + MakeId();
  const Reply paused = Ask("POST", path + "/update", Json{{"is_active", false}});
  EXPECT_EQ(paused.body["status"], "suspended") << paused.raw.body;
  EXPECT_EQ(paused.body["status_reason"], "paused");
  EXPECT_EQ(Ask("POST", path + "/test", Json::object()).status, 409);
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"name", "m"}}).body["status"], "suspended");
  const Reply resumed = Ask("POST", path + "/update", Json{{"is_active", true}});
  EXPECT_EQ(resumed.body["status"], "active");
  EXPECT_FALSE(resumed.body.contains("status_reason"));
  const std::string feed =
      Ask("POST", "/channels", Json{{"name", "f"}, {"kind", "feed"}}).body["id"];
  EXPECT_EQ(Ask("POST", "/channels/" + feed + "/update", Json{{"is_active", false}}).loc(),
            R"(["body","is_active"])");
}

TEST_F(ApiChannels, ItsPageListsWhatIsPendingWasGivenUpAndArrivedNewestFirst) {
  const std::string id = MakeId();
  const auto insert = [&](int n, const std::string& into, const std::string& values) {
    Sql("insert into " + into +
        ", org_id, monitor_id, row_id, event_group_id, type, channel_id, created_at) values (" +
        values + ", '00000000-0000-7000-8000-00000000000" + std::to_string(n) + "', '" +
        acme.org_id + "', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0, '" + id +
        "', now())");
  };
  insert(1, "delivery (endpoint_id, state, available_at, attempts, last_error, id",
         "gen_random_uuid(), 4, now(), 12, 'http_status: 500'");
  insert(2, "delivery_attempt (attempt, attempted_at, delivered, duration_us, delivery_id",
         "1, now(), true, 5");
  insert(3, "delivery (endpoint_id, state, available_at, id", "gen_random_uuid(), 3, now()");
  const std::string path = "/channels/" + id + "/deliveries";
  const Reply page = Ask("GET", path + "?limit=2");
  ASSERT_EQ(page.status, 200) << page.raw.body;
  EXPECT_EQ(page.body["deliveries"][0]["state"], "pending");
  EXPECT_EQ(page.body["deliveries"][0]["event_type"], "monitor.field.changed");
  EXPECT_EQ(page.body["deliveries"][1]["state"], "delivered");
  const Json rest =
      Ask("GET", path + "?limit=2&cursor=" + page.body["next_cursor"].get<std::string>()).body;
  ASSERT_EQ(rest["deliveries"].size(), 1U) << rest;
  EXPECT_EQ(rest["deliveries"][0]["state"], "dead");
  EXPECT_EQ(rest["deliveries"][0]["last_error"], "http_status: 500");
  EXPECT_FALSE(rest.contains("next_cursor"));
}

TEST_F(ApiChannels, TheOrganisationIsToldOfItselfByThoseThatItNames) {
  const std::string first = MakeId();
  const std::string second = MakeId();
  EXPECT_EQ(Ask("GET", "/account/channels").body["channel_ids"], Json::array());
  const auto set = [this](const Json& ids) {
    return Ask("POST", "/account/channels", Json{{"channel_ids", ids}});
  };
  EXPECT_EQ(set({second, first}).body["channel_ids"], (Json{second, first}));
  EXPECT_EQ(set({base::Uuid::V4().ToString()}).status, 404);
  EXPECT_EQ(Ask("POST", "/account/channels", Json::object()).status, 422);
  EXPECT_EQ(Ask("POST", "/account/channels", Json{{"channel_ids", nullptr}}).type(), "missing");
  Ask("DELETE", "/channels/" + second);
  EXPECT_EQ(Ask("GET", "/account/channels").body["channel_ids"], (Json{first}));
  EXPECT_EQ(set(Json::array()).body["channel_ids"], Json::array());
  EXPECT_EQ(
      Sql("select notice_channel_ids is null from organisation where id = '" + acme.org_id + "'"),
      "t");
}

TEST_F(ApiChannels, ItsLocaleIsChangedAndStaysWhereItIsLeftOut) {
  const std::string path = "/channels/" + MakeId({{"locale", "en"}}) + "/update";
  EXPECT_EQ(Ask("POST", path, Json{{"locale", "de"}}).body["locale"], "de");
  EXPECT_EQ(Ask("POST", path, Json{{"name", "n"}}).body["locale"], "de");
  EXPECT_EQ(Ask("POST", path, Json{{"locale", ""}}).status, 422);
}

TEST_F(ApiChannels, ATargetIsReplacedAsAWhole) {
  const std::string path =
      "/channels/" + MakeId({{"kind", "apprise"},
                             {"target", {{"url", "https://a.example/notify/k"}, {"tag", "x"}}}});
  const Json named = Ask("POST", path + "/update", Json{{"name", "n"}}).body["target"];
  EXPECT_EQ(named["tag"], "x") << "what is left out stays";
  const Json target{{"url", "https://a.example/notify/k"}};
  const Json untagged = Ask("POST", path + "/update", Json{{"target", target}}).body["target"];
  EXPECT_FALSE(untagged.contains("tag")) << untagged.dump();
}

TEST_F(ApiChannels, AnOrganisationHasAtMostSoMany) {
  Sql("insert into channel (id, org_id, name, kind, url, events) select gen_random_uuid(), '" +
      acme.org_id + "', 'n', 0, 'https://a.example', '{0}' from generate_series(1, " +
      std::to_string(domain::kChannelsMax) + ")");
  EXPECT_EQ(Make().error(), "too_many_channels");
  Sql("delete from channel where id = (select id from channel limit 1)");
  EXPECT_EQ(Make().status, 200);
}

TEST_F(ApiChannels, AMonitorNamesUpToTenOfTheOrganisations) {
  const std::string first = MakeId();
  const std::string second = MakeId();
  const std::string monitor = NewMonitor({{"channel_ids", {second, first, second}}});
  const std::string path = "/monitors/" + monitor;
  EXPECT_EQ(Ask("GET", path).body["channel_ids"], (Json{second, first}));
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"channel_ids", {first}}}).body["channel_ids"],
            (Json{first}));
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"name", "n"}}).body["channel_ids"], (Json{first}));
  Ask("DELETE", "/channels/" + first);
  EXPECT_EQ(Ask("GET", path).body["channel_ids"], Json::array());
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"channel_ids", nullptr}}).body["channel_ids"],
            Json::array());
  EXPECT_EQ(Sql("select count(*) from monitor where channel_ids is null"), "1");
  const Json many(std::vector<std::string>(11, second));
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"channel_ids", many}}).loc(),
            R"(["body","channel_ids"])");
}

TEST_F(ApiChannels, AForeignOrganisationsIsA404Everywhere) {
  const std::string id = MakeId();
  const Tenant other = NewTenant("other");
  const Headers key{{"x-api-key", other.key}};
  const std::string path = "/channels/" + id;
  EXPECT_EQ(Ask("GET", path, key).status, 404);
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"name", "stolen"}}, key).status, 404);
  EXPECT_EQ(Ask("POST", path + "/test", Json::object(), key).status, 404);
  EXPECT_EQ(Ask("DELETE", path, key).status, 404);
  EXPECT_EQ(Ask("GET", "/channels", key).body["channels"], Json::array());
  Json monitor = GoodBody();
  monitor["channel_ids"] = {id};
  EXPECT_EQ(Ask("POST", "/monitors", monitor, key).status, 404);
  EXPECT_EQ(Sql("select name from channel"), "Prices");
  EXPECT_FALSE(tester.tested);
}

TEST_F(ApiChannels, ATestTellsTheChannelOnceAndSaysHowItWent) {
  const std::string id = MakeId();
  const Reply reply = Ask("POST", "/channels/" + id + "/test", Json::object());
  EXPECT_EQ(reply.body["delivered"], true) << reply.raw.body;
  EXPECT_EQ(reply.body["status_code"], 204);
  ASSERT_TRUE(tester.tested);
  EXPECT_EQ(tester.tested->channel_id->ToString(), id);
}

}  // namespace
}  // namespace vedette::test
