#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/workflow/block_type.h"

namespace vedette::domain {

// The key by which the block `dedupe` recognises a row that came before. Immutable.
class DedupeKeys {
 public:
  // Throws BindError for an unknown column.
  DedupeKeys(const base::Json& specs, const Columns& input);

  // 16 bytes, equal for rows whose key cells are; nothing where all of them are blank: such a row
  // is kept.
  std::optional<std::string> KeyOf(const base::CellTexts& row) const;

 private:
  std::vector<std::size_t> columns_;
};

}  // namespace vedette::domain
