#pragma once

#include <libxml/tree.h>

#include <optional>
#include <string>
#include <string_view>

#include "pages/html_document.h"

// The text of libxml2's nodes, for the files of this folder that know libxml2.
namespace vedette::pages {

// What a reader sees of an element: without head, script, style, noscript, template and comments;
// blocks are apart. Folded, or with kLines line by line.
std::string VisibleTextOf(const xmlNode* top, TextView view = TextView::kVisible);

// The text of a node, or of its attribute, folded; for an element the one that `view` asks for.
// Empty where the node lacks the attribute.
std::optional<std::string> NodeText(const xmlNode* node, const std::string& attribute,
                                    TextView view);

// `value`, which is the text of `node`, with the text that a reader sees around it inside the
// node's parent: cells and other blocks are apart, scripts are left out. At most
// kEvidenceCharactersMax characters.
std::string TextAround(const xmlNode* node, std::string_view value);

}  // namespace vedette::pages
