#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/monitor/failure.h"
#include "domain/monitor/observation.h"
#include "domain/monitor/probe_options.h"
#include "html/compiled_selector.h"
#include "html/html_document.h"
#include "html/page_forms.h"
#include "html/page_reading.h"

// Field descriptions as extractors (docs/probes.md). What they observe:
//   css:, xpath:   the first match in document order; its text, or the attribute
//   css: | ...     all (a JSON array's text), count (a number), and of the texts text (what a
//                  reader sees), number (the first in it; null without), hash (SHA-256)
//   json:          the first match; a scalar as it is, an object or array as compact JSON text
//   jsonld:        the same, in what the page says of itself in JSON-LD
//   regex:         the first match in the body's text as sent; the group named "value", else group
//                  1, or all of it without groups
//   meta:          title, canonical (absolute), or the content of the <meta> so called
//   text           what a reader sees of the page, or all of what is no HTML; | hash: its SHA-256
// Texts are trimmed and their white space folded. Nothing matches: the value is null (absent).
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

inline constexpr std::size_t kRegexBytesMax = 2048;
inline constexpr std::size_t kXPathBytesMax = 4096;
// Bounds what RE2 compiles a pattern to.
inline constexpr std::size_t kRegexMemoryBytesMax = 1 << 20;

// A pattern's program size times the bytes it may be searched in. RE2 is linear in both, at
// about 3.5 ns each where its automaton does not fit its cache, and cannot be stopped: about 7
// seconds at most.
inline constexpr std::size_t kRegexWorkMax = 2'000'000'000;

// A selector of a field, or of what stands for one, that cannot be read. `position`: of the
// character, from 1; 0: unknown.
domain::Failure BadSelector(const std::string& field, std::string_view message,
                            std::size_t position);

// The watched fields of a monitor, compiled. Immutable; any thread.
class FieldSet {
 public:
  // A field whose selector cannot be read (bad_selector, naming the field and the position), or
  // which is prose (unsupported_description), is unread on every page. Fails so where that is true
  // of every field. Costs up to milliseconds a field: not for the event loop. `ignore`: what does
  // not count of the page's text, where a field is described by it: such a text is observed line by
  // line.
  static std::variant<FieldSet, domain::Failure> Compile(
      const std::vector<domain::WatchedField>& watched, const domain::IgnoreRules& ignore = {});
  FieldSet(FieldSet&&) noexcept;
  FieldSet& operator=(FieldSet&&) noexcept;
  ~FieldSet();

  // What it may come to take in memory, about: a regex grows as it is used.
  std::size_t bytes_max() const;

  // Every field observed, or unread: bad_selector where only the evaluation shows it; bad_content
  // for a page that cannot be read so, a value too long, an extraction too expensive or stopped;
  // made_by_scripts for what was not found in a page that is empty until its scripts have run.
  // Where all of them are unread, the failure of the first. The page is decoded and parsed once,
  // whatever the number of fields.
  domain::ObservationResult Extract(const FetchedPage& page, ExtractionStop& stop) const;

  // The same, and the first `text_bytes_max` bytes of what a reader sees of the page (0: none).
  // `is_kept` says of what was observed whether its page is kept with it (Observation::page); it
  // may be null.
  using IsKept = std::function<bool(const domain::Observation& seen)>;
  PageReading Read(const FetchedPage& page, ExtractionStop& stop, std::size_t text_bytes_max,
                   const IsKept& is_kept = nullptr) const;

 private:
  struct Field;
  FieldSet(std::vector<Field> fields, IgnoredText ignored);
  template <typename From>
  void LeaveToScripts(From* extraction, domain::Observation* observation) const;
  bool FoundAny(const domain::Observation& observation) const;
  std::vector<Field> fields_;
  IgnoredText ignored_;
};

// What is wrong with the selector in one description: a sentence that names the field and the
// position. Nothing for one that compiles, and for prose. Costs as Compile does; any thread.
std::optional<std::string> SelectorFault(const std::string& field, const std::string& description);

// The failure of descriptions that are all prose; nothing where Compile can take one. Cheap.
std::optional<domain::Failure> ProseFailure(const std::vector<domain::WatchedField>& watched);

}  // namespace vedette::html
