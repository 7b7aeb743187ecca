// Whatever Wikidata answers, ids are ids, claims have a place and a quote, and a company's domain
// is one.
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "base/text.h"
#include "domain/email/address.h"
#include "tests/fuzz/target.h"
#include "worker/providers/wikidata_provider.h"

namespace vedette::worker {

FUZZ_TARGET(wikidata, body) {
  if (const auto ids = ReadWikidataSearch(body)) {
    if (ids->size() > kWikidataItemsMax) std::abort();
    for (const std::string& id : *ids) {
      if (!id.starts_with('Q')) std::abort();
    }
  }
  const auto items = ReadWikidataItems(body);
  if (!items) return;
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
}

}  // namespace vedette::worker
