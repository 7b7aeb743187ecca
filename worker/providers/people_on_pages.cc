#include "worker/providers/people_on_pages.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/candidate.h"
#include "domain/email/person_name.h"
#include "domain/email/suppression.h"
#include "domain/people/date_mention.h"
#include "domain/people/people_answer.h"
#include "domain/people/person_found.h"
#include "html/addresses_on_page.h"
#include "html/page_forms.h"
#include "html/url_reference.h"
#include "worker/providers/site_providers.h"

namespace vedette::worker {
namespace {

using domain::Candidate;

// In the order of what they promise: pages with people, then with a way to reach the company, then
// the company itself. In English, German, French, Spanish, Italian, Portuguese, Dutch, Polish,
// Swedish, Danish, Turkish and Czech; folded.
constexpr std::string_view kPeopleWords[] = {
    "team",         "people",      "staff",      "equipe",  "equipo",    "ansprechpartner",
    "mitarbeiter",  "leadership",  "management", "squadra", "zespol",    "medarbetare",
    "medarbejdere", "medewerkers", "ekip",       "tym",     "direction", "geschaeftsfuehrung",
};
constexpr std::string_view kContactWords[] = {
    "contact",   "kontakt",          "contacto",    "contatti",    "contato",  "imprint",
    "impressum", "mentions legales", "aviso legal", "note legali", "iletisim", "colofon",
};
constexpr std::string_view kAboutWords[] = {
    "about", "ueber uns", "uber uns", "a propos",   "sobre",      "chi siamo",       "over ons",
    "o nas", "om oss",    "om os",    "hakkimizda", "quem somos", "qui sommes nous", "unternehmen",
};

template <std::size_t N>
bool HasWord(const std::string& text, const std::string_view (&words)[N]) {
  const std::string padded = ' ' + text + ' ';
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) {
    // A word may be the beginning of another one: "contacts", "teams".
    return padded.find(' ' + std::string(word)) != std::string::npos;
  });
}

// 0 is best; empty for a page that promises nothing.
std::optional<int> RankOf(const std::string& text) {
  if (HasWord(text, kPeopleWords)) return 0;
  if (HasWord(text, kContactWords)) return 1;
  if (HasWord(text, kAboutWords)) return 2;
  return std::nullopt;
}

// How an address was tied to the person.
enum class Tie { kNone, kPersonNode, kPattern, kBlock };

class TieFinder {
 public:
  TieFinder(const domain::Person& person, const html::AddressesOnPage& page)
      : person_(person), page_(page) {
    auto names = domain::RenderName(person, domain::CompanyDomain(person));
    if (auto* list = std::get_if<std::vector<domain::NameRendering>>(&names)) {
      names_ = std::move(*list);
    }
  }

  Tie TieOf(const std::string& address, const std::string& local, Candidate* candidate) const {
    for (const html::PagePerson& node : page_.persons) {
      if (node.email == address && domain::IsCompatibleName(person_, node.name)) {
        candidate->quote = node.name + ", " + address;
        return Tie::kPersonNode;
      }
    }
    candidate->pattern = domain::PatternOf(local, names_);
    const html::PageBlock* block = SmallestBlock(address);
    if (block != nullptr) candidate->quote = block->text;
    if (candidate->pattern) return Tie::kPattern;
    return block != nullptr && block->addresses.size() == 1 ? Tie::kBlock : Tie::kNone;
  }

 private:
  // Blocks are sorted by size.
  const html::PageBlock* SmallestBlock(const std::string& address) const {
    for (const html::PageBlock& block : page_.blocks) {
      const auto& has = block.addresses;
      if (std::find(has.begin(), has.end(), address) == has.end()) continue;
      if (domain::IsCompatibleName(person_, block.text)) return &block;
    }
    return nullptr;
  }

  const domain::Person& person_;
  const html::AddressesOnPage& page_;
  std::vector<domain::NameRendering> names_;
};

}  // namespace

domain::Candidates CandidatesOnPage(const domain::Person& person, domain::FindMode mode,
                                    const std::string& url, const html::AddressesOnPage& page) {
  const std::string company = domain::CompanyDomain(person);
  const TieFinder finder(person, page);
  std::vector<std::pair<Tie, Candidate>> found;
  for (const std::string& text : page.addresses) {
    const auto address = domain::ParseAddress(text);
    if (!address || domain::IsRoleName(address->local)) continue;
    const bool is_companys = domain::IsOfCompany(*address, company);
    if (is_companys != (mode == domain::FindMode::kProfessional)) continue;
    Candidate candidate;
    candidate.address = text;
    const Tie tie = finder.TieOf(text, address->local, &candidate);
    if (tie == Tie::kNone) continue;
    // The page has the address, but that it is this Ann's is a guess: another one may work there.
    if (tie == Tie::kPattern && candidate.quote.empty() &&
        !domain::UsesBothNames(*candidate.pattern)) {
      candidate.stated = false;
    }
    if (url.size() <= domain::kCandidateSourceBytesMax) candidate.sources = {url};
    candidate.quote = base::CutCharacters(candidate.quote, domain::kCandidateQuoteCharactersMax);
    candidate.confidence = domain::ConfidenceOf(candidate);
    found.emplace_back(tie, std::move(candidate));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  domain::Candidates out;
  for (auto& [tie, candidate] : found) out.push_back(std::move(candidate));
  return out;
}

std::vector<std::string> PeoplePages(const std::string& url, const std::string& origin,
                                     const std::vector<html::PageLink>& links) {
  const auto host = domain::FindDomain(origin);
  std::vector<std::pair<int, std::string>> ranked;
  for (const html::PageLink& link : links) {
    std::string target = html::ResolveReference(url, link.url);
    const auto at = domain::FindDomain(target);
    if (target.empty() || target == url) continue;
    if (!html::SameOrigin(target, origin) && !(host && at && domain::IsBelow(*at, *host))) continue;
    const auto path = target.find('/', target.find("://") + 3);
    const auto rank = RankOf(
        domain::FoldName((path == std::string::npos ? "" : target.substr(path)) + ' ' + link.text));
    if (!rank) continue;
    const auto is_same = [&](const auto& other) { return other.second == target; };
    if (std::none_of(ranked.begin(), ranked.end(), is_same)) {
      ranked.emplace_back(*rank, std::move(target));
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  out.reserve(ranked.size());
  for (auto& [rank, target] : ranked) out.push_back(std::move(target));
  return out;
}

namespace {

using domain::PersonFound;

bool IsAddress(const std::string& text, const std::string& key) {
  const auto address = domain::ParseAddress(text);
  return address && domain::MailboxKey(*address) == key;
}

bool IsLinkedIn(std::string_view url) {
  return url.find("linkedin.com/in/") != std::string_view::npos;
}

std::string Field(const std::string& text) {
  return base::CutCharacters(domain::CleanName(text), domain::kPersonFieldCharactersMax);
}

PersonFound PersonOfNode(const html::PagePerson& node, const std::string& name,
                         const std::string& url) {
  PersonFound person;
  person.name = name;
  person.confidence =
      node.source == html::PagePerson::Source::kHCard ? kHCardConfidence : kNodeConfidence;
  person.title = Field(node.title);
  person.company = Field(node.company);
  for (const std::string& link : node.links) {
    if (!base::HasWebScheme(link) || person.profiles.size() == domain::kPersonUrlsMax) continue;
    if (person.linkedin.empty() && IsLinkedIn(link)) person.linkedin = link;
    person.profiles.push_back(link);
  }
  person.evidence =
      base::CutCharacters(node.name + ", " + node.email, domain::kPersonEvidenceCharactersMax);
  person.sources = {url};
  return person;
}

// A name that a source gives becomes a candidate, once.
void AddCandidate(domain::NameCandidate candidate, PersonFound* person) {
  const auto is_same = [&](const domain::NameCandidate& other) {
    return domain::IsSameName(other.name, candidate.name);
  };
  auto& all = person->candidates;
  if (all.size() == domain::kPersonCandidatesMax) return;
  if (std::none_of(all.begin(), all.end(), is_same)) all.push_back(std::move(candidate));
}

void AddCandidate(const PersonFound& named, int confidence, PersonFound* person) {
  AddCandidate({named.name, confidence, std::string(WebsiteProvider::kId), named.evidence}, person);
}

// Those of different people are candidates.
PersonFound OneOf(const std::vector<PersonFound>& found) {
  const auto is_same = [&](const PersonFound& other) {
    return domain::IsSameName(other.name, found.front().name);
  };
  if (std::all_of(found.begin(), found.end(), is_same)) {
    return *std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.confidence < b.confidence;
    });
  }
  PersonFound person;
  for (const PersonFound& one : found) AddCandidate(one, kBesideConfidence, &person);
  return person;
}

// Whether the local part is made of the name, and the name is not the company's: blue.ridge@ at
// blueridge.example is nobody's.
bool TellsName(const domain::Address& address, const std::string& name) {
  std::string joined = domain::FoldName(name);
  std::erase(joined, ' ');
  std::string labels = domain::FoldName(address.domain);
  std::erase(labels, ' ');
  if (labels.find(joined) != std::string::npos) return false;
  domain::Person person;
  person.name = name;
  const auto names = domain::RenderName(person, address.domain);
  const auto* renderings = std::get_if<std::vector<domain::NameRendering>>(&names);
  return renderings != nullptr && domain::PatternOf(address.local, *renderings).has_value();
}

std::vector<std::string> NamesOf(const html::PageCard& card) {
  std::vector<std::string> names;
  for (const std::string& part : card.parts) {
    std::string name = domain::StatedName(part);
    const auto is_same = [&](const std::string& other) { return domain::IsSameName(other, name); };
    if (name.empty() || std::any_of(names.begin(), names.end(), is_same)) continue;
    names.push_back(std::move(name));
  }
  return names;
}

std::string TextOf(const html::PageCard& card) {
  std::string text;
  for (const std::string& part : card.parts) text += (text.empty() ? "" : " | ") + part;
  return base::CutCharacters(text, domain::kPersonEvidenceCharactersMax);
}

PersonFound PersonOfCard(const domain::Address& address, const std::string& url,
                         const html::PageCard& card, const std::vector<std::string>& names) {
  PersonFound person;
  if (card.addresses.size() > 1) return person;
  PersonFound named;
  named.evidence = TextOf(card);
  if (names.size() == 1 && TellsName(address, names.front())) {
    named.name = names.front();
    named.confidence = kBlockConfidence;
    named.sources = {url};
    return named;
  }
  for (const std::string& name : names) {
    named.name = name;
    AddCandidate(named, kBesideConfidence, &person);
  }
  return person;
}

}  // namespace

PersonFound PersonBehind(const domain::Address& address, const std::string& url,
                         const std::vector<html::PagePerson>& persons,
                         const std::vector<html::PageCard>& cards) {
  const std::string key = domain::MailboxKey(address);
  std::vector<PersonFound> stated;
  for (const html::PagePerson& node : persons) {
    if (!IsAddress(node.email, key)) continue;
    const std::string name = domain::StatedName(node.name);
    if (!name.empty()) stated.push_back(PersonOfNode(node, name, url));
  }
  if (!stated.empty()) return OneOf(stated);
  for (const html::PageCard& card : cards) {
    const auto& has = card.addresses;
    const bool is_about = std::any_of(
        has.begin(), has.end(), [&](const std::string& text) { return IsAddress(text, key); });
    if (!is_about) continue;
    const std::vector<std::string> names = NamesOf(card);
    if (!names.empty() || has.size() > 1) return PersonOfCard(address, url, card, names);
  }
  return {};
}

void AddPageOfPerson(const PersonFound& page, PersonFound* person) {
  if (person->name.empty() && !page.name.empty()) {
    std::vector<domain::NameCandidate> candidates = std::move(person->candidates);
    *person = page;
    for (auto& candidate : candidates) AddCandidate(std::move(candidate), person);
    return;
  }
  for (const domain::NameCandidate& candidate : page.candidates) AddCandidate(candidate, person);
}

namespace {

// They show strangers a login instead of the page, and forbid readers.
constexpr auto kBehindLogin =
    std::to_array<std::string_view>({"facebook.com", "instagram.com", "linkedin.com", "xing.com"});

bool IsBehindLogin(const std::string& url) {
  const auto host = domain::FindDomain(url);
  return host && std::any_of(kBehindLogin.begin(), kBehindLogin.end(), [&](std::string_view site) {
           const bool is_below = host->size() > site.size() && host->ends_with(site) &&
                                 (*host)[host->size() - site.size() - 1] == '.';
           return *host == site || is_below;
         });
}

std::optional<std::chrono::year_month_day> DayOf(const std::string& text) {
  const auto date = domain::ReadDateValue(text);
  if (!date || !date->year || !date->month || !date->day) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(*date->year),
                                        std::chrono::month(static_cast<unsigned>(*date->month)),
                                        std::chrono::day(static_cast<unsigned>(*date->day))};
  return day.ok() ? std::optional(day) : std::nullopt;
}

}  // namespace

std::optional<SiteVisit> VisitOf(const std::string& url) {
  SiteVisit visit;
  visit.origins = {html::OriginOfUrl(url)};
  const bool is_web = url.starts_with("https://") || url.starts_with("http://");
  if (!is_web || visit.origins.front().empty() || IsBehindLogin(url)) return std::nullopt;
  const std::string rest = url.substr(visit.origins.front().size());
  visit.path = rest.substr(0, rest.find('#'));
  if (!visit.path.starts_with('/')) visit.path.insert(0, 1, '/');
  return visit;
}

std::vector<SiteVisit> VisitsOf(const LookupRequest& request, int pages_max,
                                const OriginOf& origin_of) {
  std::vector<SiteVisit> visits;
  for (const std::string& url : request.urls) {
    if (auto visit = VisitOf(url)) visits.push_back(std::move(*visit));
  }
  const std::string domain =
      request.person ? domain::CompanyDomain(*request.person) : std::string();
  if (!domain.empty() && !domain::IsFreeMailboxDomain(domain)) {
    visits.push_back({{origin_of(domain), origin_of("www." + domain)}, "/", pages_max});
  }
  return visits;
}

std::optional<SubjectPage> ReadSubjectPage(const html::FetchedPage& fetched,
                                           html::ReadingTime& time) {
  html::PageForms forms(fetched);
  if (forms.IsBinary()) return std::nullopt;
  auto text = forms.VisibleText();
  if (!text) return std::nullopt;
  SubjectPage page;
  page.url = fetched.url;
  page.text = std::move(*text);
  const html::HtmlDocument* html = forms.Html();
  if (forms.IsJson() || html == nullptr) return page;
  page.persons = html::PersonsOnPage(*html, time.stop());
  page.published = DayOf(html::PublishedOn(*html, time.stop()));
  const auto links = html::LinksOnPage(*html, time.stop());
  page.next = PeoplePages(page.url, html::OriginOfUrl(page.url), links);
  for (const html::PageLink& link : links) page.links.push_back(link.url);
  return page;
}

}  // namespace vedette::worker
