#include "base/json.h"
#include "html/url_reference.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

using base::ParseJsonOrThrow;

TEST(PageAddress, FindsTheRowsPage) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {R"({"url": "http://a/x"})", "{}", "http://a/x"},
      {R"({"URL": " https://a/x#top "})", "{}", "https://a/x"},
      {R"({"domain": "a.example"})", "{}", "https://a.example"},
      {R"({"domain": "a.example:8080/p?u=http://b"})", "{}", "https://a.example:8080/p?u=http://b"},
      {R"({"Website": "a.example/p"})", "{}", "https://a.example/p"},
      {R"({"domain": "a"})", R"({"url": "http://b"})", "http://b"},
      {R"({"url": "http://a"})", R"({"url": "http://b"})", "http://a"},
      {R"({"url": " ", "website": "w"})", R"({"domain": "b"})", "https://w"},
      {R"({"domain": "//a/x"})", "{}", "https://a/x"},
  };
  for (const auto& [subject, context, expected] : cases) {
    EXPECT_EQ(PageAddress(ParseJsonOrThrow(subject), ParseJsonOrThrow(context)), expected)
        << subject;
  }
}

TEST(PageAddress, ItsFragmentIsKeptForScripts) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"URL": " https://a/x#/shop?a=1#b "})", "#/shop?a=1#b"},
      {R"({"url": "https://a/x"})", ""},
      {R"({"url": "#x", "domain": "a#y"})", "#y"},
      {"{}", ""},
  };
  for (const auto& [subject, expected] : cases) {
    EXPECT_EQ(PageFragment(ParseJsonOrThrow(subject), base::Json::object()), expected) << subject;
  }
}

TEST(PageAddress, IsAbsentWithoutAnAddress) {
  for (const char* subject : {"{}", R"({"name": "x"})", R"({"url": null, "domain": ""})",
                              R"({"url": 5})", R"({"url": "#x"})", "null"}) {
    EXPECT_FALSE(PageAddress(ParseJsonOrThrow(subject), base::Json::object())) << subject;
  }
}

}  // namespace
}  // namespace vedette::html
