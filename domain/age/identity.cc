#include "domain/age/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "domain/age/words.h"

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

}  // namespace vedette::domain
