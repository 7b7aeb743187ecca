#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <libxml/tree.h>

// Pages as libxml2's trees, for the files of this folder that know libxml2.
namespace vedette::html {

struct FreeDocument {
  void operator()(xmlDoc* document) const { xmlFreeDoc(document); }
};

// A page that was parsed whole. One thread at a time.
struct MarkupTree {
  std::unique_ptr<xmlDoc, FreeDocument> document;
  xmlNodePtr root = nullptr;  // null where the page has no element
  std::size_t bytes = 0;      // of the text that was parsed
  std::size_t nodes = 0;      // of all kinds, attributes too; at least

  // What one sort of all its nodes walks over at most: to place a node that is no element libxml2
  // goes over its siblings up to the next element.
  std::size_t sibling_steps = 0;

  bool is_xml() const { return document != nullptr && document->type == XML_DOCUMENT_NODE; }
};
// The error is a phrase.
using ParsedTree = std::variant<std::unique_ptr<MarkupTree>, std::string>;

// Both take valid UTF-8 without NUL, whatever the page says its encoding is, and hold the limits of
// html_document.h. Neither reads a DTD, a file or the network. HTML is read as libxml2's parser
// reads it, which mends what is broken.
ParsedTree ParseHtmlTree(std::string_view text);

// XML keeps the case of its names. Elements of the default namespace count as in none, so that a
// path needs no prefix; those with a prefix keep theirs. A page that is not well-formed, or that
// declares entities or attributes, is refused.
ParsedTree ParseXmlTree(std::string_view text);

// libxml2 prints some messages whatever the caller says; this takes them from the calling thread.
// Before every use of libxml2.
void QuietenLibxml();

inline constexpr std::size_t kHtmlAttributesMax = 1024;

// Whether every tag that libxml2's HTML parser could see in `text` has at most kHtmlAttributesMax
// attributes. It compares every attribute of a tag with all before it: 50,000 of them, in 300 KB,
// would hold a thread for 10 seconds. Looks at tags inside comments and scripts too, since telling
// them apart as libxml2 does is what an attacker would play with. False as well where the text is
// so tangled that looking itself would cost too much. Pure; any thread.
bool AttributesAreFew(std::string_view text);

}  // namespace vedette::html
