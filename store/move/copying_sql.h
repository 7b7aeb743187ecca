#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "store/move/moved_tables.h"
#include "store/move/wire_sql.h"

// Internal to store/: the rows of one organisation, from one database to another.
namespace vedette::store {

// How a table is copied: from the old side's catalogue.
struct TableShape {
  const MovedTable* table = nullptr;
  std::vector<std::string> columns;  // but generated ones
  std::vector<std::string> key;
  std::vector<std::string>
      numbers;         // identity columns: a number of the other side is another row's
  bool keyed = false;  // whether the key is a primary one
};

// What a copy was made of, by which the next one brings only what has changed since.
struct CopyMark {
  std::int64_t since = 0;  // a transaction's number; 0: everything is to be brought
  std::string timeline;    // of the old side's WAL
};

// What one table came to.
struct TableCopied {
  std::string_view table;
  std::int64_t rows = 0;  // that were sent
};

class Copying {
 public:
  // Reads the shapes. Throws WireError.
  Copying(Wire& source, Wire& target, const base::Uuid& org_id);

  // What is added to the numbers of identity columns.
  void SetOffsets(std::map<std::string, std::int64_t> offsets) { offsets_ = std::move(offsets); }
  // Numbers that no row of the target has or will get, for all of the source's until long after.
  std::map<std::string, std::int64_t> ChooseOffsets();

  // The transaction's number from which on changes are not in the source's present snapshot.
  CopyMark Mark();

  // Brings the tables of a group whole, as they are in the source's snapshot. Both wires are in
  // transactions.
  void BringWhole(std::string_view group, const std::function<void(const TableCopied&)>& copied);
  // Brings what differs: of each table what has changed since its group's mark, everything where
  // there is none, and takes away at the target what the source has no longer. Both wires are in
  // transactions.
  void BringChanges(const std::map<std::string, CopyMark>& marks,
                    const std::function<void(const TableCopied&)>& copied);
  // The source's present snapshot, as PostgreSQL writes it.
  std::string Snapshot();
  // The tables in which anything was written at the source that this snapshot does not see, or
  // whose rows are not as many as BringChanges found.
  std::vector<std::string> ChangedSince(const std::string& snapshot);
  // The tables whose rows are not as many at the target as BringChanges found at the source.
  std::vector<std::string> Unequal();

  // The rows of one table at the source.
  std::int64_t Count(std::string_view table);
  // The tables in which the source has rows that were written after the organisation had left.
  std::vector<std::string> WrittenAfterLeaving();

  // Take the organisation's rows away; the wire is in no transaction: each table is one of its own.
  void RemoveFromSource(const std::function<void(const TableCopied&)>& removed);
  void RemoveFromTarget();
  // Takes away, in the source's transaction, the rows that anybody would work on.
  void RemoveWork();

 private:
  std::string Rows(const MovedTable& table) const;
  void GatherIds();
  // A condition of MovedTable for the target, after GatherIds.
  std::string AtTarget(std::string_view condition) const;
  std::string Selected(const TableShape& shape, const std::vector<std::string>& columns) const;
  static std::string Changed(std::int64_t since);
  // Brings into temporary tables of the target what BringChanges goes on from; whether rows have to
  // be taken away.
  std::int64_t Stage(const TableShape& shape, const CopyMark& mark, bool* has_gone);
  void TakeAway(const TableShape& shape);
  void Put(const TableShape& shape);
  void Remove(Wire& wire, const std::function<void(const TableCopied&)>& removed,
              const std::function<std::string(std::string_view)>& found);

  Wire& source_;
  Wire& target_;
  const std::string org_;  // quoted
  std::vector<TableShape> shapes_;
  std::map<std::string, std::int64_t> offsets_;
  std::map<std::string, std::int64_t> counts_;  // rows at the source, as BringChanges saw them
};

// What the members of an organisation that moves sign in with. An address is never proven, so who
// was first with it at a cell has it there: what he has shown at one side opens nothing that the
// address has at the other.

// The addresses of members that the target knows too, with other ways of signing in than the
// source has. Those of a membership of this organisation alone are unknown there.
std::vector<std::string> Strangers(Wire& source, Wire& target, const std::string& org_id);

// Nobody makes, at the target, another way for any of the members until its transaction ends.
void HoldWays(Wire& source, Wire& target, const std::string& org_id);

// Passkeys and sessions of each address end, and its password becomes one that nobody knows, so
// that an invitation of somebody else does not make the first one either.
void ResetWays(Wire& target, const std::string& org_id, const std::vector<std::string>& emails);

}  // namespace vedette::store
