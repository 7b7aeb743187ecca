#include "app/private_postgres.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/crypto.h"

namespace vedette::app {
namespace {

namespace fs = std::filesystem;

constexpr int kMajorMin = 15;
constexpr std::chrono::milliseconds kPoll{10};
constexpr std::uintmax_t kLogBytesMax = 10 << 20;  // a longer log is emptied at the start
constexpr std::size_t kLogTailLines = 8;
constexpr const char* kSocketDirPrefix = "/tmp/vedette-pg-";
constexpr const char* kStandInRoot = "/var/lib/vedette";

// Scripts of a shell that runs as the server's user; $1 is a path.
constexpr std::string_view kReach = R"(test -x "$1")";
// Ends the cluster's server, if there is one: the number in the pid file may be a stranger's.
constexpr std::string_view kStop = R"sh(
server=$(head -n 1 "$1/postmaster.pid" 2>/dev/null) &&
[ "$(readlink "/proc/$server/cwd")" = "$1" ] || exit 0
pg_ctl stop -s -D "$1" -m fast -t 30 ||
pg_ctl stop -s -D "$1" -m immediate -t 10 ||
kill -9 "$server")sh";
constexpr std::string_view kCrash = R"(pg_ctl stop -s -D "$1" -m immediate -t 10)";

std::runtime_error SystemError(std::string_view what, int error = errno) {
  return std::runtime_error(fmt::format("{}: {}", what, std::strerror(error)));
}

// A word for a shell.
std::string Quoted(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string ReadLine(const fs::path& path, int number) {
  std::ifstream in(path);
  std::string line;
  for (int i = 0; i < number; ++i) {
    if (!std::getline(in, line)) return "";
  }
  return line;
}

std::string Tail(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string tail;
  for (std::size_t i = lines.size() - std::min(lines.size(), kLogTailLines); i < lines.size();
       ++i) {
    tail += (tail.empty() ? "" : "\n") + lines[i];
  }
  return tail;
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
  if (watcher_ != nullptr) return;
  try {
    FindUser();
    FindHome();
    LockHome();
    FindBinaries();
    StopLeftOver();
    ForgetRemoved();
    if (!fs::exists(data_dir_ / "PG_VERSION")) CreateCluster();
    MakeSocketDir();
    Serve();
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
  if (watcher_ != nullptr) pclose(std::exchange(watcher_, nullptr));
  if (lock_fd_ >= 0) close(std::exchange(lock_fd_, -1));
}

void PrivatePostgres::Crash() {
  Run(kCrash, data_dir_, "crash PostgreSQL");
  Stop();
}

void PrivatePostgres::Remove() {
  FindUser();
  FindHome();
  LockHome();
  FindBinaries();
  StopLeftOver();
  fs::remove_all(data_dir_);
  if (home_ != fs::canonical(dir_)) fs::remove_all(home_);
  Stop();
}

std::string PrivatePostgres::Url(std::string_view name) const {
  return fmt::format("postgresql://vedette@/{}?host={}", name, socket_dir_.native());
}

void PrivatePostgres::Say(std::string_view sentence) const {
  if (options_.say) options_.say(sentence);
}

pid_t PrivatePostgres::pid() const {
  return std::atoi(ReadLine(data_dir_ / "postmaster.pid", 1).c_str());
}

void PrivatePostgres::FindUser() {
  uid_ = geteuid();
  gid_ = getegid();
  if (uid_ != 0) return;
  const passwd* entry = getpwnam(options_.user.c_str());
  if (entry == nullptr) {
    throw std::runtime_error(fmt::format(
        "PostgreSQL does not run as root, and there is no user '{}' to run it as; install the "
        "package postgresql-15, or start this as an ordinary user",
        options_.user));
  }
  uid_ = entry->pw_uid;
  gid_ = entry->pw_gid;
}

void PrivatePostgres::GiveToUser(const fs::path& path) const {
  if (uid_ != geteuid() && chown(path.c_str(), uid_, gid_) != 0) {
    throw SystemError(fmt::format("cannot give {} to user {}", path.native(), options_.user));
  }
}

// None of the caller's environment: PGDATA, PGPORT and the like would be obeyed.
std::string PrivatePostgres::AsUser(std::string_view script, const fs::path& path) const {
  const std::string as =
      uid_ == geteuid() ? ""
                        : fmt::format("setpriv --reuid={} --regid={} --clear-groups ", uid_, gid_);
  return fmt::format("{}env -i {} LC_ALL=C.UTF-8 sh -c {} sh {}", as,
                     Quoted("PATH=" + bin_.native() + ":/usr/bin:/bin"), Quoted(script),
                     Quoted(path.native()));
}

bool PrivatePostgres::Succeeds(std::string_view script, const fs::path& path) const {
  return std::system(("exec " + AsUser(script, path) + " >/dev/null 2>&1").c_str()) == 0;
}

void PrivatePostgres::Run(std::string_view script, const fs::path& path,
                          std::string_view what) const {
  const std::string command = fmt::format("umask 077; cd /; exec {} </dev/null >>{} 2>&1",
                                          AsUser(script, path), Quoted(log_path_.native()));
  if (std::system(command.c_str()) == 0) return;
  throw std::runtime_error(
      fmt::format("could not {}; the end of {}:\n{}", what, log_path_.native(), Tail(log_path_)));
}

void PrivatePostgres::FindHome() {
  fs::create_directories(dir_);
  home_ = fs::canonical(dir_);
  if (!Succeeds(kReach, home_)) {
    const std::string hash = base::HexEncode(base::Sha256(home_.native())).substr(0, 16);
    home_ = fs::path(kStandInRoot) / hash;
    fs::create_directories(home_);
    if (!Succeeds(kReach, home_)) {
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
  if (info.st_uid == uid_) return;
  const passwd* owner = getpwuid(info.st_uid);
  const std::string name = owner == nullptr ? std::to_string(info.st_uid) : owner->pw_name;
  throw std::runtime_error(
      fmt::format("the database in {} belongs to user {}, who alone can use it: start this as the "
                  "user who made it, or choose another directory (--dir)",
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
  if (!options_.bin.empty()) {
    if (!HasServer(options_.bin)) {
      throw std::runtime_error(fmt::format("{} has no initdb and postgres", options_.bin.native()));
    }
    bin_ = options_.bin;
    return;
  }
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
  if (!ProcessesIn(data_dir_).empty()) {
    Say("a PostgreSQL left over from an earlier run is stopped first");
    Succeeds(kStop, data_dir_);
    for (const pid_t pid : ProcessesIn(data_dir_)) kill(pid, SIGKILL);
    while (!ProcessesIn(data_dir_).empty()) std::this_thread::sleep_for(kPoll);
  }
  // With nobody left the pid file is stale. PostgreSQL would take it for alive if an unrelated
  // process has that number now, which is likely in a restarted container.
  std::error_code ignored;
  fs::remove(data_dir_ / "postmaster.pid", ignored);
  const fs::path remembered = ReadLine(home_ / "postgres.socket", 1);
  struct stat info {};
  if (remembered != socket_dir_ && remembered.native().starts_with(kSocketDirPrefix) &&
      remembered.lexically_normal() == remembered && lstat(remembered.c_str(), &info) == 0 &&
      S_ISDIR(info.st_mode) && info.st_uid == uid_) {
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
// none. The socket's directory is what is guarded, so that everybody who may open the socket may be
// any user of the database.
void PrivatePostgres::CreateCluster() {
  const fs::path unfinished = home_ / "postgres.new";
  fs::remove_all(unfinished);
  fs::create_directory(unfinished);
  fs::permissions(unfinished, fs::perms::owner_all);
  GiveToUser(unfinished);
  Run(fmt::format(
          R"(initdb -D "$1" -U vedette -A trust -E UTF8 --locale=C.UTF-8 --no-instructions {} &&
echo "local all all trust" >"$1/pg_hba.conf" &&
echo "CREATE DATABASE vedette;" | postgres --single -D "$1" -c fsync={} postgres)",
          options_.durable ? "" : "--no-sync", options_.durable ? "on" : "off"),
      unfinished, "create a PostgreSQL cluster");
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

// The watcher comes first, so that no server runs without one. It has a session of its own: Ctrl-C
// is for us, who stop the server last.
void PrivatePostgres::Serve() {
  watcher_ = popen(
      fmt::format("umask 077; cd /; exec setsid {} >>{} 2>&1",
                  AsUser(fmt::format("read end; {}", kStop), data_dir_), Quoted(log_path_.native()))
          .c_str(),
      "we");
  if (watcher_ == nullptr) throw SystemError("cannot start a process");
  std::string settings = fmt::format(
      "-c listen_addresses= -c unix_socket_directories={} -c max_connections={} "
      "-c cluster_name=vedette -c timezone=UTC -c log_timezone=UTC",
      socket_dir_.native(), options_.connections_max);
  // Without fsync commits still reach the operating system, so that a crash of the server alone
  // loses none. Such a server lives for minutes, and tests count what it writes.
  if (!options_.durable) settings += " -c fsync=off -c full_page_writes=off -c autovacuum=off";
  Run(fmt::format(R"(pg_ctl start -s -D "$1" -t {} -o "{}")", options_.start_max.count(), settings),
      data_dir_, "start PostgreSQL");
}

}  // namespace vedette::app
