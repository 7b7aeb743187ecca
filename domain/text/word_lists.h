#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// The lists of words that ship with the service: the files of domain/text/words/, compiled in. A
// line that begins with # is a comment. `list` is the name of a file without ".txt". Each call
// reads the text again: callers keep what they got. Pure.
namespace vedette::domain {

using WordSet = std::set<std::string, std::less<>>;

// The words of a list, between which stand blanks and ends of lines.
WordSet ListedWords(std::string_view list);

// A phrase is one word or several.
using WordPhrases = std::vector<std::vector<std::string>>;

// A list in groups, "group: phrase, phrase, ..": by name the phrases of each, in their order. A
// line that begins with a blank continues the group before.
std::map<std::string, WordPhrases> ListedGroups(std::string_view list);

// The words of all phrases, each once.
WordSet SingleWords(const WordPhrases& phrases);

}  // namespace vedette::domain
