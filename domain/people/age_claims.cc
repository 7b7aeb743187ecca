#include "domain/people/age_claims.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "domain/people/date_mention.h"
#include "domain/people/words.h"

namespace vedette::domain {
namespace {

constexpr std::size_t kBetweenNamesMax = 2;  // words between a given and a family name in a text

struct Names {
  std::string given;
  std::string family;
};

std::vector<std::string> NameWords(std::string_view name) {
  std::vector<std::string> words;
  for (Word& word : SplitWords(name)) {
    if (word.kind == Word::Kind::kWord) words.push_back(std::move(word.folded));
  }
  return words;
}

bool IsTitle(std::string_view word) {
  return word == "dr" || word == "prof" || word == "mr" || word == "mrs" || word == "ms" ||
         word == "sir" || word == "ing" || word == "dipl";
}

// The given and the family name of a full one. "Lovelace, Ada" by its comma. Empty where a part is
// missing.
Names SplitName(std::string_view name) {
  const auto comma = name.find(',');
  std::vector<std::string> words = NameWords(name.substr(0, comma));
  std::erase_if(words, [](const std::string& word) { return IsTitle(word); });
  if (comma != std::string_view::npos) {
    const std::vector<std::string> given = NameWords(name.substr(comma + 1));
    const bool is_suffix = given.empty() || given.front() == "jr" || given.front() == "phd";
    if (!is_suffix && !words.empty()) return {given.front(), words.back()};
  }
  if (words.size() < 2) return {};
  return {words.front(), words.back()};
}

Names NamesOf(const Person& person) {
  if (!person.first_name.empty() && !person.last_name.empty()) {
    const auto given = NameWords(person.first_name);
    const auto family = NameWords(person.last_name);
    if (!given.empty() && !family.empty()) return {given.front(), family.back()};
  }
  return SplitName(person.name);
}

NameMatch MatchGiven(std::string_view a, std::string_view b) {
  if (a == b) return NameMatch::kEqual;
  const bool is_initial = std::min(a.size(), b.size()) == 1 && a.front() == b.front();
  return is_initial ? NameMatch::kInitial : NameMatch::kNone;
}

// The name in a text: the given name, at most kBetweenNamesMax words, the family name; or the
// family name, a comma and the given name.
NameMatch FindName(const Names& names, const std::vector<Word>& words) {
  NameMatch best = NameMatch::kNone;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].folded != names.family) continue;
    const std::size_t first = i > kBetweenNamesMax + 1 ? i - kBetweenNamesMax - 1 : 0;
    for (std::size_t j = first; j < i; ++j) {
      if (words[j].kind != Word::Kind::kWord || !words[j].is_capital) continue;
      const bool is_near =
          std::all_of(words.begin() + static_cast<std::ptrdiff_t>(j) + 1,
                      words.begin() + static_cast<std::ptrdiff_t>(i), [](const Word& between) {
                        return between.kind == Word::Kind::kWord || between.folded == "." ||
                               between.folded == "-";
                      });
      if (is_near) best = std::max(best, MatchGiven(names.given, words[j].folded));
    }
    const bool is_reversed = i + 2 < words.size() && words[i + 1].folded == ",";
    if (is_reversed) best = std::max(best, MatchGiven(names.given, words[i + 2].folded));
  }
  return best;
}

// Whether the words stand in the text one after another.
bool HoldsWords(const std::vector<Word>& words, std::string_view phrase) {
  const std::vector<Word> wanted = SplitWords(phrase);
  if (wanted.empty()) return false;
  const auto it = std::search(words.begin(), words.end(), wanted.begin(), wanted.end(),
                              [](const Word& a, const Word& b) { return a.folded == b.folded; });
  return it != words.end();
}

// A web address as it is compared: without scheme, "www." and a final slash.
std::string UrlKey(std::string_view url) {
  std::string key = base::AsciiLower(base::Trim(url));
  for (const std::string_view prefix : {"https://", "http://", "www."}) {
    if (key.starts_with(prefix)) key.erase(0, prefix.size());
  }
  key = key.substr(0, key.find_first_of("?#"));
  while (key.ends_with('/')) key.pop_back();
  return key;
}

// Whether the text has the bytes, with no letter, digit, dot or hyphen beside them.
bool HoldsToken(std::string_view folded_text, const std::string& token) {
  if (token.empty()) return false;
  const auto is_part = [](char c) {
    return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '-' || c == '_';
  };
  for (auto at = folded_text.find(token); at != std::string_view::npos;
       at = folded_text.find(token, at + 1)) {
    const std::size_t end = at + token.size();
    const bool begins = at == 0 || (!is_part(folded_text[at - 1]) && folded_text[at - 1] != '.');
    const bool ends = end == folded_text.size() || !is_part(folded_text[end]);
    if (begins && ends) return true;
  }
  return false;
}

bool IsNamedByClient(const AgeSubject& subject, const std::string& url) {
  const std::string key = UrlKey(url);
  if (key.empty()) return false;
  if (UrlKey(subject.person.linkedin) == key) return true;
  return std::any_of(subject.urls.begin(), subject.urls.end(),
                     [&](const std::string& named) { return UrlKey(named) == key; });
}

// Which further things of the person stand in the source.
std::vector<std::string_view> FindThings(const Person& person, const SourceFacts& source,
                                         const std::vector<Word>& words) {
  const std::string folded = base::AsciiLower(source.text);
  std::string links;
  for (const std::string& link : source.links) links += base::AsciiLower(link) + " ";
  std::vector<std::string_view> things;
  for (const std::string& address : {person.email, person.personal_email}) {
    const std::string token = base::AsciiLower(address);
    if (HoldsToken(folded, token) || HoldsToken(links, token)) things.push_back("the address");
  }
  const std::string profile = UrlKey(person.linkedin);
  const auto is_profile = [&](const std::string& link) { return UrlKey(link) == profile; };
  if (!profile.empty() && (std::any_of(source.links.begin(), source.links.end(), is_profile) ||
                           HoldsToken(folded, profile))) {
    things.push_back("the profile");
  }
  const bool has_company = HoldsWords(words, person.company) || HoldsToken(folded, person.domain) ||
                           HoldsToken(links, person.domain);
  if (has_company) things.push_back("the company");
  if (HoldsWords(words, person.location) && HoldsWords(words, person.title)) {
    things.push_back("title and location");
  }
  return things;
}

}  // namespace

NameMatch MatchName(const Person& subject, std::string_view name) {
  const Names asked = NamesOf(subject);
  const Names given = SplitName(name);
  if (asked.family.empty() || asked.family != given.family) return NameMatch::kNone;
  return MatchGiven(asked.given, given.given);
}

Identity MatchIdentity(const AgeSubject& subject, const SourceFacts& source, std::string* tie) {
  const std::vector<Word> words = SplitWords(source.text);
  const Names names = NamesOf(subject.person);
  if (names.family.empty()) return Identity::kUnproven;
  NameMatch match = NameMatch::kNone;
  if (!source.name.empty()) {
    match = MatchName(subject.person, source.name);
    if (match == NameMatch::kNone) return Identity::kOther;
  } else {
    match = FindName(names, words);
    if (match == NameMatch::kNone) return Identity::kUnproven;
  }
  const auto things = FindThings(subject.person, source, words);
  const bool is_named = match == NameMatch::kEqual && IsNamedByClient(subject, source.url);
  const std::size_t wanted = match == NameMatch::kInitial ? 2 : 1;
  if (things.size() < wanted && !is_named) return Identity::kUnproven;
  if (tie != nullptr) {
    *tie = things.empty() ? "the name, on a page that the request names"
                          : fmt::format("the name and {}", fmt::join(things, ", "));
  }
  return Identity::kSame;
}

namespace {

constexpr std::string_view kPages = "pages";

// The family name as texts have it: the last word of the last name, or of the name.
std::string FamilyName(const Person& person) {
  std::string_view name = person.last_name.empty() ? person.name : person.last_name;
  if (const auto comma = name.find(','); comma != std::string_view::npos) {
    name = name.substr(0, comma);
  }
  std::string family;
  for (const Word& word : SplitWords(name)) {
    if (word.kind == Word::Kind::kWord) family = word.folded;
  }
  return family;
}

bool IsSubjects(const Person& person, const std::string& folded) {
  for (const std::string* known : {&person.name, &person.first_name, &person.last_name,
                                   &person.company, &person.title, &person.location}) {
    for (const Word& word : SplitWords(*known)) {
      if (word.folded == folded) return true;
    }
  }
  return false;
}

// Whether two words that both begin with a capital may be the name of somebody else. Behind a
// preposition they are a place or a company.
bool IsOtherName(const Person& person, const std::vector<Word>& words, std::size_t at) {
  const Word& first = words[at];
  const Word& second = words[at + 1];
  const auto is_name = [&](const Word& word) {
    return word.kind == Word::Kind::kWord && word.is_capital && !MonthOf(word.folded) &&
           !IsSubjects(person, word.folded);
  };
  if (!is_name(first) || !is_name(second)) return false;
  return at == 0 || !(IsPreposition(words[at - 1].folded) || words[at - 1].folded == "for");
}

// Whether the words say that the person is of somewhere else: "Ada Lovelace of Other Works" is a
// namesake, even on a page that has the subject's company, too.
bool IsOfElsewhere(const Person& person, const std::vector<Word>& words, std::size_t at) {
  constexpr auto kOf =
      std::to_array<std::string_view>({"of", "at", "bei", "chez", "presso", "bij"});
  if (std::find(kOf.begin(), kOf.end(), words[at].folded) == kOf.end()) return false;
  const Word& next = words[at + 1];
  return next.kind == Word::Kind::kWord && next.is_capital && !MonthOf(next.folded) &&
         !IsSubjects(person, next.folded);
}

// Whether the sentence with the mention speaks of the subject.
bool IsAbout(const Person& person, std::string_view text, const DateMention& mention) {
  if (mention.is_of_relative) return false;
  std::size_t first = mention.at > kNameBytesBefore ? mention.at - kNameBytesBefore : 0;
  while (first < mention.at && base::ContinuesCharacter(text[first])) ++first;
  const std::vector<Word> words = SplitWords(text.substr(first, mention.at - first));
  const std::string family = FamilyName(person);
  const auto last = std::find_if(words.rbegin(), words.rend(), [&](const Word& word) {
    return word.kind == Word::Kind::kWord && word.folded == family;
  });
  if (family.empty() || last == words.rend()) return false;
  for (auto at = static_cast<std::size_t>(words.rend() - last); at + 1 < words.size(); ++at) {
    if (IsOtherName(person, words, at) || IsOfElsewhere(person, words, at)) return false;
  }
  return true;
}

AgeClaim Stated(const SourceFacts& page, AgeClaim::Standing standing, Identity identity,
                std::string tie) {
  AgeClaim claim;
  if (identity == Identity::kSame) claim.tie = std::move(tie);
  claim.standing = standing;
  claim.identity = identity;
  claim.url = page.url;
  claim.provider = kPages;
  return claim;
}

void AddStructured(const AgeSubject& subject, const SourceFacts& page,
                   const StructuredPerson& person, AgeClaims* claims) {
  SourceFacts source = page;
  source.name = person.name;
  // Data without a name may be anybody's.
  std::string tie;
  const Identity identity =
      person.name.empty() ? Identity::kUnproven : MatchIdentity(subject, source, &tie);
  AgeClaim claim = Stated(page, AgeClaim::Standing::kStructured, identity, std::move(tie));
  if (const auto date = ReadDateValue(person.birth)) {
    claim.date = *date;
    claim.quote = fmt::format("{}: birthDate {}", person.name, person.birth);
    claims->push_back(claim);
  }
  if (!person.death.empty()) {
    claim.kind = AgeClaim::Kind::kDeath;
    claim.date = ReadDateValue(person.death).value_or(PartialDate());
    claim.quote = fmt::format("{}: deathDate {}", person.name, person.death);
    claims->push_back(std::move(claim));
  }
}

// The claims of those sentences whose words, from their cue to their date, `counts`.
void AddSentences(const AgeSubject& subject, const SourceFacts& page,
                  std::optional<std::chrono::year_month_day> as_of,
                  const std::function<bool(const DateMention&)>& counts, AgeClaims* claims) {
  const auto mentions = ReadDateMentions(page.text);
  if (mentions.empty()) return;
  std::string tie;
  const Identity of_page = MatchIdentity(subject, page, &tie);
  for (const DateMention& mention : mentions) {
    if (claims->size() >= kAgeClaimsMax) return;
    if (!counts(mention)) continue;
    const bool is_tied = of_page == Identity::kSame && IsAbout(subject.person, page.text, mention);
    AgeClaim claim = Stated(page, AgeClaim::Standing::kProse,
                            is_tied ? Identity::kSame : Identity::kUnproven, tie);
    claim.kind = mention.kind;
    claim.date = mention.date;
    claim.age = mention.age;
    claim.as_of = as_of;
    claim.is_approximate = mention.is_approximate;
    claim.quote = QuoteOf(page.text, mention);
    claims->push_back(std::move(claim));
  }
}

struct Stretch {
  std::size_t at = 0;
  std::size_t end = 0;
};

// The stretches of the text that are the quotes, word for word.
std::vector<Stretch> StretchesOf(std::string_view text, const std::vector<std::string>& quotes) {
  std::vector<Stretch> stretches;
  for (const std::string& quote : quotes) {
    const std::string wanted = base::FoldSpace(quote);
    if (wanted.size() < kQuoteBytesMin) continue;
    for (auto at = text.find(wanted); at != std::string_view::npos;
         at = text.find(wanted, at + 1)) {
      if (stretches.size() == kAgeClaimsMax) return stretches;
      stretches.push_back({at, at + wanted.size()});
    }
  }
  return stretches;
}

}  // namespace

AgeClaims ClaimsOfPage(const AgeSubject& subject, const SourceFacts& page,
                       const std::vector<StructuredPerson>& persons,
                       std::optional<std::chrono::year_month_day> as_of) {
  AgeClaims claims;
  for (const StructuredPerson& person : persons) {
    if (claims.size() >= kAgeClaimsMax) return claims;
    AddStructured(subject, page, person, &claims);
  }
  AddSentences(
      subject, page, as_of, [](const DateMention&) { return true; }, &claims);
  return claims;
}

AgeClaims ClaimsInQuotes(const AgeSubject& subject, const SourceFacts& page,
                         const std::vector<std::string>& quotes,
                         std::optional<std::chrono::year_month_day> as_of) {
  AgeClaims claims;
  const std::vector<Stretch> stretches = StretchesOf(page.text, quotes);
  if (stretches.empty()) return claims;
  const auto is_quoted = [&](const DateMention& mention) {
    return std::any_of(stretches.begin(), stretches.end(), [&](const Stretch& stretch) {
      return stretch.at <= mention.at && mention.at + mention.length <= stretch.end;
    });
  };
  AddSentences(subject, page, as_of, is_quoted, &claims);
  return claims;
}

}  // namespace vedette::domain
