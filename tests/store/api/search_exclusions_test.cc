// Counts that leave documents out, and the saved lists of /search/exclusion-lists.
#include <gmock/gmock.h>

#include "domain/search/documents.h"
#include "store/search/field_values.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::search::Mode;
using testing::HasSubstr;

constexpr const char* kLists = "/search/exclusion-lists";

class ApiSearchExclusions : public ApiTest {
 public:
  // Six documents a to f of the mode, with the public ids pa to pf.
  void Import(Mode mode) {
    const store::ImportTarget target{base::Uuid::V4(), mode, std::nullopt};
    std::vector<domain::search::Document> documents;
    for (const char c : std::string("abcdef")) {
      const std::string id(1, c);
      documents.push_back({id, Json{{"id", id}, {"public_id", "p" + id}}.dump()});
    }
    const auto count = static_cast<std::int64_t>(documents.size());
    store::Session session(config.database, {.name = "import"}, clock, metrics, log);
    store::TakeDocuments(session, target, 0, count, std::move(documents));
    store::FinishImport(session, clock, target, fields.of(mode), std::chrono::minutes(1), {});
  }

  Reply Count(const Json& more, const std::string& mode = "people") {
    Json body{{"field", "public_id"}, {"mode", mode}};
    body.update(more);
    return Ask("POST", "/search/filter-field-values", body);
  }
  // The public ids that are counted, or the refusal.
  std::string Counted(const Json& more, const std::string& mode = "people") {
    const Reply reply = Count(more, mode);
    if (reply.status != 200) return std::to_string(reply.status) + " " + reply.error();
    std::string text = std::to_string(reply.body["total_scoped_documents"].get<int>()) + ":";
    for (const Json& value : reply.body["values"]) text += " " + value["value"].get<std::string>();
    return text;
  }

  std::string NewList(const std::string& type = "people") {
    const Reply made = Ask("POST", kLists, Json{{"name", "won"}, {"entity_type", type}});
    EXPECT_EQ(made.status, 200) << made.raw.body;
    return made.body["id"];
  }
  Reply Fill(const std::string& list, const Json& ids) {
    return Ask("POST", kLists + ("/" + list) + "/entities", Json{{"entity_ids", ids}});
  }
  Reply Ready(const std::string& list) {
    return Ask("POST", kLists + ("/" + list) + "/ready", Json::object());
  }
};

TEST_F(ApiSearchExclusions, NamedDocumentsAreLeftOutOfACount) {
  Import(Mode::kPeople);
  EXPECT_EQ(Counted(Json::object()), "6: pa pb pc pd pe pf");
  EXPECT_EQ(Counted({{"exclude_public_ids", {"pa", "pf", "unknown"}}}), "4: pb pc pd pe");
  EXPECT_EQ(Counted({{"exclude_entity_ids", {"a", "b", "unknown"}}}), "4: pc pd pe pf");
  EXPECT_EQ(Counted({{"exclude_entity_ids", {"a"}},
                     {"simple_filters", {{"public_id", {{"$in", {"pa", "pb"}}}}}}}),
            "1: pb");
  EXPECT_EQ(Counted({{"exclude_public_ids", Json::array()}, {"exclude_entity_ids", nullptr}}),
            "6: pa pb pc pd pe pf");
  Import(Mode::kCompany);
  EXPECT_EQ(Counted({{"exclude_entity_ids", {"a"}}}, "company"), "5: pb pc pd pe pf");
}

TEST_F(ApiSearchExclusions, ASavedListIsMadeFilledMadeReadyNamedAndDeleted) {
  Import(Mode::kPeople);
  const std::string list = NewList();
  const Reply filled = Fill(list, {"a", "b", "a"});
  EXPECT_EQ(filled.status, 200) << filled.raw.body;
  EXPECT_EQ(filled.body["entity_count"], 2);
  EXPECT_EQ(filled.body["state"], "filling");
  EXPECT_EQ(Fill(list, {"b", "c"}).body["entity_count"], 3);
  EXPECT_EQ(Ready(list).body["state"], "ready");
  EXPECT_EQ(Ready(list).status, 200) << "again";
  EXPECT_EQ(Fill(list, {"d"}).error(), "exclusion_list_ready");
  const Reply shown = Ask("GET", kLists + ("/" + list));
  EXPECT_EQ(shown.body["name"], "won");
  EXPECT_EQ(shown.body["entity_type"], "people");
  EXPECT_EQ(shown.body["entity_count"], 3);
  EXPECT_EQ(Ask("GET", kLists).body["exclusion_lists"], Json::array({shown.body}));
  EXPECT_EQ(Counted({{"exclusion_list_ids", {list}}}), "3: pd pe pf");
  const std::string other = NewList();
  Fill(other, {"d"});
  Ready(other);
  EXPECT_EQ(Counted({{"exclusion_list_ids", {list, other}}, {"exclude_entity_ids", {"e"}}}),
            "1: pf");
  EXPECT_EQ(Counted({{"exclusion_list_ids", {other}}, {"exclude_public_ids", {"pa"}}}),
            "4: pb pc pe pf");
  EXPECT_EQ(Ask("DELETE", kLists + ("/" + list)).body["deleted"], true);
  EXPECT_EQ(Counted({{"exclusion_list_ids", {list}}}), "404 not_found");
  EXPECT_EQ(Sql("select count(*) from search_exclusion_entity"), "1");
}

TEST_F(ApiSearchExclusions, ExclusionsThatDoNotFitAreA400AndListsThatAreNotThereA404) {
  const std::string refused = "400 invalid_exclusions";
  EXPECT_EQ(Counted({{"exclude_public_ids", {"pa"}}}, "company"), refused);
  EXPECT_EQ(Counted({{"exclude_public_ids", {"pa"}}, {"exclude_entity_ids", {"a"}}}), refused);
  const std::string list = NewList();
  Fill(list, {"a"});
  EXPECT_EQ(Counted({{"exclusion_list_ids", {list}}}), refused);
  EXPECT_THAT(Count({{"exclusion_list_ids", {list}}}).message(), HasSubstr("not ready"));
  Ready(list);
  EXPECT_EQ(Counted({{"exclusion_list_ids", {list}}}, "company"), refused);
  EXPECT_THAT(Count({{"exclusion_list_ids", {list}}}, "company").message(), HasSubstr("people"));
  for (const Json& exclusions :
       {Json{{"exclude_public_ids", {"pa"}}}, Json{{"exclude_entity_ids", {"a"}}},
        Json{{"exclusion_list_ids", {list}}}}) {
    Json body = exclusions;
    body["cursor"] = "c";
    EXPECT_EQ(Counted(body), refused) << exclusions;
  }
  EXPECT_EQ(Counted({{"cursor", "c"}}), "400 invalid_cursor");
  for (const std::string& missing : {base::Uuid::V4().ToString(), std::string("none")}) {
    EXPECT_EQ(Counted({{"exclusion_list_ids", {missing}}}), "404 not_found");
  }
  const Headers stranger{{"x-api-key", NewTenant("other").key}};
  const Json body{{"field", "public_id"}, {"mode", "people"}, {"exclusion_list_ids", {list}}};
  EXPECT_EQ(Ask("POST", "/search/filter-field-values", body, stranger).status, 404);
}

TEST_F(ApiSearchExclusions, WhatHasTheWrongFormIsA422WithItsPlace) {
  const auto loc = [&](const Json& more) {
    const Reply reply = Count(more);
    EXPECT_EQ(reply.status, 422) << more;
    return reply.loc() + " " + reply.type();
  };
  EXPECT_EQ(loc({{"exclude_entity_ids", "a"}}), R"(["body","exclude_entity_ids"] list_type)");
  EXPECT_EQ(loc({{"exclude_public_ids", {"a", 1}}}),
            R"(["body","exclude_public_ids",1] string_type)");
  EXPECT_EQ(loc({{"exclude_entity_ids", {""}}}),
            R"(["body","exclude_entity_ids",0] string_too_short)");
  const std::vector<std::string> many(domain::search::kExcludedIdsMax + 1, "x");
  EXPECT_EQ(loc({{"exclude_entity_ids", many}}), R"(["body","exclude_entity_ids"] too_long)");
  EXPECT_EQ(loc({{"exclusion_list_ids", std::vector<std::string>(11, "x")}}),
            R"(["body","exclusion_list_ids"] too_long)");
  EXPECT_EQ(loc({{"cursor", 5}}), R"(["body","cursor"] string_type)");
  EXPECT_EQ(Fill(NewList(), Json::array()).type(), "too_short");
  EXPECT_EQ(Fill(NewList(), many).type(), "too_long");
  EXPECT_EQ(Ask("POST", kLists, Json{{"name", "x"}, {"entity_type", "cars"}}).status, 422);
  EXPECT_EQ(Ask("POST", kLists, Json{{"entity_type", "people"}}).type(), "missing");
}

TEST_F(ApiSearchExclusions, ListsAndTheirIdsHaveLimits) {
  const std::string list = NewList();
  Sql("update search_exclusion set entities = 9999");
  EXPECT_EQ(Fill(list, {"a", "b"}).error(), "exclusion_list_full");
  EXPECT_EQ(Fill(list, {"a"}).body["entity_count"], 10'000);
  Ready(list);
  EXPECT_EQ(Count({{"exclusion_list_ids", {list, list}}}).status, 200) << "named twice is one list";
  const std::string one_more = NewList();
  Fill(one_more, {"a"});
  Ready(one_more);
  EXPECT_EQ(Counted({{"exclusion_list_ids", {list, one_more}}}), "400 invalid_exclusions");
  Sql("insert into search_exclusion (id, org_id, name, mode) select gen_random_uuid(), '" +
      acme.org_id + "', 'x', 0 from generate_series(1, 98)");
  const auto ask = [&] {
    return Ask("POST", kLists, Json{{"name", "x"}, {"entity_type", "people"}});
  };
  const Reply refused = ask();
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.error(), "too_many_exclusion_lists");
  Sql("delete from search_exclusion where id = (select id from search_exclusion where name = 'x' "
      "limit 1)");
  const Reply beside = AskBeside(
      "insert into search_exclusion (id, org_id, name, mode) values (gen_random_uuid(), '" +
          acme.org_id + "', 'x', 0)",
      ask);
  EXPECT_EQ(beside.error(), "too_many_exclusion_lists") << beside.raw.body;
}

}  // namespace
}  // namespace vedette::test
