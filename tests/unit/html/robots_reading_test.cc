#include "html/robots.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

Fetched Read(std::string body, std::string product = "vedette") {
  ReadingTime time;
  return ReadRobotsFor(std::move(product))(
      {std::move(body), "text/plain", "https://acme.example/robots.txt"}, time);
}

TEST(RobotsReading, HasTheRulesForItsProduct) {
  const std::string file = "User-agent: vedette\nDisallow: /ours\n\nUser-agent: *\nDisallow: /\n";
  const Fetched ours = Read(file);
  EXPECT_FALSE(RobotsOf(ours).Allows("/ours"));
  EXPECT_TRUE(RobotsOf(ours).Allows("/others"));
  const Fetched others = Read(file, "another");
  EXPECT_FALSE(RobotsOf(others).Allows("/others"));
}

TEST(RobotsReading, WhatIsNoSuchFileAllowsEverything) {
  for (const char* body : {"", "<html><body>Not found</body></html>", "\xFF\xFE\x00"}) {
    const Fetched read = Read(body);
    ASSERT_TRUE(std::holds_alternative<std::shared_ptr<const Reading>>(read)) << body;
    EXPECT_TRUE(RobotsOf(read).Allows("/any")) << body;
  }
}

TEST(RobotsReading, IsSharedAsAnyReadingIs) {
  const Fetched read = Read("User-agent: *\nDisallow: /\n");
  const auto shared = std::get<std::shared_ptr<const Reading>>(read);
  EXPECT_GE(shared->bytes(), sizeof(Robots));
  EXPECT_EQ(&RobotsOf(Fetched(shared)), &RobotsOf(read)) << "nothing is copied";
}

}  // namespace
}  // namespace vedette::html
