// Templates of workflows that belong to one organisation.
#include "store/workflows/templates.h"
#include "base/json.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "api/kit/workflows.h"
#include "api/operator/handlers.h"
#include "base/uuid.h"
#include "config/net_config.h"
#include "config/rules.h"
#include "net/public_address.h"

namespace vedette::admin {
namespace {

// The members of the document, which is the body (domain/workflow/template.h).
constexpr std::array<std::string_view, 13> kMembers{
    "slug",        "name", "description", "category", "difficulty", "estimated_time", "use_case",
    "author_name", "tags", "featured",    "internal", "blocks",     "edges"};

base::Json ReadDocument(CallBody* body) {
  base::Json document = base::Json::object();
  for (const std::string_view name : kMembers) {
    const base::Json* member = body->Member(name, rest::Presence::kOptional);
    if (member != nullptr) document[std::string(name)] = *member;
  }
  return document;
}

}  // namespace

rest::Handled PostTemplate(Call& call) {
  CallBody body(call);
  const base::Json document = ReadDocument(&body);
  const auto reason = body.Reason();
  body.Check();
  const net::AddressPolicy policy(call.parts.config.net.allow);
  const auto read = domain::ReadTemplate(document, base::Json::array({"body"}),
                                         rest::DefinitionRulesOf(call.parts.config, policy));
  if (const auto* faults = std::get_if<domain::ValidationFaults>(&read)) {
    rest::Problems problems;
    problems.Add(*faults);
    problems.Check();
  }
  using Kind = store::TemplateOutcome::Kind;
  const auto made = store::CreateTemplate(
      call.session(), call.parts.clock, call.Id(0), std::get<domain::WorkflowTemplate>(read),
      domain::kTemplatesPerOrgMax, AuditOf(call, "template.create", reason));
  switch (made.kind) {
    case Kind::kNoOrganisation:
      return rest::NotFound("organisation");
    case Kind::kSlugTaken:
      return rest::ErrorReply(409, "slug_taken",
                              "another template of the organisation has this slug");
    case Kind::kTooMany:
      return rest::ErrorReply(
          409, "too_many_templates",
          fmt::format("an organisation may have {} templates", domain::kTemplatesPerOrgMax));
    case Kind::kCreated:
      break;
  }
  return rest::JsonReply(201, {{"id", made.id.ToString()}});
}

rest::Handled DeleteTemplate(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  if (!store::DeleteTemplate(call.session(), call.parts.clock, call.Id(0), call.Id(1),
                             AuditOf(call, "template.delete", reason))) {
    return rest::NotFound("template");
  }
  return rest::Reply{204, {}};
}

}  // namespace vedette::admin
