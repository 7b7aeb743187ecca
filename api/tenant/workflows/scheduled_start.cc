#include "api/tenant/workflows/scheduled_start.h"

#include <stdexcept>
#include <string>

#include "api/kit/reply.h"
#include "api/tenant/workflows/run_start.h"
#include "base/json.h"
#include "domain/workflow/run_schedule.h"
#include "store/accounts/auth.h"
#include "store/workflows/workflows.h"

namespace vedette::api {
namespace {

// The remote address of a run that nobody's request started.
constexpr const char* kNoAddress = "schedule";

store::Caller CallerOf(const store::DueSchedule& due) {
  store::Caller caller;
  caller.principal = due.caller;
  caller.org_id = due.org_id;
  caller.team_id = due.team_id;
  caller.features.insert(due.features.begin(), due.features.end());
  return caller;
}

// What a refusal says, or the first item of a 422.
std::string SentenceOf(const rest::Refusal& refusal) {
  const base::Json body = base::ParseJsonOrThrow(refusal.reply().body);
  if (body.contains("message")) return body.at("message").get<std::string>();
  return body.at("detail").at(0).at("msg").get<std::string>();
}

}  // namespace

std::variant<store::StartOutcome, store::WorkflowFault, store::SlotIsTaken> StartSlot(
    const config::Config& config, const net::AddressPolicy& policy, const base::Clock& clock,
    store::Session& session, const store::DueSchedule& due, const store::SlotTaken& slot) {
  const auto fault = [](std::string_view reason, std::string message) {
    return store::WorkflowFault{std::string(reason), std::move(message)};
  };
  const auto workflow = store::GetWorkflowToRun(session, due.org_id, due.workflow_id);
  if (!workflow) return fault(domain::kWorkflowDeleted, "The workflow was deleted.");
  const store::Caller caller = CallerOf(due);
  const RunContext context{config, policy, clock, session, caller, kNoAddress, [](std::size_t) {}};
  store::NewJob job;
  try {
    job = PlanScheduledRun(context, *workflow, due.specs_override_json, due.webhook_payload_json);
  } catch (const rest::Refusal& refusal) {
    return fault(domain::kWorkflowInvalid, SentenceOf(refusal));
  } catch (const std::invalid_argument&) {
    return fault(domain::kWorkflowInvalid, "The workflow has a block that is not known here.");
  }
  job.id = domain::RunIdOf(due.id, slot.slot);
  const auto outcome =
      store::StartScheduledRun(session, clock, job, {due.id, slot}, StartLimitsOf(config));
  if (!outcome) return store::SlotIsTaken{};
  if (std::holds_alternative<store::JobUploadNotFound>(*outcome)) {
    return fault(domain::kWorkflowInvalid, SentenceOf(rest::Refusal(InvalidHandle())));
  }
  return *outcome;
}

}  // namespace vedette::api
