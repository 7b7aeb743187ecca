#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "domain/email/mail_class.h"
#include "store/session.h"

// The fleet's own affairs: members and their heartbeat, gauges.
namespace vedette::store {

struct Member {
  base::Uuid id;
  std::vector<std::string> roles;
  std::string version;
  std::string host;
  int pid = 0;
  bool draining = false;
  std::string counters = "{}";  // metrics::Metrics::Summary
  std::vector<std::string> lanes;  // domain::LaneName of what it serves; empty of no worker
  // What its doctor of mail found last, JSON: [{"check", "status", "message"}].
  std::optional<std::string> mail_check{};
  // The providers of lookups that fail, JSON: [{"id", "failures", "left_out"}].
  std::optional<std::string> providers{};
};

// How long after its last heartbeat a member that has not said goodbye is shown, as dead.
inline constexpr std::chrono::minutes kMemberShown{15};

// Inserts or renews the member's heartbeat; forgets members that are not shown any more.
void Heartbeat(Session& session, const Member& member);
void Leave(Session& session, const base::Uuid& member_id);

struct Gauges {
  std::int64_t chunks_due = 0;
  std::int64_t chunks_leased = 0;
  std::int64_t chunks_waiting = 0;
  std::chrono::microseconds oldest_due{};      // since it was due; 0 without one
  std::int64_t deliveries_pending = 0;         // counted up to kDeliveriesCountedMax
  std::int64_t deliveries_dead = 0;            // likewise
  std::chrono::microseconds oldest_pending{};  // since its creation; of those counted
  std::int64_t receivers_failing = 0;          // for 48 hours on end
  std::int64_t monitors_failing = 0;           // active ones in whose last tick every check failed
  // Mail hosts that are left alone now, by domain::MailClass.
  std::array<std::int64_t, domain::kMailClassCount> mail_hosts_blocked{};
  std::int64_t client_tokens = 0;  // live ones; with the sessions counted up to kTokensCountedMax
  std::int64_t sessions = 0;

  static constexpr int kDeliveriesCountedMax = 100'000;
  static constexpr int kTokensCountedMax = 100'000;
};
Gauges ReadGauges(Session& session);

}  // namespace vedette::store
