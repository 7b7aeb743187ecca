// The catalogue of fields.
#include "domain/search/fields.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/support/search_cases.h"

namespace vedette::domain::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Refusal(const std::string& company) {
  try {
    Catalogue catalogue(R"({"people": {}, "company": )" + company + "}");
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(Catalogue, TheOneThatIsCompiledInHasAboutFortyFieldsAMode) {
  const Catalogue catalogue;
  for (const Mode mode : {Mode::kPeople, Mode::kCompany}) {
    const Fields& fields = catalogue.of(mode);
    EXPECT_GE(fields.all().size(), 35U);
    for (const Field& field : fields.all()) {
      for (const std::string& related : field.related) {
        EXPECT_NE(fields.Find(related), nullptr) << field.name << " is related to " << related;
      }
    }
  }
  EXPECT_NE(catalogue.of(Mode::kPeople).hash(), catalogue.of(Mode::kCompany).hash());
}

TEST(Catalogue, AFieldIsFoundByItsNameAndByTheNameOfItsWholeValues) {
  const auto catalogue = test::SmallCatalogue();
  const Fields& fields = catalogue.of(Mode::kCompany);
  const Field* title = fields.Find("title");
  ASSERT_NE(title, nullptr);
  EXPECT_EQ(fields.Find("title.keyword"), title);
  EXPECT_EQ(title->value_type(), FieldType::kKeyword);
  EXPECT_EQ(fields.Find("note")->aggregation_field, "");
  EXPECT_EQ(fields.Find("size")->aggregation_field, "size");
  EXPECT_EQ(fields.Find("nothing"), nullptr);
  EXPECT_THAT(fields.Find("jobs.grade")->Path(), ElementsAre("grade"));
  EXPECT_THAT(fields.Find("place.city")->Path(), ElementsAre("place", "city"));
  EXPECT_THAT(fields.nested_paths(), ElementsAre("jobs"));
}

TEST(Catalogue, NamesTheFieldsThatLookLikeAnUnknownOne) {
  const auto catalogue = test::SmallCatalogue();
  const Fields& fields = catalogue.of(Mode::kCompany);
  EXPECT_THAT(fields.Near("tagg"), ElementsAre("tag"));
  EXPECT_THAT(fields.Near("city"), ElementsAre("place.city"));
  EXPECT_THAT(fields.Near("something_else"), ElementsAre());
  EXPECT_LE(fields.Near(std::string(100000, 'x')).size(), 3U);
}

TEST(Catalogue, ABadOneIsRefusedWithTheFieldsName) {
  EXPECT_EQ(Refusal(R"({"a": {"type": "keyword"}})"), "");
  EXPECT_THAT(Refusal(R"({"a": {"type": "integer"}})"), HasSubstr("\"a\""));
  EXPECT_THAT(Refusal(R"({"a": {"type": "long", "boost": 2}})"), HasSubstr("boost"));
  EXPECT_THAT(Refusal(R"({"a": {"type": "long", "preferred": 2}})"), HasSubstr("preferred"));
  EXPECT_THAT(Refusal(R"({"a": {"type": "long", "related": [2]}})"), HasSubstr("related"));
  EXPECT_THAT(Refusal(R"({"a": {"type": "long", "nested_path": "b"}})"), HasSubstr("nested path"));
  EXPECT_THAT(Refusal(R"({"a..b": {"type": "long"}})"), HasSubstr("empty key"));
  EXPECT_THAT(
      Refusal(R"({"a": {"type": "text", "aggregation_field": "b"}, "b": {"type": "long"}})"),
      HasSubstr("twice"));
  EXPECT_THAT(Refusal("[]"), HasSubstr("company"));
  EXPECT_THROW(Catalogue("no json"), std::invalid_argument);
}

TEST(Catalogue, TheHashChangesWithAnyField) {
  const auto hash = [](const std::string& company) {
    return Catalogue(R"({"people": {}, "company": )" + company + "}").of(Mode::kCompany).hash();
  };
  const std::string one = hash(R"({"a": {"type": "long"}})");
  EXPECT_EQ(one, hash(R"({"a": {"type": "long", "preferred": false}})"));
  EXPECT_NE(one, hash(R"({"a": {"type": "double"}})"));
  EXPECT_NE(one, hash(R"({"a": {"type": "long", "related": ["b"]}})"));
}

}  // namespace
}  // namespace vedette::domain::search
