#include "html/xpath_cost.h"

#include <libxml/xpathInternals.h>
#include <string.h>  // memmem

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"

namespace vedette::html {
namespace {

constexpr std::array<std::string_view, 26> kScalarFunctions{"boolean",
                                                            "ceiling",
                                                            "concat",
                                                            "contains",
                                                            "count",
                                                            "false",
                                                            "floor",
                                                            "lang",
                                                            "last",
                                                            "local-name",
                                                            "name",
                                                            "namespace-uri",
                                                            "normalize-space",
                                                            "not",
                                                            "number",
                                                            "position",
                                                            "round",
                                                            "starts-with",
                                                            "string",
                                                            "string-length",
                                                            "substring",
                                                            "substring-after",
                                                            "substring-before",
                                                            "sum",
                                                            "translate",
                                                            "true"};

bool IsNameByte(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '_' || c == '-' || c == '.' ||
         (c & 0x80) != 0;
}

struct Token {
  enum class Kind { kScalar, kName, kSymbol };  // kScalar: a literal or a number
  Kind kind;
  std::string_view text;
};

bool IsSymbol(const Token& token, std::string_view text) {
  return token.kind == Token::Kind::kSymbol && token.text == text;
}

// The token that `rest` begins with, which is not white space.
Token FirstToken(std::string_view rest) {
  using Kind = Token::Kind;
  if (rest[0] == '\'' || rest[0] == '"') {
    const auto end = rest.find(rest[0], 1);
    return {Kind::kScalar, rest.substr(0, end == std::string_view::npos ? end : end + 1)};
  }
  const auto length = static_cast<std::size_t>(
      std::find_if_not(rest.begin(), rest.end(), IsNameByte) - rest.begin());
  const bool dots = rest.starts_with("..") || (rest[0] == '.' && length == 1);
  if (length > 0 && rest[0] != '-' && !dots) {
    const bool number = (rest[0] >= '0' && rest[0] <= '9') || rest[0] == '.';
    return {number ? Kind::kScalar : Kind::kName, rest.substr(0, length)};
  }
  for (const std::string_view symbol : {"//", "::", "!=", "<=", ">=", ".."}) {
    if (rest.starts_with(symbol)) return {Kind::kSymbol, rest.substr(0, symbol.size())};
  }
  return {Kind::kSymbol, rest.substr(0, 1)};
}

std::vector<Token> Tokens(std::string_view expression) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < expression.size();) {
    if (std::string_view(" \t\r\n").find(expression[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    tokens.push_back(FirstToken(expression.substr(at)));
    at += tokens.back().text.size();
  }
  return tokens;
}

bool IsScalarCall(const std::vector<Token>& tokens, std::size_t name) {
  return name + 1 < tokens.size() && tokens[name].kind == Token::Kind::kName &&
         IsSymbol(tokens[name + 1], "(") &&
         std::find(kScalarFunctions.begin(), kScalarFunctions.end(), tokens[name].text) !=
             kScalarFunctions.end();
}

// Whether the operand behind the operator tokens[i] is no node-set; false where that is not seen.
bool ScalarBehind(const std::vector<Token>& tokens, std::size_t i) {
  if (i + 1 >= tokens.size()) return true;  // no valid expression
  return tokens[i + 1].kind == Token::Kind::kScalar || IsSymbol(tokens[i + 1], "-") ||
         IsScalarCall(tokens, i + 1);
}

bool ScalarBefore(const std::vector<Token>& tokens, std::size_t i) {
  if (i == 0) return true;  // no valid expression
  if (tokens[i - 1].kind == Token::Kind::kScalar) return true;
  std::size_t open = i - 1;
  for (int depth = 0; IsSymbol(tokens[i - 1], ")"); --open) {
    depth += IsSymbol(tokens[open], ")") ? 1 : IsSymbol(tokens[open], "(") ? -1 : 0;
    if (depth == 0) return open > 0 && IsScalarCall(tokens, open - 1);
    if (open == 0) break;
  }
  return false;
}

bool IsComparison(const Token& token) {
  return token.kind == Token::Kind::kSymbol &&
         (token.text == "=" || token.text == "!=" || token.text == "<" || token.text == ">" ||
          token.text == "<=" || token.text == ">=");
}

// Whether the token before tokens[i] is the name of the axis. No other axis ends so, and libxml2
// reads `1ornamespace::*` as `1 or namespace::*`.
bool NamesNamespaceAxis(const std::vector<Token>& tokens, std::size_t i) {
  return IsSymbol(tokens[i], "::") && tokens[i - 1].text.ends_with("namespace");
}

// Whether an operand ends here, so that a `//` behind it starts from all that it selects.
bool EndsOperand(const Token& token) {
  if (token.kind != Token::Kind::kSymbol) {
    return token.text != "and" && token.text != "or" && token.text != "div" && token.text != "mod";
  }
  return std::string_view(")]*...").find(token.text) != std::string_view::npos;
}

// Whether tokens[i] walks through the page from each of many nodes, whose finds libxml2 then
// merges. One step from one node meets every node once; so do the children of different nodes.
bool WalksFromMany(const std::vector<Token>& tokens, std::size_t i) {
  const auto separates = [&](std::size_t k) {
    return IsSymbol(tokens[k], "/") || IsSymbol(tokens[k], "//");
  };
  if (IsSymbol(tokens[i], "//")) {
    if (i > 0 && IsSymbol(tokens[i - 1], ".") && (i == 1 || !separates(i - 2))) return false;
    return i > 0 && EndsOperand(tokens[i - 1]);
  }
  if (!IsSymbol(tokens[i], "::") || i < 2) return false;
  return separates(i - 2);
}

// Paths of names alone, such as //div//a: libxml2 finds them in one walk, without node-sets.
bool IsStreamed(std::string_view expression) {
  char before = '|';
  for (const char c : expression) {
    const bool known =
        c == '/' || c == '|' || (c == '*' ? before == '/' : c != '.' && IsNameByte(c));
    if (!known || (before == '*' && IsNameByte(c))) return false;
    before = c;
  }
  return true;
}

// ---- functions

struct Freed {
  void operator()(xmlChar* text) const { xmlFree(text); }
};
using Text = std::unique_ptr<xmlChar, Freed>;

std::string_view View(const Text& text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text.get());
}

void ReturnText(xmlXPathParserContextPtr context, std::string_view text) {
  if (text.empty()) text = std::string_view("");  // a null pointer is no string to libxml2
  valuePush(context, xmlXPathWrapString(xmlStrndup(reinterpret_cast<const xmlChar*>(text.data()),
                                                   static_cast<int>(text.size()))));
}

// std::string_view::find tries every place.
std::size_t FindText(std::string_view text, std::string_view what) {
  if (what.empty()) return 0;
  if (text.empty()) return std::string_view::npos;
  const void* found = memmem(text.data(), text.size(), what.data(), what.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

void Concat(xmlXPathParserContextPtr ctxt, int nargs) {
  if (nargs < 2) XP_ERROR(XPATH_INVALID_ARITY);
  std::vector<Text> parts(static_cast<std::size_t>(nargs));
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    part->reset(xmlXPathPopString(ctxt));
  }
  if (xmlXPathCheckError(ctxt)) return;
  std::string all;
  for (const Text& part : parts) all += View(part);
  ReturnText(ctxt, all);
}

// The two strings of contains, substring-before and substring-after, and where the first one holds
// the second.
struct Search {
  Text text;
  Text what;
  std::size_t at = std::string_view::npos;

  bool found() const { return at != std::string_view::npos; }
};

// Nothing where the arguments are wrong, which the context then says.
void PopSearch(xmlXPathParserContextPtr ctxt, int nargs, std::optional<Search>* out) {
  CHECK_ARITY(2);
  Search search;
  search.what.reset(xmlXPathPopString(ctxt));
  search.text.reset(xmlXPathPopString(ctxt));
  if (xmlXPathCheckError(ctxt)) return;
  search.at = FindText(View(search.text), View(search.what));
  *out = std::move(search);
}

void Contains(xmlXPathParserContextPtr ctxt, int nargs) {
  std::optional<Search> search;
  PopSearch(ctxt, nargs, &search);
  if (search) valuePush(ctxt, xmlXPathNewBoolean(search->found()));
}

void SubstringBefore(xmlXPathParserContextPtr ctxt, int nargs) {
  std::optional<Search> search;
  PopSearch(ctxt, nargs, &search);
  if (search) ReturnText(ctxt, View(search->text).substr(0, search->found() ? search->at : 0));
}

void SubstringAfter(xmlXPathParserContextPtr ctxt, int nargs) {
  std::optional<Search> search;
  PopSearch(ctxt, nargs, &search);
  if (!search) return;
  const std::size_t end = search->at + View(search->what).size();
  ReturnText(ctxt, search->found() ? View(search->text).substr(end) : std::string_view());
}

// Takes the first character, or what stands in its place, off `text`.
std::string_view TakeCharacter(std::string_view* text) {
  std::size_t length = 1;
  while (length < std::min<std::size_t>(text->size(), 4) &&
         base::ContinuesCharacter((*text)[length])) {
    ++length;
  }
  const std::string_view character = text->substr(0, length);
  text->remove_prefix(length);
  return character;
}

std::string Translate(std::string_view text, std::string_view from, std::string_view to) {
  std::unordered_map<std::string_view, std::string_view> others;  // than ASCII
  std::array<std::string_view, 128> ascii;
  std::array<bool, 128> known{};
  while (!from.empty()) {
    const std::string_view character = TakeCharacter(&from);
    const std::string_view other = to.empty() ? to : TakeCharacter(&to);
    const auto byte = static_cast<unsigned char>(character[0]);
    if (byte >= 128) {
      others.emplace(character, other);  // the first one counts
    } else if (!known[byte]) {
      known[byte] = true;
      ascii[byte] = other;
    }
  }
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = TakeCharacter(&text);
    const auto byte = static_cast<unsigned char>(character[0]);
    if (byte < 128) {
      out += known[byte] ? ascii[byte] : character;
    } else {
      const auto it = others.find(character);
      out += it == others.end() ? character : it->second;
    }
  }
  return out;
}

void TranslateFunction(xmlXPathParserContextPtr ctxt, int nargs) {
  CHECK_ARITY(3);
  const Text to(xmlXPathPopString(ctxt));
  const Text from(xmlXPathPopString(ctxt));
  const Text text(xmlXPathPopString(ctxt));
  if (xmlXPathCheckError(ctxt)) return;
  ReturnText(ctxt, Translate(View(text), View(from), View(to)));
}

}  // namespace

XPathCost CostOf(std::string_view expression) {
  const std::vector<Token> tokens = Tokens(expression);
  XPathCost cost;
  cost.names_alone = IsStreamed(expression);
  const auto position = [&](const Token& token) {
    const auto bytes = static_cast<std::size_t>(token.text.data() - expression.data());
    return base::CountCharacters(expression.substr(0, bytes)) + 1;
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool merges = !cost.names_alone && (IsSymbol(token, "|") || WalksFromMany(tokens, i));
    cost.merges = cost.merges || merges;
    cost.strings += IsSymbol(token, "(") || IsSymbol(token, ",") || IsSymbol(token, "[") ? 1 : 0;
    if (!cost.compares_sets && IsComparison(token) && !ScalarBefore(tokens, i) &&
        !ScalarBehind(tokens, i)) {
      cost.compares_sets = position(token);
    }
    if (!cost.namespace_axis && i > 0 && NamesNamespaceAxis(tokens, i)) {
      cost.namespace_axis = position(tokens[i - 1]);
    }
  }
  return cost;
}

void RegisterLinearFunctions(xmlXPathContextPtr context) {
  const auto add = [context](const char* name, xmlXPathFunction function) {
    // Registering does not replace.
    xmlXPathRegisterFunc(context, reinterpret_cast<const xmlChar*>(name), nullptr);
    if (function == nullptr) return;
    xmlXPathRegisterFunc(context, reinterpret_cast<const xmlChar*>(name), function);
  };
  add("concat", Concat);
  add("contains", Contains);
  add("substring-before", SubstringBefore);
  add("substring-after", SubstringAfter);
  add("translate", TranslateFunction);
  add("id", nullptr);
}

}  // namespace vedette::html
