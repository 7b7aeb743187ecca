#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/fields.h"
#include "api/selector_fault.h"
#include "base/json.h"
#include "config/config.h"
#include "domain/monitor.h"
#include "domain/names.h"
#include "domain/row_values.h"
#include "net/public_address.h"

// The bodies of the monitor routes: first their types and limits (422), then the numbered rules of
// interface 4.1 (400). Pure.
namespace vedette::api {

// A broken rule: the `error` code and the sentence of a 400.
struct RuleBreach {
  std::string code;
  std::string message;
};
template <typename T>
using Ruled = std::variant<T, RuleBreach>;

struct CreateBody {
  std::string name;
  std::vector<std::string> key_columns;
  std::vector<domain::RowValues> rows;  // none where a file is named
  std::optional<std::string> resource_handle_id;
  base::Json watched;  // `struct`: field name -> description
  std::string frequency = "1d";
  std::string tier = "low";
  std::string subject_type = "company";
  std::optional<std::string> research_plan;
  std::optional<std::string> metadata_json;
  std::optional<std::string> webhook_url;
  std::vector<domain::NotificationType> webhook_event_types;
  std::optional<std::string> team_id;
  std::optional<std::string> run_id;
  int confirm_after = 1;
  int missing_confirmations = 2;
};
// Only valid without problems. Nothing in it points into the body's text.
CreateBody ReadCreateBody(JsonBody body, const config::LimitsConfig& limits, Problems* problems);

struct Frequency {
  std::chrono::seconds period{0};
  bool needs_testing = false;  // 5m
};
Ruled<Frequency> JudgeFrequency(const std::string& text, const config::LimitsConfig& limits);

// `judge_webhook`: rule 8.
Ruled<net::TenantUrl> JudgeWebhookUrl(const std::string& url, const net::AddressPolicy& policy);

struct JudgedCreate {
  Frequency frequency;
  domain::Tier tier;
  domain::SubjectType subject_type;
  std::vector<domain::RowValues> rows;
  std::optional<net::TenantUrl> webhook;
};
// Rules 1 to 8, the lowest broken one first. Moves the rows out of `body`.
Ruled<JudgedCreate> JudgeCreate(CreateBody* body, const config::LimitsConfig& limits,
                                const net::AddressPolicy& policy);

// Rules 6 and 7 among `rows`; the first that is broken, or nothing.
std::optional<RuleBreach> JudgeRows(const std::vector<domain::RowValues>& rows,
                                    const std::vector<std::string>& key_columns);

// {"rows": [...]}. Only valid without problems.
std::vector<domain::RowValues> ReadRowsBody(const JsonBody& body, const domain::ColumnRoles& roles,
                                            const config::LimitsConfig& limits, Problems* problems);

struct UpdateBody {
  std::optional<std::string> name;
  bool has_webhook_url = false;
  std::optional<std::string> webhook_url;  // empty = cleared
  std::optional<bool> is_active;
  bool has_metadata = false;
  std::optional<std::string> metadata_json;
  bool has_research_plan = false;
  std::optional<std::string> research_plan;
  std::optional<std::string> frequency;
  std::optional<int> confirm_after;
  std::optional<int> missing_confirmations;
};
UpdateBody ReadUpdateBody(const base::Json& body, const config::LimitsConfig& limits,
                          Problems* problems);

struct RowSwitchBody {
  bool is_active = false;
  std::optional<std::string> disabled_reason;
};
RowSwitchBody ReadRowSwitchBody(const base::Json& body, Problems* problems);

// One sentence for every description that the tier's probe cannot serve; a JSON array, or nothing.
std::optional<std::string> DescriptionWarnings(const base::Json& watched, domain::Tier tier,
                                               const config::Config& config,
                                               const SelectorFault& selector_fault);

}  // namespace vedette::api
