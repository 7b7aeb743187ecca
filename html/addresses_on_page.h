#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "html/html_document.h"
#include "html/structured_data.h"

// The addresses that a page of a company's site gives, with what stands around them, and the pages
// that it leads to. Pure; a thread of the pool, as HtmlDocument.
namespace vedette::html {

// The most addresses of one page; more are not read.
inline constexpr std::size_t kPageAddressesMax = 1000;
inline constexpr std::size_t kPageLinksMax = 2000;
// A block of text that speaks of one person.
inline constexpr std::size_t kBlockCharactersMax = 300;

// Text of one element, or of one row, that has an address.
struct PageBlock {
  std::string text;                    // folded, at most kBlockCharactersMax characters
  std::vector<std::string> addresses;  // in it, each once
};

struct PageLink {
  std::string url;   // as the page has it
  std::string text;  // folded; may be empty
};

struct AddressesOnPage {
  std::vector<std::string> addresses;  // each once, in the order of the page
  std::vector<PagePerson> persons;     // with or without an address
  std::vector<PageBlock> blocks;       // the smallest first
  std::vector<PageLink> links;
};

// Finds addresses in links with mailto:, structured data, visible text, bracketed forms such as
// "ann [at] acme.com", and Cloudflare's data-cfemail. `html`: valid UTF-8. What cannot be parsed
// gives nothing.
AddressesOnPage FindAddressesOnPage(std::string_view html, ExtractionStop& stop);

// Every address in a text, bracketed forms too; at most kPageAddressesMax.
std::vector<std::string> AddressesInText(std::string_view text);

// The page with the addresses of links and of data-cfemail as text beside them, so that they stand
// in the block that they belong to.
std::string ExposeAddresses(std::string_view html);

// Those of a page, in their order.
std::vector<PageLink> LinksOnPage(const HtmlDocument& page, ExtractionStop& stop);

// The address that data-cfemail hides: hexadecimal, the first byte is XORed to the others. Empty
// where it is none.
std::string DecodeCfEmail(std::string_view hex);

// What stands beside the addresses of a page. Pure; a thread of the pool, as HtmlDocument.

inline constexpr std::size_t kPageCardsMax = 1000;

// One element of a page, with at most kBlockCharactersMax characters, that has an address.
struct PageCard {
  // Its text, cut where an element inside it begins or ends and at signs that keep phrases apart:
  // "Ada Lovelace", "Head of Research", "ada@acme.com".
  std::vector<std::string> parts;
  std::vector<std::string> addresses;  // in it, each once
};

// The smallest first. `html`: valid UTF-8. What cannot be parsed gives nothing.
std::vector<PageCard> CardsOnPage(std::string_view html, ExtractionStop& stop);

}  // namespace vedette::html
