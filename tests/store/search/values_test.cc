// Counting the values of fields: the database gives what the rule in memory says, on documents and
// filters by chance, and a foreign organisation's document is in no count.
#include "store/search/field_values.h"

#include <gtest/gtest.h>

#include <pqxx/pqxx>

#include "base/log.h"
#include "config/database_config.h"
#include "domain/search/filter.h"
#include "domain/search/filter_reader.h"
#include "domain/search/jsonpath_writer.h"
#include "tests/store/support/allocation_count.h"
#include "tests/support/search_cases.h"
#include "tests/support/test_database.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::search::Filter;
using domain::search::ImportState;
using domain::search::Mode;
using domain::search::TopValues;

constexpr std::chrono::milliseconds kTimeout = std::chrono::minutes(1);

class SearchValuesTest : public testing::Test {
 public:
  base::Uuid NewOrganisation() {
    const base::Uuid id = base::Uuid::V4();
    Sql("insert into organisation (id, name) values ('" + id.ToString() + "', 'o')");
    return id;
  }

  void Sql(const std::string& statement) {
    pqxx::connection connection(database.url());
    pqxx::work work(connection);
    work.exec(statement);
    work.commit();
  }

  // Makes these the documents of the organisation, or everybody's.
  void Import(const std::optional<base::Uuid>& org_id, const std::vector<Json>& documents) {
    const store::ImportTarget target{base::Uuid::V4(), Mode::kCompany, org_id};
    std::vector<domain::search::Document> batch;
    for (const Json& document : documents) {
      batch.push_back(std::get<domain::search::Document>(
          domain::search::ReadDocument(base::DumpJson(document))));
    }
    const auto lines = static_cast<std::int64_t>(batch.size());
    store::TakeDocuments(session, target, 0, lines, std::move(batch));
    const auto done = store::FinishImport(session, clock, target, fields(), kTimeout, Audit());
    ASSERT_EQ(done.state, ImportState::kCurrent);
    ASSERT_EQ(done.documents, static_cast<std::int64_t>(documents.size()));
  }

  static store::AuditEntry Audit() {
    store::AuditEntry entry;
    entry.actor = "test";
    entry.action = "search.import";
    return entry;
  }

  TopValues Ask(const base::Uuid& org_id, const domain::search::Field& field, Filter filter,
                int values_max) {
    store::ValuesQuestion question;
    question.org_id = org_id;
    question.field = &field;
    question.filter = std::move(filter);
    question.values_max = values_max;
    return store::CountFieldValues(session, question, kTimeout);
  }

  // What the import counted.
  std::optional<TopValues> AskImported(const base::Uuid& org_id,
                                       const domain::search::Field& field) {
    store::ValuesQuestion question;
    question.org_id = org_id;
    question.field = &field;
    question.values_max = 5;
    return store::ReadImportedValues(session, fields(), question);
  }

  Filter ByChance(SearchCases* cases, Json* given) {
    const bool dsl = cases->Chance(50);
    *given = dsl ? cases->Dsl() : cases->Simple();
    return std::get<Filter>(dsl ? domain::search::ReadDslFilter(*given, fields())
                                : domain::search::ReadSimpleFilter(*given, fields()));
  }

  static std::vector<Json> Documents(SearchCases* cases, const std::string& prefix, int count) {
    std::vector<Json> documents;
    for (int i = 0; i < count; ++i) {
      documents.push_back(cases->Document(prefix + std::to_string(i)));
    }
    return documents;
  }

  const domain::search::Fields& fields() const { return catalogue.of(Mode::kCompany); }

  TestDatabase database;
  config::DatabaseConfig config = database.config();
  base::SystemClock clock;
  base::Logger log{base::LogLevel::kOff, base::LogFormat::kText};
  metrics::Metrics metrics{"test"};
  store::Session session{config, {.name = "search"}, clock, metrics, log};
  const domain::search::Catalogue catalogue = SmallCatalogue();
};

// Each round has shared documents, those of the caller, and foreign ones that would change every
// count.
TEST_F(SearchValuesTest, G8_DatabaseAndRuleAgreeOnEveryCountAndForeignDocumentsAreInNone) {
#ifdef VEDETTE_SANITIZED
  constexpr int kRounds = 1;  // what a sanitizer looks at is the code, of which all is run by then
#else
  constexpr int kRounds = 10;
#endif
  constexpr int kFilters = 1000;
  int with_some = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    SearchCases cases(100 + round);
    const base::Uuid mine = NewOrganisation();
    const std::vector<Json> shared = Documents(&cases, "s", 40);
    std::vector<Json> visible = Documents(&cases, "m", 20);
    Import(std::nullopt, shared);
    Import(mine, visible);
    Import(NewOrganisation(), Documents(&cases, "f", 40));
    visible.insert(visible.end(), shared.begin(), shared.end());
    for (int i = 0; i < kFilters; ++i) {
      Json given;
      const Filter filter = ByChance(&cases, &given);
      const domain::search::Field& field = cases.CountedField(fields());
      const int values_max = 1 + cases.Below(10);
      const TopValues expected =
          domain::search::CountValues(field, filter, visible, static_cast<std::size_t>(values_max));
      const TopValues counted = Ask(mine, field, filter, values_max);
      ASSERT_EQ(counted.total, expected.total) << given << domain::search::FilterJsonPath(filter);
      ASSERT_EQ(counted, expected) << field.name << given;
      with_some += expected.total > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(with_some, kRounds * kFilters / 4) << "the cases say too little";
}

TEST_F(SearchValuesTest, EverySnippetSelectsAsManyDocumentsAsItsCount) {
  SearchCases cases(7);
  const base::Uuid mine = NewOrganisation();
  Import(mine, Documents(&cases, "m", 150));
  int checked = 0;
  for (const auto& field : fields().all()) {
    if (!field.has_values()) continue;
    for (const auto& value : Ask(mine, field, {}, 100).values) {
      const Json clause = domain::search::FilterSnippet(field, value.value);
      if (clause.empty()) continue;  // no filter can name a value of another type than its field's
      const auto snippet = domain::search::ReadDslFilter(clause, fields());
      EXPECT_EQ(Ask(mine, field, std::get<Filter>(snippet), 1).total, value.count)
          << field.name << " " << value.value;
      ++checked;
    }
  }
  EXPECT_GT(checked, 100);
}

// The injection corpus against the database itself: each text is a value like any other.
TEST_F(SearchValuesTest, ANastyTextIsAValueLikeAnyOther) {
  const base::Uuid mine = NewOrganisation();
  std::vector<Json> documents;
  for (const std::string& text : NastyTexts()) {
    documents.push_back({{"id", std::to_string(documents.size())}, {"tag", text}, {"title", text}});
  }
  Import(mine, documents);
  const auto& tag = *fields().Find("tag");
  EXPECT_EQ(Ask(mine, tag, {}, 100).values.size(), NastyTexts().size());
  for (const std::string& text : NastyTexts()) {
    for (const Json& filter :
         {Json{{"term", {{"tag", text}}}}, Json{{"prefix", {{"tag", text}}}},
          Json{{"match", {{"title", text}}}}, Json{{"match_phrase", {{"title", text}}}},
          Json{{"range", {{"tag", {{"gte", text}, {"lte", text}}}}}}}) {
      const auto tree = std::get<Filter>(domain::search::ReadDslFilter(filter, fields()));
      EXPECT_EQ(Ask(mine, tag, tree, 100), domain::search::CountValues(tag, tree, documents, 100))
          << filter;
    }
  }
}

// What the import has counted is what counting gives.
TEST_F(SearchValuesTest, AllOfOneImportIsAnsweredFromWhatWasCountedThen) {
  SearchCases cases(8);
  const base::Uuid mine = NewOrganisation();
  const std::vector<Json> documents = Documents(&cases, "m", 100);
  Import(mine, documents);
  for (const auto& field : fields().all()) {
    if (!field.has_values()) continue;
    EXPECT_EQ(AskImported(mine, field), domain::search::CountValues(field, {}, documents, 5));
  }
  Sql("delete from search_entity");
  EXPECT_EQ(AskImported(mine, *fields().Find("tag"))->total, 100);
  Sql("update search_top set fields_hash = 'of another catalogue'");
  EXPECT_EQ(AskImported(mine, *fields().Find("tag")), std::nullopt);
}

// Whatever a filter made the database do: a count writes nothing.
TEST_F(SearchValuesTest, ACountOnlyReads) {
  const base::Uuid mine = NewOrganisation();
  Import(mine, {Json{{"id", "a"}, {"tag", "b"}}});
  Sql("create table touched (n int)");
  Sql("create function touch() returns int language plpgsql volatile as "
      "'begin insert into touched values (1); return 1; end'");
  Sql("alter table search_entity rename to search_entity_itself");
  Sql("create view search_entity as select e.* from search_entity_itself e where touch() = 1");
  const auto& tag = *fields().Find("tag");
  EXPECT_ANY_THROW(Ask(mine, tag, {domain::search::Exists{&tag}}, 5));
  Sql("create or replace view search_entity as select e.* from search_entity_itself e");
  EXPECT_EQ(Ask(mine, tag, {domain::search::Exists{&tag}}, 5).total, 1);
}

TEST_F(SearchValuesTest, AnEmptyStoreHasNoValues) {
  EXPECT_EQ(Ask(NewOrganisation(), *fields().Find("tag"), {}, 25), TopValues{});
}

TEST_F(SearchValuesTest, AnIndexServesAFilterOfWholeValues) {
  Sql("insert into search_import (id, mode, state) values ('" + base::Uuid::V4().ToString() +
      "', 1, 2)");
  Sql("insert into search_entity select (select id from search_import), n::text, "
      "jsonb_build_object('tag', 't' || n % 5000, 'size', n) from generate_series(1, 20000) n");
  Sql("analyze search_entity");
  const auto filter = std::get<Filter>(domain::search::ReadSimpleFilter(
      base::ParseJsonOrThrow(R"({"tag": "t7", "size": {"$gt": 10}})"), fields()));
  pqxx::connection connection(database.url());
  pqxx::work work(connection);
  std::string plan;
  const auto explained = work.exec("explain select from search_entity where doc @? " +
                                   work.quote(domain::search::FilterJsonPath(filter)));
  for (const auto& row : explained) plan += std::string(row[0].c_str()) + "\n";
  EXPECT_NE(plan.find("search_entity_doc"), std::string::npos) << plan;
}

TEST_F(SearchValuesTest, ACountThatTakesTooLongIsToldApart) {
  const base::Uuid mine = NewOrganisation();
  Import(mine, {Json{{"id", "a"}, {"tag", "b"}}});
  pqxx::connection connection(database.url());
  pqxx::work work(connection);
  work.exec("lock table search_entity in access exclusive mode");
  store::ValuesQuestion question;
  question.org_id = mine;
  question.field = fields().Find("tag");
  question.filter = {domain::search::Exists{question.field}};
  EXPECT_THROW(store::CountFieldValues(session, question, std::chrono::milliseconds(20)),
               store::SearchTimedOut);
  work.abort();
  EXPECT_EQ(store::CountFieldValues(session, question, kTimeout).total, 1);
}

}  // namespace
}  // namespace vedette::test
