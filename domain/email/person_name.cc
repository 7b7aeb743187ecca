#include "domain/email/person_name.h"

#include <algorithm>
#include <utility>

#include "domain/email/romanize.h"

namespace vedette::domain {
namespace {

void AddOnce(std::string text, std::vector<std::string>* out) {
  if (text.empty() || out->size() == kRenderingsMax) return;
  if (std::find(out->begin(), out->end(), text) == out->end()) out->push_back(std::move(text));
}

std::string WithoutHyphens(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '-'), text.end());
  return text;
}

// A spelt word: joined, with its hyphens, its first part (its last one where the first is a
// particle, as in "al-sayed").
void AddForms(const std::string& spelt, std::vector<std::string>* out) {
  AddOnce(WithoutHyphens(spelt), out);
  const auto hyphen = spelt.find('-');
  if (hyphen == std::string::npos) return;
  AddOnce(spelt, out);
  const std::string first = spelt.substr(0, hyphen);
  AddOnce(IsNameParticle(first) ? spelt.substr(spelt.rfind('-') + 1) : first, out);
}

std::vector<std::string> Given(const NameWords& words, std::string_view country) {
  std::vector<std::string> out;
  for (const std::string& word : words.given) {
    for (const std::string& spelt : Romanize(word, words.script, country)) AddForms(spelt, &out);
  }
  return out;
}

// Words that are joined: the n-th spelling of each, or its last one.
std::vector<std::string> JoinedSpellings(const std::vector<std::string>& words, NameScript script,
                                         std::string_view country) {
  std::vector<std::vector<std::string>> spellings;
  std::size_t count = 0;
  for (const std::string& word : words) {
    spellings.push_back(Romanize(word, script, country));
    count = std::max(count, spellings.back().size());
  }
  std::vector<std::string> out;
  for (std::size_t n = 0; n < count; ++n) {
    std::string joined;
    for (const auto& of_word : spellings) {
      if (!of_word.empty()) joined += of_word[std::min(n, of_word.size() - 1)];
    }
    out.push_back(std::move(joined));
  }
  return out;
}

std::vector<std::string> Family(const NameWords& words, std::string_view country) {
  std::vector<std::string> out;
  for (const auto& unit : words.family) {
    for (const std::string& spelt : JoinedSpellings(unit, words.script, country)) {
      AddForms(spelt, &out);
    }
  }
  return out;
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// Whether `words` has the words of `wanted` one after another.
bool Contains(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

}  // namespace

std::variant<std::vector<NameRendering>, NameFault> RenderName(const Person& person,
                                                               std::string_view domain) {
  const std::string_view country = CountryOfDomain(domain);
  auto read = ReadNameWords(person, country);
  if (const auto* fault = std::get_if<NameFault>(&read)) return *fault;
  const NameWords& words = std::get<NameWords>(read);
  const std::vector<std::string> given = Given(words, country);
  const std::vector<std::string> family = Family(words, country);
  if (given.empty() || family.empty()) return NameFault::kNotReadable;

  // The n-th forms of both go together, since a person who writes ue in the one does so in the
  // other.
  std::vector<NameRendering> out;
  const std::size_t places = std::max(given.size(), family.size());
  const auto add = [&](std::size_t g, std::size_t f) {
    if (g >= given.size() || f >= family.size() || out.size() == kRenderingsMax) return;
    out.push_back({given[g], family[f]});
  };
  for (std::size_t place = 0; place < places; ++place) {
    add(place, place);
    for (std::size_t lower = 0; lower < place; ++lower) {
      add(lower, place);
      add(place, lower);
    }
  }
  return out;
}

bool IsCompatibleName(const Person& person, std::string_view text) {
  const auto read = ReadNameWords(person, "");
  if (std::holds_alternative<NameFault>(read)) return false;
  const NameWords& name = std::get<NameWords>(read);
  const std::vector<std::string> words = Split(FoldName(text));
  const auto is_family = [&](const std::vector<std::string>& unit) {
    std::string joined;
    for (const std::string& word : unit) joined += (joined.empty() ? "" : " ") + word;
    return Contains(words, Split(FoldName(joined)));
  };
  if (!std::any_of(name.family.begin(), name.family.end(), is_family)) return false;
  return std::any_of(name.given.begin(), name.given.end(), [&](const std::string& given) {
    const std::vector<std::string> wanted = Split(FoldName(given));
    if (Contains(words, wanted)) return true;
    const std::string& first = wanted.front();
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return word.size() == 1 && first.starts_with(word);
    });
  });
}

}  // namespace vedette::domain
