#pragma once

#include <span>

#include "api/tenant/call.h"

namespace vedette::api {

// One handler a route; the table of routes is in routes.cc.

// documents.cc
rest::Handled ServeOpenApi(Call& call);
rest::Handled ServeDocs(Call& call);

// monitors/monitors.cc
rest::Handled CreateMonitor(Call& call);
rest::Handled ListMonitors(Call& call);
rest::Handled ListMonitorsForRun(Call& call);
rest::Handled UpdateMonitor(Call& call);
rest::Handled CancelMonitor(Call& call);
rest::Handled ArchiveMonitor(Call& call);
rest::Handled DeleteMonitor(Call& call);
rest::Handled TriggerMonitor(Call& call);
rest::Handled TestWebhook(Call& call);

// monitors/preview.cc
rest::Handled PreviewMonitor(Call& call);
rest::Handled PreviewSchedule(Call& call);

// monitors/monitors.cc
rest::Handled ShowMonitor(Call& call);

// monitors/export.cc
rest::Handled ExportMonitor(Call& call);

// channels/channels.cc
rest::Handled CreateChannel(Call& call);
rest::Handled ListChannels(Call& call);
rest::Handled ShowChannel(Call& call);
rest::Handled UpdateChannel(Call& call);
rest::Handled DeleteChannel(Call& call);
rest::Handled TestChannel(Call& call);
rest::Handled ListChannelDeliveries(Call& call);
rest::Handled ShowFeed(Call& call);
rest::Handled ShowNoticeChannels(Call& call);
rest::Handled SetNoticeChannels(Call& call);

// channels/mail_links.cc
rest::Handled OpenMailLink(Call& call);
rest::Handled FollowMailLink(Call& call);

// monitors/rows.cc
rest::Handled ListRows(Call& call);
rest::Handled AddRows(Call& call);
rest::Handled ShowRow(Call& call);
rest::Handled ChangeRow(Call& call);
rest::Handled RemoveRow(Call& call);

// monitors/uploads.cc
rest::Handled UploadCsv(Call& call);

// email/find_email.cc
rest::Handled FindEmail(Call& call);
rest::Handled FindEmailAsync(Call& call);
rest::Handled FindEmailBulk(Call& call);
rest::Handled FindEmailBulkAsync(Call& call);

// people/people.cc
rest::Handled ReverseEmail(Call& call);
rest::Handled ReverseEmailAsync(Call& call);
rest::Handled ReverseEmailBulk(Call& call);
rest::Handled ReverseEmailBulkAsync(Call& call);
rest::Handled VerifyAge(Call& call);

// jobs/jobs.cc
rest::Handled ShowAgeStatus(Call& call);
rest::Handled ShowJobStatus(Call& call);
rest::Handled CancelJob(Call& call);

// investigations/investigations.cc
rest::Handled StartInvestigation(Call& call);
rest::Handled ShowInvestigation(Call& call);
rest::Handled ListInvestigationFindings(Call& call);

// search/field_values.cc
rest::Handled ListFieldValues(Call& call);

// search/exclusion_lists.cc
rest::Handled CreateExclusionList(Call& call);
rest::Handled ListExclusionLists(Call& call);
rest::Handled ShowExclusionList(Call& call);
rest::Handled FillExclusionList(Call& call);
rest::Handled FinishExclusionList(Call& call);
rest::Handled DeleteExclusionList(Call& call);

// search/field_values.cc
rest::Handled ShowFilterCapabilities(Call& call);

// workflows/workflows.cc
rest::Handled CreateWorkflow(Call& call);
rest::Handled ListWorkflows(Call& call);
rest::Handled ShowWorkflow(Call& call);
rest::Handled UpdateWorkflow(Call& call);
rest::Handled DeleteWorkflow(Call& call);
rest::Handled ListBlocks(Call& call);

// workflows/run.cc
rest::Handled RunWorkflow(Call& call);

// workflows/runs.cc
rest::Handled ListRuns(Call& call);
rest::Handled ShowLiveStatus(Call& call);
rest::Handled CancelRun(Call& call);

// workflows/schedules.cc
rest::Handled CreateSchedule(Call& call);
rest::Handled ListSchedules(Call& call);
rest::Handled ShowSchedule(Call& call);
rest::Handled UpdateSchedule(Call& call);
rest::Handled DeleteSchedule(Call& call);
rest::Handled TriggerSchedule(Call& call);

// workflows/results.cc
rest::Handled ListDownloadLinks(Call& call);
rest::Handled DownloadResult(Call& call);

// workflows/templates.cc
rest::Handled ListTemplates(Call& call);
rest::Handled ShowTemplate(Call& call);

// account/credentials.cc
rest::Handled CreateApiKey(Call& call);
rest::Handled ListApiKeys(Call& call);
rest::Handled RevokeApiKey(Call& call);
rest::Handled CreateSigningSecret(Call& call);
rest::Handled ListOwnSigningSecrets(Call& call);
rest::Handled RollSigningSecret(Call& call);
rest::Handled RevokeSigningSecret(Call& call);

// account/deliveries.cc
rest::Handled ListOwnDeliveries(Call& call);
rest::Handled ListOwnAttempts(Call& call);
rest::Handled ResendDelivery(Call& call);
rest::Handled ReplayOwnDeliveries(Call& call);
rest::Handled ListOwnAudit(Call& call);

// account/usage.cc
rest::Handled ShowCredits(Call& call);
rest::Handled ShowReservations(Call& call);
rest::Handled ShowLedger(Call& call);
rest::Handled ShowUsage(Call& call);

// dashboard/members.cc
rest::Handled ListMembers(Call& call);
rest::Handled ChangeMember(Call& call);
rest::Handled RemoveMember(Call& call);
rest::Handled CreateInvitation(Call& call);
rest::Handled ListInvitations(Call& call);
rest::Handled WithdrawInvitation(Call& call);

// dashboard/sign_in.cc
rest::Handled ShowOwnSession(Call& call);
rest::Handled SignOut(Call& call);
rest::Handled ListOwnSessions(Call& call);
rest::Handled SignOutEverywhere(Call& call);
rest::Handled SignIn(Call& call);
rest::Handled ShowInvitation(Call& call);
rest::Handled TakeInvitation(Call& call);
rest::Handled ShowSignIn(Call& call);
rest::Handled SignInByPasskey(Call& call);
rest::Handled ChooseOrganisation(Call& call);

// dashboard/passkeys.cc
rest::Handled ChallengePasskey(Call& call);
rest::Handled OfferInvitationPasskey(Call& call);
rest::Handled ListOwnPasskeys(Call& call);
rest::Handled OfferPasskey(Call& call);
rest::Handled AddOwnPasskey(Call& call);
rest::Handled RemoveOwnPasskey(Call& call);

// dashboard/passwords.cc
rest::Handled ChangeOwnPassword(Call& call);
rest::Handled CreateReset(Call& call);
rest::Handled ShowReset(Call& call);
rest::Handled TakeReset(Call& call);

// dashboard/provider.cc
rest::Handled StartProviderSignIn(Call& call);
rest::Handled FinishProviderSignIn(Call& call);

// dashboard/files.cc
rest::Handled ShowDashboard(Call& call);
rest::Handled ShowDashboardAsset(Call& call);

// oauth/clients.cc
rest::Handled CreateOauthClient(Call& call);
rest::Handled ListOauthClients(Call& call);
rest::Handled ShowOauthClient(Call& call);
rest::Handled ChangeOauthClient(Call& call);
rest::Handled DeleteOauthClient(Call& call);
rest::Handled VoidOauthTokens(Call& call);
rest::Handled ListOauthClientKeys(Call& call);
rest::Handled AddOauthClientKey(Call& call);
rest::Handled RevokeOauthClientKey(Call& call);
rest::Handled ValidateJwks(Call& call);

// oauth/protocol.cc: RFC 6749 4.4 with the client authentication of RFC 7523, RFC 7009 and RFC
// 7662. These take an assertion instead of a credential, so their calls have no caller.
rest::Handled ServeOauthMetadata(Call& call);
rest::Handled IssueToken(Call& call);
rest::Handled RevokeToken(Call& call);
rest::Handled IntrospectToken(Call& call);

// monitors/history.cc
rest::Handled ListEvents(Call& call);
rest::Handled ListTicks(Call& call);
rest::Handled ListMonitorEvents(Call& call);
rest::Handled ListAllEvents(Call& call);
rest::Handled ListSnapshots(Call& call);
rest::Handled ShowSnapshotText(Call& call);
rest::Handled ShowSnapshotPicture(Call& call);
rest::Handled ListDeliveries(Call& call);

// The one table of routes: it serves dispatch, 404 and 405, body limits, metric labels and the test
// that holds it against the document (openapi/).

std::span<const Route> Routes();
const rest::Router<Call>& Router();

}  // namespace vedette::api
