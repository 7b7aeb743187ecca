#include "domain/text/word_lists.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace vedette::domain {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "word_lists.inc"
};

std::string_view TextOf(std::string_view list) {
  const auto* const file = std::find_if(std::begin(kFiles), std::end(kFiles), [&](const auto& one) {
    return one.first.starts_with(list) && one.first.substr(list.size()) == ".txt";
  });
  base::Assert(file != std::end(kFiles), "a list of words is compiled in");
  return file->second;
}

// What stands before `mark`, which is taken off the text with it; all of it where there is none.
std::string_view TakeUntil(char mark, std::string_view* text) {
  const std::size_t end = std::min(text->find(mark), text->size());
  const std::string_view taken = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return taken;
}

std::vector<std::string> WordsIn(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::string_view word = TakeUntil(' ', &line);
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

}  // namespace

WordSet ListedWords(std::string_view list) {
  WordSet words;
  for (std::string_view text = TextOf(list); !text.empty();) {
    const std::string_view line = TakeUntil('\n', &text);
    if (!line.starts_with('#')) words.merge(SingleWords({WordsIn(line)}));
  }
  return words;
}

std::map<std::string, WordPhrases> ListedGroups(std::string_view list) {
  std::map<std::string, WordPhrases> groups;
  WordPhrases* group = nullptr;
  for (std::string_view text = TextOf(list); !text.empty();) {
    std::string_view line = TakeUntil('\n', &text);
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with(' ')) group = &groups[std::string(TakeUntil(':', &line))];
    base::Assert(group != nullptr, "a list of groups begins with the name of one");
    while (!line.empty()) {
      auto phrase = WordsIn(TakeUntil(',', &line));
      if (!phrase.empty()) group->push_back(std::move(phrase));
    }
  }
  return groups;
}

WordSet SingleWords(const WordPhrases& phrases) {
  WordSet words;
  for (const auto& phrase : phrases) words.insert(phrase.begin(), phrase.end());
  return words;
}

}  // namespace vedette::domain
