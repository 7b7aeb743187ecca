#include "html/ignored_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "domain/monitor/change_rules.h"
#include "domain/monitor/field_description.h"
#include "html/selector.h"

namespace vedette::html {
namespace {

using domain::Failure;

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
  std::string left;
  std::size_t taken = 0;  // of the text
  std::size_t at = 0;
  re2::StringPiece match;
  while (at <= text.size() && regex_->Match(text, at, text.size(), RE2::UNANCHORED, &match, 1)) {
    if (stop.stopped()) return std::nullopt;
    const auto begin = static_cast<std::size_t>(match.data() - text.data());
    left.append(text, taken, begin - taken);
    taken = begin + match.size();
    at = taken;
    if (!match.empty()) continue;
    do ++at;
    while (at < text.size() && base::ContinuesCharacter(text[at]));
  }
  left.append(text, taken, text.size() - taken);
  return FoldLines(left);
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

}  // namespace vedette::html
