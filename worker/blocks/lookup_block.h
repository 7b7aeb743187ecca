#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.h"
#include "domain/email/find_request.h"
#include "domain/email/found.h"
#include "domain/workflow/block_type.h"
#include "html/http_failure.h"
#include "worker/blocks/row_runner.h"
#include "worker/providers/provider_set.h"

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
  return {std::string(kRowDatabase), "The suppression list cannot be read.", true, std::nullopt};
}

inline RowFailure Stopping() {
  return {std::string(html::kShutdown), "This process is stopping.", true, std::nullopt};
}

inline RowFailure Unheld() {
  return {std::string(kRowUnheld), "It is not known whether the row's job goes on.", true,
          std::nullopt};
}

// How a row ends whose question was broken off, as this process stops or nobody knows whether its
// job goes on: it is tried again. Empty where it was answered, or failed.
inline std::optional<RowFailure> BrokenOff(const Asked& asked) {
  if (asked.shown.error_class == html::kShutdown) return Stopping();
  if (asked.shown.error_class == kLookupUnheld) return Unheld();
  return std::nullopt;
}

// A block of a workflow that asks a lookup about each row (domain/workflow/lookup_rows.h). Its
// specs are domain::BoundSpecs. A row becomes the lead of the lookup's own block, and what that one
// has found becomes columns:
//
//   row --> lead --> runner of the lookup --> cell --> row
//    |                                  +--> an error, or later: as the lookup says
//    +--> no lead: the row has an error, or needs nobody
//
// A row is charged as the lookup says. Loop thread only.
class LookupBlock final : public RowBlock {
 public:
  // Both must outlive this object and its runners.
  LookupBlock(const domain::BlockType& type, RowBlock& lookup);

  std::string_view type() const override { return job_type_; }
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t price_mc) override;

 private:
  const domain::BlockType& type_;
  const std::string job_type_;
  RowBlock& lookup_;
};

// One for every such block of workflows whose lookup is among `lookups`, which must outlive them.
std::vector<std::unique_ptr<RowBlock>> LookupBlocks(const std::vector<RowBlock*>& lookups);

}  // namespace vedette::worker
