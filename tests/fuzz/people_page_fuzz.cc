// Whatever bytes a company's page is made of, what is read of its people is bounded, and text that
// can be stored.
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "html/addresses_on_page.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(people_page, bytes) {
  const std::string html = base::RepairUtf8(bytes);
  const auto check = [](const std::string& text) {
    if (!base::IsValidUtf8(text)) std::abort();
  };
  html::ExtractionStop stop;
  const auto found = html::FindAddressesOnPage(html, stop);
  if (found.addresses.size() > html::kPageAddressesMax) std::abort();
  if (found.links.size() > html::kPageLinksMax) std::abort();
  for (const std::string& address : found.addresses) {
    check(address);
    if (address.find('@') == std::string::npos) std::abort();
  }
  for (const html::PagePerson& person : found.persons) {
    if (person.name.empty() || person.links.size() > html::kPersonLinksMax) std::abort();
    for (const std::string* text : {&person.name, &person.email, &person.birth, &person.death}) {
      check(*text);
    }
  }
  for (const html::PageBlock& block : found.blocks) {
    if (block.addresses.empty()) std::abort();
    check(block.text);
  }
  for (const html::PageLink& link : found.links) check(link.url + link.text);
  const auto cards = html::CardsOnPage(html::ExposeAddresses(html), stop);
  if (cards.size() > html::kPageCardsMax) std::abort();
  for (const html::PageCard& card : cards) {
    for (const std::string& part : card.parts) check(part);
    for (const std::string& address : card.addresses) check(address);
  }
  html::DecodeCfEmail(html);
}

}  // namespace vedette
