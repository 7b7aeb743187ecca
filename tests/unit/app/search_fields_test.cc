// The catalogue of fields that an operator names.
#include "app/search_engine_client.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

#include "config/search_config.h"
#include "tests/unit/config/config_support.h"

namespace vedette::app {
namespace {

using domain::search::Mode;
using testing::AllOf;
using testing::HasSubstr;

// Why the process does not start with this file; empty where it does.
std::string Refusal(const std::string& path) {
  config::SearchConfig config{};
  config.fields_file = path;
  try {
    LoadSearchFields(config);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(SearchFields, WithoutAFileTheyAreThoseThatAreCompiledIn) {
  EXPECT_EQ(LoadSearchFields(config::SearchConfig()).of(Mode::kCompany).hash(),
            domain::search::Catalogue().of(Mode::kCompany).hash());
}

TEST(SearchFields, AFileTakesTheirPlace) {
  const config::TempFile file(R"({"people": {}, "company": {"colour": {"type": "keyword"}}})");
  config::SearchConfig config{};
  config.fields_file = file.path();
  const auto catalogue = LoadSearchFields(config);
  EXPECT_TRUE(catalogue.of(Mode::kPeople).all().empty());
  ASSERT_EQ(catalogue.of(Mode::kCompany).all().size(), 1U);
  EXPECT_NE(catalogue.of(Mode::kCompany).Find("colour"), nullptr);
}

TEST(SearchFields, OneThatCannotBeTakenIsNamedWithWhatIsWrong) {
  EXPECT_THAT(Refusal("/nonexistent/fields.json"),
              AllOf(HasSubstr("[search] fields_file"), HasSubstr("/nonexistent/fields.json")));
  const config::TempFile file(R"({"people": {}, "company": {"colour": {"type": "paint"}}})");
  EXPECT_THAT(Refusal(file.path()),
              AllOf(HasSubstr("[search] fields_file"), HasSubstr("\"colour\"")));
}

}  // namespace
}  // namespace vedette::app
