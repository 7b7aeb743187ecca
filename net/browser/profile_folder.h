#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

// Folders of browsers' profiles, in the folder for temporary files.
namespace vedette::net {

struct FolderOwner {
  uid_t user = 0;
  gid_t group = 0;
};

// The folder of one browser, which goes with this object. While the object is there, the folder is
// locked; the lock ends with the process, whatever ended it. Any thread.
class ProfileFolder {
 public:
  // `owner`: whose it becomes; empty: this process's user's. Throws std::runtime_error with a
  // sentence.
  explicit ProfileFolder(const std::optional<FolderOwner>& owner);
  ~ProfileFolder();  // removes it, with all that is in it
  ProfileFolder(const ProfileFolder&) = delete;
  ProfileFolder& operator=(const ProfileFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

// Removes the folders that killed processes of `owner` (empty: of this process's user) left, and
// says how many. One that is locked, or younger than a minute, belongs to a browser.
int RemoveLostProfiles(const std::optional<FolderOwner>& owner);

}  // namespace vedette::net
