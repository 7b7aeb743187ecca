// Monitors and rows are mended, archived and removed through the API; a row is found alone, and
// events across rows.
#include <gmock/gmock.h>
#include <pqxx/pqxx>

#include "base/crypto.h"
#include "config/probe_config.h"
#include "config/security_config.h"
#include "store/sealed.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiMending : public ApiTest {
 public:
  std::string FirstRow(const std::string& monitor) {
    return Ask("GET", "/monitors/" + monitor + "/rows").body["rows"][0]["id"];
  }
  Reply Update(const std::string& monitor, const Json& body) {
    return Ask("POST", "/monitors/" + monitor + "/update", body);
  }
  void Event(const std::string& monitor, std::int64_t tick_id, int type) {
    Sql("insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, "
        "field, message) select gen_random_uuid(), org_id, monitor_id, id, " +
        std::to_string(tick_id) + ", gen_random_uuid(), " + std::to_string(type) +
        (type == 0 ? ", 'price', null" : ", null, 'timeout: too long'") +
        " from monitor_row where monitor_id = '" + monitor + "' and position = 0 returning 1");
  }
};

TEST_F(ApiMending, StructTierAndSubjectTypeAreUpdatableByTheRulesOfACreate) {
  const std::string id = NewMonitor();
  const Reply mended = Update(id, {{"struct", {{"price", "css:.new"}, {"title", "css:h1"}}},
                                   {"tier", "medium"},
                                   {"subject_type", "lead"}});
  ASSERT_EQ(mended.status, 200) << mended.raw.body;
  EXPECT_EQ(mended.body["watched"].dump(), R"({"price":"css:.new","title":"css:h1"})");
  EXPECT_EQ(mended.body["forgotten"].dump(), R"(["price","title"])");
  EXPECT_EQ(mended.body["tier"], "medium");
  EXPECT_EQ(mended.body["subject_type"], "lead");
  EXPECT_EQ(Sql("select tier from monitor_sched"), "2");
  EXPECT_EQ(Update(id, {{"struct", Json::object()}}).error(), "empty_struct");
  EXPECT_EQ(Update(id, {{"struct", {{"domain", "css:h1"}}}}).error(), "column_conflict");
  EXPECT_EQ(Update(id, {{"tier", "golden"}}).error(), "invalid_tier");
  EXPECT_EQ(Update(id, {{"struct", {{"price", 3}}}}).status, 422);
  EXPECT_EQ(Update(id, {{"struct", nullptr}}).status, 422);
  Sql("update organisation set features = '{monitors}' returning 1");
  EXPECT_EQ(Update(id, {{"tier", "high"}}).status, 403);
}

TEST_F(ApiMending, ARowWithoutAnAddressIsNamedAtCreation) {
  Sql("update account set balance_mc = 1000000 returning 1");
  Json body = GoodBody();
  body["key_columns"] = {"sku"};
  body["rows"] = {{{"sku", "A"}, {"url", "https://a.example/"}}, {{"sku", "B"}}};
  const Reply created = Ask("POST", "/monitors", body);
  ASSERT_EQ(created.status, 200) << created.raw.body;
  ASSERT_EQ(created.body["warnings"].size(), 1U) << created.raw.body;
  EXPECT_THAT(created.body["warnings"][0].get<std::string>(), HasSubstr("rows[1]"));
  EXPECT_FALSE(Ask("POST", "/monitors", GoodBody()).body.contains("warnings"));
}

TEST_F(ApiMending, AnArchivedMonitorLeavesTheListsAlsoAFailedOneAndComesBack) {
  const std::string id = NewMonitor();
  const std::string failed = NewMonitor();
  Sql("update monitor set status = 1 where id = '" + failed + "' returning 1");
  for (const std::string& monitor : {id, failed}) {
    const Reply archived = Ask("POST", "/monitors/" + monitor + "/archive", Json::object());
    ASSERT_EQ(archived.status, 200) << archived.raw.body;
    EXPECT_FALSE(archived.body["archived_at"].is_null());
  }
  EXPECT_EQ(Ask("GET", "/monitors").body["monitors"].size(), 0U);
  EXPECT_EQ(Ask("GET", "/monitors?archived=true").body["monitors"].size(), 2U);
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["status"], "cancelled");
  EXPECT_EQ(Ask("GET", "/monitors/" + failed).body["status"], "failed");
  EXPECT_EQ(Update(id, {{"is_active", true}}).status, 200);
  EXPECT_EQ(Ask("GET", "/monitors").body["monitors"].size(), 1U);
}

TEST_F(ApiMending, ARowIsFoundAloneByItsIdAndByItsKey) {
  const std::string id = NewMonitor();
  const std::string row = FirstRow(id);
  const Reply alone = Ask("GET", "/monitors/" + id + "/rows/" + row);
  ASSERT_EQ(alone.status, 200) << alone.raw.body;
  const std::string domain = alone.body["subject"]["domain"];
  EXPECT_TRUE(alone.body["current"].contains("price"));
  const Reply found = Ask("GET", "/monitors/" + id + "/rows?key%5Bdomain%5D=" + domain);
  ASSERT_EQ(found.body["rows"].size(), 1U) << found.raw.body;
  EXPECT_EQ(found.body["rows"][0]["id"], row);
  EXPECT_EQ(Ask("GET", "/monitors/" + id + "/rows?key%5Bdomain%5D=none").raw.body,
            R"({"rows":[]})");
  EXPECT_EQ(Ask("GET", "/monitors/" + id + "/rows/" + base::Uuid::V4().ToString()).status, 404);
}

TEST_F(ApiMending, ARowIsFoundByANumberAsItIsShown) {
  const std::vector<std::string> numbers = {"1e2", "0.1000", "-0", "12345678901234567890.0"};
  Json rows = Json::array();
  for (const std::string& number : numbers) {
    rows.push_back({{"domain", base::ReadJsonCell(number)}});
  }
  rows.push_back({{"domain", "2e2"}});
  const std::string path = "/monitors/" + NewMonitor({{"rows", rows}}) + "/rows";
  const auto found = [&](const std::string& key) {
    return Ask("GET", path + "?key%5Bdomain%5D=" + key).raw.body;
  };
  for (const std::string& number : numbers) {
    EXPECT_THAT(found(number), HasSubstr("\"subject\":{\"domain\":" + number + "}"));
  }
  EXPECT_THAT(found("100"), HasSubstr("\"subject\":{\"domain\":1e2}"));
  EXPECT_THAT(found("2e2"), HasSubstr("\"subject\":{\"domain\":\"2e2\"}"));
  EXPECT_EQ(found("200"), R"({"rows":[]})") << "a text is no number";
}

TEST_F(ApiMending, ARemovedRowIsGoneAndItsKeyCanBeAddedAgain) {
  const std::string id = NewMonitor();
  const std::string row = FirstRow(id);
  const Json subject = Ask("GET", "/monitors/" + id + "/rows/" + row).body["subject"];
  ASSERT_EQ(Ask("POST", "/monitors/" + id + "/rows/" + row + "/remove", Json::object()).status,
            200);
  EXPECT_EQ(Ask("GET", "/monitors/" + id + "/rows/" + row).status, 404);
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/rows/" + row + "/remove", Json::object()).status,
            404);
  const Reply page = Ask("GET", "/monitors/" + id + "/rows?limit=1");
  ASSERT_EQ(page.body["rows"].size(), 1U) << page.raw.body;
  EXPECT_NE(page.body["rows"][0]["id"], row);
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["row_count"], 1);
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["active_row_count"], 1);
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/rows", Json{{"rows", Json::array({subject})}}).status,
            200);
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["row_count"], 2);
}

TEST_F(ApiMending, APageOfRemovedRowsAloneStillLeadsToTheNextOne) {
  Json rows = Json::array();
  for (int i = 0; i < 6; ++i) rows.push_back({{"domain", std::to_string(i) + ".example"}});
  const std::string id = NewMonitor({{"rows", rows}});
  for (int i = 0; i < 4; ++i) {
    Ask("POST", "/monitors/" + id + "/rows/" + FirstRow(id) + "/remove", Json::object());
  }
  const Reply page = Ask("GET", "/monitors/" + id + "/rows?limit=1");
  EXPECT_EQ(page.body["rows"][0]["subject"]["domain"], "4.example") << page.raw.body;
  const Reply all = Ask("GET", "/monitors/" + id);
  EXPECT_EQ(all.body["rows"].size(), 2U);
}

TEST_F(ApiMending, ARowsFurtherColumnsChangeAndItsKeyAndWatchedOnesDoNot) {
  const std::string id = NewMonitor();
  const std::string path = "/monitors/" + id + "/rows/" + FirstRow(id);
  const auto columns = [&](const Json& values) {
    return Ask("POST", path + "/update", Json{{"columns", values}});
  };
  EXPECT_EQ(columns({{"url", "https://a.example/"}, {"n", 1}}).body["context"].dump(),
            R"({"note":"n","url":"https://a.example/","n":1})");
  EXPECT_EQ(columns({{"n", nullptr}}).body["context"].dump(),
            R"({"note":"n","url":"https://a.example/"})");
  EXPECT_EQ(columns({{"domain", "x"}}).loc(), R"(["body","columns","domain"])");
  EXPECT_EQ(columns({{"price", 1}}).type(), "fixed_column");
  EXPECT_EQ(columns({{"a", Json::array()}}).status, 422);
  EXPECT_EQ(Ask("POST", path + "/update", Json::object()).status, 422);
}

TEST_F(ApiMending, EventsOfAMonitorAndOfTheOrganisationComeNewestFirstInPages) {
  const std::string id = NewMonitor();
  const std::string other = NewMonitor();
  const std::int64_t now = 1795253400000000;
  for (int i = 0; i < 5; ++i) Event(id, now + i / 2, i % 2);
  Event(other, now + 9, 0);
  const auto walk = [&](const std::string& path) {
    std::string types;
    std::string cursor;
    do {
      const Reply page = Ask("GET", path + (cursor.empty() ? "" : "&cursor=" + cursor));
      EXPECT_EQ(page.status, 200) << page.raw.body;
      for (const Json& e : page.body["events"]) {
        types += e["event_type"] == "change" ? 'c' : 'e';
        EXPECT_FALSE(e["row_id"].is_null());
      }
      cursor = page.body.value("next_cursor", "");
    } while (!cursor.empty());
    return types;
  };
  EXPECT_EQ(walk("/monitors/" + id + "/events?limit=2").size(), 5U);
  EXPECT_EQ(walk("/monitors/" + id + "/events?limit=2&event_type=error"), "ee");
  EXPECT_EQ(walk("/events?limit=4").size(), 6U);
  EXPECT_EQ(Ask("GET", "/events?limit=1").body["events"][0]["monitor_id"], other);
  EXPECT_EQ(Ask("GET", "/events?event_type=completion").status, 422);
  EXPECT_EQ(Ask("GET", "/events?cursor=x").status, 400);
  const std::string team_key = NewKey(acme.org_id, NewTeam(acme.org_id));
  EXPECT_EQ(Ask("GET", "/events", Headers{{"x-api-key", team_key}}).body["events"].size(), 0U);
}

TEST_F(ApiMending, AnOwnerSeesTheDeliveriesOfAMonitorThatHaveNotArrived) {
  const std::string id = NewMonitor({{"webhook_url", "https://hooks.example.com/"}});
  for (const int state : {0, 1}) {
    Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
        "state, available_at, last_error) select gen_random_uuid(), m.org_id, m.endpoint_id, m.id, "
        "gen_random_uuid(), gen_random_uuid(), 0, " +
        std::to_string(state) + ", now(), 'http_status: 500' from monitor m returning 1");
  }
  const std::string path = "/monitors/" + id + "/deliveries";
  EXPECT_EQ(Ask("GET", path).body["deliveries"].size(), 2U);
  const Reply dead = Ask("GET", path + "?state=dead");
  ASSERT_EQ(dead.body["deliveries"].size(), 1U) << dead.raw.body;
  EXPECT_EQ(dead.body["deliveries"][0]["last_error"], "http_status: 500");
  EXPECT_TRUE(Ask("GET", path + "?limit=1").body.contains("next_cursor"));
  EXPECT_EQ(Ask("GET", path + "?state=delivered").status, 422);
}

TEST_F(ApiMending, AnOwnerSeesWhatADeliveryWaitsForAndUntilWhen) {
  const std::string id = NewMonitor({{"webhook_url", "https://hooks.example.com/"}});
  Sql("insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, "
      "available_at) select gen_random_uuid(), org_id, endpoint_id, id, gen_random_uuid(), "
      "gen_random_uuid(), 0, now() from monitor returning 1");
  const auto shown = [&] {
    return Ask("GET", "/monitors/" + id + "/deliveries").body["deliveries"][0];
  };
  const auto until = [&] { return Ask("GET", "/monitors/" + id).body["webhook_waiting_until"]; };
  EXPECT_EQ(shown()["waiting_for"], "turn");
  EXPECT_TRUE(until().is_null());
  Sql("update delivery set attempts = 1, last_error = 'signing: it cannot be read', available_at = "
      "now() + interval '5 seconds' returning 1");
  EXPECT_EQ(shown()["waiting_for"], "signing_secret");
  Sql("update delivery set last_error = 'timeout: no answer' returning 1");
  EXPECT_EQ(shown()["waiting_for"], "retry");
  const Json next = shown()["next_attempt_at"];
  Sql("update delivery set available_at = available_at + interval '876000 hours' returning 1");
  EXPECT_EQ(shown()["next_attempt_at"], next) << "a move has put it off";
  Sql("update delivery set available_at = available_at - interval '876000 hours' returning 1");
  Sql("update endpoint set failures = 5, available_at = now() + interval '30 seconds' returning 1");
  EXPECT_EQ(shown()["waiting_for"], "receiver");
  EXPECT_EQ(shown()["next_attempt_at"], until()) << "no sooner than its receiver is tried";
  EXPECT_EQ(Ask("GET", "/monitors").body["monitors"][0]["webhook_waiting_until"], until());
  Sql("update delivery set lease_token = gen_random_uuid() returning 1");
  EXPECT_TRUE(shown()["waiting_for"].is_null()) << "it is being sent";
  Sql("update delivery set lease_token = null, state = 1 returning 1");
  EXPECT_TRUE(shown()["waiting_for"].is_null()) << "it is dead";
}

TEST_F(ApiMending, RulesAreCheckedShownChangedAndEnded) {
  const Json rules{{"price", {{"only_if", {{"below", 100}}}, {"ignore", {"[0-9]+ left"}}}}};
  const std::string id = NewMonitor({{"rules", rules}});
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["rules"], rules);
  EXPECT_EQ(Ask("GET", "/monitors/" + NewMonitor()).body["rules"], Json::object());
  const Json other{{"price", {{"threshold", {{"percent", 2}}}}}};
  EXPECT_EQ(Update(id, {{"rules", other}}).body["rules"], other);
  EXPECT_EQ(Update(id, {{"name", "n"}}).body["rules"], other) << "absent means unchanged";
  EXPECT_EQ(Update(id, {{"rules", nullptr}}).body["rules"], Json::object());
  EXPECT_EQ(Sql("select rules from monitor where id = '" + id + "'"), "");
}

TEST_F(ApiMending, RulesThatCannotBeMeantAreRefusedByFieldAndRule) {
  Json body = GoodBody();
  body["rules"] = {{"price", {{"threshold", {{"percent", -1}}}}}};
  const Reply created = Ask("POST", "/monitors", body);
  EXPECT_EQ(created.status, 422);
  EXPECT_EQ(created.loc(), R"(["body","rules","price","threshold","percent"])");
  EXPECT_THAT(created.raw.body, HasSubstr("The field 'price', rule threshold.percent"));
  body["rules"] = {{"cost", {{"ignore", {"x"}}}}};
  EXPECT_EQ(Ask("POST", "/monitors", body).type(), "unknown_field");
  const std::string id = NewMonitor();
  EXPECT_EQ(Update(id, {{"rules", {{"cost", {{"ignore", {"x"}}}}}}}).loc(),
            R"(["body","rules","cost"])");
  EXPECT_EQ(Update(id, {{"rules", {{"price", {{"ignore", {"("}}}}}}}).loc(),
            R"(["body","rules","price","ignore",0])");
  EXPECT_EQ(Sql("select count(*) from monitor"), "1");
}

TEST_F(ApiMending, RulesOfAFieldThatLeavesGoWithIt) {
  const std::string id = NewMonitor();
  const Json both{{"price", "css:.p"}, {"title", "css:h1"}};
  const Json rules{{"price", {{"ignore", {"x"}}}}, {"title", {{"ignore", {"y"}}}}};
  ASSERT_EQ(Update(id, {{"struct", both}, {"rules", rules}}).body["rules"], rules)
      << "checked by the struct that comes with them";
  EXPECT_EQ(Update(id, {{"struct", {{"title", "css:h1"}}}}).body["rules"],
            Json({{"title", {{"ignore", {"y"}}}}}));
}

// The monitor is another one by the time that the request has its lock: it is validated once more.
TEST_F(ApiMending, AnUpdateIsValidatedByTheMonitorThatItChanges) {
  const std::string id = NewMonitor({{"struct", {{"price", "css:.p"}, {"x", "css:.x"}}}});
  const auto beside_a_change = [&](const std::string& target, const Json& body) {
    pqxx::connection connection(database.url());
    pqxx::work other(connection);
    other.exec(
        "update monitor set struct = '{\"price\":\"css:.p\"}', struct_version = "
        "struct_version + 1, updated_at = clock_timestamp()");
    net::ServerRequest request = Request("POST", target, {{"Content-Type", "application/json"}});
    request.body = body.dump();
    const auto exchange = Begin(std::move(request));
    const auto waits = [&] {
      return Sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") != "0";
    };
    for (int i = 0; i < 2000 && !waits(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    other.commit();
    return exchange->Wait();
  };
  const auto refused =
      beside_a_change("/monitors/" + id + "/update", {{"rules", {{"x", {{"ignore", {"y"}}}}}}});
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_TRUE(Ask("GET", "/monitors/" + id).body["rules"].empty());
  ASSERT_EQ(Update(id, {{"struct", {{"price", "css:.p"}, {"x", "css:.x"}}}}).status, 200);
  const Json row = {{"domain", "n.example"}, {"x", 7}};
  const auto added =
      beside_a_change("/monitors/" + id + "/rows", Json{{"rows", Json::array({row})}});
  ASSERT_EQ(added.status, 200) << added.body;
  EXPECT_EQ(
      Sql("select baseline::text || ' ' || context::text from monitor_row where position = 2"),
      R"({} {"x":7})");
}

TEST_F(ApiMending, RequestHeadersAreSealedAndTheirNamesAloneAreShown) {
  config.security.encryption_key = std::string(32, 'k');
  const std::string id = NewMonitor({{"request_headers", {{"Cookie", "session=hidden"}}}});
  const Reply shown = Ask("GET", "/monitors/" + id);
  EXPECT_EQ(shown.body["request_header_names"].dump(), R"(["Cookie"])");
  const Reply changed = Update(id, {{"request_headers", {{"Authorization", "Bearer hidden"}}}});
  ASSERT_EQ(changed.status, 200) << changed.raw.body;
  EXPECT_EQ(changed.body["request_header_names"].dump(), R"(["Authorization"])");
  const auto sealed = store::OpenSealed(
      store::NamedKeys(config.security),
      {base::HexDecode(Sql("select encode(request_headers, 'hex') from monitor")).value(),
       Sql("select request_headers_key_id from monitor")},
      store::RequestHeadersBinding(*base::Uuid::Parse(acme.org_id)));
  EXPECT_EQ(sealed, R"({"Authorization":"Bearer hidden"})");
  for (const char* list : {"/monitors", "/monitors/"}) {
    const std::string target = list + (std::string(list).ends_with("s/") ? id + "/rows" : "");
    EXPECT_EQ(Ask("GET", target).raw.body.find("hidden"), std::string::npos) << target;
  }
  EXPECT_EQ(shown.raw.body.find("hidden"), std::string::npos);
  EXPECT_EQ(Sql("select string_agg(detail::text, '') from audit").find("hidden"),
            std::string::npos);
  EXPECT_EQ(Update(id, {{"request_headers", nullptr}}).body["request_header_names"].dump(), "[]");
  EXPECT_EQ(Sql("select request_headers from monitor"), "");
}

TEST_F(ApiMending, AMonitorSaysHowItsPagesAreReadWithinWhatItsTierGives) {
  config.probes.at("low").render = "auto";
  const Json probe{{"render", "auto"}, {"wait_for", "#price"}};
  const std::string id = NewMonitor({{"probe", probe}});
  EXPECT_EQ(Ask("GET", "/monitors/" + id).body["probe"], probe);
  EXPECT_EQ(Sql("select probe ->> 'wait_for' from monitor"), "#price");
  for (const Json& change : {Json{{"probe", {{"render", "always"}}}}, Json{{"tier", "high"}}}) {
    const Reply refused = Update(id, change);
    EXPECT_EQ(refused.status, 400) << change;
    EXPECT_EQ(refused.body["error"], "invalid_render");
  }
  EXPECT_EQ(Update(id, {{"name", "another"}}).body["probe"], probe);
  EXPECT_EQ(Update(id, {{"probe", {{"render", "never"}}}, {"tier", "high"}}).body["probe"],
            Json({{"render", "never"}}));
  EXPECT_EQ(Update(id, {{"probe", nullptr}}).body["probe"], Json::object());
  EXPECT_EQ(Sql("select probe from monitor"), "");
  EXPECT_EQ(Update(id, {{"probe", {{"steps", 1}}}}).status, 422);
}

// A monitor whose pages are behind a login.
Json LoginProbe() {
  return {{"render", "always"},
          {"session", "kept"},
          {"steps",
           {{{"fill", "#user"}, {"value", "ann"}},
            {{"fill", "#password"}, {"value", {{"secret", "password"}}}},
            {{"click", "button"}}}},
          {"secrets", {{"password", "hidden-1"}}}};
}

TEST_F(ApiMending, TheSecretsOfStepsAreSealedKeptAndNeverShown) {
  config.security.encryption_key = std::string(32, 'k');
  config.probes.at("low").render = "always";
  const std::string id = NewMonitor({{"probe", LoginProbe()}});
  const auto kept = [&] {
    return store::OpenSealed(
        store::NamedKeys(config.security),
        {base::HexDecode(Sql("select encode(secrets, 'hex') from monitor_login")).value(),
         Sql("select secrets_key_id from monitor_login")},
        store::ProbeSecretsBinding(*base::Uuid::Parse(acme.org_id)));
  };
  EXPECT_EQ(kept(), R"({"password":"hidden-1"})");
  const Reply shown = Ask("GET", "/monitors/" + id);
  Json expected = LoginProbe();
  expected["secrets"]["password"] = nullptr;
  EXPECT_EQ(shown.body["probe"], expected);
  // A client may give back what it was shown; each such update forgets the session.
  const std::string version = Sql("select version from monitor_login");
  expected["steps"][2] = {{"press", "Enter"}};
  EXPECT_EQ(Update(id, {{"probe", expected}}).body["probe"], expected);
  EXPECT_EQ(kept(), R"({"password":"hidden-1"})");
  EXPECT_NE(Sql("select version from monitor_login"), version);
  Json another = LoginProbe();
  another["secrets"] = {{"password", "hidden-2"}};
  EXPECT_EQ(Update(id, {{"probe", another}}).status, 200);
  EXPECT_EQ(kept(), R"({"password":"hidden-2"})");
  EXPECT_EQ(Sql("select count(*) from monitor where probe::text like '%hidden%'"), "0");
  EXPECT_EQ(Sql("select string_agg(detail::text, '') from audit").find("hidden"),
            std::string::npos);
  Sql("update monitor_login set secrets_key_id = 'lost' returning 1");
  const Reply lost = Update(id, {{"probe", expected}});
  EXPECT_EQ(lost.status, 409);
  EXPECT_THAT(lost.raw.body, HasSubstr("probe.secrets"));
  EXPECT_EQ(Update(id, {{"probe", nullptr}}).status, 200);
  EXPECT_EQ(Sql("select count(*) from monitor_login"), "0");
}

TEST_F(ApiMending, StepsThatCannotBeMadeAreRefusedByFieldAndRule) {
  config.security.encryption_key = std::string(32, 'k');
  config.probes.at("low").render = "always";
  Json body = GoodBody();
  body["probe"] = LoginProbe();
  body["probe"]["secrets"]["password"] = nullptr;
  const Reply nothing_kept = Ask("POST", "/monitors", body);
  EXPECT_EQ(nothing_kept.status, 422);
  EXPECT_EQ(nothing_kept.loc(), R"(["body","probe","secrets","password"])");
  body["probe"]["secrets"] = {{"password", Json::array({"hidden"})}};
  const Reply no_text = Ask("POST", "/monitors", body);
  EXPECT_EQ(no_text.status, 422);
  EXPECT_EQ(no_text.raw.body.find("hidden"), std::string::npos);
  body["probe"] = LoginProbe();
  body["probe"]["steps"][1]["value"] = {{"secret", "pin"}};
  EXPECT_EQ(Ask("POST", "/monitors", body).loc(), R"(["body","probe","steps",1,"value"])");
  body["probe"] = LoginProbe();
  body["request_headers"] = {{"Cookie", "a=b"}};
  EXPECT_EQ(Ask("POST", "/monitors", body).error(), "invalid_steps");
  body.erase("request_headers");
  body["probe"]["steps"].push_back({{"goto", "http://10.0.0.1/"}});
  const Reply inside = Ask("POST", "/monitors", body);
  EXPECT_EQ(inside.error(), "invalid_steps");
  EXPECT_THAT(inside.raw.body, HasSubstr("probe.steps[3].goto"));
  EXPECT_EQ(Ask("POST", "/monitors/preview", body).error(), "invalid_steps");
  const std::string id = NewMonitor({{"probe", LoginProbe()}});
  EXPECT_EQ(Update(id, {{"request_headers", {{"Cookie", "a=b"}}}}).error(), "invalid_steps");
  config.probes.at("low").render = "auto";
  body["probe"] = LoginProbe();
  EXPECT_EQ(Ask("POST", "/monitors", body).error(), "invalid_render");
  EXPECT_EQ(Sql("select count(*) from monitor"), "1");
}

TEST_F(ApiMending, APreviewMakesTheStepsOfTheMonitorThatItIsFor) {
  config.probes.at("low").render = "always";
  Json body = GoodBody();
  body["probe"] = LoginProbe();
  previewer.outcome.rows.assign(2, domain::Observation{});
  const Reply reply = Ask("POST", "/monitors/preview", body);
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(previewer.asked->options.steps.size(), 3U);
  EXPECT_EQ(previewer.asked->secrets, (domain::ProbeSecrets{{"password", "hidden-1"}}));
  EXPECT_EQ(Sql("select count(*) from monitor_login"), "0");
}

TEST_F(ApiMending, RequestHeadersThatAreNotAMonitorsToSetAreRefusedWithoutTheirValues) {
  Json body = GoodBody();
  body["request_headers"] = {{"Host", "hidden"}};
  const Reply refused = Ask("POST", "/monitors", body);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.loc(), R"(["body","request_headers","Host"])");
  EXPECT_EQ(refused.raw.body.find("hidden"), std::string::npos);
  EXPECT_EQ(Update(NewMonitor(), {{"request_headers", {{"A", "hidden\n"}}}}).status, 422);
}

TEST_F(ApiMending, APreviewAsksWithTheHeadersOfTheMonitorThatItIsFor) {
  Json body = GoodBody();
  body["request_headers"] = {{"Cookie", "a=b"}};
  previewer.outcome.rows.assign(2, domain::Observation{});
  ASSERT_EQ(Ask("POST", "/monitors/preview", body).status, 200);
  ASSERT_EQ(previewer.asked->request_headers.size(), 1U);
  EXPECT_EQ(previewer.asked->request_headers[0].second, "a=b");
}

TEST_F(ApiMending, AnEventOfAListSaysWhatCameAndWhatWent) {
  const std::string id = NewMonitor();
  Event(id, 1, 0);
  Sql("update event set previous_value = '\"[\\\"a\\\",\\\"b\\\"]\"', "
      "current_value = '\"[\\\"b\\\",\\\"c\\\"]\"' returning 1");
  const Json event = Ask("GET", "/monitors/" + id + "/events").body["events"][0];
  EXPECT_EQ(event["added"].dump(), R"(["c"])") << event;
  EXPECT_EQ(event["removed"].dump(), R"(["a"])");
  Sql("update event set current_value = '7' returning 1");
  EXPECT_TRUE(Ask("GET", "/monitors/" + id + "/events").body["events"][0]["added"].is_null());
}

}  // namespace
}  // namespace vedette::test
