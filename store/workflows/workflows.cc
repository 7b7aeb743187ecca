#include "store/workflows/workflows.h"

#include "base/json.h"
#include "domain/workflow/run_schedule.h"
#include "store/audit.h"
#include "store/idempotency.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

Workflow ReadWorkflow(Columns& in) {
  Workflow w;
  in.Into("id"_a = &w.id, "org_id"_a = &w.org_id, "name"_a = &w.name,
          "description"_a = &w.description, "caller_kind"_a = &w.caller.kind,
          "caller_id"_a = &w.caller.id, "on_behalf_of"_a = &w.caller.on_behalf_of,
          "created_at"_a = &w.created_at, "updated_at"_a = &w.updated_at,
          "last_run_at"_a = &w.last_run_at);
  return w;
}

constexpr std::string_view kDefinitionKey = "definition";

// What idempotency_key.answer holds: nothing that a repetition says again, since what is written
// there stays for its hours, whatever becomes of the workflow.
std::string StoredAnswer(const NewWorkflow& workflow) {
  base::Json answer = base::Json::object();
  if (workflow.from_template) {
    answer[kDefinitionKey] = base::ReadJsonCell(workflow.definition_json);
  }
  return base::DumpJson(answer);
}

WorkflowOutcome OutcomeOf(const KeyUse& use) {
  if (use.kind == KeyUse::Kind::kInProgress) return WorkflowKeyInUse{};
  if (use.kind == KeyUse::Kind::kOtherRequest || !use.workflow_id) return WorkflowKeyReused{};
  WorkflowCreated first{*use.workflow_id};
  const base::Json answer = base::ReadJsonCell(use.answer_json);
  if (const auto given = answer.find(kDefinitionKey); given != answer.end()) {
    first.definition_json = base::DumpJson(*given);
  }
  return first;
}

}  // namespace

WorkflowOutcome CreateWorkflow(Session& session, const NewWorkflow& workflow, int per_org_max,
                               const base::Clock& clock, AuditEntry audit) {
  audit.target = workflow.id.ToString();
  audit.org_id = workflow.org_id;
  return InTransaction(session, [&](Transaction& tx) -> WorkflowOutcome {
    const NewWorkflow& w = workflow;
    if (w.idempotency) {
      if (const auto use = CheckIdempotency(tx, w.org_id, *w.idempotency)) return OutcomeOf(*use);
    }
    tx.Exec<"org_lock">("org_id"_a = w.org_id);
    if (ReadOne<int>(tx.Exec<"workflow_count">("org_id"_a = w.org_id,
                                               "per_org_max"_a = per_org_max)) >= per_org_max) {
      return TooManyWorkflows{};
    }
    const auto made = tx.Exec<"workflow_insert">(
        "id"_a = w.id, "org_id"_a = w.org_id, "name"_a = w.name, "description"_a = w.description,
        "definition"_a = w.definition_json, "caller_kind"_a = w.caller.kind,
        "caller_id"_a = w.caller.id, "on_behalf_of"_a = w.caller.on_behalf_of);
    if (made.empty()) return WorkflowIdTaken{};
    if (w.idempotency) {
      StoreWorkflowKey(tx, w.org_id, *w.idempotency, w.id, StoredAnswer(w));
    }
    InsertAudit(tx, clock, audit);
    return WorkflowCreated{w.id};
  });
}

std::optional<WorkflowOutcome> FindWorkflowStart(Session& session, const base::Uuid& org_id,
                                                 const Idempotency& idempotency) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<WorkflowOutcome> {
    const auto use = CheckIdempotency(tx, org_id, idempotency);
    if (!use) return std::nullopt;
    return OutcomeOf(*use);
  });
}

std::optional<Workflow> GetWorkflow(Session& session, const base::Uuid& org_id,
                                    const base::Uuid& id, Deleted deleted) {
  return Read(session, [&](Transaction& tx) -> std::optional<Workflow> {
    const auto found = tx.Exec<"workflow_get">("id"_a = id, "org_id"_a = org_id,
                                               "deleted_too"_a = deleted == Deleted::kShown);
    if (found.empty()) return std::nullopt;
    Columns in(found[0]);
    Workflow workflow = ReadWorkflow(in);
    in.Into("definition"_a = &workflow.definition_json);
    return workflow;
  });
}

std::optional<WorkflowToRun> GetWorkflowToRun(Session& session, const base::Uuid& org_id,
                                              const base::Uuid& id) {
  return Read(session, [&](Transaction& tx) -> std::optional<WorkflowToRun> {
    const auto found = tx.Exec<"workflow_to_run">("id"_a = id, "org_id"_a = org_id);
    if (found.empty()) return std::nullopt;
    WorkflowToRun workflow;
    Columns(found[0]).Into("id"_a = &workflow.id, "name"_a = &workflow.name,
                           "definition"_a = &workflow.definition_json);
    return workflow;
  });
}

Page<Workflow> ListWorkflows(Session& session, const WorkflowFilter& filter) {
  std::optional<base::Timestamp> after;
  std::optional<base::Uuid> after_id;
  if (filter.after) {
    after = filter.after->created_at;
    after_id = filter.after->id;
  }
  return Read(session, [&](Transaction& tx) {
    return ReadPage<Workflow>(
        tx.Exec<"workflow_list">("org_id"_a = filter.org_id, "after_at"_a = after,
                                 "after"_a = after_id, "limit"_a = filter.limit,
                                 "bytes_max"_a = filter.bytes_max),
        filter.limit, filter.bytes_max, ReadWorkflow);
  });
}

bool UpdateWorkflow(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const base::Uuid& id, const WorkflowChange& change, AuditEntry audit) {
  audit.target = id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    const auto changed = tx.Exec<"workflow_update">(
        "id"_a = id, "org_id"_a = org_id, "name"_a = change.name,
        "description"_a = change.description, "definition_json"_a = change.definition_json);
    if (changed.empty()) return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

bool DeleteWorkflow(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const base::Uuid& id, AuditEntry audit) {
  audit.target = id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"workflow_delete">("id"_a = id, "org_id"_a = org_id).empty()) return false;
    tx.Exec<"workflow_schedule_pause">("id"_a = std::nullopt, "workflow_id"_a = id,
                                       "reason"_a = domain::kWorkflowDeleted,
                                       "message"_a = "The workflow was deleted.");
    InsertAudit(tx, clock, audit);
    return true;
  });
}

}  // namespace vedette::store
