#include "pages/html_document.h"

#include <fmt/format.h>
#include <libxml/HTMLparser.h>
#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <new>
#include <utility>

#include "base/text.h"
#include "pages/tag_scan.h"
#include "pages/xpath_cost.h"

namespace vedette::pages {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* p) const {
    Free(p);
  }
};
using DocPtr = std::unique_ptr<xmlDoc, Deleter<xmlFreeDoc>>;
using HtmlParserPtr = std::unique_ptr<htmlParserCtxt, Deleter<htmlFreeParserCtxt>>;
using XPathContextPtr = std::unique_ptr<xmlXPathContext, Deleter<xmlXPathFreeContext>>;
using XPathObjectPtr = std::unique_ptr<xmlXPathObject, Deleter<xmlXPathFreeObject>>;
using XPathProgramPtr = std::unique_ptr<xmlXPathCompExpr, Deleter<xmlXPathFreeCompExpr>>;

void IgnoreXPathError(void*, xmlErrorPtr) {}
void IgnoreMessage(void*, const char*, ...) {}

// libxml2 prints some messages whatever the caller says; the handler is the calling thread's.
void Quieten() {
  static const bool initialised = [] {
    xmlInitParser();
    // The library's own limit of 256 cuts real pages short.
    xmlParserMaxDepth = kHtmlDepthMax;
    return true;
  }();
  static_cast<void>(initialised);
  xmlSetGenericErrorFunc(nullptr, IgnoreMessage);
}

const xmlChar* Xml(const std::string& s) {
  return reinterpret_cast<const xmlChar*>(s.c_str());
}

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
      return "namespace prefixes are not supported";
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

// Null where the expression does not compile; the context's lastError says why.
XPathProgramPtr Compile(xmlXPathContext* context, const std::string& expression) {
  context->opLimit = kXPathCompileStepsMax;
  context->opCount = 0;
  return XPathProgramPtr(xmlXPathCtxtCompile(context, Xml(expression)));
}

bool IsOneOf(const xmlNode* node, std::initializer_list<std::string_view> names) {
  const std::string_view name(reinterpret_cast<const char*>(node->name));
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsHidden(const xmlNode* node) {
  return IsOneOf(node, {"head", "script", "style", "noscript", "template"});
}

bool IsInline(const xmlNode* node) {
  return IsOneOf(node,
                 {"a",      "abbr",   "acronym", "b",   "bdi",  "bdo", "big",  "cite",  "code",
                  "data",   "del",    "dfn",     "em",  "font", "i",   "ins",  "kbd",   "label",
                  "mark",   "q",      "ruby",    "rt",  "rp",   "s",   "samp", "small", "span",
                  "strike", "strong", "sub",     "sup", "time", "tt",  "u",    "var",   "wbr"});
}

// Stops the parser at the limits that libxml2 does not have.
struct ParseWatch {
  std::size_t nodes = 0;
  std::size_t texts = 0;  // pieces of text, at least as many as text nodes
  std::size_t nested_text_bytes = 0;
};

ParseWatch* WatchOf(void* context) {
  return static_cast<ParseWatch*>(static_cast<htmlParserCtxtPtr>(context)->_private);
}

void Count(void* context, std::size_t nodes) {
  ParseWatch* watch = WatchOf(context);
  watch->nodes += nodes;
  if (watch->nodes > kHtmlNodesMax) xmlStopParser(static_cast<htmlParserCtxtPtr>(context));
}

void CountText(void* context, int length) {
  auto* parser = static_cast<htmlParserCtxtPtr>(context);
  ParseWatch* watch = WatchOf(context);
  ++watch->texts;
  watch->nested_text_bytes +=
      static_cast<std::size_t>(length) * static_cast<std::size_t>(parser->nodeNr);
  if (watch->nested_text_bytes > kHtmlNestedTextBytesMax) xmlStopParser(parser);
}

void OnCharacters(void* context, const xmlChar* text, int length) {
  CountText(context, length);
  xmlSAX2Characters(context, text, length);
}

void OnCdata(void* context, const xmlChar* text, int length) {
  CountText(context, length);
  xmlSAX2CDataBlock(context, text, length);
}

void OnStartElement(void* context, const xmlChar* name, const xmlChar** attributes) {
  std::size_t n = 1;
  for (const xmlChar** a = attributes; a != nullptr && *a != nullptr; a += 2) ++n;
  Count(context, n);
  xmlSAX2StartElement(context, name, attributes);
}

void OnComment(void* context, const xmlChar* value) {
  Count(context, 1);
  xmlSAX2Comment(context, value);
}

void OnProcessingInstruction(void* context, const xmlChar* target, const xmlChar* data) {
  Count(context, 1);
  xmlSAX2ProcessingInstruction(context, target, data);
}

HtmlFinding NotFound(HtmlFinding::Kind kind) {
  HtmlFinding out;
  out.kind = kind;
  return out;
}

// The first of the set in document order; null where `stop` ended the search.
xmlNodePtr FirstInOrder(const xmlNodeSet& set, const ExtractionStop& stop) {
  xmlNodePtr first = set.nodeTab[0];
  for (int i = 1; i < set.nodeNr; ++i) {
    if (i % 256 == 0 && stop.stopped()) return nullptr;
    if (xmlXPathCmpNodes(first, set.nodeTab[i]) == -1) first = set.nodeTab[i];
  }
  return first;
}

HtmlFinding Found(base::Json value, std::string evidence) {
  HtmlFinding out;
  out.kind = HtmlFinding::Kind::kFound;
  out.value = std::move(value);
  out.evidence = std::move(evidence);
  return out;
}

// What a reader sees of an element.
std::string VisibleTextOf(const xmlNode* top) {
  std::string text;
  const xmlNode* node = top;
  while (node != nullptr) {
    const bool element = node->type == XML_ELEMENT_NODE;
    const bool enter = element && !IsHidden(node);
    if (element && !IsInline(node)) text += ' ';
    if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE) {
      if (node->content != nullptr) text += reinterpret_cast<const char*>(node->content);
    }
    if (enter && node->children != nullptr) {
      node = node->children;
      continue;
    }
    while (node != top && node->next == nullptr) {
      node = node->parent;
      if (!IsInline(node)) text += ' ';
    }
    if (node == top) break;
    node = node->next;
  }
  return base::FoldSpace(base::RepairUtf8(text));
}

// Empty where the node lacks the attribute.
std::optional<std::string> NodeText(const xmlNode* node, const std::string& attribute,
                                    bool visible) {
  const bool element = node->type == XML_ELEMENT_NODE;
  if (attribute.empty()) return visible && element ? VisibleTextOf(node) : FoldedText(node);
  xmlChar* text = element ? xmlGetProp(node, Xml(attribute)) : nullptr;
  if (text == nullptr) return std::nullopt;
  return base::FoldSpace(TakeText(text));
}

HtmlFinding NodeFinding(const xmlNode* node, const std::string& attribute, bool visible) {
  auto text_of_node = NodeText(node, attribute, visible);
  if (!text_of_node) return NotFound(HtmlFinding::Kind::kAbsent);
  std::string value = std::move(*text_of_node);
  const bool element = node->type == XML_ELEMENT_NODE || node->type == XML_TEXT_NODE;
  const xmlNode* around = element && attribute.empty() ? node->parent : nullptr;
  if (around == nullptr || around->type != XML_ELEMENT_NODE) {
    std::string evidence = Surroundings(value, 0, value.size());
    return Found(std::move(value), std::move(evidence));
  }
  const std::string text = FoldedText(around);
  const std::size_t at = text.find(value);
  std::string evidence = at == std::string::npos ? Surroundings(value, 0, value.size())
                                                 : Surroundings(text, at, value.size());
  return Found(std::move(value), std::move(evidence));
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

struct HtmlDocument::Tree {
  DocPtr document;
  xmlNodePtr root = nullptr;
  std::size_t bytes = 0;  // of the text that was parsed
  std::size_t nodes = 0;  // of all kinds, attributes too; at least

  // Whether one step of the expression may cost too much on this page. Translated CSS holds no
  // strings but attributes'.
  bool IsTooCostly(const XPathCost& cost, bool css) const {
    if (cost.merges && nodes > kXPathMergeNodesMax) return true;
    return !css && bytes > kXPathStringBytesMax / cost.strings;
  }
};

// Runs expressions over a document, within their limits.
class HtmlDocument::Evaluation {
 public:
  // The context node is the root element where `css`, else the document.
  Evaluation(const Tree& tree, bool css, ExtractionStop& stop)
      : tree_(tree),
        css_(css),
        context_(NewContext(tree.document.get())),
        node_(css ? tree.root : reinterpret_cast<xmlNodePtr>(tree.document.get())),
        stop_(stop) {}

  // Null on failure.
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
  if (tree_.IsTooCostly(CostOf(expression), css_)) {
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

std::variant<HtmlDocument, std::string> HtmlDocument::Parse(std::string_view text) {
  Quieten();
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return "the page is too large to be parsed";
  }
  if (!AttributesAreFew(text)) {
    return fmt::format("a tag of the page has more than {} attributes", kHtmlAttributesMax);
  }
  const HtmlParserPtr parser(htmlNewParserCtxt());
  if (parser == nullptr) throw std::bad_alloc();
  ParseWatch watch;
  parser->_private = &watch;
  parser->sax->startElement = OnStartElement;
  parser->sax->characters = OnCharacters;
  parser->sax->cdataBlock = OnCdata;
  parser->sax->comment = OnComment;
  parser->sax->processingInstruction = OnProcessingInstruction;
  constexpr int kOptions = HTML_PARSE_RECOVER | HTML_PARSE_NONET | HTML_PARSE_NOERROR |
                           HTML_PARSE_NOWARNING | HTML_PARSE_COMPACT | HTML_PARSE_IGNORE_ENC;
  auto tree = std::make_unique<Tree>();
  tree->bytes = text.size();
  tree->document.reset(htmlCtxtReadMemory(parser.get(), text.data(), static_cast<int>(text.size()),
                                          nullptr, "UTF-8", kOptions));
  if (watch.nodes > kHtmlNodesMax) {
    return fmt::format("the page has more than {} nodes", kHtmlNodesMax);
  }
  if (watch.nested_text_bytes > kHtmlNestedTextBytesMax) {
    return "the page has too much text in elements nested too deep";
  }
  // A parser that stopped midway leaves half a tree, in which fields would seem to be absent.
  if (parser->disableSAX != 0) {
    return fmt::format("the page is nested deeper than {} elements", kHtmlDepthMax);
  }
  tree->nodes = watch.nodes + watch.texts;
  if (tree->document != nullptr) {
    tree->root = xmlDocGetRootElement(tree->document.get());
    xmlXPathOrderDocElems(tree->document.get());
  }
  return HtmlDocument(std::move(tree));
}

HtmlFinding HtmlDocument::First(const std::vector<std::string>& expressions, bool css,
                                const std::string& attribute, ExtractionStop& stop,
                                bool visible) const {
  Quieten();
  if (tree_->root == nullptr) return NotFound(HtmlFinding::Kind::kAbsent);
  Evaluation evaluation(*tree_, css, stop);
  xmlNodePtr first = nullptr;
  for (const std::string& expression : expressions) {
    const XPathObjectPtr result = evaluation.Run(expression);
    if (result == nullptr) return evaluation.failure();
    if (result->type != XPATH_NODESET) return ScalarFinding(*result);
    if (result->nodesetval == nullptr || result->nodesetval->nodeNr == 0) continue;
    const xmlNodePtr node = FirstInOrder(*result->nodesetval, stop);
    if (node == nullptr) return NotFound(HtmlFinding::Kind::kGaveUp);
    if (first == nullptr || xmlXPathCmpNodes(first, node) == -1) first = node;
  }
  if (first == nullptr) return NotFound(HtmlFinding::Kind::kAbsent);
  return NodeFinding(first, attribute, visible);
}

HtmlMatches HtmlDocument::Every(const std::vector<std::string>& expressions, bool css,
                                const std::string& attribute, ExtractionStop& stop, bool visible,
                                std::size_t text_bytes_max) const {
  Quieten();
  HtmlMatches out;
  if (tree_->root == nullptr) return out;
  Evaluation evaluation(*tree_, css, stop);
  std::vector<xmlNodePtr> nodes;
  for (const std::string& expression : expressions) {
    const XPathObjectPtr result = evaluation.Run(expression);
    if (result == nullptr) return {evaluation.failure(), 0, {}};
    const xmlNodeSet* set = result->type == XPATH_NODESET ? result->nodesetval : nullptr;
    if (set != nullptr) nodes.insert(nodes.end(), set->nodeTab, set->nodeTab + set->nodeNr);
  }
  std::sort(nodes.begin(), nodes.end(),
            [](xmlNodePtr x, xmlNodePtr y) { return xmlXPathCmpNodes(x, y) == 1; });
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  out.count = nodes.size();
  std::size_t bytes = 0;
  for (const xmlNodePtr node : nodes) {
    if (bytes >= text_bytes_max) break;
    if (stop.stopped()) return {NotFound(HtmlFinding::Kind::kGaveUp), 0, {}};
    auto text = NodeText(node, attribute, visible);
    if (!text) continue;
    bytes += text->size() + 1;
    out.texts.push_back(std::move(*text));
  }
  return out;
}

std::string HtmlDocument::VisibleText() const {
  return tree_->root == nullptr ? std::string() : VisibleTextOf(tree_->root);
}

std::optional<XPathError> CheckXPath(std::string_view expression) {
  Quieten();
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

}  // namespace vedette::pages
