#include "worker/providers/site_reading.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/idn.h"
#include "domain/email/name_words.h"
#include "domain/email/person_name.h"
#include "domain/email/role_names.h"
#include "domain/email/suppression.h"
#include "pages/url_reference.h"

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

bool IsBelow(std::string_view domain, std::string_view parent) {
  if (domain == parent) return true;
  return domain.size() > parent.size() && domain.ends_with(parent) &&
         domain[domain.size() - parent.size() - 1] == '.';
}

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

class PageJudge {
 public:
  PageJudge(const domain::Person& person, const pages::AddressesOnPage& page)
      : person_(person), page_(page) {
    auto names = domain::RenderName(person, domain::CompanyDomain(person));
    if (auto* list = std::get_if<std::vector<domain::NameRendering>>(&names)) {
      names_ = std::move(*list);
    }
  }

  Tie TieOf(const std::string& address, const std::string& local, Candidate* candidate) const {
    for (const pages::PagePerson& node : page_.persons) {
      if (node.email == address && domain::IsCompatibleName(person_, node.name)) {
        candidate->quote = node.name + ", " + address;
        return Tie::kPersonNode;
      }
    }
    candidate->pattern = domain::PatternOf(local, names_);
    const pages::PageBlock* block = SmallestBlock(address);
    if (block != nullptr) candidate->quote = block->text;
    if (candidate->pattern) return Tie::kPattern;
    return block != nullptr && block->addresses.size() == 1 ? Tie::kBlock : Tie::kNone;
  }

 private:
  // Blocks are sorted by size.
  const pages::PageBlock* SmallestBlock(const std::string& address) const {
    for (const pages::PageBlock& block : page_.blocks) {
      const auto& has = block.addresses;
      if (std::find(has.begin(), has.end(), address) == has.end()) continue;
      if (domain::IsCompatibleName(person_, block.text)) return &block;
    }
    return nullptr;
  }

  const domain::Person& person_;
  const pages::AddressesOnPage& page_;
  std::vector<domain::NameRendering> names_;
};

}  // namespace

domain::Candidates CandidatesOnPage(const domain::Person& person, domain::FindMode mode,
                                    const std::string& url, const pages::AddressesOnPage& page) {
  const std::string company = domain::CompanyDomain(person);
  const PageJudge judge(person, page);
  std::vector<std::pair<Tie, Candidate>> found;
  for (const std::string& text : page.addresses) {
    const auto address = domain::ParseAddress(text);
    if (!address || domain::IsRoleName(address->local)) continue;
    const std::string at = domain::AsciiDomain(address->domain).value_or("");
    const bool is_companys = !company.empty() && IsBelow(at, company);
    if (is_companys != (mode == domain::FindMode::kProfessional)) continue;
    Candidate candidate;
    candidate.address = text;
    const Tie tie = judge.TieOf(text, address->local, &candidate);
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
                                     const std::vector<pages::PageLink>& links) {
  const auto host = domain::FindDomain(origin);
  std::vector<std::pair<int, std::string>> ranked;
  for (const pages::PageLink& link : links) {
    std::string target = pages::ResolveReference(url, link.url);
    const auto at = domain::FindDomain(target);
    if (target.empty() || target == url) continue;
    if (!pages::SameOrigin(target, origin) && !(host && at && IsBelow(*at, *host))) continue;
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

}  // namespace vedette::worker
