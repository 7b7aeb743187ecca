#include "domain/people/person_found.h"

#include <gtest/gtest.h>

#include <string>

#include "domain/people/people_answer.h"

namespace vedette::domain {
namespace {

TEST(StatedName, ANameIsTakenWithoutItsTitles) {
  EXPECT_EQ(StatedName("Ada Lovelace"), "Ada Lovelace");
  EXPECT_EQ(StatedName("  Prof. Dr. Ada  Lovelace, PhD"), "Ada Lovelace");
  EXPECT_EQ(StatedName("Jean-Luc O'Brien-Smith"), "Jean-Luc O'Brien-Smith");
  EXPECT_EQ(StatedName("Ludwig van Beethoven"), "Ludwig van Beethoven");
  EXPECT_EQ(StatedName("J. R. R. Tolkien"), "J. R. R. Tolkien");
  EXPECT_EQ(StatedName("Jack Ma"), "Jack Ma");
  EXPECT_EQ(StatedName("李小龙"), "李小龙");
  EXPECT_EQ(StatedName("김민준"), "김민준");
  EXPECT_EQ(StatedName("Мария Иванова"), "Мария Иванова");
}

TEST(StatedName, WhatIsNoNameIsNone) {
  for (const char* text :
       {"", "Ada", "ada lovelace", "Support Team", "Head of Research", "Acme GmbH", "Contact Us",
        "Call +49 30 1234", "ada@acme.com", "https://acme.com", "<b>Ada Lovelace</b>", "Ada L.",
        "The Quick Brown Fox Jumps Over Lazy Dogs", "Managing Director", "Ada Lovelace 1815",
        "\xF0\x9F\x98\x80 \xF0\x9F\x98\x80", "!!! ???"}) {
    EXPECT_EQ(StatedName(text), "") << text;
  }
}

TEST(CleanName, IsComposedWithoutControlCharactersAndBounded) {
  EXPECT_EQ(CleanName("Jose\u0301 Mu\u0308\u00dfig"), "Jos\u00e9 M\u00fc\u00dfig");
  EXPECT_EQ(CleanName("Ada\u202E Love\alace"), "Ada Love lace");
  EXPECT_EQ(CleanName(std::string(100'000, 'x')).size(), kPersonNameCharactersMax);
}

TEST(FoundSuppression, WhomNobodyLooksUpIsDroppedAndTheProviderHasFoundNothing) {
  PersonFound ada;
  ada.name = "Ada Lovelace";
  PersonFound others;
  others.candidates = {{"ada  LOVELACE", 3, "b", ""}, {"Bob Sample", 3, "b", ""}};
  std::vector<PersonAnswer> answers{{"a", ada}, {"b", others}};
  std::vector<ProviderTry> tries{{"a", TryOutcome::kFound, "", {}},
                                 {"b", TryOutcome::kFound, "", {}}};
  EXPECT_EQ(KeysOfFound(answers, "acme.com").size(), 2U);
  DropSuppressed({*PersonSuppression("Ada Lovelace", "acme.com")}, "acme.com", &answers, &tries);
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_EQ(answers[0].second.candidates.size(), 1U);
  EXPECT_EQ(answers[0].second.candidates[0].name, "Bob Sample");
  EXPECT_EQ(tries[0].outcome, TryOutcome::kNothing);
  EXPECT_EQ(tries[1].outcome, TryOutcome::kFound);
}

}  // namespace
}  // namespace vedette::domain
