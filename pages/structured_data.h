#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pages/html_document.h"

// The people that a page describes for machines: JSON-LD and microdata of schema.org, and hCard.
// Pure; a thread of the pool, as HtmlDocument.
namespace vedette::pages {

// The most persons of one page; more are not read. Microdata and hCard cost a search of the page
// for each.
inline constexpr std::size_t kPagePersonsMax = 500;
inline constexpr std::size_t kMarkedPersonsMax = 30;
inline constexpr std::size_t kPersonLinksMax = 20;

// Texts are as the page has them, with folded white space. Empty members are not stated.
struct PagePerson {
  enum class Source : std::uint8_t { kJsonLd, kMicrodata, kHCard };

  std::string name;
  std::string email;  // an address, without "mailto:"
  Source source = Source::kJsonLd;
  std::string title{};
  std::string company{};
  std::string birth{};
  std::string death{};
  std::vector<std::string> links{};  // of the person: "url" and "sameAs"
};

// Everybody who has a name. JSON-LD first, each in the order of the page.
std::vector<PagePerson> PersonsOnPage(const HtmlDocument& page, ExtractionStop& stop);

// When the page says that it was published: the text of a date, or empty.
std::string PublishedOn(const HtmlDocument& page, ExtractionStop& stop);

}  // namespace vedette::pages
