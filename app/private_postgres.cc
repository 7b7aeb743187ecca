#include "app/private_postgres.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/crypto.h"

namespace vedette::app {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr int kMajorMin = 15;
constexpr std::chrono::milliseconds kPoll{10};
constexpr std::chrono::seconds kFastShutdownMax{30};
constexpr std::chrono::seconds kImmediateShutdownMax{10};
constexpr std::chrono::seconds kKillMax{5};
constexpr std::uintmax_t kLogBytesMax = 10 << 20;  // a longer log is emptied at the start
constexpr int kLogTailLines = 8;
constexpr const char* kSocketDirPrefix = "/tmp/vedette-pg-";
constexpr const char* kStandInRoot = "/var/lib/vedette";

std::runtime_error SystemError(std::string_view what, int error = errno) {
  return std::runtime_error(fmt::format("{}: {}", what, std::strerror(error)));
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string ReadLine(const fs::path& path, int number) {
  std::ifstream in(path);
  std::string line;
  for (int i = 0; i < number; ++i) {
    if (!std::getline(in, line)) return "";
  }
  return line;
}

// The output of a command, without the line's end; empty when it fails.
std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return "";
  std::string output;
  char buffer[512];
  while (std::fgets(buffer, sizeof(buffer), pipe) != nullptr) output += buffer;
  if (pclose(pipe) != 0) return "";
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

bool HasServer(const fs::path& bin) {
  return access((bin / "postgres").c_str(), X_OK) == 0 &&
         access((bin / "initdb").c_str(), X_OK) == 0;
}

// The processes of the cluster: PostgreSQL's all have the data directory as their working
// directory.
std::vector<pid_t> ProcessesIn(const fs::path& data_dir) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code error;
    const fs::path cwd = fs::read_symlink(entry.path() / "cwd", error);
    if (!error && cwd == data_dir) found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

// In the child, between fork and exec: only what is safe there.
[[noreturn]] void Die(const char* what) {
  const char* reason = std::strerror(errno);
  (void)!write(STDERR_FILENO, what, std::strlen(what));
  (void)!write(STDERR_FILENO, ": ", 2);
  (void)!write(STDERR_FILENO, reason, std::strlen(reason));
  (void)!write(STDERR_FILENO, "\n", 1);
  _exit(127);
}

void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) std::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

PrivatePostgres::PrivatePostgres(const fs::path& dir, PrivatePostgresOptions options)
    : dir_(fs::absolute(dir).lexically_normal()), options_(std::move(options)) {}

PrivatePostgres::~PrivatePostgres() {
  Stop();
  if (socket_dir_.empty()) return;
  std::error_code ignored;
  fs::remove_all(socket_dir_, ignored);
  fs::remove(home_ / "postgres.socket", ignored);
}

void PrivatePostgres::Start() {
  if (pid_ > 0) return;
  try {
    FindUser();
    FindHome();
    LockHome();
    FindBinaries();
    StopLeftOver();
    ForgetRemoved();
    if (!fs::exists(data_dir_ / "PG_VERSION")) CreateCluster();
    MakeSocketDir();
    std::vector<std::string> arguments = {bin_ / "postgres", "-D", data_dir_};
    const auto set = [&arguments](std::string_view name, std::string_view value) {
      arguments.push_back("-c");
      arguments.push_back(fmt::format("{}={}", name, value));
    };
    set("listen_addresses", "");
    set("unix_socket_directories", socket_dir_.native());
    set("max_connections", std::to_string(options_.connections_max));
    set("cluster_name", "vedette");
    set("timezone", "UTC");
    set("log_timezone", "UTC");
    if (!options_.durable) {
      // Commits still reach the operating system, so that a crash of the server alone loses none.
      set("fsync", "off");
      set("full_page_writes", "off");
      // It lives for minutes, and what it writes is counted by tests.
      set("autovacuum", "off");
    }
    // Not through pg_ctl: its server is nobody's child, and only a child is stopped by the kernel
    // when we die, and waited for by its process id, which then cannot be a stranger's.
    pid_ = Spawn({.arguments = std::move(arguments), .input = {}, .server = true});
    WaitReady();
  } catch (const fs::filesystem_error& error) {
    Stop();
    throw std::runtime_error(
        fmt::format("{} ({})", error.code().message(), error.path1().native()));
  } catch (...) {
    Stop();
    throw;
  }
}

void PrivatePostgres::Stop() {
  End(SIGINT);
}

void PrivatePostgres::Crash() {
  End(SIGQUIT);
}

void PrivatePostgres::End(int signal) {
  if (pid_ > 0) {
    kill(pid_, signal);
    if (!WaitForExit(kFastShutdownMax)) {
      kill(pid_, SIGQUIT);
      if (!WaitForExit(kImmediateShutdownMax)) {
        kill(pid_, SIGKILL);
        WaitForExit(kKillMax);
      }
    }
    pid_ = -1;
  }
  if (lock_fd_ >= 0) {
    close(lock_fd_);
    lock_fd_ = -1;
  }
}

std::string PrivatePostgres::Url(std::string_view name) const {
  return fmt::format("postgresql://vedette@/{}?host={}", name, socket_dir_.native());
}

void PrivatePostgres::Say(std::string_view sentence) const {
  if (options_.say) options_.say(sentence);
}

void PrivatePostgres::FindUser() {
  user_ = {};
  if (geteuid() != 0) return;
  const passwd* entry = getpwnam(options_.user.c_str());
  if (entry == nullptr) {
    throw std::runtime_error(fmt::format(
        "PostgreSQL does not run as root, and there is no user '{}' to run it as; install the "
        "package postgresql-15, or start this as an ordinary user",
        options_.user));
  }
  user_ = {.change = true, .uid = entry->pw_uid, .gid = entry->pw_gid};
}

bool PrivatePostgres::UserCanReach(const fs::path& path) const {
  if (!user_.change) return true;
  const pid_t child = fork();
  if (child < 0) throw SystemError("cannot start a process");
  if (child == 0) {
    const bool reached = setgroups(1, &user_.gid) == 0 && setgid(user_.gid) == 0 &&
                         setuid(user_.uid) == 0 && access(path.c_str(), X_OK) == 0;
    _exit(reached ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void PrivatePostgres::GiveToUser(const fs::path& path) const {
  if (user_.change && chown(path.c_str(), user_.uid, user_.gid) != 0) {
    throw SystemError(fmt::format("cannot give {} to user {}", path.native(), options_.user));
  }
}

void PrivatePostgres::FindHome() {
  fs::create_directories(dir_);
  home_ = fs::canonical(dir_);
  if (!UserCanReach(home_)) {
    const std::string hash = base::HexEncode(base::Sha256(home_.native())).substr(0, 16);
    home_ = fs::path(kStandInRoot) / hash;
    fs::create_directories(home_);
    if (!UserCanReach(home_)) {
      throw std::runtime_error(fmt::format("user {} can reach neither {} nor {}", options_.user,
                                           dir_.native(), home_.native()));
    }
    Say(fmt::format("PostgreSQL runs as user {}, who cannot reach {}; its data lies in {}",
                    options_.user, dir_.native(), home_.native()));
  }
  data_dir_ = home_ / "postgres";
  log_path_ = home_ / "postgres.log";
  RefuseAnothersData();
  std::error_code none;
  if (const auto size = fs::file_size(log_path_, none); !none && size > kLogBytesMax) {
    fs::resize_file(log_path_, 0);
  }
}

void PrivatePostgres::RefuseAnothersData() const {
  struct stat info {};
  if (stat(data_dir_.c_str(), &info) != 0) return;
  const uid_t ours = user_.change ? user_.uid : geteuid();
  if (info.st_uid == ours) return;
  const passwd* owner = getpwuid(info.st_uid);
  const std::string name = owner == nullptr ? std::to_string(info.st_uid) : owner->pw_name;
  throw std::runtime_error(
      fmt::format("the database in {} belongs to user {}, who alone can use it: start this as the "
                  "user who made "
                  "it, or choose another directory (--dir)",
                  dir_.native(), name));
}

void PrivatePostgres::LockHome() {
  const fs::path path = home_ / "postgres.lock";
  lock_fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_fd_ < 0) throw SystemError(fmt::format("cannot write {}", path.native()));
  if (flock(lock_fd_, LOCK_EX | LOCK_NB) != 0) {
    close(std::exchange(lock_fd_, -1));
    throw std::runtime_error(
        fmt::format("{} is in use by process {}; stop that, or choose another directory",
                    dir_.native(), ReadLine(path, 1)));
  }
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(lock_fd_, 0) != 0 || write(lock_fd_, pid.data(), pid.size()) < 0) {
    throw SystemError(fmt::format("cannot write {}", path.native()));
  }
}

void PrivatePostgres::FindBinaries() {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const int major = std::atoi(entry.path().filename().c_str());
    if (major >= kMajorMin && HasServer(entry.path() / "bin")) {
      found.emplace_back(major, entry.path() / "bin");
    }
  }
  if (found.empty()) {
    const fs::path bin = OutputOf("pg_config --bindir 2>/dev/null");
    const std::string version = OutputOf("pg_config --version 2>/dev/null");  // "PostgreSQL 15.4"
    const std::size_t digits = version.find_first_of("0123456789");
    if (!bin.empty() && digits != std::string::npos && HasServer(bin)) {
      const int major = std::atoi(version.c_str() + digits);
      if (major >= kMajorMin) found.emplace_back(major, bin);
    }
  }
  if (found.empty()) {
    throw std::runtime_error(
        "no PostgreSQL server of version 15 or later was found; install the package "
        "postgresql-15");
  }
  std::sort(found.begin(), found.end());
  if (const int made_by = std::atoi(ReadLine(data_dir_ / "PG_VERSION", 1).c_str()); made_by != 0) {
    const auto match = std::find_if(found.begin(), found.end(),
                                    [&](const auto& entry) { return entry.first == made_by; });
    if (match == found.end()) {
      throw std::runtime_error(fmt::format(
          "the cluster in {} was made by PostgreSQL {}, which is not installed; install "
          "it, or move that directory away to start from nothing",
          data_dir_.native(), made_by));
    }
    bin_ = match->second;
  } else {
    bin_ = found.front().second;
  }
}

// Our lock says that no other process of ours uses the cluster; what runs on it is from a crash.
void PrivatePostgres::StopLeftOver() {
  std::vector<pid_t> left = ProcessesIn(data_dir_);
  if (!left.empty()) {
    Say("a PostgreSQL left over from an earlier run is stopped first");
    const pid_t postmaster = std::atoi(ReadLine(data_dir_ / "postmaster.pid", 1).c_str());
    if (std::find(left.begin(), left.end(), postmaster) != left.end()) kill(postmaster, SIGINT);
    const auto deadline = steady_clock::now() + kFastShutdownMax;
    while (!left.empty() && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kPoll);
      left = ProcessesIn(data_dir_);
    }
    for (const pid_t pid : left) kill(pid, SIGKILL);
  }
  // With nobody left the pid file is stale. PostgreSQL would take it for alive if an unrelated
  // process has that number now, which is likely in a restarted container.
  std::error_code ignored;
  fs::remove(data_dir_ / "postmaster.pid", ignored);
  const fs::path remembered = ReadLine(home_ / "postgres.socket", 1);
  struct stat info {};
  if (remembered != socket_dir_ && remembered.native().starts_with(kSocketDirPrefix) &&
      remembered.lexically_normal() == remembered && lstat(remembered.c_str(), &info) == 0 &&
      S_ISDIR(info.st_mode) && info.st_uid == (user_.change ? user_.uid : geteuid())) {
    fs::remove_all(remembered, ignored);
  }
}

// A user who removes DIR means to start from nothing, so the data that stands in for it must go
// too. A mark in DIR tells that.
void PrivatePostgres::ForgetRemoved() {
  if (home_ == fs::canonical(dir_)) return;
  const fs::path mark = dir_ / "postgres.location";
  if (!fs::exists(mark) && fs::exists(data_dir_)) {
    Say(fmt::format("{} is a new directory, so the former data in {} is removed", dir_.native(),
                    home_.native()));
    fs::remove_all(data_dir_);
  }
  std::ofstream(mark, std::ios::trunc) << home_.native() << '\n';
}

// Made under another name and renamed when complete, so that a crash leaves a whole cluster or
// none.
void PrivatePostgres::CreateCluster() {
  const fs::path unfinished = home_ / "postgres.new";
  fs::remove_all(unfinished);
  fs::create_directory(unfinished);
  fs::permissions(unfinished, fs::perms::owner_all);
  GiveToUser(unfinished);
  std::vector<std::string> initdb = {bin_ / "initdb",
                                     "-D",
                                     unfinished,
                                     "-U",
                                     "vedette",
                                     "-A",
                                     "trust",
                                     "-E",
                                     "UTF8",
                                     "--locale=C.UTF-8",
                                     "--no-instructions"};
  std::vector<std::string> single = {bin_ / "postgres", "--single", "-D", unfinished};
  if (!options_.durable) {
    initdb.push_back("--no-sync");
    single.insert(single.end(), {"-c", "fsync=off"});
  }
  single.push_back("postgres");
  RunToEnd({.arguments = std::move(initdb), .input = {}}, "create a PostgreSQL cluster");
  {
    // Who may open the socket may be anyone: the socket's directory is what is guarded.
    std::ofstream hba(unfinished / "pg_hba.conf", std::ios::trunc);
    hba << "local all all trust\n";
  }
  RunToEnd({.arguments = std::move(single), .input = "CREATE DATABASE vedette;\n"},
           "create the database");
  fs::rename(unfinished, data_dir_);
}

// A short path: a Unix socket's may have 107 characters.
void PrivatePostgres::MakeSocketDir() {
  if (!socket_dir_.empty()) return;
  std::string path = std::string(kSocketDirPrefix) + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw SystemError("cannot make a directory under /tmp");
  socket_dir_ = path;
  GiveToUser(socket_dir_);
  std::ofstream(home_ / "postgres.socket", std::ios::trunc) << path << '\n';
}

void PrivatePostgres::WaitReady() {
  const auto deadline = steady_clock::now() + options_.start_max;
  for (;;) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      throw std::runtime_error(fmt::format("PostgreSQL did not start; the end of {}:\n{}",
                                           log_path_.native(), LogTail()));
    }
    // As pg_ctl does: the eighth line of the pid file is the server's state.
    const fs::path pid_file = data_dir_ / "postmaster.pid";
    if (ReadLine(pid_file, 1) == std::to_string(pid_) &&
        ReadLine(pid_file, 8).starts_with("ready")) {
      return;
    }
    if (steady_clock::now() > deadline) {
      throw std::runtime_error(
          fmt::format("PostgreSQL was not ready after {} s; the end of {}:\n{}",
                      options_.start_max.count(), log_path_.native(), LogTail()));
    }
    std::this_thread::sleep_for(kPoll);
  }
}

pid_t PrivatePostgres::Spawn(const Command& command) const {
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  // None of the caller's environment: PGDATA, PGPORT and the like would be obeyed.
  const std::string path = "PATH=" + bin_.native() + ":/usr/bin:/bin";
  char* environment[] = {const_cast<char*>(path.c_str()), const_cast<char*>("LC_ALL=C.UTF-8"),
                         nullptr};

  const int log = open(log_path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0) throw SystemError(fmt::format("cannot write {}", log_path_.native()));
  int input[2] = {-1, -1};
  if (pipe2(input, O_CLOEXEC) != 0) {
    close(log);
    throw SystemError("cannot make a pipe");
  }
  // Fits the pipe's buffer, so that this cannot block.
  (void)!write(input[1], command.input.data(), command.input.size());
  close(input[1]);

  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    ResetSignals();
    // Apart from the terminal's group: Ctrl-C is for us, who stop the server last.
    if (command.server) setsid();
    dup2(input[0], STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close_range(3, ~0U, 0);
    if (user_.change &&
        (setgroups(1, &user_.gid) != 0 || setgid(user_.gid) != 0 || setuid(user_.uid) != 0)) {
      Die("cannot become the server's user");
    }
    umask(077);
    // After the change of user, which would clear it.
    prctl(PR_SET_PDEATHSIG, command.server ? SIGINT : SIGKILL);
    if (getppid() != parent) _exit(127);
    if (chdir("/") != 0) Die("cannot change to /");
    execve(arguments[0], arguments.data(), environment);
    Die(arguments[0]);
  }
  const int error = errno;
  close(input[0]);
  close(log);
  if (child < 0) throw SystemError("cannot start a process", error);
  return child;
}

void PrivatePostgres::RunToEnd(const Command& command, std::string_view what) const {
  const pid_t child = Spawn(command);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(
        fmt::format("could not {}; the end of {}:\n{}", what, log_path_.native(), LogTail()));
  }
}

bool PrivatePostgres::WaitForExit(std::chrono::seconds limit) {
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    const pid_t ended = waitpid(pid_, nullptr, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno == ECHILD)) return true;
    if (steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPoll);
  }
}

std::string PrivatePostgres::LogTail() const {
  std::string text = ReadFile(log_path_);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t start = text.size();
  for (int i = 0; i < kLogTailLines && start != std::string::npos && start > 0; ++i) {
    start = text.rfind('\n', start - 1);
  }
  return start == std::string::npos || start == 0 ? text : text.substr(start + 1);
}

}  // namespace vedette::app
