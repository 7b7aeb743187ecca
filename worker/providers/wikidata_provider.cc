#include "worker/providers/wikidata_provider.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/text.h"
#include "config/lookup_config.h"
#include "domain/email/address.h"
#include "domain/email/person_name.h"
#include "domain/email/suppression.h"
#include "html/url_reference.h"
#include "worker/providers/site_crawler.h"

namespace vedette::worker {
namespace {

using base::Json;
using domain::AgeClaim;

constexpr base::JsonLimits kAnswerLimits{.members_max = 10'000, .values_max = 400'000};
constexpr std::string_view kLanguages = "en|de|fr|es|it|pt|nl|pl|mul";
constexpr std::string_view kItemUrl = "https://www.wikidata.org/wiki/";
constexpr std::size_t kNamesMax = 50;       // of an item
constexpr std::size_t kStatementsMax = 20;  // of one property

std::string TextOf(const Json& object, const char* name) {
  return base::FoldSpace(base::TextMember(object, name));
}

bool IsId(std::string_view id) {
  constexpr std::size_t kDigitsMax = 12;
  return id.size() > 1 && id.size() <= kDigitsMax && id.front() == 'Q' &&
         std::all_of(id.begin() + 1, id.end(), base::IsAsciiDigit);
}

// The value of a statement; null where it is unknown or none.
const Json* ValueOf(const Json& statement) {
  const Json* snak = base::PresentMember(statement, "mainsnak");
  if (snak == nullptr || TextOf(*snak, "snaktype") != "value") return nullptr;
  const Json* value = base::PresentMember(*snak, "datavalue");
  return value == nullptr ? nullptr : base::PresentMember(*value, "value");
}

// The statements of a property that count: none that is deprecated, and where one is preferred
// only those that are.
std::vector<const Json*> StatementsOf(const Json& entity, const char* property) {
  std::vector<const Json*> all;
  const Json* claims = base::PresentMember(entity, "claims");
  const Json* list = claims == nullptr ? nullptr : base::PresentMember(*claims, property);
  if (list == nullptr || !list->is_array()) return all;
  bool has_preferred = false;
  for (const Json& statement : *list) {
    if (all.size() == kStatementsMax) break;
    const std::string rank = TextOf(statement, "rank");
    if (rank == "deprecated") continue;
    has_preferred = has_preferred || rank == "preferred";
    all.push_back(&statement);
  }
  if (has_preferred) {
    std::erase_if(all, [](const Json* one) { return TextOf(*one, "rank") != "preferred"; });
  }
  return all;
}

// A reference that only says from which Wikipedia the statement was imported, and when, proves
// nothing.
bool IsReferenced(const Json& statement) {
  const Json* references = base::PresentMember(statement, "references");
  if (references == nullptr || !references->is_array()) return false;
  return std::any_of(references->begin(), references->end(), [](const Json& reference) {
    const Json* snaks = base::PresentMember(reference, "snaks");
    if (snaks == nullptr || !snaks->is_object()) return false;
    for (const auto& [property, value] : snaks->items()) {
      if (property != "P143" && property != "P4656" && property != "P813") return true;
    }
    return false;
  });
}

std::vector<WikidataTime> TimesOf(const Json& entity, const char* property) {
  std::vector<WikidataTime> times;
  for (const Json* statement : StatementsOf(entity, property)) {
    const Json* value = ValueOf(*statement);
    const Json* precision = value == nullptr ? nullptr : base::PresentMember(*value, "precision");
    if (precision == nullptr || !precision->is_number_integer()) continue;
    constexpr int kPrecisionMax = 14;
    times.push_back({TextOf(*value, "time"), std::clamp(precision->get<int>(), 0, kPrecisionMax),
                     TextOf(*value, "calendarmodel").ends_with("Q1985786"),
                     IsReferenced(*statement)});
  }
  return times;
}

std::vector<std::string> IdsOf(const Json& entity, const char* property) {
  std::vector<std::string> ids;
  for (const Json* statement : StatementsOf(entity, property)) {
    const Json* value = ValueOf(*statement);
    std::string id = value == nullptr ? std::string() : TextOf(*value, "id");
    if (IsId(id)) ids.push_back(std::move(id));
  }
  return ids;
}

void AddTexts(const Json& entity, const char* property, std::string_view prefix,
              std::vector<std::string>* out) {
  for (const Json* statement : StatementsOf(entity, property)) {
    const Json* value = ValueOf(*statement);
    if (value != nullptr && value->is_string()) {
      out->push_back(std::string(prefix) + value->get<std::string>());
    }
  }
}

std::vector<std::string> NamesOf(const Json& entity) {
  std::vector<std::string> names;
  const auto add = [&](const Json& term) {
    std::string name = TextOf(term, "value");
    const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
    if (!name.empty() && !is_known && names.size() < kNamesMax) names.push_back(std::move(name));
  };
  if (const Json* labels = base::PresentMember(entity, "labels");
      labels != nullptr && labels->is_object()) {
    for (const auto& [language, term] : labels->items()) add(term);
  }
  if (const Json* aliases = base::PresentMember(entity, "aliases");
      aliases != nullptr && aliases->is_object()) {
    for (const auto& [language, terms] : aliases->items()) {
      if (!terms.is_array()) continue;
      for (const Json& term : terms) add(term);
    }
  }
  return names;
}

WikidataItem ReadItem(const std::string& id, const Json& entity) {
  WikidataItem item;
  item.id = id;
  item.names = NamesOf(entity);
  if (const Json* descriptions = base::PresentMember(entity, "descriptions")) {
    if (const Json* english = base::PresentMember(*descriptions, "en")) {
      item.description = TextOf(*english, "value");
    }
  }
  const auto kinds = IdsOf(entity, "P31");
  item.is_human = std::find(kinds.begin(), kinds.end(), "Q5") != kinds.end();
  item.births = TimesOf(entity, "P569");
  item.deaths = TimesOf(entity, "P570");
  // The statement of somebody whose day of death is not known has no value.
  item.has_died = !StatementsOf(entity, "P570").empty();
  item.employers = IdsOf(entity, "P108");
  AddTexts(entity, "P856", "", &item.sites);
  item.links = item.sites;
  AddTexts(entity, "P968", "", &item.links);
  AddTexts(entity, "P6634", "https://www.linkedin.com/in/", &item.links);
  return item;
}

// The name of the item that is most like the subject's.
std::string BestName(const domain::Person& person, const std::vector<std::string>& names) {
  const auto best =
      std::max_element(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return domain::MatchName(person, a) < domain::MatchName(person, b);
      });
  return best == names.end() ? std::string() : *best;
}

void AddTimes(const std::vector<WikidataTime>& times, AgeClaim::Kind kind, const char* what,
              const AgeClaim& of_item, const std::string& name, domain::AgeClaims* claims) {
  for (const WikidataTime& time : times) {
    const auto date = DateOfWikidata(time);
    if (!date) continue;
    AgeClaim claim = of_item;
    claim.kind = kind;
    claim.date = *date;
    claim.is_approximate = time.is_julian;
    claim.standing = time.is_referenced ? AgeClaim::Standing::kWikidata
                                        : AgeClaim::Standing::kWikidataUnreferenced;
    claim.quote = fmt::format("{}, {}: {} (precision {})", name, what, time.time, time.precision);
    claims->push_back(std::move(claim));
  }
}

void AddItem(const domain::AgeSubject& subject, const WikidataItem& item,
             const std::map<std::string, WikidataItem>& employers, domain::AgeClaims* claims) {
  if (!item.is_human || item.names.empty()) return;
  std::string text = item.description;
  domain::SourceFacts facts;
  facts.url = std::string(kItemUrl) + item.id;
  facts.name = BestName(subject.person, item.names);
  facts.links = item.links;
  for (const std::string& id : item.employers) {
    const auto employer = employers.find(id);
    if (employer == employers.end()) continue;
    text += fmt::format(" | {}", fmt::join(employer->second.names, " | "));
    const auto& links = employer->second.links;
    facts.links.insert(facts.links.end(), links.begin(), links.end());
  }
  facts.text = text;
  AgeClaim claim;
  claim.identity = domain::MatchIdentity(subject, facts, &claim.tie);
  if (claim.identity == domain::Identity::kOther) return;
  claim.url = facts.url;
  claim.provider = "wikidata";
  AddTimes(item.births, AgeClaim::Kind::kBirth, "date of birth", claim, facts.name, claims);
  const std::size_t before = claims->size();
  AddTimes(item.deaths, AgeClaim::Kind::kDeath, "date of death", claim, facts.name, claims);
  if (item.has_died && claims->size() == before) {
    claim.kind = AgeClaim::Kind::kDeath;
    claim.quote = facts.name + ", date of death: stated without a date";
    claims->push_back(std::move(claim));
  }
}

}  // namespace

std::string WikidataSearchUrl(std::string_view api_url, std::string_view name) {
  return fmt::format(
      "{}?action=wbsearchentities&format=json&type=item&language=en&uselang=en&limit={}&search={}",
      api_url, kWikidataItemsMax, html::EncodeComponent(name));
}

std::string WikidataItemsUrl(std::string_view api_url, const std::vector<std::string>& ids) {
  return fmt::format(
      "{}?action=wbgetentities&format=json&props=labels%7Caliases%7Cdescriptions%7Cclaims"
      "&languages={}&ids={}",
      api_url, html::EncodeComponent(kLanguages),
      html::EncodeComponent(fmt::format("{}", fmt::join(ids, "|"))));
}

std::optional<std::vector<std::string>> ReadWikidataSearch(std::string_view body) {
  Json answer;
  if (base::ParseJson(body, &answer, kAnswerLimits)) return std::nullopt;
  const Json* found = base::PresentMember(answer, "search");
  if (found == nullptr || !found->is_array()) return std::nullopt;
  std::vector<std::string> ids;
  for (const Json& item : *found) {
    std::string id = TextOf(item, "id");
    if (IsId(id) && ids.size() < kWikidataItemsMax) ids.push_back(std::move(id));
  }
  return ids;
}

std::optional<std::vector<WikidataItem>> ReadWikidataItems(std::string_view body) {
  Json answer;
  if (base::ParseJson(body, &answer, kAnswerLimits)) return std::nullopt;
  const Json* entities = base::PresentMember(answer, "entities");
  if (entities == nullptr || !entities->is_object()) return std::nullopt;
  std::vector<WikidataItem> items;
  for (const auto& [id, entity] : entities->items()) {
    if (IsId(id) && base::PresentMember(entity, "missing") == nullptr) {
      items.push_back(ReadItem(id, entity));
    }
  }
  return items;
}

std::optional<domain::PartialDate> DateOfWikidata(const WikidataTime& time) {
  constexpr int kYear = 9;
  constexpr int kMonth = 10;
  constexpr int kDay = 11;
  constexpr std::size_t kLength = 11;  // "+1980-05-06"
  const std::string& text = time.time;
  if (time.precision < kYear || text.size() < kLength || text[0] != '+' || text[5] != '-' ||
      text[8] != '-') {
    return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t digits) -> std::optional<int> {
    int value = 0;
    for (const char c : text.substr(at, digits)) {
      if (!base::IsAsciiDigit(c)) return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return value == 0 ? std::nullopt : std::optional(value);
  };
  domain::PartialDate date;
  date.year = number(1, 4);
  if (!date.year) return std::nullopt;
  if (time.precision >= kMonth) date.month = number(6, 2);
  if (time.precision >= kDay && date.month) date.day = number(9, 2);
  return date;
}

std::string CompanyDomainOfItems(std::string_view company, const std::vector<WikidataItem>& items) {
  const std::string wanted = domain::FoldName(company);
  if (wanted.empty()) return "";
  std::set<std::string> domains;
  for (const WikidataItem& item : items) {
    const bool is_so_called =
        !item.is_human &&
        std::any_of(item.names.begin(), item.names.end(),
                    [&](const std::string& name) { return domain::FoldName(name) == wanted; });
    if (!is_so_called) continue;
    for (const std::string& site : item.sites) {
      const auto found = domain::FindDomain(site);
      const auto ascii = found ? domain::AsciiDomain(*found) : std::nullopt;
      if (ascii) domains.insert(*ascii);
    }
  }
  if (domains.size() != 1 || domain::IsFreeMailboxDomain(*domains.begin())) return "";
  return *domains.begin();
}

domain::AgeClaims ClaimsOfItems(const domain::AgeSubject& subject,
                                const std::vector<WikidataItem>& items,
                                const std::map<std::string, WikidataItem>& employers) {
  domain::AgeClaims claims;
  for (const WikidataItem& item : items) AddItem(subject, item, employers, &claims);
  return claims;
}

namespace {

using std::chrono::milliseconds;

struct FoundReading final : html::Reading {
  std::vector<std::string> ids;
  std::size_t bytes() const override { return sizeof *this; }
};

struct ItemsReading final : html::Reading {
  std::vector<WikidataItem> items;
  std::size_t bytes() const override { return sizeof *this; }
};

// Empty for a question that is not asked.
std::string NameToAsk(const LookupRequest& request) {
  if (!request.person) return "";
  if (request.lookup == Lookup::kVerifyAge) return domain::WholeName(*request.person);
  return request.lookup == Lookup::kCompanyDomain ? request.person->company : std::string();
}

domain::Failure Unreadable() {
  return {"bad_content", "Wikidata's answer cannot be read.", false, {}};
}

html::Fetched ReadFound(const html::FetchedPage& page, html::ReadingTime&) {
  auto ids = ReadWikidataSearch(page.body);
  if (!ids) return Unreadable();
  auto reading = std::make_shared<FoundReading>();
  reading->ids = std::move(*ids);
  return std::shared_ptr<const html::Reading>(std::move(reading));
}

html::Fetched ReadItems(const html::FetchedPage& page, html::ReadingTime&) {
  auto items = ReadWikidataItems(page.body);
  if (!items) return Unreadable();
  auto reading = std::make_shared<ItemsReading>();
  reading->items = std::move(*items);
  return std::shared_ptr<const html::Reading>(std::move(reading));
}

// The distinct employers of people.
std::vector<std::string> EmployersOf(const std::vector<WikidataItem>& items) {
  std::vector<std::string> employers;
  for (const WikidataItem& item : items) {
    if (!item.is_human) continue;
    for (const std::string& id : item.employers) {
      const bool is_known = std::find(employers.begin(), employers.end(), id) != employers.end();
      if (!is_known && employers.size() < kWikidataEmployersMax) employers.push_back(id);
    }
  }
  return employers;
}

}  // namespace

struct WikidataProvider::Dependencies {
  const base::Clock& clock;
  html::Fetcher& fetcher;
  const std::string url;
};

// One person or company. It lives as long as a question about it is under way.
class WikidataProvider::Search : public std::enable_shared_from_this<Search> {
 public:
  Search(const std::shared_ptr<const Dependencies>& deps, LookupRequest request,
         std::function<void(LookupAnswer)> done)
      : deps_(deps),
        request_(std::move(request)),
        subject_{*request_.person, request_.urls},
        deadline_(deps->clock.SinceBoot() + std::min(request_.timeout, kTimeMax)),
        done_(std::move(done)) {}

  void Begin(const std::string& api_url, const std::string& name) {
    Get(WikidataSearchUrl(api_url, name), ReadFound, &Search::OnFound);
  }

 private:
  using Then = void (Search::*)(const html::Reading& reading);

  void Get(std::string url, html::ReadPage read, Then then) {
    const auto deps = deps_.lock();
    if (deps == nullptr) return;
    if (!request_.may_call()) {
      return done_(LookupUnheld());
    }
    html::FetchRequest fetch;
    fetch.org_id = request_.org_id;
    fetch.url = std::move(url);
    fetch.body_bytes_max = kAnswerBytesMax;
    fetch.timeout = std::max(std::chrono::floor<milliseconds>(deadline_ - deps->clock.SinceBoot()),
                             milliseconds(1));
    fetch.turn_wait_max = fetch.timeout;
    fetch.thread_wait_max = fetch.timeout;
    FetchHeld(deps->fetcher, std::move(fetch), request_.may_call, std::move(read),
              [self = shared_from_this(), then](const html::Fetched& fetched) {
                // The provider has ended: its callbacks are dropped.
                if (self->deps_.expired()) return;
                if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
                  return self->done_(
                      ClassifyTimeout(LookupAnswer(*failure), self->request_.timeout, kTimeMax));
                }
                ((*self).*then)(*std::get<std::shared_ptr<const html::Reading>>(fetched));
              });
  }

  void OnFound(const html::Reading& reading) {
    const auto& ids = static_cast<const FoundReading&>(reading).ids;
    const auto deps = deps_.lock();
    if (ids.empty() || deps == nullptr) return done_(Nothing{});
    Get(WikidataItemsUrl(deps->url, ids), ReadItems, &Search::OnItems);
  }

  void OnItems(const html::Reading& reading) {
    items_ = static_cast<const ItemsReading&>(reading).items;
    if (request_.lookup == Lookup::kCompanyDomain) {
      std::string domain = CompanyDomainOfItems(request_.person->company, items_);
      return domain.empty() ? done_(Nothing{}) : done_(CompanyDomainFound{std::move(domain)});
    }
    const auto employers = EmployersOf(items_);
    const auto deps = deps_.lock();
    if (employers.empty() || deps == nullptr) return Finish({});
    Get(WikidataItemsUrl(deps->url, employers), ReadItems, &Search::OnEmployers);
  }

  void OnEmployers(const html::Reading& reading) {
    std::map<std::string, WikidataItem> employers;
    for (const WikidataItem& employer : static_cast<const ItemsReading&>(reading).items) {
      employers.emplace(employer.id, employer);
    }
    Finish(employers);
  }

  void Finish(const std::map<std::string, WikidataItem>& employers) {
    domain::AgeClaims claims = ClaimsOfItems(subject_, items_, employers);
    if (claims.empty()) return done_(Nothing{});
    done_(std::move(claims));
  }

  const std::weak_ptr<const Dependencies> deps_;
  const LookupRequest request_;
  const domain::AgeSubject subject_;
  const std::chrono::nanoseconds deadline_;
  const std::function<void(LookupAnswer)> done_;
  std::vector<WikidataItem> items_;
};

WikidataProvider::WikidataProvider(const base::Clock& clock, html::Fetcher& fetcher,
                                   const config::AgeConfig& config)
    : deps_(
          std::make_shared<const Dependencies>(Dependencies{clock, fetcher, config.wikidata_url})) {
}

WikidataProvider::~WikidataProvider() = default;

void WikidataProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const std::string name = NameToAsk(request);
  if (name.empty()) return done(Nothing{});
  std::make_shared<Search>(deps_, std::move(request), std::move(done))->Begin(deps_->url, name);
}

}  // namespace vedette::worker
