#include "store/move/moved_tables.h"

#include <array>

namespace vedette::store {
namespace {

constexpr std::string_view kOfOrg = "t.org_id = $org";
constexpr std::string_view kOfMonitors =
    "t.monitor_id in (select id from monitor where org_id = $org)";
constexpr std::string_view kOfJobs = "t.job_id in (select id from job where org_id = $org)";
constexpr std::string_view kOfClients =
    "t.client_id in (select id from oauth_client where org_id = $org)";
constexpr std::string_view kOfChannels =
    "t.channel_id in (select id from channel where org_id = $org)";
constexpr std::string_view kOfSchedules =
    "t.schedule_id in (select id from workflow_schedule where org_id = $org)";
constexpr std::string_view kOfImports =
    "t.import_id in (select id from search_import where org_id = $org)";
constexpr std::string_view kOfMembers =
    "t.email in (select user_id from org_user where org_id = $org and role is not null)";
constexpr std::string_view kOfMembersHereAlone =
    "t.email in (select user_id from org_user where org_id = $org) and not exists "
    "(select from org_user u where u.user_id = t.email and u.org_id <> $org)";

constexpr MovedTable kTables[] = {
    {"team", kOfOrg, "rows"},
    {"endpoint", kOfOrg, "rows"},
    {"monitor", kOfOrg, "rows"},
    {.name = "monitor_row",
     .rows = kOfMonitors,
     .group = "rows",
     .keyless = "removed_at is not null"},
    {"state_block", kOfMonitors, "states"},
    {"event", kOfOrg, "events", "id"},
    {"tick", kOfMonitors, "ticks"},
    {"check_log", kOfMonitors, "ticks"},
    {"snapshot", kOfOrg, "snapshots", "id"},
    {"snapshot_content", kOfOrg, "snapshots"},
    {"failed_page", kOfOrg, "snapshots"},
    {"delivery_attempt", kOfOrg, "attempts", "delivery_id, attempted_at"},
    {"credit_entry", kOfOrg, "ledger"},
    {"email_fact", kOfOrg, "facts"},
    {"email_owner", kOfOrg, "facts"},
    {"domain_pattern", kOfOrg, "facts"},
    {"company_domain", kOfOrg, "facts"},
    {"search_exclusion", kOfOrg, "search"},
    {"search_exclusion_entity",
     "t.list_id in (select id from search_exclusion where org_id = $org)", "search"},
    {.name = "search_import", .rows = kOfOrg, .group = "search", .keyless = "state <> 2"},
    {"search_entity", kOfImports, "search"},
    {"search_top", kOfImports, "search"},
    {"job_part", kOfJobs, "parts"},
    {"run_key", kOfJobs, "parts"},
    {"upload", kOfOrg, "uploads"},
    {"upload_part", "t.upload_id in (select id from upload where org_id = $org)", "uploads"},
    // Under the lock.
    // Entries are sealed again, in the chain of the new side; those of the old one's stay in it,
    // and those of a move that was taken back in that of the other.
    {.name = "audit",
     .rows = kOfOrg,
     .how = MovedHow::kStays,
     .own_columns = "seq,salt,details,hash"},
    {"team_spend", "t.team_id in (select id from team where org_id = $org)"},
    {.name = "account", .rows = kOfOrg, .work = kOfOrg},
    {"api_key", kOfOrg},
    {"oauth_client", kOfOrg},
    {"oauth_client_key", kOfClients},
    {"access_token", kOfOrg},
    {"assertion_jti", kOfClients},
    {"org_user", kOfOrg},
    {.name = "member_password",
     .rows = kOfMembers,
     .how = MovedHow::kShared,
     .removed = kOfMembersHereAlone},
    {.name = "passkey",
     .rows = kOfMembers,
     .how = MovedHow::kShared,
     .removed = kOfMembersHereAlone},
    {"one_time_secret", kOfOrg},
    {"invitation", kOfOrg},
    {"signing_secret", kOfOrg},
    {"idempotency_key", kOfOrg},
    {.name = "monitor_sched", .rows = kOfMonitors, .key = "monitor_id", .work = kOfMonitors},
    {"row_switch", kOfMonitors},
    {.name = "monitor_import", .rows = kOfMonitors, .work = kOfMonitors},
    {"monitor_login", kOfMonitors},
    {"channel", kOfOrg},
    {"recipient", kOfOrg},
    {.name = "digest_event", .rows = kOfChannels, .work = kOfChannels},
    {.name = "notice", .rows = kOfOrg, .work = kOfOrg, .keyless = "ended_at is not null"},
    {.name = "chunk", .rows = kOfOrg, .work = kOfOrg},
    {"job", kOfOrg},  // open ones end at the old side with the switch (move_close_jobs)
    {"job_block", kOfJobs},
    {.name = "job_chunk", .rows = kOfOrg, .work = kOfOrg},
    {"investigation", kOfOrg},
    {"finding", kOfOrg},
    {"run_data", kOfOrg},
    {.name = "run_data_unread", .rows = kOfJobs, .work = kOfJobs},
    {.name = "delivery", .rows = kOfOrg, .work = kOfOrg},
    // An address or a person about whom nobody of the old side may ask stays so.
    {.name = "suppression",
     .rows = "(t.org_id = $org or t.org_id is null)",
     .how = MovedHow::kShared,
     .removed = kOfOrg},
    {"workflow", kOfOrg},
    {"workflow_template", kOfOrg},
    {.name = "workflow_schedule", .rows = kOfOrg, .work = kOfOrg},
    {.name = "workflow_slot", .rows = kOfSchedules, .work = kOfSchedules},
};

constexpr std::string_view kUnmoved[] = {
    // Moved by its own statements: its row is what locks it.
    "organisation",
    // The cell's own.
    "schema_migration", "member", "cell_directory", "moved_key", "org_move", "org_move_copy",
    "audit_chain", "console_session",
    // The network's, as each cell sees it.
    "mail_domain", "mail_host", "mail_budget",
    // What is counted of a minute, and pages that somebody waits for.
    "rate_window", "render"};

}  // namespace

std::span<const MovedTable> MovedTables() {
  return kTables;
}

std::span<const std::string_view> UnmovedTables() {
  return kUnmoved;
}

std::string ForOrganisation(std::string_view condition, std::string_view org) {
  constexpr std::string_view kPlace = "$org";
  std::string text(condition);
  for (std::size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at)) {
    text.replace(at, kPlace.size(), org);
    at += org.size();
  }
  return text;
}

}  // namespace vedette::store
