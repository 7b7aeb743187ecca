#include "store/queries.h"

#include <map>
#include <stdexcept>
#include <utility>

namespace vedette::store {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "store_queries.inc"
};

constexpr std::string_view kNameMark = "-- name: ";

// A file is a sequence of "-- name: x" lines, each followed by one statement.
void ReadFile(std::string_view text, std::map<std::string, std::string, std::less<>>* out) {
  std::string* statement = nullptr;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(kNameMark)) {
      const std::string name(line.substr(kNameMark.size()));
      const auto [it, inserted] = out->try_emplace(name);
      if (!inserted) throw std::logic_error("two statements are named " + name);
      statement = &it->second;
    } else if (statement != nullptr && !line.starts_with("--")) {
      statement->append(line).push_back('\n');
    }
  }
}

std::map<std::string, std::string, std::less<>> ReadAll() {
  std::map<std::string, std::string, std::less<>> all;
  for (const auto& [file, text] : kFiles) ReadFile(text, &all);
  return all;
}

}  // namespace

const std::string& QueryText(std::string_view name) {
  static const auto kAll = ReadAll();
  const auto it = kAll.find(name);
  if (it == kAll.end()) throw std::logic_error("no statement is named " + std::string(name));
  return it->second;
}

}  // namespace vedette::store
