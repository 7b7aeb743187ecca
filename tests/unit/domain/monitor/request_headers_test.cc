#include "domain/monitor/request_headers.h"
#include "base/json.h"
#include "domain/text/json_schema.h"

#include <gtest/gtest.h>

#include <string>

// What a monitor may say to its pages, and that no refusal repeats it.
namespace vedette::domain {
namespace {

using base::Json;

std::string FaultOf(const Json& headers) {
  const auto faults = ValidateRequestHeaders(Json::array({"h"}), headers);
  std::string text;
  for (const auto& fault : faults) {
    text += base::DumpJson(fault.loc) + fault.type + fault.msg + base::DumpJson(fault.input);
  }
  return text;
}

TEST(RequestHeaders, CookiesAndCredentialsAreTakenInOrderAndTrimmed) {
  const Json given{{"Cookie", " a=b; c=d "}, {"Authorization", "Bearer x"}, {"X-Shop", "de"}};
  EXPECT_EQ(FaultOf(given), "");
  const RequestHeaders headers = ReadRequestHeaders(given);
  ASSERT_EQ(headers.size(), 3U);
  EXPECT_EQ(headers[0], (std::pair<std::string, std::string>{"Cookie", "a=b; c=d"}));
  EXPECT_EQ(NamesOf(headers), (std::vector<std::string>{"Cookie", "Authorization", "X-Shop"}));
  EXPECT_EQ(ParseRequestHeaders(RequestHeadersText(headers)), headers);
  EXPECT_FALSE(ParseRequestHeaders("nonsense"));
}

TEST(RequestHeaders, WhatBelongsToTheConnectionOrToTheServiceIsRefused) {
  for (const char* name : {"Host", "content-length", "Transfer-Encoding", "Connection", "TE",
                           "Upgrade", "User-Agent", "Accept-Encoding", "Range", "If-None-Match",
                           "Proxy-Authorization", "Expect", "", "a b", "a:b", "caf\xC3\xA9"}) {
    EXPECT_NE(FaultOf({{name, "secret"}}), "") << name;
    EXPECT_EQ(FaultOf({{name, "secret"}}).find("secret"), std::string::npos) << name;
  }
  EXPECT_NE(FaultOf({{std::string(kRequestHeaderNameMax + 1, 'a'), "x"}}), "");
}

TEST(RequestHeaders, AValueIsOneVisibleLineAndNeverRepeated) {
  for (const Json& value : {Json("secret\r\nX-Other: 1"), Json("secret\n"), Json(""), Json("  "),
                            Json("\x01secret"), Json("secret caf\xC3\xA9"), Json(3), Json(nullptr),
                            Json("secret" + std::string(kRequestHeaderValueMax, 'x'))}) {
    const std::string fault = FaultOf({{"Cookie", value}});
    EXPECT_NE(fault, "") << value;
    EXPECT_EQ(fault.find("secret"), std::string::npos) << fault;
  }
}

TEST(RequestHeaders, AreLimitedInNumberAndTogether) {
  Json many = Json::object();
  for (std::size_t i = 0; i < kRequestHeadersMax; ++i) many["X-" + std::to_string(i)] = "v";
  EXPECT_EQ(FaultOf(many), "");
  many["X-More"] = "v";
  EXPECT_NE(FaultOf(many), "");
  Json large = Json::object();
  for (int i = 0; i < 5; ++i) {
    large["X-" + std::to_string(i)] = std::string(kRequestHeaderValueMax, 'v');
  }
  EXPECT_NE(FaultOf(large), "");
  EXPECT_NE(FaultOf({{"X-A", "1"}, {"x-a", "2"}}), "") << "one header twice";
  EXPECT_NE(FaultOf(Json::array()), "");
}

}  // namespace
}  // namespace vedette::domain
