#include "html/addresses_on_page.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <re2/re2.h>

#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::html {
namespace {

constexpr std::size_t kTextsBytesMax = 4 << 20;
constexpr std::size_t kAddressBytesMax = 320;

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = base::AsciiLower(c);
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

std::optional<char> HexByte(std::string_view two) {
  if (two.size() < 2) return std::nullopt;
  const auto high = HexDigit(two[0]);
  const auto low = HexDigit(two[1]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

std::string PercentDecode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' ? HexByte(text.substr(i + 1)) : std::nullopt;
    out += byte.value_or(text[i]);
    if (byte) i += 2;
  }
  return base::RepairUtf8(out);
}

void AddAddress(std::string_view text, std::vector<std::string>* out) {
  if (out->size() == kPageAddressesMax) return;
  const auto address = domain::ParseAddress(base::Trim(text));
  if (!address) return;
  std::string whole = address->Text();
  if (std::find(out->begin(), out->end(), whole) == out->end()) out->push_back(std::move(whole));
}

// The addresses of a mailto link, apart by blanks.
std::string MailtoText(std::string_view target) {
  target = target.substr(0, target.find('?'));
  std::string text = PercentDecode(target);
  std::replace(text.begin(), text.end(), ',', ' ');
  std::replace(text.begin(), text.end(), ';', ' ');
  return text;
}

// Markup cannot come in by what a link hides.
std::string WithoutMarkup(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '<' || c == '>' || c == '&'; }, ' ');
  return text;
}

// Elements that may speak of one person, by what they have inside them.
constexpr const char* kBlocks =
    "//*[self::p or self::li or self::div or self::td or self::tr or self::dd or self::address or "
    "self::article or self::section or self::figcaption or self::span or self::h1 or self::h2 or "
    "self::h3 or self::h4]";

void AddBlocks(const HtmlDocument& page, ExtractionStop& stop, AddressesOnPage* out) {
  const HtmlMatches matches =
      page.Every({kBlocks}, false, "", stop, TextView::kVisible, kTextsBytesMax);
  for (const std::string& text : matches.texts) {
    if (text.size() > kBlockCharactersMax * 4) continue;
    if (base::CountCharacters(text) > kBlockCharactersMax) continue;
    std::vector<std::string> addresses = AddressesInText(text);
    if (addresses.empty() || out->blocks.size() == kPageAddressesMax) continue;
    out->blocks.push_back({text, std::move(addresses)});
  }
  std::stable_sort(out->blocks.begin(), out->blocks.end(),
                   [](const auto& a, const auto& b) { return a.text.size() < b.text.size(); });
}

}  // namespace

std::string ExposeAddresses(std::string_view html) {
  static const RE2 kHidden(
      R"re((?i)<[a-z][^<>]*?(?:href\s*=\s*["']?mailto:([^"'<>\s]+)|data-cfemail\s*=\s*["']([0-9a-f]+)["'])[^<>]*>)re");
  std::string out;
  re2::StringPiece rest(html.data(), html.size());
  re2::StringPiece mailto;
  re2::StringPiece cfemail;
  std::size_t found = 0;
  const char* from = rest.data();
  while (found++ < kPageAddressesMax && RE2::FindAndConsume(&rest, kHidden, &mailto, &cfemail)) {
    out.append(from, static_cast<std::size_t>(rest.data() - from));
    from = rest.data();
    const std::string text = cfemail.empty()
                                 ? MailtoText(std::string_view(mailto.data(), mailto.size()))
                                 : DecodeCfEmail(std::string_view(cfemail.data(), cfemail.size()));
    out += ' ' + WithoutMarkup(text) + ' ';
  }
  return out.append(from, static_cast<std::size_t>(html.data() + html.size() - from));
}

std::vector<PageLink> LinksOnPage(const HtmlDocument& page, ExtractionStop& stop) {
  std::vector<PageLink> links;
  const char* kLinks = "//a[@href]";
  HtmlMatches urls = page.Every({kLinks}, false, "href", stop, TextView::kWhole, kTextsBytesMax);
  HtmlMatches texts = page.Every({kLinks}, false, "", stop, TextView::kWhole, kTextsBytesMax);
  // The lists do not stand side by side where a link has no text, and addresses alone count.
  const bool is_paired = urls.texts.size() == texts.texts.size();
  const std::size_t count = std::min(urls.texts.size(), kPageLinksMax);
  for (std::size_t i = 0; i < count; ++i) {
    links.push_back(
        {std::move(urls.texts[i]), is_paired ? std::move(texts.texts[i]) : std::string()});
  }
  return links;
}

std::string DecodeCfEmail(std::string_view hex) {
  const auto key = HexByte(hex);
  if (!key || hex.size() % 2 != 0 || hex.size() > 2 * kAddressBytesMax) return "";
  std::string out;
  for (std::size_t i = 2; i < hex.size(); i += 2) {
    const auto byte = HexByte(hex.substr(i));
    if (!byte) return "";
    out += static_cast<char>(*byte ^ *key);
  }
  return domain::ParseAddress(out) ? out : std::string();
}

std::vector<std::string> AddressesInText(std::string_view text) {
  static const RE2 kAddress(
      R"re((?i)([a-z0-9][a-z0-9._%+'-]{0,63})(?:@|\s?[\[({]\s?(?:at|@)\s?[\])}]\s?)([a-z0-9-]{1,63}(?:(?:\.|\s?[\[({]\s?(?:dot|punkt|\.)\s?[\])}]\s?)[a-z0-9-]{1,63}){1,6}))re");
  static const RE2 kDot(R"re((?i)\s?[\[({]\s?(?:dot|punkt|\.)\s?[\])}]\s?)re");
  std::vector<std::string> out;
  re2::StringPiece rest(text.data(), text.size());
  std::string local;
  std::string domain;
  for (std::size_t n = 0;
       n < kPageAddressesMax && RE2::FindAndConsume(&rest, kAddress, &local, &domain); ++n) {
    RE2::GlobalReplace(&domain, kDot, ".");
    while (domain.ends_with('-')) domain.pop_back();
    AddAddress(local + '@' + domain, &out);
  }
  return out;
}

AddressesOnPage FindAddressesOnPage(std::string_view html, ExtractionStop& stop) {
  AddressesOnPage out;
  auto parsed = HtmlDocument::Parse(ExposeAddresses(html));
  const auto* page = std::get_if<HtmlDocument>(&parsed);
  if (page == nullptr) return out;
  out.persons = PersonsOnPage(*page, stop);
  for (const PagePerson& person : out.persons) AddAddress(person.email, &out.addresses);
  for (const std::string& address : AddressesInText(page->VisibleText())) {
    AddAddress(address, &out.addresses);
  }
  AddBlocks(*page, stop, &out);
  out.links = LinksOnPage(*page, stop);
  return out;
}

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

}  // namespace vedette::html
