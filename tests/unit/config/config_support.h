// How tests of the configuration load one, and what it says of a wrong one.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "config/config.h"

namespace vedette::config {

// A file that is gone when the test is.
class TempFile {
 public:
  explicit TempFile(const std::string& text) {
    char path[] = "/tmp/vedette-config-XXXXXX";
    close(mkstemp(path));
    path_ = path;
    std::ofstream(path_) << text;
  }
  ~TempFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Config Load(const std::string& file, const Environment& environment = {}) {
  const TempFile f(file);
  return LoadConfig(f.path(), environment);
}

inline Config FromEnvironment(const Environment& environment) {
  return LoadConfig(std::nullopt, environment);
}

inline std::string ErrorOf(const std::string& file, const Environment& environment = {}) {
  try {
    Load(file, environment);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

inline std::string EnvironmentErrorOf(const std::string& variable, const std::string& value) {
  return ErrorOf("", {{variable, value}});
}

inline const std::string kHex(64, 'b');

}  // namespace vedette::config
