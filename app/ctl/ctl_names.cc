#include "app/ctl/ctl_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "app/json_client.h"
#include "base/uuid.h"

namespace vedette::app {
namespace {

enum class Kind { kOrganisation, kMonitor, kTeam };

// The candidates for a name that are asked for; the admin port gives no longer pages.
constexpr int kCandidatesMax = 1000;
// The candidates that a sentence names.
constexpr std::size_t kNamedMax = 5;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;

std::string_view WordOf(Kind kind) {
  switch (kind) {
    case Kind::kOrganisation:
      return "organisation";
    case Kind::kMonitor:
      return "monitor";
    case Kind::kTeam:
      return "team";
  }
  return "thing";
}

// What an option names by its id, where names stand for such ids.
std::optional<Kind> KindOf(const CtlCommand& command, const CtlOption& option) {
  if (option.key == "org_id") return Kind::kOrganisation;
  if (option.key == "monitor_id") return Kind::kMonitor;
  if (option.key == "team_id" || option.key == "team") return Kind::kTeam;
  if (option.place != CtlOption::Place::kPath) return std::nullopt;
  if (option.key == "monitor") return Kind::kMonitor;
  if (option.key != "id") return std::nullopt;
  if (command.path.starts_with("/admin/v1/orgs/")) return Kind::kOrganisation;
  if (command.path.starts_with("/admin/v1/monitors/")) return Kind::kMonitor;
  return std::nullopt;
}

std::string Listed(const std::vector<std::string>& words) {
  const std::size_t count = std::min(words.size(), kNamedMax);
  const std::string first = fmt::format(
      "{}", fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  return words.size() > count ? fmt::format("{} and {} more", first, words.size() - count) : first;
}

// The id of the one of `candidates` that has this name.
std::string OneOf(Kind kind, const std::string& name, const base::Json& candidates) {
  std::vector<std::string> ids;
  std::vector<std::string> others;
  for (const base::Json& candidate : candidates) {
    const auto its = candidate.at("name").get<std::string>();
    if (its == name) {
      ids.push_back(candidate.at("id").get<std::string>());
    } else {
      others.push_back(fmt::format("\"{}\"", its));
    }
  }
  if (ids.size() == 1) return ids.front();
  if (!ids.empty()) {
    throw RequestFailed(
        kConflict, fmt::format("several {}s are named \"{}\", give the id of one: {}", WordOf(kind),
                               name, Listed(ids)));
  }
  std::string hint;
  if (!others.empty()) {
    hint = fmt::format("; there {} {}", others.size() == 1 ? "is" : "are", Listed(others));
  }
  throw RequestFailed(kNotFound, fmt::format("no {} is named \"{}\"{}", WordOf(kind), name, hint));
}

std::string IdOf(Kind kind, const std::string& name, const std::string& organisation,
                 const AskAdmin& ask) {
  if (kind == Kind::kTeam) {
    return OneOf(kind, name, ask("/admin/v1/orgs/" + UrlEncode(organisation)).at("teams"));
  }
  const base::Json found = ask(fmt::format("/admin/v1/{}?q={}&limit={}",
                                           kind == Kind::kOrganisation ? "orgs" : "monitors",
                                           UrlEncode(name), kCandidatesMax));
  if (found.contains("next_cursor")) {
    throw RequestFailed(
        kConflict,
        fmt::format("\"{}\" is in the names of too many {}s, give the id", name, WordOf(kind)));
  }
  return OneOf(kind, name, found.at("items"));
}

}  // namespace

void ResolveNames(const CtlCommand& command, const AskAdmin& ask, CtlValues* values) {
  std::string organisation;  // the one that teams are of: it stands before them
  for (const CtlOption& option : command.options) {
    const auto kind = KindOf(command, option);
    const auto given = values->find(option.flag);
    if (!kind || given == values->end() || given->second.empty()) continue;
    std::string& text = given->second.front();
    const bool is_none = option.type == CtlOption::Type::kTextOrNone && text == "none";
    if (!is_none && !text.empty() && !base::Uuid::Parse(text)) {
      text = IdOf(*kind, text, organisation, ask);
    }
    if (*kind == Kind::kOrganisation) organisation = text;
  }
}

}  // namespace vedette::app
