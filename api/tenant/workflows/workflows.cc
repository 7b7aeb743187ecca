#include "store/workflows/workflows.h"
#include "api/kit/body.h"
#include "api/kit/workflows.h"
#include "base/json.h"
#include "domain/text/limits.h"

#include <fmt/format.h>

#include <utility>

#include "api/kit/cursor.h"
#include "api/tenant/call.h"
#include "api/tenant/handlers.h"
#include "api/tenant/workflows/workflow_calls.h"
#include "api/tenant/workflows/workflow_json.h"
#include "config/jobs_config.h"
#include "config/parts.h"
#include "domain/workflow/block_type.h"

// Saved workflows: making, showing, changing and deleting them.
namespace vedette::api {
namespace {

using rest::Presence;

// Longer ones are no strings to look for.
constexpr std::size_t kTemplateKeyCharsRead = 10'000;
constexpr int kPageDefault = 100;
constexpr int kPageMax = 1000;
// A page of a list ends with the workflow with which names and descriptions have so many bytes.
constexpr std::size_t kPageBytes = std::size_t{1} << 20;
constexpr std::string_view kCreateRoute = "/workflows/create_workflow";

// The definition in the body, as it is stored. Its faults become problems.
std::optional<std::string> ReadDefinitionMember(const Call& call, rest::BodyReader* reader,
                                                Presence presence, rest::Problems* problems) {
  const base::Json* given = reader->Member("workflow_definition", presence);
  if (given == nullptr) return std::nullopt;
  auto read = domain::ReadDefinition(*given, rest::BodyReader::Loc("workflow_definition"),
                                     rest::DefinitionRulesOf(call.parts.config, call.parts.policy));
  if (const auto* faults = std::get_if<domain::ValidationFaults>(&read)) {
    problems->Add(*faults);
    return std::nullopt;
  }
  return base::DumpJson(domain::DefinitionJson(std::get<domain::Definition>(read)));
}

// What a new workflow begins with: the definition of the body, or of a template.
struct Beginning {
  std::optional<std::string> definition_json;
  std::optional<std::string> template_key;
};
Beginning ReadBeginning(const Call& call, rest::BodyReader* reader, rest::Problems* problems) {
  Beginning begin;
  begin.template_key = reader->Text("template_key", Presence::kOptional, 0, kTemplateKeyCharsRead);
  const bool has_key = reader->Member("template_key", Presence::kOptional) != nullptr;
  const bool has_definition = reader->Member("workflow_definition", Presence::kOptional) != nullptr;
  begin.definition_json = ReadDefinitionMember(call, reader, Presence::kOptional, problems);
  if (has_key == has_definition) {
    problems->Add(rest::BodyReader::Loc("workflow_definition"), has_key ? "too_many" : "missing",
                  "Exactly one of workflow_definition and template_key is required");
  }
  return begin;
}

// The template's definition, validated as any other: it may be of a time when other addresses were
// allowed.
std::string DefinitionOfTemplate(const Call& call, const std::string& key) {
  const auto found = FindTemplate(call, key);
  if (!found) throw rest::Refusal(rest::NotFound("template"));
  const auto read =
      domain::ReadDefinition(found->definition, rest::BodyReader::Loc("template_key"),
                             rest::DefinitionRulesOf(call.parts.config, call.parts.policy));
  if (const auto* faults = std::get_if<domain::ValidationFaults>(&read)) {
    rest::Problems problems;
    problems.Add(*faults);
    problems.Check();
  }
  return base::DumpJson(domain::DefinitionJson(std::get<domain::Definition>(read)));
}

rest::Handled ShowOne(const Call& call, const base::Uuid& id, store::Deleted deleted) {
  const auto workflow = store::GetWorkflow(call.session(), call.caller.org_id, id, deleted);
  if (!workflow) return rest::NotFound("workflow");
  return rest::JsonReply(200, WorkflowJson(*workflow));
}

// `asked`: the request's own name, description and, unless a template gives it, definition.
rest::Handled Created(const Call& call, const store::WorkflowOutcome& outcome,
                      const store::NewWorkflow& asked) {
  if (std::holds_alternative<store::WorkflowKeyInUse>(outcome)) return KeyInUse();
  if (std::holds_alternative<store::WorkflowKeyReused>(outcome)) return KeyReused();
  if (std::holds_alternative<store::WorkflowIdTaken>(outcome)) {
    return rest::Conflict("a workflow has this id already");
  }
  if (std::holds_alternative<store::TooManyWorkflows>(outcome)) {
    return rest::ErrorReply(409, "too_many_workflows",
                            fmt::format("your organisation may keep {} workflows",
                                        call.parts.config.workflows.workflows_per_org_max));
  }
  const auto& made = std::get<store::WorkflowCreated>(outcome);
  auto workflow =
      store::GetWorkflow(call.session(), call.caller.org_id, made.id, store::Deleted::kShown);
  if (!workflow) return rest::NotFound("workflow");
  // A repetition is shown what was made, whatever has become of it.
  workflow->name = asked.name;
  workflow->description = asked.description;
  if (!asked.from_template) workflow->definition_json = asked.definition_json;
  if (made.definition_json) workflow->definition_json = *made.definition_json;
  workflow->updated_at = workflow->created_at;
  workflow->last_run_at.reset();
  return rest::JsonReply(200, WorkflowJson(*workflow));
}

// `further`: what else the caller reads of the query.
base::Uuid QueriedId(const Call& call, std::initializer_list<std::string_view> further = {}) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const auto given = query.Text("workflow_id");
  if (!given)
    problems.Add(base::Json::array({"query", "workflow_id"}), "missing", "Field required");
  query.Finish(further);
  problems.Check();
  const auto id = base::Uuid::Parse(*given);
  if (!id) throw rest::Refusal(rest::NotFound("workflow"));
  return *id;
}

// All of them.
rest::Handled SendWorkflows(Call& call, store::WorkflowFilter filter) {
  rest::ListPieces<store::Workflow> list;
  list.head = "[";
  list.limit = call.parts.config.workflows.workflows_per_org_max;
  list.read = [filter = std::move(filter)](store::Session& session, const store::Workflow* after,
                                           int items_max) {
    store::WorkflowFilter page = filter;
    if (after != nullptr) page.after = store::WorkflowPlace{after->created_at, after->id};
    page.limit = items_max;
    page.bytes_max = rest::kPageBytes;
    return store::ListWorkflows(session, page);
  };
  list.write = [](const store::Workflow& workflow, std::string* text) {
    base::AppendJson(WorkflowItem(workflow), text);
  };
  list.tail = [](const store::Workflow*) { return std::string("]"); };
  return SendList(call, std::move(list));
}

}  // namespace

store::Workflow FindQueriedWorkflow(Call& call) {
  auto found = store::GetWorkflow(call.session(), call.caller.org_id, QueriedId(call));
  if (!found) throw rest::Refusal(rest::NotFound("workflow"));
  return std::move(*found);
}

base::Uuid IdOfWorkflowToRun(const Call& call) {
  return QueriedId(call, {"save_json", "result_formats"});
}

store::WorkflowToRun FindWorkflowToRun(Call& call, const base::Uuid& id) {
  auto found = store::GetWorkflowToRun(call.session(), call.caller.org_id, id);
  if (!found) throw rest::Refusal(rest::NotFound("workflow"));
  return std::move(*found);
}

rest::Handled CreateWorkflow(Call& call) {
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  rest::BodyReader reader(json.members, &problems);
  const auto name = reader.FilledText("workflow_name", Presence::kRequired, domain::kNameCharsMax);
  const auto description =
      reader.Text("workflow_description", Presence::kOptional, 0, domain::kDescriptionCharsMax);
  Beginning begin = ReadBeginning(call, &reader, &problems);
  const auto id = reader.Id("id", Presence::kOptional);
  reader.Finish();
  problems.Check();
  const auto key = ReadIdempotency(call, kCreateRoute);
  store::NewWorkflow workflow;
  workflow.id = id.value_or(base::Uuid::V7(call.parts.clock));
  workflow.org_id = call.caller.org_id;
  workflow.name = *name;
  workflow.description = description.value_or("");
  workflow.from_template = begin.template_key.has_value();
  workflow.caller = call.caller.principal;
  workflow.idempotency = key;
  if (begin.template_key) {
    // A repetition gets the first answer, whatever has become of the template.
    const auto known =
        key ? store::FindWorkflowStart(call.session(), call.caller.org_id, *key) : std::nullopt;
    if (known) return Created(call, *known, workflow);
    begin.definition_json = DefinitionOfTemplate(call, *begin.template_key);
  }
  workflow.definition_json = std::move(*begin.definition_json);
  const auto outcome = store::CreateWorkflow(call.session(), workflow,
                                             call.parts.config.workflows.workflows_per_org_max,
                                             call.parts.clock, AuditOf(call, "workflow.create"));
  return Created(call, outcome, workflow);
}

rest::Handled ListWorkflows(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const bool paged = !query.All("limit").empty();
  const int limit = query.Integer("limit", kPageDefault, 1, kPageMax);
  const auto cursor = query.Text("cursor");
  query.Finish();
  problems.Check();
  store::WorkflowFilter filter{.org_id = call.caller.org_id};
  if (!paged && !cursor) return SendWorkflows(call, std::move(filter));
  if (cursor) {
    const auto place = rest::DecodeTimedCursor(WorkflowsOf(call, filter.org_id), *cursor);
    if (!place) return rest::InvalidCursor();
    filter.after = store::WorkflowPlace{place->at, place->id};
  }
  filter.limit = limit + 1;
  filter.bytes_max = kPageBytes;
  auto page = rest::CutPage(store::ListWorkflows(call.session(), filter), limit,
                            [&](const store::Workflow& last) {
                              return rest::EncodeCursor(WorkflowsOf(call, filter.org_id),
                                                        rest::TimedPlace{last.created_at, last.id});
                            });
  std::string text = "[";
  for (const store::Workflow& workflow : page.items) {
    if (text.size() > 1) text.push_back(',');
    base::AppendJson(WorkflowItem(workflow), &text);
  }
  return SendArray(call, text + ']', std::move(page.next_cursor));
}

rest::Handled ShowWorkflow(Call& call) {
  const base::Uuid id = call.Id(0, "workflow");
  return ShowOne(call, id, store::Deleted::kHidden);
}

rest::Handled UpdateWorkflow(Call& call) {
  const auto found = FindQueriedWorkflow(call);
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  const base::Json& members = json.members;
  rest::Problems problems;
  rest::BodyReader reader(members, &problems);
  store::WorkflowChange change;
  reader.RefuseNull("workflow_name", "string");
  reader.RefuseNull("workflow_description", "string");
  reader.RefuseNull("workflow_definition", "dict");
  change.name = reader.FilledText("workflow_name", Presence::kOptional, domain::kNameCharsMax);
  change.description =
      reader.Text("workflow_description", Presence::kOptional, 0, domain::kDescriptionCharsMax);
  change.definition_json = ReadDefinitionMember(call, &reader, Presence::kOptional, &problems);
  reader.Finish();
  if (members.empty()) {
    problems.Add(base::Json::array({"body"}), "missing", "Name at least one field to change");
  }
  problems.Check();
  const base::Uuid id = found.id;
  store::AuditEntry audit = AuditOf(call, "workflow.update");
  base::Json changed = base::Json::array();
  for (const auto& [name, value] : members.items()) changed.push_back(name);
  audit.detail = base::Json{{"members", std::move(changed)}};
  if (!store::UpdateWorkflow(call.session(), call.parts.clock, call.caller.org_id, id, change,
                             audit)) {
    return rest::NotFound("workflow");
  }
  return ShowOne(call, id, store::Deleted::kHidden);
}

rest::Handled DeleteWorkflow(Call& call) {
  const auto found = FindQueriedWorkflow(call);
  CheckEmptyBody(call);
  const base::Uuid id = found.id;
  if (!store::DeleteWorkflow(call.session(), call.parts.clock, call.caller.org_id, id,
                             AuditOf(call, "workflow.delete"))) {
    return rest::NotFound("workflow");
  }
  return ShowOne(call, id, store::Deleted::kShown);
}

rest::Handled ListBlocks(Call& call) {
  base::Json list = base::Json::array();
  for (const domain::BlockType* type : domain::BlockTypes()) {
    list.push_back(BlockTypeJson(*type, call.parts.config));
  }
  return rest::JsonReply(200, list);
}

}  // namespace vedette::api
