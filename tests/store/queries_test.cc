// The statements of store/queries, as the database takes them.

#include "store/queries.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
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

// The type of arrays of such elements.
std::uint32_t ArrayOf(pqxx::connection& connection, std::uint32_t element_type) {
  pqxx::nontransaction tx(connection);
  return tx
      .exec_params1("select typarray::oid from pg_type where oid = $1",
                    static_cast<std::int64_t>(element_type))[0]
      .as<std::uint32_t>();
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
      const auto& elements = store::QueryElementTypes(statement);
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (elements[i] == 0) continue;
        EXPECT_EQ(ArrayOf(connection, elements[i]), types[i])
            << statement << ": @" << names[i] << " would be passed as an array of " << elements[i];
      }
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

// What the database reads from the binary form of an array, as text.
std::string ReadBack(pqxx::nontransaction& tx, const std::string& type,
                     const std::optional<std::string>& binary) {
  if (!binary) return "no binary form";
  const pqxx::binarystring bytes(binary->data(), binary->size());
  return tx.exec_params1("select $1::" + type + "[]::text", bytes)[0].as<std::string>();
}
std::string FromLiteral(pqxx::nontransaction& tx, const std::string& type,
                        const std::string& literal) {
  return tx.exec_params1("select $1::text::" + type + "[]::text", literal)[0].as<std::string>();
}

TEST(Queries, AnArrayInItsBinaryFormIsWhatItsLiteralSays) {
  TestDatabase database;
  pqxx::connection connection(database.url());
  pqxx::nontransaction tx(connection);
  const auto expect_same = [&tx](const store::ArrayParam& array, const std::string& type,
                                 std::uint32_t oid) {
    EXPECT_EQ(ReadBack(tx, type, array.Binary(oid)), FromLiteral(tx, type, array.Literal()))
        << type << " " << array.Literal();
  };
  const auto array_of = [](const auto&... elements) {
    store::ArrayParam array;
    (array.Add(elements), ...);
    return array;
  };
  const std::optional<int> no_number;
  const std::optional<std::string> no_text;
  expect_same({}, "uuid", 2950);
  expect_same(array_of(no_number, no_number), "bigint", 20);
  expect_same(array_of(base::Uuid(), base::Uuid::V4()), "uuid", 2950);
  expect_same(array_of(std::string("(0,1)"), no_text, std::string("(4294967294,65535)")), "tid",
              27);
  for (const char* const no_place : {"(1)", "1,2", "(1,2", "(1,65536)", "(,)", "(1,2) "}) {
    EXPECT_EQ(array_of(std::string(no_place)).Binary(27), std::nullopt) << no_place;
  }
  expect_same(array_of(true, false), "boolean", 16);
  expect_same(array_of(0, -1, no_number, 32767, -32768), "smallint", 21);
  expect_same(array_of(0, -1, no_number, 2147483647), "int", 23);
  expect_same(array_of(std::int64_t{1} << 62, no_number, -5), "bigint", 20);
  expect_same(array_of(0.1, -2.5e300), "double precision", 701);
  expect_same(array_of(base::Timestamp(), base::Timestamp(std::chrono::microseconds(1))),
              "timestamptz", 1184);
  const std::string nasty = "a \"quoted\" \\ , {NULL} \n \xC3\xA4";
  expect_same(array_of(nasty, no_text, std::string(), std::string("NULL")), "text", 25);
  expect_same(array_of(std::string("{\"a\": [1, \"\\\"\"]}"), no_text), "json", 114);
  expect_same(array_of(std::string("{\"a\": [1, \"\\\"\"]}"), no_text), "jsonb", 3802);
  expect_same(array_of(store::Bytea(std::string("\0\1\xFF", 3)), store::Bytea("")), "bytea", 17);
}

// What runs for every check: an array that goes as text costs more than much of what is done with
// it.
TEST(Queries, EveryArrayOfAStatementThatRunsForEveryCheckIsPassedInItsBinaryForm) {
  const std::set<std::string_view> statements = {
      "sched_open_ticks",  "chunk_insert",      "chunk_claim",    "one_row_parts",
      "rows_of_parts",     "sched_hold_ticks",  "held_row_parts", "states_of_parts",
      "record_rows",       "record_row_states", "record_events",  "record_deliveries",
      "states_lock",       "states_write",      "record_log",     "record_ticks",
      "record_close_ticks"};
  std::set<std::string_view> seen;
  for (const store::Call* call = store::Call::First(); call != nullptr; call = call->next()) {
    if (!statements.contains(call->statement())) continue;
    seen.insert(call->statement());
    const auto& names = store::QueryParameters(call->statement());
    const auto order = call->Order(names);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (!call->parameters()[order[i]].type.array) continue;
      EXPECT_NE(store::QueryElementTypes(call->statement())[i], 0U)
          << call->statement() << " takes @" << names[i] << " as text";
    }
  }
  EXPECT_EQ(seen, statements);
}

TEST(Queries, WhatDoesNotFitIntoTheElementsOfAnArrayIsLeftToTheDatabaseToRefuse) {
  store::ArrayParam array;
  array.Add(32768);
  EXPECT_FALSE(array.Binary(21));
  EXPECT_TRUE(array.Binary(23));
  EXPECT_EQ(array.Literal(), "{32768}");
  EXPECT_FALSE(array.Binary(25)) << "a number is no text";
  store::ArrayParam text;
  text.Add(std::string("not bytes"));
  EXPECT_FALSE(text.Binary(17));
  EXPECT_THROW(text.Add(std::string("a\0b", 3)), std::invalid_argument);
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
  EXPECT_NE(text.find("case when d.state in (0, 3)"), std::string::npos) << text;
  EXPECT_NE(text.find("$1::smallint"), std::string::npos) << text;
  EXPECT_EQ(text.find(":delivery"), std::string::npos) << text;
}

TEST(Queries, AnUnknownNameIsAMistakeOfTheProgram) {
  EXPECT_THROW(store::QueryText("no_such_statement"), std::logic_error);
}

}  // namespace
}  // namespace vedette::test
