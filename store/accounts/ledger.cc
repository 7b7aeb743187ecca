#include "store/accounts/ledger.h"

#include <utility>

#include "store/sql.h"

namespace vedette::store {
namespace {

// Reads a line of the ledger, without the total.
domain::LedgerLine ReadLine(const pqxx::row& row) {
  domain::LedgerLine line;
  bool booked = false;
  Columns(row).Into("id"_a = &line.entry, "created_at"_a = &line.at, "booked"_a = &booked,
                    "amount_mc"_a = &line.amount_mc, "units"_a = &line.units, "tier"_a = &line.tier,
                    "kind"_a = &line.job, "team_id"_a = &line.team_id, "job_id"_a = &line.job_id,
                    "reason"_a = &line.reason);
  if (!booked) line.kind = line.tier ? domain::LedgerKind::kChecks : domain::LedgerKind::kJob;
  return line;
}

std::vector<domain::LedgerLine> WithTotals(const pqxx::result& rows, std::int64_t total_mc) {
  std::vector<domain::LedgerLine> lines;
  for (const auto& row : rows) {
    domain::LedgerLine& line = lines.emplace_back(ReadLine(row));
    total_mc += line.amount_mc;
    line.total_mc = total_mc;
  }
  return lines;
}

}  // namespace

base::Timestamp LedgerSettled(Session& session, const std::optional<base::Timestamp>& until) {
  return InTransaction(session, [&](Transaction& tx) {
    return ReadOne<base::Timestamp>(tx.Exec<"ledger_settled">("until"_a = until));
  });
}

std::int64_t LedgerOpening(Session& session, const LedgerRange& range) {
  return InTransaction(session, [&](Transaction& tx) {
    return ReadOne<std::int64_t>(tx.Exec<"ledger_opening">("org_id"_a = range.scope.org_id,
                                                           "team_id"_a = range.scope.team_id,
                                                           "since"_a = range.since));
  });
}

std::vector<domain::LedgerLine> ReadLedger(Session& session, const LedgerRange& range,
                                           const LedgerPlace& after, int limit) {
  return InTransaction(session, [&](Transaction& tx) {
    return WithTotals(tx.Exec<"ledger_entries">("org_id"_a = range.scope.org_id,
                                                "team_id"_a = range.scope.team_id,
                                                "since"_a = range.since, "until"_a = range.until,
                                                "entry"_a = after.entry, "limit"_a = limit),
                      after.total_mc);
  });
}

std::vector<domain::LedgerLine> ReadLedgerDays(Session& session, const LedgerRange& range,
                                               std::int64_t opening_mc, int limit) {
  return InTransaction(session, [&](Transaction& tx) {
    return WithTotals(
        tx.Exec<"ledger_days">("org_id"_a = range.scope.org_id, "team_id"_a = range.scope.team_id,
                               "since"_a = range.since, "until"_a = range.until, "limit"_a = limit),
        opening_mc);
  });
}

std::int64_t Reservations::reserved_mc() const {
  std::int64_t sum = jobs_mc;
  for (const Checks& one : checks) sum += one.reserved_mc;
  return sum;
}

Reservations ReadReservations(Session& session, const Scope& scope, int jobs_max) {
  return InTransaction(session, [&](Transaction& tx) {
    Reservations held;
    for (const auto& row : tx.Exec<"reservations">("org_id"_a = scope.org_id,
                           "team_id"_a = scope.team_id, "jobs_max"_a = jobs_max)) {
      std::optional<domain::Tier> tier;
      std::optional<base::Uuid> job_id;
      std::optional<domain::JobKind> kind;
      std::int64_t reserved_mc = 0;
      std::int64_t count = 0;
      Columns(row).Into("tier"_a = &tier, "job_id"_a = &job_id, "kind"_a = &kind,
                        "reserved_mc"_a = &reserved_mc, "count"_a = &count);
      if (tier) {
        held.checks.push_back({*tier, reserved_mc});
      } else if (job_id) {
        held.jobs.push_back({*job_id, kind.value_or(domain::JobKind{}), reserved_mc});
      } else {
        held.jobs_mc = reserved_mc;
        held.job_count = count;
      }
    }
    return held;
  });
}

}  // namespace vedette::store
