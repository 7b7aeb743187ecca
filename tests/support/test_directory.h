#pragma once

#include <filesystem>

namespace vedette::test {

// PARENT/vedette-test-XXXXXX, for the files of a private PostgreSQL (app/private_postgres.h): made
// by the constructor, removed with what is in it by the destructor. A process that is killed
// removes nothing, so the next one does it: each holds a lock on the file owner.lock in its
// directory for as long as it lives. The constructor first removes those in PARENT whose lock
// nobody holds, ends the servers that still run on them and removes the directories of their
// sockets. (tests/support/testbed.py does the same for the tests in Python.)
//
// Throws std::runtime_error where it cannot make the directory. One thread.
class TestDirectory {
 public:
  explicit TestDirectory(const std::filesystem::path& parent);
  ~TestDirectory();
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace vedette::test
