#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/monitor.h"
#include "domain/monitor/row_values.h"
#include "store/endpoint.h"
#include "store/idempotency.h"
#include "store/monitors/control.h"
#include "store/page.h"
#include "store/sealed.h"
#include "store/session.h"

namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// Monitors: reading, creating, changing. Every function sees only what `scope` allows (G8) and
// throws as InTransaction does (store/session.h).

// Empty when it does not exist or is out of scope.
std::optional<domain::Monitor> GetMonitor(Session& session, const Scope& scope,
                                          const base::Uuid& monitor_id);

struct MonitorFilter {
  Scope scope;
  std::vector<domain::MonitorStatus> statuses;  // as shown; empty = all
  std::optional<std::string> run_id;
  bool with_archived = false;
  bool only_failing = false;            // every check of the last ticks failed
  std::optional<std::string> text;      // part of the name, or an id
  std::optional<base::Uuid> before_id;  // older ones only
  int limit = 100;
  // None behind the one with which names, structs, plans and metadata come to so many bytes.
  std::size_t bytes_max = std::size_t{256} * 1024;
};

// The monitors whose names a list by `text` looks at, newest first from `before_id` on.
inline constexpr int kMonitorsLookedAtMax = 50'000;

// Newest first. What it reads does not grow with the monitors that there are, but for the filters
// beside `only_failing` and `run_id`: those look at each that fails, or is the run's.
Page<domain::Monitor> ListMonitors(Session& session, const MonitorFilter& filter);

// The last one that a list by `text` has looked at, from which the next call goes on; empty where
// it looked at all.
std::optional<base::Uuid> EndOfLook(Session& session, const MonitorFilter& filter);

// What a list of an organisation's monitors looks for, beside its filter.
struct MonitorSearch {
  std::vector<std::string> tags;    // all of them
  std::optional<std::string> name;  // a part of it, whatever the case
  // Whether the last tick began no longer ago than the slots are apart.
  std::optional<bool> fresh;

  bool any() const { return !tags.empty() || name || fresh; }
};

// The monitors at which one search looks, newest first from `before_id` on: of the organisation, or
// of those with its tags.
inline constexpr int kMonitorsSoughtMax = 10'000;

// Newest first, of an organisation; the filter's text and run are not read.
Page<domain::Monitor> SearchMonitors(Session& session, const MonitorFilter& filter,
                                     const MonitorSearch& search);

// The last one that a search has looked at, from which the next call goes on; empty where it looked
// at all.
std::optional<base::Uuid> EndOfSearch(Session& session, const MonitorFilter& filter,
                                      const MonitorSearch& search);

// Headers of the requests for a monitor's pages, sealed for its organisation
// (RequestHeadersBinding).
struct SealedHeaders {
  Sealed sealed;
  std::vector<std::string> names;
};

// What the pages of a monitor are acted on with, sealed: the secrets that its steps type
// (ProbeSecretsBinding), and the session that the last page has left (PageSessionBinding).

// What a monitor needs whose steps or secrets change: from then on it has no session.
struct NewLogin {
  std::optional<Sealed> secrets;
};

struct MonitorLogin {
  base::Uuid version;  // another one with each NewLogin
  std::optional<Sealed> secrets;
  std::optional<Sealed> session;
};
// Empty where the monitor needs none, or is not the organisation's.
std::optional<MonitorLogin> ReadLogin(Session& session, const base::Uuid& org_id,
                                      const base::Uuid& monitor_id);

// Keeps the session of a page in the place of the one before. False, and nothing is kept, where the
// login has another version by now, or is gone.
bool KeepPageSession(Session& session, const base::Uuid& org_id, const base::Uuid& monitor_id,
                     const base::Uuid& version, const Sealed& page_session);

// Internal to store/: in the place of what the monitor had; nothing where it needs none.
void SetLogin(Transaction& tx, const base::Uuid& org_id, const base::Uuid& monitor_id,
              const std::optional<NewLogin>& login);

struct NewMonitor {
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  std::string name;
  std::string frequency_text;
  std::chrono::seconds frequency{0};
  // By the clock (domain/monitor/timetable.h); frequency and its text are then the shortest
  // distance of its slots.
  std::optional<std::string> schedule_json;
  // The beginning of the slots of a frequency. Where it is absent the first check is due at once,
  // and the next ones are up to half of this share of the frequency earlier (AnchorLead).
  std::optional<base::Timestamp> anchor_at;
  double anchor_spread = 0;
  domain::Tier tier = domain::Tier::kLow;
  domain::SubjectType subject_type = domain::SubjectType::kCompany;
  std::vector<std::string> key_columns;
  std::string struct_json;
  std::optional<std::string> research_plan;
  std::optional<std::string> metadata_json;
  std::optional<Webhook> webhook;
  std::optional<base::Uuid> endpoint_id;  // of the webhook, where it is stored already
  std::vector<domain::NotificationType> webhook_event_types;
  int confirm_after = 1;
  int missing_confirmations = 2;
  std::optional<std::string> run_id;
  std::optional<std::string> rules_json;  // domain/monitor/change_rules.h
  std::optional<SealedHeaders> request_headers;
  std::optional<std::string> probe_json;  // domain/monitor/probe_options.h, without its secrets
  std::optional<NewLogin> login;          // that it needs
  std::vector<base::Uuid> channel_ids;    // of the organisation's
  std::vector<std::string> tags;          // each once
  std::vector<domain::RowValues> rows;    // no two with the same key
  // Instead of rows: the finished upload whose rows the fleet adds (store/monitors/uploads.h); the
  // monitor is `starting` until then.
  std::optional<base::Uuid> upload_id;
  // What the answer says beside id, status and rows: a JSON array, kept for repetitions.
  std::optional<std::string> warnings_json;
  std::optional<Idempotency> idempotency;
};

struct CreateOutcome {
  enum class Kind {
    kCreated,
    kRepeated,    // the first attempt's answer
    kInProgress,  // another request with this idempotency key has not finished
    kOtherBody,   // the idempotency key stands for another body
    kTeamNotFound,
    kUploadNotFound,  // or expired, or another organisation's
  };
  Kind kind = Kind::kCreated;
  base::Uuid monitor_id;
  domain::MonitorStatus status = domain::MonitorStatus::kActive;
  std::vector<base::Uuid> row_ids;  // in the order of the rows
  std::optional<std::string> warnings_json;
};

// What a request with this key has made, where it is done; it takes no lock.
std::optional<CreateOutcome> FindMonitorCreated(Session& session, const base::Uuid& org_id,
                                                const Idempotency& idempotency);

// One transaction. The monitor's first tick is due now, unless it is by the clock or its anchor is
// ahead: the caller raises Signal::kDue.
// A repetition is not audited; the entry's target is filled in.
CreateOutcome CreateMonitor(Session& session, const base::Clock& clock, const NewMonitor& monitor,
                            const std::optional<AuditEntry>& audit = {});

// Absent = unchanged; of what can be cleared the inner optional is empty.
struct MonitorChange {
  // The updated_at of the monitor by which the change was validated; empty: by none.
  std::optional<base::Timestamp> of_version;
  std::optional<std::string> name;
  std::optional<std::optional<Webhook>> webhook;
  std::optional<bool> is_active;
  std::optional<std::optional<std::string>> metadata_json;
  std::optional<std::optional<std::string>> research_plan;
  std::optional<std::string> frequency_text;
  std::chrono::seconds frequency{0};  // of frequency_text
  // By the clock, with frequency_text; where that is there without one, a schedule ends.
  std::optional<std::string> schedule_json;
  std::optional<int> confirm_after;
  std::optional<int> missing_confirmations;
  std::optional<std::string> struct_json;
  std::optional<domain::Tier> tier;
  std::optional<domain::SubjectType> subject_type;
  std::optional<std::optional<std::string>> rules_json;
  std::optional<std::optional<SealedHeaders>> request_headers;
  std::optional<std::optional<std::string>> probe_json;
  std::optional<NewLogin> login;  // that the new probe_json needs; the one before goes with it
  std::optional<std::vector<base::Uuid>> channel_ids;  // of the organisation's
  std::optional<std::vector<std::string>> tags;        // each once
};

// Changes all or nothing. Conflict: starting, failed, or pausing a cancelled one. Changed: the
// monitor has been updated since `of_version`; no tick and no check does that. The caller raises
// Signal::kDue where the schedule may have changed. What was known of a field whose description
// changes is forgotten: its next observation is its first. The tick that is open goes on with the
// struct, the subject type and the tier that it began with.
ControlOutcome UpdateMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                             const base::Uuid& monitor_id, const MonitorChange& change,
                             const std::optional<AuditEntry>& audit = {});

// Internal to store/: a new monitor inside the caller's transaction.

// Inserts the monitor and its schedule, without its rows.
void AddMonitor(Transaction& tx, const base::Clock& clock, const NewMonitor& monitor,
                const base::Uuid& id, domain::MonitorStatus status);

}  // namespace vedette::store
