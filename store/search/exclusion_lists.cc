#include "store/search/exclusion_lists.h"

#include <utility>

#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::search::ExclusionListState;

ExclusionList ReadList(const pqxx::row& row) {
  ExclusionList list;
  Columns(row).Into("id"_a = &list.id, "name"_a = &list.name, "mode"_a = &list.mode,
                    "state"_a = &list.state, "entities"_a = &list.entities,
                    "created_at"_a = &list.created_at, "updated_at"_a = &list.updated_at);
  return list;
}

std::optional<ExclusionList> FirstList(const pqxx::result& result) {
  if (result.empty()) return std::nullopt;
  return ReadList(result[0]);
}

void Audit(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
           const base::Uuid& id, AuditEntry* audit) {
  audit->org_id = org_id;
  audit->target = id.ToString();
  InsertAudit(tx, clock, *audit);
}

}  // namespace

std::optional<ExclusionList> CreateExclusionList(Session& session, const base::Clock& clock,
                                                 const base::Uuid& org_id, const std::string& name,
                                                 domain::search::Mode mode, AuditEntry audit) {
  constexpr int kMax = domain::search::kExclusionListsMax;
  const base::Uuid id = base::Uuid::V7(clock);
  return InTransaction(session, [&](Transaction& tx) -> std::optional<ExclusionList> {
    tx.Exec<"org_lock">("org_id"_a = org_id);
    if (ReadOne<int>(tx.Exec<"search_exclusion_count">("org_id"_a = org_id, "limit"_a = kMax)) >=
        kMax)
      return std::nullopt;
    auto made = FirstList(tx.Exec<"search_exclusion_insert">("id"_a = id, "org_id"_a = org_id,
                                                             "name"_a = name, "mode"_a = mode));
    Audit(tx, clock, org_id, id, &audit);
    return made;
  });
}

std::vector<ExclusionList> ListExclusionLists(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<ExclusionList> lists;
    for (const auto& row : tx.Exec<"search_exclusion_list">("org_id"_a = org_id))
      lists.push_back(ReadList(row));
    return lists;
  });
}

std::optional<ExclusionList> GetExclusionList(Session& session, const base::Uuid& org_id,
                                              const base::Uuid& id) {
  return Read(session, [&](Transaction& tx) {
    return FirstList(tx.Exec<"search_exclusion_get">("org_id"_a = org_id, "id"_a = id));
  });
}

ExclusionsAdded AddExclusions(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                              const base::Uuid& id, const std::vector<std::string>& entity_ids,
                              AuditEntry audit) {
  using Kind = ExclusionsAdded::Kind;
  return InTransaction(session, [&](Transaction& tx) -> ExclusionsAdded {
    auto list = FirstList(tx.Exec<"search_exclusion_lock">("org_id"_a = org_id, "id"_a = id));
    if (!list) return {};
    if (list->state == ExclusionListState::kReady) return {Kind::kReady, std::move(*list)};
    const int more =
        ReadOne<int>(tx.Exec<"search_exclusion_new">("list_id"_a = id, "id"_a = entity_ids));
    if (list->entities + more > domain::search::kExclusionListIdsMax) {
      return {Kind::kFull, std::move(*list)};
    }
    if (more > 0) tx.Exec<"search_exclusion_entities_add">("list_id"_a = id, "id"_a = entity_ids);
    list =
        FirstList(tx.Exec<"search_exclusion_set">("id"_a = id, "entities"_a = list->entities + more,
                                                  "state"_a = ExclusionListState::kFilling));
    Audit(tx, clock, org_id, id, &audit);
    return {Kind::kAdded, std::move(*list)};
  });
}

std::optional<ExclusionList> FinishExclusionList(Session& session, const base::Clock& clock,
                                                 const base::Uuid& org_id, const base::Uuid& id,
                                                 AuditEntry audit) {
  return InTransaction(session, [&](Transaction& tx) {
    auto list = FirstList(tx.Exec<"search_exclusion_lock">("org_id"_a = org_id, "id"_a = id));
    if (!list || list->state == ExclusionListState::kReady) return list;
    list = FirstList(tx.Exec<"search_exclusion_set">("id"_a = id, "entities"_a = list->entities,
                                                     "state"_a = ExclusionListState::kReady));
    Audit(tx, clock, org_id, id, &audit);
    return list;
  });
}

bool DeleteExclusionList(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                         const base::Uuid& id, AuditEntry audit) {
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"search_exclusion_delete">("org_id"_a = org_id, "id"_a = id).empty()) return false;
    Audit(tx, clock, org_id, id, &audit);
    return true;
  });
}

std::vector<std::string> ReadExcludedIds(Session& session, const base::Uuid& org_id,
                                         const std::vector<base::Uuid>& lists) {
  return Read(session, [&](Transaction& tx) {
    return ReadEach<std::string>(
        tx.Exec<"search_exclusion_entities">("org_id"_a = org_id, "lists"_a = lists));
  });
}

}  // namespace vedette::store
