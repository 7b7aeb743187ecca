#include "store/overview.h"

#include <utility>

#include "store/sql.h"

namespace vedette::store {
namespace {

std::chrono::milliseconds ReadAge(const pqxx::field& field) {
  return std::chrono::milliseconds(field.as<std::int64_t>());
}

std::optional<std::chrono::milliseconds> ReadAgeOrNull(const pqxx::field& field) {
  if (field.is_null()) return std::nullopt;
  return ReadAge(field);
}

void ReadMembers(Transaction& tx, Overview* overview) {
  const std::int64_t shown_s = std::chrono::seconds(Overview::kMemberShown).count();
  for (const auto& row : tx.Exec("overview_members", shown_s, Overview::kMembersMax)) {
    MemberView member;
    member.id = ReadUuid(row["id"]);
    member.roles = ReadTextArray(row["roles"]);
    member.version = row["version"].as<std::string>();
    member.host = row["host"].as<std::string>();
    member.pid = row["pid"].as<int>();
    member.started_at = ReadTime(row["started_at"]);
    member.heartbeat_at = ReadTime(row["heartbeat_at"]);
    member.heartbeat_age = ReadAge(row["heartbeat_age_ms"]);
    member.draining = row["draining"].as<bool>();
    member.counters = row["counters"].as<std::string>();
    overview->members.push_back(std::move(member));
  }
}

void ReadQueues(Transaction& tx, Overview* overview) {
  const pqxx::result chunks = tx.Exec("overview_chunks");
  overview->at = ReadTime(chunks[0]["at"]);
  overview->chunks_due = chunks[0]["due"].as<std::int64_t>();
  overview->chunks_leased = chunks[0]["leased"].as<std::int64_t>();
  overview->chunks_waiting = chunks[0]["waiting"].as<std::int64_t>();
  overview->checks_due = chunks[0]["checks_due"].as<std::int64_t>();
  overview->checks_leased = chunks[0]["checks_leased"].as<std::int64_t>();
  overview->oldest_due_age = ReadAgeOrNull(chunks[0]["oldest_due_age_ms"]);

  const pqxx::result deliveries = tx.Exec("overview_deliveries", Overview::kCountMax);
  overview->deliveries_pending = deliveries[0]["pending"].as<std::int64_t>();
  overview->deliveries_dead = deliveries[0]["dead"].as<std::int64_t>();
  overview->delivery_oldest_pending_age = ReadAgeOrNull(deliveries[0]["oldest_pending_age_ms"]);

  const pqxx::result failing = tx.Exec("overview_failing", Overview::kTop);
  for (const auto& row : failing) {
    overview->failing.push_back({ReadUuid(row["org_id"]), row["address"].as<std::string>(),
                                 ReadTime(row["failing_since"]), ReadTime(row["failed_at"]),
                                 row["failures"].as<std::int64_t>()});
  }
  if (!failing.empty()) overview->receivers_failing = failing[0]["total"].as<std::int64_t>();

  for (const auto& row : tx.Exec("overview_backlog", Overview::kTop)) {
    overview->backlog.push_back({ReadUuid(row["org_id"]), row["name"].as<std::string>(),
                                 row["chunks"].as<std::int64_t>(), row["checks"].as<std::int64_t>(),
                                 ReadAge(row["oldest_due_age_ms"])});
  }
}

void ReadMonitors(Transaction& tx, Overview* overview) {
  const std::int64_t late_s = Overview::kLate.count();
  const pqxx::result counts = tx.Exec("overview_monitors", Overview::kCountMax, late_s);
  overview->monitors_live = counts[0]["live"].as<std::int64_t>();
  overview->monitors_late = counts[0]["late"].as<std::int64_t>();
  for (const auto& row : tx.Exec("overview_late", late_s, Overview::kTop)) {
    overview->late.push_back({ReadUuid(row["id"]), ReadUuid(row["org_id"]),
                              row["name"].as<std::string>(), row["frequency"].as<std::string>(),
                              ReadTimeOrNull(row["last_run_at"]), ReadTime(row["next_run_at"]),
                              ReadAge(row["late_ms"])});
  }
}

}  // namespace

Overview ReadOverview(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    Overview overview;
    ReadMembers(tx, &overview);
    ReadQueues(tx, &overview);
    ReadMonitors(tx, &overview);
    return overview;
  });
}

}  // namespace vedette::store
