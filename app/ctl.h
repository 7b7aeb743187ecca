#pragma once

#include <memory>
#include <string>

#include "base/json.h"

namespace CLI {
class App;
}

namespace vedette::app {

// `vedette ctl`: the operator's client of the admin port. A list or an object is printed as a
// table, or with --json as it was answered.
class Ctl {
 public:
  Ctl();
  ~Ctl();
  Ctl(const Ctl&) = delete;
  Ctl& operator=(const Ctl&) = delete;

  // Adds the command with its subcommands to the command line; what is chosen runs while it is
  // parsed. Throws RequestFailed with a sentence, config::ConfigError where no token is given.
  void AddTo(CLI::App& app);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// An answer as text for people: {"items": [...]} as a table with one line an item, an object as one
// line a member. Nested values are compact JSON. Pure.
std::string FormatAnswer(const base::Json& answer);

}  // namespace vedette::app
