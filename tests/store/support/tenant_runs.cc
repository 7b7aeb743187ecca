#include "tests/store/support/tenant_runs.h"

#include <future>

#include "config/probe_config.h"
#include "config/role_config.h"

namespace vedette::test {

using base::Json;

void RunProbe::Start(worker::ProbeRequest request, std::function<void(worker::ProbeResult)> done) {
  Script script;
  {
    const std::lock_guard lock(mutex_);
    ++asked_;
    script = script_;
  }
  if (!script) {
    done(worker::Observation());
  } else {
    done(script(request));
  }
}

void RunProbe::SetScript(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

int RunProbe::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

namespace {

config::Environment WithKey(config::Environment environment) {
  environment.emplace("VEDETTE_SECURITY_ENCRYPTION_KEY", std::string(64, 'a'));
  return environment;
}

}  // namespace

ApiRuns::ApiRuns(config::Environment environment) : ApiJobs(WithKey(std::move(environment))) {
  config.worker.poll_ms = std::chrono::milliseconds(20);
}

ApiRuns::~ApiRuns() = default;

ApiRuns::Worker::Worker(ApiRuns& test)
    : pool_(test.config.database, {.name = "jobs", .keyed_plans = true}, 2, test.clock,
            test.metrics, test.log) {
  worker::TierProbes probes;
  for (const auto tier :
       {domain::Tier::kMicro, domain::Tier::kLow, domain::Tier::kMedium, domain::Tier::kHigh}) {
    const config::ProbeConfig& of_tier = test.config.probes.at(std::string(domain::TierName(tier)));
    probes[tier] = {&test.probe, of_tier.timeout_ms, of_tier.deadline_ms};
  }
  lead_ = std::make_unique<worker::EnrichBlock>(domain::SubjectType::kLead, test.clock, probes);
  company_ =
      std::make_unique<worker::EnrichBlock>(domain::SubjectType::kCompany, test.clock, probes);
  pipeline_ = std::make_unique<worker::JobPipeline>(
      loop_, pool_, test.signals, test.clock, test.metrics, test.config,
      std::vector<worker::RowBlock*>{lead_.get(), company_.get()}, slot_, test.log);
  loop_.Post([this] { pipeline_->Start(); });
  thread_ = std::thread([this] { loop_.Run(); });
}

ApiRuns::Worker::~Worker() {
  if (!thread_.joinable()) return;
  std::promise<void> drained;
  loop_.Post([&] { pipeline_->Drain([&] { drained.set_value(); }); });
  EXPECT_EQ(drained.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  Kill();
}

void ApiRuns::Worker::Kill() {
  loop_.Stop();
  thread_.join();
  pipeline_.reset();
}

Json ApiRuns::Block(const std::string& name, Json specs) {
  return {{"block_name", name}, {"specs", std::move(specs)}};
}

Json ApiRuns::WebhookSource(const std::string& frame) {
  return Block("webhook", {{"dataframe_type", frame}});
}

Json ApiRuns::Chain(Json blocks) {
  Json edges = Json::array();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i]["sequence_number"] = i + 1;
    blocks[i]["block_id"] = std::to_string(i + 1);
    if (i == 0) continue;
    edges.push_back({{"from_block_id", std::to_string(i)}, {"to_block_id", std::to_string(i + 1)}});
  }
  return {{"blocks", std::move(blocks)}, {"edges", std::move(edges)}};
}

std::string ApiRuns::NewWorkflow(const Json& definition, const std::string& name) {
  const Reply made = Ask("POST", "/workflows/create_workflow",
                         Json{{"workflow_name", name}, {"workflow_definition", definition}});
  if (made.status != 200) throw std::runtime_error("no workflow: " + made.raw.body);
  return made.body["id"].get<std::string>();
}

std::string ApiRuns::Run(const std::string& workflow, const Json& body) {
  const Reply started = Ask("POST", "/workflows/run?workflow_id=" + workflow, body);
  if (started.status != 200) throw std::runtime_error("no run: " + started.raw.body);
  return started.body["job_id"].get<std::string>();
}

std::string ApiRuns::RunRows(const std::string& workflow, const Json& records) {
  return Run(workflow, Json{{"webhook_payload", records}});
}

std::string ApiRuns::Upload(const std::string& csv) {
  net::ServerRequest request =
      Request("POST", "/storage/csv/upload", {{"content-type", "text/csv"}});
  request.body = csv;
  const Reply uploaded = AskRaw(std::move(request));
  if (uploaded.status != 200) throw std::runtime_error("no upload: " + uploaded.raw.body);
  return uploaded.body["handle_id"].get<std::string>();
}

Json ApiRuns::Live(const std::string& run) {
  const Reply live = Ask("GET", "/workflows/runs/" + run + "/live_status");
  EXPECT_EQ(live.status, 200) << live.raw.body;
  return live.body;
}

Json ApiRuns::Ended(const std::string& run) {
  Until("select finished_at is not null from job where id = '" + run + "'", "t");
  return Live(run);
}

std::string ApiRuns::File(const std::string& run, const std::string& query,
                          const std::string& block_name) {
  const Reply links = Ask("GET", "/workflows/runs/" + run + "/results/download-links" + query);
  EXPECT_EQ(links.status, 200) << links.raw.body;
  std::string file;
  int found = 0;
  for (const Json& link : links.body) {
    if (!block_name.empty() && link["block_name"] != block_name) continue;
    ++found;
    const auto url = link["download_url"].get<std::string>();
    // Without a credential.
    net::ServerRequest request = Request("GET", url.substr(url.find("/storage")), {});
    request.headers.clear();
    const Reply download = AskRaw(std::move(request));
    EXPECT_EQ(download.status, 200) << download.raw.body;
    file = download.raw.body;
  }
  EXPECT_EQ(found, 1) << links.raw.body;
  return file;
}

}  // namespace vedette::test
