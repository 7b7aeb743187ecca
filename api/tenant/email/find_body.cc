#include "api/tenant/email/find_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "api/kit/body.h"
#include "api/tenant/call.h"
#include "base/json.h"
#include "domain/email/lead.h"
#include "domain/text/limits.h"

namespace vedette::api {
namespace {

using rest::Presence;

// "lead" or "leads[3]".
std::string LeadName(LeadShape shape, std::size_t i) {
  return shape == LeadShape::kSingle ? "lead" : fmt::format("leads[{}]", i);
}

base::Json LeadLoc(LeadShape shape, std::size_t i, const std::string& key) {
  base::Json loc = base::Json::array({"body"});
  if (shape == LeadShape::kSingle) {
    loc.push_back("lead");
  } else {
    loc.push_back("leads");
    loc.push_back(i);
  }
  if (!key.empty()) loc.push_back(key);
  return loc;
}

// Faults of form are problems; the first broken rule is kept.
void ReadLeads(LeadShape shape, FindBody* body, rest::Problems* problems) {
  if (body->leads.size() > kLeadsMax) return;
  bool is_object_fault = false;
  for (std::size_t i = 0; i < body->leads.size(); ++i) {
    const auto read = domain::ReadLead(body->leads[i]);
    const auto* fault = std::get_if<domain::LeadFault>(&read);
    if (fault == nullptr) continue;
    if (!fault->IsRule()) {
      problems->Add(LeadLoc(shape, i, fault->key), "value_error", "Input " + fault->message);
      continue;
    }
    const bool no_object = fault->kind == domain::LeadFault::Kind::kNotObject;
    if (body->breach && (is_object_fault || !no_object)) continue;
    is_object_fault = no_object;
    body->breach =
        FindBody::LeadBreach{std::string(fault->Code()), LeadName(shape, i) + " " + fault->message};
  }
}

std::vector<base::Json> TakeLeads(rest::BodyReader* reader, base::Json* members, LeadShape shape,
                                  rest::Problems* problems) {
  std::vector<base::Json> leads;
  if (shape == LeadShape::kSingle) {
    if (reader->Member("lead", Presence::kRequired) != nullptr) {
      leads.push_back(std::move((*members)["lead"]));
    }
    return leads;
  }
  const base::Json* given = reader->Member("leads", Presence::kRequired);
  if (given == nullptr) return leads;
  if (!given->is_array()) {
    problems->Add(rest::BodyReader::Loc("leads"), "list_type", "Input should be an array", *given);
    return leads;
  }
  for (base::Json& lead : (*members)["leads"]) leads.push_back(std::move(lead));
  return leads;
}

domain::FindMode ReadMode(rest::BodyReader* reader, const base::Json& members,
                          rest::Problems* problems) {
  const base::Json* given = reader->Member("mode", Presence::kOptional);
  if (given == nullptr) return domain::FindMode::kProfessional;
  std::optional<domain::FindMode> mode;
  if (given->is_string()) mode = domain::ParseFindMode(given->get<std::string>());
  if (mode) return *mode;
  problems->Add(rest::BodyReader::Loc("mode"), "enum",
                "Input should be 'PROFESSIONAL' or 'PERSONAL'", members["mode"]);
  return domain::FindMode::kProfessional;
}

// What every request about leads has beside them.
void ReadRest(rest::BodyReader* reader, FindBody* body) {
  body->providers =
      reader->Texts("providers", Presence::kOptional).value_or(std::vector<std::string>());
  if (body->providers.size() > kProvidersMax) {
    reader->Refuse("providers", fmt::format("Input should have at most {} items", kProvidersMax));
  }
  body->webhook_url = reader->Text("webhook_url", Presence::kOptional, 0, domain::kUrlReadCharsMax);
}

}  // namespace

FindBody ReadReverseBody(base::Json members, LeadShape shape, rest::Problems* problems) {
  FindBody body;
  rest::BodyReader reader(members, problems);
  body.leads = TakeLeads(&reader, &members, shape, problems);
  ReadRest(&reader, &body);
  reader.Finish();
  ReadLeads(shape, &body, problems);
  return body;
}

FindBody ReadFindBody(base::Json members, LeadShape shape, rest::Problems* problems) {
  FindBody body;
  rest::BodyReader reader(members, problems);
  body.leads = TakeLeads(&reader, &members, shape, problems);
  body.mode = ReadMode(&reader, members, problems);
  body.verify_emails = reader.Boolean("verify_emails", Presence::kOptional).value_or(true);
  ReadRest(&reader, &body);
  reader.Finish();
  ReadLeads(shape, &body, problems);
  return body;
}

void CheckLeads(const FindBody& body) {
  if (body.leads.empty()) {
    throw rest::Refusal(400, "no_leads", "leads is empty: name at least one");
  }
  if (body.leads.size() > kLeadsMax) {
    throw rest::Refusal(400, "too_many_leads",
                        fmt::format("leads has {} elements: at most {} are taken at once",
                                    body.leads.size(), kLeadsMax));
  }
  if (body.breach) throw rest::Refusal(400, body.breach->code, body.breach->message);
}

void CheckFindBody(const FindBody& body, const domain::KnownFinders& known) {
  CheckLeads(body);
  const std::string_view mode = domain::FindModeName(body.mode);
  const std::string serving = fmt::format("{}", fmt::join(known.Serving(body.mode), ", "));
  for (const std::string& id : body.providers) {
    if (known.Knows(id)) continue;
    throw rest::Refusal(400, "unknown_provider",
                        fmt::format("{} is no provider here; those of the mode {} are: {}",
                                    rest::Quoted(id), mode, serving));
  }
  for (const std::string& id : body.providers) {
    if (known.Finds(id, body.mode)) continue;
    throw rest::Refusal(400, "provider_not_for_this",
                        fmt::format("{} does not find addresses in the mode {}; these do: {}",
                                    rest::Quoted(id), mode, serving));
  }
}

net::TenantUrl ReadJobWebhook(const std::string& url, const net::AddressPolicy& policy) {
  net::TenantUrlResult parsed = net::ParseTenantUrl(url, policy);
  std::string problem;
  if (!parsed.url) {
    problem = parsed.error->message;
  } else if (parsed.url->scheme != "https") {
    problem = "the scheme must be https";
  } else {
    return std::move(*parsed.url);
  }
  throw rest::Refusal(400, "invalid_webhook_url",
                      fmt::format("webhook_url {}: {}", rest::Quoted(url), problem));
}

}  // namespace vedette::api
