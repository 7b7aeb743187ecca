// The blocks that a fuzzed definition may have, in place of domain/workflow/block_types.cc: those
// that need no library beside them. Of the fuzzer alone; the replay knows every block.
#include <algorithm>
#include <array>

#include "domain/workflow/block_types.h"
#include "domain/workflow/blocks/blocks.h"

namespace vedette::domain {
namespace {

constexpr std::array<const BlockType*, 6> kTypes{&kWebhookBlock, &kReadCsvBlock,
                                                 &kFilterBlock,  &kSelectColumnsBlock,
                                                 &kDedupeBlock,  &kOutgoingWebhookBlock};

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
