#include "html/structured_data.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "html/addresses_on_page.h"

namespace vedette::html {
namespace {

using Source = PagePerson::Source;
using Texts = std::vector<std::string>;

std::vector<PagePerson> PersonsOf(const std::string& body) {
  auto page = HtmlDocument::Parse("<html><body>" + body + "</body></html>");
  ExtractionStop stop;
  return PersonsOnPage(std::get<HtmlDocument>(page), stop);
}

TEST(StructuredData, JsonLdMicrodataAndHCardDescribePeople) {
  const auto persons = PersonsOf(R"(
      <script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
        {"@type": ["Person", "Thing"], "givenName": "Ada", "familyName": "Lovelace",
         "email": "mailto:ada@acme.com?subject=x", "jobTitle": "Analyst",
         "worksFor": {"name": "Acme"}, "birthDate": "1980-05-06", "sameAs": ["https://x.example/ada"]},
        {"@type": "Organization", "name": "Acme", "email": "info@acme.com"}]}</script>
      <div itemscope itemtype="https://schema.org/Organization"><b itemprop="name">Acme</b>
        <p itemprop="employee" itemscope itemtype="https://schema.org/Person">
          <b itemprop="name">Charles Babbage</b><a itemprop="email" href="mailto:cb@acme.com">@</a>
          <time itemprop="birthDate" datetime="1971-12-26">his birthday</time></p></div>
      <div class="staff vcard"><b class="fn">Grace Hopper</b><i class="email">grace@acme.com</i>
        <i class="bday">1906-12-09</i></div>)");
  ASSERT_EQ(persons.size(), 3U);
  EXPECT_EQ(persons[0].name, "Ada Lovelace");
  EXPECT_EQ(persons[0].email, "ada@acme.com");
  EXPECT_EQ(persons[0].company, "Acme");
  EXPECT_EQ(persons[0].birth, "1980-05-06");
  EXPECT_EQ(persons[0].links, Texts{"https://x.example/ada"});
  EXPECT_EQ(persons[1].source, Source::kMicrodata);
  EXPECT_EQ(persons[1].name, "Charles Babbage");
  EXPECT_EQ(persons[1].email, "cb@acme.com");
  EXPECT_EQ(persons[1].birth, "1971-12-26");
  EXPECT_EQ(persons[2].source, Source::kHCard);
  EXPECT_EQ(persons[2].name, "Grace Hopper");
  EXPECT_EQ(persons[2].email, "grace@acme.com");
}

TEST(StructuredData, WithoutANameNobodyIsDescribed) {
  EXPECT_TRUE(
      PersonsOf(R"(<script type="application/ld+json">{"@type": "Person", "email": "a@b.example"}
      </script><div class="vcard"><i class="email">a@b.example</i></div>)")
          .empty());
  EXPECT_TRUE(
      PersonsOf(R"(<script type="application/ld+json">{"@type": "Person", </script>)").empty());
}

TEST(StructuredData, PeopleAreBounded) {
  std::string cards;
  for (std::size_t i = 0; i < kMarkedPersonsMax + 5; ++i)
    cards += "<div class=vcard><b class=fn>Ann One</b></div>";
  EXPECT_EQ(PersonsOf(cards).size(), kMarkedPersonsMax);
}

TEST(StructuredData, APageMaySayWhenItWasPublished) {
  ExtractionStop stop;
  const auto published = [&](const std::string& html) {
    auto page = HtmlDocument::Parse(html);
    return PublishedOn(std::get<HtmlDocument>(page), stop);
  };
  EXPECT_EQ(published("<meta property='article:published_time' content='2020-11-22T08:00Z'><p>x"),
            "2020-11-22T08:00Z");
  EXPECT_EQ(published(R"(<script type="application/ld+json">{"@type": "NewsArticle",)"
                      R"("datePublished": "2020-11-22"}</script><p>x)"),
            "2020-11-22");
  EXPECT_EQ(published("<p>2020-11-22"), "");
}

TEST(Cards, AreCutWhereElementsAndPhrasesEnd) {
  ExtractionStop stop;
  const auto cards = CardsOnPage(
      "<table><tr><td>Ada Lovelace</td><td>Analyst, Acme</td><td>ada@acme.com</td></tr></table>"
      "<p>Bob Sample bob@acme.com <a href='mailto:x@acme.com'>Write</a></p>",
      stop);
  ASSERT_GE(cards.size(), 3U);
  EXPECT_EQ(cards[0].parts, Texts{"ada@acme.com"}) << "the smallest first";
  const auto row = std::find_if(cards.begin(), cards.end(),
                                [](const PageCard& card) { return card.parts.size() == 4; });
  ASSERT_NE(row, cards.end());
  EXPECT_EQ(row->parts, (Texts{"Ada Lovelace", "Analyst", "Acme", "ada@acme.com"}));
  const auto bob = std::find_if(cards.begin(), cards.end(),
                                [](const PageCard& card) { return card.addresses.size() == 2; });
  ASSERT_NE(bob, cards.end());
  EXPECT_EQ(bob->parts, (Texts{"Bob Sample", "bob@acme.com", "x@acme.com", "Write"}));
}

}  // namespace
}  // namespace vedette::html
