#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/kit/body.h"
#include "api/kit/reply.h"
#include "api/tenant/monitors/schedule_body.h"
#include "api/tenant/outgoing.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/monitor.h"
#include "domain/monitor/probe_options.h"
#include "domain/monitor/request_headers.h"
#include "domain/monitor/row_values.h"
#include "domain/monitor/timetable.h"
#include "net/public_address.h"

namespace vedette::api {

// The bodies of the monitor routes: first their types and limits (422), which become problems, then
// the numbered rules, of which the first that is broken is refused (400). Pure.

// Bodies that may have `rows`, of which only one at a time takes the memory of a parsed value.
rest::BodyRules RowsBodyRules(std::size_t bytes_max, int rows_max);

struct CreateBody {
  std::string name;
  std::vector<std::string> key_columns;
  std::vector<domain::RowValues> rows;  // none where a file is named
  std::optional<std::string> resource_handle_id;
  base::Json watched;  // `struct`: field name -> description
  std::string frequency = "1d";
  std::optional<domain::ScheduleOrder> schedule;  // instead of a frequency
  std::optional<base::Timestamp> anchor_at;       // of a frequency
  std::string tier = "low";
  std::string subject_type = "company";
  std::optional<std::string> research_plan;
  std::optional<std::string> metadata_json;
  std::optional<std::string> webhook_url;
  // Fixed at creation, so that without a webhook_url, too, it is all: one may come later.
  std::vector<domain::NotificationType> webhook_event_types{domain::NotificationType::kChanged,
                                                            domain::NotificationType::kCompleted,
                                                            domain::NotificationType::kFailed};
  std::optional<std::string> team_id;
  std::optional<std::string> run_id;
  int confirm_after = 1;
  int missing_confirmations = 2;
  std::optional<base::Json> rules;  // domain/monitor/change_rules.h
  domain::RequestHeaders request_headers;
  std::optional<base::Json> probe;  // domain/monitor/probe_options.h
  std::vector<base::Uuid> channel_ids;
  std::vector<std::string> tags;
};
// Only valid without problems. Nothing in it points into the body's text.
CreateBody ReadCreateBody(rest::JsonBody body, const config::LimitsConfig& limits,
                          rest::Problems* problems);

struct Frequency {
  std::chrono::seconds period{0};
  NeedsTesting needs_testing;
};
Frequency ReadFrequency(const std::string& text, const config::LimitsConfig& limits);

// Rule 8.
net::TenantUrl ReadWebhookUrl(const std::string& url, const net::AddressPolicy& policy);

struct CreateOrder {
  Frequency frequency;
  domain::Tier tier;
  domain::SubjectType subject_type;
  std::vector<domain::RowValues> rows;
  std::optional<net::TenantUrl> webhook;
};
// Rules 1 to 8, in their order. Moves the rows out of `body`; where that has a schedule, its
// frequency becomes the shortest distance of the slots.
CreateOrder TakeOrder(CreateBody* body, const config::LimitsConfig& limits,
                      const net::AddressPolicy& policy, base::Timestamp now);

// Rules 6 and 7 among `rows`.
void CheckRows(const std::vector<domain::RowValues>& rows,
               const std::vector<std::string>& key_columns);

// {"rows": [...]}. Only valid without problems.
std::vector<domain::RowValues> ReadRowsBody(const rest::JsonBody& body,
                                            const domain::ColumnRoles& roles,
                                            const config::LimitsConfig& limits,
                                            rest::Problems* problems);

// The outer optional of a member that may be cleared says whether it was given.
struct UpdateBody {
  std::optional<std::string> name;
  std::optional<std::optional<std::string>> webhook_url;
  std::optional<bool> is_active;
  std::optional<std::optional<std::string>> metadata_json;
  std::optional<std::optional<std::string>> research_plan;
  std::optional<std::string> frequency;
  std::optional<domain::ScheduleOrder> schedule;  // not both
  std::optional<int> confirm_after;
  std::optional<int> missing_confirmations;
  std::optional<base::Json> watched;  // `struct`
  std::optional<std::string> tier;
  std::optional<std::string> subject_type;
  // Validated but for the names of their fields, which may be the monitor's.
  std::optional<std::optional<base::Json>> rules;
  std::optional<std::optional<domain::RequestHeaders>> request_headers;
  std::optional<std::optional<base::Json>> probe;
  std::optional<std::vector<base::Uuid>> channel_ids;
  std::optional<std::vector<std::string>> tags;
};
UpdateBody ReadUpdateBody(const base::Json& body, const config::LimitsConfig& limits,
                          rest::Problems* problems);

struct DefinitionChange {
  std::optional<domain::Tier> tier;
  std::optional<domain::SubjectType> subject_type;
};
// Rules 2 to 5 of what an update changes.
DefinitionChange ReadDefinitionChange(const UpdateBody& body,
                                      const std::vector<std::string>& key_columns);

struct RowChangeBody {
  std::optional<bool> is_active;
  std::optional<std::string> disabled_reason;
  std::optional<base::Json> columns;  // of the row's context; null removes one
};
// Columns that `roles` gives to the subject or to the watched fields are problems.
RowChangeBody ReadRowChangeBody(const base::Json& body, const domain::ColumnRoles& roles,
                                const config::LimitsConfig& limits, rest::Problems* problems);

// Refuses (422) a row that has come to more columns or bytes than creation takes, by `columns`.
void CheckChangedRow(const base::Json& row, const config::LimitsConfig& limits);

// How long the selectors of one monitor are checked at its creation; one that has begun is
// finished, which takes at most some tens of milliseconds.
inline constexpr std::chrono::milliseconds kSelectorCheckMax{100};

// One sentence for every description that the tier's probe cannot serve, and one that names the
// selectors that were not checked within kSelectorCheckMax; a JSON array, or nothing.
std::optional<std::string> DescriptionWarnings(const base::Json& watched, domain::Tier tier,
                                               const config::Config& config,
                                               const SelectorFault& selector_fault,
                                               const base::Clock& clock);

// The members `rules`, `request_headers` and `probe` of the bodies of monitors. Pure.

// What is wrong with rules by field; `watched` is as domain::ValidateChangeRules takes it.
void CheckRules(const base::Json& rules, const base::Json& watched, rest::Problems* problems);

// Nothing where there are none. Only valid without problems.
std::optional<base::Json> ReadRules(rest::BodyReader* reader, const base::Json& watched,
                                    rest::Problems* problems);
domain::RequestHeaders ReadHeaders(rest::BodyReader* reader, rest::Problems* problems);
std::optional<base::Json> ReadProbe(rest::BodyReader* reader, rest::Problems* problems);

// Adds a problem for each secret that is to stay as it is kept and is not among those of `stored`,
// the options of the monitor; of one that is new, nothing is.
void CheckSecretsToKeep(const base::Json& probe, const std::optional<std::string>& stored,
                        rest::Problems* problems);

// Refuses (400) options that ask for more than the tier gives, that cannot be served beside request
// headers, that go to an address where no page of a tenant's may be, or that ignore what a selector
// says which cannot be read.
void CheckProbe(const domain::ProbeOptions& options, domain::Tier tier, bool has_headers,
                const net::AddressPolicy& policy, const config::Config& config,
                const SelectorFault& selector_fault);

}  // namespace vedette::api
