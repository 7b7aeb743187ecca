#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/kit/body.h"
#include "api/kit/cursor.h"
#include "api/kit/published_keys.h"
#include "api/kit/query_reader.h"
#include "api/kit/reply.h"
#include "api/kit/router.h"
#include "api/kit/sign_in.h"
#include "api/operator/admin.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/search/fields.h"
#include "metrics/metrics.h"
#include "store/audit.h"
#include "store/session.h"
#include "store/signals.h"

// One handler a route; the table of routes is in routes.cc.
namespace vedette::admin {

// What handlers use of the process. Everything is safe on any thread and outlives every request.
struct Dependencies {
  const config::Config& config;
  store::Pool& pool;
  store::Signals& signals;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  ServiceState& state;
  const domain::search::Catalogue& fields;  // of documents that are imported
  rest::KeyFetcher& key_fetcher;
  TenantApi* tenant_api;              // null: this process has no public API
  rest::ProviderKeys* provider_keys;  // of [admin.oidc]; null: nobody signs in
  OtherCells* other_cells;            // null: it knows of none
  AuditStream& audit_stream;
  base::Logger log;
};

// What a token may do; each may do what those before it may.
enum class Role {
  kViewer,    // reads
  kOperator,  // pauses, resumes, triggers, sends again and the like, and serves tenants' monitors
  kAdmin,     // organisations and their money, credentials, secrets, erasure
};

std::string_view RoleName(Role role);
// One of [admin.roles]; without a name the one that tokens have which are not there.
Role RoleNamed(std::string_view name);

// The session of one who has signed in at the console.
struct OwnSession {
  base::Uuid id;
  std::string csrf_token;  // that a change shows beside the cookie
  base::Timestamp expires_at;
};

// The actor of the audit: the token's name, or the address of one who has signed in, which goes to
// the audit alone. Empty on a route that needs none.
struct Operator {
  std::string name;
  Role role = Role::kViewer;
  std::optional<OwnSession> session{};
};

// One request of the operator. What its path has for {id} are UUIDs.
using Call = rest::Call<Dependencies, Operator>;

// One row of the table. Reading is for every role; what changes something names the one it needs.
struct Route : rest::Route<Call> {
  constexpr Route(std::string_view a_method, std::string_view a_pattern,
                  rest::Handler<Call> a_handler, const rest::RouteRules& rules = {})
      : rest::Route<Call>(a_method, a_pattern, a_handler, rules) {}
  constexpr Route(Role a_role, std::string_view a_method, std::string_view a_pattern,
                  rest::Handler<Call> a_handler, std::size_t a_body_bytes_max = 0)
      : rest::Route<Call>(a_method, a_pattern, a_handler,
                          {.body = rest::Body::kJson, .body_bytes_max = a_body_bytes_max}),
        role(a_role) {}

  Role role = Role::kViewer;
};

std::span<const Route> Routes();
const rest::Router<Call>& Router();
// The row that a request has matched.
const Route& RouteOf(const rest::Match<Call>& match);

// A batch of documents; they are at most 64 KiB each, and usually far smaller.
inline constexpr std::size_t kImportBodyBytesMax = std::size_t{16} << 20;
// A monitor that the operator makes: for many rows there is the public API.
inline constexpr std::size_t kTenantBodyBytesMax = std::size_t{1} << 20;

// The body of a call: none at all is {}, and null is a wrong value unless the handler asks for it.
class CallBody : public rest::BodyReader {
 public:
  explicit CallBody(const Call& call);
  std::optional<base::Uuid> Id(std::string_view name, rest::Presence presence);
  // BodyReader's, and that the organisations are here which the ids that were read name, or whose
  // things they are. Throws store::OrganisationAway.
  void Check();
  // `reason`, which most changes have.
  std::optional<std::string> Reason(rest::Presence presence = rest::Presence::kOptional);

 private:
  const Call& call_;
  std::vector<base::Uuid> ids_;
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

// What the audit gets of a call. The target is the path's last parameter where that is an id; a
// creation, and what has a name, fill in their own.
store::AuditEntry AuditOf(const Call& call, std::string action, std::optional<std::string> reason);

// Writes that the caller has read whom a thing of that organisation is about.
void AuditRows(const Call& call, std::string action, const base::Uuid& org_id);

// "<reason> (by <who>)": what the owner of a thing reads, which the operator has stopped.
std::string ReasonShown(const std::string& reason, const Call& call);

// monitors.cc
rest::Handled PostTenantMonitor(Call& call);
rest::Handled AskTenantChannels(Call& call);
rest::Handled PostTenantPreview(Call& call);
rest::Handled PostTenantSchedulePreview(Call& call);
rest::Handled PostTenantMonitorUpdate(Call& call);
rest::Handled PostTenantSchedule(Call& call);
rest::Handled PostTenantScheduleUpdate(Call& call);
rest::Handled PostTenantScheduleTrigger(Call& call);

// operations.cc. The health port answers with the first three, too.
rest::Reply HealthReply();
rest::Reply ReadinessReply(const ServiceState& state);
rest::Reply MetricsReply(metrics::Metrics& metrics);
rest::Handled GetHealth(Call& call);
rest::Handled GetReadiness(Call& call);
rest::Handled GetMetrics(Call& call);
rest::Handled GetMe(Call& call);
rest::Handled GetOverview(Call& call);
rest::Handled GetCell(Call& call);
rest::Handled GetCellRoutes(Call& call);
rest::Handled GetCells(Call& call);
rest::Handled GetDirectory(Call& call);
rest::Handled PostDrain(Call& call);

// audit.cc
rest::Handled GetAudit(Call& call);
rest::Handled GetAuditChain(Call& call);

// privacy.cc
rest::Handled GetSuppressions(Call& call);
rest::Handled PostSuppression(Call& call);
rest::Handled PostUnsuppression(Call& call);

// search_import.cc
rest::Handled PostSearchImport(Call& call);

// privacy.cc
rest::Handled PostErase(Call& call);

// lookups.cc
rest::Handled GetMailHosts(Call& call);
rest::Handled GetMailBudgets(Call& call);
rest::Handled PostMailUnblock(Call& call);
rest::Handled GetProviders(Call& call);

// operations.cc
rest::Handled GetConsole(Call& call);
rest::Handled GetConsoleAsset(Call& call);

// sign_in.cc
rest::Handled GetConsoleSignIn(Call& call);
rest::Handled PostConsoleSignIn(Call& call);
rest::Handled GetConsoleCallback(Call& call);
rest::Handled PostConsoleSignOut(Call& call);
rest::Handled GetConsoleSessions(Call& call);
rest::Handled DeleteConsoleSession(Call& call);
// The highest role that a value of the claim gives; nothing where none gives any. Pure.
std::optional<Role> RoleOfValues(const config::AdminOidcConfig& oidc,
                                 const std::vector<std::string>& said);
// The token of a session in the cookies of a request; empty where there is none of good form. Pure.
std::string_view ConsoleTokenOf(const net::ServerRequest& request);
// Whose it is, with the role that the configuration gives now; nothing where it has ended.
std::optional<Operator> CallerOfSession(const Dependencies& parts, store::Session& session,
                                        std::string_view token);
rest::Reply NoCsrfToken();  // 403

// organisations.cc
rest::Handled PostOrganisation(Call& call);
rest::Handled GetOrganisations(Call& call);
rest::Handled GetOrganisation(Call& call);
rest::Handled PatchOrganisation(Call& call);
rest::Handled PostCredits(Call& call);
rest::Handled PostTeam(Call& call);
rest::Handled PatchTeam(Call& call);
rest::Handled DeleteTeam(Call& call);
rest::Handled GetApiKeys(Call& call);
rest::Handled PostApiKey(Call& call);
rest::Handled DeleteApiKey(Call& call);
rest::Handled PostRotation(Call& call);
rest::Handled GetSigningSecrets(Call& call);
rest::Handled GetEncryptionKeys(Call& call);
rest::Handled PostReseal(Call& call);

// credentials.cc
rest::Handled PostSession(Call& call);
rest::Handled GetSessions(Call& call);
rest::Handled DeleteSession(Call& call);
rest::Handled PostInvitation(Call& call);
rest::Handled PostReset(Call& call);
rest::Handled GetUsers(Call& call);
rest::Handled DeleteUser(Call& call);
rest::Handled GetOauthClients(Call& call);
rest::Handled GetOauthClient(Call& call);
rest::Handled PostOauthClient(Call& call);
rest::Handled PatchOauthClient(Call& call);
rest::Handled DeleteOauthClient(Call& call);
rest::Handled PostOauthClientKey(Call& call);
rest::Handled DeleteOauthClientKey(Call& call);
rest::Handled PostOauthTokenRevocation(Call& call);
rest::Handled PostOauthKeyValidation(Call& call);

// templates.cc
rest::Handled PostTemplate(Call& call);
rest::Handled DeleteTemplate(Call& call);

// organisations.cc
rest::Handled GetReservations(Call& call);
rest::Handled GetLedger(Call& call);

// monitors.cc
rest::Handled GetMonitors(Call& call);
rest::Handled GetMonitor(Call& call);
rest::Handled GetMonitorRows(Call& call);
rest::Handled GetMonitorRow(Call& call);
rest::Handled GetRowEvents(Call& call);
rest::Handled GetSnapshotText(Call& call);
rest::Handled GetSnapshotPicture(Call& call);
rest::Handled PostPause(Call& call);
rest::Handled PostResume(Call& call);
rest::Handled PostCancel(Call& call);
rest::Handled PostTrigger(Call& call);
rest::Handled GetEvents(Call& call);
rest::Handled GetMonitorEvents(Call& call);

// jobs.cc
rest::Handled GetJobs(Call& call);
rest::Handled GetJob(Call& call);
rest::Handled PostTerminate(Call& call);
rest::Handled GetRuns(Call& call);
rest::Handled GetRun(Call& call);
rest::Handled PostRunCancel(Call& call);

// schedules.cc: of workflows
rest::Handled GetSchedules(Call& call);
rest::Handled GetSchedule(Call& call);
rest::Handled PostSchedulePause(Call& call);
rest::Handled PostScheduleResume(Call& call);

// deliveries.cc
rest::Handled GetDeliveries(Call& call);
rest::Handled GetDelivery(Call& call);
rest::Handled PostReplay(Call& call);
rest::Handled PostSendNow(Call& call);
rest::Handled PostReplayMany(Call& call);

}  // namespace vedette::admin
