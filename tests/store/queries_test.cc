// The statements of store/queries, as the database takes them.

#include "store/queries.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <pqxx/pqxx>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "store/param.h"
#include "store/sql.h"
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

// What the database takes for each parameter of a prepared statement, as numbers of pg_type.
std::vector<std::uint32_t> ParameterTypes(pqxx::connection& connection,
                                          const std::string& statement) {
  pqxx::nontransaction tx(connection);
  std::vector<std::uint32_t> types;
  for (const auto& row :
       tx.exec_params("select t::oid from pg_prepared_statements, unnest(parameter_types) t "
                      "where name = $1",
                      statement)) {
    types.push_back(row[0].as<std::uint32_t>());
  }
  return types;
}

TEST(Queries, EveryCallGivesTheParametersThatItsStatementTakes) {
  TestDatabase database;
  pqxx::connection connection(database.url());
  std::set<std::string> prepared;
  for (const store::Call* call = store::Call::First(); call != nullptr; call = call->next()) {
    const std::string statement(call->statement());
    try {
      const auto& names = store::QueryParameters(statement);
      const auto order = call->Order(names);
      if (prepared.insert(statement).second) {
        connection.prepare(statement, store::QueryText(statement));
        connection.prepare_now(statement);
      }
      const auto types = ParameterTypes(connection, statement);
      ASSERT_EQ(types.size(), order.size()) << statement;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const store::Parameter& given = call->parameters()[order[i]];
        EXPECT_TRUE(store::Fits(given.type, types[i]))
            << statement << ": @" << names[i] << " is of type " << types[i]
            << ", and what is given of kind " << static_cast<int>(given.type.kind)
            << (given.type.array ? "[]" : "");
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << statement << ": " << error.what();
    }
  }
}

TEST(Queries, AColumnIsReadUnderItsNameAndAsItsType) {
  using store::operator""_a;
  TestDatabase database;
  pqxx::connection connection(database.url());
  pqxx::nontransaction tx(connection);
  const pqxx::result result = tx.exec("select 1 as first, 'x' as second");
  int first = 0;
  std::string second;
  store::Columns(result[0]).Into("first"_a = &first, "second"_a = &second);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, "x");
  const auto read_swapped = [&] {
    store::Columns(result[0]).Into("second"_a = &second, "first"_a = &first);
  };
  EXPECT_THROW(read_swapped(), std::logic_error);
  const auto read_as_text = [&] { store::Columns(result[0]).Into("first"_a = &second); };
  EXPECT_THROW(read_as_text(), std::logic_error);
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
