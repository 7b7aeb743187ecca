#include "store/chunks.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "domain/admission.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// A chunk under admission: what it holds reserved, and the month its reservation counts in.
struct Held {
  std::int64_t reserved_mc = 0;
  std::optional<std::int64_t> price_mc;
  std::string month;
};

std::vector<LoadedPart> ReadParts(const pqxx::row& row) {
  const auto monitor_ids = ReadUuidArray(row[10]);
  const auto tick_ids = ReadIntArray(row[11]);
  const auto firsts = ReadIntArray(row[12]);
  const auto ends = ReadIntArray(row[13]);
  std::vector<LoadedPart> parts(monitor_ids.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].part = {monitor_ids[i], tick_ids[i], static_cast<int>(firsts[i]),
                     static_cast<int>(ends[i])};
    const auto n = static_cast<std::size_t>(ends[i] - firsts[i]);
    parts[i].rows.resize(n);
    parts[i].decided.resize(n);
  }
  return parts;
}

MonitorSpec ReadSpec(const pqxx::row& row, std::string* watched) {
  MonitorSpec spec;
  Columns in(row);
  spec.monitor_id = ReadUuid(in.Next());
  spec.org_id = ReadUuid(in.Next());
  spec.tier = static_cast<domain::Tier>(in.Next().as<int>());
  spec.subject_type = static_cast<domain::SubjectType>(in.Next().as<int>());
  spec.monitor_active = in.Next().as<bool>();
  spec.org_runs = in.Next().as<bool>();
  *watched = in.Next().c_str();
  spec.research_plan = ReadTextOrNull(in.Next());
  spec.confirm_after = in.Next().as<int>();
  spec.missing_confirmations = in.Next().as<int>();
  spec.frequency = std::chrono::seconds(in.Next().as<std::int64_t>());
  spec.webhook_url = ReadTextOrNull(in.Next());
  for (const auto type : ReadIntArray(in.Next())) {
    spec.webhook_event_types.push_back(static_cast<domain::NotificationType>(type));
  }
  spec.endpoint_id = ReadUuidOrNull(in.Next());
  spec.endpoint_open = in.Next().as<bool>();
  spec.metadata = ReadTextOrNull(in.Next());
  if (const pqxx::field& open_tick_id = in.Next(); !open_tick_id.is_null()) {
    spec.open_tick_id = open_tick_id.as<std::int64_t>();
    spec.open_due_at = ReadTime(in.Next());
    spec.open_started_at = ReadTime(in.Next());
    spec.open_slots = in.Next().as<std::int64_t>();
    spec.open_trigger = static_cast<domain::TickTrigger>(in.Next().as<int>());
  }
  return spec;
}

void LoadSpecs(Transaction& tx, Claim* claim) {
  std::set<base::Uuid> ids;
  for (const auto& chunk : claim->chunks) {
    for (const auto& part : chunk.parts) ids.insert(part.part.monitor_id);
  }
  for (const auto& row :
       tx.Exec("monitor_specs", std::vector<base::Uuid>(ids.begin(), ids.end()))) {
    std::string watched;
    auto spec = std::make_shared<const MonitorSpec>(ReadSpec(row, &watched));
    claim->watched.emplace(spec->monitor_id, std::move(watched));
    claim->specs.emplace(spec->monitor_id, std::move(spec));
  }
}

// Two range selects, joined here: cheaper than a join in the database.
void LoadRows(Transaction& tx, Claim* claim) {
  std::vector<LoadedPart*> parts;
  std::vector<base::Uuid> monitor_ids;
  std::vector<int> firsts;
  std::vector<int> ends;
  for (auto& chunk : claim->chunks) {
    for (auto& part : chunk.parts) {
      parts.push_back(&part);
      monitor_ids.push_back(part.part.monitor_id);
      firsts.push_back(part.part.first);
      ends.push_back(part.part.end);
    }
  }
  const auto row_of = [&parts](Columns& in, LoadedPart** part) -> LoadedRow& {
    *part = parts[in.Next().as<std::size_t>() - 1];
    return (*part)->rows[static_cast<std::size_t>(in.Next().as<int>() - (*part)->part.first)];
  };
  LoadedPart* part = nullptr;
  for (const auto& row : tx.Exec("rows_of_parts", monitor_ids, firsts, ends)) {
    Columns in(row);
    LoadedRow& loaded = row_of(in, &part);
    loaded.row_id = ReadUuid(in.Next());
    loaded.is_active = in.Next().as<bool>();
    loaded.subject = in.Next().c_str();
    loaded.context = ReadTextOrNull(in.Next());
    loaded.baseline = in.Next().c_str();
    loaded.known = ReadTextOrNull(in.Next());
    loaded.pending = ReadTextOrNull(in.Next());
  }
  for (const auto& row : tx.Exec("states_of_parts", monitor_ids, firsts, ends)) {
    Columns in(row);
    LoadedRow& loaded = row_of(in, &part);
    const bool done = in.Next().as<std::int64_t>() >= part->part.tick_id;
    const pqxx::field& outcome = in.Next();
    if (done) loaded.done = static_cast<domain::Outcome>(outcome.as<int>());
    loaded.last_run_at = ReadTimeOrNull(in.Next());
  }
}

// Decides what needs no money: rows done, switched off, or stopped. Returns how many are left.
int DecideFree(const Claim& claim, ClaimedChunk* chunk) {
  int open = 0;
  for (auto& part : chunk->parts) {
    const MonitorSpec& spec = *claim.specs.at(part.part.monitor_id);
    const bool live = spec.monitor_active && spec.org_runs;
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      const LoadedRow& row = part.rows[i];
      if (row.done) {
        part.decided[i] = row.done;
      } else if (!row.is_active) {
        part.decided[i] = domain::Outcome::kInactive;
      } else if (!live) {
        part.decided[i] = domain::Outcome::kSkippedPaused;
      } else {
        ++open;
      }
    }
  }
  return open;
}

// The first `admitted` undecided rows stay so, in position order; the others are skipped.
void DecideSkipped(const domain::Admission& admission, ClaimedChunk* chunk) {
  const auto skipped = admission.skipped_balance > 0 ? domain::Outcome::kSkippedBalance
                                                     : domain::Outcome::kSkippedSpendLimit;
  int left = admission.admitted;
  for (auto& part : chunk->parts) {
    for (auto& decided : part.decided) {
      if (decided) continue;
      if (left > 0) {
        --left;
      } else {
        decided = skipped;
      }
    }
  }
}

struct Purse {
  std::int64_t balance_mc = 0;
  std::int64_t taken_mc = 0;
};
struct TeamPurse {
  std::int64_t spent_mc = 0;
  std::optional<std::int64_t> limit_mc;
  std::int64_t taken_mc = 0;
};

std::vector<base::Uuid> Keys(const std::map<base::Uuid, Purse>& purses) {
  std::vector<base::Uuid> keys;
  keys.reserve(purses.size());
  for (const auto& [key, purse] : purses) keys.push_back(key);
  return keys;
}

// A team's spending is counted by the month that is fixed on the chunk.
using TeamMonth = std::pair<base::Uuid, std::string>;

struct TeamKeys {
  std::vector<base::Uuid> ids;
  std::vector<std::string> months;
  explicit TeamKeys(const std::map<TeamMonth, TeamPurse>& teams) {
    for (const auto& [key, team] : teams) {
      ids.push_back(key.first);
      months.push_back(key.second);
    }
  }
};

// Locks the accounts, then the teams, each in id order, which everybody keeps.
void LockPurses(Transaction& tx, std::map<base::Uuid, Purse>* purses,
                std::map<TeamMonth, TeamPurse>* teams) {
  for (const auto& row : tx.Exec("accounts_lock", Keys(*purses))) {
    purses->at(ReadUuid(row[0])).balance_mc = row[1].as<std::int64_t>();
  }
  if (teams->empty()) return;
  const TeamKeys keys(*teams);
  tx.Exec("team_spend_ensure", keys.ids, keys.months);
  for (const auto& row : tx.Exec("team_spend_lock", keys.ids, keys.months)) {
    TeamPurse& team = teams->at({ReadUuid(row[0]), row[1].c_str()});
    team.spent_mc = row[2].as<std::int64_t>();
    if (!row[3].is_null()) team.limit_mc = row[3].as<std::int64_t>();
  }
}

void WritePurses(Transaction& tx, const std::map<base::Uuid, Purse>& purses,
                 const std::map<TeamMonth, TeamPurse>& teams) {
  std::vector<std::int64_t> amounts;
  amounts.reserve(purses.size());
  for (const auto& [id, purse] : purses) amounts.push_back(purse.taken_mc);
  tx.Exec("accounts_reserve", Keys(purses), amounts);
  if (teams.empty()) return;
  amounts.clear();
  for (const auto& [key, team] : teams) amounts.push_back(team.taken_mc);
  const TeamKeys keys(teams);
  tx.Exec("team_spend_add", keys.ids, keys.months, amounts);
}

// Admission of every chunk that has checks to pay for.
void AdmitChunks(Transaction& tx, Claim* claim, const std::map<base::Uuid, Held>& held,
                 const std::map<domain::Tier, std::int64_t>& prices_mc) {
  std::vector<std::pair<ClaimedChunk*, int>> asking;
  std::map<base::Uuid, Purse> purses;
  std::map<TeamMonth, TeamPurse> teams;
  for (auto& chunk : claim->chunks) {
    const Held& h = held.at(chunk.id);
    chunk.price_mc = h.price_mc ? *h.price_mc : prices_mc.at(chunk.tier);
    const int checks = DecideFree(*claim, &chunk);
    if (checks == 0) continue;
    asking.emplace_back(&chunk, checks);
    purses.try_emplace(chunk.org_id);
    if (chunk.team_id) teams.try_emplace({*chunk.team_id, h.month});
  }
  if (asking.empty()) return;
  LockPurses(tx, &purses, &teams);
  std::vector<base::Uuid> chunk_ids;
  std::vector<std::int64_t> amounts;
  std::vector<std::int64_t> prices;
  std::vector<std::string> months;
  for (const auto& [chunk, checks] : asking) {
    Purse& purse = purses.at(chunk->org_id);
    const Held& h = held.at(chunk->id);
    TeamPurse* team = chunk->team_id ? &teams.at({*chunk->team_id, h.month}) : nullptr;
    domain::AdmissionRequest request;
    request.balance_mc = purse.balance_mc - purse.taken_mc;
    if (team != nullptr && team->limit_mc) {
      request.spend_left_mc = *team->limit_mc - team->spent_mc - team->taken_mc;
    }
    request.reserved_mc = h.reserved_mc;
    request.price_mc = chunk->price_mc;
    request.checks = checks;
    const domain::Admission admission = domain::Admit(request);
    DecideSkipped(admission, chunk);
    // What is reserved too much goes back with the record that finishes the chunk.
    const std::int64_t more = std::max<std::int64_t>(admission.reserve_mc, 0);
    purse.taken_mc += more;
    if (team != nullptr) team->taken_mc += more;
    chunk_ids.push_back(chunk->id);
    amounts.push_back(more);
    prices.push_back(chunk->price_mc);
    months.push_back(h.month);
  }
  WritePurses(tx, purses, teams);
  tx.Exec("chunk_reserve", chunk_ids, amounts, prices, months);
}

}  // namespace

OrgWalk WalkDueOrganisations(Session& session, const base::Uuid& cursor, int orgs_max) {
  return InTransaction(session, [&](Transaction& tx) {
    OrgWalk walk;
    const auto rows = tx.Exec("chunk_walk", cursor, orgs_max);
    for (const auto& row : rows) {
      if (!row[1].is_null()) walk.due.push_back({ReadUuid(row[0]), row[1].as<int>()});
    }
    if (static_cast<int>(rows.size()) == orgs_max) walk.next_cursor = ReadUuid(rows.back()[0]);
    return walk;
  });
}

Claim ClaimChunks(Session& session, const std::vector<ClaimShare>& shares, const base::Uuid& token,
                  std::chrono::milliseconds lease,
                  const std::map<domain::Tier, std::int64_t>& prices_mc) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        std::vector<base::Uuid> org_ids;
        std::vector<int> chunks_max;
        std::vector<int> rows_max;
        for (const ClaimShare& share : shares) {
          org_ids.push_back(share.org_id);
          chunks_max.push_back(share.chunks_max);
          rows_max.push_back(share.rows_max);
        }
        Claim claim;
        std::map<base::Uuid, Held> held;
        for (const auto& row :
             tx.Exec("chunk_claim", org_ids, chunks_max, rows_max, token, lease.count())) {
          ClaimedChunk& chunk = claim.chunks.emplace_back();
          chunk.id = ReadUuid(row[0]);
          chunk.org_id = ReadUuid(row[1]);
          chunk.team_id = ReadUuidOrNull(row[2]);
          chunk.tier = static_cast<domain::Tier>(row[3].as<int>());
          chunk.lease_token = token;
          chunk.large = row[4].as<bool>();
          chunk.claims = row[5].as<int>();
          chunk.due_at = ReadTime(row[6]);
          Held& h = held[chunk.id];
          h.reserved_mc = row[7].as<std::int64_t>();
          if (!row[8].is_null()) h.price_mc = row[8].as<std::int64_t>();
          h.month = row[9].c_str();
          chunk.parts = ReadParts(row);
          for (const auto& part : chunk.parts) {
            chunk.row_count += static_cast<int>(part.rows.size());
          }
          claim.now = ReadTime(row[14]);
        }
        if (claim.chunks.empty()) return claim;
        LoadSpecs(tx, &claim);
        LoadRows(tx, &claim);
        AdmitChunks(tx, &claim, held, prices_mc);
        return claim;
      },
      Durability::kAsync);
}

std::vector<base::Uuid> RenewChunks(Session& session, const std::vector<LeaseRef>& leases,
                                    std::chrono::milliseconds lease) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        std::vector<base::Uuid> ids;
        std::vector<base::Uuid> tokens;
        for (const LeaseRef& ref : leases) {
          ids.push_back(ref.chunk_id);
          tokens.push_back(ref.lease_token);
        }
        std::vector<base::Uuid> kept;
        for (const auto& row : tx.Exec("chunk_renew", ids, tokens, lease.count())) {
          kept.push_back(ReadUuid(row[0]));
        }
        return kept;
      },
      Durability::kAsync);
}

void ReleaseChunks(Session& session, const std::vector<LeaseRef>& leases) {
  InTransaction(session, [&](Transaction& tx) {
    std::vector<base::Uuid> ids;
    std::vector<base::Uuid> tokens;
    for (const LeaseRef& ref : leases) {
      ids.push_back(ref.chunk_id);
      tokens.push_back(ref.lease_token);
    }
    tx.Exec("chunk_release", ids, tokens);
  });
}

ControlChanges ReadControlChanges(Session& session, std::chrono::milliseconds window) {
  return InTransaction(session, [&](Transaction& tx) {
    ControlChanges changes;
    for (const auto& row : tx.Exec("control_monitors", window.count())) {
      changes.monitors.emplace_back(ReadUuid(row[0]), row[1].as<bool>());
    }
    for (const auto& row : tx.Exec("control_organisations", window.count())) {
      changes.organisations.emplace_back(ReadUuid(row[0]), row[1].as<bool>());
    }
    return changes;
  });
}

}  // namespace vedette::store
