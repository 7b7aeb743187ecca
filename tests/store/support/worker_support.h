#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/event_loop.h"
#include "config/parts.h"
#include "lease/suspect_slot.h"
#include "store/signals.h"
#include "tests/store/support/pipeline_support.h"
#include "worker/checks/check_pipeline.h"
#include "worker/checks/notification_sink.h"
#include "worker/probes/probe.h"

namespace vedette::test {

// What a probe saw of `price`.
worker::ProbeResult Price(base::Json value, std::string evidence = {});

// Answers by a script. Its lock makes it safe to look at from the test's thread.
class ScriptedProbe final : public worker::Probe {
 public:
  // `n` is the row's position, `attempt` counts from 1; nothing: the probe is held until released.
  using Script = std::function<std::optional<worker::ProbeResult>(int n, int attempt)>;

  void SetScript(Script script);
  // The same by the check's monitor.
  void SetMonitorScript(
      std::function<std::optional<worker::ProbeResult>(const base::Uuid& monitor)> script);
  // Called with every request from now on.
  void SetLook(std::function<void(const worker::ProbeRequest&)> look);
  void Start(worker::ProbeRequest request, std::function<void(worker::ProbeResult)> done) override;

  // Forgets what is held, which nobody waits for any more.
  void Forget();
  // Answers what is held, on the loop; returns when that has happened.
  void Release(base::EventLoop& loop, const worker::ProbeResult& result);
  // The same of the one that has been held for the shortest time.
  void ReleaseLast(base::EventLoop& loop, const worker::ProbeResult& result);

  std::size_t held() const;
  std::size_t starts() const;  // attempts begun
  std::size_t checks() const;  // different checks among them

 private:
  using Done = std::function<void(worker::ProbeResult)>;
  // Takes those of the held ones that are to be answered.
  void Answer(base::EventLoop& loop, const worker::ProbeResult& result,
              const std::function<void(std::vector<Done>* held, std::vector<Done>* taken)>& take);

  mutable std::mutex mutex_;
  Script script_ = [](int, int) { return Price("1"); };
  std::function<std::optional<worker::ProbeResult>(const base::Uuid&)> monitor_script_;
  std::function<void(const worker::ProbeRequest&)> look_;
  std::vector<Done> held_;
  std::map<base::Uuid, int> attempts_;
  std::size_t starts_ = 0;
};

// A deliverer that has room for everything and keeps count.
class CountingSink final : public worker::NotificationSink {
 public:
  std::optional<base::Uuid> Reserve(const base::Uuid& org_id,
                                    const base::Uuid& endpoint_id) override;
  void Take(domain::Notification notification, const base::Uuid& lease_token) override;
  void Cancel(const base::Uuid& endpoint_id) override;

  std::atomic<int> reserved{0};  // ever
  std::atomic<int> taken{0};
  std::atomic<int> cancelled{0};
  int open() const { return reserved - taken - cancelled; }
  std::vector<domain::Notification> notifications() const;  // those taken

 private:
  mutable std::mutex mutex_;
  std::vector<domain::Notification> notifications_;
  const base::Uuid token_ = base::Uuid::V4();
};

class WorkerTest : public PipelineTest {
 public:
  WorkerTest();

  // A worker with a loop and connections of its own, as in a process. Stopped with the object: what
  // is held by the probe then fails.
  class Process {
   public:
    explicit Process(WorkerTest& test);
    ~Process();
    // A future that is ready when the drain is done.
    std::future<void> Drain();
    // Ends it as a crash does: nothing is recorded or given back. Its leases have ended, too.
    void Die();
    // Something may be due, as a signal of the fleet says.
    void Wake();
    // Returns when the loop has run what was posted to it before.
    void Settle();
    base::EventLoop loop;

   private:
    WorkerTest& test_;
    store::Pool pool_;
    lease::SuspectSlot suspect_slot_;
    std::unique_ptr<worker::CheckPipeline> pipeline_;
    std::thread thread_;
    bool drained_ = false;
  };

  // A monitor of the tier `low` whose rows have the subject {"n": position} and the price "1".
  base::Uuid NewPriced(int rows, const std::string& webhook_url = {});

  void UntilAllChunksAreDone() { Eventually("select count(*) from chunk", "0"); }
  // Until a control read that began after this call has taken effect.
  void UntilControlIsRead();

  worker::TierProbe Scripted();                     // what the tier `low` is served by
  std::string Outcomes(const base::Uuid& monitor);  // of row_state, by position; see InWords
  std::int64_t Balance();

  // Checks begun by monitor, for scripts by monitor.
  std::mutex held_mutex;
  std::map<base::Uuid, int> held_of;

  config::Config settings;
  store::Signals signals;
  ScriptedProbe probe;
  CountingSink sink;
};

}  // namespace vedette::test
