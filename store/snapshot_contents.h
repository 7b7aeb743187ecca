#pragma once

#include <string>

#include "base/uuid.h"
#include "store/sql.h"

namespace vedette::store {

// Contents of snapshots that were deleted in this transaction, as rows of (org_id, hash), which are
// locked: those that nothing has any more go.
inline void ForgetContents(Transaction& tx, const pqxx::result& locked) {
  Rows<Column<"org_id", base::Uuid>, Column<"hash", std::string>> contents;
  for (const auto& row : locked) {
    base::Uuid org_id;
    std::string hash;
    Columns(row).Into("org_id"_a = &org_id, "hash"_a = BytesInto{&hash});
    contents.Add(org_id, Bytea(hash));
  }
  if (!contents.empty()) tx.Exec<"snapshot_contents_forget">(contents);
}

}  // namespace vedette::store
