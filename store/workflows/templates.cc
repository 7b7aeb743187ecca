#include "store/workflows/templates.h"

#include <utility>

#include "base/json.h"
#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

domain::WorkflowTemplate ReadTemplateRow(const pqxx::row& row) {
  base::Uuid id;
  std::string document;
  base::Timestamp created_at{};
  base::Timestamp updated_at{};
  Columns(row).Into("id"_a = &id, "document"_a = &document, "created_at"_a = &created_at,
                    "updated_at"_a = &updated_at);
  domain::WorkflowTemplate shown = domain::ReadStoredTemplate(base::ReadJsonCell(document));
  shown.id = id;
  shown.created_at = created_at;
  shown.updated_at = updated_at;
  return shown;
}

}  // namespace

std::optional<domain::WorkflowTemplate> GetTemplate(Session& session, const base::Uuid& org_id,
                                                    const base::Uuid& id) {
  return Read(session, [&](Transaction& tx) -> std::optional<domain::WorkflowTemplate> {
    const auto found = tx.Exec<"template_get">("org_id"_a = org_id, "id"_a = id);
    if (found.empty()) return std::nullopt;
    return ReadTemplateRow(found[0]);
  });
}

std::vector<domain::WorkflowTemplate> ListTemplates(Session& session,
                                                    const TemplateFilter& filter) {
  return Read(session, [&](Transaction& tx) {
    std::vector<domain::WorkflowTemplate> templates;
    for (const auto& row : tx.Exec<"template_list">(
             "org_id"_a = filter.org_id, "after"_a = filter.after_id.value_or(base::Uuid{}),
           "category"_a = filter.category, "tag"_a = filter.tag, "limit"_a = filter.limit)) {
      templates.push_back(ReadTemplateRow(row));
    }
    return templates;
  });
}

TemplateOutcome CreateTemplate(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                               const domain::WorkflowTemplate& shown, int per_org_max,
                               AuditEntry audit) {
  using Kind = TemplateOutcome::Kind;
  const base::Uuid id = base::Uuid::V7(clock);
  audit.target = id.ToString();
  audit.org_id = org_id;
  audit.detail = base::Json{{"slug", shown.slug}};
  const Kind kind = InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"org_lock">("org_id"_a = org_id).empty()) return Kind::kNoOrganisation;
    if (ReadOne<int>(tx.Exec<"template_count">("org_id"_a = org_id,
                                               "per_org_max"_a = per_org_max)) >= per_org_max) {
      return Kind::kTooMany;
    }
    const std::string document = base::DumpJson(domain::TemplateDocument(shown));
    if (tx.Exec<"template_insert">("id"_a = id, "org_id"_a = org_id, "slug"_a = shown.slug,
                                   "document"_a = document)
            .empty()) {
      return Kind::kSlugTaken;
    }
    InsertAudit(tx, clock, audit);
    return Kind::kCreated;
  });
  return {kind, id};
}

bool DeleteTemplate(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const base::Uuid& id, AuditEntry audit) {
  audit.target = id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"template_delete">("org_id"_a = org_id, "id"_a = id).empty()) return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

}  // namespace vedette::store
