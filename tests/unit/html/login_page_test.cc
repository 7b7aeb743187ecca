#include "base/json.h"
#include "html/page_reading.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

PageReading Reading(std::string url, bool asks_for_password, base::Json price) {
  domain::Observation seen;
  seen.fields["price"].value = std::move(price);
  return {std::move(seen), {}, std::move(url), asks_for_password};
}

constexpr const char* kAsked = "https://shop.example/dealer/price?x=1";

TEST(LoginPage, IsLedToByAPathThatSaysLoginWhateverIsFoundThere) {
  for (const char* path : {"/login", "/Login/", "/account/sign-in.php?next=/dealer/price",
                           "/en/signin", "/users/sign_in", "/sso/start"}) {
    const std::string url = std::string("https://shop.example") + path;
    EXPECT_TRUE(LeadsToLogin(kAsked, Reading(url, false, "49"))) << path;
  }
  for (const char* path :
       {"/dealer/new-price", "/blog/login-pages-that-convert", "/authors", "/"}) {
    const std::string url = std::string("https://shop.example") + path;
    EXPECT_FALSE(LeadsToLogin(kAsked, Reading(url, false, nullptr))) << path;
  }
}

TEST(LoginPage, IsOneThatAsksForAPasswordInPlaceOfWhatIsWatched) {
  const std::string elsewhere = "https://shop.example/start";
  EXPECT_TRUE(LeadsToLogin(kAsked, Reading(elsewhere, true, nullptr)));
  EXPECT_TRUE(LeadsToLogin(kAsked, Reading("https://id.example/dealer/price", true, nullptr)));
  EXPECT_FALSE(LeadsToLogin(kAsked, Reading(elsewhere, true, "49"))) << "a login beside the price";
}

TEST(LoginPage, IsNoneWhereNobodyWasLedElsewhere) {
  for (const char* url : {kAsked, "http://www.shop.example/dealer/price/"}) {
    EXPECT_FALSE(LeadsToLogin(kAsked, Reading(url, true, nullptr))) << url;
  }
  EXPECT_FALSE(LeadsToLogin("https://shop.example/login",
                            Reading("https://shop.example/en/login", true, nullptr)))
      << "the login itself is watched";
}

TEST(LoginPage, AsksForAPasswordByAFieldOfThatType) {
  const auto asks = [](std::string body, std::string type = "text/html") {
    PageForms forms({std::move(body), std::move(type), kAsked});
    ExtractionStop stop;
    return AsksForPassword(&forms, stop);
  };
  EXPECT_TRUE(asks("<form><input type=password></form>"));
  EXPECT_TRUE(asks("<form><INPUT NAME=p TYPE='PASSWORD'></form>"));
  EXPECT_FALSE(asks("<p>Your password: <input type=text name=password></p>"));
  EXPECT_FALSE(asks("{\"type\": \"password\"}", "application/json"));
}

TEST(LoginPage, TheFailureNamesTheAddressWithoutItsQuery) {
  const auto failure = LoginRequired(Reading("https://shop.example/login?token=s", true, nullptr));
  EXPECT_EQ(failure.error_class, "login_required");
  EXPECT_FALSE(failure.retryable);
  EXPECT_NE(failure.message.find("https://shop.example/login,"), std::string::npos);
}

}  // namespace
}  // namespace vedette::html
