#pragma once

#include <string>

#include "domain/workflow/block_type.h"

namespace vedette::domain {

// What a block of a run is stored with: everything that its work needs, so that a worker looks at
// no other block.
struct BoundSpecs {
  std::string block_id;
  base::Json specs = base::Json::object();  // with the defaults
  Columns input;                            // the columns of its input; a source has its own
  // The part of the configuration that the run keeps from its start on: LookupTermsJson of a
  // lookup.
  base::Json terms = nullptr;
};

// JSON: {"block_id", "specs", "columns", "terms"?}.
std::string BoundSpecsJson(const BoundSpecs& bound);
// Throws std::exception for anything else.
BoundSpecs ReadBoundSpecs(const std::string& json);

}  // namespace vedette::domain
