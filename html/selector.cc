#include "html/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/monitor/change_rules.h"
#include "domain/monitor/field_description.h"
#include "html/compiled_selector.h"
#include "html/page_reading.h"
#include "html/structured_data.h"
#include "html/url_reference.h"

namespace vedette::html {
namespace {

using domain::Failure;
using domain::FieldObservation;
using domain::Observation;
using domain::WatchedField;
using Kind = domain::FieldDescription::Kind;

// What a selector that is no regex takes when compiled, about.
constexpr std::size_t kSelectorBytesAbout = 2 * kXPathBytesMax;

constexpr std::size_t kMeantCharactersMax = 100;

Failure BadContent(std::string message) {
  return {"bad_content", std::move(message), false, {}};
}

Failure Unsupported(const WatchedField& field) {
  std::string message = fmt::format(
      "The description of the field '{}' is prose, which the web probe cannot serve: write a "
      "selector (css:, xpath:, json:, jsonld:, regex:, meta: or text), or have the operator "
      "configure a model or an http or llm probe for this tier.",
      field.name);
  if (const auto meant = domain::MeantSelector(field.description)) {
    message += fmt::format(" Did you mean {}?", base::CutCharacters(*meant, kMeantCharactersMax));
  }
  return {"unsupported_description", std::move(message), false, {}};
}

// What reads a field, or why nothing can.
std::variant<Selector, Failure> CompileField(const WatchedField& field) {
  const auto description = domain::ParseFieldDescription(field.description);
  if (description.kind == Kind::kProse) return Unsupported(field);
  auto selector = CompileSelector(description);
  if (const auto* error = std::get_if<CompileError>(&selector)) {
    return BadSelector(field.name, error->message, error->position);
  }
  return std::move(std::get<Selector>(selector));
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

// Whether a selector of what a page shows has found nothing there.
bool FoundNothing(const Selector& selector, const base::Json& value) {
  if (const auto* html = std::get_if<HtmlSelector>(&selector)) {
    return value.is_null() || (html->filters.pick == Pick::kCount && value == 0) ||
           (html->attribute.empty() && value == "");
  }
  if (!std::holds_alternative<TextSelector>(selector)) return false;
  return value.is_null() || value == "" || value == HashOf("");
}

// Extracts one field after the other from one page.
class Extraction {
 public:
  Extraction(const FetchedPage& page, const IgnoredText& ignored, ExtractionStop& stop)
      : forms_(page), url_(page.url), ignored_(ignored), stop_(stop) {}

  const PageForms& forms() const { return forms_; }

  // Adds what one field observes, or why it cannot be read.
  void Add(const std::string& field, const Selector& selector, Observation* out) {
    FieldResult result = Run(field, selector);
    if (auto* failure = std::get_if<Failure>(&result)) {
      out->unread.insert_or_assign(field, std::move(*failure));
      return;
    }
    auto& observed = std::get<FieldObservation>(result);
    const base::Json& value = observed.value.Value();
    if (value.is_string() && value.get_ref<const std::string&>().size() > domain::kValueBytesMax) {
      out->unread.insert_or_assign(
          field, BadContent(fmt::format("The value of the field '{}' is longer than {} bytes; "
                                        "choose a narrower selector, or write `| hash` behind it.",
                                        field, domain::kValueBytesMax)));
      return;
    }
    // An absent value has it, too: the page may be another one than was asked for.
    observed.sources.push_back(url_);
    out->fields.insert_or_assign(field, std::move(observed));
  }

  FieldResult Run(const std::string& field, const Selector& selector) {
    if (stop_.stopped()) return GaveUp(field);
    if (const auto* html = std::get_if<HtmlSelector>(&selector)) return Html(field, *html);
    if (const auto* json = std::get_if<JsonSelector>(&selector)) return JsonValue(field, *json);
    if (const auto* data = std::get_if<JsonLdSelector>(&selector)) return LinkedValue(field, *data);
    if (const auto* regex = std::get_if<RegexSelector>(&selector)) return Regex(field, *regex);
    const Filters& filters = std::get<TextSelector>(selector).filters;
    return ignored_.any() ? TextThatCounts(field, filters) : Text(filters);
  }

  std::shared_ptr<const domain::SeenPage> Kept() { return SeenPageOf(&forms_, url_); }
  bool IsMadeByScripts() { return html::IsMadeByScripts(&forms_, stop_); }
  bool MayShowMore() { return html::MayShowMore(&forms_, stop_); }
  bool AsksForPassword() { return html::AsksForPassword(&forms_, stop_); }

  FieldResult Text(const Filters& filters) {
    std::optional<std::string> visible =
        forms_.VisibleText(filters.form == Form::kLines ? TextView::kLines : TextView::kVisible);
    if (!visible) return UnreadableHtml();
    std::string text = std::move(*visible);
    std::string evidence = base::FoldSpace(base::CutCharacters(text, kEvidenceCharactersMax));
    return Formed(filters, std::move(text), std::move(evidence));
  }

 private:
  // Line by line, so that an event tells which lines changed.
  FieldResult TextThatCounts(const std::string& field, const Filters& filters) {
    if (!that_counts_) {
      auto lines = ignored_.LinesOf(field, &forms_, stop_);
      if (auto* failure = std::get_if<Failure>(&lines)) return std::move(*failure);
      that_counts_ = std::get<std::string>(std::move(lines));
    }
    std::string evidence =
        base::FoldSpace(base::CutCharacters(*that_counts_, kEvidenceCharactersMax));
    return Formed(filters, *that_counts_, std::move(evidence));
  }

  // The mark of the language that the page says it is in; unknown where it does not say.
  DecimalMark MarkOfPage() {
    if (mark_) return *mark_;
    mark_ = DecimalMark::kUnknown;
    const bool is_marked_up = !forms_.IsJson() && !forms_.IsOfPdf();
    const HtmlDocument* document = is_marked_up ? forms_.Html() : nullptr;
    if (document == nullptr) return *mark_;
    const std::vector<std::string> where =
        document->is_xml() ? std::vector<std::string>{"/*/@xml:lang", "/rss/channel/language"}
                           : std::vector<std::string>{"/html/@lang"};
    const HtmlFinding found = document->First(where, false, "", stop_);
    if (found.kind == HtmlFinding::Kind::kFound && found.value.is_string()) {
      mark_ = MarkOfLanguage(found.value.get_ref<const std::string&>());
    }
    return *mark_;
  }

  base::Json InForm(const Filters& filters, base::Json value) {
    const bool asks = filters.form == Form::kNumber && value.is_string();
    const DecimalMark mark =
        asks ? (filters.mark ? *filters.mark : MarkOfPage()) : DecimalMark::kUnknown;
    return html::InForm(filters.form, mark, std::move(value));
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

  static Failure NoMarkup(const std::string& field) {
    return BadContent(fmt::format(
        "The page is a PDF, which has text alone: the selector of the field '{}' cannot "
        "read it; use text or regex: instead.",
        field));
  }

  FieldResult Html(const std::string& field, const HtmlSelector& selector) {
    if (forms_.IsJson()) {
      return BadContent(
          fmt::format("The page is JSON ({}), which the selector of the field '{}' "
                      "cannot read; use json: instead.",
                      forms_.type().type, field));
    }
    if (forms_.IsOfPdf()) return NoMarkup(field);
    const HtmlDocument* document = forms_.Html();
    if (document == nullptr) return UnreadableHtml();
    const TextView view = ViewOf(selector.filters.form);
    if (selector.filters.pick != Pick::kFirst) return HtmlMany(field, selector, *document, view);
    HtmlFinding found = document->First(Expressions(selector, *document), selector.css,
                                        Attribute(selector, *document), stop_, view);
    if (found.kind != HtmlFinding::Kind::kFound) return Unfound(field, found);
    base::Json value = InForm(selector.filters, std::move(found.value));
    if (selector.is_reference && value.is_string()) {
      value = ResolveReference(BaseOf(*document), value.get_ref<const std::string&>());
    }
    if (value.is_null()) return FieldObservation{};
    return Observed(std::move(value), std::move(found.evidence));
  }

  // What the page's references are relative to.
  std::string BaseOf(const HtmlDocument& document) {
    const HtmlFinding base = document.First({"//base/@href"}, false, "", stop_);
    if (base.kind != HtmlFinding::Kind::kFound || !base.value.is_string()) return url_;
    std::string resolved = ResolveReference(url_, base.value.get_ref<const std::string&>());
    return resolved.empty() ? url_ : resolved;
  }

  static TextView ViewOf(Form form) {
    if (form == Form::kLines) return TextView::kLines;
    return form == Form::kVisible ? TextView::kVisible : TextView::kWhole;
  }

  // XML keeps the case of its names, HTML's are lower case.
  static const std::vector<std::string>& Expressions(const HtmlSelector& selector,
                                                     const HtmlDocument& document) {
    return selector.css && document.is_xml() ? selector.xml_expressions : selector.expressions;
  }
  static std::string Attribute(const HtmlSelector& selector, const HtmlDocument& document) {
    return document.is_xml() ? selector.attribute : base::AsciiLower(selector.attribute);
  }

  FieldResult HtmlMany(const std::string& field, const HtmlSelector& selector,
                       const HtmlDocument& document, TextView view) {
    const bool counted = selector.filters.pick == Pick::kCount;
    const HtmlMatches found =
        document.Every(Expressions(selector, document), selector.css, Attribute(selector, document),
                       stop_, view, counted ? 0 : domain::kValueBytesMax + 1);
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
    return JsonFound(selector.filters, *found.value);
  }

  FieldObservation JsonFound(const Filters& filters, const base::Json& found) {
    std::string text = base::DumpJson(found);
    std::string evidence = base::CutCharacters(text, kEvidenceCharactersMax);
    if (found.is_structured()) return Formed(filters, std::move(text), std::move(evidence));
    return Formed(filters, found, std::move(evidence));
  }

  FieldResult LinkedValue(const std::string& field, const JsonLdSelector& selector) {
    if (forms_.IsOfPdf()) return NoMarkup(field);
    if (!linked_) {
      if (!forms_.IsJson() && forms_.Html() == nullptr) return UnreadableHtml();
      linked_ = ReadLinkedData(forms_, stop_);
    }
    for (const base::Json* node : NodesOfType(linked_->blocks, selector.type)) {
      if (stop_.stopped()) return GaveUp(field);
      const JsonPath::Found found = selector.path.First(*node);
      if (found.gave_up) return GaveUp(field);
      if (found.value != nullptr) return JsonFound(selector.filters, *found.value);
    }
    if (linked_->fault.empty()) return FieldObservation{};
    // Nobody knows where it would stand: it is not absent.
    return BadContent(
        fmt::format("The field '{}' is not in the page's JSON-LD, of which a block is no JSON: {}.",
                    field, linked_->fault));
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
  const IgnoredText& ignored_;
  ExtractionStop& stop_;
  std::optional<std::string> that_counts_;  // of the text, once it was made
  std::optional<LinkedData> linked_;
  std::optional<DecimalMark> mark_;  // of the page's language, once it was looked for
};

}  // namespace

Failure BadSelector(const std::string& field, std::string_view message, std::size_t position) {
  const std::string where = position > 0 ? fmt::format(", at character {}", position) : "";
  return {"bad_selector",
          fmt::format("The selector of the field '{}' is not valid{}: {}.", field, where, message),
          false,
          {}};
}

namespace {

// The name that a failure of its own selectors has in the place of a field's.
std::string NameOf(std::size_t selector) {
  return fmt::format("probe.ignore, selector {}", selector + 1);
}

Failure TooMuch(const std::string& field) {
  return {"bad_content",
          fmt::format("Leaving out what probe.ignore says takes too long on this page, for the "
                      "field '{}'; simpler patterns and selectors may do.",
                      field),
          false,
          {}};
}

Failure Unreadable(const PageForms& forms) {
  return {
      "bad_content", fmt::format("The page cannot be read: {}.", forms.html_error()), false, {}};
}

}  // namespace

std::variant<IgnoredText, Failure> IgnoredText::Compile(const domain::IgnoreRules& parts) {
  IgnoredText out;
  for (const std::string& css : parts.selectors) {
    auto compiled =
        CompileSelector({domain::FieldDescription::Kind::kCss, std::string(css), "", {}});
    if (auto* selector = std::get_if<Selector>(&compiled)) {
      out.selectors_.push_back(std::get<HtmlSelector>(std::move(*selector)));
      continue;
    }
    const auto& error = std::get<CompileError>(compiled);
    return BadSelector(NameOf(out.selectors_.size()), error.message, error.position);
  }
  if (parts.patterns.empty()) return out;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexMemoryBytesMax);
  // The beginning and the end of a line are those of the text's lines.
  out.regex_ =
      std::make_shared<const RE2>("(?m:" + domain::AnyOfPatterns(parts.patterns) + ")", options);
  if (out.regex_->ok()) return out;
  return Failure{"bad_selector", "The patterns of probe.ignore are too much together.", false, {}};
}

std::size_t IgnoredText::bytes_max() const {
  return (regex_ == nullptr ? 0 : kRegexMemoryBytesMax) + selectors_.size() * 2 * kXPathBytesMax;
}

// One match after the other, each of a bounded cost, so that patterns which look far ahead for
// each match end with the page's time.
std::optional<std::string> IgnoredText::WithoutMatches(std::string text,
                                                       ExtractionStop& stop) const {
  if (regex_ == nullptr) return text;
  const auto program_size = static_cast<std::size_t>(regex_->ProgramSize());
  if (text.size() > kRegexWorkMax / std::max<std::size_t>(program_size, 1)) return std::nullopt;
  const auto left =
      domain::WithoutMatches(*regex_, text, [&](std::size_t) { return !stop.stopped(); });
  return left ? std::optional(FoldLines(*left)) : std::nullopt;
}

std::variant<std::string, Failure> IgnoredText::LinesOf(const std::string& field, PageForms* forms,
                                                        ExtractionStop& stop) const {
  std::optional<std::string> text;
  const bool has_elements = !forms->IsJson() && !forms->IsOfPdf() && !forms->IsPlain();
  if (!selectors_.empty() && has_elements) {
    const HtmlDocument* document = forms->Html();
    if (document == nullptr) return Unreadable(*forms);
    std::vector<std::string> expressions;
    for (const HtmlSelector& selector : selectors_) {
      const auto& own = document->is_xml() ? selector.xml_expressions : selector.expressions;
      expressions.insert(expressions.end(), own.begin(), own.end());
    }
    text = document->LinesWithout(expressions, stop);
    if (!text) return TooMuch(field);
  } else {
    text = forms->VisibleText(TextView::kLines);
    if (!text) return Unreadable(*forms);
  }
  text = WithoutMatches(std::move(*text), stop);
  if (!text) return TooMuch(field);
  return std::move(*text);
}

struct FieldSet::Field {
  std::string name;
  std::variant<Selector, Failure> selector;  // the failure: why there is none
};

FieldSet::FieldSet(std::vector<Field> fields, IgnoredText ignored)
    : fields_(std::move(fields)), ignored_(std::move(ignored)) {}
FieldSet::FieldSet(FieldSet&&) noexcept = default;
FieldSet& FieldSet::operator=(FieldSet&&) noexcept = default;
FieldSet::~FieldSet() = default;

std::size_t FieldSet::bytes_max() const {
  std::size_t bytes = sizeof(FieldSet) + ignored_.bytes_max();
  for (const Field& field : fields_) {
    bytes += sizeof(Field) + field.name.size();
    // The compiled form of the others takes a few times their text.
    const auto* selector = std::get_if<Selector>(&field.selector);
    const bool regex = selector != nullptr && std::holds_alternative<RegexSelector>(*selector);
    bytes += regex ? kRegexMemoryBytesMax : kSelectorBytesAbout;
  }
  return bytes;
}

std::optional<Failure> ProseFailure(const std::vector<WatchedField>& watched) {
  const auto is_prose = [](const WatchedField& field) {
    return domain::ParseFieldDescription(field.description).kind == Kind::kProse;
  };
  if (watched.empty() || !std::all_of(watched.begin(), watched.end(), is_prose)) {
    return std::nullopt;
  }
  return Unsupported(watched.front());
}

std::optional<std::string> SelectorFault(const std::string& field, const std::string& description) {
  const auto parsed = domain::ParseFieldDescription(description);
  if (parsed.kind == Kind::kProse) return std::nullopt;
  const auto selector = CompileSelector(parsed);
  const auto* error = std::get_if<CompileError>(&selector);
  if (error == nullptr) return std::nullopt;
  return BadSelector(field, error->message, error->position).message;
}

std::variant<FieldSet, Failure> FieldSet::Compile(const std::vector<WatchedField>& watched,
                                                  const domain::IgnoreRules& ignore) {
  std::vector<Field> fields;
  bool any = false;
  for (const WatchedField& field : watched) {
    fields.push_back({field.name, CompileField(field)});
    any = any || std::holds_alternative<Selector>(fields.back().selector);
  }
  if (!any && !fields.empty()) return std::get<Failure>(fields.front().selector);
  auto ignored = IgnoredText::Compile(ignore);
  if (auto* failure = std::get_if<Failure>(&ignored)) return std::move(*failure);
  return FieldSet(std::move(fields), std::get<IgnoredText>(std::move(ignored)));
}

domain::ObservationResult FieldSet::Extract(const FetchedPage& page, ExtractionStop& stop) const {
  return Read(page, stop, 0).result;
}

// What was not found of a page that its scripts make is unread, and not absent.
template <typename From>
void FieldSet::LeaveToScripts(From* extraction, Observation* observation) const {
  std::optional<bool> made_by_scripts;  // once it was asked
  for (const Field& field : fields_) {
    const auto* selector = std::get_if<Selector>(&field.selector);
    const auto seen = observation->fields.find(field.name);
    if (selector == nullptr || seen == observation->fields.end()) continue;
    if (!FoundNothing(*selector, seen->second.value.Value())) continue;
    if (!made_by_scripts) made_by_scripts = extraction->IsMadeByScripts();
    if (!*made_by_scripts) return;
    observation->unread.insert_or_assign(field.name, MadeByScripts(field.name));
    observation->fields.erase(seen);
  }
}

// An element that is there and empty is one that scripts may fill.
bool FieldSet::FoundAny(const Observation& observation) const {
  return std::any_of(fields_.begin(), fields_.end(), [&](const Field& field) {
    const auto* selector = std::get_if<Selector>(&field.selector);
    const auto seen = observation.fields.find(field.name);
    if (selector == nullptr || seen == observation.fields.end()) return false;
    const base::Json& value = seen->second.value.Value();
    return !value.is_null() && !FoundNothing(*selector, value);
  });
}

PageReading FieldSet::Read(const FetchedPage& page, ExtractionStop& stop,
                           std::size_t text_bytes_max, const IsKept& is_kept) const {
  Extraction extraction(page, ignored_, stop);
  if (extraction.forms().IsBinary()) {
    return {BadContent(fmt::format("The page is of the type {}, not text.",
                                   base::RepairUtf8(extraction.forms().type().type))),
            {}};
  }
  Observation observation;
  for (const Field& field : fields_) {
    if (const auto* fault = std::get_if<Failure>(&field.selector)) {
      observation.unread.insert_or_assign(field.name, *fault);
    } else {
      extraction.Add(field.name, std::get<Selector>(field.selector), &observation);
    }
  }
  observation.rendered = page.rendered;
  if (!page.rendered) LeaveToScripts(&extraction, &observation);
  if (observation.fields.empty() && !observation.unread.empty()) {
    return {observation.unread.at(fields_.front().name), {}};
  }
  if (is_kept && is_kept(observation)) observation.page = extraction.Kept();
  const auto kept = observation.page;
  const bool may_need_scripts =
      !page.rendered && !FoundAny(observation) && extraction.MayShowMore();
  PageReading out{
      std::move(observation), {}, page.url, extraction.AsksForPassword(), may_need_scripts};
  if (text_bytes_max == 0) return out;
  FieldResult text = extraction.Text({});
  if (auto* failure = std::get_if<Failure>(&text)) return {std::move(*failure), {}};
  const base::Json& value = std::get<FieldObservation>(text).value.Value();
  out.text = PageText{
      page.url, std::string(base::CutBytes(value.get_ref<const std::string&>(), text_bytes_max)),
      kept};
  return out;
}

}  // namespace vedette::html
