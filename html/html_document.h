#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <libxml/tree.h>

#include "base/json.h"

namespace vedette::html {

// A page deeper than this (browsers stop at 512) or with more nodes and attributes is refused.
inline constexpr int kHtmlDepthMax = 2048;
inline constexpr std::size_t kHtmlNodesMax = 300'000;
// libxml2's steps in one XPath evaluation: about 2 seconds.
inline constexpr unsigned long kXPathStepsMax = 100'000'000;
// The most nodes where an expression may merge node-sets: one merge, which cannot be stopped, costs
// the square of the nodes, about 2 seconds.
inline constexpr std::size_t kXPathMergeNodesMax = 30'000;
// The most siblings without an element among them that one sort of nodes may walk over, the square
// of each such row, where an expression may select what is no element: a sort cannot be stopped
// either.
inline constexpr std::size_t kXPathSiblingStepsMax = 100'000'000;
// The strings that one expression may hold at once (see XPathCost), and the text of all elements
// together, which one step may read: each of them has that of those inside it.
inline constexpr std::size_t kXPathStringBytesMax = 96 << 20;
inline constexpr std::size_t kHtmlNestedTextBytesMax = std::size_t{2} << 30;
// The most characters of the text around a match that are kept as evidence.
inline constexpr std::size_t kEvidenceCharactersMax = 300;

// Ends an extraction from another thread. Any thread.
class ExtractionStop {
 public:
  void Stop();
  bool stopped() const;

  // Lets Stop end an evaluation for as long as it lives.
  class Attachment {
   public:
    Attachment(ExtractionStop& stop, unsigned long* step_limit);
    ~Attachment();
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;
    bool live() const { return live_; }  // false: it was stopped before

   private:
    ExtractionStop& stop_;
    bool live_;
  };

 private:
  // While an evaluation runs: its step limit, which libxml2 reads at every step. Null detaches;
  // false when it is stopped already.
  bool Attach(unsigned long* step_limit);

  mutable std::mutex mutex_;
  bool stopped_ = false;
  unsigned long* step_limit_ = nullptr;
};

// What an XPath expression selects in a page.
struct HtmlFinding {
  enum class Kind { kAbsent, kFound, kBadExpression, kGaveUp };
  Kind kind = Kind::kAbsent;
  base::Json value;      // kFound: text trimmed and with folded white space, a number or a boolean
  std::string evidence;  // kFound
  std::string message;   // kBadExpression: a phrase
  std::size_t position =
      0;  // kBadExpression: the character's number in the expression, from 1; or 0
};

// Everything that expressions select.
struct HtmlMatches {
  HtmlFinding failure;             // kBadExpression or kGaveUp; else kAbsent
  std::size_t count = 0;           // nodes
  std::vector<std::string> texts;  // of them
};

enum class Markup { kHtml, kXml };

// Which text of an element: all inside it, as XPath has it; what a reader sees of it, folded; the
// same with each block on a line of its own, and the cells of a table's row on one; or such lines
// with the marks that Markdown has for headings, items, quotes, cells and images.
enum class TextView { kWhole, kVisible, kLines, kMarkdown };

// An HTML or XML page parsed by libxml2: no network, no DTD, no entities but HTML's own. Names in
// HTML are lower case, in XML as they are written; elements of a default namespace count as in
// none, and expressions may use the prefixes that the first element declares. One thread at a time.
class HtmlDocument {
 public:
  // `text`: valid UTF-8 without NUL, whatever the page says its encoding is. The error is a phrase.
  static std::variant<HtmlDocument, std::string> Parse(std::string_view text,
                                                       Markup markup = Markup::kHtml);
  HtmlDocument(HtmlDocument&&) noexcept;
  HtmlDocument& operator=(HtmlDocument&&) noexcept;
  ~HtmlDocument();

  bool is_xml() const;

  // The node first in document order that any of `expressions` selects, or the value of the first
  // expression that is no node-set. With `attribute`, that element's attribute. A number that is
  // NaN or infinite counts as absent. The context node is the root element where `css` (expressions
  // are CssToXPath's), else the document.
  HtmlFinding First(const std::vector<std::string>& expressions, bool css,
                    const std::string& attribute, ExtractionStop& stop,
                    TextView view = TextView::kWhole) const;

  // All that `expressions` (of node-sets; several are CssToXPath's) select, in document order, each
  // once. Texts as First has them, without those that lack `attribute`; no more of them than make
  // `text_bytes_max` bytes.
  HtmlMatches Every(const std::vector<std::string>& expressions, bool css,
                    const std::string& attribute, ExtractionStop& stop, TextView view,
                    std::size_t text_bytes_max) const;

  // What a reader sees: without head, script, style, noscript, template and comments; blocks are
  // apart. Folded, or line by line. `view` is not kWhole.
  std::string VisibleText(TextView view = TextView::kVisible) const;

  // The same line by line, without the elements that any of `expressions` (CssToXPath's) selects.
  // Nothing where that is given up or stopped.
  std::optional<std::string> LinesWithout(const std::vector<std::string>& expressions,
                                          ExtractionStop& stop) const;

 private:
  struct Tree;
  class Evaluation;
  explicit HtmlDocument(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

// Each line folded, and none of them blank.
std::string FoldLines(std::string_view text);

// What is wrong with an XPath expression, as far as it can be known without a document.
struct XPathError {
  std::string message;
  std::size_t position;  // the character's number, from 1
};
std::optional<XPathError> CheckXPath(std::string_view expression);

// The at most kEvidenceCharactersMax characters of a folded text around text[at, at + length).
std::string Surroundings(std::string_view text, std::size_t at, std::size_t length);

// The text of libxml2's nodes, for the files of this folder that know libxml2.

// What a reader sees of an element: without head, script, style, noscript, template and comments;
// blocks are apart. Folded, or with kLines line by line.
std::string VisibleTextOf(const xmlNode* top, TextView view = TextView::kVisible);
// The same with kMarkdown. Links are their texts: their targets change where nothing else does.
std::string MarkdownOf(const xmlNode* top);

// Whether no reader sees what is inside an element, and whether it stands inside a line.
bool IsHiddenElement(const xmlNode* node);
bool IsInlineElement(const xmlNode* node);

// The text of a node, or of its attribute, folded; for an element the one that `view` asks for.
// Empty where the node lacks the attribute.
std::optional<std::string> NodeText(const xmlNode* node, const std::string& attribute,
                                    TextView view);

// `value`, which is the text of `node`, with the text that a reader sees around it inside the
// node's parent: cells and other blocks are apart, scripts are left out. At most
// kEvidenceCharactersMax characters.
std::string TextAround(const xmlNode* node, std::string_view value);

}  // namespace vedette::html
