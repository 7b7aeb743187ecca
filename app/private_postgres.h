#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace vedette::app {

struct PrivatePostgresOptions {
  // Without: no fsync. For tests, whose data may be lost with the machine.
  bool durable = true;
  int connections_max = 100;
  // The user that the server runs as where this process is root, which PostgreSQL refuses.
  std::string user = "postgres";
  // The directory of initdb, pg_ctl and postgres; empty: they are looked for.
  std::filesystem::path bin = {};
  std::chrono::seconds start_max{60};
  // Told, in a sentence, what a reader should know: where the data went, what was found running.
  std::function<void(std::string_view)> say;
};

// A PostgreSQL of our own: a cluster in DIR/postgres, made by initdb and run by pg_ctl of version
// 15 or later from Debian's /usr/lib/postgresql (or from pg_config, or `options.bin`), reachable
// only through a Unix socket in a directory that only its user may enter; no TCP. The cluster
// survives; the server lives as long as this object, and never longer than the process: a watcher
// beside it, which waits for our end of a pipe to close, stops it (a fast shutdown). What a crash
// of both left behind, another Start on the same DIR clears away.
//
// Started by root, the server runs as `options.user`. Where that user cannot reach DIR (a checkout
// under /root), the cluster is kept under /var/lib/vedette/<hash of DIR>, and forgotten when DIR
// was removed.
//
// One thread. Not for two processes at once: the second Start on a DIR throws.
class PrivatePostgres {
 public:
  // No effects yet. DIR is made by Start.
  PrivatePostgres(const std::filesystem::path& dir, PrivatePostgresOptions options);
  ~PrivatePostgres();  // stops it
  PrivatePostgres(const PrivatePostgres&) = delete;
  PrivatePostgres& operator=(const PrivatePostgres&) = delete;

  // Creates the cluster if there is none, starts the server and waits until it takes connections.
  // Throws std::runtime_error with a sentence, and the end of the server's log where that says why.
  void Start();

  // A fast shutdown: open transactions are rolled back, what is committed stays. Blocks, at most 45
  // s, after which the server is killed. Does nothing when it does not run.
  // Afterwards Start serves the same data again, under the same URL.
  void Stop();

  // Ends the server as a crash would, to be recovered at the next Start. For tests.
  void Crash();

  // Instead of Start, on a DIR whose process was killed: ends the server that still runs on it, and
  // removes the cluster and the directory of its socket. Throws as Start does.
  void Remove();

  // A libpq URI of the database `name` ("vedette" exists from the start). Valid after Start.
  std::string Url(std::string_view name = "vedette") const;

  // The directory of the cluster, and the file of the server's log. Valid after Start.
  const std::filesystem::path& data_dir() const { return data_dir_; }
  const std::filesystem::path& log_path() const { return log_path_; }
  pid_t pid() const;  // the server's; 0: none runs

 private:
  void FindUser();
  void FindHome();
  void RefuseAnothersData() const;
  void LockHome();
  void FindBinaries();
  void StopLeftOver();
  void ForgetRemoved();
  void CreateCluster();
  void MakeSocketDir();
  void Serve();

  void Say(std::string_view sentence) const;
  void GiveToUser(const std::filesystem::path& path) const;
  // A command of a shell that runs `script` as the server's user, $1 being `path`.
  std::string AsUser(std::string_view script, const std::filesystem::path& path) const;
  bool Succeeds(std::string_view script, const std::filesystem::path& path) const;
  void Run(std::string_view script, const std::filesystem::path& path, std::string_view what) const;

  const std::filesystem::path dir_;
  const PrivatePostgresOptions options_;
  uid_t uid_ = 0;  // the server's user
  gid_t gid_ = 0;
  std::filesystem::path home_;  // dir_, or its stand-in under /var/lib/vedette
  std::filesystem::path bin_;
  std::filesystem::path data_dir_;
  std::filesystem::path socket_dir_;
  std::filesystem::path log_path_;
  int lock_fd_ = -1;
  std::FILE* watcher_ = nullptr;  // its standard input; open while the server shall run
};

}  // namespace vedette::app
