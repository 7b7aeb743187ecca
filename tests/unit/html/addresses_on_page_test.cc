#include "html/addresses_on_page.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

AddressesOnPage Find(const std::string& body) {
  ExtractionStop stop;
  return FindAddressesOnPage("<html><body>" + body + "</body></html>", stop);
}
using Texts = std::vector<std::string>;

TEST(AddressesOnPage, AreFoundInLinksTextAndBrackets) {
  const auto found =
      Find(R"(<p>Ann: <a href="mailto:ann%2Bx@acme.com?subject=a@b.com">write</a></p>)"
           "<p>bob@acme.com</p><p>carl [at] acme [dot] com</p><p>dora(at)acme.com</p>"
           "<script>var x = 'script@acme.com'</script><!-- hidden@acme.com -->");
  EXPECT_EQ(found.addresses,
            (Texts{"ann+x@acme.com", "bob@acme.com", "carl@acme.com", "dora@acme.com"}));
}

TEST(AddressesOnPage, AMailtoForManyIsCheckedOneByOne) {
  std::string many;
  for (int i = 0; i < 50; ++i) many += "p" + std::to_string(i) + "@acme.com,";
  EXPECT_EQ(Find("<a href='mailto:" + many + "'>all</a>").addresses.size(), 50U);
}

TEST(AddressesOnPage, OfThousandsTheFirstCount) {
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "p" + std::to_string(i) + "@acme.com ";
  EXPECT_EQ(Find("<p>" + many + "</p>").addresses.size(), kPageAddressesMax);
}

TEST(AddressesOnPage, CloudflaresHidingIsUndone) {
  // "ann@acme.com" with the key 0x2a.
  std::string hex = "2a";
  for (const char c : std::string("ann@acme.com")) {
    constexpr char kDigits[] = "0123456789abcdef";
    const int byte = c ^ 0x2a;
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  EXPECT_EQ(DecodeCfEmail(hex), "ann@acme.com");
  EXPECT_EQ(DecodeCfEmail("2a"), "");
  EXPECT_EQ(DecodeCfEmail("zz00"), "");
  EXPECT_EQ(DecodeCfEmail("2a1"), "");
  EXPECT_EQ(Find("<span class='x' data-cfemail='" + hex + "'>[email]</span>").addresses,
            Texts{"ann@acme.com"});
}

TEST(AddressesOnPage, APersonOfJsonLdHasNameAndAddress) {
  const auto found = Find(
      R"(<script type="application/ld+json">{"@graph": [{"@type": ["Person", "Thing"],)"
      R"("name": "Ann  Example", "email": "mailto:ann@acme.com"}, {"@type": "Organization",)"
      R"("name": "Acme", "email": "info@acme.com", "employee": {"@type":)"
      R"("http://schema.org/Person", "givenName": "Bob", "familyName": "B", "email": "b@acme.com"}}]}</script>)");
  ASSERT_EQ(found.persons.size(), 2U);
  EXPECT_EQ(found.persons[0].name, "Ann Example");
  EXPECT_EQ(found.persons[0].email, "ann@acme.com");
  EXPECT_EQ(found.persons[1].name, "Bob B");
}

TEST(AddressesOnPage, BlocksAreSmallAndHaveTheirAddresses) {
  const auto found = Find("<div><p>Ann Example <a href='mailto:a@acme.com'>mail</a></p><p>Bob " +
                          std::string(400, 'x') + " b@acme.com</p></div>");
  ASSERT_FALSE(found.blocks.empty());
  EXPECT_EQ(found.blocks[0].addresses, Texts{"a@acme.com"});
  EXPECT_NE(found.blocks[0].text.find("Ann Example"), std::string::npos);
  for (const PageBlock& block : found.blocks) EXPECT_LE(block.text.size(), kBlockCharactersMax);
}

TEST(AddressesOnPage, LinksComeWithTheirTexts) {
  const auto found = Find("<a href='/team'>Our people</a><a href='https://x.org/'>x</a>");
  ASSERT_EQ(found.links.size(), 2U);
  EXPECT_EQ(found.links[0].url, "/team");
  EXPECT_EQ(found.links[0].text, "Our people");
}

TEST(AddressesOnPage, HiddenMarkupDoesNotComeIn) {
  const auto found = Find("<a href='mailto:x%3Cscript%3E@acme.com'>x</a>");
  EXPECT_TRUE(found.persons.empty());
  for (const auto& address : found.addresses) EXPECT_EQ(address.find('<'), std::string::npos);
}

}  // namespace
}  // namespace vedette::html
