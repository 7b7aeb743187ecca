#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "pages/html_document.h"
#include "pages/page_forms.h"

// What a page says of itself in JSON-LD. One thread, as PageForms.
namespace vedette::pages {

// The most bytes of all blocks of a page; what is beyond is not read.
inline constexpr std::size_t kLinkedDataBytesMax = 4 << 20;
// Values in all blocks together.
inline constexpr std::size_t kLinkedDataValuesMax = 200'000;
// Nodes of a type that are read.
inline constexpr std::size_t kLinkedDataNodesMax = 10'000;

struct LinkedData {
  base::Json blocks = base::Json::array();  // in the order of the page
  std::string fault;  // why a block is not among them, as a phrase; empty where all are
};

// Reads the scripts of type application/ld+json of an HTML page, or the whole of a page in JSON.
// Texts in blocks of HTML have their white space folded. None where the page cannot be parsed.
LinkedData ReadLinkedData(PageForms& page, ExtractionStop& stop);

// The objects whose @type is `type`, or has it among others, with or without a vocabulary's address
// before it, in document order. Without a type: each block. Inside `blocks`.
std::vector<const base::Json*> NodesOfType(const base::Json& blocks, const std::string& type);

}  // namespace vedette::pages
