#include "html/url_reference.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

TEST(UrlReference, ResolvesAsRfc3986) {
  constexpr std::string_view kBase = "http://a/b/c/d;p?q";
  // RFC 3986, 5.4, without what is not http.
  const std::pair<const char*, const char*> cases[] = {
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../../g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"./../g", "http://a/b/g"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"HTTPS://X.example/p?a=b", "https://X.example/p?a=b"},
      {"https://x", "https://x/"},
      {" /g ", "http://a/g"},
      {" /a b/../c d?e f ", "http://a/c%20d?e%20f"},
      {"//x y/z", "http://x y/z"},
      {"x:y", ""},
      {"javascript:alert(1)", ""},
      {"file:///etc/passwd", ""},
      {"http:g", ""},
      {"g?x=http://y/", "http://a/b/c/g?x=http://y/"},
  };
  for (const auto& [reference, expected] : cases) {
    EXPECT_EQ(ResolveReference(kBase, reference), expected) << reference;
  }
  EXPECT_EQ(ResolveReference("https://h:8443", "x"), "https://h:8443/x");
  EXPECT_EQ(ResolveReference("https://h?q", "x"), "https://h/x");
}

TEST(UrlReference, OriginsAreSchemeHostAndPort) {
  EXPECT_TRUE(SameOrigin("http://A/x", "http://a:80/y?z"));
  EXPECT_TRUE(SameOrigin("https://a:443", "https://a/"));
  EXPECT_FALSE(SameOrigin("http://a/", "https://a/"));
  EXPECT_FALSE(SameOrigin("http://a/", "http://a:8080/"));
  EXPECT_FALSE(SameOrigin("http://a/", "http://b/"));
  EXPECT_FALSE(SameOrigin("http://a/", "http://u@a/"));
}

}  // namespace
}  // namespace vedette::html
