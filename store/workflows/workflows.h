#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/principal.h"
#include "store/audit.h"
#include "store/idempotency.h"
#include "store/page.h"
#include "store/session.h"

// Saved workflows. They belong to an organisation, whatever the caller's team; every function sees
// only that organisation's (G8), and throws as InTransaction does.
namespace vedette::store {

struct Workflow {
  base::Uuid id;
  base::Uuid org_id;
  std::string name;
  std::string description;
  std::string definition_json;  // domain/workflow/definition.h; empty in a list
  domain::Principal caller;     // who made it
  base::Timestamp created_at{};
  base::Timestamp updated_at{};
  std::optional<base::Timestamp> last_run_at;  // when its latest run was started
};

struct NewWorkflow {
  base::Uuid id;  // made by the caller, or the client's choice
  base::Uuid org_id;
  std::string name;
  std::string description;
  std::string definition_json;
  bool from_template = false;  // the definition, which the request then does not say
  domain::Principal caller;
  std::optional<Idempotency> idempotency;
};
struct WorkflowCreated {
  base::Uuid id;  // an earlier request's, where the key is known
  // What a template gave to the earlier request; the rest of its answer the request itself says.
  std::optional<std::string> definition_json{};
};
struct WorkflowKeyInUse {};   // another request with this key has not finished
struct WorkflowKeyReused {};  // the key stands for another request
struct WorkflowIdTaken {};    // by any workflow, also a deleted or another organisation's
struct TooManyWorkflows {};   // the organisation has as many as it may have
using WorkflowOutcome = std::variant<WorkflowCreated, WorkflowKeyInUse, WorkflowKeyReused,
                                     WorkflowIdTaken, TooManyWorkflows>;

// Stored, and audited, where it is made now. After CommitUnknown safe to repeat with a key.
WorkflowOutcome CreateWorkflow(Session& session, const NewWorkflow& workflow, int per_org_max,
                               const base::Clock& clock, AuditEntry audit);

// What the key stands for already; empty where it is free.
std::optional<WorkflowOutcome> FindWorkflowStart(Session& session, const base::Uuid& org_id,
                                                 const Idempotency& idempotency);

enum class Deleted { kHidden, kShown };
std::optional<Workflow> GetWorkflow(Session& session, const base::Uuid& org_id,
                                    const base::Uuid& id, Deleted deleted = Deleted::kHidden);

// What a run needs of a workflow that is not deleted.
struct WorkflowToRun {
  base::Uuid id;
  std::string name;
  std::string definition_json;
};
std::optional<WorkflowToRun> GetWorkflowToRun(Session& session, const base::Uuid& org_id,
                                              const base::Uuid& id);

struct WorkflowPlace {
  base::Timestamp created_at{};
  base::Uuid id;
};
struct WorkflowFilter {
  base::Uuid org_id;
  std::optional<WorkflowPlace> after;  // older ones only
  int limit = 100;
  std::size_t bytes_max = 0;  // of names and descriptions
};
// Newest first, without their definitions.
Page<Workflow> ListWorkflows(Session& session, const WorkflowFilter& filter);

struct WorkflowChange {
  std::optional<std::string> name;
  std::optional<std::string> description;
  std::optional<std::string> definition_json;
};
// False where there is no such workflow.
bool UpdateWorkflow(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const base::Uuid& id, const WorkflowChange& change, AuditEntry audit);
bool DeleteWorkflow(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const base::Uuid& id, AuditEntry audit);

}  // namespace vedette::store
