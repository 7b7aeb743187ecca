// Whatever Wikidata answers, ids are ids, claims have a place and a quote, and a company's domain
// is one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "base/text.h"
#include "domain/email/address.h"
#include "worker/providers/wikidata_provider.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vedette;
  using namespace vedette::worker;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  if (const auto ids = ReadWikidataSearch(body)) {
    if (ids->size() > kWikidataItemsMax) std::abort();
    for (const std::string& id : *ids) {
      if (!id.starts_with('Q')) std::abort();
    }
  }
  const auto items = ReadWikidataItems(body);
  if (!items) return 0;
  std::map<std::string, WikidataItem> employers;
  for (const WikidataItem& item : *items) {
    if (!item.id.starts_with('Q')) std::abort();
    employers.emplace(item.id, item);
    for (const WikidataTime& time : item.births) DateOfWikidata(time);
  }
  domain::AgeSubject subject;
  subject.person.name = "Ada Lovelace";
  subject.person.company = "Analytical Engines";
  subject.person.domain = "engines.example";
  for (const domain::AgeClaim& claim : ClaimsOfItems(subject, *items, employers)) {
    if (claim.quote.empty() || claim.url.empty()) std::abort();
    if (!base::IsValidUtf8(claim.quote) || !base::IsValidUtf8(claim.url)) std::abort();
  }
  const std::string domain = CompanyDomainOfItems("Analytical Engines", *items);
  if (!domain.empty() && !domain::ParseDomain(domain)) std::abort();
  return 0;
}
