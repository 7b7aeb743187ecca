#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/search/documents.h"
#include "store/audit.h"
#include "store/session.h"

// Saved lists of documents that counts leave out. They belong to an organisation, whatever the
// caller's team; every function sees only that organisation's (G8), and throws as InTransaction
// does. The states are domain::search::ExclusionListState's.
namespace vedette::store {

struct ExclusionList {
  base::Uuid id;
  std::string name;
  domain::search::Mode mode = domain::search::Mode::kCompany;  // whose documents it names
  domain::search::ExclusionListState state = domain::search::ExclusionListState::kFilling;
  int entities = 0;  // different ids
  base::Timestamp created_at{};
  base::Timestamp updated_at{};
};

// Nothing where the organisation has kExclusionListsMax already.
std::optional<ExclusionList> CreateExclusionList(Session& session, const base::Clock& clock,
                                                 const base::Uuid& org_id, const std::string& name,
                                                 domain::search::Mode mode, AuditEntry audit);

// Newest first.
std::vector<ExclusionList> ListExclusionLists(Session& session, const base::Uuid& org_id);

std::optional<ExclusionList> GetExclusionList(Session& session, const base::Uuid& org_id,
                                              const base::Uuid& id);

struct ExclusionsAdded {
  enum class Kind { kAdded, kNoList, kReady, kFull };  // but for kAdded nothing is changed
  Kind kind = Kind::kNoList;
  ExclusionList list;  // where there is one
};
// Adds what the list does not have yet. kFull: it would have more than kExclusionListIdsMax.
ExclusionsAdded AddExclusions(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                              const base::Uuid& id, const std::vector<std::string>& entity_ids,
                              AuditEntry audit);

// Makes it ready, which it may be already. Nothing where there is no such list.
std::optional<ExclusionList> FinishExclusionList(Session& session, const base::Clock& clock,
                                                 const base::Uuid& org_id, const base::Uuid& id,
                                                 AuditEntry audit);

// False where there is no such list.
bool DeleteExclusionList(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                         const base::Uuid& id, AuditEntry audit);

// The ids of documents that these lists name, each once.
std::vector<std::string> ReadExcludedIds(Session& session, const base::Uuid& org_id,
                                         const std::vector<base::Uuid>& lists);

}  // namespace vedette::store
