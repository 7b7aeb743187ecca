#include "pages/cards_on_page.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.h"
#include "pages/addresses_on_page.h"

namespace vedette::pages {
namespace {

constexpr std::size_t kCardTextsBytesMax = 4 << 20;

// U+E000, of the private use area, marks where an element begins or ends. Pages have no use for it.
constexpr std::string_view kBoundary = "\xEE\x80\x80";

constexpr const char* kCards =
    "//*[self::p or self::li or self::div or self::td or self::tr or self::dl or self::dd or "
    "self::address or self::article or self::section or self::figure or self::figcaption or "
    "self::span or self::h1 or self::h2 or self::h3 or self::h4]";

// The page with a boundary behind each tag.
std::string WithBoundaries(std::string_view html) {
  std::string out;
  out.reserve(html.size() + html.size() / 4);
  bool is_in_tag = false;
  for (std::size_t i = 0; i < html.size(); ++i) {
    out += html[i];
    const bool is_next_letter =
        i + 1 < html.size() && (base::IsAsciiLetter(html[i + 1]) || html[i + 1] == '/');
    if (html[i] == '<' && is_next_letter) is_in_tag = true;
    if (html[i] == '>' && is_in_tag) {
      out += kBoundary;
      is_in_tag = false;
    }
  }
  return out;
}

// The length of the sign that keeps phrases apart at the text's beginning, or 0.
std::size_t SignAt(std::string_view text) {
  constexpr std::string_view kSigns[] = {kBoundary,
                                         ",",
                                         ";",
                                         ":",
                                         "|",
                                         "(",
                                         ")",
                                         "<",
                                         ">",
                                         "/",
                                         "[",
                                         "]",
                                         "\"",
                                         "\xE2\x80\x93",
                                         "\xE2\x80\x94",
                                         "\xE2\x80\xA2",
                                         "\xC2\xB7",
                                         " - "};
  for (const std::string_view sign : kSigns) {
    if (text.starts_with(sign)) return sign.size();
  }
  return 0;
}

std::vector<std::string> PartsOf(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  const auto end = [&] {
    part = base::FoldSpace(part);
    if (!part.empty()) parts.push_back(std::move(part));
    part.clear();
  };
  // An address keeps phrases apart, too: "Ada Lovelace ada@acme.com".
  const auto end_at_address = [&] {
    const auto word = part.rfind(' ') + 1;
    if (part.find('@', word) == std::string::npos) return;
    std::string address = part.substr(word);
    part.resize(word);
    end();
    part = std::move(address);
    end();
  };
  while (!text.empty()) {
    const std::size_t sign = SignAt(text);
    if (sign > 0 || text.front() == ' ') end_at_address();
    if (sign > 0) {
      end();
      text.remove_prefix(sign);
    } else {
      part += text.front();
      text.remove_prefix(1);
    }
  }
  end_at_address();
  end();
  return parts;
}

std::string WithoutBoundaries(std::string text) {
  for (auto at = text.find(kBoundary); at != std::string::npos; at = text.find(kBoundary, at)) {
    text.replace(at, kBoundary.size(), " ");
  }
  return base::FoldSpace(text);
}

}  // namespace

std::vector<PageCard> CardsOnPage(std::string_view html, ExtractionStop& stop) {
  auto parsed = HtmlDocument::Parse(WithBoundaries(ExposeAddresses(html)));
  const auto* page = std::get_if<HtmlDocument>(&parsed);
  if (page == nullptr) return {};
  std::vector<std::pair<std::size_t, PageCard>> found;
  const HtmlMatches matches =
      page->Every({kCards}, false, "", stop, TextView::kVisible, kCardTextsBytesMax);
  for (const std::string& marked : matches.texts) {
    if (found.size() == kPageCardsMax || stop.stopped()) break;
    const std::string text = WithoutBoundaries(marked);
    const std::size_t size = base::CountCharacters(text);
    if (size > kBlockCharactersMax) continue;
    std::vector<std::string> addresses = AddressesInText(text);
    if (!addresses.empty())
      found.emplace_back(size, PageCard{PartsOf(marked), std::move(addresses)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<PageCard> cards;
  cards.reserve(found.size());
  for (auto& [size, card] : found) cards.push_back(std::move(card));
  return cards;
}

}  // namespace vedette::pages
