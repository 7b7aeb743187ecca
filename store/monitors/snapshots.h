#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/scope.h"
#include "store/session.h"

namespace vedette::store {

// What a page was like at a check, without its contents.
struct Snapshot {
  base::Uuid id;  // of the check
  std::int64_t tick_id = 0;
  std::optional<base::Uuid> previous_id;  // of the row's snapshot before
  std::string url;
  bool is_rendered = false;
  int text_bytes = 0;  // of the whole text (domain::SeenPage)
  bool has_picture = false;
  base::Timestamp created_at;
};

// Those of a row that the caller found in scope, newest first; before `before_tick_id` where that
// is given.
std::vector<Snapshot> ListSnapshots(Session& session, const base::Uuid& row_id,
                                    const std::optional<std::int64_t>& before_tick_id, int limit);

// The content of a snapshot in scope, as it is stored (domain::SeenPage), or the picture of a check
// that failed; empty where there is none.
enum class SnapshotPart { kText, kPicture };
std::optional<std::string> ReadSnapshot(Session& session, const Scope& scope, const base::Uuid& id,
                                        SnapshotPart part);

// Those of a row go, with the picture of its last failure, and what nothing else has of what they
// had.
void ForgetSnapshots(Session& session, const base::Uuid& row_id);
// The same of these snapshots, with the pictures of the last failures of their rows.
void ForgetSnapshots(Session& session, const std::vector<base::Uuid>& ids);

}  // namespace vedette::store
