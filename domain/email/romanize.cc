#include "domain/email/romanize.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/translit.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/text.h"

namespace vedette::domain {
namespace {

struct Letter {
  char32_t letter;
  std::string_view plain;
  std::string_view paired;  // with German pairs, or as in Denmark; empty: as `plain`
};

// Latin letters that do not become ASCII by dropping their marks, or not only so.
constexpr Letter kLatin[] = {
    {U'ä', "a", "ae"}, {U'ö', "o", "oe"}, {U'ü', "u", "ue"}, {U'ß', "ss", ""}, {U'æ', "ae", ""},
    {U'ø', "o", "oe"}, {U'å', "a", "aa"}, {U'œ', "oe", ""},  {U'đ', "d", ""},  {U'ð', "d", ""},
    {U'þ', "th", ""},  {U'ł', "l", ""},   {U'ı', "i", ""},   {U'ħ', "h", ""},  {U'ŋ', "ng", ""},
    {U'ŧ', "t", ""},   {U'ə', "a", "e"},  {U'ĸ', "k", ""},   {U'ƒ', "f", ""},
};

constexpr Letter kRussian[] = {
    {U'а', "a", ""},  {U'б', "b", ""},    {U'в', "v", ""},    {U'г', "g", ""},  {U'д', "d", ""},
    {U'е', "e", ""},  {U'ё', "e", "yo"},  {U'ж', "zh", ""},   {U'з', "z", ""},  {U'и', "i", ""},
    {U'й', "y", "i"}, {U'к', "k", ""},    {U'л', "l", ""},    {U'м', "m", ""},  {U'н', "n", ""},
    {U'о', "o", ""},  {U'п', "p", ""},    {U'р', "r", ""},    {U'с', "s", ""},  {U'т', "t", ""},
    {U'у', "u", ""},  {U'ф', "f", ""},    {U'х', "kh", "h"},  {U'ц', "ts", ""}, {U'ч', "ch", ""},
    {U'ш', "sh", ""}, {U'щ', "shch", ""}, {U'ъ', "", ""},     {U'ы', "y", ""},  {U'ь', "", ""},
    {U'э', "e", ""},  {U'ю', "yu", "iu"}, {U'я', "ya", "ia"}, {U'і', "i", ""},  {U'ў', "u", ""},
};
// What these languages write otherwise than Russian.
constexpr Letter kUkrainian[] = {
    {U'г', "h", ""},   {U'ґ', "g", ""},    {U'и', "y", ""},  {U'і', "i", ""},
    {U'ї', "i", "yi"}, {U'є', "ie", "ye"}, {U'й', "i", "y"}, {U'х', "kh", ""},
};
constexpr Letter kBulgarian[] = {
    {U'х', "h", ""},  {U'щ', "sht", ""}, {U'ъ', "a", ""}, {U'й', "y", ""},
    {U'ю', "yu", ""}, {U'я', "ya", ""},  {U'ь', "y", ""},
};
constexpr Letter kSerbian[] = {
    {U'ђ', "dj", "d"}, {U'ж', "z", ""},  {U'ј', "j", ""},  {U'љ', "lj", ""}, {U'њ', "nj", ""},
    {U'ћ', "c", ""},   {U'х', "h", ""},  {U'ц', "c", ""},  {U'ч', "c", ""},  {U'џ', "dz", ""},
    {U'ш', "s", ""},   {U'ѓ', "gj", ""}, {U'ќ', "kj", ""}, {U'ѕ', "dz", ""},
};

struct Family {
  std::string_view hangul;
  std::string_view spellings[3];
};
constexpr Family kKoreanFamilies[] = {
    {"김", {"kim", "gim", ""}},   {"이", {"lee", "yi", ""}},          {"박", {"park", "bak", ""}},
    {"최", {"choi", "choe", ""}}, {"정", {"jung", "jeong", "chung"}}, {"강", {"kang", "gang", ""}},
    {"조", {"cho", "jo", ""}},    {"윤", {"yoon", "yun", ""}},        {"장", {"jang", "chang", ""}},
    {"임", {"lim", "im", ""}},
};

enum class Form : std::uint8_t { kPlain, kPaired };

template <std::size_t N>
const Letter* FindLetter(const Letter (&table)[N], char32_t c) {
  const auto* it = std::find_if(std::begin(table), std::end(table),
                                [c](const Letter& letter) { return letter.letter == c; });
  return it == std::end(table) ? nullptr : it;
}

std::string_view Spelling(const Letter& letter, Form form) {
  return form == Form::kPaired && !letter.paired.empty() ? letter.paired : letter.plain;
}

std::u32string CodePoints(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t length = base::DecodeUtf8(text, &code);
    if (length == 0) break;
    out += static_cast<char32_t>(code);
    text.remove_prefix(length);
  }
  return out;
}

// What is left of a letter without its marks, where that is ASCII.
std::string WithoutMarks(char32_t c) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* nfd = icu::Normalizer2::getNFDInstance(status);
  icu::UnicodeString parts = nfd->normalize(icu::UnicodeString(static_cast<UChar32>(c)), status);
  parts.toLower(icu::Locale::getRoot());
  std::string out;
  for (std::int32_t i = 0; i < parts.length(); ++i) {
    const char16_t unit = parts.charAt(i);
    if ((unit >= u'a' && unit <= u'z') || unit == u'-') out += static_cast<char>(unit);
  }
  return out;
}

std::string Latin(std::string_view word, Form form) {
  std::string out;
  for (const char32_t c : CodePoints(word)) {
    if ((c >= U'a' && c <= U'z') || c == U'-') {
      out += static_cast<char>(c);
    } else if (const Letter* letter = FindLetter(kLatin, c)) {
      out += Spelling(*letter, form);
    } else {
      out += WithoutMarks(c);
    }
  }
  return out;
}

bool HasAny(const std::u32string& word, std::u32string_view letters) {
  return word.find_first_of(letters) != std::u32string::npos;
}

const Letter* FindCyrillic(char32_t c, std::string_view language) {
  const Letter* letter = nullptr;
  if (language == "ua") letter = FindLetter(kUkrainian, c);
  if (language == "bg") letter = FindLetter(kBulgarian, c);
  if (language == "rs") letter = FindLetter(kSerbian, c);
  return letter != nullptr ? letter : FindLetter(kRussian, c);
}

std::string_view CyrillicLanguage(const std::u32string& word, std::string_view country) {
  if (country == "ua" || HasAny(word, U"їєґ")) return "ua";
  if (country == "bg") return "bg";
  if (country == "rs" || country == "me" || country == "ba" || country == "mk" ||
      HasAny(word, U"ђјљњћџѓќѕ")) {
    return "rs";
  }
  return "ru";
}

std::string Cyrillic(std::u32string word, std::string_view country, Form form) {
  const std::string_view language = CyrillicLanguage(word, country);
  std::string ending;
  // Names in -iy are mostly written with one letter: Dmitry, Chaikovsky.
  if (language != "rs" && word.size() > 2 && word.back() == U'й' &&
      (word[word.size() - 2] == U'и' || word[word.size() - 2] == U'ы')) {
    word.resize(word.size() - 2);
    ending = form == Form::kPlain ? "y" : "iy";
  } else if (language != "rs" && form == Form::kPlain && word.size() > 2 && word.back() == U'я' &&
             word[word.size() - 2] == U'и') {
    // Yulia, Maria.
    word.pop_back();
    ending = "a";
  }
  std::string out;
  bool is_first = true;
  for (const char32_t c : word) {
    const Letter* letter = FindCyrillic(c, language);
    if (is_first && language == "ua" && (c == U'є' || c == U'ї' || c == U'й')) {
      // At the beginning of a word Ukrainian writes them with y.
      out += c == U'є' ? "ye" : c == U'ї' ? "yi" : "y";
    } else if (letter != nullptr) {
      out += Spelling(*letter, form);
    } else {
      out += WithoutMarks(c);
    }
    is_first = false;
  }
  return out + ending;
}

// By one of ICU's transliterators; empty where this ICU does not have it.
std::string ByIcu(std::string_view word, const char* id) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::Transliterator> rules(
      icu::Transliterator::createInstance(id, UTRANS_FORWARD, status));
  if (U_FAILURE(status) != 0 || rules == nullptr) return "";
  auto text = icu::UnicodeString::fromUTF8(
      icu::StringPiece(word.data(), static_cast<std::int32_t>(word.size())));
  rules->transliterate(text);
  text.toLower(icu::Locale::getRoot());
  std::string latin;
  text.toUTF8String(latin);
  return Latin(latin, Form::kPlain);
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

// Long vowels are mostly written short: Sato, Ito, Yuki.
std::vector<std::string> Kana(std::string_view word) {
  const std::string whole = ByIcu(word, "Hiragana-Katakana; Katakana-Latin");
  return {Replaced(Replaced(Replaced(whole, "ou", "o"), "oo", "o"), "uu", "u"), whole};
}

std::vector<std::string> Hangul(std::string_view word) {
  std::vector<std::string> out;
  for (const Family& family : kKoreanFamilies) {
    if (family.hangul != word) continue;
    for (const std::string_view spelling : family.spellings) out.emplace_back(spelling);
  }
  out.push_back(ByIcu(word, "Hangul-Latin"));
  return out;
}

std::vector<std::string> LatinSpellings(std::string_view word, std::string_view country) {
  std::vector<std::string> out = {Latin(word, Form::kPlain), Latin(word, Form::kPaired)};
  constexpr std::string_view kPairsFirst[] = {"at", "ch", "de", "li"};
  if (std::find(std::begin(kPairsFirst), std::end(kPairsFirst), country) != std::end(kPairsFirst)) {
    std::swap(out[0], out[1]);
  }
  return out;
}

std::vector<std::string> Spellings(std::string_view word, NameScript script,
                                   std::string_view country) {
  switch (script) {
    case NameScript::kLatin:
      return LatinSpellings(word, country);
    case NameScript::kCyrillic:
      return {Cyrillic(CodePoints(word), country, Form::kPlain),
              Cyrillic(CodePoints(word), country, Form::kPaired)};
    case NameScript::kGreek:
      return {ByIcu(word, "Greek-Latin/UNGEGN"), ByIcu(word, "Greek-Latin")};
    case NameScript::kGeorgian:
      return {ByIcu(word, "Georgian-Latin/BGN"), ByIcu(word, "Georgian-Latin")};
    case NameScript::kArmenian:
      return {ByIcu(word, "Armenian-Latin/BGN"), ByIcu(word, "Armenian-Latin")};
    case NameScript::kKana:
      return Kana(word);
    case NameScript::kHan:
      return {ByIcu(word, "Han-Latin/Names"), ByIcu(word, "Han-Latin")};
    case NameScript::kHangul:
      return Hangul(word);
  }
  return {};
}

}  // namespace

std::vector<std::string> Romanize(std::string_view word, NameScript script,
                                  std::string_view country) {
  std::vector<std::string> out;
  for (std::string& spelling : Spellings(word, script, country)) {
    if (spelling.empty() || out.size() == kSpellingsMax) continue;
    if (std::find(out.begin(), out.end(), spelling) == out.end()) out.push_back(spelling);
  }
  return out;
}

}  // namespace vedette::domain
