#include "pages/selector.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/field_description.h"
#include "pages/css_to_xpath.h"
#include "pages/json_path.h"
#include "pages/number.h"
#include "pages/url_reference.h"
#include "pages/xpath_cost.h"

namespace vedette::pages {
namespace {

using domain::Failure;
using domain::FieldObservation;
using domain::Observation;
using domain::WatchedField;
using Kind = domain::FieldDescription::Kind;

constexpr std::size_t kMetaNameBytesMax = 200;
// What a selector that is no regex takes when compiled, about.
constexpr std::size_t kSelectorBytesAbout = 2 * kXPathBytesMax;

// What filters make of the matches.
enum class Pick { kFirst, kAll, kCount };
enum class Form { kWhole, kVisible, kNumber, kHash };

struct Filters {
  Pick pick = Pick::kFirst;
  Form form = Form::kWhole;
  std::optional<DecimalMark> mark;  // of number; empty: as the page's language has it
};

// HTML expressions; the root element is the context of those that were CSS.
struct HtmlSelector {
  std::vector<std::string> expressions;
  bool css = false;
  std::string attribute;
  Filters filters{};
  bool is_reference = false;  // a URL, relative to the page's
};
struct JsonSelector {
  JsonPath path;
  Filters filters;
};
struct RegexSelector {
  std::shared_ptr<const RE2> regex;
  int group;  // 0: all of the match
  Filters filters{};
};
struct TextSelector {
  Filters filters;
};
using Selector = std::variant<HtmlSelector, JsonSelector, RegexSelector, TextSelector>;

struct CompileError {
  std::string message;
  std::size_t position;
};

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
    const bool forms = word == "text" || word == "number" || word == "hash";
    if (!picks && !forms) {
      return fmt::format(
          "the filter '{}' is not known; there are first, all, count, text, number and hash", word);
    }
    if (picks ? picked : filters->form != Form::kWhole) {
      return fmt::format("the filter '{}' contradicts one before it", word);
    }
    picked = picked || picks;
    if (word == "all") filters->pick = Pick::kAll;
    if (word == "count") filters->pick = Pick::kCount;
    if (word == "text") filters->form = Form::kVisible;
    if (word == "number") filters->form = Form::kNumber;
    if (word == "hash") filters->form = Form::kHash;
  }
  const bool more = filters->form != Form::kWhole || !description.attribute.empty();
  if (filters->pick == Pick::kCount && more)
    return "count goes with no attribute and no other filter";
  if (filters->form == Form::kVisible && !description.attribute.empty()) {
    return "text goes with no attribute";
  }
  const bool elements = description.kind == Kind::kCss || description.kind == Kind::kXPath;
  if (!elements && (filters->pick != Pick::kFirst || filters->form == Form::kVisible)) {
    return "all, count and text go with css: and xpath: alone";
  }
  return {};
}

std::variant<Selector, CompileError> CompileCss(const domain::FieldDescription& description) {
  auto result = CssToXPath(description.selector);
  if (auto* error = std::get_if<SelectorSyntaxError>(&result)) {
    return CompileError{std::move(error->message), error->position};
  }
  HtmlSelector selector{std::move(std::get<0>(result)), true,
                        base::AsciiLower(description.attribute)};
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
  return Selector(HtmlSelector{{expression}, false, ""});
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
    case Kind::kMeta:
      return CompileMeta(description.selector);
    default:
      return Selector(TextSelector{});
  }
}

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

Failure BadSelector(const std::string& field, std::string_view message, std::size_t position) {
  const std::string where = position > 0 ? fmt::format(", at character {}", position) : "";
  return {"bad_selector",
          fmt::format("The selector of the field '{}' is not valid{}: {}.", field, where, message),
          false,
          {}};
}

Failure BadContent(std::string message) {
  return {"bad_content", std::move(message), false, {}};
}

using FieldResult = std::variant<FieldObservation, Failure>;

std::string HashOf(std::string_view text) {
  return base::HexEncode(base::Sha256(text));
}

// A text in the form that the filter asks for; null where it has no such thing.
base::Json InForm(Form form, DecimalMark mark, base::Json value) {
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const std::string&>();
  if (form == Form::kHash) return HashOf(text);
  if (form == Form::kNumber) return FirstNumber(text, mark).value_or(nullptr);
  return value;
}

FieldObservation Observed(base::Json value, std::string evidence) {
  FieldObservation out;
  out.value = std::move(value);
  out.evidence = std::move(evidence);
  return out;
}

// Extracts one field after the other from one page.
class Extraction {
 public:
  Extraction(const FetchedPage& page, ExtractionStop& stop)
      : forms_(page), url_(page.url), stop_(stop) {}

  const PageForms& forms() const { return forms_; }

  // Adds what one field observes, or says why the whole check fails.
  std::optional<Failure> Add(const std::string& field, const Selector& selector, Observation* out) {
    FieldResult result = Run(field, selector);
    if (auto* failure = std::get_if<Failure>(&result)) return std::move(*failure);
    auto& observed = std::get<FieldObservation>(result);
    if (observed.value.is_string() &&
        observed.value.get_ref<const std::string&>().size() > domain::kValueBytesMax) {
      return BadContent(fmt::format(
          "The value of the field '{}' is longer than {} bytes; choose a narrower selector.", field,
          domain::kValueBytesMax));
    }
    if (!observed.value.is_null()) observed.sources.push_back(url_);
    out->fields.insert_or_assign(field, std::move(observed));
    return std::nullopt;
  }

  FieldResult Run(const std::string& field, const Selector& selector) {
    if (stop_.stopped()) return GaveUp(field);
    if (const auto* html = std::get_if<HtmlSelector>(&selector)) return Html(field, *html);
    if (const auto* json = std::get_if<JsonSelector>(&selector)) return JsonValue(field, *json);
    if (const auto* regex = std::get_if<RegexSelector>(&selector)) return Regex(field, *regex);
    return Text(std::get<TextSelector>(selector).filters);
  }

  FieldResult Text(const Filters& filters) {
    std::optional<std::string> visible = forms_.VisibleText();
    if (!visible) return UnreadableHtml();
    std::string text = std::move(*visible);
    std::string evidence = base::CutCharacters(text, kEvidenceCharactersMax);
    return Formed(filters, std::move(text), std::move(evidence));
  }

 private:
  // As the page says in which language it is; unknown where it does not.
  DecimalMark MarkOfPage() {
    if (mark_) return *mark_;
    mark_ = DecimalMark::kUnknown;
    const HtmlDocument* document = forms_.IsJson() ? nullptr : forms_.Html();
    if (document == nullptr) return *mark_;
    const HtmlFinding found = document->First({"/html/@lang"}, false, "", stop_);
    if (found.kind == HtmlFinding::Kind::kFound && found.value.is_string()) {
      mark_ = MarkOfLanguage(found.value.get_ref<const std::string&>());
    }
    return *mark_;
  }

  base::Json InForm(const Filters& filters, base::Json value) {
    const bool asks = filters.form == Form::kNumber && value.is_string();
    const DecimalMark mark =
        asks ? (filters.mark ? *filters.mark : MarkOfPage()) : DecimalMark::kUnknown;
    return pages::InForm(filters.form, mark, std::move(value));
  }

  // A value in the form that its filters ask for; absent where it has none.
  FieldObservation Formed(const Filters& filters, base::Json value, std::string evidence) {
    value = InForm(filters, std::move(value));
    if (value.is_null()) return {};
    return Observed(std::move(value), std::move(evidence));
  }

  static Failure GaveUp(const std::string& field) {
    return BadContent(fmt::format(
        "Extracting the field '{}' takes too long on this page; a simpler selector may do.",
        field));
  }

  FieldResult Html(const std::string& field, const HtmlSelector& selector) {
    if (forms_.IsJson()) {
      return BadContent(
          fmt::format("The page is JSON ({}), which the selector of the field '{}' "
                      "cannot read; use json: instead.",
                      forms_.type().type, field));
    }
    const HtmlDocument* document = forms_.Html();
    if (document == nullptr) return UnreadableHtml();
    const bool visible = selector.filters.form == Form::kVisible;
    if (selector.filters.pick != Pick::kFirst) return HtmlMany(field, selector, *document, visible);
    HtmlFinding found =
        document->First(selector.expressions, selector.css, selector.attribute, stop_, visible);
    if (found.kind != HtmlFinding::Kind::kFound) return Unfound(field, found);
    base::Json value = InForm(selector.filters, std::move(found.value));
    if (selector.is_reference && value.is_string()) {
      value = ResolveReference(url_, value.get_ref<const std::string&>());
    }
    if (value.is_null()) return FieldObservation{};
    return Observed(std::move(value), std::move(found.evidence));
  }

  FieldResult HtmlMany(const std::string& field, const HtmlSelector& selector,
                       const HtmlDocument& document, bool visible) {
    const bool counted = selector.filters.pick == Pick::kCount;
    const HtmlMatches found =
        document.Every(selector.expressions, selector.css, selector.attribute, stop_, visible,
                       counted ? 0 : domain::kValueBytesMax + 1);
    if (found.failure.kind != HtmlFinding::Kind::kAbsent) return Unfound(field, found.failure);
    if (counted) return Observed(found.count, std::to_string(found.count));
    base::Json values = base::Json::array();
    for (const std::string& text : found.texts) {
      base::Json value = InForm(selector.filters, text);
      if (!value.is_null()) values.push_back(std::move(value));
    }
    if (values.empty()) return FieldObservation{};
    std::string text = base::DumpJson(values);
    std::string evidence = base::CutCharacters(text, kEvidenceCharactersMax);
    return Observed(std::move(text), std::move(evidence));
  }

  static FieldResult Unfound(const std::string& field, const HtmlFinding& found) {
    if (found.kind == HtmlFinding::Kind::kAbsent) return FieldObservation{};
    if (found.kind == HtmlFinding::Kind::kGaveUp) return GaveUp(field);
    return BadSelector(field, found.message, found.position);
  }

  FieldResult JsonValue(const std::string& field, const JsonSelector& selector) {
    const base::Json* document = forms_.Json();
    if (document == nullptr) {
      return BadContent(
          fmt::format("The page is not JSON, which the selector of the field '{}' reads "
                      "({}).",
                      field, forms_.json_error()));
    }
    const JsonPath::Found found = selector.path.First(*document);
    if (found.gave_up) return GaveUp(field);
    if (found.value == nullptr) return FieldObservation{};
    std::string text = base::DumpJson(*found.value);
    std::string evidence = base::CutCharacters(text, kEvidenceCharactersMax);
    if (found.value->is_structured()) {
      return Formed(selector.filters, std::move(text), std::move(evidence));
    }
    return Formed(selector.filters, *found.value, std::move(evidence));
  }

  FieldResult Regex(const std::string& field, const RegexSelector& selector) {
    const std::string& text = forms_.text();
    const auto program_size = static_cast<std::size_t>(selector.regex->ProgramSize());
    if (text.size() > kRegexWorkMax / std::max<std::size_t>(program_size, 1)) return GaveUp(field);
    std::vector<re2::StringPiece> found(static_cast<std::size_t>(selector.group) + 1);
    if (!selector.regex->Match(text, 0, text.size(), RE2::UNANCHORED, found.data(),
                               static_cast<int>(found.size()))) {
      return FieldObservation{};
    }
    const re2::StringPiece& value = found.back();
    if (value.data() == nullptr) return FieldObservation{};  // the group takes no part in the match
    // Evidence from a window of the text that is large enough whatever the folding removes.
    constexpr std::size_t kWindow = 4 * kEvidenceCharactersMax;
    const auto at = static_cast<std::size_t>(found[0].data() - text.data());
    const std::size_t begin = at > kWindow ? at - kWindow : 0;
    const auto window = [&](std::size_t from, std::size_t to) {
      return base::FoldSpace(base::RepairUtf8(std::string_view(text).substr(from, to - from)));
    };
    const std::string before = window(begin, at);
    const std::string match = window(at, std::min(at + found[0].size(), at + kWindow));
    const std::string after = window(std::min(at + found[0].size(), text.size()),
                                     std::min(at + found[0].size() + kWindow, text.size()));
    const std::string around = before + (before.empty() ? "" : " ") + match + " " + after;
    return Formed(selector.filters, base::FoldSpace(base::RepairUtf8({value.data(), value.size()})),
                  Surroundings(around, before.empty() ? 0 : before.size() + 1, match.size()));
  }

  Failure UnreadableHtml() {
    return BadContent(fmt::format("The page cannot be read: {}.", forms_.html_error()));
  }

  PageForms forms_;
  const std::string& url_;
  ExtractionStop& stop_;
  std::optional<DecimalMark> mark_;  // of the page's language, once it was looked for
};

}  // namespace

struct FieldSet::Field {
  std::string name;
  Selector selector;
};

FieldSet::FieldSet(std::vector<Field> fields) : fields_(std::move(fields)) {}
FieldSet::FieldSet(FieldSet&&) noexcept = default;
FieldSet& FieldSet::operator=(FieldSet&&) noexcept = default;
FieldSet::~FieldSet() = default;

std::size_t FieldSet::bytes_max() const {
  std::size_t bytes = sizeof(FieldSet);
  for (const Field& field : fields_) {
    bytes += sizeof(Field) + field.name.size();
    // Of the others the compiled form takes a few times their text.
    bytes += std::holds_alternative<RegexSelector>(field.selector) ? kRegexMemoryBytesMax
                                                                   : kSelectorBytesAbout;
  }
  return bytes;
}

std::optional<Failure> ProseFailure(const std::vector<WatchedField>& watched) {
  for (const WatchedField& field : watched) {
    if (domain::ParseFieldDescription(field.description).kind != Kind::kProse) continue;
    return Failure{
        "unsupported_description",
        fmt::format(
            "The description of the field '{}' is prose, which the web probe cannot serve: "
            "write a selector (css:, xpath:, json:, regex:, meta: or text), or have the operator "
            "configure a model or an http or llm probe for this tier.",
            field.name),
        false,
        {}};
  }
  return std::nullopt;
}

std::optional<std::string> SelectorFault(const std::string& field, const std::string& description) {
  const auto parsed = domain::ParseFieldDescription(description);
  if (parsed.kind == Kind::kProse) return std::nullopt;
  const auto selector = CompileSelector(parsed);
  const auto* error = std::get_if<CompileError>(&selector);
  if (error == nullptr) return std::nullopt;
  return BadSelector(field, error->message, error->position).message;
}

std::variant<FieldSet, Failure> FieldSet::Compile(const std::vector<WatchedField>& watched) {
  if (auto failure = ProseFailure(watched)) return std::move(*failure);
  std::vector<Field> fields;
  for (const WatchedField& field : watched) {
    auto selector = CompileSelector(domain::ParseFieldDescription(field.description));
    if (const auto* error = std::get_if<CompileError>(&selector)) {
      return BadSelector(field.name, error->message, error->position);
    }
    fields.push_back({field.name, std::move(std::get<Selector>(selector))});
  }
  return FieldSet(std::move(fields));
}

domain::ObservationResult FieldSet::Extract(const FetchedPage& page, ExtractionStop& stop) const {
  return Read(page, stop, 0).result;
}

PageReading FieldSet::Read(const FetchedPage& page, ExtractionStop& stop,
                           std::size_t text_bytes_max) const {
  Extraction extraction(page, stop);
  if (extraction.forms().IsBinary()) {
    return {BadContent(fmt::format("The page is of the type {}, not text.",
                                   base::RepairUtf8(extraction.forms().type().type))),
            {}};
  }
  Observation observation;
  for (const Field& field : fields_) {
    auto failure = extraction.Add(field.name, field.selector, &observation);
    if (failure) return {std::move(*failure), {}};
  }
  PageReading out{std::move(observation), {}};
  if (text_bytes_max == 0) return out;
  FieldResult text = extraction.Text({});
  if (auto* failure = std::get_if<Failure>(&text)) return {std::move(*failure), {}};
  const base::Json& value = std::get<FieldObservation>(text).value;
  out.text = PageText{
      page.url, std::string(base::CutBytes(value.get_ref<const std::string&>(), text_bytes_max))};
  return out;
}

}  // namespace vedette::pages
