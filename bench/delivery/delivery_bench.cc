// The delivery path of a process by itself: commits notifications as the recorder does, and lets
// the deliverer send and settle them. Configured as `vedette serve` is (environment).
//   bench_delivery secrets TARGETS              a signing secret for every organisation
//   bench_delivery commit TARGETS COUNT         committed and handed over: first attempts
//   bench_delivery claim TARGETS                what is pending is claimed: retries and orphans
//   bench_delivery idle TARGETS COUNT PORT own|other
//       one at a time, from COMMIT to its arrival on PORT; committed by this process, or by another
// TARGETS is a file that bench/delivery/run writes. Prints JSON.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config.h"
#include "delivery/deliverer.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "store/async.h"
#include "store/signals.h"
#include "store/signing_secrets.h"
#include "store/sql.h"

namespace vedette::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t kBatch = 500;  // notifications in one record

double Seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
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
  n.monitor_id = target.monitor_id;
  n.row_id = target.row_id;
  n.event_group_id = base::Uuid::V4();
  n.created_at = bench->clock.Now();
  n.url = target.url;
  n.metadata = R"({"team":"sales"})";
  return n;
}

// As the recorder's transaction does it.
void Insert(store::Session& session, const std::vector<domain::Notification>& batch,
            std::optional<base::Uuid> token, std::chrono::milliseconds lease) {
  std::vector<base::Uuid> ids, org_ids, endpoint_ids, monitor_ids, row_ids, groups;
  std::vector<domain::NotificationType> types;
  std::vector<std::optional<base::Uuid>> tokens;
  for (const auto& n : batch) {
    ids.push_back(n.delivery_id);
    org_ids.push_back(n.org_id);
    endpoint_ids.push_back(n.endpoint_id);
    monitor_ids.push_back(n.monitor_id);
    row_ids.push_back(n.row_id);
    groups.push_back(n.event_group_id);
    types.push_back(n.type);
    tokens.push_back(token);
  }
  store::InTransaction(session, [&](store::Transaction& tx) {
    tx.Exec("record_deliveries", ids, org_ids, endpoint_ids, monitor_ids, row_ids, groups, types,
            tokens, lease.count());
    return 0;
  });
}

// Keeps one record under way for as long as the deliverer has room. Loop thread.
class Committer {
 public:
  Committer(Bench* bench, std::vector<Target> targets, long count, std::function<void()> done)
      : bench_(bench),
        targets_(std::move(targets)),
        left_(count),
        done_(std::move(done)),
        timer_(bench->loop, [this] { Step(); }) {}

  void Step() {
    if (left_ == 0) {
      done_();
      return;
    }
    auto batch = std::make_shared<std::vector<domain::Notification>>();
    base::Uuid token;
    for (std::size_t tried = 0;
         tried < targets_.size() + kBatch && batch->size() < kBatch && left_ > 0; ++tried) {
      const Target& target = targets_[next_++ % targets_.size()];
      const auto reserved = bench_->deliverer->Reserve(target.endpoint_id);
      if (!reserved) continue;
      token = *reserved;
      batch->push_back(Make(bench_, target));
      --left_;
    }
    if (batch->empty()) {
      timer_.Start(std::chrono::milliseconds(1));
      return;
    }
    store::RunAsync<bool>(
        bench_->pool, bench_->loop,
        [this, batch, token](store::Session& session) {
          Insert(session, *batch, token, bench_->config.delivery.lease_ms);
          return true;
        },
        [this, batch, token](std::variant<bool, store::Failure> result) {
          if (std::holds_alternative<store::Failure>(result)) abort();
          for (auto& n : *batch) bench_->deliverer->Take(std::move(n), token);
          Step();
        });
  }

 private:
  Bench* bench_;
  const std::vector<Target> targets_;
  long left_;
  std::size_t next_ = 0;
  std::function<void()> done_;
  base::Timer timer_;
};

long Pending(Bench* bench) {
  return bench->InStore([](store::Session& session) {
    return store::InTransaction(session, [](store::Transaction& tx) {
      return tx.Exec("overview_deliveries", 10'000'000)[0]["pending"].as<long>();
    });
  });
}

// Runs until nothing is held any more, and prints what it took.
int Measure(Bench* bench, const std::string& targets_path, long count) {
  std::vector<Target> targets = ReadTargets(targets_path);
  const long wanted = count > 0 ? count : Pending(bench);
  std::thread loop([&] { bench->loop.Run(); });
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const auto began = SteadyClock::now();
  std::promise<void> drained;
  std::unique_ptr<Committer> committer;
  bench->OnLoop([&] {
    bench->deliverer->Start();
    if (count > 0) {
      committer = std::make_unique<Committer>(bench, std::move(targets), count, [&] {
        bench->deliverer->Drain([&] { drained.set_value(); });
      });
      committer->Step();
    }
  });
  if (count > 0) {
    drained.get_future().get();
  } else {
    while (Pending(bench) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const std::chrono::duration<double> took = SteadyClock::now() - began;
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  const long left = Pending(bench);
  bench->OnLoop([&] { committer.reset(); });
  bench->loop.Stop();
  loop.join();
  printf(
      "{\"count\": %ld, \"failed\": %ld, \"seconds\": %.4f, \"user_s\": %.4f, \"kernel_s\": "
      "%.4f}\n",
      wanted, left, took.count(), Seconds(after.ru_utime) - Seconds(before.ru_utime),
      Seconds(after.ru_stime) - Seconds(before.ru_stime));
  return left == 0 ? 0 : 1;
}

// Answers 200 to every request and notes when its end came.
class ArrivalClock {
 public:
  explicit ArrivalClock(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int one = 1;
    setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(fd_, 64) != 0) {
      perror("bench_delivery: listen");
      exit(1);
    }
    std::thread([this] {
      for (;;) {
        const int connection = accept(fd_, nullptr, nullptr);
        if (connection < 0) return;
        std::thread([this, connection] { Serve(connection); }).detach();
      }
    }).detach();
  }

  SteadyClock::time_point Wait() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return has_; });
    has_ = false;
    return at_;
  }

 private:
  void Serve(int connection) {
    std::string data;
    char buffer[8192];
    for (;;) {
      const auto n = read(connection, buffer, sizeof buffer);
      if (n <= 0) break;
      data.append(buffer, static_cast<std::size_t>(n));
      if (!data.ends_with("}")) continue;  // the end of the body
      const auto now = SteadyClock::now();
      data.clear();
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
      if (write(connection, answer.data(), answer.size()) < 0) break;
      const std::lock_guard lock(mutex_);
      at_ = now;
      has_ = true;
      arrived_.notify_one();
    }
    close(connection);
  }

  const int fd_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  SteadyClock::time_point at_;
  bool has_ = false;
};

int Idle(Bench* bench, const std::string& targets_path, int count, int port, bool own) {
  ArrivalClock receiver(port);
  const std::vector<Target> targets = ReadTargets(targets_path);
  bench->signals.Listen(store::Signal::kDelivery,
                        [bench] { bench->loop.Post([bench] { bench->deliverer->Wake(); }); });
  bench->signals.Start();
  std::thread loop([&] { bench->loop.Run(); });
  bench->OnLoop([&] { bench->deliverer->Start(); });
  std::vector<double> ms;
  for (int i = 0; i < count; ++i) {
    std::vector<domain::Notification> batch{Make(bench, targets[0])};
    std::optional<base::Uuid> token;
    if (own) bench->OnLoop([&] { token = bench->deliverer->Reserve(targets[0].endpoint_id); });
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
    ms.push_back(std::chrono::duration<double, std::milli>(receiver.Wait() - committed).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // idle again: settled, and quiet
  }
  std::sort(ms.begin(), ms.end());
  printf("{\"count\": %d, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f}\n", count,
         ms[ms.size() / 2], ms[ms.size() * 99 / 100], ms.back());
  return 0;
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
  } else {
    fprintf(stderr, "usage: see the head of bench/delivery/delivery_bench.cc\n");
  }
  fflush(stdout);
  _exit(status);
}
