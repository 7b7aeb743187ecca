#pragma once

#include <span>
#include <string>
#include <string_view>

// Which tables hold what belongs to an organisation, and how its rows are found: what a move copies
// and removes. A table that is neither here nor among those that stay fails a test. Pure; any
// thread.
namespace vedette::store {

enum class MovedHow {
  kItsOwn,  // its rows are the organisation's alone
  kStays,   // these as well, and both sides keep them: added where they are missing
  kShared,  // rows that the new side may have already: added where they are missing
};

// The rows of table `name`, which a statement calls t. In conditions $org stands for the
// organisation's id.
struct MovedTable {
  std::string_view name;
  std::string_view rows;
  // A group of tables that is copied before the lock, of one state of the old side; empty: the
  // table is copied under the lock, because what works on it would work at both sides, or because
  // it is small.
  std::string_view group{};
  // What tells its rows apart, where it has no primary key.
  std::string_view key{};
  MovedHow how = MovedHow::kItsOwn;
  // The rows that go with the organisation from the old side, where these are not all.
  std::string_view removed{};
  // The rows that anybody would work on: they go from the old side with the switch, so that nothing
  // of the organisation can happen there any more. Empty: they stay for the grace.
  std::string_view work{};
  // Columns that each side fills by itself, separated by commas.
  std::string_view own_columns{};
  // A row that holds no key that another one may take, where a unique index lets keys go from row
  // to row.
  std::string_view keyless{};
};

// What others refer to comes first.
std::span<const MovedTable> MovedTables();

// Tables that stay where they are: those of the fleet, of the network and of the operator, and what
// lasts for seconds.
std::span<const std::string_view> UnmovedTables();

// A condition of MovedTable about this organisation; `org` is quoted.
std::string ForOrganisation(std::string_view condition, std::string_view org);

}  // namespace vedette::store
