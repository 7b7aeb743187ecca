#include "pages/linked_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace vedette::pages {
namespace {

// The depth that kJsonDepthMax allows other pages; the blocks are one level deeper.
constexpr int kDepthMax = 64;
constexpr int kMembersMax = 100'000;

constexpr const char* kBlocks =
    "//script[starts-with(normalize-space(translate(@type, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', "
    "'abcdefghijklmnopqrstuvwxyz')), 'application/ld+json')]";

std::size_t ValuesOf(const base::Json& json) {
  std::size_t values = 1;
  if (!json.is_structured()) return values;
  for (const base::Json& value : json) values += ValuesOf(value);
  return values;
}

bool IsOfType(const base::Json& said, const std::string& type) {
  if (said.is_array()) {
    return std::any_of(said.begin(), said.end(), [&](const base::Json& one) {
      return one.is_string() && IsOfType(one, type);
    });
  }
  if (!said.is_string()) return false;
  const auto& name = said.get_ref<const std::string&>();
  if (!name.ends_with(type)) return false;
  if (name.size() == type.size()) return true;
  const char before = name[name.size() - type.size() - 1];
  return before == '/' || before == '#' || before == ':';
}

void AddNodes(const base::Json& from, const std::string& type,
              std::vector<const base::Json*>* nodes) {
  if (nodes->size() == kLinkedDataNodesMax) return;
  if (from.is_object()) {
    const auto said = from.find("@type");
    if (said != from.end() && IsOfType(*said, type)) nodes->push_back(&from);
  }
  if (!from.is_structured()) return;
  for (const base::Json& value : from) AddNodes(value, type, nodes);
}

}  // namespace

LinkedData ReadLinkedData(PageForms& page, ExtractionStop& stop) {
  LinkedData out;
  if (page.IsJson()) {
    const base::Json* json = page.Json();
    if (json != nullptr) out.blocks.push_back(*json);
    out.fault = page.json_error();
    return out;
  }
  const HtmlDocument* document = page.Html();
  if (document == nullptr) return out;
  const HtmlMatches scripts =
      document->Every({kBlocks}, false, "", stop, TextView::kWhole, kLinkedDataBytesMax);
  std::size_t values_left = kLinkedDataValuesMax;
  for (const std::string& text : scripts.texts) {
    base::Json block;
    if (auto error = base::ParseJson(text, &block, {kDepthMax, kMembersMax, values_left})) {
      out.fault = std::move(error->message);
      continue;
    }
    values_left -= std::min(values_left, ValuesOf(block));
    out.blocks.push_back(std::move(block));
  }
  if (scripts.texts.size() < scripts.count) {
    out.fault = fmt::format("the blocks are longer than {} bytes", kLinkedDataBytesMax);
  }
  return out;
}

std::vector<const base::Json*> NodesOfType(const base::Json& blocks, const std::string& type) {
  std::vector<const base::Json*> nodes;
  if (type.empty()) {
    for (const base::Json& block : blocks) nodes.push_back(&block);
  } else {
    AddNodes(blocks, type, &nodes);
  }
  return nodes;
}

}  // namespace vedette::pages
