#include "net/browser/profile_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace vedette::net {
namespace {

constexpr std::string_view kPrefix = "vedette-browser-";
// A folder is made a moment before it is locked.
constexpr std::time_t kYoungSeconds = 60;

std::filesystem::path Parent() {
  std::error_code error;
  const auto path = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : path;
}

// A lock on the folder; -1: there is none to be had. Other programs do not get it.
int Lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::runtime_error NoFolder(int error) {
  return std::runtime_error("no folder for the browser: " + std::generic_category().message(error));
}

bool IsLost(int fd, uid_t user) {
  struct stat seen {};
  return fstat(fd, &seen) == 0 && seen.st_uid == user &&
         std::time(nullptr) - seen.st_mtime >= kYoungSeconds;
}

}  // namespace

ProfileFolder::ProfileFolder(const std::optional<FolderOwner>& owner)
    : path_((Parent() / (std::string(kPrefix) + "XXXXXX")).string()) {
  if (mkdtemp(path_.data()) == nullptr) throw NoFolder(errno);
  lock_ = Lock(path_);
  int error = lock_ < 0 ? errno : 0;
  if (error == 0 && owner && fchown(lock_, owner->user, owner->group) != 0) error = errno;
  if (error == 0) return;
  if (lock_ >= 0) close(lock_);
  RemoveAll(path_);
  throw NoFolder(error);
}

ProfileFolder::~ProfileFolder() {
  RemoveAll(path_);
  close(lock_);
}

int RemoveLostProfiles(const std::optional<FolderOwner>& owner) {
  int removed = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(Parent(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().string();
    if (!it->path().filename().string().starts_with(kPrefix)) continue;
    const int fd = Lock(path);
    if (fd < 0) continue;
    if (IsLost(fd, owner ? owner->user : geteuid())) {
      RemoveAll(path);
      ++removed;
    }
    close(fd);
  }
  return removed;
}

}  // namespace vedette::net
