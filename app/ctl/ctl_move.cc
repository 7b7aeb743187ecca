#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/ctl/ctl.h"
#include "app/ctl/ctl_text.h"
#include "app/load_config.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "base/version.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/auth/cell.h"
#include "metrics/metrics.h"
#include "store/move/org_move.h"

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

// A name counts at the old side, which has it as long as there is anything to be done.
base::Uuid OrganisationOf(const std::string& id_or_name, const config::DatabaseConfig& database) {
  if (const auto id = base::Uuid::Parse(id_or_name)) return *id;
  std::vector<NamedThing> candidates;
  for (const auto& [id, name] : store::OrganisationsNamed(database, id_or_name)) {
    candidates.push_back({id, name});
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

// Takes back what can be without the other cell, and throws.
[[noreturn]] void AbandonHere(const store::MoveEnd& from, const MoveGiven& given,
                              const store::MoveOptions& options, const std::string& why) {
  store::OrgMove::LetGoOn(from, options);
  const std::string there = domain::CellName(given.to);
  throw std::runtime_error(
      fmt::format("the organisation goes on at {}, but {} cannot be reached: {}. What was copied "
                  "is still there: "
                  "give the same command, with --abort, again when it can",
                  domain::CellName(from.cell), there, why));
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
  const store::MoveEnd here{from.cell.id, from.database, from.security};
  const auto options = OptionsOf(given, OrganisationOf(given.org, from.database));
  std::optional<store::OrgMove> move;
  try {
    move.emplace(here, store::MoveEnd{given.to, to.database, to.security}, options, clock, metrics,
                 log);
  } catch (const store::MoveRefused&) {
    throw;
  } catch (const std::runtime_error& failed) {
    if (given.what != MoveGiven::What::kAbandon) throw;
    AbandonHere(here, given, options, failed.what());
  }
  Do(*move, given);
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
