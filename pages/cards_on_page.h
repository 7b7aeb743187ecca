#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pages/html_document.h"

// What stands beside the addresses of a page. Pure; a thread of the pool, as HtmlDocument.
namespace vedette::pages {

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

}  // namespace vedette::pages
