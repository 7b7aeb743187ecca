#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/chunk_plan.h"
#include "store/purses.h"
#include "store/sql.h"

// Internal to store/.
namespace vedette::store {

// A chunk as its row says, with what it holds reserved.
struct ChunkRow {
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  domain::Tier tier = domain::Tier::kLow;
  bool large = false;
  int claims = 0;
  base::Timestamp due_at{};
  std::int64_t reserved_mc = 0;
  std::optional<std::int64_t> price_mc;  // empty until something is reserved
  std::string month;
  std::vector<domain::ChunkPart> parts;

  Payer payer() const { return {org_id, team_id, month}; }
};

// From :chunk_columns.
ChunkRow ReadChunk(Columns& in);

}  // namespace vedette::store
