#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "html/html_document.h"
#include "html/page_forms.h"

// The people that a page describes for machines: JSON-LD and microdata of schema.org, and hCard.
// Pure; a thread of the pool, as HtmlDocument.
namespace vedette::html {

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

// What a page says of itself in JSON-LD. One thread, as PageForms.

// The most bytes of all blocks of a page; what is beyond is not read.
inline constexpr std::size_t kLinkedDataBytesMax = 4 << 20;
// Values in all blocks together.
inline constexpr std::size_t kLinkedDataValuesMax = 200'000;
// Nodes of a type that are read.
inline constexpr std::size_t kLinkedDataNodesMax = 10'000;

struct LinkedData {
  base::Json blocks = base::Json::array();  // in the order of the page
  std::string fault;  // why a block is not among them, as a phrase; empty where all are
};

// Reads the scripts of type application/ld+json of an HTML page, or the whole of a page in JSON.
// Texts in blocks of HTML have their white space folded. None where the page cannot be parsed.
LinkedData ReadLinkedData(PageForms& page, ExtractionStop& stop);

// The objects whose @type is `type`, or has it among others, with or without a vocabulary's address
// before it, in document order. Without a type: each block. Inside `blocks`.
std::vector<const base::Json*> NodesOfType(const base::Json& blocks, const std::string& type);

}  // namespace vedette::html
