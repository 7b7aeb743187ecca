#include "html/compiled_selector.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "html/css_to_xpath.h"
#include "html/html_document.h"
#include "html/selector.h"
#include "html/xpath_cost.h"

namespace vedette::html {
namespace {

constexpr std::string_view kMinusSign = "\xE2\x88\x92";   // U+2212
constexpr std::string_view kEnDash = "\xE2\x80\x93";      // U+2013
constexpr std::string_view kRightQuote = "\xE2\x80\x99";  // as the Swiss set thousands apart
constexpr std::size_t kDigitsMax = 100;

bool ThreeDigitsAt(std::string_view text, std::size_t at) {
  const auto digit = [&](std::size_t i) { return i < text.size() && base::IsAsciiDigit(text[i]); };
  return digit(at) && digit(at + 1) && digit(at + 2) && !digit(at + 3);
}

// Digits and separators, from the first digit on: "1 234.50" becomes "1234.50". `end`: behind them.
std::string TakeDigits(std::string_view text, std::size_t* end) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size() && out.size() < kDigitsMax) {
    const char c = text[i];
    const bool followed = i + 1 < text.size() && base::IsAsciiDigit(text[i + 1]);
    if (base::IsAsciiDigit(c) || ((c == '.' || c == ',') && followed)) {
      out += c;
      ++i;
    } else if ((c == ' ' || c == '\'') && ThreeDigitsAt(text, i + 1)) {
      ++i;
    } else if (text.substr(i).starts_with(kRightQuote) &&
               ThreeDigitsAt(text, i + kRightQuote.size())) {
      i += kRightQuote.size();
    } else {
      break;
    }
  }
  *end = i;
  return out;
}

// What currencies tell whose users agree on the mark.
DecimalMark MarkOfCurrency(std::string_view text) {
  const auto names = [text](std::initializer_list<std::string_view> signs) {
    return std::any_of(signs.begin(), signs.end(), [text](std::string_view sign) {
      return text.find(sign) != std::string_view::npos;
    });
  };
  // Brazil's, whose sign ends in that of dollars.
  if (names({"R$", "BRL"})) return DecimalMark::kComma;
  // Dollars, pound, yen, rupee, won, shekel.
  if (names({"$", "\xC2\xA3", "\xC2\xA5", "\xE2\x82\xB9", "\xE2\x82\xA9", "\xE2\x82\xAA", "USD",
             "GBP", "JPY", "CNY", "INR", "AUD", "CHF"})) {
    return DecimalMark::kPoint;
  }
  // Euro, zloty, koruna, ruble, lira, dong, and the crowns of the north.
  if (names({"\xE2\x82\xAC", "z\xC5\x82", "K\xC4\x8D", "\xE2\x82\xBD", "\xE2\x82\xBA",
             "\xE2\x82\xAB", " kr", "EUR", "PLN", "SEK", "NOK", "DKK", "CZK", "RUB", "TRY"})) {
    return DecimalMark::kComma;
  }
  return text.starts_with("kr") ? DecimalMark::kComma : DecimalMark::kUnknown;
}

// Groups of three behind the first one; or as in India, "12,34,567": groups of two before the last
// three.
bool AreThousands(const std::string& digits, char separator) {
  const std::size_t end = std::min(digits.find(separator == '.' ? ',' : '.'), digits.size());
  const std::string_view whole = std::string_view(digits).substr(0, end);
  std::size_t from = whole.find(separator);
  const std::size_t first = from;
  if (first == 0 || first > 3) return false;
  std::size_t middle = 0;  // how long the groups between the first and the last are
  for (;;) {
    const std::size_t next = std::min(whole.find(separator, from + 1), whole.size());
    const std::size_t size = next - from - 1;
    if (next == whole.size()) return size == 3;
    if (middle != 0 && size != middle) return false;
    if (size != 3 && !(size == 2 && separator == ',' && first <= 2)) return false;
    middle = size;
    from = next;
  }
}

// The place at which the decimals begin; npos for none. Empty where that cannot be told, or where
// the separators are not those of a number.
std::optional<std::size_t> DecimalSeparator(const std::string& digits, DecimalMark mark) {
  const std::size_t last = digits.find_last_of(".,");
  if (last == std::string::npos) return last;
  const char separator = digits[last];
  const char other = separator == '.' ? ',' : '.';
  const auto n = std::count(digits.begin(), digits.end(), separator);
  if (digits.find(other) != std::string::npos) {
    if (n > 1 || !AreThousands(digits, other)) return std::nullopt;
    return last;
  }
  if (n > 1)
    return AreThousands(digits, separator) ? std::optional(std::string::npos) : std::nullopt;
  const bool thousands_possible = digits.size() - last == 4 && digits[0] != '0' && last <= 3;
  if (!thousands_possible) return last;
  if (mark == DecimalMark::kUnknown) return std::nullopt;
  const bool decimal = (mark == DecimalMark::kPoint) == (separator == '.');
  return decimal ? last : std::string::npos;
}

// What stands right behind a number and makes it another one, or none.
bool IsScaled(std::string_view after) {
  if (after.starts_with(' ')) after.remove_prefix(1);
  for (const std::string_view word : {"Mio", "Mrd", "Tsd", "million", "Million", "milliard",
                                      "Milliard", "billion", "Billion", "thousand"}) {
    if (after.starts_with(word)) return true;
  }
  if (after.empty() || std::string_view("kKMB").find(after[0]) == std::string_view::npos)
    return false;
  if (after.size() == 1) return true;
  // Nor the beginning of a word, as of the crowns of the Czechs.
  const bool word_goes_on = static_cast<unsigned char>(after[1]) >= 0x80;
  return !word_goes_on && !base::IsAsciiLetter(after[1]) && !base::IsAsciiDigit(after[1]);
}

}  // namespace

DecimalMark MarkOfLanguage(std::string_view language) {
  const std::string tag = base::AsciiLower(language);
  const std::string_view primary = std::string_view(tag).substr(0, tag.find('-'));
  for (const std::string_view other : {"de-ch", "de-li", "it-ch", "es-mx", "es-us", "es-pr"}) {
    if (tag == other) return DecimalMark::kPoint;
  }
  for (const std::string_view point :
       {"en", "zh", "ja", "ko", "th", "he", "hi", "bn", "ta", "ms", "ga", "cy", "mt"}) {
    if (primary == point) return DecimalMark::kPoint;
  }
  for (const std::string_view comma :
       {"de", "fr", "es", "it", "nl", "pt", "pl", "cs", "sk", "da", "sv", "nb", "nn",
        "no", "fi", "ru", "uk", "tr", "el", "hu", "ro", "bg", "hr", "sl", "sr", "id",
        "ca", "gl", "eu", "et", "lv", "lt", "is", "vi", "mk", "be", "kk", "az"}) {
    if (primary == comma) return DecimalMark::kComma;
  }
  return DecimalMark::kUnknown;
}

std::optional<base::Json> FirstNumber(std::string_view text, DecimalMark mark) {
  const auto first = std::find_if(text.begin(), text.end(), base::IsAsciiDigit);
  if (first == text.end()) return std::nullopt;
  auto at = static_cast<std::size_t>(first - text.begin());
  std::size_t end_of_digits = 0;
  std::string digits = TakeDigits(text.substr(at), &end_of_digits);
  if (IsScaled(text.substr(at + end_of_digits))) return std::nullopt;
  // A version, as in "v2.1".
  const bool version = at > 0 && (text[at - 1] == 'v' || text[at - 1] == 'V') &&
                       (at == 1 || !base::IsAsciiLetter(text[at - 2]));
  if (version) return std::nullopt;
  // ".5", but not "No.5".
  const bool bare = at == 1 || (at > 1 && (text[at - 2] == ' ' || text[at - 2] == '-'));
  if (bare && (text[at - 1] == '.' || text[at - 1] == ',')) {
    digits.insert(0, "0.");
    --at;
  }
  const std::string_view before = text.substr(0, at);
  // A hyphen or dash between words or digits, as in "2024-11" or "A-4", is no sign.
  const auto is_sign = [before](std::string_view dash) {
    if (!before.ends_with(dash)) return false;
    const std::string_view front = before.substr(0, before.size() - dash.size());
    return front.empty() || front.ends_with(' ') || front.ends_with('(');
  };
  const bool negative = is_sign("-") || is_sign(kEnDash) || before.ends_with(kMinusSign);
  if (mark == DecimalMark::kUnknown) mark = MarkOfCurrency(text);
  const auto decimal = DecimalSeparator(digits, mark);
  if (!decimal) return std::nullopt;
  std::string plain = negative ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (base::IsAsciiDigit(digits[i])) plain += digits[i];
    if (i == *decimal) plain += '.';
  }
  double number = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (error != std::errc()) return std::nullopt;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (number == std::floor(number) && std::abs(number) < kExact) {
    return base::Json(static_cast<std::int64_t>(number));
  }
  return base::Json(number);
}

namespace {

using Kind = domain::FieldDescription::Kind;

constexpr std::size_t kMetaNameBytesMax = 200;

// Takes "(de)" off the end of "number(de)"; what is wrong, or nothing.
std::string ReadLanguage(std::string* word, Filters* filters) {
  const std::size_t open = word->find('(');
  if (open == std::string::npos) return {};
  const std::string language = word->substr(open + 1, word->size() - open - 2);
  word->erase(open);
  if (*word != "number") return fmt::format("the filter '{}' takes no language", *word);
  filters->mark = MarkOfLanguage(language);
  if (*filters->mark != DecimalMark::kUnknown) return {};
  return fmt::format("how numbers are written in '{}' is not known; write number(en) or number(de)",
                     language);
}

// Empty, or what is wrong.
std::string ReadFilters(const domain::FieldDescription& description, Filters* filters) {
  bool picked = false;
  for (std::string word : description.filters) {
    if (std::string fault = ReadLanguage(&word, filters); !fault.empty()) return fault;
    const bool picks = word == "first" || word == "all" || word == "count";
    const bool forms = word == "text" || word == "lines" || word == "number" || word == "hash";
    if (!picks && !forms) {
      return fmt::format(
          "the filter '{}' is not known; there are first, all, count, text, lines, number and hash",
          word);
    }
    if (picks ? picked : filters->form != Form::kWhole) {
      return fmt::format("the filter '{}' contradicts one before it", word);
    }
    picked = picked || picks;
    if (word == "all") filters->pick = Pick::kAll;
    if (word == "count") filters->pick = Pick::kCount;
    if (word == "text") filters->form = Form::kVisible;
    if (word == "lines") filters->form = Form::kLines;
    if (word == "number") filters->form = Form::kNumber;
    if (word == "hash") filters->form = Form::kHash;
  }
  const bool more = filters->form != Form::kWhole || !description.attribute.empty();
  if (filters->pick == Pick::kCount && more)
    return "count goes with no attribute and no other filter";
  const bool shown = filters->form == Form::kVisible || filters->form == Form::kLines;
  if (shown && !description.attribute.empty()) return "text and lines go with no attribute";
  const bool elements = description.kind == Kind::kCss || description.kind == Kind::kXPath;
  if (!elements && (filters->pick != Pick::kFirst || filters->form == Form::kVisible)) {
    return "all, count and text go with css: and xpath: alone";
  }
  if (!elements && description.kind != Kind::kText && filters->form == Form::kLines) {
    return "lines goes with css:, xpath: and text alone";
  }
  return {};
}

std::variant<Selector, CompileError> CompileCss(const domain::FieldDescription& description) {
  auto result = CssToXPath(description.selector);
  if (auto* error = std::get_if<SelectorSyntaxError>(&result)) {
    return CompileError{std::move(error->message), error->position};
  }
  auto as_written = CssToXPath(description.selector, CssNames::kAsWritten);
  HtmlSelector selector{std::move(std::get<0>(result)), std::move(std::get<0>(as_written)), true,
                        description.attribute};
  for (const std::string& expression : selector.expressions) {
    if (auto error = CheckXPath(expression)) return CompileError{std::move(error->message), 1};
  }
  return Selector(std::move(selector));
}

std::variant<Selector, CompileError> CompileXPath(const std::string& expression) {
  if (expression.size() > kXPathBytesMax) {
    return CompileError{fmt::format("the expression is longer than {} bytes", kXPathBytesMax), 1};
  }
  if (auto error = CheckXPath(expression)) {
    return CompileError{std::move(error->message), error->position};
  }
  if (const auto at = CostOf(expression).compares_sets) {
    return CompileError{"two node-sets are compared; make one a string(), number() or count()",
                        *at};
  }
  return Selector(HtmlSelector{{expression}, {}, false, ""});
}

// What a page says of itself: in <title>, <link rel=canonical>, or the <meta> that is called `name`
// by its property (OpenGraph), name or itemprop.
std::variant<Selector, CompileError> CompileMeta(const std::string& text) {
  const std::string name = base::AsciiLower(text);
  HtmlSelector selector;
  const auto lower = [](std::string_view what) {
    return fmt::format("translate({}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')",
                       what);
  };
  const auto bad = std::find_if(name.begin(), name.end(), [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
             std::string_view(":._-").find(c) != std::string_view::npos);
  });
  if (bad != name.end() || name.size() > kMetaNameBytesMax) {
    return CompileError{"a name is letters, digits, ':', '.', '_' and '-'",
                        static_cast<std::size_t>(bad - name.begin()) + 1};
  }
  if (name == "title") {
    selector.expressions = {"//title"};
  } else if (name == "canonical") {
    selector.is_reference = true;
    selector.expressions = {
        fmt::format("//link[contains(concat(' ', normalize-space({}), ' '), ' canonical ')]/@href",
                    lower("@rel"))};
  } else {
    selector.expressions = {fmt::format("//meta[{} = '{}' or {} = '{}' or {} = '{}']/@content",
                                        lower("@property"), name, lower("@name"), name,
                                        lower("@itemprop"), name)};
  }
  return Selector(std::move(selector));
}

std::variant<Selector, CompileError> CompileRegex(const std::string& pattern) {
  if (pattern.size() > kRegexBytesMax) {
    return CompileError{fmt::format("the pattern is longer than {} bytes", kRegexBytesMax), 1};
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexMemoryBytesMax);
  auto regex = std::make_shared<const RE2>(pattern, options);
  if (!regex->ok()) {
    const auto at = pattern.find(regex->error_arg());
    return CompileError{
        base::RepairUtf8(regex->error()),
        base::CountCharacters(pattern.substr(0, at == std::string::npos ? 0 : at)) + 1};
  }
  const auto& named = regex->NamedCapturingGroups();
  const auto value = named.find("value");
  const int group = value != named.end() ? value->second : regex->NumberOfCapturingGroups() > 0;
  return Selector(RegexSelector{std::move(regex), group});
}

// "Product $.offers.price", or the path alone.
std::variant<Selector, CompileError> CompileJsonLd(std::string_view text) {
  const std::size_t path_at = std::min(text.find('$'), text.size());
  const std::string_view type = base::Trim(text.substr(0, path_at));
  const auto bad = std::find_if(type.begin(), type.end(), [](char c) {
    return !base::IsAsciiLetter(c) && !base::IsAsciiDigit(c);
  });
  if (bad != type.end()) {
    return CompileError{"a type is letters and digits, as in `Product $.offers.price`",
                        static_cast<std::size_t>(bad - text.begin()) + 1};
  }
  auto path = JsonPath::Parse(text.substr(path_at));
  if (auto* error = std::get_if<SelectorSyntaxError>(&path)) {
    return CompileError{std::move(error->message), error->position + path_at};
  }
  return Selector(JsonLdSelector{std::string(type), std::move(std::get<JsonPath>(path)), {}});
}

std::variant<Selector, CompileError> CompileLanguage(const domain::FieldDescription& description) {
  switch (description.kind) {
    case Kind::kCss:
      return CompileCss(description);
    case Kind::kXPath:
      return CompileXPath(description.selector);
    case Kind::kRegex:
      return CompileRegex(description.selector);
    case Kind::kJson: {
      auto path = JsonPath::Parse(description.selector);
      if (auto* error = std::get_if<SelectorSyntaxError>(&path)) {
        return CompileError{std::move(error->message), error->position};
      }
      return Selector(JsonSelector{std::move(std::get<JsonPath>(path)), {}});
    }
    case Kind::kJsonLd:
      return CompileJsonLd(description.selector);
    case Kind::kMeta:
      return CompileMeta(description.selector);
    default:
      return Selector(TextSelector{});
  }
}

}  // namespace

std::variant<Selector, CompileError> CompileSelector(const domain::FieldDescription& description) {
  if (description.selector.empty() && description.kind != Kind::kText) {
    return CompileError{"there is nothing behind the prefix", 1};
  }
  if (description.selector.find('\0') != std::string::npos) {
    return CompileError{"a NUL character is not allowed", description.selector.find('\0') + 1};
  }
  Filters filters;
  if (std::string fault = ReadFilters(description, &filters); !fault.empty()) {
    return CompileError{std::move(fault), base::CountCharacters(description.selector) + 1};
  }
  auto selector = CompileLanguage(description);
  if (auto* compiled = std::get_if<Selector>(&selector)) {
    std::visit([&](auto& one) { one.filters = filters; }, *compiled);
  }
  return selector;
}

}  // namespace vedette::html
