// Every public request that changes something leaves one entry: who, on whose behalf, what.
#include <gtest/gtest.h>

#include "tests/store/api_support.h"

namespace vedette::test {
namespace {

using base::Json;

class ApiAudit : public ApiTest {
 public:
  ApiAudit() {
    Sql("insert into org_user (org_id, user_id) values ('" + acme.org_id + "', 'bob')");
  }
  // Asks for bob, and expects a good answer and one entry of this action and target.
  Reply Change(const std::string& path, const Json& body, const std::string& action,
               const std::string& target = "") {
    Sql("delete from audit");
    Reply reply = Ask("POST", path, body, {{"service-forwarded-user", "bob"}});
    EXPECT_LT(reply.status, 300) << path << reply.raw.body;
    EXPECT_EQ(Sql("select count(*) from audit"), "1") << path;
    EXPECT_EQ(Sql("select action from audit"), action);
    EXPECT_EQ(
        Sql("select actor like 'key vd_live_%' and principal_kind = 0 and on_behalf_of = 'bob' "
            "and org_id = '" +
            acme.org_id +
            "' and exists (select from api_key k where k.id = principal_id) "
            "from audit"),
        "t");
    if (!target.empty()) {
      EXPECT_EQ(Sql("select target from audit"), target);
    }
    return reply;
  }
};

TEST_F(ApiAudit, EveryChangeToAMonitorAndItsRowsHasOneEntry) {
  const Reply made = Change("/monitors", GoodBody(), "monitor.create");
  const std::string id = made.body["id"];
  const std::string row = made.body["rows"][0]["id"];
  EXPECT_EQ(Sql("select target from audit"), id);
  const std::string path = "/monitors/" + id;
  Change(path + "/update", Json{{"name", "secret name"}, {"tier", "low"}}, "monitor.update", id);
  EXPECT_EQ(Sql("select detail->>'members' from audit"), R"(["name","tier"])");
  EXPECT_EQ(Sql("select detail::text like '%secret%' from audit"), "f");
  Change(path + "/rows", Json{{"rows", {{{"domain", "c.example"}}}}}, "row.add", id);
  Change(path + "/rows/" + row + "/update", Json{{"is_active", false}}, "row.switch", row);
  Change(path + "/rows/" + row + "/update", Json{{"columns", {{"note", "m"}}}}, "row.update", row);
  Change(path + "/rows/" + row + "/remove", Json::object(), "row.remove", row);
  Change(path + "/trigger", Json::object(), "monitor.trigger", id);
  Change(path + "/cancel", Json::object(), "monitor.cancel", id);
  Change(path + "/archive", Json::object(), "monitor.archive", id);
}

TEST_F(ApiAudit, WhatIsRefusedOrRepeatedLeavesNone) {
  const Headers key{{"idempotency-key", "k"}};
  EXPECT_EQ(Ask("POST", "/monitors", GoodBody(), key).status, 200);
  EXPECT_EQ(Ask("POST", "/monitors", GoodBody(), key).status, 200);
  EXPECT_EQ(Sql("select count(*) from audit"), "1");
  EXPECT_EQ(Ask("POST", "/monitors", Json::object()).status, 422);
  EXPECT_EQ(Ask("GET", "/monitors").status, 200);
  EXPECT_EQ(Sql("select count(*) from audit"), "1");
}

}  // namespace
}  // namespace vedette::test
