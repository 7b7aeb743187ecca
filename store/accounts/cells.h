#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "store/session.h"

// Which organisation lives at which cell (domain/auth/cell.h). Nothing here is asked for a request
// that is at the right cell. All functions throw as InTransaction does (store/session.h).
namespace vedette::store {

// Enters the organisations of this cell that the directory does not know. They are few but at the
// first start with a directory.
void FillDirectory(Session& session, std::string_view cell);

// The cell of the organisation; empty where the directory does not know it, which then knows none
// of its moves.
std::optional<std::string> CellOfOrganisation(Session& session, const base::Uuid& org_id);

// The cell of the organisation that took this API key with it when it left this cell.
std::optional<std::string> CellOfMovedKey(Session& session, std::string_view key);

// Whether this API key or token is one of an organisation whose rows are here, good or not.
bool IsKnownHere(Session& session, std::string_view credential);

struct CellCounts {
  std::int64_t organisations = 0;
  std::int64_t checks_due = 0;
  std::int64_t lag_ms = 0;                     // how long the oldest chunk is due
  std::int64_t monitors = 0;                   // whose schedule runs; counted up to kMonitorsMax
  std::optional<std::int64_t> undelivered_ms;  // the age of the oldest delivery that waits

  static constexpr int kMonitorsMax = 1'000'000;
};
CellCounts CountCell(Session& session, std::string_view cell);

// What a router has to know of an organisation of this cell.
struct CellRoute {
  base::Uuid org_id;
  std::optional<std::string> external_id;
  std::vector<std::string> prefixes;  // of its keys that another cell gave out
};
// By id, those behind `after`, at most `limit`.
std::vector<CellRoute> ListCellRoutes(Session& session, std::string_view cell,
                                      const std::optional<base::Uuid>& after, int limit);

}  // namespace vedette::store
