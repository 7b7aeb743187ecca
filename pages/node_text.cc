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

// The visible text of an element, not folded, cut in three where one node inside it stands.
struct Pieces {
  std::string before;
  std::string inside;
  std::string after;
};

// Without `mark` everything stands in `before`. With kLines each block stands on a line.
Pieces VisiblePieces(const xmlNode* top, const xmlNode* mark, TextView view) {
  Pieces out;
  std::string* text = &out.before;
  const bool lines = view == TextView::kLines;
  const auto apart = [lines](const xmlNode* node) {
    return lines && !IsOneOf(node, {"td", "th"}) ? '\n' : ' ';
  };
  const auto leave = [&](const xmlNode* node) {
    if (node->type == XML_ELEMENT_NODE && !IsInline(node)) *text += apart(node);
    if (node == mark) text = &out.after;
  };
  const xmlNode* node = top;
  while (node != nullptr) {
    const bool element = node->type == XML_ELEMENT_NODE;
    if (element && !IsInline(node)) *text += apart(node);
    if (node == mark) text = &out.inside;
    if (IsText(node) && node->content != nullptr) {
      if (lines) {
        AppendOneLine(node, text);
      } else {
        *text += reinterpret_cast<const char*>(node->content);
      }
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

std::string VisibleTextOf(const xmlNode* top, TextView view) {
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

}  // namespace vedette::pages
