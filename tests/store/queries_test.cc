// The statements of store/queries, as the database takes them.

#include "store/queries.h"

#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <stdexcept>
#include <string>

#include "tests/support/test_database.h"

namespace vedette::test {
namespace {

TEST(Queries, TheDatabaseAcceptsEveryStatement) {
  TestDatabase database;
  pqxx::connection connection(database.url());
  const auto names = store::QueryNames();
  EXPECT_GT(names.size(), 100U);
  for (const std::string_view name : names) {
    const std::string statement(name);
    try {
      connection.prepare(statement, store::QueryText(name));
      connection.prepare_now(statement);
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  }
}

TEST(Queries, NumbersAndFragmentsStandInTheirPlaceAndCastsStay) {
  const std::string& text = store::QueryText("delivery_admin_list");
  EXPECT_NE(text.find("case when d.state = 0 and"), std::string::npos) << text;
  EXPECT_NE(text.find("$1::smallint"), std::string::npos) << text;
  EXPECT_EQ(text.find(":delivery"), std::string::npos) << text;
}

TEST(Queries, AnUnknownNameIsAMistakeOfTheProgram) {
  EXPECT_THROW(store::QueryText("no_such_statement"), std::logic_error);
}

}  // namespace
}  // namespace vedette::test
