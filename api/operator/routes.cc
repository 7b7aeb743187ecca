#include "api/operator/handlers.h"

namespace vedette::admin {
namespace {

constexpr auto kOpen = rest::Access::kOpen;
constexpr auto kJson = rest::Body::kJson;

// In a pattern {id} stands for a UUID; {file}, {user} and {kid} for one segment.
constexpr Route kRoutes[] = {
    {"GET", "/healthz", GetHealth, {.access = kOpen}},
    {"GET", "/readyz", GetReadiness, {.access = kOpen}},
    {"GET", "/metrics", GetMetrics, {.access = kOpen}},
    {"GET", "/", GetConsole, {.access = kOpen}},
    {"GET", "/console/{file}", GetConsoleAsset, {.access = kOpen}},

    {"GET", "/admin/v1/overview", GetOverview},
    {"GET", "/admin/v1/audit", GetAudit},
    {"POST", "/admin/v1/drain", PostDrain, {.body = kJson}},

    {"GET", "/admin/v1/suppressions", GetSuppressions},
    {"POST", "/admin/v1/suppressions", PostSuppression, {.body = kJson}},
    {"POST", "/admin/v1/suppressions/remove", PostUnsuppression, {.body = kJson}},
    {"POST", "/admin/v1/erase", PostErase, {.body = kJson}},
    {"GET", "/admin/v1/email/hosts", GetMailHosts},
    {"POST", "/admin/v1/email/hosts/unblock", PostMailUnblock, {.body = kJson}},
    {"GET", "/admin/v1/email/budgets", GetMailBudgets},
    {"GET", "/admin/v1/providers", GetProviders},

    {"POST",
     "/admin/v1/search/import",
     PostSearchImport,
     {.body = kJson, .body_bytes_max = kImportBodyBytesMax}},

    {"GET", "/admin/v1/monitors", GetMonitors},
    {"GET", "/admin/v1/monitors/{id}", GetMonitor},
    {"GET", "/admin/v1/monitors/{id}/events", GetMonitorEvents},
    {"GET", "/admin/v1/monitors/{id}/rows", GetMonitorRows},
    {"GET", "/admin/v1/monitors/{id}/rows/{id}", GetMonitorRow},
    {"GET", "/admin/v1/monitors/{id}/rows/{id}/events", GetRowEvents},
    {"GET", "/admin/v1/snapshots/{id}/text", GetSnapshotText},
    {"GET", "/admin/v1/snapshots/{id}/screenshot", GetSnapshotPicture},
    {"POST", "/admin/v1/monitors/{id}/pause", PostPause, {.body = kJson}},
    {"POST", "/admin/v1/monitors/{id}/resume", PostResume, {.body = kJson}},
    {"POST", "/admin/v1/monitors/{id}/cancel", PostCancel, {.body = kJson}},
    {"POST", "/admin/v1/monitors/{id}/trigger", PostTrigger, {.body = kJson}},

    {"GET", "/admin/v1/events", GetEvents},

    {"GET", "/admin/v1/jobs", GetJobs},
    {"GET", "/admin/v1/jobs/{id}", GetJob},
    {"POST", "/admin/v1/jobs/{id}/terminate", PostTerminate, {.body = kJson}},

    {"GET", "/admin/v1/runs", GetRuns},
    {"GET", "/admin/v1/runs/{id}", GetRun},
    {"POST", "/admin/v1/runs/{id}/cancel", PostRunCancel, {.body = kJson}},

    {"GET", "/admin/v1/schedules", GetSchedules},
    {"GET", "/admin/v1/schedules/{id}", GetSchedule},
    {"POST", "/admin/v1/schedules/{id}/pause", PostSchedulePause, {.body = kJson}},
    {"POST", "/admin/v1/schedules/{id}/resume", PostScheduleResume, {.body = kJson}},

    // Before {id}, which would stand for "replay" too.
    {"POST", "/admin/v1/deliveries/replay", PostReplayMany, {.body = kJson}},
    {"GET", "/admin/v1/deliveries", GetDeliveries},
    {"GET", "/admin/v1/deliveries/{id}", GetDelivery},
    {"POST", "/admin/v1/deliveries/{id}/replay", PostReplay, {.body = kJson}},
    {"POST", "/admin/v1/deliveries/{id}/send", PostSendNow, {.body = kJson}},

    {"GET", "/admin/v1/orgs", GetOrganisations},
    {"POST", "/admin/v1/orgs", PostOrganisation, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}", GetOrganisation},
    {"PATCH", "/admin/v1/orgs/{id}", PatchOrganisation, {.body = kJson}},
    {"POST", "/admin/v1/orgs/{id}/credits", PostCredits, {.body = kJson}},
    {"POST", "/admin/v1/orgs/{id}/teams", PostTeam, {.body = kJson}},
    {"PATCH", "/admin/v1/orgs/{id}/teams/{id}", PatchTeam, {.body = kJson}},
    {"DELETE", "/admin/v1/orgs/{id}/teams/{id}", DeleteTeam, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/api-keys", GetApiKeys},
    {"POST", "/admin/v1/orgs/{id}/api-keys", PostApiKey, {.body = kJson}},
    {"DELETE", "/admin/v1/orgs/{id}/api-keys/{id}", DeleteApiKey, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/signing-secrets", GetSigningSecrets},
    {"POST", "/admin/v1/orgs/{id}/signing-secrets/rotate", PostRotation, {.body = kJson}},
    {"GET", "/admin/v1/signing-secrets/keys", GetEncryptionKeys},
    {"POST", "/admin/v1/signing-secrets/reseal", PostReseal, {.body = kJson}},
    {"POST", "/admin/v1/orgs/{id}/sessions", PostSession, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/sessions", GetSessions},
    {"DELETE", "/admin/v1/orgs/{id}/sessions/{id}", DeleteSession, {.body = kJson}},
    {"POST", "/admin/v1/orgs/{id}/invitations", PostInvitation, {.body = kJson}},
    {"POST", "/admin/v1/orgs/{id}/resets", PostReset, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/users", GetUsers},
    {"DELETE", "/admin/v1/orgs/{id}/users/{user}", DeleteUser, {.body = kJson}},
    {"POST",
     "/admin/v1/orgs/{id}/monitors",
     PostTenantMonitor,
     {.body = kJson, .body_bytes_max = kTenantBodyBytesMax}},
    {"POST",
     "/admin/v1/orgs/{id}/monitors/preview",
     PostTenantPreview,
     {.body = kJson, .body_bytes_max = kTenantBodyBytesMax}},
    {"POST", "/admin/v1/orgs/{id}/schedules/preview", PostTenantSchedulePreview, {.body = kJson}},
    {"POST",
     "/admin/v1/orgs/{id}/monitors/{id}/update",
     PostTenantMonitorUpdate,
     {.body = kJson, .body_bytes_max = kTenantBodyBytesMax}},
    {"POST",
     "/admin/v1/orgs/{id}/workflows/{id}/schedules",
     PostTenantSchedule,
     {.body = kJson, .body_bytes_max = kTenantBodyBytesMax}},
    {"POST",
     "/admin/v1/orgs/{id}/workflows/{id}/schedules/{id}/update",
     PostTenantScheduleUpdate,
     {.body = kJson, .body_bytes_max = kTenantBodyBytesMax}},
    {"POST",
     "/admin/v1/orgs/{id}/workflows/{id}/schedules/{id}/trigger",
     PostTenantScheduleTrigger,
     {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/channels", AskTenantChannels},
    {"POST", "/admin/v1/orgs/{id}/channels", AskTenantChannels, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/channels/{id}", AskTenantChannels},
    {"GET", "/admin/v1/orgs/{id}/channels/{id}/deliveries", AskTenantChannels},
    {"POST", "/admin/v1/orgs/{id}/channels/{id}/update", AskTenantChannels, {.body = kJson}},
    {"POST", "/admin/v1/orgs/{id}/channels/{id}/test", AskTenantChannels, {.body = kJson}},
    {"DELETE", "/admin/v1/orgs/{id}/channels/{id}", AskTenantChannels, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/reservations", GetReservations},
    {"GET", "/admin/v1/orgs/{id}/ledger", GetLedger},
    {"POST", "/admin/v1/orgs/{id}/templates", PostTemplate, {.body = kJson}},
    {"DELETE", "/admin/v1/orgs/{id}/templates/{id}", DeleteTemplate, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/oauth-clients", GetOauthClients},
    {"POST", "/admin/v1/orgs/{id}/oauth-clients", PostOauthClient, {.body = kJson}},
    {"GET", "/admin/v1/orgs/{id}/oauth-clients/{id}", GetOauthClient},
    {"PATCH", "/admin/v1/orgs/{id}/oauth-clients/{id}", PatchOauthClient, {.body = kJson}},
    {"DELETE", "/admin/v1/orgs/{id}/oauth-clients/{id}", DeleteOauthClient, {.body = kJson}},
    {"POST", "/admin/v1/orgs/{id}/oauth-clients/{id}/keys", PostOauthClientKey, {.body = kJson}},
    {"DELETE",
     "/admin/v1/orgs/{id}/oauth-clients/{id}/keys/{kid}",
     DeleteOauthClientKey,
     {.body = kJson}},
    {"POST",
     "/admin/v1/orgs/{id}/oauth-clients/{id}/revoke-tokens",
     PostOauthTokenRevocation,
     {.body = kJson}},
    {"POST",
     "/admin/v1/orgs/{id}/oauth-clients/{id}/validate-jwks",
     PostOauthKeyValidation,
     {.body = kJson}},
};

constexpr rest::Router<Call> kRouter{kRoutes};

}  // namespace

std::span<const Route> Routes() {
  return kRoutes;
}

const rest::Router<Call>& Router() {
  return kRouter;
}

}  // namespace vedette::admin
