// What [search] asks of a backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace vedette::config {
namespace {

using testing::HasSubstr;

std::string ErrorOf(Environment environment) {
  environment["VEDETTE_SEARCH_BACKEND"] = "opensearch";
  try {
    LoadConfig(std::nullopt, environment);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Search, ABackendHasWhatItNeeds) {
  const std::pair<std::string, std::string> url{"VEDETTE_SEARCH_URL", "https://search.internal"};
  const std::pair<std::string, std::string> user{"VEDETTE_SEARCH_USER", "u"};
  const std::pair<std::string, std::string> password{"VEDETTE_SEARCH_PASSWORD", "p"};
  const std::pair<std::string, std::string> key{"VEDETTE_SEARCH_API_KEY", "k"};
  EXPECT_EQ(ErrorOf({url}), "no error");
  EXPECT_EQ(ErrorOf({url, user, password}), "no error");
  EXPECT_EQ(ErrorOf({url, key}), "no error");
  EXPECT_THAT(ErrorOf({}), HasSubstr("[search] url"));
  EXPECT_THAT(ErrorOf({url, user}), HasSubstr("user and password"));
  EXPECT_THAT(ErrorOf({url, password}), HasSubstr("user and password"));
  EXPECT_THAT(ErrorOf({url, user, password, key}), HasSubstr("user and api_key"));
  for (const char* index : {"a/_doc", "a?b", "a b", "a#b", "%2e"}) {
    EXPECT_THAT(ErrorOf({url, {"VEDETTE_SEARCH_INDEX_PEOPLE", index}}),
                HasSubstr("[search] index_people"));
    EXPECT_THAT(ErrorOf({url, {"VEDETTE_SEARCH_INDEX_COMPANY", index}}),
                HasSubstr("[search] index_company"));
  }
}

TEST(Search, WhatIsOfAnotherBackendIsNotChecked) {
  const Config config = LoadConfig(std::nullopt, {{"VEDETTE_SEARCH_USER", "u"}});
  EXPECT_EQ(config.search.backend, "postgres");
}

TEST(Investigations, ThoseWhoAskSomebodyAreAskedForByName) {
  const Config config = LoadConfig(std::nullopt, {});
  EXPECT_EQ(config.investigations.providers, (std::vector<std::string>{"dns", "website"}));
  const Environment environment{{"VEDETTE_INVESTIGATIONS_PROVIDERS", "dns,rdap,ct"}};
  EXPECT_EQ(LoadConfig(std::nullopt, environment).investigations.providers,
            (std::vector<std::string>{"dns", "rdap", "ct"}));
}

}  // namespace
}  // namespace vedette::config
