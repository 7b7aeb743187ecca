#include <array>
#include <iterator>
#include <utility>

#include "api/operator/handlers.h"

namespace vedette::admin {
namespace {

constexpr auto kOpen = rest::Access::kOpen;
constexpr auto kSignedLink = rest::Access::kSignedLink;
constexpr auto kOperator = Role::kOperator;
constexpr auto kAdmin = Role::kAdmin;

// In a pattern {id} stands for a UUID; {file}, {user} and {kid} for one segment.
constexpr Route kRoutes[] = {
    {"GET", "/healthz", GetHealth, {.access = kOpen}},
    {"GET", "/readyz", GetReadiness, {.access = kOpen}},
    {"GET", "/metrics", GetMetrics, {.access = kOpen}},
    {"GET", "/", GetConsole, {.access = kOpen}},
    // Before {file}. Those with a link's access show what they need themselves.
    {"GET", "/console/sign-in", GetConsoleSignIn, {.access = kOpen}},
    {"POST", "/console/sign-in", PostConsoleSignIn, {.access = kSignedLink}},
    {"GET", "/console/callback", GetConsoleCallback, {.access = kSignedLink}},
    {"POST", "/console/sign-out", PostConsoleSignOut, {.access = kSignedLink}},
    {"GET", "/console/{file}", GetConsoleAsset, {.access = kOpen}},
    {"GET", "/admin/v1/console/sessions", GetConsoleSessions},
    {kAdmin, "DELETE", "/admin/v1/console/sessions/{id}", DeleteConsoleSession},

    {"GET", "/admin/v1/me", GetMe},
    {"GET", "/admin/v1/overview", GetOverview},
    {"GET", "/admin/v1/cell", GetCell},
    {"GET", "/admin/v1/cell/routes", GetCellRoutes},
    {"GET", "/admin/v1/cells", GetCells},
    {"GET", "/admin/v1/directory", GetDirectory},
    {"GET", "/admin/v1/audit", GetAudit},
    {"GET", "/admin/v1/audit/chain", GetAuditChain},
    {kOperator, "POST", "/admin/v1/drain", PostDrain},

    {"GET", "/admin/v1/suppressions", GetSuppressions},
    {kOperator, "POST", "/admin/v1/suppressions", PostSuppression},
    {kAdmin, "POST", "/admin/v1/suppressions/remove", PostUnsuppression},
    {kAdmin, "POST", "/admin/v1/erase", PostErase},
    {"GET", "/admin/v1/email/hosts", GetMailHosts},
    {kOperator, "POST", "/admin/v1/email/hosts/unblock", PostMailUnblock},
    {"GET", "/admin/v1/email/budgets", GetMailBudgets},
    {"GET", "/admin/v1/providers", GetProviders},

    {kAdmin, "POST", "/admin/v1/search/import", PostSearchImport, kImportBodyBytesMax},

    {"GET", "/admin/v1/monitors", GetMonitors},
    {"GET", "/admin/v1/monitors/{id}", GetMonitor},
    {"GET", "/admin/v1/monitors/{id}/events", GetMonitorEvents},
    {"GET", "/admin/v1/monitors/{id}/rows", GetMonitorRows},
    {"GET", "/admin/v1/monitors/{id}/rows/{id}", GetMonitorRow},
    {"GET", "/admin/v1/monitors/{id}/rows/{id}/events", GetRowEvents},
    {"GET", "/admin/v1/snapshots/{id}/text", GetSnapshotText},
    {"GET", "/admin/v1/snapshots/{id}/screenshot", GetSnapshotPicture},
    {kOperator, "POST", "/admin/v1/monitors/{id}/pause", PostPause},
    {kOperator, "POST", "/admin/v1/monitors/{id}/resume", PostResume},
    {kOperator, "POST", "/admin/v1/monitors/{id}/cancel", PostCancel},
    {kOperator, "POST", "/admin/v1/monitors/{id}/trigger", PostTrigger},

    {"GET", "/admin/v1/events", GetEvents},

    {"GET", "/admin/v1/jobs", GetJobs},
    {"GET", "/admin/v1/jobs/{id}", GetJob},
    {kOperator, "POST", "/admin/v1/jobs/{id}/terminate", PostTerminate},

    {"GET", "/admin/v1/runs", GetRuns},
    {"GET", "/admin/v1/runs/{id}", GetRun},
    {kOperator, "POST", "/admin/v1/runs/{id}/cancel", PostRunCancel},

    {"GET", "/admin/v1/schedules", GetSchedules},
    {"GET", "/admin/v1/schedules/{id}", GetSchedule},
    {kOperator, "POST", "/admin/v1/schedules/{id}/pause", PostSchedulePause},
    {kOperator, "POST", "/admin/v1/schedules/{id}/resume", PostScheduleResume},

    // Before {id}, which would stand for "replay" too.
    {kOperator, "POST", "/admin/v1/deliveries/replay", PostReplayMany},
    {"GET", "/admin/v1/deliveries", GetDeliveries},
    {"GET", "/admin/v1/deliveries/{id}", GetDelivery},
    {kOperator, "POST", "/admin/v1/deliveries/{id}/replay", PostReplay},
    {kOperator, "POST", "/admin/v1/deliveries/{id}/send", PostSendNow},

    {"GET", "/admin/v1/orgs", GetOrganisations},
    {kAdmin, "POST", "/admin/v1/orgs", PostOrganisation},
    {"GET", "/admin/v1/orgs/{id}", GetOrganisation},
    {kAdmin, "PATCH", "/admin/v1/orgs/{id}", PatchOrganisation},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/credits", PostCredits},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/teams", PostTeam},
    {kAdmin, "PATCH", "/admin/v1/orgs/{id}/teams/{id}", PatchTeam},
    {kAdmin, "DELETE", "/admin/v1/orgs/{id}/teams/{id}", DeleteTeam},
    {"GET", "/admin/v1/orgs/{id}/api-keys", GetApiKeys},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/api-keys", PostApiKey},
    {kAdmin, "DELETE", "/admin/v1/orgs/{id}/api-keys/{id}", DeleteApiKey},
    {"GET", "/admin/v1/orgs/{id}/signing-secrets", GetSigningSecrets},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/signing-secrets/rotate", PostRotation},
    {"GET", "/admin/v1/signing-secrets/keys", GetEncryptionKeys},
    {kAdmin, "POST", "/admin/v1/signing-secrets/reseal", PostReseal},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/sessions", PostSession},
    {"GET", "/admin/v1/orgs/{id}/sessions", GetSessions},
    {kAdmin, "DELETE", "/admin/v1/orgs/{id}/sessions/{id}", DeleteSession},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/invitations", PostInvitation},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/resets", PostReset},
    {"GET", "/admin/v1/orgs/{id}/users", GetUsers},
    {kAdmin, "DELETE", "/admin/v1/orgs/{id}/users/{user}", DeleteUser},
    {kOperator, "POST", "/admin/v1/orgs/{id}/monitors", PostTenantMonitor, kTenantBodyBytesMax},
    {kOperator, "POST", "/admin/v1/orgs/{id}/monitors/preview", PostTenantPreview,
     kTenantBodyBytesMax},
    {kOperator, "POST", "/admin/v1/orgs/{id}/schedules/preview", PostTenantSchedulePreview},
    {kOperator, "POST", "/admin/v1/orgs/{id}/monitors/{id}/update", PostTenantMonitorUpdate,
     kTenantBodyBytesMax},
    {kOperator, "POST", "/admin/v1/orgs/{id}/workflows/{id}/schedules", PostTenantSchedule,
     kTenantBodyBytesMax},
    {kOperator, "POST", "/admin/v1/orgs/{id}/workflows/{id}/schedules/{id}/update",
     PostTenantScheduleUpdate, kTenantBodyBytesMax},
    {kOperator, "POST", "/admin/v1/orgs/{id}/workflows/{id}/schedules/{id}/trigger",
     PostTenantScheduleTrigger},
    {"GET", "/admin/v1/orgs/{id}/channels", AskTenantChannels},
    {kOperator, "POST", "/admin/v1/orgs/{id}/channels", AskTenantChannels},
    {"GET", "/admin/v1/orgs/{id}/channels/{id}", AskTenantChannels},
    {"GET", "/admin/v1/orgs/{id}/channels/{id}/deliveries", AskTenantChannels},
    {kOperator, "POST", "/admin/v1/orgs/{id}/channels/{id}/update", AskTenantChannels},
    {kOperator, "POST", "/admin/v1/orgs/{id}/channels/{id}/test", AskTenantChannels},
    {kOperator, "DELETE", "/admin/v1/orgs/{id}/channels/{id}", AskTenantChannels},
    {"GET", "/admin/v1/orgs/{id}/reservations", GetReservations},
    {"GET", "/admin/v1/orgs/{id}/ledger", GetLedger},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/templates", PostTemplate},
    {kAdmin, "DELETE", "/admin/v1/orgs/{id}/templates/{id}", DeleteTemplate},
    {"GET", "/admin/v1/orgs/{id}/oauth-clients", GetOauthClients},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/oauth-clients", PostOauthClient},
    {"GET", "/admin/v1/orgs/{id}/oauth-clients/{id}", GetOauthClient},
    {kAdmin, "PATCH", "/admin/v1/orgs/{id}/oauth-clients/{id}", PatchOauthClient},
    {kAdmin, "DELETE", "/admin/v1/orgs/{id}/oauth-clients/{id}", DeleteOauthClient},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/oauth-clients/{id}/keys", PostOauthClientKey},
    {kAdmin, "DELETE", "/admin/v1/orgs/{id}/oauth-clients/{id}/keys/{kid}", DeleteOauthClientKey},
    {kAdmin, "POST", "/admin/v1/orgs/{id}/oauth-clients/{id}/revoke-tokens",
     PostOauthTokenRevocation},
    {kOperator, "POST", "/admin/v1/orgs/{id}/oauth-clients/{id}/validate-jwks",
     PostOauthKeyValidation},
};

// The table as the router takes it: the same rows in the same order.
template <std::size_t... place>
constexpr std::array<rest::Route<Call>, sizeof...(place)> Plain(std::index_sequence<place...>) {
  return {static_cast<const rest::Route<Call>&>(kRoutes[place])...};
}
constexpr auto kPlainRoutes = Plain(std::make_index_sequence<std::size(kRoutes)>());

constexpr rest::Router<Call> kRouter{kPlainRoutes};

constexpr std::string_view kRoleNames[] = {"viewer", "operator", "admin"};

}  // namespace

std::string_view RoleName(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

Role RoleNamed(std::string_view name) {
  for (const Role role : {Role::kViewer, Role::kOperator}) {
    if (RoleName(role) == name) return role;
  }
  return Role::kAdmin;
}

std::span<const Route> Routes() {
  return kRoutes;
}

const rest::Router<Call>& Router() {
  return kRouter;
}

const Route& RouteOf(const rest::Match<Call>& match) {
  return kRoutes[static_cast<std::size_t>(match.route - kPlainRoutes.data())];
}

}  // namespace vedette::admin
