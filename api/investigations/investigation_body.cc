#include "api/investigations/investigation_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "rest/body_reader.h"

namespace vedette::api {
namespace {

using rest::Presence;

constexpr std::size_t kNameCharsMax = 200;

base::Json SeedLoc(std::size_t i, const char* key) {
  base::Json loc = base::Json::array({"body", "seeds", i});
  if (key != nullptr) loc.push_back(key);
  return loc;
}

// A member of a seed, which is a string; empty after a problem.
std::string SeedText(const base::Json& seed, std::size_t i, const char* key,
                     rest::Problems* problems) {
  const auto it = seed.find(key);
  if (it == seed.end()) {
    problems->Add(SeedLoc(i, key), "missing", "Field required");
    return {};
  }
  if (!it->is_string()) {
    problems->Add(SeedLoc(i, key), "string_type", "Input should be a string", *it);
    return {};
  }
  return it->get<std::string>();
}

void ReadSeed(const base::Json& seed, std::size_t i, std::vector<domain::Subject>* seeds,
              rest::Problems* problems) {
  if (!seed.is_object()) {
    return problems->Add(SeedLoc(i, nullptr), "dict_type", "Input should be an object", seed);
  }
  for (const auto& [key, value] : seed.items()) {
    if (key == "type" || key == "value") continue;
    problems->Add(SeedLoc(i, key.c_str()), "extra_forbidden", "Extra inputs are not permitted",
                  value);
  }
  const std::string type_name = SeedText(seed, i, "type", problems);
  const std::string value = SeedText(seed, i, "value", problems);
  const auto type = domain::ParseSubjectKind(type_name);
  if (!type) {
    if (!type_name.empty()) {
      problems->Add(SeedLoc(i, "type"), "enum",
                    "Input should be email, domain, person, company, url, phone or ip", type_name);
    }
    return;
  }
  auto read = domain::ReadSubject(*type, value);
  if (const auto* why = std::get_if<std::string>(&read)) {
    return problems->Add(SeedLoc(i, "value"), "value_error", "Input " + *why, value);
  }
  auto& subject = std::get<domain::Subject>(read);
  if (std::find(seeds->begin(), seeds->end(), subject) != seeds->end()) {
    return problems->Add(SeedLoc(i, nullptr), "duplicate", "Input is there already", value);
  }
  seeds->push_back(std::move(subject));
}

void ReadSeeds(rest::BodyReader* reader, InvestigationBody* body, rest::Problems* problems) {
  const base::Json* given = reader->Member("seeds", Presence::kRequired);
  if (given == nullptr) return;
  if (!given->is_array()) {
    return problems->Add(rest::BodyReader::Loc("seeds"), "list_type", "Input should be an array",
                         *given);
  }
  if (given->empty() || given->size() > kSeedsMax) {
    return problems->Add(rest::BodyReader::Loc("seeds"), given->empty() ? "too_short" : "too_long",
                         fmt::format("Input should have 1 to {} items", kSeedsMax), *given);
  }
  for (std::size_t i = 0; i < given->size(); ++i) ReadSeed((*given)[i], i, &body->seeds, problems);
}

}  // namespace

InvestigationBody ReadInvestigationBody(const base::Json& members, std::int64_t price_mc,
                                        rest::Problems* problems) {
  rest::BodyReader reader(members, problems);
  InvestigationBody body;
  body.name = reader.Text("name", Presence::kOptional, 1, kNameCharsMax);
  ReadSeeds(&reader, &body, problems);
  body.depth = reader.Integer("depth", Presence::kOptional, 1, kInvestigationDepthMax).value_or(1);
  body.findings_max = reader.Integer("findings_max", Presence::kOptional, 1, kFindingsMax)
                          .value_or(kFindingsDefault);
  body.credits_mc_max = reader.Credits("credits_max", Presence::kOptional);
  if (body.credits_mc_max && *body.credits_mc_max <= 0) {
    reader.Refuse("credits_max", "Input should be greater than 0");
  } else if (body.credits_mc_max &&
             *body.credits_mc_max < price_mc * static_cast<std::int64_t>(body.seeds.size())) {
    reader.Refuse("credits_max", "Input should cover at least the seeds");
  }
  reader.Finish();
  return body;
}

}  // namespace vedette::api
