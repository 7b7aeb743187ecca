#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/service_state.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/search/fields.h"
#include "metrics/metrics.h"
#include "rest/answer.h"
#include "rest/body_reader.h"
#include "rest/key_fetcher.h"
#include "rest/page.h"
#include "rest/query_reader.h"
#include "rest/reply.h"
#include "store/audit.h"
#include "store/deliveries/delivery_views.h"
#include "store/session.h"
#include "store/signals.h"

// One function a route. Those with a Session run on the pool and throw what the store throws; the
// others run on the server's thread and do not block. One with a progress is called again, each
// time as a job of its own, until it has an answer: between its portions others get the connection.
// One with a Waiting may park its answer while something outside is asked.
namespace vedette::admin {

// The parts of the process that handlers use. Immutable references, each safe on any thread.
struct Parts {
  const config::Config& config;
  store::Signals& signals;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  ServiceState& state;
  const domain::search::Catalogue& fields;  // of documents that are imported
  base::Logger log;
};

struct Call {
  const net::ServerRequest& request;
  std::vector<base::Uuid> ids;  // of the path, in order
  std::string name;             // of the path: the console's file, a user, or a key's kid
  std::string actor;            // the token's name; empty on a route that needs none
};

// What a handler needs that parks its answer. The pool and the fetcher outlive the request.
struct Waiting {
  store::Pool& pool;
  rest::KeyFetcher& key_fetcher;
  const std::shared_ptr<rest::Answer>& answer;
};

inline constexpr int kReasonCharsMax = 500;
inline constexpr int kNameCharsMax = 200;
// A batch of documents; they are at most 64 KiB each, and usually far smaller.
inline constexpr std::size_t kImportBodyBytesMax = std::size_t{16} << 20;
// A monitor that the operator makes: for many rows there is the public API.
inline constexpr std::size_t kTenantBodyBytesMax = std::size_t{1} << 20;

// The body of a call: none at all is {}, and null is a wrong value unless the handler asks for it.
class CallBody : public rest::BodyReader {
 public:
  CallBody(const Parts& parts, const Call& call);
  // `reason`, which most changes have.
  std::optional<std::string> Reason(rest::Presence presence = rest::Presence::kOptional);
};

// What lists read of a query: `limit` (1 to 1000, 100 by default) and the text of `cursor`.
struct ListQuery {
  int limit = 0;
  std::optional<std::string> cursor;
};
ListQuery ReadListQuery(rest::QueryReader* input);

// {"items": [...], "next_cursor"?}
template <typename T>
rest::Reply ListReply(const rest::Page<T>& page, base::Json (*to_json)(const T&)) {
  return {200, rest::PageText("items", page, [&](const T& item, std::string* text) {
            text->append(base::DumpJson(to_json(item)));
          })};
}

// What the audit gets of a call. The target is the last id of the path; a creation fills in its
// own.
store::AuditEntry AuditOf(const Call& call, std::string action, std::optional<std::string> reason);

// operations.cc
rest::Reply GetHealth(const Parts&, const Call&);
rest::Reply GetReadiness(const Parts&, const Call&);
rest::Reply GetMetrics(const Parts&, const Call&);
rest::Reply GetOverview(const Parts&, store::Session&, const Call&);
rest::Reply GetAudit(const Parts&, store::Session&, const Call&);
rest::Reply PostDrain(const Parts&, store::Session&, const Call&);

// suppressions.cc
rest::Reply GetSuppressions(const Parts&, store::Session&, const Call&);
rest::Reply PostSuppression(const Parts&, store::Session&, const Call&);
rest::Reply PostUnsuppression(const Parts&, store::Session&, const Call&);

// search_import.cc
rest::Reply PostSearchImport(const Parts&, store::Session&, const Call&);

// erasure.cc
rest::Reply PostErase(const Parts&, store::Session&, const Call&);

// mail_hosts.cc
rest::Reply GetMailHosts(const Parts&, store::Session&, const Call&);
rest::Reply GetMailBudgets(const Parts&, store::Session&, const Call&);
rest::Reply PostMailUnblock(const Parts&, store::Session&, const Call&);

// providers.cc
rest::Reply GetProviders(const Parts&, store::Session&, const Call&);

// console.cc
rest::Reply GetConsole(const Parts&, const Call&);
rest::Reply GetConsoleAsset(const Parts&, const Call&);

// organisations.cc
rest::Reply PostOrganisation(const Parts&, store::Session&, const Call&);
rest::Reply GetOrganisations(const Parts&, store::Session&, const Call&);
rest::Reply GetOrganisation(const Parts&, store::Session&, const Call&);
rest::Reply PatchOrganisation(const Parts&, store::Session&, const Call&);
rest::Reply PostCredits(const Parts&, store::Session&, const Call&);
rest::Reply PostTeam(const Parts&, store::Session&, const Call&);
rest::Reply PatchTeam(const Parts&, store::Session&, const Call&);
rest::Reply DeleteTeam(const Parts&, store::Session&, const Call&);
rest::Reply GetApiKeys(const Parts&, store::Session&, const Call&);
rest::Reply PostApiKey(const Parts&, store::Session&, const Call&);
rest::Reply DeleteApiKey(const Parts&, store::Session&, const Call&);
rest::Reply PostRotation(const Parts&, store::Session&, const Call&);
rest::Reply GetSigningSecrets(const Parts&, store::Session&, const Call&);
rest::Reply GetEncryptionKeys(const Parts&, store::Session&, const Call&);
rest::Reply PostReseal(const Parts&, store::Session&, const Call&);

// sessions.cc
rest::Reply PostSession(const Parts&, store::Session&, const Call&);
rest::Reply GetSessions(const Parts&, store::Session&, const Call&);
rest::Reply DeleteSession(const Parts&, store::Session&, const Call&);
rest::Reply GetUsers(const Parts&, store::Session&, const Call&);
rest::Reply DeleteUser(const Parts&, store::Session&, const Call&);

// oauth_clients.cc
rest::Reply GetOauthClients(const Parts&, store::Session&, const Call&);
rest::Reply GetOauthClient(const Parts&, store::Session&, const Call&);
rest::Reply PostOauthClient(const Parts&, store::Session&, const Call&);
rest::Reply PatchOauthClient(const Parts&, store::Session&, const Call&);
rest::Reply DeleteOauthClient(const Parts&, store::Session&, const Call&);
rest::Reply PostOauthClientKey(const Parts&, store::Session&, const Call&);
rest::Reply DeleteOauthClientKey(const Parts&, store::Session&, const Call&);
rest::Reply PostOauthTokenRevocation(const Parts&, store::Session&, const Call&);
rest::Handled PostOauthKeyValidation(const Parts&, store::Session&, const Call&, const Waiting&);

// templates.cc
rest::Reply PostTemplate(const Parts&, store::Session&, const Call&);
rest::Reply DeleteTemplate(const Parts&, store::Session&, const Call&);

// ledger.cc
rest::Reply GetReservations(const Parts&, store::Session&, const Call&);
rest::Reply GetLedger(const Parts&, store::Session&, const Call&);

// monitors.cc
rest::Reply GetMonitors(const Parts&, store::Session&, const Call&);
rest::Reply GetMonitor(const Parts&, store::Session&, const Call&);
rest::Reply GetMonitorRows(const Parts&, store::Session&, const Call&);
rest::Reply GetMonitorRow(const Parts&, store::Session&, const Call&);
rest::Reply GetRowEvents(const Parts&, store::Session&, const Call&);
rest::Reply PostPause(const Parts&, store::Session&, const Call&);
rest::Reply PostResume(const Parts&, store::Session&, const Call&);
rest::Reply PostCancel(const Parts&, store::Session&, const Call&);
rest::Reply PostTrigger(const Parts&, store::Session&, const Call&);

// event_lists.cc
rest::Reply GetEvents(const Parts&, store::Session&, const Call&);
rest::Reply GetMonitorEvents(const Parts&, store::Session&, const Call&);

// jobs.cc
rest::Reply GetJobs(const Parts&, store::Session&, const Call&);
rest::Reply GetJob(const Parts&, store::Session&, const Call&);
rest::Reply PostTerminate(const Parts&, store::Session&, const Call&);

// runs.cc
rest::Reply GetRuns(const Parts&, store::Session&, const Call&);
rest::Reply GetRun(const Parts&, store::Session&, const Call&);
rest::Reply PostRunCancel(const Parts&, store::Session&, const Call&);

// deliveries.cc
rest::Reply GetDeliveries(const Parts&, store::Session&, const Call&);
rest::Reply GetDelivery(const Parts&, store::Session&, const Call&);
rest::Reply PostReplay(const Parts&, store::Session&, const Call&);
rest::Reply PostSendNow(const Parts&, store::Session&, const Call&);
std::optional<rest::Reply> PostReplayMany(const Parts&, store::Session&, const Call&,
                                          store::ReplayProgress*);

}  // namespace vedette::admin
