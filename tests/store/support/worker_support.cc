#include "tests/store/support/worker_support.h"

#include <fmt/format.h>

#include <pqxx/pqxx>
#include <utility>

#include "base/json.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "tests/store/support/outcome_words.h"

namespace vedette::test {
namespace {

constexpr std::chrono::seconds kDeadline{60};

}  // namespace

worker::ProbeResult Price(base::Json value, std::string evidence) {
  worker::Observation observation;
  observation.fields["price"] = {std::move(value), std::move(evidence), {}, std::nullopt};
  return observation;
}

void ScriptedProbe::SetScript(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
  monitor_script_ = nullptr;
}

void ScriptedProbe::SetMonitorScript(
    std::function<std::optional<worker::ProbeResult>(const base::Uuid&)> script) {
  const std::lock_guard lock(mutex_);
  monitor_script_ = std::move(script);
}

void ScriptedProbe::SetLook(std::function<void(const worker::ProbeRequest&)> look) {
  const std::lock_guard lock(mutex_);
  look_ = std::move(look);
}

void ScriptedProbe::Start(worker::ProbeRequest request,
                          std::function<void(worker::ProbeResult)> done) {
  std::optional<worker::ProbeResult> result;
  {
    const std::lock_guard lock(mutex_);
    ++starts_;
    if (look_) look_(request);
    const int attempt = ++attempts_[request.check_id];
    result = monitor_script_ ? monitor_script_(request.spec->monitor_id)
                             : script_(request.subject.Value()["n"].get<int>(), attempt);
    if (!result) {
      held_.push_back(std::move(done));
      return;
    }
  }
  done(std::move(*result));
}

void ScriptedProbe::Forget() {
  const std::lock_guard lock(mutex_);
  held_.clear();
}

void ScriptedProbe::Release(base::EventLoop& loop, const worker::ProbeResult& result) {
  Answer(loop, result,
         [](std::vector<Done>* held, std::vector<Done>* taken) { held->swap(*taken); });
}

void ScriptedProbe::ReleaseLast(base::EventLoop& loop, const worker::ProbeResult& result) {
  Answer(loop, result, [](std::vector<Done>* held, std::vector<Done>* taken) {
    if (held->empty()) return;
    taken->push_back(std::move(held->back()));
    held->pop_back();
  });
}

void ScriptedProbe::Answer(
    base::EventLoop& loop, const worker::ProbeResult& result,
    const std::function<void(std::vector<Done>* held, std::vector<Done>* taken)>& take) {
  std::promise<void> answered;
  loop.Post([&] {
    std::vector<Done> taken;
    {
      const std::lock_guard lock(mutex_);
      take(&held_, &taken);
    }
    for (const Done& done : taken) done(result);
    answered.set_value();
  });
  answered.get_future().get();
}

std::size_t ScriptedProbe::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

std::size_t ScriptedProbe::starts() const {
  const std::lock_guard lock(mutex_);
  return starts_;
}

std::size_t ScriptedProbe::checks() const {
  const std::lock_guard lock(mutex_);
  return attempts_.size();
}

std::optional<base::Uuid> CountingSink::Reserve(const base::Uuid&, const base::Uuid&) {
  ++reserved;
  return token_;
}

void CountingSink::Take(domain::Notification notification, const base::Uuid& lease_token) {
  EXPECT_EQ(lease_token, token_);
  {
    const std::lock_guard lock(mutex_);
    notifications_.push_back(std::move(notification));
  }
  ++taken;
}

std::vector<domain::Notification> CountingSink::notifications() const {
  const std::lock_guard lock(mutex_);
  return notifications_;
}

void CountingSink::Cancel(const base::Uuid&) {
  ++cancelled;
}

WorkerTest::WorkerTest()
    : settings(config::LoadConfig(std::nullopt, {{"VEDETTE_DATABASE_URL", database.url()}})),
      signals(settings.database, clock, metrics,
              base::Logger(base::LogLevel::kOff, base::LogFormat::kText)) {
  settings.worker.poll_ms = std::chrono::milliseconds(20);
  settings.worker.control_read_ms = std::chrono::milliseconds(20);
  settings.worker.record_partial_delay_ms = std::chrono::milliseconds(20);
}

worker::TierProbe WorkerTest::Scripted() {
  const config::ProbeConfig& tier = settings.probes.at("low");
  return {"scripted", &probe, tier.timeout_ms, tier.deadline_ms, tier.attempts_max};
}

WorkerTest::Process::Process(WorkerTest& test)
    : test_(test),
      pool_(test.settings.database, {.name = "worker", .keyed_plans = true}, 2, test.clock,
            test.metrics, base::Logger(base::LogLevel::kOff, base::LogFormat::kText)),
      pipeline_(std::make_unique<worker::CheckPipeline>(
          loop, pool_, test.signals, test.clock, test.metrics, test.settings,
          std::map<domain::Tier, worker::TierProbe>{{domain::Tier::kLow, test.Scripted()}},
          suspect_slot_, &test.sink, base::Logger(base::LogLevel::kOff, base::LogFormat::kText))) {
  loop.Post([this] { pipeline_->Start(); });
  thread_ = std::thread([this] { loop.Run(); });
}

WorkerTest::Process::~Process() {
  const worker::ProbeResult ended = worker::ProbeFailure{"ended", "The test ended.", false, {}};
  if (!drained_) {
    test_.probe.SetScript([ended](int, int) { return ended; });
    auto done = Drain();
    test_.probe.Release(loop, ended);
    EXPECT_EQ(done.wait_for(kDeadline), std::future_status::ready) << "draining hangs";
  }
  if (thread_.joinable()) {
    loop.Stop();
    thread_.join();
  }
  pipeline_.reset();
}

void WorkerTest::Process::Die() {
  drained_ = true;
  loop.Stop();
  thread_.join();
  test_.probe.Forget();
  test_.Sql("update chunk set available_at = now() where lease_token is not null");
}

std::future<void> WorkerTest::Process::Drain() {
  drained_ = true;
  auto done = std::make_shared<std::promise<void>>();
  loop.Post([this, done] { pipeline_->Drain([done] { done->set_value(); }); });
  return done->get_future();
}

void WorkerTest::Process::Wake() {
  loop.Post([this] { pipeline_->Wake(); });
}

void WorkerTest::Process::Settle() {
  std::promise<void> ran;
  loop.Post([&ran] { ran.set_value(); });
  ran.get_future().get();
}

base::Uuid WorkerTest::NewPriced(int rows, const std::string& webhook_url) {
  const base::Uuid id = NewMonitor({.rows = rows, .webhook_url = webhook_url});
  Sql(
      fmt::format("update monitor_row set subject = json_build_object('n', position), "
                  "baseline = '{{\"price\": \"1\"}}' where monitor_id = '{}'",
                  id.ToString()));
  return id;
}

void WorkerTest::UntilControlIsRead() {
  // The next one to end may have begun before, and when the third ends the second has taken effect.
  const std::string series = "vedette_db_query_seconds_count{query=\"control_organisations\"}";
  const double before = Series(series);
  Until("control is read", [&] { return Series(series) >= before + 3; });
}

std::string WorkerTest::Outcomes(const base::Uuid& monitor) {
  return InWords(
      Sql(fmt::format("select string_agg(lpad(to_hex(outcome::int), 2, '0'), '' order by position) "
                      "from row_state where monitor_id = '{}'",
                      monitor.ToString())));
}

std::int64_t WorkerTest::Balance() {
  return std::stoll(Sql("select balance_mc from account"));
}

}  // namespace vedette::test
