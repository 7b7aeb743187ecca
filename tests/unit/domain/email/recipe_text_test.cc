#include "domain/email/recipe.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

std::string Same(std::string_view text) {
  return std::string(text);
}

RecipeValues Ann() {
  RecipeValues values;
  values[RecipeField::kFirstName] = "Ann";
  values[RecipeField::kLastName] = "O'Brien & Söhne";
  values[RecipeField::kKey] = "k-1";
  return values;
}

TEST(RecipeText, FieldsStandForWhatIsKnown) {
  EXPECT_EQ(FillIn("Bearer {key}", Ann(), Same), "Bearer k-1");
  EXPECT_EQ(FillIn("{first_name}.{last_name}", Ann(), EncodeForUrl),
            "Ann.O%27Brien%20%26%20S%C3%B6hne");
  EXPECT_EQ(FillIn("plain", Ann(), Same), "plain");
  EXPECT_EQ(FillIn("", Ann(), Same), "");
}

TEST(RecipeText, WithoutAValueThereIsNoText) {
  EXPECT_EQ(FillIn("{company}", Ann(), Same), std::nullopt);
  EXPECT_EQ(FillIn("{first_name} at {company}", Ann(), Same), std::nullopt);
}

// A value with a field's name in it is text like any other.
TEST(RecipeText, AValueIsNeverFilledInAgain) {
  RecipeValues values;
  values[RecipeField::kName] = "{key}";
  values[RecipeField::kKey] = "secret";
  EXPECT_EQ(FillIn("{name}", values, Same), "{key}");
}

TEST(RecipeText, ABraceThatBelongsToNoFieldIsRefused) {
  for (const char* text : {"{", "}", "{}", "{nobody}", "{key", "key}", "{{key}}", "{key}}"}) {
    EXPECT_FALSE(FieldsOf(text)) << text;
  }
  EXPECT_EQ(FieldsOf("{key}{email}"),
            (std::vector<RecipeField>{RecipeField::kKey, RecipeField::kEmail}));
}

TEST(RecipeText, NoControlCharacterStandsInAHeader) {
  EXPECT_TRUE(IsHeaderText("k-1 \xC3\xB6"));
  for (const char c : {'\r', '\n', '\0', '\t', '\x7F'}) EXPECT_FALSE(IsHeaderText({&c, 1}));
}

}  // namespace
}  // namespace vedette::domain
