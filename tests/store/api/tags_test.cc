// Monitors are found by their tags and their names, exported as a file, and deleted for good.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiTags : public ApiTest {
 public:
  std::set<std::string> Names(const std::string& query) {
    const Reply reply = Ask("GET", "/monitors?" + query);
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    std::set<std::string> names;
    for (const Json& monitor : reply.body["monitors"]) names.insert(monitor["name"]);
    return names;
  }
  void Named(const std::string& name, const std::vector<std::string>& tags) {
    NewMonitor({{"name", name}, {"tags", tags}});
  }
};
using Set = std::set<std::string>;

TEST_F(ApiTags, AreGivenChangedAndShown) {
  const std::string path = "/monitors/" + NewMonitor({{"tags", {"eu", "prices", "eu"}}});
  EXPECT_EQ(Ask("GET", path).body["tags"], (Json{"eu", "prices"}));
  EXPECT_EQ(Ask("GET", "/monitors").body["monitors"][0]["tags"], (Json{"eu", "prices"}));
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"name", "n"}}).body["tags"].size(), 2U);
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"tags", {"us"}}}).body["tags"], (Json{"us"}));
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"tags", nullptr}}).body["tags"], Json::array());
  const Json many(std::vector<std::string>(21, "eu"));
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"tags", many}}).status, 422);
  EXPECT_EQ(Ask("GET", "/monitors?tag=us").body["monitors"], Json::array());
}

TEST_F(ApiTags, AreAtMostTwentyOfFiftyCharacters) {
  Json body = GoodBody();
  body["tags"] = Json::array();
  for (int i = 0; i < 20; ++i) body["tags"].push_back("tag " + std::to_string(i));
  EXPECT_EQ(Ask("POST", "/monitors", body).status, 200);
  body["tags"].push_back("one more");
  EXPECT_EQ(Ask("POST", "/monitors", body).loc(), R"(["body","tags"])");
  body["tags"] = {std::string(51, 'a')};
  EXPECT_EQ(Ask("POST", "/monitors", body).loc(), R"(["body","tags",0])");
  body["tags"] = {""};
  EXPECT_EQ(Ask("POST", "/monitors", body).loc(), R"(["body","tags",0])");
}

TEST_F(ApiTags, FindMonitorsTogetherWithNameStatusAndFailure) {
  Named("Prices EU", {"prices", "eu"});
  Named("Prices US", {"prices", "us"});
  Named("Jobs EU", {"jobs", "eu"});
  EXPECT_EQ(Names("tag=prices"), (Set{"Prices EU", "Prices US"}));
  EXPECT_EQ(Names("tag=prices&tag=eu"), (Set{"Prices EU"}));
  EXPECT_EQ(Names("tag=price"), Set{});
  EXPECT_EQ(Names("name=eu"), (Set{"Prices EU", "Jobs EU"}));
  EXPECT_EQ(Names("name=eu&tag=jobs"), (Set{"Jobs EU"}));
  Sql("update monitor_sched set failing_since = now() where monitor_id = (select id from monitor "
      "where name = 'Jobs EU') returning 1");
  EXPECT_EQ(Names("tag=eu&failing=true"), (Set{"Jobs EU"}));
  EXPECT_EQ(Names("tag=eu&status=paused"), Set{});
  EXPECT_EQ(Names("tag=eu&status=active&status=paused"), (Set{"Prices EU", "Jobs EU"}));
  EXPECT_EQ(Ask("GET", "/monitors?name=").status, 422);
  EXPECT_EQ(Ask("GET", "/monitors?fresh=maybe").status, 422);
}

TEST_F(ApiTags, AMonitorIsFreshWhoseLastTickIsNoOlderThanItsFrequency) {
  Named("new", {});
  Named("today", {});
  Named("old", {});
  Sql("update monitor_sched s set last_run_at = now() - case m.name when 'today' then interval '10 "
      "minutes' else interval '3 days' end from monitor m where m.id = s.monitor_id and m.name <> "
      "'new' returning 1");
  EXPECT_EQ(Names("fresh=true"), (Set{"today"}));
  EXPECT_EQ(Names("fresh=false"), (Set{"old", "new"}));
}

TEST_F(ApiTags, AreFoundByPagesAndByTheirOwnOrganisationAlone) {
  for (int i = 0; i < 5; ++i) Named(std::to_string(i), {"t"});
  std::vector<std::string> found;
  std::string cursor;
  do {
    const Json page = Ask("GET", "/monitors?tag=t&limit=2" + cursor).body;
    for (const Json& monitor : page["monitors"]) found.push_back(monitor["name"]);
    cursor =
        page.contains("next_cursor") ? "&cursor=" + page["next_cursor"].get<std::string>() : "";
  } while (!cursor.empty());
  EXPECT_EQ(found, (std::vector<std::string>{"4", "3", "2", "1", "0"}));
  const Tenant other = NewTenant("other");
  EXPECT_EQ(Ask("GET", "/monitors?tag=t", Headers{{"x-api-key", other.key}}).body["monitors"],
            Json::array());
}

TEST_F(ApiTags, ADeletedMonitorIsNeitherListedNorFoundNorChanged) {
  const std::string id = NewMonitor({{"tags", {"t"}}, {"run_id", "r"}});
  NewMonitor({{"name", "stays"}, {"tags", {"t"}}});
  const std::string path = "/monitors/" + id;
  const Reply deleted = Ask("DELETE", path);
  EXPECT_EQ(deleted.status, 200) << deleted.raw.body;
  EXPECT_EQ(deleted.body, (Json{{"id", id}, {"deleted", true}}));
  EXPECT_EQ(Ask("GET", path).status, 404);
  EXPECT_EQ(Ask("DELETE", path).status, 404);
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"is_active", true}}).status, 404);
  EXPECT_EQ(Ask("POST", path + "/trigger").status, 404);
  EXPECT_EQ(Ask("GET", path + "/rows").status, 404);
  for (const char* query : {"", "archived=true", "tag=t&archived=true", "archived=true&limit=1",
                            "archived=true&status=active&status=cancelled"}) {
    EXPECT_EQ(Names(query), (Set{"stays"})) << query;
  }
  EXPECT_EQ(Ask("GET", "/monitors/for-run/r?archived=true").raw.body, "[]");
  EXPECT_EQ(Sql("select status || ' ' || live from monitor join monitor_sched on monitor_id = id "
                "where id = '" +
                id + "'"),
            "4 false");
}

TEST_F(ApiTags, AMonitorThatIsStartingIsNotDeleted) {
  const std::string id = NewMonitor();
  Sql("update monitor set status = 0 where id = '" + id + "' returning 1");
  EXPECT_EQ(Ask("DELETE", "/monitors/" + id).status, 409);
}

TEST_F(ApiTags, TheFileHasEveryRowWithItsPresentValues) {
  Json body = GoodBody();
  body["struct"] = {{"price", "css:.price"}, {"title", "css:h1"}};
  body["rows"] = {{{"domain", "a.example"}, {"note", "first"}, {"price", "=1+1"}},
                  {{"domain", "b.example"}, {"title", "Two, \"quoted\""}}};
  const std::string id = Ask("POST", "/monitors", body).body["id"];
  const Reply file = Ask("GET", "/monitors/" + id + "/export.csv");
  ASSERT_EQ(file.status, 200) << file.raw.body;
  EXPECT_EQ(file.Header("Content-Type"), "text/csv; charset=utf-8");
  EXPECT_THAT(file.Header("Content-Disposition"), HasSubstr(id));
  EXPECT_THAT(
      file.raw.body,
      testing::StartsWith("domain,price,title,row_id,is_active,failing,last_run_at,context\r\n"));
  EXPECT_THAT(file.raw.body, HasSubstr("a.example,'=1+1,,"));
  EXPECT_THAT(file.raw.body, HasSubstr("\"{\"\"note\"\":\"\"first\"\"}\"\r\n"));
  EXPECT_THAT(file.raw.body, HasSubstr("b.example,,\"Two, \"\"quoted\"\"\","));
}

TEST_F(ApiTags, NoColumnOfTheFileHasTheNameOfAnother) {
  Json body = GoodBody();
  body["key_columns"] = {"row_id"};
  body["struct"] = {{"context", "css:.price"}, {"context_", "css:h1"}};
  body["rows"] = {{{"row_id", "a"}}};
  const std::string id = Ask("POST", "/monitors", body).body["id"];
  EXPECT_THAT(Ask("GET", "/monitors/" + id + "/export.csv").raw.body,
              testing::StartsWith(
                  "row_id,context,context_,row_id_,is_active,failing,last_run_at,context__\r\n"));
}

TEST_F(ApiTags, AFileOfManyRowsComesInPieces) {
  const std::string id = NewMonitor();
  Sql("insert into monitor_row (monitor_id, position, id, org_id, key_hash, subject, baseline) "
      "select '" +
      id + "', n, gen_random_uuid(), '" + acme.org_id +
      "', decode(md5(n::text), 'hex'), json_build_object('domain', 'd' || n || '.example'), '{}' "
      "from generate_series(2, 9999) n returning 1");
  Sql("insert into state_block (monitor_id, block, outcomes) select '" + id +
      "', n / 256, decode(repeat('00', least(10000 - n, 256)), 'hex') from generate_series(0, "
      "9999, "
      "256) n on conflict (monitor_id, block) do update set outcomes = excluded.outcomes "
      "returning 1");
  Sql("update monitor_sched set row_count = 10000, active_row_count = 10000 returning 1");
  const Reply file = Ask("GET", "/monitors/" + id + "/export.csv");
  EXPECT_EQ(std::count(file.raw.body.begin(), file.raw.body.end(), '\n'), 10'001);
  EXPECT_GT(file.raw.pieces, 1);
}

}  // namespace
}  // namespace vedette::test
