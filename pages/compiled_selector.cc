#include "pages/compiled_selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "pages/css_to_xpath.h"
#include "pages/html_document.h"
#include "pages/selector.h"
#include "pages/xpath_cost.h"

namespace vedette::pages {
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

}  // namespace vedette::pages
