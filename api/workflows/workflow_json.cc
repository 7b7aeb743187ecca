#include "api/workflows/workflow_json.h"

#include "api/workflows/block_terms.h"
#include "base/clock.h"
#include "base/json_or_null.h"
#include "domain/money.h"

namespace vedette::api {
namespace {

using base::Json;

}  // namespace

Json UserOf(const domain::Principal& caller) {
  if (caller.on_behalf_of) return *caller.on_behalf_of;
  if (caller.kind == domain::PrincipalKind::kUser) return caller.id.ToString();
  return nullptr;
}

Json WorkflowItem(const store::Workflow& workflow) {
  return {{"id", workflow.id.ToString()},
          {"user_uuid", UserOf(workflow.caller)},
          {"org_id", workflow.org_id.ToString()},
          {"name", workflow.name},
          {"description", workflow.description},
          {"status", "active"},
          {"step", "completed"},
          {"created_at", base::FormatTimestamp(workflow.created_at)},
          {"updated_at", base::FormatTimestamp(workflow.updated_at)},
          {"last_run_date", base::OrNull(workflow.last_run_at)}};
}

Json WorkflowJson(const store::Workflow& workflow) {
  Json json = WorkflowItem(workflow);
  json["workflow_definition"] = base::ParseJsonOrThrow(workflow.definition_json);
  return json;
}

Json BlockTypeJson(const domain::BlockType& type, const config::Config& config) {
  const bool is_source = type.category == domain::BlockCategory::kSource;
  Json inputs = Json::array();
  if (type.takes) {
    inputs.push_back(domain::FrameName(*type.takes));
  } else if (!is_source) {
    inputs = Json::array(
        {domain::FrameName(domain::Frame::kLead), domain::FrameName(domain::Frame::kCompany)});
  }
  const auto price_mc = ListPriceMc(config, type);
  return {{"block_name", type.name},
          {"specs_schema", base::ParseJsonOrThrow(type.specs_schema)},
          {"block_type", domain::BlockCategoryName(type.category)},
          {"description", type.description},
          {"input_types", std::move(inputs)},
          {"output_type", type.takes ? Json(domain::FrameName(*type.takes)) : Json(nullptr)},
          {"price", price_mc ? domain::CreditsToJson(*price_mc) : Json(nullptr)}};
}

}  // namespace vedette::api
