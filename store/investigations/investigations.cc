#include "store/investigations/investigations.h"

#include "store/sql.h"

namespace vedette::store {

std::optional<InvestigationView> GetInvestigation(Session& session, const Scope& scope,
                                                  const base::Uuid& id) {
  return Read(session, [&](Transaction& tx) -> std::optional<InvestigationView> {
    const auto found = tx.Exec("investigation_get", id, scope.org_id, scope.team_id);
    if (found.empty()) return std::nullopt;
    InvestigationView view;
    Columns(found.at(0))
        .Into(&view.seeds_json, &view.depth, &view.findings_max, &view.credits_mc_max,
              &view.findings, &view.budget_reached, &view.subjects_examined, &view.subjects_failed,
              &view.name);
    return view;
  });
}

std::vector<FindingView> ListFindings(Session& session, const base::Uuid& id, std::int64_t after,
                                      int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<FindingView> findings;
    for (const auto& row : tx.Exec("findings_page", id, after, limit)) {
      FindingView& f = findings.emplace_back();
      Columns(row).Into(&f.seq, &f.id, &f.kind, &f.subject_json, &f.predicate, &f.object_json,
                        &f.confidence, &f.evidence, &f.sources_json, &f.provider, &f.derived_from,
                        &f.created_at);
    }
    return findings;
  });
}

}  // namespace vedette::store
