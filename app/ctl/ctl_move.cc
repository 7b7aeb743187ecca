#include "app/ctl/ctl_move.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/ctl/ctl.h"
#include "app/ctl/ctl_names.h"
#include "app/load_config.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "base/version.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "metrics/metrics.h"
#include "store/accounts/accounts.h"
#include "store/move/org_move.h"
#include "store/session.h"

namespace vedette::app {
namespace {

struct CtlWord {
  const char* name;
  const char* help;
};
constexpr CtlWord kOrgMove{"org-move", "Move an organisation to another cell, and its database"};

struct MoveGiven {
  std::string org;
  std::string to;
  std::string config_path;
  std::string to_config_path;
  enum class What : std::uint8_t { kRun, kPlan, kAbandon, kRemove } what = What::kRun;
  bool discard = false;
  bool reset_sign_in = false;
  int wait_s = 300;
  int grace_h = 24;
};

// A name counts where it lives. All of those that have it in theirs are read, as the last of them
// may be it.
base::Uuid OrganisationOf(const std::string& id_or_name, store::Session& session) {
  if (const auto id = base::Uuid::Parse(id_or_name)) return *id;
  store::OrganisationQuery query;
  query.q = id_or_name;
  query.limit = std::numeric_limits<int>::max();
  std::vector<NamedThing> candidates;
  for (const store::Organisation& org : store::ListOrganisations(session, query)) {
    candidates.push_back({org.id.ToString(), org.name});
  }
  return base::Uuid::Parse(IdOfNamed("organisation", id_or_name, candidates)).value();
}

store::MoveOptions OptionsOf(const MoveGiven& given, const base::Uuid& org_id) {
  store::MoveOptions options;
  options.org_id = org_id;
  options.drain_max = std::chrono::seconds(given.wait_s);
  options.grace = std::chrono::hours(given.grace_h);
  options.discards_strays = given.discard;
  options.resets_sign_in = given.reset_sign_in;
  options.say = [](const std::string& sentence) {
    fmt::print("{}\n", sentence);
    std::fflush(stdout);
  };
  return options;
}

void Do(store::OrgMove& move, const MoveGiven& given) {
  switch (given.what) {
    case MoveGiven::What::kPlan:
      move.Plan();
      break;
    case MoveGiven::What::kAbandon:
      move.Abandon();
      break;
    case MoveGiven::What::kRemove:
      move.Remove();
      break;
    case MoveGiven::What::kRun:
      move.Run();
      fmt::print(
          "Once its maps are made, and after {} h, remove what is left at the old cell: the "
          "same command with --remove.\n",
          given.grace_h);
      break;
  }
}

void Move(const MoveGiven& given) {
  const config::Config from = LoadConfig(
      given.config_path.empty() ? std::nullopt : std::optional<std::string>(given.config_path),
      config::ProcessEnvironment());
  const config::Config to = LoadConfig(given.to_config_path, config::Environment{});
  if (to.cell.id != given.to) {
    throw config::ConfigError(fmt::format("org-move: --to-config is of the cell \"{}\", not \"{}\"",
                                          to.cell.id, given.to));
  }
  const base::SystemClock clock;
  metrics::Metrics metrics(VEDETTE_VERSION);
  const base::Logger log(base::LogLevel::kWarn, base::LogFormat::kText);
  store::Session session(from.database, {.name = "move"}, clock, metrics, log);
  const base::Uuid org_id = OrganisationOf(given.org, session);
  store::OrgMove move({from.cell.id, from.database, from.security},
                      {given.to, to.database, to.security}, OptionsOf(given, org_id), clock,
                      metrics, log);
  Do(move, given);
}

}  // namespace

void AddOrgMove(CLI::App& app, int* status) {
  using What = MoveGiven::What;
  CLI::App* command = app.get_subcommand("ctl")->add_subcommand(kOrgMove.name, kOrgMove.help);
  const auto given = std::make_shared<MoveGiven>();
  command->add_option("org", given->org, "The organisation's id, or its name")->required();
  command->add_option("--to", given->to, "The cell to which it goes; \"\" is the first one")
      ->required();
  command->add_option("--config", given->config_path,
                      "TOML file of the cell where it is; the environment overrides it");
  command
      ->add_option("--to-config", given->to_config_path,
                   "TOML file of the cell to which it goes, with its database.url and "
                   "security.encryption_key; no environment overrides it")
      ->required();
  command->add_flag_callback(
      "--dry-run", [given] { given->what = What::kPlan; }, "Check, and say what there is to move");
  command->add_flag_callback(
      "--abort", [given] { given->what = What::kAbandon; },
      "Take a move back that has not come to its switch");
  command->add_flag_callback(
      "--remove", [given] { given->what = What::kRemove; },
      "After a move: remove what is left of the organisation where it was");
  command
      ->add_option("--wait-s", given->wait_s,
                   "How long work that is under way may take to end, before clients notice")
      ->capture_default_str()
      ->check(CLI::Range(1, 86400));
  command->add_option("--grace-h", given->grace_h, "How long what is left stays, at least")
      ->capture_default_str()
      ->check(CLI::Range(0, 8760));
  command->add_flag("--discard", given->discard,
                    "With --remove: also what somebody has written there after the move");
  command->add_flag("--reset-sign-in", given->reset_sign_in,
                    "Take passwords, passkeys and sessions away at the other cell from members "
                    "whom it knows with other ones, which is refused otherwise");
  command->callback([given, status] {
    Move(*given);
    *status = Ctl::kDone;
  });
}

}  // namespace vedette::app
