#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/email/verdict.h"
#include "store/session.h"

namespace vedette::store {

// The fleet's own affairs: members and their heartbeat, gauges.

struct Member {
  base::Uuid id;
  std::vector<std::string> roles;
  std::string version;
  std::string host;
  int pid = 0;
  bool draining = false;
  std::string counters = "{}";     // metrics::Metrics::Summary
  std::vector<std::string> lanes;  // domain::LaneName of what it serves; empty of no worker
  // What its doctor of mail found last, JSON: [{"check", "status", "message"}].
  std::optional<std::string> mail_check{};
  // The providers of lookups that fail, JSON: [{"id", "failures", "left_out"}].
  std::optional<std::string> providers{};
};

// How long after its last heartbeat a member that has not said goodbye is shown, as dead.
inline constexpr std::chrono::minutes kMemberShown{15};

// Inserts or renews the member's heartbeat, which a crash of the database may lose; forgets members
// that are not shown any more.
void Heartbeat(Session& session, const Member& member);
void Leave(Session& session, const base::Uuid& member_id);

struct Gauges {
  std::int64_t chunks_due = 0;
  std::int64_t chunks_leased = 0;
  std::int64_t chunks_waiting = 0;
  std::chrono::microseconds oldest_due{};      // since it was due; 0 without one
  std::int64_t deliveries_pending = 0;         // counted up to kDeliveriesCountedMax
  std::int64_t deliveries_due = 0;             // of those: nobody holds them, and they do not rest
  std::int64_t deliveries_dead = 0;            // counted likewise
  std::chrono::microseconds oldest_pending{};  // since its creation; of those counted
  std::int64_t receivers_failing = 0;          // for 48 hours on end
  std::int64_t monitors_failing = 0;           // active ones in whose last tick every check failed
  // Mail hosts that are left alone now, by domain::MailClass.
  std::array<std::int64_t, domain::kMailClassCount> mail_hosts_blocked{};
  std::int64_t client_tokens = 0;  // live ones; with the sessions counted up to kTokensCountedMax
  std::int64_t sessions = 0;
  std::chrono::microseconds audit_oldest_unsealed{};  // since it was written; 0 without one

  static constexpr int kDeliveriesCountedMax = 100'000;
  static constexpr int kTokensCountedMax = 100'000;
};
Gauges ReadGauges(Session& session);

struct MemberView {
  base::Uuid id;
  std::vector<std::string> roles;
  std::string version;
  std::string host;
  int pid = 0;
  base::Timestamp started_at;
  base::Timestamp heartbeat_at;
  std::chrono::milliseconds heartbeat_age{};
  bool draining = false;
  std::string counters;                     // JSON: metrics::Metrics::Summary at the heartbeat
  std::vector<std::string> lanes;           // of jobs that it serves: domain::LaneName
  std::optional<std::string> mail_check{};  // JSON, as store::Member has it
  std::optional<std::string> providers{};   // likewise
};

struct BacklogView {
  base::Uuid org_id;
  std::string name;
  std::int64_t chunks = 0;  // due and not leased
  std::int64_t checks = 0;  // in them
  std::chrono::milliseconds oldest_due_age{};
};

// A receiver whose attempts have failed for 48 hours on end.
struct FailingReceiverView {
  base::Uuid org_id;
  std::string address;  // scheme://host:port
  base::Timestamp failing_since;
  base::Timestamp failed_at;  // the last failure
  std::int64_t failures = 0;  // in a row
};

// An active monitor in whose last tick every check failed.
struct FailingMonitorView {
  base::Uuid id;
  base::Uuid org_id;
  std::string name;
  base::Timestamp failing_since;
};

struct LateMonitorView {
  base::Uuid id;
  base::Uuid org_id;
  std::string name;
  std::string frequency;
  std::optional<base::Timestamp> last_run_at;
  base::Timestamp next_run_at;
  std::chrono::milliseconds late{};  // since next_run_at
};

// What an operator looks at first. Times and ages by the database's clock.
struct Overview {
  base::Timestamp at;
  std::vector<MemberView> members;  // heard of within kMemberShown; latest heartbeat first
  std::int64_t chunks_due = 0;      // available and not leased
  std::int64_t chunks_leased = 0;
  std::int64_t chunks_waiting = 0;  // not available yet
  std::int64_t checks_due = 0;      // in those chunks
  std::int64_t checks_leased = 0;
  std::optional<std::chrono::milliseconds> oldest_due_age;
  std::int64_t deliveries_pending = 0;  // counted up to kCountMax
  std::int64_t deliveries_dead = 0;     // likewise
  std::optional<std::chrono::milliseconds> delivery_oldest_pending_age;
  std::int64_t receivers_failing = 0;
  std::vector<FailingReceiverView> failing;  // longest first, kTop
  std::int64_t monitors_live = 0;            // whose schedule runs; counted up to kCountMax
  std::int64_t monitors_late = 0;            // of these, due for over kLate and not cut; likewise
  std::vector<BacklogView> backlog;          // most checks first, kTop
  std::vector<LateMonitorView> late;         // latest first, kTop
  std::int64_t monitors_failing = 0;
  std::vector<FailingMonitorView> monitors_failing_longest;  // longest first, kTop

  static constexpr std::chrono::seconds kLate{10};
  static constexpr int kCountMax = 1'000'000;
  static constexpr int kMembersMax = 1000;
  static constexpr int kTop = 10;
};

// Throw as InTransaction does (store/session.h).
Overview ReadOverview(Session& session);
// Its members alone.
std::vector<MemberView> ReadMembers(Session& session);

}  // namespace vedette::store
