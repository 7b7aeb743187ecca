#include "api/tenant/workflows/run_body.h"

#include <fmt/format.h>

#include <utility>

#include "api/kit/body.h"
#include "base/json.h"
#include "domain/workflow/block_type.h"

namespace vedette::api {
namespace {

using base::Json;
using rest::Presence;

constexpr const char* kPayload = "webhook_payload";
constexpr const char* kOverride = "specs_override";

// Blocks that do not take the rows that the source says now.
void ValidateFrame(const domain::Definition& definition, domain::ValidationFaults* faults) {
  for (const domain::DefinedBlock& block : definition.blocks) {
    if (!block.type->takes || block.type->takes == definition.frame) continue;
    faults->push_back({Json::array({"body", kOverride, "dataframe_type"}),
                       "incompatible_dataframe",
                       fmt::format("{} takes rows of {}", block.type->name,
                                   domain::FrameName(*block.type->takes)),
                       nullptr,
                       {{"takes", domain::FrameName(*block.type->takes)},
                        {"given", domain::FrameName(definition.frame)},
                        {"from_block_id", definition.blocks.front().id}}});
    return;
  }
}

}  // namespace

rest::BodyRules RunBodyRules(rest::BodyRules rules) {
  rules.advice = "; upload a file for many rows";
  rules.absent = rest::BodyRules::Absent::kEmptyObject;
  rules.large_member = kPayload;
  rules.elements_max = domain::kRecordsMax;
  return rules;
}

RunBody ReadRunBody(const rest::JsonBody& body, rest::Problems* problems) {
  RunBody run;
  rest::BodyReader reader(body.members, problems);
  if (const Json* given = reader.Member(kOverride, Presence::kOptional)) {
    if (given->is_object()) {
      run.specs_override = *given;
    } else {
      problems->Add(rest::BodyReader::Loc(kOverride), "dict_type", "Input should be an object",
                    *given);
    }
  }
  const Json* payload = reader.Member(kPayload, Presence::kOptional);
  reader.Finish();
  if (body.elements) {
    if (body.elements->count > domain::kRecordsMax) {
      problems->Add(rest::BodyReader::Loc(kPayload), "too_long",
                    fmt::format("Array should have at most {} item(s), has {}; upload a file",
                                domain::kRecordsMax, body.elements->count),
                    nullptr, {{"max_length", domain::kRecordsMax}});
    }
    run.payload = body.elements->texts;
  } else if (payload != nullptr && payload->is_object()) {
    run.record = base::DumpJson(*payload);
    run.payload.emplace();  // of `record`, whose place is settled when this has been returned
  } else if (payload != nullptr) {
    problems->Add(rest::BodyReader::Loc(kPayload), "list_type",
                  "Input should be an array of objects, or an object", *payload);
  }
  return run;
}

domain::ValidationFaults OverrideSpecs(const Json& specs_override,
                                       const domain::DefinitionRules& rules,
                                       domain::Definition* definition) {
  if (!specs_override.is_object()) return {};
  domain::DefinedBlock& source = definition->blocks.front();
  Json specs = source.given_specs;
  for (const auto& [name, value] : specs_override.items()) specs[name] = value;
  Json given = specs;
  auto faults =
      domain::ValidateBlockSpecs(*source.type, Json::array({"body", kOverride}), &specs, rules);
  if (!faults.empty()) return faults;
  source.given_specs = std::move(given);
  source.specs = std::move(specs);
  definition->frame =
      domain::ParseFrame(source.specs.at("dataframe_type").get_ref<const std::string&>()).value();
  ValidateFrame(*definition, &faults);
  return faults;
}

void ReadRecords(const std::vector<std::string_view>& records, const RoomForRows& take_room,
                 domain::PayloadReader* reader, rest::Problems* problems) {
  for (std::size_t i = 0; i < records.size() && !problems->full(); ++i) {
    const auto fault = reader->Take(records[i]);
    take_room(reader->bytes());
    if (!fault) continue;
    Json loc = Json::array({"body", kPayload, i});
    if (!fault->member.is_null()) loc.push_back(fault->member);
    problems->Add(loc, fault->type, fault->msg);
    if (reader->full()) return;  // it would be said of every further one
  }
}

}  // namespace vedette::api
