#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"
#include "domain/names.h"

namespace vedette::worker {

// What the rows of a monitor have in common for a probe. Immutable once built; shared by its
// checks.
struct WatchedField {
  std::string name;
  std::string description;
};
struct ProbeSpec {
  base::Uuid monitor_id;
  domain::SubjectType subject_type;
  domain::Tier tier;
  std::vector<WatchedField> watched;
  std::optional<std::string> research_plan;
};

// One check as a probe sees it.
struct ProbeRequest {
  base::Uuid check_id;  // the event_group_id
  base::Uuid row_id;
  std::shared_ptr<const ProbeSpec> spec;
  base::JsonText subject;  // objects
  base::JsonText context;
  base::JsonText known;
  std::optional<base::Timestamp> since;  // the last completed check; empty before the first
  base::Timestamp until;
  std::chrono::milliseconds timeout;  // bounds this attempt
};

struct FieldObservation {
  base::Json value;  // a scalar; null means that the field was looked for and is absent
  std::string evidence;
  std::vector<std::string> sources;  // URLs
  std::optional<double> confidence;  // 0..10 or as the service says
};

// Fields by name; one that is left out was not observed.
struct Observation {
  std::map<std::string, FieldObservation> fields;
};

struct ProbeFailure {
  std::string error_class;  // stable snake_case: "timeout", "http_status", "no_address", ...
  std::string message;      // one sentence for the tenant
  bool retryable = false;
  std::optional<std::chrono::milliseconds> retry_after;
};

using ProbeResult = std::variant<Observation, ProbeFailure>;

// Observes the current values of a row's watched fields: one attempt. Retries are the worker's.
class Probe {
 public:
  virtual ~Probe() = default;
  // `done` exactly once, on the loop thread, perhaps from inside Start. Loop thread only.
  // May look into what the request's known is, and into its subject and context if it says so
  // below.
  virtual void Start(ProbeRequest request, std::function<void(ProbeResult)> done) = 0;
  // Whether it looks into subject and context. One that does not is given them unread, as text that
  // nobody has parsed.
  virtual bool ReadsSubject() const { return true; }
};

}  // namespace vedette::worker
