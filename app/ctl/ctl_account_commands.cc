#include <utility>

#include "app/ctl/ctl_commands.h"

namespace vedette::app {
namespace {

using Type = CtlOption::Type;

std::vector<CtlCommand> OrganisationCommands() {
  const std::string_view path = "/admin/v1/orgs/{id}";
  const CtlOption name = Body("name", "name", Type::kText, "Its name");
  const CtlOption feature = Body("--feature", "features", Type::kList,
                                 "monitors, testing_monitors, high_tier, xhigh; repeatable");
  return {
      {"orgs",
       "List organisations, newest first",
       "GET",
       "/admin/v1/orgs",
       {Query("--query", "q", "Part of the name, or an id"), kLimit, kCursor},
       {},
       {"id", "name", "locked", "features", "balance", "reserved", "charged", "run_data_bytes"}},
      {"org", "Show an organisation with its teams", "GET", path, {kOrganisation}, {}, {}},
      {"org-create",
       "Make an organisation",
       "POST",
       "/admin/v1/orgs",
       {Required(name), feature, kReason},
       {},
       {}},
      {"org-lock",
       "Lock an organisation: its checks stop within 5 s",
       "PATCH",
       path,
       {kOrganisation, kReason},
       {{"locked", true}},
       {}},
      {"org-unlock",
       "Lift the lock",
       "PATCH",
       path,
       {kOrganisation, kReason},
       {{"locked", false}},
       {}},
      {"org-features",
       "Set an organisation's features; without --feature or --none, show them",
       "PATCH",
       path,
       {kOrganisation, feature, Body("--none", "", Type::kSwitch, "Take all of its features away"),
        kReason},
       {},
       {},
       CtlCommand::Needs::kOptionOrShow},
      {"credits",
       "Give credits, or take them (negative)",
       "POST",
       "/admin/v1/orgs/{id}/credits",
       {kOrganisation, Required(Body("amount", "amount", Type::kNumber, "At most three decimals")),
        Required(kReason)},
       {},
       {}},
  };
}

std::vector<CtlCommand> SecretCommands() {
  return {
      {"secrets",
       "List an organisation's signing secrets, masked",
       "GET",
       "/admin/v1/orgs/{id}/signing-secrets",
       {kOrganisation},
       {},
       {"id", "preview", "encryption_key_id", "live", "created_at", "retires_at"}},
      {"secret-keys",
       "List the encryption keys that live secrets and request headers are sealed with",
       "GET",
       "/admin/v1/signing-secrets/keys",
       {},
       {},
       {"id", "place", "live_secrets", "organisations", "monitors", "channels"}},
      {"secrets-reseal",
       "Seal secrets of former encryption keys with the present one; repeat until it is done",
       "POST",
       "/admin/v1/signing-secrets/reseal",
       {kReason},
       {},
       {}},
      {"secret-rotate",
       "Make a signing secret; it is shown once",
       "POST",
       "/admin/v1/orgs/{id}/signing-secrets/rotate",
       {kOrganisation,
        Required(Body("--overlap-hours", "overlap_hours", Type::kNumber,
                      "How long the former ones still sign; 0: they end at once")),
        kReason},
       {},
       {}},
  };
}

std::vector<CtlCommand> TeamAndKeyCommands() {
  const CtlOption name = Body("name", "name", Type::kText, "Its name");
  const CtlOption spend_limit = Body("--spend-limit", "spend_limit", Type::kNumberOrNone,
                                     "Credits a calendar month, or none");
  return {
      {"team-create",
       "Make a team",
       "POST",
       "/admin/v1/orgs/{id}/teams",
       {kOrganisation, Required(name), spend_limit, kReason},
       {},
       {}},
      {"team-change",
       "Rename a team or change its spend limit",
       "PATCH",
       "/admin/v1/orgs/{id}/teams/{team}",
       {kOrganisation, Id("team", "The team's id, or its name"),
        Body("--name", "name", Type::kText, "Its new name"), spend_limit, kReason},
       {},
       {}},
      {"team-delete",
       "Delete a team that has no keys, clients, sessions, monitors or jobs",
       "DELETE",
       "/admin/v1/orgs/{id}/teams/{team}",
       {kOrganisation, Id("team", "The team's id, or its name"), kReason},
       {},
       {}},
      {"keys",
       "List an organisation's API keys",
       "GET",
       "/admin/v1/orgs/{id}/api-keys",
       {kOrganisation, kLimit, kCursor},
       {},
       {"id", "name", "prefix", "team_id", "scopes", "expires_at", "last_used_at"}},
      {"key-create",
       "Make an API key; it is shown once",
       "POST",
       "/admin/v1/orgs/{id}/api-keys",
       {kOrganisation, Required(name),
        Body("--team", "team_id", Type::kText, "Limit it to one team"),
        Body("--scope", "scopes", Type::kListIfGiven,
             "read, monitors, lookups, workflows, search or account; all without it"),
        Body("--expires-at", "expires_at", Type::kText,
             "When it ends, such as 2027-01-01T00:00:00Z"),
        kReason},
       {},
       {}},
      {"key-revoke",
       "Revoke an API key: it ends within 5 s",
       "DELETE",
       "/admin/v1/orgs/{id}/api-keys/{key}",
       {kOrganisation, Id("key", "The key's id"), kReason},
       {},
       {}},
  };
}

std::vector<CtlCommand> ClientCommands() {
  const std::string_view path = "/admin/v1/orgs/{id}/oauth-clients/{client}";
  const CtlOption client = Id("client", "The OAuth client's id");
  const CtlOption ttl = Body("--token-ttl", "access_token_ttl_seconds", Type::kNumberOrNone,
                             "How long its tokens live, in seconds, or none");
  return {
      {"clients",
       "List an organisation's OAuth clients",
       "GET",
       "/admin/v1/orgs/{id}/oauth-clients",
       {kOrganisation},
       {},
       {"id", "name", "status", "team_id", "jwks_uri", "jwks_last_error", "last_used_at"}},
      {"client",
       "Show an OAuth client with its keys",
       "GET",
       path,
       {kOrganisation, client},
       {},
       {}},
      {"client-create",
       "Register an OAuth client",
       "POST",
       "/admin/v1/orgs/{id}/oauth-clients",
       {kOrganisation, Required(Body("name", "name", Type::kText, "Its name")),
        Body("--team", "team_id", Type::kText, "Limit it to one team"),
        Body("--jwks-uri", "jwks_uri", Type::kText, "Where it publishes its keys (https)"), ttl,
        kReason},
       {},
       {}},
      {"client-change",
       "Rename an OAuth client, disable it, or change the life of its tokens",
       "PATCH",
       path,
       {kOrganisation, client, Body("--name", "name", Type::kText, "Its new name"),
        Body("--status", "status", Type::kText, "active, disabled"), ttl, kReason},
       {},
       {},
       CtlCommand::Needs::kOption},
      {"client-delete",
       "Delete an OAuth client: its tokens end at once",
       "DELETE",
       path,
       {kOrganisation, client, kReason},
       {},
       {}},
      {"client-revoke-tokens",
       "End every token of an OAuth client",
       "POST",
       "/admin/v1/orgs/{id}/oauth-clients/{client}/revoke-tokens",
       {kOrganisation, client, kReason},
       {},
       {}},
      {"client-validate",
       "Fetch the keys that an OAuth client publishes, and show which can be used",
       "POST",
       "/admin/v1/orgs/{id}/oauth-clients/{client}/validate-jwks",
       {kOrganisation, client, kReason},
       {},
       {}},
  };
}

std::vector<CtlCommand> ClientKeyCommands() {
  const CtlOption client = Id("client", "The OAuth client's id");
  return {
      {"client-key-add",
       "Add a public key to an OAuth client",
       "POST",
       "/admin/v1/orgs/{id}/oauth-clients/{client}/keys",
       {kOrganisation, client,
        Required(Body("--file", "public_key_pem", Type::kFile, "The PEM file")),
        Body("--kid", "kid", Type::kText, "Its id; by default its thumbprint"), kReason},
       {},
       {}},
      {"client-key-revoke",
       "Revoke a key: every token of its client ends at once",
       "DELETE",
       "/admin/v1/orgs/{id}/oauth-clients/{client}/keys/{kid}",
       {kOrganisation, client, Id("kid", "The key's id"), kReason},
       {},
       {}},
  };
}

std::vector<CtlCommand> LedgerCommands() {
  const CtlOption since = Query("--since", "since", "At or after (RFC 3339)");
  const CtlOption until = Query("--until", "until", "Before (RFC 3339); two minutes ago at most");
  const CtlOption month = Query("--month", "month", "Of a month, such as 2026-11");
  const CtlOption by = Query("--by", "by", "entry, day");
  return {
      {"reservations",
       "Show what an account's reserved credits are held for: checks by tier, and jobs",
       "GET",
       "/admin/v1/orgs/{id}/reservations",
       {kOrganisation},
       {},
       {}},
      {"ledger",
       "List an account's lines, oldest first, with their totals",
       "GET",
       "/admin/v1/orgs/{id}/ledger",
       {kOrganisation, since, until, month, by, kLimit, kCursor},
       {},
       {}},
      {"statement",
       "Print an account's statement as CSV, from its opening to its closing line",
       "GET",
       "/admin/v1/orgs/{id}/ledger?format=csv",
       {kOrganisation, since, until, month, by},
       {},
       {}},
  };
}

// The suppression list. The same options name whom to add and whom to remove.
std::vector<CtlCommand> UserCommands() {
  return {
      {"org-external-id",
       "Set the name that your identity provider has for an organisation",
       "PATCH",
       "/admin/v1/orgs/{id}",
       {kOrganisation,
        Required(Body("value", "external_id", Type::kTextOrNone, "The name, or none")), kReason},
       {},
       {}},
      {"session-create",
       "Open a session for a user of your dashboard; its token is shown once",
       "POST",
       "/admin/v1/orgs/{id}/sessions",
       {kOrganisation, Required(Body("--user", "user_id", Type::kText, "Your id of the user")),
        Body("--name", "name", Type::kText, "The user's name"),
        Body("--ttl", "ttl_s", Type::kNumber, "Seconds that it lives; 3600"),
        Body("--team", "team_id", Type::kText, "Limit it to one team"), kReason},
       {},
       {}},
      {"sessions",
       "List the live sessions of an organisation's users, newest first",
       "GET",
       "/admin/v1/orgs/{id}/sessions",
       {kOrganisation, Query("--user", "user_id", "Of one user: your id of the user"), kLimit,
        kCursor},
       {},
       {"id", "user_id", "team_id", "created_at", "expires_at"}},
      {"session-end",
       "End a session: its token is refused from the next request on",
       "DELETE",
       "/admin/v1/orgs/{id}/sessions/{session}",
       {kOrganisation, Id("session", "The session's id"), kReason},
       {},
       {}},
      {"invite",
       "Invite somebody to an organisation's dashboard; the link is shown once and works for 72 "
       "hours",
       "POST",
       "/admin/v1/orgs/{id}/invitations",
       {kOrganisation, Required(Body("--email", "email", Type::kText, "The person's address")),
        Required(Body("--role", "role", Type::kText, "viewer, member or owner")), kReason},
       {},
       {}},
      {"users",
       "List the users for whom an organisation's calls may be made",
       "GET",
       "/admin/v1/orgs/{id}/users",
       {kOrganisation, kLimit, kCursor},
       {},
       {}},
      {"user-remove",
       "Remove a user and end all his sessions",
       "DELETE",
       "/admin/v1/orgs/{id}/users/{user}",
       {kOrganisation, Id("user", "Your id of the user"), kReason},
       {},
       {}},
  };
}

// What the public API takes and answers, asked for an organisation.
std::vector<CtlCommand> MonitorCommands() {
  const CtlOption document = Required(Body("--file", "", Type::kJsonFile, "The body, as JSON"));
  return {
      {"monitor-create",
       "Make a monitor for an organisation, as POST /monitors does",
       "POST",
       "/admin/v1/orgs/{id}/monitors",
       {kOrganisation, document},
       {},
       {}},
      {"monitor-preview",
       "Show what checks would see, as POST /monitors/preview does",
       "POST",
       "/admin/v1/orgs/{id}/monitors/preview",
       {kOrganisation, document},
       {},
       {"subject", "error", "observed", "unread"}},
      {"schedule-preview",
       "Show the times of a schedule by the clock, as POST /schedules/preview does",
       "POST",
       "/admin/v1/orgs/{id}/schedules/preview",
       {kOrganisation, document},
       {},
       {}},
      {"monitor-update",
       "Change a monitor of an organisation, as POST /monitors/{id}/update does",
       "POST",
       "/admin/v1/orgs/{id}/monitors/{monitor}/update",
       {kOrganisation, Id("monitor", "The monitor's id"), document},
       {},
       {}},
  };
}

std::vector<CtlCommand> TemplateCommands() {
  return {
      {"template-create",
       "Give an organisation a template of its own",
       "POST",
       "/admin/v1/orgs/{id}/templates",
       {kOrganisation, Required(Body("--file", "", Type::kJsonFile, "Its document, as JSON")),
        kReason},
       {},
       {}},
      {"template-delete",
       "Delete a template of an organisation",
       "DELETE",
       "/admin/v1/orgs/{id}/templates/{template}",
       {kOrganisation, Id("template", "The template's id")},
       {},
       {}},
  };
}

}  // namespace

std::vector<CtlCommand> AccountCommands() {
  std::vector<CtlCommand> all;
  for (auto&& group : {OrganisationCommands(), SecretCommands(), LedgerCommands(),
                       TeamAndKeyCommands(), ClientCommands(), ClientKeyCommands(), UserCommands(),
                       MonitorCommands(), TemplateCommands()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace vedette::app
