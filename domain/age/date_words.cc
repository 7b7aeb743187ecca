#include "domain/age/date_words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace vedette::domain {
namespace {

struct Month {
  std::string_view name;
  int number;
};

// Two names of different months are never spelt alike in these languages. Sorted in the test.
constexpr auto kMonths = std::to_array<Month>({
    {"jan", 1},       {"january", 1},       {"januar", 1},       {"janner", 1},
    {"janvier", 1},   {"janv", 1},          {"enero", 1},        {"ene", 1},
    {"gennaio", 1},   {"gen", 1},           {"janeiro", 1},      {"januari", 1},
    {"stycznia", 1},  {"styczen", 1},       {"sty", 1},          {"feb", 2},
    {"february", 2},  {"februar", 2},       {"feber", 2},        {"fevrier", 2},
    {"fevr", 2},      {"febrero", 2},       {"febbraio", 2},     {"fevereiro", 2},
    {"fev", 2},       {"februari", 2},      {"lutego", 2},       {"luty", 2},
    {"lut", 2},       {"mar", 3},           {"march", 3},        {"marz", 3},
    {"maerz", 3},     {"mars", 3},          {"marzo", 3},        {"marco", 3},
    {"maart", 3},     {"mrt", 3},           {"marca", 3},        {"marzec", 3},
    {"apr", 4},       {"april", 4},         {"avril", 4},        {"avr", 4},
    {"abril", 4},     {"abr", 4},           {"aprile", 4},       {"kwietnia", 4},
    {"kwiecien", 4},  {"kwi", 4},           {"may", 5},          {"mai", 5},
    {"mayo", 5},      {"maggio", 5},        {"mag", 5},          {"maio", 5},
    {"mei", 5},       {"maja", 5},          {"maj", 5},          {"jun", 6},
    {"june", 6},      {"juni", 6},          {"juin", 6},         {"junio", 6},
    {"giugno", 6},    {"giu", 6},           {"junho", 6},        {"czerwca", 6},
    {"czerwiec", 6},  {"cze", 6},           {"jul", 7},          {"july", 7},
    {"juli", 7},      {"juillet", 7},       {"juil", 7},         {"julio", 7},
    {"luglio", 7},    {"lug", 7},           {"julho", 7},        {"lipca", 7},
    {"lipiec", 7},    {"lip", 7},           {"aug", 8},          {"august", 8},
    {"aout", 8},      {"agosto", 8},        {"ago", 8},          {"augustus", 8},
    {"sierpnia", 8},  {"sierpien", 8},      {"sie", 8},          {"sep", 9},
    {"sept", 9},      {"september", 9},     {"septembre", 9},    {"septiembre", 9},
    {"setiembre", 9}, {"settembre", 9},     {"set", 9},          {"setembro", 9},
    {"wrzesnia", 9},  {"wrzesien", 9},      {"wrz", 9},          {"oct", 10},
    {"october", 10},  {"oktober", 10},      {"okt", 10},         {"octobre", 10},
    {"octubre", 10},  {"ottobre", 10},      {"ott", 10},         {"outubro", 10},
    {"out", 10},      {"pazdziernika", 10}, {"pazdziernik", 10}, {"paz", 10},
    {"nov", 11},      {"november", 11},     {"novembre", 11},    {"noviembre", 11},
    {"novembro", 11}, {"listopada", 11},    {"listopad", 11},    {"lis", 11},
    {"dec", 12},      {"december", 12},     {"dezember", 12},    {"dez", 12},
    {"decembre", 12}, {"diciembre", 12},    {"dic", 12},         {"dicembre", 12},
    {"dezembro", 12}, {"grudnia", 12},      {"grudzien", 12},    {"gru", 12},
});

using Phrase = std::array<std::string_view, 3>;  // empty words at its end

constexpr auto kBirths = std::to_array<Phrase>({
    {"date", "of", "birth"},
    {"birth", "date"},
    {"birthdate"},
    {"birthday"},
    {"born"},
    {"dob"},
    {"geboren"},
    {"geb"},
    {"geburtsdatum"},
    {"geburtsjahr"},
    {"date", "de", "naissance"},
    {"ne"},
    {"nee"},
    {"fecha", "de", "nacimiento"},
    {"nacio"},
    {"nacido"},
    {"nacida"},
    {"data", "di", "nascita"},
    {"nato", "a"},
    {"nato", "il"},
    {"nato", "nel"},
    {"nata", "a"},
    {"nata", "il"},
    {"nata", "nel"},
    {"data", "de", "nascimento"},
    {"nasceu"},
    {"nascido"},
    {"nascida"},
    {"geboortedatum"},
    {"geboortejaar"},
    {"data", "urodzenia"},
    {"urodzony"},
    {"urodzona"},
    {"urodzil", "sie"},
    {"urodzila", "sie"},
    {"ur", "."},
    {"*"},
});

constexpr auto kDeaths = std::to_array<Phrase>({
    {"died"},         {"passed", "away"}, {"gestorben"},   {"verstorben"},  {"verstarb"},
    {"decede"},       {"decedee"},        {"mort", "le"},  {"morte", "le"}, {"mort", "en"},
    {"morte", "en"},  {"murio"},          {"fallecio"},    {"fallecido"},   {"fallecida"},
    {"deceduto"},     {"deceduta"},       {"morto", "il"}, {"morta", "il"}, {"morto", "nel"},
    {"morta", "nel"}, {"morreu"},         {"faleceu"},     {"falecido"},    {"falecida"},
    {"overleden"},    {"overleed"},       {"zmarl"},       {"zmarla"},      {"\xE2\x80\xA0"},
});

constexpr auto kPrepositions = std::to_array<std::string_view>({
    "a",   "am",  "an",     "anno", "ano",   "annee", "at",   "au",   "da",   "day",  "de",
    "del", "den", "der",    "di",   "dia",   "dn",    "dnia", "dniu", "do",   "e",    "el",
    "em",  "en",  "giorno", "il",   "im",    "in",    "is",   "jaar", "jahr", "jour", "la",
    "le",  "na",  "nel",    "nell", "no",    "of",    "on",   "op",   "por",  "r",    "roku",
    "rok", "sie", "te",     "the",  "volta", "w",     "was",  "we",   "year", "zu",
});
constexpr auto kPlacePrepositions = std::to_array<std::string_view>(
    {"a", "at", "em", "en", "im", "in", "na", "no", "te", "w", "we", "zu", "au", "nel"});
constexpr auto kApproximations = std::to_array<std::string_view>({
    "about", "alrededor", "approx", "approximately", "around",  "c",     "ca",        "cerca",
    "circa", "environ",   "etwa",   "hacia",         "intorno", "okolo", "omstreeks", "ongeveer",
    "rond",  "roughly",   "um",     "ungefahr",      "vers",    "verso", "volta",
});
constexpr auto kRelatives = std::to_array<std::string_view>({
    "son",      "sons",    "daughter", "daughters", "child",  "children",  "baby",   "wife",
    "husband",  "mother",  "father",   "brother",   "sister", "twin",      "twins",  "jr",
    "junior",   "sr",      "senior",   "grandson",  "sohn",   "tochter",   "kind",   "kinder",
    "ehefrau",  "ehemann", "mutter",   "vater",     "bruder", "schwester", "enkel",  "zwilling",
    "fils",     "fille",   "enfant",   "enfants",   "epouse", "mari",      "mere",   "pere",
    "frere",    "soeur",   "hijo",     "hija",      "hijos",  "esposa",    "marido", "madre",
    "padre",    "hermano", "hermana",  "figlio",    "figlia", "figli",     "moglie", "marito",
    "fratello", "sorella", "filho",    "filha",     "mae",    "pai",       "irmao",  "irma",
    "zoon",     "dochter", "moeder",   "vader",     "broer",  "zus",       "syn",    "corka",
    "zona",     "maz",     "matka",    "ojciec",    "brat",   "siostra",   "nephew", "niece",
});
constexpr auto kAlternatives = std::to_array<std::string_view>(
    {"or", "oder", "ou", "o", "of", "lub", "and", "und", "et", "y"});
constexpr auto kJulians = std::to_array<std::string_view>(
    {"julian", "julianisch", "julien", "juliano", "giuliano", "juliaans", "julianski"});

bool IsIn(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::size_t LongestPhrase(std::span<const Phrase> phrases, const std::vector<Word>& words,
                          std::size_t at) {
  std::size_t longest = 0;
  for (const Phrase& phrase : phrases) {
    std::size_t length = 0;
    while (length < phrase.size() && !phrase[length].empty() && at + length < words.size() &&
           words[at + length].folded == phrase[length]) {
      ++length;
    }
    const bool is_whole = length == phrase.size() || phrase[length].empty();
    if (is_whole) longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace

std::optional<int> MonthOf(std::string_view word) {
  const auto it = std::find_if(kMonths.begin(), kMonths.end(),
                               [&](const Month& month) { return month.name == word; });
  if (it == kMonths.end()) return std::nullopt;
  return it->number;
}

std::size_t BirthCue(std::string_view text, const std::vector<Word>& words, std::size_t at) {
  const std::size_t length = LongestPhrase(kBirths, words, at);
  if (length == 0) return 0;
  const Word& word = words[at];
  // Without its accent "ne" is another word in French and in Italian.
  const bool is_french = word.folded == "ne" || word.folded == "nee";
  if (is_french && word.end - word.at == word.folded.size()) return 0;
  // "born-again", and the alliance that English papers write "Nato".
  const bool is_compound = at + 1 < words.size() && words[at + 1].folded == "-" &&
                           words[at + 1].at == word.end && word.folded == "born";
  if (is_compound) return 0;
  if (word.folded == "nato" && text.substr(word.at, 4) == "NATO") return 0;
  return length;
}

std::size_t DeathCue(const std::vector<Word>& words, std::size_t at) {
  return LongestPhrase(kDeaths, words, at);
}

bool IsPreposition(std::string_view word) {
  return IsIn(kPrepositions, word);
}
bool IsPlacePreposition(std::string_view word) {
  return IsIn(kPlacePrepositions, word);
}
bool IsApproximation(std::string_view word) {
  return IsIn(kApproximations, word);
}
bool IsRelative(std::string_view word) {
  return IsIn(kRelatives, word);
}
bool IsAlternative(std::string_view word) {
  return IsIn(kAlternatives, word);
}
bool IsJulian(std::string_view word) {
  return IsIn(kJulians, word);
}

}  // namespace vedette::domain
