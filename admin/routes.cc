#include "admin/routes.h"

#include <array>

namespace vedette::admin {
namespace {

constexpr auto kHealth = Route::Access::kHealth;
constexpr auto kOpen = Route::Access::kOpen;
constexpr auto kToken = Route::Access::kToken;
constexpr auto kJson = rest::Body::kJson;

constexpr Route kRoutes[] = {
    {{"GET", "/healthz"}, kHealth, GetHealth},
    {{"GET", "/readyz"}, kHealth, GetReadiness},
    {{"GET", "/metrics"}, kHealth, GetMetrics},
    {{"GET", "/"}, kOpen, GetConsole},
    {{"GET", "/console/{file}"}, kOpen, GetConsoleAsset},

    {{"GET", "/admin/v1/overview"}, kToken, nullptr, GetOverview},
    {{"GET", "/admin/v1/audit"}, kToken, nullptr, GetAudit},
    {{"POST", "/admin/v1/drain", kJson}, kToken, nullptr, PostDrain},

    {{"GET", "/admin/v1/suppressions"}, kToken, nullptr, GetSuppressions},
    {{"POST", "/admin/v1/suppressions", kJson}, kToken, nullptr, PostSuppression},
    {{"POST", "/admin/v1/suppressions/remove", kJson}, kToken, nullptr, PostUnsuppression},
    {{"POST", "/admin/v1/erase", kJson}, kToken, nullptr, PostErase},
    {{"GET", "/admin/v1/email/hosts"}, kToken, nullptr, GetMailHosts},
    {{"POST", "/admin/v1/email/hosts/unblock", kJson}, kToken, nullptr, PostMailUnblock},
    {{"GET", "/admin/v1/email/budgets"}, kToken, nullptr, GetMailBudgets},
    {{"GET", "/admin/v1/providers"}, kToken, nullptr, GetProviders},

    {{"POST", "/admin/v1/search/import", kJson, kImportBodyBytesMax},
     kToken,
     nullptr,
     PostSearchImport},

    {{"GET", "/admin/v1/monitors"}, kToken, nullptr, GetMonitors},
    {{"GET", "/admin/v1/monitors/{id}"}, kToken, nullptr, GetMonitor},
    {{"GET", "/admin/v1/monitors/{id}/events"}, kToken, nullptr, GetMonitorEvents},
    {{"GET", "/admin/v1/monitors/{id}/rows"}, kToken, nullptr, GetMonitorRows},
    {{"GET", "/admin/v1/monitors/{id}/rows/{id}"}, kToken, nullptr, GetMonitorRow},
    {{"GET", "/admin/v1/monitors/{id}/rows/{id}/events"}, kToken, nullptr, GetRowEvents},
    {{"POST", "/admin/v1/monitors/{id}/pause", kJson}, kToken, nullptr, PostPause},
    {{"POST", "/admin/v1/monitors/{id}/resume", kJson}, kToken, nullptr, PostResume},
    {{"POST", "/admin/v1/monitors/{id}/cancel", kJson}, kToken, nullptr, PostCancel},
    {{"POST", "/admin/v1/monitors/{id}/trigger", kJson}, kToken, nullptr, PostTrigger},

    {{"GET", "/admin/v1/events"}, kToken, nullptr, GetEvents},

    {{"GET", "/admin/v1/jobs"}, kToken, nullptr, GetJobs},
    {{"GET", "/admin/v1/jobs/{id}"}, kToken, nullptr, GetJob},
    {{"POST", "/admin/v1/jobs/{id}/terminate", kJson}, kToken, nullptr, PostTerminate},

    {{"GET", "/admin/v1/runs"}, kToken, nullptr, GetRuns},
    {{"GET", "/admin/v1/runs/{id}"}, kToken, nullptr, GetRun},
    {{"POST", "/admin/v1/runs/{id}/cancel", kJson}, kToken, nullptr, PostRunCancel},

    // Before {id}, which would stand for "replay" too.
    {{"POST", "/admin/v1/deliveries/replay", kJson}, kToken, nullptr, nullptr, PostReplayMany},
    {{"GET", "/admin/v1/deliveries"}, kToken, nullptr, GetDeliveries},
    {{"GET", "/admin/v1/deliveries/{id}"}, kToken, nullptr, GetDelivery},
    {{"POST", "/admin/v1/deliveries/{id}/replay", kJson}, kToken, nullptr, PostReplay},
    {{"POST", "/admin/v1/deliveries/{id}/send", kJson}, kToken, nullptr, PostSendNow},

    {{"GET", "/admin/v1/orgs"}, kToken, nullptr, GetOrganisations},
    {{"POST", "/admin/v1/orgs", kJson}, kToken, nullptr, PostOrganisation},
    {{"GET", "/admin/v1/orgs/{id}"}, kToken, nullptr, GetOrganisation},
    {{"PATCH", "/admin/v1/orgs/{id}", kJson}, kToken, nullptr, PatchOrganisation},
    {{"POST", "/admin/v1/orgs/{id}/credits", kJson}, kToken, nullptr, PostCredits},
    {{"POST", "/admin/v1/orgs/{id}/teams", kJson}, kToken, nullptr, PostTeam},
    {{"PATCH", "/admin/v1/orgs/{id}/teams/{id}", kJson}, kToken, nullptr, PatchTeam},
    {{"DELETE", "/admin/v1/orgs/{id}/teams/{id}", kJson}, kToken, nullptr, DeleteTeam},
    {{"GET", "/admin/v1/orgs/{id}/api-keys"}, kToken, nullptr, GetApiKeys},
    {{"POST", "/admin/v1/orgs/{id}/api-keys", kJson}, kToken, nullptr, PostApiKey},
    {{"DELETE", "/admin/v1/orgs/{id}/api-keys/{id}", kJson}, kToken, nullptr, DeleteApiKey},
    {{"GET", "/admin/v1/orgs/{id}/signing-secrets"}, kToken, nullptr, GetSigningSecrets},
    {{"POST", "/admin/v1/orgs/{id}/signing-secrets/rotate", kJson}, kToken, nullptr, PostRotation},
    {{"GET", "/admin/v1/signing-secrets/keys"}, kToken, nullptr, GetEncryptionKeys},
    {{"POST", "/admin/v1/signing-secrets/reseal", kJson}, kToken, nullptr, PostReseal},
    {{"POST", "/admin/v1/orgs/{id}/sessions", kJson}, kToken, nullptr, PostSession},
    {{"GET", "/admin/v1/orgs/{id}/sessions"}, kToken, nullptr, GetSessions},
    {{"DELETE", "/admin/v1/orgs/{id}/sessions/{id}", kJson}, kToken, nullptr, DeleteSession},
    {{"GET", "/admin/v1/orgs/{id}/users"}, kToken, nullptr, GetUsers},
    {{"DELETE", "/admin/v1/orgs/{id}/users/{user}", kJson}, kToken, nullptr, DeleteUser},
    {{"POST", "/admin/v1/orgs/{id}/monitors", kJson, kTenantBodyBytesMax},
     kToken,
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     "/monitors"},
    {{"POST", "/admin/v1/orgs/{id}/monitors/preview", kJson, kTenantBodyBytesMax},
     kToken,
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     "/monitors/preview"},
    {{"POST", "/admin/v1/orgs/{id}/monitors/{id}/update", kJson, kTenantBodyBytesMax},
     kToken,
     nullptr,
     nullptr,
     nullptr,
     nullptr,
     "/monitors/{id}/update"},
    {{"GET", "/admin/v1/orgs/{id}/reservations"}, kToken, nullptr, GetReservations},
    {{"GET", "/admin/v1/orgs/{id}/ledger"}, kToken, nullptr, GetLedger},
    {{"POST", "/admin/v1/orgs/{id}/templates", kJson}, kToken, nullptr, PostTemplate},
    {{"DELETE", "/admin/v1/orgs/{id}/templates/{id}", kJson}, kToken, nullptr, DeleteTemplate},
    {{"GET", "/admin/v1/orgs/{id}/oauth-clients"}, kToken, nullptr, GetOauthClients},
    {{"POST", "/admin/v1/orgs/{id}/oauth-clients", kJson}, kToken, nullptr, PostOauthClient},
    {{"GET", "/admin/v1/orgs/{id}/oauth-clients/{id}"}, kToken, nullptr, GetOauthClient},
    {{"PATCH", "/admin/v1/orgs/{id}/oauth-clients/{id}", kJson}, kToken, nullptr, PatchOauthClient},
    {{"DELETE", "/admin/v1/orgs/{id}/oauth-clients/{id}", kJson},
     kToken,
     nullptr,
     DeleteOauthClient},
    {{"POST", "/admin/v1/orgs/{id}/oauth-clients/{id}/keys", kJson},
     kToken,
     nullptr,
     PostOauthClientKey},
    {{"DELETE", "/admin/v1/orgs/{id}/oauth-clients/{id}/keys/{kid}", kJson},
     kToken,
     nullptr,
     DeleteOauthClientKey},
    {{"POST", "/admin/v1/orgs/{id}/oauth-clients/{id}/revoke-tokens", kJson},
     kToken,
     nullptr,
     PostOauthTokenRevocation},
    {{"POST", "/admin/v1/orgs/{id}/oauth-clients/{id}/validate-jwks", kJson},
     kToken,
     nullptr,
     nullptr,
     nullptr,
     PostOauthKeyValidation},
};

constexpr rest::Router<Route> kRouter{kRoutes};

}  // namespace

std::span<const Route> Routes() {
  return kRoutes;
}

const rest::Router<Route>& Router() {
  return kRouter;
}

}  // namespace vedette::admin
