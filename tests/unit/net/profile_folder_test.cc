#include "net/browser/profile_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace vedette::net {
namespace {

namespace fs = std::filesystem;

void MakeOld(const std::string& path) {
  const utimbuf long_ago{1'000'000'000, 1'000'000'000};
  ASSERT_EQ(utime(path.c_str(), &long_ago), 0);
}

TEST(ProfileFolder, ItGoesWithItsObjectAndAllThatIsInIt) {
  std::string path;
  {
    const ProfileFolder folder(std::nullopt);
    path = folder.path();
    fs::create_directories(path + "/Default/Cache");
    std::ofstream(path + "/Default/Cookies") << "x";
    struct stat seen {};
    ASSERT_EQ(stat(path.c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 0777, 0700U);
  }
  EXPECT_FALSE(fs::exists(path));
}

// A folder whose process was killed is unlocked; one that is in use, new, or another's name stays.
TEST(ProfileFolder, FoldersOfKilledProcessesAreRemovedAndNoOthers) {
  const fs::path parent = fs::temp_directory_path();
  const std::string pid = std::to_string(getpid());
  const fs::path lost = parent / ("vedette-browser-lost" + pid);
  const fs::path young = parent / ("vedette-browser-young" + pid);
  const fs::path other = parent / ("vedette-other-" + pid);
  const fs::path kept = parent / ("vedette-kept-" + pid);
  const fs::path link = parent / ("vedette-browser-link" + pid);
  for (const auto& path : {lost, young, other, kept}) fs::create_directories(path / "Default");
  fs::create_directory_symlink(kept, link);
  for (const auto& path : {lost, other, kept}) MakeOld(path.string());
  const ProfileFolder used(std::nullopt);
  MakeOld(used.path());
  EXPECT_GE(RemoveLostProfiles(std::nullopt), 1);
  EXPECT_FALSE(fs::exists(lost));
  for (const auto& path : {young, other, kept, fs::path(used.path())}) {
    EXPECT_TRUE(fs::exists(path)) << path;
  }
  EXPECT_TRUE(fs::exists(kept / "Default"));
  for (const auto& path : {young, other, kept, link}) fs::remove_all(path);
}

}  // namespace
}  // namespace vedette::net
