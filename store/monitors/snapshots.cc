#include "store/monitors/snapshots.h"

#include <limits>

#include "store/sql.h"

namespace vedette::store {
namespace {

// Contents of snapshots that were deleted in this transaction, as rows of (org_id, hash), which are
// locked: those that nothing has any more go.
void ForgetContents(Transaction& tx, const pqxx::result& locked) {
  Rows<Column<"org_id", base::Uuid>, Column<"hash", std::string>> contents;
  for (const auto& row : locked) {
    base::Uuid org_id;
    std::string hash;
    Columns(row).Into("org_id"_a = &org_id, "hash"_a = BytesInto{&hash});
    contents.Add(org_id, Bytea(hash));
  }
  if (!contents.empty()) tx.Exec<"snapshot_contents_forget">(contents);
}

}  // namespace

std::vector<Snapshot> ListSnapshots(Session& session, const base::Uuid& row_id,
                                    const std::optional<std::int64_t>& before_tick_id, int limit) {
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<Snapshot> snapshots;
    const std::int64_t before = before_tick_id.value_or(std::numeric_limits<std::int64_t>::max());
    for (const auto& row : tx.Exec<"snapshot_list">("row_id"_a = row_id,
                           "before_tick_id"_a = before, "limit"_a = limit)) {
      Snapshot& s = snapshots.emplace_back();
      Columns(row).Into("id"_a = &s.id, "tick_id"_a = &s.tick_id, "previous_id"_a = &s.previous_id,
                        "url"_a = &s.url, "is_rendered"_a = &s.is_rendered,
                        "text_bytes"_a = &s.text_bytes, "has_picture"_a = &s.has_picture,
                        "created_at"_a = &s.created_at);
    }
    return snapshots;
  });
}

std::optional<std::string> ReadSnapshot(Session& session, const Scope& scope, const base::Uuid& id,
                                        SnapshotPart part) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<std::string> {
    const auto found = part == SnapshotPart::kText
                           ? tx.Exec<"snapshot_text">("id"_a = id, "org_id"_a = scope.org_id,
                                                      "team_id"_a = scope.team_id)
                           : tx.Exec<"snapshot_picture">("id"_a = id, "org_id"_a = scope.org_id,
                                                         "team_id"_a = scope.team_id);
    if (found.empty()) return std::nullopt;
    std::string body;
    Columns(found[0]).Into("body"_a = BytesInto{&body});
    return body;
  });
}

void ForgetSnapshots(Session& session, const base::Uuid& row_id) {
  InTransaction(session, [&](Transaction& tx) {
    ForgetContents(tx, tx.Exec<"snapshots_of_row_forget">("row_id"_a = row_id));
    tx.Exec<"failed_page_forget">("row_id"_a = row_id);
  });
}

void ForgetSnapshots(Session& session, const std::vector<base::Uuid>& ids) {
  InTransaction(session, [&](Transaction& tx) {
    ForgetContents(tx, tx.Exec<"snapshots_forget">("ids"_a = ids));
  });
}

}  // namespace vedette::store
