#include "tests/support/test_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/private_postgres.h"

namespace vedette::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "vedette-test-";

constexpr const char* kLock = "owner.lock";

// The descriptor that holds the lock of a directory; -1: another process holds it, or it has none.
int Lock(const fs::path& dir, int flags) {
  const int fd = open((dir / kLock).c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

// A process locks its directory before it makes a cluster there: one without may be about to.
void RemoveLeftBehind(const fs::path& parent) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const bool ours = entry.path().filename().native().starts_with(kPrefix);
    if (ours && fs::exists(entry.path() / "postgres.lock", ignored)) found.push_back(entry.path());
  }
  for (const fs::path& dir : found) {
    const int lock = Lock(dir, 0);
    if (lock < 0) continue;
    try {
      app::PrivatePostgres(dir, {}).Remove();
      fs::remove_all(dir);
    } catch (const std::exception&) {
      // Another user's, or its server could not be ended: it stays for one who can.
    }
    close(lock);
  }
}

}  // namespace

TestDirectory::TestDirectory(const fs::path& parent) {
  RemoveLeftBehind(parent);
  std::string path = (parent / (std::string(kPrefix) + "XXXXXX")).native();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
  path_ = path;
  lock_ = Lock(path_, O_CREAT);
  if (lock_ < 0) throw std::runtime_error("cannot lock " + path);
  // The server's user has to pass through it.
  fs::permissions(path_, fs::perms(0711));
}

TestDirectory::~TestDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  close(lock_);
}

}  // namespace vedette::test
