#include "app/process.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace vedette::app {

StopSignals::StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);  // not under nohup
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A peer that went away is told by the write's result.
  std::signal(SIGPIPE, SIG_IGN);
  signal_fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  if (signal_fd_ < 0 || stop_fd_ < 0) throw std::runtime_error("cannot wait for signals");
  thread_ = std::thread([this] { Run(); });
}

StopSignals::~StopSignals() {
  const std::uint64_t one = 1;
  (void)!write(stop_fd_, &one, sizeof(one));
  thread_.join();
  close(signal_fd_);
  close(stop_fd_);
}

void StopSignals::Run() {
  pollfd waited[] = {{signal_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
  for (;;) {
    if (poll(waited, 2, -1) < 0) continue;
    if ((waited[1].revents & POLLIN) != 0) return;
    signalfd_siginfo info{};
    if (read(signal_fd_, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) continue;
    const int number = static_cast<int>(info.ssi_signo);
    const std::lock_guard lock(mutex_);
    if (received_ != 0) _exit(128 + number);
    received_ = number;
    changed_.notify_all();
  }
}

bool StopSignals::Received() const {
  const std::lock_guard lock(mutex_);
  return received_ != 0;
}

bool StopSignals::WaitFor(std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return received_ != 0; });
}

EndWithin::EndWithin(std::chrono::milliseconds limit, int status, const base::Logger& log)
    : thread_([this, limit, status, log] {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, limit, [this] { return over_; })) return;
        log.Warn("stopped without the threads that wait for the database", {});
        _exit(status);
      }) {}

EndWithin::~EndWithin() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ForbidDumps() {
  if (prctl(PR_SET_DUMPABLE, 0) != 0) {
    throw std::system_error(errno, std::generic_category(), "core dumps cannot be forbidden");
  }
}

}  // namespace vedette::app
