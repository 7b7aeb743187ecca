#include "store/accounts/cells.h"

#include <fmt/format.h>

#include "base/crypto.h"
#include "domain/auth/cell.h"
#include "store/accounts/accounts.h"
#include "store/sql.h"

namespace vedette::store {

void FillDirectory(Session& session, std::string_view cell) {
  InTransaction(session, [&](Transaction& tx) { tx.Exec<"cell_directory_fill">("cell"_a = cell); });
}

std::optional<std::string> CellOfOrganisation(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    return ReadFirst<std::string>(tx.Exec<"cell_of_org">("org_id"_a = org_id));
  });
}

std::optional<std::string> CellOfMovedKey(Session& session, std::string_view key) {
  const std::string hash = base::Sha256(key);
  return Read(session, [&](Transaction& tx) {
    return ReadFirst<std::string>(tx.Exec<"cell_of_moved_key">("hash"_a = Bytea(hash)));
  });
}

bool IsKnownHere(Session& session, std::string_view credential) {
  const std::string hash = base::Sha256(credential);
  return Read(session, [&](Transaction& tx) {
    return !tx.Exec<"credential_known">("hash"_a = Bytea(hash)).empty();
  });
}

CellCounts CountCell(Session& session, std::string_view cell) {
  return Read(session, [&](Transaction& tx) {
    CellCounts counts;
    Columns(tx.Exec<"cell_counts">("cell"_a = cell, "limit"_a = CellCounts::kMonitorsMax).at(0))
        .Into("organisations"_a = &counts.organisations, "checks_due"_a = &counts.checks_due,
              "lag_ms"_a = &counts.lag_ms, "monitors"_a = &counts.monitors,
              "undelivered_ms"_a = &counts.undelivered_ms);
    return counts;
  });
}

std::vector<CellRoute> ListCellRoutes(Session& session, std::string_view cell,
                                      const std::optional<base::Uuid>& after, int limit) {
  const std::string own_keys = fmt::format(
      "^{}[0-9A-Za-z]{{{}}}$", domain::CellPrefix(kApiKeyPrefix, cell), kApiKeyPublicRandomChars);
  return Read(session, [&](Transaction& tx) {
    std::vector<CellRoute> routes;
    for (const auto& row : tx.Exec<"cell_routes">("cell"_a = cell, "own_keys"_a = own_keys,
                           "after"_a = after, "limit"_a = limit)) {
      CellRoute& route = routes.emplace_back();
      Columns(row).Into("id"_a = &route.org_id, "external_id"_a = &route.external_id,
                        "prefixes"_a = &route.prefixes);
    }
    return routes;
  });
}

}  // namespace vedette::store
