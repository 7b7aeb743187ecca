#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace vedette::domain {

// Words that stand in a text one behind the other, with blanks or ends of lines between them: the
// form in which lists of hundreds of words are compiled in.
using WordSet = std::set<std::string, std::less<>>;
WordSet WordsOf(std::string_view text);

}  // namespace vedette::domain
