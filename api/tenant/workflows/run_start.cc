#include "api/tenant/workflows/run_start.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/kit/body.h"
#include "api/kit/workflows.h"
#include "api/tenant/call.h"
#include "api/tenant/workflows/run_body.h"
#include "api/tenant/workflows/workflow_calls.h"
#include "config/jobs_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "domain/job/block_progress.h"
#include "domain/monitor/enums.h"
#include "domain/text/limits.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/lookup_result.h"
#include "domain/workflow/lookup_rows.h"
#include "domain/workflow/run_schedule.h"
#include "store/jobs/runs.h"

namespace vedette::api {
namespace {

domain::Tier TierOf(const domain::DefinedBlock& block) {
  return domain::ParseTier(block.specs.at("tier").get_ref<const std::string&>()).value();
}

// Enrichment has features of its own: who may have more than the usual may have less, too.
void CheckResearch(const RunContext& context, const domain::DefinedBlock& block) {
  using domain::Tier;
  const Tier tier = TierOf(block);
  const std::string what = "enrichment of the tier " + std::string(domain::TierName(tier));
  if (tier == Tier::kXhigh) CheckFeature(context.caller, true, domain::kFeatureXhigh, what);
  const bool is_micro = tier == Tier::kMicro && !context.caller.Has(domain::kFeatureXhigh);
  CheckFeature(context.caller, is_micro || tier == Tier::kHigh, domain::kFeatureHighTier, what);
}

// A block `monitor` needs what POST /monitors does.
void CheckMonitor(const RunContext& context, const domain::DefinedBlock& block) {
  CheckFeature(context.caller, true, domain::kFeatureMonitors, "a monitor block");
  const bool testing = domain::ReadMonitorOrder(block.specs).frequency == domain::kFrequencyTesting;
  CheckFeature(context.caller, testing, domain::kFeatureTestingMonitors, "the frequency 5m");
  CheckTier(context.caller, TierOf(block));
}

// The 403 of the first block for which the organisation lacks a feature: its tier, or a monitor
// with what it needs. Nothing where it may run them all.
void CheckFeatures(const RunContext& context, const domain::Definition& definition) {
  for (const domain::DefinedBlock& block : definition.blocks) {
    const domain::BlockWork work = block.type->work;
    if (work == domain::BlockWork::kMonitor) CheckMonitor(context, block);
    if (work == domain::BlockWork::kResearch) CheckResearch(context, block);
  }
}

using base::Json;
using domain::Definition;

// What the slowest probe takes for a row, where it asks nobody.
constexpr std::chrono::milliseconds kNoPace{0};

// What a row of the block takes where nothing was measured.
std::chrono::milliseconds GuessedPace(const config::Config& config,
                                      const domain::DefinedBlock& block) {
  if (block.type->work == domain::BlockWork::kLookup) return block.type->pace;
  if (block.type->work != domain::BlockWork::kResearch) return kNoPace;
  const auto& probe = config.probes.at(block.specs.at("tier").get<std::string>());
  return probe.kind == "null" ? kNoPace : block.type->pace;
}

domain::PlanRules PlanRulesOf(const config::Config& config) {
  domain::PlanRules rules;
  rules.price_mc = [&config](const domain::DefinedBlock& block) -> std::int64_t {
    return PriceMcOf(config, *block.type, block.specs);
  };
  rules.pace = [&config](const domain::DefinedBlock& block) { return GuessedPace(config, block); };
  rules.part_target = config.worker.chunk_duration_target_ms;
  rules.window_rows = config.workflows.window_rows;
  return rules;
}

// The rules of a run that starts now. What the organisation's last runs took is asked for only
// where a block has a pace.
domain::PlanRules RulesNow(const RunContext& context, const Definition& definition) {
  const config::Config& config = context.config;
  domain::PlanRules rules = PlanRulesOf(config);
  const bool paced =
      std::any_of(definition.blocks.begin(), definition.blocks.end(),
                  [&config](const auto& block) { return GuessedPace(config, block) != kNoPace; });
  if (!paced) return rules;
  rules.pace = [&config, paces = store::ReadBlockPaces(context.session, context.caller.org_id)](
                   const domain::DefinedBlock& block) {
    const auto guess = GuessedPace(config, block);
    if (guess == kNoPace) return guess;
    const auto measured =
        paces.find({domain::JobTypeOf(*block.type), block.specs.value("tier", std::string())});
    return measured == paces.end() ? guess : domain::PaceOf(measured->second, guess);
  };
  return rules;
}

// The rows of a run, and what it reads them from.
struct Source {
  domain::RunSource rows;
  int part_rows = 1;
  std::vector<domain::RowsPart> parts;  // of a payload
  std::optional<base::Uuid> upload_id;
};

Source FileSource(const RunContext& context, const Definition& definition, int part_rows) {
  const Json& handle = definition.blocks.front().specs.at("resource_handle_id");
  if (handle.is_null()) {
    throw rest::Refusal(400, "missing_resource_handle",
                        "the workflow reads a file: name its handle in "
                        "specs_override.resource_handle_id");
  }
  const auto id = base::Uuid::Parse(handle.get_ref<const std::string&>());
  const auto find = [&] {
    return id ? store::FindRunUpload(context.session, context.caller.org_id, *id, part_rows)
              : std::nullopt;
  };
  auto upload = find();
  if (upload && upload->parts > domain::kFilePartsMax) {
    part_rows = domain::PartRowsOfMany(upload->row_count);
    upload = find();
  }
  if (!upload) throw rest::Refusal(InvalidHandle());
  Source source;
  source.part_rows = part_rows;
  source.upload_id = id;
  source.rows = {upload->columns, upload->row_count, upload->parts, upload->units};
  return source;
}

// What a byte takes until the run is started: it, and the statements that store it.
constexpr std::size_t kCopies = 3;
// So many bytes are taken at a time. The first ones are not counted: the threads bound them.
constexpr std::size_t kRoomStep = std::size_t{1} << 20;
constexpr std::size_t kRoomUncounted = std::size_t{64} << 10;

// What the names of columns take until the run is started: each block of a run has its own. They
// may have a megabyte, and a run fifty blocks.
std::size_t NamesCost(const domain::Columns& columns, const Definition& definition) {
  std::size_t bytes = 0;
  for (const std::string& name : columns) bytes += name.size();
  bytes *= definition.blocks.size() * kCopies;
  return bytes > kRoomUncounted ? bytes : 0;
}

// Takes room of the process's budget for the rows of a payload while they are made.
class Room {
 public:
  explicit Room(const RunContext& context) : context_(context) {}

  // So many bytes of rows in all. Refuses as take_bytes does.
  void Take(std::size_t bytes) {
    const std::size_t wanted = bytes * kCopies;
    if (wanted <= room_) return;
    const std::size_t more = std::max(wanted - room_, kRoomStep);
    context_.take_bytes(more);
    room_ += more;
  }

 private:
  const RunContext& context_;
  std::size_t room_ = kRoomUncounted;
};

// The records of the source's webhook_input, where a run brings none.
void ReadSampleRecords(const RunContext& context, const Json& specs,
                       domain::PayloadReader* reader) {
  const Json& sample = specs.at("webhook_input");
  if (sample.is_null()) {
    throw rest::Refusal(400, "missing_payload",
                        "send webhook_payload: the workflow's webhook block has no "
                        "webhook_input to run with");
  }
  const auto& text = sample.get_ref<const std::string&>();
  context.take_bytes(rest::ParseCost(text, {}));
  Room room(context);
  const auto records = domain::ReadSample(text);
  for (const std::string& record : records.value_or(std::vector<std::string>())) {
    if (const auto fault = reader->Take(record)) {
      throw rest::Refusal(400, "invalid_webhook_input", "webhook_input: " + fault->msg);
    }
    room.Take(reader->bytes());
  }
}

Source PayloadSource(const RunContext& context, bool given, const Definition& definition,
                     int part_rows, domain::PayloadReader reader) {
  const Json& specs = definition.blocks.front().specs;
  if (!given) {
    reader = domain::PayloadReader(specs.at("input_schema"), part_rows);
    ReadSampleRecords(context, specs, &reader);
  }
  if (reader.records() == 0) {
    throw rest::Refusal(400, "empty_payload",
                        given
                            ? "webhook_payload has no records"
                            : "the workflow's webhook_input has no records: give webhook_payload");
  }
  if (const auto& missing = reader.missing()) {
    throw rest::Refusal(400, "missing_columns",
                        fmt::format("record {} lacks columns that input_schema asks for: {}",
                                    missing->record, fmt::join(missing->columns, ", ")));
  }
  Source source;
  source.part_rows = part_rows;
  source.parts = reader.Finish();
  source.rows = {reader.columns(), static_cast<std::int64_t>(reader.records()),
                 static_cast<int>(source.parts.size()), std::nullopt};
  return source;
}

// The address was validated when the workflow was stored; what is allowed may have changed since.
std::variant<std::optional<store::Webhook>, std::string> WebhookOf(
    const RunContext& context, const domain::PlannedBlock& block) {
  if (block.type->url_member.empty()) return std::nullopt;
  const Json& member = block.bound.specs.at(std::string(block.type->url_member));
  if (member.is_null()) return std::nullopt;
  const auto url = member.get<std::string>();
  const auto parsed = net::ParseTenantUrl(url, context.policy);
  if (!parsed.url) return "the address is not allowed: " + parsed.error->message;
  return ToWebhook(*parsed.url);
}

// `is_bound`: its columns are known.
store::NewJobBlock BlockOf(const RunContext& context, const domain::PlannedBlock& planned,
                           bool is_bound, const Source& source) {
  store::NewJobBlock block;
  block.type = domain::JobTypeOf(*planned.type);
  block.specs_json = domain::BoundSpecsJson(WithTerms(context.config, planned));
  block.input = planned.input;
  block.lane = LaneOf(context.config, context.session, planned);
  block.price_mc = planned.price_mc;
  if (is_bound) block.columns = planned.output;
  if (!planned.input) block.rows_total = source.rows.rows;
  block.parts_total = planned.parts_total;
  block.part_window = planned.part_window;
  block.pace = planned.pace;
  return block;
}

store::NewJob JobOf(const RunContext& context, const store::WorkflowToRun& workflow,
                    const Definition& definition, const domain::PlanRules& rules, Source source) {
  const config::Config& config = context.config;
  const domain::RunPlan plan = domain::PlanRun(definition, source.rows, source.part_rows, rules);
  store::NewJob job;
  job.id = base::Uuid::V7(context.clock);
  job.org_id = context.caller.org_id;
  job.team_id = context.caller.team_id;
  job.kind = domain::JobKind::kWorkflow;
  job.name = workflow.name;
  job.workflow_id = workflow.id;
  job.upload_id = source.upload_id;
  job.part_rows = source.part_rows;
  job.params_json = domain::RunParamsJson(domain::DefinitionJson(definition), definition.frame);
  job.caller = context.caller.principal;
  job.remote_address = context.remote_address;
  job.estimate_mc = plan.estimate_mc;
  job.deadline = config.workflows.run_timeout;
  if (plan.fault) job.fault = store::NewJobFault{plan.fault->block, plan.fault->error};
  for (const domain::PlannedBlock& planned : plan.blocks) {
    const bool is_bound = !plan.fault || static_cast<int>(job.blocks.size()) < plan.fault->block;
    store::NewJobBlock block = BlockOf(context, planned, is_bound, source);
    auto webhook = WebhookOf(context, planned);
    if (auto* sentence = std::get_if<std::string>(&webhook)) {
      if (!job.fault)
        job.fault = store::NewJobFault{static_cast<int>(job.blocks.size()), *sentence};
    } else {
      block.webhook = std::get<0>(std::move(webhook));
    }
    job.blocks.push_back(std::move(block));
  }
  if (job.fault) job.estimate_mc = 0;  // nothing is worked on
  for (domain::RowsPart& part : source.parts) {
    job.parts.push_back({std::move(part.rows_json), part.row_count});
  }
  return job;
}

// Rules 2 to 4 of the interface, in the order in which they are told.
Source MakeSource(const RunContext& context, RunRequest request) {
  if (!request.override_faults.empty()) {
    rest::Problems problems;
    problems.Add(request.override_faults);
    problems.Check();
  }
  const domain::BlockType& source = *request.definition.blocks.front().type;
  const bool reads_file = source.work == domain::BlockWork::kReadsFile;
  if (request.has_payload && reads_file) {
    throw rest::Refusal(
        400, "source_not_webhook",
        fmt::format("the workflow begins with {}: it takes no webhook_payload", source.name));
  }
  if (reads_file) return FileSource(context, request.definition, request.part_rows);
  return PayloadSource(context, request.has_payload, request.definition, request.part_rows,
                       std::move(request.reader));
}

}  // namespace

rest::Reply InvalidHandle() {
  return rest::ErrorReply(400, "invalid_resource_handle",
                          "resource_handle_id names no finished upload of your organisation; it "
                          "may have expired");
}

RunRequest BeginRequest(const RunContext& context, Definition definition,
                        const Json& specs_override) {
  auto faults = OverrideSpecs(specs_override,
                              rest::DefinitionRulesOf(context.config, context.policy), &definition);
  domain::PlanRules rules = RulesNow(context, definition);
  const int part_rows = domain::PartRowsOf(definition, rules);
  const Json& specs = definition.blocks.front().specs;
  const auto schema = specs.find("input_schema");
  domain::PayloadReader reader(schema == specs.end() ? Json() : *schema, part_rows);
  return RunRequest{std::move(definition), std::move(faults), false,
                    std::move(rules),      part_rows,         std::move(reader)};
}

void GiveRecords(const RunContext& context, const std::vector<std::string_view>& records,
                 RunRequest* request, rest::Problems* problems) {
  request->has_payload = true;
  Room room(context);
  ReadRecords(
      records, [&room](std::size_t bytes) { room.Take(bytes); }, &request->reader, problems);
}

// The records of a run are its rows, out of which a person can be taken: what it keeps of its
// workflow has none.
void ForgetSample(Definition* definition) {
  domain::DefinedBlock& source = definition->blocks.front();
  if (!source.specs.contains("webhook_input")) return;
  source.specs["webhook_input"] = nullptr;
  source.given_specs.erase("webhook_input");
}

store::NewJob PlanJob(const RunContext& context, const store::WorkflowToRun& workflow,
                      RunRequest request) {
  Definition definition = request.definition;
  const domain::PlanRules rules = request.rules;
  auto source = MakeSource(context, std::move(request));
  CheckFeatures(context, definition);
  context.take_bytes(NamesCost(source.rows.columns, definition));
  ForgetSample(&definition);
  return JobOf(context, workflow, definition, rules, std::move(source));
}

store::NewJob PlanScheduledRun(const RunContext& context, const store::WorkflowToRun& workflow,
                               const std::optional<std::string>& specs_override_json,
                               const std::optional<std::string>& webhook_payload_json) {
  const Json specs_override =
      specs_override_json ? base::ReadJsonCell(*specs_override_json) : Json();
  RunRequest request =
      BeginRequest(context, domain::ReadStoredDefinition(workflow.definition_json), specs_override);
  rest::Problems problems;
  if (webhook_payload_json) {
    const auto records = domain::ReadSample(*webhook_payload_json);
    if (!records) {
      problems.Add(rest::BodyReader::Loc("webhook_payload"), "list_type",
                   "Input should be an array of objects, or an object");
    } else {
      GiveRecords(context, {records->begin(), records->end()}, &request, &problems);
    }
  }
  problems.Check();
  return PlanJob(context, workflow, std::move(request));
}

store::StartLimits StartLimitsOf(const config::Config& config) {
  return {config.jobs.open_per_org_max, config.workflows.runs_active_per_org_max,
          static_cast<std::int64_t>(config.workflows.run_data_bytes_per_org_max)};
}

namespace {

// The remote address of a run that nobody's request started.
constexpr const char* kNoAddress = "schedule";

store::Caller CallerOf(const store::DueSchedule& due) {
  store::Caller caller;
  caller.principal = due.caller;
  caller.org_id = due.org_id;
  caller.team_id = due.team_id;
  caller.features.insert(due.features.begin(), due.features.end());
  return caller;
}

// What a refusal says, or the first item of a 422.
std::string SentenceOf(const rest::Refusal& refusal) {
  const base::Json body = base::ParseJsonOrThrow(refusal.reply().body);
  if (body.contains("message")) return body.at("message").get<std::string>();
  return body.at("detail").at(0).at("msg").get<std::string>();
}

}  // namespace

std::variant<store::StartOutcome, store::WorkflowFault, store::SlotIsTaken> StartSlot(
    const config::Config& config, const net::AddressPolicy& policy, const base::Clock& clock,
    store::Session& session, const store::DueSchedule& due, const store::SlotTaken& slot) {
  const auto fault = [](std::string_view reason, std::string message) {
    return store::WorkflowFault{std::string(reason), std::move(message)};
  };
  const auto workflow = store::GetWorkflowToRun(session, due.org_id, due.workflow_id);
  if (!workflow) return fault(domain::kWorkflowDeleted, "The workflow was deleted.");
  const store::Caller caller = CallerOf(due);
  const RunContext context{config, policy, clock, session, caller, kNoAddress, [](std::size_t) {}};
  store::NewJob job;
  try {
    job = PlanScheduledRun(context, *workflow, due.specs_override_json, due.webhook_payload_json);
  } catch (const rest::Refusal& refusal) {
    return fault(domain::kWorkflowInvalid, SentenceOf(refusal));
  } catch (const std::invalid_argument&) {
    return fault(domain::kWorkflowInvalid, "The workflow has a block that is not known here.");
  }
  job.id = domain::RunIdOf(due.id, slot.slot);
  const auto outcome =
      store::StartScheduledRun(session, clock, job, {due.id, slot}, StartLimitsOf(config));
  if (!outcome) return store::SlotIsTaken{};
  if (std::holds_alternative<store::JobUploadNotFound>(*outcome)) {
    return fault(domain::kWorkflowInvalid, SentenceOf(rest::Refusal(InvalidHandle())));
  }
  return *outcome;
}

}  // namespace vedette::api
