#include "store/investigations/investigations.h"

#include "store/sql.h"

namespace vedette::store {

std::optional<InvestigationView> GetInvestigation(Session& session, const Scope& scope,
                                                  const base::Uuid& id) {
  return Read(session, [&](Transaction& tx) -> std::optional<InvestigationView> {
    const auto found = tx.Exec<"investigation_get">("id"_a = id, "org_id"_a = scope.org_id,
                                                    "team_id"_a = scope.team_id);
    if (found.empty()) return std::nullopt;
    InvestigationView view;
    Columns(found.at(0))
        .Into("seeds"_a = &view.seeds_json, "depth"_a = &view.depth,
              "findings_max"_a = &view.findings_max, "credits_mc_max"_a = &view.credits_mc_max,
              "findings"_a = &view.findings, "budget_reached"_a = &view.budget_reached,
              "examined"_a = &view.subjects_examined, "failed"_a = &view.subjects_failed,
              "name"_a = &view.name);
    return view;
  });
}

std::vector<FindingView> ListFindings(Session& session, const base::Uuid& id, std::int64_t after,
                                      int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<FindingView> findings;
    for (const auto& row : tx.Exec<"findings_page">("investigation_id"_a = id, "after"_a = after,
                           "limit"_a = limit)) {
      FindingView& f = findings.emplace_back();
      Columns(row).Into(
          "seq"_a = &f.seq, "id"_a = &f.id, "kind"_a = &f.kind, "subject"_a = &f.subject_json,
          "predicate"_a = &f.predicate, "object"_a = &f.object_json, "confidence"_a = &f.confidence,
          "evidence"_a = &f.evidence, "sources"_a = &f.sources_json, "provider"_a = &f.provider,
          "derived_from"_a = &f.derived_from, "created_at"_a = &f.created_at);
    }
    return findings;
  });
}

}  // namespace vedette::store
