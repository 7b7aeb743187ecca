// Templates of workflows that belong to one organisation.
#include "store/workflows/templates.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "admin/handlers.h"
#include "base/uuid.h"
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

// As the API judges the definitions of clients.
domain::DefinitionRules RulesFor(const config::Config& config, const net::AddressPolicy& policy) {
  domain::DefinitionRules rules;
  rules.url_fault = [&policy](const std::string& url) -> std::optional<std::string> {
    const net::TenantUrlResult judged = net::JudgeTenantUrl(url, policy);
    if (judged.url) return std::nullopt;
    return judged.error->message;
  };
  rules.new_id = [] { return base::Uuid::V4().ToString(); };
  rules.finders = config::FindersOf(config);
  return rules;
}

rest::Reply Refused(const domain::ValidationFaults& faults) {
  rest::Problems problems;
  for (const domain::ValidationFault& fault : faults) {
    problems.Add(fault.loc, fault.type, fault.msg, fault.input, fault.ctx);
  }
  return *problems.Refusal();
}

}  // namespace

rest::Reply PostTemplate(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const base::Json document = ReadDocument(&body);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const net::AddressPolicy policy(parts.config.net.allow);
  const auto read =
      domain::ReadTemplate(document, base::Json::array({"body"}), RulesFor(parts.config, policy));
  if (const auto* faults = std::get_if<domain::ValidationFaults>(&read)) return Refused(*faults);
  using Kind = store::TemplateOutcome::Kind;
  const auto made = store::CreateTemplate(
      session, parts.clock, call.ids[0], std::get<domain::WorkflowTemplate>(read),
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

rest::Reply DeleteTemplate(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  if (!store::DeleteTemplate(session, parts.clock, call.ids[0], call.ids[1],
                             AuditOf(call, "template.delete", reason))) {
    return rest::NotFound("template");
  }
  return {204, {}};
}

}  // namespace vedette::admin
