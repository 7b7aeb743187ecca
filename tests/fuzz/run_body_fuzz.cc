// The body of POST /workflows/run, as its handler reads it: the members, what specs_override makes
// of a source, and the records of the payload as rows. What is taken can be stored and read again.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kit/body.h"
#include "api/kit/reply.h"
#include "api/tenant/workflows/run_body.h"
#include "base/json.h"
#include "domain/workflow/run_plan.h"
#include "tests/fuzz/target.h"

namespace vedette {
namespace {

constexpr int kPartRows = 4;
constexpr std::string_view kSources[] = {
    R"({"block_name": "webhook", "specs": {"dataframe_type": "LEAD",
        "input_schema": {"email": {"required": true}, "note": {"required": false}}}})",
    R"({"block_name": "read_csv", "specs": {}})"};

domain::DefinitionRules Rules() {
  return {[](const std::string&) { return std::nullopt; }, [] { return std::string("made"); }};
}

domain::Definition Workflow(std::string_view source_json) {
  base::Json source = base::ParseJsonOrThrow(source_json);
  source["sequence_number"] = 0;
  source["block_id"] = "a";
  const base::Json given{
      {"blocks", base::Json::array({source, base::Json{{"sequence_number", 1},
                                                       {"block_id", "b"},
                                                       {"block_name", "dedupe"},
                                                       {"specs", base::Json::object()}}})},
      {"edges", base::Json::array({base::Json{{"from_block_id", "a"}, {"to_block_id", "b"}}})}};
  auto read = domain::ReadDefinition(given, base::Json::array(), Rules());
  return std::get<domain::Definition>(std::move(read));
}

// Whether the source takes what the request puts over its specs.
bool Override(const api::RunBody& run, domain::Definition* definition) {
  const auto faults = api::OverrideSpecs(run.specs_override, Rules(), definition);
  for (const domain::ValidationFault& fault : faults) {
    fuzz::Require(!fault.type.empty() && !fault.msg.empty() && fault.loc.is_array());
  }
  if (!faults.empty()) return false;
  const std::string params =
      domain::RunParamsJson(domain::DefinitionJson(*definition), definition->frame);
  const domain::RunGraph graph = domain::ReadRunGraph(params);
  fuzz::Require(graph.blocks.size() == definition->blocks.size());
  fuzz::Require(graph.frame == domain::FrameName(definition->frame));
  return true;
}

void ReadPayload(const api::RunBody& run, const base::Json& specs, rest::Problems problems) {
  const auto schema = specs.find("input_schema");
  domain::PayloadReader reader(schema == specs.end() ? base::Json() : *schema, kPartRows);
  std::vector<std::string_view> records = *run.payload;
  if (!run.record.empty()) records.push_back(run.record);
  api::ReadRecords(
      records, [](std::size_t) {}, &reader, &problems);
  if (problems.any()) {
    problems.Items();
    return;
  }
  std::size_t rows = 0;
  for (const domain::RowsPart& part : reader.Finish()) {
    fuzz::Require(part.rows_json.starts_with('[') && part.rows_json.ends_with(']'));
    fuzz::Require(part.row_count > 0 && part.row_count <= kPartRows);
    rows += static_cast<std::size_t>(part.row_count);
  }
  fuzz::Require(rows == records.size() && rows == reader.records());
  fuzz::Require(reader.columns().size() <= domain::kColumnsMax);
  if (reader.missing()) fuzz::Require(reader.missing()->record < rows);
}

}  // namespace

FUZZ_TARGET(run_body, bytes) {
  const std::string text(bytes);
  rest::JsonBody body;
  const rest::BodyRules rules = api::RunBodyRules(
      {.bytes_max = std::size_t{1} << 24, .json = {.values_max = 65'536, .keep_numbers = true}});
  if (rest::ParseBody(text, rules, &body)) return;
  if (!body.members.is_object()) return;
  rest::Problems problems;
  const api::RunBody run = api::ReadRunBody(body, &problems);
  for (const std::string_view source : kSources) {
    domain::Definition definition = Workflow(source);
    // The payload is read by the specs that the override has made, also of those that it broke.
    Override(run, &definition);
    if (run.payload) ReadPayload(run, definition.blocks.front().specs, problems);
  }
}

}  // namespace vedette
