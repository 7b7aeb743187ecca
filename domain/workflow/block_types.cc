#include "domain/workflow/block_types.h"

#include <algorithm>
#include <array>

#include "domain/workflow/blocks/blocks.h"

namespace vedette::domain {
namespace {

// One a line.
constexpr auto kTypes = std::to_array<const BlockType*>({
    &kWebhookBlock,
    &kReadCsvBlock,
    &kFilterBlock,
    &kSelectColumnsBlock,
    &kDedupeBlock,
#ifdef VEDETTE_PHONES
    &kVerifyPhoneBlock,
#endif
    &kEnrichLeadBlock,
    &kEnrichCompanyBlock,
    &kFindEmailBlock,
    &kVerifyEmailBlock,
    &kReverseEmailBlock,
    &kVerifyAgeBlock,
    &kOutgoingWebhookBlock,
    &kMonitorBlock,
});

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
