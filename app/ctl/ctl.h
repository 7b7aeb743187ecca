#pragma once

#include <memory>
#include <string>

#include "base/json_text.h"

namespace CLI {
class App;
}

namespace vedette::app {

// `vedette ctl`: the operator's client of the admin port, one subcommand a route. What is answered
// is printed for people (app/ctl/ctl_text.h), or with --json as it was answered.
class Ctl {
 public:
  Ctl();
  ~Ctl();
  Ctl(const Ctl&) = delete;
  Ctl& operator=(const Ctl&) = delete;

  // What a run ends with. A wrong command line is CLI11's and main's affair: 2.
  static constexpr int kDone = 0;
  static constexpr int kRefused = 1;  // the server said no, with its reason
  static constexpr int kUnreachable = 3;

  // Adds the command with its subcommands to the command line; what is chosen runs while it is
  // parsed. With `status` the outcome goes there and a failure's sentence to standard error;
  // without, a failure throws RequestFailed. Throws config::ConfigError where no token is given.
  void AddTo(CLI::App& app, int* status = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// An answer as text for people: {"items": [...]} as a table with one line an item, an object as one
// line a member. Nested values are compact JSON. Pure.
std::string FormatAnswer(const base::Json& answer);

// `vedette ctl org-move`: an organisation goes to another cell (store/move/org_move.h). It asks no
// admin port, since two databases and the keys of both cells are needed: it runs where --config and
// the environment are the old cell's, and --to-config is a copy of the new one's configuration,
// which is read without the environment. The command's status goes to `status`; what goes wrong is
// thrown, as main takes it.
void AddOrgMove(CLI::App& app, int* status);

}  // namespace vedette::app
