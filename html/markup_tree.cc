#include "html/markup_tree.h"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <libxml/HTMLparser.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xpath.h>

#include "base/text.h"
#include "html/html_document.h"

namespace vedette::html {
namespace {

struct FreeHtmlParser {
  void operator()(htmlParserCtxt* parser) const { htmlFreeParserCtxt(parser); }
};
struct FreeXmlParser {
  void operator()(xmlParserCtxt* parser) const { xmlFreeParserCtxt(parser); }
};
// The most characters of what libxml2 says about a page that is no XML.
constexpr std::size_t kFaultCharactersMax = 200;

void IgnoreMessage(void*, const char*, ...) {}

// Stops the parser at the limits that libxml2 does not have.
struct ParseWatch {
  std::size_t nodes = 0;
  std::size_t texts = 0;  // pieces of text, at least as many as text nodes
  std::size_t nested_text_bytes = 0;
  bool declares = false;  // entities or attributes, of XML
};

xmlParserCtxtPtr ParserOf(void* context) {
  return static_cast<xmlParserCtxtPtr>(context);
}

ParseWatch* WatchOf(void* context) {
  return static_cast<ParseWatch*>(ParserOf(context)->_private);
}

void Count(void* context, std::size_t nodes) {
  ParseWatch* watch = WatchOf(context);
  watch->nodes += nodes;
  if (watch->nodes > kHtmlNodesMax) xmlStopParser(ParserOf(context));
}

void CountText(void* context, int length) {
  xmlParserCtxtPtr parser = ParserOf(context);
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

// Takes an element in the default namespace, whose paths then need no prefix.
void OnXmlElement(void* context, const xmlChar* name, const xmlChar* prefix, const xmlChar* uri,
                  int namespaces, const xmlChar** declared, int attributes, int defaulted,
                  const xmlChar** values) {
  Count(context, 1 + static_cast<std::size_t>(attributes));
  xmlSAX2StartElementNs(context, name, prefix, uri, namespaces, declared, attributes, defaulted,
                        values);
  const xmlNodePtr node = ParserOf(context)->node;
  if (prefix == nullptr && node != nullptr) node->ns = nullptr;
}

// Entities and defaults of attributes make much out of little.
void RefuseDeclaration(void* context) {
  WatchOf(context)->declares = true;
  xmlStopParser(ParserOf(context));
}

void OnEntityDeclaration(void* context, const xmlChar*, int, const xmlChar*, const xmlChar*,
                         xmlChar*) {
  RefuseDeclaration(context);
}

void OnAttributeDeclaration(void* context, const xmlChar*, const xmlChar*, int, int, const xmlChar*,
                            xmlEnumerationPtr values) {
  xmlFreeEnumeration(values);
  RefuseDeclaration(context);
}

std::optional<std::string> TooMuch(std::string_view text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return "the page is too large to be parsed";
  }
  if (AttributesAreFew(text)) return std::nullopt;
  return fmt::format("a tag of the page has more than {} attributes", kHtmlAttributesMax);
}

std::optional<std::string> StoppedBecause(const ParseWatch& watch) {
  if (watch.nodes > kHtmlNodesMax) {
    return fmt::format("the page has more than {} nodes", kHtmlNodesMax);
  }
  if (watch.nested_text_bytes > kHtmlNestedTextBytesMax) {
    return "the page has too much text in elements nested too deep";
  }
  if (watch.declares) return "its document type declares entities or attributes";
  return std::nullopt;
}

// The squares of all rows of siblings without an element among them.
std::size_t SiblingSteps(const xmlDoc& document) {
  std::size_t steps = 0;
  std::size_t row = 0;
  const xmlNode* node = document.children;
  while (node != nullptr) {
    const bool element = node->type == XML_ELEMENT_NODE;
    row = element ? 0 : row + 1;
    if (!element) steps += 2 * row - 1;
    if (element && node->children != nullptr) {
      node = node->children;
      continue;
    }
    while (node != nullptr && node->next == nullptr) {
      node = node->parent;
      row = 0;
    }
    if (node != nullptr) node = node->next;
  }
  return steps;
}

ParsedTree Finished(std::unique_ptr<MarkupTree> tree, const ParseWatch& watch) {
  tree->nodes = watch.nodes + watch.texts;
  if (tree->document != nullptr) {
    tree->root = xmlDocGetRootElement(tree->document.get());
    xmlXPathOrderDocElems(tree->document.get());
    tree->sibling_steps = SiblingSteps(*tree->document);
  }
  return tree;
}

}  // namespace

void QuietenLibxml() {
  static const bool initialised = [] {
    xmlInitParser();
    // The library's own limit of 256 cuts real pages short.
    xmlParserMaxDepth = kHtmlDepthMax;
    return true;
  }();
  static_cast<void>(initialised);
  xmlSetGenericErrorFunc(nullptr, IgnoreMessage);
}

ParsedTree ParseHtmlTree(std::string_view text) {
  QuietenLibxml();
  if (auto fault = TooMuch(text)) return std::move(*fault);
  const std::unique_ptr<htmlParserCtxt, FreeHtmlParser> parser(htmlNewParserCtxt());
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
  auto tree = std::make_unique<MarkupTree>();
  tree->bytes = text.size();
  tree->document.reset(htmlCtxtReadMemory(parser.get(), text.data(), static_cast<int>(text.size()),
                                          nullptr, "UTF-8", kOptions));
  if (auto why = StoppedBecause(watch)) return std::move(*why);
  // A parser that stopped midway leaves half a tree, in which fields would seem to be absent.
  if (parser->disableSAX != 0) {
    return fmt::format("the page is nested deeper than {} elements", kHtmlDepthMax);
  }
  return Finished(std::move(tree), watch);
}

ParsedTree ParseXmlTree(std::string_view text) {
  QuietenLibxml();
  // Feeds often begin with an empty line, which their declaration must not stand behind.
  text.remove_prefix(std::min(text.find_first_not_of(base::kLineSpace), text.size()));
  if (auto fault = TooMuch(text)) return std::move(*fault);
  const std::unique_ptr<xmlParserCtxt, FreeXmlParser> parser(xmlNewParserCtxt());
  if (parser == nullptr) throw std::bad_alloc();
  ParseWatch watch;
  parser->_private = &watch;
  parser->sax->startElementNs = OnXmlElement;
  parser->sax->characters = OnCharacters;
  parser->sax->ignorableWhitespace = OnCharacters;
  parser->sax->cdataBlock = OnCdata;
  parser->sax->comment = OnComment;
  parser->sax->processingInstruction = OnProcessingInstruction;
  parser->sax->entityDecl = OnEntityDeclaration;
  parser->sax->attributeDecl = OnAttributeDeclaration;
  constexpr int kOptions =
      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_COMPACT;
  auto tree = std::make_unique<MarkupTree>();
  tree->bytes = text.size();
  // What an XML declaration says of the encoding was true of the bytes, not of this text.
  tree->document.reset(xmlCtxtReadMemory(parser.get(), text.data(), static_cast<int>(text.size()),
                                         nullptr, "UTF-8", kOptions | XML_PARSE_IGNORE_ENC));
  if (auto why = StoppedBecause(watch)) return std::move(*why);
  if (tree->document == nullptr) {
    const xmlError& error = parser->lastError;
    const std::string said = base::RepairUtf8(error.message == nullptr ? "" : error.message);
    return fmt::format("it is not well-formed XML, at line {}: {}", error.line,
                       base::CutCharacters(base::FoldSpace(said), kFaultCharactersMax));
  }
  return Finished(std::move(tree), watch);
}

namespace {

// Names longer than this are cut in two by libxml2 (HTML_PARSER_BUFFER_SIZE).
constexpr std::size_t kNameCharsMax = 100;

bool IsNameChar(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == ':' || c == '-' || c == '_' ||
         c == '.';
}
bool IsNameStart(char c) {
  return base::IsAsciiLetter(c) || c == '_' || c == ':' || c == '.';
}

// Walks one tag as htmlParseStartElement does.
class Tag {
 public:
  Tag(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t CountAttributes() {
    Name();
    SkipBlanks();
    while (!AtTagEnd() && count_ <= kHtmlAttributesMax) {
      if (IsNameStart(text_[at_])) {
        Attribute();
      } else {
        while (!AtTagEnd() && !base::IsSpace(text_[at_], base::kLineSpace)) ++at_;
      }
      SkipBlanks();
    }
    return count_;
  }

  std::size_t end() const { return at_; }

 private:
  bool AtTagEnd() const {
    return at_ >= text_.size() || text_[at_] == '>' || text_.substr(at_, 2) == "/>";
  }
  void SkipBlanks() {
    while (at_ < text_.size() && base::IsSpace(text_[at_], base::kLineSpace)) ++at_;
  }
  std::size_t Name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    return at_ - start;
  }
  void Attribute() {
    count_ += 1 + Name() / kNameCharsMax;
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != '=') return;
    ++at_;
    SkipBlanks();
    if (at_ >= text_.size()) return;
    const char quote = text_[at_];
    if (quote == '"' || quote == '\'') {
      at_ = std::min(text_.find(quote, at_ + 1), text_.size() - 1) + 1;
      return;
    }
    while (at_ < text_.size() && !base::IsSpace(text_[at_], base::kLineSpace) && text_[at_] != '>')
      ++at_;
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t count_ = 0;
};

}  // namespace

bool AttributesAreFew(std::string_view text) {
  // Tags seem to lie inside tags where quotes hide one from the other; each is walked on its own.
  std::size_t work_left = 16 * text.size() + 1'000'000;
  for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (at + 1 >= text.size() || !base::IsAsciiLetter(text[at + 1])) continue;
    Tag tag(text, at + 1);
    if (tag.CountAttributes() > kHtmlAttributesMax) return false;
    const std::size_t work = tag.end() - at;
    if (work > work_left) return false;
    work_left -= work;
  }
  return true;
}

}  // namespace vedette::html
