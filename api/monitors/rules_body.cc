#include "api/monitors/rules_body.h"

#include "domain/change_rules.h"

namespace vedette::api {
namespace {

void AddFaults(const domain::ValidationFaults& faults, rest::Problems* problems) {
  for (const auto& f : faults) problems->Add(f.loc, f.type, f.msg, f.input, f.ctx);
}

}  // namespace

void CheckRules(const base::Json& rules, const base::Json& watched, rest::Problems* problems) {
  AddFaults(domain::JudgeChangeRules(rest::BodyReader::Loc("rules"), rules, watched), problems);
}

std::optional<base::Json> ReadRules(rest::BodyReader* reader, const base::Json& watched,
                                    rest::Problems* problems) {
  const base::Json* rules = reader->Member("rules", rest::Presence::kOptional);
  if (rules == nullptr) return std::nullopt;
  CheckRules(*rules, watched, problems);
  return rules->empty() ? std::nullopt : std::optional(*rules);
}

domain::RequestHeaders ReadHeaders(rest::BodyReader* reader, rest::Problems* problems) {
  const base::Json* headers = reader->Member("request_headers", rest::Presence::kOptional);
  if (headers == nullptr) return {};
  const auto faults =
      domain::JudgeRequestHeaders(rest::BodyReader::Loc("request_headers"), *headers);
  AddFaults(faults, problems);
  return faults.empty() ? domain::ReadRequestHeaders(*headers) : domain::RequestHeaders();
}

}  // namespace vedette::api
