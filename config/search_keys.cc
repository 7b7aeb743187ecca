// The keys of searches and of investigations.
#include <chrono>

#include "config/section.h"

namespace vedette::config {

using std::chrono::days;
using std::chrono::minutes;
using std::chrono::seconds;

void AddSearchKeys(std::vector<Key>* table) {
  using S = SearchConfig;
  Section<S>(table, "search", [](Config& c) -> S& { return c.search; })
      .Add("backend", &S::backend, Choice({"postgres", "opensearch", ""}))
      .Add("url", &S::url, OptionalUrl())
      .Add("index_people", &S::index_people, NonEmptyText())
      .Add("index_company", &S::index_company, NonEmptyText())
      .Add("org_field", &S::org_field, NonEmptyText())
      .Add("user", &S::user, Text())
      .Add("password", &S::password, Secret(Text()))
      .Add("api_key", &S::api_key, Secret(Text()))
      .Add("in_flight_max", &S::in_flight_max, Int(1, 10'000))
      .Add("fields_file", &S::fields_file, Text())
      .Time("timeout_ms", &S::timeout_ms, milliseconds(10), minutes(1));

  using I = InvestigationsConfig;
  Section<I>(table, "investigations", [](Config& c) -> I& { return c.investigations; })
      .Add("providers", &I::providers, ChoiceList({"dns", "website", "lookups", "rdap", "ct"}))
      .Add("rdap_url", &I::rdap_url, OptionalUrl())
      .Add("ct_url", &I::ct_url, OptionalUrl())
      .Time("deadline_ms", &I::deadline_ms, seconds(1), days(1));
  Section<I>(table, "prices.investigation", [](Config& c) -> I& {
    return c.investigations;
  }).Add("expansion", &I::expansion_mc, Credits(1'000'000));
}

}  // namespace vedette::config
