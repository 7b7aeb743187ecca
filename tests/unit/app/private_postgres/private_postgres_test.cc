#include "app/private_postgres.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace vedette::app {
namespace {

namespace fs = std::filesystem;

class TempDir {
 public:
  explicit TempDir(fs::perms mode = fs::perms(0711)) {
    std::string path = "/tmp/vedette-test-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) std::abort();
    fs::permissions(path, mode);
    path_ = path;
  }
  ~TempDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

PrivatePostgresOptions Quick() {
  return {.durable = false, .say = {}};
}

// The first value of the statement's answer, or the error.
std::string Ask(const std::string& url, const std::string& statement) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(url.c_str()), PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK) return PQerrorMessage(connection.get());
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexec(connection.get(), statement.c_str()), PQclear);
  if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) return "done";
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK || PQntuples(result.get()) < 1) {
    return PQerrorMessage(connection.get());
  }
  return PQgetvalue(result.get(), 0, 0);
}

bool ExistsAfterAWhile(pid_t pid) {
  for (int i = 0; i < 1500; ++i) {
    if (kill(pid, 0) != 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

TEST(PrivatePostgres, AnothersDataIsRefusedByTheNameOfItsOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  TempDir dir;
  const fs::path data = dir.path() / "var" / "postgres";
  fs::create_directories(data);
  constexpr uid_t kStranger = 54321;
  ASSERT_EQ(chown(data.c_str(), kStranger, kStranger), 0);
  PrivatePostgres postgres(dir.path() / "var", Quick());
  try {
    postgres.Start();
    FAIL() << "started on another's data";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("belongs to user 54321"), std::string::npos)
        << error.what();
  }
}

TEST(PrivatePostgres, ServesItsSocketAloneAndKeepsItsData) {
  TempDir dir;
  std::string url;
  fs::path socket_dir;
  pid_t pid = -1;
  {
    PrivatePostgres postgres(dir.path() / "var", Quick());
    postgres.Start();
    url = postgres.Url();
    pid = postgres.pid();
    EXPECT_EQ(Ask(url, "SHOW listen_addresses"), "");
    EXPECT_EQ(Ask(url, "SHOW unix_socket_directories").substr(0, 16), "/tmp/vedette-pg-");
    EXPECT_EQ(Ask(url, "CREATE TABLE t AS SELECT 7 AS n"), "done");
    struct stat info {};
    ASSERT_EQ(stat(postgres.data_dir().c_str(), &info), 0);
    EXPECT_NE(info.st_uid, 0U) << "PostgreSQL does not run as root";
    const fs::path sockets = Ask(url, "SHOW unix_socket_directories");
    ASSERT_EQ(stat(sockets.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700U);
    socket_dir = sockets;
  }
  EXPECT_FALSE(ExistsAfterAWhile(pid));
  EXPECT_FALSE(fs::exists(socket_dir));
  PrivatePostgres again(dir.path() / "var", Quick());
  again.Start();
  EXPECT_EQ(Ask(again.Url(), "SELECT n FROM t"), "7");
}

TEST(PrivatePostgres, RefusesADirectoryInUse) {
  TempDir dir;
  PrivatePostgres first(dir.path(), Quick());
  first.Start();
  PrivatePostgres second(dir.path(), Quick());
  try {
    second.Start();
    FAIL() << "the second start was not refused";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("is in use by process " + std::to_string(getpid())),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(Ask(first.Url(), "SELECT 1"), "1") << "the first one is not harmed";
}

TEST(PrivatePostgres, ServesByTheBinariesThatAreNamedOrSaysThatThereAreNone) {
  TempDir dir;
  PrivatePostgresOptions options = Quick();
  options.bin = dir.path() / "bin";
  PrivatePostgres postgres(dir.path(), options);
  try {
    postgres.Start();
    FAIL() << "there are no binaries";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), options.bin.native() + " has no initdb and postgres");
  }
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql")) {
    fs::remove(options.bin);
    fs::create_directory_symlink(version.path() / "bin", options.bin);
  }
  postgres.Start();
  EXPECT_EQ(Ask(postgres.Url(), "SELECT 1"), "1");
}

// G12: what was committed survives a crash of the server, under the same URL.
TEST(PrivatePostgres, ComesBackAfterACrash) {
  TempDir dir;
  PrivatePostgres postgres(dir.path(), Quick());
  postgres.Start();
  EXPECT_EQ(Ask(postgres.Url(), "CREATE TABLE t AS SELECT 7 AS n"), "done");
  postgres.Crash();
  EXPECT_NE(Ask(postgres.Url(), "SELECT n FROM t"), "7");
  postgres.Start();
  EXPECT_EQ(Ask(postgres.Url(), "SELECT n FROM t"), "7");
}

// The process is killed: no server is left behind, and the next start finds its data. The pid file
// it left names a process that lives and is none of ours, as happens in a restarted container.
TEST(PrivatePostgres, DiesWithItsProcessAndStartsOverAStalePidFile) {
  TempDir dir;
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    PrivatePostgres postgres(dir.path(), Quick());
    postgres.Start();
    Ask(postgres.Url(), "CREATE TABLE t AS SELECT 7 AS n");
    const pid_t pid = postgres.pid();
    (void)!write(channel[1], &pid, sizeof(pid));
    for (;;) pause();
  }
  pid_t server = -1;
  ASSERT_EQ(read(channel[0], &server, sizeof(server)), static_cast<ssize_t>(sizeof(server)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(ExistsAfterAWhile(server));
  close(channel[0]);
  close(channel[1]);

  std::ofstream(dir.path() / "postgres" / "postmaster.pid") << getpid() << "\n";
  PrivatePostgres again(dir.path(), Quick());
  again.Start();
  EXPECT_EQ(Ask(again.Url(), "SELECT n FROM t"), "7");
}

TEST(PrivatePostgres, KeepsItsDataElsewhereWhereItsUserCannotPass) {
  if (geteuid() != 0) GTEST_SKIP() << "only root starts the server as another user";
  TempDir dir(fs::perms::owner_all);
  std::vector<std::string> said;
  PrivatePostgresOptions options = Quick();
  options.say = [&said](std::string_view sentence) { said.emplace_back(sentence); };
  PrivatePostgres postgres(dir.path() / "var", options);
  postgres.Start();
  EXPECT_EQ(Ask(postgres.Url(), "CREATE TABLE t AS SELECT 7 AS n"), "done");
  EXPECT_EQ(postgres.data_dir().native().rfind("/var/lib/vedette/", 0), 0U);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find(postgres.data_dir().parent_path().native()), std::string::npos);
  postgres.Stop();
  postgres.Start();
  EXPECT_EQ(Ask(postgres.Url(), "SELECT n FROM t"), "7") << "the data is found again";
  postgres.Stop();
  fs::remove_all(dir.path() / "var");
  postgres.Start();
  EXPECT_NE(Ask(postgres.Url(), "SELECT n FROM t"), "7") << "removing DIR begins anew";
  postgres.Stop();
  fs::remove_all(postgres.data_dir().parent_path());
}

TEST(PrivatePostgres, SaysWhyTheServerDidNotStart) {
  TempDir dir;
  {
    PrivatePostgres postgres(dir.path(), Quick());
    postgres.Start();
  }
  std::ofstream(dir.path() / "postgres" / "postgresql.conf", std::ios::app) << "nonsense = 1\n";
  PrivatePostgres postgres(dir.path(), Quick());
  try {
    postgres.Start();
    FAIL() << "it started";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace vedette::app
