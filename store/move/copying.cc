#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "store/move/copying_sql.h"

namespace vedette::store {
namespace {

// Numbers that a sequence may give while its block is chosen, and those that the old side may give
// until its organisation is locked.
constexpr std::int64_t kRacing = 1'000'000;
constexpr std::int64_t kToCome = 1'000'000'000;
// The numbers of transactions that a row can tell apart.
constexpr std::int64_t kXids = 4'294'967'296;

std::vector<std::string> Names(const std::vector<Wire::Row>& rows) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const Wire::Row& row : rows) names.push_back(row.front().value_or(""));
  return names;
}

std::string Staged(const TableShape& shape) {
  return "moved_" + std::string(shape.table->name);
}
std::string Kept(const TableShape& shape) {
  return "kept_" + std::string(shape.table->name);
}

std::string SameKey(const TableShape& shape, std::string_view a, std::string_view b) {
  std::vector<std::string> parts;
  for (const std::string& column : shape.key) {
    parts.push_back(fmt::format("{}.{} = {}.{}", a, column, b, column));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::vector<std::string> Listed(std::string_view names) {
  std::vector<std::string> listed;
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    listed.emplace_back(base::Trim(names.substr(0, comma)));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return listed;
}

TableShape ShapeOf(Wire& wire, const MovedTable& table) {
  TableShape shape;
  shape.table = &table;
  const std::string name(table.name);
  shape.columns = Names(wire.Named("move_columns", {{"name", name}}));
  for (const std::string& own : Listed(table.own_columns)) std::erase(shape.columns, own);
  shape.numbers = Names(wire.Named("move_numbers", {{"name", name}}));
  shape.key = Names(wire.Named("move_key", {{"name", name}}));
  shape.keyed = !shape.key.empty();
  if (!shape.keyed) shape.key = Listed(table.key);
  return shape;
}

// What finds rows by way of others, and where the target finds these while they are not all there.
struct ByOthers {
  std::string_view others;  // of the source
  std::string_view ids;     // a temporary table of the target
};
constexpr ByOthers kByOthers[] = {
    {"select id from monitor where org_id = $org", "moved_monitor_ids"},
    {"select id from job where org_id = $org", "moved_job_ids"}};

// The rows that go from the old side.
std::string_view Removed(const MovedTable& table) {
  return table.removed.empty() ? table.rows : table.removed;
}

std::string Timeline(Wire& wire) {
  return wire.One("select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)");
}

}  // namespace

Copying::Copying(Wire& source, Wire& target, const base::Uuid& org_id)
    : source_(source), target_(target), org_(source.Quoted(org_id.ToString()) + "::uuid") {
  for (const MovedTable& table : MovedTables()) shapes_.push_back(ShapeOf(source_, table));
}

std::string Copying::Rows(const MovedTable& table) const {
  return ForOrganisation(table.rows, org_);
}

// With the monitors and jobs of both sides: rows may be at the target before what they belong to.
void Copying::GatherIds() {
  for (const ByOthers& one : kByOthers) {
    const std::string ids = ForOrganisation(one.others, org_);
    target_.Run(fmt::format("create temporary table if not exists {} (id uuid)", one.ids));
    target_.Run(fmt::format("truncate {}", one.ids));
    source_.CopyTo(target_, ids, std::string(one.ids));
    target_.Change(fmt::format("insert into {} {}", one.ids, ids));
    target_.Run(fmt::format("analyze {}", one.ids));
  }
}

std::string Copying::AtTarget(std::string_view condition) const {
  std::string text(condition);
  for (const ByOthers& one : kByOthers) {
    const std::size_t at = text.find(one.others);
    if (at != std::string::npos) {
      text.replace(at, one.others.size(), fmt::format("select id from {}", one.ids));
    }
  }
  return ForOrganisation(text, org_);
}

std::string Copying::Selected(const TableShape& shape,
                              const std::vector<std::string>& columns) const {
  std::vector<std::string> parts;
  for (const std::string& column : columns) {
    const bool is_number =
        std::find(shape.numbers.begin(), shape.numbers.end(), column) != shape.numbers.end();
    const auto offset = offsets_.find(std::string(shape.table->name));
    if (is_number && offset != offsets_.end()) {
      parts.push_back(fmt::format("t.{} + {} as {}", column, offset->second, column));
    } else {
      parts.push_back("t." + column);
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::map<std::string, std::int64_t> Copying::ChooseOffsets() {
  std::map<std::string, std::int64_t> offsets;
  for (const TableShape& shape : shapes_) {
    for (const std::string& column : shape.numbers) {
      const std::string name(shape.table->name);
      const std::string sequence =
          source_.One(fmt::format("select pg_get_serial_sequence('{}', '{}')", name, column));
      const std::string last = "select last_value from " + sequence;
      const std::int64_t offset = target_.Number(last) + kRacing;
      target_.Run(fmt::format("select setval('{}', {})", sequence,
                              offset + source_.Number(last) + kToCome));
      offsets[name] = offset;
    }
  }
  return offsets;
}

CopyMark Copying::Mark() {
  return {source_.Number("select pg_snapshot_xmin(pg_current_snapshot())"), Timeline(source_)};
}

// Whether a row t was written by the transaction of this number, or a later one. A row's xmin has
// the lower half of its transaction's number: rows so old that their numbers come round again are
// brought needlessly.
std::string Copying::Changed(std::int64_t since) {
  if (since == 0) return "true";
  return fmt::format("age(t.xmin) <= age('{}'::xid)", since % kXids);
}

void Copying::BringWhole(std::string_view group,
                         const std::function<void(const TableCopied&)>& copied) {
  for (const TableShape& shape : shapes_) {
    if (shape.table->group != group) continue;
    const std::string name(shape.table->name);
    const std::int64_t rows =
        source_.CopyTo(target_,
                       fmt::format("select {} from {} t where {}", Selected(shape, shape.columns),
                                   name, Rows(*shape.table)),
                       fmt::format("{} ({})", name, fmt::join(shape.columns, ", ")));
    copied({shape.table->name, rows});
  }
}

std::int64_t Copying::Stage(const TableShape& shape, const CopyMark& mark, bool* has_gone) {
  const std::string name(shape.table->name);
  const std::string rows = Rows(*shape.table);
  target_.Run(fmt::format("create temporary table {} on commit drop as select {} from {} limit 0",
                          Staged(shape), fmt::join(shape.columns, ", "), name));
  const auto send = [&](const std::string& which) {
    return source_.CopyTo(target_,
                          fmt::format("select {} from {} t where {} and {}",
                                      Selected(shape, shape.columns), name, rows, which),
                          fmt::format("{} ({})", Staged(shape), fmt::join(shape.columns, ", ")));
  };
  const std::int64_t sent = send(Changed(mark.since));
  if (shape.table->how == MovedHow::kShared) return sent;
  const std::string count = fmt::format("select count(*) from {} t where ", name);
  counts_[name] = source_.Number(count + rows);
  if (shape.table->how == MovedHow::kStays) return sent;
  target_.Run("analyze " + Staged(shape));
  const std::int64_t fresh = target_.Number(
      fmt::format("select count(*) from {} s where not exists (select from {} t where {})",
                  Staged(shape), name, SameKey(shape, "t", "s")));
  // Every row of the source is at the target or among those: what is more there has gone here, and
  // what is less was removed there, by retention or because it has expired.
  *has_gone = target_.Number(count + AtTarget(shape.table->rows)) + fresh != counts_[name];
  if (!*has_gone) return sent;
  target_.Run(fmt::format("create temporary table {} on commit drop as select {} from {} limit 0",
                          Kept(shape), fmt::join(shape.key, ", "), name));
  source_.CopyTo(
      target_, fmt::format("select {} from {} t where {}", Selected(shape, shape.key), name, rows),
      fmt::format("{} ({})", Kept(shape), fmt::join(shape.key, ", ")));
  target_.Run("analyze " + Kept(shape));
  const std::string lacking = target_.One(fmt::format(
      "select exists (select from {0} k where not exists (select from {1} t where {3}) "
      "and not exists (select from {2} s where {4}))",
      Kept(shape), name, Staged(shape), SameKey(shape, "t", "k"), SameKey(shape, "s", "k")));
  if (lacking != "t") return sent;
  target_.Run("truncate " + Staged(shape));
  return sent + send("true");
}

void Copying::TakeAway(const TableShape& shape) {
  target_.Change(fmt::format("delete from {} t where {} and not exists (select from {} k where {})",
                             shape.table->name, AtTarget(shape.table->rows), Kept(shape),
                             SameKey(shape, "k", "t")));
}

void Copying::Put(const TableShape& shape) {
  const std::string name(shape.table->name);
  const std::string columns = fmt::format("{}", fmt::join(shape.columns, ", "));
  std::string conflict = "on conflict do nothing";
  if (!shape.keyed) {
    target_.Change(fmt::format("delete from {} t using {} s where {}", name, Staged(shape),
                               SameKey(shape, "t", "s")));
  } else if (shape.table->how == MovedHow::kItsOwn) {
    std::vector<std::string> sets;
    for (const std::string& column : shape.columns) {
      const bool in_key = std::find(shape.key.begin(), shape.key.end(), column) != shape.key.end();
      if (!in_key) sets.push_back(fmt::format("{} = excluded.{}", column, column));
    }
    conflict = fmt::format("on conflict ({}) do {} {}", fmt::join(shape.key, ", "),
                           sets.empty() ? "nothing" : "update set", fmt::join(sets, ", "));
  }
  // Rows that have let go of their keys come first, so that these are free for those that have
  // them.
  const std::string order =
      shape.table->keyless.empty() ? "" : fmt::format("order by ({}) desc", shape.table->keyless);
  target_.Change(fmt::format("insert into {} ({}) overriding system value select {} from {} {} {}",
                             name, columns, columns, Staged(shape), order, conflict));
}

void Copying::BringChanges(const std::map<std::string, CopyMark>& marks,
                           const std::function<void(const TableCopied&)>& copied) {
  GatherIds();
  std::vector<const TableShape*> with_gone;
  for (const TableShape& shape : shapes_) {
    const auto mark = marks.find(std::string(shape.table->group));
    bool has_gone = false;
    const std::int64_t rows =
        Stage(shape, mark == marks.end() ? CopyMark{} : mark->second, &has_gone);
    if (has_gone) with_gone.push_back(&shape);
    copied({shape.table->name, rows});
  }
  // What refers to others goes before them, and comes after them.
  std::for_each(with_gone.rbegin(), with_gone.rend(),
                [this](const TableShape* shape) { TakeAway(*shape); });
  for (const TableShape& shape : shapes_) Put(shape);
}

std::string Copying::Snapshot() {
  return source_.One("select pg_current_snapshot()");
}

std::vector<std::string> Copying::ChangedSince(const std::string& snapshot) {
  std::vector<std::string> changed;
  // The whole number of a row's transaction is the newest one whose lower half this is, as of the
  // statement. No transaction here has parts with numbers of their own, which a snapshot would not
  // name. Most rows are older than all that the snapshot does not see, which costs less to tell.
  const std::string condition = fmt::format(
      "{} and not pg_visible_in_snapshot("
      "(n.next - ((n.next % {} - t.xmin::text::bigint + {}) % {}))::text::xid8, {}::pg_snapshot)",
      Changed(std::stoll(snapshot)), kXids, kXids, kXids, source_.Quoted(snapshot));
  for (const TableShape& shape : shapes_) {
    if (shape.table->how == MovedHow::kShared) continue;
    const std::string name(shape.table->name);
    const auto rows = source_.Run(fmt::format(
        "select count(*), count(*) filter (where {}) from {} t, (select pg_snapshot_xmax("
        "pg_current_snapshot())::text::bigint as next) n where {}",
        condition, name, Rows(*shape.table)));
    const bool is_as_before = rows.front().at(0) == std::to_string(counts_[name]);
    if (!is_as_before || rows.front().at(1) != "0") changed.push_back(name);
  }
  return changed;
}

std::vector<std::string> Copying::Unequal() {
  std::vector<std::string> unequal;
  for (const TableShape& shape : shapes_) {
    if (shape.table->how != MovedHow::kItsOwn) continue;
    const std::string name(shape.table->name);
    const std::int64_t here = counts_[name];
    const std::int64_t there =
        target_.Number(fmt::format("select count(*) from {} t where {}", name, Rows(*shape.table)));
    if (here != there) {
      unequal.push_back(
          fmt::format("{}: {} at the old side, {} at the new one", name, here, there));
    }
  }
  return unequal;
}

std::int64_t Copying::Count(std::string_view table) {
  for (const TableShape& shape : shapes_) {
    if (shape.table->name != table) continue;
    return source_.Number(
        fmt::format("select count(*) from {} t where {}", table, Rows(*shape.table)));
  }
  return 0;
}

std::vector<std::string> Copying::WrittenAfterLeaving() {
  std::vector<std::string> written;
  for (const TableShape& shape : shapes_) {
    const std::string_view name = shape.table->name;
    // Keys are marked as used also where their request is refused.
    if (name == "api_key" || name == "passkey") continue;
    if (shape.table->how == MovedHow::kStays) continue;
    const std::string found = source_.One(
        fmt::format("select exists (select from {} t, organisation o where o.id = {} and {} and "
                    "(t.xmin::text::bigint - o.xmin::text::bigint + 4294967296) % 4294967296 "
                    "between 1 and 2147483647 and t.xmin::text::bigint > 2)",
                    name, org_, ForOrganisation(Removed(*shape.table), org_)));
    if (found == "t") written.emplace_back(name);
  }
  return written;
}

void Copying::RemoveFromSource(const std::function<void(const TableCopied&)>& removed) {
  Remove(source_, removed, [this](std::string_view rows) { return ForOrganisation(rows, org_); });
}

void Copying::RemoveFromTarget() {
  GatherIds();
  Remove(
      target_, [](const TableCopied&) {}, [this](std::string_view rows) { return AtTarget(rows); });
}

void Copying::Remove(Wire& wire, const std::function<void(const TableCopied&)>& removed,
                     const std::function<std::string(std::string_view)>& found) {
  // Rows that are found by way of others go before these.
  for (const bool by_others : {true, false}) {
    for (auto shape = shapes_.rbegin(); shape != shapes_.rend(); ++shape) {
      const MovedTable& table = *shape->table;
      if (table.how == MovedHow::kStays) continue;
      const std::string_view condition = Removed(table);
      if ((condition.find("select") != std::string_view::npos) != by_others) continue;
      removed({table.name, wire.Change(fmt::format("delete from {} t where {}", table.name,
                                                   found(condition)))});
    }
  }
}

void Copying::RemoveWork() {
  for (auto shape = shapes_.rbegin(); shape != shapes_.rend(); ++shape) {
    if (shape->table->work.empty()) continue;
    source_.Change(fmt::format("delete from {} t where {}", shape->table->name,
                               ForOrganisation(shape->table->work, org_)));
  }
}

namespace {

constexpr std::size_t kUnknownChars = 43;

// What move_ways is asked: the organisation, and its members at the old side.
Wire::Parameters OfMembers(Wire& source, const std::string& org_id) {
  const auto members = source.Named("move_members", {{"org_id", org_id}});
  return {{"org_id", org_id}, {"emails", members.front().front().value_or("[]")}};
}

}  // namespace

std::vector<std::string> Strangers(Wire& source, Wire& target, const std::string& org_id) {
  const auto of = OfMembers(source, org_id);
  const auto here = source.Named("move_ways", of);
  const auto there = target.Named("move_ways", of);
  std::vector<std::string> strangers;
  for (std::size_t i = 0; i < here.size(); ++i) {
    const bool is_known = there.at(i).at(2) == "t";
    if (is_known && there[i][1] != here[i].at(1)) strangers.push_back(here[i][0].value_or(""));
  }
  return strangers;
}

void HoldWays(Wire& source, Wire& target, const std::string& org_id) {
  for (const auto& row : source.Named("move_ways", OfMembers(source, org_id))) {
    target.Named("ways_lock", {{"email", row.front().value_or("")}});
  }
}

void ResetWays(Wire& target, const std::string& org_id, const std::vector<std::string>& emails) {
  if (emails.empty()) return;
  const std::string unknown = base::HashPassword(base::RandomBase62(kUnknownChars));
  for (const std::string& email : emails) {
    target.Named("passkeys_delete", {{"email", email}});
    target.Named("password_change", {{"email", email}, {"password", unknown}});
    target.Named("move_end_sign_in", {{"email", email}});
    target.Named("move_audit_reset", {{"email", email}, {"org_id", org_id}});
  }
}

}  // namespace vedette::store
