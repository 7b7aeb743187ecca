#include "html/css_to_xpath.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "html/css_syntax.h"

namespace vedette::html {
namespace {

using Kind = CssToken::Kind;

// What one element must be: `div.a[b]:first-child`.
struct Compound {
  std::string element = "*";
  std::vector<std::string> conditions;
};

// Compounds from left to right, each with the combinator before it (' ', '>', '+', '~'). The first
// one's combinator matters inside :has() only.
struct Link {
  char combinator;
  Compound compound;
};
using Chain = std::vector<Link>;

// ASCII names that stand for themselves in XPath; all others are compared as strings.
bool IsSafeName(std::string_view name) {
  const auto letter = [](char c) { return base::IsAsciiLetter(c); };
  if (name.empty() || !(letter(name[0]) || name[0] == '_')) return false;
  for (const char c : name) {
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '.' && c != '-') return false;
  }
  return true;
}

std::string Join(const std::vector<std::string>& conditions, std::string_view word) {
  if (conditions.empty()) return "true()";
  if (conditions.size() == 1) return conditions[0];
  std::string out;
  for (const std::string& condition : conditions) {
    out += fmt::format("{}({})", out.empty() ? "" : word, condition);
  }
  return out;
}

std::string Predicate(const std::vector<std::string>& conditions) {
  return conditions.empty() ? "" : fmt::format("[{}]", Join(conditions, " and "));
}

// What must hold to the left of chain[i] for its element to match; empty for the first.
std::string LeftCondition(const Chain& chain, std::size_t i) {
  std::string out;
  // Built from the left end on, so that long chains do not recurse.
  for (std::size_t k = 1; k <= i; ++k) {
    const char combinator = chain[k].combinator;
    const char before = k >= 2 ? chain[k - 1].combinator : ' ';
    const Compound& left = chain[k - 1].compound;
    const std::string further = out.empty() ? "" : fmt::format("[{}]", out);
    const std::string own = Predicate(left.conditions);
    switch (combinator) {
      case ' ': {
        // The nearest such ancestor has all the ancestors that farther ones have: no need to try
        // them, where only ancestors are asked for.
        const bool nearest = before == ' ' && !further.empty();
        out = fmt::format("ancestor::{}{}{}{}", left.element, own, nearest ? "[1]" : "", further);
        break;
      }
      case '>':
        out = fmt::format("parent::{}{}{}", left.element, own, further);
        break;
      case '+': {
        const std::string self = left.element == "*" ? "" : fmt::format("[self::{}]", left.element);
        out = fmt::format("preceding-sibling::*[1]{}{}{}", self, own, further);
        break;
      }
      default: {
        // Likewise: siblings share their ancestors, and the nearest has all the earlier siblings.
        const bool nearest = before != '+' && !further.empty();
        out = fmt::format("preceding-sibling::{}{}{}{}", left.element, own, nearest ? "[1]" : "",
                          further);
      }
    }
  }
  return out;
}

std::vector<std::string> AllConditions(const Chain& chain) {
  std::vector<std::string> conditions = chain.back().compound.conditions;
  if (chain.size() > 1) conditions.push_back(LeftCondition(chain, chain.size() - 1));
  return conditions;
}

// The chain as a condition on an element, for :not(), :is(), :where().
std::string AsCondition(const Chain& chain) {
  std::vector<std::string> conditions = AllConditions(chain);
  const std::string& element = chain.back().compound.element;
  if (element != "*") conditions.insert(conditions.begin(), "self::" + element);
  return Join(conditions, " and ");
}

// The chain as a path from the element that :has() stands at.
std::string AsPath(const Chain& chain) {
  std::string out;
  for (const Link& link : chain) {
    const std::string& element = link.compound.element;
    if (!out.empty()) out += '/';
    switch (link.combinator) {
      case ' ':
        out += "descendant::" + element;
        break;
      case '>':
        out += "child::" + element;
        break;
      case '+':
        out += "following-sibling::*[1]" + (element == "*" ? "" : "[self::" + element + "]");
        break;
      default:
        out += "following-sibling::" + element;
    }
    out += Predicate(link.compound.conditions);
  }
  return out;
}

class Parser {
 public:
  Parser(std::vector<CssToken> tokens, CssNames names)
      : tokens_(std::move(tokens)), names_(names) {}

  // A parse that gives nothing leaves the reason in error().
  std::optional<std::vector<Chain>> Group(int depth, bool relative);
  bool AtEnd() const { return Peek().kind == Kind::kEnd; }
  bool FailAtPeek(std::string_view expected);
  const SelectorSyntaxError& error() const { return error_; }

 private:
  bool ParseChain(int depth, bool relative, Chain* chain);
  bool ParseCompound(int depth, Compound* compound);
  bool ParseElement(Compound* compound);
  bool ParseAttribute(Compound* compound);
  bool ParseAttributeMatch(const std::string& attribute, std::string* condition);
  bool ParsePseudo(int depth, Compound* compound);
  bool ParseNested(const std::string& name, int depth, Compound* compound);
  bool ParseArguments(std::vector<CssToken>* arguments);

  const CssToken& Peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool PeekDelim(std::string_view text, std::size_t ahead = 0) const {
    return Peek(ahead).kind == Kind::kDelim && Peek(ahead).text == text;
  }
  bool TakeDelim(std::string_view text) {
    if (!PeekDelim(text)) return false;
    ++at_;
    return true;
  }
  void SkipSpace() {
    while (Peek().kind == Kind::kSpace) ++at_;
  }
  bool TakeIdent(std::string* out) {
    if (Peek().kind != Kind::kIdent) return FailAtPeek("expected a name");
    *out = tokens_[at_++].text;
    return true;
  }
  bool Fail(std::string message, std::size_t position) {
    error_ = {std::move(message), position};
    return false;
  }

  // A name of an element or an attribute, as the tree has it.
  std::string Name(const std::string& name) const {
    return names_ == CssNames::kLower ? base::AsciiLower(name) : name;
  }

  std::vector<CssToken> tokens_;
  CssNames names_;
  std::size_t at_ = 0;
  SelectorSyntaxError error_{"", 1};
};

bool Parser::FailAtPeek(std::string_view expected) {
  const CssToken& token = Peek();
  if (token.kind == Kind::kEnd) {
    return Fail(fmt::format("{}, got the end of the selector", expected), token.position);
  }
  const std::string_view shown = token.kind == Kind::kSpace ? std::string_view(" ") : token.text;
  return Fail(fmt::format("{}, got '{}'", expected, base::CutCharacters(shown, 40)),
              token.position);
}

std::optional<std::vector<Chain>> Parser::Group(int depth, bool relative) {
  if (depth > kCssNestingMax) {
    Fail(fmt::format("selectors are nested deeper than {}", kCssNestingMax), Peek().position);
    return std::nullopt;
  }
  std::vector<Chain> group;
  do {
    group.emplace_back();
    if (!ParseChain(depth, relative, &group.back())) return std::nullopt;
  } while (TakeDelim(","));
  return group;
}

bool Parser::ParseChain(int depth, bool relative, Chain* chain) {
  char combinator = ' ';
  SkipSpace();
  if (relative && (PeekDelim(">") || PeekDelim("+") || PeekDelim("~"))) {
    combinator = tokens_[at_++].text[0];
    SkipSpace();
  }
  while (true) {
    chain->push_back({combinator, {}});
    if (!ParseCompound(depth, &chain->back().compound)) return false;
    SkipSpace();
    if (AtEnd() || PeekDelim(",") || (depth > 0 && PeekDelim(")"))) return true;
    combinator = ' ';
    if (PeekDelim(">") || PeekDelim("+") || PeekDelim("~")) {
      combinator = tokens_[at_++].text[0];
      SkipSpace();
    }
  }
}

bool Parser::ParseCompound(int depth, Compound* compound) {
  const std::size_t start = at_;
  if (!ParseElement(compound)) return false;
  while (true) {
    const CssToken& token = Peek();
    if (token.kind == Kind::kHash) {
      compound->conditions.push_back("@id = " + XPathLiteral(token.text));
      ++at_;
    } else if (TakeDelim(".")) {
      std::string name;
      if (!TakeIdent(&name)) return false;
      const bool possible = name.find_first_of(" \t\r\n\f") == std::string::npos;
      compound->conditions.push_back(
          possible
              ? fmt::format("@class and contains(concat(' ', normalize-space(@class), ' '), {})",
                            XPathLiteral(" " + name + " "))
              : "false()");
    } else if (TakeDelim("[")) {
      if (!ParseAttribute(compound)) return false;
    } else if (TakeDelim(":")) {
      if (!ParsePseudo(depth, compound)) return false;
    } else {
      return at_ > start || FailAtPeek("expected a selector");
    }
  }
}

bool Parser::ParseElement(Compound* compound) {
  const CssToken& token = Peek();
  const bool star = PeekDelim("*");
  // `*|name` and `|name` mean the name, as there are no namespaces in HTML.
  if (PeekDelim("|", star ? 1 : 0) && !PeekDelim("=", star ? 2 : 1)) {
    at_ += star ? 2 : 1;
    if (TakeDelim("*")) return true;
    if (Peek().kind != Kind::kIdent) return FailAtPeek("expected a name");
    return ParseElement(compound);
  }
  if (star) {
    ++at_;
    return true;
  }
  if (token.kind != Kind::kIdent) return true;
  if (PeekDelim("|", 1)) return Fail("namespaces are not supported", token.position);
  ++at_;
  const std::string name = Name(token.text);
  if (IsSafeName(name)) {
    compound->element = name;
  } else {
    compound->conditions.push_back("name() = " + XPathLiteral(name));
  }
  return true;
}

bool Parser::ParseAttribute(Compound* compound) {
  SkipSpace();
  if (PeekDelim("*") && PeekDelim("|", 1)) at_ += 2;
  std::string name;
  const std::size_t position = Peek().position;
  if (!TakeIdent(&name)) return false;
  if (PeekDelim("|") && !PeekDelim("=", 1)) return Fail("namespaces are not supported", position);
  name = Name(name);
  const std::string attribute =
      IsSafeName(name) ? "@" + name : fmt::format("attribute::*[name() = {}]", XPathLiteral(name));
  SkipSpace();
  if (TakeDelim("]")) {
    compound->conditions.push_back(attribute);
    return true;
  }
  std::string condition;
  if (!ParseAttributeMatch(attribute, &condition)) return false;
  compound->conditions.push_back(std::move(condition));
  return true;
}

// The condition that `attribute` stands in the relation `op` (the operator's first character) to
// `value`.
std::string AttributeCondition(char op, const std::string& attribute, const std::string& subject,
                               const std::string& value) {
  const std::string literal = XPathLiteral(value);
  switch (op) {
    case '=':
      return fmt::format("{} = {}", subject, literal);
    case '!':
      if (value.empty()) return fmt::format("{} != ''", subject);
      return fmt::format("not({}) or {} != {}", attribute, subject, literal);
    case '~':
      if (value.empty() || value.find_first_of(" \t\r\n\f") != std::string::npos) return "false()";
      return fmt::format("{} and contains(concat(' ', normalize-space({}), ' '), {})", attribute,
                         subject, XPathLiteral(" " + value + " "));
    case '|':
      return fmt::format("{} and ({} = {} or starts-with({}, {}))", attribute, subject, literal,
                         subject, XPathLiteral(value + "-"));
    default:
      break;
  }
  if (value.empty()) return "false()";
  if (op == '^') return fmt::format("{} and starts-with({}, {})", attribute, subject, literal);
  if (op == '*') return fmt::format("{} and contains({}, {})", attribute, subject, literal);
  return fmt::format("{} and substring({}, string-length({}) - {}) = {}", attribute, subject,
                     subject, base::CountCharacters(value) - 1, literal);
}

bool Parser::ParseAttributeMatch(const std::string& attribute, std::string* condition) {
  char op = '=';
  if (!PeekDelim("=")) {
    const CssToken& token = Peek();
    const bool known = token.kind == Kind::kDelim &&
                       std::string_view("^$*~|!").find(token.text) != std::string_view::npos;
    if (!known || !PeekDelim("=", 1)) return FailAtPeek("expected an operator or ']'");
    op = token.text[0];
    ++at_;
  }
  ++at_;
  SkipSpace();
  if (Peek().kind != Kind::kString && Peek().kind != Kind::kIdent) {
    return FailAtPeek("expected a string or a name");
  }
  std::string value = tokens_[at_++].text;
  SkipSpace();
  std::string subject = attribute;
  if (Peek().kind == Kind::kIdent) {
    const std::string flag = base::AsciiLower(Peek().text);
    if (flag != "i" && flag != "s") return FailAtPeek("expected ']', i or s");
    if (flag == "i") {
      value = base::AsciiLower(value);
      subject = fmt::format(
          "translate({}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')", attribute);
    }
    ++at_;
    SkipSpace();
  }
  if (!TakeDelim("]")) return FailAtPeek("expected ']'");
  *condition = AttributeCondition(op, attribute, subject, value);
  // translate() makes an attribute that is not there an empty string, which "= ''" must not match.
  if (subject != attribute && op != '!')
    *condition = fmt::format("{} and ({})", attribute, *condition);
  return true;
}

bool Parser::ParsePseudo(int depth, Compound* compound) {
  const std::size_t position = Peek().position;
  std::string name;
  const bool element = TakeDelim(":");
  if (!TakeIdent(&name)) return false;
  name = base::AsciiLower(name);
  if (element || name == "before" || name == "after" || name == "first-line" ||
      name == "first-letter") {
    return Fail(
        fmt::format("pseudo-elements such as ::{} are not supported; for an attribute write "
                    "` @name` behind the selector",
                    name),
        position);
  }
  PseudoClass pseudo{name, {}, TakeDelim("("), compound->element};
  if (pseudo.functional) {
    if (name == "not" || name == "is" || name == "where" || name == "matches" || name == "has") {
      return ParseNested(name, depth, compound);
    }
    if (!ParseArguments(&pseudo.arguments)) return false;
  }
  auto condition = PseudoClassCondition(pseudo);
  if (auto* error = std::get_if<PseudoClassError>(&condition)) {
    return Fail(std::move(error->message), position);
  }
  compound->conditions.push_back(std::move(std::get<std::string>(condition)));
  return true;
}

bool Parser::ParseNested(const std::string& name, int depth, Compound* compound) {
  const bool has = name == "has";
  const auto group = Group(depth + 1, has);
  if (!group) return false;
  if (!TakeDelim(")")) return FailAtPeek("expected ')'");
  std::vector<std::string> alternatives;
  for (const Chain& chain : *group) {
    alternatives.push_back(has ? AsPath(chain) : AsCondition(chain));
  }
  const std::string any = Join(alternatives, " or ");
  compound->conditions.push_back(name == "not" ? fmt::format("not({})", any) : any);
  return true;
}

bool Parser::ParseArguments(std::vector<CssToken>* arguments) {
  while (true) {
    SkipSpace();
    if (TakeDelim(")")) return true;
    const bool fits = Peek().kind == Kind::kIdent || Peek().kind == Kind::kString ||
                      Peek().kind == Kind::kNumber || PeekDelim("+") || PeekDelim("-");
    if (!fits) return FailAtPeek("expected an argument or ')'");
    arguments->push_back(tokens_[at_++]);
  }
}

}  // namespace

std::variant<std::vector<std::string>, SelectorSyntaxError> CssToXPath(std::string_view css,
                                                                       CssNames names) {
  if (css.size() > kCssSelectorBytesMax) {
    return SelectorSyntaxError{
        fmt::format("the selector is longer than {} bytes", kCssSelectorBytesMax),
        kCssSelectorBytesMax + 1};
  }
  if (const auto nul = css.find('\0'); nul != std::string_view::npos) {
    return SelectorSyntaxError{"a NUL character is not allowed", nul + 1};
  }
  std::vector<CssToken> tokens;
  if (auto error = TokenizeCss(css, &tokens)) {
    return SelectorSyntaxError{std::move(error->message), error->position};
  }
  Parser parser(std::move(tokens), names);
  const auto group = parser.Group(0, false);
  if (!group) return parser.error();
  if (!parser.AtEnd()) {
    parser.FailAtPeek("expected the end of the selector");
    return parser.error();
  }
  std::vector<std::string> out;
  for (const Chain& chain : *group) {
    out.push_back("descendant-or-self::" + chain.back().compound.element +
                  Predicate(AllConditions(chain)));
  }
  return out;
}

}  // namespace vedette::html
