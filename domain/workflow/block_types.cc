#include "domain/workflow/block_types.h"

#include <algorithm>
#include <array>

#include "domain/workflow/blocks/blocks.h"

namespace vedette::domain {
namespace {

constexpr std::array<const BlockType*, 9> kTypes{
    &kWebhookBlock,       &kReadCsvBlock,         &kFilterBlock,
    &kSelectColumnsBlock, &kDedupeBlock,          &kEnrichLeadBlock,
    &kEnrichCompanyBlock, &kOutgoingWebhookBlock, &kMonitorBlock};

}  // namespace

std::span<const BlockType* const> BlockTypes() {
  return kTypes;
}

const BlockType* FindBlockType(std::string_view name) {
  const auto* const at = std::find_if(kTypes.begin(), kTypes.end(),
                                      [name](const BlockType* type) { return type->name == name; });
  return at == kTypes.end() ? nullptr : *at;
}

}  // namespace vedette::domain
