#include "html/url_reference.h"

#include <gtest/gtest.h>

// To whom a page's own headers may go.
namespace vedette::html {
namespace {

TEST(OwnSite, TheSameHostAndPortAsEncrypted) {
  EXPECT_TRUE(IsOwnSite("https://shop.example/a", "https://SHOP.example/b?c"));
  EXPECT_TRUE(IsOwnSite("https://shop.example", "https://shop.example:443/"));
  EXPECT_TRUE(IsOwnSite("http://127.0.0.1:8080/", "http://127.0.0.1:8080/x"));
  EXPECT_TRUE(IsOwnSite("http://shop.example/", "https://shop.example/")) << "better encrypted";
}

TEST(OwnSite, NobodyElse) {
  for (const char* url :
       {"https://other.example/", "https://www.shop.example/", "https://shop.example.evil.example/",
        "https://shop.example:8443/", "http://shop.example/", "https://shop.example.:443/",
        "https://evil.example/shop.example", "https://shop.example@evil.example/", "nonsense",
        ""}) {
    EXPECT_FALSE(IsOwnSite("https://shop.example/", url)) << url;
  }
  EXPECT_FALSE(IsOwnSite("http://shop.example:8080/", "https://shop.example/"));
  EXPECT_FALSE(IsOwnSite("nonsense", "nonsense"));
}

}  // namespace
}  // namespace vedette::html
