#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/kit/body.h"
#include "api/tenant/call.h"
#include "api/tenant/handlers.h"
#include "api/tenant/jobs/lookups.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "api/tenant/workflows/run_body.h"
#include "api/tenant/workflows/workflow_calls.h"
#include "base/json.h"
#include "config/config.h"
#include "domain/job/block_progress.h"
#include "domain/money/money.h"
#include "domain/monitor/enums.h"
#include "domain/text/limits.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/monitor_rows.h"
#include "domain/workflow/definition.h"
#include "domain/workflow/lookup_result.h"
#include "domain/workflow/lookup_rows.h"
#include "domain/workflow/run_plan.h"
#include "net/public_address.h"
#include "store/jobs/runs.h"
#include "store/jobs/start.h"

namespace vedette::api {
namespace {

domain::Tier TierOf(const domain::DefinedBlock& block) {
  return domain::ParseTier(block.specs.at("tier").get_ref<const std::string&>()).value();
}

// Enrichment has features of its own: who may have more than the usual may have less, too.
void CheckResearch(const Call& call, const domain::DefinedBlock& block) {
  using domain::Tier;
  const Tier tier = TierOf(block);
  const std::string what = "enrichment of the tier " + std::string(domain::TierName(tier));
  if (tier == Tier::kXhigh) CheckFeature(call, true, domain::kFeatureXhigh, what);
  const bool is_micro = tier == Tier::kMicro && !call.caller.Has(domain::kFeatureXhigh);
  CheckFeature(call, is_micro || tier == Tier::kHigh, domain::kFeatureHighTier, what);
}

// A block `monitor` needs what POST /monitors does.
void CheckMonitor(const Call& call, const domain::DefinedBlock& block) {
  CheckFeature(call, true, domain::kFeatureMonitors, "a monitor block");
  const bool testing = domain::ReadMonitorOrder(block.specs).frequency == domain::kFrequencyTesting;
  CheckFeature(call, testing, domain::kFeatureTestingMonitors, "the frequency 5m");
  CheckTier(call, TierOf(block));
}

// The 403 of the first block for which the organisation lacks a feature: its tier, or a monitor
// with what it needs. Nothing where it may run them all.
void CheckFeatures(const Call& call, const domain::Definition& definition) {
  for (const domain::DefinedBlock& block : definition.blocks) {
    const domain::BlockWork work = block.type->work;
    if (work == domain::BlockWork::kMonitor) CheckMonitor(call, block);
    if (work == domain::BlockWork::kResearch) CheckResearch(call, block);
  }
}

// POST /workflows/run.

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
domain::PlanRules RulesNow(const Call& call, const Definition& definition) {
  const config::Config& config = call.parts.config;
  domain::PlanRules rules = PlanRulesOf(config);
  const bool paced =
      std::any_of(definition.blocks.begin(), definition.blocks.end(),
                  [&config](const auto& block) { return GuessedPace(config, block) != kNoPace; });
  if (!paced) return rules;
  rules.pace = [&config, paces = store::ReadBlockPaces(call.session(), call.caller.org_id)](
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

rest::Reply InvalidHandle() {
  return rest::ErrorReply(400, "invalid_resource_handle",
                          "resource_handle_id names no finished upload of your organisation; it "
                          "may have expired");
}

Source FileSource(const Call& call, const Definition& definition, int part_rows) {
  const Json& handle = definition.blocks.front().specs.at("resource_handle_id");
  if (handle.is_null()) {
    throw rest::Refusal(400, "missing_resource_handle",
                        "the workflow reads a file: name its handle in "
                        "specs_override.resource_handle_id");
  }
  const auto id = base::Uuid::Parse(handle.get_ref<const std::string&>());
  const auto find = [&] {
    return id ? store::FindRunUpload(call.session(), call.caller.org_id, *id, part_rows)
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
  explicit Room(Call& call) : call_(call) {}

  // So many bytes of rows in all. Refuses as TakeBytes does.
  void Take(std::size_t bytes) {
    const std::size_t wanted = bytes * kCopies;
    if (wanted <= room_) return;
    const std::size_t more = std::max(wanted - room_, kRoomStep);
    TakeBytes(call_, more);
    room_ += more;
  }

 private:
  Call& call_;
  std::size_t room_ = kRoomUncounted;
};

// The records of the source's webhook_input, where a run brings none.
void ReadSampleRecords(Call& call, const Json& specs, domain::PayloadReader* reader) {
  const Json& sample = specs.at("webhook_input");
  if (sample.is_null()) {
    throw rest::Refusal(400, "missing_payload",
                        "send webhook_payload: the workflow's webhook block has no "
                        "webhook_input to run with");
  }
  const auto& text = sample.get_ref<const std::string&>();
  TakeBytes(call, rest::ParseCost(text, {}));
  Room room(call);
  const auto records = domain::ReadSample(text);
  for (const std::string& record : records.value_or(std::vector<std::string>())) {
    if (const auto fault = reader->Take(record)) {
      throw rest::Refusal(400, "invalid_webhook_input", "webhook_input: " + fault->msg);
    }
    room.Take(reader->bytes());
  }
}

Source PayloadSource(Call& call, bool given, const Definition& definition, int part_rows,
                     domain::PayloadReader reader) {
  const Json& specs = definition.blocks.front().specs;
  if (!given) {
    reader = domain::PayloadReader(specs.at("input_schema"), part_rows);
    ReadSampleRecords(call, specs, &reader);
  }
  if (reader.records() == 0) {
    throw rest::Refusal(400, "empty_payload", "webhook_payload has no records");
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
    const Call& call, const domain::PlannedBlock& block) {
  if (block.type->url_member.empty()) return std::nullopt;
  const Json& member = block.bound.specs.at(std::string(block.type->url_member));
  if (member.is_null()) return std::nullopt;
  const auto url = member.get<std::string>();
  const auto judged = net::ParseTenantUrl(url, call.parts.policy);
  if (!judged.url) return "the address is not allowed: " + judged.error->message;
  return ToWebhook(*judged.url);
}

store::NewJobBlock BlockOf(const Call& call, const domain::PlannedBlock& planned,
                           const domain::RunPlan& plan, const Source& source) {
  store::NewJobBlock block;
  block.type = domain::JobTypeOf(*planned.type);
  block.specs_json = domain::BoundSpecsJson(WithTerms(call.parts.config, planned));
  block.input = planned.input;
  block.lane = LaneOf(call, planned);
  block.price_mc = planned.price_mc;
  if (!plan.fault) block.columns = planned.output;
  if (!planned.input) block.rows_total = source.rows.rows;
  block.parts_total = planned.parts_total;
  block.part_window = planned.part_window;
  block.pace = planned.pace;
  return block;
}

store::NewJob JobOf(const Call& call, const store::WorkflowToRun& workflow,
                    const Definition& definition, const domain::PlanRules& rules, Source source) {
  const config::Config& config = call.parts.config;
  const domain::RunPlan plan = domain::PlanRun(definition, source.rows, source.part_rows, rules);
  store::NewJob job;
  job.id = base::Uuid::V7(call.parts.clock);
  job.org_id = call.caller.org_id;
  job.team_id = call.caller.team_id;
  job.kind = domain::JobKind::kWorkflow;
  job.name = workflow.name;
  job.workflow_id = workflow.id;
  job.upload_id = source.upload_id;
  job.part_rows = source.part_rows;
  job.params_json = domain::RunParamsJson(domain::DefinitionJson(definition), definition.frame);
  job.caller = call.caller.principal;
  job.remote_address = call.request().remote_address;
  job.estimate_mc = plan.estimate_mc;
  job.deadline = config.workflows.run_timeout;
  if (plan.fault) job.fault = store::NewJobFault{plan.fault->block, plan.fault->error};
  for (const domain::PlannedBlock& planned : plan.blocks) {
    store::NewJobBlock block = BlockOf(call, planned, plan, source);
    auto webhook = WebhookOf(call, planned);
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

std::string RunDataSentence(const store::RunDataUse& use) {
  return fmt::format("the rows of your organisation's runs take {} of {} bytes", use.bytes,
                     use.bytes_max);
}

rest::Reply Started(const Call& call, const base::Uuid& workflow_id,
                    const store::JobStarted& started) {
  Json warnings = Json::array();
  if (started.run_data) {
    warnings.push_back(
        fmt::format("{}; at the limit runs are refused, and those that go on end as failed",
                    RunDataSentence(*started.run_data)));
  }
  return rest::JsonReply(
      200, {{"status", "queued"},
            {"workflow_id", workflow_id.ToString()},
            {"job_id", started.job_id.ToString()},
            {"cache_config", nullptr},
            {"already_started", started.already_started},
            {"estimated_cost_cents",
             domain::CentsOf(started.estimate_mc, call.parts.config.cents_per_credit)},
            {"warnings", std::move(warnings)}});
}

rest::Reply TooMuchRunData(const Call& call, const store::RunDataUse& use) {
  return rest::ErrorReply(
      409, domain::kReasonRunDataLimitReached,
      fmt::format("{}, with this run; nothing was charged. The rows of a run go {} hours after its "
                  "day; ask the operator for more room, or wait",
                  RunDataSentence(use), call.parts.config.retention.run_data.count()));
}

rest::Reply ReplyTo(const Call& call, const base::Uuid& workflow_id,
                    const store::StartOutcome& outcome) {
  if (const auto* started = std::get_if<store::JobStarted>(&outcome)) {
    return Started(call, workflow_id, *started);
  }
  if (std::holds_alternative<store::JobKeyInUse>(outcome)) return KeyInUse();
  if (std::holds_alternative<store::JobKeyReused>(outcome)) return KeyReused();
  if (const auto* refused = std::get_if<store::JobNotPayable>(&outcome)) {
    return NotPayable(call, *refused);
  }
  if (std::holds_alternative<store::JobUploadNotFound>(outcome)) return InvalidHandle();
  if (std::holds_alternative<store::TooManyRuns>(outcome)) {
    return rest::Unavailable("too_many_runs",
                             "too many runs of your organisation are open; nothing was charged");
  }
  if (const auto* full = std::get_if<store::TooMuchRunData>(&outcome)) {
    return TooMuchRunData(call, full->use);
  }
  if (std::holds_alternative<store::TooManyJobs>(outcome)) {
    return rest::Unavailable("too_many_jobs",
                             "too many jobs of your organisation are open; nothing was charged");
  }
  throw std::logic_error("the start of a run had an outcome that no run has");
}

// Wakes workers, and tells of a run that had nothing to do.
void Announce(const Call& call, const store::StartOutcome& outcome) {
  const auto* started = std::get_if<store::JobStarted>(&outcome);
  if (started == nullptr || started->already_started) return;
  if (!started->ended) call.parts.signals.Raise(store::Signal::kJobChunk);
  for (const store::Signal signal : started->raise) call.parts.signals.Raise(signal);
  if (const auto& ended = started->ended) {
    call.parts.metrics.AddJobEnded(ended->kind, ended->status, ended->took);
  }
}

void CheckQuery(const Call& call, rest::Problems* problems) {
  rest::QueryReader query(call.request().query, problems);
  query.Boolean("save_json", false);
  for (const std::string& format : query.All("result_formats")) {
    if (format == "csv" || format == "ndjson") continue;
    query.Refuse("result_formats", "enum", "Input should be csv or ndjson");
  }
}

// A request whose form is right, with what it is to run.
struct RunRequest {
  Definition definition;
  domain::ValidationFaults override_faults;
  bool has_payload = false;
  domain::PlanRules rules;
  int part_rows = 1;
  domain::PayloadReader reader;
};

// 413, 415, 400 and 422 of form.
RunRequest ReadRequest(Call& call, const store::WorkflowToRun& workflow) {
  const auto json = ReadJsonObject(call, RunBodyRules(BodyRulesOf(call)));
  rest::Problems problems;
  CheckQuery(call, &problems);
  const RunBody body = ReadRunBody(json, &problems);
  Definition definition = *call.parts.definitions.Read(workflow.definition_json);
  auto faults = OverrideSpecs(body.specs_override, DefinitionRulesOf(call.parts), &definition);
  domain::PlanRules rules = RulesNow(call, definition);
  const int part_rows = domain::PartRowsOf(definition, rules);
  const Json& specs = definition.blocks.front().specs;
  const auto schema = specs.find("input_schema");
  domain::PayloadReader reader(schema == specs.end() ? Json() : *schema, part_rows);
  if (body.payload) {
    auto records = *body.payload;
    if (!body.record.empty()) records.push_back(body.record);
    Room room(call);
    ReadRecords(
        records, [&room](std::size_t bytes) { room.Take(bytes); }, &reader, &problems);
  }
  problems.Check();
  return RunRequest{std::move(definition), std::move(faults), body.payload.has_value(),
                    std::move(rules),      part_rows,         std::move(reader)};
}

// Rules 1 to 4 of the interface, in the order in which they are told.
Source MakeSource(Call& call, RunRequest request) {
  const bool is_session = call.caller.principal.kind == domain::PrincipalKind::kUser;
  if (request.has_payload && is_session) {
    throw rest::Refusal(400, "session_token_not_allowed",
                        "webhook_payload is taken with an API key or an OAuth credential alone");
  }
  if (!request.override_faults.empty()) {
    rest::Problems problems;
    AddFaults(request.override_faults, &problems);
    problems.Check();
  }
  const domain::BlockType& source = *request.definition.blocks.front().type;
  const bool reads_file = source.work == domain::BlockWork::kReadsFile;
  if (request.has_payload && reads_file) {
    throw rest::Refusal(
        400, "source_not_webhook",
        fmt::format("the workflow begins with {}: it takes no webhook_payload", source.name));
  }
  if (reads_file) return FileSource(call, request.definition, request.part_rows);
  return PayloadSource(call, request.has_payload, request.definition, request.part_rows,
                       std::move(request.reader));
}

}  // namespace

rest::Handled RunWorkflow(Call& call) {
  const auto workflow = FindWorkflowToRun(call);
  auto request = ReadRequest(call, workflow);
  const auto idempotency = ReadIdempotency(call, "/workflows/run?" + workflow.id.ToString());
  call.answer->DropBody();
  if (idempotency) {
    const auto known = store::FindJobStart(call.session(), call.caller.org_id, *idempotency);
    if (known) return ReplyTo(call, workflow.id, *known);
  }
  const Definition definition = request.definition;
  const domain::PlanRules rules = request.rules;
  auto source = MakeSource(call, std::move(request));
  CheckFeatures(call, definition);
  const std::size_t names = NamesCost(source.rows.columns, definition);
  TakeBytes(call, names);
  store::NewJob job = JobOf(call, workflow, definition, rules, std::move(source));
  job.idempotency = idempotency;
  const auto outcome = call.parts.job_starts.Start(call.session(), job);
  Announce(call, outcome);
  return ReplyTo(call, workflow.id, outcome);
}

}  // namespace vedette::api
