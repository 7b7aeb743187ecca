#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

// What `vedette ctl` can do, as a table: one command a route of the admin port. Pure.
namespace vedette::app {

struct CtlOption {
  // kFile: a file whose lines go into the body, a batch at a time (ctl_text.h). kOwn: the
  // command's own affair, which is not sent.
  enum class Place { kPath, kQuery, kBody, kFile, kOwn };
  enum class Type {
    kText,
    kNumber,
    kNumberOrNone,  // "none" becomes null
    kList,          // repeatable; left out where it is not given; --none is a list without elements
    kSwitch,        // without a value; true where given
    kTextOrNone,    // "none" becomes null
    kFile,          // the value that is given here is what the file has
    kJsonFile,      // likewise, and the members of its object go into the body
  };

  std::string_view flag;  // "--reason", or without dashes for one that has its place ("id")
  std::string_view key;   // of the path's placeholder, the query or the body
  Place place;
  Type type;
  bool required;
  std::string_view help;
};

struct CtlCommand {
  std::string_view name;
  std::string_view help;
  std::string_view method;
  std::string_view path;  // with {placeholders}
  std::vector<CtlOption> options;
  std::vector<std::pair<std::string_view, base::Json>> fixed;  // members of the body
  std::vector<std::string_view> columns;  // of the table that people see; empty: every key
  // What it needs beside the arguments that have their place, and --reason.
  enum class Needs {
    kNothing,
    kOption,        // one of its options, else it is refused
    kOptionOrShow,  // without one it shows (GET of its path) and changes nothing
  } needs = Needs::kNothing;
  // Whether an answer with a next_cursor is the last one, or the call is repeated with it until
  // there is none, and the answers are added up.
  // kVerify: the chain of the audit is read, and its hashes made again (ctl_audit.h).
  enum class Calls { kOnce, kUntilTheEnd, kVerify } calls = Calls::kOnce;
};

std::span<const CtlCommand> CtlCommands();

// Adds one answer of a command that is called until the end to those before: numbers are added,
// lists joined, and the cursor is that of `next`.
void AddAnswer(const base::Json& next, base::Json* all);

// What was given on the command line, by flag; an option that was not given is absent.
using CtlValues = std::map<std::string_view, std::vector<std::string>>;

struct CtlRequest {
  std::string method;
  std::string target;
  std::optional<base::Json> body;  // of a POST or PATCH always, of a DELETE where it has members
};
// Throws std::invalid_argument with a sentence for a value that is none of its type.
CtlRequest MakeCtlRequest(const CtlCommand& command, const CtlValues& values);

// How the tables of commands write their options.

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
constexpr CtlOption Own(std::string_view flag, CtlOption::Type type, std::string_view help) {
  return {flag, flag, CtlOption::Place::kOwn, type, false, help};
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

// The commands about organisations and who may call for them, and about where they are told.
std::vector<CtlCommand> AccountCommands();
std::vector<CtlCommand> ChannelCommands();

}  // namespace vedette::app
