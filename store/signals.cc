#include "store/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "config/database_config.h"
#include "store/session_impl.h"

namespace vedette::store {
namespace {

constexpr std::size_t kSignals = 7;
constexpr std::array<const char*, kSignals> kChannels = {
    "vedette_due", "vedette_chunk",  "vedette_delivery", "vedette_job_chunk",
    "vedette_job", "vedette_render", "vedette_rendered"};
// Further notifications on a channel wait this long, and go out as one.
constexpr std::chrono::milliseconds kCoalesce{20};
// Between two times that this process's own listener is told: a job that a client waits for is
// started, worked and answered in a few of these.
constexpr std::chrono::milliseconds kCoalesceHere{2};
// So much earlier than others this process's own listener is told of what one process takes: it has
// claimed it then, and the others find nothing, and claim nothing.
constexpr std::chrono::milliseconds kOwnFirst{5};
constexpr std::array<bool, kSignals> kTakenByOne = {true, true, true, true, false, false, false};
// How often a quiet connection is tried, so that a dead one is noticed.
constexpr std::chrono::milliseconds kIdleCheck{10000};

class Receiver final : public pqxx::notification_receiver {
 public:
  Receiver(pqxx::connection_base& connection, const char* channel, std::function<void()> handler)
      : pqxx::notification_receiver(connection, channel), handler_(std::move(handler)) {}
  // What this process sent itself its listener knows already.
  void operator()(const std::string&, int backend) override {
    if (backend != conn().backendpid()) handler_();
  }

 private:
  std::function<void()> handler_;
};

}  // namespace

struct Signals::Impl {
  const config::DatabaseConfig& config;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  base::Logger log;

  std::array<std::function<void()>, kSignals> handlers{};
  // How often since the last notification.
  std::array<std::atomic<int>, kSignals> raised{};
  std::array<std::atomic<std::chrono::nanoseconds>, kSignals> raised_at{};  // the first of these
  std::array<std::chrono::nanoseconds, kSignals> sent_at{};
  // When this process's own listener was told last, since boot; and whether it is to be told again.
  std::array<std::atomic<std::chrono::nanoseconds>, kSignals> told_at{};
  std::array<std::atomic<bool>, kSignals> untold{};
  std::atomic<bool> stopping{false};
  int wake_fd = -1;
  std::thread thread{};
  // Listeners are told between Start and Stop, and never after Stop has returned.
  enum class Telling { kNotYet, kOn, kOver };
  std::mutex mutex{};
  Telling telling = Telling::kNotYet;  // guarded by mutex

  // Tells this process's own listener, on the caller's thread.
  void Tell(std::size_t i) {
    const std::lock_guard lock(mutex);
    if (telling == Telling::kOn && handlers[i]) handlers[i]();
  }

  // One of several callers at once may tell.
  bool MayTell(std::size_t i) {
    const auto now = clock.SinceBoot();
    auto last = told_at[i].load();
    return (last.count() == 0 || now >= last + kCoalesceHere) &&
           told_at[i].compare_exchange_strong(last, now);
  }

  // Tells what could not be told at once; how long until something further may be.
  std::chrono::milliseconds TellUntold() {
    std::chrono::milliseconds wait = kIdleCheck;
    for (std::size_t i = 0; i < kSignals; ++i) {
      if (!untold[i]) continue;
      const auto due = told_at[i].load() + kCoalesceHere;
      const auto now = clock.SinceBoot();
      if (now < due) {
        wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(due - now));
        continue;
      }
      told_at[i] = now;
      untold[i] = false;
      Tell(i);
    }
    return wait;
  }

  void Set(Telling next) {
    const std::lock_guard lock(mutex);
    telling = next;
  }

  void Wake() const {
    const std::uint64_t one = 1;
    if (write(wake_fd, &one, sizeof one) < 0) return;  // full: it wakes anyway
  }

  void Run() {
    const base::Backoff backoff{config.reconnect_first_ms, config.reconnect_max_ms};
    int failures = 0;
    while (!stopping) {
      try {
        const auto connection = OpenConnection(config, {.name = "signals"});
        failures = 0;
        Serve(*connection);
      } catch (const std::exception& e) {
        if (!stopping) log.Debug("signals lost the database", {{"error", e.what()}});
      }
      if (!stopping) Wait(-1, backoff.Wait(++failures));
    }
  }

  void Serve(pqxx::connection& connection) {
    std::vector<std::unique_ptr<Receiver>> receivers;
    for (std::size_t i = 0; i < kSignals; ++i) {
      if (!handlers[i]) continue;
      receivers.push_back(
          std::make_unique<Receiver>(connection, kChannels[i], [this, i] { Tell(i); }));
      Tell(i);  // something may have been missed
    }
    while (!stopping) {
      const auto wait = std::min(TellUntold(), SendRaised(connection));
      // Another's notification may have come with an answer: the socket will not tell again.
      connection.get_notifs();
      const bool quiet = !Wait(connection.sock(), wait);
      connection.get_notifs();
      if (quiet && wait == kIdleCheck) pqxx::nontransaction(connection).exec("select 1");
    }
  }

  // When others are told of what is raised.
  std::chrono::nanoseconds MaySendAt(std::size_t i) const {
    const auto own_first = kTakenByOne[i] && handlers[i] ? kOwnFirst : std::chrono::milliseconds(0);
    const auto first = raised_at[i].load() + own_first;
    return sent_at[i].count() == 0 ? first : std::max(first, sent_at[i] + kCoalesce);
  }

  // Sends what is raised and may go; how long until something further may.
  std::chrono::milliseconds SendRaised(pqxx::connection& connection) {
    std::chrono::milliseconds wait = kIdleCheck;
    for (std::size_t i = 0; i < kSignals; ++i) {
      if (raised[i] == 0) continue;
      const auto now = clock.SinceBoot();
      const auto due = MaySendAt(i);
      if (now < due) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now);
        wait = std::min(wait, left);
        continue;
      }
      const int times = raised[i].exchange(0);
      sent_at[i] = now;
      try {
        pqxx::nontransaction(connection).exec(std::string("notify ") + kChannels[i]);
      } catch (...) {
        raised[i] += times;
        throw;
      }
    }
    return wait;
  }

  // True when something arrived on `fd` (-1: none) or a signal was raised here.
  bool Wait(int fd, std::chrono::milliseconds timeout) const {
    std::array<pollfd, 2> fds{{{wake_fd, POLLIN, 0}, {fd, POLLIN, 0}}};
    const int n = poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
    if (fds[0].revents != 0) {
      std::uint64_t count = 0;
      if (read(wake_fd, &count, sizeof count) < 0) return true;
    }
    return n > 0;
  }
};

Signals::Signals(const config::DatabaseConfig& config, const base::Clock& clock,
                 metrics::Metrics& metrics, base::Logger log)
    : impl_(new Impl{config, clock, metrics, log}) {
  impl_->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (impl_->wake_fd < 0) throw std::runtime_error("eventfd failed");
}

Signals::~Signals() {
  Stop();
  close(impl_->wake_fd);
}

void Signals::Listen(Signal signal, std::function<void()> handler) {
  impl_->handlers[static_cast<std::size_t>(signal)] = std::move(handler);
}

void Signals::Start() {
  impl_->Set(Impl::Telling::kOn);
  impl_->thread = std::thread([this] { impl_->Run(); });
}

void Signals::Stop() {
  impl_->Set(Impl::Telling::kOver);
  impl_->stopping = true;
  impl_->Wake();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void Signals::Raise(Signal signal) {
  const auto i = static_cast<std::size_t>(signal);
  if (impl_->raised[i] == 0) impl_->raised_at[i] = impl_->clock.SinceBoot();
  bool wakes = impl_->raised[i].fetch_add(1) == 0;
  if (impl_->MayTell(i)) {
    impl_->Tell(i);
  } else {
    wakes = !impl_->untold[i].exchange(true) || wakes;
  }
  if (wakes) impl_->Wake();
}

}  // namespace vedette::store
