#include "html/html_document.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <initializer_list>
#include <new>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include "base/text.h"
#include "html/markup_tree.h"
#include "html/xpath_cost.h"

namespace vedette::html {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* p) const {
    Free(p);
  }
};
using XPathContextPtr = std::unique_ptr<xmlXPathContext, Deleter<xmlXPathFreeContext>>;
using XPathObjectPtr = std::unique_ptr<xmlXPathObject, Deleter<xmlXPathFreeObject>>;
using XPathProgramPtr = std::unique_ptr<xmlXPathCompExpr, Deleter<xmlXPathFreeCompExpr>>;

void IgnoreXPathError(void*, xmlErrorPtr) {}

const xmlChar* Xml(const std::string& s) {
  return reinterpret_cast<const xmlChar*>(s.c_str());
}

std::string_view ErrorPhrase(int xpath_error) {
  switch (xpath_error) {
    case XPATH_UNFINISHED_LITERAL_ERROR:
    case XPATH_START_LITERAL_ERROR:
      return "a string is not closed";
    case XPATH_UNCLOSED_ERROR:
      return "a parenthesis or bracket is not closed";
    case XPATH_INVALID_PREDICATE_ERROR:
      return "a predicate is not valid";
    case XPATH_UNKNOWN_FUNC_ERROR:
      return "a function is not known";
    case XPATH_INVALID_ARITY:
      return "a function has too few or too many arguments";
    case XPATH_UNDEF_VARIABLE_ERROR:
    case XPATH_VARIABLE_REF_ERROR:
      return "variables are not supported";
    case XPATH_UNDEF_PREFIX_ERROR:
      return "a namespace prefix is not one that the page declares";
    case XPATH_INVALID_TYPE:
      return "a value is not of the type that is needed there";
    case XPATH_INVALID_CHAR_ERROR:
      return "a character is not allowed";
    case XPATH_RECURSION_LIMIT_EXCEEDED:
      return "the expression is nested too deep";
    case XPATH_OP_LIMIT_EXCEEDED:
      return "the expression is too long";
    default:
      return "the expression is not valid XPath 1.0";
  }
}

constexpr std::string_view kNamespaceAxisPhrase = "the namespace axis is not supported";

int LastError(const xmlXPathContext& context) {
  return context.lastError.code - XML_XPATH_EXPRESSION_OK;
}

// libxml2 gives a byte's index, where it gives one at all.
std::size_t ErrorPosition(const xmlXPathContext& context, std::string_view expression) {
  const int at = std::clamp<int>(context.lastError.int1, 0, static_cast<int>(expression.size()));
  return base::CountCharacters(expression.substr(0, static_cast<std::size_t>(at))) + 1;
}

XPathContextPtr NewContext(xmlDocPtr document) {
  XPathContextPtr context(xmlXPathNewContext(document));
  if (context == nullptr) throw std::bad_alloc();
  context->error = IgnoreXPathError;
  RegisterLinearFunctions(context.get());
  return context;
}

constexpr unsigned long kXPathCompileStepsMax = 100'000;

// An expression may use the prefixes that the page's first element declares.
constexpr int kPrefixesMax = 64;

void RegisterPrefixes(const xmlNode& root, xmlXPathContextPtr context) {
  int left = kPrefixesMax;
  for (const xmlNs* ns = root.nsDef; ns != nullptr && left > 0; ns = ns->next, --left) {
    if (ns->prefix != nullptr) xmlXPathRegisterNs(context, ns->prefix, ns->href);
  }
}

// Null where the expression does not compile; the context's lastError says why.
XPathProgramPtr Compile(xmlXPathContext* context, const std::string& expression) {
  context->opLimit = kXPathCompileStepsMax;
  context->opCount = 0;
  return XPathProgramPtr(xmlXPathCtxtCompile(context, Xml(expression)));
}

HtmlFinding NotFound(HtmlFinding::Kind kind) {
  HtmlFinding out;
  out.kind = kind;
  return out;
}

HtmlFinding Found(base::Json value, std::string evidence) {
  HtmlFinding out;
  out.kind = HtmlFinding::Kind::kFound;
  out.value = std::move(value);
  out.evidence = std::move(evidence);
  return out;
}

HtmlFinding NodeFinding(const xmlNode* node, const std::string& attribute, TextView view) {
  auto value = NodeText(node, attribute, view);
  if (!value) return NotFound(HtmlFinding::Kind::kAbsent);
  const bool inside = attribute.empty();
  std::string evidence =
      inside ? TextAround(node, base::FoldSpace(*value)) : Surroundings(*value, 0, value->size());
  return Found(std::move(*value), std::move(evidence));
}

HtmlFinding ScalarFinding(const xmlXPathObject& result) {
  if (result.type == XPATH_BOOLEAN) {
    return Found(result.boolval != 0, result.boolval != 0 ? "true" : "false");
  }
  if (result.type == XPATH_NUMBER) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    const double number = result.floatval;
    if (!std::isfinite(number)) return NotFound(HtmlFinding::Kind::kAbsent);
    const bool whole = std::abs(number) < kExact && number == std::floor(number);
    base::Json value = whole ? base::Json(static_cast<std::int64_t>(number)) : base::Json(number);
    std::string evidence = value.dump();
    return Found(std::move(value), std::move(evidence));
  }
  std::string text;
  if (result.stringval != nullptr) {
    text = base::FoldSpace(base::RepairUtf8(reinterpret_cast<const char*>(result.stringval)));
  }
  std::string evidence = Surroundings(text, 0, text.size());
  return Found(std::move(text), std::move(evidence));
}

}  // namespace

void ExtractionStop::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  // libxml2 reads it without synchronisation. An aligned word cannot tear, and when the evaluation
  // sees the new value does not matter.
  if (step_limit_ != nullptr) std::atomic_ref(*step_limit_).store(1, std::memory_order_relaxed);
}

bool ExtractionStop::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

bool ExtractionStop::Attach(unsigned long* step_limit) {
  const std::lock_guard lock(mutex_);
  step_limit_ = step_limit;
  return !stopped_;
}

ExtractionStop::Attachment::Attachment(ExtractionStop& stop, unsigned long* step_limit)
    : stop_(stop), live_(stop.Attach(step_limit)) {}

ExtractionStop::Attachment::~Attachment() {
  stop_.Attach(nullptr);
}

namespace {

// The visible text of an element, not folded, cut in three where one node inside it stands.
struct Pieces {
  std::string before;
  std::string inside;
  std::string after;
};

// Elements whose text is passed over.
using LeftOut = std::unordered_set<const xmlNode*>;

Pieces VisiblePieces(const xmlNode* top, const xmlNode* mark, TextView view,
                     const LeftOut* left_out = nullptr);

}  // namespace

struct HtmlDocument::Tree {
  std::unique_ptr<MarkupTree> markup;

  // Whether one step of the expression may cost too much on this page. Translated CSS holds no
  // strings but attributes'.
  bool IsTooCostly(const XPathCost& cost, bool css) const {
    if (cost.merges && markup->nodes > kXPathMergeNodesMax) return true;
    if (!css && !cost.names_alone && markup->sibling_steps > kXPathSiblingStepsMax) return true;
    return !css && markup->bytes > kXPathStringBytesMax / cost.strings;
  }
};

// Runs expressions over a document, within their limits.
class HtmlDocument::Evaluation {
 public:
  // The context node is the root element where `css`, else the document.
  Evaluation(const Tree& tree, bool css, ExtractionStop& stop)
      : tree_(tree),
        css_(css),
        context_(NewContext(tree.markup->document.get())),
        node_(css ? tree.markup->root : reinterpret_cast<xmlNodePtr>(tree.markup->document.get())),
        stop_(stop) {
    if (tree.markup->is_xml()) RegisterPrefixes(*tree.markup->root, context_.get());
  }

  // Null on failure. A node-set is in document order: libxml2 sorts what it hands out.
  XPathObjectPtr Run(const std::string& expression);
  const HtmlFinding& failure() const { return failure_; }

 private:
  const Tree& tree_;
  bool css_;
  XPathContextPtr context_;
  xmlNodePtr node_;
  ExtractionStop& stop_;
  HtmlFinding failure_;
};

XPathObjectPtr HtmlDocument::Evaluation::Run(const std::string& expression) {
  const XPathCost cost = CostOf(expression);
  if (cost.namespace_axis) {
    failure_ = NotFound(HtmlFinding::Kind::kBadExpression);
    failure_.message = kNamespaceAxisPhrase;
    failure_.position = *cost.namespace_axis;
    return nullptr;
  }
  if (tree_.IsTooCostly(cost, css_)) {
    failure_ = NotFound(HtmlFinding::Kind::kGaveUp);
    return nullptr;
  }
  const XPathProgramPtr program = Compile(context_.get(), expression);
  XPathObjectPtr result;
  if (program != nullptr) {
    context_->node = node_;
    context_->opLimit = kXPathStepsMax;
    context_->opCount = 0;
    const ExtractionStop::Attachment attachment(stop_, &context_->opLimit);
    if (attachment.live()) result.reset(xmlXPathCompiledEval(program.get(), context_.get()));
  }
  if (result != nullptr) return result;
  const int error = LastError(*context_);
  if (stop_.stopped() || (program != nullptr && error == XPATH_OP_LIMIT_EXCEEDED)) {
    failure_ = NotFound(HtmlFinding::Kind::kGaveUp);
    return nullptr;
  }
  failure_ = NotFound(HtmlFinding::Kind::kBadExpression);
  failure_.message = ErrorPhrase(error);
  failure_.position = program == nullptr ? ErrorPosition(*context_, expression) : 0;
  return nullptr;
}

HtmlDocument::HtmlDocument(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
HtmlDocument::HtmlDocument(HtmlDocument&&) noexcept = default;
HtmlDocument& HtmlDocument::operator=(HtmlDocument&&) noexcept = default;
HtmlDocument::~HtmlDocument() = default;

std::variant<HtmlDocument, std::string> HtmlDocument::Parse(std::string_view text, Markup markup) {
  ParsedTree parsed = markup == Markup::kXml ? ParseXmlTree(text) : ParseHtmlTree(text);
  if (auto* error = std::get_if<std::string>(&parsed)) return std::move(*error);
  return HtmlDocument(
      std::make_unique<Tree>(Tree{std::move(std::get<std::unique_ptr<MarkupTree>>(parsed))}));
}

bool HtmlDocument::is_xml() const {
  return tree_->markup->is_xml();
}

HtmlFinding HtmlDocument::First(const std::vector<std::string>& expressions, bool css,
                                const std::string& attribute, ExtractionStop& stop,
                                TextView view) const {
  QuietenLibxml();
  if (tree_->markup->root == nullptr) return NotFound(HtmlFinding::Kind::kAbsent);
  Evaluation evaluation(*tree_, css, stop);
  xmlNodePtr first = nullptr;
  for (const std::string& expression : expressions) {
    const XPathObjectPtr result = evaluation.Run(expression);
    if (result == nullptr) return evaluation.failure();
    if (result->type != XPATH_NODESET) return ScalarFinding(*result);
    if (result->nodesetval == nullptr || result->nodesetval->nodeNr == 0) continue;
    const xmlNodePtr node = result->nodesetval->nodeTab[0];
    if (first == nullptr || xmlXPathCmpNodes(first, node) == -1) first = node;
  }
  if (first == nullptr) return NotFound(HtmlFinding::Kind::kAbsent);
  return NodeFinding(first, attribute, view);
}

HtmlMatches HtmlDocument::Every(const std::vector<std::string>& expressions, bool css,
                                const std::string& attribute, ExtractionStop& stop, TextView view,
                                std::size_t text_bytes_max) const {
  QuietenLibxml();
  HtmlMatches out;
  if (tree_->markup->root == nullptr) return out;
  Evaluation evaluation(*tree_, css, stop);
  std::vector<xmlNodePtr> nodes;
  for (const std::string& expression : expressions) {
    const XPathObjectPtr result = evaluation.Run(expression);
    if (result == nullptr) return {evaluation.failure(), 0, {}};
    const xmlNodeSet* set = result->type == XPATH_NODESET ? result->nodesetval : nullptr;
    if (set != nullptr) nodes.insert(nodes.end(), set->nodeTab, set->nodeTab + set->nodeNr);
  }
  // Several are CSS's and select elements, which have numbers; others are compared by walking.
  if (expressions.size() > 1) {
    std::sort(nodes.begin(), nodes.end(),
              [](xmlNodePtr x, xmlNodePtr y) { return xmlXPathCmpNodes(x, y) == 1; });
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
  out.count = nodes.size();
  std::size_t bytes = 0;
  for (const xmlNodePtr node : nodes) {
    if (bytes >= text_bytes_max) break;
    if (stop.stopped()) return {NotFound(HtmlFinding::Kind::kGaveUp), 0, {}};
    auto text = NodeText(node, attribute, view);
    if (!text) continue;
    bytes += text->size() + 1;
    out.texts.push_back(std::move(*text));
  }
  return out;
}

std::string HtmlDocument::VisibleText(TextView view) const {
  return tree_->markup->root == nullptr ? std::string() : VisibleTextOf(tree_->markup->root, view);
}

std::optional<std::string> HtmlDocument::LinesWithout(const std::vector<std::string>& expressions,
                                                      ExtractionStop& stop) const {
  QuietenLibxml();
  if (tree_->markup->root == nullptr) return std::string();
  Evaluation evaluation(*tree_, true, stop);
  LeftOut left_out;
  for (const std::string& expression : expressions) {
    const XPathObjectPtr result = evaluation.Run(expression);
    if (result == nullptr) return std::nullopt;
    const xmlNodeSet* set = result->type == XPATH_NODESET ? result->nodesetval : nullptr;
    if (set != nullptr) left_out.insert(set->nodeTab, set->nodeTab + set->nodeNr);
  }
  if (left_out.contains(tree_->markup->root)) return std::string();
  const Pieces pieces = VisiblePieces(tree_->markup->root, nullptr, TextView::kLines, &left_out);
  return FoldLines(base::RepairUtf8(pieces.before));
}

std::string FoldLines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = base::FoldSpace(text.substr(0, end));
    if (!line.empty()) out.append(out.empty() ? "" : "\n").append(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::optional<XPathError> CheckXPath(std::string_view expression) {
  QuietenLibxml();
  if (const auto at = CostOf(expression).namespace_axis) {
    return XPathError{std::string(kNamespaceAxisPhrase), *at};
  }
  const XPathContextPtr context = NewContext(nullptr);
  if (Compile(context.get(), std::string(expression)) != nullptr) return std::nullopt;
  return XPathError{std::string(ErrorPhrase(LastError(*context))),
                    ErrorPosition(*context, expression)};
}

std::string Surroundings(std::string_view text, std::size_t at, std::size_t length) {
  constexpr std::size_t kMark = 3;  // "..."
  const auto boundary = [&](std::size_t i) {
    while (i > 0 && i < text.size() && base::ContinuesCharacter(text[i])) --i;
    return i;
  };
  if (length + 2 * kMark >= kEvidenceCharactersMax) {
    return base::CutCharacters(text.substr(at, length), kEvidenceCharactersMax);
  }
  const std::size_t side = (kEvidenceCharactersMax - 2 * kMark - length) / 2;
  const std::size_t begin = boundary(at > side ? at - side : 0);
  const std::size_t end = boundary(std::min(at + length + side, text.size()));
  std::string out = begin > 0 ? "..." : "";
  out += text.substr(begin, end - begin);
  if (end < text.size()) out += "...";
  return out;
}

namespace {

// Takes what libxml2 allocated. What character references stand for need not be valid.
std::string TakeText(xmlChar* text) {
  if (text == nullptr) return {};
  std::string out = base::RepairUtf8(reinterpret_cast<const char*>(text));
  xmlFree(text);
  return out;
}

std::string FoldedText(const xmlNode* node) {
  return base::FoldSpace(TakeText(xmlXPathCastNodeToString(const_cast<xmlNode*>(node))));
}

bool IsOneOf(const xmlNode* node, std::initializer_list<std::string_view> names) {
  const std::string_view name(reinterpret_cast<const char*>(node->name));
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool IsHiddenElement(const xmlNode* node) {
  return IsOneOf(node, {"head", "script", "style", "noscript", "template"});
}

bool IsInlineElement(const xmlNode* node) {
  return IsOneOf(node,
                 {"a",      "abbr",   "acronym", "b",   "bdi",  "bdo", "big",  "cite",  "code",
                  "data",   "del",    "dfn",     "em",  "font", "i",   "ins",  "kbd",   "label",
                  "mark",   "q",      "ruby",    "rt",  "rp",   "s",   "samp", "small", "span",
                  "strike", "strong", "sub",     "sup", "time", "tt",  "u",    "var",   "wbr"});
}

namespace {

bool IsText(const xmlNode* node) {
  return node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
}

// Adds a text of which only a preformatted element shows the lines.
void AppendOneLine(const xmlNode* node, std::string* out) {
  constexpr int kAncestorsLookedAt = 3;  // as in <pre><code><span>
  const xmlNode* around = node->parent;
  for (int i = 0; i < kAncestorsLookedAt && around != nullptr; ++i, around = around->parent) {
    if (around->type != XML_ELEMENT_NODE) break;
    if (IsOneOf(around, {"pre", "textarea"})) {
      *out += reinterpret_cast<const char*>(node->content);
      return;
    }
  }
  for (const auto* c = reinterpret_cast<const char*>(node->content); *c != '\0'; ++c) {
    *out += *c == '\n' || *c == '\r' ? ' ' : *c;
  }
}

// Without `mark` everything stands in `before`. With kLines each block stands on a line. `left_out`
// may be null.
Pieces VisiblePieces(const xmlNode* top, const xmlNode* mark, TextView view,
                     const LeftOut* left_out) {
  Pieces out;
  std::string* text = &out.before;
  const bool lines = view == TextView::kLines;
  const auto apart = [lines](const xmlNode* node) {
    return lines && !IsOneOf(node, {"td", "th"}) ? '\n' : ' ';
  };
  const auto leave = [&](const xmlNode* node) {
    if (node->type == XML_ELEMENT_NODE && !IsInlineElement(node)) *text += apart(node);
    if (node == mark) text = &out.after;
  };
  const xmlNode* node = top;
  while (node != nullptr) {
    const bool element = node->type == XML_ELEMENT_NODE;
    if (element && !IsInlineElement(node)) *text += apart(node);
    if (node == mark) text = &out.inside;
    if (IsText(node) && node->content != nullptr) {
      if (lines) {
        AppendOneLine(node, text);
      } else {
        *text += reinterpret_cast<const char*>(node->content);
      }
    }
    const bool shown =
        element && !IsHiddenElement(node) && (left_out == nullptr || !left_out->contains(node));
    if (shown && node->children != nullptr) {
      node = node->children;
      continue;
    }
    if (node != top) leave(node);
    while (node != top && node->next == nullptr) {
      node = node->parent;
      if (node != top) leave(node);
    }
    if (node == top) break;
    node = node->next;
  }
  return out;
}

std::string Folded(const std::string& text) {
  return base::FoldSpace(base::RepairUtf8(text));
}

}  // namespace

std::string VisibleTextOf(const xmlNode* top, TextView view) {
  if (view == TextView::kMarkdown) return MarkdownOf(top);
  const std::string text = VisiblePieces(top, nullptr, view).before;
  return view == TextView::kLines ? FoldLines(base::RepairUtf8(text)) : Folded(text);
}

std::optional<std::string> NodeText(const xmlNode* node, const std::string& attribute,
                                    TextView view) {
  const bool element = node->type == XML_ELEMENT_NODE;
  if (attribute.empty()) {
    const bool whole = view == TextView::kWhole || !element;
    return whole ? FoldedText(node) : VisibleTextOf(node, view);
  }
  const auto* name = reinterpret_cast<const xmlChar*>(attribute.c_str());
  xmlChar* text = element ? xmlGetProp(node, name) : nullptr;
  if (text == nullptr) return std::nullopt;
  return base::FoldSpace(TakeText(text));
}

std::string TextAround(const xmlNode* node, std::string_view value) {
  const bool stands_inside = node->type == XML_ELEMENT_NODE || IsText(node);
  const xmlNode* around = stands_inside ? node->parent : nullptr;
  if (around == nullptr || around->type != XML_ELEMENT_NODE) {
    return Surroundings(value, 0, value.size());
  }
  const Pieces pieces = VisiblePieces(around, node, TextView::kVisible);
  const auto space = [](const std::string& text, std::size_t at) {
    return !text.empty() && base::IsSpace(text[at]);
  };
  std::string text = Folded(pieces.before);
  if (!text.empty() && space(pieces.before, pieces.before.size() - 1)) text += ' ';
  const std::size_t at = text.size();
  text += value;
  const std::string after = Folded(pieces.after);
  const bool apart = space(pieces.after, 0) ||
                     (!pieces.inside.empty() && space(pieces.inside, pieces.inside.size() - 1));
  if (!after.empty() && apart) text += ' ';
  text += after;
  return Surroundings(text, at, value.size());
}

}  // namespace vedette::html
