#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admin/answer.h"
#include "admin/service_state.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "store/audit.h"
#include "store/delivery_admin.h"
#include "store/session.h"
#include "store/signals.h"

// One function a route. Those with a Session run on the pool and throw what the store throws; the
// others run on the server's thread and do not block. One with a progress is called again, each
// time as a job of its own, until it has an answer: between its portions others get the connection.
namespace vedette::admin {

// The parts of the process that handlers use. Immutable references, each safe on any thread.
struct Parts {
  const config::Config& config;
  store::Signals& signals;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  ServiceState& state;
  base::Logger log;
};

struct Call {
  const net::ServerRequest& request;
  std::vector<base::Uuid> ids;  // of the path, in order
  std::string asset;            // of the path: the console's file
  std::string actor;            // the token's name; empty on a route that needs none
};

// What the audit gets of a call. The target is the last id of the path; a creation fills in its
// own.
store::AuditEntry AuditOf(const Call& call, std::string action, std::optional<std::string> reason);

// operations.cc
Answer GetHealth(const Parts&, const Call&);
Answer GetReadiness(const Parts&, const Call&);
Answer GetMetrics(const Parts&, const Call&);
Answer GetOverview(const Parts&, store::Session&, const Call&);
Answer GetAudit(const Parts&, store::Session&, const Call&);
Answer PostDrain(const Parts&, store::Session&, const Call&);

// console.cc
Answer GetConsole(const Parts&, const Call&);
Answer GetConsoleAsset(const Parts&, const Call&);

// organisations.cc
Answer PostOrganisation(const Parts&, store::Session&, const Call&);
Answer GetOrganisations(const Parts&, store::Session&, const Call&);
Answer GetOrganisation(const Parts&, store::Session&, const Call&);
Answer PatchOrganisation(const Parts&, store::Session&, const Call&);
Answer PostCredits(const Parts&, store::Session&, const Call&);
Answer PostTeam(const Parts&, store::Session&, const Call&);
Answer PatchTeam(const Parts&, store::Session&, const Call&);
Answer GetApiKeys(const Parts&, store::Session&, const Call&);
Answer PostApiKey(const Parts&, store::Session&, const Call&);
Answer DeleteApiKey(const Parts&, store::Session&, const Call&);
Answer PostRotation(const Parts&, store::Session&, const Call&);

// monitors.cc
Answer GetMonitors(const Parts&, store::Session&, const Call&);
Answer GetMonitor(const Parts&, store::Session&, const Call&);
Answer GetMonitorRows(const Parts&, store::Session&, const Call&);
Answer GetRowEvents(const Parts&, store::Session&, const Call&);
Answer PostPause(const Parts&, store::Session&, const Call&);
Answer PostResume(const Parts&, store::Session&, const Call&);
Answer PostCancel(const Parts&, store::Session&, const Call&);
Answer PostTrigger(const Parts&, store::Session&, const Call&);

// deliveries.cc
Answer GetDeliveries(const Parts&, store::Session&, const Call&);
Answer GetDelivery(const Parts&, store::Session&, const Call&);
Answer PostReplay(const Parts&, store::Session&, const Call&);
std::optional<Answer> PostReplayMany(const Parts&, store::Session&, const Call&,
                                     store::ReplayProgress*);

}  // namespace vedette::admin
