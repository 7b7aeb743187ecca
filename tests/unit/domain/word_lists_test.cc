#include "domain/text/word_lists.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

TEST(WordLists, WordsAreThoseOfEveryLineThatIsNoComment) {
  const WordSet roles = ListedWords("role_names");
  EXPECT_TRUE(roles.contains("abuse"));     // the first
  EXPECT_TRUE(roles.contains("zentrale"));  // and the last
  EXPECT_FALSE(roles.contains("#"));
  EXPECT_FALSE(roles.contains("2142,")) << "of the comment at its head";
  EXPECT_FALSE(roles.contains(""));
}

TEST(WordLists, AGroupHasPhrasesOverSeveralLinesInTheirOrder) {
  const auto groups = ListedGroups("date_words");
  const WordPhrases& births = groups.at("birth");
  EXPECT_EQ(births.front(), (std::vector<std::string>{"date", "of", "birth"}));
  EXPECT_EQ(births.back(), std::vector<std::string>{"*"});
  EXPECT_EQ(groups.at("julian").size(), 7U);
}

TEST(WordLists, NoMonthIsCalledAsAnother) {
  const auto groups = ListedGroups("date_words");
  std::size_t names = 0;
  WordSet all;
  for (int month = 1; month <= 12; ++month) {
    const WordPhrases& phrases = groups.at(std::to_string(month));
    names += phrases.size();
    all.merge(SingleWords(phrases));
  }
  EXPECT_EQ(all.size(), names);
}

}  // namespace
}  // namespace vedette::domain
