#include "tests/store/support/job_pipeline_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/jobs_config.h"
#include "config/role_config.h"

namespace vedette::test {
namespace {

constexpr std::chrono::seconds kDeadline{60};

base::Logger Silent() {
  return base::Logger(base::LogLevel::kOff, base::LogFormat::kText);
}

}  // namespace

worker::RowResult Ended(worker::Cells cells) {
  return worker::RowDone{std::move(cells), std::nullopt, std::nullopt};
}

class ScriptedBlock::Runner final : public worker::RowRunner {
 public:
  explicit Runner(ScriptedBlock& block) : block_(block) {}

  void Start(worker::RowRequest request, std::function<void(worker::RowResult)> done) override {
    std::optional<worker::RowResult> result;
    {
      const std::lock_guard lock(block_.mutex_);
      const int attempt = ++block_.attempts_[request.row_id];
      block_.started_.push_back(request.cells.at(0));
      result = block_.script_ ? block_.script_(request, attempt) : Ended(request.cells);
      if (!result) {
        block_.held_.push_back({std::move(request.cells), std::move(done)});
        return;
      }
    }
    done(std::move(*result));
  }

  worker::RowDone EndWith(const worker::Cells&, worker::RowError error) const override {
    return {{"\"" + error.code + "\""}, std::nullopt, std::move(error)};
  }

 private:
  ScriptedBlock& block_;
};

std::variant<std::shared_ptr<worker::RowRunner>, std::string> ScriptedBlock::Bind(
    const std::string& specs_json, std::int64_t /*price_mc*/) {
  if (specs_json != "{}") return "a scripted block has no specs";
  return std::make_shared<Runner>(*this);
}

void ScriptedBlock::SetScript(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

void ScriptedBlock::Release(base::EventLoop& loop) {
  std::promise<void> released;
  loop.Post([&] {
    std::vector<Held> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (Held& row : held) row.done(Ended(std::move(row.cells)));
    released.set_value();
  });
  released.get_future().get();
}

void ScriptedBlock::Forget() {
  const std::lock_guard lock(mutex_);
  held_.clear();
}

std::size_t ScriptedBlock::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

std::size_t ScriptedBlock::starts() const {
  const std::lock_guard lock(mutex_);
  return started_.size();
}

std::vector<std::string> ScriptedBlock::started() const {
  const std::lock_guard lock(mutex_);
  return started_;
}

JobPipelineTest::JobPipelineTest()
    : settings(config::LoadConfig(std::nullopt, {{"VEDETTE_DATABASE_URL", database.url()}})),
      signals(settings.database, clock, metrics, Silent()) {
  settings.worker.poll_ms = std::chrono::milliseconds(20);
  settings.jobs.record_partial_delay_ms = std::chrono::milliseconds(20);
}

JobPipelineTest::Process::Process(JobPipelineTest& test)
    : test_(test),
      pool_(test.settings.database, {.name = "jobs", .keyed_plans = true}, 2, test.clock,
            test.metrics, Silent()),
      null_(loop, test.clock),
      pipeline_(std::make_unique<worker::JobPipeline>(
          loop, pool_, test.signals, test.clock, test.metrics, test.settings,
          std::vector<worker::RowBlock*>{&null_, &test.block}, slot_, Silent())) {
  loop.Post([this] { pipeline_->Start(); });
  thread_ = std::thread([this] { loop.Run(); });
}

JobPipelineTest::Process::~Process() {
  if (!thread_.joinable()) return;
  if (!drained_) {
    test_.block.SetScript(nullptr);
    auto done = Drain();
    test_.block.Release(loop);
    EXPECT_EQ(done.wait_for(kDeadline), std::future_status::ready) << "draining hangs";
  }
  Kill();
}

std::future<void> JobPipelineTest::Process::Drain() {
  drained_ = true;
  auto done = std::make_shared<std::promise<void>>();
  loop.Post([this, done] { pipeline_->Drain([done] { done->set_value(); }); });
  return done->get_future();
}

void JobPipelineTest::Process::Kill() {
  loop.Stop();
  thread_.join();
  pipeline_.reset();
  test_.block.Forget();
}

store::NewJob JobPipelineTest::Numbers(int rows, int part_rows, std::int64_t price_mc) const {
  store::NewJob job = Lookup(rows, price_mc);
  job.part_rows = part_rows;
  job.blocks[0].type = "scripted";
  job.blocks[0].parts_total = (rows + part_rows - 1) / part_rows;
  job.blocks[0].part_window = job.blocks[0].parts_total;
  job.params_json = R"({"rows": [)";
  for (int i = 0; i < rows; ++i) job.params_json += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  job.params_json += "]}";
  return job;
}

void JobPipelineTest::UntilJobIs(const base::Uuid& job, domain::JobStatus status) {
  Eventually(fmt::format("select status from job where id = '{}'", job.ToString()),
             std::to_string(static_cast<int>(status)));
}

void JobPipelineTest::UntilHeldIsRead() {
  // The next one to end may have begun before, and when the third ends the second has taken effect.
  const std::string series = "vedette_db_query_seconds_count{query=\"job_chunk_held\"}";
  const double before = Series(series);
  Until("what is held is read", [&] { return Series(series) >= before + 3; });
}

std::string JobPipelineTest::PartRows(const base::Uuid& job, int part) {
  return Sql(
      fmt::format("select rows from job_part where job_id = '{}' and block = 0 and part = {}",
                  job.ToString(), part));
}

void JobPipelineTest::EndLeases() {
  Sql("update job_chunk set available_at = now() where lease_token is not null");
}

}  // namespace vedette::test
