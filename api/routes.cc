#include "api/routes.h"

#include <array>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/oauth/issuer.h"
#include "api/oauth/protocol.h"

namespace vedette::api {
namespace {

constexpr auto kJson = rest::Body::kJson;
constexpr auto kForm = rest::Body::kForm;
constexpr auto kManagement = Access::kManagement;
constexpr auto kAssertion = Access::kAssertion;
constexpr auto kSignedLink = Access::kSignedLink;
constexpr std::string_view kNoFeature;

// Literal segments before parameters: the first match counts.
constexpr std::array kRoutes{
    Route{{"GET", "/openapi.json"}},
    Route{{"GET", "/docs"}},
    Route{{"GET", kOauthMetadataPath}},
    Route{{"POST", "/storage/csv/upload", rest::Body::kUpload, kUploadBytesMax},
          UploadCsv,
          kNoFeature},
    Route{{"POST", "/monitors", kJson}, CreateMonitor},
    Route{{"POST", "/monitors/preview", kJson}, PreviewMonitor},
    Route{{"GET", "/monitors"}, ListMonitors},
    Route{{"GET", "/monitors/for-run/{run_id}"}, ListMonitorsForRun},
    Route{{"GET", "/monitors/{monitor_id}"}, ShowMonitor},
    Route{{"POST", "/monitors/{monitor_id}/update", kJson}, UpdateMonitor},
    Route{{"POST", "/monitors/{monitor_id}/cancel", kJson}, CancelMonitor},
    Route{{"POST", "/monitors/{monitor_id}/trigger", kJson}, TriggerMonitor},
    Route{{"GET", "/monitors/{monitor_id}/rows"}, ListRows},
    Route{{"POST", "/monitors/{monitor_id}/rows", kJson}, AddRows},
    Route{{"GET", "/monitors/{monitor_id}/rows/{row_id}"}, ShowRow},
    Route{{"POST", "/monitors/{monitor_id}/rows/{row_id}/update", kJson}, ChangeRow},
    Route{{"GET", "/monitors/{monitor_id}/rows/{row_id}/events"}, ListEvents},
    Route{{"GET", "/monitors/{monitor_id}/ticks"}, ListTicks},
    Route{{"GET", "/monitors/{monitor_id}/events"}, ListMonitorEvents},
    Route{{"GET", "/monitors/{monitor_id}/deliveries"}, ListDeliveries},
    Route{{"POST", "/monitors/{monitor_id}/rows/{row_id}/remove", kJson}, RemoveRow},
    Route{{"POST", "/monitors/{monitor_id}/archive", kJson}, ArchiveMonitor},
    Route{{"GET", "/events"}, ListAllEvents},
    Route{{"POST", "/monitors/{monitor_id}/webhook/test", kJson}, TestWebhook},
    Route{{"POST", "/find-email", kJson, kLeadsBodyBytesMax}, FindEmail, kNoFeature},
    Route{{"POST", "/find-email-async", kJson, kLeadsBodyBytesMax}, FindEmailAsync, kNoFeature},
    Route{{"POST", "/find-email-bulk", kJson, kLeadsBodyBytesMax}, FindEmailBulk, kNoFeature},
    Route{{"POST", "/find-email-bulk-async", kJson, kLeadsBodyBytesMax},
          FindEmailBulkAsync,
          kNoFeature},
    Route{{"POST", "/reverse-email", kJson, kLeadsBodyBytesMax}, ReverseEmail, kNoFeature},
    Route{
        {"POST", "/reverse-email-async", kJson, kLeadsBodyBytesMax}, ReverseEmailAsync, kNoFeature},
    Route{{"POST", "/reverse-email-bulk", kJson, kLeadsBodyBytesMax}, ReverseEmailBulk, kNoFeature},
    Route{{"POST", "/reverse-email-bulk-async", kJson, kLeadsBodyBytesMax},
          ReverseEmailBulkAsync,
          kNoFeature},
    Route{{"POST", "/verify-age", kJson, kLeadsBodyBytesMax}, VerifyAge, kNoFeature},
    Route{{"GET", "/verify-age/{task_id}"}, ShowAgeStatus, kNoFeature},
    Route{{"GET", "/job-status/{task_id}"}, ShowJobStatus, kNoFeature},
    Route{{"POST", "/job-status/{task_id}/cancel", kJson}, CancelJob, kNoFeature},
    Route{{"POST", "/v1/atlas/investigations", kJson, kLeadsBodyBytesMax},
          StartInvestigation,
          kNoFeature},
    Route{{"GET", "/v1/atlas/investigations/{investigation_id}"}, ShowInvestigation, kNoFeature},
    Route{{"GET", "/v1/atlas/investigations/{investigation_id}/findings"},
          ListInvestigationFindings,
          kNoFeature},
    Route{{"POST", "/search/filter-field-values", kJson, kFilterBodyBytesMax},
          ListFieldValues,
          kNoFeature},
    Route{{"GET", "/search/filter-capabilities"}, ShowFilterCapabilities, kNoFeature},
    Route{{"POST", "/search/exclusion-lists", kJson}, CreateExclusionList, kNoFeature},
    Route{{"GET", "/search/exclusion-lists"}, ListExclusionLists, kNoFeature},
    Route{{"GET", "/search/exclusion-lists/{list_id}"}, ShowExclusionList, kNoFeature},
    Route{{"POST", "/search/exclusion-lists/{list_id}/entities", kJson, kFilterBodyBytesMax},
          FillExclusionList,
          kNoFeature},
    Route{{"POST", "/search/exclusion-lists/{list_id}/ready", kJson},
          FinishExclusionList,
          kNoFeature},
    Route{{"DELETE", "/search/exclusion-lists/{list_id}"}, DeleteExclusionList, kNoFeature},
    Route{{"GET", "/workflows"}, ListWorkflows, kNoFeature},
    Route{{"GET", "/workflows/blocks"}, ListBlocks, kNoFeature},
    Route{{"POST", "/workflows/run", kJson}, RunWorkflow, kNoFeature},
    Route{{"POST", "/workflows/create_workflow", kJson}, CreateWorkflow, kNoFeature},
    Route{{"POST", "/workflows/update_workflow", kJson}, UpdateWorkflow, kNoFeature},
    Route{{"POST", "/workflows/delete_workflow", kJson}, DeleteWorkflow, kNoFeature},
    Route{{"POST", "/workflows/cancel", kJson}, CancelRun, kNoFeature},
    Route{{"GET", "/workflows/runs"}, ListRuns, kNoFeature},
    Route{{"GET", "/workflows/runs/{run_id}/live_status"}, ShowLiveStatus, kNoFeature},
    Route{
        {"GET", "/workflows/runs/{run_id}/results/download-links"}, ListDownloadLinks, kNoFeature},
    Route{{"GET", "/workflows/{workflow_id}"}, ShowWorkflow, kNoFeature},
    Route{{"GET", "/templates"}, ListTemplates, kNoFeature},
    Route{{"GET", "/templates/{template_key}"}, ShowTemplate, kNoFeature},
    Route{{"GET", "/storage/download/{run_id}/{file}"}, DownloadResult, kNoFeature, kSignedLink},
    Route{{"GET", "/credits"}, ShowCredits, kNoFeature},
    Route{{"GET", "/credits/reservations"}, ShowReservations, kNoFeature},
    Route{{"GET", "/credits/ledger"}, ShowLedger, kNoFeature},
    Route{{"POST", kTokenPath, kForm, kFormBytesMax}, IssueToken, kNoFeature, kAssertion},
    Route{{"POST", kRevokePath, kForm, kFormBytesMax}, RevokeToken, kNoFeature, kAssertion},
    Route{{"POST", kIntrospectPath, kForm, kFormBytesMax}, IntrospectToken, kNoFeature, kAssertion},
    Route{{"POST", "/oauth/clients", kJson}, CreateOauthClient, kNoFeature, kManagement},
    Route{{"GET", "/oauth/clients"}, ListOauthClients, kNoFeature, kManagement},
    Route{{"GET", "/oauth/clients/{client_id}"}, ShowOauthClient, kNoFeature, kManagement},
    Route{
        {"PATCH", "/oauth/clients/{client_id}", kJson}, ChangeOauthClient, kNoFeature, kManagement},
    Route{{"DELETE", "/oauth/clients/{client_id}"}, DeleteOauthClient, kNoFeature, kManagement},
    Route{{"GET", "/oauth/clients/{client_id}/keys"}, ListOauthClientKeys, kNoFeature, kManagement},
    Route{{"POST", "/oauth/clients/{client_id}/keys", kJson},
          AddOauthClientKey,
          kNoFeature,
          kManagement},
    Route{{"DELETE", "/oauth/clients/{client_id}/keys/{kid}"},
          RevokeOauthClientKey,
          kNoFeature,
          kManagement},
    Route{{"POST", "/oauth/clients/{client_id}/validate-jwks", kJson},
          ValidateJwks,
          kNoFeature,
          kManagement},
    Route{{"POST", "/oauth/clients/{client_id}/revoke-tokens", kJson},
          VoidOauthTokens,
          kNoFeature,
          kManagement},
};

constexpr rest::Router<Route> kRouter{kRoutes};

}  // namespace

std::span<const Route> Routes() {
  return kRoutes;
}

const rest::Router<Route>& Router() {
  return kRouter;
}

}  // namespace vedette::api
