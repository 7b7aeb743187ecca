#pragma once

#include <functional>
#include <set>
#include <string>

#include "store/session.h"
#include "store/sql.h"

// Internal to store/.
namespace vedette::store {

// The tables that old partitions could not be dropped from when this process last tried.
using TablesInUse = std::set<std::string>;

// Rows that one transaction moves out of a default partition, while nobody else can use it: about a
// second. History that falls there is what was written before the week's partition existed, as
// after a restore or a jump of the database's clock.
inline constexpr int kMovedRowsMax = 100000;

// Drops the partition of `table` in a transaction of its own under the lock of
// maintenance, behind what `before` does there. A drop locks the whole table, and everybody who
// comes meanwhile waits behind it: so it is tried once, for kDropWait at most. False: somebody uses
// the table, as a backup does for hours, or another process has the lock; the next run tries again.
bool DropPartition(Session& session, const std::string& table, const std::string& partition,
                   TablesInUse* in_use, const std::function<void(Transaction&)>& before = {});

}  // namespace vedette::store
