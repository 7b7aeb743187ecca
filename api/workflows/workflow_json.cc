#include "api/workflows/workflow_json.h"

#include "base/clock.h"

namespace vedette::api {
namespace {

using base::Json;

// The user who made it, where a user did.
Json UserOf(const domain::Principal& caller) {
  if (caller.on_behalf_of) return *caller.on_behalf_of;
  if (caller.kind == domain::PrincipalKind::kUser) return caller.id.ToString();
  return nullptr;
}

}  // namespace

Json WorkflowItem(const store::Workflow& workflow) {
  return {
      {"id", workflow.id.ToString()},
      {"user_uuid", UserOf(workflow.caller)},
      {"org_id", workflow.org_id.ToString()},
      {"name", workflow.name},
      {"description", workflow.description},
      {"status", "active"},
      {"step", "completed"},
      {"created_at", base::FormatTimestamp(workflow.created_at)},
      {"updated_at", base::FormatTimestamp(workflow.updated_at)},
      {"last_run_date",
       workflow.last_run_at ? Json(base::FormatTimestamp(*workflow.last_run_at)) : Json(nullptr)}};
}

Json WorkflowJson(const store::Workflow& workflow) {
  Json json = WorkflowItem(workflow);
  json["workflow_definition"] = base::ParseJsonOrThrow(workflow.definition_json);
  return json;
}

Json BlockTypeJson(const domain::BlockType& type) {
  const bool is_source = type.category == domain::BlockCategory::kSource;
  Json inputs = Json::array();
  if (type.takes) {
    inputs.push_back(domain::FrameName(*type.takes));
  } else if (!is_source) {
    inputs = Json::array(
        {domain::FrameName(domain::Frame::kLead), domain::FrameName(domain::Frame::kCompany)});
  }
  const bool by_tier = type.work == domain::BlockWork::kResearch;
  return {{"block_name", type.name},
          {"specs_schema", base::ParseJsonOrThrow(type.specs_schema)},
          {"block_type", domain::BlockCategoryName(type.category)},
          {"description", type.description},
          {"input_types", std::move(inputs)},
          {"output_type", type.takes ? Json(domain::FrameName(*type.takes)) : Json(nullptr)},
          {"price", by_tier ? Json(nullptr) : Json(0)}};
}

}  // namespace vedette::api
