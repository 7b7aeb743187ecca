#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/config_fwd.h"
#include "domain/people/age.h"
#include "domain/people/age_claims.h"
#include "html/fetch.h"
#include "worker/providers/provider.h"

// What Wikidata's Action API is asked about a person or a company, and what its answers say. Pure.
//
//   wbsearchentities: the items with that name --> wbgetentities: those items
//        --> wbgetentities: the items of their employers --> claims
namespace vedette::worker {

inline constexpr std::size_t kWikidataItemsMax = 10;      // of people with one name
inline constexpr std::size_t kWikidataEmployersMax = 20;  // of all of them together

std::string WikidataSearchUrl(std::string_view api_url, std::string_view name);
// `ids` is not empty.
std::string WikidataItemsUrl(std::string_view api_url, const std::vector<std::string>& ids);

// The ids of the items; empty where the answer cannot be read.
std::optional<std::vector<std::string>> ReadWikidataSearch(std::string_view body);

// A statement whose value is a time. Of deprecated statements nothing is kept, and where one is
// preferred only those that are.
struct WikidataTime {
  std::string time;   // "+1980-05-06T00:00:00Z"
  int precision = 0;  // 9 a year, 10 a month, 11 a day; what is coarser says nothing
  bool is_julian = false;
  bool is_referenced = false;  // by more than where it was imported from
};

struct WikidataItem {
  std::string id;
  std::vector<std::string> names;  // labels and aliases
  std::string description;
  bool is_human = false;               // P31 is Q5
  std::vector<WikidataTime> births;    // P569
  std::vector<WikidataTime> deaths;    // P570
  bool has_died = false;               // P570 has any value, an unknown one too
  std::vector<std::string> employers;  // P108: ids
  std::vector<std::string> links;      // P856, P968, and profiles of P6634
  std::vector<std::string> sites;      // P856: the official website
};

// Those with an id; empty where the answer cannot be read.
std::optional<std::vector<WikidataItem>> ReadWikidataItems(std::string_view body);

// The date of a statement: what its precision covers. A year-only value carries 1 January, which is
// no day. Empty for what is coarser than a year, and before the year 1.
std::optional<domain::PartialDate> DateOfWikidata(const WikidataTime& time);

// The domain of the company of this name: that of the official website of the one item that is so
// called, is nobody, and has one. Empty where several have one, or it is at a provider of free
// mailboxes.
std::string CompanyDomainOfItems(std::string_view company, const std::vector<WikidataItem>& items);

// The claims of people: each item is matched with the subject by its names, its employers and its
// links (MatchIdentity). `employers`: their items, by id.
domain::AgeClaims ClaimsOfItems(const domain::AgeSubject& subject,
                                const std::vector<WikidataItem>& items,
                                const std::map<std::string, WikidataItem>& employers);

// Looks a person or a company up in Wikidata, which so learns the name. Serves
// verify_age and company_domain; who has no name is not asked about. Answers are read on the
// threads that read pages, in turns with them. Its failures: those of html::Fetcher.
class WikidataProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "wikidata";
  static constexpr std::size_t kAnswerBytesMax = 8 << 20;
  static constexpr std::chrono::milliseconds kTimeMax{30'000};  // of all questions about a person

  // Everything handed in must outlive this object, but for `config`.
  WikidataProvider(const base::Clock& clock, html::Fetcher& fetcher,
                   const config::AgeConfig& config);
  ~WikidataProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  class Search;
  struct Dependencies;
  const std::shared_ptr<const Dependencies> deps_;
};

}  // namespace vedette::worker
