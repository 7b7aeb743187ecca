#include "html/css_syntax.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"

namespace vedette::html {
namespace {

bool IsSpace(char c) {
  return base::IsSpace(c, base::kMarkupSpace);
}
bool IsNewline(char c) {
  return c == '\r' || c == '\n' || c == '\f';
}
bool IsHex(char c) {
  return base::IsAsciiDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool IsNameStart(char c) {
  return base::IsAsciiLetter(c) || c == '_' || (c & 0x80) != 0;
}
bool IsNameChar(char c) {
  return IsNameStart(c) || base::IsAsciiDigit(c) || c == '-';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_(source) {}

  std::optional<CssTokenError> Run(std::vector<CssToken>* tokens) {
    while (at_ < source_.size()) {
      const std::size_t position = Position();
      if (source_.substr(at_, 2) == "/*") {
        const auto end = source_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? source_.size() : end + 2;
        continue;
      }
      CssToken token{CssToken::Kind::kDelim, {}, position};
      const char c = source_[at_];
      if (IsSpace(c)) {
        while (at_ < source_.size() && IsSpace(source_[at_])) ++at_;
        token.kind = CssToken::Kind::kSpace;
      } else if (AtIdent()) {
        token.kind = CssToken::Kind::kIdent;
        token.text = Name();
      } else if (c == '#' && AtNameChar(at_ + 1)) {
        ++at_;
        token.kind = CssToken::Kind::kHash;
        token.text = Name();
      } else if (c == '"' || c == '\'') {
        token.kind = CssToken::Kind::kString;
        if (!String(&token.text)) return CssTokenError{"the string is not closed", position};
      } else if (NumberLength() > 0) {
        token.kind = CssToken::Kind::kNumber;
        token.text = source_.substr(at_, NumberLength());
        at_ += token.text.size();
      } else {
        token.text = c;
        ++at_;
      }
      tokens->push_back(std::move(token));
    }
    tokens->push_back({CssToken::Kind::kEnd, {}, Position()});
    return std::nullopt;
  }

 private:
  std::size_t Position() {
    for (; counted_ < at_; ++counted_) {
      if (!base::ContinuesCharacter(source_[counted_])) ++characters_;
    }
    return characters_ + 1;
  }

  char Peek(std::size_t i) const { return i < source_.size() ? source_[i] : '\0'; }

  bool AtEscape(std::size_t i) const {
    return Peek(i) == '\\' && i + 1 < source_.size() && !IsNewline(source_[i + 1]);
  }
  bool AtNameChar(std::size_t i) const { return IsNameChar(Peek(i)) || AtEscape(i); }

  bool AtIdent() const {
    const std::size_t i = at_ + (source_[at_] == '-' ? 1 : 0);
    return IsNameStart(Peek(i)) || AtEscape(i);
  }

  std::string Name() {
    std::string name;
    while (AtNameChar(at_)) {
      if (source_[at_] == '\\') {
        Escape(&name);
      } else {
        name += source_[at_++];
      }
    }
    return name;
  }

  // A backslash and what it escapes: up to six hex digits and one white space, or one character.
  void Escape(std::string* out) {
    ++at_;
    if (!IsHex(Peek(at_))) {
      *out += source_[at_++];
      return;
    }
    std::uint32_t code = 0;
    for (int i = 0; i < 6 && IsHex(Peek(at_)); ++i) {
      const char c = source_[at_++];
      code = code * 16 +
             static_cast<std::uint32_t>(base::IsAsciiDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (source_.substr(at_, 2) == "\r\n") {
      at_ += 2;
    } else if (IsSpace(Peek(at_))) {
      ++at_;
    }
    base::AppendUtf8(code, out);
  }

  bool String(std::string* out) {
    const char quote = source_[at_++];
    while (at_ < source_.size() && !IsNewline(source_[at_])) {
      if (source_[at_] == quote) {
        ++at_;
        return true;
      }
      if (source_[at_] != '\\') {
        *out += source_[at_++];
      } else if (at_ + 1 < source_.size() && IsNewline(source_[at_ + 1])) {
        at_ += source_.substr(at_ + 1, 2) == "\r\n" ? 3 : 2;
      } else if (AtEscape(at_)) {
        Escape(out);
      } else {
        return false;
      }
    }
    return false;
  }

  std::size_t NumberLength() const {
    std::size_t i = at_;
    if (Peek(i) == '+' || Peek(i) == '-') ++i;
    const std::size_t digits = i;
    while (base::IsAsciiDigit(Peek(i))) ++i;
    if (Peek(i) == '.' && base::IsAsciiDigit(Peek(i + 1))) {
      ++i;
      while (base::IsAsciiDigit(Peek(i))) ++i;
    }
    return i == digits ? 0 : i - at_;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::size_t characters_ = 0;
};

}  // namespace

std::optional<CssTokenError> TokenizeCss(std::string_view source, std::vector<CssToken>* tokens) {
  return Tokenizer(source).Run(tokens);
}

namespace {

using Condition = std::variant<std::string, PseudoClassError>;

constexpr int kSeriesMax = 1000000;

// The an+b of :nth-child() and its kin.
struct Series {
  int a;
  int b;
};

std::optional<int> ParseInt(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  if (text.empty() || text[0] == '+') return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::abs(value) <= kSeriesMax ? std::optional(value) : std::nullopt;
}

std::optional<Series> ParseSeries(const std::vector<CssToken>& arguments) {
  std::string joined;
  for (const CssToken& token : arguments) {
    if (token.kind == CssToken::Kind::kString) return std::nullopt;
    joined += token.text;
  }
  const std::string text = base::AsciiLower(joined);
  if (text == "odd") return Series{2, 1};
  if (text == "even") return Series{2, 0};
  const auto n = text.find('n');
  if (n == std::string::npos) {
    const auto b = ParseInt(text);
    return b ? std::optional(Series{0, *b}) : std::nullopt;
  }
  const std::string_view before = std::string_view(text).substr(0, n);
  const std::string_view after = std::string_view(text).substr(n + 1);
  std::optional<int> a = 1;
  if (before == "-") {
    a = -1;
  } else if (!before.empty() && before != "+") {
    a = ParseInt(before);
  }
  const std::optional<int> b = after.empty() ? 0 : ParseInt(after);
  if (!a || !b) return std::nullopt;
  return Series{*a, *b};
}

// The element has an+b-1 siblings matching `test` on `axis`, for some n >= 0. Fixed positions are
// asked by position, not by count(): libxml2 then stops at the position, and long lists cost no
// squares.
std::string SeriesCondition(const Series& series, std::string_view axis, std::string_view test) {
  const auto [a, b] = series;
  const auto at_least = [&](int siblings) {  // siblings >= 1
    return fmt::format("{}::{}[{}]", axis, test, siblings);
  };
  if (a == 0 || a < 0) {
    if (b < 1) return "false()";
    if (a == -1) return fmt::format("not({})", at_least(b));
    if (a == 0 && b == 1) return fmt::format("not({})", at_least(1));
    if (a == 0) return fmt::format("{} and not({})", at_least(b - 1), at_least(b));
  }
  if (a == 1) return b <= 1 ? "true()" : at_least(b - 1);
  const int step = std::abs(a);
  const int shift = (((1 - b) % step) + step) % step;
  const std::string modulo =
      fmt::format("(count({}::{}) + {}) mod {} = 0", axis, test, shift, step);
  if (a < 0) return fmt::format("not({}) and {}", at_least(b), modulo);
  return b <= 1 ? modulo : fmt::format("{} and {}", at_least(b - 1), modulo);
}

constexpr std::string_view kLink = "@href and (name() = 'a' or name() = 'link' or name() = 'area')";
constexpr std::string_view kChecked =
    "(@selected and name() = 'option') or (@checked and (name() = 'input' or name() = 'command') "
    "and "
    "(@type = 'checkbox' or @type = 'radio'))";
constexpr std::string_view kDisabled =
    "(@disabled and ((name() = 'input' and not(@type = 'hidden')) or name() = 'button' or "
    "name() = 'select' or name() = 'textarea' or name() = 'command' or name() = 'fieldset' or "
    "name() = 'optgroup' or name() = 'option')) or (((name() = 'input' and not(@type = 'hidden')) "
    "or "
    "name() = 'button' or name() = 'select' or name() = 'textarea') and "
    "ancestor::fieldset[@disabled])";
constexpr std::string_view kEnabled =
    "(@href and (name() = 'a' or name() = 'link' or name() = 'area')) or ((name() = 'command' or "
    "name() = 'fieldset' or name() = 'optgroup') and not(@disabled)) or (((name() = 'input' and "
    "not(@type = 'hidden')) or name() = 'button' or name() = 'select' or name() = 'textarea' or "
    "name() = 'keygen') and not(@disabled or ancestor::fieldset[@disabled])) or "
    "(name() = 'option' and not(@disabled or ancestor::optgroup[@disabled]))";

Condition OfType(const PseudoClass& pseudo, std::string_view condition) {
  if (pseudo.element == "*") {
    return PseudoClassError{
        fmt::format(":{} needs an element name before it, as in p:{}", pseudo.name, pseudo.name)};
  }
  return std::string(condition);
}

Condition Simple(const PseudoClass& pseudo) {
  constexpr std::string_view kFirst = "not(preceding-sibling::*[1])";
  constexpr std::string_view kLast = "not(following-sibling::*[1])";
  const std::string& name = pseudo.name;
  const std::string first_type = fmt::format("not(preceding-sibling::{}[1])", pseudo.element);
  const std::string last_type = fmt::format("not(following-sibling::{}[1])", pseudo.element);
  // The root of the document is the scope: nothing else could be.
  if (name == "root" || name == "scope") return "not(parent::*)";
  if (name == "first-child") return std::string(kFirst);
  if (name == "last-child") return std::string(kLast);
  if (name == "only-child") return fmt::format("parent::* and {} and {}", kFirst, kLast);
  if (name == "first-of-type") return OfType(pseudo, first_type);
  if (name == "last-of-type") return OfType(pseudo, last_type);
  if (name == "only-of-type") {
    return OfType(pseudo, fmt::format("parent::* and {} and {}", first_type, last_type));
  }
  if (name == "empty") return "not(*) and not(string-length())";
  if (name == "link" || name == "any-link") return std::string(kLink);
  if (name == "checked") return std::string(kChecked);
  if (name == "disabled") return std::string(kDisabled);
  if (name == "enabled") return std::string(kEnabled);
  for (const std::string_view never : {"visited", "hover", "active", "focus", "target"}) {
    if (name == never) return "false()";
  }
  return PseudoClassError{fmt::format("the pseudo-class :{} is not known", name)};
}

Condition Functional(const PseudoClass& pseudo) {
  const std::string& name = pseudo.name;
  if (name == "contains" || name == "lang") {
    const auto& arguments = pseudo.arguments;
    if (arguments.size() != 1 || (arguments[0].kind != CssToken::Kind::kString &&
                                  arguments[0].kind != CssToken::Kind::kIdent)) {
      return PseudoClassError{fmt::format(":{}() takes one string", name)};
    }
    if (name == "contains") return fmt::format("contains(., {})", XPathLiteral(arguments[0].text));
    return fmt::format(
        "ancestor-or-self::*[@lang][1][starts-with(concat(translate(@lang, "
        "'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), '-'), {})]",
        XPathLiteral(base::AsciiLower(arguments[0].text) + "-"));
  }
  const bool of_type = name == "nth-of-type" || name == "nth-last-of-type";
  const bool last = name == "nth-last-child" || name == "nth-last-of-type";
  if (!of_type && !last && name != "nth-child") {
    return PseudoClassError{fmt::format("the pseudo-class :{}() is not known", name)};
  }
  const auto series = ParseSeries(pseudo.arguments);
  if (!series) {
    return PseudoClassError{
        fmt::format(":{}() takes a number, odd, even or an+b, as in 2n+1", name)};
  }
  const std::string_view axis = last ? "following-sibling" : "preceding-sibling";
  if (!of_type) return SeriesCondition(*series, axis, "*");
  return OfType(pseudo, SeriesCondition(*series, axis, pseudo.element));
}

}  // namespace

std::string XPathLiteral(std::string_view text) {
  if (text.find('\'') == std::string_view::npos) return fmt::format("'{}'", text);
  if (text.find('"') == std::string_view::npos) return fmt::format("\"{}\"", text);
  std::string out = "concat(";
  while (!text.empty()) {
    const bool quotes = text[0] == '\'';
    const auto end = quotes ? text.find_first_not_of('\'') : text.find('\'');
    const std::string_view part = text.substr(0, end);
    out += out.back() == '(' ? "" : ",";
    out += quotes ? fmt::format("\"{}\"", part) : fmt::format("'{}'", part);
    text.remove_prefix(part.size());
  }
  return out + ")";
}

Condition PseudoClassCondition(const PseudoClass& pseudo) {
  return pseudo.functional ? Functional(pseudo) : Simple(pseudo);
}

}  // namespace vedette::html
