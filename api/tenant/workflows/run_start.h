#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/kit/reply.h"
#include "base/clock.h"
#include "base/json.h"
#include "config/config_fwd.h"
#include "domain/workflow/definition.h"
#include "domain/workflow/payload.h"
#include "domain/workflow/run_plan.h"
#include "net/public_address.h"
#include "store/accounts/auth.h"
#include "store/jobs/scheduled_runs.h"
#include "store/jobs/start.h"
#include "store/session.h"
#include "store/workflows/workflows.h"

// The start of a run as it is planned, of a request as of a slot of a schedule. What cannot be run
// is refused (rest::Refusal).
namespace vedette::api {

// For whom and by what rules a run is planned. Everything outlives the planning.
struct RunContext {
  const config::Config& config;
  const net::AddressPolicy& policy;
  const base::Clock& clock;
  store::Session& session;
  const store::Caller& caller;
  std::string remote_address;
  std::function<void(std::size_t bytes)> take_bytes;  // of the process's budget; may refuse
};

// What is to be run, with what it works on.
struct RunRequest {
  domain::Definition definition;
  domain::ValidationFaults override_faults;
  bool has_payload = false;
  domain::PlanRules rules;
  int part_rows = 1;
  domain::PayloadReader reader;
};

// The definition with `specs_override` (an object, or null), and nothing to work on so far.
RunRequest BeginRequest(const RunContext& context, domain::Definition definition,
                        const base::Json& specs_override);

// Reads the records of a payload, as JSON text each. What is no row becomes a problem.
void GiveRecords(const RunContext& context, const std::vector<std::string_view>& records,
                 RunRequest* request, rest::Problems* problems);

// The job that the request is, by rules 2 to 4 of the interface in the order in which they are
// told, and the features of the caller's organisation.
store::NewJob PlanJob(const RunContext& context, const store::WorkflowToRun& workflow,
                      RunRequest request);

// The run of a schedule: with the specs_override and the webhook_payload that it has, as JSON.
store::NewJob PlanScheduledRun(const RunContext& context, const store::WorkflowToRun& workflow,
                               const std::optional<std::string>& specs_override_json,
                               const std::optional<std::string>& webhook_payload_json);

store::StartLimits StartLimitsOf(const config::Config& config);

rest::Reply InvalidHandle();

// Starts the run of a slot of a schedule as POST /workflows/run would, for whom the schedule is.
// Its id is domain::RunIdOf, and it takes the slot: SlotIsTaken where the schedule is not what was
// read. Plain blocking code; throws as InTransaction does.
std::variant<store::StartOutcome, store::WorkflowFault, store::SlotIsTaken> StartSlot(
    const config::Config& config, const net::AddressPolicy& policy, const base::Clock& clock,
    store::Session& session, const store::DueSchedule& due, const store::SlotTaken& slot);

}  // namespace vedette::api
