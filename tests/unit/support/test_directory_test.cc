#include "tests/support/test_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "app/private_postgres.h"

namespace vedette::test {
namespace {

namespace fs = std::filesystem;

class TestDirectoryTest : public testing::Test {
 protected:
  TestDirectoryTest() {
    std::string path = "/tmp/vedette-parent-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) std::abort();
    fs::permissions(path, fs::perms(0711));
    parent_ = path;
  }
  ~TestDirectoryTest() override { fs::remove_all(parent_); }

  // What a process writes to us before it is killed, with its server or without.
  struct Killed {
    fs::path dir;
    fs::path sockets;
  };
  Killed KillOneWithAServer() {
    const fs::path told = parent_ / "told";
    const pid_t child = fork();
    if (child == 0) {
      TestDirectory dir(parent_);
      app::PrivatePostgres postgres(dir.path(), {.durable = false, .say = {}});
      postgres.Start();
      std::ofstream(told.native() + ".new") << dir.path().native() << '\n'
                                            << postgres.Url() << '\n';
      fs::rename(told.native() + ".new", told);
      for (;;) pause();
    }
    while (!fs::exists(told) && waitpid(child, nullptr, WNOHANG) == 0) usleep(10'000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::ifstream in(told);
    std::string dir, url;
    std::getline(in, dir);
    std::getline(in, url);
    return {dir, url.substr(url.find("host=") + 5)};
  }

  fs::path parent_;
};

TEST_F(TestDirectoryTest, RemovesWhatAKilledProcessLeft) {
  const Killed killed = KillOneWithAServer();
  ASSERT_TRUE(fs::exists(killed.dir / "postgres" / "PG_VERSION"));
  ASSERT_TRUE(killed.sockets.native().starts_with("/tmp/vedette-pg-")) << killed.sockets;
  const TestDirectory next(parent_);
  EXPECT_FALSE(fs::exists(killed.dir));
  EXPECT_FALSE(fs::exists(killed.sockets));
  EXPECT_TRUE(fs::exists(next.path()));
}

TEST_F(TestDirectoryTest, LeavesAloneWhatALivingProcessHolds) {
  const TestDirectory first(parent_);
  std::ofstream(first.path() / "postgres.lock") << getpid() << '\n';
  const TestDirectory second(parent_);
  EXPECT_TRUE(fs::exists(first.path() / "postgres.lock"));
}

TEST_F(TestDirectoryTest, IsRemovedAtItsEnd) {
  fs::path path;
  {
    const TestDirectory dir(parent_);
    path = dir.path();
    std::ofstream(path / "file") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace vedette::test
