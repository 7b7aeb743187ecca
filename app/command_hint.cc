#include "app/command_hint.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/closest_word.h"

namespace vedette::app {
namespace {

// A word that is further off was not meant.
constexpr std::size_t kTyposMax = 3;

std::string Sentence(std::string_view kind, std::string_view word,
                     const std::vector<std::string>& known) {
  const auto closest = base::ClosestWord(word, known, kTyposMax);
  if (!closest) return fmt::format("there is no {} \"{}\"", kind, word);
  return fmt::format("there is no {} \"{}\"; the closest one is \"{}\"", kind, word, *closest);
}

std::vector<std::string> NamesOf(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// The option that this word names, of the command or of the one that it stands under.
const CLI::Option* FindOption(const CLI::App* command, const std::string& name) {
  for (; command != nullptr; command = command->get_parent()) {
    if (const CLI::Option* option = command->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

std::vector<std::string> OptionsOf(const CLI::App* command) {
  std::vector<std::string> names;
  for (; command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

}  // namespace

std::string UnknownWord(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word(argv[i]);
    if (word == "--") return {};
    if (word.starts_with("--")) {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* option = FindOption(command, name);
      if (option == nullptr) return Sentence("option", name, OptionsOf(command));
      const bool takes_next = option->get_items_expected_max() > 0 && name.size() == word.size();
      if (takes_next) ++i;
    } else if (!word.starts_with("-")) {
      const auto commands = command->get_subcommands([](const CLI::App*) { return true; });
      if (commands.empty()) continue;  // a value
      const auto named = std::find_if(commands.begin(), commands.end(),
                                      [&](const CLI::App* one) { return one->get_name() == word; });
      if (named == commands.end()) return Sentence("command", word, NamesOf(commands));
      command = *named;
    }
  }
  return {};
}

}  // namespace vedette::app
