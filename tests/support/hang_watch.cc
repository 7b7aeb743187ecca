#include "tests/support/hang_watch.h"

#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace vedette::test {
namespace {

constexpr int kFramesMax = 64;
const int kStackSignal = SIGRTMIN + 5;
// How long a thread may take to write its stack; one that blocks signals does not.
constexpr std::chrono::milliseconds kStackMax{1000};
constexpr std::chrono::milliseconds kPoll{1};

std::atomic<int> stacks_written{0};

void WriteStack(int /*signal*/) {
  void* frames[kFramesMax];
  backtrace_symbols_fd(frames, backtrace(frames, kFramesMax), STDERR_FILENO);
  ++stacks_written;
}

void Say(std::string_view text) {
  (void)!write(STDERR_FILENO, text.data(), text.size());
}

void WriteStacksOfAllThreads() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", none)) {
    const int thread = std::atoi(entry.path().filename().c_str());
    if (thread == gettid()) continue;
    Say("thread " + std::to_string(thread) + "\n");
    const int before = stacks_written;
    if (syscall(SYS_tgkill, getpid(), thread, kStackSignal) != 0) continue;
    const auto until = std::chrono::steady_clock::now() + kStackMax;
    while (stacks_written == before && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(kPoll);
    }
  }
}

bool IsDebugged() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("TracerPid:")) return std::atoi(line.c_str() + 10) != 0;
  }
  return false;
}

}  // namespace

HangWatch::HangWatch(std::chrono::milliseconds limit) : limit_(limit) {
  void* frames[1];
  backtrace(frames, 1);  // the first call loads a library, which a handler of signals must not
  struct sigaction action {};
  action.sa_handler = WriteStack;
  action.sa_flags = SA_RESTART;
  sigaction(kStackSignal, &action, nullptr);
  thread_ = std::thread([this] { Watch(); });
}

HangWatch::~HangWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HangWatch::OnTestStart(const testing::TestInfo& test) {
  {
    const std::lock_guard lock(mutex_);
    test_ = std::string(test.test_suite_name()) + "." + test.name();
    until_ = std::chrono::steady_clock::now() + limit_;
  }
  changed_.notify_one();
}

void HangWatch::OnTestEnd(const testing::TestInfo& /*test*/) {
  const std::lock_guard lock(mutex_);
  test_.clear();
}

void HangWatch::Watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (test_.empty()) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, until_) == std::cv_status::timeout && !test_.empty() &&
               std::chrono::steady_clock::now() >= until_) {
      if (IsDebugged()) {
        until_ += limit_;
        continue;
      }
      Say("\n" + test_ + " hangs: it has run for " + std::to_string(limit_.count() / 1000) +
          " s. The stacks of its threads (addr2line -Cfie BINARY +OFFSET gives lines):\n");
      WriteStacksOfAllThreads();
      Say(test_ + " hangs, and is ended here.\n");
      std::abort();
    }
  }
}

}  // namespace vedette::test
