#pragma once

#include <memory>
#include <string>
#include <vector>

#include "domain/workflow/block_type.h"
#include "worker/blocks/row_runner.h"

namespace vedette::worker {

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
