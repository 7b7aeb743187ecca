#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.h"
#include "domain/email/find_request.h"
#include "domain/email/found.h"
#include "worker/blocks/row_runner.h"

// What the blocks that look somebody up have in common.
namespace vedette::worker {

// The row of a lookup, which has one cell. Throws std::invalid_argument.
inline domain::FindRow LookupRowOf(const Cells& cells) {
  if (cells.size() != 1) throw std::invalid_argument("a lookup has one cell");
  return domain::ReadFindRow(base::ParseJsonOrThrow(cells.front()));
}

// How a row ends that is a copy of another one, however it was tried: its client reads the other
// row. Empty where it is none.
inline std::optional<RowDone> EndOfCopy(const domain::FindRow& row) {
  if (!row.copy_of) return std::nullopt;
  return RowDone{{base::DumpJson(domain::CopyCell(*row.copy_of))}, {}, {}};
}

// The ids in their order, each once.
inline std::vector<std::string> Distinct(const std::vector<std::string>& ids) {
  std::vector<std::string> order;
  for (const std::string& id : ids) {
    if (std::find(order.begin(), order.end(), id) == order.end()) order.push_back(id);
  }
  return order;
}

inline RowFailure ListUnread() {
  return {"database", "The suppression list cannot be read.", true, std::nullopt};
}

inline RowFailure Unheld() {
  return {std::string(kRowUnheld), "It is not known whether the row's job goes on.", true,
          std::nullopt};
}

}  // namespace vedette::worker
