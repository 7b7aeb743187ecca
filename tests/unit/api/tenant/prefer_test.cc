#include "api/tenant/jobs/lookups.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vedette::api {
namespace {

using std::chrono::seconds;

std::optional<seconds> Of(const std::vector<std::string>& values) {
  net::ServerRequest request;
  for (const std::string& value : values) request.headers.emplace_back("prefer", value);
  return PreferredWait(request);
}

TEST(Prefer, AWaitOfWholeSecondsIsRead) {
  EXPECT_EQ(Of({"wait=10"}), seconds(10));
  EXPECT_EQ(Of({"respond-async, Wait = 5 ; foo=1"}), seconds(5));
  EXPECT_EQ(Of({"handling=lenient", "wait=\"7\", wait=3"}), seconds(7));
}

TEST(Prefer, WhatCannotBeReadIsIgnored) {
  for (const char* value : {"", ",", "wait", "wait=", "wait=0", "wait=-1", "wait=1.5", "wait=ten",
                            "wait=99999999999", "waits=3", "wait=3s", "=3", ";wait=3"}) {
    EXPECT_EQ(Of({value}), std::nullopt) << value;
  }
  EXPECT_EQ(Of({}), std::nullopt);
  EXPECT_EQ(Of({"wait=x, wait=4"}), seconds(4));
}

}  // namespace
}  // namespace vedette::api
