#include "domain/email/candidate.h"

#include <gtest/gtest.h>

#include <random>

namespace vedette::domain {
namespace {

const NameRendering kAnn{"ann", "example"};

std::vector<std::string> Locals(const std::vector<Guess>& guesses) {
  std::vector<std::string> out;
  for (const Guess& guess : guesses) out.push_back(guess.local);
  return out;
}

TEST(AddressPattern, PatternsAreTriedInTheirOrder) {
  EXPECT_EQ(
      Locals(GuessLocalParts({kAnn}, {}, 10)),
      (std::vector<std::string>{"ann.example", "aexample", "ann", "annexample", "a.example",
                                "ann_example", "anne", "example.ann", "examplea", "example"}));
}

TEST(AddressPattern, ARenderingCostsAsMuchAsThreePatterns) {
  const auto guesses = Locals(GuessLocalParts({{"jan", "vanderberg"}, {"jan", "berg"}}, {}, 7));
  EXPECT_EQ(guesses, (std::vector<std::string>{"jan.vanderberg", "jvanderberg", "jan", "jan.berg",
                                               "janvanderberg", "jberg", "j.vanderberg"}));
}

TEST(AddressPattern, EachLocalPartIsTriedOnceAndIsOfItsCharacters) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<NameRendering> names;
    for (std::uint32_t i = random() % 12; i > 0; --i) {
      std::string given(1 + random() % 40, static_cast<char>('a' + random() % 3));
      std::string family(1 + random() % 40, static_cast<char>('a' + random() % 3));
      names.push_back({std::move(given), std::move(family)});
    }
    const auto guesses = Locals(GuessLocalParts(names, {}, 10));
    EXPECT_LE(guesses.size(), 10U);
    for (const std::string& local : guesses) {
      EXPECT_EQ(std::count(guesses.begin(), guesses.end(), local), 1);
      EXPECT_EQ(local.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-"),
                std::string::npos);
      EXPECT_LE(local.size(), 64U);
      EXPECT_FALSE(local.empty());
    }
  }
}

TEST(AddressPattern, APatternIsLearnedFromTwoHitsAndThreeTimesAsManyHitsAsMisses) {
  const auto learned = [](int hits, int misses) {
    return LearnedPattern({{AddressPattern::kFLast, hits, misses}}).has_value();
  };
  EXPECT_FALSE(learned(1, 0));
  EXPECT_TRUE(learned(2, 0));
  EXPECT_FALSE(learned(2, 1));
  EXPECT_TRUE(learned(3, 1));
  EXPECT_FALSE(learned(5, 2));
  EXPECT_EQ(LearnedPattern({{AddressPattern::kFLast, 2, 0}, {AddressPattern::kLast, 9, 1}}),
            AddressPattern::kLast);
}

TEST(AddressPattern, OfALearnedPatternOnlyThreeRenderingsAreTried) {
  const std::vector<NameRendering> names = {{"a", "b"}, {"c", "d"}, {"e", "f"}, {"g", "h"}};
  const auto guesses = GuessLocalParts(names, {{AddressPattern::kFLast, 2, 0}}, 10);
  EXPECT_EQ(Locals(guesses), (std::vector<std::string>{"ab", "cd", "ef"}));
  EXPECT_EQ(guesses.front().seen, PatternSeen::kLearned);
}

TEST(AddressPattern, PatternsWithAHitComeFirst) {
  const auto guesses =
      GuessLocalParts({kAnn}, {{AddressPattern::kLast, 1, 0}, {AddressPattern::kFLast, 1, 1}}, 3);
  EXPECT_EQ(Locals(guesses), (std::vector<std::string>{"example", "ann.example", "aexample"}));
  EXPECT_EQ(guesses[0].seen, PatternSeen::kHit);
  EXPECT_EQ(guesses[1].seen, PatternSeen::kNot);
  EXPECT_EQ(guesses[2].seen, PatternSeen::kNot) << "as many misses as hits";
}

TEST(AddressPattern, AnAddressTellsItsPattern) {
  EXPECT_EQ(PatternOf("A.Example+news", {kAnn}), AddressPattern::kFDotLast);
  EXPECT_EQ(PatternOf("berg", {{"jan", "vanderberg"}, {"jan", "berg"}}), AddressPattern::kLast);
  EXPECT_EQ(PatternOf("info", {kAnn}), std::nullopt);
  EXPECT_EQ(PatternOf("", {kAnn}), std::nullopt);
}

TEST(AddressPattern, NumbersAndNamesAreThoseThatAreStored) {
  EXPECT_EQ(AddressPatternName(AddressPattern::kFirstUnderscoreLast), "first_last");
  EXPECT_EQ(ReadAddressPattern(9), AddressPattern::kLast);
  EXPECT_EQ(ReadAddressPattern(10), std::nullopt);
  EXPECT_EQ(ReadAddressPattern(-1), std::nullopt);
}

}  // namespace
}  // namespace vedette::domain
