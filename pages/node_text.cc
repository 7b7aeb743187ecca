#include "pages/node_text.h"

#include <libxml/xpath.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "pages/html_document.h"

namespace vedette::pages {
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

bool IsText(const xmlNode* node) {
  return node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
}

// The visible text of an element, not folded, cut in three where one node inside it stands.
struct Pieces {
  std::string before;
  std::string inside;
  std::string after;
};

// Without `mark` everything stands in `before`.
Pieces VisiblePieces(const xmlNode* top, const xmlNode* mark) {
  Pieces out;
  std::string* text = &out.before;
  const auto leave = [&](const xmlNode* node) {
    if (node->type == XML_ELEMENT_NODE && !IsInline(node)) *text += ' ';
    if (node == mark) text = &out.after;
  };
  const xmlNode* node = top;
  while (node != nullptr) {
    const bool element = node->type == XML_ELEMENT_NODE;
    if (element && !IsInline(node)) *text += ' ';
    if (node == mark) text = &out.inside;
    if (IsText(node) && node->content != nullptr) {
      *text += reinterpret_cast<const char*>(node->content);
    }
    if (element && !IsHidden(node) && node->children != nullptr) {
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

std::string VisibleTextOf(const xmlNode* top) {
  return Folded(VisiblePieces(top, nullptr).before);
}

std::optional<std::string> NodeText(const xmlNode* node, const std::string& attribute,
                                    bool visible) {
  const bool element = node->type == XML_ELEMENT_NODE;
  if (attribute.empty()) return visible && element ? VisibleTextOf(node) : FoldedText(node);
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
  const Pieces pieces = VisiblePieces(around, node);
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

}  // namespace vedette::pages
