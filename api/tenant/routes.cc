#include "api/tenant/handlers.h"

#include <array>

#include "api/tenant/account/scopes.h"
#include "api/tenant/call.h"
#include "api/tenant/oauth/form.h"
#include "domain/monitor/enums.h"

namespace vedette::api {
namespace {

constexpr auto kJson = rest::Body::kJson;
constexpr auto kForm = rest::Body::kForm;
constexpr auto kUpload = rest::Body::kUpload;
constexpr auto kOpen = rest::Access::kOpen;
constexpr auto kManagement = rest::Access::kManagement;
constexpr auto kAssertion = rest::Access::kAssertion;
constexpr auto kSignedLink = rest::Access::kSignedLink;
constexpr std::string_view kMonitors = domain::kFeatureMonitors;

// Literal segments before parameters: the first match counts.
constexpr std::array kRoutes{
    Route{"GET", "/openapi.json", ServeOpenApi, {.access = kOpen}},
    Route{"GET", "/docs", ServeDocs, {.access = kOpen}},
    Route{"GET", kOauthMetadataPath, ServeOauthMetadata, {.access = kOpen}},
    Route{"POST",
          "/storage/csv/upload",
          UploadCsv,
          {.body = kUpload, .body_bytes_max = kUploadBytesMax}},
    Route{"POST", "/monitors", CreateMonitor, {.body = kJson, .feature = kMonitors}},
    Route{"POST", "/monitors/preview", PreviewMonitor, {.body = kJson, .feature = kMonitors}},
    Route{"POST", "/schedules/preview", PreviewSchedule, {.body = kJson}},
    Route{"GET", "/monitors", ListMonitors, {.feature = kMonitors}},
    Route{"GET", "/monitors/for-run/{run_id}", ListMonitorsForRun, {.feature = kMonitors}},
    Route{"GET", "/monitors/{monitor_id}", ShowMonitor, {.feature = kMonitors}},
    Route{"POST",
          "/monitors/{monitor_id}/update",
          UpdateMonitor,
          {.body = kJson, .feature = kMonitors}},
    Route{"POST",
          "/monitors/{monitor_id}/cancel",
          CancelMonitor,
          {.body = kJson, .feature = kMonitors}},
    Route{"POST",
          "/monitors/{monitor_id}/trigger",
          TriggerMonitor,
          {.body = kJson, .feature = kMonitors}},
    Route{"GET", "/monitors/{monitor_id}/rows", ListRows, {.feature = kMonitors}},
    Route{"POST", "/monitors/{monitor_id}/rows", AddRows, {.body = kJson, .feature = kMonitors}},
    Route{"GET", "/monitors/{monitor_id}/rows/{row_id}", ShowRow, {.feature = kMonitors}},
    Route{"POST",
          "/monitors/{monitor_id}/rows/{row_id}/update",
          ChangeRow,
          {.body = kJson, .feature = kMonitors}},
    Route{"GET", "/monitors/{monitor_id}/rows/{row_id}/events", ListEvents, {.feature = kMonitors}},
    Route{"GET", "/monitors/{monitor_id}/ticks", ListTicks, {.feature = kMonitors}},
    Route{"GET", "/monitors/{monitor_id}/events", ListMonitorEvents, {.feature = kMonitors}},
    Route{"GET", "/monitors/{monitor_id}/deliveries", ListDeliveries, {.feature = kMonitors}},
    Route{"POST",
          "/monitors/{monitor_id}/rows/{row_id}/remove",
          RemoveRow,
          {.body = kJson, .feature = kMonitors}},
    Route{"POST",
          "/monitors/{monitor_id}/archive",
          ArchiveMonitor,
          {.body = kJson, .feature = kMonitors}},
    Route{"GET", "/events", ListAllEvents, {.feature = kMonitors}},
    Route{"POST",
          "/monitors/{monitor_id}/webhook/test",
          TestWebhook,
          {.body = kJson, .feature = kMonitors}},
    Route{"POST", "/channels", CreateChannel, {.body = kJson, .feature = kMonitors}},
    Route{"GET", "/channels", ListChannels, {.feature = kMonitors}},
    Route{"GET", "/channels/{channel_id}", ShowChannel, {.feature = kMonitors}},
    Route{"GET", "/channels/{channel_id}/feed.atom", ShowFeed, {.access = kSignedLink}},
    Route{"POST",
          "/channels/{channel_id}/update",
          UpdateChannel,
          {.body = kJson, .feature = kMonitors}},
    Route{"DELETE", "/channels/{channel_id}", DeleteChannel, {.feature = kMonitors}},
    Route{
        "POST", "/channels/{channel_id}/test", TestChannel, {.body = kJson, .feature = kMonitors}},
    Route{"POST", "/find-email", FindEmail, {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"POST",
          "/find-email-async",
          FindEmailAsync,
          {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"POST",
          "/find-email-bulk",
          FindEmailBulk,
          {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"POST",
          "/find-email-bulk-async",
          FindEmailBulkAsync,
          {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"POST",
          "/reverse-email",
          ReverseEmail,
          {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"POST",
          "/reverse-email-async",
          ReverseEmailAsync,
          {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"POST",
          "/reverse-email-bulk",
          ReverseEmailBulk,
          {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"POST",
          "/reverse-email-bulk-async",
          ReverseEmailBulkAsync,
          {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"POST", "/verify-age", VerifyAge, {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"GET", "/verify-age/{task_id}", ShowAgeStatus},
    Route{"GET", "/job-status/{task_id}", ShowJobStatus},
    Route{"POST", "/job-status/{task_id}/cancel", CancelJob, {.body = kJson}},
    Route{"POST",
          "/v1/atlas/investigations",
          StartInvestigation,
          {.body = kJson, .body_bytes_max = kLeadsBodyBytesMax}},
    Route{"GET", "/v1/atlas/investigations/{investigation_id}", ShowInvestigation},
    Route{"GET", "/v1/atlas/investigations/{investigation_id}/findings", ListInvestigationFindings},
    Route{"POST",
          "/search/filter-field-values",
          ListFieldValues,
          {.body = kJson, .body_bytes_max = kFilterBodyBytesMax}},
    Route{"GET", "/search/filter-capabilities", ShowFilterCapabilities},
    Route{"POST", "/search/exclusion-lists", CreateExclusionList, {.body = kJson}},
    Route{"GET", "/search/exclusion-lists", ListExclusionLists},
    Route{"GET", "/search/exclusion-lists/{list_id}", ShowExclusionList},
    Route{"POST",
          "/search/exclusion-lists/{list_id}/entities",
          FillExclusionList,
          {.body = kJson, .body_bytes_max = kFilterBodyBytesMax}},
    Route{"POST", "/search/exclusion-lists/{list_id}/ready", FinishExclusionList, {.body = kJson}},
    Route{"DELETE", "/search/exclusion-lists/{list_id}", DeleteExclusionList},
    Route{"GET", "/workflows", ListWorkflows},
    Route{"GET", "/workflows/blocks", ListBlocks},
    Route{"POST", "/workflows/run", RunWorkflow, {.body = kJson}},
    Route{"POST", "/workflows/create_workflow", CreateWorkflow, {.body = kJson}},
    Route{"POST", "/workflows/update_workflow", UpdateWorkflow, {.body = kJson}},
    Route{"POST", "/workflows/delete_workflow", DeleteWorkflow, {.body = kJson}},
    Route{"POST", "/workflows/cancel", CancelRun, {.body = kJson}},
    Route{"GET", "/workflows/runs", ListRuns},
    Route{"GET", "/workflows/runs/{run_id}/live_status", ShowLiveStatus},
    Route{"GET", "/workflows/runs/{run_id}/results/download-links", ListDownloadLinks},
    Route{"GET", "/workflows/{workflow_id}", ShowWorkflow},
    Route{"GET", "/templates", ListTemplates},
    Route{"GET", "/templates/{template_key}", ShowTemplate},
    Route{"GET", "/storage/download/{run_id}/{file}", DownloadResult, {.access = kSignedLink}},
    Route{"GET", "/credits", ShowCredits},
    Route{"GET", "/credits/reservations", ShowReservations},
    Route{"GET", "/credits/ledger", ShowLedger},
    Route{"POST", "/account/api-keys", CreateApiKey, {.body = kJson, .access = kManagement}},
    Route{"GET", "/account/api-keys", ListApiKeys, {.access = kManagement}},
    Route{"POST",
          "/account/api-keys/{key_id}/revoke",
          RevokeApiKey,
          {.body = kJson, .access = kManagement}},
    Route{"POST",
          "/account/signing-secrets",
          CreateSigningSecret,
          {.body = kJson, .access = kManagement}},
    Route{"GET", "/account/signing-secrets", ListOwnSigningSecrets, {.access = kManagement}},
    Route{"POST",
          "/account/signing-secrets/roll",
          RollSigningSecret,
          {.body = kJson, .access = kManagement}},
    Route{"POST",
          "/account/signing-secrets/{secret_id}/revoke",
          RevokeSigningSecret,
          {.body = kJson, .access = kManagement}},
    Route{"GET", "/account/deliveries", ListOwnDeliveries, {.access = kManagement}},
    Route{"POST",
          "/account/deliveries/replay",
          ReplayOwnDeliveries,
          {.body = kJson, .access = kManagement}},
    Route{"POST",
          "/account/deliveries/{delivery_id}/resend",
          ResendDelivery,
          {.body = kJson, .access = kManagement}},
    Route{"GET", "/account/audit", ListOwnAudit, {.access = kManagement}},
    Route{"POST",
          kTokenPath,
          IssueToken,
          {.body = kForm, .body_bytes_max = kFormBytesMax, .access = kAssertion}},
    Route{"POST",
          kRevokePath,
          RevokeToken,
          {.body = kForm, .body_bytes_max = kFormBytesMax, .access = kAssertion}},
    Route{"POST",
          kIntrospectPath,
          IntrospectToken,
          {.body = kForm, .body_bytes_max = kFormBytesMax, .access = kAssertion}},
    Route{"POST", "/oauth/clients", CreateOauthClient, {.body = kJson, .access = kManagement}},
    Route{"GET", "/oauth/clients", ListOauthClients, {.access = kManagement}},
    Route{"GET", "/oauth/clients/{client_id}", ShowOauthClient, {.access = kManagement}},
    Route{"PATCH",
          "/oauth/clients/{client_id}",
          ChangeOauthClient,
          {.body = kJson, .access = kManagement}},
    Route{"DELETE", "/oauth/clients/{client_id}", DeleteOauthClient, {.access = kManagement}},
    Route{"GET", "/oauth/clients/{client_id}/keys", ListOauthClientKeys, {.access = kManagement}},
    Route{"POST",
          "/oauth/clients/{client_id}/keys",
          AddOauthClientKey,
          {.body = kJson, .access = kManagement}},
    Route{"DELETE",
          "/oauth/clients/{client_id}/keys/{kid}",
          RevokeOauthClientKey,
          {.access = kManagement}},
    Route{"POST",
          "/oauth/clients/{client_id}/validate-jwks",
          ValidateJwks,
          {.body = kJson, .access = kManagement}},
    Route{"POST",
          "/oauth/clients/{client_id}/revoke-tokens",
          VoidOauthTokens,
          {.body = kJson, .access = kManagement}},
};

// Each route for which a credential is needed has a scope.
constexpr bool AllHaveScopes() {
  for (const Route& route : kRoutes) {
    const bool needs = route.access == rest::Access::kCredential || route.access == kManagement;
    if (needs && !ScopeOf(route.pattern)) return false;
  }
  return true;
}
static_assert(AllHaveScopes());

constexpr rest::Router<Call> kRouter{kRoutes};

}  // namespace

std::span<const Route> Routes() {
  return kRoutes;
}

const rest::Router<Call>& Router() {
  return kRouter;
}

}  // namespace vedette::api
