#include "store/partitions.h"

#include "store/session_impl.h"

namespace vedette::store {

bool DropPartition(Session& session, const std::string& table, const std::string& partition,
                   TablesInUse* in_use, const std::function<void(Transaction&)>& before) {
  bool dropped = false;
  const auto drop = [&](Transaction& tx) {
    if (!ReadOne<bool>(tx.Exec<"maintenance_lock">())) return;
    if (before) before(tx);
    tx.DropTable(partition);
    dropped = true;
  };
  try {
    RunInTransaction(session, Durability::kSync, drop, Plans::kOfSession, 1);
  } catch (const Contention&) {
    if (in_use->insert(table).second) {
      session.impl().log.Info("an old partition is in use: it is dropped later",
                              {{"partition", partition}});
    }
    return false;
  }
  if (dropped) in_use->erase(table);
  return dropped;
}

}  // namespace vedette::store
