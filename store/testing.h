#pragma once

#include <random>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "config/config_fwd.h"

// Internal to store/: what [testing] asks for, at the statements and COMMITs that its names stand
// for.
namespace vedette::store {

// What is asked for of one session, which has no such object where nothing is; one thread.
class Testing {
 public:
  Testing(const config::TestingConfig& config, base::Logger log);

  void Begin() { statements_.clear(); }
  // The name of the statement to run instead: without the safety that is switched off.
  std::string_view BeforeStatement(std::string_view name);
  void AfterStatement(std::string_view name);
  void BeforeCommit();
  void AfterCommit();

 private:
  enum class Where { kBefore, kAfter, kBeforeCommit, kAfterCommit };
  struct Place;
  static const Place kPlaces[];
  void Pass(Where where, std::string_view statement);

  const config::TestingConfig& config_;
  base::Logger log_;
  std::mt19937_64 random_;
  std::vector<std::string_view> statements_;  // of the transaction that is open
};

}  // namespace vedette::store
