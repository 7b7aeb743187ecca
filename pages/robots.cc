#include "pages/robots.h"

#include <optional>
#include <utility>

#include "base/text.h"

namespace vedette::pages {
namespace {

// Whether the pattern matches the path from its beginning on. Linear in both for each "*": the last
// "*" alone is gone back to.
bool Matches(std::string_view pattern, std::string_view path) {
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  std::size_t p = 0;
  std::size_t t = 0;
  std::optional<std::pair<std::size_t, std::size_t>> star;
  while (true) {
    if (p == pattern.size() && (!to_end || t == path.size())) return true;
    if (p < pattern.size() && pattern[p] == '*') {
      star = {++p, t};
    } else if (p < pattern.size() && t < path.size() && pattern[p] == path[t]) {
      ++p;
      ++t;
    } else if (star && star->second < path.size()) {
      p = star->first;
      t = ++star->second;
    } else {
      return false;
    }
  }
}

struct Line {
  std::string key;  // in lower case
  std::string_view value;
};

// Empty for a line that says nothing.
std::optional<Line> ReadLine(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return Line{base::AsciiLower(base::Trim(line.substr(0, colon))),
              base::Trim(line.substr(colon + 1))};
}

}  // namespace

Robots Robots::Parse(std::string_view text, std::string_view product) {
  text = text.substr(0, kRobotsBytesMax);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  enum class Group { kOthers, kEverybody, kOurs };
  Group group = Group::kOthers;
  bool in_agents = false;
  std::optional<Robots> ours;
  Robots everybody;
  while (!text.empty()) {
    const auto end = text.find_first_of("\r\n");
    const auto line = ReadLine(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line) continue;
    if (line->key == "user-agent") {
      // Several agents in a row share the rules after them.
      if (!in_agents) group = Group::kOthers;
      in_agents = true;
      const std::string_view agent = line->value.substr(0, line->value.find('/'));
      if (base::EqualsIgnoringAsciiCase(agent, product)) {
        group = Group::kOurs;
        if (!ours) ours.emplace();
      } else if (agent == "*" && group == Group::kOthers) {
        group = Group::kEverybody;
      }
      continue;
    }
    if (line->key != "allow" && line->key != "disallow") continue;
    in_agents = false;
    if (group == Group::kOthers || line->value.empty()) continue;
    auto& rules = (group == Group::kOurs ? *ours : everybody).rules_;
    if (rules.size() < kRobotsRulesMax) {
      rules.push_back({std::string(line->value), line->key == "allow"});
    }
  }
  return ours ? std::move(*ours) : everybody;
}

bool Robots::Allows(std::string_view path) const {
  const Rule* best = nullptr;
  for (const Rule& rule : rules_) {
    if (!Matches(rule.pattern, path)) continue;
    const bool is_longer = best == nullptr || rule.pattern.size() > best->pattern.size();
    const bool is_kinder =
        best != nullptr && rule.pattern.size() == best->pattern.size() && rule.allows;
    if (is_longer || is_kinder) best = &rule;
  }
  return best == nullptr || best->allows;
}

}  // namespace vedette::pages
