#include "store/move/org_move.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "config/database_config.h"
#include "config/security_config.h"
#include "domain/auth/cell.h"
#include "store/accounts/signing_secrets.h"
#include "store/migrate.h"
#include "store/move/copying_sql.h"
#include "store/move/wire_sql.h"
#include "store/sealed.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{100};
// What clients are told of the pause: what it takes, generously.
constexpr std::chrono::seconds kPauseTold{60};
// How often what was written under the lock is brought again.
constexpr int kBringsMax = 5;
// How long the connections of a command that has died may take to end.
constexpr std::chrono::seconds kClaimMax{5};
// How often the organisation is tried to be let go on: a lock that was waited for in vain may last.
constexpr int kGoOnTries = 3;

constexpr std::string_view kPark[] = {"move_park_chunks",    "move_park_deliveries",
                                      "move_park_monitors",  "move_park_imports",
                                      "move_park_workflows", "move_park_digests"};
constexpr std::string_view kRelease[] = {"move_release_chunks",    "move_release_deliveries",
                                         "move_release_monitors",  "move_release_imports",
                                         "move_release_workflows", "move_release_digests"};
constexpr std::string_view kHold[] = {"move_hold_jobs", "move_hold_monitors",
                                      "move_hold_workflows"};

template <typename Enum>
std::string NumberOf(Enum one) {
  return std::to_string(static_cast<int>(one));
}

// Nothing is undone by who sees this: the organisation is another command's, or a failover's.
std::runtime_error Astray(MoveState expected) {
  return std::runtime_error(fmt::format(
      "the move is no longer {} as this command has left it: look who else moves the organisation, "
      "and run the command again",
      MoveStateName(expected)));
}

// A row of org_move.
struct Known {
  MoveSide side = MoveSide::kOld;
  MoveState state = MoveState::kCopying;
  std::string other_cell;
  std::string other_database;
  bool was_locked = false;
  std::map<std::string, std::int64_t> offsets;
  std::chrono::seconds age{};
};

std::string Identity(Wire& wire) {
  return wire.Named("database_identity").front().front().value_or("");
}

std::string SchemaOf(Wire& wire) {
  const auto table = wire.Named("schema_table_exists");
  if (table.front().front() != "t") return "none";
  return wire.Named("schema_version").front().front().value_or("");
}

// At all of the sides that are there, so that this command does nothing more at any before another
// one begins. A wire is never connected again: the command that loses one ends.
void ClaimAt(std::initializer_list<Wire*> wires, const std::string& org) {
  const auto until = steady_clock::now() + kClaimMax;
  for (Wire* wire : wires) {
    while (wire->Named("move_claim", {{"org_id", org}}).front().front() != "t") {
      if (steady_clock::now() >= until) {
        throw MoveRefused(
            "another org-move of the organisation is running: let it end, or end it, and then run "
            "this one");
      }
      std::this_thread::sleep_for(kPoll);
    }
  }
}

std::optional<Known> ReadMove(Wire& wire, const std::string& org) {
  const auto rows = wire.Named("move_read", {{"org_id", org}});
  if (rows.empty()) return std::nullopt;
  const auto text = [&](std::size_t column) { return rows.front().at(column).value_or(""); };
  Known known;
  known.side = static_cast<MoveSide>(std::stoi(text(0)));
  known.state = static_cast<MoveState>(std::stoi(text(1)));
  known.other_cell = text(2);
  known.other_database = text(3);
  known.was_locked = text(4) == "t";
  known.age = std::chrono::seconds(std::stoll(text(5)));
  for (const auto& row : wire.Named("move_offsets", {{"org_id", org}})) {
    known.offsets.emplace(row.at(0).value_or(""), std::stoll(row.at(1).value_or("0")));
  }
  return known;
}

void Each(Wire& wire, std::span<const std::string_view> statements, const std::string& org) {
  for (const std::string_view one : statements) wire.Named(one, {{"org_id", org}});
}

void SetStateOf(Wire& wire, MoveSide side, const std::string& org, MoveState before,
                MoveState after) {
  const auto changed = wire.Named("move_set_state", {{"org_id", org},
                                                     {"side", NumberOf(side)},
                                                     {"from", NumberOf(before)},
                                                     {"state", NumberOf(after)}});
  if (changed.empty()) throw Astray(before);
}

// At the old side, as if nothing had been.
void GoOn(Wire& source, const std::string& org, const Known& known) {
  WireTransaction work(source, kWork);
  if (known.state == MoveState::kLocked) {
    source.Named("move_unlock", {{"org_id", org}, {"locked", known.was_locked ? "true" : "false"}});
  }
  Each(source, kRelease, org);
  SetStateOf(source, MoveSide::kOld, org, known.state, MoveState::kCopying);
  work.Commit();
}

MoveRefused LivesThere(const Known& known) {
  return MoveRefused(fmt::format("the organisation lives at {} already: move it back instead",
                                 domain::CellName(known.other_cell)));
}

}  // namespace

std::string_view MoveStateName(MoveState state) {
  switch (state) {
    case MoveState::kCopying:
      return "copying";
    case MoveState::kDraining:
      return "draining";
    case MoveState::kLocked:
      return "locked";
    case MoveState::kSwitched:
      return "switched";
    case MoveState::kOpened:
      return "opened";
    case MoveState::kRemoved:
      return "removed";
  }
  return "";
}

struct OrgMove::Impl {
  MoveEnd from;
  MoveEnd to;
  MoveOptions options;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  base::Logger log;
  std::string org = options.org_id.ToString();
  Wire source{from.database};
  Wire target{to.database};
  Copying copying{Checked(), target, options.org_id};
  steady_clock::time_point began = steady_clock::now();

  // The old side's wire, once both sides are known to fit.
  Wire& Checked();

  Wire::Parameters Own(Wire::Parameters more = {}) const {
    more.emplace_back("org_id", org);
    return more;
  }
  void Say(const std::string& what) {
    const auto took = std::chrono::duration<double>(steady_clock::now() - began).count();
    options.say(fmt::format("{:8.1f} s  {}", took, what));
  }
  void SayCopied(const TableCopied& copied) {
    if (copied.rows > 0) Say(fmt::format("  {}: {} rows", copied.table, copied.rows));
  }

  void Claim() { ClaimAt({&source, &target}, org); }
  std::optional<Known> Read(Wire& wire) const { return ReadMove(wire, org); }
  void SetState(Wire& wire, MoveState before, MoveState after) {
    SetStateOf(wire, &wire == &source ? MoveSide::kOld : MoveSide::kNew, org, before, after);
  }
  void Expect(Wire& wire, MoveSide side, MoveState state) {
    const auto known = Read(wire);
    if (!known || known->side != side || known->state != state) throw Astray(state);
  }
  void CheckSource();
  void CheckTarget(const std::optional<std::string>& external_id);
  void CheckKeys();
  std::vector<std::string> CheckMembers();
  void SayReset(const std::vector<std::string>& emails);
  void Begin();
  Known Continue();
  void MakePartitions();
  void CopyBefore();
  std::map<std::string, CopyMark> Marks();
  std::vector<std::string> Park(bool is_locked);
  void Drain();
  bool Lock();
  void StandStill();
  std::string AfterFailure(const std::string& why);
  void BringRest(std::string* snapshot);
  void SealAnew();
  void CompareLedgers();
  std::vector<std::string> Switch(const std::string& snapshot);
  void Finish();
  void Open(const Known& known);
  bool Step();
};

Wire& OrgMove::Impl::Checked() {
  const std::string here = SchemaOf(source);
  const std::string there = SchemaOf(target);
  const std::string wanted = std::to_string(SchemaVersion());
  if (here != there || here != wanted) {
    throw MoveRefused(fmt::format(
        "the schemas differ: version {} at {}, {} at {}, and this binary knows {}; run `vedette "
        "migrate` of this binary at both",
        here, domain::CellName(from.cell), there, domain::CellName(to.cell), wanted));
  }
  if (Identity(source) == Identity(target)) {
    throw MoveRefused("both configurations name the same database: give the other cell's");
  }
  return source;
}

void OrgMove::Impl::CheckSource() {
  const auto rows = source.Named("move_organisation", Own());
  if (rows.empty()) {
    throw MoveRefused(
        fmt::format("there is no organisation {} at {}", org, domain::CellName(from.cell)));
  }
  if (const auto& elsewhere = rows.front().at(1)) {
    throw MoveRefused(
        fmt::format("the organisation lives at {}: move it from there, with that "
                    "cell's configuration in --config",
                    domain::CellName(*elsewhere)));
  }
  CheckKeys();
  CheckTarget(rows.front().at(2));
  CheckMembers();
}

void OrgMove::Impl::CheckTarget(const std::optional<std::string>& external_id) {
  const auto rows = target.Named("move_organisation", Own());
  const auto known = Read(target);
  if (!rows.empty()) {
    const bool ours = known && known->side == MoveSide::kNew && rows.front().at(1) &&
                      known->other_database == Identity(source);
    if (!ours) {
      throw MoveRefused(fmt::format(
          "{} has this organisation already; where it has only what an earlier move from there "
          "has left, remove that first (--remove, with that cell's configuration)",
          domain::CellName(to.cell)));
    }
    if (known->state == MoveState::kRemoved) {
      throw MoveRefused("the move is being taken back: run it with --abort until that has ended");
    }
  }
  if (external_id &&
      !target.Named("move_external_id_taken", Own({{"external_id", *external_id}})).empty()) {
    throw MoveRefused(fmt::format(
        "another organisation of {} has the external_id \"{}\": change one of them first",
        domain::CellName(to.cell), *external_id));
  }
}

void OrgMove::Impl::CheckKeys() {
  std::set<std::string> known;
  for (const NamedKey& key : NamedKeys(from.security)) known.insert(key.id);
  const auto used = source.Named("move_sealed_with", Own());
  for (const auto& row : used) {
    if (known.contains(row.front().value_or(""))) continue;
    throw MoveRefused(fmt::format(
        "secrets of the organisation are sealed with the key {}, which is not among [security] "
        "encryption_key and encryption_keys_old of --config",
        row.front().value_or("")));
  }
  if (!used.empty() && to.security.encryption_key.empty()) {
    throw MoveRefused("the other cell's configuration has no [security] encryption_key");
  }
}

// Those whose ways of signing in have to be reset at the new side.
std::vector<std::string> OrgMove::Impl::CheckMembers() {
  auto strangers = Strangers(source, target, org);
  if (strangers.empty() || options.resets_sign_in) return strangers;
  throw MoveRefused(fmt::format(
      "{} knows {} already, with other passwords or passkeys than here, and may mean somebody "
      "else: "
      "who signs in there would get into this organisation, or its members into what the address "
      "has there. Remove them from the organisation first, or give --reset-sign-in: these "
      "addresses "
      "lose their passwords, passkeys and sessions there, and come in by the link of `vedette ctl "
      "password-reset`",
      domain::CellName(to.cell), fmt::join(strangers, ", ")));
}

void OrgMove::Impl::SayReset(const std::vector<std::string>& emails) {
  for (const std::string& email : emails) {
    Say(
        fmt::format("  {} comes in by a link alone at {}; there: vedette ctl password-reset {} "
                    "--email {}",
                    email, domain::CellName(to.cell), org, email));
  }
}

void OrgMove::Impl::Begin() {
  CheckSource();
  const std::string name = source.Named("move_organisation", Own()).front().front().value_or("");
  std::vector<std::string> offsets;
  for (const auto& [table, offset] : copying.ChooseOffsets()) {
    offsets.push_back(fmt::format("\"{}\": {}", table, offset));
  }
  const std::string text = fmt::format("{{{}}}", fmt::join(offsets, ", "));
  const auto row = [&](MoveSide side, const std::string& cell, const std::string& database) {
    return Own({{"side", NumberOf(side)},
                {"state", NumberOf(MoveState::kCopying)},
                {"cell", cell},
                {"database", database},
                {"offsets", text}});
  };
  WireTransaction work(target, kWork);
  target.Named("move_make_organisation", Own({{"name", name}, {"cell", from.cell}}));
  target.Named("move_begin", row(MoveSide::kNew, from.cell, Identity(source)));
  // A client that comes to the new side too early is told where it lives.
  target.Named("move_direct", Own({{"cell", from.cell}}));
  target.Named("move_forget_copies", Own());
  work.Commit();
  options.passed("begun at the new side");
  source.Named("move_begin", row(MoveSide::kOld, to.cell, Identity(target)));
  options.passed("begun");
}

// The move that is under way, begun where there is none.
Known OrgMove::Impl::Continue() {
  auto known = Read(source);
  const bool leaves = known && known->side == MoveSide::kOld && known->state != MoveState::kRemoved;
  if (!leaves) {
    Begin();
    known = Read(source);
  } else if (known->other_database != Identity(target)) {
    throw MoveRefused(fmt::format("a move of the organisation to {} is under way: end that first",
                                  domain::CellName(known->other_cell)));
  } else if (known->state < MoveState::kSwitched) {
    CheckSource();
  }
  copying.SetOffsets(known->offsets);
  return *known;
}

void OrgMove::Impl::MakePartitions() {
  for (const auto& row : source.Named("move_partitions")) {
    target.Named("move_make_partition", {{"parent", row.at(0).value_or("")},
                                         {"day", row.at(1).value_or("")},
                                         {"rows_max", std::to_string(kMovedRowsMax)}});
  }
}

std::map<std::string, CopyMark> OrgMove::Impl::Marks() {
  const std::string timeline = copying.Mark().timeline;
  std::map<std::string, CopyMark> marks;
  for (const auto& row : target.Named("move_copies", Own())) {
    CopyMark mark{std::stoll(row.at(1).value_or("0")), row.at(2).value_or("")};
    // After a failover what was read may have been undone: all of it is brought again.
    if (mark.timeline != timeline) mark.since = 0;
    marks.emplace(row.at(0).value_or(""), std::move(mark));
  }
  return marks;
}

void OrgMove::Impl::CopyBefore() {
  MakePartitions();
  auto done = Marks();
  for (const MovedTable& table : MovedTables()) {
    const std::string group(table.group);
    if (group.empty() || done.contains(group)) continue;
    Say("copying " + group);
    WireTransaction read(source, kSnapshot);
    WireTransaction work(target, kWork);
    const CopyMark mark = copying.Mark();
    std::int64_t rows = 0;
    copying.BringWhole(group, [&](const TableCopied& copied) {
      SayCopied(copied);
      rows += copied.rows;
    });
    target.Named("move_copied", Own({{"name", group},
                                     {"since", std::to_string(mark.since)},
                                     {"timeline", mark.timeline},
                                     {"rows", std::to_string(rows)}}));
    work.Commit();
    done.emplace(group, mark);
    options.passed("copied " + group);
  }
}

// Lets nothing more begin; what is under way still.
std::vector<std::string> OrgMove::Impl::Park(bool is_locked) {
  Each(source, kPark, org);
  std::vector<std::string> held;
  for (const auto& row :
       source.Named("move_held", Own({{"is_locked", is_locked ? "true" : "false"}}))) {
    held.push_back(fmt::format("{} {}", row.at(1).value_or(""), row.at(0).value_or("")));
  }
  return held;
}

void OrgMove::Impl::Drain() {
  Say("letting what is under way end");
  const auto until = steady_clock::now() + options.drain_max;
  while (true) {
    const auto held = Park(false);
    if (held.empty() && Lock()) return;
    if (steady_clock::now() >= until) {
      throw MoveRefused(fmt::format(
          "what was under way did not end within {} s: {}; the organisation goes on where it is. "
          "Run the command again, or with a longer --wait-s",
          std::chrono::duration_cast<std::chrono::seconds>(options.drain_max).count(),
          held.empty() ? "new work came" : fmt::format("{}", fmt::join(held, ", "))));
    }
    std::this_thread::sleep_for(kPoll);
  }
}

// True once nothing is under way any more, and it is locked.
bool OrgMove::Impl::Lock() {
  WireTransaction work(source, kWork);
  const auto locked =
      source.Named("move_lock", Own({{"side", NumberOf(MoveSide::kOld)},
                                     {"from", NumberOf(MoveState::kDraining)},
                                     {"state", NumberOf(MoveState::kLocked)},
                                     {"seconds", std::to_string(kPauseTold.count())}}));
  if (locked.empty()) throw Astray(MoveState::kDraining);
  if (!Park(false).empty()) return false;
  work.Commit();
  began = steady_clock::now();
  Say("locked for writing");
  return true;
}

void OrgMove::Impl::StandStill() {
  const auto until = steady_clock::now() + options.standstill_max;
  auto still_since = steady_clock::now();
  std::string activity;
  while (true) {
    const auto held = Park(true);
    const auto now = steady_clock::now();
    std::string seen = source.Named("move_activity", Own()).front().front().value_or("");
    if (!held.empty() || seen != activity) still_since = now;
    activity = std::move(seen);
    if (now - still_since >= options.quiet) return;
    if (now >= until) {
      throw MoveRefused(fmt::format(
          "the organisation did not stand still within {} s: {}; it is unlocked and goes on where "
          "it is. Run the command again later",
          std::chrono::duration_cast<std::chrono::seconds>(options.standstill_max).count(),
          held.empty() ? "a file is being sent" : fmt::format("{}", fmt::join(held, ", "))));
    }
    std::this_thread::sleep_for(kPoll);
  }
}

// The organisation does not wait for what has to be mended first. With what has come of it.
std::string OrgMove::Impl::AfterFailure(const std::string& why) {
  for (int tries = 1;; ++tries) {
    try {
      const auto known = Read(source);
      if (!known || known->side != MoveSide::kOld) return why;
      if (known->state >= MoveState::kSwitched) {
        return fmt::format(
            "{}; the organisation lives at {}, locked until the same command is run again and ends",
            why, domain::CellName(known->other_cell));
      }
      if (known->state != MoveState::kCopying) GoOn(source, org, *known);
      return fmt::format("{}; the organisation goes on at {}. Run the same command again", why,
                         domain::CellName(from.cell));
    } catch (const WireError& refused) {
      if (tries < kGoOnTries) continue;
      return fmt::format(
          "{}; and {} did not take it back: {}. If the last step was \"letting what is under way "
          "end\", nothing of the organisation runs; if it was \"locked for writing\" or a later "
          "one, its clients cannot write either. Run the same command again at once, or with "
          "--abort",
          why, domain::CellName(from.cell), refused.what());
    }
  }
}

void OrgMove::Impl::BringRest(std::string* snapshot) {
  WireTransaction read(source, kSnapshot);
  WireTransaction work(target, kWork);
  Expect(source, MoveSide::kOld, MoveState::kLocked);
  Expect(target, MoveSide::kNew, MoveState::kCopying);
  *snapshot = copying.Snapshot();
  HoldWays(source, target, org);
  const auto strangers = CheckMembers();
  copying.BringChanges(Marks(), [this](const TableCopied& copied) { SayCopied(copied); });
  const std::string row =
      source.Named("move_organisation_columns", Own()).front().front().value_or("");
  target.Named("move_set_organisation", {{"row", row}});
  const auto unequal = copying.Unequal();
  if (!unequal.empty()) {
    throw MoveRefused(
        fmt::format("the copy is not what it was made of: {}; take the move back "
                    "(--abort), and report this",
                    fmt::join(unequal, "; ")));
  }
  CompareLedgers();
  ResetWays(target, org, strangers);
  work.Commit();
  SayReset(strangers);
  options.passed("brought the rest");
}

void OrgMove::Impl::CompareLedgers() {
  const auto read = [this](Wire& wire) {
    std::array<std::int64_t, 3> mc{};
    const auto rows = wire.Named("move_ledger", Own());
    for (std::size_t i = 0; i < mc.size(); ++i)
      mc[i] = std::stoll(rows.front().at(i).value_or("0"));
    return mc;
  };
  const auto here = read(source);
  const auto there = read(target);
  if (here == there && here[0] + here[1] == here[2]) return;
  throw MoveRefused(
      fmt::format("the ledgers do not agree (balance, reserved, sum of the entries, in "
                  "millicredits): {} at the "
                  "old side, {} at the new one; take the move back (--abort)",
                  fmt::join(here, ", "), fmt::join(there, ", ")));
}

void OrgMove::Impl::SealAnew() {
  const std::string present = EncryptionKeyId(to.security.encryption_key);
  if (target.Named("move_sealed_unlike", Own({{"key_id", present}})).empty()) return;
  config::SecurityConfig both{to.security.encryption_key, to.security.encryption_keys_old};
  for (const NamedKey& key : NamedKeys(from.security)) {
    if (key.id != present) both.encryption_keys_old.emplace_back(key.key);
  }
  Session session(to.database, {.name = "move"}, clock, metrics, log);
  AuditEntry audit{.actor = "org-move",
                   .action = "signing_secrets.reseal",
                   .target = {},
                   .org_id = {},
                   .reason = {},
                   .detail = {},
                   .remote_address = {}};
  while (!ResealSigningSecrets(session, clock, both, audit).done) {
  }
  const auto left = target.Named("move_sealed_unlike", Own({{"key_id", present}}));
  if (!left.empty()) {
    throw MoveRefused(
        fmt::format("{} {} of the organisation cannot be opened with the keys of the "
                    "old side: mend or delete them there, and run the command again",
                    left.front().at(1).value_or(""), left.front().at(0).value_or("")));
  }
  Say("sealed secrets with the new side's key");
  options.passed("sealed");
}

// The tables that were written since the snapshot; none: it lives at the new side now.
std::vector<std::string> OrgMove::Impl::Switch(const std::string& snapshot) {
  WireTransaction work(source, kWork);
  Each(source, kHold, org);
  auto changed = copying.ChangedSince(snapshot);
  if (!changed.empty()) return changed;
  source.Named("move_direct", Own({{"cell", to.cell}}));
  copying.RemoveWork();
  source.Named("move_close_jobs", Own());
  source.Named("move_leave", Own({{"cell", to.cell}}));
  SetState(source, MoveState::kLocked, MoveState::kSwitched);
  work.Commit();
  return {};
}

// The way from the lock to the switch.
void OrgMove::Impl::Finish() {
  StandStill();
  Say("nothing moves; bringing what has changed");
  std::vector<std::string> changed;
  for (int brings = 0; brings < kBringsMax; ++brings) {
    std::string snapshot;
    BringRest(&snapshot);
    SealAnew();
    changed = Switch(snapshot);
    if (changed.empty()) {
      Say("the counts and the ledger are equal; it lives at " + domain::CellName(to.cell));
      options.passed("switched");
      return;
    }
    Say(fmt::format("written meanwhile: {}", fmt::join(changed, ", ")));
  }
  throw MoveRefused(
      fmt::format("somebody goes on writing: {}; the organisation is unlocked and "
                  "goes on where it is. Run the command again later",
                  fmt::join(changed, ", ")));
}

void OrgMove::Impl::Open(const Known& known) {
  const auto there = Read(target);
  if (there && there->state == MoveState::kCopying) {
    WireTransaction work(target, kWork);
    target.Named("move_direct", Own({{"cell", to.cell}}));
    target.Named("move_unlock", Own({{"locked", known.was_locked ? "true" : "false"}}));
    Each(target, kRelease, org);
    target.Named("move_forget_copies", Own());
    target.Named("move_audit", Own({{"from", from.cell}, {"to", to.cell}}));
    SetState(target, MoveState::kCopying, MoveState::kOpened);
    work.Commit();
    options.passed("opened at the new side");
  }
  SetState(source, MoveState::kSwitched, MoveState::kOpened);
  Say("it works at " + domain::CellName(to.cell));
  options.passed("opened");
}

// Goes on from where the move is; false: it has ended.
bool OrgMove::Impl::Step() {
  const Known known = Continue();
  switch (known.state) {
    case MoveState::kCopying:
      CopyBefore();
      SetState(source, MoveState::kCopying, MoveState::kDraining);
      options.passed("draining");
      break;
    case MoveState::kDraining:
      Drain();
      options.passed("locked");
      break;
    case MoveState::kLocked:
      Finish();
      break;
    case MoveState::kSwitched:
      Open(known);
      break;
    case MoveState::kOpened:
    case MoveState::kRemoved:
      return false;
  }
  return true;
}

OrgMove::OrgMove(MoveEnd from, MoveEnd to, MoveOptions options, const base::Clock& clock,
                 metrics::Metrics& metrics, base::Logger log)
    : impl_(new Impl{std::move(from), std::move(to), std::move(options), clock, metrics, log}) {}

OrgMove::~OrgMove() = default;

void OrgMove::Plan() {
  const auto known = impl_->Read(impl_->source);
  if (known && known->side == MoveSide::kOld) {
    impl_->Say(fmt::format("a move to {} is {}", domain::CellName(known->other_cell),
                           MoveStateName(known->state)));
    if (known->state >= MoveState::kSwitched) return;
  }
  impl_->CheckSource();
  impl_->SayReset(impl_->CheckMembers());
  for (const MovedTable& table : MovedTables()) {
    const std::int64_t rows = impl_->copying.Count(table.name);
    if (rows == 0) continue;
    impl_->Say(fmt::format("  {}: {} rows, {} the lock", table.name, rows,
                           table.group.empty() ? "under" : "before"));
  }
}

void OrgMove::Run() {
  impl_->Claim();
  try {
    while (impl_->Step()) {
    }
  } catch (const MoveRefused&) {
    impl_->AfterFailure("");
    throw;
  } catch (const WireError& failed) {
    throw std::runtime_error(impl_->AfterFailure(failed.what()));
  }
}

void OrgMove::LetGoOn(const MoveEnd& from, const MoveOptions& options) {
  const std::string org = options.org_id.ToString();
  Wire source(from.database);
  if (SchemaOf(source) != std::to_string(SchemaVersion())) {
    throw MoveRefused(
        fmt::format("{} has another schema than this binary knows", domain::CellName(from.cell)));
  }
  ClaimAt({&source}, org);
  const auto known = ReadMove(source, org);
  if (!known || known->side != MoveSide::kOld) {
    throw MoveRefused("there is no move of this organisation from here");
  }
  if (known->state >= MoveState::kSwitched) throw LivesThere(*known);
  GoOn(source, org, *known);
}

std::vector<NamedOrganisation> OrganisationsNamed(const config::DatabaseConfig& database,
                                                  const std::string& part) {
  Wire wire(database);
  std::vector<NamedOrganisation> found;
  for (const auto& row : wire.Named("move_named", {{"name", part}})) {
    found.push_back({row.at(0).value_or(""), row.at(1).value_or("")});
  }
  return found;
}

void OrgMove::Abandon() {
  impl_->Claim();
  const auto known = impl_->Read(impl_->source);
  if (known && known->side == MoveSide::kOld) {
    if (known->state >= MoveState::kSwitched) throw LivesThere(*known);
    if (known->other_database != Identity(impl_->target)) {
      throw MoveRefused(fmt::format("it is a move to {}", domain::CellName(known->other_cell)));
    }
    GoOn(impl_->source, impl_->org, *known);
    impl_->options.passed("goes on");
  }
  const auto there = impl_->Read(impl_->target);
  if (!there || there->side != MoveSide::kNew || there->state == MoveState::kOpened ||
      there->other_database != Identity(impl_->source)) {
    if (!known) throw MoveRefused("there is no move of this organisation between these cells");
  } else {
    impl_->SetState(impl_->target, there->state, MoveState::kRemoved);
    impl_->copying.RemoveFromTarget();
    impl_->options.passed("removed from the new side");
    impl_->target.Named("move_delete_organisation", impl_->Own());
    impl_->target.Named("move_forget_copies", impl_->Own());
    impl_->target.Named("move_forget", impl_->Own());
  }
  impl_->source.Named("move_forget", impl_->Own());
  impl_->Say("taken back: the organisation goes on at " + domain::CellName(impl_->from.cell));
}

void OrgMove::Remove() {
  impl_->Claim();
  const auto known = impl_->Read(impl_->source);
  if (!known || known->side != MoveSide::kOld || known->state < MoveState::kOpened) {
    throw MoveRefused("the organisation has not moved from here: nothing is to be removed");
  }
  if (known->state == MoveState::kRemoved) return;
  if (known->age < impl_->options.grace) {
    throw MoveRefused(
        fmt::format("it moved {} s ago, and the grace is {} s: remove it later, or "
                    "give a shorter --grace-h",
                    known->age.count(), impl_->options.grace.count()));
  }
  const auto written = impl_->copying.WrittenAfterLeaving();
  if (!written.empty() && !impl_->options.discards_strays) {
    throw MoveRefused(
        fmt::format("after the switch somebody has written at the old side: {}; look "
                    "at these rows, and give --discard to remove them with the rest",
                    fmt::join(written, ", ")));
  }
  impl_->copying.RemoveFromSource([this](const TableCopied& removed) {
    if (removed.rows > 0) impl_->Say(fmt::format("  {}: {} rows", removed.table, removed.rows));
    impl_->options.passed("removed " + std::string(removed.table));
  });
  impl_->source.Named("move_delete_organisation", impl_->Own());
  impl_->SetState(impl_->source, MoveState::kOpened, MoveState::kRemoved);
  impl_->Say("removed from " + domain::CellName(impl_->from.cell));
}

}  // namespace vedette::store
