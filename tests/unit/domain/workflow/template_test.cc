#include "domain/workflow/template.h"

#include <gmock/gmock.h>

#include <set>

#include "domain/workflow/block_type.h"

namespace vedette::domain {
namespace {

using base::Json;
using testing::HasSubstr;

DefinitionRules Rules() {
  return {[](const std::string& url) -> std::optional<std::string> {
            if (url.starts_with("https://")) return std::nullopt;
            return "no address";
          },
          [] { return std::string("made"); }};
}

Json Document(const Json& changes = Json::object()) {
  Json document = base::ParseJsonOrThrow(R"({
    "slug": "own-one", "name": "Own", "description": "d", "category": "c", "difficulty": "easy",
    "estimated_time": "a minute", "use_case": "u",
    "blocks": [{"sequence_number": 2, "block_name": "dedupe", "block_id": "b", "specs": {}},
               {"sequence_number": 1, "block_name": "read_csv", "specs": {}}],
    "edges": [{"from_block_id": "made", "to_block_id": "b"}]})");
  for (const auto& [name, value] : changes.items()) document[name] = value;
  return document;
}

std::vector<std::string> FaultsOf(const Json& changes) {
  const auto read = ReadTemplate(Document(changes), Json::array({"body"}), Rules());
  std::vector<std::string> found;
  if (const auto* faults = std::get_if<ValidationFaults>(&read)) {
    for (const ValidationFault& fault : *faults) {
      found.push_back(fault.type + " " + base::DumpJson(fault.loc));
    }
  }
  return found;
}

TEST(ShippedTemplates, AreSixOfWhichEachIsNamedByItsFile) {
  std::set<std::string> slugs;
  for (const auto& [file, text] : TemplateFiles()) {
    const WorkflowTemplate shown = ReadStoredTemplate(base::ParseJsonOrThrow(text));
    EXPECT_EQ(shown.slug + ".json", file);
    EXPECT_FALSE(shown.internal) << file;
    slugs.insert(shown.slug);
  }
  EXPECT_EQ(slugs, (std::set<std::string>{"verified-emails-from-csv", "enrich-companies-from-csv",
                                          "clean-phone-list", "watch-pricing-pages",
                                          "leads-webhook-to-crm", "age-check"}));
}

TEST(ShippedTemplates, AreValidWhereTheBuildHasTheirBlocks) {
  EXPECT_GE(ShippedTemplates().size(), 3U);
  for (const WorkflowTemplate& shown : ShippedTemplates()) {
    const auto read = ReadTemplate(TemplateDocument(shown), Json::array(), Rules());
    if (const auto* faults = std::get_if<ValidationFaults>(&read)) {
      ADD_FAILURE() << shown.slug << ": " << faults->front().type << " " << faults->front().loc
                    << " " << faults->front().msg;
      continue;
    }
    EXPECT_EQ(std::get<WorkflowTemplate>(read).definition, shown.definition)
        << shown.slug << ": what is shipped is what is stored for it";
    EXPECT_EQ(TemplateDocument(std::get<WorkflowTemplate>(read)), TemplateDocument(shown));
  }
}

TEST(ShippedTemplates, OneWithABlockThatTheBuildLacksIsNotOffered) {
  std::set<std::string> offered;
  for (const WorkflowTemplate& shown : ShippedTemplates()) offered.insert(shown.slug);
  for (const auto& [file, text] : TemplateFiles()) {
    const Json document = base::ParseJsonOrThrow(text);
    bool has_all = true;
    for (const Json& block : document.at("blocks")) {
      has_all = has_all && FindBlockType(block.at("block_name").get<std::string>()) != nullptr;
    }
    EXPECT_EQ(offered.contains(document.at("slug").get<std::string>()), has_all) << file;
  }
}

TEST(ShippedTemplates, HaveTheSameIdsEverywhere) {
  const auto name_space = base::Uuid::Parse(kTemplateNamespace).value();
  for (const WorkflowTemplate& shown : ShippedTemplates()) {
    EXPECT_EQ(shown.id, base::Uuid::V5(name_space, shown.slug));
    EXPECT_LE(shown.created_at, shown.updated_at);
  }
}

TEST(ReadTemplate, FillsInWhatIsLeftOutAndComesBackAsItWasStored) {
  const auto read = ReadTemplate(Document(), Json::array(), Rules());
  ASSERT_TRUE(std::holds_alternative<WorkflowTemplate>(read));
  const auto& shown = std::get<WorkflowTemplate>(read);
  EXPECT_EQ(shown.author_name, "");
  EXPECT_TRUE(shown.tags.empty());
  EXPECT_FALSE(shown.featured);
  EXPECT_FALSE(shown.internal);
  EXPECT_EQ(shown.definition.at("blocks")[0].at("block_id"), "made");
  EXPECT_EQ(TemplateDocument(ReadStoredTemplate(TemplateDocument(shown))), TemplateDocument(shown));
}

TEST(ReadTemplate, SaysEverythingThatIsWrong) {
  EXPECT_TRUE(FaultsOf(Json::object()).empty());
  for (const char* slug :
       {"Own", "a:b", "a b", "6f1d3c52-7a39-5d0e-9c41-2b8f4be0a7d3", "\xc3\xa4"}) {
    EXPECT_EQ(FaultsOf({{"slug", slug}}),
              std::vector<std::string>{R"(invalid_slug ["body","slug"])"})
        << slug;
  }
  EXPECT_EQ(FaultsOf({{"slug", ""}}),
            std::vector<std::string>{R"(string_too_short ["body","slug"])"});
  EXPECT_EQ(FaultsOf({{"slug", std::string(101, 'a')}}),
            std::vector<std::string>{R"(string_too_long ["body","slug"])"});
  EXPECT_EQ(FaultsOf({{"colour", 1}}),
            std::vector<std::string>{R"(extra_forbidden ["body","colour"])"});
  EXPECT_EQ(FaultsOf({{"slug", "A"}, {"blocks", Json::array()}}),
            (std::vector<std::string>{R"(invalid_slug ["body","slug"])",
                                      R"(too_short ["body","blocks"])"}));
}

}  // namespace
}  // namespace vedette::domain
