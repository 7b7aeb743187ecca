#pragma once

#include "app/ctl/ctl_commands.h"

// How the tables of commands write their options.
namespace vedette::app {

constexpr CtlOption Id(std::string_view flag, std::string_view help) {
  return {flag, flag, CtlOption::Place::kPath, CtlOption::Type::kText, true, help};
}
constexpr CtlOption Query(std::string_view flag, std::string_view key, std::string_view help) {
  return {flag, key, CtlOption::Place::kQuery, CtlOption::Type::kText, false, help};
}
constexpr CtlOption Body(std::string_view flag, std::string_view key, CtlOption::Type type,
                         std::string_view help) {
  return {flag, key, CtlOption::Place::kBody, type, false, help};
}
constexpr CtlOption Required(CtlOption option) {
  option.required = true;
  return option;
}

inline constexpr CtlOption kReason =
    Body("--reason", "reason", CtlOption::Type::kText, "For the audit");
inline constexpr CtlOption kReasonShown =
    Body("--reason", "reason", CtlOption::Type::kText, "For the audit; the owner sees it too");
inline constexpr CtlOption kLimit = Query("--limit", "limit", "At most so many, 1 to 1000");
inline constexpr CtlOption kCursor = Query("--cursor", "cursor", "Where the last page ended");
inline constexpr CtlOption kMonitor = Id("id", "The monitor's id, or its name");
inline constexpr CtlOption kOrganisation = Id("id", "The organisation's id, or its name");

// The commands about organisations and who may call for them.
std::vector<CtlCommand> AccountCommands();

}  // namespace vedette::app
