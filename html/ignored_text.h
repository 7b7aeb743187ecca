#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/monitor/failure.h"
#include "domain/monitor/probe_options.h"
#include "html/compiled_selector.h"
#include "html/html_document.h"
#include "html/page_forms.h"

namespace vedette::html {

// The text of a page without what does not count of it (domain::IgnoreRules), compiled. Immutable;
// any thread. It is made and read beside the fields of a page (selector.cc).
class IgnoredText {
 public:
  // Ignores nothing.
  IgnoredText() = default;
  // Fails (bad_selector) where a selector cannot be read. For a thread of a pool, as
  // FieldSet::Compile.
  static std::variant<IgnoredText, domain::Failure> Compile(const domain::IgnoreRules& parts);

  bool any() const { return regex_ != nullptr || !selectors_.empty(); }
  std::size_t bytes_max() const;

  // What a reader sees, line by line (TextView::kLines): first without the elements that do not
  // count, then without what the patterns match; lines of which nothing is left go. Of a page
  // without elements the patterns alone are applied. A failure says of the field `field` why not:
  // bad_content where it takes too long or the page cannot be read.
  std::variant<std::string, domain::Failure> LinesOf(const std::string& field, PageForms* forms,
                                                     ExtractionStop& stop) const;

 private:
  std::optional<std::string> WithoutMatches(std::string text, ExtractionStop& stop) const;

  std::vector<HtmlSelector> selectors_;
  std::shared_ptr<const RE2> regex_;
};

}  // namespace vedette::html
