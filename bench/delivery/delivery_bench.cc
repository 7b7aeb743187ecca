// The delivery path of a process by itself: commits notifications as the recorder does, and lets
// the deliverer send and settle them. Configured as `vedette serve` is (environment).
//   bench_delivery secrets TARGETS              a signing secret for every organisation
//   bench_delivery commit TARGETS COUNT         committed and handed over: first attempts
//   bench_delivery claim TARGETS                what is pending is claimed: retries and orphans
//   bench_delivery idle TARGETS COUNT PORT own|other
//       one at a time, from COMMIT to arrival on PORT; committed by this process, or by another
//   bench_delivery load TARGETS COUNT PORT RATE
//       committed by this process, RATE a second, from COMMIT to arrival on PORT
// TARGETS is a file that bench/delivery/run.py writes. Prints JSON.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/json.h"
#include "base/log.h"
#include "bench/delivery/arrivals.h"
#include "config/database_config.h"
#include "config/delivery_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "delivery/deliverer.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "store/accounts/signing_secrets.h"
#include "store/async.h"
#include "store/checks/record.h"
#include "store/signals.h"
#include "store/sql.h"

namespace vedette::bench {
namespace {

using store::operator""_a;
using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t kBatch = 500;  // notifications in one record
constexpr std::chrono::milliseconds kPace{10};

double Seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

double Seconds(SteadyClock::duration d) {
  return std::chrono::duration<double>(d).count();
}

struct Target {
  base::Uuid org_id, endpoint_id, monitor_id, row_id;
  std::string url;
};

struct Bench {
  Bench()
      : config(config::LoadConfig(std::nullopt, config::ProcessEnvironment())),
        pool(config.database, {"bench", true}, 1, clock, metrics, log),
        delivery_pool(config.database, {"delivery", true}, config.database.delivery_connections,
                      clock, metrics, log),
        signals(config.database, clock, metrics, log) {
    config::NetConfig net = config.net;
    net.connections_max = config.delivery.in_flight_max + config.delivery.slow_in_flight_max;
    client = std::make_unique<net::HttpClient>(loop, net);
    deliverer = std::make_unique<delivery::Deliverer>(loop, delivery_pool, *client, clock, metrics,
                                                      config, log);
  }

  // On the bench's own connection, here and now.
  template <typename F>
  auto InStore(F work) {
    std::promise<decltype(work(std::declval<store::Session&>()))> done;
    if (!pool.Post([&](store::Session& session) {
          try {
            done.set_value(work(session));
          } catch (...) {
            done.set_exception(std::current_exception());
          }
        })) {
      throw std::runtime_error("the pool is stopped");
    }
    return done.get_future().get();
  }

  void OnLoop(const std::function<void()>& work) {
    std::promise<void> done;
    loop.Post([&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }

  base::SystemClock clock;
  base::Logger log{base::LogLevel::kWarn, base::LogFormat::kText};
  metrics::Metrics metrics{"bench"};
  config::Config config;
  base::EventLoop loop;
  store::Pool pool;
  store::Pool delivery_pool;
  store::Signals signals;
  std::unique_ptr<net::HttpClient> client;
  std::unique_ptr<delivery::Deliverer> deliverer;
};

// Lines of ids and a URL: organisation, endpoint, monitor, URL.
std::vector<Target> ReadTargets(const std::string& path) {
  std::ifstream file(path);
  std::vector<Target> targets;
  std::string org, endpoint, monitor, url;
  while (file >> org >> endpoint >> monitor >> url) {
    targets.push_back({*base::Uuid::Parse(org), *base::Uuid::Parse(endpoint),
                       *base::Uuid::Parse(monitor), base::Uuid::V4(), url});
  }
  return targets;
}

// Gives every organisation of the file a signing secret.
int MakeSecrets(Bench* bench, const std::string& path) {
  std::set<base::Uuid> org_ids;
  for (const Target& target : ReadTargets(path)) org_ids.insert(target.org_id);
  for (const base::Uuid& id : org_ids) {
    bench->InStore([&](store::Session& session) {
      store::RotateSigningSecret(session, bench->clock, id, std::chrono::seconds(0), 5,
                                 bench->config.security, {.actor = "bench", .action = "rotate"});
      return 0;
    });
  }
  return 0;
}

domain::Notification Make(Bench* bench, const Target& target) {
  domain::Notification n;
  n.delivery_id = base::Uuid::V7(bench->clock);
  n.org_id = target.org_id;
  n.endpoint_id = target.endpoint_id;
  n.event_group_id = base::Uuid::V4();
  n.created_at = bench->clock.Now();
  n.read_at = bench->clock.SinceBoot();
  n.url = target.url;
  n.about = domain::CheckNotice{target.monitor_id, target.row_id, R"({"team":"sales"})"};
  return n;
}

// What a recorder's transaction does of it.
void Insert(store::Session& session, const std::vector<domain::Notification>& batch,
            std::optional<base::Uuid> token, std::chrono::milliseconds lease) {
  std::vector<store::DeliveryRecord> records;
  for (const auto& n : batch) {
    const auto& check = std::get<domain::CheckNotice>(n.about);
    records.push_back({n.delivery_id, n.org_id, n.endpoint_id, check.monitor_id, check.row_id,
                       n.event_group_id, n.type, token});
  }
  std::vector<const store::DeliveryRecord*> deliveries;
  for (const auto& record : records) deliveries.push_back(&record);
  store::InTransaction(session, [&](store::Transaction& tx) {
    store::DeliveryTargets targets;
    store::RecordDeliveries(tx, deliveries, lease, &targets);
    return 0;
  });
}

// Commits notifications in records, one under way at a time: as fast as the deliverer has room, or
// so many every kPace. Loop thread, but for the times of COMMIT, which are whole once it is done.
class Committer {
 public:
  struct Committed {
    std::string event_id;
    SteadyClock::time_point at;
  };

  Committer(Bench* bench, std::vector<Target> targets, long count, std::size_t batch, bool paced)
      : bench_(bench),
        targets_(std::move(targets)),
        left_(count),
        batch_(batch),
        paced_(paced),
        timer_(bench->loop, [this] { Step(); }) {}

  void Start() {
    if (paced_) {
      timer_.Start(kPace, kPace);
    } else {
      Step();
    }
  }

  // Any thread, once everything has been attempted.
  const std::vector<Committed>& committed() const { return committed_; }

 private:
  void Step() {
    if (left_ == 0) {
      timer_.Stop();
      return;
    }
    if (under_way_) return;
    auto batch = std::make_shared<std::vector<domain::Notification>>();
    base::Uuid token;
    for (std::size_t tried = 0;
         tried < targets_.size() + batch_ && batch->size() < batch_ && left_ > 0; ++tried) {
      const Target& target = targets_[next_++ % targets_.size()];
      const auto reserved = bench_->deliverer->Reserve(target.org_id, target.endpoint_id);
      if (!reserved) continue;
      token = *reserved;
      batch->push_back(Make(bench_, target));
      --left_;
    }
    if (batch->empty()) {
      if (!paced_) timer_.Start(std::chrono::milliseconds(1));
      return;
    }
    under_way_ = true;
    using Time = SteadyClock::time_point;
    store::RunAsync<Time>(
        bench_->pool, bench_->loop,
        [this, batch, token](store::Session& session) {
          Insert(session, *batch, token, bench_->config.delivery.lease_ms);
          return SteadyClock::now();
        },
        [this, batch, token](std::variant<Time, store::Failure> result) {
          if (const auto* failure = std::get_if<store::Failure>(&result)) {
            std::fprintf(stderr, "deliveries were not committed: %s\n", failure->message.c_str());
            std::abort();
          }
          for (auto& n : *batch) {
            if (paced_) committed_.push_back({n.event_group_id.ToString(), std::get<Time>(result)});
            bench_->deliverer->Take(std::move(n), token);
          }
          under_way_ = false;
          if (!paced_) Step();
        });
  }

  Bench* bench_;
  const std::vector<Target> targets_;
  long left_;
  const std::size_t batch_;
  const bool paced_;
  bool under_way_ = false;
  std::size_t next_ = 0;
  base::Timer timer_;
  std::vector<Committed> committed_;
};

// Attempts that ended, by their outcome.
long Ended(Bench* bench, const char* outcome) {
  return base::Json::parse(bench->metrics.Summary())["deliveries"].value(outcome, 0L);
}

long Pending(Bench* bench) {
  return bench->InStore([](store::Session& session) {
    return store::InTransaction(session, [](store::Transaction& tx) {
      return tx.Exec<"overview_deliveries">("limit"_a = 10'000'000)[0]["pending"].as<long>();
    });
  });
}

// What the calling thread, which only watches, has used of the process until now.
rusage OfThisThread() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used;
}

// Until so many attempts have ended and are settled. Draining only then: it gives back what waits.
void AwaitSettled(Bench* bench, long attempts) {
  while (Ended(bench, "delivered") + Ended(bench, "retried") < attempts) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::promise<void> drained;
  bench->OnLoop([&] { bench->deliverer->Drain([&] { drained.set_value(); }); });
  drained.get_future().get();
}

// Commits `count`, or with 0 claims what is pending; prints what it took.
int Measure(Bench* bench, const std::string& targets_path, long count) {
  const long wanted = count > 0 ? count : Pending(bench);
  Committer committer(bench, ReadTargets(targets_path), count, kBatch, false);
  std::thread loop([&] { bench->loop.Run(); });
  const rusage watching_before = OfThisThread();
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const auto began = SteadyClock::now();
  bench->OnLoop([&] {
    bench->deliverer->Start();
    committer.Start();
  });
  AwaitSettled(bench, wanted);
  const double took = Seconds(SteadyClock::now() - began);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  const rusage watching = OfThisThread();
  bench->loop.Stop();
  loop.join();
  printf(
      "{\"count\": %ld, \"delivered\": %ld, \"seconds\": %.4f, \"user_s\": %.4f, \"kernel_s\": "
      "%.4f}\n",
      wanted, Ended(bench, "delivered"), took,
      Seconds(after.ru_utime) - Seconds(before.ru_utime) -
          (Seconds(watching.ru_utime) - Seconds(watching_before.ru_utime)),
      Seconds(after.ru_stime) - Seconds(before.ru_stime) -
          (Seconds(watching.ru_stime) - Seconds(watching_before.ru_stime)));
  return 0;
}

int PrintLatencies(std::vector<double> ms, SteadyClock::time_point began) {
  std::sort(ms.begin(), ms.end());
  printf(
      "{\"count\": %zu, \"seconds\": %.4f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f}\n",
      ms.size(), Seconds(SteadyClock::now() - began), ms[ms.size() / 2], ms[ms.size() * 99 / 100],
      ms.back());
  return 0;
}

int Idle(Bench* bench, const std::string& targets_path, int count, int port, bool own) {
  Arrivals arrivals(port);
  const std::vector<Target> targets = ReadTargets(targets_path);
  bench->signals.Listen(store::Signal::kDelivery,
                        [bench] { bench->loop.Post([bench] { bench->deliverer->Wake(); }); });
  bench->signals.Start();
  std::thread loop([&] { bench->loop.Run(); });
  bench->OnLoop([&] { bench->deliverer->Start(); });
  const auto began = SteadyClock::now();
  std::vector<double> ms;
  for (int i = 0; i < count; ++i) {
    std::vector<domain::Notification> batch{Make(bench, targets[0])};
    const std::string event_id = batch[0].event_group_id.ToString();
    std::optional<base::Uuid> token;
    if (own)
      bench->OnLoop(
          [&] { token = bench->deliverer->Reserve(targets[0].org_id, targets[0].endpoint_id); });
    bench->InStore([&](store::Session& session) {
      Insert(session, batch, token, bench->config.delivery.lease_ms);
      return 0;
    });
    const auto committed = SteadyClock::now();
    if (own) {
      bench->OnLoop([&] { bench->deliverer->Take(std::move(batch[0]), *token); });
    } else {
      bench->signals.Raise(store::Signal::kDelivery);
    }
    ms.push_back(1000 * Seconds(arrivals.Wait(event_id) - committed));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // idle again: settled, and quiet
  }
  bench->loop.Stop();
  loop.join();
  return PrintLatencies(std::move(ms), began);
}

int Load(Bench* bench, const std::string& targets_path, long count, int port, long rate) {
  Arrivals arrivals(port);
  const auto per_step = static_cast<std::size_t>(rate * kPace.count() / 1000);
  Committer committer(bench, ReadTargets(targets_path), count, per_step, true);
  std::thread loop([&] { bench->loop.Run(); });
  const auto began = SteadyClock::now();
  bench->OnLoop([&] {
    bench->deliverer->Start();
    committer.Start();
  });
  AwaitSettled(bench, count);
  bench->loop.Stop();
  loop.join();
  std::vector<double> ms;
  for (const auto& [event_id, at] : committer.committed()) {
    ms.push_back(1000 * Seconds(arrivals.Wait(event_id) - at));
  }
  return PrintLatencies(std::move(ms), began);
}

}  // namespace
}  // namespace vedette::bench

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  // Never destroyed: what is measured is over, and the receiver's threads stay where they are.
  auto* bench = new vedette::bench::Bench();
  int status = 2;
  if (mode == "secrets") {
    status = vedette::bench::MakeSecrets(bench, argv[2]);
  } else if (mode == "commit" && argc == 4) {
    status = vedette::bench::Measure(bench, argv[2], atol(argv[3]));
  } else if (mode == "claim") {
    status = vedette::bench::Measure(bench, argv[2], 0);
  } else if (mode == "idle" && argc == 6) {
    status = vedette::bench::Idle(bench, argv[2], atoi(argv[3]), atoi(argv[4]),
                                  std::string(argv[5]) == "own");
  } else if (mode == "load" && argc == 6) {
    status = vedette::bench::Load(bench, argv[2], atol(argv[3]), atoi(argv[4]), atol(argv[5]));
  } else {
    fprintf(stderr, "usage: see the head of bench/delivery/delivery_bench.cc\n");
  }
  fflush(stdout);
  _exit(status);
}
