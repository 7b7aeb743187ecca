// The operator's imports of documents: batches that may be repeated, and nothing half visible.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include <pqxx/pqxx>

#include "store/fleet/maintenance.h"
#include "tests/store/support/operator_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

constexpr const char* kPath = "/admin/v1/search/import";

class SearchImport : public AdminTest {
 public:
  static Json Line(const std::string& id, const std::string& domain) {
    return base::DumpJson(Json{{"id", id}, {"domain", domain}});
  }
  Reply Send(const base::Uuid& import_id, int first_line, const Json& lines, bool last = false,
             const Json& changes = Json::object()) {
    Json body{{"import_id", import_id.ToString()},
              {"mode", "company"},
              {"first_line", first_line},
              {"lines", lines},
              {"last", last}};
    for (const auto& [name, value] : changes.items()) body[name] = value;
    return Ask("POST", kPath, body);
  }
  // How many documents everybody sees.
  std::string Visible() {
    return Sql(
        "select count(*) from search_entity where import_id in "
        "(select id from search_import where state = 2)");
  }
  const base::Uuid id = base::Uuid::V4();
};

TEST_F(SearchImport, BatchesBecomeVisibleWithTheLastOne) {
  Reply reply = Send(id, 0, {Line("a", "a.example"), "  ", Line("b", "b.example")});
  EXPECT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["state"], "receiving");
  EXPECT_EQ(reply.body["lines"], 3);
  EXPECT_EQ(reply.body["documents"], nullptr);
  EXPECT_EQ(Visible(), "0");
  reply = Send(id, 3, Json::array({Line("a", "other.example")}), true);
  EXPECT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["state"], "current");
  EXPECT_EQ(reply.body["lines"], 4);
  EXPECT_EQ(reply.body["documents"], 2) << "a later line replaces an earlier one with its id";
  EXPECT_EQ(reply.body["import_id"], id.ToString());
  EXPECT_EQ(Sql("select doc ->> 'domain' from search_entity where id = 'a'"), "other.example");
  EXPECT_EQ(Sql("select total || ' ' || missing || ' ' || top::text from search_top "
                "where field = 'domain'"),
            R"(2 0 [["b.example",1],["other.example",1]])");
  EXPECT_EQ(Sql("select action || ' ' || target from audit"), "search.import " + id.ToString());
}

TEST_F(SearchImport, ABatchThatIsRepeatedChangesNothingAndSaysWhereToGoOn) {
  Send(id, 0, {Line("a", "a.example"), Line("b", "b.example")});
  Reply again = Send(id, 0, {Line("c", "c.example"), Line("d", "d.example")});
  EXPECT_EQ(again.body["lines"], 2);
  again = Send(id, 7, Json::array({Line("e", "e.example")}), true);
  EXPECT_EQ(again.body["lines"], 2);
  EXPECT_EQ(again.body["state"], "receiving") << "not the end of what is there";
  EXPECT_EQ(Sql("select count(*) from search_entity"), "2");
  EXPECT_EQ(Send(id, 2, Json::array(), true).body["state"], "current");
  const Reply ended = Send(id, 2, Json::array(), true);
  EXPECT_EQ(ended.body["state"], "current");
  EXPECT_EQ(ended.body["documents"], 2);
  EXPECT_EQ(Send(id, 2, Json::array({Line("c", "c.example")})).body["lines"], 2);
}

TEST_F(SearchImport, ALineThatIsNoDocumentIsNamedAndNothingOfItsBatchIsTaken) {
  Send(id, 0, Json::array({Line("a", "a.example")}));
  const Reply reply = Send(id, 1, {Line("b", "b.example"), R"({"id": 5})"});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body["error"], "malformed_line");
  EXPECT_THAT(reply.body["message"].get<std::string>(), HasSubstr("line 3: "));
  EXPECT_EQ(Sql("select count(*) from search_entity"), "1");
}

TEST_F(SearchImport, AnImportTakesThePlaceOfTheFormerOneOfItsModeAndOrganisation) {
  const std::string org = NewOrganisation();
  const auto import = [&](const Json& changes) {
    const base::Uuid other = base::Uuid::V4();
    EXPECT_EQ(Send(other, 0, Json::array({Line("a", "a.example")}), true, changes).status, 200);
  };
  import({});
  import({{ "org_id", org }});
  import({{ "mode", "people" }});
  EXPECT_EQ(Visible(), "3");
  import({{ "org_id", org }});
  EXPECT_EQ(Visible(), "3");
  EXPECT_EQ(Sql("select count(*) from search_import where state = 3"), "1");
}

TEST_F(SearchImport, WhatNobodySeesIsDeletedADayLater) {
  for (int i = 0; i < 2; ++i) {
    Send(base::Uuid::V4(), 0, Json::array({Line("a", "a.example")}), true);
  }
  Send(base::Uuid::V4(), 0, Json::array({Line("a", "a.example")}));
  store::Session session(config.database, {.name = "scheduler"}, clock, metrics, log);
  const auto maintain = [&] {
    store::MaintenanceState state_of_process;
    store::Maintain(session, config.retention, &state_of_process);
  };
  maintain();
  EXPECT_EQ(Sql("select count(*) from search_entity"), "3");
  Sql("update search_import set touched_at = now() - interval '25 hours'");
  // One import a run: its documents, and in the next run the import itself.
  for (int run = 0; run < 4; ++run) maintain();
  EXPECT_EQ(Sql("select count(*) from search_entity"), "1");
  EXPECT_EQ(Sql("select count(*) from search_import"), "1");
  EXPECT_EQ(Visible(), "1");
}

// Both have counted, and wait for the one that they take the place of.
TEST_F(SearchImport, OfTwoThatEndTogetherOneTakesThePlaceOfTheOther) {
  Send(base::Uuid::V4(), 0, Json::array({Line("a", "a.example")}), true);
  const base::Uuid ids[] = {base::Uuid::V4(), base::Uuid::V4()};
  for (const base::Uuid& one : ids) Send(one, 0, Json::array({Line("b", "b.example")}));
  std::vector<std::thread> callers;
  std::array<int, 2> statuses{};
  {
    pqxx::connection connection(database.url());
    pqxx::work holder(connection);
    holder.exec("select from search_import where state = 2 for update");
    for (std::size_t i = 0; i < 2; ++i) {
      callers.emplace_back(
          [&, i] { statuses.at(i) = Send(ids[i], 1, Json::array(), true).status; });
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (Sql("select count(*) from pg_locks where not granted") != "2" &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    holder.commit();
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(statuses, testing::Each(200));
  EXPECT_EQ(Sql("select string_agg(state::text, ' ' order by state) from search_import"), "2 3 3");
  EXPECT_EQ(Visible(), "1");
}

TEST_F(SearchImport, WhatIsBeingDeletedIsNotContinued) {
  Send(id, 0, Json::array({Line("a", "a.example")}));
  Sql("update search_import set touched_at = now() - interval '25 hours'");
  store::Session session(config.database, {.name = "scheduler"}, clock, metrics, log);
  store::MaintenanceState state_of_process;
  store::Maintain(session, config.retention, &state_of_process);
  EXPECT_EQ(Sql("select count(*) from search_entity"), "0");
  EXPECT_EQ(Sql("select count(*) from search_import"), "1") << "its documents go first";
  const Reply reply = Send(id, 1, Json::array({Line("b", "b.example")}), true);
  EXPECT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["state"], "former");
  EXPECT_EQ(reply.body["lines"], 1) << "nothing more is taken";
  EXPECT_EQ(Sql("select count(*) from search_entity"), "0");
  EXPECT_EQ(Send(id, 1, Json::array(), true).body["state"], "former");
  EXPECT_EQ(Visible(), "0");
}

TEST_F(SearchImport, WhatIsWrongWithARequestIsSaid) {
  const Json line = Json::array({Line("a", "a.example")});
  EXPECT_EQ(Send(id, 0, line, false, {{"mode", "cars"}}).status, 422);
  EXPECT_EQ(Send(id, 0, line, false, {{"mode", nullptr}}).status, 422);
  EXPECT_EQ(Send(id, 0, line, false, {{"import_id", "x"}}).status, 422);
  EXPECT_EQ(Send(id, -1, line).status, 422);
  EXPECT_EQ(Send(id, 0, Json(std::vector<std::string>(1001, ""))).status, 422);
  EXPECT_EQ(Send(id, 0, line, false, {{"more", 1}}).status, 422);
  EXPECT_EQ(Send(id, 0, line, false, {{"org_id", base::Uuid::V4().ToString()}}).status, 404);
  EXPECT_EQ(Send(id, 0, line).status, 200);
  EXPECT_EQ(Send(id, 1, line, false, {{"mode", "people"}}).status, 409);
  EXPECT_EQ(Send(id, 1, line, false, {{"org_id", NewOrganisation()}}).status, 409);
}

}  // namespace
}  // namespace vedette::test
