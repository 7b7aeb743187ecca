#include "domain/age/page_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "domain/age/date_mention.h"
#include "domain/age/date_words.h"
#include "domain/age/words.h"

namespace vedette::domain {
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
